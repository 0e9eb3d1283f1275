"""Newton's method on the precisions of a given set, against the N x N objective."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from relvec import RVMRegressor
from relvec._typing import Matrix, Vector
from relvec.evidence import compute_leave_one_out, penalised_shrinkage
from relvec.solvers.gaussian.newton import (
    THETA_MAX,
    THETA_MIN,
    Maximum,
    Objective,
    evaluate,
    maximise,
)
from tests.helpers_priors import best_precision
from tests.helpers_priors import objective as objective_with

NOISE = [None, 0.25]
SMOOTHNESS = [0.0, 1.3]


class Data(NamedTuple):
    """Unit columns and a target."""

    Phi: Matrix
    t: Vector

    @property
    def gram(self) -> Matrix:
        return self.Phi.T @ self.Phi

    @property
    def correlation(self) -> Vector:
        return self.Phi.T @ self.t

    def objective(self, smoothness: float, noise: float | None) -> Objective:
        return objective_with(float(len(self.t)), float(self.t @ self.t), smoothness, noise)


def draw(seed: int, k: int, n: int = 40) -> Data:
    """Columns of which some matter, some do not, and some are alike."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, k)) + rng.uniform(0, 1.5) * rng.standard_normal((n, 1))
    Phi /= np.linalg.norm(Phi, axis=0)
    weights = 3.0 * rng.standard_normal(k) * (rng.random(k) < 0.5)
    return Data(Phi, Phi @ weights + 0.5 * rng.standard_normal(n))


def cost(data: Data, theta: Vector, kept: Vector, smoothness: float, noise: float | None) -> float:
    """-2 J from the covariance matrix, up to the constant the solver leaves out."""
    Phi, t = data.Phi[:, kept], data.t
    K = np.eye(len(t)) + (Phi * np.exp(-theta)) @ Phi.T
    R = t @ np.linalg.solve(K, t)
    fit = len(t) * np.log(R) if noise is None else R / noise
    return float(
        fit + np.linalg.slogdet(K)[1] + 2 * smoothness * np.trace(np.eye(len(t)) - np.linalg.inv(K))
    )


def best_of_one(
    data: Data, theta: Vector, kept: Vector, atom: int, smoothness: float, noise: float | None
) -> float:
    """Smallest cost over the precision of `atom`, the other atoms fixed, less that without it."""
    others = kept != atom
    without = cost(data, theta[others], kept[others], smoothness, noise)
    grid = np.linspace(-25, 20, 91)
    along = [
        cost(data, np.r_[theta[others], v], np.r_[kept[others], atom], smoothness, noise)
        for v in grid
    ]
    return min(along) - without


def run(data: Data, theta: Vector, smoothness: float, noise: float | None, **options) -> Maximum:
    settings_ = {"max_iter": 2000, "tol": 1e-7} | options
    return maximise(
        data.gram, data.correlation, theta, data.objective(smoothness, noise), **settings_
    )


PROBLEMS = {
    "seed": st.integers(0, 2**32 - 1),
    "k": st.integers(1, 12),
    "start": st.floats(-6.0, 4.0),
}


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@settings(max_examples=25)
@given(**PROBLEMS)
def test_the_end_is_stationary_and_the_cost_is_the_dense_one(
    noise: float | None, smoothness: float, seed: int, k: int, start: float
) -> None:
    data = draw(seed, k)
    end = run(data, np.full(k, start), smoothness, noise)
    assert end.converged
    assert end.point.cost == pytest.approx(
        cost(data, end.point.theta, end.kept, smoothness, noise), rel=1e-9, abs=1e-8
    )
    step = 1e-4
    for unit in np.eye(len(end.point.theta)):
        up, down = (
            cost(data, end.point.theta + h * unit, end.kept, smoothness, noise)
            for h in (step, -step)
        )
        assert (up - down) / (2 * step) == pytest.approx(0.0, abs=2e-6)
        assert min(up, down) > end.point.cost - 1e-9  # a minimum of the cost, not a saddle


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@settings(max_examples=12)
@given(**PROBLEMS)
def test_the_cost_never_rises(
    noise: float | None, smoothness: float, seed: int, k: int, start: float
) -> None:
    data = draw(seed, k)
    theta = np.full(k, start)
    previous = cost(data, theta, np.arange(k), smoothness, noise)
    for max_iter in range(8):
        end = run(data, theta, smoothness, noise, max_iter=max_iter)
        assert end.n_iter <= max_iter
        now = cost(data, end.point.theta, end.kept, smoothness, noise)
        assert now <= previous + 1e-9 * (1 + abs(previous))
        previous = now


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 7), start=st.floats(-6.0, 2.0))
def test_atoms_go_if_and_only_if_their_best_precision_is_infinite(
    noise: float | None, smoothness: float, seed: int, k: int, start: float
) -> None:
    data, theta, every = draw(seed, k), np.full(k, start), np.arange(k)
    gains = np.array(
        [best_of_one(data, theta, every, atom, smoothness, noise) for atom in range(k)]
    )
    assume((np.abs(gains) > 1e-11).all())  # nobody can tell these apart
    hopeless = gains > 0  # no finite precision on a grid beats absence
    end = run(data, theta, smoothness, noise, max_iter=0)
    if not hopeless.any():
        np.testing.assert_array_equal(end.kept, every)
        return
    gone = np.setdiff1d(every, end.kept)
    assert len(gone) > 0
    if hopeless.sum() == 1 and len(gone) == 1:
        assert hopeless[gone[0]]
    np.testing.assert_array_equal(end.point.theta, theta[end.kept])
    for atom in end.kept:  # no survivor should have gone
        assert best_of_one(data, end.point.theta, end.kept, atom, smoothness, noise) < 1e-11
    assert (
        cost(data, end.point.theta, end.kept, smoothness, noise)
        <= cost(data, theta, every, smoothness, noise) + 1e-9
    )


