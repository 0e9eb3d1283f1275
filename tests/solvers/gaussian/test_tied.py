"""One precision per group with Gaussian noise: dense evidences, brute force, conformance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from relvec.dictionaries import DenseDictionary
from relvec.likelihoods import Gaussian
from relvec.moments import compute_moments
from relvec.priors import BoundFlat, BoundSmoothness, InverseGamma
from relvec.solvers import (
    LatentProblem,
    NullSolver,
    Problem,
    RidgeSolver,
    TiedLaplaceSolver,
    TiedSolver,
    WarmStart,
)
from relvec.testing import solvers as conformance
from relvec.testing._dense import DenseProblem, columns_and_target, make_problem


def kernels(x, scales=(0.3, 0.08, 0.02), n_centres=15):
    centres = np.linspace(0.0, 1.0, n_centres)
    blocks = [np.exp(-0.5 * ((x[:, None] - centres) / h) ** 2) for h in scales]
    return np.hstack(blocks), np.repeat(np.arange(len(scales)), n_centres)


def sample(seed, n=60, noise=0.2):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random(n))
    columns, groups = kernels(x)
    peak = np.exp(-0.5 * ((x - 0.5) / 0.03) ** 2)
    signal = (seed % 3 > 0) * np.sin(6.0 * x) + (seed % 3 == 2) * peak
    return columns, groups, signal + noise * rng.normal(size=n)


def dense_of(columns, target, **options):
    return make_problem("kernels", columns, target, **options)


def spread(dense: DenseProblem, solution):
    return dense.objective(dense.log_alpha(solution), solution.noise_variance)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("held", [None, 0.04])
def test_maximum_against_brute_force(seed, held):
    """A simplex search over three log precisions and the noise, from eight points, of the dense
    evidence: the solver is at most 0.2 nats below the best of them, and mostly not at all."""
    columns, groups, target = sample(seed)
    dense = dense_of(columns, target, noise_variance=held)
    solution = TiedSolver(groups).solve(dense.problem)
    assert solution.objective == pytest.approx(spread(dense, solution), abs=1e-6)
    assert solution.converged
    assert solution.certificate.gradient < 1e-3
    assert np.all(np.diff(solution.trace) >= 0.0)
    if seed not in (2, 4, 5):
        return

    def cost(parameters):
        log_alpha = np.clip(parameters[:3], -10.0, 30.0)[groups]
        noise = np.exp(np.clip(parameters[3], -10.0, 3.0)) if held is None else held
        return -dense.objective(log_alpha, noise)

    options = {"maxiter": 400, "xatol": 1e-2, "fatol": 1e-4}
    starts = [(a, b, c, -3.0) for a in (-2.0, 8.0) for b in (-2.0, 8.0) for c in (1.0,)]
    found = [minimize(cost, s, method="Nelder-Mead", options=options).fun for s in starts]
    # Seed 5: a maximum without the second group is better, by 0.15 nats.
    allowed = 0.2 if seed == 5 else 1e-3
    assert solution.objective >= -min(found) - allowed


def test_derivatives_against_differences():
    columns, groups, target = sample(2)
    dense = dense_of(columns, target)
    solution = TiedSolver(groups, tol=1e-7).solve(dense.problem)
    log_alpha, noise = dense.log_alpha(solution), solution.noise_variance
    step = 1e-4
    for group in np.unique(groups[solution.active]):
        shift = step * (groups == group)
        above, below = (
            dense.objective(log_alpha + shift, noise),
            dense.objective(log_alpha - shift, noise),
        )
        assert (above - below) / (2.0 * step) == pytest.approx(0.0, abs=1e-5)
    up, down = (dense.objective(log_alpha, noise * np.exp(s)) for s in (step, -step))
    assert (up - down) / (2.0 * step) == pytest.approx(0.0, abs=1e-5)


def test_one_precision_per_group_in_raw_units():
    columns, groups, target = sample(2)
    dense = dense_of(columns, target)
    solution = TiedSolver(groups).solve(dense.problem)
    log_alpha = dense.log_alpha(solution)[solution.active]
    for group in np.unique(groups[solution.active]):
        assert np.ptp(log_alpha[groups[solution.active] == group]) < 1e-9


def test_standardised_columns_do_not_depend_on_units():
    columns, target = columns_and_target()
    scaled = columns * 10.0 ** np.arange(-4, 4)
    solver = TiedSolver(standardise=True)
    one, two = (solver.solve(dense_of(c, target).problem) for c in (columns, scaled))
    assert one.objective == pytest.approx(two.objective, abs=1e-6)
    assert np.ptp(one.log_lam) < 1e-12
    ridge = RidgeSolver().solve(dense_of(columns, target).problem)
    assert one.objective == pytest.approx(ridge.objective, abs=1e-3)


def test_same_evidence_as_the_laplace_solver():
    """With the noise held, the Laplace approximation of a Gaussian likelihood is exact."""
    columns, groups, target = sample(2)
    dense = dense_of(columns, target, noise_variance=0.04)
    solution = TiedSolver(groups).solve(dense.problem)
    latent = LatentProblem(DenseDictionary(columns), Gaussian(0.04).bind(target))
    other = TiedLaplaceSolver(groups).solve(latent)
    # The flat intercept contributes its own factor to the Laplace evidence.
    contrast = 0.5 * np.log(2.0 * np.pi * 0.04 / len(target))
    assert other.state.objective == pytest.approx(
        solution.objective - 0.5 * np.log(2.0 * np.pi * 0.04) + contrast, abs=1e-2
    )


def test_never_below_the_null_model():
    for seed in range(8):
        columns, groups, _ = sample(seed)
        target = np.random.default_rng(seed).normal(size=len(columns))
        problem = dense_of(columns, target).problem
        null = NullSolver().solve(problem)
        assert TiedSolver(groups).solve(problem).objective >= null.objective - 1e-7


def test_prior_of_the_noise():
    columns, groups, target = sample(1)
    dense = dense_of(columns, target, prior=BoundFlat(InverseGamma(5.0, 4.0)))
    solution = TiedSolver(groups).solve(dense.problem)
    assert solution.objective == pytest.approx(spread(dense, solution), abs=1e-6)


def test_flat_atoms_stay():
    columns, groups, target = sample(0)
    line = np.linspace(-1.0, 1.0, len(columns))
    dense = dense_of(np.column_stack([line, columns]), target + 5.0 * line)
    solution = TiedSolver(np.append(-1, groups)).solve(dense.problem)
    assert solution.active[0] == 0
    assert solution.objective == pytest.approx(spread(dense, solution), abs=1e-6)


def test_many_atoms_of_few_dimensions_are_fast_and_exact():
    """800 atoms at 200 rows: 112 principal components have the evidence of all."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(200))
    columns = np.hstack([np.exp(-0.5 * ((x[:, None] - x) * k) ** 2) for k in (4, 8, 16, 32)])
    target = np.sin(9.0 * x) + 0.2 * rng.normal(size=200)
    [moments] = compute_moments(DenseDictionary(columns), target[:, None], None, centre=True)
    solution = TiedSolver(np.repeat(np.arange(4), 200)).solve(Problem(moments))
    dense = dense_of(columns, target)
    assert solution.objective == pytest.approx(spread(dense, solution), abs=1e-4)


