"""Bias–variance decomposition of the squared error."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relvec import DRVMRegressor, RVMRegressor, SparseBayesRegressor
from relvec.assessing import BiasVariance, ErrorParts
from relvec.bases import LinearBasis
from relvec.reporting.bias_variance import compute_bias_variance
from relvec.reporting.subject import Subject
from relvec.reporting.tables import render_bias_variance

RNG = np.random.default_rng(6)
X = RNG.normal(size=(120, 1))
NOISE = 0.5 * RNG.normal(size=120)


def split(model, X, y, n_fits=40):
    model.fit(X, y)
    return compute_bias_variance(
        Subject.build(model, X, y, names=None, target="y", rows="training"), n_fits, 0
    )


def result(mse, variance, noise, *, kernel_fixed=False):
    zeros, ones = np.zeros(50), np.ones(50)
    parts = (zeros, zeros, (mse - variance) * ones, variance * ones, noise * ones, zeros, zeros)
    errors = ErrorParts(0.0, 0.0, 0.0, 0.0)
    return BiasVariance("RVM", X[:50], *parts, errors, 10, False, kernel_fixed=kernel_fixed)


@pytest.mark.slow
def test_variance_of_a_linear_model_agrees_with_theory():
    found = split(SparseBayesRegressor(LinearBasis()), X, 2.0 * X[:, 0] + NOISE, n_fits=80)
    theory = 0.25 * 2 / 120  # noise variance times parameters over rows
    assert found.variance == pytest.approx(theory, rel=0.5)
    assert found.squared_bias < 0.1 * found.noise
    assert found.mse == pytest.approx(found.bias_and_noise + found.variance)


@pytest.mark.slow
def test_linear_fit_of_a_parabola_is_biased():
    y = X[:, 0] ** 2 + 0.1 * NOISE
    line = split(SparseBayesRegressor(LinearBasis(), noise_variance=0.0025), X, y)
    curve = split(RVMRegressor(gamma=0.2), X, y, n_fits=12)
    assert line.squared_bias > 100.0 * line.noise
    assert line.squared_bias > 100.0 * curve.squared_bias


@pytest.mark.slow
@pytest.mark.parametrize("model", [RVMRegressor(), DRVMRegressor()])
def test_learnt_kernels_are_fixed(model):
    found = split(model, X, np.sin(2.0 * X[:, 0]) + 0.2 * NOISE, n_fits=5)
    assert found.kernel_fixed
    assert found.n_rows > 60
    assert found.variance < found.mse


@pytest.mark.slow
def test_bootstrap_is_independent_of_data_made_with_the_same_seed():
    rng = np.random.default_rng(0)
    X = rng.uniform(-10.0, 10.0, size=(100, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100)
    found = split(RVMRegressor(gamma=1 / 9), X, y, n_fits=10)
    assert found.mse < 0.03  # contiguous blocks left out would give errors of order one


def test_a_single_fit_gives_no_decomposition():
    y = X[:, 0] + NOISE
    assert split(SparseBayesRegressor(LinearBasis()), X, y, n_fits=1) is None


@pytest.mark.parametrize(
    ("mse", "variance", "noise"), [(1.0, 0.2, 0.5), (1.0, 0.2, 5.0), (1.0, 1.3, 0.1)]
)
def test_parts_of_the_bar_sum_to_the_mse(mse, variance, noise):
    html = render_bias_variance(result(mse, variance, noise))
    widths = [float(each) for each in re.findall(r"width:(-?[\d.]+)%", html)]
    assert sum(widths) == pytest.approx(100.0, abs=0.05)
    assert min(widths) >= 0.0
    values = [float(each) for each in re.findall(r"<b>([\d.]+)</b> \(", html)]
    assert sum(values) == pytest.approx(mse)
    assert ("the model estimates" in html) == (mse - variance < noise)


@pytest.mark.parametrize("held", [True, False])
def test_a_fixed_kernel_is_reported_as_optimistic(held):
    html = render_bias_variance(result(1.0, 0.2, 0.5, kernel_fixed=held))
    assert ("The kernel was fixed at the parameters learnt from all rows" in html) == held
    assert (
        "cross-validation" not in html
    )  # with a fixed kernel the MSE can be below that of a cross-validation
