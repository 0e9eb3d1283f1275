"""Laplace prior over the weights, as an exponential density of their prior variances."""

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
    """Laplace prior bound to atoms: an exponential density of every prior variance ``1 / lam``.

    The log density is ``h = -rate / (2 lam)``.

    Parameters
    ----------
    rate : float
        Rate of the density; zero is the flat prior.
    rate_hyperprior : RateHyperprior, optional
        Hyperprior of the rate, if the rate is to be learnt.
    noise : InverseGamma, optional
        Prior of the noise variance.
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
        """Return the prior with another rate."""
        return type(self)(rate, self.rate_hyperprior, self.noise)

    def log_density(self, log_lam: Vector, noise_variance: float | None) -> Vector:
        """Return ``h = -rate / (2 lam)``, relative to an absent atom."""
        # log Exp(gamma | rate / 2) = -rate gamma / 2 + constant with gamma = 1 / lam (Park &
        # Casella 2008); as a density of gamma itself, without Jacobian, so that gamma = 0 has
        # positive density.
        return -0.5 * self.rate * (1.0 / np.exp(log_lam))

    def derivatives(self, log_lam: Vector, noise_variance: float | None) -> tuple[Vector, Vector]:
        """Return the first and second derivative of `log_density`."""
        # d(1 / lam) / d log lam = -1 / lam: the derivatives of -rate / (2 lam) alternate in sign.
        slope = 0.5 * self.rate / np.exp(log_lam)
        return slope, -slope

    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Return the best precision of one atom and its gain; see `BoundPrior.best_precision`.

        Notes
        -----
        Let ``z = s / lam`` and ``J`` the objective. With the noise held and ``Q = q^2 / sigma^2``,
        or profiled out and ``u = q^2 / R``, the change of ``-2 J`` is::

            held:     log(1 + z) - (Q / s) z / (1 + z) + (rate / s) z
            profiled: log(1 + z) + N log(1 - (u / s) z / (1 + z)) + (rate / s) z

        Either has at most one stationary point, a minimum: the positive root of ``a z^2 + (2 a + b)
        z - excess = 0``, where::

            held:     a = rate,                b = s,                     excess = Q - s - rate
            profiled: a = rate (s - u) / s,    b = s - u + rate u / s,    excess = N u - s - rate

        If the excess is positive, so are all coefficients, and the root formula used here has no
        cancellation. ``rate = 0`` gives the formulas of the flat prior.
        """
        (s, q, _, _), rate = known, self.rate
        if not rate:
            return super().best_precision(known, n_effective, noise_variance)
        with np.errstate(all="ignore"):
            if noise_variance is not None:
                quality = q * q / noise_variance
                share = quality / s
                # Derivative of the gain in 1 / lam at an absent atom, times two: the condition of
                # entry q^2 / sigma^2 - s > rate.
                excess = quality - s - rate
                a, b = np.full(np.shape(s), rate), s
            else:
                u = known.explained
                share = u / s
                excess = n_effective * u - s - rate
                a, b = rate * (s - u) / s, s - u + rate * share
            # Root written as 2 c / (b + sqrt(b^2 + 4 a c)), with a sum of positive terms in the
            # denominator: accurate also for a tending to zero, where it becomes excess / b, the
            # flat prior.
            linear = 2.0 * a + b
            z = 2.0 * excess / (linear + np.sqrt(linear * linear + 4.0 * a * excess))
            # u / (lam + s) = (u / s) z / (1 + z) with z = s / lam.
            explained = share * (z / (1.0 + z))
            fit = n_effective * np.log1p(-explained) if noise_variance is None else -explained
            gain = -0.5 * (fit + np.log1p(z) + rate * z / s)
            return np.where((excess > 0.0) & np.isfinite(gain), gain, -np.inf), s / z

    def entry_ratio(self, known: Statistics, noise_variance: float) -> Vector:
        """Return a score that ranks absent atoms; with the noise held, those above one gain."""
        return (known.q * known.q / noise_variance - self.rate) / known.s

    def fixed_point_terms(self, log_lam: Vector, noise_variance: float) -> FixedPointTerms:
        """Return the term ``rate / lam`` of ``2 h'``."""
        return FixedPointTerms(inverse=self.rate)


