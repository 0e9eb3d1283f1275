"""Small, degenerate and badly scaled data at the defaults: finite answers, and no absurd ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relvec import DRVMRegressor, PFCVMClassifier, RVMClassifier, RVMRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X[:, 0] + np.sin(X[:, 1]) + 0.1 * RNG.normal(size=40)
LABELS = np.where(X[:, 0] > 0.0, "yes", "no")
OUTLIER = np.where(np.arange(40) == 7, 1e6, Y)
CONSTANT = X * [1.0, 0.0, 1.0] + [0.0, 7.0, 0.0]
COPIES = np.hstack([X, X])
TWO_VALUES = (X[:, :1] > 0.0) * 1.0

NUMBERS = {
    "three rows": (X[:3], Y[:3]),
    "nine rows": (X[:9], Y[:9]),
    "constant target": (X, np.full(40, 3.0)),
    "constant inputs": (np.ones((40, 2)), Y),
    "constant column": (CONSTANT, Y),
    "copied columns": (COPIES, Y),
    "outlier": (X, OUTLIER),
    "tiny targets": (X, 1e-12 * Y),
    "huge targets": (X, 1e12 * Y),
    "targets far from zero": (X, 1e9 + Y),
    "columns of all scales": (X * [1e-30, 1.0, 1e30], Y),
    "whole numbers": ((3.0 * X).astype(int), (3.0 * Y).astype(int)),
    "booleans": (X > 0.0, Y > 0.0),
    "two values": (TWO_VALUES, Y),
    "table": (pd.DataFrame(X, columns=list("abc")), pd.Series(Y, index=np.arange(40)[::-1])),
}


# with three rows the cap on atoms is reached
@pytest.mark.filterwarnings("ignore:RVMRegressor reached its cap")
@pytest.mark.parametrize("model", [RVMRegressor, DRVMRegressor])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name, model):
    rows, target = NUMBERS[name]
    values = np.asarray(target, dtype=np.float64)
    size = np.abs(values).max() if np.ptp(values) == 0.0 else np.std(values)
    fitted = model().fit(rows, target)
    mean, std = fitted.predict(rows, return_std=True)
    assert np.isfinite(mean).all()
    assert np.abs(mean - values).max() < 1e-6 * size or np.all(std > 0.0)
    assert np.median(std) < 2.0 * size
    # far away the mean is not far from all targets unless a line goes on, and the band is finite
    if fitted.model_kind_ != "linear":
        far = rows * 1e3 if isinstance(rows, pd.DataFrame) else np.asarray(rows, float) * 1e3
        mean, std = fitted.predict(far, return_std=True)
        assert np.abs(mean - values.mean()).max() < 12.0 * size
        assert np.median(std) < 12.0 * size


CLASSES = {
    "three rows": (X[:3], [0, 1, 0]),
    "nine rows": (X[:9], LABELS[:9]),
    "a class of two rows": (X, np.r_[["rare"] * 2, LABELS[2:]]),
    "a class of one row": (X, np.arange(40) == 0),
    "constant inputs": (np.ones((40, 2)), LABELS),
    "constant column": (CONSTANT, LABELS),
    "copied columns": (COPIES, LABELS),
    "columns of all scales": (X * [1e-12, 1.0, 1e12], LABELS),
    "two values": (TWO_VALUES, LABELS),
    "table": (pd.DataFrame(X, columns=list("abc")), pd.Categorical(LABELS)),
    "ten classes of two rows": (np.repeat(5.0 * X[:10], 2, axis=0), np.repeat(np.arange(10), 2)),
}


@pytest.mark.parametrize("model", [RVMClassifier, PFCVMClassifier])
@pytest.mark.parametrize("name", CLASSES)
# signs of weights may stop the search of a handful of rows at a slope, which is warned of
@pytest.mark.filterwarnings("ignore:PFCVMClassifier ended its search before")
def test_classes(name, model):
    rows, labels = CLASSES[name]
    fitted = model().fit(rows, labels)
    probability = fitted.predict_proba(rows)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    most = np.unique(np.asarray(labels), return_counts=True)[1].max() / len(labels)
    assert fitted.score(rows, labels) >= most  # the null model's
