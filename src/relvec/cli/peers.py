"""Models of scikit-learn to compare ours with, each tuned as one would without much thought."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from relvec.cli.chance import stream
from relvec.cli.metrics import Prediction, predict_table

__all__ = ["GP_ROWS", "PEERS", "ask_peer", "size_of"]

GP_ROWS = 500
"""Rows that a Gaussian process is fitted to at most: its cost is their cube."""

SEARCH = {"scoring": "neg_mean_squared_error", "cv": 3}
SVM_GRID = {"C": [1.0, 10.0, 100.0], "gamma": ["scale", 0.02]}


class _OnSomeRows(BaseEstimator):
    """Fits a model to some rows, drawn by chance, if there are many."""

    def __init__(self, model: Any, max_rows: int, seed: int) -> None:
        self.model = model
        self.max_rows = max_rows
        self.seed = seed

    def fit(self, X: Any, y: Any) -> _OnSomeRows:
        """Fit to all rows, or to as many as are allowed."""
        rows = np.arange(len(X))
        if len(X) > self.max_rows:
            rows = stream(self.seed, "process").choice(rows, self.max_rows, replace=False)
        self.model_ = clone(self.model).fit(X[rows], y[rows])
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model_" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["model_"], name)


def _ridge(task: str, seed: int) -> list[Any]:
    if task == "classification":
        return [StandardScaler(), LogisticRegression(max_iter=1000)]
    return [StandardScaler(), RidgeCV(tuple(10.0**k for k in range(-3, 5)))]


def _svm(task: str, seed: int) -> list[Any]:
    if task == "regression":
        scaled = SVR(epsilon=0.1)
        grid = {f"regressor__{name}": values for name, values in SVM_GRID.items()}
        from sklearn.compose import TransformedTargetRegressor

        machine = TransformedTargetRegressor(scaled, transformer=StandardScaler())
        return [StandardScaler(), GridSearchCV(machine, grid, **SEARCH)]
    search = GridSearchCV(SVC(), SVM_GRID, cv=3)
    return [StandardScaler(), CalibratedClassifierCV(search, ensemble=False, cv=3)]


def _process(task: str, seed: int) -> list[Any]:
    if task == "regression":
        kernel = ConstantKernel(1.0) * RBF(3.0) + WhiteKernel(0.1)
        process: Any = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
    else:
        kernel = ConstantKernel(1.0) * RBF(3.0)
        process = GaussianProcessClassifier(kernel, random_state=seed)
    return [StandardScaler(), _OnSomeRows(process, GP_ROWS, seed)]


def _boosting(task: str, seed: int) -> list[Any]:
    if task == "classification":
        return [HistGradientBoostingClassifier(max_leaf_nodes=7, random_state=seed)]
    trees = HistGradientBoostingRegressor(random_state=seed)
    return [GridSearchCV(trees, {"max_leaf_nodes": [7, 31]}, **SEARCH)]


PEERS: dict[str, Callable[[str, int], list[Any]]] = {
    "ridge": _ridge,
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
    """Predictions of any model; those without error bars get the error they had in their search."""
    model = pipeline[-1]
    if hasattr(model, "classes_") or hasattr(model, "noise_variance_"):
        return predict_table(pipeline, table)
    inputs = pipeline[:-1].transform(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(model, _OnSomeRows):
            mean, std = model.predict(inputs, return_std=True)
            return Prediction(mean=mean, std=std)
    mean = model.predict(inputs)
    # both searches score by minus the squared error of rows left out
    if hasattr(model, "best_score_"):
        return Prediction(mean=mean, std=np.full(len(mean), np.sqrt(-model.best_score_)))
    return Prediction(mean=mean)


def size_of(pipeline: Any) -> float:
    """Numbers of vectors, weights or leaves: what has to be kept for predictions."""
    model = pipeline[-1]
    if isinstance(model, _OnSomeRows):
        model = model.model_
        if hasattr(model, "X_train_"):
            return float(len(model.X_train_))
        parts = getattr(model.base_estimator_, "estimators_", [model.base_estimator_])
        return float(max(len(part.X_train_) for part in parts))
    if hasattr(model, "relevance_"):
        return float(len(model.relevance_))
    if isinstance(model, CalibratedClassifierCV):
        model = model.calibrated_classifiers_[0].estimator
    model = getattr(model, "best_estimator_", model)
    model = getattr(model, "regressor_", model)
    if hasattr(model, "support_"):
        return float(len(model.support_))
    if hasattr(model, "_predictors"):
        return float(sum(tree.get_n_leaf_nodes() for step in model._predictors for tree in step))
    return float(np.size(getattr(model, "coef_", ())))
