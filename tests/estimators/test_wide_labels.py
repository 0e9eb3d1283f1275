"""Labels with more features than rows: a linear model, and stacking by held-out rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logit

from relvec import PFCVMClassifier, RVMClassifier, SparseBayesClassifier
from relvec.bases import LinearBasis
from relvec.estimators._stacking import compute_stacking_weights
from relvec.io import ExportError, export_python
from relvec.solvers import LaplaceRidgeSolver


def _spread_effects(n_rows=400, n_inputs=150):
    """All features are a little relevant, which suits a linear model."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, n_inputs))
    y = (X @ (0.4 * rng.normal(size=n_inputs)) + rng.logistic(size=n_rows) > 0).astype(int)
    return X, y


def _log_loss(p, y):
    return -np.mean(np.log(p[np.arange(len(y)), y]))


def test_linear_model_is_chosen():
    X, y = _spread_effects()
    train, test = slice(0, 140), slice(140, None)
    best = RVMClassifier(average=False).fit(X[train], y[train])
    kernels = RVMClassifier(average=False, length_scales="isotropic").fit(X[train], y[train])
    assert best.model_kind_ == "linear"
    loss = _log_loss(best.predict_proba(X[test]), y[test])
    assert loss < _log_loss(kernels.predict_proba(X[test]), y[test])
    # predictions of the mode, which the precision was chosen by
    np.testing.assert_allclose(
        best.predict_proba(X[train]), best.predict_proba(X[train], marginalise=False), atol=1e-6
    )
    # far away they are the class prior
    far = best.predict_proba(X[test] + 1e4)
    np.testing.assert_allclose(far[:, 1], y[train].mean(), atol=1e-6)
    with pytest.raises(AttributeError, match="linear in the features"):
        _ = best.relevance_vectors_


def test_average_by_held_out_rows(tmp_path):
    X, y = _spread_effects()
    model = RVMClassifier(error_bars="plain").fit(X[:140], y[:140])
    np.testing.assert_allclose(model.average_.weights.sum(), 1.0)
    assert len(model.average_.models) > 1
    shares = np.full((260, 2), [1.0 - y[:140].mean(), y[:140].mean()])
    assert _log_loss(model.predict_proba(X[140:]), y[140:]) < _log_loss(shares, y[140:])
    with pytest.raises(ExportError, match="average=False"):
        export_python(model, tmp_path / "model.py")
    best = RVMClassifier(error_bars="plain", average=False).fit(X[:140], y[:140])
    export_python(best, tmp_path / "best.py")
    space = {}
    exec((tmp_path / "best.py").read_text(), space)
    said = np.array([space["probabilities"](list(row)) for row in X[140:143]])
    np.testing.assert_allclose(said, best.predict_proba(X[140:143]), atol=1e-8)


def test_labels_of_noise_give_the_class_prior():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 150)), rng.integers(0, 2, size=60)
    p = RVMClassifier().fit(X, y).predict_proba(rng.normal(size=(50, 150)))
    assert np.abs(p[:, 1] - y.mean()).mean() < 0.12


def test_one_precision_for_directions_and_features():
    """Coordinates along the directions of the rows give the same model as all features."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 12))
    y = (X[:, 0] + 0.5 * rng.logistic(size=40) > 0).astype(int)
    U = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2]
    model = SparseBayesClassifier(LinearBasis(), solver=LaplaceRidgeSolver(), average=False)
    p = model.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.fit(X @ U.T, y).predict_proba(X @ U.T), p, atol=1e-6)


def test_left_out_rows_choose_the_precision():
    """Leave-one-out by refits prefers no other precision by much."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 4))
    y = (2.0 * X[:, 0] + rng.logistic(size=30) > 0).astype(int)
    model = SparseBayesClassifier(LinearBasis(), solver=LaplaceRidgeSolver(), average=False)
    precision = model.fit(X, y).weight_precision_[0, 0]

    def left_out(alpha):
        total = 0.0
        for row in range(30):
            rest = np.arange(30) != row

            def cost(w, rest=rest):
                f = X[rest] @ w[:4] + w[4]
                return np.sum(np.logaddexp(0.0, f) - y[rest] * f) + 0.5 * alpha * w[:4] @ w[:4]

            w = minimize(cost, np.zeros(5)).x
            f = X[row] @ w[:4] + w[4]
            total += y[row] * f - np.logaddexp(0.0, f)
        return total

    values = [left_out(precision * np.exp(step)) for step in (-3.0, -1.0, 0.0, 1.0, 3.0)]
    assert values[2] > max(values) - 0.3
    assert values[2] > max(values[0], values[4])


def test_stacked_weights():
    rng = np.random.default_rng(0)
    log_probabilities = np.log(rng.uniform(0.1, 1.0, size=(3, 200)))
    weights = compute_stacking_weights(log_probabilities, np.ones(200), 0.0)
    best = np.log(weights @ np.exp(log_probabilities)).sum()
    for other in rng.dirichlet(np.ones(3), size=50):
        assert np.log(other @ np.exp(log_probabilities)).sum() <= best + 1e-6
    copies = compute_stacking_weights(np.repeat(log_probabilities, 2, axis=1), np.ones(400), 2.0)
    np.testing.assert_allclose(
        compute_stacking_weights(log_probabilities, np.full(200, 2.0), 2.0), copies, atol=1e-8
    )


def test_decision_function_of_several_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=90), [-0.5, 0.5])
    model = RVMClassifier(gamma=0.5).fit(X, y)
    for marginalise in (True, False):
        odds = model.decision_function(X, marginalise=marginalise)
        p = model.predict_proba(X, marginalise=marginalise)
        np.testing.assert_allclose(odds, logit(p), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("model", [RVMClassifier, PFCVMClassifier])
def test_null_model_of_unrelated_features_is_the_class_prior(model):
    """Where no candidate predicts better than the class prior, nothing else is averaged in."""
    rng = np.random.default_rng(4002)
    X, y = rng.normal(size=(30, 400)), rng.integers(0, 2, size=30)
    fitted = model().fit(X, y)
    assert fitted.model_kind_ == "null"
    probability = fitted.predict_proba(rng.normal(size=(50, 400)))[:, 1]
    np.testing.assert_allclose(probability, y.mean())
