"""Small figures, dark styles, and names with dollar signs."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from matplotlib import colors, pyplot
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from relvec import RVMClassifier, RVMRegressor, plotting
from relvec.plotting._axes import (
    adapt_colour,
    compute_text_scale,
    escape_mathtext,
    is_dark,
    place_legend_above,
)
from tests.plotting import test_baseline_images as plots

ONE_AXES = [
    plots.fit,
    plots.predicted_observed,
    plots.functions,
    plots.surface,
    plots.weights,
    plots.relevance,
    plots.decision,
    plots.log_odds,
    plots.shrinkage,
    plots.signal,
    plots.selection,
    plots.coefficients,
    plots.trace,
    plots.well_determined,
    plots.extrapolation,
    plots.density,
    plots.density_contours,
    plots.inclusion,
]
HOSTILE = ["cost_$_of $ x_1", "$\\nonsense{_^$"]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 2))
TABLE = pd.DataFrame(X, columns=HOSTILE)
Y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=40)
LABELS = np.array(["$\\bad{$", "a_b $5 & $6"])[(Y > 0.0).astype(int)]


def lightness(colour):
    return float(np.dot(colors.to_rgb(colour), (0.2126, 0.7152, 0.0722)))


@pytest.mark.slow
@pytest.mark.parametrize("draw", ONE_AXES, ids=lambda draw: draw.__name__)
def test_text_fits_small_axes(draw):
    figure, ax = pyplot.subplots(figsize=(3.0, 2.0), layout="constrained")
    display = draw().plot(ax)
    figure.canvas.draw()
    box, paper = ax.get_window_extent(), figure.bbox
    is_square = ax.get_aspect() != "auto"
    assert box.width > (0.3 if is_square else 0.5) * paper.width
    assert box.height > 0.4 * paper.height
    legend = ax.get_legend()
    if legend is not None:
        words = legend.get_window_extent()
        assert words.x1 <= paper.x1 + 2.0
        assert words.y1 <= paper.y1 + 2.0
        assert words.height < 0.35 * paper.height
    for label in (ax.xaxis.label, ax.yaxis.label):
        assert label.get_fontsize() >= 6.0
    assert display.ax_ is ax


def test_row_labels_do_not_overlap():
    figure, ax = pyplot.subplots(figsize=(3.0, 2.0), layout="constrained")
    plotting.WeightDisplay(np.arange(20.0), std=np.ones(20), well_determined=np.ones(20)).plot(ax)
    figure.canvas.draw()
    boxes = sorted((t.get_window_extent() for t in ax.get_yticklabels()), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1.5 for low, high in itertools.pairwise(boxes))


def test_text_size_of_ordinary_axes_is_unchanged():
    display = plots.fit()
    assert compute_text_scale(display.ax_) == 1.0
    assert display.ax_.get_legend().get_texts()[0].get_fontsize() == 9.0
    assert display.ax_.xaxis.label.get_fontsize() == 10.0


def test_plotting_twice_does_not_shrink_text_twice():
    _, ax = pyplot.subplots(figsize=(3.0, 2.0), layout="constrained")
    display = plots.fit().plot(ax)
    once = ax.xaxis.label.get_fontsize()
    display.plot(ax)
    assert ax.xaxis.label.get_fontsize() == once


@pytest.mark.slow
@pytest.mark.parametrize("draw", ONE_AXES, ids=lambda draw: draw.__name__)
def test_all_elements_are_visible_on_a_dark_background(draw):
    with pyplot.style.context("dark_background"):
        display = draw()
        ax = display.ax_
        assert is_dark(ax)
        words = [*ax.texts, *ax.get_yticklabels(), ax.xaxis.label]
        if draw is not plots.decision:
            words += ax.get_legend().get_texts() if ax.get_legend() else []
        assert min(lightness(text.get_color()) for text in words) > 0.3
        if draw not in (plots.decision, plots.surface):  # these bring their own paper
            for line in ax.get_lines():
                assert lightness(line.get_color()) > 0.2
            for steps in ax.patches if draw is plots.well_determined else ():
                assert lightness(steps.get_edgecolor()[:3]) > 0.2
        for line in ax.get_xgridlines():
            assert not line.get_visible() or lightness(line.get_color()) < 0.75
        for handle in ax.get_legend().legend_handles if ax.get_legend() else []:
            if hasattr(handle, "get_markeredgecolor") and draw is plots.decision:
                edge = handle.get_markeredgecolor()
                assert edge == "none" or lightness(edge) > 0.3


def test_colours_are_unchanged_on_a_light_background():
    _, ax = pyplot.subplots()
    assert adapt_colour(ax, "0.15") == "0.15"
    ax.set_facecolor("none")
    assert not is_dark(ax)
    ax.figure.set_facecolor("black")
    assert lightness(adapt_colour(ax, "0.15")) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [
        lambda: plotting.FeatureRelevanceDisplay.from_estimator(regressor()),
        lambda: plotting.RegressionFitDisplay.from_estimator(
            regressor(), TABLE, Y, feature=HOSTILE[1]
        ),
        lambda: plotting.BasisFunctionsDisplay.from_estimator(regressor(), TABLE),
        lambda: plotting.FeatureRelevancePathDisplay.from_estimator(regressor()),
        lambda: plotting.DecisionSurfaceDisplay.from_estimator(classifier(), TABLE, LABELS),
        lambda: plotting.ReliabilityDisplay.from_estimator(
            {HOSTILE[1]: classifier()}, TABLE, LABELS
        ),
        lambda: plotting.LogOddsDisplay.from_estimator(
            RVMClassifier(gamma=1.0).fit(TABLE[HOSTILE[1:]], LABELS), TABLE[HOSTILE[1:]], LABELS
        ),
        lambda: plotting.SelectionFrequencyDisplay.from_supports(
            np.eye(2, dtype=bool), feature_names=HOSTILE
        ),
        lambda: plotting.EvidenceTraceDisplay({HOSTILE[1]: [-1.0, 0.0]}).plot(),
        lambda: plotting.TraceDisplay({HOSTILE[1]: X.T}).plot(),
        lambda: plotting.RankDisplay({HOSTILE[1]: X.T}).plot(n_bins=4),
        lambda: plotting.InclusionDisplay([0.2, 0.8], names=HOSTILE).plot(),
        lambda: plotting.WellDeterminedDisplay.from_estimator({HOSTILE[1]: regressor()}),
    ],
    ids=[
        "relevance",
        "fit",
        "functions",
        "path",
        "surface",
        "reliability",
        "odds",
        "selection",
        "trace",
        "chains",
        "ranks",
        "inclusion",
        "well determined",
    ],
)
def test_names_are_not_interpreted_as_mathematics(draw):
    display = draw()
    display.figure_.canvas.draw()


def regressor():
    return RVMRegressor(length_scales="ard").fit(TABLE, Y)


def classifier():
    return RVMClassifier(gamma=1.0).fit(TABLE, LABELS)


def test_dollar_signs_are_escaped():
    figure, ax = pyplot.subplots()
    ax.set_xlabel(escape_mathtext("$a$ _b_"))
    figure.canvas.draw()
    assert ax.xaxis.label._preprocess_math(ax.get_xlabel()) == ("$a$ _b_", False)


def test_long_feature_names_are_shortened():
    table = pd.DataFrame(X, columns=["n" * 200, "m" * 200])
    model = RVMClassifier(gamma=1.0).fit(table, LABELS)
    display = plotting.DecisionSurfaceDisplay.from_estimator(model, table, LABELS)
    assert len(display.ax_.get_ylabel()) < 40


def test_missing_values_are_imputed_by_a_pipeline():
    holes = X.copy()
    holes[3, 0] = np.nan
    model = make_pipeline(SimpleImputer(), RVMRegressor(gamma=0.5)).fit(holes, Y)
    display = plotting.RegressionFitDisplay.from_estimator(model, holes, Y, feature=0)
    assert np.isfinite(display.mean).all()
    labelled = make_pipeline(SimpleImputer(), RVMClassifier(gamma=0.5)).fit(holes, LABELS)
    surface = plotting.DecisionSurfaceDisplay.from_estimator(labelled, holes, LABELS)
    assert np.isfinite(surface.x0).all()
    with pytest.raises(ValueError, match="a column without any finite value"):
        plotting.RegressionFitDisplay.from_estimator(model, np.full((3, 2), np.nan), feature=0)
    with pytest.raises(ValueError, match="needs finite inputs"):
        plotting.BasisFunctionsDisplay.from_estimator(RVMRegressor(gamma=0.5).fit(X, Y), holes)


@pytest.mark.parametrize(
    "display",
    [
        plotting.RegressionFitDisplay,
        plotting.PredictedObservedDisplay,
        plotting.ResidualDisplay,
        plotting.NoiseDisplay,
    ],
)
def test_invalid_models_raise(display):
    line = X[:, :1]
    sorts = RVMClassifier(gamma=1.0).fit(line, LABELS)
    with pytest.raises(TypeError, match=f"{display.__name__} .*RVMClassifier is a classifier"):
        display.from_estimator(sorts, line, Y)
    two = RVMRegressor(gamma=1.0).fit(line, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match=f"{display.__name__} plots one target; the model has 2"):
        display.from_estimator(two, line, np.column_stack([Y, Y]))


@pytest.mark.parametrize("display", [plotting.PredictedObservedDisplay, plotting.ResidualDisplay])
def test_missing_targets_raise(display):
    with pytest.raises(ValueError, match=r"y_true must be finite; the value at position 1 is nan"):
        display.from_predictions([1.0, np.nan], [1.0, 2.0], [0.1, 0.1])


def test_ten_classes_have_ten_colours():
    grid = np.linspace(0.0, 1.0, 5)
    probability = np.full((5, 5, 10), 0.1)
    points = np.column_stack([np.linspace(0, 1, 10), np.linspace(0, 1, 10)])
    display = plotting.DecisionSurfaceDisplay(
        x0=grid, x1=grid, probability=probability, X=points, y=np.arange(10)
    ).plot()
    assert len({line.get_color() for line in display.points_.values()}) == 10


def test_empty_legend():
    _, ax = pyplot.subplots()
    assert place_legend_above(ax) is None
