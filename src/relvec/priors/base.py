"""What is believed of the precisions before seeing the data.

Everything a solver asks of a prior are numbers: the price ``c`` of one effective degree
of freedom, the rate of a Laplace prior, and the shapes and rates of Gamma densities. Flat is
zero throughout, so one code path serves every prior.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from sklearn.base import BaseEstimator


class GammaHyperprior(NamedTuple):
    """Gamma densities of Tipping (2001, eq. 5-6), in his logarithmic parametrisation.

    They add ``sum(shape * log(alpha) - rate * alpha)`` and
    ``noise_shape * log(beta) - noise_rate * beta`` to the log evidence.

    Examples
    --------
    >>> from relvec.priors import GammaPrior
    >>> GammaPrior(shape=1e-3, rate=1e-3).hyperprior()
    GammaHyperprior(shape=0.001, rate=0.001, noise_shape=0.0001, noise_rate=0.0001)
    """

    shape: float = 0.0
    rate: float = 0.0
    noise_shape: float = 0.0
    noise_rate: float = 0.0


class RateHyperprior(NamedTuple):
    """Gamma density of the rate of a Laplace prior, which is then learnt.

    It adds ``(shape - 1) * log(rate) - inverse_scale * rate`` to the log evidence of the rate.

    Examples
    --------
    >>> from relvec.priors import LaplacePrior
    >>> LaplacePrior("auto").laplace_rate()
    RateHyperprior(shape=1.0, inverse_scale=0.1)
    """

    shape: float = 1.0
    inverse_scale: float = 0.1


class Prior(BaseEstimator, ABC):
    """A density over the precisions of the weights and of the noise.

    Examples
    --------
    >>> import math
    >>> from relvec.priors import Prior
    >>> class HalfBic(Prior):
    ...     def smoothness(self, n_samples):
    ...         return 0.25 * math.log(n_samples)
    >>> round(HalfBic().smoothness(100), 2)
    1.15
    """

    @abstractmethod
    def smoothness(self, n_samples: float) -> float:
        """Price ``c`` of one effective degree of freedom: the prior is exp(-c * df)."""

    def hyperprior(self) -> GammaHyperprior:
        """Gamma densities on the weight precisions and on the noise precision."""
        return GammaHyperprior()

    def laplace_rate(self) -> float | RateHyperprior:
        """Rate of an exponential density of the prior variances, or how to learn it; 0 for none."""
        return 0.0
