"""Bias–variance decomposition against linear smoothers, whose bias and variance are known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import (
    RVMRegressor,
    SparseBayesCountRegressor,
    SparseBayesRegressor,
    bias_variance_decomposition,
)
from relvec.assessing import RefitError
from relvec.assessing._split import (
    estimate_jackknife_error,
    leave_one_fit_out,
    split_squared_error,
)
from relvec.bases import CosineBasis

DESIGN = np.random.default_rng(1).normal(size=(30, 4))
TEST = np.random.default_rng(2).normal(size=(12, 4))
WEIGHTS = np.array([1.0, -2.0, 0.5, 0.0])
NOISE = 0.7


def linear(X):
    return X @ WEIGHTS


def make_linear(seed):
    return DESIGN, linear(DESIGN) + NOISE * np.random.default_rng(seed).normal(size=30)


def sine(X):
    return np.sin(X[:, 0])


def make_sine(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, size=(40, 1))
    return X, sine(X) + 0.2 * rng.normal(size=40)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [1e-8, 10.0, 300.0])
def test_ridge_agrees_with_its_closed_form(penalty):
    found = bias_variance_decomposition(
        Ridge(alpha=penalty, fit_intercept=False),
        make_linear,
        function=linear,
        X_test=TEST,
        n_fits=400,
        random_state=5,
    )
    smoother = TEST @ np.linalg.solve(DESIGN.T @ DESIGN + penalty * np.eye(4), DESIGN.T)
    squared_bias = (smoother @ linear(DESIGN) - linear(TEST)) ** 2
    variance = NOISE**2 * (smoother**2).sum(axis=1)
    theory = (squared_bias.mean() + variance.mean() + NOISE**2, squared_bias.mean())
    theory = (*theory, variance.mean(), NOISE**2)
    distance = (np.array(found.parts) - theory) / np.array(found.standard_error)
    assert np.abs(distance).max() < 3.5
    # standard errors are small enough to tell wrong values
    assert found.standard_error.variance < 0.1 * variance.mean()
    scores = (found.point_variance - variance) / found.point_variance_error
    assert np.abs(scores).max() < 4.5
    scores = (found.point_remainder - squared_bias) / found.point_remainder_error
    assert np.abs(scores).max() < 4.5


def test_squared_bias_is_unbiased_with_few_data_sets():
    # least squares has no bias: the naive estimate would be variance / 3
    found = [
        bias_variance_decomposition(
            LinearRegression(fit_intercept=False),
            make_linear,
            function=linear,
            X_test=TEST,
            n_fits=3,
            random_state=seed,
        )
        for seed in range(150)
    ]
    bias = np.array([each.squared_bias for each in found])
    variance = np.mean([each.variance for each in found])
    standard_error = bias.std(ddof=1) / np.sqrt(len(bias))
    assert abs(bias.mean()) < 3.0 * standard_error
    assert bias.mean() < 0.05 * variance
    assert standard_error < 0.05 * variance


@pytest.mark.slow
def test_standard_errors_are_those_of_repeated_experiments():
    found = [
        bias_variance_decomposition(
            Ridge(alpha=10.0), make_linear, function=linear, X_test=TEST, n_fits=40, random_state=s
        )
        for s in range(100)
    ]
    observed = np.std([each.parts for each in found], axis=0, ddof=1)
    stated = np.mean([each.standard_error for each in found], axis=0)
    # the standard deviation of 100 values has a standard error of 7 %
    np.testing.assert_allclose(stated / observed, 1.0, atol=0.25)


def test_parts_sum_to_the_error_of_the_fits():
    rng = np.random.default_rng(0)
    predictions, reference = rng.normal(size=(5, 7)), rng.normal(size=7)
    _, split = split_squared_error(predictions, reference)
    mse = ((predictions - reference) ** 2).mean(axis=0)
    np.testing.assert_allclose(split.remainder + split.variance, mse)


def test_leaving_one_fit_out_is_splitting_the_others():
    rng = np.random.default_rng(3)
    predictions, reference = rng.normal(size=(6, 5)), rng.normal(size=5)
    predictions[[0, 1, 2, 3], [0, 1, 1, 2]] = np.nan
    left = leave_one_fit_out(predictions, reference)
    each = [
        split_squared_error(np.delete(predictions, fit, axis=0), reference)[1] for fit in range(6)
    ]
    np.testing.assert_allclose(left.remainder, [part.remainder for part in each])
    np.testing.assert_allclose(left.variance, [part.variance for part in each])
    means = np.array([np.delete(predictions, fit, axis=0)[:, 3].mean() for fit in range(6)])
    expected = np.std(predictions[:, 3], ddof=1) / np.sqrt(6)  # the jackknife of a mean is exact
    assert estimate_jackknife_error(means) == pytest.approx(expected)
    assert np.isnan(estimate_jackknife_error(np.ones(2)))


def test_noise_may_depend_on_the_inputs():
    found = bias_variance_decomposition(
        Ridge(),
        make_linear,
        function=linear,
        X_test=TEST,
        noise_variance=lambda X: X[:, 0] ** 2,
        n_fits=4,
        random_state=0,
    )
    np.testing.assert_allclose(found.point_noise, TEST[:, 0] ** 2)
    assert found.standard_error.noise == pytest.approx(0.0, abs=1e-12)
    assert found.noise == pytest.approx(np.mean(TEST[:, 0] ** 2))


def test_same_seed_gives_the_same_result_in_parallel_and_by_default_test_inputs_are_drawn():
    options = {"function": sine, "n_fits": 6, "random_state": 4}
    one = bias_variance_decomposition(KNeighborsRegressor(), make_sine, **options)
    two = bias_variance_decomposition(KNeighborsRegressor(), make_sine, n_jobs=2, **options)
    np.testing.assert_array_equal(one.point_variance, two.point_variance)
    assert one.X.shape == (40, 1)
    other = bias_variance_decomposition(
        KNeighborsRegressor(), make_sine, function=sine, n_fits=6, random_state=5
    )
    assert other.mse != one.mse


@pytest.mark.slow
def test_default_estimator_on_a_sine():
    grid = np.linspace(-3.0, 3.0, 31)[:, np.newaxis]
    found = bias_variance_decomposition(
        RVMRegressor(), make_sine, function=sine, X_test=grid, n_fits=40, random_state=11
    )
    assert found.noise == pytest.approx(0.04, abs=4.0 * found.standard_error.noise)
    assert found.variance + found.squared_bias < 0.04
    assert found.squared_bias < found.variance
    # the expected error is that of new targets, at inputs drawn independently
    rng = np.random.default_rng(77)
    errors = []
    for seed in range(500, 540):
        X, y = make_sine(seed)
        new = sine(grid) + 0.2 * rng.normal(size=31)
        errors.append(np.mean((RVMRegressor().fit(X, y).predict(grid) - new) ** 2))
    gap = abs(np.mean(errors) - found.mse)
    error = np.hypot(np.std(errors, ddof=1) / np.sqrt(40), found.standard_error.mse)
    assert gap < 3.5 * error


def test_bootstrap_of_a_linear_model_agrees_with_theory():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(120, 1))
    y = 2.0 * X[:, 0] + 0.5 * rng.normal(size=120)
    found = bias_variance_decomposition(
        LinearRegression(), (X, y), noise_variance=0.25, n_fits=200, random_state=0
    )
    assert not found.is_separated
    assert found.mse == pytest.approx(found.bias_and_noise + found.variance)
    assert found.variance == pytest.approx(0.25 * 2 / 120, rel=0.5)
    assert found.squared_bias == max(found.bias_and_noise - 0.25, 0.0)
    assert 0.0 < found.standard_error.mse < 0.05 * found.mse
    assert "cannot be separated from data alone" in found.summary()


def test_two_bootstrap_samples_have_no_standard_error():
    found = bias_variance_decomposition(Ridge(), make_sine(0), n_fits=2, random_state=0)
    assert np.isfinite(found.mse)
    assert np.isnan(found.standard_error.mse)


def test_bootstrap_without_a_noise_estimate_says_so():
    X, y = make_sine(0)
    found = bias_variance_decomposition(Ridge(), (X, y), n_fits=5, random_state=0)
    assert np.isnan(found.noise)
    assert np.isnan(found.squared_bias)
    assert np.isfinite(found.mse)
    assert "Give noise_variance" in found.summary()


@pytest.mark.slow
def test_bootstrap_takes_the_noise_of_the_model():
    X, y = make_sine(3)
    found = bias_variance_decomposition(RVMRegressor(gamma=0.5), (X, y), n_fits=10, random_state=0)
    assert found.noise == pytest.approx(RVMRegressor(gamma=0.5).fit(X, y).noise_variance_)
    piped = make_pipeline(StandardScaler(), RVMRegressor(gamma=1.5))
    found = bias_variance_decomposition(piped, (X, y), n_fits=10, random_state=0)
    assert found.noise == pytest.approx(0.04, rel=0.6)
    assert not found.kernel_fixed
    fixed = bias_variance_decomposition(
        RVMRegressor(), (X, y), n_fits=5, fix_kernel=True, random_state=0
    )
    assert fixed.kernel_fixed


def test_bootstrap_resamples_values_of_rows():
    X, y = make_sine(6)
    variances = np.full(40, 0.04)
    found = bias_variance_decomposition(
        RVMRegressor(gamma=0.5),
        (X, y),
        fit_params={"noise_variance": variances},
        n_fits=4,
        random_state=0,
    )
    assert found.noise == pytest.approx(0.04, rel=0.2)


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        ((Ridge(), make_linear), {}, ValueError, "function without noise"),
        ((Ridge(), (DESIGN, DESIGN[:, 0])), {"function": linear}, ValueError, "for a generator"),
        ((Ridge(), DESIGN), {}, TypeError, "a pair"),
        ((Ridge(), (DESIGN, DESIGN)), {}, ValueError, "one finite target"),
        ((Ridge(), lambda seed: 3), {"function": linear}, TypeError, "must return X and y"),
        ((Ridge(), make_linear), {"function": len}, ValueError, "one finite value per input"),
        ((Ridge(), make_linear), {"function": linear, "n_fits": 1}, ValueError, "at least 2"),
        (
            (Ridge(), make_linear),
            {"function": linear, "fix_kernel": True},
            ValueError,
            "for bootstrap samples",
        ),
        (
            (Ridge(), make_linear),
            {"function": linear, "noise_variance": -1.0},
            ValueError,
            "noise_variance",
        ),
        (
            (Ridge(), (DESIGN, DESIGN[:, 0])),
            {"fix_kernel": True},
            ValueError,
            "an estimator of relvec",
        ),
        ((DummyClassifier(), make_linear), {"function": linear}, TypeError, "regressor"),
        ((SparseBayesCountRegressor(), make_linear), {"function": linear}, TypeError, "counts"),
        ((Ridge, make_linear), {"function": linear}, TypeError, "an estimator such as"),
        ((Ridge(), (DESIGN[:2], [0.0, 1.0])), {"n_fits": 2}, ValueError, "Increase n_fits"),
    ],
)
def test_bad_arguments_raise(arguments, options, kind, message):
    with pytest.raises(kind, match=message):
        bias_variance_decomposition(*arguments, **{"n_fits": 3, "random_state": 0, **options})


def test_models_that_need_all_rows_raise():
    X = np.arange(8.0)[:, np.newaxis]
    model = make_pipeline(StandardScaler(), SparseBayesRegressor(CosineBasis()))
    with pytest.raises(RefitError, match="evenly spaced"):
        bias_variance_decomposition(model, (X, X[:, 0]), n_fits=3, random_state=0)


class Nowhere(LinearRegression):
    """A regressor that predicts no numbers."""

    def predict(self, X):
        return np.full(len(X), np.nan)


def test_generators_and_models_of_wrong_shape_raise():
    options = {"function": linear, "n_fits": 3, "random_state": 0}
    with pytest.raises(ValueError, match="as many rows of X as targets; got 9 and 4"):
        bias_variance_decomposition(Ridge(), lambda seed: (DESIGN[:9], DESIGN[:4, 0]), **options)
    with pytest.raises(ValueError, match="noise_variance must return non-negative values; got -1"):
        bias_variance_decomposition(
            Ridge(), make_linear, noise_variance=lambda X: -np.ones(len(X)), **options
        )
    with pytest.raises(ValueError, match="Nowhere must predict finite values; 40 of 40 are not"):
        bias_variance_decomposition(Nowhere(), make_linear, X_test=np.ones((40, 4)), **options)


def test_sample_weights_of_one_data_set():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, size=(30, 1))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=30)

    def decompose(**options):
        model = RVMRegressor(gamma=0.5)
        found = bias_variance_decomposition(model, (X, y), n_fits=4, random_state=0, **options)
        return found.variance

    assert decompose(fit_params={"sample_weight": np.ones(30)}) == decompose()
    assert decompose(fit_params={"sample_weight": np.full(30, 3.0)}) != decompose()
