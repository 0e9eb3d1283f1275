"""One real signal of any size, with gaps and with noise that may differ from sample to sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import BoolArray, Vector
from relvec.denoising.blend import Blend, blend
from relvec.denoising.frame import Array
from relvec.denoising.gaps import doubt_in_gaps, fill
from relvec.denoising.mapped import let_go
from relvec.denoising.plain import PlainModel, fit_plain, make_dictionary
from relvec.denoising.recipes import Recipe
from relvec.denoising.tiles import fade, needs_tiles, tiles

__all__ = ["Channel", "Denoised", "denoise_channel", "plain_model"]

FILTER_ROUNDING = 1e-9
"""How far, with some room, a wavelet transform of a constant may miss being constant."""
SAFE_EXPONENT = 400
"""Squares of numbers up to two to this power, and of their inverses, are in range."""

NEGLIGIBLE = 1e-60
"""Noise variance in units of the largest square below which it is lost in rounding."""
REACH = 1e6
"""Noise variances of samples may differ by this factor from their median. Rounding errors of
transforms are far smaller than the least of them, and a sample with more is as good as missing."""

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
    """Price of one degree of freedom."""
    observed: BoolArray | None = None
    """False where a sample is to be ignored."""


@dataclass(frozen=True)
class Denoised:
    """The answer for one channel."""

    mean: Array
    variance: Array | None
    freedom: float
    weights: Vector
    """Weight of each recipe, averaged over tiles."""
    errors: Vector
    """Estimated mean squared error of each recipe alone."""
    error: float
    """Estimated mean squared error."""


def denoise_channel(
    channel: Channel,
    recipes: Sequence[Recipe],
    boundary: str,
    *,
    is_plain: bool = False,
    level: int | None = None,
    want_variance: bool = False,
    out: Any = None,
    progress: Progress | None = None,
) -> Denoised:
    """Denoise a channel, in tiles if it is large.

    Parameters
    ----------
    channel : Channel
        The signal.
    recipes : sequence of Recipe
        Transforms to blend; the first one only if `is_plain`.
    boundary : str
        How the signal is continued beyond its ends.
    is_plain : bool, default=False
        Use one orthonormal transform in closed form, and no tiles.
    level : int, optional
        Depth of the plain transform.
    want_variance : bool, default=False
        Whether to compute the posterior variance of each sample as well.
    out : array, optional
        Where to put the denoised signal; may lie on disk.
    progress : callable, optional
        Told of every tile.
    """
    values = channel.values
    if is_plain or not needs_tiles(values.shape):
        piece = _read(channel, tuple(slice(0, size) for size in values.shape))
        result = _denoise_piece(piece, recipes, boundary, is_plain, level, want_variance)
        if out is not None:
            out[...] = result.mean
        return result
    mean = np.zeros(values.shape) if out is None else out
    variance = np.zeros(values.shape) if want_variance else None
    weights = errors = np.zeros(len(recipes))
    freedom = error = 0.0
    plan = list(tiles(values.shape))
    if out is not None:
        for tile in plan:
            out[tile.box] = 0.0
    for done, tile in enumerate(plan, 1):
        result = _denoise_piece(
            _read(channel, tile.box), recipes, boundary, False, None, want_variance
        )
        mean[tile.box] += fade(result.mean, tile)
        if variance is not None and result.variance is not None:
            variance[tile.box] += fade(result.variance, tile)
        share = math.prod(float(weight.sum()) for weight in tile.weights) / math.prod(values.shape)
        weights = weights + share * result.weights
        errors = errors + share * result.errors
        error += share * result.error
        freedom += share * result.freedom * math.prod(values.shape) / result.mean.size
        let_go(values)
        let_go(out)
        if progress is not None:
            progress(done, len(plan))
    return Denoised(mean, variance, freedom, weights, errors, error)


@dataclass(frozen=True)
class _Piece:
    """A box of a channel, in memory, of a magnitude whose squares are in range."""

    values: Array
    observed: BoolArray | None
    """None if everything was."""
    noise: Array | float
    c: float
    scale: float
    """What values were divided by."""


def _read(channel: Channel, box: tuple[slice, ...]) -> _Piece:
    # transforms want memory that may be written to, even if they leave it alone
    values = np.require(channel.values[box], np.float64, "W")
    observed = None if channel.observed is None else channel.observed[box]
    noise = (
        channel.noise_variance
        if isinstance(channel.noise_variance, float)
        else (channel.noise_variance[box])
    )
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(values.sum())  # one pass, and nearly always all that is needed
    if not is_finite:
        known = ~np.isnan(values)
        observed = known if observed is None else observed & known
        if np.isinf(values[observed]).any():
            raise ValueError(
                "signal must be finite where it is observed; got infinite values. Replace them "
                "by NaN, or mark them as False in mask, to have them filled in."
            )
    if not isinstance(noise, float):
        noise, observed = _within_reach(noise, observed)
    if observed is not None and not observed.all():
        if not observed.any():
            return _Piece(values, observed, noise, channel.c, 1.0)
        values = fill(values, observed)
    else:
        observed = None
    largest = max(float(values.max()), -float(values.min()))
    if largest > 0.0 and np.max(noise) / largest / largest < NEGLIGIBLE:
        noise = 0.0
    exponent = min(math.frexp(largest)[1], 1023)
    if abs(exponent) < SAFE_EXPONENT:
        return _Piece(values, observed, noise, channel.c, 1.0)
    scale = 2.0**exponent
    return _Piece(values / scale, observed, noise / scale / scale, channel.c, scale)


def _within_reach(
    noise: Array, observed: BoolArray | None
) -> tuple[Array | float, BoolArray | None]:
    """Bring noise variances near each other: samples with too much of it are not observed."""
    known = noise if observed is None else noise[observed]
    known = known[known > 0.0]
    if not known.size:
        return 0.0, observed
    typical = float(np.median(known))
    is_noisy = noise > REACH * typical
    if is_noisy.any():
        observed = ~is_noisy if observed is None else observed & ~is_noisy
    return np.where(is_noisy, typical, np.maximum(noise, typical / REACH)), observed


def _denoise_piece(
    piece: _Piece,
    recipes: Sequence[Recipe],
    boundary: str,
    is_plain: bool,
    level: int | None,
    want_variance: bool,
) -> Denoised:
    values, noise, scale = piece.values, piece.noise, piece.scale
    zeros = np.zeros(len(recipes))
    if piece.observed is not None and not piece.observed.any():
        nothing = np.full(values.shape, np.nan)  # a gap as wide as a tile: nothing is known
        return Denoised(nothing, nothing, 0.0, zeros, zeros, 0.0)
    if not np.any(noise):
        none = np.zeros(values.shape)
        return Denoised(values * scale, none, float(values.size), zeros, zeros, 0.0)
    result: Denoised | Blend
    if is_plain:
        result = _plain(values, float(np.mean(noise)), piece.c, recipes, level, want_variance)
    else:
        result = blend(values, noise, piece.c, recipes, boundary, want_variance=want_variance)
    variance = result.variance
    if variance is not None and piece.observed is not None:
        variance = variance + doubt_in_gaps(result.mean, piece.observed)
    if scale == 1.0:
        mean = result.mean
    else:
        mean, variance = result.mean * scale, None if variance is None else variance * scale * scale
    return Denoised(
        mean=mean,
        variance=variance,
        freedom=result.freedom,
        weights=result.weights,
        errors=result.errors * scale * scale,
        error=result.error * scale * scale,
    )


def _plain(
    values: Array,
    noise: float,
    c: float,
    recipes: Sequence[Recipe],
    level: int | None,
    want_variance: bool,
) -> Denoised:
    # filters are rounded: a large offset would leak into every coefficient
    offset = float(values.mean())
    offset = offset if abs(offset) * FILTER_ROUNDING > math.sqrt(noise) else 0.0
    dictionary = make_dictionary(values.shape, recipes[0].transform, level)
    model = fit_plain(values - offset if offset else values, dictionary, noise, c)
    variance = model.variance() if want_variance else None
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
