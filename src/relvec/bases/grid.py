"""Regular grids: finding them in the inputs, and positions relative to them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._checks import check_dense
from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.bases.base import Atoms, BoundBasis
from relvec.dictionaries import Dictionary, LazyDictionary, ReorderedDictionary

__all__ = ["RegularGrid", "bind_transform", "find_regular_grid"]

ALTERNATIVES = (
    "For other inputs use relvec.denoise(signal, x=...), which only needs their order, or a "
    "KernelBasis."
)
"""What error messages suggest where the inputs form no regular grid."""


@dataclass(frozen=True, eq=False)
class RegularGrid:
    """A regular grid: evenly spaced points along each axis.

    Parameters
    ----------
    start, step : ndarray of shape (n_axes,)
        First point and spacing along each axis.
    shape : tuple of int
        Number of points along each axis.
    """

    start: Vector
    step: Vector
    shape: tuple[int, ...]

    def positions(self, X: Any, owner: str) -> Matrix:
        """Return the positions of the rows of `X`, in grid steps from the first point.

        Grid points have integer positions. `owner` is the basis to name in error messages.
        """
        check_dense(X, owner)
        if X.shape[1] != len(self.shape):
            raise ValueError(
                f"X has {X.shape[1]} features, but {len(self.shape)} were seen in fit."
            )
        positions: Matrix = (np.asarray(X, dtype=np.float64) - self.start) / self.step
        whole = np.rint(positions)
        return np.where(np.abs(positions - whole) <= self._tolerance(), whole, positions)

    def _tolerance(self) -> Vector:
        """Distance, in grid steps, below which a point counts as a grid point.

        A thousandth of a step allows for rounded time stamps; the second term allows for the
        rounding of the arithmetic.
        """
        ends = np.abs(self.start) + self.step * np.array(self.shape)
        return 1e-3 + 4.0 * np.finfo(np.float64).eps * ends / self.step

    def corners(self, positions: Matrix) -> Iterator[tuple[IndexArray, Vector]]:
        """Yield the corners of the grid cell of each position, for multilinear interpolation.

        Yields pairs (flat index of the grid point, interpolation weight), one entry per position.
        Outside the grid all weights are zero.
        """
        last = np.array(self.shape) - 1
        inside: BoolArray = np.all((positions >= 0.0) & (positions <= last), axis=1)
        lower = np.clip(np.floor(positions), 0, last).astype(np.intp)
        fraction = np.where(inside[:, None], positions - lower, 0.0)
        for corner in itertools.product((0, 1), repeat=len(self.shape)):
            weight = np.prod(np.where(corner, fraction, 1.0 - fraction), axis=1) * inside
            if weight.any():
                point = np.minimum(lower + corner, last)
                yield np.ravel_multi_index(tuple(point.T), self.shape), weight

    def points(self, flat: IndexArray) -> Matrix:
        """Return the coordinates of grid points given by flat index, shape (len(flat), n_axes)."""
        return self.start + self.step * np.stack(np.unravel_index(flat, self.shape), axis=1)


def find_regular_grid(X: Any, owner: str) -> tuple[RegularGrid, IndexArray]:
    """Find the regular grid that the rows of `X` form.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_axes)
        Every point of a grid once, in any order.
    owner : str
        Name of the basis, for error messages.

    Returns
    -------
    grid : RegularGrid
    order : ndarray of shape (n_samples,)
        Flat index of the grid point of each row.

    Raises
    ------
    ValueError
        If the rows are not evenly spaced, or do not contain every grid point exactly once.
    """
    check_dense(X, owner)
    X = np.asarray(X, dtype=np.float64)
    start, step, shape = X.min(axis=0), np.ones(X.shape[1]), [1] * X.shape[1]
    for axis, column in enumerate(X.T):
        gaps = np.diff(np.sort(column))
        # On a grid, sorted coordinates differ by one step, or by rounding only.
        steps = gaps[gaps > 0.5 * gaps.max(initial=0.0)]
        if len(steps):
            shape[axis] = len(steps) + 1
            step[axis] = np.ptp(column) / len(steps)
    grid = RegularGrid(start, step, tuple(shape))
    positions = grid.positions(X, owner)
    uneven = (positions != np.rint(positions)).any(axis=0)
    if uneven.any():
        axis = int(np.argmax(uneven))
        gaps = np.diff(np.unique(X[:, axis]))
        raise ValueError(
            f"{owner} needs evenly spaced inputs; the values in column {axis} of X are "
            f"{gaps.min():.3g} to {gaps.max():.3g} apart. {ALTERNATIVES}"
        )
    order = np.ravel_multi_index(tuple(positions.astype(np.intp).T), grid.shape)
    n_distinct = len(np.unique(order))
    if n_distinct < len(order) or len(order) != math.prod(shape):
        sides = " x ".join(str(length) for length in shape)
        raise ValueError(
            f"{owner} needs every point of a regular grid exactly once; X has {len(order)} rows at "
            f"{n_distinct} of the {math.prod(shape)} points of a grid of {sides}. {ALTERNATIVES}"
        )
    return grid, order


def bind_transform(
    dictionary: Dictionary,
    atoms: Atoms,
    X: Any,
    order: IndexArray,
) -> BoundBasis:
    """Return the bound basis of a fast transform on the grid and its atoms.

    If rows of `X` are not part of the grid (their weight is zero), the atoms are evaluated one by
    one instead of by the transform.
    """
    n_atoms = len(atoms)
    if len(X) != len(order):
        dictionary = LazyDictionary(atoms, X)
    elif (np.diff(order) != 1).any():
        dictionary = ReorderedDictionary(dictionary, order)
    return BoundBasis(
        dictionary=dictionary,
        atoms=atoms,
        # Orthonormal atoms do not overlap: none can stand in for another.
        is_localised=np.zeros(n_atoms, dtype=bool),
        source_row=np.full(n_atoms, -1, dtype=np.intp),
    )
