"""Parameters of kernels are found from anywhere, or it is said that nothing was."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared

from relvec import RVMClassifier, RVMRegressor
from relvec.kernels import Periodic, SpectralMixture
from relvec.learning import LengthScaleLearner
from relvec.learning.kernel_parameters import find_spectral_peaks

PERIOD = 1.7


def wave(seed=0, n_samples=80):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 10.0, size=(n_samples, 1))
    return X, np.sin(2.0 * np.pi * X[:, 0] / PERIOD) + 0.1 * rng.normal(size=n_samples)


def brute_force_power(x, y, weight, frequency):
    """Sum of squares that a sine of this frequency explains, by weighted least squares."""
    angle = 2.0 * np.pi * frequency * x
    root = np.sqrt(weight)
    columns = np.column_stack([np.ones_like(x), np.cos(angle), np.sin(angle)]) * root[:, None]
    residual = y * root - columns @ np.linalg.lstsq(columns, y * root)[0]
    alone = (y - np.average(y, weights=weight)) * root
    return alone @ alone - residual @ residual


def test_the_first_peak_is_that_of_least_squares():
    rng = np.random.default_rng(3)
    x, weight = rng.uniform(0.0, 5.0, size=40), rng.uniform(0.5, 2.0, size=40)
    y = np.cos(7.0 * x) + 0.5 * rng.normal(size=40) + 2.0
    [peak] = find_spectral_peaks(x[:, None], y[:, None], weight, 1)
    step = 0.2 / np.ptp(x)
    grid = step * np.arange(1, 40.0 / np.ptp(x) / step)
    powers = [brute_force_power(x, y, weight, frequency) for frequency in grid]
    assert peak == pytest.approx(grid[np.argmax(powers)])


@pytest.mark.slow
@pytest.mark.parametrize("start", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_a_period_is_found_from_anywhere(start):
    X, y = wave()
    model = RVMRegressor(ExpSineSquared(1.0, start), length_scales="kernel").fit(X, y)
    assert model.kernel_.periodicity == pytest.approx(PERIOD, abs=0.02)
    assert model.model_kind_ == "kernel"
    assert 0 < len(model.relevance_) < 10


def test_a_period_beside_a_trend_and_of_another_kernel():
    X, y = wave()
    model = RVMRegressor(Periodic(period=5.0) + RBF(1.0), length_scales="kernel")
    model.fit(X, y + 0.3 * X[:, 0])
    assert model.kernel_.k1.period == pytest.approx(PERIOD, abs=0.02)


@pytest.mark.slow
def test_a_frequency_and_a_period_of_labels():
    X, y = wave(n_samples=120)
    kernel = SpectralMixture([1.0], [5.0], [0.1])
    found = RVMRegressor(kernel, length_scales="kernel").fit(X, y).kernel_
    assert float(np.ravel(found.means)[0]) == pytest.approx(1.0 / PERIOD, abs=0.05)
    model = RVMClassifier(ExpSineSquared(1.0, 3.0), length_scales="kernel").fit(X, y > 0.0)
    assert model.kernel_.periodicity == pytest.approx(PERIOD, abs=0.03)


def test_a_period_below_its_bound_is_found_as_a_multiple():
    X, y = wave()
    kernel = ExpSineSquared(1.0, 2.5, periodicity_bounds=(2.0, 10.0))
    model = RVMRegressor(kernel, length_scales="kernel").fit(X, y)
    assert model.kernel_.periodicity == pytest.approx(2.0 * PERIOD, abs=0.05)


@pytest.mark.parametrize("start", [0.01, 100.0])
def test_a_length_scale_is_found_from_far_away(start):
    X, y = wave()
    length = RVMRegressor(RBF(start), length_scales="kernel").fit(X, y).kernel_.length_scale
    near = RVMRegressor(RBF(0.5), length_scales="kernel").fit(X, y).kernel_.length_scale
    assert length == pytest.approx(near, rel=0.05)


def test_the_evidence_is_never_below_that_of_one_ascent():
    X, y = wave()
    for kernel in (ConstantKernel(1.0) * RBF(1.0), ExpSineSquared(1.0, 1.6)):
        start = LengthScaleLearner("kernel", max_iter=1)
        [once], [learnt] = (
            learner.learn(kernel, X, y[:, None])
            for learner in (start, LengthScaleLearner("kernel"))
        )
        assert learnt.log_evidence >= once.log_evidence


def test_a_bound_that_binds_is_warned_of():
    X, y = wave()
    with pytest.warns(ConvergenceWarning, match="length_scale of the kernel is at a bound"):
        RVMRegressor(RBF(1.5, (1.0, 1.8)), length_scales="kernel").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # that an input does not matter is no fault of the bound
        other = np.c_[X, np.random.default_rng(9).normal(size=len(X))]
        RVMRegressor(RBF([1.0, 1.0]), length_scales="kernel").fit(other, y)


def test_where_nothing_is_learnt_that_is_said():
    X, _ = wave()
    y = np.random.default_rng(5).normal(size=len(X))
    given = ExpSineSquared(1.0, 2.0)
    model = RVMRegressor(given, length_scales="kernel").fit(X, y)
    assert model.model_kind_ in ("none", "null")
    assert model.kernel_ == given
    assert not hasattr(model, "length_scale_")
    assert len(model.relevance_) == 0 or model.model_kind_ == "none"
