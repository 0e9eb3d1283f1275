"""Every dictionary is the same matrix by every route."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF

from relvec.bases import LinearBasis
from relvec.dictionaries import (
    DenseDictionary,
    LazyDictionary,
    SparseDictionary,
    UnionDictionary,
)
from relvec.kernels import kernel_dictionary
from relvec.testing import check_dictionary

RNG = np.random.default_rng(3)
ARRAY = RNG.normal(size=(9, 5))
INPUTS = RNG.normal(size=(9, 2))


def kernels():
    return kernel_dictionary(RBF(), INPUTS, INPUTS[:6])


DICTIONARIES = {
    "dense, C order": lambda: DenseDictionary(ARRAY),
    "dense, Fortran order": lambda: DenseDictionary(np.asfortranarray(ARRAY)),
    "dense, strided": lambda: DenseDictionary(np.repeat(ARRAY, 2, axis=1)[:, ::2]),
    "dense, one sample": lambda: DenseDictionary(ARRAY[:1]),
    "sparse csr": lambda: SparseDictionary(sparse.csr_array(ARRAY * (ARRAY > 0))),
    "sparse matrix": lambda: SparseDictionary(sparse.coo_matrix(ARRAY * (ARRAY > 0))),
    "kernel": kernels,
    "lazy": lambda: LazyDictionary(LinearBasis().bind(ARRAY).atoms, ARRAY),
    "union": lambda: UnionDictionary([DenseDictionary(ARRAY), kernels()]),
    "union of one": lambda: UnionDictionary([kernels()]),
    "union of unions": lambda: UnionDictionary(
        [
            UnionDictionary([DenseDictionary(ARRAY), DenseDictionary(ARRAY[:, :1])]),
            SparseDictionary(sparse.csr_array(ARRAY)),
        ]
    ),
}


@pytest.mark.parametrize("name", DICTIONARIES)
def test_conformance(name):
    check_dictionary(DICTIONARIES[name]())


@pytest.mark.parametrize("dtype", [np.float32, np.int8, bool, np.uint16])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_outputs_are_float64_whatever_the_input(dtype, kind):
    array = (ARRAY > 0).astype(dtype)
    dictionary = (
        DenseDictionary(array) if kind == "dense" else SparseDictionary(sparse.csr_array(array))
    )
    check_dictionary(dictionary)
    for result in (
        dictionary.columns(np.array([0])),
        dictionary.rows(0, 2),
        dictionary.matvec(np.ones(5)),
        dictionary.rmatvec(np.ones(9)),
        dictionary.rmatmat(np.ones((9, 2))),
        dictionary.sq_norms(),
        dictionary.sq_norms(np.ones(9)),
    ):
        assert result.dtype == np.float64


@pytest.mark.parametrize("name", [name for name in DICTIONARIES if name != "lazy"])
def test_columns_are_contiguous_atoms(name):
    dictionary = DICTIONARIES[name]()
    assert dictionary.columns(np.arange(dictionary.shape[1])[::-1]).flags.f_contiguous


def test_dense_keeps_a_float64_array_without_a_copy():
    assert DenseDictionary(ARRAY).array is ARRAY


def test_dense_results_do_not_alias_the_array():
    array = ARRAY.copy()
    dictionary = DenseDictionary(array)
    dictionary.columns(np.arange(5))[:] = 0
    dictionary.rows(0, 9)[:] = 0
    np.testing.assert_array_equal(array, ARRAY)


@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_sq_norms_over_several_blocks(order):
    weights = RNG.uniform(size=9)
    dictionary = DenseDictionary(np.array(ARRAY, order=order))
    blocks = dictionary.sq_norms(weights, cache_bytes=8 * 5 * 2)
    np.testing.assert_allclose(blocks, weights @ ARRAY**2, rtol=1e-14)


def test_sparse_entries_given_twice_are_added():
    twice = sparse.coo_array(([1.0, 2.0, 5.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    unsummed = sparse.csc_array(
        (np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    for matrix in (twice, unsummed):
        dictionary = SparseDictionary(matrix)
        check_dictionary(dictionary)
        np.testing.assert_array_equal(dictionary.sq_norms(), [9.0, 25.0])
    assert unsummed.nnz == 3, "the user's matrix must stay as it was"


@given(
    widths=st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(lambda w: sum(w) > 0),
    data=st.data(),
)
def test_union_columns_equal_the_stacked_matrix(widths, data):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(3, width)) for width in widths]
    union = UnionDictionary([DenseDictionary(array) for array in arrays])
    index = data.draw(st.lists(st.integers(0, sum(widths) - 1), max_size=6))
    index = np.array(index, dtype=np.intp)
    np.testing.assert_array_equal(union.columns(index), np.hstack(arrays)[:, index])


def test_union_errors():
    with pytest.raises(ValueError, match="at least one dictionary; got none"):
        UnionDictionary([])
    with pytest.raises(ValueError, match=r"same number of samples; got \[9, 4\]"):
        UnionDictionary([DenseDictionary(ARRAY), DenseDictionary(ARRAY[:4])])
    for index in (-1, 5):
        with pytest.raises(IndexError, match=r"index must lie in 0\.\.4"):
            UnionDictionary([DenseDictionary(ARRAY)]).columns(np.array([index]))


def test_matrix_errors():
    with pytest.raises(ValueError, match=r"2-D array \(samples, atoms\); got 1-D"):
        DenseDictionary([1.0, 2.0])
    with pytest.raises(TypeError, match=r"got ndarray\. Use DenseDictionary"):
        SparseDictionary(ARRAY)
