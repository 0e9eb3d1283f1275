"""Probabilities at the defaults do not depend on the order of rows and inputs or on class names."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import PFCVMClassifier, RVMClassifier, SparseBayesClassifier
from relvec.bases import LinearBasis
from relvec.learning.rows import row_key

MODELS = {
    "rvm": RVMClassifier(),
    "linear": SparseBayesClassifier(LinearBasis()),
    "pfcvm": PFCVMClassifier(),
}


def _rows(n_classes, n_rows, n_inputs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_inputs))
    f = 2.0 * np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.7 * rng.logistic(size=n_rows)
    return X, np.digitize(f, [0.0] if n_classes == 2 else [-1.0, 1.0]), rng


def _check(model, X, y, rng):
    p = model.fit(X, y).predict_proba(X[:60])
    rows, inputs = rng.permutation(len(X)), rng.permutation(X.shape[1])
    np.testing.assert_allclose(model.fit(X[rows], y[rows]).predict_proba(X[:60]), p, atol=1e-6)
    moved = model.fit(X[:, inputs], y).predict_proba(X[:60][:, inputs])
    np.testing.assert_allclose(moved, p, atol=1e-6)
    names = np.array([1, 0] if y.max() == 1 else [2, 0, 1])
    np.testing.assert_allclose(model.fit(X, names[y]).predict_proba(X[:60])[:, names], p, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_order_of_four_hundred_rows(name, n_classes):
    X, y, rng = _rows(n_classes, 400, 5)
    _check(MODELS[name], X, y, rng)


def test_order_of_wide_data():
    X, y, rng = _rows(2, 60, 120)
    _check(MODELS["rvm"], X, y, rng)


def test_key_of_rows_that_count_twice():
    """Copies and weights give a row the same key."""
    X, y, rng = _rows(2, 40, 4)
    counts = rng.integers(1, 4, size=40)
    rows = np.repeat(np.arange(40), counts)
    key = row_key(X, y[:, None], counts.astype(float))
    copies = row_key(X[rows], y[rows][:, None], np.ones(len(rows)))
    np.testing.assert_allclose(copies, key[rows], atol=1e-8)


def test_key_tells_symmetric_inputs_apart():
    """Inputs of the same few values differ in what they say of the targets."""
    rng = np.random.default_rng(0)
    X = np.array(np.meshgrid(*[[0.0, 1.0]] * 6)).reshape(6, -1).T
    y = (X @ rng.normal(size=6))[:, None]
    assert len(np.unique(row_key(X, y, np.ones(64)))) > 32
