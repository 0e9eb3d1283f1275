"""Predictive distributions of targets of which a transform was modelled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relvec._checks import check_probability, check_targets
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.likelihoods.gaussian import GaussianPrediction
from relvec.likelihoods.scale_mixture import NoiseMixture, ScaleMixturePrediction
from relvec.likelihoods.transforms import TargetTransform, expect_over_gaussian

__all__ = ["TransformedPrediction"]


class TransformedPrediction(NamedTuple):
    """Predictive distributions of targets ``y`` of which ``z = h(y)`` was modelled, one per row.

    With `noise`, `base` is the distribution of the latent function ``f`` without noise, and this is
    the distribution of the mean of the target given ``f``, ``E[h^-1(f + noise)]``. Both
    distributions have the same mean.

    If `base` is a mixture, mean and variance of the target are those for a normal distribution of
    ``z`` with the variance of the mixture. The mean of ``exp(z)`` over noise of uncertain variance
    is infinite, and any finite number of components would give an arbitrary value. Quantiles,
    densities and draws are those of the mixture.

    Examples
    --------
    A log-normal distribution:

    >>> import numpy as np
    >>> from relvec.likelihoods import GaussianPrediction, LogTransform, TransformedPrediction
    >>> base = GaussianPrediction(mean=np.array([0.0]), variance=np.array([0.25]))
    >>> prediction = TransformedPrediction(base, LogTransform())
    >>> prediction.mean.round(3), prediction.interval(0.95).round(2)
    (array([1.133]), array([[0.38, 2.66]]))
    """

    base: GaussianPrediction | ScaleMixturePrediction
    transform: TargetTransform
    noise: NoiseMixture | None = None
    """Noise of the transformed target over which targets are averaged; None if `base` has it."""

    def find_target(self, z: Matrix) -> Matrix:
        """Return the targets of transformed values, one row of values per prediction."""
        if self.noise is None:
            return self.transform.inverse(z)
        shape = (-1,) + (1,) * (np.ndim(z) - 1)
        return self.transform.moments(z, self.noise.total_variance.reshape(shape))[0]

    def _moments(self) -> tuple[Vector, Vector]:
        """Return mean and variance of the target."""
        if self.noise is not None:
            # The mean given f grows no faster than the inverse of the transform.
            return expect_over_gaussian(
                self.find_target, self.base.mean, self.base.std, self.transform.growth_rate
            )
        return self.transform.moments(self.base.mean, self.base.variance)

    @property
    def mean(self) -> Vector:
        """Expected target."""
        return self._moments()[0]

    @property
    def variance(self) -> Vector:
        """Variance of a new target."""
        return self._moments()[1]

    @property
    def std(self) -> Vector:
        """Standard deviation of a new target."""
        return np.sqrt(self.variance)

    def quantile(self, level: float) -> Vector:
        """Return the quantile of each target at probability `level`."""
        return self.find_target(self.base.quantile(level))

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals of probability `coverage`, shape (n_rows, 2)."""
        return self.find_target(self.base.interval(check_probability("coverage", coverage)))

    def log_density(self, target: ArrayLike) -> Vector:
        """Return the log density of observed targets; minus infinity outside the support."""
        if self.noise is not None:
            raise NotImplementedError(
                "The density of the mean of the target is not available. Include the noise."
            )
        targets: Vector = check_targets(target, np.shape(self.base.mean)).astype(np.float64)
        is_possible = self.transform.supports(targets)
        # Any target of the support in place of the others, whose density is zero.
        inside = np.where(is_possible, targets, self.quantile(0.5))
        density = self.base.log_density(self.transform.forward(inside))
        return np.where(is_possible, density + self.transform.log_slope(inside), -np.inf)

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw targets, shape (n_rows, n_samples)."""
        return self.find_target(self.base.sample(n_samples, random_state))
