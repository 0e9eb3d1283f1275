"""Weights with posterior standard deviations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.datasets import make_snake
from relvec.describing import collect_weights
from relvec.plotting import WeightDisplay

RNG = np.random.default_rng(1)
X = RNG.normal(size=(80, 12))
Y = X @ np.linspace(0.0, 3.0, 12) + RNG.normal(size=80)
MODEL = SparseBayesRegressor(LinearBasis()).fit(X, Y)
X2, LABELS = make_snake(100, random_state=0)


def test_points_and_bars_are_the_posterior():
    display = WeightDisplay.from_estimator(MODEL, sort=False)
    np.testing.assert_array_equal(display.points_.get_xdata(), MODEL.coef_)
    std = np.sqrt(np.diag(MODEL.weight_covariance_))
    ends = np.array([segment[:, 0] for segment in display.bars_.get_segments()])
    np.testing.assert_allclose(ends, np.column_stack([MODEL.coef_ - std, MODEL.coef_ + std]))
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == MODEL.atom_names()
    gammas = [text.get_text() for text in display.ax_.texts]
    assert gammas == ["γ", *(f"{value:.2f}" for value in MODEL.well_determined_)]
    display.figure_.canvas.draw()


def test_largest_weights_first_and_the_rest_counted():
    display = WeightDisplay.from_estimator(MODEL, max_weights=3)
    order = np.argsort(-np.abs(MODEL.coef_))[:3]
    np.testing.assert_array_equal(display.shown_, order)
    assert display.note_.get_text() == f"and {len(MODEL.coef_) - 3} smaller weights"


@pytest.mark.slow
def test_classifiers_have_weights_for_each_logit():
    model = RVMClassifier(gamma=1.0).fit(X2, LABELS)
    (weights,) = collect_weights(model)
    np.testing.assert_array_equal(weights.mean, model.coef_[0])
    assert (weights.std > 0.0).all()
    three = LABELS + (X2[:, 0] > 1.0)
    rest = RVMClassifier(gamma=1.0, multi_class="one_vs_rest").fit(X2, three)
    for row, each in zip(rest.coef_, collect_weights(rest), strict=True):
        np.testing.assert_array_equal(row[each.index], each.mean)
        assert np.count_nonzero(row) == len(each.mean) == len(each.std) == len(each.atoms)
    joint = RVMClassifier(gamma=1.0).fit(X2, three)
    assert [each.name for each in collect_weights(joint)] == ["class 0", "class 1", "class 2"]
    display = WeightDisplay.from_estimator(joint, output=1)
    assert display.bars_ is None
    with pytest.raises(ValueError, match="output must be below 3; got 3"):
        WeightDisplay.from_estimator(joint, output=3)


def test_several_targets_and_pipelines():
    both = RVMRegressor(gamma=0.1).fit(X[:, :1], np.column_stack([Y, X[:, 0]]))
    first, second = collect_weights(both)
    assert (first.name, second.name) == ("target 0", "target 1")
    np.testing.assert_array_equal(both.coef_[1, second.index], second.mean)
    pipeline = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.1)).fit(X[:, :2], Y)
    display = WeightDisplay.from_estimator(pipeline, sort=False)
    np.testing.assert_array_equal(display.mean, pipeline[-1].coef_)


def test_a_model_without_weights():
    model = SparseBayesRegressor(LinearBasis(), min_gain=1e6).fit(X, Y)
    display = WeightDisplay.from_estimator(model)
    assert display.note_.get_text() == "no weights: the model is constant"
    display.figure_.canvas.draw()


def test_bad_input():
    with pytest.raises(TypeError, match="of relvec is needed; LinearRegression"):
        WeightDisplay.from_estimator(LinearRegression().fit(X, Y))
    with pytest.raises(NotFittedError):
        WeightDisplay.from_estimator(RVMRegressor())
    with pytest.raises(ValueError, match="std must have 2 values, one per weight; got 1"):
        WeightDisplay([1.0, 2.0], std=[1.0])
    with pytest.raises(ValueError, match="std must be non-negative"):
        WeightDisplay([1.0], std=[-1.0])
    with pytest.raises(ValueError, match="names must contain 1 names"):
        WeightDisplay([1.0], names=["a", "b"])


def test_feature_names_of_preceding_steps():
    pipeline = make_pipeline(StandardScaler(), SparseBayesRegressor(LinearBasis()))
    table = pd.DataFrame(X, columns=[f"part {i}" for i in range(12)])
    (weights,) = collect_weights(pipeline.fit(table, Y))
    assert weights.atoms == [f"part {i}" for i in pipeline[-1].relevance_]
    (weights,) = collect_weights(MODEL, [f"name {i}" for i in range(12)])
    assert weights.atoms == [f"name {i}" for i in MODEL.relevance_]
