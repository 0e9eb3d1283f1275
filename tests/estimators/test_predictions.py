"""What a fitted model answers, against explicit matrices and SciPy's distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis
from relvec.kernels import LinearSpline
from tests.estimators.problems import (
    brute_posterior,
    brute_predict,
    gaussian,
    linear,
    sinc,
    smooth,
)

X, Y = smooth()
NEW = np.random.default_rng(9).normal(size=(25, 3)) * 1.5
BARE = RVMRegressor(gamma=0.1, calibrate=False)
"""The posterior without calibration, which `test_calibration` tests."""


@pytest.fixture(scope="module", params=[True, False], ids=["intercept", "no intercept"])
def either(request):
    return clone(BARE).set_params(error_bars="plain", fit_intercept=request.param).fit(X, Y)


@pytest.fixture(scope="module")
def plain():
    return clone(BARE).set_params(error_bars="plain").fit(X, Y)


@pytest.fixture(scope="module")
def novel():
    return clone(BARE).fit(X, Y)


@pytest.fixture(scope="module")
def augmented():
    return clone(BARE).set_params(error_bars="augmented").fit(X, Y)


def brute(model, at):
    Phi, Phi_new = gaussian(model, X, 0.1), gaussian(model, at, 0.1)
    if model.fit_intercept:
        return brute_predict(Phi, Y, model.weight_precision_, model.noise_variance_, Phi_new)
    prior = np.diag(model.weight_precision_)
    covariance = np.linalg.inv(prior + Phi.T @ Phi / model.noise_variance_)
    mean = Phi_new @ covariance @ Phi.T @ Y / model.noise_variance_
    return mean, Phi_new @ covariance @ Phi_new.T + model.noise_variance_ * np.eye(len(at))


# ------------------------------------------------------------------ means and variances


def test_std_includes_the_covariance_of_the_intercept(either):
    mean, std = either.predict(NEW, return_std=True)
    expected, covariance = brute(either, NEW)
    np.testing.assert_allclose(mean, expected, rtol=1e-6)
    np.testing.assert_allclose(std**2, covariance.diagonal(), rtol=1e-5)


def test_std_of_a_known_linear_model():
    # One weight of huge prior variance and an intercept: least squares, of textbook variance.
    inputs, target = linear(n=30)
    inputs, target = inputs[:, 4:5], target - 2 * inputs[:, 1]
    model = SparseBayesRegressor(LinearBasis(), noise_variance=0.25).fit(inputs, target)
    x = inputs[:, 0]
    at = np.array([[-2.0], [0.0], [7.0]])
    leverage = 1 / 30 + (at[:, 0] - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2)
    np.testing.assert_allclose(
        model.predict(at, return_std=True)[1], np.sqrt(0.25 * (1 + leverage)), rtol=1e-3
    )


def test_attributes_give_the_mean(either):
    np.testing.assert_allclose(
        gaussian(either, NEW, 0.1) @ either.coef_ + either.intercept_,
        either.predict(NEW),
        rtol=1e-7,
    )
    if not either.fit_intercept:
        assert either.intercept_ == 0.0


def test_weight_covariance_and_well_determinedness():
    model = RVMRegressor(gamma=0.1).fit(X, Y)
    mean, covariance = brute_posterior(
        gaussian(model, X, 0.1), Y, model.weight_precision_, model.noise_variance_
    )
    np.testing.assert_allclose(model.weight_covariance_, covariance[:-1, :-1], rtol=1e-5)
    gamma = 1.0 - model.weight_precision_ * covariance.diagonal()[:-1]
    np.testing.assert_allclose(model.well_determined_, gamma, atol=1e-6)
    assert model.effective_dof_ == pytest.approx(gamma.sum() + 1, abs=1e-5)
    # both fixed-point equations of Tipping (2001, eq. 16 and 18) hold at the optimum
    np.testing.assert_allclose(
        model.weight_precision_, gamma / mean[:-1] ** 2, rtol=1e-2, atol=1e-6
    )
    residual = Y - model.predict(X)
    assert model.noise_variance_ == pytest.approx(
        residual @ residual / (len(Y) - 1 - gamma.sum()), rel=1e-3
    )


def test_evidence_is_that_of_the_contrasts(either):
    Phi = gaussian(either, X, 0.1)
    covariance = either.noise_variance_ * np.eye(60) + (Phi / either.weight_precision_) @ Phi.T
    target, rotated = Y, covariance
    if either.fit_intercept:
        basis = np.linalg.qr(np.column_stack([np.ones(60), np.eye(60)[:, 1:]]))[0][:, 1:]
        target, rotated = basis.T @ Y, basis.T @ covariance @ basis
    expected = stats.multivariate_normal(np.zeros(len(target)), rotated).logpdf(target)
    assert either.log_evidence_ == pytest.approx(expected, abs=1e-6)


def test_covariance_against_explicit_matrices(either):
    mean, covariance = either.predict(NEW, return_cov=True)
    expected_mean, expected = brute(either, NEW)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-6)
    np.testing.assert_allclose(covariance, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", ["novel", "augmented", "plain"])
def test_diagonal_of_the_covariance_is_the_variance(name, request):
    model = request.getfixturevalue(name)
    at = np.vstack([NEW, X[:5], 20 + NEW[:3]])
    mean, covariance = model.predict(at, return_cov=True)
    same, std = model.predict(at, return_std=True)
    np.testing.assert_allclose(mean, same, rtol=1e-12)
    np.testing.assert_allclose(mean, model.predict(at), rtol=1e-12)
    np.testing.assert_allclose(covariance.diagonal(), std**2, rtol=1e-8)
    np.testing.assert_allclose(covariance, covariance.T, atol=1e-12)
    assert np.linalg.eigvalsh(covariance).min() > 0.5 * model.noise_variance_


def test_far_predictions_are_those_of_a_mixture(novel):
    """The formula of `Novelty` with explicit matrices."""
    novelty = novel.outputs_[0].novelty
    assert novelty.amplitude >= (Y.var(ddof=1) - novel.noise_variance_) * (1 - 1e-9)
    assert novelty.centre == pytest.approx(Y.mean())
    assert all(any((pivot == row).all() for row in X) for pivot in novelty.pivots)
    at = np.vstack([NEW, X[:5], 20 + NEW[:3]])
    cross = rbf_kernel(at, novelty.pivots, gamma=0.1)
    inverse = np.linalg.inv(rbf_kernel(novelty.pivots, gamma=0.1) + 1e-10 * np.eye(cross.shape[1]))
    unexplained = np.clip(1 - np.einsum("ij,jk,ik->i", cross, inverse, cross), 0, 1)
    rho = np.maximum(unexplained - novelty.offset, 0) / (1 - novelty.offset)
    tau = np.maximum(unexplained - novelty.known, 0) / (1 - novelty.known)
    own, covariance = brute(novel, at)
    away = own - Y.mean()
    implausible = away**4 / (away**4 + 4 * novelty.amplitude**2)
    omega = tau * (1 - novelty.known**8) * implausible
    variance = covariance.diagonal() - novel.noise_variance_
    variance = (1 - rho) * (variance + omega**2 * away**2) + rho * (
        novelty.amplitude + np.maximum(rho, implausible) * (1 - omega) ** 2 * away**2
    )
    mean, std = novel.predict(at, return_std=True)
    np.testing.assert_allclose(std**2, variance + novel.noise_variance_, rtol=1e-4)
    np.testing.assert_allclose(mean, own - omega * away, rtol=1e-4)
    np.testing.assert_allclose(novel.predict(X), brute(novel, X)[0], rtol=1e-9)


def test_augmentation_is_one_more_atom_at_the_test_input(augmented):
    amplitude = np.sum((Y - Y.mean()) ** 2) / 59 - augmented.noise_variance_
    precision = np.append(augmented.weight_precision_, 1 / amplitude)
    mean, std = augmented.predict(NEW, return_std=True)
    for number, at in enumerate(NEW[:, None]):
        Phi, Phi_new = (
            np.column_stack([gaussian(augmented, rows, 0.1), rbf_kernel(rows, at, gamma=0.1)])
            for rows in (X, at)
        )
        expected, variance = brute_predict(Phi, Y, precision, augmented.noise_variance_, Phi_new)
        assert mean[number] == pytest.approx(expected[0], rel=1e-5)
        assert std[number] ** 2 == pytest.approx(variance[0, 0], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(gamma=1 / 9),
        RVMRegressor(gamma=1 / 9, error_bars="augmented"),
        RVMRegressor("matern32", gamma=1 / 9),
        SparseBayesRegressor(KernelBasis(gamma=1 / 9) + LinearBasis()),
    ],
    ids=str,
)
def test_uncertainty_grows_away_from_the_data(model):
    inputs, target = sinc()
    model.fit(inputs, target)
    std = model.predict(np.array([[0.0], [12.0], [16.0], [100.0]]), return_std=True)[1]
    assert (np.diff(std) > -0.01 * std[-1]).all()
    assert std[-1] > 2 * std[0]
    if not isinstance(model, SparseBayesRegressor):
        signal = np.sqrt(target.var() - model.noise_variance_)
        assert std[-1] == pytest.approx(np.hypot(signal, np.sqrt(model.noise_variance_)), rel=0.3)


def test_no_novelty_for_kernels_that_do_not_decay():
    inputs, target = sinc()
    for model in (
        RVMRegressor(LinearSpline()),
        SparseBayesRegressor(PolynomialBasis(3)),
        RVMRegressor("linear"),
    ):
        default = model.fit(inputs, target).predict(inputs, return_std=True)[1]
        bare = (
            model.set_params(error_bars="plain")
            .fit(inputs, target)
            .predict(inputs, return_std=True)[1]
        )
        np.testing.assert_allclose(default, bare, rtol=1e-12)


# ------------------------------------------------------------------ intervals and densities


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95, 1e-6, 0.999999])
def test_interval_is_between_quantiles(novel, coverage):
    mean, std = novel.predict(NEW, return_std=True)
    expected = np.column_stack(stats.norm(mean, std).interval(coverage))
    np.testing.assert_allclose(
        novel.predict_interval(NEW, coverage), expected, rtol=1e-9, atol=1e-9
    )


def test_interval_is_of_95_percent_by_default(novel):
    np.testing.assert_array_equal(novel.predict_interval(NEW), novel.predict_interval(NEW, 0.95))


@pytest.mark.slow
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_intervals_have_nominal_coverage(coverage):
    inputs, target = sinc(400)
    model = RVMRegressor(gamma=1 / 9).fit(inputs, target)
    new_inputs, new_target = sinc(4000, seed=77)
    low, high = model.predict_interval(new_inputs, coverage).T
    assert np.mean((low <= new_target) & (new_target <= high)) == pytest.approx(coverage, abs=0.03)


@pytest.mark.parametrize("name", ["novel", "augmented", "plain"])
def test_log_density_is_normal(name, request):
    model = request.getfixturevalue(name)
    target = np.linspace(-5, 10, 25)
    mean, std = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(
        model.log_predictive_density(NEW, target), stats.norm(mean, std).logpdf(target), rtol=1e-9
    )


# ------------------------------------------------------------------ draws


@pytest.mark.parametrize("name", ["novel", "augmented", "plain"])
@pytest.mark.parametrize("include_noise", [True, False])
def test_moments_of_draws(name, include_noise, request):
    model = request.getfixturevalue(name)
    at = np.vstack([NEW[:6], NEW[:1] + 0.05, 30 + NEW[:1]])
    draws = model.sample_y(at, 20_000, random_state=4, include_noise=include_noise)
    mean, covariance = model.predict(at, return_cov=True)
    if not include_noise:
        covariance = covariance - model.noise_variance_ * np.eye(len(at))
    spread = np.sqrt(covariance.diagonal())
    assert np.abs((draws.mean(axis=1) - mean) / spread).max() < 4.5 / np.sqrt(20_000)
    difference = (np.cov(draws) - covariance) / np.multiply.outer(spread, spread)
    assert np.abs(difference).max() < 0.05


def test_draws_of_functions_are_smooth_and_of_targets_are_not(novel):
    line = np.column_stack([np.linspace(0, 1e-3, 50), np.zeros(50), np.zeros(50)])
    functions = novel.sample_y(line, 5, include_noise=False)
    targets = novel.sample_y(line, 5)
    assert np.abs(np.diff(functions, axis=0)).max() < 0.01 * np.sqrt(novel.noise_variance_)
    assert np.abs(np.diff(targets, axis=0)).mean() > 0.5 * np.sqrt(novel.noise_variance_)


def test_draws_are_repeatable(novel):
    np.testing.assert_array_equal(novel.sample_y(NEW, 3), novel.sample_y(NEW, 3))
    np.testing.assert_array_equal(
        novel.sample_y(NEW, 3, random_state=np.random.RandomState(5)),
        novel.sample_y(NEW, 3, random_state=np.random.RandomState(5)),
    )
    assert (novel.sample_y(NEW, 3, random_state=1) != novel.sample_y(NEW, 3)).all()
    generator = np.random.RandomState(5)
    first = novel.sample_y(NEW, 3, random_state=generator)
    assert (first != novel.sample_y(NEW, 3, random_state=generator)).all()


# ------------------------------------------------------------------ leave one out


def test_leave_one_out_is_refitting_without_each_row(plain):
    Phi = gaussian(plain, X, 0.1)
    mean, std = plain.leave_one_out(X, Y)
    for row in range(60):
        others = np.arange(60) != row
        expected, variance = brute_predict(
            Phi[others], Y[others], plain.weight_precision_, plain.noise_variance_, Phi[[row]]
        )
        assert mean[row] == pytest.approx(expected[0], rel=1e-6)
        assert std[row] ** 2 == pytest.approx(variance[0, 0], rel=1e-6)


def test_leave_one_out_of_some_training_rows(plain):
    mean, std = plain.leave_one_out(X, Y)
    some, its_std = plain.leave_one_out(X[7:11], Y[7:11])
    np.testing.assert_allclose(some, mean[7:11])
    np.testing.assert_allclose(its_std, std[7:11])


def test_leave_one_out_of_a_constant_model():
    target = np.random.default_rng(2).standard_normal(60)
    model = RVMRegressor(gamma=0.1, prior="ric").fit(X, target)
    assert len(model.relevance_) == 0
    mean, _ = model.leave_one_out(X, target)
    np.testing.assert_allclose(mean, (target.sum() - target) / 59)


# ------------------------------------------------------------------ names


def test_names_of_atoms():
    inputs, target = linear(d=6)
    model = SparseBayesRegressor(LinearBasis()).fit(inputs, target)
    assert model.atom_names() == ["x1", "x4"]
    np.testing.assert_array_equal(model.relevance_, [1, 4])
    model = RVMRegressor(gamma=0.1).fit(X, Y)
    assert model.atom_names() == [f"rbf(x_{row})" for row in model.relevance_]


# ------------------------------------------------------------------ without noise


@pytest.mark.parametrize("name", ["novel", "augmented", "plain"])
def test_noise_is_left_out_on_request(name, request):
    model = request.getfixturevalue(name)
    mean, std = model.predict(NEW, return_std=True)
    same, bare = model.predict(NEW, return_std=True, include_noise=False)
    np.testing.assert_array_equal(same, mean)
    np.testing.assert_allclose(bare**2, std**2 - model.noise_variance_, rtol=1e-6)
    covariance = model.predict(NEW, return_cov=True, include_noise=False)[1]
    expected = model.predict(NEW, return_cov=True)[1] - model.noise_variance_ * np.eye(25)
    np.testing.assert_allclose(covariance, expected, atol=1e-10)
    interval = model.predict_interval(NEW, 0.9, include_noise=False)
    expected = np.column_stack(stats.norm(mean, bare).interval(0.9))
    np.testing.assert_allclose(interval, expected, rtol=1e-9)


def test_error_bars_of_an_almost_noise_free_curve_are_as_narrow_as_its_noise():
    """Pivots must cover the inputs to the precision of the noise, not to 5 % of the signal."""
    X = np.arange(40.0)[:, None]
    model = RVMRegressor().fit(X, X[:, 0] ** 2)
    mean, std = model.predict(X[:-1] + 0.5, return_std=True)
    assert np.abs(mean - (X[:-1, 0] + 0.5) ** 2).max() < 0.5
    assert std.max() < 5 * model.noise_variance_**0.5
    assert model.predict([[80.0]], return_std=True)[1][0] > 100.0
