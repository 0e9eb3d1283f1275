"""Several transforms try the same signal; an unbiased estimate of the error blends them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.denoising.frame import Array
from relvec.denoising.recipes import Recipe, set_up
from relvec.denoising.rule import shrink_band
from relvec.denoising.tuning import DEFAULT, DenoisingTuning

__all__ = ["Attempt", "Denoised", "attempt", "blend"]


class Attempt(NamedTuple):
    """What one transform makes of a signal."""

    mean: Array
    variance: Array | None
    penalty: float
    """Sum over samples of noise variance times the derivative of `mean` in its own datum."""
    freedom: float


class Denoised(NamedTuple):
    """The weighted mean of several attempts: the answer for a signal or a part of it."""

    mean: Array
    variance: Array | None
    freedom: float
    weights: Vector
    """Weight of each recipe, averaged over tiles: not negative, summing to one."""
    errors: Vector
    """Unbiased estimate of the mean squared error of each recipe alone."""
    error: float
    """The same for the blend (biased down a little, as its weights were chosen by it)."""


def attempt(
    values: Array,
    noise: Array | float,
    c: float,
    recipe: Recipe,
    boundary: str,
    *,
    want_variance: bool = False,
    tuning: DenoisingTuning = DEFAULT,
) -> Attempt:
    """Denoise with one transform.

    Parameters
    ----------
    values : ndarray
        Signal of zero mean.
    noise : float or ndarray
        Noise variance, of every sample or of each.
    c : float
        Penalty of one degree of freedom.
    recipe : Recipe
        Transform and neighbourhood.
    boundary : str
        How the signal is continued beyond its ends.
    want_variance : bool, default=False
        Whether to return the posterior variance of each sample as well.
    tuning : DenoisingTuning, optional
        How many shifts are averaged, and how penalties are chosen.
    """
    canvas, frame = set_up(recipe, values.shape, boundary, tuning)
    inside: Iterator[Array]
    noises: Iterator[Array | float]
    if isinstance(noise, float):
        inside = (noise * energy for energy in frame.inside(canvas.window))
        noises = iter([noise] * len(frame.bands))
    else:
        inside = frame.gather(canvas.surround(noise))
        noises = frame.gather(canvas.extend(noise))
    coefficients = frame.analyse(canvas.extend(values))
    variances: list[Array] = []
    penalties: dict[str, float] = {}
    penalty = freedom = 0.0
    for place, (band, level, energy) in enumerate(zip(frame.bands, noises, inside, strict=True)):
        shrunk = shrink_band(
            coefficients[place],
            level,
            energy,
            c,
            band,
            recipe.width,
            penalties.get(band.kind),
            tuning,
        )
        penalties[band.kind] = shrunk.group_c
        coefficients[place] = shrunk.values
        penalty += shrunk.penalty
        freedom += shrunk.freedom
        if want_variance:
            variances.append(level * shrunk.factor)
    mean = canvas.crop(frame.synthesise(coefficients))
    variance = canvas.crop(frame.spread(variances)) if want_variance else None
    return Attempt(mean, variance, penalty, freedom)


def blend(
    values: Array,
    noise: Array | float,
    c: float,
    recipes: Sequence[Recipe],
    boundary: str,
    *,
    want_variance: bool = False,
    tuning: DenoisingTuning = DEFAULT,
) -> Denoised:
    """Denoise with each of several transforms and average them with the best weights.

    The squared error of a weighted mean is estimated without bias by Stein's formula: its
    squared distance to the data, less the noise, plus twice its covariance with the data. It
    is quadratic in the weights.

    Parameters
    ----------
    values, noise, c, boundary, want_variance, tuning
        As in `attempt`.
    recipes : sequence of Recipe
        What to try.
    """
    work = partial(attempt, c=c, boundary=boundary, want_variance=want_variance, tuning=tuning)
    shape = values.shape
    if 1 in shape:  # continued along such an axis, noise would repeat itself and pass as signal
        values = values.squeeze()
        noise = noise if isinstance(noise, float) else noise.squeeze()
    level = values.mean()
    centred = values - level
    attempts = [work(centred, noise, recipe=recipe) for recipe in recipes]
    residuals = np.stack([(tried.mean - centred).ravel() for tried in attempts])
    penalties = np.array([tried.penalty for tried in attempts])
    # on weights that sum to one, 2 w'p is the quadratic form of p_i + p_j
    form = residuals @ residuals.T + penalties[:, None] + penalties
    weights = simplex_minimum(form)
    total_noise = _total(noise, values.size)
    variance = None
    if want_variance:
        variance = _average(weights, [tried.variance for tried in attempts])
        variance = variance + np.mean(noise) / values.size  # of the subtracted mean
        variance = variance.reshape(shape)
    return Denoised(
        mean=(level + _average(weights, [tried.mean for tried in attempts])).reshape(shape),
        variance=variance,
        freedom=1.0 + float(weights @ [tried.freedom for tried in attempts]),
        weights=weights,
        errors=(np.diagonal(form) - total_noise) / values.size,
        error=(float(weights @ form @ weights) - total_noise) / values.size,
    )


def _total(noise: Array | float, n_samples: int) -> float:
    return noise * n_samples if isinstance(noise, float) else float(np.sum(noise))


def _average(weights: Vector, arrays: Sequence[Any]) -> Array:
    return sum(weight * array for weight, array in zip(weights, arrays, strict=True))


def simplex_minimum(form: Matrix) -> Vector:
    """Weights, not negative and summing to one, at which a quadratic form is least.

    Examples
    --------
    >>> import numpy as np
    >>> simplex_minimum(np.array([[1.0, 0.0], [0.0, 3.0]]))
    array([0.75, 0.25])
    """
    n = len(form)
    scale = max(float(np.abs(form).max()), np.finfo(float).tiny)
    form = form / scale
    best, least = np.zeros(n), np.inf
    supports = chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1))
    for support in map(list, supports):
        part = form[np.ix_(support, support)]
        # Lagrange: part w = mu 1, sum w = 1
        system = np.block([[part, np.ones((len(support), 1))], [np.ones((1, len(support))), 0.0]])
        solution = np.linalg.lstsq(system, np.eye(len(support) + 1)[-1], rcond=None)[0][:-1]
        if (solution < -1e-12).any() or abs(solution.sum() - 1.0) > 1e-6:
            continue
        value = float(solution @ part @ solution)
        if value < least - 1e-12:
            least = value
            best = np.zeros(n)
            best[support] = np.maximum(solution, 0.0)
    return best / best.sum()
