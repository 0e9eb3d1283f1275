"""Estimate the noise level of an array of any dimension."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._checks import check_choice
from relvec._compat import import_optional
from relvec._typing import BoolArray
from relvec.noise.envelope import Envelope, estimate_lower_envelope
from relvec.noise.patches import estimate_from_patches
from relvec.noise.reading import (
    compute_equal_fraction,
    cut_complete_boxes,
    is_planar,
    is_stuck,
    read_boxes,
)
from relvec.noise.regions import difference_regions, line_regions, plane_regions
from relvec.noise.report import NoiseLevel
from relvec.noise.scale import mad
from relvec.noise.tuning import DEFAULT, NoiseTuning

__all__ = ["METHODS", "estimate_noise_level"]

Array = NDArray[np.float64]

METHODS = ("auto", "envelope", "mad", "patches")
"""Names of the estimates."""


def estimate_noise_level(
    values: Any,
    *,
    observed: BoolArray | None = None,
    method: str = "auto",
    tuning: NoiseTuning = DEFAULT,
) -> NoiseLevel:
    """Estimate the noise level of an array without channels, with its reliability.

    Parameters
    ----------
    values : ndarray
        Signal, image or volume, real or complex. NaN counts as missing. For complex values the
        real and imaginary parts are used together. From a large array, which may be
        memory-mapped, only a part is read: 2^16 samples of a signal, 2^18 of an image.
    observed : ndarray of bool, shaped like `values`, or None, default=None
        True where a sample is observed.
    method : {"auto", "envelope", "mad", "patches"}, default="auto"
        As in `estimate_noise`.
    tuning : NoiseTuning, optional
        Constants of the estimate.

    Returns
    -------
    level : NoiseLevel

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(scale=0.2, size=4096)
    >>> round(estimate_noise_level(noise + np.sin(np.arange(4096))).std, 2)
    0.20
    """
    check_choice("method", method, METHODS)
    if method == "patches":
        _check_planar(values.shape, tuning)
    if method == "mad" and _is_complete_line(values, observed, tuning):
        return _estimate_from_finest_wavelets(
            values[np.newaxis], tuning
        )  # nothing but a transform and a median
    boxes, usable = _read_usable_boxes(values, observed, tuning)
    if method == "mad" and usable.all() and min(boxes.shape[1:]) >= tuning.min_envelope_samples:
        return _estimate_from_finest_wavelets(boxes, tuning)
    boxes, exponent, tiny = _normalise(boxes, usable, values.dtype)
    n_usable = int(np.count_nonzero(usable))
    usable &= ~is_stuck(boxes, tuning.reading.min_stuck_run)
    # A few changing samples between stuck ones may be jumps rather than noise.
    n_moving = int(np.count_nonzero(usable))
    if n_moving < min(n_usable, max(tuning.min_envelope_samples, n_usable // 20)):
        return _make_zero_level(n_usable)
    level = _estimate_normalised(boxes, usable, method, tuning)
    if level.std <= tiny:
        return _make_zero_level(n_usable)
    is_reliable = (
        level.is_reliable and compute_equal_fraction(boxes, usable) < tuning.max_equal_fraction
    )
    return replace(level, std=math.ldexp(level.std, exponent), is_reliable=is_reliable)


def _check_planar(shape: tuple[int, ...], tuning: NoiseTuning) -> None:
    if not is_planar(shape, tuning.reading):
        min_side = tuning.reading.min_plane_side
        raise ValueError(
            f'method="patches" needs an image: at least two axes of {min_side} or more entries; '
            f'got an array of shape {shape}. Use method="auto".'
        )


def _is_complete_line(values: Any, observed: BoolArray | None, tuning: NoiseTuning) -> bool:
    """Whether a signal is one complete line that is short enough to be used whole."""
    return (
        observed is None
        and values.ndim == 1
        and values.dtype == np.float64
        and tuning.min_envelope_samples <= values.size <= tuning.reading.max_samples
        and bool(np.isfinite(values.sum()))
    )


def _make_zero_level(n_samples: int) -> NoiseLevel:
    """Return the report for signals in which no noise is found."""
    return NoiseLevel(0.0, math.inf, False, True, True, "none", "nothing", n_samples)


def _read_usable_boxes(
    values: Any, observed: BoolArray | None, tuning: NoiseTuning
) -> tuple[Array, BoolArray]:
    """Read a part of the values, or all of them if too few are observed in that part."""
    boxes, usable = read_boxes(values, observed, tuning=tuning.reading)
    if np.count_nonzero(usable) < tuning.min_samples:
        boxes, usable = read_boxes(values, observed, everything=True, tuning=tuning.reading)
    if np.isinf(boxes[usable]).any():
        raise ValueError(
            "signal must be finite where it is observed; got infinite values. Replace them by "
            "NaN, or mark them as False in mask; missing values are left out."
        )
    n_usable = int(np.count_nonzero(usable))
    if n_usable < 2:
        raise ValueError(
            f"signal must have at least two observed values; got {n_usable} in an array of shape "
            f"{values.shape}. Pass more data, or the standard deviation of the noise as noise_std."
        )
    return boxes, usable


def _normalise(boxes: Array, usable: BoolArray, dtype: np.dtype[Any]) -> tuple[Array, int, float]:
    """Subtract approximately the median, and scale by a power of two to magnitude one.

    Returns
    -------
    boxes : ndarray
        Between -1 and 1 where usable, zero elsewhere.
    exponent : int
        Binary exponent of the factor that was divided out.
    tiny : float
        Noise level that rounding errors alone can cause.
    """
    known = boxes[usable]
    first = math.frexp(float(np.abs(known).max()))[1]
    known = np.ldexp(known, -first)
    known -= np.median(known[:: max(1, len(known) >> 12)])
    second = math.frexp(float(np.abs(known).max()))[1]
    scaled = np.zeros(boxes.shape)
    scaled[usable] = np.ldexp(known, -second)
    # A magnitude of one before the subtraction is 2^-second now.
    precision = float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0
    return scaled, first + second, max(1e-10, math.ldexp(2.0 * precision, min(-second, 900)))


def _estimate_normalised(
    boxes: Array, usable: BoolArray, method: str, tuning: NoiseTuning
) -> NoiseLevel:
    """Estimate the noise level of normalised values."""
    n = int(np.count_nonzero(usable))
    if n < tuning.min_envelope_samples:
        return _estimate_from_successive_values(boxes, usable)
    complete = boxes if usable.all() else cut_complete_boxes(boxes, usable, tuning.reading)
    if complete is None or min(complete.shape[1:]) < tuning.reading.min_plane_side:
        return _estimate_from_differences(boxes, usable, tuning)
    if method == "mad":
        return _estimate_from_finest_wavelets(complete, tuning)
    if complete.ndim == 2:
        return _estimate_from_lines(complete, tuning)
    return _estimate_from_planes(complete, method, tuning)


def _estimate_from_lines(lines: Array, tuning: NoiseTuning) -> NoiseLevel:
    n = lines.shape[1]
    # With smaller blocks, short signals show more empty regions, but also more false ones.
    min_coefficients = max(32, min(64, 3 * n // 8))
    regions = line_regions(lines, 32 if n >= 256 else 16)
    envelope = estimate_lower_envelope(regions, min_coefficients, tuning.envelope)
    return _assess_envelope(envelope, lines.size, tuning.min_core_ratio_lines, tuning)


def _estimate_from_planes(planes: Array, method: str, tuning: NoiseTuning) -> NoiseLevel:
    envelope = estimate_lower_envelope(plane_regions(planes), 256, tuning.envelope)
    level = _assess_envelope(envelope, planes.size, tuning.min_core_ratio_planes, tuning)
    if method == "envelope":
        return level
    scale = estimate_from_patches(planes, tuning.patches)
    if planes.size >= tuning.min_comparable_pixels:
        agree = abs(scale - level.std) <= tuning.max_disagreement * max(scale, level.std)
        level = replace(level, is_reliable=level.is_reliable and agree)
        if method == "auto" and not agree and scale > level.std:
            # Both are upper bounds: take the lower. In an image of many isolated bright pixels no
            # patch is flat.
            return level
    if method == "auto" and planes.size < tuning.min_patch_pixels:
        return level
    return replace(level, std=scale, method="patches", source="flat patches")


def _estimate_from_differences(boxes: Array, usable: BoolArray, tuning: NoiseTuning) -> NoiseLevel:
    """Estimate the envelope over differences of neighbours.

    It is too high unless the signal is smooth somewhere.
    """
    n = int(np.count_nonzero(usable))
    envelope = estimate_lower_envelope(difference_regions(boxes, usable, 16), 64, tuning.envelope)
    if envelope.std == 0.0:
        return _estimate_from_successive_values(boxes, usable)
    return replace(
        _assess_envelope(envelope, n, tuning.min_core_ratio_lines, tuning), method="differences"
    )


def _estimate_from_successive_values(boxes: Array, usable: BoolArray) -> NoiseLevel:
    """Compute the MAD of second differences of successive observed values, ignoring gaps."""
    differences = []
    for box, is_usable in zip(boxes, usable, strict=True):
        known = box[is_usable]
        order = min(2, len(known) - 1)
        if order > 0:
            # Differences of white noise have variance 2 sigma^2 (weights 1, -1) or 6 sigma^2
            # (weights 1, -2, 1).
            differences.append(np.diff(known, order) / math.sqrt(2.0 if order == 1 else 6.0))
    values = np.concatenate(differences) if differences else np.zeros(1)
    error = 1.17 / math.sqrt(len(values))
    n = int(np.count_nonzero(usable))
    return NoiseLevel(mad(values), error, True, True, False, "differences", "neighbours", n)


def _estimate_from_finest_wavelets(boxes: Array, tuning: NoiseTuning) -> NoiseLevel:
    """Compute the MAD of the finest wavelet coefficients (Donoho and Johnstone, 1994)."""
    pywt = import_optional("pywt")
    if boxes.ndim == 2:
        lines = [pywt.downcoef("d", line, "sym8", "periodization") for line in boxes]
        finest = lines[0] if len(lines) == 1 else np.stack(lines)
    else:
        finest = pywt.dwt2(boxes, "sym8", "periodization", axes=(-2, -1))[1][2]
    n = boxes.size
    error = 1.17 / math.sqrt(finest.size)
    std = mad(finest)
    if std <= 1e-10 * max(float(boxes.max()), -float(boxes.min())):
        return _make_zero_level(n)
    is_weak = n < tuning.min_samples or error > tuning.max_standard_error
    return NoiseLevel(std, error, True, is_weak, False, "mad", "the finest sym8", n)


def _assess_envelope(envelope: Envelope, n: int, core: float, tuning: NoiseTuning) -> NoiseLevel:
    """Assess the reliability of an envelope over `n` samples."""
    is_reliable = (
        envelope.core_ratio >= core - tuning.core_ratio_scatter / math.sqrt(n)
        and envelope.quiet_fraction >= tuning.min_quiet_fraction
        and envelope.null_fraction >= tuning.min_null_fraction
    )
    is_weak = n < tuning.min_samples or envelope.standard_error > tuning.max_standard_error
    return NoiseLevel(
        std=envelope.std,
        standard_error=envelope.standard_error,
        is_reliable=is_reliable,
        is_weak=is_weak,
        is_degenerate=False,
        method="envelope",
        source=envelope.source,
        n_samples=n,
    )
