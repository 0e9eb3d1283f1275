"""Whether what is said to be probable happens as often, and what normal noise would leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import betaincinv, ndtri

from relvec._typing import BoolArray, IndexArray, Matrix, Vector

__all__ = ["ReliabilityCurve", "normal_quantiles", "normal_reach", "quantile_band", "wilson"]


def normal_reach(coverage: float) -> float:
    """Half the width of a normal interval, in standard deviations.

    Examples
    --------
    >>> round(normal_reach(0.95), 2)
    1.96
    """
    return float(ndtri(0.5 + 0.5 * coverage))


def wilson(share: Vector, count: IndexArray | int, z: float) -> Matrix:
    """Ends of the binomial interval of shares (Wilson), shape (2, n_shares).

    Parameters
    ----------
    share : ndarray of shape (n_shares,)
        Observed.
    count : ndarray of shape (n_shares,) or int
        Of how many.
    z : float
        Half the width of the interval, in standard deviations.
    """
    middle = (share + z * z / (2.0 * count)) / (1.0 + z * z / count)
    spread = np.sqrt(share * (1.0 - share) / count + (z / (2.0 * count)) ** 2)
    half = z / (1.0 + z * z / count) * spread
    # Rounding must not put a share of zero or one outside its own interval.
    return np.stack([np.minimum(middle - half, share), np.maximum(middle + half, share)])


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Probabilities that were predicted, and how often they came true."""

    name: str
    """Whose predictions they are."""
    predicted: Vector
    """All probabilities, of which the rest is made."""
    mean: Vector
    """Mean probability in each bin that is not empty."""
    frequency: Vector
    """Share that came true there."""
    count: IndexArray
    """Number of predictions there."""

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
        """Put probabilities in bins, as `sklearn.calibration.calibration_curve` does.

        Parameters
        ----------
        name : str
            Whose predictions they are.
        predicted : ndarray of shape (n_samples,)
            Probabilities of events.
        happened : ndarray of shape (n_samples,)
            Whether they took place.
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
        place = np.searchsorted(edges[1:-1], predicted)
        count = np.bincount(place, minlength=n_bins)
        used = count > 0
        mean = np.bincount(place, predicted, minlength=n_bins)[used] / count[used]
        frequency = np.bincount(place, happened, minlength=n_bins)[used] / count[used]
        return cls(name, predicted, mean, frequency, count[used])

    @property
    def expected_error(self) -> float:
        """Expected calibration error: mean distance of the bins to the diagonal."""
        return float(np.average(np.abs(self.mean - self.frequency), weights=self.count))

    def interval(self, coverage: float = 0.95) -> Matrix:
        """Ends of the binomial interval of each frequency (Wilson), shape (2, n_bins)."""
        return wilson(self.frequency, self.count, normal_reach(coverage))


def normal_quantiles(count: int) -> Vector:
    """Where so many sorted normal numbers are expected (Blom's positions).

    Examples
    --------
    >>> normal_quantiles(3).round(2)
    array([-0.87,  0.  ,  0.87])
    """
    return np.asarray(ndtri((np.arange(1, count + 1) - 0.375) / (count + 0.25)))


def quantile_band(count: int, coverage: float = 0.95) -> Matrix:
    """Ends of the intervals of each of so many sorted normal numbers, shape (2, count).

    Exact for every point by itself: the k-th of n uniform numbers has a beta distribution.
    """
    rank = np.arange(1, count + 1)
    tail = 0.5 * (1.0 - coverage)
    ends = [betaincinv(rank, count + 1 - rank, level) for level in (tail, 1.0 - tail)]
    return np.asarray(ndtri(np.stack(ends)))
