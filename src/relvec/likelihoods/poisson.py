"""Poisson likelihood with the log link: counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln, ndtr, ndtri, xlog1py
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
        # Canonical link: observed and expected information are the same, both the variance of the
        # count.
        return np.maximum(np.exp(f), self.min_curvature)

    def curvature_slope(self, f: Vector) -> Vector:
        """Return the rate ``exp(f)``."""
        return np.exp(f)

    def null_latent(self) -> float:
        """Return the log of the total count per exposure; a total of zero counts as one half."""
        rows = np.ones(len(self.target)) if self.weight is None else self.weight
        exposure = np.exp(self.offset_or_zero + np.zeros(len(rows)))
        # Maximum likelihood of a constant: sum(t) = exp(f) sum(exposure).
        return math.log(max(float(rows @ self.target), 0.5) / float(rows @ exposure))

    def averaged_over(self, variance: Vector) -> AveragedPoisson:
        """Return ``t f - exp(f + variance / 2) - log(t!)``: a log-normal rate has that mean."""
        return AveragedPoisson(self.recipe, self.target, self.weight, self.offset, 0.5 * variance)


@dataclass(frozen=True)
class AveragedPoisson(BoundPoisson):
    """Poisson likelihood averaged over Gaussian errors of the log rate."""

    shift: Vector | float = 0.0
    """Half the variances of the errors."""

    def log_density(self, f: Vector) -> Vector:
        """Return ``t f - exp(f + shift) - log(t!)``."""
        return super().log_density(f + self.shift) - self.target * self.shift

    def slope(self, f: Vector) -> Vector:
        """Return ``t - exp(f + shift)``."""
        return super().slope(f + self.shift)

    def curvature(self, f: Vector) -> Vector:
        """Return ``exp(f + shift)``."""
        return super().curvature(f + self.shift)

    def curvature_slope(self, f: Vector) -> Vector:
        """Return ``exp(f + shift)``."""
        return super().curvature_slope(f + self.shift)


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

    def distribution(self, f: Matrix) -> Counts:
        """Return the distribution of counts at log rates."""
        return Counts(np.exp(np.minimum(f, 350.0)))  # squares of more leave the range of numbers


class Counts:
    """Counts of events at given rates, of any size, with the methods of `scipy.stats.poisson`.

    Those of SciPy give up, or lose all digits, from rates of about 1e12. Far below that the
    expansion around a normal distribution (Edgeworth, Cornish and Fisher) is as good. Averages of
    probabilities over latent values are right up to rates of 1e22, which say more of the latent
    value than floating-point numbers can.
    """

    dist = poisson
    HUGE = 1e8
    """Rate from which the expansion is used: its error is about the inverse of that."""

    def __init__(self, rate: Any) -> None:
        self.rate = np.asarray(rate, dtype=np.float64)
        self._is_huge = self.rate > self.HUGE
        self._moderate = np.minimum(self.rate, self.HUGE)

    def _joined(self, moderate: Any, huge: Any) -> Any:
        return np.where(self._is_huge, huge, moderate)

    def mean(self) -> Any:
        """Rate."""
        return self.rate

    def var(self) -> Any:
        """Rate, once more."""
        return self.rate

    def cdf(self, count: Any) -> Any:
        """Probability of no more than so many."""
        root = np.sqrt(np.maximum(self.rate, self.HUGE))
        # First-order Edgeworth expansion with continuity correction: Phi(z) - (skewness / 6) (z^2 -
        # 1) phi(z), where the skewness of a Poisson variable is rate^(-1/2).
        z = np.clip((count - self.rate + 0.5) / root, -40.0, 40.0)
        skew = np.exp(-0.5 * z**2) * (z**2 - 1.0) / (6.0 * root * math.sqrt(2.0 * math.pi))
        return self._joined(poisson.cdf(count, self._moderate), np.clip(ndtr(z) - skew, 0.0, 1.0))

    def ppf(self, level: float) -> Any:
        """Smallest count with this probability of no more."""
        z = float(ndtri(level))
        # Cornish-Fisher expansion, the inverse of the expansion of the distribution function to the
        # same order; skewness times standard deviation is one, and 0.5 is the continuity
        # correction.
        huge = np.floor(self.rate + z * np.sqrt(self.rate) + (z**2 - 1.0) / 6.0 + 0.5)
        return self._joined(poisson.ppf(level, self._moderate), huge)

    def logpmf(self, count: Any) -> Any:
        """Log probability; of huge rates by Stirling's formula, without its cancellations."""
        # With count = rate (1 + d), Stirling gives -rate [(1 + d) log(1 + d) - d] - log(2 pi count)
        # / 2: the terms count log(rate), rate and log(count!), each huge, are not subtracted from
        # each other. The bracket is d^2 / 2 for small d, with an error of eps d: some eps
        # sqrt(rate) in the result.
        away = np.maximum((count - self.rate) / np.maximum(self.rate, self.HUGE), -1.0)
        ratio = xlog1py(1.0 + away, away) - away
        huge = -self.rate * ratio - 0.5 * np.log(2.0 * np.pi * np.maximum(count, 1.0))
        return self._joined(poisson.logpmf(count, self._moderate), huge)

    def rvs(self, size: Any, random_state: Any) -> Any:
        """Draw counts."""
        moderate = poisson.rvs(self._moderate, size=size, random_state=random_state)
        normal = random_state.normal(size=size)
        return self._joined(moderate, np.rint(self.rate + np.sqrt(self.rate) * normal))
