"""Predictions of fitted regressors of counts, and attributes computed on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from relvec._checks import check_bool, check_counts, check_exposure, check_integer
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.estimators._count_model import FittedCountModel, compute_expected_rate
from relvec.estimators._inputs import validate_inputs
from relvec.likelihoods import Prediction
from relvec.solvers import Certificate

if TYPE_CHECKING:
    from relvec.bases.base import Atoms

__all__ = ["CountPredictionMixin", "compute_poisson_deviance"]


def compute_poisson_deviance(counts: Vector, mean: Vector, weight: Vector) -> float:
    """Return the mean unit deviance ``2 (y log(y / mu) - y + mu)`` of Poisson counts.

    Examples
    --------
    >>> compute_poisson_deviance(np.array([0.0, 2.0]), np.array([1.0, 2.0]), np.ones(2))
    1.0
    """
    each = 2.0 * (xlogy(counts, counts / mean) - counts + mean)
    return float(np.average(each, weights=weight))


class CountPredictionMixin:
    """Methods of fitted regressors of counts."""

    count_model_: FittedCountModel
    atoms_: Atoms

    def _validate(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_inputs(self, X, reset=False)

    def _validate_counts(self, X: Any, y: Any) -> tuple[Any, Vector]:
        check_is_fitted(self)
        X, y = validate_inputs(self, X, y, y_numeric=True, reset=False)
        return X, check_counts("y", y)

    def _predict_counts(self, X: Any, exposure: Any) -> Prediction:
        """Return the predictive distribution of counts at validated inputs."""
        mean, variance = self.count_model_.latent(X)
        offset = np.log(check_exposure(exposure, len(mean)))
        return self.count_model_.likelihood.predict(mean + offset, variance)

    def predict(
        self, X: Any, exposure: ArrayLike | None = None, *, return_std: bool = False
    ) -> Vector | tuple[Vector, Vector]:
        """Predict the expected count, with its standard deviation if requested.

        The log rate has a Gaussian posterior with mean ``m`` and variance ``v``, so the expected
        count is ``exposure * exp(m + v / 2)``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        exposure : float or array-like of shape (n_samples,), optional
            Exposure of each row, in the units of the fit. Default, one unit: the prediction is a
            rate.
        return_std : bool, default=False
            Whether to return the standard deviation of a new count.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Expected count.
        std : ndarray of shape (n_samples,)
            Standard deviation of a new count. Only if `return_std` is True.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> hours = rng.uniform(1.0, 5.0, size=200)
        >>> y = rng.poisson(hours * np.exp(np.sin(6.0 * X[:, 0])))
        >>> model = SparseBayesCountRegressor().fit(X, y, exposure=hours)
        >>> model.predict([[0.25]]).round(1), model.predict([[0.25]], exposure=10.0).round(0)
        (array([2.7]), array([27.]))
        """
        check_bool("return_std", return_std)
        X = self._validate(X)
        latent, variance = self.count_model_.latent(X)
        # Mean of a log-normal rate; the mean of a count given its rate is the rate.
        mean = check_exposure(exposure, len(latent)) * compute_expected_rate(latent, variance)
        if not return_std:
            return mean
        return mean, np.sqrt(self._predict_counts(X, exposure).variance)

    def predict_log_rate(self, X: Any, return_std: bool = False) -> Vector | tuple[Vector, Vector]:
        """Predict the logarithm of the rate, the expected count per unit of exposure.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the posterior standard deviation.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Posterior mean of the log rate; also its median, so ``exp(mean)`` is the median rate.
        std : ndarray of shape (n_samples,)
            Posterior standard deviation. Only if `return_std` is True.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(np.sin(6.0 * X[:, 0])))
        >>> model = SparseBayesCountRegressor().fit(X, y)
        >>> mean, std = model.predict_log_rate([[0.25], [9.0]], return_std=True)
        >>> bool(std[1] > 3.0 * std[0])  # little is known away from the data
        True
        """
        check_bool("return_std", return_std)
        mean, variance = self.count_model_.latent(self._validate(X))
        return (mean, np.sqrt(variance)) if return_std else mean

    def predict_interval(
        self, X: Any, coverage: float = 0.95, exposure: ArrayLike | None = None
    ) -> Matrix:
        """Predict intervals that contain a new count with probability of at least `coverage`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.95
            Probability, strictly between 0 and 1.
        exposure : float or array-like of shape (n_samples,), optional
            Exposure of each row; default, one unit.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Smallest and largest count of each interval, both included: quantiles of the predictive
            distribution. Counts are integers, so the probability is mostly larger than `coverage`.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(np.sin(6.0 * X[:, 0])))
        >>> SparseBayesCountRegressor().fit(X, y).predict_interval([[0.25]], coverage=0.9)
        array([[0., 6.]])
        """
        return self._predict_counts(self._validate(X), exposure).interval(coverage)

    def predict_pmf(self, X: Any, counts: ArrayLike, exposure: ArrayLike | None = None) -> Matrix:
        """Predict the probability of each of some counts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        counts : int or array-like of shape (n_counts,)
            Counts whose probabilities are wanted, the same for all rows.
        exposure : float or array-like of shape (n_samples,), optional
            Exposure of each row; default, one unit.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_counts)
            Predictive probability mass function, marginalised over the log rate.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(np.sin(6.0 * X[:, 0])))
        >>> model = SparseBayesCountRegressor().fit(X, y)
        >>> probability = model.predict_pmf([[0.25]], np.arange(50))
        >>> round(float(probability.sum()), 6)
        1.0
        """
        X = self._validate(X)
        wanted = np.atleast_1d(check_counts("counts", counts))
        if wanted.ndim != 1:
            raise ValueError(f"counts must have one dimension; got shape {wanted.shape}.")
        mean, variance = self.count_model_.latent(X)
        offset = np.log(check_exposure(exposure, len(mean)))
        shape = len(mean), len(wanted)
        repeated = self.count_model_.likelihood.predict(
            np.repeat(mean + offset, len(wanted)), np.repeat(variance, len(wanted))
        )
        return np.exp(repeated.log_density(np.tile(wanted, len(mean)))).reshape(shape)

    def sample_y(
        self,
        X: Any,
        n_samples: int = 1,
        random_state: Any = 0,
        exposure: ArrayLike | None = None,
    ) -> Matrix:
        """Draw counts from the predictive distribution.

        One function, the log rate of all rows, is drawn from the posterior for each sample, so
        that rows of one sample vary together as the uncertainty of the function demands.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Inputs.
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState instance or None, default=0
            Seed of the draws.
        exposure : float or array-like of shape (n_rows,), optional
            Exposure of each row; default, one unit.

        Returns
        -------
        draws : ndarray of shape (n_rows, n_samples)
            Counts.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(np.sin(6.0 * X[:, 0])))
        >>> model = SparseBayesCountRegressor().fit(X, y)
        >>> model.sample_y([[0.25], [0.75]], n_samples=1000).mean(axis=1).round(0)
        array([3., 0.])
        """
        X = self._validate(X)
        n_samples = check_integer("n_samples", n_samples, minimum=1)
        offset = np.log(check_exposure(exposure, X.shape[0]))
        legacy = check_random_state(random_state)
        rng = np.random.default_rng(legacy.randint(np.iinfo(np.int32).max))
        latent = self.count_model_.sample_functions(X, n_samples, rng) + offset[:, None]
        draws = self.count_model_.likelihood.distribution(latent)
        return np.asarray(draws.rvs(size=latent.shape, random_state=legacy), dtype=np.float64)

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
            Exposure of each row; default, one unit.

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
            Exposure of each row; default, one unit.

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
            Exposure of each row; default, one unit.

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
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        units = check_exposure(exposure, len(counts))
        deviance = compute_poisson_deviance(counts, np.asarray(self.predict(X, units)), weight)
        # Where there are no events, y log(y / mu) - y + mu is mu, here zero.
        rate = max(float(weight @ counts) / float(weight @ units), np.finfo(np.float64).tiny)
        null = compute_poisson_deviance(counts, rate * units, weight)
        if null <= 1e-12:
            return float(deviance <= 1e-12)
        return 1.0 - deviance / null

    def extrapolating(self, X: Any) -> Vector:
        """Measure how far inputs are beyond the training inputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        share : ndarray of shape (n_samples,)
            Between zero at the training inputs and one far from them. Zero everywhere for a model
            without basis functions, whose prediction is constant.

        Raises
        ------
        ValueError
            If `error_bars` is not "novelty", or no kernel of the basis decays.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(np.sin(6.0 * X[:, 0])))
        >>> SparseBayesCountRegressor().fit(X, y).extrapolating([[0.25], [9.0]]).round(1)
        array([0., 1.])
        """
        X = self._validate(X)
        novelty = self.count_model_.novelty
        if novelty is None and len(self.count_model_.active):
            raise ValueError(
                f"{type(self).__name__} cannot measure extrapolation. This needs "
                'error_bars="novelty" and a kernel that decays.'
            )
        return np.zeros(X.shape[0]) if novelty is None else novelty.extrapolation(X)

    @property
    def weight_covariance_(self) -> Matrix:
        """Posterior covariance of the weights, by the Laplace approximation.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(np.sin(6.0 * X[:, 0])))
        >>> model = SparseBayesCountRegressor().fit(X, y)
        >>> model.weight_covariance_.shape == (len(model.coef_), len(model.coef_))
        True
        """
        check_is_fitted(self)
        return self.count_model_.gaussian_posterior.covariance

    @property
    def certificate_(self) -> Certificate:
        """How nearly the solution satisfies the optimality conditions of a local maximum.

        `gradient` is the largest absolute derivative of the objective with respect to a log
        precision, `best_gain` the largest gain of a basis function that is not in the model, both
        in nats.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(np.sin(6.0 * X[:, 0])))
        >>> SparseBayesCountRegressor().fit(X, y).certificate_.best_gain < 0.01
        True
        """
        check_is_fitted(self)
        return Certificate(*self.count_model_.certificate)
