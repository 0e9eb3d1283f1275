"""Squared bias and variance of the predictions of several fits, without bias of their own.

At a test input, let ``f_1 .. f_n`` be the predictions of n independent fits, m their mean and s²
their sample variance (divisor n - 1), and r the value that they estimate. Then s² is unbiased for
the variance, but ``(m - r)²`` overestimates the squared bias by the variance of m:
``(m - r)² - s²/n`` is unbiased, and the two sum to the mean of ``(f_i - r)²``. If r is a target,
with noise independent of the fits, the same difference estimates squared bias plus noise variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector

__all__ = ["ErrorSplit", "estimate_jackknife_error", "leave_one_fit_out", "split_squared_error"]


class ErrorSplit(NamedTuple):
    """Parts of the mean squared error at each test input."""

    remainder: Matrix | Vector
    """Squared bias; plus noise variance if the reference is a noisy target."""
    variance: Matrix | Vector


def split_squared_error(predictions: Matrix, reference: Vector) -> tuple[Vector, ErrorSplit]:
    """Return the mean prediction at each input, and the parts of the mean squared error.

    Parameters
    ----------
    predictions : ndarray of shape (n_fits, n_points)
        NaN where a fit does not predict; every column needs two other values.
    reference : ndarray of shape (n_points,)
        Values that the predictions estimate.

    Examples
    --------
    >>> mean, split = split_squared_error(np.array([[1.0], [3.0]]), np.array([0.0]))
    >>> mean, split.remainder, split.variance  # their sum is the mean of 1 and 9
    (array([2.]), array([3.]), array([2.]))
    """
    count = np.count_nonzero(~np.isnan(predictions), axis=0)
    mean = np.nanmean(predictions, axis=0)
    variance = np.nanvar(predictions, axis=0, ddof=1)
    return mean, ErrorSplit((mean - reference) ** 2 - variance / count, variance)


def leave_one_fit_out(predictions: Matrix, reference: Vector) -> ErrorSplit:
    """Return the parts without each fit in turn, of shape (n_fits, n_points).

    NaN where fewer than two predictions are left.
    """
    is_known = ~np.isnan(predictions)
    count = np.count_nonzero(is_known, axis=0)
    mean = np.nanmean(predictions, axis=0)
    # Deviations from the mean sum to zero, so without one of them, d, the mean moves by
    # -d / (n - 1) and the sum of squares falls by d² n / (n - 1).
    deviation = np.where(is_known, predictions - mean, 0.0)
    left = count - is_known
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = mean - deviation / (count - 1)
        squares = (deviation**2).sum(axis=0) - deviation**2 * count / (count - 1)
        variance = np.where(left > 1, np.maximum(squares, 0.0) / (left - 1), np.nan)
        return ErrorSplit((moved - reference) ** 2 - variance / left, variance)


def estimate_jackknife_error(left_out: Matrix | Vector) -> Matrix | Vector:
    """Return the jackknife standard error from estimates without each fit (along the first axis).

    NaN with fewer than three fits, or where an estimate is missing.
    """
    n_fits = len(left_out)
    if n_fits < 3:
        return np.full(left_out.shape[1:], np.nan)[()]
    return np.sqrt((n_fits - 1) * np.var(left_out, axis=0))
