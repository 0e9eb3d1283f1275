"""Constants of the denoiser, each with its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relvec.noise import NoiseTuning
from relvec.noise.tuning import DEFAULT as DEFAULT_NOISE

__all__ = ["DEFAULT", "DenoisingTuning"]


@dataclass(frozen=True)
class DenoisingTuning:
    """Sizes of tiles, numbers of shifts, and the choice of group penalties.

    Values that depend on the number of axes are tuples for one, two, three, and four or more axes.

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
    """Samples along each axis of a tile: about a million in all, so that memory does not grow with
    the signal."""
    tile_overlaps: tuple[int, int, int, int] = (1 << 12, 32, 8, 4)
    """Half the length of the zone in which two tiles are averaged. A tile extends by the same
    length beyond that zone."""
    all_shifts_below: int = 1 << 14
    """Number of samples up to which all shifts are averaged; beyond, a few shifts give the same
    error."""
    doublings: tuple[int, int, int, int] = (5, 3, 2, 1)
    """Levels with both shifts for larger signals: 32, 8x8 and 4x4x4 shifts."""
    penalty_sample: int = 1 << 16
    """Coefficients of a band on which its group penalty is chosen."""
    stein_factor: float = 2.25
    """Factor of the divergence when two group penalties are compared. Stein's risk estimate has 2.
    It neglects that the padding mirrors the data near the ends; the larger factor compensates for
    that, at the expense of the lower penalty."""
    max_noise_ratio: float = 1e6
    """Largest ratio of a sample's noise variance to the median, and of the median to it. Smaller
    variances are raised: they are still far above the rounding errors of the transforms. Samples
    with larger ones are treated as missing."""
    equal_noise_ratio: float = 1.25
    """Ratio up to which the noise levels of two channels count as equal."""
    noise: NoiseTuning = DEFAULT_NOISE
    """Constants of the noise estimate."""

    def tile_side(self, n_axes: int) -> int:
        """Samples along each axis of a tile."""
        return self.tile_sides[min(n_axes, 4) - 1]

    def tile_overlap(self, n_axes: int) -> int:
        """Half the length of the zone in which two tiles are averaged."""
        return self.tile_overlaps[min(n_axes, 4) - 1]

    def n_doublings(self, shape: tuple[int, ...]) -> int | None:
        """Number of levels with both shifts; None for all levels."""
        if math.prod(shape) <= self.all_shifts_below:
            return None
        return self.doublings[min(len(shape), 4) - 1]


DEFAULT = DenoisingTuning()
"""Defaults of `denoise`."""
