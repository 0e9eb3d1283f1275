"""Paired standard errors cover where two models predict equally well on average."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline

from relvec.comparing.row_scores import score_rows
from relvec.comparing.splits import describe_rows, make_folds, make_rolling_folds
from relvec.comparing.statistics import estimate_mean


def on_columns(*columns):
    return make_pipeline(ColumnTransformer([("take", "passthrough", columns)]), BayesianRidge())


def draw_ratio(rng, n_rows, rolling):
    """Difference over its error, of two models that the data make exchangeable."""
    X = rng.normal(size=(n_rows, 12))
    y = X[:, 0] + X[:, 1] + rng.normal(size=n_rows)
    folds = (
        make_rolling_folds(n_rows, 5)
        if rolling
        else make_folds(
            *(5, X, y), is_classification=False, n_splits=5, horizon=None, random_state=0
        )
    )
    first, second = (
        [
            score_rows(on_columns(k, *range(2, 12)).fit(X[train], y[train]), X[test], y[test])
            for train, test in folds
        ]
        for k in (0, 1)
    )
    pairs = zip(first, second, strict=True)
    found = estimate_mean([a.log_density - b.log_density for a, b in pairs], describe_rows(folds))
    return found.mean / found.se


@pytest.mark.slow
@pytest.mark.parametrize("rolling", [False, True], ids=["shuffled", "rolling"])
@pytest.mark.parametrize("n_rows", [40, 150])
def test_models_that_are_equally_good_are_seldom_told_apart(n_rows, rolling):
    rng = np.random.default_rng([n_rows, rolling])
    ratios = np.array([draw_ratio(rng, n_rows, rolling) for _ in range(150)])
    assert np.mean(np.abs(ratios) > 2.0) <= 0.05
    assert np.std(ratios) > 0.4  # nor are the errors far too large
