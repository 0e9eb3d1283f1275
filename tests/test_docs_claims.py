"""What the guide says of behaviour, on data of its own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis, WaveletBasis
from relvec.datasets import make_noisy_signal

DENSE = np.linspace(-9.5, 9.5, 600)[:, np.newaxis]
CURVES = {
    "sinc": lambda x: np.sinc(x / np.pi),
    "sine": np.sin,
    "step": np.tanh,
    "bump on a line": lambda x: 0.1 * x + np.exp(-(x**2) / 2),
}


def roughness(model: RVMRegressor) -> float:
    return float(np.sqrt(np.mean(np.diff(model.predict(DENSE), 2) ** 2)))


@pytest.mark.slow
@pytest.mark.parametrize("name", CURVES)
def test_a_price_makes_models_smaller_and_wide_kernels_make_curves_smoother(name: str) -> None:
    curve = CURVES[name]
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-10, 10, size=(100, 1))
        y = curve(X[:, 0]) + 0.3 * rng.normal(size=100)
        for label, options in {
            "narrow": {"gamma": 4.0},
            "narrow, at a price": {"gamma": 4.0, "prior": "bic"},
            "learnt": {},
        }.items():
            model = RVMRegressor(effort="fast", **options).fit(X, y)
            error = np.sqrt(np.mean((model.predict(DENSE) - curve(DENSE[:, 0])) ** 2))
            row = (len(model.relevance_), roughness(model), error)
            found.setdefault(label, []).append(row)
    vectors, rough, error = (dict(zip(found, row, strict=True)) for row in mean_rows(found))
    assert vectors["narrow, at a price"] < 0.8 * vectors["narrow"]
    assert rough["narrow, at a price"] > 0.7 * rough["narrow"]
    assert rough["learnt"] < 0.5 * rough["narrow"]
    assert error["learnt"] < 1.1 * min(error["narrow"], error["narrow, at a price"])


def mean_rows(found: dict[str, list[tuple[float, ...]]]) -> np.ndarray:
    return np.array([np.mean(rows, axis=0) for rows in found.values()]).T


def test_a_high_price_wants_a_noise_level() -> None:
    pytest.importorskip("pywt")
    data = make_noisy_signal("Bumps", 256, snr=7, random_state=0)
    x, error = data.x[:, np.newaxis], {}
    for prior in ("bic", "ric"):
        for variance in (None, data.noise_std**2):
            model = SparseBayesRegressor(
                WaveletBasis("haar"), prior=prior, noise_variance=variance, fit_intercept=False
            ).fit(x, data.noisy)
            error[prior, variance is None] = np.std(model.predict(x) - data.clean)
    assert error["ric", False] < 0.5 * error["ric", True]
    assert error["bic", True] < 0.5 * error["ric", True]


def test_the_flat_prior_charges_columns_about_as_much_as_ric() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 60))
    y = X[:, :3].sum(axis=1) + rng.normal(size=100)
    kept = {
        prior: len(SparseBayesRegressor(LinearBasis(), prior=prior).fit(X, y).coef_)
        for prior in ("flat", "aic", "bic", "ric")
    }
    assert abs(kept["flat"] - kept["ric"]) <= 1
    assert kept["flat"] <= kept["bic"] <= kept["aic"]


@pytest.mark.slow
def test_one_wild_row_raises_the_noise_level() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, size=(100, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100)
    wild = int(np.argmin(np.abs(X[:, 0] - 6.0)))
    before = RVMRegressor().fit(X, y)
    y[wild] += 5.0
    after = RVMRegressor().fit(X, y)
    assert after.noise_variance_ > 10 * before.noise_variance_
    assert after.predict(X[[wild]]) > before.predict(X[[wild]]) + 0.1
    assert wild in RVMRegressor(gamma=5.0).fit(X, y).relevance_


def test_the_start_is_fair_to_linear_models() -> None:
    data = load_diabetes(scaled=False)
    X, X_test, y, y_test = train_test_split(data.data, data.target, random_state=0)
    ridge = make_pipeline(StandardScaler(), RidgeCV()).fit(X, y)
    assert ridge.score(X_test, y_test) == pytest.approx(0.36, abs=0.01)
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    assert np.sum(logistic.predict(X_test) != y_test) == 6


@pytest.mark.slow
def test_refused_tumours_hold_most_errors_on_other_splits() -> None:
    data, kinds = load_breast_cancer(return_X_y=True)
    n_wrong = n_left = 0
    for split in range(3):
        X, X_test, y, y_test = train_test_split(data, kinds, random_state=split)
        classifier = RVMClassifier().fit(X, y)
        wrong = classifier.predict(X_test) != y_test
        wary = classifier.decide(X_test, 1.0 - np.eye(2), reject_cost=0.1)
        n_wrong += wrong.sum()
        n_left += wrong[~wary.is_rejected].sum()
    assert 19 <= n_wrong <= 23
    assert n_left <= 3
