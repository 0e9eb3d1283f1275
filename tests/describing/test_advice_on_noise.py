"""The option that is recommended for the noise, by leave-one-out residuals."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from relvec import RVMRegressor
from relvec.describing.residual_checks import advise_on_noise, check_residuals


def make_targets(kind, f, rng):
    n, noise = len(f), rng.normal(size=len(f))
    is_bad = rng.random(n) < 0.05
    return {
        "normal": f + 0.3 * noise,
        "log-normal": np.exp(0.5 * f + 0.5 * noise),
        "outliers": f + 0.3 * noise + is_bad * rng.choice([-1, 1], n) * rng.uniform(3, 15, n),
        "outliers on one side": f + 0.3 * noise + is_bad * rng.uniform(3, 12, n),
        "lost decimal points": np.where(is_bad, f / 10.0, f + 0.1 * noise),
    }[kind]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("normal", None),
        ("log-normal", "auto"),
        ("outliers", "robust"),
        ("outliers on one side", "robust"),
        ("lost decimal points", "robust"),
    ],
)
def test_gross_errors_are_told_from_skewness(kind, expected):
    advice = Counter()
    for seed in range(4000, 4006):
        rng = np.random.default_rng(seed)
        X = rng.uniform(0.0, 10.0, size=(200, 1))
        y = make_targets(kind, 5.0 + 2.0 * np.sin(X[:, 0]), rng)
        model = RVMRegressor(effort="fast").fit(X, y)
        mean, std = model.leave_one_out(X, y)
        found = advise_on_noise(check_residuals(model, X, y, (y - mean) / std), model)
        advice[None if found is None else found.value] += 1
    assert advice[expected] >= 5
