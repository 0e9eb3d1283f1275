"""The steps of the search under a Laplace prior: each valued as the objective says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from relvec import RVMRegressor
from relvec.priors import LaplacePrior
from relvec.published import RandomOrderSolver
from relvec.published.fixed_point import _has_infinite_best
from relvec.solvers.gaussian import reference
from relvec.solvers.gaussian.ascent import Schedule, _Ascent, maximise_precisions
from relvec.solvers.gaussian.initialisation import fit_ridge
from relvec.solvers.gaussian.moves import find_swaps
from relvec.solvers.gaussian.newton import evaluate, maximise
from relvec.solvers.gaussian.screening import screen, select_batch
from relvec.solvers.gaussian.shifts import _evaluate as stacked
from relvec.solvers.gaussian.shifts import find_shifts
from relvec.solvers.gaussian.state import State, build_objective
from tests.helpers_dense import DenseMoments
from tests.helpers_priors import objective as objective_with
from tests.helpers_priors import posed
from tests.solvers.gaussian.test_laplace_prior import (
    NOISE,
    draw,
    sinc_problem,
    sparse_problem,
    value,
)


@pytest.mark.parametrize("seed", [4, 9])
def test_ridges_between_kernels_that_are_alike_are_walked_to_the_end(seed):
    """The prior depends on the sum of two variances only: the ascent takes many steps."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-10, 10, (100, 1))
    t = np.sinc(x[:, 0] / np.pi) + 0.1 * rng.standard_normal(100)
    assert RVMRegressor(prior=LaplacePrior(0.1), effort="fast").fit(x, t).converged_


@pytest.mark.parametrize("noise", NOISE)
def test_shifts_step_along_the_gradient_of_their_objective(noise):
    Phi, t, lam = draw(5)
    objective = objective_with(float(len(t)), float(t @ t), 0.0, noise, 0.9)
    gram, correlation, theta = (Phi.T @ Phi)[None], (Phi.T @ t)[None], np.log(lam)
    _, gradient, _ = stacked(gram, correlation, theta[None], objective)
    for move in 1e-5 * np.eye(len(lam)):
        above, below = (
            stacked(gram, correlation, (theta + sign * move)[None], objective)[0][0]
            for sign in (1, -1)
        )
        assert gradient[0] @ (move > 0) == pytest.approx((above - below) / 2e-5, abs=1e-5)


@pytest.mark.parametrize("noise", NOISE)
def test_atoms_of_a_batch_come_in_at_their_best_precision(noise):
    problem = sparse_problem(laplace_rate=1.0, noise_variance=noise)
    objective, nothing = build_objective(problem, noise), np.arange(0)
    point = evaluate(np.empty((0, 0)), np.empty(0), np.empty(0), objective)
    empty = screen(problem, nothing, point)
    chosen, theta = select_batch(problem, nothing, point, empty, np.arange(6), np.zeros(6), 1)
    alone = [
        minimize_scalar(
            lambda x, i=i: -value(problem, np.array([i]), np.array([x])),
            bounds=(-12, 12),
            method="bounded",
        )
        for i in range(6)
    ]
    best = int(np.argmin([end.fun for end in alone]))
    assert list(chosen) == [best]
    assert theta[0] == pytest.approx(alone[best].x, abs=1e-3)


def test_what_is_cut_at_the_cap_is_worth_least_with_the_prior():
    """The first atom explains more, but has a variance ten times as large."""
    Phi = np.eye(8)[:, :2]
    t = np.r_[math.sqrt(30.0), math.sqrt(28.0), np.zeros(6)]
    moments = DenseMoments(Phi, t, fit_intercept=False)
    left = []
    for rate in (0.0, 2.0):
        problem = posed(moments, 0.0, noise_variance=1.0, laplace_rate=rate)
        start = State(np.arange(2), np.log([0.1, 1.0]))
        ascent = _Ascent(problem, Schedule(), 1.0, "", None, start.active, start.theta)
        ascent.maximum = maximise(
            Phi.T @ Phi, Phi.T @ t, start.theta, ascent.objective, max_iter=0, tol=1e-6
        )
        ascent.cap = 1
        ascent.cut_to_cap()
        left.append(list(ascent.active))
    assert left == [[0], [1]]


@pytest.mark.parametrize("noise", [0.05, 0.3, 2.0])
def test_sweeps_do_not_wait_for_atoms_whose_best_precision_is_infinite(noise):
    problem = sparse_problem(laplace_rate=3.0, noise_variance=noise)
    fit = reference.condition(problem, np.arange(6), np.ones(6))
    gain, _ = reference.compute_best_gains(problem, reference.compute_statistics(problem, fit))
    expected = np.isneginf(gain)
    assert expected.any()
    np.testing.assert_array_equal(_has_infinite_best(problem, fit, noise), expected)


@pytest.mark.parametrize("noise", [None, 0.01])
def test_swaps_merges_and_shifts_are_valued_exactly(noise):
    problem = sinc_problem(
        laplace_rate=0.3, noise_variance=noise, min_gain=np.linspace(0, 0.01, 50)
    )
    end = RandomOrderSolver(random_state=0).solve(problem)
    state = State(end.active, end.log_lam, end.objective, end.noise_variance, polished=True)
    moves = find_swaps(problem, state)
    assert {len(set(state.active) - set(after.active)) for after in moves} == {1, 2}
    for after in moves:
        exact = value(problem, after.active, after.theta)
        assert after.objective == pytest.approx(exact, abs=1e-6)
    found = find_shifts(problem, state)
    assert len(found.value) > 5
    for active, theta, known in zip(*found, strict=True):
        assert known == pytest.approx(value(problem, active, theta), abs=1e-6)
        assert maximise_precisions(problem, State(active, theta)).objective > known - 1e-6


def test_the_ridge_is_the_best_shared_precision_with_the_prior():
    problem = sparse_problem(laplace_rate=2.0)
    start = fit_ridge(problem)
    every = np.arange(6)
    here = value(problem, every, np.full(6, start.log_lam))
    assert start.objective == pytest.approx(here, abs=1e-6)
    for change in (-0.5, 0.5):
        assert value(problem, every, np.full(6, start.log_lam + change)) < here
    assert start.log_lam > fit_ridge(sparse_problem()).log_lam
