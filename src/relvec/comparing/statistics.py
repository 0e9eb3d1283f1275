"""Means of scores over held-out rows, and paired differences between models, with their errors.

Row scores of one fold share a training set, and training sets of different folds overlap, so that
neither rows nor folds are independent. The variance of a mean over `K` folds is estimated by

    (1 / K + n_test / n_train) max(S^2, s^2 / n_test)

`S^2` is the variance between the means of folds. The factor is that of Nadeau & Bengio (2003):
``1 / K`` alone is too small, because the training sets overlap. `s^2 / n_test` is the variance of
the mean of a fold of independent rows, from the variance `s^2` of single rows: few folds may agree
by coincidence, and their means cannot vary less than that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relvec._typing import Vector

__all__ = ["Estimate", "FoldScores", "HeldOutRows", "estimate_mean"]


class Estimate(NamedTuple):
    """An estimate with its standard error.

    Examples
    --------
    >>> from relvec.comparing import Estimate
    >>> print(Estimate(0.2561, 0.1))
    0.26 ± 0.10
    """

    mean: float
    """The estimate."""
    se: float
    """Its standard error."""

    def __str__(self) -> str:
        """Return both, the error with two significant digits."""
        if not 0.0 < self.se < np.inf:
            return f"{self.mean:.3g}"
        digits = max(0, 1 - math.floor(math.log10(self.se)))
        return f"{self.mean:.{digits}f} ± {self.se:.{digits}f}"


class FoldScores(NamedTuple):
    """Scores of the held-out rows of one fold."""

    log_density: Vector | None
    """Log predictive density, or log probability of the true class, in nats; None if the model has
    no predictive distributions."""
    error: Vector
    """Squared error; for classes, 1 where the predicted class is wrong."""


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Weights of the held-out rows of all folds, the same for all models."""

    weights: tuple[Vector, ...]
    """Frequency weights of the held-out rows of each fold."""
    ratio: float
    """Number of held-out rows of a fold relative to its training rows, averaged over folds."""

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(sum(each.sum() for each in self.weights))


def estimate_mean(values: Sequence[Vector], rows: HeldOutRows) -> Estimate:
    """Estimate the mean of a score over held-out rows, and its standard error.

    Parameters
    ----------
    values : sequence of ndarray
        Scores of the held-out rows of each fold; for a paired difference, the difference of the
        scores of two models, row by row.
    rows : HeldOutRows
        Weights of these rows.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine Learning 52.

    Examples
    --------
    >>> rows = HeldOutRows((np.ones(2), np.ones(2)), ratio=1.0)
    >>> estimate_mean([np.array([1.0, 3.0]), np.array([2.0, 2.0])], rows)
    Estimate(mean=2.0, se=0.707...)
    """
    with np.errstate(invalid="ignore"):  # the error of a mean that is not finite is NaN
        return _estimate_mean(values, rows)


def _estimate_mean(values: Sequence[Vector], rows: HeldOutRows) -> Estimate:
    n_folds, total = len(values), rows.total
    size = total / n_folds
    sums = np.array([w @ v for w, v in zip(rows.weights, values, strict=True)])
    mean = float(sums.sum() / total)
    of_fold = np.array([w.sum() for w in rows.weights])
    # (sum_k - W_k mean)^2 / W_k: squared deviation of the mean of a fold, times its weight
    between = float(np.sum((sums - of_fold * mean) ** 2 / of_fold))
    within = sum(float(w @ (v - mean) ** 2) for w, v in zip(rows.weights, values, strict=True))
    if sum(int(np.count_nonzero(w)) for w in rows.weights) < 2:
        return Estimate(mean, np.inf)  # a single row says nothing of the spread
    variance = max(between / size / max(n_folds - 1, 1), within / max(total - 1.0, 1.0) / size)
    return Estimate(mean, float(np.sqrt((1.0 / n_folds + rows.ratio) * variance)))
