"""A signal continued beyond its ends, so that transforms can wrap around unseen."""

from __future__ import annotations

import numpy as np

from relvec.denoising.frame import Array

__all__ = ["BOUNDARIES", "Canvas"]

BOUNDARIES = {
    "symmetric": "symmetric",
    "reflect": "reflect",
    "constant": "edge",
    "periodic": "wrap",
}
"""How a signal may go on beyond its ends, and NumPy's name for it."""


class Canvas:
    """A grid large enough for a transform, with the signal in its middle.

    Parameters
    ----------
    shape : tuple of int
        Shape of the signal.
    multiples : tuple of int
        The grid is a multiple of this along each axis.
    boundary : {"symmetric", "reflect", "constant", "periodic"}
        How the signal is continued. A periodic one of fitting size is left as it is.
    least : int, default=0
        Fewest samples added at either end, where one sixteenth of the axis is less.
    """

    def __init__(
        self, shape: tuple[int, ...], multiples: tuple[int, ...], boundary: str, least: int = 0
    ) -> None:
        self.mode = BOUNDARIES[boundary]
        self.margins = []
        for size, multiple in zip(shape, multiples, strict=True):
            is_done = multiple == 1 or (boundary == "periodic" and size % multiple == 0)
            wanted = size if is_done else size + 2 * max(size // 16, least)
            extra = -(-wanted // multiple) * multiple - size
            self.margins.append((extra // 2, extra - extra // 2))
        self.shape = tuple(
            size + sum(margin) for size, margin in zip(shape, self.margins, strict=True)
        )
        self.window = tuple(
            slice(before, before + size)
            for size, (before, _) in zip(shape, self.margins, strict=True)
        )

    def extend(self, values: Array) -> Array:
        """Continue a signal over the whole grid."""
        return np.pad(values, self.margins, mode=self.mode)  # type: ignore[call-overload]

    def surround(self, values: Array) -> Array:
        """Put a signal on the grid with zeros around it."""
        grid = np.zeros(self.shape)
        grid[self.window] = values
        return grid

    def crop(self, grid: Array) -> Array:
        """Cut the signal out of the grid."""
        return np.ascontiguousarray(grid[self.window])
