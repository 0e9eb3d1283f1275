"""Well-determinedness of weights."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

pytest.importorskip("matplotlib")

from relvec import RVMClassifier, RVMRegressor
from relvec.plotting import WellDeterminedDisplay

X = np.linspace(-10.0, 10.0, 60)[:, np.newaxis]
Y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).normal(size=60)
MODEL = RVMRegressor(gamma=2.0).fit(X, Y)


def test_sorted_gammas_sum_to_the_degrees_of_freedom():
    display = WellDeterminedDisplay.from_estimator(MODEL)
    values, edges, _ = display.lines_["RVMRegressor"].get_data()
    np.testing.assert_array_equal(values, np.sort(MODEL.well_determined_)[::-1])
    area = float(values @ np.diff(edges))
    assert area == pytest.approx(MODEL.effective_dof_ - 1.0)  # the intercept is no weight
    (text,) = display.ax_.get_legend().get_texts()
    assert text.get_text() == (f"RVMRegressor: {len(values)} weights, Σγ = {values.sum():.3g}")
    display.figure_.canvas.draw()


def test_several_models_targets_and_classes_each_have_a_line():
    both = RVMRegressor(gamma=0.1).fit(X, np.column_stack([Y, -Y]))
    classes = RVMClassifier(gamma=0.1, multi_class="one_vs_rest").fit(X, np.arange(60) // 20)
    display = WellDeterminedDisplay.from_estimator({"a": MODEL, "b": both, "c": classes})
    assert list(display.lines_) == [
        "a",
        "b, target 0",
        "b, target 1",
        "c, class 0",
        "c, class 1",
        "c, class 2",
    ]


def test_joint_posterior_raises():
    model = RVMClassifier(gamma=0.1).fit(X, np.arange(60) // 20)
    with pytest.raises(TypeError, match="one_vs_rest"):
        WellDeterminedDisplay.from_estimator(model)


def test_a_model_without_weights_is_drawn():
    model = RVMRegressor(gamma=1.0).fit(X, np.ones(60))
    display = WellDeterminedDisplay.from_estimator(model)
    (text,) = display.ax_.get_legend().get_texts()
    assert text.get_text() == "RVMRegressor: 0 weights, Σγ = 0"
    display.figure_.canvas.draw()


def test_given_axes_are_used():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert WellDeterminedDisplay({"a": [0.5]}).plot(ax).ax_ is ax


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "at least one model"),
        ({"a": [0.5, 1.5]}, "between 0 and 1"),
        ({"a": [np.nan]}, "between 0 and 1"),
        ({"a": [[0.5]]}, "one-dimensional array"),
    ],
)
def test_bad_values(given, message):
    with pytest.raises(ValueError, match=message):
        WellDeterminedDisplay(given)


def test_other_estimators_and_unfitted_ones():
    with pytest.raises(TypeError, match="Ridge"):
        WellDeterminedDisplay.from_estimator(Ridge().fit(X, Y))
    with pytest.raises(NotFittedError):
        WellDeterminedDisplay.from_estimator(RVMRegressor())
