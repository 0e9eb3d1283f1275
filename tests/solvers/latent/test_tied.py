"""One precision per group with any likelihood: maxima, groups that leave and enter, stress."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from relvec.dictionaries import DenseDictionary
from relvec.laplace import find_mode
from relvec.likelihoods import Bernoulli, LogVariance, NegativeBinomial, Poisson, Softmax
from relvec.priors import BoundSmoothness
from relvec.solvers import LatentProblem, TiedLaplaceSolver
from relvec.solvers.latent.tied_columns import TiedColumns
from relvec.solvers.latent.tied_search import LatentGroupSearch


def kernels(x, counts=(4, 8, 16, 32)):
    """Gaussians of length-scales 1 / count, and their groups."""
    blocks = []
    for k in counts:
        centres = np.linspace(-0.5 / k, 1.0 + 0.5 / k, k + 2)
        blocks.append(np.exp(-0.5 * ((x[:, None] - centres) * k) ** 2))
    return np.hstack(blocks), np.repeat(np.arange(len(counts)), [b.shape[1] for b in blocks])


def rates(seed, n=120, **options):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random(n))
    columns, groups = kernels(x, **options)
    counts = rng.poisson(np.exp(1.0 + np.sin(7.0 * x)))
    return columns, groups, counts


def problem_of(columns, bound, **options):
    return LatentProblem(DenseDictionary(columns), bound, **options)


def evidence_at(problem, columns, log_precision):
    return find_mode(
        columns, log_precision, problem.likelihood, has_intercept=problem.has_intercept
    ).log_evidence


def columns_of(problem, groups):
    return TiedColumns(problem, groups, np.zeros(len(groups), dtype=bool))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("likelihood", [Poisson(), NegativeBinomial(2.0)], ids=repr)
def test_maximum_against_brute_force(seed, likelihood):
    """No precisions on a grid, improved by a simplex search, have more evidence."""
    columns, groups, counts = rates(seed, counts=(4, 12))
    problem = problem_of(columns, likelihood.bind(counts))
    solution = TiedLaplaceSolver(groups).solve(problem)

    def cost(theta):
        return -evidence_at(problem, columns, np.asarray(theta)[groups])

    grid = [(a, b) for a in (-2.0, 1.0, 4.0, 12.0) for b in (-2.0, 1.0, 4.0, 12.0)]
    best = minimize(cost, min(grid, key=cost), method="Nelder-Mead", options={"xatol": 1e-3})
    assert solution.state.objective >= -best.fun - 1e-3
    assert solution.converged
    assert solution.certificate.gradient < 1e-3
    assert np.all(np.diff(solution.trace) >= 0.0)


def test_derivative_of_groups_against_differences():
    columns, groups, counts = rates(0)
    problem = problem_of(columns, Poisson().bind(counts))
    search = LatentGroupSearch(
        problem, TiedColumns(problem, groups, np.zeros(len(groups), bool)), 1e-3, None
    )
    theta = np.array([0.5, 1.0, 2.0, 1.5])
    search.point = search.evaluate(theta)
    expected = [
        (evidence_at(problem, columns, up[groups]) - evidence_at(problem, columns, down[groups]))
        / 2e-4
        for up, down in ((theta + e, theta - e) for e in 1e-4 * np.eye(4))
    ]
    assert search.point.gradient == pytest.approx(expected, abs=1e-5)
    # Expected information: tr(R K_g R K_h) / 2 with the prior covariances of the effects.
    point = search.point
    curvature, ones = np.diag(point.state.mode.hessian.rows), np.ones((len(columns), 1))
    parts = [columns[:, groups == g] for g in range(4)]
    effects = [p @ p.T * np.exp(-t) for p, t in zip(parts, theta, strict=True)]
    # The flat intercept: a prior variance that is very large.
    marginal = np.linalg.inv(curvature) + sum(effects) + 1e8 * ones @ ones.T
    inverse = np.linalg.inv(marginal)
    dense = [[0.5 * np.trace(inverse @ a @ inverse @ b) for b in effects] for a in effects]
    assert point.information == pytest.approx(np.array(dense), rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_constant_rates_need_no_groups(seed):
    """The evidence is never below that of the null model."""
    columns, groups, _ = rates(seed)
    counts = np.random.default_rng(seed).poisson(2.0, len(columns))
    problem = problem_of(columns, Poisson().bind(counts))
    solution = TiedLaplaceSolver(groups).solve(problem)
    null = evidence_at(problem, columns[:, :0], np.empty(0))
    assert solution.state.objective >= null
    assert solution.converged


def test_removed_groups_would_not_gain():
    """At the end no removed group raises the evidence, whatever its precision."""
    columns, groups, counts = rates(1)
    problem = problem_of(columns, Poisson().bind(counts))
    solution = TiedLaplaceSolver(groups).solve(problem)
    present = np.unique(groups[solution.state.active])
    assert 0 < len(present) < 4
    theta = np.full(4, 30.0)
    for g in present:
        theta[g] = solution.state.log_precision[groups[solution.state.active] == g][0]
    for g in np.setdiff1d(np.arange(4), present):
        for value in np.arange(-2.0, 14.0, 2.0):
            trial = theta.copy()
            trial[g] = value
            assert evidence_at(problem, columns, trial[groups]) < solution.state.objective + 1e-3


def test_a_removed_group_enters_again():
    """From a warm start without the group that matters."""
    columns, groups, counts = rates(2)
    problem = problem_of(columns, Poisson().bind(counts))
    best = TiedLaplaceSolver(groups).solve(problem)
    wrong = np.flatnonzero(groups == 3)
    again = TiedLaplaceSolver(groups).solve(problem, warm_start=(wrong, np.full(len(wrong), 3.0)))
    assert again.state.objective == pytest.approx(best.state.objective, abs=1e-2)


def test_warm_start_is_continued():
    columns, groups, counts = rates(3)
    problem = problem_of(columns, Poisson().bind(counts))
    first = TiedLaplaceSolver(groups).solve(problem)
    start = first.state.active, first.state.log_precision
    again = TiedLaplaceSolver(groups).solve(problem, warm_start=start)
    assert again.n_iter <= 2
    assert again.state.objective == pytest.approx(first.state.objective, abs=1e-4)


def test_flat_atoms_stay_and_have_the_largest_variance():
    columns, groups, counts = rates(0)
    x = np.linspace(-1.0, 1.0, len(columns))
    columns = np.column_stack([x, np.ones(len(x)), columns])
    groups = np.append([-1, -1], groups)
    problem = problem_of(columns, Poisson().bind(counts), largest_latent=10.0)
    state = TiedLaplaceSolver(groups).solve(problem).state
    assert state.active[0] == 0
    assert 1 not in state.active  # constant: the intercept has its effect
    assert np.exp(state.log_precision[0]) == pytest.approx(x.var() / 100.0)


def test_groups_of_many_atoms_are_rotated():
    """As many atoms as rows: principal components give the same evidence and weights."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(60))
    columns = np.hstack([np.exp(-0.5 * ((x[:, None] - x) / h) ** 2) for h in (0.3, 0.05)])
    groups = np.repeat([0, 1], 60)
    bound = Poisson().bind(rng.poisson(np.exp(1.0 + np.sin(7.0 * x))))
    problem = problem_of(columns, bound)
    assert columns_of(problem, groups).columns.shape[1] < 75
    solution = TiedLaplaceSolver(groups).solve(problem)
    state = solution.state
    dense = find_mode(columns[:, state.active], state.log_precision, bound)
    assert state.objective == pytest.approx(dense.log_evidence, abs=1e-5)
    assert state.mode.latent == pytest.approx(dense.latent, abs=1e-5)
    assert solution.converged
    assert solution.certificate.gradient < 1e-3


