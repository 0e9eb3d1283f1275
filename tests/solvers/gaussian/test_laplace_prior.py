"""The Laplace prior of the weights, against explicit matrices and brute force."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from relvec.evidence import mackay_update
from relvec.priors import BoundFlat
from relvec.published import FixedPointSolver, RandomOrderSolver, TextbookSolver
from relvec.solvers import OrthonormalSolver, SequentialSolver, WarmStart
from relvec.solvers.gaussian.newton import evaluate, maximise
from relvec.solvers.gaussian.state import build_objective
from relvec.testing import check_solver
from tests.helpers_dense import DenseMoments
from tests.helpers_priors import (
    best_precision,
    gradient_and_hessian,
    posed,
    prior_of,
    removal_loss,
)
from tests.helpers_priors import objective as objective_with

NOISE = [None, 0.3]
RATES = [1e-3, 0.2, 3.0]


def draw(seed, k=4, n=14, signal=2.0):
    """Unit columns, a target in which some of them matter, and precisions."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, k)) + rng.uniform(0, 1.5) * rng.standard_normal((n, 1))
    Phi /= np.linalg.norm(Phi, axis=0)
    weights = signal * rng.standard_normal(k)
    return Phi, Phi @ weights + 0.5 * rng.standard_normal(n), np.exp(2.0 * rng.standard_normal(k))


def dense(Phi, t, lam, rate, noise):
    """``J`` with the covariance matrix written down; gamma is ``1 / lam``."""
    n = len(t)
    K = np.eye(n) + (Phi / lam) @ Phi.T
    R = t @ np.linalg.solve(K, t)
    sigma2 = R / n if noise is None else noise
    value = n * np.log(2 * np.pi * sigma2) + R / sigma2 + np.linalg.slogdet(K)[1]
    return -0.5 * value - 0.5 * rate * np.sum(1.0 / lam)


def without_first(Phi, t, lam):
    """Statistics of the first atom in the model of the others."""
    inverse = np.linalg.inv(np.eye(len(t)) + (Phi[:, 1:] / lam[1:]) @ Phi[:, 1:].T)
    phi = Phi[:, 0]
    return phi @ inverse @ phi, phi @ inverse @ t, t @ inverse @ t


# --------------------------------------------------------------------- one atom


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("rate", RATES)
def test_the_best_precision_is_found_by_brute_force_too(rate, noise):
    kept = 0
    for seed in range(40):
        Phi, t, lam = draw(seed, signal=[0.0, 1.0, 6.0][seed % 3])
        s, q, R = without_first(Phi, t, lam)
        gain, best = (
            x[0]
            for x in best_precision(np.array([s]), np.array([q]), None, R, len(t), 0.0, noise, rate)
        )
        empty = dense(Phi[:, 1:], t, lam[1:], rate, noise)

        def value(theta, data=(Phi, t, lam)):
            design, target, rest = data
            return dense(design, target, np.r_[np.exp(theta), rest[1:]], rate, noise)

        grid = np.linspace(-16, 16, 129)
        top = grid[np.argmax([value(g) for g in grid])]
        found = minimize_scalar(
            lambda x: -value(x), bounds=(top - 0.5, top + 0.5), method="bounded"
        )
        numerical = -found.fun - empty
        if not np.isfinite(gain):
            assert numerical < 1e-6
            continue
        kept += 1
        assert value(np.log(best)) - empty == pytest.approx(gain, abs=1e-9)
        assert gain > numerical - 1e-9
        if gain > 0.05:
            assert np.log(best) == pytest.approx(found.x, abs=1e-2)
    assert 3 < kept < 40  # both answers were asked for


