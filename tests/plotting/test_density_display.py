"""Plots of densities of one and two variables."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from relvec import SparseBayesDensity
from relvec.plotting import DensityContourDisplay, DensityDisplay
from relvec.plotting.density_contours import find_levels

RNG = np.random.default_rng(0)
X = RNG.exponential(size=(200, 1))
MODEL = SparseBayesDensity(support=(0, None)).fit(X)
TWO = SparseBayesDensity().fit(RNG.normal(size=(60, 2)))


def test_density_with_all_parts():
    x = np.linspace(0.0, 5.0, 50)
    display = DensityDisplay.from_estimator(MODEL, X, x=x, truth=np.exp(-x), coverage=0.8)
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels == ["histogram", "80 % band", "density", "truth"]
    assert display.rug_ is not None
    assert display.line_.get_ydata() == pytest.approx(MODEL.pdf(x[:, None]))
    assert display.ax_.get_ylim()[0] == 0.0
    pyplot.close(display.figure_)


def test_density_alone_reaches_the_end_of_the_support():
    display = DensityDisplay.from_estimator(MODEL, coverage=None)
    assert display.band_ is display.histogram_ is display.rug_ is None
    assert display.x[0] == 0.0
    assert MODEL.cdf(display.x[-1:, None])[0] > 0.99
    pyplot.close(display.figure_)
    quiet = DensityDisplay.from_estimator(MODEL, X, histogram=False, rug=False, legend=False)
    assert quiet.histogram_ is quiet.rug_ is None
    assert quiet.ax_.get_legend() is None
    pyplot.close(quiet.figure_)


def test_histogram_has_the_area_of_the_weights():
    weight = RNG.integers(1, 4, size=200)
    model = SparseBayesDensity(support=(0, None), normalise=False).fit(X, sample_weight=weight)
    display = DensityDisplay.from_estimator(model, X, sample_weight=weight)
    assert display.ax_.get_ylabel() == "intensity"
    values, edges, _ = display.histogram_.get_data()
    assert (values * np.diff(edges)).sum() == pytest.approx(weight.sum(), rel=0.05)
    pyplot.close(display.figure_)


def test_heavy_tails_do_not_squeeze_the_plot():
    values = RNG.standard_cauchy(size=(500, 1))
    display = DensityDisplay.from_estimator(SparseBayesDensity().fit(values), values)
    assert np.ptp(display.x) < 60.0
    pyplot.close(display.figure_)


def test_contours_have_their_probability():
    display = DensityContourDisplay.from_estimator(TWO, RNG.normal(size=(60, 2)))
    assert len(display.lines_.levels) == 4
    assert display.points_ is not None
    drawn = TWO.pdf(TWO.sample(4000, random_state=0))
    for level, probability in zip(display.lines_.levels, (0.95, 0.75, 0.5, 0.25), strict=True):
        assert np.mean(drawn > level) == pytest.approx(probability, abs=0.04)
    pyplot.close(display.figure_)
    alone = DensityContourDisplay.from_estimator(TWO, probabilities=[0.5], legend=False)
    assert alone.points_ is None
    assert len(alone.lines_.levels) == 1
    pyplot.close(alone.figure_)


def test_levels_of_a_uniform_density_are_one():
    assert len(find_levels(np.ones((5, 5)), np.array([0.1, 0.9]))) == 1


def test_names_of_columns_are_labels():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"cost_$": X[:, 0], "b": RNG.normal(size=200)})
    one = DensityDisplay.from_estimator(
        SparseBayesDensity().fit(frame[["cost_$"]]), frame[["cost_$"]]
    )
    assert one.ax_.get_xlabel() == r"cost_\$"
    two = DensityContourDisplay.from_estimator(SparseBayesDensity().fit(frame), frame)
    assert two.ax_.get_ylabel() == "b"
    pyplot.close("all")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DensityDisplay.from_estimator(TWO), "Use DensityContourDisplay"),
        (lambda: DensityContourDisplay.from_estimator(MODEL), "Use DensityDisplay"),
        (lambda: DensityDisplay(x=[0, 1], density=[1.0]), "density must have 2 values"),
        (lambda: DensityDisplay(x=[0, 1], density=[1, 1], band=[[0, 1]]), "band must have shape"),
        (lambda: DensityDisplay(x=[0, 1], density=[1, 1], coverage=2.0), "coverage"),
        (lambda: DensityContourDisplay(x0=[0], x1=[0, 1], density=[[1.0]]), "density must have"),
        (lambda: DensityContourDisplay.from_estimator(TWO, probabilities=[2.0]), "probabilities"),
    ],
)
def test_displays_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()
    pyplot.close("all")
