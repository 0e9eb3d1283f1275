"""Arguments that `compare_models` does not accept."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge
from sklearn.model_selection import KFold

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


@pytest.mark.parametrize(
    ("folds", "error", "words"),
    [
        ([1], TypeError, "Fold 0 of cv must be a pair"),
        ([([0, 1], [25])], ValueError, "numbers from 0 to 19; got 25"),
        ([([0, 1], [-1])], ValueError, "numbers from 0 to 19; got -1"),
        ([([0.0, 1.0], [2.0])], TypeError, "list of row numbers; got an array"),
        ([([[0, 1]], [2])], TypeError, "list of row numbers; got an array"),
        (KFold, TypeError, "cv must be a number of folds"),
    ],
)
def test_folds(folds, error, words):
    with pytest.raises(error, match=words):
        compare_models(TWO, X, Y, cv=folds)


def test_folds_are_row_numbers_or_masks():
    first = np.arange(20) < 12
    by_mask = compare_models(TWO, X, Y, cv=[(first, ~first)])
    by_number = compare_models(TWO, X, Y, cv=[(range(12), range(12, 20))])
    assert by_mask.to_dict() == by_number.to_dict()


class Broken(RegressorMixin, BaseEstimator):
    """A regressor with predictions of a given kind."""

    def __init__(self, mean=0.0, std=1.0, n_columns=0):
        self.mean = mean
        self.std = std
        self.n_columns = n_columns

    def fit(self, X, y):
        return self

    def predict(self, X, return_std=False):
        shape = (len(X), self.n_columns) if self.n_columns else len(X)
        return np.full(shape, self.mean), np.full(shape, self.std)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Broken(mean=np.nan), r"Broken must predict finite values; 4 of 4 are not \(mean\)"),
        (Broken(std=np.nan), "finite values; 4 of 4 are not .standard deviation"),
        (Broken(std=-1.0), "negative standard deviations; got -1"),
        (Broken(n_columns=2), r"one mean for each of 4 rows; got shape \(4, 2\)"),
    ],
)
def test_predictions_that_cannot_be_scored(model, words):
    with pytest.raises(ValueError, match=words) as caught:
        compare_models([BayesianRidge(), model], X, Y)
    assert "compare_models fitted 'Broken'" in caught.value.__notes__[0]


def test_a_single_held_out_row_decides_nothing():
    models = {"a": BayesianRidge(), "b": Broken(mean=5.0)}
    found = compare_models(models, X, Y, cv=[(range(19), [19])])
    assert found["b"].difference.mean > 1.0
    assert found["b"].difference.se == np.inf
    assert found.best_ is None
