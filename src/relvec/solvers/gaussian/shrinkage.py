"""Shrinkage of the coefficients of an orthonormal dictionary.

Let ``z`` be a coefficient of the data, ``u = z^2 / sigma^2`` and ``c`` the penalty per degree of
freedom (Schmolck 2008, ch. 2). The objective as a function of the shrinkage factor ``kappa = 1 / (1
+ alpha sigma^2)`` is::

    l(kappa) = 1/2 [ log(1 - kappa) + (u - 2 c) kappa ]

It is strictly concave, with the maximum ``kappa = 1 - 1 / v`` for ``v = u - 2 c > 1`` and zero
otherwise. The posterior mean ``kappa z`` and the gain over leaving the atom out, ``(v - 1 - log v)
/ 2``, are explicit functions of ``v``. All atoms are independent.
"""

from __future__ import annotations

import math

import numpy as np

from relvec._checks import check_positive
from relvec._typing import ArrayLike, Vector

__all__ = ["entry_threshold", "shrink", "shrinkage"]

BLOCK = 1 << 16
"""Coefficients processed at a time: temporary arrays stay in the cache."""


def shrinkage(squares_over_noise: ArrayLike, c: float) -> Vector:
    """Return the factor by which each coefficient is multiplied, between 0 and 1.

    Parameters
    ----------
    squares_over_noise : array-like
        ``u``, squared coefficients divided by the variance of the noise.
    c : float
        Penalty of one degree of freedom.

    Returns
    -------
    kappa : ndarray
        ``1 - 1 / (u - 2 c)`` where ``u > 1 + 2 c``, else zero. The sum is the number of
        effective degrees of freedom.

    Examples
    --------
    >>> from relvec.solvers.gaussian.shrinkage import shrinkage
    >>> shrinkage([0.5, 2.0, 10.0], c=0.0)
    array([0. , 0.5, 0.9])
    """
    v = np.asarray(squares_over_noise, dtype=np.float64) - 2.0 * c
    # l'(kappa) = 1/2 [v - 1 / (1 - kappa)] = 0; for v <= 1 it is negative on all of [0, 1).
    return 1.0 - 1.0 / np.maximum(v, 1.0)


def entry_threshold(c: float, penalty: float = 0.0) -> float:
    """Return the ``u`` above which a coefficient is kept.

    Parameters
    ----------
    c : float
        Penalty of one degree of freedom.
    penalty : float, default=0.0
        Minimum gain in log evidence of an atom (``min_gain``).

    Examples
    --------
    >>> from relvec.solvers.gaussian.shrinkage import entry_threshold
    >>> entry_threshold(c=1.0)
    3.0
    """
    # The gain equals the penalty where w - log(1 + w) = 2 penalty with w = v - 1. The left side is
    # convex, so Newton's method from the right of the root decreases to it.
    # To the right of the root: exp(x) >= 1 + x + x^2 / 2 at x = 2 sqrt(penalty) says that log(1 +
    # w) <= 2 sqrt(penalty) = w - 2 penalty.
    w = 2.0 * penalty + 2.0 * math.sqrt(penalty)
    while w > 0.0:
        # Newton's step f / f' with f' = w / (1 + w). log1p is accurate for small penalties.
        step = (w - math.log1p(w) - 2.0 * penalty) * (1.0 + w) / w
        if step <= 1e-15 * w:
            break
        w -= step
    return 1.0 + 2.0 * c + w


def shrink(z: Vector, noise_variance: float, c: float) -> tuple[Vector, int]:
    """Return the posterior mean of coefficients, and how many are not zero.

    Parameters
    ----------
    z : ndarray
        Coefficients of the data, of any shape.
    noise_variance : float
        Variance of the noise in each.
    c : float
        Penalty of one degree of freedom: 0 gives the non-negative garrote.

    Returns
    -------
    mean : ndarray
        ``z (1 - sigma^2 / (z^2 - 2 c sigma^2))`` where ``z^2 > (1 + 2 c) sigma^2``, else zero.
    n_kept : int

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.solvers.gaussian.shrinkage import shrink
    >>> shrink(np.array([0.5, -2.0, 10.0]), noise_variance=1.0, c=0.0)
    (array([ 0. , -1.5,  9.9]), 2)
    """
    noise_variance = check_positive("noise_variance", noise_variance, allow_zero=True)
    flat = np.reshape(z, -1)
    mean, n_kept, cut = np.zeros(flat.size), 0, entry_threshold(c) * noise_variance
    for start in range(0, flat.size, BLOCK):
        block = flat[start : start + BLOCK]
        square = block * block
        kept = np.flatnonzero(square > cut)
        values, excess = block[kept], square[kept] - (2.0 * c) * noise_variance
        # kappa z with kappa = 1 - 1 / v and v = excess / sigma^2; no division by the noise, which
        # may be zero.
        mean[start + kept] = values - values * (noise_variance / excess)
        n_kept += kept.size
    return mean.reshape(np.shape(z)), n_kept
