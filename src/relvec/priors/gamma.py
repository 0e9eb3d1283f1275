"""Gamma priors over the precisions (Tipping 2001)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec._checks import check_choice, check_positive
from relvec._typing import IndexArray, Vector
from relvec.priors.base import (
    BoundPrior,
    FixedPointTerms,
    GroupLabels,
    InverseGamma,
    Prior,
    Statistics,
)
from relvec.priors.flat import BoundFlat
from relvec.priors.separable import search_best_precision

MEASURES = ("log_precision", "precision")
"""Variables that the Gamma density may refer to."""


class BoundGamma(BoundPrior):
    """Gamma prior bound to atoms: ``h = exponent log(alpha) - raw_rate alpha``.

    ``alpha = lam norm^2 / sigma^2`` is the precision of the weight of the raw atom.

    Parameters
    ----------
    exponent, raw_rate : float
        Exponent and rate of the density as it is maximised.
    column_norm : ndarray of shape (n_atoms,) or None
        Norms of the raw atoms; one if None.
    noise : InverseGamma, optional
        Prior of the noise variance.
    """

    has_density = True
    is_removable = False

    def __init__(
        self,
        exponent: float,
        raw_rate: float,
        column_norm: Vector | None = None,
        noise: InverseGamma | None = None,
    ) -> None:
        super().__init__(noise)
        self.exponent = exponent
        self.raw_rate = raw_rate
        self.column_norm = column_norm

    def subset(self, atoms: IndexArray) -> Self:
        """Return the prior of the atoms at positions `atoms`."""
        if self.column_norm is None:
            return self
        return type(self)(self.exponent, self.raw_rate, self.column_norm[atoms], self.noise)

    @property
    def unit_rate(self) -> Vector | float:
        """Rate for precisions of unit-norm atoms: raw precisions are ``norm^2`` times larger."""
        return self.raw_rate if self.column_norm is None else self.raw_rate * self.column_norm**2

    def log_density(self, log_lam: Vector, noise_variance: float | None) -> Vector:
        """Return the log density of each log precision; the noise must be held."""
        assert noise_variance is not None
        # The density is that of the raw precision alpha = lam |phi|^2 / sigma^2 (docs/notation.md).
        # It depends on the noise, which therefore cannot be profiled out.
        log_raw = log_lam - np.log(noise_variance)
        if self.column_norm is not None:
            log_raw = log_raw + 2.0 * np.log(self.column_norm)
        result: Vector = self.exponent * log_raw - self.raw_rate * np.exp(log_raw)
        return result

    def derivatives(self, log_lam: Vector, noise_variance: float | None) -> tuple[Vector, Vector]:
        """Return the first and second derivative of `log_density`."""
        assert noise_variance is not None
        # h' = exponent - rate alpha and h'' = -rate alpha, as functions of log(alpha)
        rate_alpha = self.unit_rate * np.exp(log_lam) / noise_variance
        return self.exponent - rate_alpha, -rate_alpha

    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Return the best precision of one atom, by a search.

        The gain has an arbitrary constant, since no atom can be absent.
        """
        if noise_variance is None:
            raise ValueError(
                "a Gamma prior on raw precisions needs a value of the noise variance; got None."
            )
        return search_best_precision(self, known, n_effective, noise_variance)

    def noise_pseudo_observations(self, lam: Vector) -> tuple[float, float]:
        """Return the prior as pseudo-observations of the noise, at fixed ``lam``."""
        count, ss = super().noise_pseudo_observations(lam)
        # With alpha = lam / sigma^2, h = -exponent log(sigma^2) - rate lam / sigma^2 + constant.
        rate_lam = float(np.sum(self.unit_rate * lam))
        return count + 2.0 * self.exponent * len(lam), ss + 2.0 * rate_lam

    def fixed_point_terms(self, log_lam: Vector, noise_variance: float) -> FixedPointTerms:
        """Return ``2 a``, added to the numerator, and ``2 b``, added to the denominator."""
        # 2 h' = 2 exponent - 2 rate alpha: Tipping (2001), eqs. 43 and 44, with a and b of the
        # hyperprior.
        return FixedPointTerms(2.0 * self.exponent, 2.0 * self.unit_rate / noise_variance)


