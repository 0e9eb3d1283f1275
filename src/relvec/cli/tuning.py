"""Tuning of the scikit-learn models in `relvec compare`."""

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
from relvec.cli.metrics import compute_metrics, predict_table
from relvec.cli.randomness import make_generator

__all__ = ["TunedGaussianProcess", "TunedModel", "linear_steps"]

RIDGE_ALPHAS = tuple(10.0**k for k in range(-3, 5))
LOGISTIC_GRID = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}


def linear_steps(task: str, seed: int) -> list[Any]:
    """Steps of ridge or logistic regression on standardised features, with tuned penalty."""
    if task == "regression":
        return [StandardScaler(), RidgeCV(RIDGE_ALPHAS)]
    return [StandardScaler(), TunedModel(LogisticRegression(max_iter=1000), LOGISTIC_GRID, seed)]


class _Delegate(BaseEstimator):
    """Delegates attribute access to the fitted model `model_`."""

    model_: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model_" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["model_"], name)


def _draw_subset(n_rows: int, most: int, seed: int, purpose: str) -> np.ndarray:
    if n_rows <= most:
        return np.arange(n_rows)
    return make_generator(seed, purpose).choice(n_rows, most, replace=False)


def _score(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Score for the grid search: minus the mean squared error, log loss or error rate."""
    if not is_classifier(model):
        return -(compute_metrics(y, predict_table(model, X, with_std=False))["rmse"] ** 2)
    if not hasattr(model, "predict_proba"):
        return -float(np.mean(model.predict(X) != y))
    return -compute_metrics(y, predict_table(model, X))["log_loss"]


class TunedModel(_Delegate):
    """A model whose hyper-parameters are tuned by grid search on shuffled folds.

    A regressor gets a constant predictive standard deviation `std_`: the cross-validated RMSE at
    the best hyper-parameters. A classifier without probabilities is calibrated.

    Parameters
    ----------
    model : estimator
    grid : mapping of str to sequence
        Hyper-parameters and their candidate values.
    seed : int
    """

    def __init__(self, model: Any, grid: Mapping[str, Sequence[Any]], seed: int) -> None:
        self.model = model
        self.grid = grid
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Tune on a subset of the rows, then fit to all rows."""
        is_classification = is_classifier(self.model)
        counts = np.unique(y, return_counts=True)[1] if is_classification else np.array([len(y)])
        n_folds = int(np.clip(counts.max(), 2, LIMITS.search_folds))
        split = (StratifiedKFold if is_classification else KFold)(
            n_folds, shuffle=True, random_state=self.seed
        )
        rows = _draw_subset(len(X), LIMITS.search_rows, self.seed, "search")
        search = GridSearchCV(self.model, dict(self.grid), scoring=_score, cv=split, refit=False)
        best = clone(self.model).set_params(**search.fit(X[rows], y[rows]).best_params_)
        if not is_classification:
            residual = y - cross_val_predict(best, X, y, cv=split)
            self.std_ = float(np.sqrt(np.mean(residual**2)))
        elif not hasattr(self.model, "predict_proba"):
            folds = min(LIMITS.search_folds, int(counts.min()))
            best = CalibratedClassifierCV(best, ensemble=False, cv=folds)
        self.model_ = best.fit(X, y)
        return self


class TunedGaussianProcess(_Delegate):
    """A Gaussian process with one length-scale for all features or one for each (ARD).

    The kernel with the larger evidence (marginal likelihood) is kept. The training rows are
    subsampled at random to `max_rows`, because the cost is cubic in their number.

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
        """Fit to all rows, or to a random subset of `max_rows`."""
        rows = _draw_subset(len(X), self.max_rows, self.seed, "process")
        length_scales: list[Any] = [3.0]
        if 1 < X.shape[1] <= LIMITS.gp_ard_features:
            length_scales.append(np.full(X.shape[1], 3.0))
        fitted = [
            clone(self.model).set_params(kernel=self._kernel(each)).fit(X[rows], y[rows])
            for each in length_scales
        ]
        self.model_ = max(fitted, key=lambda each: each.log_marginal_likelihood_value_)
        return self

    def _kernel(self, length_scale: Any) -> Kernel:
        smooth = ConstantKernel(1.0) * RBF(length_scale)
        return smooth if is_classifier(self.model) else smooth + WhiteKernel(0.1)
