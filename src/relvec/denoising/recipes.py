"""Which transforms are tried on a signal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from relvec.denoising.canvas import Canvas
from relvec.denoising.frame import Frame
from relvec.denoising.shifted_cosines import CosineFrame
from relvec.denoising.shifted_wavelets import WaveletFrame, wavelet_levels
from relvec.dictionaries.filter_bank import orthogonal_wavelet

__all__ = ["Recipe", "choose_recipes", "default_recipes", "set_up"]

LARGE = 1 << 14
"""Beyond this many samples a few shifts do as well as all of them."""
DOUBLINGS = {1: 5, 2: 3, 3: 2}
"""Levels with both shifts for large signals, by number of axes: 32, 8x8 and 4x4x4 shifts."""


class Recipe(NamedTuple):
    """One way to denoise: a transform, and how many neighbours share a precision."""

    transform: str
    """An orthogonal wavelet, or "cosine"."""
    width: int
    """Odd width of the neighbourhood along each axis; 1 judges coefficients one by one."""
    frame_size: int = 0
    """Samples in a frame of cosines along each axis."""

    @property
    def label(self) -> str:
        """A readable name."""
        frames = f" in frames of {self.frame_size}" if self.frame_size else ""
        return f"{self.transform}{frames}"


def default_recipes(shape: tuple[int, ...]) -> list[Recipe]:
    """Transforms that complement each other: for jumps, for peaks, for waves.

    Examples
    --------
    >>> [recipe.label for recipe in default_recipes((64,))]
    ['haar', 'db2', 'sym8', 'cosine in frames of 32']
    """
    n_axes = sum(size > 1 for size in shape)
    if n_axes <= 1:
        wavelets = [Recipe("haar", 1), Recipe("db2", 3), Recipe("sym8", 3)]
        frames = [Recipe("cosine", 3, size) for size in (32, 128, 512)]
    elif n_axes == 2:
        wavelets = [Recipe("haar", 3), Recipe("sym8", 5)]
        frames = [Recipe("cosine", 3, 16)]
    else:
        wavelets = [Recipe("haar", 3), Recipe("sym8", 3)]
        frames = [Recipe("cosine", 3, 8)]
    shortest = min((size for size in shape if size > 1), default=1)
    return wavelets + [recipe for recipe in frames if 2 * recipe.frame_size <= shortest]


def choose_recipes(names: Sequence[str], shape: tuple[int, ...], width: int | None) -> list[Recipe]:
    """Turn names of transforms into recipes.

    Parameters
    ----------
    names : sequence of str
        "auto" for all defaults, wavelets, or "cosine".
    shape : tuple of int
        Shape of the signal.
    width : int or None
        Neighbours that share a precision; None for what suits each transform.
    """
    defaults = default_recipes(shape)
    n_axes = sum(size > 1 for size in shape)
    recipes: list[Recipe] = []
    for name in names:
        if name == "auto":
            recipes += defaults
        elif name == "cosine":
            cosines = [recipe for recipe in defaults if recipe.transform == "cosine"]
            if not cosines:
                raise ValueError(
                    f"A signal of shape {shape} is too small for frames of cosines. "
                    'Use a wavelet, or mode="plain" for cosines over the whole signal.'
                )
            recipes += cosines
        else:
            wavelet = orthogonal_wavelet(name).name
            like = [recipe for recipe in defaults if recipe.transform == wavelet]
            recipes += like or [Recipe(wavelet, 5 if n_axes == 2 else 3)]
    if width is not None:
        recipes = [recipe._replace(width=width) for recipe in recipes]
    return list(dict.fromkeys(recipes))


def set_up(recipe: Recipe, shape: tuple[int, ...], boundary: str) -> tuple[Canvas, Frame]:
    """Make the grid and the transform of a recipe for signals of a shape."""
    if recipe.transform == "cosine":
        size = recipe.frame_size
        canvas = Canvas(shape, (size,) * len(shape), boundary, least=size // 2)
        return canvas, CosineFrame(canvas.shape, size, n_shifts=4 if len(shape) < 3 else 2)
    wavelet = orthogonal_wavelet(recipe.transform).name
    levels = wavelet_levels(shape)
    canvas = Canvas(shape, tuple(2**level for level in levels), boundary)
    doublings = DOUBLINGS.get(len(shape), 1) if math.prod(shape) > LARGE else None
    return canvas, WaveletFrame(canvas.shape, wavelet, levels, doublings)
