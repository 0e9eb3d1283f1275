"""Interface of translation-invariant transforms (cycle spinning).

How well an orthonormal wavelet transform represents a jump depends on where the jump falls on the
grid of the transform. Coifman and Donoho (1995), Translation-invariant de-noising, average the
denoised signals over shifts of that grid. This is cheap, because the shifted transforms share
coefficients. A `Frame` is such a family of shifted orthonormal transforms; its coefficients are a
list of arrays ("bands").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bands = list[Array]

__all__ = ["Array", "Band", "Bands", "Frame"]


class Band(NamedTuple):
    """Description of one array of coefficients."""

    kind: str
    """Bands of the same kind, such as the shifts of one transform, share a group penalty."""
    shift_fraction: float
    """Fraction of the shifted transforms that a coefficient of this band belongs to."""
    axes: tuple[int, ...]
    """Axes along which neighbours in the array are neighbours in the signal; empty if every
    coefficient has a precision of its own."""
    wraps: bool
    """Whether these axes are periodic."""


class Frame(ABC):
    """Average of one orthonormal transform over shifts, on a periodic grid of fixed shape."""

    shape: tuple[int, ...]

    @property
    @abstractmethod
    def bands(self) -> list[Band]:
        """One entry per array that `analyse` returns."""

    @abstractmethod
    def analyse(self, values: Array) -> Bands:
        """Compute the coefficients of `values` in every shifted transform."""

    @abstractmethod
    def synthesise(self, bands: Bands) -> Array:
        """Average the inverse transforms over all shifts; may overwrite `bands`."""

    @abstractmethod
    def synthesise_variance(self, bands: Bands) -> Array:
        """Propagate independent variances of the coefficients to the samples.

        ``sum_k shift_fraction_k * bands_k * atom_k(i)^2``: the average over the shifts of the
        diagonal of ``W^T diag(bands) W``.
        """

    @abstractmethod
    def analyse_variance(self, values: Array) -> Iterator[Array]:
        """Propagate independent variances of the samples to the coefficients, band by band.

        ``sum_i atom_k(i)^2 * values_i``: the adjoint of `synthesise_variance` up to the factors
        `shift_fraction`.
        """

    @abstractmethod
    def energy_inside(self, window: tuple[slice, ...]) -> Iterator[Array]:
        """Compute the fraction of every atom's energy inside a box of the grid, band by band.

        It equals `analyse_variance` of the indicator function of the box, and is faster.
        """
