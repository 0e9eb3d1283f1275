"""The numbers by which signals are denoised, and where each comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relvec.noise import NoiseTuning
from relvec.noise.tuning import DEFAULT as DEFAULT_NOISE

__all__ = ["DEFAULT", "DenoisingTuning"]


@dataclass(frozen=True)
class DenoisingTuning:
    """Sizes of tiles, numbers of shifts, and how penalties are chosen.

    What depends on the number of axes is given for one, two, three, and four or more.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import denoise
    >>> from relvec.denoising import DenoisingTuning
    >>> noisy = np.sin(np.arange(4000) / 99) + np.random.default_rng(0).normal(size=4000)
    >>> tiles = DenoisingTuning(tile_sides=(1024, 64, 24, 24), tile_overlaps=(64, 8, 3, 3))
    >>> bool(np.square(denoise(noisy, tuning=tiles) - denoise(noisy)).mean() < 0.01)
    True
    """

    tile_sides: tuple[int, int, int, int] = (1 << 20, 1024, 96, 24)
    """Samples along each axis of a tile: about a million, so that memory does not grow with the
    signal."""
    tile_overlaps: tuple[int, int, int, int] = (1 << 12, 32, 8, 4)
    """Half the width of the zone in which one tile fades into the next; a tile sees as much
    again beyond it."""
    all_shifts_below: int = 1 << 14
    """Samples beyond which a few shifts do as well as all of them."""
    doublings: tuple[int, int, int, int] = (5, 3, 2, 1)
    """Levels with both shifts for large signals: 32, 8x8 and 4x4x4 shifts."""
    penalty_sample: int = 1 << 16
    """Coefficients of a band on which its penalty is chosen."""
    caution: float = 2.25
    """Stein's formula has 2 here. Near its ends a signal meets its own mirror image, which the
    formula does not know; so the lower penalty must be a little better than equal to be chosen."""
    noise_reach: float = 1e6
    """Noise variances of samples may differ by this factor from their median. Rounding errors of
    transforms are far smaller than the least of them, and a sample with more is as good as
    missing."""
    equal_noise: float = 1.25
    """Ratio up to which the noise levels of two channels count as equal."""
    noise: NoiseTuning = DEFAULT_NOISE
    """How the noise level is found."""

    def tile_side(self, n_axes: int) -> int:
        """Samples along each axis of a tile."""
        return self.tile_sides[min(n_axes, 4) - 1]

    def tile_overlap(self, n_axes: int) -> int:
        """Half the width of the zone in which tiles fade."""
        return self.tile_overlaps[min(n_axes, 4) - 1]

    def n_doublings(self, shape: tuple[int, ...]) -> int | None:
        """Levels with both shifts; None for all of them."""
        if math.prod(shape) <= self.all_shifts_below:
            return None
        return self.doublings[min(len(shape), 4) - 1]


DEFAULT = DenoisingTuning()
"""What `denoise` uses."""
