"""Test of constant noise: size, power, weights and inputs of any kind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.describing import NoiseConstancy, assess_noise_constancy
from relvec.describing.noise import _make_terms, _test


def make_rows(seed, n=120, varies=False, heavy=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    noise = rng.standard_t(4, size=n) if heavy else rng.normal(size=n)
    std = 0.5 * np.exp(0.5 * X[:, 0]) if varies else 0.5
    return X, X[:, 0] - X[:, 1] + std * noise


def find_p_values(count, **kind):
    model = SparseBayesRegressor(LinearBasis(), effort="fast", calibrate=False)
    found = []
    for seed in range(700, 700 + count):
        X, y = make_rows(seed, **kind)
        found.append(assess_noise_constancy(model.fit(X, y), X, y).p_value)
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("heavy", [False, True])
def test_size(heavy):
    rejected = np.mean(find_p_values(150, heavy=heavy) < 0.05)
    # three standard errors of a share of 0.05 are 0.053
    assert rejected < 0.105


@pytest.mark.slow
def test_power():
    assert np.mean(find_p_values(30, varies=True) < 0.05) > 0.8


def test_statistic_is_that_of_a_regression():
    rng = np.random.default_rng(0)
    values, square = rng.normal(size=(50, 2)), rng.normal(size=50) ** 2
    design = np.column_stack([np.ones(50), values, values**2])
    fitted = design @ np.linalg.lstsq(design, square, rcond=None)[0]
    explained = ((fitted - square.mean()) ** 2).sum() / 4
    expected = explained / (((square - fitted) ** 2).sum() / 45)
    found = _test(square, _make_terms(values, np.ones(50)), np.ones(50))
    assert found.n_terms == 4
    assert found.statistic == pytest.approx(expected, rel=1e-9)
    assert found.p_value == pytest.approx(stats.f.sf(expected, 4, 45), rel=1e-9)


def test_weights_are_copies_of_rows():
    X, y = make_rows(1, varies=True)
    count = np.random.default_rng(1).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), count)
    weighted = SparseBayesRegressor(LinearBasis()).fit(X, y, sample_weight=count)
    mine = assess_noise_constancy(weighted, X, y, count)
    # leave-one-out drops a row with all its copies, so the same model is used for both
    mean, std = weighted.leave_one_out(X, y, count)
    square = (((y - mean) / std) ** 2)[rows]
    values = np.column_stack([weighted.predict(X), X])[rows]
    copied = _test(square, _make_terms(values, np.ones(len(rows))), np.ones(len(rows)))
    assert mine.statistic == pytest.approx(copied.statistic, rel=1e-6)
    assert mine.p_value == pytest.approx(copied.p_value, rel=1e-6)


@pytest.mark.slow
def test_recommendation_and_size_of_the_effect():
    X, y = make_rows(2, n=250, varies=True)
    default = RVMRegressor().fit(X, y)
    found = assess_noise_constancy(default, X, y)
    assert found.recommends_heteroscedastic
    assert 2.0 < found.ratio < 8.0
    better = RVMRegressor(noise="heteroscedastic").fit(X, y)
    assert not assess_noise_constancy(better, X, y).recommends_heteroscedastic


def test_inputs_of_any_kind():
    X, y = make_rows(3, varies=True)
    linear = SparseBayesRegressor(LinearBasis())
    rows = sparse.csr_array(X)
    assert assess_noise_constancy(linear.fit(rows, y), rows, y).n_terms == 2  # the prediction
    piped = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.3)).fit(X, y)
    assert assess_noise_constancy(piped, X, y).n_terms == 6
    assert assess_noise_constancy(piped, X, y, max_features=0).n_terms == 2
    nothing = SparseBayesRegressor(LinearBasis(), min_gain=1e6).fit(X, y)
    assert assess_noise_constancy(nothing, X, y, max_features=0) == NoiseConstancy(0.0, 1.0, 0, 1.0)
    with pytest.raises(ValueError, match="y must have one output"):
        assess_noise_constancy(linear.fit(X, np.column_stack([y, y])), X, np.column_stack([y, y]))
