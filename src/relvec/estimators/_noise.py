"""Where the noise level of a denoiser comes from."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from relvec._checks import check_choice
from relvec._typing import BoolArray
from relvec.denoising.channel import Channel, denoise_channel
from relvec.denoising.frame import Array
from relvec.denoising.gaps import fill
from relvec.denoising.plain import make_dictionary
from relvec.denoising.recipes import default_recipes
from relvec.estimators._layout import Layout
from relvec.noise import METHODS, NoiseLevel, NoiseLevelWarning, mad, noise_level
from relvec.solvers.gaussian.orthonormal import profile_noise

__all__ = [
    "find_noise",
    "given_variance",
    "have_equal_noise",
    "pooled",
    "variance_of",
    "warn_about",
]

NOISE_METHODS = (*METHODS, "profile")
EQUAL = 1.25
"""Ratio up to which the noise levels of two channels count as equal."""
TINIEST, LARGEST = 2e-154, 1e154
"""Range of numbers whose squares have all their digits."""


def given_variance(
    noise_std: Any, shape: tuple[int, ...], channel_axis: int | None
) -> Array | float | None:
    """Variance of the noise if the user gave its standard deviation, else None.

    A number, or an array that is broadcast to the signal; one number per channel will do.
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
        return variance_of(float(std))
    std = std.astype(np.float64)
    variance_of(float(std.max(initial=0.0)))
    if channel_axis is not None and std.shape == (shape[channel_axis],):
        std = std.reshape([-1 if axis == channel_axis else 1 for axis in range(len(shape))])
    try:
        return np.broadcast_to(std, shape) ** 2
    except ValueError as error:
        raise ValueError(
            "noise_std must be a number, one per channel, or fit the shape of the signal, "
            f"{shape}; got shape {std.shape}."
        ) from error


def variance_of(std: float) -> float:
    """Square a standard deviation, if that is a number."""
    if 0.0 < std < TINIEST or std > LARGEST:
        raise ValueError(
            f"The noise level, {std:g}, leaves the range of numbers whose squares are "
            "floating-point numbers. Rescale the signal."
        )
    return std**2


def have_equal_noise(values: Any, layout: Layout, noise_std: Any) -> bool:
    """Whether the channels have about the same noise, as far as is known or quickly seen."""
    axis = 0 if layout.channel_axis is None else layout.channel_axis
    if isinstance(noise_std, str):
        channels = np.moveaxis(values, axis, 0)
        try:
            stds = np.array([noise_level(channel, method="mad").std for channel in channels])
        except ValueError:  # what is wrong will be said in its place
            return True
    else:
        stds = np.ravel(noise_std)
        if stds.dtype.kind not in "iuf" or stds.size != values.shape[axis]:
            return True
    return bool(stds.max() <= EQUAL * stds.min())


def find_noise(
    values: Any,
    observed: BoolArray | None,
    weights: Array | None,
    method: str,
    transform: str,
    level: int | None,
    c: float,
) -> NoiseLevel:
    """Estimate the noise level of one real part of a signal, at unit weight."""
    if weights is not None:
        # in units of a typical weight, so that weights may have any scale
        typical = float(np.median(weights))
        even = _with_even_noise(values, observed, weights / typical, c)
        level_there = find_noise(even, observed, None, method, transform, level, c)
        return replace(level_there, std=level_there.std * math.sqrt(typical))
    if method != "profile":
        return noise_level(values, observed=observed, method=method)
    known = ~np.isnan(values)
    if observed is not None:
        known &= observed
    filled = fill(np.asarray(values, dtype=np.float64), known)
    scale = 2.0 ** math.frexp(float(np.abs(filled).max()))[1]
    data = make_dictionary(filled.shape, transform, level).analyse(filled / scale)
    std = scale * math.sqrt(profile_noise(data, c).noise_variance)
    return NoiseLevel(
        std=std,
        standard_error=1.0 / math.sqrt(2.0 * data.size),
        is_reliable=True,
        is_weak=False,
        is_degenerate=std == 0.0,
        method="profile",
        source=f"the evidence of {transform}",
        n_samples=data.size,
    )


def _with_even_noise(values: Any, observed: BoolArray | None, weights: Array, c: float) -> Array:
    """Return the signal with its noise scaled to that of unit weight.

    What the noise is has to be known for that; a first guess, from differences of neighbours
    in units of their own noise, is good enough to tell it from the signal.
    """
    known = ~np.isnan(values)
    if observed is not None:
        known &= observed
    filled = fill(np.asarray(values, dtype=np.float64), known)
    axis = int(np.argmax(filled.shape))
    lines, variances = np.moveaxis(filled, axis, -1), np.moveaxis(1.0 / weights, axis, -1)
    if lines.shape[-1] < 3:
        return filled
    second = np.diff(lines, 2, axis=-1)
    spread = variances[..., :-2] + 4.0 * variances[..., 1:-1] + variances[..., 2:]
    guess = mad(second / np.sqrt(spread)) ** 2
    first = denoise_channel(
        Channel(filled, guess / weights, c), default_recipes(filled.shape), "symmetric"
    )
    even: Array = first.mean + (filled - first.mean) * np.sqrt(weights)
    return even


def pooled(levels: list[NoiseLevel]) -> list[NoiseLevel]:
    """Give real and imaginary parts, which alternate, a common noise level."""
    result = []
    for real, imaginary in zip(levels[::2], levels[1::2], strict=True):
        std = math.sqrt(0.5 * (real.std**2 + imaginary.std**2))
        result += [replace(real, std=std), replace(imaginary, std=std)]
    return result


def warn_about(
    levels: list[NoiseLevel], parts: list[Any], observed: BoolArray | None, layout: Layout
) -> None:
    """Warn of noise levels that may be far from the truth."""
    for number, (level, part) in enumerate(zip(levels, parts, strict=True)):
        text = level.warning()
        if text is None or (level.is_degenerate and _is_constant(part, observed)):
            continue  # a constant signal has no noise, and nobody need be told
        where = "" if len(parts) == 1 else f"{layout.part_name(number)}: "
        warnings.warn(where + text, NoiseLevelWarning, stacklevel=4)


def _is_constant(part: Any, observed: BoolArray | None) -> bool:
    known = part[~np.isnan(part) if observed is None else observed & ~np.isnan(part)]
    return bool((known == known[0]).all())