def test_standardised_columns_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(100, 4))
    bound = Poisson().bind(rng.poisson(np.exp(0.5 * columns[:, 1])))
    solver = TiedLaplaceSolver(standardise=True)
    units = 10.0 ** np.arange(-2, 2)
    one, two = (solver.solve(problem_of(c, bound)).state for c in (columns, columns * units))
    assert two.objective == pytest.approx(one.objective, abs=1e-6)
    assert two.mode.weights[:4] * units == pytest.approx(one.mode.weights[:4], abs=1e-5)
    share = np.exp(one.log_precision) / columns.var(axis=0)
    assert np.ptp(share) < 1e-9 * share[0]
    again = solver.solve(problem_of(columns, bound), warm_start=(one.active, one.log_precision))
    assert again.n_iter <= 2


def test_atoms_of_infinite_minimum_gain_are_left_out():
    columns, groups, counts = rates(0)
    gains = np.where(np.arange(len(groups)) % 2, np.inf, 0.0)
    problem = problem_of(columns, Poisson().bind(counts), min_gain=gains)
    assert not (TiedLaplaceSolver(groups).solve(problem).state.active % 2).any()


def test_order_and_names_of_groups_do_not_matter():
    columns, groups, counts = rates(4)
    problem = problem_of(columns, Poisson().bind(counts))
    first = TiedLaplaceSolver(groups).solve(problem)
    order = np.random.default_rng(0).permutation(columns.shape[1])
    other = problem_of(columns[:, order], Poisson().bind(counts))
    names = np.array([70, 3, 40, 9])
    second = TiedLaplaceSolver(names[groups][order]).solve(other)
    assert second.state.objective == pytest.approx(first.state.objective, abs=1e-5)
    assert np.array_equal(np.sort(order[second.state.active]), first.state.active)


