"""Known noise variances of rows: against dense formulas, copies of rows and refits."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import DRVMRegressor, RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.io import load, save


def make_rows(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10.0, 10.0, size=(n, 1))
    variance = 0.05**2 * np.exp(rng.normal(0.0, 1.2, n))
    y = np.sinc(X[:, 0] / np.pi) + np.sqrt(variance) * rng.normal(size=n)
    return X, y, variance


def dense_log_evidence(model, X, y, variance):
    """Log density of the contrasts of the targets, under the prior of the fitted model."""
    atoms = model.atoms_.evaluate(X)
    prior = (atoms / model.weight_precision_) @ atoms.T
    covariance = prior + np.diag(variance)
    if not model.fit_intercept:
        return multivariate_normal(np.zeros(len(y)), covariance).logpdf(y)
    # A flat intercept is integrated out: N(y | w0, C) dw0, as a difference of two Gaussians.
    inverse = np.linalg.inv(covariance)
    ones = np.ones(len(y))
    total = ones @ inverse @ ones
    mean = ones @ inverse @ y / total
    value = multivariate_normal(np.full(len(y), mean), covariance).logpdf(y)
    # int exp(-total (w0 - mean)^2 / 2) dw0, and the length of the unit vector along the constant
    return value + 0.5 * np.log(2.0 * np.pi / total) + 0.5 * np.log(len(y))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scale_noise", [True, False])
def test_evidence_is_that_of_the_dense_formula(fit_intercept, scale_noise):
    X, y, variance = make_rows()
    model = RVMRegressor(gamma=0.06, fit_intercept=fit_intercept, scale_noise=scale_noise)
    model.fit(X, y, noise_variance=variance)
    assert scale_noise or model.noise_scale_ == pytest.approx(1.0, rel=1e-12)
    dense = dense_log_evidence(model, X, y, model.noise_scale_ * variance)
    assert model.log_evidence_ == pytest.approx(dense, abs=1e-6)


def test_equal_variances_are_a_constant():
    X, y, _ = make_rows()
    constant = RVMRegressor(gamma=0.06, noise_variance=0.01).fit(X, y)
    known = RVMRegressor(gamma=0.06).fit(X, y, noise_variance=np.full(len(y), 0.01))
    np.testing.assert_array_equal(known.relevance_, constant.relevance_)
    np.testing.assert_allclose(known.predict(X), constant.predict(X), rtol=1e-9)
    assert known.log_evidence_ == pytest.approx(constant.log_evidence_)


@pytest.mark.parametrize("factor", [1e6, 1e-12, 1e20])
def test_units_of_variances_known_up_to_a_factor_do_not_matter(factor):
    X, y, variance = make_rows()
    one, other = (
        RVMRegressor(scale_noise=True).fit(X, y, noise_variance=unit * variance)
        for unit in (1.0, factor)
    )
    np.testing.assert_allclose(other.predict(X), one.predict(X), rtol=1e-7)
    assert factor * other.noise_scale_ == pytest.approx(one.noise_scale_, rel=1e-6)
    given = [
        model.predict_interval(X[:3], noise_variance=unit * variance[:3])
        for model, unit in ((one, 1.0), (other, factor))
    ]
    np.testing.assert_allclose(given[1], given[0], rtol=1e-6)


def test_weights_are_copies_of_rows_with_their_variance():
    X, y, variance = make_rows(1)
    count = np.random.default_rng(0).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), count)
    weighted = RVMRegressor(gamma=0.06).fit(X, y, sample_weight=count, noise_variance=variance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of repeated rows
        copied = RVMRegressor(gamma=0.06).fit(X[rows], y[rows], noise_variance=variance[rows])
    np.testing.assert_allclose(weighted.predict(X), copied.predict(X), rtol=1e-6, atol=1e-9)
    assert weighted.log_evidence_ == pytest.approx(copied.log_evidence_, abs=1e-6)


def test_outputs_have_variances_of_their_own():
    X, y, variance = make_rows()
    both = RVMRegressor(gamma=0.06).fit(
        X, np.c_[y, y], noise_variance=np.c_[variance, variance[::-1]]
    )
    for number, each in enumerate([variance, variance[::-1]]):
        alone = RVMRegressor(gamma=0.06).fit(X, y, noise_variance=each)
        np.testing.assert_allclose(both.predict(X)[:, number], alone.predict(X), rtol=1e-9)
        assert both.log_evidence_[number] == pytest.approx(alone.log_evidence_)
    std = both.predict(X, return_std=True, noise_variance=np.c_[variance, 4.0 * variance])[1]
    function = both.predict(X, return_std=True, include_noise=False)[1]
    np.testing.assert_allclose(std**2 - function**2, np.c_[variance, 4.0 * variance], rtol=1e-6)


def test_noise_of_new_rows_is_a_number_an_array_or_a_function():
    X, y, variance = make_rows()
    model = RVMRegressor(gamma=0.06).fit(X, y, noise_variance=variance)
    function = model.predict(X[:4], return_std=True, include_noise=False)[1] ** 2
    for given in (0.04, np.full(4, 0.04), lambda rows: np.full(len(rows), 0.04)):
        std = model.predict(X[:4], return_std=True, noise_variance=given)[1]
        np.testing.assert_allclose(std**2, function + 0.04)
        cov = model.predict(X[:4], return_cov=True, noise_variance=given)[1]
        np.testing.assert_allclose(cov.diagonal(), std**2, rtol=1e-6)
        interval = model.predict_interval(X[:4], 0.6827, noise_variance=given)
        np.testing.assert_allclose(0.5 * np.ptp(interval, axis=1), std, rtol=1e-3)
        density = model.log_predictive_density(X[:4], y[:4], noise_variance=given)
        z = (y[:4] - model.predict(X[:4])) / std
        np.testing.assert_allclose(density, -0.5 * (np.log(2.0 * np.pi * std**2) + z**2))
    draws = model.sample_y(X[:4], 4000, noise_variance=np.array([0.04, 1.0, 9.0, 0.0]))
    np.testing.assert_allclose(
        draws.var(axis=1), function + np.array([0.04, 1.0, 9.0, 0.0]), rtol=0.1
    )


def test_unknown_noise_of_new_rows_is_left_out_with_a_warning():
    X, y, variance = make_rows()
    model = RVMRegressor(gamma=0.06).fit(X, y, noise_variance=variance)
    model.predict(X)  # no error bar, no warning
    with pytest.warns(UserWarning, match="the noise of new rows is not known"):
        std = model.predict(X, return_std=True)[1]
    np.testing.assert_array_equal(std, model.predict(X, return_std=True, include_noise=False)[1])
    with pytest.raises(ValueError, match="Give their noise_variance"):
        model.log_predictive_density(X, y)
    with pytest.raises(ValueError, match="no effect with include_noise=False"):
        model.predict(X, return_std=True, include_noise=False, noise_variance=1.0)


def test_constant_noise_can_be_replaced_in_predictions():
    X, y, _ = make_rows()
    model = RVMRegressor(gamma=0.06).fit(X, y)
    std = model.predict(X[:2], return_std=True, noise_variance=[1.0, 4.0])[1]
    function = model.predict(X[:2], return_std=True, include_noise=False)[1]
    np.testing.assert_allclose(std**2 - function**2, [1.0, 4.0])
    with pytest.raises(AttributeError, match="only if fit was given noise_variance"):
        _ = model.noise_scale_


def test_leave_one_out_is_a_refit_without_the_row():
    X, y, variance = make_rows()
    basis = KernelBasis(gamma=0.06, centers=np.linspace(-10.0, 10.0, 12)[:, None])
    model = SparseBayesRegressor(basis, error_bars="plain").fit(X, y, noise_variance=variance)
    mean, std = model.leave_one_out(X, y, noise_variance=variance)
    Phi = np.c_[model.atoms_.evaluate(X), np.ones(len(y))]
    prior = np.append(model.weight_precision_, 0.0)
    for row in (0, 7, 31):
        others = np.delete(np.arange(len(y)), row)
        A = (Phi[others].T / variance[others]) @ Phi[others] + np.diag(prior)
        weights = np.linalg.solve(A, Phi[others].T @ (y[others] / variance[others]))
        assert mean[row] == pytest.approx(Phi[row] @ weights, rel=1e-6)
        function = Phi[row] @ np.linalg.solve(A, Phi[row])
        expected = model.calibration_ * function + variance[row]
        assert std[row] ** 2 == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="Give their noise_variance"):
        model.leave_one_out(X, y)


def test_calibration_is_of_the_posterior_alone_where_noise_is_known():
    X, y, variance = make_rows(7, n=150)
    plain, calibrated = (
        RVMRegressor(calibrate=calibrate).fit(X, y, noise_variance=variance)
        for calibrate in (False, True)
    )
    assert plain.calibration_ == 1.0 <= calibrated.calibration_
    stds = [
        model.predict(X, return_std=True, noise_variance=variance)[1] ** 2 - variance
        for model in (plain, calibrated)
    ]
    assert (stds[1] >= stds[0] * (1.0 - 1e-9)).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones(3), "one entry per row; got shape (3,)"),
        (-np.ones(60), "must not be negative; got -1"),
        (np.full(60, np.nan), "NaN"),
        (np.full(60, 1e300), "at most 1e+140"),
        (["a"] * 60, "must be a number, an array of numbers or a function"),
        (0.1, "needs one entry per row; got 0.1"),
    ],
)
def test_bad_noise_variances_are_refused(given, message):
    X, y, _ = make_rows()
    with pytest.raises(ValueError, match=re.escape(message)):
        RVMRegressor(gamma=0.06).fit(X, y, noise_variance=given)


def test_variances_of_zero_have_no_factor():
    X, y, _ = make_rows()
    with pytest.raises(ValueError, match="zero for all rows"):
        RVMRegressor(scale_noise=True).fit(X, y, noise_variance=np.zeros(60))


@pytest.mark.parametrize("given", [np.nan, -1.0, lambda X: None])
def test_bad_noise_variances_of_new_rows_are_refused(given):
    X, y, variance = make_rows()
    model = RVMRegressor(gamma=0.06).fit(X, y, noise_variance=variance)
    for return_std in (True, False):
        with pytest.raises(ValueError, match="noise_variance must"):
            model.predict(X, return_std=return_std, noise_variance=given)


def test_noise_variance_is_given_once():
    X, y, variance = make_rows()
    with pytest.raises(ValueError, match="both in fit and as an option"):
        RVMRegressor(gamma=0.06, noise_variance=0.1).fit(X, y, noise_variance=variance)


def test_rows_without_noise_are_interpolated():
    X, y, variance = make_rows()
    variance[:5] = 0.0
    model = RVMRegressor().fit(X, y, noise_variance=variance)
    assert np.abs(model.predict(X[:5]) - y[:5]).max() < 0.02
    assert np.isfinite(model.log_evidence_)


def test_inverse_variances_as_sample_weights_are_warned_of():
    X, y, variance = make_rows()
    with pytest.warns(UserWarning, match="give these variances as fit"):
        RVMRegressor(gamma=0.06).fit(X, y, sample_weight=1.0 / variance)


def test_files_clones_and_pipelines(tmp_path):
    X, y, variance = make_rows()
    model = clone(RVMRegressor(scale_noise=True)).fit(X, y, noise_variance=variance)
    path = tmp_path / "model.relvec"
    save(model, path)
    again = load(path)
    expected = model.predict_interval(X, noise_variance=variance)
    np.testing.assert_array_equal(again.predict_interval(X, noise_variance=variance), expected)
    assert again.noise_scale_ == model.noise_scale_
    pipeline = make_pipeline(StandardScaler(), SparseBayesRegressor(LinearBasis()))
    pipeline.fit(X, y, sparsebayesregressor__noise_variance=variance)
    assert np.isfinite(pipeline.predict(X)).all()


def test_feature_selection_uses_the_variances():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 5))
    variance = np.where(rng.random(120) < 0.3, 25.0, 0.01)
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + np.sqrt(variance) * rng.normal(size=120)
    known = DRVMRegressor().fit(X, y, noise_variance=variance)
    np.testing.assert_array_equal(known.get_support(indices=True), [0, 1])
    truth = np.sin(2.0 * X[:, 0]) + X[:, 1]
    ignored = DRVMRegressor().fit(X, y)
    errors = [np.sqrt(np.mean((model.predict(X) - truth) ** 2)) for model in (known, ignored)]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.slow
def test_known_variances_at_the_defaults():
    """RMSE to the true function and coverage of its 95 % band, defaults, seeds 500 to 511."""
    errors, covered = [], []
    for seed in range(500, 512):
        X, y, variance = make_rows(seed, n=150)
        model = RVMRegressor().fit(X, y, noise_variance=variance)
        new = np.random.default_rng(seed + 1000).uniform(-10.0, 10.0, size=(500, 1))
        mean, std = model.predict(new, return_std=True, include_noise=False)
        error = mean - np.sinc(new[:, 0] / np.pi)
        errors.append(np.sqrt(np.mean(error**2)))
        covered.append(np.mean(np.abs(error) < 1.96 * std))
    assert np.mean(errors) <= 0.0115
    assert np.mean(covered) >= 0.90