def survivors(
    data: Data, theta: Vector, smoothness: float, noise: float | None, penalty: float
) -> Vector:
    """Take atoms out one by one, the least useful first, by a new dense model every time."""
    kept = np.arange(len(theta))
    n = float(len(data.t))
    while len(kept):
        here = cost(data, theta[kept], kept, smoothness, noise)
        worth = []
        for atom in kept:
            others = kept[kept != atom]
            Phi = data.Phi[:, others]
            K = np.eye(len(data.t)) + (Phi * np.exp(-theta[others])) @ Phi.T
            back = np.linalg.solve(K, data.Phi[:, atom])
            gain, _ = best_precision(
                np.array([data.Phi[:, atom] @ back]),
                np.array([data.t @ back]),
                np.array([back @ back]),
                data.t @ np.linalg.solve(K, data.t),
                n,
                smoothness,
                noise,
            )
            loss = 0.5 * (cost(data, theta[others], others, smoothness, noise) - here) - penalty
            goes = not gain[0] > 0 or (penalty and loss < 0)
            worth.append(loss if goes else np.inf)
        if np.isinf(min(worth)):
            break
        kept = np.delete(kept, np.argmin(worth))
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_removals_one_by_one_are_exact(
    noise: float | None, smoothness: float, penalty: float, seed: int
) -> None:
    data, theta = draw(seed, 12), np.random.default_rng(seed).uniform(-4, 0, 12)
    expected = survivors(data, theta, smoothness, noise, penalty)
    assert 0 < len(expected) < 11  # several had to go, one changing what the next is worth
    entry_penalty = np.full(12, penalty) if penalty else None
    end = run(data, theta, smoothness, noise, max_iter=0, entry_penalty=entry_penalty)
    np.testing.assert_array_equal(end.kept, expected)


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@pytest.mark.parametrize("size", [8, 60])
def test_orthonormal_atoms_have_a_closed_form(smoothness: float, size: int) -> None:
    """Spec 02 §1: A = (z^2 - (1 + 2 c) sigma^2)+ whatever the start; many go at once too."""
    rng = np.random.default_rng(size)
    Phi = np.linalg.qr(rng.standard_normal((size + 10, size)))[0]
    data = Data(Phi, Phi @ rng.uniform(-3, 3, size))
    noise = 1.0
    end = run(data, rng.uniform(-2, 2, size), smoothness, noise, tol=1e-10)
    excess = data.correlation**2 - (1 + 2 * smoothness) * noise
    np.testing.assert_array_equal(end.kept, np.flatnonzero(excess > 0))
    np.testing.assert_allclose(np.exp(-end.point.theta), excess[end.kept] / noise, rtol=1e-6)
    assert 0 < len(end.kept) < size


