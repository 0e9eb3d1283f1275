"""Conversion between the user's array and the real channels that are denoised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relvec._signals import as_mask, as_numbers, resolve_channel_axis
from relvec._typing import BoolArray, IndexArray, Matrix
from relvec.denoising.channel import Channel
from relvec.denoising.frame import Array

__all__ = ["Layout", "Parts", "can_rotate_colours", "count_observed", "read_layout", "read_weights"]

COLOUR_ROTATION: Matrix = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, -1.0], [1.0, -2.0, 1.0]]) / np.sqrt(
    [[3.0], [2.0], [6.0]]
)
"""Brightness and two colour differences: an orthogonal matrix, so white noise stays white."""

MAX_COUNTED = 1 << 24
"""Samples beyond which missing ones are not counted: the data may be memory-mapped."""


@dataclass(frozen=True)
class Layout:
    """How a signal is split into real parts and assembled again."""

    shape: tuple[int, ...]
    """Shape of the signal, with channels."""
    channel_axis: int | None
    """Axis of the channels, if any."""
    is_complex: bool
    """Whether each channel has a real and an imaginary part."""
    order: IndexArray | None
    """Permutation that sorts the samples by position; None if they are sorted."""
    is_rotated: bool
    """Whether colours are denoised as brightness and two colour differences."""

    @property
    def spatial_shape(self) -> tuple[int, ...]:
        """Shape without channels."""
        if self.channel_axis is None:
            return self.shape
        return self.shape[: self.channel_axis] + self.shape[self.channel_axis + 1 :]

    def split(self, values: Any) -> list[Any]:
        """Split a signal into real arrays: views where possible, so that data stay on disk."""
        if self.channel_axis is None:
            channels = [values]
        else:
            before = (slice(None),) * self.channel_axis
            n_channels = self.shape[self.channel_axis]
            channels = [values[(*before, number)] for number in range(n_channels)]
        if self.order is not None:
            channels = [channel[self.order] for channel in channels]
        if self.is_complex:
            channels = [part for each in channels for part in _real_and_imaginary(each)]
        if self.is_rotated:
            channels = list(np.tensordot(COLOUR_ROTATION, np.stack(channels).astype(np.float64), 1))
        return channels

    def join(self, channels: list[Array]) -> Array:
        """Assemble a signal from its parts: the inverse of `split`."""
        if self.is_rotated:
            channels = list(np.tensordot(COLOUR_ROTATION.T, np.stack(channels), 1))
        if self.is_complex:
            channels = [
                real + 1j * imaginary
                for real, imaginary in zip(channels[::2], channels[1::2], strict=True)
            ]
        return self._assemble(channels)

    def split_output(self, out: Any) -> list[Any]:
        """Split the user's output array into views, one for each part."""
        is_array = isinstance(out, np.ndarray) and out.dtype.kind == "f"
        if not is_array or out.shape != self.shape:
            raise ValueError(
                f"out must be an array of floating-point numbers in the shape of the signal, "
                f"{self.shape}; got {_describe_output(out)}."
            )
        if self.is_complex or self.is_rotated or self.order is not None:
            raise ValueError(
                "out needs a real signal whose samples are in order, and decorrelate=False for "
                "colours; other results are assembled in memory. Call without out."
            )
        return self.split(out)

    def split_variances(self, given: Array | float) -> list[Any]:
        """Convert the noise variances of the signal to those of its parts."""
        n_channels = 1 if self.channel_axis is None else self.shape[self.channel_axis]
        n_parts = n_channels * (2 if self.is_complex else 1)
        if isinstance(given, float):
            return [given] * n_parts
        parts = Layout(self.shape, self.channel_axis, False, self.order, False).split(given)
        if self.is_complex:
            parts = [part for part in parts for _ in ("real", "imaginary")]
        if self.is_rotated:
            # Noise of the channels is independent: variances of rotated parts are sums with squared
            # coefficients; covariances between parts are neglected.
            parts = list(np.tensordot(COLOUR_ROTATION**2, np.stack(parts), 1))
        return [_as_number_if_constant(part) for part in parts]

    def convert_variances(self, variances: list[float], other: Layout) -> list[float]:
        """Convert noise variances of this signal's parts to those of another signal's parts."""
        if other._axes_and_channels != self._axes_and_channels:
            raise ValueError(
                "transform needs signals with the axes and channels of the fitted one, of shape "
                f"{self.shape}{' (complex)' * self.is_complex}; "
                f"got shape {other.shape}{' (complex)' * other.is_complex}. Reshape your data, "
                "or call fit on it."
            )
        if other.is_rotated == self.is_rotated:
            return list(variances)
        # The inverse of the rotation is its transpose; exact if the variances are equal.
        mixing = COLOUR_ROTATION**2 if other.is_rotated else COLOUR_ROTATION.T**2
        return [float(variance) for variance in mixing @ variances]

    @property
    def _axes_and_channels(self) -> tuple[int, int | None, bool]:
        n_channels = None if self.channel_axis is None else self.shape[self.channel_axis]
        return len(self.spatial_shape), n_channels, self.is_complex

    def join_variances(self, parts: list[Array]) -> Array:
        """Convert the variances of the parts to those of the signal."""
        if self.is_rotated:
            parts = list(np.tensordot(COLOUR_ROTATION.T**2, np.stack(parts), 1))
        if self.is_complex:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            # Variance of a complex number: E|z - mean|^2.
            parts = [real + imaginary for real, imaginary in pairs]
        return self._assemble(parts)

    def noise_std(self, variances: list[Any]) -> Any:
        """Compute the noise of the signal: one number, one per channel, or one per sample."""
        if not all(isinstance(variance, float) for variance in variances):
            on_grid = [np.broadcast_to(part, self.spatial_shape) for part in variances]
            # Half the sum: the noise level of the real and of the imaginary part.
            return np.sqrt(self.join_variances(on_grid) / (2.0 if self.is_complex else 1.0))
        per_part = np.array(variances)
        if self.is_rotated:
            per_part = COLOUR_ROTATION.T**2 @ per_part
        std = np.sqrt(per_part[:: 2 if self.is_complex else 1])
        return float(std[0]) if self.channel_axis is None else std

    def part_name(self, number: int) -> str:
        """Name of a part, for messages."""
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
    """A signal split into real arrays of the same shape."""

    layout: Layout
    values: list[Any]
    observed: BoolArray | None
    """False where a sample is missing; None if no mask was given."""
    weights: Array | None
    """Relative precision of every sample."""
    penalties: list[float]
    """Penalty per effective degree of freedom in each part."""

    def channels(self, variances: list[Any]) -> list[Channel]:
        """Return the parts as channels, given their noise variances at unit weight."""
        weights = self.weights
        return [
            Channel(part, variance if weights is None else variance / weights, c, self.observed)
            for part, variance, c in zip(self.values, variances, self.penalties, strict=True)
        ]


