"""One real signal of any size, with gaps and with noise that may differ from sample to sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import BoolArray
from relvec.denoising.blend import Denoised, blend
from relvec.denoising.frame import Array
from relvec.denoising.gaps import fill, gap_variance
from relvec.denoising.mapped import release_pages
from relvec.denoising.plain import PlainModel, fit_plain, make_dictionary
from relvec.denoising.recipes import PLAIN, Recipe
from relvec.denoising.tiles import fade, needs_tiles, tiles
from relvec.denoising.tuning import DEFAULT, DenoisingTuning

__all__ = ["Channel", "Scheme", "denoise_channel", "plain_model"]

Progress = Callable[[int, int], None]
"""Told how many tiles are done, and of how many."""


@dataclass(frozen=True)
class Channel:
    """A signal with all that is known of it."""

    values: Any
    """Real array; may lie on disk. NaN is missing."""
    noise_variance: Array | float
    """Of every sample, or of each."""
    c: float
    """Penalty of one degree of freedom."""
    observed: BoolArray | None = None
    """False where a sample is to be ignored."""


@dataclass(frozen=True)
class Scheme:
    """How channels are denoised: the options of a denoiser, resolved."""

    recipes: Sequence[Recipe]
    """Transforms to blend; the first one only if `is_plain`."""
    boundary: str = "symmetric"
    """How the signal is continued beyond its ends."""
    is_plain: bool = False
    """Use one orthonormal transform in closed form, and no tiles."""
    level: int | None = None
    """Depth of the plain transform."""
    want_variance: bool = False
    """Whether to compute the posterior variance of each sample as well."""
    tuning: DenoisingTuning = DEFAULT

    @property
    def plain_transform(self) -> str:
        """Transform of the plain model: that of the scheme, or the one that it refines."""
        return self.recipes[0].transform if self.is_plain else PLAIN


def denoise_channel(
    channel: Channel, scheme: Scheme, *, out: Any = None, progress: Progress | None = None
) -> Denoised:
    """Denoise a channel, in tiles if it is large.

    Parameters
    ----------
    channel : Channel
        The signal.
    scheme : Scheme
        How to do it.
    out : array, optional
        Where to put the denoised signal; may lie on disk.
    progress : callable, optional
        Told of every tile.
    """
    shape = channel.values.shape
    if not scheme.is_plain and needs_tiles(shape, scheme.tuning):
        return _denoise_tiles(channel, scheme, out, progress)
    whole = tuple(slice(0, size) for size in shape)
    result = _denoise_piece(_read(channel, whole, scheme.tuning), scheme)
    if out is not None:
        out[...] = result.mean
    return result


def _denoise_tiles(
    channel: Channel, scheme: Scheme, out: Any, progress: Progress | None
) -> Denoised:
    shape = channel.values.shape
    mean = np.zeros(shape) if out is None else out
    variance = np.zeros(shape) if scheme.want_variance else None
    weights = errors = np.zeros(len(scheme.recipes))
    freedom = error = 0.0
    plan = list(tiles(shape, scheme.tuning))
    if out is not None:
        for tile in plan:
            out[tile.box] = 0.0
    for done, tile in enumerate(plan, 1):
        result = _denoise_piece(_read(channel, tile.box, scheme.tuning), scheme)
        mean[tile.box] += fade(result.mean, tile)
        if variance is not None and result.variance is not None:
            variance[tile.box] += fade(result.variance, tile)
        share = math.prod(float(weight.sum()) for weight in tile.weights) / math.prod(shape)
        weights = weights + share * result.weights
        errors = errors + share * result.errors
        error += share * result.error
        freedom += share * result.freedom * math.prod(shape) / result.mean.size
        release_pages(channel.values)
        release_pages(out)
        if progress is not None:
            progress(done, len(plan))
    return Denoised(mean, variance, freedom, weights, errors, error)


class _Piece(NamedTuple):
    """A box of a channel, in memory, of a magnitude whose squares are in range."""

    values: Array
    observed: BoolArray | None
    """None if everything was."""
    noise: Array | float
    c: float
    scale: float = 1.0
    """What values were divided by."""


def _read(channel: Channel, box: tuple[slice, ...], tuning: DenoisingTuning) -> _Piece:
    """Read a box of a channel and fill its gaps."""
    # transforms want memory that may be written to, even if they leave it alone
    values = np.require(channel.values[box], np.float64, "W")
    observed = None if channel.observed is None else channel.observed[box]
    observed = _observed_numbers(values, observed)
    noise = channel.noise_variance
    if not isinstance(noise, float):
        noise, observed = _within_reach(noise[box], observed, tuning.noise_reach)
    if observed is None or observed.all():
        return _in_range(_Piece(values, None, noise, channel.c))
    if not observed.any():
        return _Piece(values, observed, noise, channel.c)
    return _in_range(_Piece(fill(values, observed), observed, noise, channel.c))


def _observed_numbers(values: Array, observed: BoolArray | None) -> BoolArray | None:
    """Count NaN as missing and refuse infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one pass, and nearly always all that is needed
            return observed
    known = ~np.isnan(values)
    observed = known if observed is None else observed & known
    if np.isinf(values[observed]).any():
        raise ValueError(
            "signal must be finite where it is observed; got infinite values. Replace them "
            "by NaN, or mark them as False in mask, to have them filled in."
        )
    return observed


