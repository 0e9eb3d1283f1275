"""One sampled output: functions and noise variances drawn from the posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.error_bars import Novelty
from relvec.estimators._drawn_functions import BLOCK_ENTRIES, DrawnFunctions
from relvec.estimators._novelty_draws import add_novelty_draws
from relvec.likelihoods import DrawMixturePrediction, NoiseMixture, TargetTransform

__all__ = ["SampledOutput"]


@dataclass(frozen=True, eq=False)
class BlockedPrediction:
    """Predictive distributions of many rows, of which only a block is in memory at a time."""

    predict: Callable[[slice], DrawMixturePrediction]
    blocks: list[slice]

    def _join(self, ask: Callable[[DrawMixturePrediction], np.ndarray]) -> np.ndarray:
        return np.concatenate([ask(self.predict(rows)) for rows in self.blocks])

    @property
    def mean(self) -> Vector:
        """Mean of a new target."""
        return self._join(lambda prediction: prediction.mean)

    @property
    def std(self) -> Vector:
        """Standard deviation of a new target."""
        return self._join(lambda prediction: prediction.std)

    @property
    def variance(self) -> Vector:
        """Variance of a new target."""
        return self._join(lambda prediction: prediction.variance)

    def cdf(self, target: ArrayLike) -> Vector:
        """Return the probability of at most the observed targets."""
        targets = np.asarray(target)
        each = [self.predict(rows).cdf(targets[rows]) for rows in self.blocks]
        return np.concatenate(each)

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals of probability `coverage`, shape (n_rows, 2)."""
        return self._join(lambda prediction: prediction.interval(coverage))

    def quantile(self, level: float) -> Vector:
        """Return the quantile of each target at probability `level`."""
        return self._join(lambda prediction: prediction.quantile(level))

    def log_density(self, target: ArrayLike) -> Vector:
        """Return the log density of observed targets."""
        targets = np.asarray(target)
        each = [self.predict(rows).log_density(targets[rows]) for rows in self.blocks]
        return np.concatenate(each)


@dataclass(frozen=True, eq=False)
class SampledOutput:
    """Posterior of one output as draws; it answers what `FittedOutput` is asked for predictions."""

    functions: DrawnFunctions
    noise_variance: Vector
    """Noise variance of each draw."""
    active: IndexArray
    """Atoms that are in the model of at least one draw, as columns of the dictionary."""
    novelty: Novelty | None = None
    df: Vector | None = None
    """Degrees of freedom of Student-t noise of each draw; None for Gaussian noise. The noise
    variance is then the squared scale."""
    transform: TargetTransform | None = None
    """None: targets are not transformed."""

    @property
    def variance_factor(self) -> Vector | float:
        """Variance of the noise of each draw, divided by `noise_variance`."""
        return 1.0 if self.df is None else self.df / (self.df - 2.0)

    @property
    def needs_row_variance(self) -> bool:
        """False: noise variances of rows are not given."""
        return False

    def predict_mean(self, X: Any) -> Vector:
        """Predictive mean of the target."""
        mean = self.functions.mean(X)
        if self.novelty is not None and self.novelty.centre is not None:
            mean = mean + self.novelty.fallback(X, mean).shift
        return mean

    def predict_target(
        self, X: Any, include_noise: bool = True, row_variance: Vector | None = None
    ) -> DrawMixturePrediction | BlockedPrediction:
        """Predictive distribution of new targets or, without noise, of the function."""

        def predict(rows: slice) -> DrawMixturePrediction:
            variance = None if row_variance is None else row_variance[rows]
            return self._predict_rows(X[rows], include_noise, variance)

        n_rows, step = X.shape[0], max(1, BLOCK_ENTRIES // max(len(self.functions), 1))
        if n_rows <= step:
            return predict(slice(None))
        blocks = [slice(start, start + step) for start in range(0, n_rows, step)]
        return BlockedPrediction(predict, blocks)

    def _predict_rows(
        self, X: Any, include_noise: bool, row_variance: Vector | None
    ) -> DrawMixturePrediction:
        values = self.functions.evaluate(X)
        variances = np.zeros((1, values.shape[1]))
        if include_noise:
            given = self.noise_variance[None, :]
            variances = given if row_variance is None else row_variance[:, None] + variances
        if self.novelty is not None:
            mean = values.mean(axis=1)
            fallback = self.novelty.fallback(X, mean)
            away = np.sqrt(fallback.kept)[:, None] * (values - mean[:, None])
            values = (mean + fallback.shift)[:, None] + away
            extra = (fallback.spread**2 + fallback.process)[:, None]
            # of Student-t components the squared scale, such that their variance grows by `extra`
            is_scaled = include_noise and row_variance is None
            variances = variances + (extra / self.variance_factor if is_scaled else extra)
        is_student = include_noise and row_variance is None
        return DrawMixturePrediction(values, variances, self.df if is_student else None)

    def covariance(
        self, X: Any, include_noise: bool = True, row_variance: Vector | None = None
    ) -> Matrix:
        """Covariance of new targets or, without noise, of the function, between all rows."""
        values = self.functions.evaluate(X)
        mean = values.mean(axis=1)
        away = (values - mean[:, None]) / np.sqrt(values.shape[1])
        if self.novelty is None:
            covariance = away @ away.T
        else:
            fallback = self.novelty.fallback(X, mean)
            away *= np.sqrt(fallback.kept)[:, None]
            covariance = away @ away.T + np.multiply.outer(fallback.spread, fallback.spread)
            covariance += self.novelty.covariance(X)
        if include_noise:
            noise = self.noise_variance * self.variance_factor
            noise = noise.mean() if row_variance is None else row_variance
            covariance.flat[:: len(covariance) + 1] += noise
        return np.asarray(covariance)

    def predict_noise(self, X: Any, row_variance: Vector | None = None) -> NoiseMixture:
        """Distribution of the noise of new targets; Gaussian of the same variance if Student-t."""
        if row_variance is not None:
            return NoiseMixture(row_variance[:, None], np.ones(1))
        shape = (X.shape[0], len(self.noise_variance))
        weight = np.full(shape[1], 1.0 / shape[1])
        variance = self.noise_variance * self.variance_factor
        return NoiseMixture(np.broadcast_to(variance, shape), weight)

    def sample_targets(
        self,
        X: Any,
        n_draws: int,
        rng: np.random.Generator,
        include_noise: bool = True,
        row_variance: Vector | None = None,
    ) -> Matrix:
        """Draw new targets or, without noise, functions, shape (n_samples, n_draws)."""
        n_known = len(self.functions)
        # without repetition as long as there are enough
        chosen = rng.permuted(np.resize(rng.permutation(n_known), n_draws))
        draws = self.functions.thinned(chosen).evaluate(X)
        if self.novelty is not None:
            draws = add_novelty_draws(self.novelty, X, self.functions.mean(X), draws, rng)
        if include_noise:
            variance = (
                self.noise_variance[chosen] if row_variance is None else row_variance[:, None]
            )
            noise = rng.standard_normal(draws.shape)
            if self.df is not None and row_variance is None:
                noise *= np.sqrt(self.df[chosen] / rng.chisquare(self.df[chosen], draws.shape))
            draws = draws + np.sqrt(variance) * noise
        return np.asarray(draws)
