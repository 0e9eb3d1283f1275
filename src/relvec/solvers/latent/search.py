"""Monotone search for the Laplace evidence: regression steps at fixed curvature, each checked.

The ascent of the regression that a block looks like proposes a new active set with new
precisions; a step towards it is taken only as far as the Laplace evidence itself rises. So the
objective never falls and, being bounded, converges, where updates without the check need not.
Several blocks are proposed for at once, each as if the others were held; what that leaves undone is
done with the covariance of all weights, by `relvec.solvers.latent.entries`.
"""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.solvers.base import Certificate, Monitor
from relvec.solvers.gaussian.ascent import Schedule
from relvec.solvers.latent.block_steps import Proposal, look, propose
from relvec.solvers.latent.entries import enter_jointly, promising_units
from relvec.solvers.latent.problem import LatentProblem, LatentState
from relvec.solvers.latent.walk import Stopped, Walk

__all__ = ["BlockSearch"]


class BlockSearch(Walk):
    """The search at fixed curvature, for one or several blocks, through `max_iter` working sets."""

    def __init__(
        self,
        problem: LatentProblem,
        tol: float,
        max_iter: int,
        monitor: Monitor | None,
        warm_start: tuple[IndexArray, Vector] | None,
    ) -> None:
        super().__init__(problem, tol, monitor, warm_start)
        self.max_iter, self.is_stopped = max_iter, False
        threshold = max(float(problem.min_gain.min(initial=1e-3)), 1e-4)
        self.schedule = Schedule(threshold=threshold, gradient_tol=1e-3, max_rounds=50)
        self.loose = self.schedule._replace(threshold=0.05, polish=False)
        self._failed_at: dict[int, float] = {}
        self._seen: tuple[LatentState, list[Proposal]] | None = None
        # there are steps of which regressions of single blocks know nothing
        is_plain = problem.n_blocks == 1 and problem.signs is None
        self._needs_settling = problem.prior.is_penalised or not is_plain
        if not problem.shared:
            is_small = self.n_atoms <= self.tuning.first_atoms
            atoms = np.arange(problem.dictionary.shape[1] * problem.n_blocks)
            self.hold(atoms if is_small else self._first_atoms())

    def run(self) -> bool:
        """Search until no step brings a rise; False if cut short."""
        tol, settled_to = self.tol, 0.02
        try:
            if self.problem.shared:
                return self._run_jointly()
            start = self.state.objective
            self._settle(settled_to, first_loose=not len(self.state.active))
            for _ in range(self.max_iter):
                before, promises = self.state.objective, self._look()
                best_net = max(map(attrgetter("gain"), promises))
                if best_net > 0.0 or settled_to > tol:
                    if best_net > 0.0:
                        self.hold(np.concatenate([*map(attrgetter("atoms"), promises)]))
                    settled_to = 10.0 * tol if best_net > 0.1 else tol
                    self._settle(settled_to)
                    if self.state.objective - before >= tol or self._enter_one(promises):
                        continue
                if self.problem.n_blocks == 1 or self._finish() - start < tol:
                    return True
                start, settled_to = self.state.objective, 0.02
                self._settle(settled_to, first_loose=not len(self.state.active))
        except Stopped:
            self.is_stopped = True
        return False

    def certificate(self) -> Certificate:
        """Derivatives at fixed curvature where the search ended."""
        if self.problem.n_blocks == 1:
            best = self._look()[0].gain
        else:
            best = float(promising_units(self, self.schedule.threshold)[2].max(initial=0.0))
        return Certificate(self.steepest(exact=False), best)

    # ------------------------------------------------------------------ all blocks at once

    def _run_jointly(self) -> bool:
        """Alternate entries, precisions and removals until nothing rises."""
        for _ in range(self.max_iter):
            before = self.state.objective
            entered = enter_jointly(self, self.schedule.threshold)
            # far from the end, precisions need not be exact
            self.settle_precisions(max(self.tol, 0.1 * (self.state.objective - before)))
            if not entered:
                self.settle_precisions(self.tol)
            if self.state.objective - before < self.tol:
                return True
        return False

    def _finish(self) -> float:
        """Move, remove and enter with all blocks at once; return the objective reached."""
        for _ in range(self.max_iter):
            self.settle_precisions(self.tol)
            if not enter_jointly(self, self.schedule.threshold):
                break
        return self.state.objective

    # ------------------------------------------------------------------ block by block

    def _first_atoms(self) -> IndexArray:
        """Atoms to begin with: evenly spaced among all, sorted by their slope in the evidence.

        The same in all blocks: neither their place in the dictionary nor the order of the classes
        must matter.
        """
        problem = self.problem
        pulls = self.state.mode.slope.reshape(problem.dictionary.shape[0], -1)
        slopes = problem.dictionary.rmatmat(pulls)
        order = np.argsort(np.linalg.norm(slopes, axis=1), kind="stable")
        order = order[np.isfinite(problem.min_gain[order])]
        places = np.linspace(0, len(order) - 1, self.tuning.first_atoms).astype(np.intp)
        starts = np.arange(problem.n_blocks) * self.n_atoms
        return np.add.outer(starts, np.unique(order[places])).ravel()

    def _look(self) -> list[Proposal]:
        """Screen every atom of every block at the curvature of the mode."""
        if self._seen is None or self._seen[0] is not self.state:
            threshold, most = self.schedule.threshold, self.tuning.promising
            self._seen = self.state, look(self.problem, self.state, threshold, most)
        return self._seen[1]

    def _settle(self, tol: float, *, first_loose: bool = False) -> None:
        """Take regression steps in the working set until they bring less than `tol`."""
        problem = self.problem
        for number in range(self.tuning.rounds):
            before, proposals = self.state.objective, []
            schedule = self.loose if first_loose and number < 2 else self.schedule
            responses = problem.likelihood.working_responses(self.state.mode.latent)
            for block, response in enumerate(responses):
                working, state = self.working[block], self.state
                atoms = self.columns(working)
                proposals.append(propose(problem, state, block, response, working, atoms, schedule))
            if problem.n_blocks == 1:
                active, log_precision, gain = proposals[0]
                is_worth_it = gain >= self.tuning.nothing * self.tol
                rose = is_worth_it and self.step_towards(active, log_precision)
            else:
                rose = self._take(proposals)
            if not rose or self.state.objective - before < tol:
                break
        if self._needs_settling:
            self.settle_precisions(tol)

    def _take(self, proposals: list[Proposal]) -> bool:
        """Step towards the proposals of all blocks or, if that fails, of one after the other."""
        if sum(map(attrgetter("gain"), proposals)) < self.tol:
            return False
        if len(proposals) > 2:  # two blocks say the same twice: both steps together go too far
            active = np.concatenate([*map(attrgetter("atoms"), proposals)])
            value = np.concatenate([*map(attrgetter("log_precision"), proposals)])
            if self.step_towards(active, value):
                return True
        rose = False
        for block in sorted(range(len(proposals)), key=lambda b: -proposals[b].gain):
            if proposals[block].gain < self.tol:
                break
            state = self.state
            if state.objective < self._failed_at.get(block, -np.inf) + self.tuning.patience:
                continue
            others = (state.active // self.n_atoms) != block
            active = np.concatenate([state.active[others], proposals[block].atoms])
            value = np.concatenate([state.log_precision[others], proposals[block].log_precision])
            order = np.argsort(active)
            if self.step_towards(active[order], value[order]):
                rose = True
            else:
                self._failed_at[block] = state.objective
        return rose

    def _enter_one(self, promises: list[Proposal]) -> bool:
        """Take in a single promising atom, as weakly as need be, where larger steps have failed."""
        tried = self.tuning.tried
        # the best block first: the order of the classes must not matter
        for atoms, log_precision, _ in sorted(promises, key=lambda each: -each.gain):
            for atom, wanted in zip(atoms[:tried], log_precision[:tried], strict=True):
                entering = np.array([atom])
                least, _ = self.problem.bounds(self.columns(entering))
                if least[0] > wanted or np.isin(entering, self.state.active).any():
                    continue  # one that wants more than it may have would be followed by many
                for weaker in range(self.tuning.weaker):
                    if self.accept(*self.enter(entering, wanted + weaker * np.log(8.0))):
                        return True
        return False
