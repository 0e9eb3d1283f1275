"""The noise level of an array of any dimension."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._checks import check_choice
from relvec._compat import optional
from relvec._typing import BoolArray
from relvec.noise.envelope import Envelope, lower_envelope
from relvec.noise.patches import patch_scale
from relvec.noise.reading import (
    MOST_SAMPLES,
    complete_boxes,
    is_planar,
    is_stuck,
    read_boxes,
    share_of_equals,
)
from relvec.noise.regions import difference_regions, line_regions, plane_regions
from relvec.noise.report import FEW_SAMPLES, NoiseLevel
from relvec.noise.scale import mad

__all__ = ["METHODS", "noise_level"]

Array = NDArray[np.float64]

METHODS = ("auto", "envelope", "mad", "patches")
"""Ways to find the noise level."""

SHORTEST_ENVELOPE = 32
"""Samples below which regions hold too little; neighbours are compared instead."""

PATCHES_FROM = 128 * 128
"""Pixels from which patches beat the envelope."""

COMPARABLE_FROM = 64 * 64
"""Pixels from which both must agree to be believed; on less, patches are too low."""

# Thresholds of the diagnosis, set on one half of a set of signals and images. The shape of the core
# of a small sample scatters, hence the allowance that shrinks with its root.
_CORE_OF_LINES, _CORE_OF_PLANES, _CORE_SCATTER = 0.945, 0.86, 0.7
_QUIET_SHARE, _NULL_SHARE = 0.40, 0.40
_DISAGREE = 0.12
_WEAK_ERROR = 0.06
_MOST_EQUAL = 0.3
"""Share of neighbours that are exactly equal from which samples were repeated or rounded."""


def noise_level(
    values: Any, *, observed: BoolArray | None = None, method: str = "auto"
) -> NoiseLevel:
    """Noise level of an array of floats, all of whose axes are positions.

    Parameters
    ----------
    values : ndarray
        Signal, image or volume, real or complex. NaN counts as missing. Of complex values the
        real and imaginary parts are looked at together. Of large arrays, which may be
        memory-mapped, only a part is read: 2^16 samples of a signal, 2^18 of an image.
    observed : ndarray of bool, shaped like `values`, or None, default=None
        What may be used.
    method : {"auto", "envelope", "mad", "patches"}, default="auto"
        As in `estimate_noise`.

    Returns
    -------
    level : NoiseLevel

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(scale=0.2, size=4096)
    >>> round(noise_level(noise + np.sin(np.arange(4096))).std, 2)
    0.20
    """
    check_choice("method", method, METHODS)
    if method == "patches" and not is_planar(values.shape):
        raise ValueError(
            'method="patches" needs an image: at least two axes of 16 or more entries; got an '
            f'array of shape {values.shape}. Use method="auto".'
        )
    if method == "mad" and observed is None and _is_plain_line(values):
        return _from_finest(values[np.newaxis])  # nothing but a transform and a median
    boxes, usable = _read(values, observed)
    n_usable = int(np.count_nonzero(usable))
    if n_usable < 2:
        raise ValueError(
            f"signal must hold at least two observed values to compare; got {n_usable} in an array "
            f"of shape {values.shape}. Pass more data, or the noise itself as noise_std."
        )
    if method == "mad" and usable.all() and min(boxes.shape[1:]) >= SHORTEST_ENVELOPE:
        return _from_finest(boxes)
    boxes, exponent, tiny = _normalised(boxes, usable, values.dtype)
    moving = usable & ~is_stuck(boxes)
    # A few loose samples between stuck ones are as likely jumps as noise.
    n_moving = int(np.count_nonzero(moving))
    if n_moving < n_usable:
        if n_moving < max(SHORTEST_ENVELOPE, n_usable // 20):
            return _none(n_usable)
        usable = moving
    level = _estimate(boxes, usable, method)
    if level.std <= tiny:
        return _none(n_usable)
    is_reliable = level.is_reliable and share_of_equals(boxes, usable) < _MOST_EQUAL
    return replace(level, std=math.ldexp(level.std, exponent), is_reliable=is_reliable)


def _is_plain_line(values: Any) -> bool:
    """Whether a signal can be used as it is: no part to choose, nothing missing."""
    return (
        values.ndim == 1
        and values.dtype == np.float64
        and SHORTEST_ENVELOPE <= values.size <= MOST_SAMPLES
        and bool(np.isfinite(values.sum()))
    )


def _none(n_samples: int) -> NoiseLevel:
    """No noise at all."""
    return NoiseLevel(0.0, math.inf, False, True, True, "none", "nothing", n_samples)


def _read(values: Any, observed: BoolArray | None) -> tuple[Array, BoolArray]:
    """Read a part of the values, or all of them if nearly nothing is observed in that part."""
    boxes, usable = read_boxes(values, observed)
    if np.count_nonzero(usable) < FEW_SAMPLES:
        boxes, usable = read_boxes(values, observed, everything=True)
    if np.isinf(boxes[usable]).any():
        raise ValueError(
            "signal must be finite where it is observed; got infinite values. Replace them by "
            "NaN, or mark them in mask, to have them left out."
        )
    return boxes, usable


def _normalised(boxes: Array, usable: BoolArray, dtype: np.dtype[Any]) -> tuple[Array, int, float]:
    """Shift to a median of about zero and scale by a power of two to magnitude one.

    Returns
    -------
    boxes : ndarray
        Between -1 and 1 where usable, zero elsewhere.
    exponent : int
        Binary exponent of the scale that was taken out.
    tiny : float
        Noise level that rounding alone can cause.
    """
    known = boxes[usable]
    first = math.frexp(float(np.abs(known).max()))[1]
    known = np.ldexp(known, -first)
    known -= np.median(known[:: max(1, len(known) >> 12)])
    second = math.frexp(float(np.abs(known).max()))[1]
    scaled = np.zeros(boxes.shape)
    scaled[usable] = np.ldexp(known, -second)
    # Magnitude one before the shift is 2^-second after it.
    precision = float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0
    return scaled, first + second, max(1e-10, math.ldexp(2.0 * precision, min(-second, 900)))


def _estimate(boxes: Array, usable: BoolArray, method: str) -> NoiseLevel:
    """Noise level of normalised values."""
    n = int(np.count_nonzero(usable))
    if n < SHORTEST_ENVELOPE:
        return _from_neighbours(boxes, usable)
    complete = boxes if usable.all() else complete_boxes(boxes, usable)
    if complete is None or min(complete.shape[1:]) < 16:
        return _from_differences(boxes, usable)
    if method == "mad":
        return _from_finest(complete)
    return _from_lines(complete) if complete.ndim == 2 else _from_planes(complete, method)


def _from_lines(lines: Array) -> NoiseLevel:
    n = lines.shape[1]
    # Bounds of fewer coefficients would find more gaps in short signals, and more that are none.
    fewest = max(32, min(64, 3 * n // 8))
    envelope = lower_envelope(line_regions(lines, 32 if n >= 256 else 16), fewest)
    return _judged(envelope, lines.size, _CORE_OF_LINES)


def _from_planes(planes: Array, method: str) -> NoiseLevel:
    level = _judged(lower_envelope(plane_regions(planes), 256), planes.size, _CORE_OF_PLANES)
    if method == "envelope":
        return level
    scale = patch_scale(planes)
    if planes.size >= COMPARABLE_FROM:
        agree = abs(scale - level.std) <= _DISAGREE * max(scale, level.std)
        level = replace(level, is_reliable=level.is_reliable and agree)
        if method == "auto" and not agree and scale > level.std:
            return level  # a signal only adds to either; no patch is flat in a field of stars
    if method == "auto" and planes.size < PATCHES_FROM:
        return level
    return replace(level, std=scale, method="patches", source="flat patches")


def _from_differences(boxes: Array, usable: BoolArray) -> NoiseLevel:
    """Envelope over differences of neighbours: too high unless the signal is slow somewhere."""
    n = int(np.count_nonzero(usable))
    regions = list(difference_regions(boxes, usable, 16))
    envelope = lower_envelope(regions, 64)
    if envelope.std == 0.0:
        return _from_neighbours(boxes, usable)
    return replace(_judged(envelope, n, _CORE_OF_LINES), method="differences")


def _from_neighbours(boxes: Array, usable: BoolArray) -> NoiseLevel:
    """Median of second differences of successive values, whatever is missing between them."""
    differences = []
    for box, seen in zip(boxes, usable, strict=True):
        known = box[seen]
        order = min(2, len(known) - 1)
        if order > 0:
            # The squared weights 1, 1 and 1, 2, 1 sum to 2 and 6.
            differences.append(np.diff(known, order) / math.sqrt(2.0 if order == 1 else 6.0))
    values = np.concatenate(differences) if differences else np.zeros(1)
    error = 1.17 / math.sqrt(len(values))
    n = int(np.count_nonzero(usable))
    return NoiseLevel(mad(values), error, True, True, False, "differences", "neighbours", n)


def _from_finest(boxes: Array) -> NoiseLevel:
    """Median of the finest wavelets: the classical choice, right where these hold only noise."""
    pywt = optional("pywt")
    if boxes.ndim == 2:
        lines = [pywt.downcoef("d", line, "sym8", "periodization") for line in boxes]
        finest = lines[0] if len(lines) == 1 else np.stack(lines)
    else:
        finest = pywt.dwt2(boxes, "sym8", "periodization", axes=(-2, -1))[1][2]
    n = boxes.size
    error = 1.17 / math.sqrt(finest.size)
    std = mad(finest)
    if std <= 1e-10 * max(float(boxes.max()), -float(boxes.min())):
        return _none(n)
    is_weak = n < FEW_SAMPLES or error > _WEAK_ERROR
    return NoiseLevel(std, error, True, is_weak, False, "mad", "the finest sym8", n)


def _judged(envelope: Envelope, n: int, core: float) -> NoiseLevel:
    """Diagnose an envelope over `n` samples."""
    is_reliable = (
        envelope.core_shape >= core - _CORE_SCATTER / math.sqrt(n)
        and envelope.quiet_share >= _QUIET_SHARE
        and envelope.null_share >= _NULL_SHARE
    )
    is_weak = n < FEW_SAMPLES or envelope.standard_error > _WEAK_ERROR
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