def _in_range(piece: _Piece) -> _Piece:
    """Scale a piece whose squares, or their inverses, would overflow."""
    values, noise = piece.values, piece.noise
    largest = max(float(values.max()), -float(values.min()))
    if largest > 0.0 and np.max(noise) / largest / largest < 1e-60:
        noise = 0.0  # lost in rounding
    exponent = min(math.frexp(largest)[1], 1023)
    if abs(exponent) < 400:  # twice that, and some room for sums, is in range
        return piece._replace(noise=noise)
    scale = 2.0**exponent
    return piece._replace(values=values / scale, noise=noise / scale / scale, scale=scale)


def _within_reach(
    noise: Array, observed: BoolArray | None, reach: float
) -> tuple[Array | float, BoolArray | None]:
    """Bring noise variances near each other: samples with too much of it are not observed."""
    known = noise if observed is None else noise[observed]
    known = known[known > 0.0]
    if not known.size:
        return 0.0, observed
    typical = float(np.median(known))
    is_noisy = noise > reach * typical
    if is_noisy.any():
        observed = ~is_noisy if observed is None else observed & ~is_noisy
    return np.where(is_noisy, typical, np.maximum(noise, typical / reach)), observed


def _denoise_piece(piece: _Piece, scheme: Scheme) -> Denoised:
    values, noise, scale = piece.values, piece.noise, piece.scale
    zeros = np.zeros(len(scheme.recipes))
    if piece.observed is not None and not piece.observed.any():
        nothing = np.full(values.shape, np.nan)  # a gap as wide as a tile: nothing is known
        return Denoised(nothing, nothing, 0.0, zeros, zeros, 0.0)
    if not np.any(noise):
        none = np.zeros(values.shape)
        return Denoised(values * scale, none, float(values.size), zeros, zeros, 0.0)
    if scheme.is_plain:
        result = _plain(values, float(np.mean(noise)), piece.c, scheme)
    else:
        result = blend(
            values,
            noise,
            piece.c,
            scheme.recipes,
            scheme.boundary,
            want_variance=scheme.want_variance,
            tuning=scheme.tuning,
        )
    if result.variance is not None and piece.observed is not None:
        more = gap_variance(result.mean, piece.observed)
        result = result._replace(variance=result.variance + more)
    return result if scale == 1.0 else _rescaled(result, scale)


def _rescaled(result: Denoised, scale: float) -> Denoised:
    variance = result.variance
    return result._replace(
        mean=result.mean * scale,
        variance=None if variance is None else variance * scale * scale,
        errors=result.errors * scale * scale,
        error=result.error * scale * scale,
    )


def _plain(values: Array, noise: float, c: float, scheme: Scheme) -> Denoised:
    # filters are rounded: a constant misses being constant by up to 1e-9 of itself, with some
    # room, so that a large offset would leak into every coefficient
    offset = float(values.mean())
    offset = offset if abs(offset) * 1e-9 > math.sqrt(noise) else 0.0
    dictionary = make_dictionary(values.shape, scheme.recipes[0].transform, scheme.level)
    model = fit_plain(values - offset if offset else values, dictionary, noise, c)
    variance = model.variance() if scheme.want_variance else None
    mean = model.mean() + offset if offset else model.mean()
    unknown = np.full(1, np.nan)
    return Denoised(mean, variance, model.effective_dof_, np.ones(1), unknown, float("nan"))


def plain_model(channel: Channel, transform: str, level: int | None) -> PlainModel:
    """Fit one orthonormal transform to a channel, gaps filled and the noise averaged."""
    values = np.array(channel.values, dtype=np.float64)
    observed = ~np.isnan(values)
    if channel.observed is not None:
        observed &= channel.observed
    dictionary = make_dictionary(values.shape, transform, level)
    noise = float(np.mean(channel.noise_variance))
    return fit_plain(fill(values, observed), dictionary, noise, channel.c)
