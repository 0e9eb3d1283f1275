"""The regressors. Those without a predictive distribution are given a Gaussian one.

Libraries are imported inside the functions: a process pays only for the one it measures.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.accuracy.boosting import LEAVES, MOST_TREES, NGBOOST_TREES, fit_ngboost, tuned_boosting
from bench.accuracy.forecasts import Forecast, ModelForecast, NormalForecast
from bench.accuracy.methods import (
    FOLDS,
    GAMMAS,
    MOST_TUNED,
    OURS,
    STRENGTHS,
    Method,
    Regressed,
    few_rows,
    folds_of,
    widths,
)
from bench.classification.fits import cut_short

__all__ = ["REGRESSORS", "with_residuals"]

PART = "regression"
MOST_LEARNT = 500
"""Rows on which a Gaussian process learns its kernel; it then predicts from all."""
RESTARTS = 4
"""Random initialisations of a Gaussian process beside the given one: those of scikit-learn with
`n_restarts_optimizer=4, random_state=0`. The evidence of all training rows decides: that of the few
rows it learns on may prefer no noise, which other rows contradict."""
EPSILONS = (0.01, 0.1)
"""Candidates for the insensitive zone, in standard deviations of the target."""


def with_residuals(estimator: Any, X: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
    """Return the fitted estimator and the function to its forecasts.

    These are Gaussian around its predictions; their standard deviation, the same everywhere, is
    the root mean square of residuals in cross-validation.
    """
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_predict

    model = clone(estimator).fit(X, y)
    held_out = cross_val_predict(estimator, X, y, cv=folds_of(y, PART))
    deviation = float(np.sqrt(np.mean((y - held_out) ** 2)))

    def forecast(X_new: np.ndarray) -> Forecast:
        return NormalForecast(model.predict(X_new), deviation)

    return model, forecast


def _standardised(regressor: Any) -> Any:
    """Return the regressor behind columns and target of mean zero and unit deviation."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    inner = make_pipeline(StandardScaler(), regressor)
    return TransformedTargetRegressor(inner, transformer=StandardScaler())


def fit_relvec(X: np.ndarray, y: np.ndarray) -> Regressed:
    """Fit our regressor as it comes, to columns as they are."""
    from relvec import RVMRegressor

    model = RVMRegressor().fit(X, y)
    return Regressed(
        lambda X_new: ModelForecast(model, X_new), len(model.relevance_), cut_short(model)
    )


def fit_ridge(X: np.ndarray, y: np.ndarray) -> Regressed:
    """Fit ridge regression, its strength by leave-one-out."""
    from sklearn.linear_model import RidgeCV

    _, forecast = with_residuals(_standardised(RidgeCV(np.logspace(-3, 3, 13))), X, y)
    return Regressed(forecast)


def fit_lasso(X: np.ndarray, y: np.ndarray) -> Regressed:
    """Fit the lasso, its strength by cross-validation."""
    from sklearn.linear_model import LassoCV

    _, forecast = with_residuals(_standardised(LassoCV(cv=FOLDS)), X, y)
    return Regressed(forecast)


def fit_svr(X: np.ndarray, y: np.ndarray) -> Regressed:
    """Fit a support vector machine, its options by cross-validation."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVR

    plain = _standardised(SVR())
    grid = {
        "regressor__svr__C": STRENGTHS,
        "regressor__svr__gamma": widths(X.shape[1]),
        "regressor__svr__epsilon": EPSILONS,
    }
    rows = few_rows(y, MOST_TUNED, PART)
    search = GridSearchCV(
        plain, grid, scoring="neg_mean_squared_error", cv=folds_of(y, PART), refit=False
    ).fit(X[rows], y[rows])
    model, forecast = with_residuals(plain.set_params(**search.best_params_), X, y)
    return Regressed(forecast, len(model.regressor_[-1].support_))


def fit_process(X: np.ndarray, y: np.ndarray) -> Regressed:
    """Fit a Gaussian process with a length-scale for each input."""
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X)
    columns, n_features = scaler.transform(X), X.shape[1]
    kernel = kernels.ConstantKernel(1.0, (1e-3, 1e4)) * kernels.RBF(
        np.full(n_features, np.sqrt(n_features)), (1e-2, 1e3)
    ) + kernels.WhiteKernel(0.1, (1e-7, 10.0))
    rows, rng = few_rows(y, MOST_LEARNT, PART), np.random.RandomState(0)
    random = (kernel.clone_with_theta(rng.uniform(*kernel.bounds.T)) for _ in range(RESTARTS))

    def given(kernel: Any, rows: Any = slice(None), optimizer: Any = None) -> Any:
        process = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=optimizer)
        return process.fit(columns[rows], y[rows])

    learnt = [given(one, rows, "fmin_l_bfgs_b").kernel_ for one in (kernel, *random)]
    evidence = given(kernel).log_marginal_likelihood
    model = given(max(learnt, key=lambda one: evidence(one.theta)))

    def forecast(X_new: np.ndarray) -> Forecast:
        return NormalForecast(*model.predict(scaler.transform(X_new), return_std=True))

    return Regressed(forecast, len(y))


def fit_boosting(X: np.ndarray, y: np.ndarray) -> Regressed:
    """Fit boosted trees, their size and number by cross-validation."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    tuned = tuned_boosting(HistGradientBoostingRegressor, X, y, PART)
    return Regressed(with_residuals(tuned, X, y)[1])


