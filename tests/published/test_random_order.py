"""Single steps in random order: ends are certified maxima, orders differ, seeds repeat."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import RVMRegressor
from relvec.estimators._solvers import resolve_solver
from relvec.published import RandomOrderSolver
from relvec.solvers import SequentialSolver
from relvec.testing import check_solver
from tests.helpers_dense import DenseMoments, dense_penalised, dense_problem, raw_precisions
from tests.helpers_priors import gamma_prior, posed


def bumps(n=40, seed=0):
    rng = np.random.default_rng(seed)
    x = np.linspace(-5, 5, n)
    Phi = np.exp(-((x[:, None] - x) ** 2))
    return Phi, np.sinc(x) + 0.1 * rng.standard_normal(n)


@pytest.mark.slow
@pytest.mark.parametrize("polish", [True, False])
def test_conforms(polish):
    check_solver(RandomOrderSolver(random_state=0, polish=polish, tol=1e-4))


def test_is_known_by_name():
    solver = resolve_solver("random_order", effort="balanced", needs_dense=False)
    assert isinstance(solver, RandomOrderSolver)
    assert RVMRegressor(solver="random_order").fit(*_regression()).converged_


def _regression():
    x = np.linspace(-5, 5, 30)[:, None]
    return x, np.sinc(x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(30)


@pytest.mark.slow
@pytest.mark.parametrize("polish", [True, False])
@pytest.mark.parametrize("smoothness", [0.0, 1.5])
def test_the_end_is_a_maximum_by_brute_force(smoothness, polish):
    Phi, t = bumps()
    problem = dense_problem(Phi, t, smoothness=smoothness)
    solution = RandomOrderSolver(random_state=3, polish=polish).solve(problem)
    assert solution.converged
    alpha, noise = raw_precisions(problem, solution), solution.noise_variance

    def objective(alpha, noise):
        return dense_penalised(Phi, t, alpha, noise, smoothness=smoothness)

    best = objective(alpha, noise)
    assert solution.objective == pytest.approx(best, rel=1e-7)
    for factor in (0.97, 1.03):
        assert objective(alpha, noise * factor) < best
        for atom in solution.active:
            moved = alpha.copy()
            moved[atom] *= factor
            assert objective(moved, noise) < best + 1e-9
    for atom in set(range(Phi.shape[1])) - set(solution.active):
        for value in np.logspace(-3, 6, 19):
            moved = alpha.copy()
            moved[atom] = value
            assert objective(moved, noise) < best + 2e-3


def test_orders_differ_and_seeds_repeat():
    Phi, t = bumps(seed=1)
    problem = dense_problem(Phi, t, smoothness=1.8)

    def ends(seeds):
        return [RandomOrderSolver(random_state=seed).solve(problem) for seed in seeds]

    first, again = ends(range(8)), ends(range(8))
    assert len({tuple(end.active) for end in first}) > 1
    assert [end.objective for end in first] == [end.objective for end in again]


@pytest.mark.slow
def test_freeing_the_noise_early_leads_into_oversmoothing_more_often():
    # Schmolck (2008, section 2.6.6): two atoms and a huge noise, from which no step leads out.
    x = np.linspace(-10, 10, 64)
    y = np.sinc(x / np.pi)
    t = y + y.std(ddof=1) / 5 * np.random.default_rng(1).standard_normal(64)
    low, scaled = np.minimum.outer(x / 3, x / 3), np.add.outer(x / 3, x / 3) / 2
    product = np.multiply.outer(x / 3, x / 3)
    Phi = 1 + product + product * low - scaled * low**2 + low**3 / 3
    problem = posed(DenseMoments(Phi, t), smoothness=0.5 * np.log(64))

    def share_bad(noise_every):
        solver = RandomOrderSolver(noise_every=noise_every)
        ends = [solver.set_params(random_state=seed).solve(problem) for seed in range(12)]
        return np.mean([len(end.active) <= 2 for end in ends])

    assert share_bad(2) > share_bad(40)
    assert len(SequentialSolver().solve(problem).active) > 2


def test_a_gamma_prior_is_refused_in_plain_words():
    Phi, t = bumps()
    problem = posed(DenseMoments(Phi, t), hyperprior=gamma_prior(1e-6, 1e-6))
    with pytest.raises(ValueError, match="no atom could be absent"):
        RandomOrderSolver().solve(problem)


def test_a_monitor_stops_the_run():
    Phi, t = bumps()
    seen = []
    solution = RandomOrderSolver(random_state=0).solve(
        dense_problem(Phi, t), monitor=lambda progress: seen.append(progress) or len(seen) == 3
    )
    assert len(seen) == 3
    assert not solution.converged


@pytest.mark.parametrize("option", ["noise_every", "max_iter"])
def test_counts_must_be_positive(option):
    Phi, t = bumps()
    with pytest.raises(ValueError, match=option):
        RandomOrderSolver(**{option: 0}).solve(dense_problem(Phi, t))
