"""What every atom would bring, and a batch of those that bring most."""

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
    """What the current model says of every atom."""

    known: Statistics
    """Meaningless for active ones."""
    solved: Matrix
    """``L^-1 G[active, :]``."""


def screen(problem: Problem, active: IndexArray, point: Point | Fit) -> Screening:
    """Compute s, q and w of all atoms from one triangular solve: no drift, O(M k^2)."""
    moments = problem.moments
    solved = solve_lower_rows(point.factor, moments.rows(active), overwrite=True)
    s = 1.0 - np.einsum("ij,ij->j", solved, solved)
    q = moments.correlation - point.whitened @ solved
    w = None
    if problem.prior.is_penalised:
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
    """Greedy selection inside the pool with exact rank-one updates of all statistics."""
    n, _, _, noise = point.objective
    prior = problem.prior.subset(pool)
    quadratic = point.quadratic
    floor = problem.moments.resolution[pool]
    solved, cross2 = screening.solved[:, pool], None
    cross = problem.moments.gram(pool) - solved.T @ solved
    if prior.is_penalised:
        # w of pairs: that of an atom on its diagonal
        c = np.broadcast_to(problem.prior.penalty, problem.moments.correlation.shape)
        back = solve_upper_rows(point.factor, np.ascontiguousarray(solved))
        cross2 = 0.5 * np.add.outer(c[pool], c[pool]) * cross
        cross2 = cross2 - back.T @ ((point.lam * c[active])[:, None] * back)
    q = screening.known.q[pool]
    free = np.ones(len(pool), dtype=bool)
    chosen: list[int] = []
    thetas: list[float] = []
    while len(chosen) < size:
        s = cross.diagonal()
        admissible = free & (s > floor)
        known = Statistics(
            np.where(admissible, s, 1.0),
            np.where(admissible, q, 0.0),
            None if cross2 is None else cross2.diagonal(),
            quadratic,
        )
        gain, lam = prior.best(known, n, noise)
        gain = np.where(admissible, gain, -np.inf)
        best = int(np.argmax(gain - penalty))
        if not gain[best] > penalty[best]:
            break
        theta = min(max(float(np.log(lam[best])), THETA_MIN), THETA_MAX)
        free[best] = False
        chosen.append(best)
        thetas.append(theta)
        e = cross[best].copy()
        pivot = np.exp(theta) + e[best]
        if cross2 is not None:
            f = cross2[best].copy()
            change = np.multiply.outer(f, e / pivot)
            cross2 = cross2 - change - change.T + np.multiply.outer(e, e * (f[best] / pivot**2))
        cross = cross - np.multiply.outer(e, e / pivot)
        quadratic = max(quadratic - q[best] ** 2 / pivot, 1e-300)
        q = q - e * (q[best] / pivot)
    return pool[chosen], np.array(thetas)
