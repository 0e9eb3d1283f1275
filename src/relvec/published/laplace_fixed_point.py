"""The first algorithm for latent functions: sweeps over all atoms at once."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from relvec._checks import check_choice, check_integer, check_positive
from relvec._typing import BoolArray, IndexArray, Vector
from relvec.priors.gamma import BoundGamma
from relvec.solvers.base import Certificate, Monitor, Progress
from relvec.solvers.latent.block_steps import look
from relvec.solvers.latent.problem import LatentProblem, LatentSolution
from relvec.solvers.latent.tuning import LatentTuning
from relvec.solvers.latent.walk import Walk

__all__ = ["LaplaceFixedPointSolver"]


class LaplaceFixedPointSolver(BaseEstimator):
    """Re-estimate the precisions of all atoms in turn until they settle (Tipping, 2001).

    Starts from all atoms, and deletes them as their precisions diverge. Slow, since every sweep
    finds the mode of a model with all remaining atoms, and without a guarantee: the curvature
    moves between sweeps, so the objective may fall. An independent reference for the default
    solver, and the only one for Gamma priors.

    Parameters
    ----------
    update : {"mackay", "em"}, default="mackay"
        "mackay" is ``alpha = (gamma + 2 a) / (w^2 + 2 b)``, with Gamma shape a and rate b; "em"
        is ``alpha = (1 + 2 a) / (w^2 + variance + 2 b)``, much slower.
    max_iter : int, default=1000
        Number of sweeps.
    tol : float, default=1e-3
        The sweeps have settled when the log precision of no atom that is to stay changes by more.
        Atoms whose best precision is infinite are not waited for.
    prune_threshold : float, default=1e9
        An atom is deleted when its precision exceeds the largest curvature of its weight by this
        factor, or its well-determinedness ``gamma`` falls below machine precision. Not used with
        a Gamma prior, under which an infinite precision has zero density.

    Notes
    -----
    When the sweeps have settled, atoms the model is better without, their price counted, are
    deleted, and the sweeps go on.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1, section 3.

    Examples
    --------
    >>> LaplaceFixedPointSolver("em")
    LaplaceFixedPointSolver(update='em')
    """

    is_monotone = False

    def __init__(
        self,
        update: Literal["mackay", "em"] = "mackay",
        *,
        max_iter: int = 1000,
        tol: float = 1e-3,
        prune_threshold: float = 1e9,
    ) -> None:
        self.update = update
        self.max_iter = max_iter
        self.tol = tol
        self.prune_threshold = prune_threshold

    def solve(
        self,
        problem: LatentProblem,
        *,
        warm_start: tuple[IndexArray, Vector] | None = None,
        monitor: Monitor | None = None,
    ) -> LatentSolution:
        """Maximise the objective of `problem`.

        Parameters
        ----------
        problem : LatentProblem
            Any prior.
        warm_start : (ndarray, ndarray), optional
            Active atoms, ascending, and their log precisions to start from instead of all.
        monitor : callable, optional
            Told of every sweep; returning True ends the run where it is.

        Returns
        -------
        solution : LatentSolution
            With the objective after each sweep as its trace, which may fall.
        """
        update = check_choice("update", self.update, ("mackay", "em"))
        max_iter = check_integer("max_iter", self.max_iter, minimum=1)
        tol = check_positive("tol", self.tol)
        threshold = check_positive("prune_threshold", self.prune_threshold)
        if problem.n_blocks > 1:
            raise ValueError(
                f"the fixed point is for one latent function; this problem has {problem.n_blocks}. "
                "Use LaplaceSolver."
            )
        if problem.signs is not None:
            raise ValueError(
                "the fixed point knows no signs of weights: it starts from all atoms, whatever "
                "the signs of theirs. Use LaplaceSolver, or leave signs out (signed=False)."
            )
        run = _Run(problem, update, threshold, warm_start)
        converged = False
        for number in range(1, max_iter + 1):
            change = run.sweep()
            settled = change < tol
            if settled and run.deletable:
                settled = not run.delete()
            run.trace.append(run.state.objective)
            progress = Progress(update, number, run.trace[-1], len(run.state.active))
            if monitor is not None and monitor(progress):
                break
            if settled:
                converged = True
                break
        return LatentSolution(run.state, number, converged, run.certificate(), tuple(run.trace))


class _Rates(NamedTuple):
    """What the rules read off a mode, per active atom."""

    precision: Vector
    square: Vector
    variance: Vector
    gamma: Vector
    """How well each weight is determined by the data, between zero and one."""
    priced: Vector
    """Twice the price of degrees of freedom, times their derivative in minus log precision."""

    @property
    def diverges(self) -> BoolArray:
        """Whether the best precision, all else fixed, is infinite."""
        price = self.priced / self.precision
        result: BoolArray = self.square - price <= self.gamma * self.variance
        return result


class _Run(Walk):
    """The atoms still in the model, and their sweeps."""

    def __init__(
        self,
        problem: LatentProblem,
        update: str,
        threshold: float,
        warm_start: tuple[IndexArray, Vector] | None,
    ) -> None:
        self.update, self.deletable = update, problem.prior.is_removable
        likelihood = problem.likelihood
        atoms = problem.dictionary.columns(np.arange(problem.dictionary.shape[1]))
        most_latent = problem.largest_latent or likelihood.largest_latent
        spread = problem.least_log_precision(atoms) + 2.0 * np.log(most_latent)
        reference = likelihood.weighted(likelihood.reference_curvature())
        self.most = np.log(threshold) + np.log(float(reference.sum())) + spread
        if warm_start is None:
            usable = np.isfinite(atoms).all(axis=0)
            usable &= np.exp(spread) > 1e-24 * np.square(atoms).max(axis=0)
            active = np.flatnonzero(usable)
            # a priori, all atoms together give a latent function of the order of one
            warm_start = active, spread[active] + np.log(max(len(active), 1))
        super().__init__(problem, 0.0, None, warm_start, LatentTuning())

    def sweep(self) -> float:
        """Re-estimate all precisions; return the largest change of one that is to stay."""
        problem, state = self.problem, self.state
        shape, rate = 0.0, 0.0
        if isinstance(problem.prior, BoundGamma):
            shape, rate = problem.prior.exponent, problem.prior.raw_rate
        rates = self._rates()
        if self.update == "mackay":
            top = rates.gamma + rates.priced + 2.0 * shape
            precision = top / np.maximum(rates.square + 2.0 * rate, 1e-300)
        else:
            # with a price, the positive root of ``second x^2 - first x - priced``
            first = 1.0 + 2.0 * shape
            second = rates.square + rates.variance + 2.0 * rate
            price = rates.priced * rates.precision
            precision = 0.5 * (first + np.sqrt(first**2 + 4.0 * second * price)) / second
        active = state.active
        least = self.bounds(active)[0]
        log_precision = np.maximum(np.log(np.maximum(precision, 1e-300)), least)
        kept = staying = np.ones(len(active), dtype=bool)
        if self.deletable:
            kept = (log_precision <= self.most[active]) & (rates.gamma > np.finfo(np.float64).eps)
            staying = kept & ~rates.diverges
        change = np.abs(log_precision - state.log_precision)[staying].max(initial=0.0)
        self._move(active[kept], log_precision[kept])
        return float(change)

    def delete(self) -> bool:
        """Delete atoms the model is better without; whether there were any."""
        diverges = self._rates().diverges
        if diverges.any() and self._is_better(~diverges):
            return True
        state, k = self.state, len(self.state.active)
        loss = 0.5 * self.problem.removal_loss(state) - self.problem.min_gain[state.active]
        for place in np.argsort(loss):
            if loss[place] > 1.0 + float(np.max(self.problem.prior.penalty)):
                break
            if self._is_better(np.arange(k) != place):
                return True
        return False

    def certificate(self) -> Certificate:
        """Derivatives at fixed curvature where the sweeps ended."""
        best = 0.0
        if self.deletable:
            best = look(self.problem, self.state, 1e-3, 1)[0].gain
        return Certificate(self.steepest(exact=False), best)

    def _rates(self) -> _Rates:
        mode, k = self.state.mode, len(self.state.active)
        variance = mode.hessian.covariance.diagonal()[:k]
        precision = mode.hessian.precision[:k]
        priced = np.zeros(k)
        if self.problem.prior.is_penalised:
            free = mode.gradient(self.problem.likelihood, exact=False)
            with_price = self.problem.gradient(self.state, exact=False)
            priced = 2.0 * np.maximum(with_price - free, 0.0)
        gamma = np.clip(1.0 - precision * variance, 0.0, 1.0)
        return _Rates(precision, mode.weights[:k] ** 2, variance, gamma, priced)

    def _is_better(self, kept: BoolArray) -> bool:
        """Keep some atoms only, if the objective does not fall by that."""
        before = self.state
        self._move(before.active[kept], before.log_precision[kept])
        if self.state.objective >= before.objective:
            return True
        self.state = before
        return False

    def _move(self, active: IndexArray, log_precision: Vector) -> None:
        start = self.state.start_for(active)
        self.state = self.problem.evaluate(active, log_precision, self.columns(active), start)
