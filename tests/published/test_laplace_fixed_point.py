"""Sweeps over all atoms: fixed points of the rules they apply, and honest about the rest."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.dictionaries import DenseDictionary
from relvec.likelihoods import Bernoulli
from relvec.published.laplace_fixed_point import LaplaceFixedPointSolver
from relvec.solvers import LaplaceSolver, LatentProblem
from tests.helpers_labels import kernel_problem
from tests.helpers_priors import gamma_prior, with_prior

UPDATES = ["mackay", "em"]


def problem_of(Phi, t, **kwargs):
    return LatentProblem(DenseDictionary(Phi), Bernoulli().bind(t), **with_prior(kwargs))


@pytest.mark.slow
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    "penalties", [{}, {"smoothness": 1.0}, {"smoothness": 1.0, "is_penalty_prior": False}]
)
def test_ends_where_the_gradient_at_fixed_curvature_vanishes(update, penalties):
    Phi, t = kernel_problem(70, 0)
    problem = problem_of(Phi, t, **penalties)
    solution = LaplaceFixedPointSolver(update, max_iter=5000).solve(problem)
    assert solution.converged
    assert solution.certificate.gradient < 5e-3
    assert 1 <= len(solution.state.active) < 30
    assert len(solution.trace) == solution.n_iter + 1


@pytest.mark.parametrize("seed", range(3))
def test_agrees_roughly_with_the_default_solver(seed):
    Phi, t = kernel_problem(100, seed)
    problem = problem_of(Phi, t)
    reference = LaplaceFixedPointSolver().solve(problem)
    default = LaplaceSolver().solve(problem)
    assert reference.state.objective == pytest.approx(default.state.objective, abs=6.0)
    ours, theirs = default.state.mode.latent, reference.state.mode.latent
    assert ((ours > 0) == (theirs > 0)).mean() > 0.93


@pytest.mark.parametrize("update", UPDATES)
def test_gamma_prior_is_in_the_fixed_point(update):
    Phi, t = kernel_problem(40, 1)
    a, b = 0.5, 0.3
    problem = problem_of(Phi, t, hyperprior=gamma_prior(a, b))
    solution = LaplaceFixedPointSolver(update, tol=1e-7, max_iter=5000).solve(problem)
    assert solution.converged
    mode = solution.state.mode
    # nothing can be switched off
    assert len(solution.state.active) == 40
    variance, square = mode.hessian.covariance.diagonal()[:40], mode.weights[:40] ** 2
    alpha = mode.hessian.precision[:40]
    np.testing.assert_allclose(alpha, (1 + 2 * a) / (square + variance + 2 * b), rtol=1e-5)
    gamma = 1.0 - alpha * variance
    np.testing.assert_allclose(alpha, (gamma + 2 * a) / (square + 2 * b), rtol=1e-5)


def test_gamma_prior_is_in_the_objective_and_its_gradient():
    Phi, t = kernel_problem(30, 2)
    problem = problem_of(Phi, t, hyperprior=gamma_prior(0.7, 0.2))
    active, theta = np.array([2, 11]), np.array([0.2, -0.5])
    state = problem.evaluate(active, theta, Phi[:, active])
    free = problem_of(Phi, t).evaluate(active, theta, Phi[:, active])
    expected = free.objective + 0.7 * theta.sum() - 0.2 * np.exp(theta).sum()
    assert state.objective == pytest.approx(expected)
    for i, unit in enumerate(1e-4 * np.eye(2)):
        up, down = (
            problem.evaluate(active, theta + x, Phi[:, active]).objective for x in (unit, -unit)
        )
        slope = problem.gradient(state, exact=True)[i]
        assert slope == pytest.approx((up - down) / 2e-4, abs=1e-5)


def test_a_cap_on_sweeps_is_admitted():
    Phi, t = kernel_problem(50, 3)
    solution = LaplaceFixedPointSolver("em", max_iter=3).solve(problem_of(Phi, t))
    assert not solution.converged
    assert solution.n_iter == 3


@pytest.mark.slow
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    ("Phi", "t"),
    [
        (np.eye(4), np.array([0.0, 1, 1, 0])),
        (np.ones((6, 3)), np.arange(6) % 2.0),
        (kernel_problem(30, 4)[0], np.zeros(30)),
        (kernel_problem(30, 4)[0], np.r_[1.0, np.zeros(29)]),
        (np.tile(kernel_problem(30, 4)[0], 2), kernel_problem(30, 4)[1]),
        (1e6 * kernel_problem(30, 4)[0], kernel_problem(30, 4)[1]),
    ],
    ids=["four", "constant", "one class", "one positive", "duplicates", "huge"],
)
def test_degenerate_problems(Phi, t, update):
    solution = LaplaceFixedPointSolver(update, max_iter=300).solve(problem_of(Phi, t))
    assert np.isfinite(solution.trace).all()
    assert np.isfinite(solution.state.mode.weights).all()


def test_penalties_delete_atoms():
    Phi, t = kernel_problem(80, 5, width=0.6)
    free = LaplaceFixedPointSolver().solve(problem_of(Phi, t))
    charged = LaplaceFixedPointSolver().solve(problem_of(Phi, t, min_gain=3.0))
    assert charged.converged
    assert len(charged.state.active) < len(free.state.active)


def test_warm_start_and_monitor():
    Phi, t = kernel_problem(50, 6)
    problem = problem_of(Phi, t)
    first = LaplaceFixedPointSolver().solve(problem)
    start = (first.state.active, first.state.log_precision)
    again = LaplaceFixedPointSolver().solve(problem, warm_start=start)
    assert again.n_iter < first.n_iter
    stopped = LaplaceFixedPointSolver().solve(problem, monitor=lambda p: p.n_iter == 4)
    assert stopped.n_iter == 4
    assert not stopped.converged


def test_a_shape_without_a_rate_is_refused():
    with pytest.raises(ValueError, match="Use a positive rate"):
        problem_of(np.eye(4), np.arange(4) % 2.0, hyperprior=gamma_prior(1.0, 0.0))
