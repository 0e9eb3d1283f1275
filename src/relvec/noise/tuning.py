"""The numbers by which noise levels are looked for, and where each comes from."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "EnvelopeTuning", "NoiseTuning", "PatchTuning", "ReadingTuning"]


@dataclass(frozen=True)
class ReadingTuning:
    """How much of a large array is read, and which values cannot be used."""

    most_samples: int = 1 << 16
    """Samples read of a signal: the standard error is then 0.3 %."""
    most_pixels: int = 1 << 18
    """Pixels read of images, of which more are needed because they are less sparse."""
    line: int = 8192
    """Samples in a row, so that the widest lapped cosines (2048) see several frames."""
    strip: int = 64
    """Rows read at one place of a large image: eight of the largest regions."""
    widest: int = 4096
    """Columns read at one place of a large image."""
    flattest: int = 16
    """Axes shorter than this do not make a plane: the widest block of cosines."""
    stuck: int = 16
    """Equal neighbours in a row that noise cannot have: padding, saturation, a dead sensor."""
    plenty_in_lines: int = 1 << 12
    """Complete samples of lines for which the loss of others does not matter."""
    plenty_in_planes: int = 1 << 14
    """The same of planes."""


@dataclass(frozen=True)
class EnvelopeTuning:
    """How upper bounds of the noise level become one estimate."""

    fractions: tuple[float, ...] = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)
    """Shares of emptiest blocks that are measured; the first two are all and one half."""
    enough_for_small_shares: int = 512
    """Coefficients needed for shares below a quarter: their selection is the noisiest."""
    error_of_all: float = 0.80
    """Standard error of the log of a clipped scale times ``sqrt(n)``, by simulation."""
    error_of_chosen: float = 0.92
    """The same for blocks that were chosen, one half by the other."""
    penalty: float = 2.0
    """Standard errors added to a bound before the lowest is taken; chosen on a set of signals,
    where 1.5 to 2 are nearly equivalent."""
    compatible: float = 1.75
    """Standard errors by which bounds may exceed the lowest to be averaged; chosen likewise."""
    diagnosed_blocks: int = 1024
    """Blocks looked at for the diagnosis: more do not make its shares more certain."""


@dataclass(frozen=True)
class PatchTuning:
    """How the flattest patches of an image are found."""

    side: int = 5
    """Pixels along a patch, as published."""
    n_equal: int = 7
    """Smallest variances that must agree before they are believed to be noise, as published."""
    agree: float = 9.8
    """Spread of that many equal variances, in units of ``variance / sqrt(n_patches)``."""
    fewest: int = 500
    """Patches below which covariances are too noisy."""
    dense_below: int = 192 * 192
    """Pixels up to which every patch counts; above, every second one in both directions."""


@dataclass(frozen=True)
class NoiseTuning:
    """The whole search for a noise level, and when its result is to be trusted.

    The thresholds of the diagnosis were set on one half of a set of signals and images.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.noise import NoiseTuning, noise_level
    >>> noise = np.random.default_rng(0).normal(size=400)
    >>> noise_level(noise).is_weak, noise_level(noise, tuning=NoiseTuning(few_samples=300)).is_weak
    (True, False)
    """

    reading: ReadingTuning = ReadingTuning()
    envelope: EnvelopeTuning = EnvelopeTuning()
    patches: PatchTuning = PatchTuning()
    few_samples: int = 512
    """Samples below which every estimate is called weak, and no diagnosis is trusted."""
    shortest_envelope: int = 32
    """Samples below which regions hold too little; neighbours are compared instead."""
    patches_from: int = 128 * 128
    """Pixels from which patches beat the envelope."""
    comparable_from: int = 64 * 64
    """Pixels from which both must agree to be believed; on less, patches are too low."""
    core_of_lines: float = 0.945
    """Least shape of the core of a reliable envelope over lines."""
    core_of_planes: float = 0.86
    """The same over planes."""
    core_scatter: float = 0.7
    """Allowance for the core of a small sample, times the root of its size."""
    quiet_share: float = 0.40
    """Least share of quiet blocks of a reliable envelope."""
    null_share: float = 0.40
    """Least share of coefficients that look like noise."""
    disagree: float = 0.12
    """Relative difference of envelope and patches from which neither is believed."""
    weak_error: float = 0.06
    """Relative standard error from which an estimate is weak."""
    most_equal: float = 0.3
    """Share of neighbours that are exactly equal from which samples were repeated or rounded."""


DEFAULT = NoiseTuning()
"""What `estimate_noise` uses."""
