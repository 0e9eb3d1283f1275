"""Observed and expected frequencies of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_counts, check_exposure, check_integer
from relvec._typing import ArrayLike, Vector
from relvec.describing.models import get_final_estimator, transform_inputs

__all__ = ["Rootogram", "compute_rootogram"]

LARGEST_COUNT = 2000
"""Counts whose probabilities are computed one by one."""


@dataclass(frozen=True, eq=False)
class Rootogram:
    """Observed and expected frequencies of counts, or of intervals of counts."""

    edges: Vector
    """Smallest count of each interval, and one more than the largest of the last."""
    observed: Vector
    """Number of rows whose count is in the interval."""
    expected: Vector
    """Sum over rows of the predictive probability of the interval."""

    @property
    def centres(self) -> Vector:
        """Mean count of each interval."""
        return 0.5 * (self.edges[:-1] + self.edges[1:] - 1.0)

    @property
    def deviation(self) -> Vector:
        """Difference of the roots, ``observed^(1/2) - expected^(1/2)``."""
        return np.sqrt(self.observed) - np.sqrt(self.expected)


def compute_rootogram(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    exposure: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    max_bins: int = 30,
) -> Rootogram:
    """Compute observed and expected frequencies of counts.

    Parameters
    ----------
    estimator : SparseBayesCountRegressor, or a pipeline that ends in one
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,)
        Observed counts.
    exposure : float or array-like of shape (n_samples,), optional
        Exposure of each row; default, one unit.
    sample_weight : array-like of shape (n_samples,), optional
        Frequency weights; default, 1 for each row.
    max_bins : int, default=30
        Largest number of intervals. With more different counts, neighbours are put together.

    Examples
    --------
    >>> from relvec import SparseBayesCountRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = rng.poisson(np.exp(X[:, 0]))
    >>> found = compute_rootogram(SparseBayesCountRegressor().fit(X, y), X, y)
    >>> bool(found.observed.sum() == 200), bool(found.expected.sum() > 199)
    (True, True)
    """
    check_is_fitted(estimator)
    model, n_bins = get_final_estimator(estimator), check_integer("max_bins", max_bins, minimum=2)
    if not hasattr(model, "predict_pmf"):
        raise TypeError(
            "A rootogram needs a model of counts, such as SparseBayesCountRegressor; "
            f"{type(model).__name__} does not predict their probabilities."
        )
    counts = check_counts("y", y)
    if counts.ndim != 1 or not len(counts):
        raise ValueError(f"y must hold one count for each row; got shape {counts.shape}.")
    units = check_exposure(exposure, len(counts))
    weight = np.ones(len(counts)) if sample_weight is None else np.asarray(sample_weight, float)
    most = int(counts.max())
    if most > LARGEST_COUNT:
        raise ValueError(
            f"a rootogram is for counts up to {LARGEST_COUNT}; got {most}. Compare larger counts "
            "with their intervals (predict_interval), or plot ResidualDisplay."
        )
    # One interval beyond the largest count, where the model may expect some too.
    size = -(-(most + 2) // n_bins)
    edges = np.arange(0, most + 2 + size, size)
    inputs = transform_inputs(estimator, X)
    probability = np.zeros(len(edges) - 1)
    every = np.arange(edges[-1])
    # Some rows at a time: the quadrature has many nodes for each row and count.
    for rows in np.array_split(np.arange(len(counts)), 1 + len(counts) * len(every) // 20_000):
        pmf = model.predict_pmf(_take_rows(inputs, rows), every, exposure=units[rows])
        probability += (weight[rows] @ pmf).reshape(-1, size).sum(axis=1)
    observed = np.histogram(counts, edges, weights=weight)[0]
    return Rootogram(edges.astype(np.float64), observed, probability)


def _take_rows(X: Any, rows: Any) -> Any:
    """Return some rows of an array, or of a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
