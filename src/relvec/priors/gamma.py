"""Gamma densities over the precisions, as in the first relevance vector machine."""

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
"""Variables over which a density may be meant."""


class BoundGamma(BoundPrior):
    """``exponent log(alpha) - rate alpha`` for every raw ``alpha = lam norm^2 / sigma^2``.

    Parameters
    ----------
    exponent, raw_rate : float
        Of the density, as it is maximised.
    column_norm : ndarray of shape (n_atoms,) or None
        Norms of the atoms; one if None.
    noise : InverseGamma, optional
        Density of the noise variance.
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
        """Return the prior of some of the atoms."""
        if self.column_norm is None:
            return self
        return type(self)(self.exponent, self.raw_rate, self.column_norm[atoms], self.noise)

    @property
    def unit_rate(self) -> Vector | float:
        """Rate of the density of unit-norm precisions: raw ones are ``norm^2`` larger."""
        return self.raw_rate if self.column_norm is None else self.raw_rate * self.column_norm**2

    def log_density(self, log_lam: Vector, noise_variance: float | None) -> Vector:
        """Log density of each log precision; the noise must be known."""
        assert noise_variance is not None
        log_raw = log_lam - np.log(noise_variance)
        if self.column_norm is not None:
            log_raw = log_raw + 2.0 * np.log(self.column_norm)
        result: Vector = self.exponent * log_raw - self.raw_rate * np.exp(log_raw)
        return result

    def derivatives(self, log_lam: Vector, noise_variance: float | None) -> tuple[Vector, Vector]:
        """Return the first and second derivative of `log_density`."""
        assert noise_variance is not None
        pull = self.unit_rate * np.exp(log_lam) / noise_variance
        return self.exponent - pull, -pull

    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Best precision of one atom; the gain has an arbitrary constant, as none can be absent."""
        if noise_variance is None:
            raise ValueError("a Gamma prior on raw precisions needs a given noise.")
        return search_best_precision(self, known, n_effective, noise_variance)

    def noise_pseudo_observations(self, lam: Vector) -> tuple[float, float]:
        """What the prior says of the noise, precisions ``lam`` in its units held."""
        count, ss = super().noise_pseudo_observations(lam)
        pull = float(np.sum(self.unit_rate * lam))
        return count + 2.0 * self.exponent * len(lam), ss + 2.0 * pull

    def fixed_point_terms(self, log_lam: Vector, noise_variance: float) -> FixedPointTerms:
        """Return Tipping's terms: twice the shape above, twice the rate below."""
        return FixedPointTerms(2.0 * self.exponent, 2.0 * self.unit_rate / noise_variance)


class GammaPrior(Prior):
    """Gamma prior over the precisions of the weights and of the noise.

    The hierarchical prior of Tipping (2001, eq. 5-6), whose marginal over a weight is a
    Student t density. To the log evidence it adds ``exponent * log(alpha) - rate * alpha`` for
    every atom, with ``alpha`` the precision of the raw weight.

    Where a density has its maximum depends on the variable it is a density of. Over
    ``log(alpha)``, which Tipping maximises, Gamma(shape, rate) has the exponent `shape`; over
    ``alpha`` itself it has the exponent ``shape - 1``. `measure` says which is meant. Exponents of
    -1/2 and less have no maximum: the evidence falls by no more than the square root of a
    vanishing precision.

    A positive `rate`, or any exponent but zero, gives an infinite precision zero density: no atom
    can be deleted, and the model is shrunk but not sparse. Use it to reproduce results obtained
    with such hyper-parameters; for sparsity use `FlatPrior` or `SmoothnessPrior`. It depends on
    the units of the atoms and of the target.

    Parameters
    ----------
    shape, rate : float, default=1e-4
        Of the precision of each weight. The mode, in log precision, is ``shape / rate``.
    measure : {"log_precision", "precision"}, default="log_precision"
        What the density is maximised over.
    noise : InverseGamma, "tipping" or None, default="tipping"
        Density of the noise variance; "tipping" is ``InverseGamma(1e-4, 1e-4)``, None is none.

    See Also
    --------
    FlatPrior : The limit of zero shapes and rates, where atoms can be deleted.

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
        """Whether no atom can be absent: always, but for the limit that is flat."""
        return not self.bind(1.0).is_removable

    def bind(
        self,
        n_samples: float,
        column_norm: Vector | None = None,
        groups: GroupLabels | None = None,
    ) -> BoundPrior:
        """Return the prior of particular atoms, after checking that it has a maximum.

        Raises
        ------
        ValueError
            If a number is negative or not finite; if the exponent is positive and `rate` zero, so
            that every precision would be pushed to infinity; if the exponent is -1/2 or less, so
            that every precision would be pushed to zero.
        """
        shape = check_positive("shape", self.shape, allow_zero=True)
        rate = check_positive("rate", self.rate, allow_zero=True)
        over_log = check_choice("measure", self.measure, MEASURES) == "log_precision"
        exponent = shape if over_log else shape - 1.0
        if exponent > 0.0 and rate == 0.0:
            raise ValueError(
                f"GammaPrior(shape={self.shape!r}, rate=0) has no maximum: it pushes every "
                "precision to infinity. Give a positive rate, or shape=0."
            )
        if exponent <= -0.5:
            raise ValueError(
                f"GammaPrior(shape={self.shape!r}, rate={self.rate!r}, measure={self.measure!r}) "
                f"has no maximum: over precisions its exponent is shape - 1 = {exponent:g}, and "
                "-1/2 or less pushes every precision to zero. Give a shape above 1/2, or "
                'measure="log_precision".'
            )
        noise = self.noise
        if isinstance(noise, str):
            check_choice("noise", noise, ("tipping",))
            noise = InverseGamma(1e-4, 1e-4)
        if exponent == 0.0 and rate == 0.0:
            return BoundFlat(noise)
        return BoundGamma(exponent, rate, column_norm, noise)
