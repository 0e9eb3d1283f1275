"""Penalties on degrees of freedom that differ from atom to atom, against dense matrices."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from relvec import SparseBayesRegressor
from relvec._typing import Matrix, Vector
from relvec.bases import CosineBasis, KernelBasis, LinearBasis, WaveletBasis
from relvec.dictionaries import CosineDictionary
from relvec.evidence import compute_entry_penalty, gradient_and_hessian, penalised_shrinkage
from relvec.moments import LazyMoments
from relvec.priors import BoundSmoothness, FlatPrior, InverseGamma, SmoothnessPrior, Statistics
from relvec.solvers import OrthonormalSolver, Problem, SequentialSolver
from tests.helpers_dense import DenseMoments

NOISE = [None, 0.3]


def draw(seed: int, k: int = 4, n: int = 14) -> tuple[Matrix, Vector, Vector, Vector]:
    """Unit columns, a target, precisions and penalties."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, k)) + rng.uniform(0, 2) * rng.standard_normal((n, 1))
    Phi /= np.linalg.norm(Phi, axis=0)
    t = Phi @ (2 * rng.standard_normal(k)) + 0.5 * rng.standard_normal(n)
    return Phi, t, np.exp(rng.uniform(-4, 2, k)), rng.choice([0.0, 0.5, 4.0], k)


def dense(Phi: Matrix, t: Vector, lam: Vector, c: Vector, noise: float | None) -> float:
    """``J`` from the definition of the degrees of freedom."""
    n = len(t)
    S = np.linalg.inv(Phi.T @ Phi + np.diag(lam))
    K = np.eye(n) + (Phi / lam) @ Phi.T
    R = t @ np.linalg.solve(K, t)
    s2 = R / n if noise is None else noise
    value = n * np.log(2 * np.pi * s2) + R / s2 + np.linalg.slogdet(K)[1]
    return float(-0.5 * value - c @ (1 - lam * S.diagonal()))


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE)
def test_the_best_precision_of_an_atom_is_found_by_brute_force_too(noise: float | None) -> None:
    cheap = 0
    for seed in range(60):
        Phi, t, lam, c = draw(seed)
        rest = np.arange(1, 4)
        S = np.linalg.inv(Phi[:, 1:].T @ Phi[:, 1:] + np.diag(lam[1:]))
        back = S @ (Phi[:, 1:].T @ Phi)
        K = np.eye(len(t)) + (Phi[:, 1:] / lam[1:]) @ Phi[:, 1:].T
        s = np.einsum("ij,ij->j", Phi, np.linalg.solve(K, Phi))
        q, R = Phi.T @ np.linalg.solve(K, t), float(t @ np.linalg.solve(K, t))
        w = compute_entry_penalty(c, rest, s, lam[1:], back)
        gain, best = BoundSmoothness(c).best_precision(
            Statistics(s[:1], q[:1], w[:1], R), len(t), noise
        )
        without = dense(Phi[:, 1:], t, lam[1:], c[1:], noise)

        def value(theta: float, data=(Phi, t, lam, c)) -> float:
            Phi, t, lam, c = data
            return dense(Phi, t, np.r_[np.exp(theta), lam[1:]], c, noise)

        grid = np.linspace(-14, 14, 141)
        top = grid[int(np.argmax([value(theta) for theta in grid]))]
        found = minimize_scalar(
            lambda v: -value(v), bounds=(top - 0.2, top + 0.2), method="bounded"
        )
        if gain[0] > 0:
            assert value(float(np.log(best[0]))) - without == pytest.approx(gain[0], abs=1e-8)
            assert gain[0] >= -found.fun - without - 1e-8
            cheap += w[0] < 0
        else:
            assert -found.fun - without < 1e-5
    assert cheap  # some atoms displace dearer ones