@pytest.mark.parametrize(
    "target",
    [np.zeros(5), np.eye(5)[2], np.arange(5.0), 1e9 * np.arange(5.0) ** 2, np.full(5, 3.0)],
    ids=["zeros", "one", "line", "huge", "constant"],
)
def test_few_rows(target):
    columns, groups = kernels(np.linspace(0.0, 1.0, 5))
    problem = dense_of(np.hstack([columns, columns[:, :3]]), target).problem
    solution = TiedSolver(np.append(groups, [7, 7, 7])).solve(problem)
    assert solution.converged
    assert np.all(np.diff(solution.trace) >= 0.0)


def test_a_warm_start_is_continued():
    columns, groups, target = sample(2)
    problem = dense_of(columns, target).problem
    first = TiedSolver(groups).solve(problem)
    again = TiedSolver(groups).solve(problem, warm_start=WarmStart(first.active, first.log_lam))
    assert again.n_iter <= 3
    assert again.objective == pytest.approx(first.objective, abs=1e-5)


@pytest.mark.parametrize(
    "check",
    [
        conformance._check_constant_target,
        conformance._check_repeatable,
    ],
)
def test_conformance_checks_that_apply(check):
    """Those of single atoms do not: derivatives vanish for groups, and atoms do not enter alone."""
    check(TiedSolver(standardise=True), "TiedSolver")


def test_conformance_of_the_solution():
    solver = TiedSolver(standardise=True)
    dense = make_problem("explicit columns", *columns_and_target())
    solution = solver.solve(dense.problem)
    conformance._check_form(dense.problem, solution, "TiedSolver")
    conformance._check_objective(dense, solution, "TiedSolver")
    conformance._check_trace(solver, solution, "TiedSolver")


def test_a_monitor_stops_the_search():
    columns, groups, target = sample(2)
    problem = dense_of(columns, target).problem
    seen = []
    solution = TiedSolver(groups).solve(problem, monitor=lambda p: seen.append(p) or len(seen) == 2)
    assert len(seen) == 2
    assert not solution.converged
    numbers = []
    TiedSolver(groups).solve(problem, monitor=lambda p: numbers.append(p.n_iter))
    assert np.all(np.diff(numbers) > 0)


def test_problems_that_are_refused():
    columns, groups, target = sample(0)
    with pytest.raises(ValueError, match="flat prior"):
        TiedSolver(groups).solve(dense_of(columns, target, prior=BoundSmoothness(1.0)).problem)
    with pytest.raises(ValueError, match="max_active"):
        TiedSolver(groups).solve(dense_of(columns, target, max_active=3).problem)
    with pytest.raises(ValueError, match="one integer for each of the 45 atoms"):
        TiedSolver(groups[:3]).solve(dense_of(columns, target).problem)
