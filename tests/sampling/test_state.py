"""Updates of rank one against factorisations and dense formulas."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relvec.bases import KernelBasis, WaveletBasis
from relvec.datasets import jumps_and_peaks as signals
from relvec.kernels import LinearSpline
from relvec.moments import compute_moments
from relvec.sampling import BetaBinomialSize, PrecisionGrid
from relvec.sampling.collapsed import make_target
from relvec.sampling.moves import flip_informed, redraw_slot
from relvec.sampling.state import MAX_UPDATES, draw_index, make_state
from tests.helpers_sampling import (
    dense_log_likelihood,
    dense_log_odds,
    fix_last,
    make_moments,
    prepare,
    small_problem,
)

TARGETS = {
    "unknown noise": (lambda target: target, {}),
    "known noise": (lambda target: target, {"noise_variance": 0.7}),
    "beta-binomial": (lambda target: target, {"size_prior": BetaBinomialSize(1.0, 3.0)}),
    "tempered": (lambda target: replace(target, power=0.3), {}),
    "fixed atoms": (lambda target: fix_last(target, 1e-3, 2.0), {}),
}


@pytest.fixture(params=TARGETS)
def problem(request):
    change, options = TARGETS[request.param]
    Phi, t, target = small_problem(**options)
    return Phi, t, change(target)


def require_same(state, expected, rtol=1e-8):
    order, other = np.argsort(state.active), np.argsort(expected.active)
    assert np.array_equal(state.active[order], expected.active[other])
    for name in ("level", "precision", "mean"):
        assert np.allclose(
            getattr(state, name)[order], getattr(expected, name)[other], rtol=rtol, atol=1e-9
        ), name
    scale = np.abs(expected.inverse).max(initial=0.0)
    assert np.allclose(
        state.inverse[np.ix_(order, order)],
        expected.inverse[np.ix_(other, other)],
        rtol=0.0,
        atol=rtol * scale,
    )
    for name in ("sparsity", "quality", "error", "log_det", "log_posterior", "log_odds"):
        left, right = getattr(state, name), getattr(expected, name)
        assert np.allclose(left, right, rtol=rtol, atol=1e-8), name


def walk(state, n_steps, seed=0):
    """Add and remove atoms at random."""
    rng = np.random.default_rng(seed)
    candidates = np.flatnonzero(state.target.movable)
    for _ in range(n_steps):
        atom = int(rng.choice(candidates))
        slot = state.find_slot(atom)
        if slot is None:
            state = state.add(atom, int(rng.integers(len(state.target.precision))))
        else:
            state = state.remove(slot)
    return state


def test_updates_equal_factorisations(problem):
    _, _, target = problem
    state = make_state(target, np.arange(0), np.arange(0))
    for number in range(12):
        state = walk(state, 1, seed=number)
        require_same(
            state, make_state(target, state.active[state.n_fixed :], state.level[state.n_fixed :])
        )
    assert state.n_updates == 12


def test_updates_change_nothing_in_the_state(problem):
    _, _, target = problem
    state = make_state(target, np.array([2, 0]), np.array([1, 4]))
    before = {
        each.name: np.copy(getattr(state, each.name))
        for each in fields(state)
        if each.name != "target"
    }
    state.add(1, 3)
    state.remove(state.n_fixed)
    assert np.isfinite(state.log_odds[:2]).all()
    assert state.flip_rates.max() <= 1.0
    for name, value in before.items():
        assert np.array_equal(value, getattr(state, name)), name


def test_log_likelihood(problem):
    Phi, t, target = problem
    state = make_state(target, np.array([2, 0]), np.array([1, 4]))
    empty = make_state(target, np.arange(0), np.arange(0))

    def dense(each):
        return dense_log_likelihood(Phi[:, each.active], t, each.precision, target)

    difference = state.log_likelihood - empty.log_likelihood
    assert difference == pytest.approx(dense(state) - dense(empty), abs=1e-9)


def test_sparsity_and_quality(problem):
    Phi, t, target = problem
    state = walk(make_state(target, np.array([2, 0]), np.array([1, 4])), 5)
    inside = Phi[:, state.active]
    C = np.eye(len(t)) + (inside / state.precision) @ inside.T
    solved = np.linalg.solve(C, Phi)
    # the state has s and q of the residual given the model: phi' C^-1 phi and phi' C^-1 t
    assert np.allclose(state.sparsity, np.einsum("ij,ij->j", Phi, solved), atol=1e-9)
    assert np.allclose(state.quality, t @ solved, atol=1e-9)
    assert state.error == pytest.approx(target.rate + 0.5 * t @ np.linalg.solve(C, t))


@pytest.mark.parametrize("n_steps", [0, 1, 2, 5, 9])
def test_log_odds(problem, n_steps):
    Phi, t, target = problem
    state = walk(make_state(target, np.arange(0), np.arange(0)), n_steps)
    expected = dense_log_odds(Phi, t, state.active, state.level, target)
    assert np.allclose(state.log_odds, expected, atol=1e-7)
    rates = 1.0 / (1.0 + np.exp(-expected))
    inside = state.active[state.n_fixed :]
    rates[inside] = 1.0 - rates[inside]
    assert np.allclose(state.flip_rates, rates, atol=1e-7)


@pytest.mark.parametrize("options", [{}, {"size_prior": BetaBinomialSize()}])
def test_log_odds_if_all_atoms_are_in_the_model(options):
    Phi, t, target = small_problem(**options)
    state = make_state(target, np.arange(6), np.arange(6))
    assert np.allclose(state.log_odds, dense_log_odds(Phi, t, state.active, state.level, target))


def test_unusable_atoms_have_no_odds():
    rng = np.random.default_rng(0)
    Phi = np.column_stack([rng.normal(size=(10, 2)), np.ones(10), np.zeros(10)])
    target = make_target(make_moments(Phi, rng.normal(size=10)))
    state = make_state(target, np.array([1]), np.array([2]))
    assert np.array_equal(np.isfinite(state.log_odds), [True, True, False, False])
    assert not state.flip_rates[2:].any()


def test_level_is_drawn_from_its_conditional_distribution():
    Phi, t, target = small_problem()
    state, rng = make_state(target, np.array([2]), np.array([3])), np.random.default_rng(0)
    likelihood = [
        dense_log_likelihood(Phi[:, [2, 0]], t, np.array([target.precision[3], each]), target)
        for each in target.precision
    ]
    share = np.exp(np.array(likelihood) - max(likelihood))
    drawn = np.bincount([state.draw_level(0, rng) for _ in range(4000)], minlength=7) / 4000
    assert np.allclose(drawn, share / share.sum(), atol=0.04)


def kernel_target(power=1.0, n=60):
    """Kernels so wide that neighbours are nearly equal."""
    x = np.linspace(-10.0, 10.0, n)
    rng = np.random.default_rng(0)
    Phi = np.exp(-((x[:, np.newaxis] - x) ** 2) / 40.0)
    t = np.sinc(x) + 0.1 * rng.normal(size=n)
    return replace(make_target(make_moments(Phi, t)), power=power)


def wavelet_target():
    """Wavelets and cubic splines, which explain one another: large rounding errors."""
    pytest.importorskip("pywt")
    t = np.linspace(0.0, 1.0, 128)
    truth = np.concatenate([each(t) / each(t).std() for each in (signals.blocks, signals.sinc)])
    y = truth + truth.std() / 7.0 * np.random.default_rng(0).normal(size=256)
    basis = WaveletBasis("haar", level=8) + KernelBasis(LinearSpline())
    dictionary = basis.bind(np.linspace(-10.0, 10.0, 256)[:, np.newaxis]).dictionary
    [moments] = compute_moments(dictionary, y[:, np.newaxis], None, centre=True)
    grid, prior = PrecisionGrid(1e-8, 0.1, 8), BetaBinomialSize()
    return make_target(moments, grid=grid, size_prior=prior)


def walk_and_compare(target, n_steps):
    """Errors of log likelihood and of the probabilities of changes, in a run of the sampler."""
    state, rng, found = make_state(target, np.arange(0), np.arange(0)), np.random.default_rng(1), []
    for number in range(n_steps):
        state = (flip_informed if number % 2 else redraw_slot)(state, rng)
        fresh = state.moved_to(target)
        rates = fresh.flip_rates
        found.append(
            (
                abs(state.log_likelihood - fresh.log_likelihood),
                np.abs(state.flip_rates - rates).sum() / rates.sum(),
                state.n_updates > 0,
            )
        )
    return np.array(found).T


@pytest.mark.slow
@pytest.mark.parametrize("make", [kernel_target, wavelet_target])
def test_rounding_errors_stay_small(make):
    likelihood, rates, updated = walk_and_compare(make(), 1500)
    assert likelihood.max() < 0.01
    assert rates.max() < 0.01
    assert np.median(rates) < 1e-4
    assert updated.mean() > 0.3  # not a factorisation in every step


@pytest.mark.slow
def test_rounding_errors_are_large_if_they_are_not_looked_for(monkeypatch):
    monkeypatch.setattr("relvec.sampling.state.MAX_ROUNDING_ERROR", 1e300)
    _, rates, _ = walk_and_compare(wavelet_target(), 1500)
    assert rates.max() > 0.1


def test_factorised_after_a_number_of_updates():
    _, _, target = small_problem()
    state = make_state(target, np.arange(0), np.arange(0))
    assert state.rounding_error == 0.0
    state = walk(state, MAX_UPDATES - 1)
    assert state.n_updates == MAX_UPDATES - 1
    assert 0.0 < state.rounding_error < 1e-6
    state = walk(state, 1)
    assert state.n_updates == 0


def test_lost_accuracy_is_restored():
    _, _, target = small_problem()
    state = make_state(target, np.array([1, 2]), np.array([0, 0]))
    expected = make_state(target, np.array([1, 2, 0]), np.array([0, 0, 3]))
    for spoilt in (
        replace(state, error=-1.0),
        replace(state, quality=state.quality + 0.1),
        replace(state, inverse=-state.inverse),
        replace(state, mean=np.full(2, np.nan)),
    ):
        fresh = spoilt.add(0, 3)
        require_same(fresh, expected)
        assert fresh.n_updates == 0


def test_fixed_atoms_stay_first():
    _, _, target = small_problem()
    target = fix_last(target, 1e-3, 2.0)
    state = walk(make_state(target, np.array([1]), np.array([2])), 30)
    assert np.array_equal(state.active[:2], [4, 5])
    assert np.array_equal(state.level[:2], [-1, -1])
    assert np.array_equal(state.precision[:2], [1e-3, 2.0])
    assert state.size == len(state.active) - 2
    assert not np.isfinite(state.log_odds[4:]).any()
    assert not state.flip_rates[4:].any()


def test_not_finite():
    _, _, target = small_problem()
    with pytest.raises(FloatingPointError, match="not finite"):
        make_state(replace(target, precision=np.array([-5.0])), np.array([0]), np.array([0]))


@settings(max_examples=25, deadline=None)
@given(factor=st.floats(1e-3, 1e3), seed=st.integers(0, 100))
def test_units_of_the_target_do_not_matter(factor, seed):
    rng = np.random.default_rng(seed)
    Phi, t = rng.normal(size=(9, 5)), rng.normal(size=9)
    one, other = (make_target(make_moments(Phi, each)) for each in (t, factor * t))
    active, level = np.array([3, 0]), rng.integers(7, size=2)
    one, other = make_state(one, active, level), make_state(other, active, level)
    assert np.allclose(one.log_odds, other.log_odds, atol=1e-8)
    assert np.allclose(factor * one.mean, other.mean, rtol=1e-8, atol=1e-9 * factor)
    assert factor**2 * one.error == pytest.approx(other.error)


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(range(5)), seed=st.integers(0, 100))
def test_order_of_atoms_does_not_matter(order, seed):
    rng, order = np.random.default_rng(seed), np.array(order)
    Phi, t = rng.normal(size=(9, 5)), rng.normal(size=9)
    one, other = (make_target(make_moments(each, t)) for each in (Phi, Phi[:, order]))
    active, level = np.array([3, 0]), rng.integers(7, size=2)
    place = np.argsort(order)[active]
    one, other = make_state(one, active, level), make_state(other, place, level)
    assert np.allclose(one.log_odds[order], other.log_odds, atol=1e-8)


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    Phi, t, weight = rng.normal(size=(8, 4)), rng.normal(size=8), np.array([1, 2, 1, 3, 1, 1, 2, 0])
    repeated = np.repeat(np.arange(8), weight)
    one = make_target(make_moments(Phi, t, weight.astype(float)))
    other = make_target(make_moments(Phi[repeated], t[repeated]))
    one, other = (make_state(each, np.array([2]), np.array([1])) for each in (one, other))
    require_same(one, other)
    Phi, t = prepare(Phi, t, weight.astype(float))
    expected = dense_log_odds(Phi, t, one.active, one.level, one.target)
    assert np.allclose(one.log_odds, expected, atol=1e-8)


def test_index_is_drawn_by_weight():
    rng = np.random.default_rng(0)
    drawn = [draw_index(np.array([0.0, 3.0, 0.0, 1.0, 0.0]), rng) for _ in range(2000)]
    assert set(drawn) == {1, 3}
    assert np.mean(np.array(drawn) == 1) == pytest.approx(0.75, abs=0.04)
