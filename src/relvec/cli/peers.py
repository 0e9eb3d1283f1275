"""Models of scikit-learn for `relvec compare`, with a standard grid search."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from relvec.cli.limits import LIMITS, Limits
from relvec.cli.metrics import Prediction, predict_table
from relvec.cli.tuning import TunedGaussianProcess, TunedModel, linear_steps
from relvec.comparing.sizes import count_parameters

__all__ = ["PEERS", "model_size", "predict_peer"]

Grid = dict[str, list[Any]]
SVM_GRID: Grid = {"C": [1.0, 10.0, 100.0, 1000.0], "gamma": ["scale", 0.003, 0.02, 0.1, 1.0, 10.0]}
BOOSTING_GRID: Grid = {"max_leaf_nodes": [4, 15], "learning_rate": [0.03, 0.1]}


def _linear(task: str, seed: int, limits: Limits = LIMITS) -> list[Any]:
    return linear_steps(task, seed)


def _svm(task: str, seed: int, limits: Limits = LIMITS) -> list[Any]:
    if task == "classification":
        return [StandardScaler(), TunedModel(SVC(), SVM_GRID, seed)]
    regressor = TransformedTargetRegressor(SVR(epsilon=0.1), transformer=StandardScaler())
    grid: Grid = {f"regressor__{name}": values for name, values in SVM_GRID.items()}
    return [StandardScaler(), TunedModel(regressor, grid, seed)]


def _gaussian_process(task: str, seed: int, limits: Limits = LIMITS) -> list[Any]:
    process = (
        GaussianProcessRegressor(normalize_y=True, random_state=seed)
        if task == "regression"
        else GaussianProcessClassifier(random_state=seed)
    )
    return [StandardScaler(), TunedGaussianProcess(process, limits.gp_rows, seed)]


def _boosting(task: str, seed: int, limits: Limits = LIMITS) -> list[Any]:
    trees = (
        HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    )
    return [TunedModel(trees(random_state=seed), BOOSTING_GRID, seed)]


PEERS: dict[str, Callable[..., list[Any]]] = {
    "ridge": _linear,
    "svm": _svm,
    "gp": _gaussian_process,
    "boosting": _boosting,
}
"""Pipeline steps after the encoder, by name of the model."""

TITLES = {
    "regression": {
        "ridge": "ridge regression",
        "svm": "support vector machine",
        "gp": "Gaussian process",
        "boosting": "gradient boosting",
    },
    "classification": {
        "ridge": "logistic regression",
        "svm": "support vector machine",
        "gp": "Gaussian process",
        "boosting": "gradient boosting",
    },
}


def predict_peer(pipeline: Any, table: Any, **options: Any) -> Prediction:
    """Predict with any model.

    A model without predictive standard deviations gets a constant one: the RMSE that was left in
    the cross-validation of its tuning. `options` are those of `predict_table`.
    """
    model = pipeline[-1]
    if hasattr(model, "classes_") or hasattr(model, "noise_variance_"):
        return predict_table(pipeline, table, **options)
    features = pipeline[:-1].transform(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(model, TunedGaussianProcess):
            mean, std = model.predict(features, return_std=True)
            return Prediction(mean=mean, std=std)
    mean = model.predict(features)
    if isinstance(model, RidgeCV):  # its best_score_ is minus the leave-one-out mean squared error
        return Prediction(mean=mean, std=np.full(len(mean), np.sqrt(-model.best_score_)))
    if isinstance(model, TunedModel):
        return Prediction(mean=mean, std=np.full(len(mean), model.std_))
    return Prediction(mean=mean)


def model_size(pipeline: Any) -> float:
    """Number of vectors, weights, rows or leaves that predictions need."""
    model = pipeline[-1]
    model = model.model_ if isinstance(model, TunedGaussianProcess | TunedModel) else model
    if isinstance(model, CalibratedClassifierCV):
        model = model.calibrated_classifiers_[0].estimator
    return count_parameters(getattr(model, "regressor_", model)) or 0.0
