"""Test whether the noise of a fitted regressor is constant."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.stats import f as f_distribution
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from relvec._checks import check_integer
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.describing.models import get_final_estimator, transform_inputs

__all__ = ["NoiseConstancy", "assess_noise_constancy", "assess_residual_constancy"]


class NoiseConstancy(NamedTuple):
    """Result of a test of constant noise variance."""

    statistic: float
    """F statistic of the regression of squared standardised residuals."""
    p_value: float
    """Probability of a larger statistic if the noise variance is constant, or as modelled."""
    n_terms: int
    """Number of terms that the noise variance was allowed to depend on."""
    ratio: float
    """Root mean square of the standardised residuals of the quarter of rows with the highest fitted
    variance, over that of the quarter with the lowest."""

    @property
    def recommends_heteroscedastic(self) -> bool:
        """Whether the test rejects constant noise at the level 0.01."""
        return self.p_value < 0.01


def assess_noise_constancy(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    max_features: int = 10,
) -> NoiseConstancy:
    """Test whether the noise variance depends on the prediction or on the features.

    Squared standardised leave-one-out residuals are regressed on prediction and features, linear
    and squared. Under the model their expectation is one everywhere. This is the studentised score
    test of Breusch and Pagan (1979), Econometrica 47, in the form of Koenker (1981), Journal of
    Econometrics 17, which does not need normal noise; here with an F distribution.

    Parameters
    ----------
    estimator : regressor of relvec
        Fitted, or a pipeline that ends in one. With ``noise="heteroscedastic"`` the test is
        whether the modelled noise explains the residuals.
    X : array-like of shape (n_samples, n_features)
        Training inputs.
    y : array-like of shape (n_samples,)
        Training targets.
    sample_weight : array-like of shape (n_samples,), optional
        Frequency weights of the fit.
    max_features : int, default=10
        Largest number of features in the regression; those of highest `feature_relevance_` first.
        Inputs that are not numbers are left out.

    Returns
    -------
    result : NoiseConstancy
        Statistic, p-value and the size of the effect.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.describing import assess_noise_constancy
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, size=(300, 1))
    >>> y = np.sin(6 * X[:, 0]) + (0.1 + 0.4 * X[:, 0]) * rng.normal(size=300)
    >>> result = assess_noise_constancy(RVMRegressor().fit(X, y), X, y)
    >>> result.recommends_heteroscedastic, bool(result.ratio > 2.0)
    (True, True)
    >>> better = RVMRegressor(noise="heteroscedastic").fit(X, y)
    >>> bool(assess_noise_constancy(better, X, y).p_value > 0.05)
    True
    """
    check_is_fitted(estimator)
    max_features = check_integer("max_features", max_features, minimum=0)
    model = get_final_estimator(estimator)
    inputs = transform_inputs(estimator, X)
    target = np.asarray(y, dtype=np.float64)
    if target.ndim != 1:
        raise ValueError(
            f"y must have one output; got shape {target.shape}. Fit and test outputs one by one."
        )
    mean, std = model.leave_one_out(inputs, target, sample_weight)
    weight = _check_sample_weight(sample_weight, target, dtype=np.float64)
    return assess_residual_constancy(
        estimator, X, (target - mean) / std, weight, max_features=max_features
    )


def assess_residual_constancy(
    estimator: Any, X: Any, score: Vector, weight: Vector | None = None, *, max_features: int = 10
) -> NoiseConstancy:
    """Test whether squared standardised residuals depend on the prediction or on the features.

    Parameters
    ----------
    estimator : regressor of relvec
        Fitted, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Inputs of the rows.
    score : ndarray of shape (n_samples,)
        Standardised residuals, preferably of held-out or left-out rows.
    weight : ndarray of shape (n_samples,), optional
        Frequency weights.
    max_features : int, default=10
        Largest number of features in the regression.
    """
    model, inputs = get_final_estimator(estimator), transform_inputs(estimator, X)
    weight = np.ones(len(score)) if weight is None else weight
    rows = weight > 0.0
    columns = [
        np.asarray(model.predict(inputs))[:, None],
        _select_features(model, inputs, max_features),
    ]
    terms = _make_terms(np.hstack(columns)[rows], weight[rows])
    return _test(score[rows] ** 2, terms, weight[rows])


def _select_features(model: Any, X: Any, most: int) -> Matrix:
    """Return the most relevant numeric features."""
    none = np.empty((X.shape[0] if hasattr(X, "shape") else len(X), 0))
    if issparse(X):
        return none
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):  # texts and other objects
        return none
    if values.ndim != 2:  # texts
        return none
    relevance = getattr(model, "feature_relevance_", None)
    if relevance is None:
        return values[:, :most]
    order = np.argsort(-relevance, kind="stable")[:most]
    return values[:, np.sort(order)]


def _make_terms(values: Matrix, weight: Vector) -> Matrix:
    """Return standardised columns and their squares, without collinear ones."""
    centred = values - np.average(values, axis=0, weights=weight)
    scale = np.sqrt(np.average(centred**2, axis=0, weights=weight))
    # Columns that vary by rounding errors only are constant.
    varies = scale > 1e-9 * np.abs(values).max(axis=0, initial=0.0)
    standardised = centred[:, varies] / scale[varies]
    terms = np.hstack([standardised, standardised**2])
    terms = (terms - np.average(terms, axis=0, weights=weight)) * np.sqrt(weight)[:, None]
    # A prediction that is linear in one feature adds nothing: keep an orthonormal basis.
    left, values_, _ = np.linalg.svd(terms, full_matrices=False)
    return left[:, values_ > 1e-6 * values_.max(initial=0.0)]


def _test(square: Vector, terms: Matrix, weight: Vector) -> NoiseConstancy:
    """Return the F test of a regression of squares on orthonormal terms."""
    n_rows, n_terms = float(weight.sum()), terms.shape[1]
    n_free = n_rows - n_terms - 1.0
    mean = float(np.average(square, weights=weight))
    centred = (square - mean) * np.sqrt(weight)
    total, effect = float(centred @ centred), terms.T @ centred
    explained = float(effect @ effect)
    if not n_terms or n_free < 1.0 or not total > 0.0:
        return NoiseConstancy(0.0, 1.0, n_terms, 1.0)
    statistic = (explained / n_terms) / max((total - explained) / n_free, 1e-300)
    # Mean squares in the quarters of rows of lowest and highest fitted variance. Fitted variances
    # themselves may be negative.
    order = np.argsort((terms @ effect) / np.sqrt(weight), kind="stable")
    quarters = np.array_split(order, 4)
    low, high = (
        float(np.average(square[rows], weights=weight[rows])) if len(rows) else mean
        for rows in (quarters[0], quarters[-1])
    )
    p_value = float(f_distribution.sf(statistic, n_terms, n_free))
    return NoiseConstancy(statistic, p_value, n_terms, float(np.sqrt(high / max(low, 1e-300))))
