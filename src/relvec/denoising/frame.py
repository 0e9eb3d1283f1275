"""What a shift-averaged transform offers to the denoiser.

An orthonormal transform treats a feature differently depending on where it falls on the
transform's own grid. Averaging the denoised signals over shifts of that grid removes this,
and the average is cheap: the shifts share their coefficients. A frame is such a family of
shifted orthonormal transforms, seen as one list of coefficient arrays ("bands").
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
    """What is known of one array of coefficients without looking at it."""

    kind: str
    """Bands of the same kind (shifts of one transform, say) are judged alike."""
    share: float
    """In which fraction of the shifted transforms a coefficient of this band takes part."""
    axes: tuple[int, ...]
    """Axes along which neighbours in the array are neighbours in the signal; none if the
    coefficients are to be judged one by one."""
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
        """Coefficients of `values` in every shifted transform."""

    @abstractmethod
    def synthesise(self, bands: Bands) -> Array:
        """Average over the shifts of the signals with these coefficients; may reuse `bands`."""

    @abstractmethod
    def spread(self, bands: Bands) -> Array:
        """Variance of every sample when coefficients vary independently within each shift.

        ``sum_k share_k * bands_k * atom_k(i)^2``: the average over the shifts of the diagonal
        of ``W^T diag(bands) W``.
        """

    @abstractmethod
    def gather(self, values: Array) -> Iterator[Array]:
        """Variance of every coefficient when samples vary independently, band by band.

        ``sum_i atom_k(i)^2 * values_i``: the adjoint of `spread` but for the shares.
        """

    @abstractmethod
    def inside(self, window: tuple[slice, ...]) -> Iterator[Array]:
        """Share of every atom's energy that lies in a box of the grid, band by band.

        `gather` of the indicator of the box, without its cost.
        """