def test_the_closed_form_is_that_of_the_paper_corrected():
    """(A.17) with the term its discriminant lacks, in the paper's units: r = s/sigma^2."""
    s, q, noise, rate = 0.7, 2.0, 0.4, 1.3
    _, lam = best_precision(np.array([s]), np.array([q]), None, 5.0, 20, 0.0, noise, rate)
    r, nu2, scaled = s / noise, (q / noise) ** 2, rate / noise
    root = math.sqrt((r + 2 * scaled) ** 2 - 4 * scaled * (r - nu2 + scaled))
    assert 1 / lam[0] == pytest.approx((-r * (r + 2 * scaled) + r * root) / (2 * rate * r**2))
    printed = math.sqrt((r + 2 * scaled) ** 2 - 4 * scaled * (r - nu2))
    assert 1 / lam[0] != pytest.approx((-r * (r + 2 * scaled) + r * printed) / (2 * rate * r**2))


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("rate", [0.01, 1.0, 20.0])
def test_an_atom_enters_above_the_corrected_threshold(rate, noise):
    """nu^2 - r > rate / sigma^2, with sigma^2 = R / N where the noise is free."""
    n, s, R = 200, np.full(2, 0.8), 50.0
    sigma2 = R / n if noise is None else noise
    edge = math.sqrt(sigma2 * (0.8 + rate))
    q = edge * np.array([1 - 1e-4, 1 + 1e-4])
    gain, lam = best_precision(s, q, None, R, n, 0.0, noise, rate)
    assert gain[0] == -np.inf
    assert 0.0 < gain[1] < 1e-4
    assert lam[1] > 100.0  # it enters from zero variance


@pytest.mark.parametrize("noise", NOISE)
def test_a_vanishing_rate_is_the_flat_rule(noise):
    s, q = np.array([0.3, 0.9, 1.0, 1e-6]), np.array([1.0, 2.0, 1.5, 1e-3])
    flat = best_precision(s, q, None, 6.0, 40, 0.0, noise)
    almost = best_precision(s, q, None, 6.0, 40, 0.0, noise, 1e-13)
    assert np.isfinite(flat[0]).all()
    for exact, limit in zip(flat, almost, strict=True):
        np.testing.assert_allclose(limit, exact, rtol=1e-6)


@pytest.mark.parametrize("noise", NOISE)
def test_the_loss_of_an_atom_is_a_difference_of_objectives(noise):
    Phi, t, lam = draw(3)
    s, _, without = without_first(Phi, t, lam)
    R = t @ np.linalg.solve(np.eye(len(t)) + (Phi / lam) @ Phi.T, t)
    loss = removal_loss(
        np.array([s]), lam[:1], np.array([without]), R, None, len(t), 0.0, noise, 0.7
    )
    expected = dense(Phi, t, lam, 0.7, noise) - dense(Phi[:, 1:], t, lam[1:], 0.7, noise)
    assert loss[0] == pytest.approx(expected)


# ------------------------------------------------------------- all of a set


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("rate", RATES)
def test_derivatives_are_those_of_the_dense_objective(rate, noise):
    Phi, t, lam = draw(11)
    covariance = np.linalg.inv(Phi.T @ Phi + np.diag(lam))
    mean = covariance @ Phi.T @ t
    R = t @ t - (Phi.T @ t) @ mean
    gradient, hessian = gradient_and_hessian(
        covariance, mean, lam, None, R, len(t), 0.0, noise, rate
    )

    def cost(theta):
        return -2.0 * dense(Phi, t, np.exp(theta), rate, noise)

    theta, h, unit = np.log(lam), 1e-4, np.eye(len(lam))
    for i in range(len(lam)):
        slope = (cost(theta + h * unit[i]) - cost(theta - h * unit[i])) / (2 * h)
        assert gradient[i] == pytest.approx(slope, abs=1e-6)
        for j in range(len(lam)):
            curvature = sum(
                a * b * cost(theta + h * (a * unit[i] + b * unit[j]))
                for a, b in itertools.product((1, -1), (1, -1))
            ) / (4 * h * h)
            assert hessian[i, j] == pytest.approx(curvature, abs=2e-5)


@pytest.mark.parametrize("noise", NOISE)
def test_newton_ends_where_a_general_optimiser_does(noise):
    rate, dropped = 0.8, 0
    for seed in range(8):
        Phi, t, _ = draw(seed, k=5, n=30)
        objective = objective_with(30.0, float(t @ t), 0.0, noise, rate)
        found = maximise(Phi.T @ Phi, Phi.T @ t, np.zeros(5), objective, max_iter=200, tol=1e-9)
        assert found.converged
        kept = found.kept
        point = evaluate(
            (Phi.T @ Phi)[np.ix_(kept, kept)], (Phi.T @ t)[kept], found.point.theta, objective
        )
        assert point.cost == pytest.approx(found.point.cost)

        def cost(gamma, data=(Phi[:, kept], t)):
            return -dense(*data, 1.0 / np.maximum(gamma, 1e-12), rate, noise)

        gamma = np.exp(-found.point.theta)
        # no move of all variances of the set at once, zero included, leads higher nearby
        bounds = [(0, None)] * len(kept)
        local = minimize(cost, gamma, method="L-BFGS-B", bounds=bounds, tol=1e-12)
        assert -cost(gamma) >= -local.fun - 1e-5
        dropped += 5 - len(kept)
    assert dropped  # some problems put variances at zero


