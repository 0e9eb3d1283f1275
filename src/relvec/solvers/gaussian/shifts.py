"""Shifts of one atom, or of two at once, to neighbouring atoms, evaluated together.

Kernels at neighbouring centres overlap. The best model often differs from the current one by atoms
next to the active ones: two of them moved apart, or towards each other. One of the two shifts alone
would lower the objective. There are a few dozen such models, all with as many atoms as the current
one, so one stacked factorisation evaluates them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.evidence import gradient_and_hessian, penalised_shrinkage
from relvec.moments.base import Moments
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.newton import THETA_MAX, THETA_MIN, Objective
from relvec.solvers.gaussian.state import State, build_objective
from relvec.solvers.gaussian.tuning import DEFAULT, SearchTuning


class Shifts(NamedTuple):
    """Models after a shift, those of highest objective first."""

    active: IndexArray
    """Active atoms, one model per row."""
    theta: Matrix
    """Log precisions after a few steps."""
    value: Vector
    """Objective there: a lower bound of the maximum of each model."""


@np.errstate(all="ignore")
def find_shifts(problem: Problem, state: State, tuning: SearchTuning = DEFAULT) -> Shifts:
    """Evaluate every shift of one atom, and of two similar atoms.

    Log precisions are improved by a few chord steps: Newton steps with the Hessian of the current
    model. If rounding errors dominate (almost no noise, or copies of atoms), no shifts are
    returned, or `LinAlgError` is raised.
    """
    objective = build_objective(problem, problem.noise_variance)
    moments, min_gain = problem.moments, problem.min_gain
    sets = _list_shifts(moments, state.active, tuning)
    theta = np.repeat(state.theta[None, :], len(sets), axis=0)
    if not len(sets):
        return Shifts(sets, theta, np.empty(0))
    # All models draw on the same few atoms: one block of the Gram matrix serves them all.
    pool, flat = np.unique(np.concatenate([state.active, sets.ravel()]), return_inverse=True)
    block, correlation = moments.gram(pool), moments.correlation[pool]
    current, local = flat[: len(state.active)], flat[len(state.active) :].reshape(sets.shape)
    present, _, curvature = _evaluate(
        block[np.ix_(current, current)][None],
        correlation[current][None],
        state.theta[None],
        objective.subset(state.active[None]),
        tuning.curvature_damping,
    )
    if not np.isfinite(present[0]):
        return Shifts(sets[:0], theta[:0], np.empty(0))
    gram = block[local[:, :, None], local[:, None, :]]
    objectives = objective.subset(sets)
    best = np.full(len(sets), np.inf)
    trial = theta
    # Chord method: one Hessian for all models and steps. A shifted atom is similar to the one it
    # replaces, so the curvature hardly changes.
    inverse = np.linalg.inv(curvature)
    for _ in range(tuning.shift_steps + 1):
        cost, gradient, _ = _evaluate(
            gram, correlation[local], trial, objectives, tuning.curvature_damping
        )
        # A step that does not lower -2 J is discarded and the model stays at its best point.
        better = cost < best
        best = np.where(better, cost, best)
        theta = np.where(better[:, None], trial, theta)
        step = np.clip(
            np.where(better[:, None], gradient, 0.0) @ inverse,
            -tuning.max_shift_change,
            tuning.max_shift_change,
        )
        trial = np.clip(theta - step, THETA_MIN, THETA_MAX)
    # Only differences of -2 J are used: constants that both models share cancel.
    value = state.objective - 0.5 * (best - present[0])
    value += min_gain[state.active].sum() - min_gain[sets].sum(axis=1)
    order = np.argsort(-value, kind="stable")
    return Shifts(sets[order], theta[order], value[order])


def _list_shifts(moments: Moments, active: IndexArray, tuning: SearchTuning) -> IndexArray:
    """Active sets with one atom, or two similar ones, replaced by their neighbours.

    Similarity is the absolute correlation of unit-norm atoms.
    """
    size = len(active)
    similarity = np.abs(moments.gram_rows(active))
    similarity[:, ~moments.usable] = -1.0
    # A copy of an active atom gives the same K: no other model.
    similarity[similarity > 1.0 - tuning.copy_tolerance] = -1.0
    active_similarity = similarity[:, active].copy()
    np.fill_diagonal(active_similarity, -1.0)
    similarity[:, active] = -1.0
    neighbours: list[IndexArray] = []
    sets = []
    for i, row in enumerate(_largest(similarity, tuning.n_neighbours)):
        neighbours.append(row[similarity[i, row] >= 0.0])
        for new in neighbours[i]:
            sets.append(active.copy())
            sets[-1][i] = new
    for i, j in find_unique_pairs(
        _largest(active_similarity, min(tuning.n_shift_partners, size - 1))
    ):
        for first in neighbours[i]:
            for second in neighbours[j]:
                if first != second:
                    sets.append(active.copy())
                    sets[-1][[i, j]] = first, second
    return np.array(sets, dtype=np.intp).reshape(-1, size)


def find_unique_pairs(partners: IndexArray) -> IndexArray:
    """Return the pairs of every index ``i`` with the entries of row ``i``, each pair once."""
    size, own = len(partners), np.arange(len(partners))[:, None]
    # Each pair is coded as one number: comparing rows takes ten times as long.
    numbers = np.unique(np.minimum(own, partners) * size + np.maximum(own, partners))
    return np.column_stack(np.divmod(numbers, max(size, 1)))


def _largest(values: Matrix, count: int) -> IndexArray:
    """Columns of the `count` largest entries of each row, in ascending order."""
    if count >= values.shape[1]:
        return np.tile(np.arange(values.shape[1]), (len(values), 1))
    return np.sort(np.argpartition(-values, count, axis=1)[:, :count], axis=1)


def _evaluate(
    gram: Matrix, correlation: Matrix, theta: Matrix, objective: Objective, stiffening: float = 0.05
) -> tuple[Vector, Matrix, Matrix]:
    """Compute ``-2 J`` of a stack of models, its gradients, and the damped Hessian of the first.

    Like `newton.evaluate`, for dozens of small models: one LAPACK call for the whole stack takes a
    fraction of the time of separate calls.
    """
    n, target_ss, prior, noise = objective
    lam = np.exp(theta)
    size = theta.shape[1]
    diagonal = np.arange(size)
    precision = gram.copy()
    precision[:, diagonal, diagonal] += lam
    covariance = np.linalg.inv(precision)
    sign, log_det = np.linalg.slogdet(precision)
    mean = np.einsum("nij,nj->ni", covariance, correlation)
    # R = t't - (Phi't)' mu, by the Woodbury identity.
    quadratic = target_ss - np.einsum("ni,ni->n", correlation, mean)
    defined = (sign > 0.0) & (quadratic > 0.0) & np.isfinite(log_det)
    quadratic = np.where(defined, quadratic, target_ss)
    weight = n / quadratic if noise is None else np.full(len(theta), 1.0 / noise)
    fit = n * np.log(quadratic) if noise is None else quadratic / noise
    # -2 J with log|K| = log|G + Lam| - log|Lam|, and its gradient v lam mu^2 - gamma.
    cost = fit + log_det - theta.sum(axis=1)
    share = lam * covariance[:, diagonal, diagonal]
    gradient = weight[:, None] * lam * mean**2 + share - 1.0
    shrunk, slopes = None, None
    if prior.is_penalised:
        c = np.broadcast_to(prior.penalty, lam.shape)
        # lam_i Q_ii = c_i lam_i S_ii - lam_i sum_k c_k lam_k S_ik^2, see `penalised_shrinkage`.
        others = np.einsum("nij,nj->ni", covariance**2, c * lam)
        gradient -= 2.0 * (c * share - lam * others)
        cost += 2.0 * (c * (1.0 - share)).sum(axis=-1)
        shrunk = penalised_shrinkage(c[0], covariance[0], lam[0])
    if prior.has_density:
        cost -= 2.0 * prior.log_density(theta, noise).sum(axis=1)
        first, second = prior.derivatives(theta, noise)
        gradient -= 2.0 * first
        slopes = first[0], second[0]
    _, hessian = gradient_and_hessian(
        covariance[0], mean[0], lam[0], shrunk, float(quadratic[0]), n, noise, slopes
    )
    # Levenberg-Marquardt damping: the Hessian is applied to models other than its own.
    hessian.flat[:: size + 1] += stiffening * np.abs(hessian.diagonal()) + 1e-6
    defined &= np.isfinite(gradient).all(axis=1)
    return np.where(defined, cost, np.inf), np.where(defined[:, None], gradient, 0.0), hessian