class LaplacePrior(Prior):
    """Laplace prior over the weights: the Bayesian lasso, with maximised prior variances.

    The hierarchy of Park and Casella (2008), as used by Babacan et al. (2010) and Helgøy and Li
    (2019): ``w_i ~ N(0, gamma_i sigma^2)`` with ``gamma_i ~ Exp(rate / 2)``. Integrated over
    ``gamma_i``, a weight has density ``sqrt(rate) / (2 sigma) exp(-sqrt(rate) |w_i| / sigma)``.
    It adds ``-rate / 2 * sum(gamma)`` to the log evidence (marginal likelihood). In an orthonormal
    basis, a coefficient is kept if its square exceeds ``1 + rate`` noise variances (one under the
    flat prior). Large weights are shrunk as well as small ones.

    The weights are those of centred basis functions of unit norm, in units of the noise standard
    deviation. The rate is therefore dimensionless, and the model does not change when basis
    functions or target are rescaled.

    Parameters
    ----------
    rate : "auto" or float, default="auto"
        "auto" learns the rate, see the notes. 0 is the flat prior.
    shape, inverse_scale : float, default=1.0 and 0.1
        ``a`` and ``b`` of the hyperprior ``Gamma(a, b)`` of a learnt rate; its mean is ``a / b``.
        They matter when the data support no basis function: the rate would otherwise diverge.
    noise : InverseGamma, optional
        Prior of the noise variance; flat in its logarithm by default.

    See Also
    --------
    SmoothnessPrior : Removes weak basis functions without shrinking strong ones.

    Notes
    -----
    *When to use it.* For explicit columns with many weak effects, or with none. The rate already
    excludes weak columns, so estimators set no entry penalty under ``min_gain="auto"``. With a few
    strong effects, and with kernels, the flat prior predicted better in all our trials: weights of
    kernels are large and of both signs, and shrinking them degrades the fit. A learnt rate is
    therefore rejected, with a warning, if its generalised cross-validation estimate of the RMSE
    exceeds that of the flat prior by more than 15 %.

    *Noise.* If prior and noise were estimated together they would reinforce each other: smaller
    weights leave a larger residual, and relative to a larger noise the weights are smaller still.
    When the rate is learnt, the noise variance is therefore fixed to its estimate under the flat
    prior or, if it is not identifiable there because columns are many, to the estimate with an
    entry penalty of the logarithm of their number. Helgøy and Li fix it, too. With a given rate the
    noise is estimated together with the weights, unless `noise_variance` is given, which is better.

    *Variances.* The active set is determined by the most probable variances, many of which are zero
    under an exponential density. The others are underestimated by the mode; when the rate is
    learnt, they are replaced by their expectations given the data and the rest of the model.

    *How the rate is learnt.* The papers maximise the joint density of the rate and of all ``M``
    variances, which gives ``rate = 2 (M + a - 1) / (sum(gamma) + 2 b)``. With that rate inserted,
    the objective is the evidence times ``(sum(gamma) + 2 b)^-(M + a - 1)``. For ``b = 0`` it is
    unbounded at ``gamma = 0`` whatever the data, because every excluded atom (basis function)
    counts as an observed variance of zero; all our trials, strong signals among them, ended with
    the empty model. Here ``gamma_i`` in that rule is replaced by its expectation given the data and
    the rest of the model. An excluded atom then has a positive expected variance, and an atom
    without information in the data has its prior mean ``2 / rate``, which does not influence the
    rate. The rule becomes expectation maximisation of a product over atoms of the evidence of the
    rate; the product is bounded, so that any ``b > 0`` makes the rate finite.

    Model and rate are updated in turn, starting from the flat prior. The result is a fixed point,
    not the maximum of one objective. The papers' rules for ``a`` and ``b`` (a Gibbs sample, ``b = a
    / rate``) are not implemented.

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
        """Return the prior for particular atoms, with rate zero if the rate is to be learnt.

        Raises
        ------
        ValueError
            If a parameter is negative or not finite, or if `shape` or `inverse_scale` is zero.
        """
        shape = check_positive("shape", self.shape)
        inverse_scale = check_positive("inverse_scale", self.inverse_scale)
        if isinstance(self.rate, str) and self.rate == "auto":
            # Learning starts from the flat prior; the rate is then set by with_rate.
            return BoundLaplace(0.0, RateHyperprior(shape, inverse_scale), self.noise)
        rate = check_positive("rate", self.rate, allow_zero=True, also='or "auto"')
        return BoundLaplace(rate, None, self.noise)
