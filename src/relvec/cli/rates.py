"""Baselines for counts: scikit-learn regressors of the rate, the count per unit of exposure."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import StandardScaler

from relvec.cli.limits import LIMITS

__all__ = ["RateRegressor", "mean_rate", "poisson_steps"]

POISSON_GRID = {"alpha": [0.0, 0.001, 0.01, 0.1, 1.0, 10.0]}


class RateRegressor(RegressorMixin, BaseEstimator):
    """Counts as exposure times a rate that another regressor predicts.

    A Poisson regression of counts with the logarithm of the exposure as offset is the regression
    of the rates with the exposures as weights.

    Parameters
    ----------
    regressor : estimator
        Regressor of the rate, with `sample_weight`.
    """

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: Any, y: np.ndarray, exposure: np.ndarray | None = None) -> Self:
        """Fit the regressor to rates."""
        units = np.ones(len(y)) if exposure is None else exposure
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.regressor_ = clone(self.regressor).fit(X, y / units, sample_weight=units)
        return self

    def predict(self, X: Any, exposure: np.ndarray | None = None) -> np.ndarray:
        """Predict expected counts."""
        rate = np.asarray(self.regressor_.predict(X))
        return rate if exposure is None else exposure * rate


def mean_rate() -> RateRegressor:
    """Return the baseline without features: one rate for all rows."""
    return RateRegressor(DummyRegressor())


def poisson_steps(seed: int) -> list[Any]:
    """Steps of a Poisson regression on standardised features, with tuned penalty."""
    folds = KFold(LIMITS.search_folds, shuffle=True, random_state=seed)
    search = GridSearchCV(
        PoissonRegressor(max_iter=1000),
        POISSON_GRID,
        scoring="neg_mean_poisson_deviance",
        cv=folds,
        error_score=-np.inf,
    )
    return [StandardScaler(), RateRegressor(search)]
