"""One ascent of the evidence: add atoms in batches, let Newton's method drop others.

Each round takes a few Newton steps on the active set, screens every atom from one
triangular solve, picks a batch by exact greedy selection inside a pool of the best
candidates, and fetches the Gram rows of the whole batch in one matrix product. All moves
are exact, so the objective never falls, and the end is certified: zero gradient on the
active set and no admissible atom that would gain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._linalg import solve_lower_rows, solve_upper_rows
from relvec._typing import IndexArray, Matrix, Vector
from relvec.evidence import best_precision, gaussian_objective
from relvec.solvers.base import Certificate, Monitor, Problem, Progress
from relvec.solvers.newton import THETA_MAX, THETA_MIN, Maximum, Objective, maximise

NOISE_FLOOR = 1e-10
"""The estimated noise never explains less than this share of the target's variance: a
pseudo-observation orthogonal to every atom, which keeps the objective smooth and bounded."""
CHARGED = 0.02
"""Prices above this are taken seriously: atoms worth less are removed at the end."""
MAX_BATCH = 400
REENTRIES = 3
"""An atom removed this often has to wait until nothing else moves."""


class Schedule(NamedTuple):
    """How eagerly an ascent adds atoms and when it stops."""

    threshold: float = 1e-3
    """Least gain of an atom worth adding in this ascent (its price is the other bound)."""
    pool_share: float = 0.1
    """Only atoms that gain at least this share of the best one join a batch."""
    batch_min: int = 1
    newton_steps: int = 1
    polish: bool = True
    """Converge and certify; otherwise stop as soon as no atom is worth adding."""
    max_rounds: int = 500
    gradient_tol: float = 1e-4


class State(NamedTuple):
    """An active set with its log precisions, and what is known of it."""

    active: IndexArray
    theta: Vector
    objective: float = -np.inf
    """Penalised log evidence less the prices of the active atoms."""
    noise_variance: float = np.nan
    n_rounds: int = 0
    converged: bool = False
    saturated: bool = False
    polished: bool = False
    """Whether the ascent went on until nothing moved."""
    stopped: bool = False
    """Whether a monitor ended the ascent."""
    certificate: Certificate = Certificate(np.inf, np.inf)
    trace: tuple[float, ...] = ()


EMPTY = State(np.empty(0, dtype=np.intp), np.empty(0))


class Screen(NamedTuple):
    """Statistics of every atom in the current model (meaningless for active ones)."""

    s: Vector
    q: Vector
    p: Vector | None
    solved: Matrix
    """``L^-1 G[active, :]``."""


def empty_state(problem: Problem, noise_variance: float | None) -> State:
    """Return the model without atoms, evaluated."""
    objective = objective_of(problem, noise_variance)
    n = max(objective.n_effective, 1.0)
    noise = objective.target_ss / n if noise_variance is None else noise_variance
    value = gaussian_objective(n, objective.target_ss, 0.0, noise) if noise > 0.0 else 0.0
    return State(
        EMPTY.active, EMPTY.theta, value, noise, converged=True, certificate=Certificate(0.0, 0.0)
    )


def objective_of(problem: Problem, noise_variance: float | None) -> Objective:
    """Collect the constants of the objective, the noise prior and the noise floor included."""
    hyper = problem.hyperprior
    return Objective(
        problem.moments.n_effective + 2.0 * hyper.noise_shape,
        problem.moments.target_ss * (1.0 + NOISE_FLOOR) + 2.0 * hyper.noise_rate,
        problem.smoothness,
        noise_variance,
    )


def max_active(problem: Problem) -> int:
    """Cap on the active set: beyond half the sample size the noise is not identified."""
    if problem.max_active is not None:
        return problem.max_active
    return max(1, int(min(problem.moments.n_effective // 2, problem.moments.n_atoms)))


def screen(problem: Problem, active: IndexArray, maximum: Maximum | None) -> Screen:
    """Compute s, q and p of all atoms from one triangular solve: no drift, O(M k^2)."""
    moments = problem.moments
    if maximum is None or not len(active):
        ones = np.ones(moments.n_atoms)
        return Screen(ones, moments.correlation, ones, np.empty((0, moments.n_atoms)))
    solved = solve_lower_rows(maximum.point.factor, moments.rows(active), overwrite=True)
    s = 1.0 - np.einsum("ij,ij->j", solved, solved)
    q = moments.correlation - maximum.point.whitened @ solved
    p = None
    if problem.smoothness:
        back = solve_upper_rows(maximum.point.factor, solved)
        p = s - maximum.point.lam @ (back * back)
    return Screen(s, q, p, solved)


def _pick(
    problem: Problem,
    objective: Objective,
    maximum: Maximum | None,
    seen: Screen,
    pool: IndexArray,
    price: Vector,
    size: int,
) -> tuple[IndexArray, Vector]:
    """Greedy selection inside the pool with exact rank-one updates of all statistics."""
    n, _, c, noise = objective
    quadratic = objective.target_ss if maximum is None else maximum.point.quadratic
    floor = problem.moments.resolution[pool]
    cross = problem.moments.gram(pool)
    cross2 = None
    solved = seen.solved[:, pool]
    if len(solved):
        cross = cross - solved.T @ solved
    if c:
        cross2 = cross
        if maximum is not None and len(solved):
            back = solve_upper_rows(maximum.point.factor, np.ascontiguousarray(solved))
            cross2 = cross - back.T @ (maximum.point.lam[:, None] * back)
    q = seen.q[pool]
    free = np.ones(len(pool), dtype=bool)
    chosen: list[int] = []
    thetas: list[float] = []
    while len(chosen) < size:
        s = cross.diagonal()
        admissible = free & (s > floor)
        gain, lam = best_precision(
            np.where(admissible, s, 1.0),
            np.where(admissible, q, 0.0),
            None if cross2 is None else cross2.diagonal(),
            quadratic,
            n,
            c,
            noise,
        )
        gain = np.where(admissible, gain, -np.inf)
        best = int(np.argmax(gain - price))
        if not gain[best] > price[best]:
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


def ascend(
    problem: Problem,
    start: State,
    schedule: Schedule,
    *,
    noise_variance: float | None = None,
    stage: str = "",
    monitor: Monitor | None = None,
) -> State:
    """Climb from `start` until no move of the schedule raises the objective.

    `noise_variance` holds the noise for this ascent; None profiles it out.
    """
    moments = problem.moments
    objective = objective_of(problem, noise_variance)
    cap = max_active(problem)
    price = np.maximum(problem.min_gain, schedule.threshold)
    charged = bool((problem.min_gain > CHARGED).any())
    active, theta = start.active, start.theta
    moments.fetch(active)
    removals = np.zeros(moments.n_atoms, dtype=np.int8)
    waiting = np.zeros(moments.n_atoms, dtype=bool)
    trace: list[float] = []
    polishing = 0
    maximum: Maximum | None = None
    best_gain = np.inf
    n_rounds = 0
    stopped = saturated = False
    while True:
        n_rounds += 1
        if len(active):
            maximum = maximise(
                moments.gram(active),
                moments.correlation[active],
                theta,
                objective,
                max_iter=(schedule.newton_steps, 3, 100)[polishing],
                tol=schedule.gradient_tol,
                charge=problem.min_gain[active] if charged and polishing == 2 else None,
            )
            theta = maximum.theta
            if len(maximum.kept) < len(active):
                removals[np.delete(active, maximum.kept)] += 1
                active = active[maximum.kept]
        trace.append(_value(problem, objective, active, maximum))
        if monitor is not None and monitor(Progress(stage, n_rounds, trace[-1], len(active))):
            stopped = True
            break
        seen = screen(problem, active, maximum)
        admissible = moments.usable & (seen.s > moments.resolution) & ~waiting
        admissible[active] = False
        index = np.flatnonzero(admissible)
        quadratic = objective.target_ss if maximum is None else maximum.point.quadratic
        gain, lam = best_precision(
            seen.s[index],
            seen.q[index],
            None if seen.p is None else seen.p[index],
            quadratic,
            objective.n_effective,
            objective.smoothness,
            noise_variance,
        )
        net = gain - price[index]
        best_gain = float(gain.max(initial=-np.inf))
        room = cap - len(active)
        entering = net > 0.0
        if entering.any() and room > 0 and n_rounds < schedule.max_rounds:
            share = schedule.pool_share * float(gain[entering].max())
            order = np.flatnonzero(entering & (gain >= share))
            size = int(min(max(schedule.batch_min, len(active)), room, MAX_BATCH))
            if len(order) > 2 * size:
                order = order[np.argpartition(-net[order], 2 * size - 1)[: 2 * size]]
            order = order[np.argsort(-net[order], kind="stable")]
            pool = index[order]
            if len(pool) == 1:
                new, new_theta = pool, np.clip(np.log(lam[order]), THETA_MIN, THETA_MAX)
            else:
                pool_price = np.maximum(price[pool], share)
                new, new_theta = _pick(problem, objective, maximum, seen, pool, pool_price, size)
            tired = removals[new] >= REENTRIES
            waiting[new[tired]] = True
            new, new_theta = new[~tired], new_theta[~tired]
            moments.fetch(new)
            active = np.concatenate([active, new])
            theta = np.concatenate([theta, new_theta])
            polishing = 1 if best_gain < 0.05 and schedule.polish else 0
            continue
        saturated = bool(entering.any()) and room <= 0
        if not schedule.polish or not len(active) or n_rounds >= 2 * schedule.max_rounds:
            break
        if polishing < 2:
            polishing = 2
        elif waiting.any() and room > 0:
            waiting[:] = False
            removals[:] = 0
        else:
            break
    order = np.argsort(active)
    if maximum is not None and not len(active):
        maximum = None
    quadratic = objective.target_ss if maximum is None else maximum.point.quadratic
    converged = (not stopped and schedule.polish and not saturated) and (
        maximum is None or maximum.converged
    )
    return State(
        active=active[order],
        theta=theta[order],
        objective=trace[-1],
        noise_variance=quadratic / objective.n_effective
        if noise_variance is None
        else noise_variance,
        n_rounds=n_rounds,
        converged=converged and n_rounds < schedule.max_rounds,
        saturated=saturated,
        polished=schedule.polish,
        stopped=stopped,
        certificate=Certificate(
            0.0 if maximum is None else 0.5 * maximum.gradient,
            max(0.0, float(net.max(initial=0.0))),
        )
        if not stopped
        else Certificate(np.inf, np.inf),
        trace=tuple(trace),
    )


def _value(
    problem: Problem, objective: Objective, active: IndexArray, maximum: Maximum | None
) -> float:
    """Objective at the current point: penalised log evidence less the atoms' prices."""
    n, target_ss, c, noise = objective
    if maximum is None or not len(active):
        return gaussian_objective(n, target_ss, 0.0, noise)
    point = maximum.point
    value = gaussian_objective(n, point.quadratic, point.log_det, noise)
    if c:
        value -= c * float((1.0 - point.lam * maximum.covariance.diagonal()).sum())
    return value - float(problem.min_gain[active].sum())
