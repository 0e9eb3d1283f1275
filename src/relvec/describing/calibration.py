"""Calibration: reliability curves, binomial intervals, and quantiles of normal residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import betaincinv, ndtri

from relvec._typing import BoolArray, IndexArray, Matrix, Vector

__all__ = [
    "ReliabilityCurve",
    "compute_critical_value",
    "compute_normal_quantiles",
    "compute_quantile_band",
    "compute_wilson_interval",
]


def compute_critical_value(coverage: float) -> float:
    """Compute the half-width of a central normal interval, in standard deviations.

    Parameters
    ----------
    coverage : float
        Probability of the interval.

    Examples
    --------
    >>> round(compute_critical_value(0.95), 2)
    1.96
    """
    return float(ndtri(0.5 + 0.5 * coverage))


def compute_wilson_interval(share: Vector, count: IndexArray | int, z: float) -> Matrix:
    """Compute Wilson score intervals of binomial proportions, of shape (2, n_proportions).

    Parameters
    ----------
    share : ndarray of shape (n_proportions,)
        Observed proportions.
    count : ndarray of shape (n_proportions,) or int
        Number of trials of each.
    z : float
        Critical value: half-width of the interval in standard deviations.
    """
    middle = (share + z * z / (2.0 * count)) / (1.0 + z * z / count)
    spread = np.sqrt(share * (1.0 - share) / count + (z / (2.0 * count)) ** 2)
    half = z / (1.0 + z * z / count) * spread
    # Rounding must not put a proportion of zero or one outside its own interval.
    return np.stack([np.minimum(middle - half, share), np.maximum(middle + half, share)])


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Reliability curve: mean predicted probability and observed frequency, bin by bin."""

    name: str
    """Name of the model, for legends."""
    predicted: Vector
    """All predicted probabilities."""
    mean: Vector
    """Mean predicted probability in each bin that is not empty."""
    frequency: Vector
    """Observed frequency of the event in each of these bins."""
    count: IndexArray
    """Number of predictions in each of these bins."""

    @classmethod
    def from_events(
        cls,
        name: str,
        predicted: Vector,
        happened: BoolArray,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
    ) -> Self:
        """Bin predicted probabilities, as `sklearn.calibration.calibration_curve` does.

        Parameters
        ----------
        name : str
            Name of the model, for legends.
        predicted : ndarray of shape (n_samples,)
            Predicted probabilities of the event.
        happened : ndarray of shape (n_samples,)
            Whether the event occurred.
        n_bins : int, default=10
            Number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of equal width, or of equally many predictions.

        Returns
        -------
        curve : ReliabilityCurve
        """
        levels = np.linspace(0.0, 1.0, n_bins + 1)
        edges = levels if strategy == "uniform" else np.quantile(predicted, levels)
        bin_index = np.searchsorted(edges[1:-1], predicted)
        count = np.bincount(bin_index, minlength=n_bins)
        used = count > 0
        mean = np.bincount(bin_index, predicted, minlength=n_bins)[used] / count[used]
        frequency = np.bincount(bin_index, happened, minlength=n_bins)[used] / count[used]
        return cls(name, predicted, mean, frequency, count[used])

    @property
    def expected_error(self) -> float:
        """Expected calibration error: weighted mean distance of the bins from the diagonal."""
        return float(np.average(np.abs(self.mean - self.frequency), weights=self.count))

    def interval(self, coverage: float = 0.95) -> Matrix:
        """Return the Wilson score interval of each observed frequency, of shape (2, n_bins)."""
        return compute_wilson_interval(self.frequency, self.count, compute_critical_value(coverage))


def compute_normal_quantiles(count: int) -> Vector:
    """Compute the expected order statistics of a standard normal sample (Blom's approximation).

    Parameters
    ----------
    count : int
        Sample size.

    Examples
    --------
    >>> compute_normal_quantiles(3).round(2)
    array([-0.87,  0.  ,  0.87])
    """
    return np.asarray(ndtri((np.arange(1, count + 1) - 0.375) / (count + 0.25)))


def compute_quantile_band(count: int, coverage: float = 0.95) -> Matrix:
    """Compute pointwise intervals of the order statistics of a normal sample, shape (2, count).

    The k-th of n sorted uniform numbers has a Beta(k, n + 1 - k) distribution, so the intervals are
    exact for each order statistic; they are not simultaneous.

    Parameters
    ----------
    count : int
        Sample size.
    coverage : float, default=0.95
        Probability of each interval.
    """
    rank = np.arange(1, count + 1)
    tail = 0.5 * (1.0 - coverage)
    ends = [betaincinv(rank, count + 1 - rank, level) for level in (tail, 1.0 - tail)]
    return np.asarray(ndtri(np.stack(ends)))
