"""Monotone search for the Laplace evidence: regression steps at fixed curvature, each checked.

The ascent of the regression that a block looks like proposes a new active set with new
precisions; a step towards it is taken only as far as the Laplace evidence itself rises. So the
objective never falls and, being bounded, converges, where updates without the check need not.
Several blocks are proposed for at once, each as if the others were held.
"""

from __future__ import annotations

from typing import Generic

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.solvers.base import Certificate, Monitor, Progress
from relvec.solvers.gaussian.ascent import Schedule
from relvec.solvers.latent.block_steps import Block, Promise, Proposal, look, propose
from relvec.solvers.latent.labels import (
    LOG_RANGE,
    AnyLabels,
    AnyMode,
    EvidenceProblem,
    EvidenceState,
    Stopped,
)

__all__ = ["BlockSearch"]

SPREAD = 192
"""Atoms of the first working set, some of every slope."""
PROMISING = 128
"""Most promising atoms that join the active ones in a later working set."""
ROUNDS = 25
"""Most regression steps in one working set."""
SHARES = (1.0, 0.4, 0.1)
"""Shares of a proposed step that are tried, one after the other."""
PATIENCE = 1.0
"""Rise of the objective, in nats, before a block whose step has failed is tried again by itself."""
HOPELESS = 6.0
"""Twice the evidence lost at fixed curvature with an atom that is not worth a try without it."""
TRIED = 5
"""Atoms that promise most, tried one by one when a step with all of them fails."""
WEAKER = 4
"""How often the variance of an entering atom is divided by eight before it is given up."""
NOTHING = 0.01
"""Share of the tolerance that, gained at fixed curvature, is not worth a look at the evidence."""
RISE = 1e-9
"""Least rise of the objective that is one."""


