"""Models of texts and other objects."""

from __future__ import annotations

import pickle
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, GenericKernelMixin, Kernel
from sklearn.model_selection import GridSearchCV, cross_val_score

from relvec import (
    DRVMRegressor,
    RVMClassifier,
    RVMRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from relvec.bases import FunctionBasis, KernelBasis
from relvec.io import ExportError, export_c, export_onnx, export_python, load, save
from relvec.kernels import StringSpectrum, Warped

_rng = np.random.default_rng(0)
WORDS = ["".join(_rng.choice(list("abc"), size=_rng.integers(3, 9))) for _ in range(60)]
COUNT = np.array([word.count("ab") for word in WORDS])
Y = COUNT + 0.1 * _rng.normal(size=60)
LABELS = np.array(["few", "many"])[(COUNT > 0).astype(int)]


def counts(texts):
    return np.array([[len(text), text.count("ab")] for text in texts], dtype=float)


def same_beginning(A, B):
    return np.array([[float(a[:2] == b[:2]) for b in B] for a in A])


def close_days(A, B):
    return np.array([[float(np.exp(-(((a - b).days / 10) ** 2))) for b in B] for a in A])


class Lengths(GenericKernelMixin, Kernel):
    """As the example of scikit-learn for sequences: a kernel of somebody else."""

    def __call__(self, X, Y=None, eval_gradient=False):
        Y = X if Y is None else Y
        value = np.array([[float(np.exp(-abs(len(x) - len(y)))) for y in Y] for x in X])
        return (value, np.empty((*value.shape, 0))) if eval_gradient else value

    def diag(self, X):
        return np.ones(len(X))

    def is_stationary(self):
        return False

    def __repr__(self):
        return "Lengths()"

    def __init__(self):
        super().__init__()


@pytest.mark.slow
@pytest.mark.parametrize(
    "texts",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        np.array(WORDS, dtype=object)[:, None],
        pd.Series(WORDS),
        pd.DataFrame({"word": WORDS}),
    ],
    ids=["list", "tuple", "unicode", "objects", "column", "series", "frame"],
)
def test_any_container(texts):
    model = RVMRegressor(StringSpectrum(2, normalised=False)).fit(texts, Y)
    reference = RVMRegressor(StringSpectrum(2, normalised=False)).fit(WORDS, Y)
    assert model.score(texts, Y) > 0.95
    assert model.n_features_in_ == 1
    np.testing.assert_array_equal(model.predict(texts), reference.predict(WORDS))
    assert set(model.relevance_vectors_.ravel()) <= set(WORDS)
    assert hasattr(model, "feature_names_in_") == isinstance(texts, pd.DataFrame)


def test_the_same_as_a_precomputed_kernel():
    kernel = StringSpectrum(2)
    mine = RVMRegressor(kernel, error_bars="plain").fit(WORDS, Y)
    distinct = [WORDS.index(word) for word in dict.fromkeys(WORDS)]
    given = SparseBayesRegressor(
        KernelBasis(lambda A, B: kernel(A, B), centers=np.array(WORDS, dtype=object)[distinct]),
        error_bars="plain",
    ).fit(WORDS, Y)
    np.testing.assert_allclose(mine.predict(WORDS), given.predict(WORDS), rtol=1e-9)
    assert mine.log_evidence_ == pytest.approx(given.log_evidence_)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        StringSpectrum(2),
        same_beginning,
        Lengths(),
        Warped(RBF(2.0), counts),
        Warped(RBF(2.0), counts) * StringSpectrum(1) + StringSpectrum(2) ** 2,
    ],
    ids=["string spectrum", "function", "own class", "warped", "algebra"],
)
def test_everything_a_regressor_can_be_asked(kernel):
    model = RVMRegressor(kernel).fit(WORDS, Y)
    mean, std = model.predict(["abab", "zzzz"], return_std=True)
    assert mean.shape == std.shape == (2,)
    assert (std > 0).all()
    assert model.predict(["abab", "ab"], return_cov=True)[1].shape == (2, 2)
    assert model.predict_interval(["abab"]).shape == (1, 2)
    assert model.sample_y(["abab", "c"], 3).shape == (2, 3)
    assert np.isfinite(model.log_predictive_density(WORDS, Y)).all()
    assert np.isfinite(model.leave_one_out(WORDS, Y)[0]).all()
    assert len(model.atom_names()) == len(model.relevance_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(WORDS), model.predict(WORDS))
    clone(model).fit(WORDS, Y, sample_weight=np.arange(60) % 3)


def test_unlike_texts_are_uncertain():
    model = RVMRegressor(StringSpectrum(2)).fit(WORDS, Y)
    plain = RVMRegressor(StringSpectrum(2), error_bars="plain").fit(WORDS, Y)
    known, unknown = model.predict([WORDS[0], "zzzzz"], return_std=True)[1]
    assert unknown > 1.5 * known
    assert unknown > plain.predict(["zzzzz"], return_std=True)[1][0]
    augmented = RVMRegressor(StringSpectrum(2), error_bars="augmented").fit(WORDS, Y)
    assert np.isfinite(augmented.predict(["zzzzz", "abc"], return_std=True)[1]).all()


def test_classes():
    model = RVMClassifier(StringSpectrum(2)).fit(WORDS, LABELS)
    assert model.score(WORDS, LABELS) > 0.9
    assert model.predict_proba(["abab", "zzz"]).shape == (2, 2)
    assert model.predict(["abab"]) == ["many"]
    several = SparseBayesClassifier(KernelBasis(StringSpectrum(2))).fit(WORDS, np.minimum(COUNT, 2))
    assert several.predict_proba(WORDS).shape == (60, 3)


