"""Search for heavy-tailed noise: its bound against numerical integration, and its steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis
from relvec.estimators._robust_search import (
    RobustTuning,
    find_robust_state,
    fit_noises,
    refit_regression,
)
from relvec.likelihoods import ContaminatedNoise, StudentNoise
from relvec.likelihoods.robust_noise import GaussianNoise


def make_line(n=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1))
    y = 1.5 * X[:, 0] + 0.3 * rng.normal(size=n)
    y[0] += 2.5
    return X, y


def resolve(model, X, y, sample_weight=None):
    plan = model._resolve()
    data, _ = model._validate_training_data(X, y, sample_weight)
    return plan, data


def fit_line(fit_intercept):
    X, y = make_line()
    model = SparseBayesRegressor(
        LinearBasis(), min_gain=0.0, fit_intercept=fit_intercept, calibrate=False
    )
    plan, data = resolve(model, X, y)
    return plan, plan.fit(plan.basis, data), data


def integrate(noise, output, X, y):
    """Log of the density of the targets, integrated over weight and intercept on a fine grid."""
    posterior = output.posterior
    precision = posterior.weight_precision[0]
    weights = posterior.coef[0] + np.linspace(-5.0, 5.0, 801)[:, None]
    away = np.linspace(-5.0, 5.0, 801) if posterior.has_intercept else np.zeros(1)
    total = 0.5 * (np.log(precision / (2.0 * np.pi)) - precision * weights**2)
    total = np.repeat(total, len(away), axis=1)
    for x, target in zip(X[:, 0], y, strict=True):
        total += noise.log_density((target - posterior.intercept - away - x * weights) ** 2)
    # All integrands are smooth and vanish at the ends: the trapezoidal rule is accurate.
    spacing = 2 * np.log(10.0 / 800) if posterior.has_intercept else np.log(10.0 / 800)
    return logsumexp(total) + spacing


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("noise", [StudentNoise(), ContaminatedNoise(), GaussianNoise()], ids=str)
def test_the_bound_is_below_the_evidence_and_close_to_it(noise, fit_intercept):
    plan, fit, data = fit_line(fit_intercept)
    state = fit_noises(fit, data, [noise])
    for _ in range(20):
        weighted = data._replace(row_variance=1.0 / state.row_weight)
        state = fit_noises(refit_regression(plan, state.fit, weighted), data, state.noises)
    (output,) = state.fit.outputs
    evidence = integrate(state.noises[0], output, data.X, data.targets[:, 0])
    bound = state.bound - (output.objective - output.posterior.log_evidence)
    assert bound <= evidence + 1e-6
    assert bound > evidence - 1.5
    if isinstance(noise, GaussianNoise):  # up to the noise variance, which has n in place of n - 1
        assert bound == pytest.approx(evidence, abs=0.05)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_divergence_makes_the_bound_of_gaussian_noise_exact(fit_intercept):
    _, fit, data = fit_line(fit_intercept)
    (output,) = fit.outputs
    noise = GaussianNoise(output.posterior.noise_variance)
    atoms, target = output.atoms.evaluate(data.X), data.targets[:, 0]
    squared = (target - output.posterior.predict(atoms)) ** 2 + output.posterior.variance(atoms)
    bound = noise.log_density(squared).sum() - output.posterior.divergence
    assert bound == pytest.approx(integrate(noise, output, data.X, target), abs=1e-5)


@pytest.mark.parametrize("noise", [StudentNoise(), ContaminatedNoise()], ids=str)
def test_the_bound_never_decreases_between_steps(noise):
    """The regression with all columns has one maximum only."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.standard_t(1.5, size=80)
    plan, data = resolve(SparseBayesRegressor(LinearBasis(), min_gain=0.0), X, y)
    state, bounds = fit_noises(plan.fit(plan.basis, data), data, [noise]), []
    for _ in range(30):
        weighted = data._replace(row_variance=1.0 / state.row_weight)
        state = fit_noises(refit_regression(plan, state.fit, weighted), data, state.noises)
        bounds.append(state.bound)
    assert len(state.fit.outputs[0].active) == 3
    assert np.diff(bounds).min() > -1e-5
    gaussian = fit_noises(plan.fit(plan.basis, data), data, [GaussianNoise()])
    assert bounds[-1] > gaussian.bound + 10.0
    assert abs(bounds[-1] - bounds[-2]) < 0.01


def make_sinc(seed, share, n=100):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10.0, 10.0, size=(n, 1))
    is_outlier = rng.random(n) < share
    size = rng.uniform(1.0, 4.0, n) * rng.choice([-1.0, 1.0], n)
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=n) + is_outlier * size
    return X, y, is_outlier


@pytest.mark.slow
def test_learning_length_scales_again_never_lowers_the_bound():
    X, y, _ = make_sinc(1, 0.15)
    plan, data = resolve(RVMRegressor(), X, y)
    fit = plan.run(data)
    full, gain, _ = find_robust_state(plan, fit, data, "contaminated")
    short, less, _ = find_robust_state(
        plan, fit, data, "contaminated", RobustTuning(max_relearnings=0)
    )
    assert full.bound >= short.bound
    assert min(gain[0], less[0]) > 50.0


@pytest.mark.slow
def test_the_margin_decides_between_the_two_kinds_of_noise():
    X, y, _ = make_sinc(1, 0.15)
    plan, data = resolve(RVMRegressor(gamma=0.06), X, y)
    fit = plan.run(data)
    chosen = find_robust_state(plan, fit, data, "robust").state
    assert isinstance(chosen.noises[0], ContaminatedNoise)
    strict = replace(RobustTuning(), margin=1e6)
    other = find_robust_state(plan, fit, data, "robust", strict).state
    assert isinstance(other.noises[0], StudentNoise)
    demanding = replace(RobustTuning(), min_gain=1e6)
    state, gain, _ = find_robust_state(plan, fit, data, "robust", demanding)
    assert isinstance(state.noises[0], GaussianNoise)
    assert gain.tolist() == [0.0]
