"""Padding of signals, so that periodic transforms do not join the two ends of the signal."""

from __future__ import annotations

import numpy as np

from relvec.denoising.frame import Array

__all__ = ["BOUNDARIES", "PaddedGrid"]

BOUNDARIES = {
    "symmetric": "symmetric",
    "reflect": "reflect",
    "constant": "edge",
    "periodic": "wrap",
}
"""Boundary extensions, and the modes of `numpy.pad` that implement them."""


class PaddedGrid:
    """A grid of a size that a transform accepts, with the signal in its middle.

    Parameters
    ----------
    shape : tuple of int
        Shape of the signal.
    multiples : tuple of int
        The length of the grid along each axis is a multiple of this.
    boundary : {"symmetric", "reflect", "constant", "periodic"}
        How the signal is extended. A periodic signal whose length is already a multiple is not
        padded.
    min_margin : int, default=0
        Samples added at either end, at least; never less than a sixteenth of the axis.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        multiples: tuple[int, ...],
        boundary: str,
        min_margin: int = 0,
    ) -> None:
        self.mode = BOUNDARIES[boundary]
        self.margins = []
        for size, multiple in zip(shape, multiples, strict=True):
            fits = multiple == 1 or (boundary == "periodic" and size % multiple == 0)
            # Atoms near the ends extend over the margin rather than to the other end of the signal.
            wanted = size if fits else size + 2 * max(size // 16, min_margin)
            # rounded up to the next multiple
            extra = -(-wanted // multiple) * multiple - size
            self.margins.append((extra // 2, extra - extra // 2))
        self.shape = tuple(
            size + sum(margin) for size, margin in zip(shape, self.margins, strict=True)
        )
        self.window = tuple(
            slice(before, before + size)
            for size, (before, _) in zip(shape, self.margins, strict=True)
        )

    def pad(self, values: Array) -> Array:
        """Extend a signal over the whole grid."""
        return np.pad(values, self.margins, mode=self.mode)  # type: ignore[call-overload]

    def embed(self, values: Array) -> Array:
        """Put a signal on the grid, with zeros around it."""
        grid = np.zeros(self.shape)
        grid[self.window] = values
        return grid

    def crop(self, grid: Array) -> Array:
        """Return the signal without the padding of the grid."""
        return np.ascontiguousarray(grid[self.window])
