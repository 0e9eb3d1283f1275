"""Counts through the whole stack: evidence, gradient, rates, exposures, odd targets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import gammaln

from relvec.dictionaries import DenseDictionary
from relvec.laplace import find_mode
from relvec.likelihoods import Gaussian, Poisson
from relvec.moments import SufficientStatistics
from relvec.posterior import condition
from relvec.priors import SmoothnessPrior
from relvec.published import LaplaceFixedPointSolver
from relvec.solvers import LaplaceSolver, LatentProblem

PENALTIES = ["flat", "bic", "own bic", "by group"]


def rates(n, seed, height=1.0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random(n))
    log_rate = height + 1.5 * np.sin(2.0 * np.pi * x)
    Phi = np.exp(-0.5 * (np.subtract.outer(x, np.linspace(0.0, 1.0, 40)) / 0.15) ** 2)
    return Phi, log_rate, rng


def problem_of(Phi, counts, penalty="flat", weight=None, offset=None, **terms):
    bound = Poisson().bind(counts, weight, offset)
    if penalty in ("bic", "own bic"):
        terms["prior"] = SmoothnessPrior("bic").bind(bound.total_weight)
        terms["is_penalty_prior"] = penalty == "bic"
    if penalty == "by group":
        groups = np.arange(Phi.shape[1]) % 2
        terms["prior"] = SmoothnessPrior([0.5, 3.0], by=groups).bind(bound.total_weight)
    return LatentProblem(DenseDictionary(Phi), bound, **terms)


# ------------------------------------------------------------------ the approximation


def test_evidence_is_near_the_integral():
    rng = np.random.default_rng(0)
    x, exposure = rng.normal(size=25), rng.uniform(0.5, 3.0, 25)
    counts = rng.poisson(exposure * np.exp(0.5 + 0.4 * x))
    bound = Poisson().bind(counts, offset=np.log(exposure))
    theta = 0.3
    alpha = np.exp(theta)

    def log_joint(w, b):
        f = w * x + b + np.log(exposure)
        value = (counts * f - np.exp(f) - gammaln(counts + 1.0)).sum()
        return value + 0.5 * np.log(alpha / (2 * np.pi)) - 0.5 * alpha * w * w

    mode = find_mode(x[:, None], np.array([theta]), bound)
    integral = dblquad(
        lambda w, b: np.exp(log_joint(w, b) - mode.log_evidence), -1, 2, -1, 2, epsabs=1e-5
    )[0]
    assert np.log(integral) == pytest.approx(0.0, abs=0.02)
    alone = find_mode(x[:, None], np.array([theta]), bound, has_intercept=False)
    integral = quad(lambda w: np.exp(log_joint(w, 0.0) - alone.log_evidence), -2, 3)[0]
    assert np.log(integral) == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("intercept", [True, False])
def test_gradient_against_differences(penalty, intercept):
    Phi, log_rate, rng = rates(50, 1)
    problem = problem_of(
        Phi,
        rng.poisson(np.exp(log_rate)),
        penalty,
        rng.uniform(0.5, 2.0, 50),
        rng.normal(size=50),
        has_intercept=intercept,
    )
    active, theta = np.array([3, 20, 33]), np.array([0.2, -0.5, 1.0])
    found = problem.gradient(problem.evaluate(active, theta, Phi[:, active]), exact=True)
    for i, unit in enumerate(1e-4 * np.eye(3)):
        up, down = (
            problem.evaluate(active, theta + x, Phi[:, active]).objective for x in (unit, -unit)
        )
        assert found[i] == pytest.approx((up - down) / 2e-4, abs=2e-5)


def test_gaussian_likelihood_is_conditioning():
    """One Newton step, and the posterior and evidence of regression."""
    rng = np.random.default_rng(2)
    Phi, noise = rng.normal(size=(30, 4)) + 0.3, 0.4
    y = Phi @ rng.normal(size=4) + rng.normal(size=30)
    weight = rng.uniform(0.5, 2.0, 30)
    theta = rng.normal(size=4)
    mode = find_mode(Phi, theta, Gaussian(noise).bind(y, weight))
    assert mode.n_steps <= 1
    moments = SufficientStatistics(4).update(Phi, y, weight).moments()
    posterior = condition(
        moments,
        np.arange(4),
        theta + np.log(noise) - 2.0 * np.log(moments.column_norm),
        has_intercept=True,
        noise_variance=noise,
    )
    np.testing.assert_allclose(mode.weights[:4], posterior.coef, rtol=1e-8)
    assert mode.weights[4] == pytest.approx(posterior.intercept)
    np.testing.assert_allclose(
        np.einsum("ij,jk,ik->i", mode.design.columns, mode.hessian.covariance, mode.design.columns),
        posterior.variance(Phi),
        rtol=1e-7,
    )
    exact = mode.gradient(Gaussian(noise).bind(y, weight), exact=True)
    np.testing.assert_allclose(
        exact, mode.gradient(Gaussian(noise).bind(y, weight), exact=False), atol=1e-12
    )
    # without weights, the evidence of the marginal covariance; the flat intercept integrated out
    mode = find_mode(Phi, theta, Gaussian(noise).bind(y), has_intercept=False)
    C = noise * np.eye(30) + (Phi / np.exp(theta)) @ Phi.T
    expected = -0.5 * (y @ np.linalg.solve(C, y) + np.linalg.slogdet(2 * np.pi * C)[1])
    assert mode.log_evidence == pytest.approx(expected, abs=1e-8)


# ------------------------------------------------------------------ solvers


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_rates_are_recovered(penalty, exact):
    Phi, log_rate, rng = rates(200, 3)
    problem = problem_of(Phi, rng.poisson(np.exp(log_rate)), penalty)
    solution = LaplaceSolver(exact=exact).solve(problem)
    assert solution.converged
    assert (np.diff(solution.trace) > 0).all()
    assert np.sqrt(np.mean((solution.state.mode.latent - log_rate) ** 2)) < 0.3
    assert len(solution.state.active) <= 8
    if exact:
        assert solution.certificate.gradient < 2e-3


def test_weights_are_repetitions_and_exposures_offsets():
    Phi, log_rate, rng = rates(60, 4)
    counts = rng.poisson(np.exp(log_rate))
    twice = LaplaceSolver().solve(problem_of(np.vstack([Phi, Phi]), np.r_[counts, counts]))
    weighted = LaplaceSolver().solve(problem_of(Phi, counts, weight=np.full(60, 2.0)))
    assert weighted.state.objective == pytest.approx(twice.state.objective, abs=1e-5)
    exposure = rng.uniform(0.2, 5.0, 60)
    counts = rng.poisson(exposure * np.exp(log_rate))
    solution = LaplaceSolver().solve(problem_of(Phi, counts, offset=np.log(exposure)))
    latent = solution.state.mode.latent - np.log(exposure)
    assert np.sqrt(np.mean((latent - log_rate) ** 2)) < 0.4
    # what was watched twice as long has half the rate
    double = LaplaceSolver().solve(problem_of(Phi, counts, offset=np.log(2.0 * exposure)))
    np.testing.assert_array_equal(double.state.active, solution.state.active)
    assert double.state.objective == pytest.approx(solution.state.objective, abs=1e-4)
    assert double.state.mode.weights[-1] == pytest.approx(
        solution.state.mode.weights[-1] - np.log(2.0), abs=1e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    "counts",
    [np.zeros(40), np.r_[3.0, np.zeros(39)], np.full(40, 7.0), np.arange(40) * 10_000.0],
    ids=["no events", "one row with events", "all alike", "many events"],
)
def test_odd_counts(counts, exact):
    Phi, _, _ = rates(40, 5)
    for intercept in (True, False):
        problem = problem_of(Phi, counts, has_intercept=intercept)
        solution = LaplaceSolver(exact=exact).solve(problem)
        assert np.isfinite(solution.trace).all()
        assert np.isfinite(solution.state.mode.latent).all()
    if not counts.any():
        assert not len(LaplaceSolver().solve(problem_of(Phi, counts)).state.active)


@pytest.mark.parametrize("update", ["mackay", "em"])
def test_fixed_point_takes_counts(update):
    Phi, log_rate, rng = rates(100, 6)
    problem = problem_of(Phi[:, ::4], rng.poisson(np.exp(log_rate)))
    solution = LaplaceFixedPointSolver(update, max_iter=3000).solve(problem)
    assert solution.certificate.gradient < 2e-2
    assert np.sqrt(np.mean((solution.state.mode.latent - log_rate) ** 2)) < 0.4


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([1.0, -2.0], "non-negative integers; got -2"),
        ([1.0, 0.5], "got 0.5"),
        ([1.0, np.nan], "finite"),
    ],
)
def test_what_is_no_count_is_refused(counts, words):
    with pytest.raises(ValueError, match=words):
        Poisson().bind(counts)