def test_weights_count_as_repetitions():
    columns, groups, counts = rates(5)
    weight = np.arange(len(columns)) % 3
    weighted = problem_of(columns, Poisson().bind(counts, weight.astype(float)))
    repeated = problem_of(
        np.repeat(columns, weight, axis=0), Poisson().bind(np.repeat(counts, weight))
    )
    one = TiedLaplaceSolver(groups).solve(weighted).state.objective
    two = TiedLaplaceSolver(groups).solve(repeated).state.objective
    assert one == pytest.approx(two, abs=1e-4)


def test_a_monitor_stops_the_search():
    columns, groups, counts = rates(0)
    problem = problem_of(columns, Poisson().bind(counts))
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) == 3

    solution = TiedLaplaceSolver(groups).solve(problem, monitor=stop)
    assert len(seen) == 3
    assert not solution.converged
    assert solution.state.objective >= evidence_at(problem, columns[:, :0], np.empty(0))


def stress(n):
    """Targets that have no maximum-likelihood fit, or are very large, or tell nothing."""
    rng, x = np.random.default_rng(n), np.linspace(0.0, 1.0, n)
    counts = {
        "zeros": np.zeros(n),
        "one count": np.eye(n)[n // 2],
        "huge": rng.poisson(1e6 * np.exp(np.sin(6.0 * x))),
        "constant": np.full(n, 3.0),
        "one huge count": 1e6 * np.eye(n)[n // 2],
    }
    for name, target in counts.items():
        for likelihood in (Poisson(), NegativeBinomial(2.0), LogVariance()):
            yield f"{name} {type(likelihood).__name__}", likelihood.bind(target)
    yield "separable", Bernoulli().bind(x > 0.5)
    yield "one class", Bernoulli().bind(np.ones(n))


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 100])
@pytest.mark.parametrize("form", ["groups", "one group", "duplicates", "flat", "scaled"])
def test_stress(n, form):
    columns, groups = kernels(np.linspace(0.0, 1.0, n))
    if form == "one group":
        groups = None
    elif form == "duplicates":
        columns, groups = np.hstack([columns, columns[:, :6]]), np.append(groups, [9] * 6)
    elif form == "flat":
        columns = np.column_stack([np.linspace(-1.0, 1.0, n), np.zeros(n), columns])
        groups = np.append([-1, 5], groups)
    elif form == "scaled":
        columns = 1e4 * columns
    for name, bound in stress(n):
        problem = problem_of(columns, bound)
        solution = TiedLaplaceSolver(groups).solve(problem)
        assert solution.converged, name
        assert np.isfinite(solution.state.objective), name
        assert np.all(np.diff(solution.trace) >= 0.0), name
        # The model without groups has the flat atom, which is the first.
        least = columns[:, : int(form == "flat")]
        null = evidence_at(problem, least, problem.bounds(least)[0])
        assert solution.state.objective >= null, name


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        ([0, 1], "one integer for each of the 70 atoms"),
        (np.full(70, 0.5), "0.5"),
        (np.full(70, -2), "-1 for a nearly flat prior"),
        (["a"] * 70, "integers"),
    ],
)
def test_wrong_groups(groups, match):
    columns, _, counts = rates(0)
    columns = np.hstack([columns, columns])[:, :70]
    with pytest.raises(ValueError, match=match):
        TiedLaplaceSolver(groups).solve(problem_of(columns, Poisson().bind(counts)))


def test_wrong_problems():
    columns, groups, counts = rates(0)
    several = problem_of(columns, Softmax(3).bind(counts % 3))
    with pytest.raises(ValueError, match="one latent function"):
        TiedLaplaceSolver(groups).solve(several)
    signed = problem_of(columns, Poisson().bind(counts), signs=np.ones(len(groups)))
    with pytest.raises(ValueError, match="free sign"):
        TiedLaplaceSolver(groups).solve(signed)
    penalised = problem_of(columns, Poisson().bind(counts), prior=BoundSmoothness(1.0))
    with pytest.raises(ValueError, match="flat prior"):
        TiedLaplaceSolver(groups).solve(penalised)
    with pytest.raises(ValueError, match="standardise must be True, False"):
        TiedLaplaceSolver(groups, standardise="yes").solve(
            problem_of(columns, Poisson().bind(counts))
        )
