"""Scores of fitted regressors of counts: predictive probability, deviance and D^2."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn.utils.validation import _check_sample_weight

from relvec._checks import check_exposure
from relvec._typing import ArrayLike, Vector
from relvec.estimators._count_predict import CountPredictionMixin

__all__ = ["CountScoreMixin", "compute_poisson_deviance"]


def compute_poisson_deviance(counts: Vector, mean: Vector, weight: Vector) -> float:
    """Return the mean unit deviance ``2 (y log(y / mu) - y + mu)`` of Poisson counts.

    Examples
    --------
    >>> compute_poisson_deviance(np.array([0.0, 2.0]), np.array([1.0, 2.0]), np.ones(2))
    1.0
    """
    each = 2.0 * (xlogy(counts, counts / mean) - counts + mean)
    return float(np.average(each, weights=weight))


class CountScoreMixin(CountPredictionMixin):
    """Adds scores of observed counts to the predictions."""

    def _warn_without_exposure(self, exposure: Any) -> None:
        """Warn that counts are compared with rates, if the model was fitted with exposures."""
        if exposure is None and getattr(self, "has_exposure_", False):
            warnings.warn(
                f"{type(self).__name__} was fitted with exposure, and none is given here: counts "
                "are compared with predictions for one unit of exposure. Give the exposure of "
                "these rows, or exposure=1.0 if that is meant.",
                UserWarning,
                stacklevel=3,
            )

    def log_predictive_density(
        self, X: Any, y: ArrayLike, exposure: ArrayLike | None = None
    ) -> Vector:
        """Compute the log predictive probability of observed counts, in nats.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Counts.
        exposure : float or array-like of shape (n_samples,), optional
            Exposure of each row. Default, one unit, with a warning if the model was fitted with
            exposures.

        Returns
        -------
        log_probability : ndarray of shape (n_samples,)
            Log probability of each count; its mean is the MLPD.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(np.sin(6.0 * X[:, 0])))
        >>> model = SparseBayesCountRegressor().fit(X, y)
        >>> likely, unlikely = model.log_predictive_density([[0.25], [0.25]], [3, 30])
        >>> bool(likely > -2.0), bool(unlikely < -20.0)
        (True, True)
        """
        X, counts = self._validate_counts(X, y)
        self._warn_without_exposure(exposure)
        return self._predict_counts(X, exposure).log_density(counts)

    def deviance(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Compute the mean Poisson deviance of predictions, ``2 mean(y log(y / mu) - y + mu)``.

        It is the same formula for both likelihoods, so that models can be compared, and that of
        `sklearn.metrics.mean_poisson_deviance`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Counts.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights; default, 1 for each row.
        exposure : float or array-like of shape (n_samples,), optional
            Exposure of each row. Default, one unit, with a warning if the model was fitted with
            exposures.

        Returns
        -------
        deviance : float
            Zero for perfect predictions; about one for the true rates if counts are Poisson and
            not too small.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(2.0 + np.sin(6.0 * X[:, 0])))
        >>> model = SparseBayesCountRegressor().fit(X, y)
        >>> round(model.deviance(X, y), 1)
        1.0
        """
        X, counts = self._validate_counts(X, y)
        self._warn_without_exposure(exposure)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        mean = np.asarray(self.predict(X, exposure))
        return compute_poisson_deviance(counts, mean, weight)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Compute D^2, the fraction of the Poisson deviance that the model explains.

        ``1 - deviance / null_deviance``, where the null model has one rate for all rows, as in
        `sklearn.linear_model.PoissonRegressor`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Counts.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights; default, 1 for each row.
        exposure : float or array-like of shape (n_samples,), optional
            Exposure of each row. Default, one unit, with a warning if the model was fitted with
            exposures.

        Returns
        -------
        score : float
            At most one; zero for the null model. Where the null model is perfect, one if the model
            is so too, else zero.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(2.0 + np.sin(6.0 * X[:, 0])))
        >>> SparseBayesCountRegressor().fit(X, y).score(X, y) > 0.7
        True
        """
        X, counts = self._validate_counts(X, y)
        self._warn_without_exposure(exposure)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        units = check_exposure(exposure, len(counts))
        deviance = compute_poisson_deviance(counts, np.asarray(self.predict(X, units)), weight)
        # Where there are no events, y log(y / mu) - y + mu is mu, here zero.
        rate = max(float(weight @ counts) / float(weight @ units), np.finfo(np.float64).tiny)
        null = compute_poisson_deviance(counts, rate * units, weight)
        if null <= 1e-12:
            return float(deviance <= 1e-12)
        return 1.0 - deviance / null