class BlockSearch(Generic[AnyLabels, AnyMode]):
    """The state of one search and the atoms it works with.

    Parameters
    ----------
    problem : EvidenceProblem
        What to maximise.
    tol : float
        Rise of the objective, in nats, at which to stop.
    max_iter : int
        Working sets to go through.
    monitor : callable or None
        Told of every step; returning True ends the search where it is.
    warm_start : (ndarray, ndarray) or None
        Active atoms, ascending, and their log precisions to start from.
    """

    def __init__(
        self,
        problem: EvidenceProblem[AnyLabels, AnyMode],
        tol: float,
        max_iter: int,
        monitor: Monitor | None,
        warm_start: tuple[IndexArray, Vector] | None,
    ) -> None:
        self.problem = problem
        self.tol = tol
        self.max_iter = max_iter
        self.monitor = monitor
        self.n_steps = 0
        self.is_stopped = False
        self.n_atoms = problem.dictionary.shape[1]
        active, log_precision = np.empty(0, dtype=np.intp), np.empty(0)
        if warm_start is not None:
            active, log_precision = warm_start
        self._work_with([active[:0]] * problem.n_blocks, active)
        self.state: EvidenceState[AnyMode] = problem.evaluate_allowed(
            active, log_precision, self.columns(active)
        )
        if not np.isfinite(self.state.objective):  # nothing to climb from
            self.state = problem.evaluate(active[:0], log_precision[:0], self.columns(active[:0]))
        self.trace = [self.state.objective]
        self._failed_at: dict[int, float] = {}
        self._seen: tuple[EvidenceState[AnyMode], list[Promise]] | None = None
        threshold = float(problem.min_gain.min(initial=1e-3))
        self.schedule = Schedule(threshold=max(threshold, 1e-4), gradient_tol=1e-3, max_rounds=50)
        self.loose = self.schedule._replace(threshold=0.05, polish=False)
        self._work_with([self._first_atoms()] * problem.n_blocks, self.state.active)

    def _first_atoms(self) -> IndexArray:
        """Atoms to begin with: evenly spaced among all, sorted by their slope in the evidence.

        Neither their place in the dictionary nor the order of the classes must matter.
        """
        if self.n_atoms <= SPREAD:
            return np.arange(self.n_atoms)
        problem, mode = self.problem, self.state.mode
        pulls = np.column_stack(problem.residuals(mode))
        slopes = problem.dictionary.rmatmat(pulls)
        order = np.argsort(np.linalg.norm(slopes, axis=1), kind="stable")
        order = order[np.isfinite(problem.min_gain[order])]
        places = np.linspace(0, len(order) - 1, SPREAD).astype(np.intp)
        return np.unique(order[places])

    def run(self) -> bool:
        """Go through working sets until none brings a rise; False if cut short."""
        try:
            settled_to = 0.02
            self._settle(settled_to, first_loose=not len(self.state.active))
            for _ in range(self.max_iter):
                before = self.state.objective
                promises = self.look()
                best_net = max(promise.best_net for promise in promises)
                if best_net > 0.0:
                    self._work_with([promise.atoms for promise in promises], self.state.active)
                elif settled_to <= self.tol:
                    return True
                settled_to = 10.0 * self.tol if best_net > 0.1 else self.tol
                self._settle(settled_to)
                if self.state.objective - before < self.tol and not self._enter_one(promises):
                    return True
        except Stopped:
            self.is_stopped = True
        return False

    def certificate(self) -> Certificate:
        """Derivatives at fixed curvature where the search ended."""
        gradient = self.problem.gradient(self.state.mode, exact=False)
        least = self.problem.least_log_precision(self.columns(self.state.active))
        gradient = gradient[self.state.log_precision > least + 1e-6]
        best = max(promise.best_net for promise in self.look())
        return Certificate(float(np.abs(gradient).max(initial=0.0)), best)

    def look(self) -> list[Promise]:
        """Screen every atom of every block at the curvature of the mode."""
        if self._seen is not None and self._seen[0] is self.state:
            return self._seen[1]
        problem, blocks = self.problem, self._blocks()
        if problem.smoothness and problem.is_prior:
            bounds = problem.bound_entry(self.state.mode)
            blocks = [
                block._replace(bound=bound) for block, bound in zip(blocks, bounds, strict=True)
            ]
        promises = [
            look(block, problem.dictionary, problem.min_gain, self.schedule.threshold, PROMISING)
            for block in blocks
        ]
        self._seen = self.state, promises
        return promises

    def _enter_one(self, promises: list[Promise]) -> bool:
        """Take in a single promising atom, as weakly as need be, where larger steps have failed."""
        for block, promise in enumerate(promises):
            for atom, log_precision in zip(
                promise.atoms[:TRIED], promise.log_precision[:TRIED], strict=True
            ):
                entering, value = self._numbered(block, np.array([atom]), np.array([log_precision]))
                if value[0] > log_precision or np.isin(entering, self.state.active).any():
                    continue  # one that wants more than it may have would be followed by many
                active, where = np.union1d(self.state.active, entering), entering[0]
                place = np.searchsorted(active, where)
                for weaker in range(WEAKER):
                    proposed = np.insert(
                        self.state.log_precision, place, value + weaker * np.log(8.0)
                    )
                    if self.accept(active, proposed):
                        return True
        return False

    # ------------------------------------------------------------------ working sets

    def _work_with(self, atoms: list[IndexArray], active: IndexArray) -> None:
        """Choose working sets: the given atoms of each block and those that are active."""
        self.working = [
            np.union1d(own, block) for own, block in zip(atoms, self.split(active), strict=True)
        ]
        self.atoms: list[Matrix] = []
        for number, working in enumerate(self.working):
            same = [i for i in range(number) if np.array_equal(self.working[i], working)]
            self.atoms.append(
                self.atoms[same[0]] if same else self.problem.dictionary.columns(working)
            )

    def split(self, active: IndexArray) -> list[IndexArray]:
        """Return the active atoms of each block, numbered in the dictionary."""
        starts = np.arange(self.problem.n_blocks + 1) * self.n_atoms
        ends = np.searchsorted(active, starts)
        return [active[ends[b] : ends[b + 1]] - starts[b] for b in range(len(starts) - 1)]

    def columns(self, active: IndexArray) -> Matrix:
        """Columns of active atoms, which are all in the working sets."""
        each = [
            atoms[:, np.searchsorted(working, index)]
            for atoms, working, index in zip(
                self.atoms, self.working, self.split(active), strict=True
            )
        ]
        return each[0] if len(each) == 1 else np.hstack(each)

    def _blocks(self) -> list[Block]:
        state, problem = self.state, self.problem
        actives = self.split(state.active)
        log_precisions = np.split(state.log_precision, np.cumsum([len(a) for a in actives])[:-1])
        centre, c, signs = problem.labels.has_intercept, problem.smoothness, problem.required_signs
        return [
            Block(active, log_precision, regression, centre, c, signs=signs)
            for active, log_precision, regression in zip(
                actives, log_precisions, problem.regressions(state.mode), strict=True
            )
        ]

    # ------------------------------------------------------------------ steps

    def _settle(self, tol: float, *, first_loose: bool = False) -> None:
        """Take regression steps in the working set until they bring less than `tol`."""
        for number in range(ROUNDS):
            before = self.state.objective
            schedule = self.loose if first_loose and number < 2 else self.schedule
            if not self._take(self._proposals(schedule)) or self.state.objective - before < tol:
                break
        is_signed = self.problem.required_signs is not None
        if self.problem.smoothness or self.problem.n_blocks > 1 or is_signed:
            self.settle_precisions(tol)

    def _proposals(self, schedule: Schedule) -> list[Proposal]:
        return [
            propose(block, working, atoms, self.problem.min_gain[working], schedule)
            for block, working, atoms in zip(self._blocks(), self.working, self.atoms, strict=True)
        ]

    def _take(self, proposals: list[Proposal]) -> bool:
        """Step towards the proposals of all blocks or, if that fails, of one after the other."""
        bounded = [self._numbered(block, *proposal[:2]) for block, proposal in enumerate(proposals)]
        gain = sum(proposal.gain for proposal in proposals)
        if gain < (self.tol if len(bounded) > 1 else NOTHING * self.tol):
            return False
        # two blocks say the same twice: both steps together go too far
        if len(bounded) != 2 and self.step_towards(*_joined(bounded)):
            return True
        if len(bounded) == 1:
            return False
        rose = False
        for block in sorted(range(len(bounded)), key=lambda b: -proposals[b].gain):
            if proposals[block].gain < self.tol:
                break
            if self.state.objective < self._failed_at.get(block, -np.inf) + PATIENCE:
                continue
            others = (self.state.active // self.n_atoms) != block
            model = [(self.state.active[others], self.state.log_precision[others]), bounded[block]]
            if self.step_towards(*_joined(model)):
                rose = True
            else:
                self._failed_at[block] = self.state.objective
        return rose

    def _numbered(
        self, block: int, atoms: IndexArray, log_precision: Vector
    ) -> tuple[IndexArray, Vector]:
        """Number the atoms of a block among all, their logits bounded."""
        columns = self.atoms[block][:, np.searchsorted(self.working[block], atoms)]
        least = self.problem.least_log_precision(columns)
        return atoms + block * self.n_atoms, np.maximum(log_precision, least)

    def step_towards(self, active: IndexArray, log_precision: Vector) -> bool:
        """Go towards a proposal as far as the objective rises; False if it does not."""
        for share in SHARES:
            if share == 1.0:
                trial, value = active, log_precision
            else:
                trial, value = _between(self.state, active, log_precision, share)
            if self.accept(trial, value):
                return True
        return False

    def accept(self, active: IndexArray, log_precision: Vector) -> bool:
        """Move to a model, less the atoms of the wrong sign, if its objective is higher."""
        trial = self.problem.evaluate_allowed(
            active, log_precision, self.columns(active), self.state.start_for(active)
        )
        if not trial.objective > self.state.objective + RISE:
            return False
        self.state = trial
        self.trace.append(trial.objective)
        self.n_steps += 1
        if self.monitor is not None and self.monitor(
            Progress("laplace", self.n_steps, trial.objective, len(trial.active))
        ):
            raise Stopped
        return True

    def settle_precisions(self, tol: float) -> None:
        """Take steps of which regressions of single blocks know nothing.

        MacKay's fixed point with all blocks and prices in it, then removals that pay.
        """
        for _ in range(ROUNDS):
            if not len(self.state.active):
                return
            before = self.state.objective
            moved = self.step_towards(self.state.active, self.fixed_point())
            removed = len(self.state.active) > 0 and self.remove_one()
            if not removed and (not moved or self.state.objective - before < tol):
                return

    def fixed_point(self) -> Vector:
        """Log precisions that MacKay's rule gives, every logit bounded."""
        mode, k = self.state.mode, len(self.state.active)
        drive = 2.0 * self.problem.gradient(mode, exact=False)
        square = self.pooled(mode.weights[:k] ** 2)
        determined = self.pooled(drive) + mode.precision[:k] * square
        least = self.problem.least_log_precision(self.columns(self.state.active))
        ratio = np.maximum(determined, 1e-12) / np.maximum(square, 1e-300)
        return np.clip(np.log(ratio), least, least + LOG_RANGE)

    def pooled(self, value: Vector) -> Vector:
        """Sum over the atoms that share a precision: here, none do."""
        return value

    def remove_one(self) -> bool:
        """Drop the atom whose loss is least, if the objective rises by that."""
        k, loss = len(self.state.active), self.state.removal_loss()
        for place in np.argsort(loss)[:2]:
            if loss[place] > HOPELESS + 2.0 * self.problem.smoothness:
                return False
            rest = np.delete(np.arange(k), place)
            if self.accept(self.state.active[rest], self.state.log_precision[rest]):
                return True
        return False


def _joined(models: list[tuple[IndexArray, Vector]]) -> tuple[IndexArray, Vector]:
    """Put blocks together, atoms ascending."""
    active = np.concatenate([model[0] for model in models])
    order = np.argsort(active)
    return active[order], np.concatenate([model[1] for model in models])[order]


def _between(
    state: EvidenceState[AnyMode], active: IndexArray, log_precision: Vector, share: float
) -> tuple[IndexArray, Vector]:
    """Go part of the way to another model, on the straight line of prior variances."""
    union = np.union1d(state.active, active)
    variance = np.zeros(len(union))
    variance[np.searchsorted(union, state.active)] = (1.0 - share) * np.exp(-state.log_precision)
    variance[np.searchsorted(union, active)] += share * np.exp(-log_precision)
    return union, -np.log(variance)
