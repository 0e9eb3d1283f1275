"""Entries with the covariance of all weights: units that gain whatever block they are in.

A unit is a pair of an atom and a block or, if blocks share precisions, an atom in all of them.
"""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.solvers.gaussian.tuning import DEFAULT
from relvec.solvers.latent.signs import has_wrong_sign
from relvec.solvers.latent.walk import Walk

__all__ = ["best_common_precision", "enter_jointly", "promising_units"]


def promising_units(
    walk: Walk, threshold: float = 0.0, *, exact: bool = False
) -> tuple[IndexArray, Vector, Vector]:
    """Find absent units, where to put them, and what they gain, best first.

    That is less their penalties or, if it is more, less the `threshold`.

    Gains are those at fixed curvature or, if `exact`, what the derivative at zero variance says.
    That is ``(theta - s) / 2``, and exact: the mode moves along the effect of the atom, and with
    it the curvature. Units that are shared are numbered like the atoms.
    """
    problem, mode, n_blocks = walk.problem, walk.state.mode, walk.problem.n_blocks
    sides = mode.slope.reshape(-1, n_blocks)
    if exact:
        sides = np.hstack([sides, _bend(walk).reshape(-1, n_blocks)])
    products = problem.dictionary.rmatmat(sides)
    q = products[:, :n_blocks]
    theta = q * q
    admissible, s, charged = problem.entry(walk.state)
    if exact:
        theta = theta - q * products[:, n_blocks:]
        if charged is not None:
            theta, charged = theta - 2.0 * charged[1], None
    # without the penalty, a unit gains only if its slope is larger than by chance
    allowed = admissible & (theta > s)
    if problem.signs is not None:
        allowed[:, 0] &= ~has_wrong_sign(problem.signs, q[:, 0])
    s, theta, is_free = problem.by_unit(s), problem.by_unit(theta), problem.by_unit(allowed)
    is_free = np.any(is_free, axis=1)
    is_free[walk.state.active[: len(walk.state.active) // problem.tied]] = False
    if exact:
        is_free &= theta.sum(axis=1) > s.sum(axis=1)
    units = np.flatnonzero(is_free)
    s, theta = s[units], theta[units]
    if exact and problem.tied == 1:
        ratio = (theta / s)[:, 0]
        gain = 0.5 * (ratio - 1.0 - np.log(ratio))
        log_precision = (2.0 * np.log(s) - np.log(theta - s))[:, 0]
    else:
        penalty = None
        if charged is not None:
            penalty = tuple(problem.by_unit(each)[units] for each in charged)
        gain, log_precision = best_common_precision(s, theta, penalty)
    net = gain - np.maximum(problem.min_gain[units % walk.n_atoms], threshold)
    order = np.argsort(-net, kind="stable")
    return units[order], log_precision[order], net[order]


def _bend(walk: Walk) -> Matrix:
    """What volume gains with every latent value, less what the mode, which follows, takes back."""
    problem, mode = walk.problem, walk.state.mode
    own = 0.0 if problem.is_prior else problem.penalty_of(walk.state.active)
    drift = mode.design.drift(mode.hessian, problem.likelihood, mode.latent, own)
    moved = mode.design.latent(mode.hessian.covariance @ mode.design.pull(drift))
    return drift - mode.design.curve(mode.hessian.rows, moved)


def enter_jointly(walk: Walk, threshold: float) -> bool:
    """Take in the units that promise most, if the objective rises."""
    problem, tuning, n_atoms = walk.problem, walk.tuning, walk.n_atoms
    units, log_precision, net = promising_units(walk, threshold)
    active = walk.state.active[: len(walk.state.active) // problem.tied]
    most = min(max(3 * len(active), 12 + tuning.tried), np.count_nonzero(net > 0.0))
    units, log_precision = units[:most], log_precision[:most]
    # Two copies share a weight in any proportion: a second one adds nothing but its penalty.
    atoms = _of_length_one(walk, units)
    is_copy = np.abs(atoms.T @ _of_length_one(walk, active)) > 1.0 - DEFAULT.copy_tolerance
    new = ~np.any(is_copy & np.equal.outer(units // n_atoms, active // n_atoms), axis=1)
    units, log_precision, atoms = units[new], log_precision[new], atoms[:, new]
    if not len(units):
        return False
    # as many as may enter together, none of them alike
    size, batch = max(len(active) // 2, 4), [0]
    alike = np.abs(atoms[:, : 3 * size].T @ atoms[:, : 3 * size]) > tuning.alike
    for place in range(1, len(alike)):
        if len(batch) < size and not alike[place, batch].any():
            batch.append(place)
    walk.hold(problem.expanded(units[batch]))
    if len(batch) > 1 and _admit(walk, units[batch], log_precision[batch]):
        return True
    walk.hold(problem.expanded(units[: tuning.tried]))
    for unit, value in zip(units[: tuning.tried], log_precision[: tuning.tried], strict=True):
        for weaker in range(tuning.weaker_jointly):
            if _admit(walk, np.array([unit]), np.array([value + weaker * np.log(4.0)])):
                return True
    return False


def _admit(walk: Walk, units: IndexArray, log_precision: Vector) -> bool:
    active, proposed = walk.enter(units, log_precision)
    least, _ = walk.problem.bounds(walk.columns(active))
    return walk.step_towards(active, np.maximum(proposed, least))


def _of_length_one(walk: Walk, units: IndexArray) -> Matrix:
    """Atoms of some units, as an intercept leaves them, scaled."""
    atoms = walk.problem.dictionary.columns(units % walk.n_atoms)
    weight = walk.problem.likelihood.weight
    if walk.problem.has_intercept and len(units):
        atoms = atoms - np.average(atoms, axis=0, weights=weight)
    if weight is not None:
        atoms = atoms * np.sqrt(weight)[:, None]
    return atoms / np.maximum(np.linalg.norm(atoms, axis=0), 1e-300)


def best_common_precision(
    s: Matrix,
    square: Matrix,
    penalty: tuple[Matrix, ...] | None = None,
    *,
    reach: float = 14.0,
    n_points: int = 29,
    refinements: int = 3,
) -> tuple[Vector, Vector]:
    """Best precision of each row of weights, and what they gain over leaving them out.

    Maximises ``sum_k [log(a / (a + s_k)) + q_k^2 / (a + s_k)] / 2 - sum_k r_k / (a + t_k)``, which
    may have several maxima, on a grid of ``log a`` that is refined around the best point.

    ``s`` and ``q^2`` (`square`) are curvature and squared slope of the evidence in each weight, all
    else integrated out, of shape (n_rows, n_weights); `penalty` is ``t`` and ``r``. The grid has
    `n_points` within `reach` of the mean curvature, and is made four times as fine at each of the
    `refinements`. At infinite precision, of which it may be short by a trifle, the gain is zero.
    """

    def value(log_precision: Vector) -> Vector:
        a = np.exp(log_precision)[:, None]
        each = square / (a + s) - np.log1p(s / a)
        result: Vector = 0.5 * each.sum(axis=1)
        if penalty is not None:
            result = result - (penalty[1] / (a + penalty[0])).sum(axis=1)
        return result

    best = np.log(np.maximum(s.mean(axis=1), 1e-300))
    gain = value(best)
    width = n_points // 2
    step = reach / width
    for _ in range(1 + refinements):
        centre = best
        for offset in range(-width, width + 1):
            trial = centre + offset * step
            reached = value(trial)
            better = reached > gain
            best, gain = np.where(better, trial, best), np.where(better, reached, gain)
        step, width = step / 4.0, 4
    return gain, best
