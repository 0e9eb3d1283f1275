"""Likelihood of squares whose log expectation is the latent function: noise levels."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammainc, gammaincinv
from scipy.stats import chi2

from relvec._typing import ArrayLike, Matrix, Vector
from relvec.likelihoods.base import BoundLikelihood, Likelihood, check_rows

__all__ = ["BoundLogVariance", "LogVariance"]


class BoundLogVariance(BoundLikelihood):
    """Likelihood of squares ``q`` of normal variables with variances ``exp(g)``; all positive."""

    max_curvature = 0.5
    has_observed_curvature = False
    largest_latent = 5.0

    def _standardised(self, f: Vector) -> Vector:
        """Return ``q exp(-g)``."""
        each: Vector = self.target * np.exp(-np.maximum(f, -700.0))  # far beyond any maximum
        return each

    def log_density(self, f: Vector) -> Vector:
        """Return ``-(log(2 pi) + g + q exp(-g)) / 2``, the log density of the root of ``q``."""
        each: Vector = -0.5 * (math.log(2.0 * math.pi) + f + self._standardised(f))
        return each

    def slope(self, f: Vector) -> Vector:
        """Return ``(q exp(-g) - 1) / 2``."""
        return 0.5 * (self._standardised(f) - 1.0)

    def curvature(self, f: Vector) -> Vector:
        """Return the expected information, 1/2."""
        # The observed one, q exp(-g) / 2, vanishes with q: rows of small squares would have huge
        # working responses, which cancel in the moments. The expected one is constant.
        return np.full(np.shape(f), 0.5)

    def curvature_slope(self, f: Vector) -> Vector:
        """Return zero: the expected information is constant."""
        return np.zeros(np.shape(f))

    def null_latent(self) -> float:
        """Return the log of the mean square."""
        rows = np.ones(len(self.target)) if self.weight is None else self.weight
        each = self.target * np.exp(-(self.offset_or_zero + np.zeros(len(rows))))
        return math.log(float(rows @ each) / float(rows.sum()))


class LogVariance(Likelihood):
    """Likelihood of squares whose expectation is the exponential of the latent function.

    Squares ``q`` of normal variables with mean zero, such as squared residuals, with variance
    ``exp(g)`` where ``g`` is the latent function. `log_density` is that of the normal variable, not
    of its square, so that it is finite at zero and adds up to that of the residuals. With the
    leverage-corrected squares ``q = residual^2 + variance of the fit`` its derivative is that of
    the evidence of a regression in its log noise variances.

    The curvature is the expected information, 1/2 at every latent value. So the working response is
    bounded by the targets, and the derivative of the Laplace evidence at fixed curvature is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import LogVariance
    >>> bound = LogVariance().bind([1.0, 4.0, 1.0])
    >>> round(float(np.exp(bound.null_latent())), 3)  # the mean square
    2.0
    >>> prediction = LogVariance().predict(mean=np.array([0.0]), variance=np.array([0.2]))
    >>> prediction.mean.round(3)
    array([1.105])
    """

    smallest_square: ClassVar[float] = 1e-8
    """Smaller squares, relative to their mean, are raised to this. A residual below 1e-4 of the
    standard deviation has a probability of 1e-4; the likelihood hardly depends on how small it
    is."""

    def bind(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> BoundLogVariance:
        """Check the squares and return their likelihood."""
        rows = check_rows(target, sample_weight, offset)
        if (rows[0] < 0.0).any():
            raise ValueError(
                f"squares must not be negative; got {rows[0].min():g}. Pass squared residuals."
            )
        if rows[2] is not None and np.abs(rows[2]).max(initial=0.0) > 300.0:
            raise ValueError(
                f"offset must be the logarithm of a known variance; got {rows[2].min():g} to "
                f"{rows[2].max():g}, whose exponentials overflow."
            )
        squares, weight, offset = rows
        known = 1.0 if offset is None else np.exp(offset)
        # A square of zero has an infinite density as its variance vanishes: the evidence would have
        # no maximum. Smallest squares are relative to the mean; without any, the smallest numbers.
        least = self.smallest_square * float(np.average(squares / known, weights=weight))
        squares = np.maximum(squares, max(least, 1e-150) * known)
        return BoundLogVariance(self, squares, weight, offset)

    def distribution(self, f: Matrix) -> Squares:
        """Return the distribution of squares at log variances."""
        return Squares(np.exp(np.clip(f, -350.0, 350.0)))  # squares of more leave the range


class Squares:
    """Squares of normal variables of given variances, with methods as in `scipy.stats`.

    `logpdf` is the log density of the normal variable, at the root of the square.
    """

    dist = chi2

    def __init__(self, variance: Any) -> None:
        self.variance = np.asarray(variance, dtype=np.float64)

    def mean(self) -> Any:
        """Expected square."""
        return self.variance

    def var(self) -> Any:
        """Variance of the square."""
        return 2.0 * self.variance**2

    def cdf(self, square: Any) -> Any:
        """Probability of at most this square: chi-squared with one degree of freedom."""
        return gammainc(0.5, 0.5 * np.maximum(square, 0.0) / self.variance)

    def ppf(self, level: float) -> Any:
        """Quantile of the square."""
        return 2.0 * self.variance * gammaincinv(0.5, level)

    def logpdf(self, square: Any) -> Any:
        """Log density of the normal variable."""
        ratio = np.asarray(square, dtype=np.float64) / self.variance
        each = -0.5 * (math.log(2.0 * math.pi) + np.log(self.variance) + ratio)
        return np.where(np.asarray(square) >= 0.0, each, -np.inf)

    def rvs(self, size: Any, random_state: Any) -> Any:
        """Draw squares."""
        return self.variance * random_state.normal(size=size) ** 2
