"""Which transforms are tried on a signal."""

from __future__ import annotations

import difflib
from typing import Any, NamedTuple

import numpy as np

from relvec._checks import check_choice, check_integer
from relvec.denoising.canvas import Canvas
from relvec.denoising.frame import Frame
from relvec.denoising.shifted_cosines import CosineFrame
from relvec.denoising.shifted_wavelets import WaveletFrame, wavelet_levels
from relvec.denoising.tuning import DEFAULT, DenoisingTuning
from relvec.dictionaries.filter_bank import orthogonal_wavelet

__all__ = ["PLAIN", "Recipe", "default_recipes", "resolve_recipes", "set_up"]

PLAIN = "sym8"
"""Transform of the plain model unless another is asked for."""


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


def resolve_recipes(
    dictionary: Any, neighbours: Any, shape: tuple[int, ...], *, is_plain: bool
) -> list[Recipe]:
    """Turn the options of a denoiser into recipes.

    Parameters
    ----------
    dictionary : str or list of str
        "auto" for all defaults, wavelets, or "cosine".
    neighbours : int or "auto"
        Neighbours that share a precision; "auto" for what suits each transform.
    shape : tuple of int
        Shape of the signal.
    is_plain : bool
        Whether there is to be one transform whose coefficients are judged one by one.
    """
    names = _transform_names(dictionary)
    if is_plain:
        if len(names) > 1:
            raise ValueError(
                f"The plain mode uses one transform; got {names}. To combine several in one "
                'model, use SparseBayesRegressor(WaveletBasis("haar") + CosineBasis()).'
            )
        return [Recipe(PLAIN if names == ["auto"] else names[0], 1)]
    width = _neighbourhood(neighbours)
    recipes = [recipe for name in names for recipe in _recipes_of(name, shape)]
    if width is not None:
        recipes = [recipe._replace(width=width) for recipe in recipes]
    return list(dict.fromkeys(recipes))


def _transform_names(dictionary: Any) -> list[str]:
    is_list = not isinstance(dictionary, str) and np.iterable(dictionary)
    names = list(dictionary) if is_list else [dictionary]
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(
            'dictionary must be "auto", a wavelet, "cosine" or a list of these; '
            f"got {dictionary!r}."
        )
    if len(names) > 8:  # the search for their weights doubles with each
        raise ValueError(f"At most 8 transforms can be blended; got {len(names)}.")
    not_wavelets = ("auto", "cosine")
    for name in names:
        if difflib.get_close_matches(name, not_wavelets, cutoff=0.75):
            check_choice("dictionary", name, not_wavelets)
    return names


def _neighbourhood(neighbours: Any) -> int | None:
    if isinstance(neighbours, str):
        check_choice("neighbours", neighbours, ("auto",))
        return None
    width = check_integer("neighbours", neighbours, minimum=1)
    if width % 2 == 0:
        raise ValueError(
            f"neighbours must be odd, with the coefficient in the middle; got {width}."
        )
    return width


def _recipes_of(name: str, shape: tuple[int, ...]) -> list[Recipe]:
    defaults = default_recipes(shape)
    if name == "auto":
        return defaults
    transform = name if name == "cosine" else orthogonal_wavelet(name).name
    known = [recipe for recipe in defaults if recipe.transform == transform]
    if name == "cosine" and not known:
        raise ValueError(
            f"A signal of shape {shape} is too small for frames of cosines. "
            'Use a wavelet, or mode="plain" for cosines over the whole signal.'
        )
    n_axes = sum(size > 1 for size in shape)
    return known or [Recipe(transform, 5 if n_axes == 2 else 3)]


def set_up(
    recipe: Recipe, shape: tuple[int, ...], boundary: str, tuning: DenoisingTuning = DEFAULT
) -> tuple[Canvas, Frame]:
    """Make the grid and the transform of a recipe for signals of a shape."""
    if recipe.transform == "cosine":
        size = recipe.frame_size
        canvas = Canvas(shape, (size,) * len(shape), boundary, least=size // 2)
        return canvas, CosineFrame(canvas.shape, size, n_shifts=4 if len(shape) < 3 else 2)
    wavelet = orthogonal_wavelet(recipe.transform).name
    levels = wavelet_levels(shape)
    canvas = Canvas(shape, tuple(2**level for level in levels), boundary)
    return canvas, WaveletFrame(canvas.shape, wavelet, levels, tuning.n_doublings(shape))