def fit_natural(X: np.ndarray, y: np.ndarray) -> Regressed:
    """Fit NGBoost with its Gaussian distribution."""
    from ngboost import NGBRegressor

    def make(n_trees: int) -> Any:
        return NGBRegressor(n_estimators=n_trees, verbose=False, random_state=0)

    model = fit_ngboost(make, X, y, PART)

    def forecast(X_new: np.ndarray) -> Forecast:
        known = model.pred_dist(X_new).params
        return NormalForecast(known["loc"], known["scale"])

    return Regressed(forecast)


def fit_fastrvm(X: np.ndarray, y: np.ndarray) -> Regressed:
    """Fit another relevance vector machine, gamma by cross-validation."""
    from fastrvm import RVR
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X)
    columns, mean, unit = scaler.transform(X), y.mean(), y.std() or 1.0
    target = (y - mean) / unit

    def fitted(gamma: float, rows: np.ndarray) -> Any:
        return RVR(gamma=float(gamma), fit_intercept=True).fit(columns[rows], target[rows])

    def predict(model: Any, X_new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if len(model.relevance_):
            return model.predict(X_new, return_std=True)
        level = float(np.ravel(model.intercept_)[0])  # it cannot predict without a vector
        return np.full(len(X_new), level), np.full(len(X_new), float(model.beta_) ** -0.5)

    few = few_rows(y, MOST_TUNED, PART)

    def loss(gamma: float) -> float:
        errors = []
        for train, test in folds_of(y, PART).split(few):
            means, _ = predict(fitted(gamma, few[train]), columns[few[test]])
            errors.append(float(np.mean((means - target[few[test]]) ** 2)))
        return float(np.mean(errors))

    model = fitted(min(widths(X.shape[1]), key=loss), np.arange(len(y)))

    def forecast(X_new: np.ndarray) -> Forecast:
        means, deviations = predict(model, scaler.transform(X_new))
        return NormalForecast(mean + unit * means, unit * deviations)

    return Regressed(forecast, len(model.relevance_), cut_short(model))


_RESIDUALS = (
    "no predictive distribution of its own: a Gaussian with the root mean square of the residuals "
    f"of {FOLDS}-fold cross-validation on the training rows"
)
_OWN = "its own predictive distribution"
_GAMMAS = ", ".join(f"{factor:g}" for factor in GAMMAS)
_STANDARD = "features and target standardised"

REGRESSORS = {
    method.name: method
    for method in (
        Method(OURS, PART, "relvec", fit_relvec, f"`RVMRegressor()`, features as they are; {_OWN}"),
        Method(
            "RidgeCV",
            PART,
            "sklearn",
            fit_ridge,
            f"{_STANDARD}; 13 penalties from 1e-3 to 1e3 by leave-one-out; {_RESIDUALS}",
        ),
        Method(
            "LassoCV",
            PART,
            "sklearn",
            fit_lasso,
            f"{_STANDARD}; default path, {FOLDS}-fold cross-validation; {_RESIDUALS}",
        ),
        Method(
            "SVR",
            PART,
            "sklearn",
            fit_svr,
            f"{_STANDARD}; Gaussian kernel; C from {STRENGTHS}, epsilon from {EPSILONS} and gamma "
            f"times the number of features from ({_GAMMAS}) by {FOLDS}-fold cross-validation of "
            f"the squared error on at most {MOST_TUNED} rows, then fitted to all; {_RESIDUALS}",
        ),
        Method(
            "GPR",
            PART,
            "sklearn",
            fit_process,
            f"{_STANDARD}; Gaussian kernel with a length-scale for each feature (ARD), amplitude "
            f"and noise learnt by evidence on at most {MOST_LEARNT} rows from one given and "
            f"{RESTARTS} random initialisations; the one with the highest evidence of all training "
            f"rows is kept and conditioned on all; {_OWN}",
        ),
        Method(
            "HistGradientBoosting",
            PART,
            "sklearn",
            fit_boosting,
            f"features as they are; leaves and least rows of a leaf from {LEAVES} and up to "
            f"{MOST_TREES} trees by {FOLDS}-fold cross-validation of the squared error; "
            f"{_RESIDUALS}",
        ),
        Method(
            "NGBoost",
            PART,
            "ngboost",
            fit_natural,
            f"features as they are; defaults; number of trees, at most {NGBOOST_TREES[PART]}, by "
            f"the log density of a fifth of the training rows, then fitted to all; {_OWN} "
            "(Gaussian)",
        ),
        Method(
            "fastrvm",
            PART,
            "fastrvm",
            fit_fastrvm,
            f"{_STANDARD}; Gaussian kernel with intercept; gamma times the number of features from "
            f"({_GAMMAS}) by {FOLDS}-fold cross-validation of the squared error on at most "
            f"{MOST_TUNED} rows, then fitted to all; {_OWN}",
        ),
    )
}
