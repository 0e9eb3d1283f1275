"""Choice of the transforms that are averaged."""

from __future__ import annotations

import difflib
from typing import Any, NamedTuple

import numpy as np

from relvec._checks import check_choice, check_integer
from relvec.denoising.frame import Frame
from relvec.denoising.padding import PaddedGrid
from relvec.denoising.shifted_cosines import CosineFrame
from relvec.denoising.shifted_wavelets import WaveletFrame, wavelet_levels
from relvec.denoising.tuning import DEFAULT, DenoisingTuning
from relvec.dictionaries.filter_bank import orthogonal_wavelet

__all__ = [
    "PLAIN_TRANSFORM",
    "TransformChoice",
    "default_transforms",
    "make_frame",
    "resolve_transforms",
]

PLAIN_TRANSFORM = "sym8"
"""Default transform of the plain model."""


class TransformChoice(NamedTuple):
    """A transform, and the number of neighbours that share a precision."""

    transform: str
    """An orthogonal wavelet, or "cosine"."""
    width: int
    """Odd number of coefficients in a group along each axis; 1 for no groups."""
    frame_size: int = 0
    """Samples along each axis of a frame of the lapped cosine transform."""

    @property
    def label(self) -> str:
        """Name shown to users."""
        frames = f" in frames of {self.frame_size}" if self.frame_size else ""
        return f"{self.transform}{frames}"


def default_transforms(shape: tuple[int, ...]) -> list[TransformChoice]:
    """Return the transforms that are averaged by default: for jumps, peaks and oscillations.

    Examples
    --------
    >>> [choice.label for choice in default_transforms((64,))]
    ['haar', 'db2', 'sym8', 'cosine in frames of 32']
    """
    n_axes = sum(size > 1 for size in shape)
    if n_axes <= 1:
        wavelets = [
            TransformChoice("haar", 1),
            TransformChoice("db2", 3),
            TransformChoice("sym8", 3),
        ]
        frames = [TransformChoice("cosine", 3, size) for size in (32, 128, 512)]
    elif n_axes == 2:
        wavelets = [TransformChoice("haar", 3), TransformChoice("sym8", 5)]
        frames = [TransformChoice("cosine", 3, 16)]
    else:
        wavelets = [TransformChoice("haar", 3), TransformChoice("sym8", 3)]
        frames = [TransformChoice("cosine", 3, 8)]
    shortest = min((size for size in shape if size > 1), default=1)
    return wavelets + [choice for choice in frames if 2 * choice.frame_size <= shortest]


def resolve_transforms(
    dictionary: Any, neighbours: Any, shape: tuple[int, ...], *, is_plain: bool
) -> list[TransformChoice]:
    """Convert the options of a denoiser to transforms.

    Parameters
    ----------
    dictionary : str or list of str
        "auto" for the defaults, names of wavelets, or "cosine".
    neighbours : int or "auto"
        Number of neighbours that share a precision; "auto" for the default of each transform.
    shape : tuple of int
        Shape of the signal.
    is_plain : bool
        Whether to return one transform, with a precision for every coefficient.

    Returns
    -------
    transforms : list of TransformChoice
    """
    names = _transform_names(dictionary)
    if is_plain:
        if len(names) > 1:
            raise ValueError(
                f"The plain mode uses one transform; got {names}. To combine several in one "
                'model, use SparseBayesRegressor(WaveletBasis("haar") + CosineBasis()).'
            )
        return [TransformChoice(PLAIN_TRANSFORM if names == ["auto"] else names[0], 1)]
    width = _check_neighbours(neighbours)
    transforms = [choice for name in names for choice in _find_transforms(name, shape)]
    if width is not None:
        transforms = [choice._replace(width=width) for choice in transforms]
    return list(dict.fromkeys(transforms))


def _transform_names(dictionary: Any) -> list[str]:
    is_list = not isinstance(dictionary, str) and np.iterable(dictionary)
    names = list(dictionary) if is_list else [dictionary]
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(
            'dictionary must be "auto", a wavelet, "cosine" or a list of these; '
            f"got {dictionary!r}."
        )
    if len(names) > 8:  # the cost of finding the weights doubles with each transform
        raise ValueError(f"At most 8 transforms can be averaged; got {len(names)}.")
    not_wavelets = ("auto", "cosine")
    for name in names:
        if difflib.get_close_matches(name, not_wavelets, cutoff=0.75):
            check_choice("dictionary", name, not_wavelets)
    return names


def _check_neighbours(neighbours: Any) -> int | None:
    if isinstance(neighbours, str):
        check_choice("neighbours", neighbours, ("auto",))
        return None
    width = check_integer("neighbours", neighbours, minimum=1)
    if width % 2 == 0:
        raise ValueError(
            f"neighbours must be odd, as a group is centred on a coefficient; got {width}."
        )
    return width


def _find_transforms(name: str, shape: tuple[int, ...]) -> list[TransformChoice]:
    defaults = default_transforms(shape)
    if name == "auto":
        return defaults
    transform = name if name == "cosine" else orthogonal_wavelet(name).name
    known = [choice for choice in defaults if choice.transform == transform]
    if name == "cosine" and not known:
        raise ValueError(
            f"A signal of shape {shape} is too small for frames of cosines. "
            'Use a wavelet, or mode="plain" for cosines over the whole signal.'
        )
    n_axes = sum(size > 1 for size in shape)
    return known or [TransformChoice(transform, 5 if n_axes == 2 else 3)]


def make_frame(
    choice: TransformChoice,
    shape: tuple[int, ...],
    boundary: str,
    tuning: DenoisingTuning = DEFAULT,
) -> tuple[PaddedGrid, Frame]:
    """Make the padded grid and the shift-averaged transform for signals of a shape."""
    if choice.transform == "cosine":
        size = choice.frame_size
        # Atoms of the lapped transform extend half a frame beyond their own.
        padded = PaddedGrid(shape, (size,) * len(shape), boundary, min_margin=size // 2)
        return padded, CosineFrame(padded.shape, size, n_shifts=4 if len(shape) < 3 else 2)
    wavelet = orthogonal_wavelet(choice.transform).name
    levels = wavelet_levels(shape)
    # Every level halves the axis: its length must be divisible by 2^level.
    padded = PaddedGrid(shape, tuple(2**level for level in levels), boundary)
    return padded, WaveletFrame(padded.shape, wavelet, levels, tuning.n_doublings(shape))
