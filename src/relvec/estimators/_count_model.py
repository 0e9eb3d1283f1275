"""Fitted model of the log rate of counts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.estimators._latent_model import FittedLatentModel
from relvec.estimators._novelty_draws import add_novelty_draws
from relvec.posterior import Posterior

__all__ = ["FittedCountModel", "compute_expected_rate"]


def compute_expected_rate(mean: Vector, variance: Vector) -> Vector:
    """Return the mean of a log-normal rate, ``exp(mean + variance / 2)``."""
    # A linear log rate far from the data may leave the range of numbers.
    rate: Vector = np.exp(np.clip(mean + 0.5 * variance, -700.0, 700.0))
    return rate


@dataclass(frozen=True, eq=False)
class FittedCountModel(FittedLatentModel):
    """Fitted model of a log rate.

    If all basis functions decay, the log rate returns to its mean over the training rows away from
    the data, with its variance there (see `relvec.error_bars.Novelty`). The rate is the exponential
    of it, so a large variance means a huge expected rate. The variance ``v`` at mean ``m`` is
    therefore bounded, with ``M`` the largest of ``m + min(v, 1) / 2`` of the training rows::

        v <= max(2(M - m), 1)

    The expected rate ``exp(m + v / 2)`` is then at most ``exp(M)`` or, where the mean is larger,
    ``exp(1/2)`` times the median rate.
    """

    largest_log_rate: float | None = None
    """``M``; None if there is no bound."""

    @classmethod
    def from_latent(
        cls, model: FittedLatentModel, X: Any, weight: Vector | None
    ) -> FittedCountModel:
        """Return the count model of a fitted latent function.

        Parameters
        ----------
        model : FittedLatentModel
            Model of one latent function, with a novelty process if it is to have one.
        X : ndarray of shape (n_samples, n_features)
            Training inputs.
        weight : ndarray of shape (n_samples,) or None
            Their frequency weights.
        """
        values = {each.name: getattr(model, each.name) for each in fields(model)}
        if model.novelty is None or not model.atoms.is_known_to_decay():
            return cls(**values)
        plain = cls(**values | {"novelty": None})
        mean, variance = plain.latent(X)
        is_used = slice(None) if weight is None else weight > 0.0
        largest = float((mean + 0.5 * np.minimum(variance, 1.0))[is_used].max())
        centre = float(np.average(mean, weights=weight))
        values["novelty"] = model.novelty.changed(centre=centre)
        return cls(**values, largest_log_rate=largest)

    @property
    def gaussian_posterior(self) -> Posterior:
        """Posterior of the weights."""
        assert isinstance(self.posterior, Posterior)
        return self.posterior

    def latent(self, X: Any) -> tuple[Vector, Vector]:
        """Posterior mean and variance of the log rate."""
        mean, _, bounded = self._moments(X)
        return mean, bounded

    def _moments(self, X: Any) -> tuple[Vector, Vector, Vector]:
        """Return mean and variance of the log rate, and the variance within its bound."""
        atoms = self.atoms.evaluate(X)
        posterior = self.gaussian_posterior
        mean, variance = posterior.predict(atoms), posterior.variance(atoms)
        if self.novelty is not None:
            fallback = self.novelty.fallback(X, mean)
            mean, variance = mean + fallback.shift, fallback.variance(variance)
        if self.largest_log_rate is None:
            return mean, variance, variance
        # exp(mean + variance / 2) is the expected rate.
        most = np.maximum(2.0 * (self.largest_log_rate - mean), 1.0)
        return mean, variance, np.minimum(variance, most)

    def sample_functions(self, X: Any, n_draws: int, rng: np.random.Generator) -> Matrix:
        """Draw log rates, shape (n_samples, n_draws)."""
        atoms = self.atoms.evaluate(X)
        posterior = self.gaussian_posterior
        draws = posterior.sample(atoms, n_draws, rng)
        if self.novelty is not None:
            draws = add_novelty_draws(self.novelty, X, posterior.predict(atoms), draws, rng)
        mean, variance, bounded = self._moments(X)
        ratio = np.sqrt(bounded / np.maximum(variance, 1e-300))
        return mean[:, None] + ratio[:, None] * (draws - mean[:, None])
