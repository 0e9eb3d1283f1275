"""Monotone search for the Laplace evidence, by regression steps at fixed curvature.

At the mode, the log likelihood of a block is approximated by a quadratic: a weighted regression on
the working response (Tipping 2001, section 3, treats classification in the same way). An ascent of
the evidence of this regression yields a trial model. The search steps towards it only as far as the
Laplace evidence itself rises. So the objective never falls and, being bounded, converges; updates
without this check need not. Trial models of several blocks are found at once, each with the other
blocks held. Remaining improvements use the covariance of all weights, in
`relvec.solvers.latent.entries`.
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
    """Search at fixed curvature for one or several blocks, with at most `max_iter` working sets."""

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
        # A min_gain of zero would let atoms enter whose gain is of the size of rounding errors.
        threshold = max(float(problem.min_gain.min(initial=1e-3)), 1e-4)
        self.schedule = Schedule(threshold=threshold, gradient_tol=1e-3, max_rounds=50)
        # B changes strongly in the first steps from the empty model: an accurate maximum at its
        # present value is not needed.
        self.loose = self.schedule._replace(threshold=0.05, polish=False)
        self._failed_at: dict[int, float] = {}
        self._screened: tuple[LatentState, list[BlockCandidates]] | None = None
        # Regressions of single blocks ignore the other blocks, and penalties at the reference
        # curvature: the precisions then need further updates.
        is_plain = problem.n_blocks == 1 and problem.signs is None
        self._updates_precisions = problem.prior.is_penalised or not is_plain
        if not problem.shared:
            is_small = self.n_atoms <= self.tuning.n_initial_atoms
            atoms = np.arange(problem.dictionary.shape[1] * problem.n_blocks)
            self.load_columns(atoms if is_small else self._select_initial_atoms())

    def run(self) -> bool:
        """Search until no step raises the objective; return False if stopped early."""
        tol, step_tol = self.tol, 0.02
        try:
            if self.problem.shared:
                return self._search_jointly()
            start = self.state.objective
            self._take_regression_steps(step_tol, first_loose=not len(self.state.active))
            for _ in range(self.max_iter):
                before, candidates = self.state.objective, self._screen_blocks()
                best_net = max(map(attrgetter("gain"), candidates))
                if best_net > 0.0 or step_tol > tol:
                    if best_net > 0.0:
                        self.load_columns(np.concatenate([*map(attrgetter("atoms"), candidates)]))
                    # Convergence within a working set need not be better than the gain expected
                    # from the next.
                    step_tol = 10.0 * tol if best_net > 0.1 else tol
                    self._take_regression_steps(step_tol)
                    if self.state.objective - before >= tol or self._add_one_atom(candidates):
                        continue
                if self.problem.n_blocks == 1 or self._finish_jointly() - start < tol:
                    return True
                # The joint steps changed the model: block regressions may gain again from there.
                start, step_tol = self.state.objective, 0.02
                self._take_regression_steps(step_tol, first_loose=not len(self.state.active))
        except SearchStopped:
            self.is_stopped = True
        return False

    def certificate(self) -> Certificate:
        """Optimality conditions at fixed curvature, at the last state."""
        if self.problem.n_blocks == 1:
            best = self._screen_blocks()[0].gain
        else:
            best = float(find_candidate_units(self, self.schedule.threshold)[2].max(initial=0.0))
        return Certificate(self.find_largest_derivative(exact=False), best)

    # ------------------------------------------------------------------ all blocks at once

    def _search_jointly(self) -> bool:
        """Alternate additions, updates of precisions and removals until convergence."""
        for _ in range(self.max_iter):
            before = self.state.objective
            entered = add_units_jointly(self, self.schedule.threshold)
            # Far from convergence, precisions need not be exact.
            self.update_precisions(max(self.tol, 0.1 * (self.state.objective - before)))
            if not entered:
                self.update_precisions(self.tol)
            if self.state.objective - before < self.tol:
                return True
        return False

    def _finish_jointly(self) -> float:
        """Update precisions, remove and add units with all blocks at once; return the objective."""
        for _ in range(self.max_iter):
            self.update_precisions(self.tol)
            if not add_units_jointly(self, self.schedule.threshold):
                break
        return self.state.objective

    # ------------------------------------------------------------------ block by block

    def _select_initial_atoms(self) -> IndexArray:
        """Select the first working set: evenly spaced atoms, sorted by the norm of their gradients.

        All blocks have the same atoms. So the result depends neither on the order of the atoms nor
        on that of the classes.
        """
        problem = self.problem
        gradients = self.state.mode.slope.reshape(problem.dictionary.shape[0], -1)
        # phi'(d log p / df): at the empty model this is the quality factor q up to the norms.
        slopes = problem.dictionary.rmatmat(gradients)
        order = np.argsort(np.linalg.norm(slopes, axis=1), kind="stable")
        # Infinite penalties exclude atoms.
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
        """Take regression steps in the working set until the objective rises by less than `tol`."""
        problem = self.problem
        for number in range(self.tuning.max_regression_steps):
            before, models = self.state.objective, []
            schedule = self.loose if first_loose and number < 2 else self.schedule
            responses = problem.likelihood.working_responses(self.state.mode.latent)
            for block, response in enumerate(responses):
                working, state = self.working[block], self.state
                atoms = self.columns(working)
                models.append(
                    find_block_model(problem, state, block, response, working, atoms, schedule)
                )
            if problem.n_blocks == 1:
                active, log_precision, gain = models[0]
                # Evaluating a model needs a new mode; not for gains far below the tolerance.
                is_relevant = gain >= self.tuning.negligible_gain_fraction * self.tol
                rose = is_relevant and self.step_towards(active, log_precision)
            else:
                rose = self._step_to_models(models)
            if not rose or self.state.objective - before < tol:
                break
        if self._updates_precisions:
            self.update_precisions(tol)

    def _step_to_models(self, models: list[BlockCandidates]) -> bool:
        """Step towards the trial models of all blocks or, if that fails, of one after another."""
        if sum(map(attrgetter("gain"), models)) < self.tol:
            return False
        if (
            len(models) > 2
        ):  # both steps of two blocks have the same effect: together they overshoot
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
            # One block replaced, the others as they are: the working response of a block holds the
            # other latent functions fixed, so simultaneous steps in all blocks may overshoot.
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
        """Add one candidate, with a reduced variance if necessary, after larger steps failed."""
        tried = self.tuning.n_single_trials
        # The best block comes first, so the result does not depend on the order of the classes.
        for atoms, log_precision, _ in sorted(candidates, key=lambda each: -each.gain):
            for atom, wanted in zip(atoms[:tried], log_precision[:tried], strict=True):
                entering = np.array([atom])
                least, _ = self.problem.bounds(self.columns(entering))
                if least[0] > wanted or np.isin(entering, self.state.active).any():
                    continue  # beyond the bound on its variance, many similar atoms would follow
                # B falls as the latent values grow, so the regression overestimates the gain of
                # large variances: 8, 64, ... times smaller ones are tried.
                for weaker in range(self.tuning.n_weaker_block):
                    if self.move_if_better(
                        *self.insert_units(entering, wanted + weaker * np.log(8.0))
                    ):
                        return True
        return False
