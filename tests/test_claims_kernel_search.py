"""What the guide says about automated kernel construction, at the default settings."""

import numpy as np
import pytest

from relvec import KernelSearchRegressor
from relvec.datasets import make_series

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "truth", "least"),
    [
        ("growsine", "PER x LIN", 9),
        ("trendseason", "LIN + PER", 9),
        ("report", "LIN + LIN x LIN + PER", 7),
        ("smooth", "SE", 9),
        ("noise", "none", 9),
    ],
)
def test_structure_is_recovered(name, truth, least):
    found = []
    for seed in range(9000, 9010):
        X, y = make_series(name, random_state=seed)
        found.append(KernelSearchRegressor(mode="interpretable").fit(X, y).expression_)
    assert sum(each == truth for each in found) >= least, found


def draw_series(seed, n=110):
    """Draw a series of a trend, a season of period 12, a level that wanders, and noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(float(n))
    season = rng.normal(size=2) @ [np.sin(2 * np.pi * t / 12), np.cos(2 * np.pi * t / 12)]
    walk = np.cumsum(rng.normal(size=n)) * rng.uniform(0.0, 0.3)
    trend = rng.normal() * 0.05 * t
    return t[:, np.newaxis], trend + season + walk + 0.3 * rng.normal(size=n)


def test_forecast_intervals_cover():
    covered, errors, naive = [], [], []
    for seed in range(9100, 9112):
        X, y = draw_series(seed)
        model = KernelSearchRegressor().fit(X[:96], y[:96])
        low, high = model.predict_interval(X[96:]).T
        covered.append(np.mean((low <= y[96:]) & (y[96:] <= high)))
        errors.append(np.sqrt(np.mean((model.predict(X[96:]) - y[96:]) ** 2)))
        naive.append(np.sqrt(np.mean((y[84:96][np.arange(14) % 12] - y[96:]) ** 2)))
    # rows of one forecast are correlated: twelve series, not 168 rows
    assert 0.88 <= np.mean(covered) <= 1.0
    assert np.mean(errors) < np.mean(naive)


def test_sparse_model_keeps_forecasts_and_bands():
    ratios, coverage = [], []
    for seed in range(9200, 9206):
        X, y = draw_series(seed)
        model = KernelSearchRegressor(mode="interpretable").fit(X[:96], y[:96])
        sparse = model.sparse_model()
        each = [np.sqrt(np.mean((m.predict(X[96:]) - y[96:]) ** 2)) for m in (model, sparse)]
        ratios.append(each[1] / each[0])
        inside = []
        for m in (model, sparse):
            low, high = m.predict_interval(X[96:]).T
            inside.append(np.mean((low <= y[96:]) & (y[96:] <= high)))
        coverage.append(inside)
    assert abs(np.median(ratios) - 1.0) < 0.07
    full, kept = np.mean(coverage, axis=0)
    assert abs(full - kept) <= 0.05
