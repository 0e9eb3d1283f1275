"""Moves that no single step can make: swap one atom for another, merge two into one.

At a maximum of the evidence no atom can enter, leave or change its precision with profit,
yet two neighbours may stand where one atom between them would do better: taking either out
costs more than the other can make up for. Here every such move is valued exactly, the
other precisions held, and the most promising ones are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.ascent import settle
from relvec.solvers.gaussian.newton import THETA_MAX, THETA_MIN, Objective, Point, evaluate
from relvec.solvers.gaussian.shifts import shifts
from relvec.solvers.gaussian.state import State, objective_of
from relvec.solvers.gaussian.tuning import DEFAULT, SearchTuning

Visited = set[tuple[int, ...]]
"""Active sets that were looked at already."""


class Move(NamedTuple):
    """Some atoms leave, one comes in."""

    leaving: IndexArray
    entering: int
    theta: float
    value: float
    """Change of the objective with all other precisions held."""


def improve(
    problem: Problem,
    state: State,
    climb: Callable[[State], State],
    visited: Visited,
    tuning: SearchTuning = DEFAULT,
) -> State:
    """Shift, swap and merge atoms of an end state for as long as that leads higher.

    Parameters
    ----------
    problem : Problem
        What is maximised.
    state : State
        An end state.
    climb : callable
        Ascends from a start to an end state.
    visited : set
        Active sets seen by earlier calls: nothing is done twice. Grows.
    tuning : SearchTuning
        How much to try.
    """
    for _ in range(tuning.max_moves):
        key = tuple(state.active)
        if key in visited or not len(key):
            break
        visited.add(key)
        better = _best_shift(problem, state, visited, tuning)
        if better is None and not state.polished:
            state = climb(state)
            if tuple(state.active) != key:
                continue
        better = better or _best_swap(problem, state, climb, visited, tuning)
        if better is None:
            break
        state = better
    return state if state.polished else climb(state)


def _best_shift(
    problem: Problem, state: State, visited: Visited, tuning: SearchTuning
) -> State | None:
    """Return the first better model among the most promising shifts."""
    if len(state.active) > tuning.max_atoms:
        return None
    found = shifts(problem, state, problem.noise_variance, tuning)
    n_tried = 0
    for active, theta, value in zip(*found, strict=True):
        order = np.argsort(active)
        if n_tried >= tuning.shifts or value < state.objective - tuning.shift_slack:
            break
        if tuple(active[order]) in visited:
            continue
        n_tried += 1
        end = settle(problem, State(active[order], theta[order]), problem.noise_variance)
        if end.objective > state.objective + tuning.worthwhile:
            return end
        visited.add(tuple(active[order]))
    return None


def _best_swap(
    problem: Problem,
    state: State,
    climb: Callable[[State], State],
    visited: Visited,
    tuning: SearchTuning,
) -> State | None:
    """Return the first better model among the most promising swaps and merges."""
    n_tried = 0
    for move in proposals(problem, state, problem.noise_variance, tuning):
        start = applied(move, state)
        key = tuple(start.active)
        if key in visited:
            continue
        if n_tried >= tuning.swaps:
            break
        n_tried += 1
        visited.add(key)
        end = climb(start)
        if end.objective > state.objective + tuning.worthwhile and not end.saturated:
            return end
    return None


def applied(move: Move, state: State) -> State:
    """Make the move; the result has yet to be evaluated."""
    stays = ~np.isin(state.active, move.leaving)
    where = int(np.searchsorted(state.active[stays], move.entering))
    return State(
        np.insert(state.active[stays], where, move.entering),
        np.insert(state.theta[stays], where, move.theta),
    )


def proposals(
    problem: Problem,
    state: State,
    noise_variance: float | None,
    tuning: SearchTuning = DEFAULT,
) -> list[Move]:
    """List swaps and merges worth trying, the most valuable first."""
    objective = objective_of(problem, noise_variance)
    active = state.active
    if not len(active):
        return []
    moments = problem.moments
    point = evaluate(
        moments.gram(active), moments.correlation[active], state.theta, objective.take(active)
    )
    if point is None:
        return []
    known = _Landscape(problem, objective, active, point)
    sets = [np.array([j]) for j in range(len(active))]
    sets += [np.array(pair) for pair in _neighbours(known.gram, tuning.partners)]
    gain, lam, loss = known.without(sets)
    moves = []
    for number, leaving in enumerate(sets):
        best = int(np.argmax(gain[number]))
        value = float(gain[number, best]) - loss[number]
        if value > tuning.hopeless:
            theta = min(max(float(np.log(lam[number, best])), THETA_MIN), THETA_MAX)
            moves.append(Move(active[leaving], best, theta, value))
    return sorted(moves, key=lambda move: -move.value)


def _neighbours(gram: Matrix, count: int) -> list[tuple[int, int]]:
    """Pairs of active atoms that are most alike."""
    alike = np.abs(gram)
    np.fill_diagonal(alike, -1.0)
    nearest = np.argsort(-alike, axis=1, kind="stable")[:, : min(count, len(gram) - 1)]
    return sorted({(min(i, int(j)), max(i, int(j))) for i, row in enumerate(nearest) for j in row})


class _Landscape:
    """What every atom would bring to a model from which some of its atoms are taken out."""

    def __init__(
        self, problem: Problem, objective: Objective, active: IndexArray, point: Point
    ) -> None:
        moments = problem.moments
        self.problem, self.objective, self.active = problem, objective, active
        self.gram = moments.gram(active)
        self.lam = point.lam
        self.quadratic = point.quadratic
        rows = moments.rows(active)
        self.covariance = point.covariance
        self.mean = self.covariance @ moments.correlation[active]
        self.weights = self.covariance @ rows
        self.s = 1.0 - np.einsum("ij,ij->j", rows, self.weights)
        self.q = moments.correlation - self.mean @ rows
        c = objective.prior.penalty
        self.penalty = None
        if objective.prior.is_penalised:
            # one penalty of all atoms multiplies sums, not their terms
            self.common, relative = (c, 1.0) if isinstance(c, float) else (1.0, c)
            self.penalty = np.broadcast_to(relative, self.s.shape)
            self.charged = self.penalty[active] * self.lam
            self.shrinking = self.covariance * self.charged
            self.weighted = self.shrinking @ self.weights
            self.taken_up = self.charged @ self.weights**2

    def without(self, sets: list[IndexArray]) -> tuple[Matrix, Matrix, Vector]:
        """Best gain of every atom without each set of atoms, its ``lam``, and the set's loss.

        Spec: with ``S`` the covariance, ``B`` the set, ``T = S_BB^-1``, ``y = T S_B G``::

            s' = s + y' S_B G,   q' = q + mu_B' y,   R' = R + mu_B' T mu_B
            log|K'| = log|K| + log|S_BB| + sum log lam_B
        """
        n, _, prior, noise = self.objective
        density, of_active = None, prior.take(self.active)
        if prior.has_density:
            density = of_active.log_density(np.log(self.lam), noise)
        n_atoms = len(self.s)
        s, q, w = (np.empty((len(sets), n_atoms)) for _ in range(3))
        quadratic = np.empty((len(sets), 1))
        loss = np.empty(len(sets))
        price = self.problem.min_gain
        for number, out in enumerate(sets):
            block = self.covariance[np.ix_(out, out)]
            inverse = np.linalg.inv(block)
            here, mean = self.weights[out], self.mean[out]
            y = inverse @ here
            s[number] = self.s + np.einsum("ij,ij->j", here, y)
            q[number] = self.q + mean @ y
            quadratic[number] = self.quadratic + mean @ inverse @ mean
            log_det = np.linalg.slogdet(block)[1] + np.log(self.lam[out]).sum()
            if noise is None:
                fit = n * np.log(quadratic[number, 0] / self.quadratic)
            else:
                fit = (quadratic[number, 0] - self.quadratic) / noise
            loss[number] = 0.5 * (fit + log_det) - price[self.active[out]].sum()
            if density is not None:
                loss[number] += density[out].sum()
            if self.penalty is not None:
                rest = self.shrinking[out] @ self.covariance[:, out]
                w[number] = self.penalty * s[number] - (
                    self.taken_up
                    - 2.0 * np.einsum("ij,ij->j", self.weighted[out], y)
                    + np.einsum("ij,ik,kj->j", y, rest, y)
                )
                # the penalty on degrees of freedom the set takes with it: those it has, and
                # those it takes from the others
                half = 0.5 * np.add.outer(
                    self.penalty[self.active[out]], self.penalty[self.active[out]]
                )
                loss[number] -= self.common * np.trace(inverse @ (half * block - rest))
        charge = None if self.penalty is None else self.common * w
        gain, lam = prior.best(s, q, charge, quadratic, n, noise)
        usable = self.problem.moments.usable & (s > self.problem.moments.resolution)
        gain = np.where(usable, gain - price, -np.inf)
        gain[:, self.active] = -np.inf
        return gain, lam, loss
