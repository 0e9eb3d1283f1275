"""The sequential algorithm against brute force and the paper's own formulas."""

from __future__ import annotations

import numpy as np
import pytest

from relvec._typing import Matrix, Vector
from relvec.published.textbook import TextbookSolver
from relvec.solvers.base import Progress
from tests.helpers_dense import (
    DenseMoments,
    dense_log_evidence,
    dense_penalised,
    dense_problem,
    raw_precisions,
)
from tests.helpers_priors import gamma_prior, posed


def make_data(n: int = 60, m: int = 12, seed: int = 0) -> tuple[Matrix, Vector]:
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, m)) + rng.standard_normal(m)
    return Phi, 1.0 + Phi[:, 0] - 0.7 * Phi[:, 5] + 0.3 * rng.standard_normal(n)


@pytest.mark.slow
@pytest.mark.parametrize("smoothness", [0.0, 1.7])
@pytest.mark.parametrize("held", [None, 0.09])
@pytest.mark.parametrize("noise_every", [1, 5])
def test_end_point_is_a_maximum_by_brute_force(
    smoothness: float, held: float | None, noise_every: int
) -> None:
    Phi, t = make_data()
    problem = dense_problem(Phi, t, smoothness=smoothness, noise_variance=held)
    solution = TextbookSolver(tol=1e-9, noise_every=noise_every).solve(problem)
    alpha, noise = raw_precisions(problem, solution), solution.noise_variance

    def objective(alpha: Vector, noise: float) -> float:
        return dense_penalised(Phi, t, alpha, noise, smoothness=smoothness)

    best = objective(alpha, noise)
    assert solution.converged
    assert solution.objective == pytest.approx(best, rel=1e-8)
    for factor in (0.99, 1.01):
        for i in solution.active:
            moved = alpha.copy()
            moved[i] *= factor
            assert objective(moved, noise) < best
        if held is None:
            assert objective(alpha, noise * factor) < best
    for i in set(range(Phi.shape[1])) - set(solution.active):
        for value in np.logspace(-1, 6, 30):
            moved = alpha.copy()
            moved[i] = value
            assert objective(moved, noise) <= best + 1e-9


def test_first_atom_has_the_largest_projection() -> None:
    Phi, t = make_data()
    problem = dense_problem(Phi, t)
    solution = TextbookSolver().solve(problem, monitor=lambda progress: True)
    centred, target = Phi - Phi.mean(axis=0), t - t.mean()
    projection = (centred.T @ target) ** 2 / np.sum(centred**2, axis=0)
    assert solution.active.tolist() == [np.argmax(projection)]
    # alpha = |phi|^2 / (projection - sigma^2) at the initial noise, eq. 26 of the paper
    problem = dense_problem(Phi, t, noise_variance=0.1 * np.var(t, ddof=1))
    solution = TextbookSolver().solve(problem, monitor=lambda progress: True)
    best = int(np.argmax(projection))
    expected = np.sum(centred[:, best] ** 2) / (projection[best] - problem.noise_variance)
    assert raw_precisions(problem, solution)[best] == pytest.approx(expected)


@pytest.mark.parametrize("smoothness", [0.0, 2.0])
def test_every_step_with_held_noise_raises_the_objective(smoothness: float) -> None:
    x = np.linspace(-10, 10, 80)
    t = np.sinc(x / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(80)
    Phi = np.exp(-(((x[:, None] - x) / 2.0) ** 2))
    problem = dense_problem(Phi, t, smoothness=smoothness, noise_variance=0.01)
    trace = TextbookSolver(tol=1e-5).solve(problem).trace
    assert np.diff(trace).min() > -1e-8


@pytest.mark.parametrize("smoothness", [0.0, 1.3])
def test_orthonormal_design_is_the_closed_form(smoothness: float) -> None:
    rng = np.random.default_rng(5)
    Phi = np.linalg.qr(rng.standard_normal((24, 24)))[0]
    t = Phi @ np.where(np.arange(24) < 8, 4.0, 0.0) + rng.standard_normal(24)
    moments = DenseMoments(Phi, t, fit_intercept=False)
    problem = posed(moments, np.zeros(24), smoothness=smoothness, noise_variance=1.0)
    solution = TextbookSolver(tol=1e-12).solve(problem)
    z = Phi.T @ t
    excess = z**2 - 2 * smoothness
    expected = np.where(excess > 1, z * (1 - 1 / excess), 0.0)
    mean = np.zeros(24)
    mean[solution.active] = z[solution.active] / (1 + np.exp(solution.log_lam))
    np.testing.assert_allclose(mean, expected, atol=1e-9)


def test_noise_only_gamma_prior() -> None:
    Phi, t = make_data()
    hyperprior = gamma_prior(noise_shape=50.0, noise_rate=50.0)
    problem = dense_problem(Phi, t, hyperprior=hyperprior)
    solution = TextbookSolver(tol=1e-8).solve(problem)
    alpha, noise = raw_precisions(problem, solution), solution.noise_variance
    values = [
        dense_penalised(Phi, t, alpha, noise * factor, hyperprior=hyperprior)
        for factor in (0.99, 1.0, 1.01)
    ]
    assert values[1] == pytest.approx(solution.objective, rel=1e-8)
    assert values[1] > max(values[0], values[2])
    assert noise > TextbookSolver().solve(dense_problem(Phi, t)).noise_variance


def test_gamma_on_weights_is_refused_with_a_way_out() -> None:
    problem = dense_problem(*make_data(), hyperprior=gamma_prior(1e-4, 1e-4))
    with pytest.raises(ValueError, match='zero density.*solver="mackay"'):
        TextbookSolver().solve(problem)


def test_charge_keeps_atoms_out() -> None:
    Phi, t = make_data(n=100, m=40)
    free = TextbookSolver().solve(dense_problem(Phi, t))
    problem = dense_problem(Phi, t, charge=3.0)
    charged = TextbookSolver().solve(problem)
    assert set(charged.active) == {0, 5}
    assert len(free.active) > 2
    dense = dense_log_evidence(Phi, t, raw_precisions(problem, charged), charged.noise_variance)
    assert charged.objective == pytest.approx(dense - 6.0, rel=1e-8)


def test_cap_is_kept_and_flagged() -> None:
    solution = TextbookSolver().solve(dense_problem(*make_data(), max_active=1))
    assert len(solution.active) == 1
    assert solution.reached_max_active
    assert not solution.converged
    assert solution.certificate.best_gain > 1.0


def test_stage_and_iterations_are_reported() -> None:
    seen: list[Progress] = []
    solution = TextbookSolver().solve(
        dense_problem(*make_data()), monitor=lambda progress: bool(seen.append(progress))
    )
    assert {each.stage for each in seen} == {"textbook"}
    assert len(seen) == solution.n_iter == len(solution.trace)


def test_iteration_limit() -> None:
    solution = TextbookSolver(max_iter=2).solve(dense_problem(*make_data()))
    assert solution.n_iter == 2
    assert not solution.converged
