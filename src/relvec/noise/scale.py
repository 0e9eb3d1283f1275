"""Scale of mostly Gaussian values: what sparse contributions cannot move far."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["QUARTILE", "clipped_scale", "mad"]

Values = NDArray[np.float64]

QUARTILE = float(ndtri(0.75))
"""Median of ``|x|`` for standard normal ``x``."""


def mad(values: Values) -> float:
    """Median absolute value over that of a standard normal variable.

    Examples
    --------
    >>> import numpy as np
    >>> round(mad(np.array([-1.0, 1.0, 1.0, 50.0])), 3)
    1.483
    """
    return float(np.median(np.abs(values))) / QUARTILE


def clipped_scale(values: Values, *, most: float = 1.5) -> float:
    """Root mean square of the values below three times itself, started at the `mad`.

    Values far out have no influence at all, where they still push the `mad` up a little; and the
    standard error for `n` normal values is ``0.80 / sqrt(n)`` against ``1.17 / sqrt(n)``.

    Parameters
    ----------
    values : ndarray
        Values around zero.
    most : float, default=1.5
        Multiple of the first guess beyond which a scale has run away into the signal.

    Returns
    -------
    scale : float
        Zero if at least half of the values are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.noise import clipped_scale
    >>> values = np.random.default_rng(0).normal(size=1000)
    >>> values[:20] = 50.0
    >>> round(clipped_scale(values), 2), round(float(np.std(values)), 2)
    (0.96, 7.07)
    """
    squares = np.square(values).ravel()
    half = squares.size // 2
    squares.partition(half)
    variance = float(squares[half]) / QUARTILE**2
    if not variance > 0.0:
        return 0.0
    largest = most**2 * variance
    # What is below the median is never clipped; of the rest only what the cap lets in can count.
    total_below = float(squares[:half].sum())
    above = squares[half:]
    above = above[above < 9.0 * largest]
    for _ in range(12):
        kept = above[above < 9.0 * variance]
        previous = variance
        # The mean of x^2 given |x| < 3 is 0.973 for standard normal x.
        variance = (total_below + float(kept.sum())) / (half + kept.size) / 0.97333698
        variance = min(variance, largest)
        if abs(variance - previous) < 2e-3 * previous:
            break
    return math.sqrt(variance)
