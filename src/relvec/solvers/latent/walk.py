"""Where a search is, and moves that are taken only if the objective rises."""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.solvers.base import Monitor, Progress
from relvec.solvers.latent.problem import LatentProblem, LatentState
from relvec.solvers.latent.tuning import LatentTuning

__all__ = ["Stopped", "Walk"]


class Stopped(Exception):
    """A monitor has seen enough."""


class Walk:
    """A state, the way to it, and the columns of the atoms that moves are made with.

    A rise of the objective by `tol` nats counts. The monitor is called after every step and may
    end the search there. A warm start is of active atoms, ascending, and their log precisions.
    """

    def __init__(
        self,
        problem: LatentProblem,
        tol: float,
        monitor: Monitor | None,
        warm_start: tuple[IndexArray, Vector] | None,
        tuning: LatentTuning,
    ) -> None:
        self.problem, self.tol, self.monitor, self.tuning = problem, tol, monitor, tuning
        self.stage, self.least_rise = "laplace", tuning.least_rise
        self.n_atoms = problem.dictionary.shape[1]
        nothing = np.empty(0, dtype=np.intp)
        active, log_precision = (nothing, np.empty(0)) if warm_start is None else warm_start
        columns = problem.dictionary.columns(active % max(self.n_atoms, 1))
        self.state: LatentState = problem.evaluate(active, log_precision, columns)
        if problem.signs is not None:
            self.state = problem.without_wrong(self.state, columns)
        if not np.isfinite(self.state.objective):  # nothing to climb from
            self.state = problem.evaluate(nothing, log_precision[:0], columns[:, :0])
        self.hold(active)
        self.trace = [self.state.objective]

    # ------------------------------------------------------------------ columns

    def hold(self, atoms: IndexArray) -> None:
        """Work with some atoms, numbered by block, and those that are active."""
        atoms = np.union1d(atoms, self.state.active)
        self.working = self.problem.split(atoms)
        self.held = np.unique(atoms % max(self.n_atoms, 1))
        self.atoms: Matrix = self.problem.dictionary.columns(self.held)

    def columns(self, active: IndexArray) -> Matrix:
        """Columns of atoms that are held, whatever their block."""
        if self.problem.n_blocks == 1 and len(active) == len(self.held):
            return self.atoms
        return self.atoms[:, np.searchsorted(self.held, active % max(self.n_atoms, 1))]

    def bounds(self, active: IndexArray) -> tuple[Vector, Vector]:
        """Smallest and largest log precisions that are tried for some atoms that are held.

        Beyond a factor of e^30 over the smallest an atom has no influence.
        """
        least = self.problem.least_log_precision(self.columns(active))
        return least, least + 30.0

    # ------------------------------------------------------------------ moves

    def accept(
        self, active: IndexArray, log_precision: Vector, start: Vector | None = None
    ) -> bool:
        """Move to a model, less the atoms of the wrong sign, if its objective is higher."""
        start = self.state.start_for(active) if start is None else start
        columns = self.columns(active)
        trial = self.problem.evaluate(active, log_precision, columns, start)
        if self.problem.signs is not None:
            trial = self.problem.without_wrong(trial, columns)
        if not trial.objective > self.state.objective + self.least_rise:
            return False
        self.state = trial
        self.trace.append(trial.objective)
        if self.monitor is not None and self.monitor(
            Progress(self.stage, len(self.trace) - 1, trial.objective, len(trial.active))
        ):
            raise Stopped
        return True

    def step_towards(self, active: IndexArray, log_precision: Vector) -> bool:
        """Go towards a proposal as far as the objective rises; False if it does not."""
        for share in self.tuning.shares:
            trial, value = active, log_precision
            if share < 1.0:
                trial, value = self._between(active, log_precision, share)
            if self.accept(trial, value):
                return True
        return False

    def _between(
        self, active: IndexArray, log_precision: Vector, share: float
    ) -> tuple[IndexArray, Vector]:
        """Go part of the way to another model, on the straight line of prior variances."""
        here = self.state
        union = np.union1d(here.active, active)
        variance = np.zeros(len(union))
        variance[np.searchsorted(union, here.active)] = (1.0 - share) * np.exp(-here.log_precision)
        variance[np.searchsorted(union, active)] += share * np.exp(-log_precision)
        return union, -np.log(variance)

    def enter(self, units: IndexArray, log_precision: Vector) -> tuple[IndexArray, Vector]:
        """Return the model with some units, none of which it has, put in."""
        new = self.problem.expanded(units)
        active = np.concatenate([self.state.active, new])
        order = np.argsort(active)
        values = np.tile(log_precision, self.problem.tied)
        return active[order], np.concatenate([self.state.log_precision, values])[order]

    def remove_one(self, most: int = 2, hopeless: float = np.inf) -> bool:
        """Drop the unit whose loss is least, or the next, if the objective rises by that."""
        problem, state = self.problem, self.state
        if not len(state.active):
            return False
        loss = problem.removal_loss(state)
        hopeless += 2.0 * problem.tied * float(np.max(problem.prior.penalty))
        units = np.arange(len(state.active)) % len(loss)
        for place in np.argsort(loss)[:most]:
            if loss[place] > hopeless:
                return False
            rest = units != place
            if self.accept(state.active[rest], state.log_precision[rest]):
                return True
        return False

    def settle_precisions(self, tol: float) -> None:
        """Take steps of which regressions of single blocks know nothing.

        MacKay's fixed point with all blocks and penalties in it, then removals that pay.
        """
        for _ in range(self.tuning.rounds):
            if not len(self.state.active):
                return
            before = self.state.objective
            moved = self.step_towards(self.state.active, self.fixed_point())
            removed = self.remove_one(hopeless=self.tuning.hopeless)
            if not removed and (not moved or self.state.objective - before < tol):
                return

    def fixed_point(self) -> Vector:
        """Log precisions that MacKay's rule gives, every latent function bounded."""
        mode, k = self.state.mode, len(self.state.active)
        drive = 2.0 * self.problem.gradient(self.state, exact=False)
        square = self.problem.pooled(mode.weights[:k] ** 2)
        determined = self.problem.pooled(drive) + mode.hessian.precision[:k] * square
        ratio = np.maximum(determined, 1e-12) / np.maximum(square, 1e-300)
        return np.clip(np.log(ratio), *self.bounds(self.state.active))

    def steepest(self, *, exact: bool) -> float:
        """Largest derivative in the log precision of a unit that is not at a bound."""
        least, most = self.bounds(self.state.active)
        value = self.state.log_precision
        inner = (value > least + 1e-6) & (not exact or value < most - 1e-6)
        gradient = self.problem.pooled(self.problem.gradient(self.state, exact=exact))
        return float(np.abs(gradient[inner]).max(initial=0.0))
