"""Rank histograms of chains."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

pytest.importorskip("matplotlib")

from scipy.stats import rankdata

from relvec.plotting import RankDisplay

RNG = np.random.default_rng(1)


class Sampled(BaseEstimator):
    def fit(self, X, y=None):
        self.traces_ = {"a": RNG.normal(size=(4, 200)), "b": RNG.normal(size=(4, 200))}
        return self


def autoregressive(correlation, n_chains, n_draws, seed):
    noise = np.random.default_rng(seed).normal(size=(n_chains, n_draws))
    draws = noise.copy()
    for t in range(1, n_draws):
        draws[:, t] = correlation * draws[:, t - 1] + np.sqrt(1 - correlation**2) * noise[:, t]
    return draws


def test_counts_are_those_of_the_ranks():
    display = RankDisplay.from_estimator(Sampled().fit(None), n_bins=10)
    assert list(display.counts_) == ["a", "b"]
    draws = display.draws["a"]
    ranks = rankdata(draws).reshape(draws.shape)
    expected = [np.histogram(row, np.linspace(0.5, 800.5, 11))[0] for row in ranks]
    np.testing.assert_array_equal(display.counts_["a"], expected)
    np.testing.assert_array_equal(display.counts_["a"].sum(axis=0), np.full(10, 80))
    assert display.axes_[0].get_xlabel() == "rank of a"
    labels = [text.get_text() for text in display.axes_[0].get_yticklabels()]
    assert labels == ["chain 1", "chain 2", "chain 3", "chain 4"]
    display.figure_.canvas.draw()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("correlation", "coverage", "error"),
    # coverage and its standard deviation over 100 other plots
    [(0.0, 0.951, 0.027), (0.5, 0.954, 0.026), (0.9, 0.923, 0.048)],
)
def test_band_holds_the_bars_of_chains_with_the_same_distribution(correlation, coverage, error):
    draws = autoregressive(correlation, 40, 1000, 2).reshape(10, 4, 1000)
    display = RankDisplay({str(index): each for index, each in enumerate(draws)}).plot()
    held = []
    for name, counts in display.counts_.items():
        low, high = display.band_[name]
        held.append(((counts >= low) & (counts <= high)).mean())
    assert abs(np.mean(held) - coverage) < 3.0 * error / np.sqrt(len(held))


def test_chain_that_differs_leaves_the_band():
    draws = autoregressive(0.5, 4, 1000, 3)
    draws[3] += 1.0
    display = RankDisplay.from_draws({"a": draws})
    low, high = display.band_["a"]
    outside = (display.counts_["a"] < low) | (display.counts_["a"] > high)
    assert outside[3].mean() > 0.7


def test_ties_are_broken_at_random_and_always_in_the_same_way():
    draws = np.random.default_rng(4).integers(0, 3, size=(4, 500))
    first = RankDisplay.from_draws({"a": draws})
    again = RankDisplay.from_draws({"a": draws})
    np.testing.assert_array_equal(first.counts_["a"], again.counts_["a"])
    low, high = first.band_["a"]
    assert ((first.counts_["a"] >= low) & (first.counts_["a"] <= high)).mean() > 0.85
    constant = RankDisplay.from_draws({"a": np.ones((2, 100))})
    assert constant.axes_[0].get_title(loc="left") == "constant"


def test_spare_axes_are_removed_and_given_axes_are_used():
    from matplotlib import pyplot

    draws = {name: RNG.normal(size=(2, 50)) for name in "abcd"}
    display = RankDisplay.from_draws(draws)
    assert len(display.axes_) == len(display.figure_.axes) == 4
    figure, axes = pyplot.subplots()
    display = RankDisplay.from_draws(draws, names="c", ax=axes)
    assert display.axes_ == [axes]
    assert display.figure_ is figure


def test_bad_input():
    with pytest.raises(NotFittedError):
        RankDisplay.from_estimator(Sampled())
    with pytest.raises(ValueError, match="must have 2 or more chains, which are compared; got 1"):
        RankDisplay({"a": np.zeros((1, 50))})
    with pytest.raises(ValueError, match="n_bins"):
        RankDisplay({"a": np.zeros((2, 50))}).plot(n_bins=1)
