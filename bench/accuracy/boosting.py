"""Boosted trees: how many there should be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.accuracy.methods import folds_of
from bench.classification.metrics import log_loss

__all__ = ["LEAVES", "MOST_TREES", "NGBOOST_TREES", "fit_ngboost", "tuned_boosting"]

MOST_TREES = 200
"""Of HistGradientBoosting; the learning rate is its default, 0.1."""
LEAVES = ((4, 5), (31, 20))
"""Candidates: most leaves of a tree, least rows of a leaf; the second is the default."""
NGBOOST_TREES = {"regression": 2000, "classification": 500}
"""At most. Of a classifier its default: where classes separate, more let its gradients overflow."""
PATIENCE = 50
"""Steps of NGBoost without gain on the validation rows after which it stops."""
VALIDATION_SHARE = 0.2


def tuned_boosting(make: Callable[..., Any], X: np.ndarray, y: np.ndarray, part: str) -> Any:
    """Return an unfitted HistGradientBoosting with the leaves and trees of least loss in folds."""
    best, least = {}, np.inf
    for leaves, rows in LEAVES:
        losses = []
        for train, test in folds_of(y, part).split(X, y):
            model = make(max_leaf_nodes=leaves, min_samples_leaf=rows, max_iter=MOST_TREES)
            model.fit(X[train], y[train])
            losses.append(_staged_losses(model, X[test], y[test], part))
        mean = np.mean(losses, axis=0)
        if mean.min() < least:
            least = mean.min()
            n_trees = int(np.argmin(mean)) + 1
            best = {"max_leaf_nodes": leaves, "min_samples_leaf": rows, "max_iter": n_trees}
    return make(**best)


def _staged_losses(model: Any, X: np.ndarray, y: np.ndarray, part: str) -> list[float]:
    if part == "regression":
        return [float(np.mean((stage - y) ** 2)) for stage in model.staged_predict(X)]
    return [log_loss(stage, y) for stage in model.staged_predict_proba(X)]


def fit_ngboost(make: Callable[[int], Any], X: np.ndarray, y: np.ndarray, part: str) -> Any:
    """Return NGBoost fitted to all rows, with as many steps as were best on a fifth of them."""
    from sklearn.model_selection import train_test_split

    classes = None if part == "regression" else y
    X_fit, X_val, y_fit, y_val = train_test_split(
        X, y, test_size=VALIDATION_SHARE, random_state=0, stratify=classes
    )
    most = NGBOOST_TREES[part]
    trial = make(most)
    trial.fit(X_fit, y_fit, X_val=X_val, Y_val=y_val, early_stopping_rounds=PATIENCE)
    n_steps = most if trial.best_val_loss_itr is None else trial.best_val_loss_itr + 1
    return make(int(n_steps)).fit(X, y)
