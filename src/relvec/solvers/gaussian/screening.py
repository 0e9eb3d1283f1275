"""Screening of all atoms, and greedy selection of a batch of those that gain most.

For every atom, ``s = phi' K^-1 phi`` and ``q = phi' K^-1 t`` are its sparsity and quality factors
(Tipping and Faul, 2003) in units of the noise. With the noise held, an atom would raise the
evidence if ``q^2 > s sigma^2``; its best precision is then ``lam = s^2 / (q^2 / sigma^2 - s)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from relvec._linalg import solve_lower_rows, solve_upper_rows
from relvec._typing import IndexArray, Matrix, Vector
from relvec.evidence import compute_entry_penalty
from relvec.priors import Statistics
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.newton import THETA_MAX, THETA_MIN, Point

if TYPE_CHECKING:
    from relvec.solvers.gaussian.reference import Fit


class Screening(NamedTuple):
    """Statistics of every atom in the current model."""

    statistics: Statistics
    """``s``, ``q``, ``w`` and ``R``; only meaningful for inactive atoms."""
    solved: Matrix
    """``L^-1 G[active, :]``."""


def screen(problem: Problem, active: IndexArray, point: Point | Fit) -> Screening:
    """Compute ``s``, ``q`` and ``w`` of all atoms from one triangular solve, in O(M k^2).

    With ``G + Lam = L L'`` and ``V = L^-1 Phi_a'Phi`` for the active atoms ``Phi_a``, the Woodbury
    identity gives ``s = 1 - sum V^2`` (atoms have unit norm) and ``q = Phi't - V' L^-1 Phi_a't``.
    Statistics are computed afresh each time, so rounding errors do not accumulate.
    """
    moments = problem.moments
    solved = solve_lower_rows(point.factor, moments.gram_rows(active), overwrite=True)
    s = 1.0 - np.einsum("ij,ij->j", solved, solved)
    q = moments.correlation - point.whitened @ solved
    w = None
    if problem.prior.is_penalised:
        # L^-T L^-1 G[active, :] = S G[active, :], the posterior mean of the active weights if an
        # atom were the target.
        back = solve_upper_rows(point.factor, solved)
        w = compute_entry_penalty(problem.prior.penalty, active, s, point.lam, back)
    return Screening(Statistics(s, q, w, point.quadratic), solved)


def select_batch(
    problem: Problem,
    active: IndexArray,
    point: Point,
    screening: Screening,
    pool: IndexArray,
    penalty: Vector,
    size: int,
) -> tuple[IndexArray, Vector]:
    """Select a batch from the pool greedily, with exact rank-one updates of all statistics.

    `cross` holds ``phi_i' K^-1 phi_j`` for all pairs of the pool, ``s`` on its diagonal. When atom
    ``b`` enters with precision ``lam``, the Sherman-Morrison formula gives, with ``e = phi' K^-1
    phi_b`` and ``pivot = lam + s_b``::

        cross - e e' / pivot,    q - e q_b / pivot,    R - q_b^2 / pivot
    """
    n, _, _, noise = point.objective
    prior = problem.prior.subset(pool)
    quadratic = point.quadratic
    floor = problem.moments.resolution[pool]
    solved, cross2 = screening.solved[:, pool], None
    # Woodbury for pairs: phi_i' K^-1 phi_j = G_ij - V_i' V_j.
    cross = problem.moments.gram(pool) - solved.T @ solved
    if prior.is_penalised:
        # The same for the penalty on degrees of freedom: w of pairs, w of an atom on the diagonal.
        c = np.broadcast_to(problem.prior.penalty, problem.moments.correlation.shape)
        back = solve_upper_rows(point.factor, np.ascontiguousarray(solved))
        cross2 = 0.5 * np.add.outer(c[pool], c[pool]) * cross
        cross2 = cross2 - back.T @ ((point.lam * c[active])[:, None] * back)
    q = screening.statistics.q[pool]
    free = np.ones(len(pool), dtype=bool)
    chosen: list[int] = []
    thetas: list[float] = []
    while len(chosen) < size:
        s = cross.diagonal()
        admissible = free & (s > floor)
        stats = Statistics(
            # s = 1 and q = 0 give no gain, and no division by zero for atoms already chosen.
            np.where(admissible, s, 1.0),
            np.where(admissible, q, 0.0),
            None if cross2 is None else cross2.diagonal(),
            quadratic,
        )
        gain, lam = prior.best_precision(stats, n, noise)
        gain = np.where(admissible, gain, -np.inf)
        best = int(np.argmax(gain - penalty))
        if not gain[best] > penalty[best]:
            break
        theta = min(max(float(np.log(lam[best])), THETA_MIN), THETA_MAX)
        free[best] = False
        chosen.append(best)
        thetas.append(theta)
        e = cross[best].copy()
        # lam after clipping, so that the update matches the precision that is returned.
        pivot = np.exp(theta) + e[best]
        if cross2 is not None:
            f = cross2[best].copy()
            # With f the column of cross2 of the new atom: the terms of first order in e / pivot,
            # and the second-order term f_b e e' / pivot^2, collected as in
            # `downdate_penalised_shrinkage`.
            change = np.multiply.outer(f, e / pivot)
            cross2 = cross2 - change - change.T + np.multiply.outer(e, e * (f[best] / pivot**2))
        cross = cross - np.multiply.outer(e, e / pivot)
        # R uses q of the model before this atom, so it is updated before q.
        quadratic = max(quadratic - q[best] ** 2 / pivot, 1e-300)
        q = q - e * (q[best] / pivot)
    return pool[chosen], np.array(thetas)
