"""Bases whose atoms are explicit columns."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import PolynomialFeatures

from relvec.bases import FunctionBasis, LinearBasis, PolynomialBasis, PrecomputedBasis
from relvec.dictionaries import LazyDictionary, SparseDictionary
from relvec.testing import check_dictionary

X = np.random.default_rng(8).normal(size=(10, 4))
NAMES = ["a", "b", "c", "d"]


def columns(bound):
    return bound.dictionary.columns(np.arange(bound.dictionary.shape[1]))


@pytest.mark.parametrize("basis", [LinearBasis(), PrecomputedBasis()])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_columns_of_dense_and_sparse_inputs(basis, container):
    bound = basis.bind(container(X))
    check_dictionary(bound.dictionary)
    np.testing.assert_array_equal(columns(bound), X)
    assert isinstance(bound.dictionary, SparseDictionary) == (container is not np.asarray)
    taken = bound.atoms.subset(np.array([2, 0]))
    values = taken.evaluate(container(X))
    assert isinstance(values, np.ndarray)
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, X[:, [2, 0]])
    assert taken.names(NAMES) == ["c", "a"]


@pytest.mark.parametrize("basis", [LinearBasis(), PrecomputedBasis()])
def test_all_columns_are_needed_to_predict(basis):
    taken = basis.bind(X).atoms.subset(np.array([1]))
    with pytest.raises(ValueError, match="X has 3 columns, but 4 were seen in fit"):
        taken.evaluate(X[:, :3])


def test_linear_atoms_are_not_localised():
    bound = LinearBasis().bind(X)
    assert not bound.is_localised.any()
    assert (bound.source_row == -1).all()


def test_linear_source_rows_of_a_square_input_are_unknown():
    assert (LinearBasis().bind(X[:4]).source_row == -1).all()


def test_precomputed_square_matrix_is_a_kernel_matrix():
    gram = X @ X.T
    bound = PrecomputedBasis().bind(gram)
    np.testing.assert_array_equal(bound.source_row, np.arange(10))
    assert bound.is_localised.all()
    assert (PrecomputedBasis().bind(gram[:, :7]).source_row == -1).all()


def test_precomputed_design_matrix():
    bound = PrecomputedBasis(localised=False).bind(X[:4])
    assert not bound.is_localised.any()
    assert (bound.source_row == -1).all()


@given(
    degree=st.integers(1, 4),
    interaction_only=st.booleans(),
    include_linear=st.booleans(),
    n_features=st.integers(1, 4),
)
def test_polynomials_agree_with_scikit_learn(degree, interaction_only, include_linear, n_features):
    basis = PolynomialBasis(degree, interaction_only, include_linear)
    inputs = X[:, :n_features]
    lowest = 1 if include_linear else 2
    largest = min(degree, n_features) if interaction_only else degree
    if largest < lowest:
        with pytest.raises(ValueError, match="has no basis functions"):
            basis.bind(inputs)
        return
    reference = PolynomialFeatures(
        (lowest, degree), interaction_only=interaction_only, include_bias=False
    ).fit(inputs)
    bound = basis.bind(inputs)
    np.testing.assert_allclose(columns(bound), reference.transform(inputs), rtol=1e-12)
    names = NAMES[:n_features]
    assert bound.atoms.names(names) == list(reference.get_feature_names_out(names))
    assert not bound.is_localised.any()


def test_polynomials_of_many_features_are_not_stored():
    wide = np.random.default_rng(0).normal(size=(3, 600))
    bound = PolynomialBasis(2).bind(wide)
    assert bound.dictionary.shape == (3, 600 + 600 * 601 // 2)
    assert isinstance(bound.dictionary, LazyDictionary)
    assert len(pickle.dumps(bound.atoms.subset(np.array([5])))) < 1000
    last = bound.dictionary.columns(np.array([bound.dictionary.shape[1] - 1]))
    np.testing.assert_allclose(last[:, 0], wide[:, -1] ** 2)


def test_polynomial_errors():
    with pytest.raises(TypeError, match="degree must be an integer"):
        PolynomialBasis(2.0).bind(X)
    with pytest.raises(ValueError, match="degree must be an integer of at least 1; got 0"):
        PolynomialBasis(0).bind(X)
    with pytest.raises(
        ValueError, match="has no basis functions for 4 features.*include_linear=True"
    ):
        PolynomialBasis(1, include_linear=False).bind(X)
    with pytest.raises(TypeError, match="PolynomialBasis needs dense inputs"):
        PolynomialBasis().bind(sparse.csr_array(X))
    with pytest.raises(ValueError, match="X has 3 features, but 4 were seen in fit"):
        PolynomialBasis().bind(X).atoms.evaluate(X[:, :3])


def first(X):
    return X[:, 0]


def pair(X):
    return X[:, :2] ** 2


class Callable:
    def __call__(self, X):
        return X[:, 3] > 0


def test_functions():
    bound = FunctionBasis([first, pair, Callable(), lambda X: X[:, 1]]).bind(X)
    expected = np.column_stack([X[:, 0], X[:, :2] ** 2, X[:, 3] > 0, X[:, 1]])
    np.testing.assert_array_equal(columns(bound), expected)
    assert bound.atoms.names(NAMES) == ["first", "pair[0]", "pair[1]", "Callable", "f3"]
    assert not bound.is_localised.any()


def test_one_function_needs_no_list():
    assert FunctionBasis(pair).bind(X).dictionary.shape == (10, 2)


def test_each_function_is_called_once():
    calls = []

    def counted(X):
        calls.append(len(X))
        return X

    atoms = FunctionBasis([counted]).bind(X).atoms
    calls.clear()
    atoms.subset(np.array([3, 1, 0])).evaluate(X[:2])
    assert calls == [2]


def test_functions_of_forgotten_atoms_are_not_called():
    def fails_later(X):
        if len(X) < 10:
            raise RuntimeError("called")
        return X[:, 0]

    atoms = FunctionBasis([fails_later, first]).bind(X).atoms.subset(np.array([1]))
    np.testing.assert_array_equal(atoms.evaluate(X[:3])[:, 0], X[:3, 0])


def test_fitted_functions_survive_pickling():
    atoms = FunctionBasis([np.sin, np.cos]).bind(X).atoms.subset(np.array([5]))
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(atoms)).evaluate(X)[:, 0], np.cos(X[:, 1])
    )


def not_finite(X):
    values = X[:, 0].copy()
    values[4] = np.inf
    return values


@pytest.mark.parametrize(
    ("functions", "error", "complaint"),
    [
        ([], ValueError, "at least one function; got an empty list"),
        ([first, 3], TypeError, r"functions\[1\] is 3 of type int"),
        (lambda X: 1.0, ValueError, r"'f0' returned an array of shape \(\).*\(10,\) or \(10, n"),
        (lambda X: X[:3], ValueError, r"returned an array of shape \(3, 4\)"),
        (lambda X: X[:, :0], ValueError, r"returned an array of shape \(10, 0\)"),
        (lambda X: X[:, :, None], ValueError, r"returned an array of shape \(10, 4, 1\)"),
        (lambda X: X * 1j, ValueError, "dtype complex128; it must return real numbers"),
        (not_finite, ValueError, "function 'not_finite' must be finite.*row 4, column 0 is inf"),
    ],
)
def test_function_errors(functions, error, complaint):
    with pytest.raises(error, match=complaint):
        FunctionBasis(functions).bind(X)


def test_function_must_keep_its_width():
    atoms = FunctionBasis(lambda X: X[:, : len(X) // 3]).bind(X).atoms
    with pytest.raises(ValueError, match="'f0' returned 2 columns; it must return 3"):
        atoms.evaluate(X[:6])
