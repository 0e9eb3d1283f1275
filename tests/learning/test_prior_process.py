"""The process that stands for the unknown: scales as large as the data leave open."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.gaussian_process.kernels import RBF

from relvec import RVMRegressor
from relvec.kernels import ScaledInputs
from relvec.learning import LengthScaleLearner
from relvec.learning.prior_process import PriorProcessTuning, _Profile, fit_prior_process


def problem(n_samples=80, n_features=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=n_samples)


def evidence(kernel, X, y):
    return _Profile(X, y, np.ones(len(y))).evaluate(kernel)[0]


def test_the_evidence_is_that_of_dense_algebra():
    X, y = problem(30, 2)
    profile = _Profile(X, y, np.ones(30))
    value, variance = profile.evaluate(RBF(1.0))
    # contrasts free of the mean; the noise variance at its best for the ratio that was found
    basis = np.linalg.svd(np.ones((1, 30)))[2][1:]
    K, t = basis @ RBF(1.0)(X) @ basis.T, basis @ y / profile.unit

    def log_evidence(ratio):
        B = np.eye(29) + ratio * K
        noise = t @ np.linalg.solve(B, t) / 29
        return -0.5 * (29 * np.log(noise) + np.linalg.slogdet(B)[1]), noise

    ratios = np.exp(np.linspace(-5.0, 15.0, 2001))
    values = [log_evidence(ratio)[0] for ratio in ratios]
    best = ratios[np.argmax(values)]
    assert value == pytest.approx(max(values), abs=1e-3)
    assert variance == pytest.approx(best * log_evidence(best)[1] * profile.unit**2, rel=0.03)


def test_what_is_no_covariance_has_no_evidence_but_where_noise_hides_that():
    X, y = problem(30, 2)
    value, variance = _Profile(X, y, np.ones(30)).evaluate(lambda X, Z: -RBF(1.0)(X, Z))
    assert np.isfinite(value)
    assert variance >= 0.0


@pytest.mark.parametrize("n_features", [2, 6, 300])
def test_scales_with_the_floor_are_within_a_confidence_region(n_features):
    """Also where a floor under hundreds of inputs outweighs the scales of two at once."""
    X, y = problem(n_features=n_features)
    y = X[:, 0] - X[:, 1] + 0.1 * y if n_features == 300 else y  # straight: tiny scales
    [learnt] = LengthScaleLearner("ard").learn(RBF(0.5**0.5), X, y[:, None])
    process = fit_prior_process(learnt.kernel, X, y, None, learnt)
    given = ScaledInputs(learnt.kernel.kernel, learnt.scale / learnt.scale_factor)
    tuning = PriorProcessTuning()
    allowed = 0.5 * chi2.ppf(tuning.confidence, min(n_features, tuning.most_free))
    assert evidence(process.kernel, X, y) >= evidence(given, X, y) - allowed - 1e-6
    assert (process.kernel.scale >= given.scale * (1.0 - 1e-9)).all()
    assert (process.kernel.scale > 0.0).all()


@pytest.mark.slow
def test_few_of_many_features_have_error_bars_of_the_size_of_errors():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 300))
    y = X[:, :3] @ [1.5, -1.0, 1.0] + rng.normal(size=400)
    model = RVMRegressor().fit(X[:100], y[:100])
    mean, std = model.predict(X[100:], return_std=True)
    assert 0.6 < np.mean(((y[100:] - mean) / std) ** 2) < 1.6
