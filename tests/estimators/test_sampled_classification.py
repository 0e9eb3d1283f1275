"""Classification by sampling: probabilities, inclusion, chains and degenerate data."""

from __future__ import annotations

import pickle
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from relvec import (
    RVMClassifier,
    SampledRVMClassifier,
    SampledSparseBayesClassifier,
    SparseBayesClassifier,
)
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis
from relvec.estimators import _drawn_functions
from relvec.kernels import StringSpectrum

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:The chains of Sampled:sklearn.exceptions.ConvergenceWarning"
    ),
]

SHORT = {"n_chains": 2, "n_draws": 20, "max_doublings": 0, "random_state": 0}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
LATENT = 2.0 * X[:, 0] + 0.5 * RNG.normal(size=40)
TWO = np.where(LATENT > 0.3, "yes", "no")
THREE = np.array(["low", "middle", "top"])[np.digitize(LATENT, [-0.8, 0.8])]
LINEAR = {"basis": LinearBasis(), **SHORT}
MODELS = {
    "kernels": (SampledRVMClassifier(gamma=0.3, **SHORT), TWO),
    "factors": (SampledRVMClassifier(gamma=0.3, sample_length_scales="shared", **SHORT), TWO),
    "columns": (SampledSparseBayesClassifier(**LINEAR), TWO),
    "three classes": (SampledSparseBayesClassifier(**LINEAR), THREE),
}
EVERY = pytest.mark.parametrize("name", MODELS)


def fit(name, **options):
    model, labels = MODELS[name]
    return pickle.loads(pickle.dumps(model)).set_params(**options).fit(X, labels)


fitted = cache(fit)


@EVERY
def test_probabilities(name):
    model, labels = fitted(name), MODELS[name][1]
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probability)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probability.argmax(axis=1)])
    assert model.score(X, labels) > 0.7
    odds = model.decision_function(X)
    if len(model.classes_) == 2:
        np.testing.assert_allclose(odds, np.log(probability[:, 1] / probability[:, 0]))
    else:
        np.testing.assert_allclose(odds, np.log(probability / (1.0 - probability)))


@EVERY
def test_probabilities_are_averages_over_draws(name):
    model = pickle.loads(pickle.dumps(MODELS[name][0])).set_params(error_bars="plain")
    model.fit(X, MODELS[name][1])
    logits = np.stack([each.evaluate(X[:5]) for each in model.class_model_.functions])
    if len(logits) == 1:
        logits = np.concatenate([np.zeros_like(logits), logits])
    shares = np.exp(logits - logits.max(axis=0))
    shares /= shares.sum(axis=0)
    np.testing.assert_allclose(model.predict_proba(X[:5]), shares.mean(axis=2).T, rtol=1e-9)


def test_far_from_the_data():
    labels = MODELS["kernels"][1]
    shares = fitted("kernels").predict_proba(1e3 * X[:3])
    np.testing.assert_allclose(shares[:, 1], np.mean(labels == "yes"), atol=0.1)


@EVERY
def test_blocks_of_rows(name, monkeypatch):
    model = fitted(name)
    whole = model.predict_proba(X), model.predict_proba(X, marginalise=False)
    monkeypatch.setattr(_drawn_functions, "BLOCK_ENTRIES", 7 * 40)  # blocks of seven rows
    np.testing.assert_allclose(model.predict_proba(X), whole[0], rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X, marginalise=False), whole[1], rtol=1e-12)


@EVERY
def test_files_seeds_and_processes(name, tmp_path):
    model = fitted(name)
    probability = model.predict_proba(X)
    joblib.dump(model, tmp_path / "model.joblib")
    copies = [joblib.load(tmp_path / "model.joblib"), pickle.loads(pickle.dumps(model))]
    for copy in (*copies, fit(name), fit(name, n_jobs=2)):
        np.testing.assert_array_equal(copy.predict_proba(X), probability)
    assert (fit(name, random_state=1).predict_proba(X) != probability).any()


@EVERY
def test_warm_start_continues(name):
    model = fit(name, warm_start=True, thin=2)
    n_steps = model.n_iter_
    model.set_params(thin=4).fit(X, MODELS[name][1])
    assert model.n_iter_ == n_steps + 4 * 20  # without warm-up


def test_draws_in_single_precision():
    single = fit("columns", draw_dtype="float32").predict_proba(X)
    np.testing.assert_allclose(single, fitted("columns").predict_proba(X), rtol=1e-5)


def test_names_of_a_table():
    table = pd.DataFrame(X, columns=["height", "depth", "width"])
    model = SampledSparseBayesClassifier(**LINEAR).fit(table, TWO)
    assert model.inclusion_table(1)[0][0] == "height"
    three = SampledSparseBayesClassifier(**LINEAR).fit(table, THREE)
    assert len(three.inclusion_table()) == 9
    assert three.inclusion_table(1)[0][0].split(" · ")[1] in set(THREE)
    assert three.inclusion_probability_.shape == (3, 3)
    assert sum(each.probability for each in three.rival_models(100)) <= 1.0 + 1e-12


