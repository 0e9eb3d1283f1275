"""Entries with the covariance of all weights: units that gain whatever block they are in.

A unit is a pair of an atom and a block or, if blocks share precisions, an atom in all of them.
"""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.solvers.gaussian.tuning import DEFAULT
from relvec.solvers.latent.monotone import MonotoneSearch
from relvec.solvers.latent.signs import has_wrong_sign

__all__ = ["add_units_jointly", "best_common_precision", "find_candidate_units"]


def find_candidate_units(
    search: MonotoneSearch, threshold: float = 0.0, *, exact: bool = False
) -> tuple[IndexArray, Vector, Vector]:
    """Find absent units, where to put them, and what they gain, best first.

    That is less their penalties or, if it is more, less the `threshold`.

    Gains are those at fixed curvature or, if `exact`, what the derivative at zero variance says.
    That is ``(theta - s) / 2``, and exact: the mode moves along the effect of the atom, and with
    it the curvature. Units that are shared are numbered like the atoms.
    """
    problem, mode, n_blocks = search.problem, search.state.mode, search.problem.n_blocks
    sides = mode.slope.reshape(-1, n_blocks)
    if exact:
        sides = np.hstack([sides, _compute_curvature_term(search).reshape(-1, n_blocks)])
    products = problem.dictionary.rmatmat(sides)
    q = products[:, :n_blocks]
    theta = q * q
    admissible, s, entry_penalty = problem.compute_entry_statistics(search.state)
    if exact:
        theta = theta - q * products[:, n_blocks:]
        if entry_penalty is not None:
            theta, entry_penalty = theta - 2.0 * entry_penalty[1], None
    # without the penalty, a unit gains only if its slope is larger than by chance
    allowed = admissible & (theta > s)
    if problem.signs is not None:
        allowed[:, 0] &= ~has_wrong_sign(problem.signs, q[:, 0])
    s, theta, is_free = (
        problem.arrange_by_unit(s),
        problem.arrange_by_unit(theta),
        problem.arrange_by_unit(allowed),
    )
    is_free = np.any(is_free, axis=1)
    is_free[search.state.active[: len(search.state.active) // problem.n_tied]] = False
    if exact:
        is_free &= theta.sum(axis=1) > s.sum(axis=1)
    units = np.flatnonzero(is_free)
    s, theta = s[units], theta[units]
    if exact and problem.n_tied == 1:
        ratio = (theta / s)[:, 0]
        gain = 0.5 * (ratio - 1.0 - np.log(ratio))
        log_precision = (2.0 * np.log(s) - np.log(theta - s))[:, 0]
    else:
        penalty = None
        if entry_penalty is not None:
            penalty = tuple(problem.arrange_by_unit(each)[units] for each in entry_penalty)
        gain, log_precision = best_common_precision(s, theta, penalty)
    net = gain - np.maximum(problem.min_gain[units % search.n_atoms], threshold)
    order = np.argsort(-net, kind="stable")
    return units[order], log_precision[order], net[order]


def _compute_curvature_term(search: MonotoneSearch) -> Matrix:
    """What volume gains with every latent value, less what the mode, which follows, takes back."""
    problem, mode = search.problem, search.state.mode
    own = 0.0 if problem.is_penalty_prior else problem.penalty_of(search.state.active)
    drift = mode.design.compute_volume_slope(mode.hessian, problem.likelihood, mode.latent, own)
    moved = mode.design.latent(mode.hessian.covariance @ mode.design.apply_transpose(drift))
    return drift - mode.design.apply_curvature(mode.hessian.rows, moved)


def add_units_jointly(search: MonotoneSearch, threshold: float) -> bool:
    """Take in the units that promise most, if the objective rises."""
    problem, tuning, n_atoms = search.problem, search.tuning, search.n_atoms
    units, log_precision, net = find_candidate_units(search, threshold)
    active = search.state.active[: len(search.state.active) // problem.n_tied]
    most = min(max(3 * len(active), 12 + tuning.n_single_trials), np.count_nonzero(net > 0.0))
    units, log_precision = units[:most], log_precision[:most]
    # Two copies share a weight in any proportion: a second one adds nothing but its penalty.
    atoms = _normalised_columns(search, units)
    is_copy = np.abs(atoms.T @ _normalised_columns(search, active)) > 1.0 - DEFAULT.copy_tolerance
    new = ~np.any(is_copy & np.equal.outer(units // n_atoms, active // n_atoms), axis=1)
    units, log_precision, atoms = units[new], log_precision[new], atoms[:, new]
    if not len(units):
        return False
    # as many as may enter together, none of them alike
    size, batch = max(len(active) // 2, 4), [0]
    alike = np.abs(atoms[:, : 3 * size].T @ atoms[:, : 3 * size]) > tuning.max_batch_correlation
    for place in range(1, len(alike)):
        if len(batch) < size and not alike[place, batch].any():
            batch.append(place)
    search.load_columns(problem.expand_units(units[batch]))
    if len(batch) > 1 and _try_entry(search, units[batch], log_precision[batch]):
        return True
    search.load_columns(problem.expand_units(units[: tuning.n_single_trials]))
    for unit, value in zip(
        units[: tuning.n_single_trials], log_precision[: tuning.n_single_trials], strict=True
    ):
        for weaker in range(tuning.n_weaker_joint):
            if _try_entry(search, np.array([unit]), np.array([value + weaker * np.log(4.0)])):
                return True
    return False


def _try_entry(search: MonotoneSearch, units: IndexArray, log_precision: Vector) -> bool:
    active, proposed = search.insert_units(units, log_precision)
    least, _ = search.problem.bounds(search.columns(active))
    return search.step_towards(active, np.maximum(proposed, least))


def _normalised_columns(search: MonotoneSearch, units: IndexArray) -> Matrix:
    """Atoms of some units, as an intercept leaves them, scaled."""
    atoms = search.problem.dictionary.columns(units % search.n_atoms)
    weight = search.problem.likelihood.weight
    if search.problem.has_intercept and len(units):
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
