"""Exact draws of the local scales of a horseshoe prior, and a slice sampler for one variable.

Given a weight, its local scale enters through ``y = 1 / lambda^2`` with the density::

    p(y) ~ sqrt(1 + a / y) exp(-b y) / (1 + y),        y > 0,

where ``1 / (1 + y)`` comes from the half-Cauchy prior and ``a = 0`` without a slab (see
`relvec.sampling.horseshoe`). It is sampled by rejection, all atoms at once and without tuning, so
that successive local scales depend on each other only through the weights. Johndrow, Orenstein and
Bhattacharya (2020) use slice sampling here, Makalic and Schmidt (2016) an auxiliary variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from relvec._typing import BoolArray, Vector

__all__ = ["draw_log_inverse_square", "slice_step"]

LOG_LIMIT = 400.0
"""Bound on ``|log b|`` and on ``log a``, so that exponentials neither overflow nor vanish."""
MOST_STEPS = 60


def draw_log_inverse_square(log_b: Vector, log_a: float, rng: np.random.Generator) -> Vector:
    """Draw the logarithm of ``y = 1 / lambda^2`` of every atom.

    Parameters
    ----------
    log_b : ndarray of shape (n,)
        Logarithm of ``b = w^2 / (2 sigma^2 tau^2)``.
    log_a : float
        Logarithm of ``a = tau^2 / c^2``; minus infinity without a slab.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    log_y : ndarray of shape (n,)

    Examples
    --------
    A large weight has a large local scale.

    >>> import numpy as np
    >>> from relvec.sampling.local_scales import draw_log_inverse_square
    >>> log_b = np.log([1e-4, 1e4]).repeat(1000)
    >>> log_y = draw_log_inverse_square(log_b, -np.inf, np.random.default_rng(0))
    >>> bool(np.median(log_y[:1000]) > np.median(log_y[1000:]))
    True
    """
    log_b = np.clip(log_b, -LOG_LIMIT, LOG_LIMIT)
    log_a = min(log_a, LOG_LIMIT)
    result = np.empty(len(log_b))
    pending = np.arange(len(log_b))
    while len(pending):
        log_y, accepted = _propose(log_b[pending], log_a, rng)
        result[pending[accepted]] = log_y[accepted]
        pending = pending[~accepted]
    return result


def _propose(log_b: Vector, log_a: float, rng: np.random.Generator) -> tuple[Vector, BoolArray]:
    """Draw one candidate for each atom, and whether it is accepted.

    As ``sqrt(1 + a / y) <= 1 + sqrt(a / y)``, the density is bounded by a sum of two, ``f_1 =
    exp(-b y) / (1 + y)`` and ``f_2 = sqrt(a / y) f_1``. Each of them has a bound whose integral is
    known. One is chosen in proportion to these integrals, and a candidate is accepted with the
    ratio of the density to the bound; less than three candidates are needed on average.
    """
    b, root_a = np.exp(log_b), math.exp(0.5 * log_a)
    # f_1 dy = exp(-b (e^z - 1)) dz with z = log(1 + y): a log-concave density of z > 0, bounded by
    # a constant up to z_0 = log(1 / b) and by its tangent from there (from 0 if b > 1).
    flat = np.maximum(-log_b, 0.0)
    steep = np.maximum(b, 1.0)
    tail_mass = np.where(log_b < 0.0, np.exp(np.minimum(b, 1.0) - 1.0), 1.0 / steep)
    mass_1 = flat + tail_mass
    # f_2 is bounded by a Gamma(1/2) density, or by the prior, a squared Cauchy variate.
    is_gamma = b > 1.0 / math.pi
    mass_2 = root_a * np.where(is_gamma, np.sqrt(math.pi / b), math.pi)
    which = rng.random(len(b)) * (mass_1 + mass_2)
    is_first, is_flat = which < mass_1, which < flat
    z = np.where(is_flat, which, flat + rng.standard_exponential(len(b)) / steep)
    with np.errstate(divide="ignore", over="ignore"):
        log_y = np.log(np.expm1(z))
        if root_a > 0.0:
            other = np.where(
                is_gamma,
                np.log(0.5 * rng.standard_normal(len(b)) ** 2) - log_b,
                2.0 * np.log(np.tan(0.5 * math.pi * rng.random(len(b)))),
            )
            log_y = np.where(is_first, log_y, other)
        by = np.exp(np.minimum(log_b + log_y, 700.0))
    # Logarithm of f_1 over its bound: exp(-b y), divided by the tangent beyond z_0.
    tangent = np.where(is_flat, 0.0, steep * (z - flat) + np.where(log_b < 0.0, 1.0 - b, 0.0))
    log_ratio = tangent - by
    if root_a > 0.0:
        log_ratio = np.where(
            is_first, log_ratio, np.where(is_gamma, -np.logaddexp(0.0, log_y), -by)
        )
        # sqrt(1 + a / y) / (1 + sqrt(a / y)) is between 0.7 and 1.
        log_slab = log_a - log_y
        log_ratio += 0.5 * np.logaddexp(0.0, log_slab) - np.logaddexp(0.0, 0.5 * log_slab)
    # An underflow to y = 0 is not representable on the log scale, and is drawn again.
    return log_y, np.isfinite(log_y) & (-rng.standard_exponential(len(b)) < log_ratio)


def slice_step(
    log_density: Callable[[float], float], x: float, rng: np.random.Generator, width: float
) -> float:
    """Return the next state of a slice sampler (Neal 2003, figures 3 and 5).

    Parameters
    ----------
    log_density : callable
        Logarithm of the density up to a constant.
    x : float
        Present state.
    rng : numpy.random.Generator
        Source of random numbers.
    width : float
        Length of the first interval, and of the steps by which it is extended.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling.local_scales import slice_step
    >>> rng, x, draws = np.random.default_rng(0), 0.0, []
    >>> for _ in range(2000):
    ...     x = slice_step(lambda x: -0.5 * x**2, x, rng, 2.0)
    ...     draws.append(x)
    >>> round(float(np.std(draws)), 1)
    1.0
    """
    level = log_density(x) - rng.standard_exponential()
    left = x - width * rng.random()
    right = left + width
    # A bound on the number of steps must be split at random between the two sides (Neal 2003,
    # figure 3); it is never reached by the densities here, whose tails are exponential.
    left_steps = int(rng.integers(MOST_STEPS))
    right_steps = MOST_STEPS - 1 - left_steps
    while left_steps and log_density(left) > level:
        left, left_steps = left - width, left_steps - 1
    while right_steps and log_density(right) > level:
        right, right_steps = right + width, right_steps - 1
    while True:
        candidate = left + (right - left) * rng.random()
        if log_density(candidate) > level or not left < right:
            return candidate
        if candidate < x:
            left = candidate
        else:
            right = candidate
