"""Poisson likelihood with the log link: counts."""

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
    """Poisson likelihood of counts ``t`` with rates ``exp(f)``; the offset is the log exposure."""

    largest_latent = 20.0

    def log_density(self, f: Vector) -> Vector:
        """Return ``t f - exp(f) - log(t!)``."""
        each: Vector = self.target * f - np.exp(f) - self._constant
        return each

    @cached_property
    def _constant(self) -> Vector:
        result: Vector = gammaln(self.target + 1.0)
        return result

    def slope(self, f: Vector) -> Vector:
        """Return ``t - exp(f)``."""
        return self.target - np.exp(f)

    def curvature(self, f: Vector) -> Vector:
        """Return the rate ``exp(f)``."""
        return np.maximum(np.exp(f), self.min_curvature)

    def curvature_slope(self, f: Vector) -> Vector:
        """Return the rate ``exp(f)``."""
        return np.exp(f)

    def null_latent(self) -> float:
        """Return the log of the total count per exposure; a total of zero counts as one half."""
        rows = np.ones(len(self.target)) if self.weight is None else self.weight
        exposure = np.exp(self.offset_or_zero + np.zeros(len(rows)))
        return math.log(max(float(rows @ self.target), 0.5) / float(rows @ exposure))


class Poisson(Likelihood):
    """Poisson likelihood of counts, whose log rate is the latent function.

    If rows have different exposures (observation times, areas, populations), pass the log exposure
    as offset; the latent function is then the log rate per unit of exposure.

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
        """Check the counts and return their likelihood."""
        rows = check_rows(target, sample_weight, offset)
        counts, offsets = rows[0], rows[2]
        if offsets is not None and np.abs(offsets).max(initial=0.0) > 300.0:
            raise ValueError(
                f"offset must be the logarithm of the exposure; got {offsets.min():g} to "
                f"{offsets.max():g}, whose exponentials overflow."
            )
        if (counts < 0.0).any() or (counts != np.floor(counts)).any():
            wrong = counts[(counts < 0.0) | (counts != np.floor(counts))][0]
            raise ValueError(
                f"counts must be non-negative integers; got {wrong:g}. Pass rates as counts, with "
                "the logarithm of the exposure as offset."
            )
        return BoundPoisson(self, *rows)

    def distribution(self, f: Matrix) -> Any:
        """Return the Poisson distributions with log rates `f`."""
        return poisson(np.exp(np.minimum(f, 41.0)))  # larger counts exceed 64-bit integers
