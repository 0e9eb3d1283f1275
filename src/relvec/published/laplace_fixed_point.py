"""The original algorithm for classification (Tipping 2001, section 3): fixed-point updates."""

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
    """Fixed-point iteration of all precisions with a Laplace approximation (Tipping 2001).

    It starts from all atoms, and deletes those whose precision diverges. It is slow, since every
    sweep finds the mode of a model with all remaining atoms. The Laplace approximation changes
    between sweeps, so the objective may fall. It is an independent reference for the default
    solver, and the only one for Gamma priors.

    Parameters
    ----------
    update : {"mackay", "em"}, default="mackay"
        "mackay" is ``alpha = (gamma + 2 a) / (w^2 + 2 b)`` with the Gamma shape ``a`` and rate
        ``b`` (eq. 44); "em" is ``alpha = (1 + 2 a) / (w^2 + variance + 2 b)`` (eq. 43), which is
        much slower.
    max_iter : int, default=1000
        Maximum number of sweeps.
    tol : float, default=1e-3
        The iteration has converged when the log precision of no remaining atom changes by more.
        Atoms whose best precision is infinite are not included.
    prune_threshold : float, default=1e9
        An atom is deleted when its precision exceeds the largest curvature of its weight by this
        factor, or its well-determinedness ``gamma`` falls below machine precision. Not used with
        a Gamma prior, under which an infinite precision has zero density.

    Notes
    -----
    At convergence, atoms whose removal raises the objective, including their entry penalty, are
    deleted, and the sweeps continue.

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
            Initial active atoms, in ascending order, and their log precisions. Default, all atoms.
        monitor : callable, optional
            Called after every sweep; the run stops if it returns True.

        Returns
        -------
        solution : LatentSolution
            Its trace holds the objective after each sweep, which may fall.
        """
        update = check_choice("update", self.update, ("mackay", "em"))
        max_iter = check_integer("max_iter", self.max_iter, minimum=1)
        tol = check_positive("tol", self.tol)
        threshold = check_positive("prune_threshold", self.prune_threshold)
        if problem.n_blocks > 1:
            raise ValueError(
                "LaplaceFixedPointSolver needs a single latent function; this problem has "
                f"{problem.n_blocks}. Use LaplaceSolver."
            )
        if problem.signs is not None:
            raise ValueError(
                "LaplaceFixedPointSolver does not support constraints on the signs of weights: it "
                "starts from all atoms. Use LaplaceSolver, or signed=False."
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
    """The remaining atoms, and sweeps that accept every update."""

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
        # bounds() subtracts 2 log(largest_latent); added back, this is the log mean square of each
        # atom.
        spread = problem.bounds(atoms)[0] + 2.0 * np.log(most_latent)
        reference = likelihood.apply_weights(likelihood.reference_curvature())
        # Mean square times total reference curvature is phi'B phi for constant B: the threshold is
        # for lam = alpha / phi'B phi, as in regression with unit columns.
        self.most = np.log(threshold) + np.log(float(reference.sum())) + spread
        if warm_start is None:
            usable = np.isfinite(atoms).all(axis=0)
            # Columns that are constant to rounding (1e-12 of their largest entry) cannot be told
            # from the intercept.
            usable &= np.exp(spread) > 1e-24 * np.square(atoms).max(axis=0)
            active = np.flatnonzero(usable)
            # The prior standard deviation of the latent function is then of order one.
            warm_start = active, spread[active] + np.log(max(len(active), 1))
        super().__init__(problem, 0.0, None, warm_start)
        self.min_rise = 0.0  # of deletions

    def sweep(self) -> float:
        """Re-estimate all precisions; return the largest change of a remaining one."""
        problem, state, active = self.problem, self.state, self.state.active
        self._read_statistics()
        if self.update == "mackay":
            first, second, inverse = self.gamma + self.penalised, self.square, np.zeros(len(active))
        else:
            first, second = np.ones(len(active)), self.square + self.variance
            # penalised = 2 lam Q at the present precision, as (penalised alpha) / x: same fixed
            # point.
            inverse = self.penalised * self.precision
        terms = problem.prior.fixed_point_terms(state.log_precision, 1.0)
        # the positive root of ``second x^2 - first x - inverse``
        first, inverse = first + terms.constant, inverse + terms.inverse
        second = np.maximum(second + terms.scale, 1e-300)
        precision = 0.5 * (first + np.sqrt(first**2 + 4.0 * second * inverse)) / second
        least, _ = problem.bounds(self.columns(active))
        log_precision = np.maximum(np.log(np.maximum(precision, 1e-300)), least)
        kept = remaining = np.ones(len(active), dtype=bool)
        if self.deletable:
            kept = log_precision <= self.most[active]
            kept &= self.gamma > np.finfo(np.float64).eps
            # Precisions that diverge change in every sweep and must not delay convergence.
            remaining = kept & ~self.diverges
        change = np.abs(log_precision - state.log_precision)[remaining].max(initial=0.0)
        active = active[kept]
        self.state = problem.evaluate(
            active, log_precision[kept], self.columns(active), state.get_initial_weights(active)
        )
        return float(change)

    def delete(self) -> bool:
        """Delete atoms whose removal raises the objective; return whether there were any."""
        self._read_statistics()
        state, stay = self.state, ~self.diverges
        if not stay.all() and self.move_if_better(state.active[stay], state.log_precision[stay]):
            return True
        # In nats: removal_loss is twice the evidence; the removal saves min_gain.
        loss = 0.5 * self.problem.removal_loss(state) - self.problem.min_gain[state.active]
        for place in np.argsort(loss):
            # The loss is that at fixed curvature without the penalty on degrees of freedom: a
            # removal may still raise the objective if the loss is little more than the penalty.
            if loss[place] > 1.0 + float(np.max(self.problem.prior.penalty)):
                break
            if self.move_if_better(
                np.delete(state.active, place), np.delete(state.log_precision, place)
            ):
                return True
        return False

    def _read_statistics(self) -> None:
        """Read the statistics of each active atom from the mode.

        They are the well-determinedness ``gamma``, twice the derivative of the penalty on degrees
        of freedom in minus the log precision (`penalised`), and whether the best precision, all
        else fixed, is infinite (`diverges`).
        """
        mode, k = self.state.mode, len(self.state.active)
        self.variance = mode.hessian.covariance.diagonal()[:k]
        self.precision, self.square = mode.hessian.precision[:k], mode.weights[:k] ** 2
        self.gamma = np.clip(1.0 - self.precision * self.variance, 0.0, 1.0)
        self.penalised = np.zeros(k)
        if self.problem.prior.is_penalised:
            free = mode.gradient(self.problem.likelihood, exact=False)
            with_penalty = self.problem.gradient(self.state, exact=False)
            # Derivative of the penalty alone, as the difference of the two gradients.
            self.penalised = 2.0 * np.maximum(with_penalty - free, 0.0)
        # q^2 - 2 w <= s with q = w_i / S_ii, s = gamma / S_ii and 2 w S_ii^2 = penalised / alpha,
        # multiplied by S_ii^2.
        penalty = self.penalised / self.precision
        self.diverges = self.square - penalty <= self.gamma * self.variance