@pytest.mark.parametrize("noise", NOISE)
def test_penalised_atoms_go_unless_they_are_worth_their_penalty(noise: float | None) -> None:
    data = draw(4, 12)
    free = run(data, np.zeros(12), 0.0, noise)
    penalty = 4.0
    end = run(data, np.zeros(12), 0.0, noise, entry_penalty=np.full(12, penalty))
    assert 0 < len(end.kept) < len(free.kept)
    for atom in end.kept:
        others = end.kept != atom
        loss = cost(data, end.point.theta[others], end.kept[others], 0.0, noise) - end.point.cost
        assert 0.5 * loss >= penalty
    # a different penalty for every atom is read for that atom
    dear = np.where(np.arange(12) == end.kept[0], 1e6, 0.0)
    assert end.kept[0] not in run(data, np.zeros(12), 0.0, noise, entry_penalty=dear).kept


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_without_each_gives_the_statistics_of_the_smaller_model(smoothness: float) -> None:
    data, theta = draw(7, 5), np.linspace(-3, 1, 5)
    objective = data.objective(smoothness, None)
    point = evaluate(data.gram, data.correlation, theta, objective)
    assert point is not None
    covariance = np.linalg.inv(data.gram + np.diag(np.exp(theta)))
    mean = covariance @ data.correlation
    shrunk = penalised_shrinkage(smoothness, covariance, point.lam) if smoothness else None
    s, q, w, R = compute_leave_one_out(
        point.lam, covariance.diagonal(), mean, point.quadratic, shrunk
    )
    assert (w is not None) == (smoothness > 0)
    for i in range(5):
        Phi = np.delete(data.Phi, i, axis=1)
        K = np.eye(40) + (Phi * np.exp(-np.delete(theta, i))) @ Phi.T
        back = np.linalg.solve(K, data.Phi[:, i])
        assert s[i] == pytest.approx(data.Phi[:, i] @ back, rel=1e-8)
        assert q[i] == pytest.approx(data.t @ back, rel=1e-8)
        if w is not None:
            assert w[i] == pytest.approx(smoothness * back @ back, rel=1e-8)
        assert R[i] == pytest.approx(data.t @ np.linalg.solve(K, data.t), rel=1e-8)


def test_noise_free_targets_keep_precisions_in_their_bounds() -> None:
    data = draw(8, 4)
    exact = data._replace(t=data.Phi @ np.array([1.0, -2.0, 0.5, 3.0]))
    objective = exact.objective(0.0, None)._replace(
        target_ss=float(exact.t @ exact.t) * (1 + 1e-10)
    )
    end = maximise(exact.gram, exact.correlation, np.zeros(4), objective, max_iter=200, tol=1e-6)
    assert len(end.kept) == 4
    assert ((end.point.theta >= THETA_MIN) & (end.point.theta <= THETA_MAX)).all()
    assert end.point.quadratic / objective.target_ss < 1e-9


def test_duplicates_do_not_stop_it() -> None:
    data = draw(9, 3)
    twice = data._replace(Phi=np.c_[data.Phi, data.Phi])
    one, two = run(data, np.zeros(3), 0.0, None), run(twice, np.zeros(6), 0.0, None)
    assert two.converged
    assert two.point.cost == pytest.approx(one.point.cost, abs=1e-6)


def test_a_start_that_is_numerically_singular_is_raised_until_it_is_not() -> None:
    x = np.random.default_rng(0).standard_normal(30)
    x /= np.linalg.norm(x)
    data = Data(np.c_[x, x, x], x + 0.01 * np.random.default_rng(1).standard_normal(30))
    end = run(data, np.full(3, -50.0), 0.0, None)
    assert np.isfinite(end.point.cost)
    assert end.converged


def test_the_empty_set_is_a_maximum() -> None:
    data = draw(10, 2)
    end = maximise(
        np.empty((0, 0)),
        np.empty(0),
        np.empty(0),
        data.objective(0.0, None),
        max_iter=5,
        tol=1e-6,
    )
    assert end.converged
    assert len(end.kept) == 0
    assert end.point.cost == pytest.approx(len(data.t) * np.log(data.t @ data.t))


def test_arguments_are_not_changed() -> None:
    data = draw(11, 6)
    gram, correlation, theta = data.gram, data.correlation, np.zeros(6)
    before = gram.copy(), correlation.copy(), theta.copy()
    maximise(gram, correlation, theta, data.objective(0.5, None), max_iter=50, tol=1e-6)
    for now, then in zip((gram, correlation, theta), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_a_flat_tail_is_crossed_in_few_steps() -> None:
    """Flat, and curved the wrong way: the shift of the Hessian must not dwarf its curvature."""
    data = draw(20150, 3)
    assert run(data, np.ones(3), 0.0, 0.25, max_iter=50, tol=1e-4).converged


@pytest.mark.parametrize("seed", range(6))
def test_curvatures_of_very_different_size_do_not_stall_the_direction(seed: int) -> None:
    """Very wide kernels and a tiny held noise: no shift in absolute units was ever enough."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (30, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(30)
    model = RVMRegressor(gamma=1e-4, noise_variance=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.isfinite(model.fit(X, y).predict(X)).all()
