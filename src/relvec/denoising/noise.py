"""The noise variance of a denoiser: given by the user, known from a fit, or estimated."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from relvec._checks import check_choice
from relvec._typing import BoolArray
from relvec.denoising.channel import Channel, Scheme, denoise_channel
from relvec.denoising.frame import Array
from relvec.denoising.gaps import fill_gaps
from relvec.denoising.layout import Layout, Parts
from relvec.denoising.plain import make_dictionary
from relvec.denoising.transforms import default_transforms
from relvec.denoising.tuning import DEFAULT, DenoisingTuning
from relvec.noise import METHODS, NoiseLevel, NoiseLevelWarning, estimate_noise_level, mad
from relvec.solvers.gaussian.noise_profile import profile_noise

__all__ = ["have_equal_noise", "read_noise_variance", "resolve_noise"]

NOISE_METHODS = (*METHODS, "profile")


def read_noise_variance(
    noise_std: Any, shape: tuple[int, ...], channel_axis: int | None
) -> Array | float | None:
    """Return the noise variance if the user gave the standard deviation, else None.

    `noise_std` may be a number, one number per channel, or an array that is broadcast to the shape
    of the signal.
    """
    if isinstance(noise_std, str):
        check_choice("noise_std", noise_std, NOISE_METHODS)
        return None
    std = np.asarray(noise_std)
    if std.dtype.kind not in "iuf" or not np.isfinite(std).all() or (std < 0.0).any():
        raise ValueError(
            f"noise_std must be one of {NOISE_METHODS}, or finite and not negative: a number, one "
            f"per channel, or one per sample; got {noise_std!r}."
        )
    if std.ndim == 0:
        return _square_std(float(std))
    std = std.astype(np.float64)
    _square_std(float(std.max(initial=0.0)))
    if channel_axis is not None and std.shape == (shape[channel_axis],):
        std = std.reshape(-1, *(1,) * (len(shape) - 1 - channel_axis))
    try:
        return np.broadcast_to(std, shape) ** 2
    except ValueError as error:
        raise ValueError(
            "noise_std must be a number, one per channel, or an array that broadcasts to the "
            f"shape of the signal, {shape}; got shape {std.shape}."
        ) from error


def _square_std(std: float) -> float:
    """Square a standard deviation; raise an error if the square would over- or underflow."""
    if 0.0 < std < 2e-154 or std > 1e154:
        raise ValueError(
            f"The noise level, {std:g}, is too small or too large: its square is out of the range "
            "of floating-point numbers. Rescale the signal."
        )
    return std**2


def have_equal_noise(
    values: Any, layout: Layout, noise_std: Any, tuning: DenoisingTuning = DEFAULT
) -> bool:
    """Whether the channels have about the same noise level, as given or by a quick estimate."""
    axis = 0 if layout.channel_axis is None else layout.channel_axis
    if isinstance(noise_std, str):
        channels = np.moveaxis(values, axis, 0)
        try:
            levels = [
                estimate_noise_level(each, method="mad", tuning=tuning.noise) for each in channels
            ]
        except ValueError:  # the full estimate will raise the same error with more context
            return True
        stds = np.array([level.std for level in levels])
    else:
        stds = np.ravel(noise_std)
        if stds.dtype.kind not in "iuf" or stds.size != values.shape[axis]:
            return True
    return bool(stds.max() <= tuning.equal_noise_ratio * stds.min())


def resolve_noise(
    parts: Parts,
    noise_std: Any,
    scheme: Scheme,
    known: tuple[Layout, list[float]] | None = None,
    *,
    stacklevel: int = 2,
) -> tuple[list[Any], list[NoiseLevel] | None]:
    """Find the noise variance of every part at unit weight.

    Parameters
    ----------
    parts : Parts
        The signal.
    noise_std : str, float or array-like
        The user's option: a method of `estimate_noise`, "profile" for the maximum of the
        evidence, or the standard deviation.
    scheme : Scheme
        The resolved options; "profile" uses the evidence of the plain transform.
    known : tuple of Layout and list of float, optional
        Layout and noise variances of a fitted signal with the same noise.
    stacklevel : int, default=2
        Passed to `warnings.warn`.

    Returns
    -------
    variances : list of float or ndarray
        One per part.
    levels : list of NoiseLevel or None
        The estimates with their reliability; None if nothing was estimated.
    """
    layout = parts.layout
    given = read_noise_variance(noise_std, layout.shape, layout.channel_axis)
    levels = None
    if given is not None:
        variances = layout.split_variances(given)
    elif known is not None:
        variances = known[0].convert_variances(known[1], layout)
    else:
        levels = _estimate_levels(parts, str(noise_std), scheme)
        variances = [_square_std(level.std) for level in levels]
        for text in _compose_warnings(levels, parts):
            warnings.warn(text, NoiseLevelWarning, stacklevel=stacklevel)
    is_one_level = parts.weights is None and all(isinstance(each, float) for each in variances)
    if scheme.is_plain and not is_one_level:
        raise ValueError(
            "The plain mode has one noise level for all samples; for noise_std per sample, or "
            'for sample_weight, use mode="quality".'
        )
    return variances, levels


def _estimate_levels(parts: Parts, method: str, scheme: Scheme) -> list[NoiseLevel]:
    levels = [
        _estimate_weighted_level(values, parts, c, method, scheme)
        for values, c in zip(parts.values, parts.penalties, strict=True)
    ]
    return _pool_complex_parts(levels) if parts.layout.is_complex else levels


def _compose_warnings(levels: list[NoiseLevel], parts: Parts) -> Iterator[str]:
    """Compose a warning for each noise level that may be wrong."""
    for number, (level, values) in enumerate(zip(levels, parts.values, strict=True)):
        text = level.warning()
        if text is None or (level.is_degenerate and _is_constant(values, parts.observed)):
            continue  # a constant signal has no noise: nothing to warn about
        where = "" if len(levels) == 1 else f"{parts.layout.part_name(number)}: "
        yield where + text


def _estimate_weighted_level(
    values: Any, parts: Parts, c: float, method: str, scheme: Scheme
) -> NoiseLevel:
    observed, weights = parts.observed, parts.weights
    if weights is None:
        return _estimate_level(values, observed, c, method, scheme)
    # weights are relative to their median, so that their scale does not matter
    typical = float(np.median(weights))
    even = _equalise_noise(values, observed, weights / typical, c, scheme.tuning)
    level = _estimate_level(even, observed, c, method, scheme)
    # Variance at weight w is s^2 / w: from the median weight to unit weight.
    return replace(level, std=level.std * math.sqrt(typical))


def _estimate_level(
    values: Any, observed: BoolArray | None, c: float, method: str, scheme: Scheme
) -> NoiseLevel:
    if method != "profile":
        return estimate_noise_level(
            values, observed=observed, method=method, tuning=scheme.tuning.noise
        )
    filled = _fill_missing(values, observed)
    # A power of two: the division is exact, and squares stay in range.
    scale = 2.0 ** math.frexp(float(np.abs(filled).max()))[1]
    transform = scheme.plain_transform
    data = make_dictionary(filled.shape, transform, scheme.level).analyse(filled / scale)
    std = scale * math.sqrt(profile_noise(data, c).noise_variance)
    return NoiseLevel(
        std=std,
        # Relative standard error of a standard deviation from n normal values.
        standard_error=1.0 / math.sqrt(2.0 * data.size),
        is_reliable=True,
        is_weak=False,
        is_degenerate=std == 0.0,
        method="profile",
        source=f"the evidence of {transform}",
        n_samples=data.size,
    )


def _fill_missing(values: Any, observed: BoolArray | None) -> Array:
    known = ~np.isnan(values)
    if observed is not None:
        known &= observed
    return fill_gaps(np.asarray(values, dtype=np.float64), known)


def _equalise_noise(
    values: Any, observed: BoolArray | None, weights: Array, c: float, tuning: DenoisingTuning
) -> Array:
    """Return the signal with its noise scaled to the variance of unit weight.

    The residual of a first fit is multiplied by the root of the weights. That fit needs a noise
    level; the median absolute deviation of second differences, each divided by the standard
    deviation that its weights imply, is accurate enough.
    """
    filled = _fill_missing(values, observed)
    axis = int(np.argmax(filled.shape))
    lines, variances = np.moveaxis(filled, axis, -1), np.moveaxis(1.0 / weights, axis, -1)
    if lines.shape[-1] < 3:
        return filled
    second_differences = np.diff(lines, 2, axis=-1)
    # the coefficients 1, -2, 1 of a second difference have the squares 1, 4, 1
    spread = variances[..., :-2] + 4.0 * variances[..., 1:-1] + variances[..., 2:]
    guess = mad(second_differences / np.sqrt(spread)) ** 2
    scheme = Scheme(default_transforms(filled.shape), tuning=tuning)
    first = denoise_channel(Channel(filled, guess / weights, c), scheme)
    # The signal is kept and only the residual is scaled: multiplying all by sqrt(w) would imprint
    # the weights on the signal.
    even: Array = first.mean + (filled - first.mean) * np.sqrt(weights)
    return even


def _pool_complex_parts(levels: list[NoiseLevel]) -> list[NoiseLevel]:
    """Give the real and the imaginary part of each channel a common noise level."""
    result = []
    for real, imaginary in zip(levels[::2], levels[1::2], strict=True):
        # Variances are averaged, not standard deviations.
        std = math.sqrt(0.5 * (real.std**2 + imaginary.std**2))
        result += [replace(real, std=std), replace(imaginary, std=std)]
    return result


def _is_constant(part: Any, observed: BoolArray | None) -> bool:
    known = part[~np.isnan(part) if observed is None else observed & ~np.isnan(part)]
    return bool((known == known[0]).all())
