"""Groups of atoms that share a precision: checks, sums over groups, steps in few precisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector

__all__ = ["check_groups", "find_ascent_step", "split_at_bounds", "sum_blocks"]


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
