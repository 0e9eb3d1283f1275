"""Arguments that `compare_models` does not accept."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge

from relvec import RVMRegressor, compare_models

X = np.linspace(0.0, 1.0, 20)[:, np.newaxis]
Y = X[:, 0] + np.random.default_rng(0).normal(size=20)
TWO = [BayesianRidge(), Ridge()]


@pytest.mark.parametrize(
    ("models", "error", "words"),
    [
        ([], ValueError, "models is empty"),
        ({}, ValueError, "models is empty"),
        ([Ridge()], ValueError, "one entry, 'Ridge'"),
        (Ridge(), TypeError, "dict of name and estimator, or a list; got Ridge"),
        ([("a", Ridge()), ("a", BayesianRidge())], ValueError, "Two models have the name 'a'"),
        ([Ridge, BayesianRidge], TypeError, r"not classes; got Ridge. Write Ridge\(\)"),
        ([Ridge(), "rvm"], TypeError, "got 'rvm' of type str"),
        ([(1, Ridge()), Ridge()], TypeError, r"pairs \(name, estimator\)"),
        ([Ridge(), LogisticRegression()], ValueError, "mixes classifiers"),
        ([Ridge(), KMeans()], TypeError, "'KMeans' is neither"),
    ],
)
def test_models(models, error, words):
    with pytest.raises(error, match=words):
        compare_models(models, X, Y)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"cv": 21}, ValueError, "cv=21 folds need as many rows; there are 20"),
        ({"cv": 1}, ValueError, "cv"),
        ({"cv": "roling"}, ValueError, "'roling'"),
        ({"cv": 0.5}, TypeError, "got 0.5 of type float"),
        ({"cv": []}, ValueError, "no folds"),
        ({"cv": [([0, 1, 2], [2, 3])]}, ValueError, "also trains on"),
        ({"cv": [([0, 1, 2], [])]}, ValueError, "no held-out rows"),
        ({"cv": "rolling", "n_splits": 0}, ValueError, "n_splits"),
        ({"cv": "rolling", "horizon": 9}, ValueError, "need at least 47 rows; there are 20"),
        ({"prior": [1.0]}, ValueError, "one positive number for each of the 2 models"),
        ({"prior": [1.0, 0.0]}, ValueError, "one positive number"),
        ({"prior": {"Ridge": 1.0}}, ValueError, "one entry for each model"),
        ({"sample_weight": np.ones(3)}, ValueError, "for each of the 20 rows"),
        ({"sample_weight": -np.ones(20)}, ValueError, "non-negative"),
        (
            {"sample_weight": np.arange(20) < 10, "cv": [(range(10), range(10, 20))]},
            ValueError,
            "weight zero",
        ),
    ],
)
def test_options(options, error, words):
    with pytest.raises(error, match=words):
        compare_models(TWO, X, Y, **options)


def test_targets():
    with pytest.raises(ValueError, match=r"one target; got y of shape \(20, 2\)"):
        compare_models(TWO, X, np.ones((20, 2)))
    with pytest.raises(ValueError, match="inconsistent"):
        compare_models(TWO, X, Y[:5])
    with pytest.raises(ValueError, match="NaN"):
        compare_models(TWO, X, np.full(20, np.nan))


def test_classes():
    models = [LogisticRegression(), LogisticRegression(C=2.0)]
    labels = np.repeat(["a", "b"], [15, 5])
    with pytest.raises(ValueError, match="cv=16 folds need as many rows of the largest class"):
        compare_models(models, X, labels, cv=16)
    with pytest.raises(ValueError, match="one class only"):
        compare_models(models, X, labels, cv=[(range(10), range(10, 20))])


def test_an_error_of_a_fit_names_the_model():
    with pytest.raises(ValueError, match="gamma") as caught:
        compare_models({"good": BayesianRidge(), "bad": RVMRegressor(gamma=-1.0)}, X, Y)
    assert "compare_models fitted 'bad' to 16 training rows." in caught.value.__notes__
