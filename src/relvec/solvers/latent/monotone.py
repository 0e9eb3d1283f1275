"""Where a search is, and moves that are taken only if the objective rises."""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.solvers.base import Monitor, Progress
from relvec.solvers.latent.problem import LatentProblem, LatentState
from relvec.solvers.latent.tuning import LatentTuning

__all__ = ["MonotoneSearch", "SearchStopped"]


class SearchStopped(Exception):
    """A monitor has seen enough."""


class MonotoneSearch:
    """A state, the way to it, and the columns of the atoms that moves are made with.

    A rise of the objective by `tol` nats counts. The monitor is called after every step and may
    end the search there. A warm start is of active atoms, ascending, and their log precisions.
    """

    def __init__(
        self,
        problem: LatentProblem,
        tol: float,
        monitor: Monitor | None = None,
        warm_start: tuple[IndexArray, Vector] | None = None,
    ) -> None:
        self.problem, self.tol, self.monitor, self.tuning = problem, tol, monitor, LatentTuning()
        self.stage, self.least_rise = "laplace", self.tuning.min_rise
        self.n_atoms = max(problem.dictionary.shape[1], 1)
        nothing = np.empty(0, dtype=np.intp)
        active, log_precision = (nothing, np.empty(0)) if warm_start is None else warm_start
        columns = problem.dictionary.columns(active % self.n_atoms)
        self.state: LatentState = problem.evaluate(active, log_precision, columns)
        if problem.signs is not None:
            self.state = problem.remove_wrong_signs(self.state, columns)
        if not np.isfinite(self.state.objective):  # nothing to climb from
            self.state = problem.evaluate(nothing, log_precision[:0], columns[:, :0])
        self.load_columns(active)
        self.trace = [self.state.objective]
        self._failed_removals: dict[int, tuple[float, float]] = {}

    # ------------------------------------------------------------------ columns

    def load_columns(self, atoms: IndexArray) -> None:
        """Work with some atoms, numbered by block, and those that are active."""
        atoms = np.union1d(atoms, self.state.active)
        starts = np.arange(self.problem.n_blocks) * self.n_atoms
        parts = np.split(atoms, np.searchsorted(atoms, starts[1:]))
        self.working = list(map(np.subtract, parts, starts))
        self.loaded = np.unique(atoms % self.n_atoms)
        self.atoms: Matrix = self.problem.dictionary.columns(self.loaded)

    def columns(self, active: IndexArray) -> Matrix:
        """Columns of atoms that are held, whatever their block."""
        if self.problem.n_blocks == 1 and len(active) == len(self.loaded):
            return self.atoms
        return self.atoms[:, np.searchsorted(self.loaded, active % self.n_atoms)]

    # ------------------------------------------------------------------ moves

    def move_if_better(
        self, active: IndexArray, log_precision: Vector, start: Vector | None = None
    ) -> bool:
        """Move to a model, less the atoms of the wrong sign, if its objective is higher."""
        start = self.state.get_initial_weights(active) if start is None else start
        columns = self.columns(active)
        trial = self.problem.evaluate(active, log_precision, columns, start)
        if self.problem.signs is not None:
            trial = self.problem.remove_wrong_signs(trial, columns)
        if not trial.objective > self.state.objective + self.least_rise:
            return False
        self.state = trial
        self.trace.append(trial.objective)
        if self.monitor is not None and self.monitor(
            Progress(self.stage, len(self.trace) - 1, trial.objective, len(trial.active))
        ):
            raise SearchStopped
        return True

    def step_towards(self, active: IndexArray, log_precision: Vector) -> bool:
        """Go towards a proposal as far as the objective rises; False if it does not.

        Part of the way is on the straight line of prior variances.
        """
        here = self.state
        for share in self.tuning.step_fractions:
            trial, value = active, log_precision
            if share < 1.0:
                trial = np.union1d(here.active, active)
                variance = np.zeros(len(trial))
                places = np.searchsorted(trial, here.active)
                variance[places] = (1.0 - share) * np.exp(-here.log_precision)
                variance[np.searchsorted(trial, active)] += share * np.exp(-log_precision)
                value = -np.log(variance)
            if self.move_if_better(trial, value):
                return True
        return False

    def insert_units(self, units: IndexArray, log_precision: Vector) -> tuple[IndexArray, Vector]:
        """Return the model with some units, none of which it has, put in."""
        active = np.concatenate([self.state.active, self.problem.expand_units(units)])
        order = np.argsort(active)
        values = np.tile(log_precision, self.problem.n_tied)
        return active[order], np.concatenate([self.state.log_precision, values])[order]

    def remove_weakest(
        self, most: int = 2, hopeless: float = np.inf, *, remember: bool = False
    ) -> bool:
        """Drop the unit whose loss is least, or the next, if the objective rises by that.

        If asked to `remember`, those that failed wait until something has changed.
        """
        problem, state = self.problem, self.state
        if not len(state.active):
            return False
        loss = problem.removal_loss(state)
        hopeless += 2.0 * problem.n_tied * float(np.max(problem.prior.penalty))
        units = np.arange(len(state.active)) % len(loss)
        for place in np.argsort(loss)[:most]:
            if loss[place] > hopeless:
                return False
            if remember and self._was_needed(int(state.active[place]), float(loss[place])):
                continue
            rest = units != place
            if self.move_if_better(state.active[rest], state.log_precision[rest]):
                return True
            self._failed_removals[int(state.active[place])] = state.objective, float(loss[place])
        return False

    def _was_needed(self, unit: int, loss: float) -> bool:
        """Whether the model was worse without a unit, and little has changed since."""
        objective, lost = self._failed_removals.get(unit, (-np.inf, np.inf))
        has_risen = self.state.objective >= objective + self.tuning.min_retry_rise
        return not (has_risen or loss <= lost - self.tuning.min_retry_loss_drop)

    def update_precisions(self, tol: float) -> None:
        """Take steps of which regressions of single blocks know nothing.

        MacKay's fixed point with all blocks and penalties in it, then removals that pay.
        """
        problem, tied = self.problem, self.problem.n_tied
        for _ in range(self.tuning.max_regression_steps):
            before, active, mode = self.state.objective, self.state.active, self.state.mode
            if not len(active):
                return
            gradient = problem.gradient(self.state, exact=False)
            drive = 2.0 * gradient.reshape(tied, -1).sum(axis=0)
            square = (mode.weights[: len(active)] ** 2).reshape(tied, -1).sum(axis=0)
            determined = drive + mode.hessian.precision[: len(square)] * square
            ratio = np.maximum(determined, 1e-12) / np.maximum(square, 1e-300)
            value = np.tile(np.log(ratio), tied)
            moved = self.step_towards(active, np.clip(value, *problem.bounds(self.columns(active))))
            # atoms in all latent functions are few: each removal is worth another trial
            removed = self.remove_weakest(
                hopeless=self.tuning.max_removal_loss, remember=problem.n_blocks > tied
            )
            if not removed and (not moved or self.state.objective - before < tol):
                return

    def find_largest_derivative(self, *, exact: bool) -> float:
        """Largest derivative in the log precision of a unit that is not at a bound."""
        gradient = self.problem.gradient(self.state, exact=exact)
        gradient = gradient.reshape(self.problem.n_tied, -1).sum(axis=0)
        least, most = self.problem.bounds(self.columns(self.state.active))
        value = self.state.log_precision
        inner = (value > least + 1e-6) & (not exact or value < most - 1e-6)
        return float(np.abs(gradient[inner[: len(gradient)]]).max(initial=0.0))