def test_functions_of_texts_beside_kernels():
    basis = KernelBasis(StringSpectrum(2)) + FunctionBasis([counts])
    model = SparseBayesRegressor(basis).fit(WORDS, Y)
    assert "counts[1]" in model.atom_names()
    assert model.score(WORDS, Y) > 0.95


def test_objects_that_are_not_texts():
    days = [date(2024, 1, 1) + timedelta(k) for k in range(40)]
    target = np.sin(np.arange(40) / 6)
    model = RVMRegressor(close_days, noise_variance=1e-3).fit(days, target)
    assert model.score(days, target) > 0.95
    assert isinstance(model.relevance_vectors_[0, 0], date)


def test_objects_that_cannot_be_hashed():
    sets = np.empty(40, dtype=object)
    sets[:] = [{k % 7, k % 3} for k in range(40)]

    def jaccard(A, B):
        return np.array([[len(a & b) / len(a | b) for b in B] for a in A])

    size = np.array([len(each) for each in sets]) + 0.1 * _rng.normal(size=40)
    assert RVMRegressor(jaccard).fit(sets, size).predict(sets).shape == (40,)


def test_centres():
    some = RVMRegressor(StringSpectrum(2), centers=10, center_method="random", random_state=0)
    assert some.fit(WORDS, Y).n_atoms_ == 10
    given = RVMRegressor(StringSpectrum(2), centers=["ab", "bc", "ab"]).fit(WORDS, Y)
    assert given.n_atoms_ == 2
    with pytest.raises(ValueError, match=r'kmeans.*numeric.*center_method="random"'):
        RVMRegressor(StringSpectrum(2), centers=10).fit(WORDS, Y)


def test_cross_validation():
    model = RVMRegressor(StringSpectrum(2, normalised=False))
    assert cross_val_score(model, WORDS, Y, cv=3).min() > 0.8
    search = GridSearchCV(model, {"kernel__length": [1, 2]}, cv=3).fit(WORDS, Y)
    assert search.best_params_ == {"kernel__length": 2}


def test_warm_start_and_low_memory():
    model = RVMRegressor(StringSpectrum(2), warm_start=True).fit(WORDS, Y).fit(WORDS, Y)
    lean = RVMRegressor(StringSpectrum(2), low_memory=True).fit(WORDS, Y)
    np.testing.assert_allclose(lean.predict(WORDS), model.predict(WORDS), rtol=1e-6)


@pytest.mark.parametrize("make", [RVMRegressor, RVMClassifier])
def test_files_hold_texts(make, tmp_path):
    model = make(StringSpectrum(2)).fit(WORDS, LABELS if make is RVMClassifier else Y)
    again = load(save(model, tmp_path / "texts.relvec"))
    np.testing.assert_array_equal(again.predict(WORDS), model.predict(WORDS))
    np.testing.assert_array_equal(again.relevance_vectors_, model.relevance_vectors_)
    for export in (export_onnx, export_c, export_python):
        with pytest.raises(ExportError, match="StringSpectrum.* cannot be exported"):
            export(model)


def test_numbers_still_reach_functions_as_numbers():
    seen = []

    def spy(A, B):
        seen.append((A.dtype, A.ndim))
        return np.exp(-np.abs(A[:, :1] - B[:, 0]))

    x = np.linspace(0, 1, 20).reshape(-1, 1)
    for inputs in (x, x.tolist(), x.astype(object)):
        RVMRegressor(spy, noise_variance=0.01).fit(inputs, x.ravel())
    assert set(seen) == {(np.dtype(np.float64), 2)}


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (RVMRegressor(), r"X must hold numbers.* row 0 holds the string '\w+'.*StringSpectrum"),
        (RVMClassifier(), "X must hold numbers.*TfidfVectorizer"),
        (RVMRegressor(StringSpectrum(2) + RBF()), "X must hold numbers"),
        (
            RVMRegressor(StringSpectrum(2), length_scales="ard"),
            "scales can be learnt for inputs that are",
        ),
        (
            RVMRegressor(StringSpectrum(2), length_scales="kernel"),
            "scales can be learnt for inputs that",
        ),
        (DRVMRegressor(StringSpectrum(2)), "scales can be learnt for inputs that are numbers"),
    ],
    ids=repr,
)
def test_what_needs_numbers_says_so(model, complaint):
    with pytest.raises(ValueError, match=complaint):
        model.fit(WORDS, LABELS if isinstance(model, RVMClassifier) else Y)


def test_inputs_of_another_kind_in_predict():
    texts = RVMRegressor(same_beginning).fit(WORDS, Y)
    with pytest.raises(TypeError, match="of the kind that the model was fitted to"):
        texts.predict([[1.0]])
    with pytest.raises(TypeError, match="StringSpectrum takes strings; got 1.0"):
        RVMRegressor(StringSpectrum(2)).fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="2 features"):
        RVMRegressor(StringSpectrum(2)).fit(WORDS, Y).predict([["a", "b"]])


def test_one_text_is_not_a_list_of_letters():
    model = RVMRegressor(StringSpectrum(2)).fit(WORDS, Y)
    with pytest.raises(ValueError, match="must be a list of strings; got one string, 'banana'"):
        model.predict("banana")
    with pytest.raises(TypeError, match="takes lists of strings; got one string"):
        StringSpectrum(2)("banana")
    table = pd.DataFrame({"text": ["banana", "cherry"]})
    np.testing.assert_array_equal(StringSpectrum(2)(table), StringSpectrum(2)(["banana", "cherry"]))
