"""The first algorithm for latent functions: sweeps over all atoms at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator

from relvec._checks import check_choice, check_integer, check_positive
from relvec._typing import IndexArray, Vector
from relvec.solvers.base import Certificate, Monitor, Progress
from relvec.solvers.latent.block_steps import screen_blocks
from relvec.solvers.latent.monotone import MonotoneSearch
from relvec.solvers.latent.problem import LatentProblem, LatentSolution

__all__ = ["LaplaceFixedPointSolver"]


@dataclass(kw_only=True, eq=False, repr=False)
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
    When the sweeps have settled, atoms the model is better without, their penalty counted, are
    deleted, and the sweeps go on.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1, section 3.

    Examples
    --------
    >>> LaplaceFixedPointSolver("em")
    LaplaceFixedPointSolver(update='em')
    """

    update: Literal["mackay", "em"] = field(default="mackay", kw_only=False)
    max_iter: int = 1000
    tol: float = 1e-3
    prune_threshold: float = 1e9

    is_monotone = False

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
            With a flat prior, a penalty on degrees of freedom or a Gamma prior.
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
        run, converged = _Sweeps(problem, update, threshold, warm_start), False
        for number in range(1, max_iter + 1):
            settled = run.sweep() < tol
            if settled and run.deletable and run.delete():
                settled = False
            else:
                run.trace.append(run.state.objective)
            progress = Progress(update, number, run.trace[-1], len(run.state.active))
            is_stopped = monitor is not None and monitor(progress)
            converged = settled and not is_stopped
            if settled or is_stopped:
                break
        best = screen_blocks(problem, run.state, 1e-3, 1)[0].gain if run.deletable else 0.0
        certificate = Certificate(run.find_largest_derivative(exact=False), best)
        return LatentSolution(run.state, number, converged, certificate, tuple(run.trace))


class _Sweeps(MonotoneSearch):
    """The atoms still in the model, and their sweeps, which take any step."""

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
        spread = problem.bounds(atoms)[0] + 2.0 * np.log(most_latent)
        reference = likelihood.weighted(likelihood.reference_curvature())
        self.most = np.log(threshold) + np.log(float(reference.sum())) + spread
        if warm_start is None:
            usable = np.isfinite(atoms).all(axis=0)
            usable &= np.exp(spread) > 1e-24 * np.square(atoms).max(axis=0)
            active = np.flatnonzero(usable)
            # a priori, all atoms together give a latent function of the order of one
            warm_start = active, spread[active] + np.log(max(len(active), 1))
        super().__init__(problem, 0.0, None, warm_start)
        self.min_rise = 0.0  # of deletions

    def sweep(self) -> float:
        """Re-estimate all precisions; return the largest change of one that is to stay."""
        problem, state, active = self.problem, self.state, self.state.active
        self._read()
        if self.update == "mackay":
            first, second, inverse = self.gamma + self.penalised, self.square, np.zeros(len(active))
        else:
            first, second = np.ones(len(active)), self.square + self.variance
            inverse = self.penalised * self.precision
        terms = problem.prior.fixed_point(state.log_precision, 1.0)
        # the positive root of ``second x^2 - first x - inverse``
        first, inverse = first + terms.constant, inverse + terms.inverse
        second = np.maximum(second + terms.scale, 1e-300)
        precision = 0.5 * (first + np.sqrt(first**2 + 4.0 * second * inverse)) / second
        least, _ = problem.bounds(self.columns(active))
        log_precision = np.maximum(np.log(np.maximum(precision, 1e-300)), least)
        kept = staying = np.ones(len(active), dtype=bool)
        if self.deletable:
            kept = log_precision <= self.most[active]
            kept &= self.gamma > np.finfo(np.float64).eps
            staying = kept & ~self.diverges
        change = np.abs(log_precision - state.log_precision)[staying].max(initial=0.0)
        active = active[kept]
        self.state = problem.evaluate(
            active, log_precision[kept], self.columns(active), state.get_initial_weights(active)
        )
        return float(change)

    def delete(self) -> bool:
        """Delete atoms the model is better without; whether there were any."""
        self._read()
        state, stay = self.state, ~self.diverges
        if not stay.all() and self.move_if_better(state.active[stay], state.log_precision[stay]):
            return True
        loss = 0.5 * self.problem.removal_loss(state) - self.problem.min_gain[state.active]
        for place in np.argsort(loss):
            if loss[place] > 1.0 + float(np.max(self.problem.prior.penalty)):
                break
            if self.move_if_better(
                np.delete(state.active, place), np.delete(state.log_precision, place)
            ):
                return True
        return False

    def _read(self) -> None:
        """Read off the mode what the rules know of each active atom.

        Among it ``gamma``, by how much the data determine its weight, twice the penalty of degrees
        of freedom times their derivative in minus log precision, and whether the best precision,
        all else fixed, is infinite.
        """
        mode, k = self.state.mode, len(self.state.active)
        self.variance = mode.hessian.covariance.diagonal()[:k]
        self.precision, self.square = mode.hessian.precision[:k], mode.weights[:k] ** 2
        self.gamma = np.clip(1.0 - self.precision * self.variance, 0.0, 1.0)
        self.penalised = np.zeros(k)
        if self.problem.prior.is_penalised:
            free = mode.gradient(self.problem.likelihood, exact=False)
            with_penalty = self.problem.gradient(self.state, exact=False)
            self.penalised = 2.0 * np.maximum(with_penalty - free, 0.0)
        penalty = self.penalised / self.precision
        self.diverges = self.square - penalty <= self.gamma * self.variance
