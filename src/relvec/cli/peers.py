"""Models of scikit-learn to compare ours with, each tuned as one would without much thought."""

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
from relvec.cli.tuning import Process, Tuned, linear_steps

__all__ = ["PEERS", "ask_peer", "size_of"]

Grid = dict[str, list[Any]]
SVM_GRID: Grid = {"C": [1.0, 10.0, 100.0, 1000.0], "gamma": ["scale", 0.003, 0.02, 0.1, 1.0, 10.0]}
BOOSTING_GRID: Grid = {"max_leaf_nodes": [4, 15], "learning_rate": [0.03, 0.1]}


def _linear(task: str, seed: int, limits: Limits = LIMITS) -> list[Any]:
    return linear_steps(task, seed)


def _svm(task: str, seed: int, limits: Limits = LIMITS) -> list[Any]:
    if task == "classification":
        return [StandardScaler(), Tuned(SVC(), SVM_GRID, seed)]
    machine = TransformedTargetRegressor(SVR(epsilon=0.1), transformer=StandardScaler())
    grid: Grid = {f"regressor__{name}": values for name, values in SVM_GRID.items()}
    return [StandardScaler(), Tuned(machine, grid, seed)]


def _process(task: str, seed: int, limits: Limits = LIMITS) -> list[Any]:
    process = (
        GaussianProcessRegressor(normalize_y=True, random_state=seed)
        if task == "regression"
        else GaussianProcessClassifier(random_state=seed)
    )
    return [StandardScaler(), Process(process, limits.gp_rows, seed)]


def _boosting(task: str, seed: int, limits: Limits = LIMITS) -> list[Any]:
    trees = (
        HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    )
    return [Tuned(trees(random_state=seed), BOOSTING_GRID, seed)]


PEERS: dict[str, Callable[..., list[Any]]] = {
    "ridge": _linear,
    "svm": _svm,
    "gp": _process,
    "boosting": _boosting,
}
"""Name and steps after the encoder; another peer is another line."""

WORDS = {
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


def ask_peer(pipeline: Any, table: Any) -> Prediction:
    """Predictions of any model; those without error bars get the error left in their tuning."""
    model = pipeline[-1]
    if hasattr(model, "classes_") or hasattr(model, "noise_variance_"):
        return predict_table(pipeline, table)
    inputs = pipeline[:-1].transform(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(model, Process):
            mean, std = model.predict(inputs, return_std=True)
            return Prediction(mean=mean, std=std)
    mean = model.predict(inputs)
    if isinstance(model, RidgeCV):  # its score is minus the squared error of rows left out
        return Prediction(mean=mean, std=np.full(len(mean), np.sqrt(-model.best_score_)))
    if isinstance(model, Tuned):
        return Prediction(mean=mean, std=np.full(len(mean), model.std_))
    return Prediction(mean=mean)


def size_of(pipeline: Any) -> float:
    """Numbers of vectors, weights or leaves: what has to be kept for predictions."""
    model = pipeline[-1]
    model = model.model_ if isinstance(model, Process | Tuned) else model
    if isinstance(model, CalibratedClassifierCV):
        model = model.calibrated_classifiers_[0].estimator
    model = getattr(model, "regressor_", model)
    return float(next(count(model) for mark, count in SIZES.items() if hasattr(model, mark)))


def _rows_of_processes(model: Any) -> int:
    parts = getattr(model.base_estimator_, "estimators_", [model.base_estimator_])
    return max(len(part.X_train_) for part in parts)


def _n_leaves(model: Any) -> int:
    return sum(tree.get_n_leaf_nodes() for step in model._predictors for tree in step)


SIZES: dict[str, Callable[[Any], int]] = {
    "X_train_": lambda model: len(model.X_train_),
    "base_estimator_": _rows_of_processes,
    "relevance_vectors_": lambda model: len(model.relevance_),
    "support_": lambda model: len(model.support_),
    "_predictors": _n_leaves,
    "__class__": lambda model: int(np.count_nonzero(getattr(model, "coef_", ()))),
}
"""What tells a kind of model, and what it keeps; all have the last."""
