"""The best precision of weights that share it, if curvatures are held."""

from __future__ import annotations

import numpy as np

from relvec._typing import Matrix, Vector

__all__ = ["best_common_precision"]

RANGE = 14.0
"""Log precisions are looked for so far from the mean curvature of the weights."""
POINTS = 29
REFINEMENTS = 3


def best_common_precision(
    s: Matrix,
    q: Matrix,
    priced_s: Matrix | None = None,
    priced_r: Matrix | None = None,
    least: Vector | None = None,
) -> tuple[Vector, Vector]:
    """Best precision of each row of weights, and what they gain over leaving them out.

    Maximises ``sum_k [log(a / (a + s_k)) + q_k^2 / (a + s_k)] / 2 - sum_k r_k / (a + t_k)``, which
    may have several maxima, on a grid of ``log a`` that is refined around the best point.

    Parameters
    ----------
    s, q : ndarray of shape (n_rows, n_weights)
        Curvature and slope of the evidence in each weight, all else integrated out.
    priced_s, priced_r : ndarray of shape (n_rows, n_priced), optional
        ``t`` and ``r``: degrees of freedom, times their price.
    least : ndarray of shape (n_rows,), optional
        Smallest log precisions allowed.

    Returns
    -------
    gain, log_precision : ndarray of shape (n_rows,)
        The gain is zero at infinite precision, of which the grid may be short by a trifle.
    """
    square = q * q

    def value(log_precision: Vector) -> Vector:
        a = np.exp(log_precision)[:, None]
        each = square / (a + s) - np.log1p(s / a)
        result = 0.5 * each.sum(axis=1)
        if priced_s is not None and priced_r is not None:
            result = result - (priced_r / (a + priced_s)).sum(axis=1)
        return result

    best = np.log(np.maximum(s.mean(axis=1), 1e-300))
    if least is not None:
        best = np.maximum(best, least)
    gain = value(best)
    step = RANGE / (POINTS // 2)
    width = POINTS // 2
    for _ in range(1 + REFINEMENTS):
        centre = best
        for offset in range(-width, width + 1):
            trial = centre + offset * step
            if least is not None:
                trial = np.maximum(trial, least)
            reached = value(trial)
            better = reached > gain
            best, gain = np.where(better, trial, best), np.where(better, reached, gain)
        step, width = step / 4.0, 4
    return gain, best
