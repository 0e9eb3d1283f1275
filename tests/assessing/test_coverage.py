"""Coverage inside and outside the range of the training inputs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVMClassifier, RVMRegressor, SampledRVMRegressor, coverage_outside
from relvec.assessing import HeldOutMetrics
from relvec.assessing.held_out_range import select_outside

RNG = np.random.default_rng(0)
X = RNG.uniform(-10.0, 10.0, size=(60, 1))
Y = np.sinc(X[:, 0] / np.pi) + 0.1 * RNG.normal(size=60)
CLOUD = RNG.normal(size=(50, 3)) * [1.0, 10.0, 0.1]


def record(function, seed, n=100):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10.0, 10.0, size=(n, 1))
    return X, function(X[:, 0]) + 0.2 * rng.normal(size=n)


def test_predictions_are_those_of_fits_by_hand():
    result = coverage_outside(RVMRegressor(gamma=0.2), X, Y, share=0.3, cv=4, random_state=3)
    order = np.argsort(X[:, 0])
    outside = np.sort(np.r_[order[:9], order[-9:]])
    np.testing.assert_array_equal(np.flatnonzero(result.is_outside), outside)
    inside = np.setdiff1d(np.arange(60), outside)
    model = RVMRegressor(gamma=0.2).fit(X[inside], Y[inside])
    mean, std = model.predict(X[outside], return_std=True)
    error = Y[outside] - mean
    np.testing.assert_allclose(result.outside.error, error)
    np.testing.assert_allclose(result.outside.quantile, error / std)
    np.testing.assert_allclose(result.outside.log_density, norm.logpdf(Y[outside], mean, std))
    assert result.outside.rmse.value == pytest.approx(np.sqrt(np.mean(error**2)))
    low, high = model.predict_interval(X[outside], 0.5).T
    share = np.mean((low <= Y[outside]) & (Y[outside] <= high))
    assert result.outside.coverage(0.5).value == share
    seed = np.random.RandomState(3).randint(np.iinfo(np.int32).max)
    found = np.empty(len(inside))
    for train, test in KFold(4, shuffle=True, random_state=seed).split(inside):
        fold = RVMRegressor(gamma=0.2).fit(X[inside[train]], Y[inside[train]])
        found[test] = Y[inside[test]] - fold.predict(X[inside[test]])
    np.testing.assert_allclose(result.inside.error, found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [lambda x: np.sinc(x / np.pi), np.sin, lambda x: 0.5 * np.sin(x) + 0.5 * x],
    ids=["sinc", "sine", "trend"],
)
def test_intervals_of_the_default_estimator_cover_outside(function):
    found = []
    for seed in range(7000, 7006):
        result = coverage_outside(RVMRegressor(), *record(function, seed))
        found.append([m.coverage(0.95).value for m in (result.inside, result.outside)])
    inside, outside = np.mean(found, axis=0)
    assert 0.92 < inside < 0.98
    assert 0.87 < outside <= 1.0


@pytest.mark.slow
def test_plain_error_bars_do_not_cover_outside():
    found, gains = [], []
    for seed in range(7000, 7004):
        data = record(np.sin, seed)
        plain = coverage_outside(RVMRegressor(error_bars="plain"), *data, cv=2)
        found.append(plain.outside.coverage(0.95).value)
        gains.append(coverage_outside(RVMRegressor(), *data, cv=2).compare(plain)["MLPD"].value)
    assert np.mean(found) < 0.8
    assert np.mean(gains) > 0.5


def test_standard_errors():
    rng = np.random.default_rng(5)
    draws = rng.normal(size=(4000, 50))
    found = [HeldOutMetrics(each, each, norm.logpdf(each)) for each in draws]
    for metric in (lambda m: m.rmse, lambda m: m.mlpd, lambda m: m.coverage(0.5)):
        values = np.array([metric(each) for each in found])
        assert values[:, 1].mean() == pytest.approx(values[:, 0].std(), rel=0.05)
    ends = np.array([each.coverage_interval(0.5) for each in found])
    assert np.mean((ends[:, 0] <= 0.5) & (ends[:, 1] >= 0.5)) == pytest.approx(0.95, abs=0.02)


def test_paired_differences():
    one = coverage_outside(RVMRegressor(gamma=0.2), X, Y)
    two = coverage_outside(BayesianRidge(), X, Y)
    paired = one.compare(two)
    rows = one.outside.log_density - two.outside.log_density
    assert paired["MLPD"].value == pytest.approx(one.outside.mlpd.value - two.outside.mlpd.value)
    assert paired["MLPD"].standard_error == pytest.approx(rows.std(ddof=1) / np.sqrt(12))
    assert one.compare(one)["MSE"] == (0.0, 0.0)
    gap = one.difference()["RMSE"]
    expected = np.hypot(one.inside.rmse.standard_error, one.outside.rmse.standard_error)
    assert gap.standard_error == pytest.approx(expected)
    with pytest.raises(ValueError, match="the same rows"):
        one.compare(coverage_outside(BayesianRidge(), X, Y, share=0.4))


@pytest.mark.parametrize(
    ("where", "feature", "expected"),
    [
        ("last", 1, lambda X: X[:, 1] > np.sort(X[:, 1])[-11]),
        ("first", "x2", lambda X: X[:, 2] < np.sort(X[:, 2])[10]),
        ("ends", 0, lambda X: (X[:, 0] < np.sort(X[:, 0])[5]) | (X[:, 0] > np.sort(X[:, 0])[-6])),
        ("auto", 0, lambda X: (X[:, 0] < np.sort(X[:, 0])[5]) | (X[:, 0] > np.sort(X[:, 0])[-6])),
    ],
)
def test_ends_of_a_feature(where, feature, expected):
    found, text = select_outside(CLOUD, where, feature, 0.2)
    np.testing.assert_array_equal(found, expected(CLOUD))
    assert f"x{str(feature)[-1]}" in text


def test_outermost_rows_do_not_depend_on_units_or_collinear_features():
    found, _ = select_outside(CLOUD, "auto", None, 0.2)
    centred = CLOUD - CLOUD.mean(axis=0)
    distance = np.einsum("ni,ij,nj->n", centred, np.linalg.inv(np.cov(CLOUD.T)), centred)
    np.testing.assert_array_equal(found, distance > np.sort(distance)[-11])
    wide = np.column_stack([CLOUD, CLOUD @ [1.0, 2.0, 3.0], np.ones(50)])
    np.testing.assert_array_equal(select_outside(wide, "outermost", None, 0.2)[0], found)


def test_ties_stay_together():
    values = np.repeat(np.arange(10.0), 5)[:, np.newaxis]
    found, _ = select_outside(values, "last", None, 0.12)  # six rows, of which one is tied
    assert found.sum() == 5


@pytest.mark.slow
def test_tables_pipelines_masks_and_options():
    table = pd.DataFrame({"time": X[:, 0], "other": RNG.normal(size=60)})
    model = make_pipeline(StandardScaler(), RVMRegressor())
    result = coverage_outside(model, table, Y, where="last", feature="time")
    assert "time" in result.held_out
    assert result.name == "RVMRegressor"
    mask = X[:, 0] > 5.0
    variances = np.full(60, 0.01)
    known = coverage_outside(
        RVMRegressor(gamma=0.2), X, Y, where=mask, fit_params={"noise_variance": variances}
    )
    assert known.outside.n_rows == mask.sum()
    for noise in ("heteroscedastic", "student_t"):
        other = coverage_outside(RVMRegressor(gamma=0.2, noise=noise), X, Y, n_jobs=2)
        assert np.isfinite(other.outside.mlpd.value)
    positive = coverage_outside(RVMRegressor(gamma=0.2, target_transform="log"), X, Y + 2.0)
    assert positive.inside.coverage(0.95).value > 0.8
    assert coverage_outside(SampledRVMRegressor(gamma=0.2), X, Y, cv=2).outside.n_rows == 12


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"where": "middle"}, ValueError, "where"),
        ({"where": np.zeros(3, dtype=bool)}, ValueError, "a mask with True or False"),
        ({"where": np.zeros(60, dtype=bool)}, ValueError, "0 rows are outside"),
        ({"share": 1.5}, ValueError, "share"),
        ({"share": 0.9}, ValueError, "twice cv"),
        ({"cv": 1}, ValueError, "cv"),
        ({"feature": "x7"}, ValueError, "feature must be one of"),
        ({"feature": 3}, ValueError, "feature must be below 1"),
        ({"where": "outermost", "feature": 0}, ValueError, "Omit feature"),
    ],
)
def test_bad_options_raise(options, kind, message):
    with pytest.raises(kind, match=message):
        coverage_outside(RVMRegressor(gamma=0.2), X, Y, **options)


def test_bad_data_and_estimators_raise():
    with pytest.raises(TypeError, match="needs a regressor"):
        coverage_outside(RVMClassifier(), X, Y)
    with pytest.raises(TypeError, match="no predictive standard deviations"):
        coverage_outside(LinearRegression(), X, Y)
    with pytest.raises(ValueError, match="one finite target"):
        coverage_outside(RVMRegressor(), X, Y[:4])
    with pytest.raises(ValueError, match="give feature"):
        coverage_outside(RVMRegressor(), CLOUD, CLOUD[:, 0], where="last")
    with pytest.raises(ValueError, match="0 rows are outside and 1 inside"):
        coverage_outside(RVMRegressor(), X[:1], Y[:1])
    with pytest.raises(TypeError, match="feature must be an integer"):
        coverage_outside(RVMRegressor(), CLOUD, CLOUD[:, 0], where="last", feature=0.5)
    with pytest.raises(ValueError, match="with NaN or infinite values"):
        coverage_outside(RVMRegressor(), X, np.full(60, np.nan))