@pytest.mark.parametrize("noise", NOISE)
def test_derivatives_are_those_of_the_dense_objective(noise: float | None) -> None:
    for seed in range(5):
        Phi, t, lam, c = draw(seed)
        S = np.linalg.inv(Phi.T @ Phi + np.diag(lam))
        mean = S @ Phi.T @ t
        R = float(t @ t - (Phi.T @ t) @ mean)
        Q = penalised_shrinkage(c, S, lam)
        gradient, hessian = gradient_and_hessian(S, mean, lam, Q, R, len(t), noise)
        step, unit = 1e-4, np.eye(4)

        def cost(theta: Vector, data=(Phi, t, c)) -> float:
            return -2.0 * dense(data[0], data[1], np.exp(theta), data[2], noise)

        theta = np.log(lam)
        for i in range(4):
            up, down = cost(theta + step * unit[i]), cost(theta - step * unit[i])
            assert gradient[i] == pytest.approx((up - down) / (2 * step), abs=1e-5)
            for j in range(4):
                corners = [
                    cost(theta + step * (a * unit[i] + b * unit[j])) * a * b
                    for a in (1, -1)
                    for b in (1, -1)
                ]
                assert hessian[i, j] == pytest.approx(sum(corners) / (4 * step**2), abs=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [None, 0.25])
def test_the_search_finds_the_best_of_all_subsets(noise: float | None) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        Phi = rng.standard_normal((30, 4)) + 0.7 * rng.standard_normal((30, 1))
        t = Phi @ np.array([0.8, 0.0, 0.4, 0.0]) + 0.5 * rng.standard_normal(30)
        c = np.array([3.0, 0.2, 1.0, 0.2])
        moments = DenseMoments(Phi, t, fit_intercept=False)
        problem = Problem(moments, 0.0, BoundSmoothness(c), noise)
        solution = SequentialSolver().solve(problem)
        unit, best = Phi / moments.column_norm, -math.inf
        for size in range(5):
            for chosen in itertools.combinations(range(4), size):
                some = list(chosen)

                def value(theta: Vector, some=some, unit=unit, t=t, c=c) -> float:
                    return -dense(unit[:, some], t, np.exp(theta), c[some], noise)

                for start in (-2.0, 1.0) if some else ():
                    bounds = [(-9.0, 12.0)] * size
                    found = minimize(value, np.full(size, start), bounds=bounds)
                    best = max(best, -float(found.fun))
                best = max(best, -value(np.empty(0))) if not some else best
        assert solution.objective == pytest.approx(best, abs=1e-4)
        assert solution.converged


