"""Base of the searches for the Laplace evidence: moves that are taken only if it rises."""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.solvers.base import Monitor, Progress, SearchStopped
from relvec.solvers.latent.problem import LatentProblem, LatentState
from relvec.solvers.latent.tuning import LatentTuning

__all__ = ["MonotoneSearch", "SearchStopped"]


class MonotoneSearch:
    """Current state of a search, its trace, and the columns of its working set.

    `tol` is the rise of the objective, in nats, below which the search has converged. The monitor
    is called after every step and may stop the search. `warm_start` has active atoms, ascending,
    and their log precisions.
    """

    def __init__(
        self,
        problem: LatentProblem,
        tol: float,
        monitor: Monitor | None = None,
        warm_start: tuple[IndexArray, Vector] | None = None,
    ) -> None:
        self.problem, self.tol, self.monitor, self.tuning = problem, tol, monitor, LatentTuning()
        self.stage, self.min_rise = "laplace", self.tuning.min_rise
        self.n_atoms = max(problem.dictionary.shape[1], 1)
        nothing = np.empty(0, dtype=np.intp)
        active, log_precision = (nothing, np.empty(0)) if warm_start is None else warm_start
        columns = problem.dictionary.columns(active % self.n_atoms)
        self.state: LatentState = problem.evaluate(active, log_precision, columns)
        if problem.signs is not None:
            self.state = problem.remove_wrong_signs(self.state, columns)
        if not np.isfinite(self.state.objective):  # the warm start is not an admissible model
            self.state = problem.evaluate(nothing, log_precision[:0], columns[:, :0])
        self.load_columns(active)
        self.trace = [self.state.objective]
        self._failed_removals: dict[int, tuple[float, float]] = {}

    # ------------------------------------------------------------------ columns

    def load_columns(self, atoms: IndexArray) -> None:
        """Set the working set: some atoms, numbered over all blocks, and the active ones."""
        atoms = np.union1d(atoms, self.state.active)
        starts = np.arange(self.problem.n_blocks) * self.n_atoms
        parts = np.split(atoms, np.searchsorted(atoms, starts[1:]))
        self.working = list(map(np.subtract, parts, starts))
        self.loaded = np.unique(atoms % self.n_atoms)
        self.atoms: Matrix = self.problem.dictionary.columns(self.loaded)

    def columns(self, active: IndexArray) -> Matrix:
        """Return the columns of atoms of the working set, whatever their block."""
        if self.problem.n_blocks == 1 and len(active) == len(self.loaded):
            return self.atoms
        return self.atoms[:, np.searchsorted(self.loaded, active % self.n_atoms)]

    # ------------------------------------------------------------------ moves

    def move_if_better(
        self, active: IndexArray, log_precision: Vector, start: Vector | None = None
    ) -> bool:
        """Move to a model, without atoms of the wrong sign, if its objective is higher."""
        start = self.state.get_initial_weights(active) if start is None else start
        columns = self.columns(active)
        trial = self.problem.evaluate(active, log_precision, columns, start)
        if self.problem.signs is not None:
            trial = self.problem.remove_wrong_signs(trial, columns)
        # Negated, so that a NaN objective is rejected.
        if not trial.objective > self.state.objective + self.min_rise:
            return False
        self.state = trial
        self.trace.append(trial.objective)
        if self.monitor is not None and self.monitor(
            Progress(self.stage, len(self.trace) - 1, trial.objective, len(trial.active))
        ):
            raise SearchStopped
        return True

    def step_towards(self, active: IndexArray, log_precision: Vector) -> bool:
        """Step towards a trial model; return False if the objective does not rise.

        Fractions of the step interpolate linearly between the prior variances of both models.
        """
        current = self.state
        for share in self.tuning.step_fractions:
            trial, value = active, log_precision
            if share < 1.0:
                # In variances rather than log precisions: an absent atom has variance zero, so
                # atoms that enter or leave are part of the interpolation.
                trial = np.union1d(current.active, active)
                variance = np.zeros(len(trial))
                places = np.searchsorted(trial, current.active)
                variance[places] = (1.0 - share) * np.exp(-current.log_precision)
                variance[np.searchsorted(trial, active)] += share * np.exp(-log_precision)
                value = -np.log(variance)
            if self.move_if_better(trial, value):
                return True
        return False

    def insert_units(self, units: IndexArray, log_precision: Vector) -> tuple[IndexArray, Vector]:
        """Return atoms and log precisions of the current model with some inactive units added."""
        active = np.concatenate([self.state.active, self.problem.expand_units(units)])
        order = np.argsort(active)
        values = np.tile(log_precision, self.problem.n_tied)
        return active[order], np.concatenate([self.state.log_precision, values])[order]

    def remove_weakest(
        self, most: int = 2, hopeless: float = np.inf, *, remember: bool = False
    ) -> bool:
        """Remove one of the `most` units of smallest loss, if the objective rises.

        Units whose loss exceeds `hopeless` are not tried. With `remember`, a unit whose removal
        failed is tried again only after the model has changed.
        """
        problem, state = self.problem, self.state
        if not len(state.active):
            return False
        loss = problem.removal_loss(state)
        # The loss is twice the evidence without penalties; a removal saves at most c for each of
        # the n_tied degrees of freedom of the unit.
        hopeless += 2.0 * problem.n_tied * float(np.max(problem.prior.penalty))
        units = np.arange(len(state.active)) % len(loss)
        for place in np.argsort(loss)[:most]:
            if loss[place] > hopeless:
                return False
            if remember and self._was_needed(int(state.active[place]), float(loss[place])):
                continue
            kept = units != place
            if self.move_if_better(state.active[kept], state.log_precision[kept]):
                return True
            self._failed_removals[int(state.active[place])] = state.objective, float(loss[place])
        return False

    def _was_needed(self, unit: int, loss: float) -> bool:
        """Return whether a removal failed before and the model has changed little since."""
        objective, lost = self._failed_removals.get(unit, (-np.inf, np.inf))
        has_risen = self.state.objective >= objective + self.tuning.min_retry_rise
        return not (has_risen or loss <= lost - self.tuning.min_retry_loss_drop)

    def update_precisions(self, tol: float) -> None:
        """Update precisions by MacKay's fixed point with all blocks and penalties; remove units.

        At fixed curvature the derivative of the objective in the log precision of a unit is ``(g -
        alpha w^2) / 2``, with ``w`` the weights at the mode and ``g`` their effective degrees of
        freedom, penalty included. The fixed point is ``alpha = g / w^2`` (Tipping 2001, eq. 16),
        summed over the weights of the unit.
        """
        problem, tied = self.problem, self.problem.n_tied
        for _ in range(self.tuning.max_regression_steps):
            before, active, mode = self.state.objective, self.state.active, self.state.mode
            if not len(active):
                return
            gradient = problem.gradient(self.state, exact=False)
            # Chain rule: the weights of a unit share one log precision.
            drive = 2.0 * gradient.reshape(tied, -1).sum(axis=0)
            square = (mode.weights[: len(active)] ** 2).reshape(tied, -1).sum(axis=0)
            # From 2 dJ / d log alpha = g - alpha w^2: g is read off without computing the penalty
            # separately.
            determined = drive + mode.hessian.precision[: len(square)] * square
            # g <= 0 (by rounding, or under unequal penalties): the objective rises towards smaller
            # precisions, down to the lower bound. w = 0: towards the upper bound.
            ratio = np.maximum(determined, 1e-12) / np.maximum(square, 1e-300)
            value = np.tile(np.log(ratio), tied)
            moved = self.step_towards(active, np.clip(value, *problem.bounds(self.columns(active))))
            # Units that are in all latent functions are few, so failed removals are tried again.
            removed = self.remove_weakest(
                hopeless=self.tuning.max_removal_loss, remember=problem.n_blocks > tied
            )
            if not removed and (not moved or self.state.objective - before < tol):
                return

    def find_largest_derivative(self, *, exact: bool) -> float:
        """Compute the largest derivative in the log precision of a unit that is not at a bound."""
        gradient = self.problem.gradient(self.state, exact=exact)
        gradient = gradient.reshape(self.problem.n_tied, -1).sum(axis=0)
        least, most = self.problem.bounds(self.columns(self.state.active))
        value = self.state.log_precision
        # At a bound the derivative need not vanish (Karush-Kuhn-Tucker conditions, Nocedal & Wright
        # 2006, chapter 12).
        inner = (value > least + 1e-6) & (not exact or value < most - 1e-6)
        return float(np.abs(gradient[inner[: len(gradient)]]).max(initial=0.0))
