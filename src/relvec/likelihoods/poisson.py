"""Counts: the logarithm of their rate is the latent function."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import poisson

from relvec._typing import ArrayLike, Matrix, Vector
from relvec.likelihoods.base import BoundLikelihood, Likelihood, check_rows

__all__ = ["BoundPoisson", "Poisson"]


class BoundPoisson(BoundLikelihood):
    """Counts and the logarithms of their rates; the offset is the logarithm of the exposure."""

    largest_latent = 20.0

    def log_density(self, f: Vector) -> Vector:
        """Log probability of each count."""
        each: Vector = self.target * f - np.exp(f) - self._constant
        return each

    @cached_property
    def _constant(self) -> Vector:
        result: Vector = gammaln(self.target + 1.0)
        return result

    def slope(self, f: Vector) -> Vector:
        """Count less rate."""
        return self.target - np.exp(f)

    def curvature(self, f: Vector) -> Vector:
        """Rate."""
        return np.maximum(np.exp(f), self.min_curvature)

    def curvature_slope(self, f: Vector) -> Vector:
        """Rate, once more."""
        return np.exp(f)

    def null_latent(self) -> float:
        """Logarithm of the counts per exposure; without any count, as if there were half of one."""
        rows = np.ones(len(self.target)) if self.weight is None else self.weight
        exposure = np.exp(self.offset_or_zero + np.zeros(len(rows)))
        return math.log(max(float(rows @ self.target), 0.5) / float(rows @ exposure))


class Poisson(Likelihood):
    """Counts of independent events, whose log rate is the latent function.

    Rows that were watched for different times, areas or populations have the logarithm of that
    exposure as offset; the latent function is then the log rate per unit of exposure.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from relvec.likelihoods import Poisson
    >>> hours = np.array([1.0, 2.0, 4.0])
    >>> bound = Poisson().bind([2, 3, 9], offset=np.log(hours))
    >>> round(math.exp(bound.null_latent()), 3)  # events per hour
    2.0
    """

    def bind(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> BoundPoisson:
        """Check counts and return the likelihood of their log rates."""
        rows = check_rows(target, sample_weight, offset)
        counts, offsets = rows[0], rows[2]
        if offsets is not None and np.abs(offsets).max(initial=0.0) > 300.0:
            raise ValueError(
                f"offset must be the logarithm of the exposure; got {offsets.min():g} to "
                f"{offsets.max():g}, whose exponentials leave the range of numbers."
            )
        if (counts < 0.0).any() or (counts != np.floor(counts)).any():
            wrong = counts[(counts < 0.0) | (counts != np.floor(counts))][0]
            raise ValueError(
                f"counts must be whole numbers that are not negative; got {wrong:g}. Rates are "
                "given as counts, with the logarithm of the exposure as offset."
            )
        return BoundPoisson(self, *rows)

    def distribution(self, f: Matrix) -> Any:
        """Return the distribution of counts at log rates."""
        return poisson(np.exp(np.minimum(f, 41.0)))  # more is beyond whole numbers