@pytest.mark.parametrize(
    "basis",
    [LinearBasis(), PolynomialBasis(), KernelBasis(gamma=0.3), LinearBasis() + KernelBasis()],
    ids=str,
)
def test_inclusion_of_features(basis):
    model = SampledSparseBayesClassifier(basis, **SHORT).fit(X, TWO)
    share = model.feature_inclusion_probability_
    assert share[0] > 0.9
    uses = model.candidate_atoms_.find_used_features(3)
    for feature in range(3):
        assert share[feature] >= model.inclusion_probability_[uses[:, feature]].max() - 1e-12


DEGENERATE = {
    "two rows": (X[:2], [0, 1]),
    "three rows": (X[:3], [0, 1, 0]),
    "a class of one row": (X, np.arange(40) == 0),
    "constant inputs": (np.ones((40, 2)), TWO),
    "separable": (X, X[:, 0] > 0.0),
    "copied columns": (np.hstack([X, X]), TWO),
    "tiny inputs": (1e-130 * X, TWO),
    "huge inputs": (1e130 * X, TWO),
    "columns of all scales": (X * [1e-100, 1.0, 1e100], TWO),
    "more columns than rows": (np.random.default_rng(3).normal(size=(20, 300)), TWO[:20]),
}


@pytest.mark.parametrize("name", ["kernels", "columns"])
@pytest.mark.parametrize("data", DEGENERATE)
def test_degenerate_data(name, data):
    rows, labels = DEGENERATE[data]
    model = pickle.loads(pickle.dumps(MODELS[name][0])).set_params(n_draws=10).fit(rows, labels)
    probability = model.predict_proba(rows)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert np.isfinite(model.decision_function(100.0 * rows)).all()
    most = np.unique(labels, return_counts=True)[1].max() / len(labels)
    # two rows of two classes say next to nothing
    assert len(rows) == 2 or model.score(rows, labels) >= most


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (np.where(X > 2.0, np.nan, X), TWO, "X must be finite"),
        (1e150 * X, TWO, "X has values .* Rescale X"),
        (X, np.zeros(40), "at least 2 classes"),
        (X[:1], [1], "at least 2 classes"),
        (X, np.column_stack([TWO, TWO]), "1d array"),
    ],
)
def test_refused_data(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        SampledSparseBayesClassifier(**LINEAR).fit(rows, labels)


def test_weights():
    model = SampledSparseBayesClassifier(**LINEAR)
    with pytest.raises(ValueError, match="at least one non-zero number"):
        model.fit(X, TWO, sample_weight=np.zeros(40))
    # rows of weight zero count for nothing
    weight = np.arange(40) % 4 > 0
    labels = np.where(weight, TWO, np.where(TWO == "yes", "no", "yes"))
    other = SampledSparseBayesClassifier(**LINEAR).fit(X, labels, sample_weight=weight)
    same = SampledSparseBayesClassifier(**LINEAR).fit(X, TWO, sample_weight=weight)
    np.testing.assert_allclose(other.predict_proba(X), same.predict_proba(X))


def test_sparse_inputs_and_texts():
    sparse = SampledSparseBayesClassifier(**LINEAR).fit(csr_array(X), TWO)
    np.testing.assert_allclose(
        sparse.predict_proba(csr_array(X)), fitted("columns").predict_proba(X)
    )
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc"), size=6)) for _ in range(40)]
    labels = ["ab" in word for word in words]
    texts = SampledRVMClassifier(StringSpectrum(2), **SHORT).fit(words, labels)
    assert texts.score(words, labels) > 0.8


def test_sampling_from_a_fitted_model():
    for model in (
        RVMClassifier(),
        SparseBayesClassifier(LinearBasis()),
        RVMClassifier(class_weight="balanced"),
    ):
        sampled = model.fit(X, TWO).sample_posterior(X, TWO, **SHORT)
        assert sampled.evidence_model_ is model
        assert sampled.class_weight == model.class_weight
        assert sampled.score(X, TWO) > 0.7
    noise = RVMClassifier().fit(X, np.arange(40) % 2)
    sampled = noise.sample_posterior(X, np.arange(40) % 2, **SHORT)
    assert np.isfinite(sampled.predict_proba(X)).all()


def test_convergence():
    model = SampledSparseBayesClassifier(**LINEAR)
    with pytest.warns(ConvergenceWarning, match="have not converged: R-hat") as caught:
        model.fit(X, TWO)
    assert caught[0].filename == __file__
    assert not model.converged_
    assert {each.shape for each in model.traces_.values()} == {(2, 20)}
    assert any(name.startswith("log_odds") for name in model.traces_)


def test_arviz():
    pytest.importorskip("arviz")
    assert fitted("columns").to_arviz()["posterior"]["n_active"].shape == (2, 20)
