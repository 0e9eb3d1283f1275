"""Random numbers from the Pólya-Gamma distribution, for logistic and binomial likelihoods.

If ``w ~ PG(b, z)``, the logistic likelihood given `w` is Gaussian in the latent function, so that
a Gibbs sampler of a logistic model draws weights from a normal distribution (Polson, Scott &
Windle 2013, "Bayesian inference for logistic models using Pólya-Gamma latent variables").

The distribution is an infinite convolution of gamma variables::

    PG(b, z) = sum_k g_k / (2 pi^2 ((k - 1/2)^2 + z^2 / (4 pi^2))),   g_k ~ Gamma(b, 1)

with k = 1, 2, ...
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, ndtr, ndtri

from relvec._typing import ArrayLike, IndexArray, Vector

__all__ = ["polya_gamma_mean", "polya_gamma_variance", "sample_polya_gamma"]

TRUNCATION = 0.64
"""Where Devroye's two series of the density meet; both bounds hold in an interval around it."""
LARGEST_EXACT_SHAPE = 4
"""Integer shapes up to this one are sums of exact draws: beyond, the convolution is faster,
and its error is below 1e-6 at tilts up to 30."""
N_TERMS = 24
"""Gamma variables of the convolution that are drawn; the others are summed up by one variable."""
N_PROPOSALS = 64
"""Proposals per round of the rejection sampler, if fewer rows than this are left."""

NORMAL_BOUND = -1.0 / math.sqrt(TRUNCATION)
NORMAL_TAIL = float(ndtr(NORMAL_BOUND))


