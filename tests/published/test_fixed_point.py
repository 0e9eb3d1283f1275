"""Tipping's sweeps against brute force, closed forms and an independent implementation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ARDRegression

from relvec._typing import Vector
from relvec.priors import GammaPrior
from relvec.published.fixed_point import FixedPointSolver
from relvec.published.textbook import TextbookSolver
from relvec.solvers.base import WarmStart
from tests.helpers_dense import (
    dense_log_evidence,
    dense_penalised,
    dense_problem,
    posterior_mean,
    raw_precisions,
    sinc,
    sparse_design,
)
from tests.helpers_priors import gamma_prior

UPDATES = ["mackay", "em"]
GAMMA = gamma_prior(0.3, 0.2, 0.5, 0.1)


def check_stationary(
    objective: Callable[[Vector, float], float],
    alpha: Vector,
    noise: float,
    *,
    held: bool,
    atol: float = 2e-4,
) -> None:
    """Central differences of a dense objective vanish in all log hyper-parameters."""
    step = 1e-4
    for i in np.flatnonzero(np.isfinite(alpha)):
        up, down = alpha.copy(), alpha.copy()
        up[i] *= np.exp(step)
        down[i] *= np.exp(-step)
        assert objective(up, noise) - objective(down, noise) == pytest.approx(0, abs=atol * step)
    if not held:
        slope = objective(alpha, noise * np.exp(step)) - objective(alpha, noise * np.exp(-step))
        assert slope == pytest.approx(0, abs=atol * step)


@pytest.mark.slow
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("held", [None, 0.09])
@pytest.mark.parametrize(
    ("smoothness", "hyperprior"), [(0.0, gamma_prior()), (1.7, gamma_prior()), (0.0, GAMMA)]
)
def test_objective_and_stationarity_by_brute_force(
    update: str, smoothness: float, held: float | None, hyperprior: GammaPrior
) -> None:
    Phi, t = sparse_design()
    options = {"smoothness": smoothness, "hyperprior": hyperprior}
    problem = dense_problem(Phi, t, noise_variance=held, **options)
    solution = FixedPointSolver(update, tol=1e-7, max_iter=20_000).solve(problem)

    def objective(alpha: Vector, noise: float) -> float:
        return dense_penalised(Phi, t, alpha, noise, **options)

    alpha = raw_precisions(problem, solution)
    noise = solution.noise_variance
    assert solution.converged
    assert solution.objective == pytest.approx(objective(alpha, noise), rel=1e-8)
    check_stationary(objective, alpha, noise, held=held is not None)
    assert solution.certificate.gradient < 1e-5
    assert solution.certificate.best_gain < 1e-8
    if hyperprior.rate:
        assert len(solution.active) == Phi.shape[1]


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_integer_weights_are_repetitions(update: str, fit_intercept: bool) -> None:
    Phi, t = sparse_design(n=30, m=6)
    weight = np.random.default_rng(1).integers(1, 4, len(t))
    solver = FixedPointSolver(update)
    weighted = dense_problem(Phi, t, sample_weight=weight, fit_intercept=fit_intercept)
    repeated = dense_problem(
        np.repeat(Phi, weight, axis=0), np.repeat(t, weight), fit_intercept=fit_intercept
    )
    left, right = solver.solve(weighted), solver.solve(repeated)
    assert left.objective == pytest.approx(right.objective, rel=1e-9)
    np.testing.assert_allclose(left.log_lam, right.log_lam, rtol=1e-6)
    alpha = raw_precisions(weighted, left)
    dense = dense_log_evidence(
        np.repeat(Phi, weight, axis=0),
        np.repeat(t, weight),
        alpha,
        left.noise_variance,
        fit_intercept=fit_intercept,
    )
    assert left.objective == pytest.approx(dense, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("smoothness", [0.0, 1.3])
def test_orthonormal_design_is_the_closed_form(update: str, smoothness: float) -> None:
    rng = np.random.default_rng(6)
    Phi = np.linalg.qr(rng.standard_normal((24, 24)))[0]
    t = Phi @ np.where(np.arange(24) < 8, 4.0, 0.0) + rng.standard_normal(24)
    problem = dense_problem(Phi, t, fit_intercept=False, noise_variance=1.0, smoothness=smoothness)
    solution = FixedPointSolver(update, tol=1e-8, max_iter=20_000).solve(problem)
    z = Phi.T @ t
    excess = z**2 - 2 * smoothness
    expected = np.where(excess > 1, z * (1 - 1 / excess), 0.0)
    np.testing.assert_allclose(posterior_mean(problem, solution), expected, atol=1e-6)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(8, 3), (12, 12), (10, 25), (30, 5)]),
    smoothness=st.sampled_from([0.0, 0.4, 3.0, None]),
    held=st.sampled_from([None, 0.5]),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
)
def test_em_never_lowers_the_objective(
    seed: int,
    shape: tuple[int, int],
    smoothness: float | None,
    held: float | None,
    scale: float,
) -> None:
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal(shape)
    t = scale * (Phi[:, 0] + 0.5 * rng.standard_normal(len(Phi)))
    problem = dense_problem(
        Phi,
        t,
        **({"hyperprior": GAMMA} if smoothness is None else {"smoothness": smoothness}),
        noise_variance=None if held is None else held * scale**2,
        max_active=shape[1],
    )
    trace = np.array(FixedPointSolver("em", max_iter=60).solve(problem).trace)
    assert np.diff(trace).min(initial=0.0) > -1e-7 * max(1.0, np.abs(trace).max())


def test_methods_agree_on_an_easy_problem() -> None:
    problem = dense_problem(*sparse_design(n=200, m=8, noise=0.1), smoothness=2.0)
    solutions = [
        solver.solve(problem)
        for solver in (
            FixedPointSolver("mackay", tol=1e-9),
            FixedPointSolver("em", tol=1e-7, max_iter=20_000),
            TextbookSolver(tol=1e-9),
        )
    ]
    for other in solutions[1:]:
        np.testing.assert_array_equal(other.active, solutions[0].active)
        assert other.objective == pytest.approx(solutions[0].objective, rel=1e-8)
        np.testing.assert_allclose(other.log_lam, solutions[0].log_lam, atol=1e-4)


def test_evidence_is_not_below_that_of_scikit_learn() -> None:
    Phi, t = sparse_design(n=100, m=15)
    model = ARDRegression(
        alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, threshold_lambda=1e8, tol=1e-10, max_iter=3000
    ).fit(Phi, t)
    alpha = np.where(model.lambda_ < 1e8, model.lambda_, np.inf)
    theirs = dense_log_evidence(Phi, t, alpha, 1 / model.alpha_)
    ours = FixedPointSolver(tol=1e-6).solve(dense_problem(Phi, t))
    assert ours.objective > theirs - 1e-6
    assert ours.noise_variance == pytest.approx(1 / model.alpha_, rel=0.02)


@pytest.mark.parametrize("update", UPDATES)
def test_units_do_not_matter(update: str) -> None:
    Phi, t = sinc()
    solver = FixedPointSolver(update)
    plain = solver.solve(dense_problem(Phi, t))
    scales = np.random.default_rng(0).choice([1e-6, 1.0, 1e7], Phi.shape[1])
    other = solver.solve(dense_problem(Phi * scales, 1e-3 * t + 5.0))
    np.testing.assert_array_equal(plain.active, other.active)
    np.testing.assert_allclose(plain.log_lam, other.log_lam, atol=1e-3)
    assert other.noise_variance == pytest.approx(1e-6 * plain.noise_variance, rel=1e-4)


def test_premature_deletion_is_undone() -> None:
    """With an absurd threshold atoms that matter go early; the check brings them back."""
    problem = dense_problem(*sparse_design())
    right = FixedPointSolver().solve(problem)
    hasty = FixedPointSolver(prune_threshold=1.3e-3, check_deleted=False).solve(problem)
    checked = FixedPointSolver(prune_threshold=1.3e-3).solve(problem)
    assert hasty.certificate.best_gain > 1.0
    assert hasty.objective < right.objective - 1.0
    assert checked.converged
    assert checked.objective == pytest.approx(right.objective, abs=1e-3)


@pytest.mark.parametrize("update", UPDATES)
def test_charged_atoms_earn_their_place(update: str) -> None:
    Phi, t = sparse_design(n=100, m=40)
    free = FixedPointSolver(update).solve(dense_problem(Phi, t))
    problem = dense_problem(Phi, t, charge=3.0)
    charged = FixedPointSolver(update).solve(problem)
    assert len(charged.active) < len(free.active)
    alpha, noise = raw_precisions(problem, charged), charged.noise_variance
    dense = dense_log_evidence(Phi, t, alpha, noise)
    assert charged.objective == pytest.approx(dense - 3.0 * len(charged.active), rel=1e-8)
    for atom in charged.active:
        without = alpha.copy()
        without[atom] = np.inf
        assert dense - dense_log_evidence(Phi, t, without, noise) > 3.0


def test_cap_is_kept_and_flagged() -> None:
    solution = FixedPointSolver().solve(dense_problem(*sparse_design(), max_active=2))
    assert len(solution.active) == 2
    assert solution.reached_max_active
    assert not solution.converged
    roomy = FixedPointSolver().solve(dense_problem(*sparse_design(), max_active=12))
    assert not roomy.reached_max_active


def test_gamma_warm_start_keeps_every_atom() -> None:
    problem = dense_problem(*sparse_design(), hyperprior=GAMMA)
    start = WarmStart(np.array([0, 4]), np.zeros(2))
    solution = FixedPointSolver(tol=1e-8).solve(problem, warm_start=start)
    cold = FixedPointSolver(tol=1e-8).solve(problem)
    assert len(solution.active) == 12
    assert solution.objective == pytest.approx(cold.objective, rel=1e-7)


def test_gamma_without_rate_is_refused() -> None:
    with pytest.raises(ValueError, match="positive rate"):
        dense_problem(*sinc(), hyperprior=gamma_prior(shape=1.0))


def test_unknown_update_is_refused() -> None:
    with pytest.raises(ValueError, match="Did you mean 'mackay'"):
        FixedPointSolver("mckay").solve(dense_problem(*sinc()))
