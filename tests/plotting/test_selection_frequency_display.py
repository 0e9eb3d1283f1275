"""Selection frequencies under resampling."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import binomtest, norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from relvec.plotting import SelectionFrequencyDisplay

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = X[:, 2] + 0.3 * X[:, 0] + 0.3 * RNG.normal(size=60)
SUPPORTS = np.array([[1, 0, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=bool)


class ByCorrelation(RegressorMixin, BaseEstimator):
    """Selects features whose squared correlation with the target is large."""

    fitted_rows: list = []  # noqa: RUF012

    def __init__(self, least=0.1):
        self.least = least

    def fit(self, X, y):
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        values = np.asarray(X)
        self.n_features_in_ = values.shape[1]
        squared = np.corrcoef(values.T, y)[-1, :-1] ** 2
        self.feature_relevance_ = np.where(squared > self.least, squared, 0.0)
        self.fitted_rows.append((values, np.asarray(y)))
        return self


class Classes(ClassifierMixin, BaseEstimator):
    """Remembers how frequent classes were."""

    counts: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.n_features_in_ = np.shape(X)[1]
        self.feature_relevance_ = np.ones(self.n_features_in_)
        self.counts.append(np.bincount(y))
        return self


def rows(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def widths(bars):
    return [bar.get_width() for bar in bars]


def error_bars(axes):
    return np.array([line[:, 0] for line in axes.collections[0].get_segments()])


def test_bars_are_frequencies_and_means():
    relevances = np.arange(16.0).reshape(4, 4)
    display = SelectionFrequencyDisplay.from_supports(SUPPORTS, relevances)
    np.testing.assert_array_equal(display.frequency, [1.0, 0.25, 0.25, 0.0])
    mean = np.where(SUPPORTS, relevances, 0.0).mean(axis=0)
    np.testing.assert_array_equal(mean, [6.0, 2.25, 0.5, 0.0])
    assert rows(display) == ["x0", "x1", "x2", "x3"]  # ties by relevance
    assert widths(display.bars_) == [100.0, 25.0, 25.0, 0.0]
    assert widths(display.relevance_bars_) == mean.tolist()
    error = np.where(SUPPORTS, relevances, 0.0).std(axis=0, ddof=1) / 2.0
    np.testing.assert_allclose(
        error_bars(display.relevance_ax_), np.stack([np.maximum(mean - error, 0), mean + error]).T
    )
    assert display.ax_.get_xlabel() == "selection frequency (%, 4 resamples)"
    assert display.ax_.get_ylim() == display.relevance_ax_.get_ylim()
    display.figure_.canvas.draw()


def test_error_bars_are_wilson_intervals():
    supports = np.arange(50)[:, np.newaxis] < [0, 1, 20, 49, 50]
    display = SelectionFrequencyDisplay(supports).plot(sort=False)
    level = norm.cdf(1.0) - norm.cdf(-1.0)
    for column, (low, high) in enumerate(display.frequency_interval.T):
        known = binomtest(int(supports[:, column].sum()), 50).proportion_ci(level, "wilson")
        assert (low, high) == pytest.approx((known.low, known.high), abs=1e-12)
    np.testing.assert_allclose(error_bars(display.ax_), 100.0 * display.frequency_interval.T)
    p = 0.4  # far from the ends it is the usual standard error
    assert np.ptp(display.frequency_interval[:, 2]) == pytest.approx(
        2.0 * np.sqrt(p * (1.0 - p) / 50), rel=0.02
    )


def test_one_panel_without_relevances():
    display = SelectionFrequencyDisplay.from_supports(SUPPORTS, feature_names=list("abcd"))
    assert display.relevance_ax_ is None
    assert display.relevance_bars_ is None
    assert len(display.figure_.axes) == 1
    assert rows(display) == ["a", "b", "c", "d"]


def test_additional_features_are_counted():
    supports = np.zeros((10, 2000), dtype=bool)
    supports[:, 30] = supports[:3, 40] = supports[:2, 50] = True
    display = SelectionFrequencyDisplay(supports, supports).plot(max_features=2)
    assert rows(display) == ["x30", "x40"]
    assert display.note_.get_text() == "and 1998 more, selected in at most 20 %"
    display.plot(max_features=3)
    assert display.note_.get_text() == "and 1997 more, never selected"
    display.plot(max_features=3, sort=False)
    assert display.ax_.get_ylim() == display.relevance_ax_.get_ylim()
    display.figure_.canvas.draw()


def test_reference_line():
    display = SelectionFrequencyDisplay.from_supports(SUPPORTS, reference=0.6)
    assert set(display.reference_.get_xdata()) == {60.0}
    assert [text.get_text() for text in display.ax_.texts] == ["60 %"]
    assert display.plot().reference_ is None


@pytest.mark.parametrize(("scheme", "n_rows"), [("subsample", 18), ("bootstrap", 60)])
def test_resamples(scheme, n_rows):
    ByCorrelation.fitted_rows.clear()
    estimator = ByCorrelation()
    display = SelectionFrequencyDisplay.from_resamples(
        estimator, X, Y, n_resamples=12, scheme=scheme, fraction=0.3, random_state=0
    )
    assert not hasattr(estimator, "feature_relevance_")
    assert display.supports.shape == (12, 4)
    assert len(ByCorrelation.fitted_rows) == 12
    for number, (inputs, targets) in enumerate(ByCorrelation.fitted_rows[:12]):
        assert inputs.shape == (n_rows, 4)
        found = [np.flatnonzero(np.equal(X, row).all(axis=1)).item() for row in inputs]
        np.testing.assert_array_equal(targets, Y[found])
        assert (len(set(found)) == n_rows) == (scheme == "subsample")
        refit = ByCorrelation().fit(inputs, targets).feature_relevance_
        np.testing.assert_array_equal(display.relevances[number], refit)
        np.testing.assert_array_equal(display.supports[number], refit > 0.0)
    assert display.frequency[2] == 1.0
    assert rows(display)[0] == "x2"


def test_resamples_do_not_depend_on_n_jobs():
    def draw(seed, n_jobs):
        with parallel_config(backend="threading"):
            return SelectionFrequencyDisplay.from_resamples(
                ByCorrelation(), X, Y, n_resamples=6, random_state=seed, n_jobs=n_jobs
            ).relevances

    first = draw(3, None)
    np.testing.assert_array_equal(draw(3, 2), first)
    assert not np.array_equal(draw(4, None), first)


def test_classes_keep_their_frequencies():
    Classes.counts.clear()
    y = np.repeat([0, 1], [50, 10])
    SelectionFrequencyDisplay.from_resamples(Classes(), X, y, n_resamples=5, random_state=0)
    np.testing.assert_array_equal(Classes.counts, [[25, 5]] * 5)


def test_selectors_of_scikit_learn_and_pipelines():
    selector = make_pipeline(StandardScaler(), SelectKBest(f_regression, k=1))
    display = SelectionFrequencyDisplay.from_resamples(
        selector, X.tolist(), Y, n_resamples=4, random_state=0
    )
    assert display.relevances is None
    np.testing.assert_array_equal(display.frequency, [0.0, 0.0, 1.0, 0.0])


def test_names_are_those_of_the_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["age", "sex", "bmi", "map"])
    options = {"n_resamples": 3, "random_state": 0}
    display = SelectionFrequencyDisplay.from_resamples(ByCorrelation(), frame, Y, **options)
    assert display.feature_names == ["age", "sex", "bmi", "map"]
    display = SelectionFrequencyDisplay.from_resamples(
        ByCorrelation(), frame, Y, feature_names=list("abcd"), **options
    )
    assert rows(display)[0] == "c"


def test_given_axes_are_used():
    figure, axes = pyplot.subplots(1, 2)
    display = SelectionFrequencyDisplay.from_supports(SUPPORTS, SUPPORTS, ax=axes)
    assert [display.ax_, display.relevance_ax_] == list(axes)
    assert display.figure_ is figure
    with pytest.raises(
        ValueError, match="ax must be 2 matplotlib axes, for the frequencies and the"
    ):
        SelectionFrequencyDisplay.from_supports(SUPPORTS, SUPPORTS, ax=axes[0])


def test_one_resample_and_nothing_kept():
    display = SelectionFrequencyDisplay.from_supports(np.zeros((1, 2)), np.zeros((1, 2)))
    assert widths(display.relevance_bars_) == [0.0, 0.0]
    display.figure_.canvas.draw()


def test_bad_data():
    with pytest.raises(ValueError, match="supports must contain only True and False"):
        SelectionFrequencyDisplay([[0.3, 0.0]])
    with pytest.raises(ValueError, match=r"supports must be a matrix.*one row per resample"):
        SelectionFrequencyDisplay([True, False])
    with pytest.raises(ValueError, match=r"relevances must have the shape of supports, \(4, 4\)"):
        SelectionFrequencyDisplay(SUPPORTS, SUPPORTS[:2])
    with pytest.raises(ValueError, match="relevances must be finite and non-negative"):
        SelectionFrequencyDisplay(SUPPORTS, -1.0 * SUPPORTS)
    with pytest.raises(ValueError, match="must contain 4 names"):
        SelectionFrequencyDisplay(SUPPORTS, feature_names=["a"])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_resamples": 0}, "n_resamples must be an integer of at least 1"),
        ({"scheme": "jackknife"}, "scheme must be one of 'subsample', 'bootstrap'"),
        ({"fraction": 1.0}, 'fraction must be below 1; got 1.0. .* scheme="bootstrap"'),
        ({"fraction": 0.0}, "fraction must be a positive number"),
        (
            {"reference": 60.0, "n_resamples": 2},
            "reference must be a frequency of at most 1; got 60",
        ),
    ],
)
def test_bad_options(options, match):
    with pytest.raises(ValueError, match=match):
        SelectionFrequencyDisplay.from_resamples(ByCorrelation(), X, Y, random_state=0, **options)


def test_estimators_without_relevances_raise():
    with pytest.raises(TypeError, match="SelectionFrequencyDisplay needs.*LinearRegression has no"):
        SelectionFrequencyDisplay.from_resamples(LinearRegression(), X, Y, n_resamples=2)