@pytest.mark.parametrize("noise", NOISE)
def test_one_sweep_of_the_dense_start_stands_still_at_a_maximum(noise):
    Phi, t, _ = draw(1, k=3, n=40)
    objective = objective_with(40.0, float(t @ t), 0.0, noise, 0.3)
    found = maximise(Phi.T @ Phi, Phi.T @ t, np.zeros(3), objective, max_iter=100, tol=1e-10)
    lam, n_samples = found.point.lam, len(t)
    variance = found.point.quadratic / n_samples if noise is None else noise
    gamma = 1.0 - lam * found.point.covariance.diagonal()
    density = objective.prior.fixed_point_terms(np.log(lam), variance)
    update = mackay_update(lam, gamma, found.point.mean, variance, None, density)
    np.testing.assert_allclose(np.log(update), np.log(lam), atol=1e-7)


# ---------------------------------------------------------------- solvers


def sparse_problem(seed=0, n=40, k=6, **options):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, k)) * rng.uniform(0.2, 5.0, k)
    weights = np.r_[1.0, -0.5, 0.3, np.zeros(k - 3)] / Phi.std(axis=0)
    t = Phi @ weights + 0.5 * rng.standard_normal(n)
    return posed(DenseMoments(Phi, t), min_gain=0.0, **options)


def sinc_problem(n=50, seed=0, **options):
    x = np.linspace(-10, 10, n)
    t = np.sinc(x / np.pi) + 0.1 * np.random.default_rng(seed).standard_normal(n)
    return posed(DenseMoments(np.exp(-(np.subtract.outer(x, x) ** 2) / 6.0), t), **options)


def value(problem, active, theta):
    """Objective from the statement of the model; the pseudo-observation of the noise included."""
    n, target_ss, prior, noise = build_objective(problem, problem.noise_variance)
    gram, lam = problem.moments.gram(active), np.exp(theta)
    b = problem.moments.correlation[active]
    R = target_ss - b @ np.linalg.solve(gram + np.diag(lam), b)
    sigma2 = R / n if noise is None else noise
    log_det = np.linalg.slogdet(gram + np.diag(lam))[1] - theta.sum()
    evidence = -0.5 * (n * np.log(2 * np.pi * sigma2) + R / sigma2 + log_det)
    return evidence - 0.5 * prior.rate * np.sum(1 / lam) - problem.min_gain[active].sum()


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("rate", [0.1, 2.0, 10.0])
def test_the_search_finds_the_best_of_all_subsets(rate, noise):
    for seed in range(3):
        problem = sparse_problem(seed, laplace_rate=rate, noise_variance=noise)
        solution = SequentialSolver().solve(problem)
        assert solution.converged
        assert solution.laplace_rate == rate
        best = value(problem, np.arange(0), np.empty(0))
        for size in range(1, 7):
            for chosen in itertools.combinations(range(6), size):
                active = np.array(chosen)
                start = np.zeros(size)
                found = minimize(
                    lambda theta, active=active, problem=problem: -value(problem, active, theta),
                    start,
                    method="L-BFGS-B",
                    bounds=[(-15, 15)] * size,
                )
                best = max(best, -found.fun)
        assert solution.objective == pytest.approx(best, abs=1e-4)
        here = value(problem, solution.active, solution.log_lam)
        assert solution.objective == pytest.approx(here, abs=1e-7)


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(
    "solver",
    [
        FixedPointSolver(),
        FixedPointSolver("em"),
        TextbookSolver(),
        RandomOrderSolver(random_state=0),
        RandomOrderSolver(random_state=0, polish=False),
    ],
    ids=repr,
)
def test_all_solvers_end_at_the_same_maximum(solver, noise):
    problem = sparse_problem(1, laplace_rate=1.5, noise_variance=noise)
    best = SequentialSolver().solve(problem)
    found = solver.solve(problem)
    assert found.laplace_rate == 1.5
    np.testing.assert_array_equal(found.active, best.active)
    assert found.objective == pytest.approx(best.objective, abs=1e-3)
    np.testing.assert_allclose(found.log_lam, best.log_lam, atol=0.05)
    assert 0 < len(best.active) < 6


