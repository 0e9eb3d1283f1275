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
from relvec.solvers.latent.block_steps import BlockCandidates, find_block_model, screen_blocks
from relvec.solvers.latent.entries import add_units_jointly, find_candidate_units
from relvec.solvers.latent.monotone import MonotoneSearch, SearchStopped
from relvec.solvers.latent.problem import LatentProblem, LatentState

__all__ = ["BlockSearch"]


class BlockSearch(MonotoneSearch):
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
        self._screened: tuple[LatentState, list[BlockCandidates]] | None = None
        # there are steps of which regressions of single blocks know nothing
        is_plain = problem.n_blocks == 1 and problem.signs is None
        self._updates_precisions = problem.prior.is_penalised or not is_plain
        if not problem.shared:
            is_small = self.n_atoms <= self.tuning.n_initial_atoms
            atoms = np.arange(problem.dictionary.shape[1] * problem.n_blocks)
            self.load_columns(atoms if is_small else self._select_initial_atoms())

    def run(self) -> bool:
        """Search until no step brings a rise; False if cut short."""
        tol, settled_to = self.tol, 0.02
        try:
            if self.problem.shared:
                return self._search_jointly()
            start = self.state.objective
            self._take_regression_steps(settled_to, first_loose=not len(self.state.active))
            for _ in range(self.max_iter):
                before, candidates = self.state.objective, self._screen_blocks()
                best_net = max(map(attrgetter("gain"), candidates))
                if best_net > 0.0 or settled_to > tol:
                    if best_net > 0.0:
                        self.load_columns(np.concatenate([*map(attrgetter("atoms"), candidates)]))
                    settled_to = 10.0 * tol if best_net > 0.1 else tol
                    self._take_regression_steps(settled_to)
                    if self.state.objective - before >= tol or self._add_one_atom(candidates):
                        continue
                if self.problem.n_blocks == 1 or self._finish_jointly() - start < tol:
                    return True
                start, settled_to = self.state.objective, 0.02
                self._take_regression_steps(settled_to, first_loose=not len(self.state.active))
        except SearchStopped:
            self.is_stopped = True
        return False

    def certificate(self) -> Certificate:
        """Derivatives at fixed curvature where the search ended."""
        if self.problem.n_blocks == 1:
            best = self._screen_blocks()[0].gain
        else:
            best = float(find_candidate_units(self, self.schedule.threshold)[2].max(initial=0.0))
        return Certificate(self.find_largest_derivative(exact=False), best)

    # ------------------------------------------------------------------ all blocks at once

    def _search_jointly(self) -> bool:
        """Alternate entries, precisions and removals until nothing rises."""
        for _ in range(self.max_iter):
            before = self.state.objective
            entered = add_units_jointly(self, self.schedule.threshold)
            # far from the end, precisions need not be exact
            self.update_precisions(max(self.tol, 0.1 * (self.state.objective - before)))
            if not entered:
                self.update_precisions(self.tol)
            if self.state.objective - before < self.tol:
                return True
        return False

    def _finish_jointly(self) -> float:
        """Move, remove and enter with all blocks at once; return the objective reached."""
        for _ in range(self.max_iter):
            self.update_precisions(self.tol)
            if not add_units_jointly(self, self.schedule.threshold):
                break
        return self.state.objective

    # ------------------------------------------------------------------ block by block

    def _select_initial_atoms(self) -> IndexArray:
        """Atoms to begin with: evenly spaced among all, sorted by their slope in the evidence.

        The same in all blocks: neither their place in the dictionary nor the order of the classes
        must matter.
        """
        problem = self.problem
        pulls = self.state.mode.slope.reshape(problem.dictionary.shape[0], -1)
        slopes = problem.dictionary.rmatmat(pulls)
        order = np.argsort(np.linalg.norm(slopes, axis=1), kind="stable")
        order = order[np.isfinite(problem.min_gain[order])]
        places = np.linspace(0, len(order) - 1, self.tuning.n_initial_atoms).astype(np.intp)
        starts = np.arange(problem.n_blocks) * self.n_atoms
        return np.add.outer(starts, np.unique(order[places])).ravel()

    def _screen_blocks(self) -> list[BlockCandidates]:
        """Screen every atom of every block at the curvature of the mode."""
        if self._screened is None or self._screened[0] is not self.state:
            threshold, most = self.schedule.threshold, self.tuning.working_set_size
            self._screened = self.state, screen_blocks(self.problem, self.state, threshold, most)
        return self._screened[1]

    def _take_regression_steps(self, tol: float, *, first_loose: bool = False) -> None:
        """Take regression steps in the working set until they bring less than `tol`."""
        problem = self.problem
        for number in range(self.tuning.max_regression_steps):
            before, models = self.state.objective, []
            schedule = self.loose if first_loose and number < 2 else self.schedule
            responses = problem.likelihood.responses(self.state.mode.latent)
            for block, response in enumerate(responses):
                working, state = self.working[block], self.state
                atoms = self.columns(working)
                models.append(
                    find_block_model(problem, state, block, response, working, atoms, schedule)
                )
            if problem.n_blocks == 1:
                active, log_precision, gain = models[0]
                is_worth_it = gain >= self.tuning.negligible_gain_fraction * self.tol
                rose = is_worth_it and self.step_towards(active, log_precision)
            else:
                rose = self._step_to_models(models)
            if not rose or self.state.objective - before < tol:
                break
        if self._updates_precisions:
            self.update_precisions(tol)

    def _step_to_models(self, models: list[BlockCandidates]) -> bool:
        """Step towards the proposals of all blocks or, if that fails, of one after the other."""
        if sum(map(attrgetter("gain"), models)) < self.tol:
            return False
        if len(models) > 2:  # two blocks say the same twice: both steps together go too far
            active = np.concatenate([*map(attrgetter("atoms"), models)])
            value = np.concatenate([*map(attrgetter("log_precision"), models)])
            if self.step_towards(active, value):
                return True
        rose = False
        for block in sorted(range(len(models)), key=lambda b: -models[b].gain):
            if models[block].gain < self.tol:
                break
            state = self.state
            if state.objective < self._failed_at.get(block, -np.inf) + self.tuning.min_retry_rise:
                continue
            others = (state.active // self.n_atoms) != block
            active = np.concatenate([state.active[others], models[block].atoms])
            value = np.concatenate([state.log_precision[others], models[block].log_precision])
            order = np.argsort(active)
            if self.step_towards(active[order], value[order]):
                rose = True
            else:
                self._failed_at[block] = state.objective
        return rose

    def _add_one_atom(self, candidates: list[BlockCandidates]) -> bool:
        """Take in a single promising atom, as weakly as need be, where larger steps have failed."""
        tried = self.tuning.n_single_trials
        # the best block first: the order of the classes must not matter
        for atoms, log_precision, _ in sorted(candidates, key=lambda each: -each.gain):
            for atom, wanted in zip(atoms[:tried], log_precision[:tried], strict=True):
                entering = np.array([atom])
                least, _ = self.problem.bounds(self.columns(entering))
                if least[0] > wanted or np.isin(entering, self.state.active).any():
                    continue  # one that wants more than it may have would be followed by many
                for weaker in range(self.tuning.n_weaker_block):
                    if self.move_if_better(
                        *self.insert_units(entering, wanted + weaker * np.log(8.0))
                    ):
                        return True
        return False
