"""Predictions of fitted regressors of counts, and attributes computed on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_bool, check_counts, check_exposure, check_integer
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.estimators._count_model import FittedCountModel, compute_expected_rate
from relvec.estimators._inputs import validate_inputs
from relvec.likelihoods import Prediction
from relvec.solvers import Certificate

if TYPE_CHECKING:
    from relvec.bases.base import Atoms

__all__ = ["CountPredictionMixin"]


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
    def relevance_vectors_(self) -> Matrix:
        """Centres of the kernels in the model, if its basis is a `KernelBasis`.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesCountRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 1))
        >>> y = rng.poisson(np.exp(np.sin(6.0 * X[:, 0])))
        >>> model = SparseBayesCountRegressor().fit(X, y)
        >>> bool((model.relevance_vectors_ == X[model.relevance_]).all())
        True
        """
        check_is_fitted(self)
        centers = getattr(self.atoms_, "centers", None)
        if centers is None:
            raise AttributeError(
                "this model has no relevance_vectors_: its basis functions are not the kernels of "
                "one KernelBasis, or their centres are not known (precomputed). Use relevance_ and "
                "atoms_."
            )
        return np.asarray(centers)

    @property
    def weight_covariance_(self) -> Matrix:
        """Covariance of the weights by the Laplace approximation, the inverse of the curvature.

        It belongs to the mode, `coef_`; predictions use a Gaussian of their own (see the notes of
        the class).

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
