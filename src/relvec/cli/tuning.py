"""How models of scikit-learn are tuned before ours are compared with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, WhiteKernel
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from relvec.cli.limits import LIMITS
from relvec.cli.metrics import measure, predict_table
from relvec.cli.sampling import stream

__all__ = ["Process", "Tuned", "linear_steps"]

RIDGE_ALPHAS = tuple(10.0**k for k in range(-3, 5))
LOGISTIC_GRID = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}


def linear_steps(task: str, seed: int) -> list[Any]:
    """Ridge or logistic regression of scaled inputs, its penalty chosen on the rows of the fit."""
    if task == "regression":
        return [StandardScaler(), RidgeCV(RIDGE_ALPHAS)]
    return [StandardScaler(), Tuned(LogisticRegression(max_iter=1000), LOGISTIC_GRID, seed)]


class _Follower(BaseEstimator):
    """Has what the fitted model inside has."""

    model_: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model_" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["model_"], name)


def _some(n_rows: int, most: int, seed: int, purpose: str) -> np.ndarray:
    if n_rows <= most:
        return np.arange(n_rows)
    return stream(seed, purpose).choice(n_rows, most, replace=False)


def _merit(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Minus the squared error, or the log loss, or the share of wrong labels."""
    if not is_classifier(model):
        return -(measure(y, predict_table(model, X, with_std=False))["rmse"] ** 2)
    if not hasattr(model, "predict_proba"):
        return -float(np.mean(model.predict(X) != y))
    return -measure(y, predict_table(model, X))["log_loss"]


class Tuned(_Follower):
    """A model whose parameters are found by a search, on shuffled folds of the rows of its fit.

    Numbers get an error bar, the error that the best parameters left on those folds; a classifier
    without probabilities is calibrated.

    Parameters
    ----------
    model : estimator
    grid : mapping of str to sequence
        Parameters and their values.
    seed : int
    """

    def __init__(self, model: Any, grid: Mapping[str, Sequence[Any]], seed: int) -> None:
        self.model = model
        self.grid = grid
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Search, then fit to all rows."""
        for_classes = is_classifier(self.model)
        counts = np.unique(y, return_counts=True)[1] if for_classes else np.array([len(y)])
        n_folds = int(np.clip(counts.max(), 2, LIMITS.search_folds))
        split = (StratifiedKFold if for_classes else KFold)(
            n_folds, shuffle=True, random_state=self.seed
        )
        rows = _some(len(X), LIMITS.search_rows, self.seed, "search")
        search = GridSearchCV(self.model, dict(self.grid), scoring=_merit, cv=split, refit=False)
        best = clone(self.model).set_params(**search.fit(X[rows], y[rows]).best_params_)
        if not for_classes:
            left = y - cross_val_predict(best, X, y, cv=split)
            self.std_ = float(np.sqrt(np.mean(left**2)))
        elif not hasattr(self.model, "predict_proba"):
            folds = min(LIMITS.search_folds, int(counts.min()))
            best = CalibratedClassifierCV(best, ensemble=False, cv=folds)
        self.model_ = best.fit(X, y)
        return self


class Process(_Follower):
    """A Gaussian process with one length scale for all inputs or one for each.

    Of the two, the one with more evidence is kept. Of many rows some are drawn by chance: the cost
    is the cube of their number.

    Parameters
    ----------
    model : estimator
        Its kernel is replaced.
    max_rows : int
    seed : int
    """

    def __init__(self, model: Any, max_rows: int, seed: int) -> None:
        self.model = model
        self.max_rows = max_rows
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to all rows, or to as many as are allowed."""
        rows = _some(len(X), self.max_rows, self.seed, "process")
        scales: list[Any] = [3.0]
        if 1 < X.shape[1] <= LIMITS.gp_scales:
            scales.append(np.full(X.shape[1], 3.0))
        fitted = [
            clone(self.model).set_params(kernel=self._kernel(each)).fit(X[rows], y[rows])
            for each in scales
        ]
        self.model_ = max(fitted, key=lambda each: each.log_marginal_likelihood_value_)
        return self

    def _kernel(self, scale: Any) -> Kernel:
        smooth = ConstantKernel(1.0) * RBF(scale)
        return smooth if is_classifier(self.model) else smooth + WhiteKernel(0.1)
