"""Predictions and the degree of extrapolation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.plotting import ExtrapolationDisplay

RNG = np.random.default_rng(0)
X = RNG.uniform(-3.0, 3.0, size=(60, 1))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=60)
MODEL = RVMRegressor(gamma=0.5).fit(X, Y)
NEW = np.array([[0.5], [9.0], [-1.0], [-12.0]])
WIDE = RNG.uniform(-3.0, 3.0, size=(60, 4))
MANY = RVMRegressor(gamma=0.1).fit(WIDE, Y)


def test_background_and_band_over_one_feature():
    display = ExtrapolationDisplay.from_estimator(MODEL, X, NEW, Y[:4])
    np.testing.assert_array_equal(display.is_beyond_, [False, True, False, True])
    (x,) = display.inputs.axes
    assert x[0] < -12.0
    assert x[-1] > 9.0
    np.testing.assert_allclose(display.inputs.share, MODEL.extrapolating(x[:, None]))
    np.testing.assert_allclose(display.surface_.get_array().ravel(), display.inputs.share)
    np.testing.assert_allclose(display.inputs.std, MODEL.predict(x[:, None], return_std=True)[1])
    np.testing.assert_allclose(display.far_.get_xdata(), [9.0, -12.0])
    np.testing.assert_allclose(display.near_.get_ydata(), MODEL.predict(NEW[[0, 2]]))
    np.testing.assert_allclose(display.observed_.get_ydata(), Y[:4])
    np.testing.assert_allclose(display.training_.get_xdata(), X[:, 0])


def test_map_over_two_features():
    table = pd.DataFrame(WIDE[:, :2], columns=["a_$1$", "b"])
    model = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.5)).fit(table, Y)
    new = pd.DataFrame({"a_$1$": [0.0, 40.0], "b": [0.0, 0.0]})
    display = ExtrapolationDisplay.from_estimator(model, table, new, grid_resolution=20)
    display.figure_.canvas.draw()
    np.testing.assert_array_equal(display.is_beyond_, [False, True])
    assert display.inputs.share.shape == (20, 20)
    assert display.ax_.get_ylabel() == "b"
    np.testing.assert_allclose(display.far_.get_xydata(), [[40.0, 0.0]])


def test_rows_against_the_degree_of_extrapolation():
    new = np.vstack([WIDE[:5], WIDE[:3] + 20.0])
    display = ExtrapolationDisplay.from_estimator(MANY, WIDE, new)
    np.testing.assert_allclose(display.share, MANY.extrapolating(new))
    np.testing.assert_allclose(display.far_.get_xdata(), display.share[5:])
    assert display.surface_ is None
    assert display.ax_.get_ylabel() == "predicted y"
    over_one = ExtrapolationDisplay.from_estimator(MODEL, X, NEW, kind="rows")
    np.testing.assert_allclose(over_one.near_.get_xdata(), MODEL.extrapolating(NEW[[0, 2]]))


def test_legend_contains_only_what_is_drawn():
    display = ExtrapolationDisplay.from_estimator(MODEL, X, X[:3])
    assert display.far_ is None
    labels = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert labels == {
        "95 % interval",
        "mean",
        "new",
        "training",
    }


class TestClassifiers:
    """Probabilities in place of means; far away they are the shares of the classes."""

    TWO = RVMClassifier(gamma=0.5).fit(X, np.where(X[:, 0] > 0.5, "yes", "no"))
    LABELS = np.where(WIDE[:, 0] > 1.0, "a", np.where(WIDE[:, 1] > 0.0, "b", "c"))

    def test_over_one_input_the_second_of_two_is_drawn(self):
        observed = ["no", "yes", "no", "no"]
        display = ExtrapolationDisplay.from_estimator(self.TWO, X, NEW, observed)
        (x,) = display.inputs.axes
        curve = display.ax_.lines[0]
        np.testing.assert_allclose(curve.get_ydata(), self.TWO.predict_proba(x[:, None])[:, 1])
        np.testing.assert_array_equal(display.is_beyond_, [False, True, False, True])
        share = np.mean(X[:, 0] > 0.5)
        np.testing.assert_allclose(display.far_.get_offsets()[:, 1], share, atol=0.01)
        np.testing.assert_array_equal(display.observed_.get_offsets()[:, 1], [0.0, 1.0, 0.0, 0.0])
        assert display.ax_.get_ylabel() == "probability of yes"

    def test_over_one_input_all_of_several_are_drawn(self):
        labels = np.digitize(X[:, 0], [-1.0, 1.0])
        model = RVMClassifier(gamma=0.5).fit(X, labels)
        observed = np.array([1, 1, 0, 2])
        display = ExtrapolationDisplay.from_estimator(model, X, NEW, observed)
        (x,) = display.inputs.axes
        drawn = np.transpose([line.get_ydata() for line in display.ax_.lines[:3]])
        np.testing.assert_allclose(drawn, model.predict_proba(x[:, None]))
        truth = model.predict_proba(NEW)
        wrong = truth.argmax(axis=1) != observed
        assert wrong.any()
        np.testing.assert_allclose(
            display.observed_.get_offsets()[:, 1], truth[np.arange(4), observed][wrong]
        )
        np.testing.assert_allclose(display.near_.get_offsets()[:, 1], truth[[0, 2]].max(axis=1))

    def test_a_map_has_lines_of_equal_probability(self):
        model = RVMClassifier(gamma=0.5).fit(WIDE[:, :2], WIDE[:, 0] > 0.0)
        new = np.array([[0.0, 0.0], [40.0, 0.0]])
        display = ExtrapolationDisplay.from_estimator(model, WIDE[:, :2], new, grid_resolution=20)
        display.figure_.canvas.draw()
        assert display.inputs.probability.shape == (20, 20, 2)
        np.testing.assert_allclose(display.far_.get_offsets(), [[40.0, 0.0]])
        words = {text.get_text() for text in display.ax_.get_legend().get_texts()}
        assert words == {"training", "probability of class True", "new", "extrapolated"}

    def test_a_map_of_several_shows_where_decisions_change(self):
        table = pd.DataFrame(WIDE[:, :2], columns=["u", "v"])
        model = make_pipeline(StandardScaler(), RVMClassifier(gamma=0.5)).fit(table, self.LABELS)
        display = ExtrapolationDisplay.from_estimator(model, table, table[:6], grid_resolution=20)
        best = model.predict_proba(table[:6]).argmax(axis=1)
        colours = display.near_.get_facecolors()
        assert len(np.unique(colours, axis=0)) == len(np.unique(best))

    def test_of_many_inputs_rows_are_drawn_against_their_share(self):
        model = RVMClassifier(gamma=0.1).fit(WIDE, self.LABELS)
        new = np.vstack([WIDE[:5], WIDE[:3] + 30.0])
        display = ExtrapolationDisplay.from_estimator(model, WIDE, new)
        expected = np.column_stack([display.share, model.predict_proba(new).max(axis=1)])
        np.testing.assert_allclose(display.near_.get_offsets(), expected[:5])
        np.testing.assert_allclose(display.far_.get_offsets(), expected[5:])

    def test_bad_input(self):
        plain = RVMClassifier(gamma=0.5, error_bars="plain").fit(X, X[:, 0] > 0.5)
        with pytest.raises(ValueError, match="RVMClassifier does not measure extrapolation"):
            ExtrapolationDisplay.from_estimator(plain, X, NEW)
        with pytest.raises(ValueError, match="not among the classes of the model"):
            ExtrapolationDisplay.from_estimator(self.TWO, X, NEW, ["no", "no", "no", "maybe"])
        with pytest.raises(ValueError, match="y_new must hold 4 classes"):
            ExtrapolationDisplay.from_estimator(self.TWO, X, NEW, ["no"])
        with pytest.raises(ValueError, match="for each of 1 rows and of at least 2 classes"):
            ExtrapolationDisplay([0.5], probability=[[1.0]])
        with pytest.raises(ValueError, match="classes must name each of 2 classes; got 1"):
            ExtrapolationDisplay([0.5], probability=[[0.5, 0.5]], classes=["a"])
        with pytest.raises(ValueError, match="mean and std are needed, or probability"):
            ExtrapolationDisplay([0.5])


def test_bad_input():
    linear = SparseBayesRegressor(LinearBasis()).fit(X, Y)
    with pytest.raises(ValueError, match="SparseBayesRegressor does not measure extrapolation"):
        ExtrapolationDisplay.from_estimator(linear, X, NEW)
    with pytest.raises(ValueError, match="same number of columns; got 2 and 1"):
        ExtrapolationDisplay.from_estimator(MODEL, WIDE[:, :2], NEW)
    with pytest.raises(ValueError, match='kind="inputs" needs a model with one or two features'):
        ExtrapolationDisplay.from_estimator(MANY, WIDE, WIDE[:3], kind="inputs")
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        ExtrapolationDisplay([1.5], [0.0], [1.0])
    with pytest.raises(ValueError, match="share is empty"):
        ExtrapolationDisplay([], [], [])
    with pytest.raises(ValueError, match="std must have 1 values, as many as share; got 2"):
        ExtrapolationDisplay([0.5], [0.0], [1.0, 2.0])