def test_equal_penalties_are_one_penalty() -> None:
    x = np.linspace(-10, 10, 60)
    t = np.sinc(x / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(60)
    moments = DenseMoments(np.exp(-(np.subtract.outer(x, x) ** 2) / 6.0), t)
    one = SequentialSolver().solve(Problem(moments, prior=BoundSmoothness(2.0)))
    many = SequentialSolver().solve(Problem(moments, prior=BoundSmoothness(np.full(60, 2.0))))
    np.testing.assert_array_equal(one.active, many.active)
    np.testing.assert_allclose(one.log_lam, many.log_lam, atol=1e-6)


@pytest.mark.parametrize("noise", [None, 0.04])
def test_the_closed_form_with_levels_is_what_the_search_finds(noise: float | None) -> None:
    grid = np.arange(64.0)[:, np.newaxis]
    rng = np.random.default_rng(0)
    y = np.sign(np.sin(grid[:, 0] / 9)) + 0.2 * rng.standard_normal(64)
    prior = SmoothnessPrior("ric", by="level")
    options = {"fit_intercept": False, "noise_variance": noise, "min_gain": 0.0}
    closed = SparseBayesRegressor(
        WaveletBasis("haar"), prior=prior, solver="orthonormal", **options
    ).fit(grid, y)
    search = SparseBayesRegressor(
        LinearBasis(), prior=SmoothnessPrior("ric", by=closed_levels()), **options
    ).fit(haar_columns(), y)
    np.testing.assert_array_equal(closed.relevance_, search.relevance_)
    assert closed.objective_ == pytest.approx(search.objective_, abs=1e-6)


def closed_levels() -> Vector:
    grid = np.arange(64.0)[:, np.newaxis]
    return WaveletBasis("haar").bind(grid).groups("level")


def haar_columns() -> Matrix:
    grid = np.arange(64.0)[:, np.newaxis]
    return WaveletBasis("haar").bind(grid).dictionary.columns(np.arange(64))


@pytest.mark.slow
def test_no_maximum_of_the_noise_is_missed_with_several_penalties() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal(24) * rng.choice([0.3, 1.0, 8.0], 24)
        c = rng.choice([0.6, 1.5, 3.0], 24)
        dictionary = CosineDictionary(24)
        moments = LazyMoments(dictionary, dictionary.matvec(z), None, centre=False, store=True)
        problem = Problem(moments, 0.0, BoundSmoothness(c), max_active=24)
        assert moments.is_orthonormal
        solution = OrthonormalSolver().solve(problem)

        def profile(s: float, z=z, c=c) -> float:
            v = z**2 / s - 2 * c
            kept = np.where(v > 1, 0.5 * (v - 1 - np.log(np.maximum(v, 1e-9))), 0.0)
            return float(-0.5 * np.sum(np.log(2 * np.pi * s) + z**2 / s) + kept.sum())

        grid = np.exp(np.linspace(np.log(1e-6), np.log(z @ z), 4001))
        assert solution.objective >= max(map(profile, grid)) - 1e-9
        assert solution.objective == pytest.approx(profile(solution.noise_variance), abs=1e-8)


def test_parts_of_a_union_have_penalties_of_their_own() -> None:
    x = np.linspace(-5, 5, 60)[:, np.newaxis]
    y = 0.5 * x[:, 0] + np.sin(2 * x[:, 0]) + 0.2 * np.random.default_rng(0).standard_normal(60)
    basis = LinearBasis() + KernelBasis(gamma=0.5)
    dear = SparseBayesRegressor(basis, prior=SmoothnessPrior([0.0, 50.0], by="part")).fit(x, y)
    assert list(dear.relevance_) == [0]
    cheap = SparseBayesRegressor(basis, prior=SmoothnessPrior([0.0, 0.5], by="part")).fit(x, y)
    assert len(cheap.relevance_) > 1
    for by, words in (("part", "a basis that has parts"), ("level", "a basis that has levels")):
        with pytest.raises(ValueError, match=words):
            SparseBayesRegressor(KernelBasis(), prior=SmoothnessPrior(by=by)).fit(x, y)


@pytest.mark.parametrize("solver", ["sequential", "mackay", "em", "textbook"])
def test_a_prior_of_the_noise_is_heard(solver: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    y = X[:, 0] + 0.5 * rng.standard_normal(30)
    noise = InverseGamma(200.0, 200.0 * 4.0)  # sure of a variance of 4
    for prior in (FlatPrior(noise=noise), SmoothnessPrior(1.0, noise=noise)):
        told = SparseBayesRegressor(LinearBasis(), prior=prior, solver=solver).fit(X, y)
        free = SparseBayesRegressor(LinearBasis(), solver=solver).fit(X, y)
        assert free.noise_variance_ < 0.5
        assert 3.0 < told.noise_variance_ < 4.5


def test_a_prior_of_the_noise_is_heard_by_the_closed_form() -> None:
    grid = np.arange(64.0)[:, np.newaxis]
    y = np.cos(np.pi * 3 * (grid[:, 0] + 0.5) / 64) + 0.1 * np.random.default_rng(0).normal(size=64)
    prior = SmoothnessPrior("ric", noise=InverseGamma(1e4, 1e4 * 0.04))
    model = SparseBayesRegressor(CosineBasis(), prior=prior, solver="orthonormal").fit(grid, y)
    assert model.noise_variance_ == pytest.approx(0.04, rel=0.05)