def read_layout(
    signal: Any, channel_axis: Any, x: Any, mask: Any
) -> tuple[Layout, Any, BoolArray | None]:
    """Find the axes, channels and order of the samples of a signal.

    Parameters
    ----------
    signal : array-like
        What the user passed.
    channel_axis : int, "auto" or None
        Axis of the channels.
    x : array-like or None
        Positions of the samples.
    mask : array-like of bool or None
        False where a sample is missing.

    Returns
    -------
    layout : Layout
    values : ndarray
        The signal as an array of numbers, not copied.
    observed : ndarray of bool or None
        The mask, sorted like the samples.
    """
    values = as_numbers(signal)
    axis = resolve_channel_axis(signal, values.shape, channel_axis)
    spatial = values.shape if axis is None else values.shape[:axis] + values.shape[axis + 1 :]
    _check_size(values.shape, spatial)
    observed = None if mask is None else as_mask(mask, spatial)
    order = None if x is None else _find_order(x, spatial)
    if order is not None and observed is not None:
        observed = observed[order]
    return Layout(values.shape, axis, values.dtype.kind == "c", order, False), values, observed


def can_rotate_colours(values: Any, layout: Layout) -> bool:
    """Whether the channels are three colours with the same missing pixels."""
    axis = layout.channel_axis
    if axis is None or layout.shape[axis] != 3 or len(layout.shape) != 3 or layout.is_complex:
        return False
    if values.dtype.kind != "f":
        return True
    missing = np.isnan(values)
    is_whole = (missing.any(axis=axis) == missing.all(axis=axis)).all()
    # the rotation would turn infinite values into NaN, which counts as missing
    return bool(is_whole) and not np.isinf(values).any()


def _check_size(shape: tuple[int, ...], spatial: tuple[int, ...]) -> None:
    n_samples = int(np.prod(spatial))
    if n_samples < 2 or 0 in shape:
        raise ValueError(
            "signal must have at least two samples; got an array of "
            f"shape {shape}" + ("." if shape == spatial else f", of which {spatial} are samples.")
        )


def _find_order(x: Any, spatial: tuple[int, ...]) -> IndexArray | None:
    positions = np.asarray(x)
    if len(spatial) != 1:
        raise ValueError(
            f"x gives the positions of samples along a line; the signal has {len(spatial)} axes. "
            "Leave x out for images and volumes, whose samples lie on a grid."
        )
    if positions.shape != spatial or positions.dtype.kind not in "biufmM":
        raise ValueError(
            f"x must hold one position for each of the {spatial[0]} samples; got an array of "
            f"shape {positions.shape} and type {positions.dtype}."
        )
    if not np.isfinite(positions).all():  # False for NaT too
        raise ValueError("x must be finite: every sample needs a position.")
    if (positions[1:] >= positions[:-1]).all():
        return None
    return np.argsort(positions, kind="stable")


def read_weights(
    sample_weight: Any, layout: Layout, observed: BoolArray | None
) -> tuple[Array | None, BoolArray | None]:
    """Check sample weights and sort them like the samples; zero weight counts as missing."""
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


def _count_observed_samples(part: Any, observed: BoolArray | None) -> int:
    if part.size > MAX_COUNTED:
        return int(part.size)
    with np.errstate(all="ignore"):
        if observed is None and not np.isnan(part.sum()):
            return int(part.size)
    known = ~np.isnan(part)
    return int(np.count_nonzero(known if observed is None else known & observed))


def count_observed(parts: list[Any], observed: BoolArray | None) -> list[int]:
    """Count the observed samples of each part, and require at least two."""
    counts = [_count_observed_samples(part, observed) for part in parts]
    if min(counts) < 2:
        raise ValueError(
            "signal must have at least two observed samples; "
            f"got {min(counts)} in an array of shape {parts[0].shape}."
        )
    return counts


def _describe_output(out: Any) -> str:
    if not isinstance(out, np.ndarray):
        return f"an object of type {type(out).__name__}"
    return f"shape {out.shape} and type {out.dtype}"


def _real_and_imaginary(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both parts, with NaN in both where one is NaN: NumPy's NaN is ``nan + 0j``."""
    missing = np.isnan(values)
    if not missing.any():
        return values.real, values.imag
    return np.where(missing, np.nan, values.real), np.where(missing, np.nan, values.imag)


def _as_number_if_constant(part: Array) -> Any:
    """Return a float if all entries are equal, for which there are faster formulas."""
    first = float(part.flat[0])
    return first if (part == first).all() else part