def polya_gamma_mean(shape: ArrayLike, tilt: ArrayLike) -> Vector:
    """Return the mean of the Pólya-Gamma distribution, ``b / (2 z) tanh(z / 2)``.

    Parameters
    ----------
    shape : array-like
        Shape `b`, not negative.
    tilt : array-like
        Tilt `z`; only its absolute value matters.

    Returns
    -------
    mean : ndarray

    Examples
    --------
    >>> from relvec.sampling import polya_gamma_mean
    >>> polya_gamma_mean([1.0, 1.0, 2.0], [0.0, 4.0, 4.0]).round(4)
    array([0.25  , 0.1205, 0.241 ])
    """
    half = 0.5 * np.abs(np.asarray(tilt, dtype=np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(half > 1e-150, np.tanh(half) / half, 1.0)
    return np.asarray(0.25 * np.asarray(shape, dtype=np.float64) * ratio)


def polya_gamma_variance(shape: ArrayLike, tilt: ArrayLike) -> Vector:
    """Return the variance of the Pólya-Gamma distribution.

    Parameters
    ----------
    shape : array-like
        Shape `b`, not negative.
    tilt : array-like
        Tilt `z`; only its absolute value matters.

    Returns
    -------
    variance : ndarray

    Examples
    --------
    >>> from relvec.sampling import polya_gamma_variance
    >>> polya_gamma_variance([1.0, 1.0], [0.0, 4.0]).round(5)
    array([0.04167, 0.00643])
    """
    z = np.abs(np.asarray(tilt, dtype=np.float64))
    # b / (4 z^3) (2 tanh(z / 2) - z sech^2(z / 2)); near zero the difference cancels, and its
    # Taylor series in (z / 2)^2 is used.
    away = np.maximum(z, 0.1)
    small = np.exp(-away)
    difference = 2.0 * np.tanh(0.5 * away) - away * 4.0 * small / (1.0 + small) ** 2
    # one division at a time: the cube of a huge tilt is not a floating-point number
    exact = 6.0 * difference / away / away / away
    squared = np.minimum(0.5 * z, 0.05) ** 2
    series = 1.0 + squared * (-4.0 / 5.0 + squared * (17.0 / 35.0 - squared * 248.0 / 945.0))
    return np.asarray(np.asarray(shape, dtype=np.float64) / 24.0 * np.where(z < 0.1, series, exact))


def sample_polya_gamma(shape: ArrayLike, tilt: ArrayLike, rng: np.random.Generator) -> Vector:
    """Draw Pólya-Gamma variables, one for each element of the arrays.

    Parameters
    ----------
    shape : array-like
        Shape `b`, not negative: the number of trials, or the weight of a row. Where it is zero
        the draw is zero.
    tilt : array-like
        Tilt `z`, the value of the latent function. Broadcast with `shape`.
    rng : numpy Generator

    Returns
    -------
    draws : ndarray

    Notes
    -----
    Draws with an integer shape of at most 4 are exact: sums of draws of shape 1 by the rejection
    sampler of Devroye (2009, "On exact simulation algorithms for some distributions related to
    Jacobi theta functions").

    Draws with other shapes are an approximation: the first 24 gamma variables of the convolution,
    and an inverse Gaussian variable with the mean and the variance of the sum of the others.
    Mean and variance are exact. Bounds of the error of the distribution function, computed from
    the characteristic functions:

    =====  =============  ========
    shape  tilt up to 10  any tilt
    =====  =============  ========
    0.01   2e-2           3e-2
    0.1    1e-4           2e-3
    0.5    3e-7           8e-4
    2      3e-8           4e-4
    =====  =============  ========

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import sample_polya_gamma
    >>> rng = np.random.default_rng(0)
    >>> draws = sample_polya_gamma(np.ones(20_000), 2.0, rng)
    >>> round(float(draws.mean()), 2)
    0.19

    Rows of weight zero, one and two and a half:

    >>> sample_polya_gamma([0.0, 1.0, 2.5], [0.3, -1.0, 40.0], rng).shape
    (3,)
    """
    b, z = np.broadcast_arrays(
        np.asarray(shape, dtype=np.float64), np.abs(np.asarray(tilt, dtype=np.float64))
    )
    _check("shape", b)
    _check("tilt", z)
    b, z, result_shape = b.ravel(), z.ravel(), b.shape
    if b.size and (b == 1.0).all():
        return 0.25 * _sample_jacobi(0.5 * z, rng).reshape(result_shape)
    draws = np.zeros(b.size)
    is_exact = (b <= LARGEST_EXACT_SHAPE) & (b == np.floor(b))
    rows = np.flatnonzero(is_exact & (b > 0.0))
    if len(rows):
        repeated = np.repeat(rows, b[rows].astype(np.intp))
        units = 0.25 * _sample_jacobi(0.5 * z[repeated], rng)
        draws += np.bincount(repeated, weights=units, minlength=b.size)
    rows = np.flatnonzero(~is_exact)
    if len(rows):
        draws[rows] = _sample_convolution(b[rows], z[rows], rng)
    return draws.reshape(result_shape)


def _check(name: str, values: Vector) -> None:
    low, high = values.min(initial=0.0), values.max(initial=0.0)
    if not (low >= 0.0 and high < np.inf):  # also false for NaN
        what = "finite and not negative" if name == "shape" else "finite"
        raise ValueError(f"{name} must be {what}; got values from {low} to {high}.")


def _sample_jacobi(z: Vector, rng: np.random.Generator) -> Vector:
    """Draw from J*(1, z) of Devroye (2009), four times a PG(1, 2 z) variable, by rejection.

    The envelope has two parts: the first term of one series left of the truncation point, that
    of the other series right of it. Rejected proposals start again from the choice of the part,
    so that several proposals for a row can be made at once and the first accepted one be taken.
    """
    # Beyond the bound, which keeps the square finite, the right part has no mass.
    bounded = np.minimum(z, 1e150)
    rate = 0.125 * math.pi**2 + 0.5 * bounded**2
    log_right = math.log(0.5 * math.pi) - np.log(rate) - rate * TRUNCATION
    is_light = z * TRUNCATION < 1.0
    log_left = np.where(is_light, math.log(4.0 * NORMAL_TAIL), math.log(2.0) - bounded)
    probability = expit(log_right - log_left)
    draws = np.empty(len(z))
    left: IndexArray = np.arange(len(z))
    while len(left):
        n_tries = max(1, N_PROPOSALS // len(left))
        rows = np.repeat(left, n_tries) if n_tries > 1 else left
        proposal, is_accepted = _propose(z[rows], rate[rows], probability[rows], rng)
        proposal = proposal.reshape(-1, n_tries)
        is_accepted = is_accepted.reshape(-1, n_tries)
        first = is_accepted.argmax(axis=1)
        each = np.arange(len(left))
        is_done = is_accepted[each, first]
        draws[left[is_done]] = proposal[each, first][is_done]
        left = left[~is_done]
    return draws


def _propose(
    z: Vector, rate: Vector, probability: Vector, rng: np.random.Generator
) -> tuple[Vector, np.ndarray]:
    """Propose one variable per row; return them, and which are accepted."""
    choice, level, accept = rng.random((3, len(z)))
    is_right = choice < probability
    is_light = z * TRUNCATION < 1.0
    draws = np.empty(len(z))

    # Right of the truncation point: an exponential variable. 1 - level is positive.
    at = np.flatnonzero(is_right)
    draws[at] = TRUNCATION - np.log1p(-level[at]) / rate[at]

    # Left of it, the density of 1 / N^2 with N standard normal beyond 1 / sqrt(truncation), by
    # inversion, thinned by exp(-z^2 x / 2).
    at = np.flatnonzero(~is_right & is_light)
    draws[at] = 1.0 / ndtri(NORMAL_TAIL * (1.0 - level[at])) ** 2
    thinning = np.exp(-0.5 * z[at] ** 2 * draws[at])
    is_accepted = np.ones(len(z), dtype=bool)
    is_accepted[at] = accept[at] < thinning
    # Given that it is below the bound, the ratio to the bound is uniform again.
    accept[at] = accept[at] / thinning

    # With a large z, an inverse Gaussian variable that must be left of the point.
    at = np.flatnonzero(~(is_right | is_light))
    if len(at):
        draws[at] = _sample_inverse_gaussian(1.0 / z[at], 1.0 / z[at], level[at], rng)
        is_accepted[at] = draws[at] < TRUNCATION

    is_accepted &= _is_below_series(draws, accept)
    return draws, is_accepted


def _is_below_series(x: Vector, level: Vector) -> np.ndarray:
    """Whether `level` times the first term of the alternating series is below the whole sum.

    The ratio of term n to the first is (2n + 1) exp(-n (n + 1) c) with c = 2/x left of the
    truncation point and c = pi^2 x / 2 right of it. Partial sums bound the sum from alternating
    sides, and nearly all levels are decided by the first.
    """
    c = np.where(x <= TRUNCATION, 2.0 / x, 0.5 * math.pi**2 * x)
    total = 1.0 - 3.0 * np.exp(-2.0 * c)
    is_below = level <= total
    # Above one minus the first ratio: undecided until a sum that includes an even term is lower.
    rows = np.flatnonzero(~is_below)
    total = total[rows]
    n = 2
    while len(rows):
        term = (2 * n + 1) * np.exp(-n * (n + 1) * c[rows])
        if n % 2 == 0:
            total = total + term
            is_open = level[rows] <= total
        else:
            total = total - term
            is_open = level[rows] > total
            is_below[rows[~is_open]] = True
        # A term below the spacing of floating-point numbers cannot decide; the level is rejected.
        is_open &= term > 0.0
        rows, total = rows[is_open], total[is_open]
        n += 1
    return is_below


def _sample_convolution(b: Vector, z: Vector, rng: np.random.Generator) -> Vector:
    """Draw by the convolution of gamma variables, truncated."""
    k = np.arange(1, N_TERMS + 1) - 0.5
    with np.errstate(over="ignore"):  # with an infinite square all is left to the remainder
        scale = 0.5 / ((math.pi * k) ** 2 + 0.25 * z[:, None] ** 2)
    drawn = (rng.standard_gamma(b[:, None], size=scale.shape) * scale).sum(axis=1)
    # An inverse Gaussian variable has ``k3 k1 / k2^2 = 3`` (cumulants k1, k2, k3), a gamma
    # variable 2. The remainder has 3.6 at z = 0, and 3 if z is large.
    mean = polya_gamma_mean(b, z) - b * scale.sum(axis=1)
    variance = polya_gamma_variance(b, z) - b * (scale**2).sum(axis=1)
    mean = np.maximum(mean, np.finfo(np.float64).tiny)
    dispersion = variance / mean / mean
    return drawn + _sample_inverse_gaussian(mean, dispersion, rng.random(len(b)), rng)


def _sample_inverse_gaussian(
    mean: Vector, dispersion: Vector, level: Vector, rng: np.random.Generator
) -> Vector:
    """Draw inverse Gaussian variables by the method of Michael, Schucany & Haas (1976).

    `dispersion` is the variance divided by the squared mean; `level` is uniform.
    """
    # The two roots multiply to one. The smaller, in the form without cancellation:
    half = 0.5 * dispersion * rng.standard_normal(len(mean)) ** 2
    root = 1.0 / (1.0 + half + np.sqrt(half * (2.0 + half)))
    return mean * np.where(level * (1.0 + root) < 1.0, root, 1.0 / root)
