"""`SparseBayesDensity` with repeated points: weights, histograms; and the order of columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from relvec import SparseBayesDensity

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(3.0, 2.0, size=(300, 1))
EXPONENTIAL = RNG.exponential(size=(400, 1))


@pytest.mark.slow
def test_weights_are_frequencies_of_more_than_a_thousand_points():
    z, weight = EXPONENTIAL, np.random.default_rng(5).integers(2, 5, size=400)
    weighted = SparseBayesDensity().fit(z, sample_weight=weight)
    repeated = SparseBayesDensity().fit(np.repeat(z, weight, axis=0))
    assert repeated.n_points_ > 1000
    x = np.linspace(-1.0, 5.0, 20)[:, None]
    assert weighted.pdf(x) == pytest.approx(repeated.pdf(x), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.1, 0.7, -0.7])
def test_the_order_of_two_columns_does_not_matter(correlation):
    rng = np.random.default_rng(12)
    X = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], 150)
    X[:50, 0] += 3.0
    one, other = SparseBayesDensity().fit(X), SparseBayesDensity().fit(X[:, ::-1])
    assert other.score_samples(X[:, ::-1]) == pytest.approx(one.score_samples(X), abs=1e-6)
    drawn = one.sample(5000, random_state=0)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(np.corrcoef(X.T)[0, 1], abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1e3, 1e4, 1e6, 1e9])
@pytest.mark.parametrize("options", [{}, {"widths": [0.1, 0.01]}])
def test_large_weights_are_not_worse_than_the_reference(weight, options):
    X = np.random.default_rng(1).normal(size=(200, 1))
    model = SparseBayesDensity(**options)
    with pytest.warns(UserWarning, match="200 different points sum to .* by their mean"):
        model.fit(X, sample_weight=np.full(200, weight))
    score = model.score_samples(X)
    assert score.mean() > norm(X.mean(), X.std()).logpdf(X).mean() - 0.02
    assert score.min() > -12.0
    assert model.cdf(model.ppf([0.1, 0.9])[:, None]) == pytest.approx([0.1, 0.9])


@pytest.mark.slow
def test_repeated_points_do_not_warn_if_they_are_few_or_on_a_grid():
    SparseBayesDensity().fit(NORMAL, sample_weight=np.full(300, 100.0))
    model = SparseBayesDensity().fit([[0.0], [1.0], [2.0]], sample_weight=[1e5, 2e5, 1e5])
    assert model.pdf([[1.0]])[0] > model.pdf([[0.0]])[0]


@pytest.mark.slow
def test_large_weights_of_two_variables_are_not_worse_than_the_reference():
    X = np.random.default_rng(2).normal(size=(60, 2))
    with pytest.warns(UserWarning, match="60 different points"):
        model = SparseBayesDensity().fit(X, sample_weight=np.full(60, 1e6))
    reference = sum(norm(x.mean(), x.std()).logpdf(x).mean() for x in X.T)
    assert model.score_samples(X).mean() > reference - 0.05


@pytest.mark.slow
@pytest.mark.parametrize("n_points", [10**5, 10**7])
def test_a_histogram_of_many_points_gives_a_smooth_density(n_points):
    ends = np.linspace(-4.0, 4.0, 201)
    share = np.diff(norm.cdf(ends))
    counts = np.random.default_rng(31).multinomial(n_points, share / share.sum())
    X = 0.5 * (ends[1:] + ends[:-1])[:, None]
    model = SparseBayesDensity().fit(X, sample_weight=counts)
    x = np.linspace(-2.0, 2.0, 101)
    density, band = model.pdf(x[:, None], coverage=0.95)
    truth = norm.pdf(x) / share.sum()
    assert density == pytest.approx(truth, rel={10**5: 0.03, 10**7: 0.008}[n_points])
    assert np.mean((band[:, 0] < truth) & (truth < band[:, 1])) > 0.85
