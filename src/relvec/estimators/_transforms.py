"""How the options of a denoiser become transforms to try."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from relvec._checks import check_choice, check_integer
from relvec.denoising.recipes import Recipe, choose_recipes

__all__ = ["PLAIN", "resolve_recipes"]

SPECIAL = ("auto", "cosine")
"""What may stand for a dictionary besides wavelets."""
MOST = 8
"""Transforms in a blend: the search for their weights doubles with each."""
PLAIN = "sym8"
"""Transform of the plain model unless another is asked for."""


def resolve_recipes(
    dictionary: Any, neighbours: Any, shape: tuple[int, ...], *, is_plain: bool
) -> list[Recipe]:
    """Turn the options `dictionary` and `neighbours` into recipes for signals of a shape."""
    is_list = not isinstance(dictionary, str) and np.iterable(dictionary)
    names = list(dictionary) if is_list else [dictionary]
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(
            'dictionary must be "auto", a wavelet, "cosine" or a list of these; '
            f"got {dictionary!r}."
        )
    if len(names) > MOST:
        raise ValueError(f"At most {MOST} transforms can be blended; got {len(names)}.")
    for name in names:
        if difflib.get_close_matches(name, SPECIAL, cutoff=0.75):
            check_choice("dictionary", name, SPECIAL)
    if is_plain:
        if len(names) > 1:
            raise ValueError(
                f"The plain mode uses one transform; got {names}. To combine several in one "
                'model, use SparseBayesRegressor(WaveletBasis("haar") + CosineBasis()).'
            )
        return [Recipe(PLAIN if names == ["auto"] else names[0], 1)]
    if isinstance(neighbours, str):
        check_choice("neighbours", neighbours, ("auto",))
        return choose_recipes(names, shape, None)
    width = check_integer("neighbours", neighbours, minimum=1)
    if width % 2 == 0:
        raise ValueError(
            f"neighbours must be odd, with the coefficient in the middle; got {width}."
        )
    return choose_recipes(names, shape, width)
