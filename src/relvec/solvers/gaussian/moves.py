"""Moves between local optima: swap one atom for another, merge two atoms into one.

At a local maximum of the evidence no addition, removal or change of a precision raises the
objective. Still, one atom may do better than two neighbouring ones: removing either of the two
loses more than the other one can compensate. Here the objective after every such move is computed
exactly with the other precisions held, and the best moves are tried.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.priors import Statistics
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.ascent import maximise_precisions
from relvec.solvers.gaussian.newton import THETA_MAX, THETA_MIN, Point
from relvec.solvers.gaussian.shifts import find_shifts, find_unique_pairs
from relvec.solvers.gaussian.state import State, build_objective, evaluate_state
from relvec.solvers.gaussian.tuning import DEFAULT, SearchTuning

Visited = set[tuple[int, ...]]
"""Active sets that were examined already."""


def improve_by_moves(
    problem: Problem,
    state: State,
    ascend_from: Callable[[State], State],
    visited: Visited,
    tuning: SearchTuning = DEFAULT,
) -> State:
    """Shift, swap and merge atoms of a local optimum as long as the objective rises.

    Parameters
    ----------
    problem : Problem
        The problem that is solved.
    state : State
        A local optimum.
    ascend_from : callable
        Takes an initial state to a local optimum.
    visited : set
        Active sets examined by earlier calls, which are skipped. Extended in place.
    tuning : SearchTuning
        Limits on the moves that are tried.
    """
    for _ in range(tuning.max_moves):
        key = tuple(state.active)
        if key in visited or not len(key):
            break
        visited.add(key)
        better = _best_shift(problem, state, visited, tuning)
        if better is None and not state.polished:
            state = ascend_from(state)
            if tuple(state.active) != key:
                continue
        better = better or _best_swap(problem, state, ascend_from, visited, tuning)
        if better is None:
            break
        state = better
    return state if state.polished else ascend_from(state)


def _best_shift(
    problem: Problem, state: State, visited: Visited, tuning: SearchTuning
) -> State | None:
    """Return the first better model among the best shifts; None if there is none."""
    if len(state.active) > tuning.max_moved_atoms:
        return None
    try:
        found = find_shifts(problem, state, tuning)
    except np.linalg.LinAlgError:
        return None
    n_tried = 0
    for active, theta, value in zip(*found, strict=True):
        order = np.argsort(active)
        if n_tried >= tuning.max_shifts or value < state.objective - tuning.max_shift_loss:
            break
        if tuple(active[order]) in visited:
            continue
        n_tried += 1
        end = maximise_precisions(problem, State(active[order], theta[order]))
        if end.objective > state.objective + tuning.min_improvement:
            return end
        visited.add(tuple(active[order]))
    return None


def _best_swap(
    problem: Problem,
    state: State,
    ascend_from: Callable[[State], State],
    visited: Visited,
    tuning: SearchTuning,
) -> State | None:
    """Return the first better model among the best swaps and merges; None if there is none."""
    n_tried = 0
    for start in find_swaps(problem, state, tuning):
        key = tuple(start.active)
        if key in visited:
            continue
        if n_tried >= tuning.max_swaps:
            break
        n_tried += 1
        visited.add(key)
        end = ascend_from(start)
        if end.objective > state.objective + tuning.min_improvement and not end.reached_max_active:
            return end
    return None


def find_swaps(problem: Problem, state: State, tuning: SearchTuning = DEFAULT) -> list[State]:
    """List the models after promising swaps and merges, those of highest objective first.

    A swap removes one atom, a merge two similar atoms; another atom enters with its best precision.
    The objective of each model is exact with all other precisions held.
    """
    active, point = state.active, evaluate_state(problem, state)
    if point is None or not len(active):
        return []
    similarity = np.abs(problem.moments.gram(active))
    # Below every absolute correlation: an atom is not its own neighbour.
    np.fill_diagonal(similarity, -1.0)
    count = min(tuning.n_merge_partners, len(active) - 1)
    nearest = np.argsort(-similarity, axis=1, kind="stable")[:, :count]
    sets = [*np.arange(len(active))[:, None], *find_unique_pairs(nearest)]
    gain, lam, loss = _evaluate_without(problem, active, point, sets)
    best = np.argmax(gain, axis=1)
    value = gain[np.arange(len(sets)), best] - loss
    found = []
    for number in np.argsort(-value, kind="stable"):
        if value[number] > tuning.min_swap_value:
            stays, theta = np.delete(active, sets[number]), np.delete(state.theta, sets[number])
            entering = int(best[number])
            where = int(np.searchsorted(stays, entering))
            log_lam = min(max(float(np.log(lam[number, entering])), THETA_MIN), THETA_MAX)
            active_after = np.insert(stays, where, entering)
            theta_after = np.insert(theta, where, log_lam)
            found.append(State(active_after, theta_after, state.objective + float(value[number])))
    return found


def _evaluate_without(
    problem: Problem, active: IndexArray, point: Point, sets: list[IndexArray]
) -> tuple[Matrix, Matrix, Vector]:
    """Compute the gain of every inactive atom in the model without each set of active atoms.

    Returns the best gain of every atom, its best ``lam``, and the objective lost with each set.

    With ``S`` the posterior covariance, ``B`` the set, ``T = S_BB^-1`` and ``y = T S_B G``, the
    statistics of the other atoms follow by block elimination of ``B`` (a downdate of ``S``)::

        s' = s + y' S_B G,   q' = q + mu_B' y,   R' = R + mu_B' T mu_B
        log|K'| = log|K| + log|S_BB| + sum log lam_B
    """
    n, _, prior, noise = build_objective(problem, problem.noise_variance)
    moments, min_gain = problem.moments, problem.min_gain
    lam, rows, covariance, mean = point.lam, moments.gram_rows(active), point.covariance, point.mean
    weights, density = covariance @ rows, point.density
    # Woodbury: phi' K^-1 phi = 1 - G_ma S G_am and phi' K^-1 t = phi't - G_ma mu, all atoms in K.
    s_with = 1.0 - np.einsum("ij,ij->j", rows, weights)
    q_with = moments.correlation - mean @ rows
    s, q, w = np.empty((3, len(sets), len(s_with)))
    quadratic, loss = np.empty((len(sets), 1)), np.empty(len(sets))
    penalty = np.broadcast_to(prior.penalty, s_with.shape)
    # S diag(c) Lam, of which the terms of w after a removal are made (`compute_entry_penalty`).
    shrinking = covariance * (penalty[active] * lam)
    if prior.is_penalised:
        weighted, taken_up = shrinking @ weights, (penalty[active] * lam) @ weights**2
    for number, out in enumerate(sets):
        # Removing B from the model takes S to S - S_.B T S_B. on the other atoms (Schur
        # complement).
        block = covariance[np.ix_(out, out)]
        inverse = np.linalg.inv(block)
        y = inverse @ weights[out]
        s[number] = s_with + np.einsum("ij,ij->j", weights[out], y)
        q[number] = q_with + mean[out] @ y
        quadratic[number] = point.quadratic + mean[out] @ inverse @ mean[out]
        # |G + Lam| = |(G + Lam)_rest| / |S_BB|: the change of log|K| by the removal.
        log_det = np.linalg.slogdet(block)[1] + np.log(lam[out]).sum()
        if noise is None:
            fit = n * np.log(quadratic[number, 0] / point.quadratic)
        else:
            fit = (quadratic[number, 0] - point.quadratic) / noise
        # J with the set less J without it; the penalties of its atoms are no longer due.
        loss[number] = 0.5 * (fit + log_det) - min_gain[active[out]].sum()
        if density is not None:
            loss[number] += density[out].sum()
        if prior.is_penalised:
            # b becomes b - S_.B y, which vanishes on B itself: so sum_i c_i lam_i b_i^2 over all
            # active atoms, expanded into three terms, is the sum over those that remain.
            rest = shrinking[out] @ covariance[:, out]
            w[number] = penalty * s[number] - (
                taken_up
                - 2.0 * np.einsum("ij,ij->j", weighted[out], y)
                + np.einsum("ij,ik,kj->j", y, rest, y)
            )
            # Penalty on degrees of freedom that disappears with the set: its own degrees of
            # freedom, less those that the remaining atoms gain.
            half = 0.5 * np.add.outer(penalty[active[out]], penalty[active[out]])
            loss[number] -= np.trace(inverse @ (half * block - rest))
    stats = Statistics(s, q, w if prior.is_penalised else None, quadratic)
    gain, best = prior.best_precision(stats, n, noise)
    # An atom whose s is at the rounding level is a linear combination of those that remain.
    usable = moments.usable & (s > moments.resolution)
    gain = np.where(usable, gain - min_gain, -np.inf)
    gain[:, active] = -np.inf
    return gain, best, loss