class GammaPrior(Prior):
    """Gamma prior over the precisions of the weights and of the noise.

    The hierarchical prior of Tipping (2001, eqs. 5 and 6), under which the marginal prior of a
    weight is a Student t density (eq. 32). It adds ``exponent * log(alpha) - rate * alpha`` to the
    log evidence (marginal likelihood) for every basis function, with ``alpha`` the precision of its
    weight.

    The maximum of a density depends on the variable. As a density of ``log(alpha)``, which Tipping
    maximises, Gamma(shape, rate) has the exponent `shape`; as a density of ``alpha`` it has the
    exponent ``shape - 1``. `measure` selects one of them. With an exponent of -1/2 or less there is
    no maximum: as ``alpha`` tends to zero the evidence falls like ``alpha^(1/2)``, and the prior
    grows at least as fast.

    If `rate` is positive, or the exponent is not zero, an infinite precision has zero density. No
    basis function can then be deleted: the model is shrunk but not sparse. Use this prior to
    reproduce results obtained with such hyper-parameters; for sparsity use `FlatPrior` or
    `SmoothnessPrior`. It depends on the units of the basis functions and of the target.

    Parameters
    ----------
    shape, rate : float, default=1e-4
        Shape ``a`` and rate ``b`` of the Gamma density of each weight precision. The mode of the
        density of ``log(alpha)`` is at ``alpha = shape / rate``.
    measure : {"log_precision", "precision"}, default="log_precision"
        Variable over which the density is maximised.
    noise : InverseGamma, "tipping" or None, default="tipping"
        Prior of the noise variance; "tipping" is ``InverseGamma(1e-4, 1e-4)``, None is flat in its
        logarithm.

    See Also
    --------
    FlatPrior : The limit of zero shape and rate, in which basis functions can be deleted.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    Examples
    --------
    >>> from relvec.priors import GammaPrior
    >>> GammaPrior(shape=0.7, rate=1.0).bind(n_samples=100).exponent
    0.7
    >>> over_alpha = GammaPrior(shape=0.7, rate=1.0, measure="precision")
    >>> round(over_alpha.bind(n_samples=100).exponent, 1)
    -0.3
    """

    def __init__(
        self,
        shape: float = 1e-4,
        rate: float = 1e-4,
        *,
        measure: str = "log_precision",
        noise: InverseGamma | str | None = "tipping",
    ) -> None:
        self.shape = shape
        self.rate = rate
        self.measure = measure
        self.noise: Any = noise

    @property
    def keeps_all_atoms(self) -> bool:  # type: ignore[override]  # depends on the parameters
        """Whether no atom can be absent: always, except for zero exponent and rate."""
        return not self.bind(1.0).is_removable

    def bind(
        self,
        n_samples: float,
        column_norm: Vector | None = None,
        groups: GroupLabels | None = None,
    ) -> BoundPrior:
        """Return the prior for particular atoms, after checking that the objective has a maximum.

        Raises
        ------
        ValueError
            If a parameter is negative or not finite; if the exponent is positive and `rate` zero,
            so that every precision would diverge; if the exponent is -1/2 or less, so that every
            precision would go to zero.
        """
        shape = check_positive("shape", self.shape, allow_zero=True)
        rate = check_positive("rate", self.rate, allow_zero=True)
        over_log = check_choice("measure", self.measure, MEASURES) == "log_precision"
        # p(log alpha) = alpha p(alpha): the Jacobian raises the exponent by one.
        exponent = shape if over_log else shape - 1.0
        if exponent > 0.0 and rate == 0.0:
            raise ValueError(
                f"GammaPrior(shape={self.shape!r}, rate=0) has no maximum: it pushes every "
                "precision to infinity. Use a positive rate, or shape=0."
            )
        if exponent <= -0.5:
            raise ValueError(
                f"GammaPrior(shape={self.shape!r}, rate={self.rate!r}, measure={self.measure!r}) "
                f"has no maximum: over precisions its exponent is shape - 1 = {exponent:g}, and "
                "-1/2 or less pushes every precision to zero. Use a shape above 1/2, or "
                'measure="log_precision".'
            )
        noise = self.noise
        if isinstance(noise, str):
            check_choice("noise", noise, ("tipping",))
            noise = InverseGamma(1e-4, 1e-4)
        # Uniform in log alpha: atoms can be deleted, unlike under any other Gamma density.
        if exponent == 0.0 and rate == 0.0:
            return BoundFlat(noise)
        return BoundGamma(exponent, rate, column_norm, noise)
