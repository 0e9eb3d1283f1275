"""An exponential density over prior variances, which makes that of the weights Laplace."""

from __future__ import annotations

from typing import Self

import numpy as np

from relvec._checks import check_positive
from relvec._typing import Vector
from relvec.priors.base import (
    FixedPointTerms,
    GroupLabels,
    InverseGamma,
    Prior,
    RateHyperprior,
    Statistics,
)
from relvec.priors.flat import BoundFlat


class BoundLaplace(BoundFlat):
    """An exponential density of every prior variance: ``h = -rate / (2 lam)``.

    Parameters
    ----------
    rate : float
        Of the density; zero is the flat prior.
    rate_hyperprior : RateHyperprior, optional
        Density of the rate, if that is to be learnt.
    noise : InverseGamma, optional
        Density of the noise variance.
    """

    def __init__(
        self,
        rate: float,
        rate_hyperprior: RateHyperprior | None = None,
        noise: InverseGamma | None = None,
    ) -> None:
        super().__init__(noise)
        self.rate = rate
        self.rate_hyperprior = rate_hyperprior
        self.has_density = rate > 0.0

    def with_rate(self, rate: float) -> Self:
        """Return the prior at another rate."""
        return type(self)(rate, self.rate_hyperprior, self.noise)

    def log_density(self, log_lam: Vector, noise_variance: float | None) -> Vector:
        """Log density of each log precision, relative to that of an absent atom."""
        return -0.5 * self.rate * (1.0 / np.exp(log_lam))

    def derivatives(self, log_lam: Vector, noise_variance: float | None) -> tuple[Vector, Vector]:
        """Return the first and second derivative of `log_density`."""
        slope = 0.5 * self.rate / np.exp(log_lam)
        return slope, -slope

    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Best precision and gain of one atom; see `BoundPrior.best_precision`.

        Notes
        -----
        Spec: with ``z = s / lam`` the change of ``-2 J`` is, with the noise held and ``Q = q^2 /
        sigma^2``, or profiled out and ``u = q^2 / R``::

            log(1 + z) - (Q / s) z / (1 + z) + (rate / s) z
            log(1 + z) + N log(1 - (u / s) z / (1 + z)) + (rate / s) z

        Either has one stationary point at most, the root of ``a z^2 + (2 a + b) z - excess``, where

            held:     a = rate,                b = s,                     excess = Q - s - rate
            profiled: a = rate (s - u) / s,    b = s - u + rate u / s,    excess = N u - s - rate

        and it is a minimum. All coefficients are positive as soon as the excess is, so nothing
        cancels, and ``rate = 0`` gives the formulas of the flat prior.
        """
        (s, q, _, _), rate = known, self.rate
        if not rate:
            return super().best_precision(known, n_effective, noise_variance)
        with np.errstate(all="ignore"):
            if noise_variance is not None:
                quality = q * q / noise_variance
                share = quality / s
                excess = quality - s - rate
                a, b = np.full(np.shape(s), rate), s
            else:
                u = known.explained
                share = u / s
                excess = n_effective * u - s - rate
                a, b = rate * (s - u) / s, s - u + rate * share
            slope = 2.0 * a + b
            z = 2.0 * excess / (slope + np.sqrt(slope * slope + 4.0 * a * excess))
            taken = share * (z / (1.0 + z))
            fit = n_effective * np.log1p(-taken) if noise_variance is None else -taken
            gain = -0.5 * (fit + np.log1p(z) + rate * z / s)
            return np.where((excess > 0.0) & np.isfinite(gain), gain, -np.inf), s / z

    def entry_ratio(self, known: Statistics, noise_variance: float) -> Vector:
        """Rank absent atoms: above one they gain with the noise held."""
        return (known.q * known.q / noise_variance - self.rate) / known.s

    def fixed_point_terms(self, log_lam: Vector, noise_variance: float) -> FixedPointTerms:
        """Return the rate, which keeps the fixed point a root of a quadratic."""
        return FixedPointTerms(inverse=self.rate)


class LaplacePrior(Prior):
    """Laplace prior over the weights: the Bayesian lasso with precisions maximised.

    The hierarchy of Park and Casella (2008), as used by Babacan et al. (2010) and Helgøy and Li
    (2019): ``w_i ~ N(0, gamma_i sigma^2)`` with ``gamma_i ~ Exp(rate / 2)``. Integrated over
    ``gamma_i``, a weight has density ``sqrt(rate) / (2 sigma) exp(-sqrt(rate) |w_i| / sigma)``.
    To the log evidence it adds ``-rate / 2 * sum(gamma)``. An atom is kept if it stands out by
    ``1 + rate`` variances of the noise (by more than one under the flat prior), and large weights
    are shrunk as well as small ones.

    Weights are those of centred atoms of unit norm and in units of the noise. The rate is
    therefore a pure number, and the model unchanged when atoms or target are rescaled.

    Parameters
    ----------
    rate : "auto" or float, default="auto"
        "auto" learns it, see the notes. 0 is the flat prior.
    shape, inverse_scale : float, default=1.0 and 0.1
        ``a`` and ``b`` of the density ``Gamma(a, b)`` of a rate that is learnt; its mean is
        ``a / b``. They matter when the data say that no atom is needed, which by itself would
        send the rate to infinity.
    noise : InverseGamma, optional
        Density of the noise variance; flat in its logarithm by default.

    See Also
    --------
    SmoothnessPrior : Removes weak atoms without shrinking strong ones.

    Notes
    -----
    *Where it helps.* In explicit columns with many weak effects, or with none. The rate keeps weak
    columns out, so that estimators ask no minimum gain of them besides (``min_gain="auto"``). For
    a few strong effects, and for kernels, the flat prior predicted better in all our trials:
    weights of kernels are large and of either sign, and a prior on their size costs fit. A rate
    that is learnt is therefore refused, with a warning, if left-out rows are predicted worse than
    under the flat prior by more than 15 % in root mean squared error (by generalised
    cross-validation).

    *Noise.* Estimated together, prior and noise push each other: smaller weights leave more to the
    noise, in units of which they then look smaller still. When the rate is learnt, the noise is
    therefore that under the flat prior or, if it is not identified there because columns are
    many, that of columns that must gain the logarithm of their number. Helgøy and Li hold it, too.
    With a rate that is given it is estimated together with the weights, unless `noise_variance`
    is given as well, which is better.

    *Variances.* Which columns stay is decided by the most probable variances, of which an
    exponential density makes many zero. Those that stay are too small by that rule; when the rate
    is learnt they are replaced by their expectations given the data and the rest of the model.

    *How the rate is learnt.* The papers maximise the joint density of the rate and of all ``M``
    variances, which gives ``rate = 2 (M + a - 1) / (sum(gamma) + 2 b)``. With that rate put in,
    the density is the evidence times ``(sum(gamma) + 2 b)^-(M + a - 1)``. For ``b = 0`` this is
    unbounded at ``gamma = 0`` whatever the data, because every atom left out counts as a variance
    seen to be zero; all our trials, strong signals among them, ended with the empty model.
    Here ``gamma_i`` in that rule is replaced by its expectation given the data and the rest of
    the model. An atom left out then has a positive variance, and one of which the data say
    nothing has the ``2 / rate`` of its prior, and no say. The rule becomes expectation
    maximisation of a product over atoms, the evidence of the rate in each; that product is
    bounded, so that any ``b > 0`` makes the rate finite.

    Model and rate are found in turns, beginning with the flat prior. The end is a fixed point; no
    single objective rises on the way to it. The papers' rules for ``a`` and ``b`` (a Gibbs
    sample, ``b = a / rate``) are left out.

    References
    ----------
    Park and Casella (2008), The Bayesian lasso, JASA 103.

    Babacan, Molina and Katsaggelos (2010), Bayesian compressive sensing using Laplace priors,
    IEEE Transactions on Image Processing 19.

    Helgøy and Li (2019), A noise-robust fast sparse Bayesian learning model, arXiv:1908.07220.

    Examples
    --------
    >>> from relvec.priors import LaplacePrior
    >>> LaplacePrior(0.5).bind(n_samples=100).rate
    0.5
    >>> LaplacePrior().bind(n_samples=100).rate_hyperprior
    RateHyperprior(shape=1.0, inverse_scale=0.1)
    """

    def __init__(
        self,
        rate: str | float = "auto",
        *,
        shape: float = 1.0,
        inverse_scale: float = 0.1,
        noise: InverseGamma | None = None,
    ) -> None:
        self.rate = rate
        self.shape = shape
        self.inverse_scale = inverse_scale
        self.noise = noise

    def bind(
        self,
        n_samples: float,
        column_norm: Vector | None = None,
        groups: GroupLabels | None = None,
    ) -> BoundLaplace:
        """Return the prior of particular atoms: at rate zero if the rate is to be learnt.

        Raises
        ------
        ValueError
            If a number is negative or not finite, or `shape` or `inverse_scale` zero.
        """
        shape = check_positive("shape", self.shape)
        inverse_scale = check_positive("inverse_scale", self.inverse_scale)
        if isinstance(self.rate, str) and self.rate == "auto":
            return BoundLaplace(0.0, RateHyperprior(shape, inverse_scale), self.noise)
        rate = check_positive("rate", self.rate, allow_zero=True, also='or "auto"')
        return BoundLaplace(rate, None, self.noise)
