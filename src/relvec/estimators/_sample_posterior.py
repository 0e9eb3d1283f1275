"""Sampling that starts from a fitted model of highest evidence."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sklearn.utils.validation import check_is_fitted

from relvec._typing import ArrayLike

__all__ = ["SamplePosteriorMixin"]


class SamplePosteriorMixin:
    """Adds the method `sample_posterior` to fitted models."""

    def sample_posterior(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **options: Any
    ) -> Any:
        """Sample the posterior over models, starting from this fitted one.

        Basis functions, kernel and length-scales are those of this model. The sampler changes which
        basis functions are in it, their weights, the noise and, if length-scales were learnt, a
        factor of these.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs; a fitted model does not store them.
        y : array-like of shape (n_samples,)
            Training targets.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights of the fit.
        **options
            Options of `SampledSparseBayesRegressor` or `SampledSparseBayesClassifier`, such as
            ``n_draws``, ``random_state`` or ``n_jobs``.

        Returns
        -------
        model : SampledSparseBayesRegressor or SampledSparseBayesClassifier
            Fitted model, whose predictions are averages over models.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesRegressor
        >>> from relvec.bases import LinearBasis
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(60, 5))
        >>> y = X[:, 0] - X[:, 3] + 0.3 * rng.normal(size=60)
        >>> model = SparseBayesRegressor(LinearBasis()).fit(X, y)
        >>> sampled = model.sample_posterior(X, y, random_state=0)
        >>> sampled.inclusion_probability_.round(0)
        array([1., 0., 0., 1., 0.])
        """
        check_is_fitted(self)
        # imported on demand: sampled estimators use the models of highest evidence
        module = import_module("relvec.estimators.sampled")
        return module.sample_from(self, X, y, sample_weight, options)
