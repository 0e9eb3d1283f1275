"""Heavy-tailed noise as scale mixtures of normals: Student-t and contaminated normal.

The noise of row ``n`` is ``e_n | u_n ~ N(0, sigma^2 / u_n)`` with an unknown relative precision
``u_n``. Let ``q(w)`` be a Gaussian approximation to the posterior of the weights, and ``e_n^2``
the expected squared error ``(t_n - f_n)^2 + v_n`` under it. With the optimal ``q(u)``, the
variational bound on the log evidence is, for any scale mixture, ``sum_n log p(e_n) - KL(q(w) |
p(w))``: the density of the noise at the root of the expected squared error. So noise models are
fitted to squared errors, and their row weights ``E[u_n | e_n]`` go into the next regression.

References: Lange, Little & Taylor (1989), Robust statistical modeling using the t distribution,
JASA 84; Tipping & Lawrence (2005), Variational inference for Student-t models, Neurocomputing 69;
Box & Tiao (1968), A Bayesian approach to some outlier problems, Biometrika 55.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammainc, gammaln

from relvec._typing import Vector
from relvec.likelihoods.scale_mixture import NoiseMixture

__all__ = [
    "MEDIAN_SQUARE",
    "OUTLIER_RATIO",
    "ContaminatedNoise",
    "GaussianNoise",
    "ScaleMixtureNoise",
    "StudentNoise",
    "weighted_median",
]

OUTLIER_RATIO = 9.0
"""A row whose noise variance is at least this multiple of ``sigma^2`` is called an outlier: three
times the standard deviation. It is also the smallest variance ratio of a contaminated normal."""

MEDIAN_SQUARE = 0.4549
"""Median of the square of a standard normal deviate."""


class ScaleMixtureNoise(Protocol):
    """A distribution of the noise, with a variance ``sigma^2`` of ordinary rows."""

    @property
    def variance(self) -> float:
        """Noise variance ``sigma^2`` of ordinary rows."""

    @property
    def information_ratio(self) -> float:
        """Fisher information about the mean, relative to that of known row precisions."""

    def fit(self, squared: Vector, weight: Vector, floor: float) -> ScaleMixtureNoise:
        """Return the noise that maximises the weighted log density of squared errors."""

    def log_density(self, squared: Vector) -> Vector:
        """Log density of errors with these squares."""

    def row_weight(self, squared: Vector) -> Vector:
        """Posterior mean of the relative precision ``u_n`` of each row."""

    def outlier_probability(self, squared: Vector) -> Vector:
        """Posterior probability that the noise variance of a row is at least 9 ``sigma^2``."""

    def row_variance(self, X: Any, squared: Vector, weight: Vector | None = None) -> Vector:
        """Inverse of `row_weight`: noise variance of each training row, relative to ``sigma^2``."""
        return 1.0 / self.row_weight(squared)

    def components(self, X: Any) -> NoiseMixture:
        """Normal mixture of the noise of new rows, in units of ``sigma^2``."""


@dataclass(frozen=True)
class GaussianNoise(ScaleMixtureNoise):
    """Normal noise, with which the others are compared.

    Parameters
    ----------
    variance : float
        Variance ``sigma^2``.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods.robust_noise import GaussianNoise
    >>> GaussianNoise().fit(np.array([1.0, 9.0]), np.array([3.0, 1.0]), floor=1e-12)
    GaussianNoise(variance=3.0)
    """

    variance: float = math.nan
    information_ratio: ClassVar[float] = 1.0

    def fit(self, squared: Vector, weight: Vector, floor: float) -> GaussianNoise:
        """Return the noise of the mean squared error."""
        return GaussianNoise(max(float(np.average(squared, weights=weight)), floor))

    def log_density(self, squared: Vector) -> Vector:
        """Log density of errors with these squares."""
        return -0.5 * (math.log(2.0 * math.pi * self.variance) + squared / self.variance)

    def row_weight(self, squared: Vector) -> Vector:
        """Return one for each row."""
        return np.ones(len(squared))

    def outlier_probability(self, squared: Vector) -> Vector:
        """Return zero for each row."""
        return np.zeros(len(squared))

    def components(self, X: Any) -> NoiseMixture:
        """Normal noise of variance one."""
        return NoiseMixture(np.ones((X.shape[0], 1)), np.ones(1))


@dataclass(frozen=True)
class StudentNoise(ScaleMixtureNoise):
    """Student-t noise ``sigma t_nu``: the relative precision is Gamma(nu / 2, nu / 2).

    Parameters
    ----------
    variance : float
        Squared scale ``sigma^2``. The variance of the noise is ``nu / (nu - 2)`` times as large
        for ``nu > 2``, otherwise it does not exist.
    df : float
        Degrees of freedom ``nu``.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import StudentNoise
    >>> errors = np.random.default_rng(0).standard_t(3.0, size=2000)
    >>> noise = StudentNoise().fit(errors**2, np.ones(2000), floor=1e-12)
    >>> round(noise.df), round(noise.variance, 1)
    (3, 1.0)
    >>> noise.row_weight(np.array([0.0, 100.0])).round(1)
    array([1.3, 0. ])
    """

    variance: float = math.nan
    """NaN before the first fit."""
    df: float = 4.0
    df_bounds: ClassVar[tuple[float, float]] = (1.0, 200.0)
    """Below 1 the tails are heavier than any data call for; above 200 the noise is normal."""
    accuracy_range: ClassVar[float] = 1e3
    """Errors, in units of sigma, up to which the mixture of `components` is accurate, unless their
    density is below the smallest floating-point number (more than 100 degrees of freedom)."""

    @property
    def information_ratio(self) -> float:
        """``(nu + 1) / (nu + 3)``, the expected information times ``sigma^2``."""
        return (self.df + 1.0) / (self.df + 3.0)

    def fit(self, squared: Vector, weight: Vector, floor: float) -> StudentNoise:
        """Return the noise that maximises the weighted log density of squared errors."""
        centre = max(weighted_median(squared, weight), floor)
        start = self.variance if math.isfinite(self.variance) else centre / MEDIAN_SQUARE
        # In units of the typical square, so that steps in both coordinates are of order one.
        ratio, total = squared / centre, float(weight.sum())

        def cost(point: Vector) -> tuple[float, Vector]:
            variance, df = np.exp(point)
            scaled = ratio / (variance * df)
            u = (df + 1.0) / (df * (1.0 + scaled))  # row weights
            value = total * _student_constant(df, variance) - 0.5 * (df + 1.0) * float(
                weight @ np.log1p(scaled)
            )
            # d/d log sigma^2 = sum (u e^2 / sigma^2 - 1) / 2; d/d log nu from the gamma functions
            # and the two places where nu occurs in the kernel.
            excess = 0.5 * (float(weight @ (u * ratio / variance)) - total)
            slope = 0.5 * df * total * (digamma(0.5 * (df + 1.0)) - digamma(0.5 * df) - 1.0 / df)
            slope += 0.5 * float(weight @ (u * ratio / variance - df * np.log1p(scaled)))
            return -value / total, -np.array([excess, slope]) / total

        low = math.log(max(floor / centre, 1e-300))
        high = max(math.log(max(float(ratio.max()), 1.0)), low) + 1.0
        first = [min(max(math.log(start / centre), low), high), math.log(self.df)]
        box = [(low, high), tuple(map(math.log, self.df_bounds))]
        end = minimize(cost, first, jac=True, method="L-BFGS-B", bounds=box, tol=1e-10).x
        return StudentNoise(math.exp(end[0]) * centre, math.exp(end[1]))

    def log_density(self, squared: Vector) -> Vector:
        """Log density of errors with these squares."""
        kernel = np.log1p(squared / (self.df * self.variance))
        return _student_constant(self.df, self.variance) - 0.5 * (self.df + 1.0) * kernel

    def row_weight(self, squared: Vector) -> Vector:
        """Posterior mean of the relative precision of each row: ``(nu + 1) / (nu + e^2/s^2)``."""
        return (self.df + 1.0) / (self.df + squared / self.variance)

    def outlier_probability(self, squared: Vector) -> Vector:
        """Posterior probability that the noise variance of a row is at least 9 ``sigma^2``."""
        # u | e is Gamma((nu + 1) / 2) with rate (nu + e^2 / sigma^2) / 2.
        rate = 0.5 * (self.df + squared / self.variance)
        return np.asarray(gammainc(0.5 * (self.df + 1.0), rate / OUTLIER_RATIO))

    def components(self, X: Any) -> NoiseMixture:
        """Normal mixture of the noise of new rows, in units of ``sigma^2``.

        Trapezoidal rule over ``z = log u``, which converges exponentially: given any error, ``z``
        has a log-gamma density of standard deviation about ``sqrt(2 / (nu + 1))``.
        """
        df, shape = self.df, 0.5 * (self.df + 1.0)
        step = 0.9 / math.sqrt(shape)
        # At the largest error the integrand peaks at u = (nu + 1) / (nu + e^2), and falls as
        # u^((nu + 1) / 2) below. Above, the prior falls like a Gamma density: from the mean 1,
        # 40 / nu in units of its own are enough for any nu.
        lowest = math.log((df + 1.0) / (df + self.accuracy_range**2)) - 10.0 / shape
        lowest -= 4.0 / math.sqrt(shape)
        highest = math.log(1.0 + 40.0 / df + 8.0 * math.sqrt(2.0 / df))
        z = np.arange(highest, lowest - step, -step)
        log_weight = 0.5 * df * (z - np.exp(z))
        weight = np.exp(log_weight - log_weight.max())
        kept = weight > 0.0  # underflow of extreme nodes at many degrees of freedom
        variances = np.exp(-z[kept])
        rows = np.broadcast_to(variances, (X.shape[0], len(variances)))
        return NoiseMixture(rows, weight[kept] / weight.sum())


@dataclass(frozen=True)
class ContaminatedNoise(ScaleMixtureNoise):
    """Contaminated normal noise ``(1 - eps) N(0, sigma^2) + eps N(0, k sigma^2)``.

    Parameters
    ----------
    variance : float
        Variance ``sigma^2`` of ordinary rows.
    share : float
        Fraction ``eps`` of outliers.
    ratio : float
        Variance of outliers relative to ordinary rows, ``k``; at least 9.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import ContaminatedNoise
    >>> rng = np.random.default_rng(0)
    >>> errors = rng.normal(size=2000) * np.where(rng.random(2000) < 0.1, 20.0, 1.0)
    >>> noise = ContaminatedNoise().fit(errors**2, np.ones(2000), floor=1e-12)
    >>> round(noise.share, 1), round(noise.ratio, -2), round(noise.variance, 1)
    (0.1, 400.0, 1.0)
    """

    variance: float = math.nan
    """NaN before the first fit."""
    share: float = 0.1
    ratio: float = 100.0
    share_bounds: ClassVar[tuple[float, float]] = (1e-4, 0.45)
    """Ordinary rows are the majority."""
    largest_ratio: ClassVar[float] = 1e24
    """Outliers of up to 1e12 standard deviations."""
    starts: ClassVar[tuple[tuple[float, float], ...]] = ((0.1, 100.0), (0.02, 1e4), (0.4, 25.0))
    """Shares and variance ratios from which the first fit starts."""
    max_iter: ClassVar[int] = 200
    """Steps of expectation maximisation, which costs little beside a regression."""

    @property
    def information_ratio(self) -> float:
        """Fisher information ``int p'^2 / p`` over the mean of the row weights, times sigma^2."""
        error = np.exp(np.linspace(math.log(1e-4), math.log(12.0 * math.sqrt(self.ratio)), 4000))
        unit = replace(self, variance=1.0)
        weight, density = unit.row_weight(error**2), np.exp(unit.log_density(error**2))
        # The score is e u(e); both signs, and de = e dlog e.
        information = 2.0 * float(np.trapezoid(error**3 * weight**2 * density, np.log(error)))
        return information / (1.0 - self.share + self.share / self.ratio)

    def fit(self, squared: Vector, weight: Vector, floor: float) -> ContaminatedNoise:
        """Return the noise that maximises the weighted log density of squared errors.

        Expectation maximisation in closed form, from several starts in the first fit.
        """
        if math.isfinite(self.variance):
            return self._maximise(squared, weight, floor)
        centre = max(weighted_median(squared, weight) / MEDIAN_SQUARE, floor)
        fits = [
            ContaminatedNoise(centre, *start)._maximise(squared, weight, floor)
            for start in self.starts
        ]
        return max(fits, key=lambda each: float(weight @ each.log_density(squared)))

    def _maximise(self, squared: Vector, weight: Vector, floor: float) -> ContaminatedNoise:
        noise, total, last = self, float(weight.sum()), -math.inf
        for _ in range(self.max_iter):
            outlier = noise.outlier_probability(squared) * weight
            value = float(weight @ noise.log_density(squared))
            if value - last < 1e-6 * total:
                break
            last, count = value, float(outlier.sum())
            wide, narrow = float(outlier @ squared), float((weight - outlier) @ squared)
            share = min(max(count / total, self.share_bounds[0]), self.share_bounds[1])
            variance = max(narrow / max(total - count, 1e-300), floor)
            ratio = wide / max(count, 1e-300) / variance
            if not OUTLIER_RATIO <= ratio <= self.largest_ratio:
                # At a bound of the ratio both sums estimate one variance.
                ratio = min(max(ratio, OUTLIER_RATIO), self.largest_ratio)
                variance = max((narrow + wide / ratio) / total, floor)
            noise = ContaminatedNoise(variance, share, ratio)
        return noise

    def _log_parts(self, squared: Vector) -> tuple[Vector, Vector]:
        """Log density of both components times their probability."""
        scaled, constant = squared / self.variance, math.log(2.0 * math.pi * self.variance)
        narrow = math.log1p(-self.share) - 0.5 * (constant + scaled)
        wide = math.log(self.share) - 0.5 * (constant + math.log(self.ratio) + scaled / self.ratio)
        return narrow, wide

    def log_density(self, squared: Vector) -> Vector:
        """Log density of errors with these squares."""
        return np.logaddexp(*self._log_parts(squared))

    def row_weight(self, squared: Vector) -> Vector:
        """Posterior mean of the relative precision of each row, between ``1 / k`` and 1."""
        outlier = self.outlier_probability(squared)
        return 1.0 - outlier + outlier / self.ratio

    def outlier_probability(self, squared: Vector) -> Vector:
        """Posterior probability that a row belongs to the wide component."""
        narrow, wide = self._log_parts(squared)
        return np.asarray(np.exp(wide - np.logaddexp(narrow, wide)))

    def components(self, X: Any) -> NoiseMixture:
        """Normal mixture of the noise of new rows, in units of ``sigma^2``."""
        rows = np.broadcast_to(np.array([1.0, self.ratio]), (X.shape[0], 2))
        return NoiseMixture(rows, np.array([1.0 - self.share, self.share]))


def _student_constant(df: float, variance: float) -> float:
    """Log density of Student-t noise at zero."""
    gammas = float(gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df))
    return gammas - 0.5 * math.log(math.pi * df * variance)


def weighted_median(values: Vector, weight: Vector) -> float:
    """Return the smallest value that at least half of the weight does not exceed.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods.robust_noise import weighted_median
    >>> weighted_median(np.array([5.0, 1.0, 9.0]), np.array([1.0, 1.0, 3.0]))
    9.0
    """
    order = np.argsort(values)
    cumulated = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(cumulated, 0.5 * cumulated[-1])]])
