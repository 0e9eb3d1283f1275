"""Denoise one real channel of any size, with missing samples and known or uneven noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import BoolArray
from relvec.denoising.blend import Denoised, blend_transforms
from relvec.denoising.frame import Array
from relvec.denoising.gaps import compute_gap_variance, fill_gaps
from relvec.denoising.memory_maps import release_pages
from relvec.denoising.plain import PlainModel, fit_plain, make_dictionary
from relvec.denoising.tiles import apply_taper, make_tiles, needs_tiles
from relvec.denoising.transforms import PLAIN_TRANSFORM, TransformChoice
from relvec.denoising.tuning import DEFAULT, DenoisingTuning

__all__ = ["Channel", "Scheme", "denoise_channel", "fit_plain_model"]

Progress = Callable[[int, int], None]
"""Called after every tile with the number of tiles done and their total."""


@dataclass(frozen=True)
class Channel:
    """A real signal, its noise variance, its penalty and its mask."""

    values: Any
    """Real array, possibly memory-mapped. NaN counts as missing."""
    noise_variance: Array | float
    """Noise variance: one number, or one per sample."""
    c: float
    """Penalty per effective degree of freedom."""
    observed: BoolArray | None = None
    """False where a sample is missing."""


@dataclass(frozen=True)
class Scheme:
    """The resolved options of a denoiser."""

    transforms: Sequence[TransformChoice]
    """Transforms to average; only the first is used if `is_plain`."""
    boundary: str = "symmetric"
    """How the signal is extended beyond its ends."""
    is_plain: bool = False
    """Use one orthonormal transform in closed form, without tiles."""
    level: int | None = None
    """Number of levels of the plain wavelet transform."""
    want_variance: bool = False
    """Whether to compute the posterior variance of each sample as well."""
    tuning: DenoisingTuning = DEFAULT
    """Constants of the method."""

    @property
    def plain_transform(self) -> str:
        """Transform of the plain model: the one chosen, or the default in quality mode."""
        return self.transforms[0].transform if self.is_plain else PLAIN_TRANSFORM


def denoise_channel(
    channel: Channel, scheme: Scheme, *, out: Any = None, progress: Progress | None = None
) -> Denoised:
    """Denoise a channel, in overlapping tiles if it is large.

    Parameters
    ----------
    channel : Channel
        The signal.
    scheme : Scheme
        The resolved options.
    out : array, optional
        Where the denoised signal is written; may be memory-mapped.
    progress : callable, optional
        Called after every tile.

    Returns
    -------
    denoised : Denoised
    """
    shape = channel.values.shape
    if not scheme.is_plain and needs_tiles(shape, scheme.tuning):
        return _denoise_tiles(channel, scheme, out, progress)
    whole = tuple(slice(0, size) for size in shape)
    result = _denoise_piece(_read_piece(channel, whole, scheme.tuning), scheme)
    if out is not None:
        out[...] = result.mean
    return result


def _denoise_tiles(
    channel: Channel, scheme: Scheme, out: Any, progress: Progress | None
) -> Denoised:
    shape = channel.values.shape
    mean = np.zeros(shape) if out is None else out
    variance = np.zeros(shape) if scheme.want_variance else None
    weights = transform_mse = np.zeros(len(scheme.transforms))
    effective_dof = mse = 0.0
    plan = list(make_tiles(shape, scheme.tuning))
    if out is not None:
        for tile in plan:
            out[tile.box] = 0.0
    for done, tile in enumerate(plan, 1):
        result = _denoise_piece(_read_piece(channel, tile.box, scheme.tuning), scheme)
        mean[tile.box] += apply_taper(result.mean, tile)
        if variance is not None and result.variance is not None:
            variance[tile.box] += apply_taper(result.variance, tile)
        # averages over tiles, each weighted by the fraction of the signal that it provides
        fraction = math.prod(float(weight.sum()) for weight in tile.weights) / math.prod(shape)
        weights = weights + fraction * result.weights
        transform_mse = transform_mse + fraction * result.transform_mse
        mse += fraction * result.mse
        # Density of degrees of freedom in the tile times the samples that it provides.
        effective_dof += fraction * result.effective_dof * math.prod(shape) / result.mean.size
        release_pages(channel.values)
        release_pages(out)
        if progress is not None:
            progress(done, len(plan))
    return Denoised(mean, variance, effective_dof, weights, transform_mse, mse)


class _Piece(NamedTuple):
    """A box of a channel in memory, scaled so that squares neither overflow nor underflow."""

    values: Array
    """The samples, gaps filled."""
    observed: BoolArray | None
    """False where a sample was missing; None if none was."""
    noise: Array | float
    """Noise variance."""
    c: float
    """Penalty per effective degree of freedom."""
    scale: float = 1.0
    """Factor by which the values were divided."""


def _read_piece(channel: Channel, box: tuple[slice, ...], tuning: DenoisingTuning) -> _Piece:
    """Read a box of a channel and fill its gaps."""
    # PyWavelets needs writeable memory, although it does not write to it
    values = np.require(channel.values[box], np.float64, "W")
    observed = None if channel.observed is None else channel.observed[box]
    observed = _check_observed(values, observed)
    noise = channel.noise_variance
    if not isinstance(noise, float):
        noise, observed = _limit_noise_ratio(noise[box], observed, tuning.max_noise_ratio)
    if observed is None or observed.all():
        return _scale_into_range(_Piece(values, None, noise, channel.c))
    if not observed.any():
        return _Piece(values, observed, noise, channel.c)
    return _scale_into_range(_Piece(fill_gaps(values, observed), observed, noise, channel.c))


def _check_observed(values: Array, observed: BoolArray | None) -> BoolArray | None:
    """Mark NaN as missing, and raise an error if an observed sample is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        # a finite sum means that all values are finite: one pass, without a temporary array
        if np.isfinite(values.sum()):
            return observed
    known = ~np.isnan(values)
    observed = known if observed is None else observed & known
    if np.isinf(values[observed]).any():
        raise ValueError(
            "signal must be finite where it is observed; got infinite values. Replace them "
            "by NaN, or mark them as False in mask; missing samples are interpolated."
        )
    return observed


