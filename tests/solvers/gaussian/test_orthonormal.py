"""The closed form against numerical maximisation, dense algebra and the general solver."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from relvec.dictionaries import CosineDictionary, DenseDictionary, Dictionary
from relvec.estimators._solvers import resolve_solver
from relvec.evidence import NOISE_FLOOR
from relvec.moments import compute_moments
from relvec.priors import BoundSmoothness, Statistics
from relvec.solvers import OrthonormalSolver, SequentialSolver, WarmStart
from relvec.solvers.gaussian.noise_profile import (
    Curve,
    Group,
    NoiseOnly,
    iterate_noise,
    profile_noise,
    profile_objective,
)
from relvec.solvers.gaussian.reference import condition, evaluate
from relvec.solvers.gaussian.shrinkage import entry_threshold, shrink, shrinkage
from tests.helpers_priors import gamma_prior, posed

penalties = st.floats(0.0, 8.0)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def explicit(dictionary: Dictionary) -> DenseDictionary:
    """Return the same matrix, not known to be orthonormal."""
    return DenseDictionary(dictionary.columns(np.arange(dictionary.shape[1])))


def sparse_target(rng, dictionary, n_kept=6, size=6.0):
    n_samples, n_atoms = dictionary.shape
    weights = np.zeros(n_atoms)
    weights[rng.choice(n_atoms, n_kept, replace=False)] = size * rng.normal(size=n_kept)
    return dictionary.matvec(weights) + rng.normal(size=n_samples)


def pose(dictionary, target, *, centre=False, **options):
    options.setdefault("min_gain", 0.0)
    moments = compute_moments(dictionary, target[:, None], None, centre=centre)[0]
    return posed(moments, **options)


def dense_objective(problem, solution):
    fit = condition(problem, solution.active, np.exp(solution.log_lam))
    return evaluate(problem, fit, solution.noise_variance).objective


def penalty_of(prior, n):
    return {"flat": 0.0, "aic": 1.0, "bic": math.log(n) / 2, "ric": math.log(n)}[prior]


# ---------------------------------------------------------------- one coefficient


def gain(u, c):
    """What the prior says that an atom of squared coefficient ``u`` brings; zero if it is out."""
    atom = Statistics(np.ones(1), np.array([math.sqrt(u)]), np.full(1, c))
    return max(float(BoundSmoothness(c).best_precision(atom, math.inf, 1.0)[0][0]), 0.0)


@given(u=st.floats(0.0, 200.0), c=penalties)
def test_shrinkage_maximises_the_objective(u, c):
    def loss(kappa):
        return -0.5 * (math.log1p(-kappa) + (u - 2 * c) * kappa)

    kappa, best = float(shrinkage(u, c)), gain(u, c)
    assert 0.0 <= kappa < 1.0
    assert -loss(kappa) == pytest.approx(best, abs=1e-9)
    numeric = minimize_scalar(loss, bounds=(0.0, 1.0 - 1e-9), method="bounded")
    assert -loss(kappa) >= -numeric.fun - 1e-9


@given(c=penalties, penalty=st.one_of(st.just(0.0), st.floats(1e-6, 50.0)))
def test_threshold_is_where_the_gain_pays_the_penalty(c, penalty):
    threshold = entry_threshold(c, penalty)
    assert gain(threshold, c) == pytest.approx(penalty, rel=1e-7, abs=1e-12)
    assert threshold >= 1.0 + 2.0 * c


def test_without_a_penalty_it_is_the_garrote(rng):
    pywt = pytest.importorskip("pywt")
    z = 3.0 * rng.normal(size=10_000)
    mean, n_kept = shrink(z, 1.7, 0.0)
    expected = pywt.threshold(z, math.sqrt(1.7), "garrote")
    assert np.abs(mean - expected).max() < 1e-12
    assert n_kept == np.count_nonzero(expected)


@given(c=penalties, noise=st.just(0.0) | st.floats(1e-6, 10.0), seed=st.integers(0, 100))
def test_shrink_is_shrinkage_times_coefficient(c, noise, seed):
    z = np.random.default_rng(seed).normal(size=(7, 11)) * 4.0
    mean, n_kept = shrink(z, noise, c)
    expected = z * shrinkage(z**2 / noise, c) if noise else z
    np.testing.assert_allclose(mean, expected, atol=1e-12)
    assert n_kept == np.count_nonzero(mean)


def test_shrink_over_several_blocks(rng):
    z = rng.normal(size=200_003) * 2.0
    mean, n_kept = shrink(z, 1.0, 1.0)
    np.testing.assert_allclose(mean, z * shrinkage(z**2, 1.0), atol=1e-12)
    assert n_kept == np.count_nonzero(z**2 > entry_threshold(1.0))


def test_shrink_says_what_is_wrong(rng):
    with pytest.raises(ValueError, match="noise_variance must be"):
        shrink(rng.normal(size=(4, 4)), -1.0, 0.0)


# ---------------------------------------------------------------- the noise


def mixed(seed, n):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n) * np.exp(rng.choice([0.0, 1.0, 2.5]) * rng.normal(size=n))
    if seed % 5 == 0:
        z = np.round(z)  # ties and exact zeros
    return z


@given(seed=st.integers(0, 10_000), n=st.integers(2, 60), c=st.floats(0.4, 6.0), penalty=penalties)
@settings(deadline=None)
def test_slope_is_the_derivative(seed, n, c, penalty):
    curve = Curve([Group(np.sort(mixed(seed, n) ** 2), c, penalty)], NoiseOnly(3.0, 2.0))
    for s in np.random.default_rng(seed).uniform(0.05, 3.0, 5):
        step = 1e-6
        if curve.n_kept(s * math.exp(step)) != curve.n_kept(s * math.exp(-step)):
            continue  # with a penalty, the derivative jumps where an atom leaves
        above, below = (curve.objective(s * math.exp(sign * step)) for sign in (1, -1))
        assert curve.slope(s) == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-4)


@pytest.mark.slow
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 80),
    c=st.sampled_from([0.0, 0.2, 0.5, 1.0, 2.0, 4.0]),
    penalty=st.sampled_from([0.0, 1e-3, 1.0, 4.0]),
    noise_only=st.sampled_from([NoiseOnly(), NoiseOnly(4.0, 0.0), NoiseOnly(4.0, 3.0)]),
)
@settings(deadline=None, max_examples=150)
def test_no_maximum_is_missed(seed, n, c, penalty, noise_only):
    curve = Curve([Group(np.sort(mixed(seed, n) ** 2), c, penalty)], noise_only)
    found = curve.maxima()
    if not curve.total > 0.0:
        assert found == []
        return
    low = NOISE_FLOOR * curve.total / curve.count
    high = 1.1 * max(curve.total / curve.count, curve.groups[0].squares[-1])
    grid = np.geomspace(low, high, 2000)
    best = max(curve.objective(s) for s in found)
    assert best >= max(curve.objective(s) for s in grid) - 1e-9 * max(abs(best), 1.0)
    slopes = np.array([curve.slope(s) for s in grid])
    turns = np.count_nonzero((slopes[:-1] > 1e-9) & (slopes[1:] < -1e-9))
    assert len(found) >= turns
    for s in found:
        assert s == pytest.approx(low) or abs(curve.slope(s)) < 1e-7 * (n + noise_only.n)


@pytest.mark.parametrize("c", [1.0, 2.5, 5.0])
def test_fixed_point_reaches_the_same_maximum(rng, c):
    z = rng.normal(size=150_000) * 0.7
    z[:500] += 20.0
    exact = profile_noise(z, c)
    for start in (0.3 * exact.noise_variance, 30.0 * exact.noise_variance):
        found = iterate_noise(z.reshape(300, 500), c, start)
        assert found.noise_variance == pytest.approx(exact.noise_variance, rel=1e-7)
        assert found.objective == pytest.approx(exact.objective, rel=1e-12)
    assert exact.noise_variance in [s for s, _ in exact.maxima]


def test_long_signals_are_started_from_a_share(rng):
    z = rng.normal(size=5000)
    z[:100] += 10.0
    exact = profile_noise(z, 3.0)
    found = profile_noise(z, 3.0, exact_limit=1000)
    assert found.noise_variance == pytest.approx(exact.noise_variance)


def test_gamma_prior_on_the_noise(rng):
    z = rng.normal(size=200)
    options = {"noise_shape": 5.0, "noise_rate": 20.0}
    found = profile_noise(z, 2.0, **options)
    assert found.noise_variance > profile_noise(z, 2.0).noise_variance
    value = profile_objective(found.noise_variance, z**2, 2.0)
    value += -5.0 * math.log(found.noise_variance) - 20.0 / found.noise_variance
    assert found.objective == pytest.approx(value)
    again = iterate_noise(z, 2.0, 1.0, **options)
    assert again.noise_variance == pytest.approx(found.noise_variance)


def test_evidence_that_would_collapse_is_refused(rng):
    z = rng.normal(size=500)
    curve = Curve([Group(np.sort(z**2), 0.0)], NoiseOnly())
    assert all(curve.slope(s) <= 0.0 for s in np.geomspace(1e-9, 10, 100))  # it never rises
    for c in (0.0, 0.3):
        with pytest.raises(
            ValueError, match="noise variance cannot be estimated from the evidence"
        ):
            profile_noise(z, c)
        with pytest.raises(ValueError, match="median absolute deviation"):
            iterate_noise(z, c, 1.0)


def test_data_without_anything():
    found = profile_noise(np.zeros(10), 2.0)
    assert found == (0.0, math.inf, ())


# ---------------------------------------------------------------- the solver


@pytest.mark.parametrize("prior", ["flat", "aic", "bic", "ric"])
@pytest.mark.parametrize("seed", [0, 1])
def test_held_noise_agrees_with_the_general_solver(prior, seed):
    rng = np.random.default_rng(seed)
    dictionary = CosineDictionary(48)
    target = sparse_target(rng, dictionary)
    options = {"smoothness": penalty_of(prior, 48), "noise_variance": 1.0}
    exact = OrthonormalSolver().solve(pose(dictionary, target, **options))
    dense = pose(explicit(dictionary), target, **options)
    found = SequentialSolver(tol=1e-10).solve(dense)
    # The general solver adds 1e-10 of the target to the residuals, so its states are compared.
    assert exact.objective == pytest.approx(dense_objective(dense, exact), abs=1e-8)
    assert exact.objective == pytest.approx(dense_objective(dense, found), abs=1e-8)
    np.testing.assert_array_equal(exact.active, found.active)
    weights = [
        condition(dense, solution.active, np.exp(solution.log_lam)).mean
        for solution in (exact, found)
    ]
    np.testing.assert_allclose(*weights, atol=1e-6)
    mean, _ = shrink(dictionary.analyse(target), 1.0, options["smoothness"])
    np.testing.assert_allclose(weights[0], mean[exact.active], atol=1e-10)
    assert exact.converged
    assert exact.certificate.gradient < 1e-12
    assert exact.certificate.best_gain == 0.0


@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize(
    ("prior", "min_gain"), [("aic", 0.0), ("bic", 0.0), ("ric", 0.0), ("flat", 4.0), ("bic", 1.0)]
)
def test_free_noise_is_never_worse_than_the_general_solver(rng, prior, min_gain, centre):
    dictionary = CosineDictionary((6, 8))
    target = sparse_target(rng, dictionary) + 3.0
    options = {"smoothness": penalty_of(prior, 48), "min_gain": min_gain, "centre": centre}
    exact = OrthonormalSolver().solve(pose(dictionary, target, **options))
    dense = pose(explicit(dictionary), target, **options)
    found = SequentialSolver().solve(dense)
    assert exact.objective == pytest.approx(dense_objective(dense, exact), abs=1e-8)
    assert exact.objective >= dense_objective(dense, found) - 1e-8
    assert exact.converged
    assert exact.candidates[0].objective == exact.objective


@given(seed=st.integers(0, 10_000), c=st.floats(0.5, 4.0), penalty=st.sampled_from([0.0, 0.5, 3.0]))
@settings(deadline=None, max_examples=40)
def test_objective_is_that_of_dense_algebra(seed, c, penalty):
    rng = np.random.default_rng(seed)
    dictionary = CosineDictionary(20)
    target = sparse_target(rng, dictionary, n_kept=3)
    hyper = gamma_prior(noise_shape=0.5, noise_rate=0.3)
    options = {"smoothness": c, "min_gain": penalty, "hyperprior": hyper}
    solution = OrthonormalSolver().solve(pose(dictionary, target, **options))
    dense = pose(explicit(dictionary), target, **options)
    assert solution.objective == pytest.approx(dense_objective(dense, solution), abs=1e-8)
    if not solution.reached_max_active and not penalty:
        squares = dictionary.analyse(target) ** 2
        noise = solution.noise_variance
        value = profile_objective(noise, squares, c) - 0.5 * math.log(noise) - 0.3 / noise
        assert solution.objective == pytest.approx(value, abs=1e-8)


def test_fewer_atoms_than_samples(rng):
    class Half(Dictionary):
        """The first cosines only."""

        is_orthonormal = True
        shape = (40, 20)

        def columns(self, index):
            return CosineDictionary(40).columns(index)

    target = sparse_target(rng, Half())
    options = {"smoothness": 2.0}
    exact = OrthonormalSolver().solve(pose(Half(), target, **options))
    dense = pose(explicit(Half()), target, **options)
    assert exact.objective == pytest.approx(dense_objective(dense, exact), abs=1e-8)
    assert exact.objective >= dense_objective(dense, SequentialSolver().solve(dense)) - 1e-8


def test_general_solver_delegates(rng):
    dictionary = CosineDictionary(64)
    problem = pose(dictionary, sparse_target(rng, dictionary), smoothness=2.0)
    exact, found = OrthonormalSolver().solve(problem), SequentialSolver("fast").solve(problem)
    np.testing.assert_array_equal(exact.active, found.active)
    assert exact.objective == found.objective
    warm = SequentialSolver().solve(problem, warm_start=WarmStart(np.array([1]), np.zeros(1)))
    assert warm.objective == exact.objective


def test_collapse_is_capped_and_flagged_like_elsewhere(rng):
    dictionary = CosineDictionary(40)
    target = rng.normal(size=40)
    exact = OrthonormalSolver().solve(pose(dictionary, target))
    dense = pose(explicit(dictionary), target)
    found = SequentialSolver().solve(dense)
    assert exact.reached_max_active
    assert found.reached_max_active
    assert not exact.converged
    assert len(exact.active) == len(found.active) == 20
    assert exact.objective >= dense_objective(dense, found) - 1e-8
    assert exact.certificate.best_gain > 0.0
    few = OrthonormalSolver().solve(pose(dictionary, target, noise_variance=0.1, max_active=3))
    assert few.reached_max_active
    largest = np.sort(np.argsort(dictionary.analyse(target) ** 2)[-3:])
    np.testing.assert_array_equal(few.active, largest)


def test_a_maximum_below_the_cap_is_preferred():
    """A higher one above the cap has an arbitrary noise level."""
    dictionary = CosineDictionary(60)
    for seed in range(20):
        target = dictionary.matvec(mixed(seed, 60))
        solution = OrthonormalSolver().solve(pose(dictionary, target, smoothness=0.6))
        ends = [candidate for candidate in solution.candidates if candidate.n_active < 30]
        assert solution.reached_max_active == (not ends)
        if ends:
            assert solution.objective == max(end.objective for end in ends)


def test_sparse_data_without_noise():
    dictionary = CosineDictionary(32)
    weights = np.zeros(32)
    weights[[3, 9]] = [5.0, -2.0]
    problem = pose(dictionary, dictionary.matvec(weights), smoothness=1.7)
    solution = OrthonormalSolver().solve(problem)
    np.testing.assert_array_equal(solution.active, [3, 9])
    assert 0.0 < solution.noise_variance < 1e-9


@pytest.mark.parametrize("n_samples", [1, 2, 3])
@pytest.mark.parametrize("centre", [False, True])
def test_hardly_any_data(n_samples, centre):
    for noise in (None, 0.5):
        target = np.array([3.0, -1.0, 0.5])[:n_samples]
        options = {"noise_variance": noise, "smoothness": 1.0, "centre": centre}
        solution = SequentialSolver().solve(pose(CosineDictionary(n_samples), target, **options))
        assert not math.isnan(solution.objective)
        assert len(solution.active) <= n_samples


def test_nothing_to_explain():
    for noise in (None, 0.5):
        problem = pose(CosineDictionary(8), np.full(8, 3.0), centre=True, noise_variance=noise)
        solution = OrthonormalSolver().solve(problem)
        assert len(solution.active) == 0
        assert not math.isnan(solution.objective)


def test_monitor_is_told(rng):
    dictionary = CosineDictionary(30)
    problem = pose(dictionary, sparse_target(rng, dictionary), smoothness=2.0)
    seen = []
    solution = OrthonormalSolver().solve(problem, monitor=lambda progress: seen.append(progress))
    assert [(item.objective, item.n_active) for item in seen] == [
        (solution.objective, len(solution.active))
    ]


def test_problems_without_closed_form_are_refused(rng):
    target = rng.normal(size=12)
    solver = resolve_solver("orthonormal", effort="fast", needs_dense=False)
    assert isinstance(solver, OrthonormalSolver)
    with pytest.raises(ValueError, match='needs prepared atoms .* solver="sequential"'):
        solver.solve(pose(DenseDictionary(np.eye(12)), target))
    cosines = CosineDictionary(12)
    with pytest.raises(ValueError, match="no Gamma prior on weight precisions"):
        solver.solve(pose(cosines, target, hyperprior=gamma_prior(0.1, 0.1)))
    uneven = np.linspace(0.0, 1.0, 12)
    with pytest.raises(ValueError, match="same min_gain for every atom; got values from 0 to 1"):
        solver.solve(pose(cosines, target, min_gain=uneven))
    general = SequentialSolver().solve(pose(cosines, target, min_gain=uneven, noise_variance=0.5))
    dense = pose(explicit(cosines), target, min_gain=uneven, noise_variance=0.5)
    assert general.objective == pytest.approx(SequentialSolver().solve(dense).objective)


def test_a_sample_of_many_coefficients_is_profiled_under_the_same_prior():
    """With a small penalty the noise is identifiable only by its prior."""
    z = np.random.default_rng(0).normal(size=4000)
    prior = {"noise_shape": 5.0, "noise_rate": 5.0}
    all_of_them = profile_noise(z, 0.2, **prior).noise_variance
    some = profile_noise(z, 0.2, exact_limit=1000, **prior).noise_variance
    assert some == pytest.approx(all_of_them, rel=0.05)
