"""Rootograms."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from relvec import RVMRegressor, SparseBayesCountRegressor
from relvec.describing import compute_rootogram
from relvec.plotting import RootogramDisplay

RNG = np.random.default_rng(3)
X = RNG.uniform(size=(120, 1))
EXPOSURE = RNG.uniform(0.5, 2.0, size=120)
Y = RNG.poisson(EXPOSURE * np.exp(1.0 + np.sin(6.0 * X[:, 0])))
MODEL = SparseBayesCountRegressor().fit(X, Y, exposure=EXPOSURE)


def test_frequencies():
    found = compute_rootogram(MODEL, X, Y, exposure=EXPOSURE)
    np.testing.assert_array_equal(found.observed[: Y.max() + 1], np.bincount(Y))
    pmf = MODEL.predict_pmf(X, np.arange(Y.max() + 2), exposure=EXPOSURE)
    np.testing.assert_allclose(found.expected, pmf.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.centres, np.arange(Y.max() + 2))
    weighted = compute_rootogram(MODEL, X, Y, exposure=EXPOSURE, sample_weight=np.full(120, 2.0))
    np.testing.assert_allclose(weighted.expected, 2.0 * found.expected)
    np.testing.assert_allclose(weighted.observed, 2.0 * found.observed)


def test_counts_are_grouped():
    every = compute_rootogram(MODEL, X, Y, exposure=EXPOSURE)
    few = compute_rootogram(MODEL, X, Y, exposure=EXPOSURE, max_bins=4)
    assert len(few.observed) <= 5
    assert few.observed.sum() == every.observed.sum() == 120
    size = int(few.edges[1])
    assert few.observed[0] == every.observed[:size].sum()
    assert few.expected[0] == pytest.approx(every.expected[:size].sum())


@pytest.mark.parametrize("kind", ["hanging", "standing"])
def test_bars_and_line(kind):
    display = RootogramDisplay.from_estimator(MODEL, X, Y, exposure=EXPOSURE, kind=kind)
    found = display.rootogram
    np.testing.assert_allclose(display.line_.get_ydata(), np.sqrt(found.expected))
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_allclose(heights, np.sqrt(found.observed))
    bottoms = np.array([bar.get_y() for bar in display.bars_])
    expected = -found.deviation if kind == "hanging" else np.zeros(len(bottoms))
    np.testing.assert_allclose(bottoms, expected, atol=1e-12)
    assert len(display.limits_) == (2 if kind == "hanging" else 0)
    display.figure_.canvas.draw()


def test_pipelines_and_given_axes():
    from matplotlib import pyplot

    pipeline = make_pipeline(StandardScaler(), SparseBayesCountRegressor()).fit(X, Y)
    figure, axes = pyplot.subplots()
    display = RootogramDisplay.from_estimator(pipeline, X, Y, ax=axes)
    assert display.figure_ is figure
    assert display.ax_ is axes


def test_overdispersed_counts_show_as_long_bars():
    counts = np.random.default_rng(0).negative_binomial(1.0, 0.1, size=120)
    poisson = SparseBayesCountRegressor(min_gain=1e6).fit(X, counts)
    other = SparseBayesCountRegressor(min_gain=1e6, likelihood="auto").fit(X, counts)
    worst = [np.abs(compute_rootogram(m, X, counts).deviation).max() for m in (poisson, other)]
    assert worst[0] > 2.0 * worst[1]


def test_bad_arguments():
    with pytest.raises(TypeError, match="RVMRegressor does not predict their probabilities"):
        RootogramDisplay.from_estimator(RVMRegressor(gamma=1.0).fit(X, X[:, 0]), X, Y)
    with pytest.raises(ValueError, match="counts up to 2000; got 5000"):
        compute_rootogram(MODEL, X, np.full(120, 5000))
    with pytest.raises(ValueError, match="one count for each row"):
        compute_rootogram(MODEL, X, Y[:, None])
    with pytest.raises(ValueError, match="kind must be one of"):
        RootogramDisplay.from_estimator(MODEL, X, Y, kind="sitting")
    with pytest.raises(TypeError, match="must be that of relvec.describing"):
        RootogramDisplay(Y)
