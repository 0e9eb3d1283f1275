"""Backward elimination under penalties, starting from the solution without penalties.

Under a penalty the empty model is a local maximum, and often the only one that a forward search
finds: several atoms together may gain more than their penalties although no single one does. The
solution without penalties contains them all. Its precisions are maximised again under the
penalties. Then atoms are removed one by one until none is left, and the best model on this path is
kept. A second path, by way of smaller penalties, visits models that the direct path misses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from relvec._typing import BoolArray, IndexArray, Vector
from relvec.priors import BoundFlat, BoundSmoothness
from relvec.solvers.base import Monitor, Progress
from relvec.solvers.latent.monotone import SearchStopped
from relvec.solvers.latent.precisions import maximise_precisions
from relvec.solvers.latent.problem import LatentProblem, LatentState
from relvec.solvers.latent.search import BlockSearch
from relvec.solvers.latent.tuning import LatentTuning

__all__ = ["BackwardElimination", "find_backward_start", "has_penalties", "remove_one_by_one"]


class BackwardElimination:
    """Backward elimination for one problem; the monitor is called after every step."""

    def __init__(self, problem: LatentProblem, monitor: Monitor | None = None) -> None:
        self.problem, self.monitor, self.tuning = problem, monitor, LatentTuning()
        self.n_atoms, self.n_steps = problem.dictionary.shape[1], 0

    def prune(self, start: LatentState) -> LatentState:
        """Remove the units of a model one after the other; return the best model on this path.

        `start` gives atoms and precisions; it may belong to a problem with other penalties.
        """
        state = best = self._maximise_precisions(
            self._restrict(start, np.ones(len(start.active), dtype=bool))
        )
        # Without penalties a smaller model has less evidence. So the objective of this model plus
        # all its penalties bounds that of every smaller model.
        while len(state.active) and state.objective + self._penalties(state) > best.objective:
            state = self._maximise_precisions(self._remove_weakest(state))
            if state.objective > best.objective:
                best = state
        empty = self._restrict(state, np.zeros(len(state.active), dtype=bool))
        return max(best, empty, key=_objective)

    def find_better_without_one(self, state: LatentState) -> LatentState | None:
        """Return a better model with one unit less and its precisions maximised, or None."""
        tuning = self.tuning
        trials = [
            self._drop(state, [place])
            for place in self._order_by_loss(state)[: tuning.n_final_trials]
        ]
        # At unchanged precisions the objective of a trial is a lower bound of what it reaches after
        # maximisation; trials are maximised in this order, and not at all below
        # max_recoverable_loss.
        for trial in sorted(trials, key=_objective, reverse=True):
            if trial.objective < state.objective - tuning.max_recoverable_loss:
                break
            trial = self._maximise_precisions(trial)
            if trial.objective > state.objective + tuning.min_improvement:
                return trial
        return None

    # ------------------------------------------------------------------ steps

    def _remove_weakest(self, state: LatentState) -> LatentState:
        """Remove the unit of smallest loss, or several if there are many."""
        order = self._order_by_loss(state)
        # Losses at fixed curvature are additive only for weakly correlated units: a small fraction
        # at once.
        n_bulk = len(order) // self.tuning.bulk_divisor
        if n_bulk > 1:
            return self._drop(state, order[:n_bulk])
        trials = [self._drop(state, [place]) for place in order[: self.tuning.n_removal_trials]]
        return max(trials, key=_objective)

    def _remove_negligible(self, state: LatentState) -> LatentState:
        """Remove units with large precisions, which have hardly any degrees of freedom."""
        # A unit has n_tied weights: its degrees of freedom are the sum of their gamma.
        degrees = state.mode.hessian.degrees_of_freedom.reshape(self.problem.n_tied, -1).sum(axis=0)
        negligible = np.flatnonzero(degrees < self.tuning.negligible_dof).tolist()
        trial = self._drop(state, negligible) if negligible else state
        return trial if trial.objective > state.objective - self.tuning.min_improvement else state

    def _penalties(self, state: LatentState) -> float:
        """Sum of the penalties of a model, on degrees of freedom and on units."""
        problem = self.problem
        degrees = problem.get_penalty_hessian(state.mode).degrees_of_freedom
        # min_gain counts once per unit, while the active set lists each of its n_tied weights.
        entries = float(problem.min_gain[state.active % self.n_atoms].sum()) / problem.n_tied
        return float((problem.penalty_of(state.active) * degrees).sum()) + entries

    def _order_by_loss(self, state: LatentState) -> list[int]:
        """Sort the units by the objective lost with them, smallest first."""
        loss = self.problem.removal_loss(state)
        atoms = state.active[: len(loss)] % self.n_atoms
        # The loss is twice the evidence, so the entry penalty that a removal saves counts twice as
        # well.
        order: list[int] = np.argsort(loss - 2.0 * self.problem.min_gain[atoms]).tolist()
        return order

    def _drop(self, state: LatentState, places: list[int]) -> LatentState:
        """Evaluate the model without some units."""
        n_units = len(state.active) // self.problem.n_tied
        # Weights are ordered block by block: position modulo n_units is the unit.
        return self._restrict(state, ~np.isin(np.arange(len(state.active)) % n_units, places))

    def _restrict(self, state: LatentState, kept: BoolArray) -> LatentState:
        """Evaluate the model with some of the atoms of another model."""
        problem, active = self.problem, state.active[kept]
        columns = problem.dictionary.columns(active % self.n_atoms)
        least, most = problem.bounds(columns)
        # The model may come from a problem with other penalties, hence other precisions: they must
        # lie within the bounds before the mode is computed.
        value = np.clip(state.log_precision[kept], least, most)
        trial = problem.evaluate(active, value, columns, state.get_initial_weights(active))
        return trial if problem.signs is None else problem.remove_wrong_signs(trial, columns)

    def _maximise_precisions(self, state: LatentState) -> LatentState:
        """Maximise over the precisions of a model; the result is never worse."""
        problem, tuning, active = self.problem, self.tuning, state.active
        if len(active):
            columns = problem.dictionary.columns(active % self.n_atoms)
            new_precision, weights = maximise_precisions(
                problem, state, columns, max_iter=tuning.precision_steps, ftol=tuning.precision_tol
            )
            trial = problem.evaluate(active, new_precision, columns, weights)
            if problem.signs is not None:
                trial = problem.remove_wrong_signs(trial, columns)
            # L-BFGS runs without the checks of signs and credibility, so its result may be
            # inadmissible (objective minus infinity): the previous state is then kept.
            state = self._remove_negligible(max(trial, state, key=_objective))
        self.n_steps += 1
        if self.monitor is not None and self.monitor(
            Progress("backward", self.n_steps, state.objective, len(state.active))
        ):
            raise SearchStopped
        return state


def _objective(state: LatentState) -> float:
    return state.objective


def find_backward_start(
    problem: LatentProblem, tol: float, max_iter: int, monitor: Monitor | None
) -> tuple[tuple[IndexArray, Vector], bool]:
    """Find an initialisation by backward elimination.

    Two backward paths start from the solution without penalties: one under the full penalties, the
    other through stages of increasing penalties, each starting from the result of the previous
    stage. Returns atoms and log precisions of the best model, and whether the monitor stopped.
    """
    # Infinite penalties exclude atoms from the model and must stay; the others are lowered to the
    # tolerance.
    free = np.where(np.isinf(problem.min_gain), np.inf, np.minimum(problem.min_gain, tol))
    unpenalised = replace(problem, prior=BoundFlat(), min_gain=free)
    # Only a starting point: a looser tolerance suffices.
    flat = BlockSearch(unpenalised, 10.0 * tol, max_iter, monitor, None)
    flat.run()
    states, state, is_stopped = [flat.state], flat.state, flat.is_stopped
    with suppress(SearchStopped):
        if not is_stopped:
            # Remains True if SearchStopped leaves the block early.
            is_stopped = True
            states = [
                _run_search(problem, start, tol, max_iter, monitor) for start in (None, flat.state)
            ]
            states.append(BackwardElimination(problem, monitor).prune(flat.state))
            for stage in _stages(problem):
                state = BackwardElimination(stage, monitor).prune(state)
                state = _run_search(stage, state, tol, max_iter, monitor)
            if state is not flat.state:
                states.append(BackwardElimination(problem, monitor).prune(state))
            is_stopped = False
    best = max(states, key=_objective)
    return (best.active, best.log_precision), is_stopped


def _run_search(
    problem: LatentProblem,
    start: LatentState | None,
    tol: float,
    max_iter: int,
    monitor: Monitor | None,
) -> LatentState:
    """Return the result of a search from the atoms of a model, or from no atoms."""
    warm_start = None if start is None else (start.active, start.log_precision)
    search = BlockSearch(problem, tol, max_iter, monitor, warm_start)
    search.run()
    if search.is_stopped:
        raise SearchStopped
    return search.state


def remove_one_by_one(search: BlockSearch) -> bool:
    """Continue a search until no model with one unit less is better, precisions maximised.

    Returns False if it was stopped early.
    """
    elimination = BackwardElimination(search.problem, search.monitor)
    try:
        for _ in range(search.max_iter):
            before = search.state
            while (better := elimination.find_better_without_one(search.state)) is not None:
                if not search.move_if_better(
                    better.active, better.log_precision, better.mode.weights
                ):
                    break
            if search.state is before:
                return True
            if not search.run():
                return False
    except SearchStopped:
        search.is_stopped = True
    return False


def has_penalties(problem: LatentProblem) -> bool:
    """Return whether degrees of freedom or atoms have more than negligible penalties."""
    return bool(_largest_penalty(problem) > LatentTuning().negligible_penalty)


def _largest_penalty(problem: LatentProblem) -> float:
    """Largest sum of the penalties of an atom and of its degree of freedom."""
    each = problem.min_gain + problem.prior.penalty
    return float(each[np.isfinite(each)].max(initial=0.0))


def _stages(problem: LatentProblem) -> Iterator[LatentProblem]:
    """Yield the problem with the penalties of AIC and BIC, if they are smaller than its own.

    AIC penalises a degree of freedom by 1, BIC by ``log(N) / 2``. Penalties on atoms alone need no
    stages: on columns they never led to a better model.
    """
    if not problem.prior.is_penalised:
        return
    largest = _largest_penalty(problem)
    for criterion in (1.0, 0.5 * math.log(max(problem.likelihood.total_weight, 1.0))):
        if criterion < largest:
            # Both kinds of penalty are scaled by one factor, which keeps their ratios between
            # atoms.
            share = criterion / largest
            prior = BoundSmoothness(share * problem.prior.penalty)
            yield replace(problem, prior=prior, min_gain=share * problem.min_gain)
