"""The Laplace prior as users meet it."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import RVMClassifier, SparseBayesRegressor, denoise
from relvec.bases import CosineBasis, LinearBasis
from relvec.priors import LaplacePrior, RateHyperprior, SmoothnessPrior, resolve_prior
from relvec.testing import check_prior


@pytest.fixture
def linear():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    return X, X[:, 0] - 0.5 * X[:, 1] + rng.standard_normal(60)


def test_the_prior_is_a_number_or_how_to_learn_it():
    assert LaplacePrior(2).bind(10).rate == 2.0
    assert LaplacePrior(0.0).bind(10).rate == 0.0
    learnt = LaplacePrior("auto", shape=2, inverse_scale=3).bind(10).rate_hyperprior
    assert learnt == RateHyperprior(2.0, 3.0)
    assert isinstance(resolve_prior("laplace", allow_density=True), LaplacePrior)
    assert SmoothnessPrior().bind(10).rate == 0.0


@pytest.mark.parametrize("rate", [-1.0, float("nan"), float("inf"), "atuo", None, True])
def test_what_is_no_rate_is_refused(rate):
    with pytest.raises((TypeError, ValueError), match=r'rate must be .*or "auto"'):
        LaplacePrior(rate).bind(10)


@pytest.mark.parametrize("name", ["shape", "inverse_scale"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("inf")])
def test_what_is_no_density_of_the_rate_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a positive number"):
        LaplacePrior(**{name: value}).bind(10)


@pytest.mark.parametrize("prior", [LaplacePrior(), LaplacePrior(1.0), LaplacePrior(0)], ids=repr)
def test_the_prior_conforms(prior):
    check_prior(prior)


@pytest.mark.parametrize("prior", ["laplace", LaplacePrior(1.0)], ids=repr)
@pytest.mark.parametrize("noise", [None, 1.0])
def test_units_of_columns_and_target_do_not_matter(linear, prior, noise):
    X, y = linear
    scale = np.exp(np.random.default_rng(1).uniform(-8, 8, X.shape[1]))

    def fit(X, y, noise):
        model = SparseBayesRegressor(
            LinearBasis(), prior=prior, min_gain=1e-3, noise_variance=noise
        )
        return model.fit(X, y)

    before = fit(X, y, noise)
    after = fit(X * scale + 3.0, 1e3 * y - 7.0, None if noise is None else 1e6 * noise)
    assert 0 < len(before.relevance_) < X.shape[1]
    np.testing.assert_array_equal(before.relevance_, after.relevance_)
    assert after.prior_rate_ == pytest.approx(before.prior_rate_, rel=1e-3)
    np.testing.assert_allclose(after.coef_ * scale[after.relevance_], 1e3 * before.coef_, rtol=1e-3)


def test_the_rate_is_told(linear):
    X, y = linear
    assert SparseBayesRegressor(LinearBasis()).fit(X, y).prior_rate_ == 0.0
    given = SparseBayesRegressor(LinearBasis(), prior=LaplacePrior(0.5)).fit(X, y)
    assert given.prior_rate_ == 0.5
    noise = np.random.default_rng(3).standard_normal(60)
    learnt = SparseBayesRegressor(LinearBasis(), prior="laplace").fit(X, np.c_[y, noise])
    assert learnt.prior_rate_.shape == (2,)
    assert 0.0 < learnt.prior_rate_[0] < learnt.prior_rate_[1]  # no signal, large rate


def test_weights_are_smaller_than_under_the_flat_prior(linear):
    X, y = linear
    flat, shrunk = (
        SparseBayesRegressor(LinearBasis(), prior=prior, min_gain=1e-3).fit(X, y)
        for prior in ("flat", LaplacePrior(2.0))
    )
    assert len(shrunk.coef_) < len(flat.coef_)
    assert np.abs(shrunk.coef_).sum() < np.abs(flat.coef_).sum()


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["sequential", "mackay", "em", "textbook", "random_order"])
@pytest.mark.parametrize("prior", ["laplace", LaplacePrior(1.0)], ids=repr)
def test_solvers_agree(linear, solver, prior):
    X, y = linear
    reference = SparseBayesRegressor(LinearBasis(), prior=prior, min_gain=0.0).fit(X, y)
    other = SparseBayesRegressor(LinearBasis(), prior=prior, min_gain=0.0, solver=solver).fit(X, y)
    np.testing.assert_array_equal(other.relevance_, reference.relevance_)
    assert other.prior_rate_ == pytest.approx(reference.prior_rate_, rel=0.01)
    np.testing.assert_allclose(other.coef_, reference.coef_, rtol=0.02, atol=1e-3)


def test_what_cannot_use_it_says_so(linear):
    X, y = linear
    for prior in ("laplace", LaplacePrior(1.0)):
        with pytest.raises(ValueError, match="Laplace priors are available for regression only"):
            RVMClassifier(prior=prior).fit(X, y > 0)
        with pytest.raises(ValueError, match="Laplace priors are available for regression only"):
            denoise(y, prior=prior)
    assert resolve_prior(LaplacePrior(0.0)).bind(10).rate == 0.0  # which is the flat prior
    grid = np.arange(60.0)[:, np.newaxis]
    for prior in ("laplace", LaplacePrior(1.0)):
        model = SparseBayesRegressor(CosineBasis(), prior=prior, solver="orthonormal")
        with pytest.raises(ValueError, match="no Laplace prior"):
            model.fit(grid, y)


def test_its_rule_is_not_drawn():
    pytest.importorskip("matplotlib")
    from relvec.plotting import ShrinkageDisplay

    with pytest.raises(ValueError, match="Laplace priors are available for regression only"):
        ShrinkageDisplay.from_priors(["laplace"])
