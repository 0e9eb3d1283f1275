"""Groups of atoms that share a precision: checks, sums over groups, steps in few precisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector

__all__ = [
    "best_common_precision",
    "check_flags",
    "check_groups",
    "find_ascent_step",
    "split_at_bounds",
    "sum_blocks",
]


def check_groups(groups: Any, n_atoms: int) -> IndexArray:
    """Return the group of each atom as integers; None puts all atoms into group 0.

    Raises `ValueError` unless there is one integer, -1 or larger, for each atom.

    Examples
    --------
    >>> from relvec.solvers.groups import check_groups
    >>> check_groups(None, 3), check_groups([0, 0, -1], 3)
    (array([0, 0, 0]), array([ 0,  0, -1]))
    """
    if groups is None:
        return np.zeros(n_atoms, dtype=np.intp)
    try:
        given = np.asarray(groups, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"groups must hold integers; got {groups!r}.") from None
    if given.shape != (n_atoms,):
        raise ValueError(
            f"groups must have one integer for each of the {n_atoms} atoms; got shape "
            f"{given.shape}."
        )
    if not (np.isfinite(given) & (given == np.floor(given)) & (given >= -1.0)).all():
        wrong = given[~(np.isfinite(given) & (given == np.floor(given)) & (given >= -1.0))][0]
        raise ValueError(
            f"groups must be integers, 0 and up, or -1 for a nearly flat prior; got {wrong:g}."
        )
    return given.astype(np.intp)


def check_flags(standardise: Any, n_atoms: int) -> BoolArray:
    """Return one flag for each atom, from one for all or one for each."""
    given = np.asarray(standardise)
    if given.dtype != np.bool_ or given.shape not in ((), (n_atoms,)):
        raise ValueError(
            f"standardise must be True, False, or one of them for each of the {n_atoms} atoms; got "
            f"{standardise!r}."
        )
    return np.broadcast_to(given, (n_atoms,))


def sum_blocks(matrix: Matrix, labels: IndexArray, n_groups: int) -> Matrix:
    """Sum the entries of a square matrix over the blocks of groups.

    `labels` has the group of each row; rows of negative groups are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.solvers.groups import sum_blocks
    >>> sum_blocks(np.ones((3, 3)), np.array([0, 0, 1]), 2)
    array([[4., 2.],
           [2., 1.]])
    """
    member = np.zeros((len(labels), n_groups))
    inside = labels >= 0
    member[np.flatnonzero(inside), labels[inside]] = 1.0
    result: Matrix = member.T @ (matrix @ member)
    return result


def find_ascent_step(
    gradient: Vector, information: Matrix, damping: float, longest: float
) -> Vector:
    """Return a damped step of Fisher scoring, no longer than `longest` in any component.

    The step is ``(F + damping I)^-1 g``. Damping is absolute, in nats per squared unit of a log
    precision: groups of little influence, on whose precision the evidence hardly depends, then take
    short steps and do not shorten those of the others (Levenberg-Marquardt; Nocedal & Wright 2006,
    section 10.3).
    """
    damped = information + damping * np.eye(len(gradient))
    step = np.linalg.solve(damped, gradient).astype(np.float64)
    size = float(np.abs(step).max(initial=0.0))
    return step if size <= longest else step * (longest / size)


def split_at_bounds(
    gradient: Vector, value: Vector, least: Vector, most: Vector, margin: float = 1e-6
) -> BoolArray:
    """Return which variables are free: not at a bound towards which the gradient points."""
    free: BoolArray = ~(
        ((value <= least + margin) & (gradient < 0.0))
        | ((value >= most - margin) & (gradient > 0.0))
    )
    return free


def best_common_precision(
    s: Matrix,
    square: Matrix,
    penalty: tuple[Matrix, ...] | None = None,
    *,
    reach: float = 14.0,
    n_points: int = 29,
    refinements: int = 3,
) -> tuple[Vector, Vector]:
    """Find the best common precision of each row of weights, and its gain over leaving them out.

    Maximises ``sum_k [log(a / (a + s_k)) + q_k^2 / (a + s_k)] / 2 - sum_k r_k / (a + t_k)``, which
    may have several maxima, on a grid of ``log a`` that is refined around the best point.

    The first sum is the contribution of the weights to the log evidence (Tipping and Faul, 2003),
    the second the penalty on their degrees of freedom. ``s`` and ``q^2`` (`square`) are curvature
    and squared slope of the log likelihood in each weight, all others integrated out, of shape
    (n_rows, n_weights); `penalty` is ``t`` and ``r``. The grid has `n_points` within `reach` of the
    log of the mean curvature, and becomes four times as fine at each of the `refinements`. The gain
    is zero at infinite precision, which the grid only approaches.
    """

    def value(log_precision: Vector) -> Vector:
        a = np.exp(log_precision)[:, None]
        # log(a / (a + s)) = -log1p(s / a): log(a) - log(a + s) would cancel for s << a.
        each = square / (a + s) - np.log1p(s / a)
        result: Vector = 0.5 * each.sum(axis=1)
        if penalty is not None:
            result = result - (penalty[1] / (a + penalty[0])).sum(axis=1)
        return result

    # The best precision is s^2 / (theta - s) for one weight: of the order of s unless theta is near
    # s or far above it.
    best = np.log(np.maximum(s.mean(axis=1), 1e-300))
    gain = value(best)
    half_width = n_points // 2
    step = reach / half_width
    for _ in range(1 + refinements):
        centre = best
        for offset in range(-half_width, half_width + 1):
            trial = centre + offset * step
            reached = value(trial)
            better = reached > gain
            best, gain = np.where(better, trial, best), np.where(better, reached, gain)
        # Four finer points on each side reach the neighbours of the previous best point.
        step, half_width = step / 4.0, 4
    return gain, best
