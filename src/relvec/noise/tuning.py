"""Constants of the noise estimates, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "EnvelopeTuning", "NoiseTuning", "PatchTuning", "ReadingTuning"]


@dataclass(frozen=True)
class ReadingTuning:
    """How much of a large array is read, and which values are not used."""

    max_samples: int = 1 << 16
    """Samples read from a signal: the relative standard error is then 0.3 %."""
    max_pixels: int = 1 << 18
    """Pixels read from images; more than for signals, because images are less sparse."""
    line_length: int = 8192
    """Contiguous samples read from a long signal: several of the longest cosine frames (2048)."""
    strip_height: int = 64
    """Contiguous rows read from a large image: eight of the largest regions."""
    strip_width: int = 4096
    """Contiguous columns read from a large image."""
    min_plane_side: int = 16
    """Shortest axis of a plane: the side of the largest block of cosines."""
    min_stuck_run: int = 16
    """Length of a run of equal values that cannot be noise: padding, saturation, a dead sensor."""
    enough_in_lines: int = 1 << 12
    """Number of complete samples of lines that is enough, even if others are lost."""
    enough_in_planes: int = 1 << 14
    """The same for planes."""


@dataclass(frozen=True)
class EnvelopeTuning:
    """How upper bounds of the noise level are combined into one estimate."""

    fractions: tuple[float, ...] = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)
    """Fractions of the quietest blocks that are measured; the first two must be 1 and 1/2."""
    min_for_small_fractions: int = 512
    """Coefficients needed for fractions below a quarter, whose selection is the noisiest."""
    error_factor_all: float = 0.80
    """Standard error of the log of a clipped scale, times ``sqrt(n)``; by simulation."""
    error_factor_selected: float = 0.92
    """The same for cross-fitted blocks."""
    penalty: float = 2.0
    """Standard errors added to a bound before the lowest is taken. Chosen on a set of test
    signals; 1.5 to 2 are nearly equivalent."""
    compatibility_limit: float = 1.75
    """Standard errors by which a bound may exceed the lowest and still be averaged; chosen on the
    same signals."""
    max_diagnosed_blocks: int = 1024
    """Blocks used for the diagnostics: more do not make the fractions more accurate."""


@dataclass(frozen=True)
class PatchTuning:
    """Selection of the smoothest patches of an image (Pyatykh, Hesser and Zheng, 2013)."""

    side: int = 5
    """Side of a patch in pixels, as published."""
    n_equal: int = 7
    """Number of smallest eigenvalues that must agree, as published."""
    agreement_factor: float = 9.8
    """Largest spread of these eigenvalues, in units of ``eigenvalue / sqrt(n_patches)``."""
    min_patches: int = 500
    """Number of patches below which covariances are too noisy."""
    all_patches_below: int = 192 * 192
    """Pixels up to which every patch is used; above, every second one in both directions."""


@dataclass(frozen=True)
class NoiseTuning:
    """Constants of the noise estimate and of its reliability.

    The thresholds of the diagnostics were set on one half of a set of signals and images.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.noise import NoiseTuning, estimate_noise_level
    >>> noise = np.random.default_rng(0).normal(size=400)
    >>> (
    ...     estimate_noise_level(noise).is_weak,
    ...     estimate_noise_level(noise, tuning=NoiseTuning(min_samples=300)).is_weak,
    ... )
    (True, False)
    """

    reading: ReadingTuning = ReadingTuning()
    envelope: EnvelopeTuning = EnvelopeTuning()
    patches: PatchTuning = PatchTuning()
    min_samples: int = 512
    """Number of samples below which every estimate is marked weak, and reliability is not
    checked."""
    min_envelope_samples: int = 32
    """Number of samples below which second differences are used instead of the envelope."""
    min_patch_pixels: int = 128 * 128
    """Number of pixels from which patches are more accurate than the envelope."""
    min_comparable_pixels: int = 64 * 64
    """Number of pixels from which envelope and patches must agree; with fewer, the estimate of the
    patches is too low."""
    min_core_ratio_lines: float = 0.945
    """Smallest `core_ratio` of a reliable envelope over lines."""
    min_core_ratio_planes: float = 0.86
    """The same over planes."""
    core_ratio_scatter: float = 0.7
    """Tolerance for the `core_ratio` of a small sample, times ``sqrt(n_samples)``."""
    min_quiet_fraction: float = 0.40
    """Smallest `quiet_fraction` of a reliable envelope."""
    min_null_fraction: float = 0.40
    """Smallest `null_fraction` of a reliable envelope."""
    max_disagreement: float = 0.12
    """Largest relative difference between envelope and patches at which they are reliable."""
    max_standard_error: float = 0.06
    """Relative standard error above which an estimate is weak."""
    max_equal_fraction: float = 0.3
    """Fraction of equal neighbours above which samples must have been repeated or rounded."""


DEFAULT = NoiseTuning()
"""Defaults of `estimate_noise`."""
