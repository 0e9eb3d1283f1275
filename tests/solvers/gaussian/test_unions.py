"""Unions of dictionaries: never below a part, exact starts, sources handed over."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import SparseBayesRegressor
from relvec.bases import CosineBasis, KernelBasis, LinearBasis, PrecomputedBasis, WaveletBasis
from relvec.dictionaries import (
    CosineDictionary,
    DenseDictionary,
    UnionDictionary,
    WaveletDictionary,
)
from relvec.kernels import ThinPlateSpline
from relvec.moments import LazyMoments, Part, RestrictedMoments, compute_moments
from relvec.solvers import OrthonormalSolver, SequentialSolver
from relvec.solvers.gaussian.state import State
from relvec.solvers.gaussian.unions import build_residual_problem, replace_part, restrict_to_part
from tests.helpers_priors import posed


def steps_and_waves(n=64, seed=0, noise=0.15):
    rng = np.random.default_rng(seed)
    i = np.arange(n)
    clean = 1.5 * (i > n // 3) - 1.0 * (i > 3 * n // 4) + np.cos(np.pi * (i + 0.5) * 5 / n)
    return i[:, None].astype(float), clean + noise * rng.standard_normal(n)


def union(n=64):
    return UnionDictionary([WaveletDictionary(n, "haar", 6), CosineDictionary(n)])


def problem_of(dictionary, y, *, centre=False, smoothness=None, weight=None, **options):
    c = 0.5 * np.log(len(y)) if smoothness is None else smoothness
    return posed(
        LazyMoments(dictionary, y, weight, centre=centre, store=True), smoothness=c, **options
    )


# ------------------------------------------------------------------ what solvers are told


def test_parts_say_which_atoms_and_whether_they_are_orthonormal():
    _, y = steps_and_waves()
    kernels = DenseDictionary(np.random.default_rng(0).standard_normal((64, 5)))
    dictionary = UnionDictionary([WaveletDictionary(64, "haar", 6), kernels])
    parts = problem_of(dictionary, y).moments.parts
    assert parts == (Part(slice(0, 64), True), Part(slice(64, 69), False))


@pytest.mark.parametrize(
    ("level", "orthonormal"), [(6, True), (2, False)], ids=["one constant", "several means"]
)
def test_centring_spares_a_part_with_one_uneven_atom(level, orthonormal):
    _, y = steps_and_waves()
    dictionary = UnionDictionary([WaveletDictionary(64, "haar", level), CosineDictionary(64)])
    moments = problem_of(dictionary, y, centre=True).moments
    assert [part.is_orthonormal for part in moments.parts] == [orthonormal, True]
    if orthonormal:
        gram = moments.gram(np.arange(64))
        usable = moments.usable[:64]
        np.testing.assert_allclose(gram[np.ix_(usable, usable)], np.eye(63), atol=1e-12)


def test_weights_spoil_orthonormality():
    _, y = steps_and_waves()
    weight = np.ones(64)
    weight[3] = 2.0
    moments = problem_of(union(), y, weight=weight).moments
    assert not any(part.is_orthonormal for part in moments.parts)


def test_a_dictionary_that_is_no_union_has_no_parts():
    _, y = steps_and_waves()
    assert problem_of(CosineDictionary(64), y).moments.parts == ()


def test_moments_read_once_know_their_parts_too():
    X, y = np.random.default_rng(0).standard_normal((60, 6)), np.arange(60.0)
    dictionary = UnionDictionary([DenseDictionary(X[:, :4]), DenseDictionary(X[:, 4:])])
    for low_memory in (True, False):
        (moments,) = compute_moments(
            dictionary, y[:, None], None, centre=True, low_memory=low_memory
        )
        assert [part.atoms for part in moments.parts] == [slice(0, 4), slice(4, 6)]


def test_restricted_moments_only_let_one_part_in():
    _, y = steps_and_waves()
    moments = problem_of(union(), y).moments
    inside = RestrictedMoments(moments, moments.parts[1])
    assert inside.is_orthonormal
    assert not inside.usable[:64].any()
    assert inside.usable[64:].all()
    index = np.array([3, 70, 90])
    np.testing.assert_array_equal(inside.gram(index), moments.gram(index))
    np.testing.assert_array_equal(inside.gram_rows(index), moments.gram_rows(index))


# ------------------------------------------------------------------ never below a part


@pytest.mark.slow
@pytest.mark.parametrize(
    ("effort", "prior", "intercept", "seed"),
    [
        ("balanced", "bic", True, 0),
        ("balanced", "ric", False, 0),
        ("balanced", "bic", False, 1),
        ("balanced", "ric", True, 1),
        ("thorough", "ric", True, 0),
    ],
)
def test_a_union_is_never_below_its_parts(effort, prior, intercept, seed):
    X, y = steps_and_waves(seed=seed)
    haar, cosines = WaveletBasis("haar", level=6), CosineBasis()
    splines = KernelBasis(ThinPlateSpline(16.0))

    def objective(basis):
        model = SparseBayesRegressor(basis, prior=prior, fit_intercept=intercept, effort=effort)
        return model.fit(X, y).objective_

    single = {basis: objective(basis) for basis in (haar, cosines, splines)}
    for first, second in ((haar, cosines), (haar, splines), (splines, cosines)):
        best = max(single[first], single[second])
        assert objective(first + second) > best - 1e-6


def test_the_fast_search_is_not_below_its_orthonormal_parts():
    X, y = steps_and_waves()
    haar, splines = WaveletBasis("haar", level=6), KernelBasis(ThinPlateSpline(16.0))
    options = {"prior": "ric", "effort": "fast"}
    both = SparseBayesRegressor(haar + splines, **options).fit(X, y)
    assert both.objective_ > SparseBayesRegressor(haar, **options).fit(X, y).objective_ - 1e-6


def test_a_union_of_columns_and_kernels_is_not_below_the_kernels():
    rng = np.random.default_rng(0)
    X = rng.uniform(-5, 5, size=(60, 2))
    y = np.sinc(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.standard_normal(60)
    kernels, columns = KernelBasis(gamma=0.2), LinearBasis()
    single = [SparseBayesRegressor(basis).fit(X, y).objective_ for basis in (kernels, columns)]
    assert SparseBayesRegressor(kernels + columns).fit(X, y).objective_ > max(single) - 1e-6


def test_a_part_at_the_cap_does_not_take_over():
    # without a penalty an orthonormal part explains the noise; the union must not start there
    X, y = steps_and_waves()
    model = SparseBayesRegressor(
        WaveletBasis("haar", level=6) + LinearBasis(), prior="flat", fit_intercept=False
    ).fit(X, y)
    assert not model.reached_max_active_
    assert len(model.coef_) < 32


# ------------------------------------------------------------------ the steps


def test_a_part_by_itself_is_the_closed_form():
    _, y = steps_and_waves()
    problem = problem_of(union(), y, min_gain=0.0)
    for number, dictionary in enumerate((WaveletDictionary(64, "haar", 6), CosineDictionary(64))):
        part = problem.moments.parts[number]
        inside = SequentialSolver().solve(restrict_to_part(problem, part))
        exact = OrthonormalSolver().solve(problem_of(dictionary, y, min_gain=0.0))
        np.testing.assert_array_equal(inside.active, exact.active + part.atoms.start)
        assert inside.objective == pytest.approx(exact.objective, abs=1e-9)


def test_what_the_others_leave_is_the_residual_of_their_contribution():
    _, y = steps_and_waves()
    dictionary = union()
    problem = problem_of(dictionary, y)
    solution = SequentialSolver().solve(problem)
    state = State(solution.active, solution.log_lam)
    part = problem.moments.parts[1]
    assert (state.active < 64).any()
    assert (state.active >= 64).any()
    rest = build_residual_problem(problem, part, state)
    columns = dictionary.columns(state.active)
    weights = np.linalg.solve(columns.T @ columns + np.diag(np.exp(state.theta)), columns.T @ y)
    haar = state.active < 64
    residual = y - columns[:, haar] @ weights[haar]
    assert rest.moments.target_ss == pytest.approx(residual @ residual)
    np.testing.assert_allclose(
        rest.moments.correlation, dictionary.columns(np.arange(128)).T @ residual, atol=1e-10
    )
    assert not rest.moments.usable[:64].any()


def test_nothing_is_left_over_by_nobody():
    _, y = steps_and_waves()
    problem = problem_of(union(), y)
    only_cosines = State(np.array([66, 70]), np.zeros(2))
    assert build_residual_problem(problem, problem.moments.parts[1], only_cosines) is None


def test_atoms_of_a_part_are_replaced():
    _, y = steps_and_waves()
    part = problem_of(union(), y).moments.parts[0]
    state = State(np.array([2, 40, 70]), np.array([0.1, 0.2, 0.3]))
    fresh = State(np.array([5]), np.array([0.9]))
    mixed = replace_part(state, part, fresh)
    np.testing.assert_array_equal(mixed.active, [5, 70])
    np.testing.assert_array_equal(mixed.theta, [0.9, 0.3])


def test_both_kinds_of_atoms_are_used_for_what_they_do_best():
    X, y = steps_and_waves(n=128, noise=0.1)
    model = SparseBayesRegressor(
        WaveletBasis("haar", level=7) + CosineBasis(), prior="ric", fit_intercept=False
    ).fit(X, y)
    wavelets, cosines = model.components_
    assert 1 <= cosines.n_relevant <= 3
    assert wavelets.n_relevant > cosines.n_relevant
    wave = model.predict_components(X, centred=True)[:, 1]
    source = np.cos(np.pi * (X[:, 0] + 0.5) * 5 / 128)
    assert np.corrcoef(wave, source)[0, 1] > 0.95


@pytest.mark.parametrize("n", [40])
def test_three_parts_and_explicit_columns(n):
    X, y = steps_and_waves(n=n)
    rng = np.random.default_rng(0)
    columns = np.hstack([X, rng.standard_normal((n, 3))])
    basis = PrecomputedBasis() + LinearBasis() + KernelBasis(gamma=0.01)
    model = SparseBayesRegressor(basis, prior="bic").fit(columns, y)
    assert len(model.components_) == 3
    assert model.converged_
    np.testing.assert_allclose(
        model.predict_components(columns).sum(axis=1) + model.intercept_, model.predict(columns)
    )