def _scale_into_range(piece: _Piece) -> _Piece:
    """Divide a piece by a power of two if its squares, or their inverses, would overflow."""
    values, noise = piece.values, piece.noise
    largest = max(float(values.max()), -float(values.min()))
    if largest > 0.0 and np.max(noise) / largest / largest < 1e-60:
        # Divided twice, since the square of `largest` might overflow.
        noise = 0.0  # far below the rounding errors of the values
    exponent = min(math.frexp(largest)[1], 1023)
    # squares of numbers below 2^400 are below 2^800: sums of them stay finite
    if abs(exponent) < 400:
        return piece._replace(noise=noise)
    # A power of two: scaling is exact.
    scale = 2.0**exponent
    return piece._replace(values=values / scale, noise=noise / scale / scale, scale=scale)


def _limit_noise_ratio(
    noise: Array, observed: BoolArray | None, reach: float
) -> tuple[Array | float, BoolArray | None]:
    """Limit the ratio of noise variances to their median.

    Samples with more noise than that are treated as missing; smaller variances are raised.
    """
    known = noise if observed is None else noise[observed]
    known = known[known > 0.0]
    if not known.size:
        return 0.0, observed
    typical = float(np.median(known))
    is_noisy = noise > reach * typical
    if is_noisy.any():
        observed = ~is_noisy if observed is None else observed & ~is_noisy
    # Samples treated as missing are interpolated: they get the noise of a typical sample.
    return np.where(is_noisy, typical, np.maximum(noise, typical / reach)), observed


def _denoise_piece(piece: _Piece, scheme: Scheme) -> Denoised:
    values, noise, scale = piece.values, piece.noise, piece.scale
    zeros = np.zeros(len(scheme.transforms))
    if piece.observed is not None and not piece.observed.any():
        unknown = np.full(values.shape, np.nan)  # no sample of this tile is observed
        return Denoised(unknown, unknown, 0.0, zeros, zeros, 0.0)
    if not np.any(noise):
        no_variance = np.zeros(values.shape)
        return Denoised(values * scale, no_variance, float(values.size), zeros, zeros, 0.0)
    if scheme.is_plain:
        result = _denoise_plain(values, float(np.mean(noise)), piece.c, scheme)
    else:
        result = blend_transforms(
            values,
            noise,
            piece.c,
            scheme.transforms,
            scheme.boundary,
            want_variance=scheme.want_variance,
            tuning=scheme.tuning,
        )
    if result.variance is not None and piece.observed is not None:
        # At gaps the posterior treats interpolated values as data: the error of interpolation is
        # added.
        interpolation = compute_gap_variance(result.mean, piece.observed)
        result = result._replace(variance=result.variance + interpolation)
    return result if scale == 1.0 else _rescale(result, scale)


def _rescale(result: Denoised, scale: float) -> Denoised:
    variance = result.variance
    return result._replace(
        mean=result.mean * scale,
        variance=None if variance is None else variance * scale * scale,
        transform_mse=result.transform_mse * scale * scale,
        mse=result.mse * scale * scale,
    )


def _denoise_plain(values: Array, noise: float, c: float, scheme: Scheme) -> Denoised:
    # The filters of PyWavelets are rounded: a constant signal gets detail coefficients of up to
    # 1e-9 of its value. A mean so large that this exceeds the noise is subtracted first.
    offset = float(values.mean())
    # Not in general: with the mean left in, the transform models it by its own coefficients.
    offset = offset if abs(offset) * 1e-9 > math.sqrt(noise) else 0.0
    dictionary = make_dictionary(values.shape, scheme.transforms[0].transform, scheme.level)
    model = fit_plain(values - offset if offset else values, dictionary, noise, c)
    variance = model.variance() if scheme.want_variance else None
    mean = model.mean() + offset if offset else model.mean()
    no_estimate = np.full(1, np.nan)
    return Denoised(mean, variance, model.effective_dof_, np.ones(1), no_estimate, float("nan"))


def fit_plain_model(channel: Channel, transform: str, level: int | None) -> PlainModel:
    """Fit the plain model to a channel, with gaps filled and the noise variance averaged."""
    values = np.array(channel.values, dtype=np.float64)
    observed = ~np.isnan(values)
    if channel.observed is not None:
        observed &= channel.observed
    dictionary = make_dictionary(values.shape, transform, level)
    noise = float(np.mean(channel.noise_variance))
    return fit_plain(fill_gaps(values, observed), dictionary, noise, channel.c)
