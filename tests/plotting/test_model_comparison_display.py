"""Plot of a comparison of models."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge, Lasso, Ridge

from relvec import RVMRegressor, compare_models

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from relvec.plotting import ModelComparisonDisplay


@pytest.fixture(scope="module")
def comparison():
    X = np.linspace(-3, 3, 40)[:, np.newaxis]
    y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    models = {
        "wide": RVMRegressor(gamma=0.5),
        "narrow": RVMRegressor(gamma=8.0),
        "$ridge$": BayesianRidge(),
        "lasso": Lasso(),
    }
    return compare_models(models, X, y, cv=3)


def test_panels_show_differences_of_predictions_and_evidence(comparison):
    display = ModelComparisonDisplay.from_comparison(comparison)
    left, right = display.axes_
    expected = [-each.difference.mean for each in comparison.models if each.difference is not None]
    np.testing.assert_allclose(display.differences_.get_xdata(), expected)
    tied = [each.evidences.tied_evidence for each in comparison.models]
    known = np.array([each for each in tied if each is not None])
    np.testing.assert_allclose(display.tied_.get_xdata(), known - known.max())
    assert len(display.penalised_.get_xdata()) == 2
    labels = [each.get_text() for each in left.get_yticklabels()]
    assert labels[-1] == "lasso"
    assert r"\$ridge\$" in labels
    assert [each.get_text() for each in right.texts] == ["not available"] * 2
    assert [each.get_text() for each in left.texts] == ["not available"]
    pyplot.close(display.figure_)


def test_bars_are_one_and_two_standard_errors(comparison):
    display = ModelComparisonDisplay.from_comparison(comparison)
    wide, narrow = display.axes_[0].collections[:2]
    widths = [
        [segment[1, 0] - segment[0, 0] for segment in each.get_segments()]
        for each in (wide, narrow)
    ]
    se = [each.difference.se for each in comparison.models if each.difference is not None]
    np.testing.assert_allclose(widths, [4.0 * np.array(se), 2.0 * np.array(se)])


def test_models_without_evidence_can_be_drawn():
    X = np.linspace(-3, 3, 20)[:, np.newaxis]
    y = np.sin(X[:, 0])
    found = compare_models({"a": BayesianRidge(), "b": Ridge()}, X, y, cv=2)
    display = ModelComparisonDisplay.from_comparison(found)
    assert display.tied_ is None
    display.figure_.canvas.draw()
    nothing = compare_models({"a": Lasso(), "b": Ridge()}, X, y, cv=2)
    assert nothing.verdict.text.startswith("Undecided: no model has predictive distributions")
    with pytest.raises(ValueError, match="nothing to plot"):
        ModelComparisonDisplay.from_comparison(nothing)


def test_axes_may_be_given_and_other_objects_raise(comparison):
    figure, axes = pyplot.subplots(1, 2)
    assert ModelComparisonDisplay.from_comparison(comparison, ax=axes).figure_ is figure
    with pytest.raises(ValueError, match="2 matplotlib axes"):
        ModelComparisonDisplay.from_comparison(comparison, ax=axes[:1])
    with pytest.raises(TypeError, match="compare_models"):
        ModelComparisonDisplay({"a": 1})
