"""Basis functions of a log density: free terms, and Gaussians of several widths on grids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec._typing import IndexArray, Matrix
from relvec.learning.density.grid import Axis
from relvec.learning.density.margins import Margin

__all__ = ["FREE", "DensityAtoms"]

FREE = -1
"""Group of the basis functions with a nearly flat prior."""


@dataclass(frozen=True)
class DensityAtoms:
    """Free terms, then for each width a grid of Gaussians as far apart as they are wide.

    Free terms let the reference density vary: its derivatives in the parameters in one dimension,
    coordinates and their products in two. A width is a fraction of the range of the bins. Outside
    this range the functions keep their values at its nearest point.
    """

    axes: tuple[Axis, ...]
    widths: tuple[float, ...]
    margins: tuple[Margin, ...]

    @property
    def groups(self) -> IndexArray:
        """Number of the width of each basis function; `FREE` for the free terms."""
        sizes = [self._count(width) ** len(self.axes) for width in self.widths]
        n_free = self._free_terms(np.array([[axis.lower for axis in self.axes]])).shape[1]
        kernels = np.repeat(np.arange(len(self.widths)), sizes)
        return np.concatenate([np.full(n_free, FREE), kernels]).astype(np.intp)

    def _free_terms(self, U: Matrix) -> Matrix:
        if len(self.margins) == 1:
            return self.margins[0].tangents(U[:, 0])
        # The reference of two coordinates is that of their scores: location, scale, correlation.
        U = U / [axis.span for axis in self.axes]
        products = [U[:, :1], U[:, 1:], U[:, :1] ** 2, U[:, 1:] ** 2, U[:, :1] * U[:, 1:]]
        return np.hstack(products)

    @staticmethod
    def _count(width: float) -> int:
        """Return the number of Gaussians of this width along an axis; some lie beyond its ends."""
        return round(1.0 / width) + 2

    def evaluate(self, U: Matrix, kept: IndexArray | None = None) -> Matrix:
        """Return the values of the basis functions at coordinates.

        Parameters
        ----------
        U : ndarray of shape (n_points, n_axes)
            Coordinates.
        kept : ndarray of int, optional
            Numbers of the widths to evaluate, ascending; all by default.
        """
        ends = [(axis.lower, axis.upper) for axis in self.axes]
        U = np.column_stack([np.clip(u, *end) for u, end in zip(U.T, ends, strict=True)])
        # Each axis from -1 to 1.
        Z = (2.0 * U - np.sum(ends, axis=1)) / np.diff(ends)[:, 0]
        columns = [self._free_terms(U)]
        chosen = range(len(self.widths)) if kept is None else kept
        for number in chosen:
            width = self.widths[number]
            centres = np.linspace(-1.0 - width, 1.0 + width, self._count(width))
            product: Matrix = np.ones((len(Z), 1))
            for z in Z.T:
                kernels = np.exp(-0.5 * ((z[:, None] - centres) / (2.0 * width)) ** 2)
                size = product.shape[1] * len(centres)
                product = (product[:, :, None] * kernels[:, None, :]).reshape(len(Z), size)
            columns.append(product)
        return np.hstack([*columns, np.ones((len(Z), 1))])
