"""Initialisations for columns with entry penalties: subsets of small residual, by beam search.

A forward search adds an atom only if its own gain exceeds its penalty. It never finds columns that
explain little one by one but much together, such as powers of one feature. A beam search keeps, for
every subset size, the subsets with the smallest residual sum of squares.
"""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.newton import THETA_MAX, THETA_MIN
from relvec.solvers.gaussian.state import State, build_objective
from relvec.solvers.gaussian.tuning import DEFAULT, SearchTuning

__all__ = ["find_subset_states"]


def find_subset_states(problem: Problem, tuning: SearchTuning = DEFAULT) -> list[State]:
    """Return initial states for ascents: the best subsets of any size, best first.

    Least squares on a subset ``S`` of unit-norm atoms, with ``b = Phi_S't``, has the residual sum
    of squares ``R = t't - b' G_SS^-1 b``. Another atom ``m`` reduces it by ``q^2 / s`` with ``q =
    t'phi_m - G_mS G_SS^-1 b`` and ``s = 1 - G_mS G_SS^-1 G_Sm``. The score of a subset is ``-N/2
    log R``, or ``-R / (2 sigma^2)`` if the noise is held, less ``log(N) / 2`` (as in BIC) and the
    penalties for each atom.
    """
    moments = problem.moments
    usable = np.flatnonzero(moments.usable & np.isfinite(problem.min_gain))
    gram, correlation = moments.gram(usable), moments.correlation[usable]
    n, target_ss, prior, noise = build_objective(problem, problem.noise_variance).subset(usable)
    # A well-determined atom has gamma near one and thus the whole penalty c; log(N) / 2 stands for
    # its Occam factor -1/2 log((lam + s) / lam), which least squares does not have.
    penalty = problem.min_gain[usable] + prior.penalty + 0.5 * np.log(max(n, 1.0))

    def fit(residual: Vector) -> Vector:
        return -0.5 * (n * np.log(residual) if noise is None else residual / noise)

    beam = max(
        tuning.n_subsets, min(tuning.beam_width, tuning.max_beam_evaluations // max(len(usable), 1))
    )
    level: IndexArray = np.empty((1, 0), dtype=np.intp)
    found: list[tuple[float, float, IndexArray]] = []
    least = _least_residual(gram, correlation, target_ss, n)
    highest, limit = fit(np.array([target_ss, least])).tolist()
    for size in range(1, 1 + min(tuning.max_subset_size, len(usable), problem.active_cap)):
        # No subset of this size or larger can have a higher score than the best one so far.
        if limit - size * penalty.min() < highest:  # bound: R of all columns
            break
        atoms, residual = _enlarge(level, gram, correlation, target_ss, moments.resolution[usable])
        score = fit(residual) - penalty[atoms].sum(axis=1)
        # A subset occurs at most once for each of its atoms, so this many contain `beam` different.
        best = np.argsort(-score, kind="stable")[: tuning.max_subset_size * beam]
        # The same subset is reached from each of its own subsets of one atom less: keep it once.
        _, first = np.unique(atoms[best], axis=0, return_index=True)
        best = best[np.sort(first)][:beam]
        level, highest = atoms[best], max(highest, score[best].max(initial=-np.inf))
        found += zip(score[best], residual[best], level, strict=True)
    found.sort(key=lambda subset: -subset[0])
    starts = []
    for _, left, atoms in found[: tuning.n_subsets]:
        # MacKay's fixed point alpha = gamma / mu^2 with gamma = 1 at the least-squares weights.
        weights = _least_squares(gram[np.ix_(atoms, atoms)], correlation[atoms])
        variance = left / n if noise is None else noise
        # lam = alpha sigma^2 = sigma^2 / mu^2 in units of the noise.
        theta = np.log(variance / np.maximum(weights**2, 1e-300))
        starts.append(State(usable[atoms], np.clip(theta, THETA_MIN, THETA_MAX)))
    return starts


def _least_squares(gram: Matrix, correlation: Vector) -> Vector:
    """Weights of least squares; a tiny ridge keeps collinear columns solvable."""
    shifted = gram + 1e-12 * np.eye(len(gram))
    return np.asarray(np.linalg.solve(shifted, correlation), dtype=np.float64)


def _least_residual(gram: Matrix, correlation: Vector, target_ss: float, n: float) -> float:
    """Residual sum of squares of all columns; a tiny floor if there are as many as rows."""
    floor = 1e-14 * target_ss
    if len(gram) >= n:
        return floor
    return max(target_ss - float(_least_squares(gram, correlation) @ correlation), floor)


def _enlarge(
    subsets: IndexArray, gram: Matrix, correlation: Vector, target_ss: float, resolution: Vector
) -> tuple[IndexArray, Vector]:
    """Return every subset extended by every further atom, and its residual sum of squares."""
    inner = gram[subsets[:, :, None], subsets[:, None, :]]
    # As in `_least_squares`: atoms with s at their resolution may be in the subset.
    inner = inner + 1e-12 * np.eye(subsets.shape[1])
    rows, own = gram[subsets], correlation[subsets]
    solved = np.linalg.solve(inner, np.concatenate([rows, own[:, :, None]], axis=2))
    # The limit lam -> 0 of the factors of Tipping & Faul (2003): inner product with the residual,
    # and squared norm of the part of the atom that is orthogonal to the subset.
    q = correlation - np.einsum("skp,sk->sp", rows, solved[:, :, -1])
    s = 1.0 - np.einsum("skp,skp->sp", rows, solved[:, :, :-1])
    left = target_ss - np.einsum("sk,sk->s", own, solved[:, :, -1])
    allowed = s > resolution
    np.put_along_axis(allowed, subsets, False, axis=1)
    which, atom = np.nonzero(allowed)
    # Block inverse of the enlarged Gram matrix: its last pivot is s.
    residual = left[which] - q[which, atom] ** 2 / s[which, atom]
    atoms = np.sort(np.concatenate([subsets[which], atom[:, None]], axis=1), axis=1)
    return atoms, np.maximum(residual, 1e-14 * target_ss)
