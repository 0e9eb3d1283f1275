"""Regression of counts: warnings about omitted exposures, gross counts and crowded models."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import SparseBayesCountRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.likelihoods import Poisson

RNG = np.random.default_rng(7)
X = RNG.uniform(size=(150, 1))
LOG_RATE = 1.0 + 1.2 * np.sin(2.0 * np.pi * X[:, 0])
Y = RNG.poisson(np.exp(LOG_RATE))
EXPOSURE = RNG.uniform(0.2, 3.0, size=150)
EXPOSED = RNG.poisson(EXPOSURE * np.exp(LOG_RATE))
MODEL = SparseBayesCountRegressor(KernelBasis("rbf", gamma=5.0)).fit(X, EXPOSED, exposure=EXPOSURE)


@pytest.mark.parametrize("method", ["score", "deviance", "log_predictive_density"])
def test_scores_without_the_exposure_of_the_fit(method):
    with pytest.warns(UserWarning, match="was fitted with exposure, and none is given here"):
        omitted = getattr(MODEL, method)(X, EXPOSED)
    np.testing.assert_array_equal(getattr(MODEL, method)(X, EXPOSED, exposure=1.0), omitted)


def test_reports_need_the_exposure_of_the_fit():
    assert MODEL.has_exposure_
    with pytest.raises(ValueError, match="fitted with exposure; give the exposure of the rows"):
        MODEL.report(X, EXPOSED)
    for unit in (None, 1.0, np.ones(150)):
        assert not SparseBayesCountRegressor(LinearBasis()).fit(X, Y, exposure=unit).has_exposure_


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["atom", "tied"])
@pytest.mark.parametrize("gross", [1e5, 1e9])
def test_one_gross_count_is_a_warning(precision, gross):
    counts = np.where(np.arange(150) == 5, gross, Y)
    with pytest.warns(UserWarning, match=r"all but impossible .* likelihood=\"auto\"") as caught:
        SparseBayesCountRegressor(precision=precision).fit(X, counts)
    assert [each.category for each in caught] == [UserWarning]
    assert f"the largest count, {gross:g} in row 5" in str(caught[0].message)
    # As advised: no warning, and predictions of the right size for the other rows.
    better = SparseBayesCountRegressor(precision="tied", likelihood="auto").fit(X, counts)
    assert better.predict(X).min() > 0.1
    # Rows of weight zero are no reason to warn.
    weight = np.where(np.arange(150) == 5, 0.0, 1.0)
    SparseBayesCountRegressor(precision=precision).fit(X, counts, sample_weight=weight)


@pytest.mark.slow
@pytest.mark.parametrize("is_copied", [False, True])
def test_a_kernel_for_every_other_row_is_a_warning(is_copied):
    rng = np.random.default_rng(11)
    counts = rng.negative_binomial(2.0, 2.0 / (2.0 + np.exp(1.0 + LOG_RATE)))
    times = rng.integers(1, 4, size=150)
    model = SparseBayesCountRegressor(likelihood="auto")
    rows = np.repeat(np.arange(150), times if is_copied else 1)
    weight = None if is_copied else times.astype(float)
    with pytest.warns(UserWarning, match=r"basis functions for 150 distinct rows.*by their mean"):
        model.fit(X[rows], counts[rows], sample_weight=weight)
    # Evidence does favour that: with smooth rates and overdispersion it is smaller.
    smooth = SparseBayesCountRegressor(KernelBasis("rbf", gamma=5.0), likelihood="auto")
    smooth.fit(X, counts, sample_weight=times)
    assert smooth.log_evidence_ < model.log_evidence_ - 20.0
    # As advised:
    model.fit(X, counts, sample_weight=times / times.mean())
    assert len(model.coef_) < 10
    assert model.shape_ < 5.0


def test_probabilities_of_rates_below_the_range_of_numbers():
    counts = Poisson().distribution(np.array([-800.0, -800.0, 0.0]))
    np.testing.assert_array_equal(counts.logpmf(np.array([0.0, 2.0, 0.0])), [0.0, -np.inf, -1.0])
    np.testing.assert_allclose(counts.cdf(np.array([0.0, 2.0, 0.0])), [1.0, 1.0, np.exp(-1.0)])
