"""Between the array a user has and the real channels a denoiser works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relvec._signals import as_mask, as_numbers, resolve_channel_axis
from relvec._typing import BoolArray, IndexArray, Matrix
from relvec.denoising.channel import Channel
from relvec.denoising.frame import Array

__all__ = ["Layout", "Parts", "counts_of_observed", "may_rotate", "read_layout", "read_weights"]

COLOURS: Matrix = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, -1.0], [1.0, -2.0, 1.0]]) / np.sqrt(
    [[3.0], [2.0], [6.0]]
)
"""Brightness and two colour differences: a rotation, so white noise stays white."""

MANY = 1 << 24
"""Samples beyond which missing ones are not counted: the data may lie on disk."""


@dataclass(frozen=True)
class Layout:
    """How an input is taken apart and put together again."""

    shape: tuple[int, ...]
    channel_axis: int | None
    is_complex: bool
    order: IndexArray | None
    """Order of the samples along the line, if they were not given in it."""
    is_rotated: bool
    """Whether colours are denoised as brightness and differences."""

    @property
    def spatial_shape(self) -> tuple[int, ...]:
        """Shape without channels."""
        if self.channel_axis is None:
            return self.shape
        return self.shape[: self.channel_axis] + self.shape[self.channel_axis + 1 :]

    def split(self, values: Any) -> list[Any]:
        """Channels as real arrays: views where possible, so that data may stay on disk."""
        if self.channel_axis is None:
            channels = [values]
        else:
            before = (slice(None),) * self.channel_axis
            channels = [values[(*before, at)] for at in range(self.shape[self.channel_axis])]
        if self.order is not None:
            channels = [channel[self.order] for channel in channels]
        if self.is_complex:
            channels = [part for each in channels for part in _real_and_imaginary(each)]
        if self.is_rotated:
            channels = list(np.tensordot(COLOURS, np.stack(channels).astype(np.float64), 1))
        return channels

    def join(self, channels: list[Array]) -> Array:
        """Inverse of `split`."""
        if self.is_rotated:
            channels = list(np.tensordot(COLOURS.T, np.stack(channels), 1))
        if self.is_complex:
            channels = [
                real + 1j * imaginary
                for real, imaginary in zip(channels[::2], channels[1::2], strict=True)
            ]
        return self._assemble(channels)

    def split_out(self, out: Any) -> list[Any]:
        """Places for the results, which must be views of `out`."""
        is_array = isinstance(out, np.ndarray) and out.dtype.kind == "f"
        if not is_array or out.shape != self.shape:
            raise ValueError(
                f"out must be an array of floating-point numbers in the shape of the signal, "
                f"{self.shape}; got {_described(out)}."
            )
        if self.is_complex or self.is_rotated or self.order is not None:
            raise ValueError(
                "out is for real signals whose samples are given in order, and for colours with "
                "decorrelate=False: others are put together in memory. Leave out out."
            )
        return self.split(out)

    def split_variances(self, given: Array | float) -> list[Any]:
        """Noise variances of the parts, given those of the input."""
        n_channels = 1 if self.channel_axis is None else self.shape[self.channel_axis]
        n_parts = n_channels * (2 if self.is_complex else 1)
        if isinstance(given, float):
            return [given] * n_parts
        parts = Layout(self.shape, self.channel_axis, False, self.order, False).split(given)
        if self.is_complex:
            parts = [part for part in parts for _ in ("real", "imaginary")]
        if self.is_rotated:
            parts = list(np.tensordot(COLOURS**2, np.stack(parts), 1))
        return [_as_number(part) for part in parts]

    def carry_over(self, variances: list[float], other: Layout) -> list[float]:
        """Noise variances of the parts of another signal, which has the noise of this one."""
        if other._kind != self._kind:
            raise ValueError(
                "transform needs signals with the axes and channels of the fitted one, of shape "
                f"{self.shape}{' (complex)' * self.is_complex}; "
                f"got shape {other.shape}{' (complex)' * other.is_complex}. Reshape your data, "
                "or fit it by itself."
            )
        if other.is_rotated == self.is_rotated:
            return list(variances)
        mixing = COLOURS**2 if other.is_rotated else COLOURS.T**2
        return [float(variance) for variance in mixing @ variances]

    @property
    def _kind(self) -> tuple[int, int | None, bool]:
        n_channels = None if self.channel_axis is None else self.shape[self.channel_axis]
        return len(self.spatial_shape), n_channels, self.is_complex

    def join_variances(self, parts: list[Array]) -> Array:
        """Variances of the output, given those of the parts."""
        if self.is_rotated:
            parts = list(np.tensordot(COLOURS.T**2, np.stack(parts), 1))
        if self.is_complex:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [real + imaginary for real, imaginary in pairs]
        return self._assemble(parts)

    def noise_std(self, variances: list[Any]) -> Any:
        """Noise of the input: one number, one per channel, or one per sample."""
        if not all(isinstance(variance, float) for variance in variances):
            on_grid = [np.broadcast_to(part, self.spatial_shape) for part in variances]
            return np.sqrt(self.join_variances(on_grid) / (2.0 if self.is_complex else 1.0))
        per_part = np.array(variances)
        if self.is_rotated:
            per_part = COLOURS.T**2 @ per_part
        std = np.sqrt(per_part[:: 2 if self.is_complex else 1])
        return float(std[0]) if self.channel_axis is None else std

    def part_name(self, number: int) -> str:
        """What to call a part in a message."""
        if self.is_rotated:
            return ("Brightness", "First colour difference", "Second colour difference")[number]
        part = ("real part", "imaginary part")[number % 2] if self.is_complex else ""
        if self.channel_axis is None:
            return part.capitalize()
        return f"Channel {number // (2 if self.is_complex else 1)}" + (f", {part}" if part else "")

    def _assemble(self, channels: list[Array]) -> Array:
        if self.order is not None:
            placed = []
            for channel in channels:
                values = np.empty_like(channel)
                values[self.order] = channel
                placed.append(values)
            channels = placed
        if self.channel_axis is None:
            return channels[0]
        return np.stack(channels, axis=self.channel_axis)


class Parts(NamedTuple):
    """A signal taken apart into real arrays of the same shape."""

    layout: Layout
    values: list[Any]
    observed: BoolArray | None
    """False where a sample is to be ignored; None if nothing is known to be missing."""
    weights: Array | None
    """Relative precision of every sample."""
    penalties: list[float]
    """Penalty of one degree of freedom in each part."""

    def channels(self, variances: list[Any]) -> list[Channel]:
        """Each part with its noise variance at unit weight."""
        weights = self.weights
        return [
            Channel(part, variance if weights is None else variance / weights, c, self.observed)
            for part, variance, c in zip(self.values, variances, self.penalties, strict=True)
        ]


def read_layout(
    signal: Any, channel_axis: Any, x: Any, mask: Any
) -> tuple[Layout, Any, BoolArray | None]:
    """Say how an input is laid out.

    Returns
    -------
    layout : Layout
    values : ndarray
        The input as numbers; not copied.
    observed : ndarray of bool or None
        The mask in the order of the channels.
    """
    values = as_numbers(signal)
    axis = resolve_channel_axis(signal, values.shape, channel_axis)
    spatial = values.shape if axis is None else values.shape[:axis] + values.shape[axis + 1 :]
    _check_size(values.shape, spatial)
    observed = None if mask is None else as_mask(mask, spatial)
    order = None if x is None else _order(x, spatial)
    if order is not None and observed is not None:
        observed = observed[order]
    return Layout(values.shape, axis, values.dtype.kind == "c", order, False), values, observed


def may_rotate(values: Any, layout: Layout) -> bool:
    """Whether the channels are colours that can be denoised as brightness and differences."""
    axis = layout.channel_axis
    if axis is None or layout.shape[axis] != 3 or len(layout.shape) != 3 or layout.is_complex:
        return False
    if values.dtype.kind != "f":
        return True
    missing = np.isnan(values)
    is_whole = (missing.any(axis=axis) == missing.all(axis=axis)).all()
    # rotated, infinite values would pass as missing
    return bool(is_whole) and not np.isinf(values).any()


def _check_size(shape: tuple[int, ...], spatial: tuple[int, ...]) -> None:
    n_samples = int(np.prod(spatial))
    if n_samples < 2 or 0 in shape:
        raise ValueError(
            "signal must have at least two samples to tell signal from noise; got an array of "
            f"shape {shape}" + ("." if shape == spatial else f", of which {spatial} are samples.")
        )


def _order(x: Any, spatial: tuple[int, ...]) -> IndexArray | None:
    places = np.asarray(x)
    if len(spatial) != 1:
        raise ValueError(
            f"x gives the positions of samples along a line; the signal has {len(spatial)} axes. "
            "Leave x out for images and volumes, whose samples lie on a grid."
        )
    if places.shape != spatial or places.dtype.kind not in "biufmM":
        raise ValueError(
            f"x must hold one position for each of the {spatial[0]} samples; got an array of "
            f"shape {places.shape} and type {places.dtype}."
        )
    if not np.isfinite(places).all():  # nor is NaT
        raise ValueError("x must be finite: every sample needs a position.")
    if (places[1:] >= places[:-1]).all():
        return None
    return np.argsort(places, kind="stable")


def read_weights(
    sample_weight: Any, layout: Layout, observed: BoolArray | None
) -> tuple[Array | None, BoolArray | None]:
    """Weights in the order of the parts; samples of no weight count as missing."""
    if sample_weight is None:
        return None, observed
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "biuf" or weights.shape != layout.spatial_shape:
        raise ValueError(
            "sample_weight must hold one number for each sample, in the shape of the signal "
            f"without channels, {layout.spatial_shape}; got shape {weights.shape} and type "
            f"{weights.dtype}."
        )
    weights = weights.astype(np.float64)
    if not np.isfinite(weights).all() or (weights < 0.0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if layout.order is not None:
        weights = weights[layout.order]
    known = weights > 0.0
    if not known.any():
        raise ValueError("sample_weight must not be zero everywhere: nothing would be observed.")
    if not known.all():
        observed = known if observed is None else observed & known
        weights = np.where(known, weights, weights[known].min())
    return weights, observed


def _count_observed(part: Any, observed: BoolArray | None) -> int:
    if part.size > MANY:
        return int(part.size)
    with np.errstate(all="ignore"):
        if observed is None and not np.isnan(part.sum()):
            return int(part.size)
    known = ~np.isnan(part)
    return int(np.count_nonzero(known if observed is None else known & observed))


def counts_of_observed(parts: list[Any], observed: BoolArray | None) -> list[int]:
    """Number of samples there is something to see of, at least two in every part."""
    counts = [_count_observed(part, observed) for part in parts]
    if min(counts) < 2:
        raise ValueError(
            "signal must have at least two observed samples; "
            f"got {min(counts)} in an array of shape {parts[0].shape}."
        )
    return counts


def _described(out: Any) -> str:
    if not isinstance(out, np.ndarray):
        return f"an object of type {type(out).__name__}"
    return f"shape {out.shape} and type {out.dtype}"


def _real_and_imaginary(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both parts, missing together: NumPy writes NaN as ``nan + 0j``."""
    missing = np.isnan(values)
    if not missing.any():
        return values.real, values.imag
    return np.where(missing, np.nan, values.real), np.where(missing, np.nan, values.imag)


def _as_number(part: Array) -> Any:
    """A float where all entries are equal: the fast ways need one."""
    first = float(part.flat[0])
    return first if (part == first).all() else part
