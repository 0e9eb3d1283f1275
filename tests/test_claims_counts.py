"""What is claimed of counts, at the defaults, on seeds that were not used to choose anything."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import SparseBayesCountRegressor

pytestmark = pytest.mark.slow


def make_counts(name, seed, shape=None):
    """Return inputs, counts, exposures and the true log rate."""
    rng = np.random.default_rng(seed)
    X, exposure = rng.uniform(size=(300, 5 if name == "five" else 1)), np.ones(300)
    x = X[:, 0]
    if name == "sine":
        log_rate = 1.0 + 1.5 * np.sin(2.0 * np.pi * x)
    elif name == "low":
        log_rate = -1.0 + np.sin(2.0 * np.pi * x)
    elif name == "peaks":
        narrow = 12.0 * np.exp(-0.5 * ((x - 0.25) / 0.03) ** 2)
        log_rate = np.log(1.0 + narrow + 6.0 * np.exp(-0.5 * ((x - 0.7) / 0.08) ** 2))
    elif name == "exposure":
        log_rate = 0.75 * np.sin(2.0 * np.pi * x)
        exposure = np.exp(rng.uniform(-1.0, 2.0, size=300))
    else:
        log_rate = 0.5 + np.sin(2.0 * np.pi * x) + 1.5 * (X[:, 1] - 0.5)
    factor = 1.0 if shape is None else rng.gamma(shape, 1.0 / shape, size=300)
    return X, rng.poisson(exposure * factor * np.exp(log_rate)), exposure, log_rate


def compute_excess(model, X, exposure, log_rate):
    """Excess deviance over that of the true rate."""
    mu, found = exposure * np.exp(log_rate), model.predict(X, exposure=exposure)
    return 2.0 * np.mean(mu * np.log(mu / found) - mu + found)


@pytest.mark.parametrize(("name", "limit", "n_sets"), [("sine", 0.025, 12), ("five", 0.04, 10)])
def test_excess_deviance(name, limit, n_sets):
    found = []
    for seed in range(7000, 7000 + n_sets):
        X, y, exposure, log_rate = make_counts(name, seed)
        model = SparseBayesCountRegressor().fit(X, y, exposure=exposure)
        found.append(compute_excess(model, X, exposure, log_rate))
    error = np.std(found, ddof=1) / np.sqrt(n_sets)
    assert np.mean(found) < limit + 2.0 * error  # two standard errors: few data sets


@pytest.mark.parametrize("name", ["sine", "low", "peaks", "exposure"])
def test_tied_bands_cover(name):
    covered = []
    for seed in range(7000, 7040):
        X, y, exposure, log_rate = make_counts(name, seed)
        model = SparseBayesCountRegressor(precision="tied").fit(X, y, exposure=exposure)
        mean, std = model.predict_log_rate(X, return_std=True)
        covered.append(np.mean(np.abs(mean - log_rate) < 1.96 * std))
    assert np.mean(covered) >= 0.90


@pytest.mark.parametrize("shape", [None, 2.0])
def test_evidence_selects_the_likelihood(shape):
    right = []
    for seed in range(7000, 7040):
        X, y = make_counts("sine", seed, shape)[:2]
        model = SparseBayesCountRegressor(likelihood="auto", precision="tied").fit(X, y)
        right.append((model.likelihood_ == "negative_binomial") == (shape is not None))
    assert np.mean(right) >= 0.95
