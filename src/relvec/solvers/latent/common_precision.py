"""The best precision of weights that share it, if curvatures are held."""

from __future__ import annotations

import numpy as np

from relvec._typing import Matrix, Vector

__all__ = ["best_common_precision"]


def best_common_precision(
    s: Matrix,
    square: Matrix,
    penalty: tuple[Matrix, ...] | None = None,
    *,
    reach: float = 14.0,
    n_points: int = 29,
    refinements: int = 3,
) -> tuple[Vector, Vector]:
    """Best precision of each row of weights, and what they gain over leaving them out.

    Maximises ``sum_k [log(a / (a + s_k)) + q_k^2 / (a + s_k)] / 2 - sum_k r_k / (a + t_k)``, which
    may have several maxima, on a grid of ``log a`` that is refined around the best point.

    ``s`` and ``q^2`` (`square`) are curvature and squared slope of the evidence in each weight, all
    else integrated out, of shape (n_rows, n_weights); `penalty` is ``t`` and ``r``. The grid has
    `n_points` within `reach` of the mean curvature, and is made four times as fine at each of the
    `refinements`. At infinite precision, of which it may be short by a trifle, the gain is zero.
    """

    def value(log_precision: Vector) -> Vector:
        a = np.exp(log_precision)[:, None]
        each = square / (a + s) - np.log1p(s / a)
        result: Vector = 0.5 * each.sum(axis=1)
        if penalty is not None:
            result = result - (penalty[1] / (a + penalty[0])).sum(axis=1)
        return result

    best = np.log(np.maximum(s.mean(axis=1), 1e-300))
    gain = value(best)
    width = n_points // 2
    step = reach / width
    for _ in range(1 + refinements):
        centre = best
        for offset in range(-width, width + 1):
            trial = centre + offset * step
            reached = value(trial)
            better = reached > gain
            best, gain = np.where(better, trial, best), np.where(better, reached, gain)
        step, width = step / 4.0, 4
    return gain, best
