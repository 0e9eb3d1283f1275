"""Inputs that form a regular grid, in any order."""

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

ELSEWHERE = (
    "For other inputs use relvec.denoise(signal, x=...), which only needs their order, or a "
    "KernelBasis."
)


@dataclass(frozen=True, eq=False)
class RegularGrid:
    """Evenly spaced points along each axis.

    Parameters
    ----------
    start, step : ndarray of shape (n_axes,)
        First point and distance of the next.
    shape : tuple of int
        Number of points along each axis.
    """

    start: Vector
    step: Vector
    shape: tuple[int, ...]

    def positions(self, X: Any, owner: str) -> Matrix:
        """Return where the rows of `X` lie, in steps from the start.

        Grid points get whole numbers.
        """
        check_dense(X, owner)
        if X.shape[1] != len(self.shape):
            raise ValueError(
                f"X has {X.shape[1]} features, but {len(self.shape)} were seen in fit."
            )
        positions: Matrix = (np.asarray(X, dtype=np.float64) - self.start) / self.step
        whole = np.rint(positions)
        return np.where(np.abs(positions - whole) <= self._slack(), whole, positions)

    def _slack(self) -> Vector:
        """Distance, in steps, below which a point is on the grid.

        A thousandth has room for rounded time stamps; the arithmetic comes on top.
        """
        ends = np.abs(self.start) + self.step * np.array(self.shape)
        return 1e-3 + 4.0 * np.finfo(np.float64).eps * ends / self.step

    def corners(self, positions: Matrix) -> Iterator[tuple[IndexArray, Vector]]:
        """Yield flat grid points and their weights in a linear interpolation.

        Beyond the grid all weights are zero.
        """
        last = np.array(self.shape) - 1
        inside: BoolArray = np.all((positions >= 0.0) & (positions <= last), axis=1)
        lower = np.clip(np.floor(positions), 0, last).astype(np.intp)
        share = np.where(inside[:, None], positions - lower, 0.0)
        for corner in itertools.product((0, 1), repeat=len(self.shape)):
            weight = np.prod(np.where(corner, share, 1.0 - share), axis=1) * inside
            if weight.any():
                point = np.minimum(lower + corner, last)
                yield np.ravel_multi_index(tuple(point.T), self.shape), weight

    def points(self, flat: IndexArray) -> Matrix:
        """Return the inputs of flat grid points, shape (len(flat), n_axes)."""
        return self.start + self.step * np.stack(np.unravel_index(flat, self.shape), axis=1)


def find_regular_grid(X: Any, owner: str) -> tuple[RegularGrid, IndexArray]:
    """Find the grid that the rows of `X` fill.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_axes)
        Every point of a grid once, in any order.
    owner : str
        Who asks, for the error.

    Returns
    -------
    grid : RegularGrid
    order : ndarray of shape (n_samples,)
        Flat grid point of each row.

    Raises
    ------
    ValueError
        If the rows do not fill a grid.
    """
    check_dense(X, owner)
    X = np.asarray(X, dtype=np.float64)
    start, step, shape = X.min(axis=0), np.ones(X.shape[1]), [1] * X.shape[1]
    for axis, column in enumerate(X.T):
        gaps = np.diff(np.sort(column))
        # On a grid, gaps are either one step or rounding.
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
            f"{gaps.min():.3g} to {gaps.max():.3g} apart. {ELSEWHERE}"
        )
    order = np.ravel_multi_index(tuple(positions.astype(np.intp).T), grid.shape)
    n_distinct = len(np.unique(order))
    if n_distinct < len(order) or len(order) != math.prod(shape):
        sides = " x ".join(str(length) for length in shape)
        raise ValueError(
            f"{owner} needs every point of a regular grid exactly once; X has {len(order)} rows at "
            f"{n_distinct} of the {math.prod(shape)} points of a grid of {sides}. {ELSEWHERE}"
        )
    return grid, order


def bind_transform(
    dictionary: Dictionary,
    atoms: Atoms,
    X: Any,
    order: IndexArray,
) -> BoundBasis:
    """Join a transform on the grid with its atoms.

    Where rows of `X` were left out of the grid (their weight is zero), the atoms are evaluated one
    by one.
    """
    n_atoms = len(atoms)
    if len(X) != len(order):
        dictionary = LazyDictionary(atoms, X)
    elif (np.diff(order) != 1).any():
        dictionary = ReorderedDictionary(dictionary, order)
    return BoundBasis(
        dictionary=dictionary,
        atoms=atoms,
        # Each atom is a claim of its own: none can stand in for another.
        is_localised=np.zeros(n_atoms, dtype=bool),
        source_row=np.full(n_atoms, -1, dtype=np.intp),
    )
