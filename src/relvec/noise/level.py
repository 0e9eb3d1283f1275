"""The noise level of an array of any dimension."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._checks import check_choice
from relvec._compat import import_optional
from relvec._typing import BoolArray
from relvec.noise.envelope import Envelope, lower_envelope
from relvec.noise.patches import patch_scale
from relvec.noise.reading import (
    complete_boxes,
    is_planar,
    is_stuck,
    read_boxes,
    share_of_equals,
)
from relvec.noise.regions import difference_regions, line_regions, plane_regions
from relvec.noise.report import NoiseLevel
from relvec.noise.scale import mad
from relvec.noise.tuning import DEFAULT, NoiseTuning

__all__ = ["METHODS", "noise_level"]

Array = NDArray[np.float64]

METHODS = ("auto", "envelope", "mad", "patches")
"""Ways to find the noise level."""


def noise_level(
    values: Any,
    *,
    observed: BoolArray | None = None,
    method: str = "auto",
    tuning: NoiseTuning = DEFAULT,
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
    tuning : NoiseTuning, optional
        The numbers of the search.

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
    if method == "patches":
        _check_planar(values.shape, tuning)
    if method == "mad" and _is_plain_line(values, observed, tuning):
        return _from_finest(values[np.newaxis], tuning)  # nothing but a transform and a median
    boxes, usable = _read(values, observed, tuning)
    if method == "mad" and usable.all() and min(boxes.shape[1:]) >= tuning.shortest_envelope:
        return _from_finest(boxes, tuning)
    boxes, exponent, tiny = _normalised(boxes, usable, values.dtype)
    n_usable = int(np.count_nonzero(usable))
    usable &= ~is_stuck(boxes, tuning.reading.stuck)
    # A few loose samples between stuck ones are as likely jumps as noise.
    n_moving = int(np.count_nonzero(usable))
    if n_moving < min(n_usable, max(tuning.shortest_envelope, n_usable // 20)):
        return _none(n_usable)
    level = _estimate(boxes, usable, method, tuning)
    if level.std <= tiny:
        return _none(n_usable)
    is_reliable = level.is_reliable and share_of_equals(boxes, usable) < tuning.most_equal
    return replace(level, std=math.ldexp(level.std, exponent), is_reliable=is_reliable)


def _check_planar(shape: tuple[int, ...], tuning: NoiseTuning) -> None:
    if not is_planar(shape, tuning.reading):
        raise ValueError(
            f'method="patches" needs an image: at least two axes of {tuning.reading.flattest} or '
            f'more entries; got an array of shape {shape}. Use method="auto".'
        )


def _is_plain_line(values: Any, observed: BoolArray | None, tuning: NoiseTuning) -> bool:
    """Whether a signal can be used as it is: no part to choose, nothing missing."""
    return (
        observed is None
        and values.ndim == 1
        and values.dtype == np.float64
        and tuning.shortest_envelope <= values.size <= tuning.reading.most_samples
        and bool(np.isfinite(values.sum()))
    )


def _none(n_samples: int) -> NoiseLevel:
    """No noise at all."""
    return NoiseLevel(0.0, math.inf, False, True, True, "none", "nothing", n_samples)


def _read(values: Any, observed: BoolArray | None, tuning: NoiseTuning) -> tuple[Array, BoolArray]:
    """Read a part of the values, or all of them if nearly nothing is observed in that part."""
    boxes, usable = read_boxes(values, observed, tuning=tuning.reading)
    if np.count_nonzero(usable) < tuning.few_samples:
        boxes, usable = read_boxes(values, observed, everything=True, tuning=tuning.reading)
    if np.isinf(boxes[usable]).any():
        raise ValueError(
            "signal must be finite where it is observed; got infinite values. Replace them by "
            "NaN, or mark them in mask, to have them left out."
        )
    n_usable = int(np.count_nonzero(usable))
    if n_usable < 2:
        raise ValueError(
            f"signal must hold at least two observed values to compare; got {n_usable} in an array "
            f"of shape {values.shape}. Pass more data, or the noise itself as noise_std."
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


def _estimate(boxes: Array, usable: BoolArray, method: str, tuning: NoiseTuning) -> NoiseLevel:
    """Noise level of normalised values."""
    n = int(np.count_nonzero(usable))
    if n < tuning.shortest_envelope:
        return _from_neighbours(boxes, usable)
    complete = boxes if usable.all() else complete_boxes(boxes, usable, tuning.reading)
    if complete is None or min(complete.shape[1:]) < tuning.reading.flattest:
        return _from_differences(boxes, usable, tuning)
    if method == "mad":
        return _from_finest(complete, tuning)
    if complete.ndim == 2:
        return _from_lines(complete, tuning)
    return _from_planes(complete, method, tuning)


def _from_lines(lines: Array, tuning: NoiseTuning) -> NoiseLevel:
    n = lines.shape[1]
    # Bounds of fewer coefficients would find more gaps in short signals, and more that are none.
    fewest = max(32, min(64, 3 * n // 8))
    regions = line_regions(lines, 32 if n >= 256 else 16)
    envelope = lower_envelope(regions, fewest, tuning.envelope)
    return _judged(envelope, lines.size, tuning.core_of_lines, tuning)


def _from_planes(planes: Array, method: str, tuning: NoiseTuning) -> NoiseLevel:
    envelope = lower_envelope(plane_regions(planes), 256, tuning.envelope)
    level = _judged(envelope, planes.size, tuning.core_of_planes, tuning)
    if method == "envelope":
        return level
    scale = patch_scale(planes, tuning.patches)
    if planes.size >= tuning.comparable_from:
        agree = abs(scale - level.std) <= tuning.disagree * max(scale, level.std)
        level = replace(level, is_reliable=level.is_reliable and agree)
        if method == "auto" and not agree and scale > level.std:
            return level  # a signal only adds to either; no patch is flat in a field of stars
    if method == "auto" and planes.size < tuning.patches_from:
        return level
    return replace(level, std=scale, method="patches", source="flat patches")


def _from_differences(boxes: Array, usable: BoolArray, tuning: NoiseTuning) -> NoiseLevel:
    """Envelope over differences of neighbours: too high unless the signal is slow somewhere."""
    n = int(np.count_nonzero(usable))
    envelope = lower_envelope(difference_regions(boxes, usable, 16), 64, tuning.envelope)
    if envelope.std == 0.0:
        return _from_neighbours(boxes, usable)
    return replace(_judged(envelope, n, tuning.core_of_lines, tuning), method="differences")


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


def _from_finest(boxes: Array, tuning: NoiseTuning) -> NoiseLevel:
    """Median of the finest wavelets: the classical choice, right where these hold only noise."""
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
        return _none(n)
    is_weak = n < tuning.few_samples or error > tuning.weak_error
    return NoiseLevel(std, error, True, is_weak, False, "mad", "the finest sym8", n)


def _judged(envelope: Envelope, n: int, core: float, tuning: NoiseTuning) -> NoiseLevel:
    """Diagnose an envelope over `n` samples."""
    is_reliable = (
        envelope.core_shape >= core - tuning.core_scatter / math.sqrt(n)
        and envelope.quiet_share >= tuning.quiet_share
        and envelope.null_share >= tuning.null_share
    )
    is_weak = n < tuning.few_samples or envelope.standard_error > tuning.weak_error
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
