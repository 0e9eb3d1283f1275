"""Negative binomial likelihood with the log link: counts that vary more than Poisson's."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betaln, expit, gammainc, gammaincinv, gammaln
from scipy.stats import nbinom

from relvec._checks import check_positive
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.likelihoods.base import BoundLikelihood, Likelihood
from relvec.likelihoods.poisson import Poisson

__all__ = ["BoundNegativeBinomial", "NegativeBinomial"]


def _log_coefficient(count: Any, shape: float) -> Any:
    """Return ``log Gamma(t + r) / (Gamma(r) t!)``, without cancellation of huge counts."""
    # Stirling's series of log Gamma(x + d) - log Gamma(x) with x = t + 1, d = r - 1: the leading
    # terms x log x of both, each far larger than their difference, are not subtracted.
    x, d = np.maximum(count, 1.0) + 1.0, shape - 1.0
    ratio = (x + d - 0.5) * np.log1p(d / x) + d * np.log(x) - d + (1.0 / (x + d) - 1.0 / x) / 12.0
    exact = -np.log(shape + count) - betaln(shape, np.minimum(count, 1e5) + 1.0)
    return np.where(count > 1e5, ratio - gammaln(shape), exact)


class BoundNegativeBinomial(BoundLikelihood):
    """Negative binomial likelihood of counts ``t`` with mean ``exp(f)`` and shape ``r``.

    With ``p = exp(f) / (r + exp(f))`` the log probability is ``t log p + r log(1 - p)`` plus a
    constant. It is concave in ``f``; the offset is the log exposure.
    """

    largest_latent = 20.0

    @cached_property
    def _shape(self) -> float:
        return float(self.recipe.shape)

    @cached_property
    def _constant(self) -> Vector:
        result: Vector = _log_coefficient(self.target, self._shape)
        return result

    def _share(self, f: Vector) -> Vector:
        """Return ``p = exp(f) / (r + exp(f))``."""
        share: Vector = expit(f - math.log(self._shape))
        return share

    def log_density(self, f: Vector) -> Vector:
        """Return ``log p(t | f)`` of each row."""
        z = f - math.log(self._shape)
        # log p and log(1 - p) as softplus functions: neither overflows nor cancels.
        each: Vector = -self.target * np.logaddexp(0.0, -z) - self._shape * np.logaddexp(0.0, z)
        return each + self._constant

    def slope(self, f: Vector) -> Vector:
        """Return ``t - (t + r) p``."""
        return self.target - (self.target + self._shape) * self._share(f)

    def curvature(self, f: Vector) -> Vector:
        """Return ``(t + r) p (1 - p)``, the observed information."""
        share = self._share(f)
        each = (self.target + self._shape) * share * (1.0 - share)
        return np.maximum(each, self.min_curvature)

    def curvature_slope(self, f: Vector) -> Vector:
        """Return ``(t + r) p (1 - p) (1 - 2 p)``."""
        share = self._share(f)
        return (self.target + self._shape) * share * (1.0 - share) * (1.0 - 2.0 * share)


class NegativeBinomial(Likelihood):
    """Negative binomial likelihood of counts, whose log mean is the latent function.

    A Poisson rate that is itself drawn from a Gamma distribution: the variance is ``mean + mean^2 /
    shape``. Large shapes approach the Poisson distribution. Evidences include all constants, so
    those of different shapes, and of `Poisson`, can be compared. If rows have different exposures,
    pass the log exposure as offset.

    Parameters
    ----------
    shape : float, default=1.0
        Shape of the Gamma distribution, often called size or ``1 / alpha``; between 1e-3 and 1e6.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import NegativeBinomial, Poisson
    >>> prediction = NegativeBinomial(shape=2.0).predict(np.log([4.0]), np.zeros(1))
    >>> prediction.mean.round(3), prediction.variance.round(3)
    (array([4.]), array([12.]))
    >>> counts = [0, 9, 1, 0, 14, 2]
    >>> f = np.log(np.mean(counts)) + np.zeros(6)
    >>> overdispersed = NegativeBinomial().bind(counts).total_log_density(f)
    >>> bool(overdispersed > Poisson().bind(counts).total_log_density(f))
    True
    """

    def __init__(self, shape: float = 1.0) -> None:
        self.shape = shape

    def _check_shape(self) -> float:
        shape = check_positive("shape", self.shape)
        if not 1e-3 <= shape <= 1e6:
            raise ValueError(
                f"shape must be between 0.001 and 1e6; got {shape:g}. At larger shapes use "
                "Poisson, which is the limit."
            )
        return shape

    def bind(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> BoundNegativeBinomial:
        """Check the counts and return their likelihood."""
        self._check_shape()
        counts = Poisson().bind(target, sample_weight, offset)  # the same targets are allowed
        return BoundNegativeBinomial(self, counts.target, counts.weight, counts.offset)

    def distribution(self, f: Matrix) -> OverdispersedCounts:
        """Return the distribution of counts at log means."""
        # Squares of more leave the range of numbers.
        return OverdispersedCounts(np.exp(np.minimum(f, 350.0)), self._check_shape())


class OverdispersedCounts:
    """Negative binomial counts of any mean, with the methods of `scipy.stats.nbinom`.

    From a mean of 1e8 the routines of SciPy lose digits or give up; a Gamma distribution of the
    same mean and variance is then as good.
    """

    dist = nbinom
    HUGE = 1e8
    """Mean from which the Gamma distribution is used: the Poisson part of the variance is then
    known to a relative error of about 1e-4."""

    def __init__(self, mean: Any, shape: float) -> None:
        self._mean = np.asarray(mean, dtype=np.float64)
        self._shape = shape
        self._is_huge = self._mean > self.HUGE
        moderate = np.minimum(self._mean, self.HUGE)
        # Probability of the other outcome, 1 - p = r / (r + mean), as SciPy counts.
        self._moderate = nbinom(shape, shape / (shape + moderate))
        # Gamma of the same moments: k theta = mean, k theta^2 = mean + mean^2 / r.
        self._scale = 1.0 + self._mean / shape
        self._gamma_shape = self._mean / self._scale

    def _joined(self, moderate: Any, huge: Any) -> Any:
        return np.where(self._is_huge, huge, moderate)

    def mean(self) -> Any:
        """Expected count."""
        return self._mean

    def var(self) -> Any:
        """Variance ``mean + mean^2 / shape``."""
        return self._mean + self._mean**2 / self._shape

    def cdf(self, count: Any) -> Any:
        """Probability of no more than so many."""
        at = np.maximum(count + 0.5, 0.0) / self._scale  # continuity correction
        return self._joined(self._moderate.cdf(count), gammainc(self._gamma_shape, at))

    def ppf(self, level: float) -> Any:
        """Smallest count with this probability of no more."""
        huge = np.ceil(gammaincinv(self._gamma_shape, level) * self._scale - 0.5)
        return self._joined(self._moderate.ppf(level), np.maximum(huge, 0.0))

    def logpmf(self, count: Any) -> Any:
        """Log probability."""
        count = np.asarray(count, dtype=np.float64)
        is_count = (count >= 0.0) & (count == np.floor(count))
        known = np.where(is_count, count, 0.0)
        z = np.log(self._mean) - math.log(self._shape)
        each = -known * np.logaddexp(0.0, -z) - self._shape * np.logaddexp(0.0, z)
        return np.where(is_count, each + _log_coefficient(known, self._shape), -np.inf)

    def rvs(self, size: Any, random_state: Any) -> Any:
        """Draw counts: Poisson counts whose rates are Gamma distributed."""
        rate = self._mean * random_state.gamma(self._shape, 1.0 / self._shape, size=size)
        # NumPy's Poisson generator stops near 2^63; far below, a normal distribution is as good.
        moderate = random_state.poisson(np.minimum(rate, self.HUGE))
        normal = np.rint(rate + np.sqrt(rate) * random_state.normal(size=size))
        return np.where(rate > self.HUGE, normal, moderate)
