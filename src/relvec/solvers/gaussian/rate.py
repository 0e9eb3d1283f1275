"""Learn the rate of a Laplace prior, alternating with the fit of the model.

A Laplace prior of the weights is an exponential prior of the prior variances ``gamma = 1 / lam``
(Park and Casella, 2008; Babacan et al., 2010). Given the model, and all other atoms held, each
``gamma_i`` has a posterior: exponential prior times the evidence of the atom as its likelihood. The
best rate maximises the product of the normalisers of these posteriors over the atoms.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from relvec._typing import Vector
from relvec.priors.base import Prior, RateHyperprior
from relvec.priors.laplace import LaplacePrior
from relvec.solvers.base import Monitor, Problem, Relay, Solution, Solver, WarmStart
from relvec.solvers.gaussian.reference import compute_statistics, condition

VARIANCES = np.exp(np.arange(math.log(1e-9), math.log(1e14), 0.5))
"""Nodes for integrals over ``gamma``, by the trapezoidal rule in ``log gamma``. The integrands are
analytic and vanish at both ends, so the error of this spacing is below 1e-7 (4e-6 at the largest
rate, where the mass below the grid is cut off)."""
LOG_RATES = np.linspace(math.log(1e-10), math.log(1e4), 129)
"""Initial grid of log rates; it is refined around the best one."""

MAX_ERROR_RATIO = 1.15
"""Largest RMSE of generalised cross-validation, relative to that of the flat prior, with which the
solution under a Laplace prior is accepted. Cross-validation of a fitted model ignores the selection
of atoms, which favours the flat prior: on columns of 100 rows the ratio was up to 1.13 although the
Laplace prior predicted new rows better. On kernels, for which a Laplace prior is unsuited, it was
1.1 to 1.5."""


def find_best_rate(s: Vector, quality: Vector, hyperprior: RateHyperprior) -> float:
    """Find the rate that maximises the product of the evidence of single atoms.

    Parameters
    ----------
    s, quality : ndarray of shape (n_atoms,)
        ``phi' K^-1 phi`` and ``(phi' K^-1 t)^2 / sigma^2`` of each atom in the model without it.
    hyperprior : RateHyperprior
        Gamma density of the rate.

    Notes
    -----
    The objective is, with ``l_i(gamma) = [quality_i gamma / (1 + s_i gamma) - log(1 + s_i gamma)] /
    2`` the log evidence of a variance::

        sum_i log int rate/2 exp(-rate gamma / 2 + l_i(gamma)) dgamma + (a - 1) log rate - b rate

    Its stationary points are those of expectation maximisation, ``rate = 2 (M + a - 1) / (sum
    E[gamma_i] + 2 b)``. An atom with ``s = quality = 0`` contributes nothing.
    """
    # Contribution of one atom to the log evidence (Tipping & Faul 2003) in terms of its prior
    # variance gamma = 1 / lam: q^2 / (lam + s) = q^2 gamma / (1 + s gamma).
    spread = s[:, None] * VARIANCES
    log_weight = 0.5 * (quality[:, None] * VARIANCES / (1.0 + spread) - np.log1p(spread))
    # dgamma = gamma d(log gamma), for the trapezoidal rule in log gamma.
    log_weight += np.log(VARIANCES)
    log_weight -= log_weight.max(axis=1, keepdims=True)  # a constant in the rate
    weight = np.exp(log_weight)

    def value(log_rate: Vector) -> Vector:
        rate = np.exp(log_rate)
        with np.errstate(divide="ignore"):  # zero evidence of an atom at extreme rates
            evidence = np.log(weight @ np.exp(-0.5 * np.multiply.outer(VARIANCES, rate)))
        # Factor rate / 2 of each exponential density (Park & Casella 2008), and the Gamma density
        # of the rate; constants are left out.
        count = len(s) + hyperprior.shape - 1.0
        total: Vector = evidence.sum(axis=0) + count * log_rate - hyperprior.inverse_scale * rate
        return total

    grid = LOG_RATES
    for _ in range(5):  # each refinement divides the spacing of the rates by eight
        best = float(grid[np.argmax(value(grid))])
        step = float(grid[1] - grid[0])
        # The maximum is between the neighbours of the best point, if the grid resolves the
        # objective.
        grid = best + step * np.linspace(-1.0, 1.0, 17)
    return math.exp(best)


def compute_expected_variances(s: Vector, quality: Vector, rate: float) -> Vector:
    """Compute the posterior expectation of the prior variance of each atom, all others held.

    The integrals are those of `find_best_rate`.
    """
    spread = s[:, None] * VARIANCES
    log_weight = 0.5 * (quality[:, None] * VARIANCES / (1.0 + spread) - np.log1p(spread))
    log_weight += np.log(VARIANCES) - 0.5 * rate * VARIANCES
    # The maximum cancels in the ratio of the integrals and prevents overflow.
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    result: Vector = weight @ VARIANCES / weight.sum(axis=1)
    return result


class RateLearner:
    """Solver that learns the rate of a Laplace prior, using another solver for each rate.

    The problem is first solved under the flat prior, and the noise is held at its estimate: if
    noise and rate were estimated together, each would grow with the other. Then two steps
    alternate: find the best rate given the model, and solve the problem at that rate with a warm
    start. No single objective rises throughout: that of the model is a maximum over the prior
    variances, that of the rate an integral. If the best rate oscillates, because the active set
    changes with it, the interval of the oscillation is halved until it is shorter than `tol`.

    At the end the prior variances of the active atoms are replaced by their posterior expectations.
    Their modes, which select the atoms, are too small, because an exponential density is largest
    at zero. Objective and certificate are those of the modes.

    If the error of generalised cross-validation is well above that under the flat prior, the
    solution under the flat prior is returned, with rate zero.

    Parameters
    ----------
    solver : Solver
        Solver for a given rate.
    tol : float, default=1e-3
        Change of the log rate at which to stop.
    max_solves : int, default=60
        Largest number of rates at which the problem is solved. The solution is not converged if it
        is reached.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.moments import SufficientStatistics
    >>> from relvec.priors import LaplacePrior
    >>> from relvec.solvers import Problem, RateLearner, SequentialSolver
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(100, 8))
    >>> target = Phi @ np.ones(8) + rng.normal(size=100)
    >>> moments = SufficientStatistics(8).update(Phi, target).moments()
    >>> problem = Problem(moments, prior=LaplacePrior("auto").bind(n_samples=100))
    >>> solution = RateLearner(SequentialSolver()).solve(problem)
    >>> solution.laplace_rate > 0.0, solution.converged
    (True, True)
    """

    def __init__(
        self,
        solver: Solver,
        *,
        tol: float = 1e-3,
        max_solves: int = 60,
    ) -> None:
        self.solver = solver
        self.uses_min_gain = getattr(solver, "uses_min_gain", True)
        self.tol = tol
        self.max_solves = max_solves

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Maximise the objective of `problem` at the rate that is best for the solution."""
        prior = problem.prior
        if prior.rate_hyperprior is None:
            raise ValueError(
                "RateLearner needs a Laplace prior whose rate is to be learnt; bind "
                'LaplacePrior("auto").'
            )
        relay = Relay(monitor)
        flat = self._flat(problem, warm_start, relay)
        held = problem
        if problem.noise_variance is None and flat.noise_variance > 0.0:
            # The rate is in units of the noise: a larger noise makes the weights look smaller,
            # which raises the rate, which leaves more of the data to the noise.
            held = replace(problem, noise_variance=flat.noise_variance)
        solution = flat
        log_rate, low, high, settled = -math.inf, -math.inf, math.inf, False
        for _ in range(self.max_solves):
            wanted = None if relay.is_stop_requested else self._find_best_log_rate(held, solution)
            if wanted is None:
                return replace(solution, n_iter=relay.n_iter + solution.n_iter)
            settled = abs(wanted - log_rate) < self.tol or high - low < self.tol
            if settled:
                break
            # The best rate given the model at `log_rate` says on which side the fixed point is.
            # Outside the bracket known so far, bisection replaces the proposal.
            low, high = (log_rate, high) if wanted > log_rate else (low, log_rate)
            log_rate = wanted if low < wanted < high else 0.5 * (low + high)
            relay.n_iter += solution.n_iter
            solution = self.solver.solve(
                replace(held, prior=prior.with_rate(math.exp(log_rate))),
                warm_start=WarmStart(solution.active, solution.log_lam),
                monitor=relay,
            )
        n_iter, converged = relay.n_iter + solution.n_iter, solution.converged and settled
        solution = self._with_expected_variances(held, solution)
        # The bound is on the RMSE, the errors are mean squares.
        if _cross_validated_error(problem, solution) > MAX_ERROR_RATIO**2 * _cross_validated_error(
            problem, flat
        ):
            return replace(flat, n_iter=n_iter)
        return replace(solution, n_iter=n_iter, converged=converged)

    def _flat(self, problem: Problem, warm_start: WarmStart | None, relay: Relay) -> Solution:
        """Solve under the flat prior; with entry penalties if the noise is not identifiable."""
        moments = problem.moments
        is_free = problem.noise_variance is None
        if not is_free or np.count_nonzero(moments.usable) <= 2.0 * moments.n_effective:
            flat = self.solver.solve(problem, warm_start=warm_start, monitor=relay)
            if not (is_free and flat.reached_max_active) or relay.is_stop_requested:
                return flat
            relay.n_iter += flat.n_iter
        # With more atoms than the data determine, the flat prior fits the noise, and its estimate
        # is of no use: log M for each atom expects about one of them in the model (see `odds`).
        penalty = np.maximum(problem.min_gain, math.log(moments.n_atoms))
        return self.solver.solve(replace(problem, min_gain=penalty), monitor=relay)

    def _with_expected_variances(self, problem: Problem, solution: Solution) -> Solution:
        """Replace the modes of the prior variances of the active atoms by their expectations."""
        if not len(solution.active):
            return solution
        fit = condition(problem, solution.active, np.exp(solution.log_lam))
        stats = compute_statistics(problem, fit).subset(solution.active)
        # q of the papers is in units of the noise: q_m^2 / s_m = q^2 / (s sigma^2).
        quality = stats.q**2 / solution.noise_variance
        expected = compute_expected_variances(stats.s, quality, solution.laplace_rate)
        return replace(solution, log_lam=-np.log(expected))

    def _find_best_log_rate(self, problem: Problem, solution: Solution) -> float | None:
        """Find the best log rate given the model; None without noise or usable atoms."""
        moments = problem.moments
        if not (solution.noise_variance > 0.0 and moments.usable.any()):
            return None
        fit = condition(problem, solution.active, np.exp(solution.log_lam))
        stats = compute_statistics(problem, fit)
        quality = stats.q[moments.usable] ** 2 / solution.noise_variance
        assert problem.prior.rate_hyperprior is not None
        return math.log(
            find_best_rate(stats.s[moments.usable], quality, problem.prior.rate_hyperprior)
        )


def _cross_validated_error(problem: Problem, solution: Solution) -> float:
    """Mean squared error by generalised cross-validation: ``RSS N / (N - sum gamma)^2``."""
    fit = condition(problem, solution.active, np.exp(solution.log_lam))
    n = problem.moments.n_effective
    # The bound keeps a model that interpolates the data from dividing zero by zero.
    return fit.residual_ss * n / max(n - float(fit.gamma.sum()), 1e-3 * n) ** 2


def with_learnt_rate(solver: Solver, prior: Prior) -> Solver:
    """Wrap the solver in a `RateLearner` if the prior is a Laplace prior with rate "auto".

    Examples
    --------
    >>> from relvec.priors import LaplacePrior
    >>> from relvec.solvers import SequentialSolver, with_learnt_rate
    >>> with_learnt_rate(SequentialSolver(), LaplacePrior(2.0))
    SequentialSolver()
    >>> type(with_learnt_rate(SequentialSolver(), LaplacePrior())).__name__
    'RateLearner'
    """
    is_learnt = isinstance(prior, LaplacePrior) and prior.rate == "auto"
    return RateLearner(solver) if is_learnt else solver