@pytest.mark.parametrize("noise", NOISE)
def test_expectation_maximisation_never_steps_down(noise):
    trace = FixedPointSolver("em").solve(sinc_problem(laplace_rate=0.2, noise_variance=noise)).trace
    assert len(trace) > 3
    # deleting atoms that drifted off moves the objective by less than they are worth
    assert np.diff(trace).min() > -1e-6


@pytest.mark.slow
@pytest.mark.parametrize("noise", [None, 0.01])
@pytest.mark.parametrize("effort", ["fast", "balanced", "thorough"])
def test_an_ascent_never_steps_down_and_is_optimal(effort, noise):
    problem = sinc_problem(laplace_rate=0.05, noise_variance=noise)
    solution = SequentialSolver(effort).solve(problem)
    assert solution.converged
    assert np.diff(solution.trace).min(initial=0.0) > -1e-9
    assert max(solution.certificate) < 1e-3
    here = value(problem, solution.active, solution.log_lam)
    assert solution.objective == pytest.approx(here, abs=1e-6)
    assert solution.objective >= SequentialSolver("fast").solve(problem).objective - 1e-9


def test_a_larger_rate_leaves_fewer_atoms_and_smaller_weights():
    """Exactly so for orthonormal columns and held noise, where atoms are alone."""
    rng = np.random.default_rng(0)
    Phi = np.linalg.qr(rng.standard_normal((60, 20)))[0]
    t = Phi @ np.linspace(0.0, 6.0, 20) + rng.standard_normal(60)
    moments = DenseMoments(Phi, t, fit_intercept=False)
    before, sizes = np.full(20, np.inf), []
    for rate in (0.0, 0.1, 1.0, 5.0, 25.0):
        problem = posed(moments, min_gain=0.0, noise_variance=1.0, laplace_rate=rate)
        solution = SequentialSolver().solve(problem)
        weights = np.zeros(20)
        kept = solution.active
        weights[kept] = moments.correlation[kept] / (1 + np.exp(solution.log_lam))
        np.testing.assert_array_equal(kept, np.flatnonzero(moments.correlation**2 > 1.0 + rate))
        assert (np.abs(weights) <= before + 1e-9).all()
        before = np.abs(weights)
        sizes.append(len(kept))
    assert sizes[0] > sizes[3] > sizes[4] > 0


def test_a_rate_of_zero_is_the_flat_prior_bit_by_bit():
    for problem in (sinc_problem(), sparse_problem()):
        flat = SequentialSolver().solve(problem)
        zero = SequentialSolver().solve(replace(problem, prior=prior_of(laplace_rate=0.0)))
        tiny = SequentialSolver().solve(replace(problem, prior=prior_of(laplace_rate=1e-14)))
        np.testing.assert_array_equal(flat.log_lam, zero.log_lam)
        assert tiny.objective == pytest.approx(flat.objective, abs=1e-5)


def test_a_warm_start_goes_on_from_there():
    problem = sinc_problem(laplace_rate=0.1)
    cold = SequentialSolver().solve(problem)
    again = SequentialSolver().solve(problem, warm_start=WarmStart(cold.active, cold.log_lam + 0.1))
    assert again.objective == pytest.approx(cold.objective, abs=1e-4)


def test_the_conformance_check_sees_a_solver_that_forgets_the_prior():
    class Forgets(TextbookSolver):
        def solve(self, problem, **options):
            if problem.prior.rate:
                problem = replace(problem, prior=BoundFlat())
            return super().solve(problem, **options)

    with pytest.raises(AssertionError, match="Laplace"):
        check_solver(Forgets())


# ---------------------------------------------------------------- refusals


def test_the_closed_form_refuses_and_the_search_takes_over():
    Phi = np.linalg.qr(np.random.default_rng(0).standard_normal((32, 32)))[0]
    moments = DenseMoments(Phi, Phi[:, 3] * 5 + 0.1 * Phi[:, 5], fit_intercept=False)
    moments.is_orthonormal = True
    problem = posed(moments, noise_variance=0.01, laplace_rate=0.5)
    with pytest.raises(ValueError, match="no Laplace prior"):
        OrthonormalSolver().solve(problem)
    assert list(SequentialSolver().solve(problem).active) == [3]
