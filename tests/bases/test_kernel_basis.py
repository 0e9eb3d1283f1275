"""Kernels at centres."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from relvec.bases import KernelAtoms, KernelBasis
from relvec.bases.centers import choose_centers

RNG = np.random.default_rng(6)
X = RNG.normal(size=(25, 2))


def columns(bound):
    return bound.dictionary.columns(np.arange(bound.dictionary.shape[1]))


def test_default_is_the_gaussian_of_support_vector_machines():
    bound = KernelBasis().bind(X)
    np.testing.assert_allclose(columns(bound), rbf_kernel(X, gamma=1 / (2 * X.var())), atol=1e-13)
    np.testing.assert_array_equal(bound.source_row, np.arange(25))
    assert bound.is_localised.all()


def test_function_kernel():
    bound = KernelBasis(laplacian_kernel, centers=X[:3]).bind(X)
    np.testing.assert_allclose(columns(bound), laplacian_kernel(X, X[:3]))
    assert bound.atoms.names(["a", "b"])[0] == "laplacian_kernel(c_0)"


def test_equal_centres_are_kept_once_at_their_first_row():
    repeated = np.array([[1.0], [2.0], [1.0], [0.0], [-0.0], [2.0]])
    bound = KernelBasis(gamma=1).bind(repeated)
    np.testing.assert_array_equal(bound.source_row, [0, 1, 3])
    np.testing.assert_array_equal(bound.atoms.centers[:, 0], [1.0, 2.0, 0.0])


def test_almost_equal_centres_are_both_kept():
    close = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert KernelBasis(gamma=1).bind(close).dictionary.shape == (2, 2)


def test_first_row_with_weight_is_the_source():
    repeated = np.array([[1.0], [1.0], [3.0]])
    bound = KernelBasis(gamma=1).bind(repeated, sample_weight=np.array([0.0, 2.0, 1.0]))
    np.testing.assert_array_equal(bound.source_row, [1, 2])


@pytest.mark.parametrize("method", ["kmeans++", "random"])
def test_number_of_centres_are_distinct_training_rows(method):
    bound = KernelBasis(centers=7, center_method=method).bind(X)
    assert len(set(bound.source_row)) == 7
    np.testing.assert_array_equal(bound.atoms.centers, X[bound.source_row])


@pytest.mark.parametrize("method", ["kmeans++", "random"])
def test_more_centres_than_rows_means_all(method):
    bound = KernelBasis(centers=1000, center_method=method).bind(X)
    np.testing.assert_array_equal(bound.source_row, np.arange(25))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kmeans++", "random"])
@given(weight=st.lists(st.integers(0, 3), min_size=25, max_size=25).filter(any))
def test_a_weight_counts_as_repetition(method, weight):
    weight = np.array(weight)
    repeated = np.repeat(X, weight, axis=0)
    weighted = choose_centers(X, 4, method, sample_weight=weight.astype(float))
    plain = choose_centers(repeated, 4, method)
    np.testing.assert_array_equal(weighted.points, plain.points)


@pytest.mark.parametrize("method", ["kmeans++", "random"])
def test_heavy_rows_are_chosen(method):
    weight = np.full(25, 1e-12)
    weight[[3, 11]] = 1.0
    bound = KernelBasis(centers=2, center_method=method).bind(X, sample_weight=weight)
    np.testing.assert_array_equal(bound.source_row, [3, 11])


@pytest.mark.parametrize("method", ["kmeans++", "random"])
def test_chance_is_under_control(method):
    basis = KernelBasis(centers=5, center_method=method)
    rows = [
        tuple(basis.bind(X, random_state=np.random.RandomState(seed)).source_row)
        for seed in (0, 0, 1, 2, 3)
    ]
    assert rows[0] == rows[1]
    assert len(set(rows)) > 1
    assert tuple(basis.bind(X).source_row) == tuple(basis.bind(X).source_row)


def test_grid_covers_the_range():
    bound = KernelBasis(centers=3, center_method="grid").bind(X)
    low, high = X.min(axis=0), X.max(axis=0)
    axes = [np.linspace(a, b, 3) for a, b in zip(low, high, strict=True)]
    expected = [(a, b) for a in axes[0] for b in axes[1]]
    np.testing.assert_array_equal(bound.atoms.centers, expected)
    assert (bound.source_row == -1).all()


def test_grid_ignores_rows_of_zero_weight_and_flat_features():
    padded = np.array([[0.0, 5.0], [1.0, 5.0], [100.0, 9.0]])
    centers = choose_centers(padded, 3, "grid", sample_weight=np.array([1.0, 1.0, 0.0]))
    np.testing.assert_array_equal(centers.points, [[0.0, 5.0], [0.5, 5.0], [1.0, 5.0]])


def test_too_large_a_grid_is_refused():
    with pytest.raises(ValueError, match=r"20\*\*4 centres; at most 100000.*kmeans"):
        KernelBasis(centers=20, center_method="grid").bind(np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"2\*\*5000 centres"):
        choose_centers(np.zeros((3, 5000)), 2, "grid")


def test_given_centres():
    bound = KernelBasis(RBF(2.0), centers=[[0, 0], [1, 1], [0, 0]]).bind(X)
    np.testing.assert_array_equal(bound.atoms.centers, [[0, 0], [1, 1]])
    np.testing.assert_array_equal(bound.source_row, [-1, -1])


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("rbf", "rbf(x_4)"),
        ("linear_spline", "linear_spline(x_4)"),
        (Matern(), "matern(x_4)"),
        (RBF() + Matern(), "kernel(x_4)"),
        (RBF() ** 2, "kernel(x_4)"),
        (lambda X, Z: X @ Z.T, "kernel(x_4)"),
    ],
)
def test_names(kernel, name):
    assert KernelBasis(kernel).bind(X).atoms.subset(np.array([4])).names([]) == [name]


def test_atoms_alone():
    atoms = KernelAtoms(RBF(), X[:3])
    assert len(atoms) == 3
    assert atoms.names([]) == ["rbf(c_0)", "rbf(c_1)", "rbf(c_2)"]
    assert atoms.subset(np.array([2])).names([]) == ["rbf(c_2)"]
    with pytest.raises(AttributeError):
        atoms.kernel = RBF(2.0)


def test_taken_atoms_are_small_and_own_their_centres():
    big = RNG.normal(size=(5000, 2))
    taken = KernelBasis().bind(big).atoms.subset(np.array([10, 20]))
    assert taken.centers.base is None
    assert len(pickle.dumps(taken)) < 1500
    again = pickle.loads(pickle.dumps(taken))
    np.testing.assert_array_equal(again.evaluate(X), taken.evaluate(X))


def test_nested_parameters_and_clone():
    basis = KernelBasis(RBF(1.0) * Matern())
    copy = clone(basis).set_params(kernel__k1__length_scale=5.0)
    assert copy.kernel.k1.length_scale == 5.0
    assert basis.kernel.k1.length_scale == 1.0
    assert clone(KernelBasis(centers=X)).centers is not X


def test_parameters_are_stored_untouched():
    basis = KernelBasis(gamma="scale", centers=3)
    basis.bind(X)
    assert basis.gamma == "scale"
    assert basis.centers == 3
    assert basis.kernel == "rbf"


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_inputs_are_refused(container):
    with pytest.raises(TypeError, match=r"KernelBasis needs dense inputs.*LinearBasis.*toarray"):
        KernelBasis().bind(container(X))
    with pytest.raises(TypeError, match="KernelBasis needs dense inputs"):
        KernelBasis().bind(X).atoms.evaluate(container(X))


@pytest.mark.parametrize(
    ("parameters", "error", "complaint"),
    [
        ({"kernel": "rfb"}, ValueError, "Did you mean 'rbf'"),
        ({"kernel": RBF() + WhiteKernel()}, ValueError, "noise belongs to the likelihood"),
        ({"gamma": 0}, ValueError, "gamma must be a positive number"),
        ({"centers": "al"}, ValueError, "centers must be \"all\", a number or an array; got 'al'"),
        ({"centers": 0}, ValueError, "centers must be an integer of at least 1; got 0"),
        ({"centers": 2.5}, TypeError, "centers must be an integer"),
        ({"centers": True}, TypeError, "centers must be an integer"),
        ({"centers": [[1.0]]}, ValueError, r"shape \(n_centers, 2\).*got an array of shape \(1, 1"),
        ({"centers": np.empty((0, 2))}, ValueError, r"got an array of shape \(0, 2\)"),
        ({"centers": [[1.0, np.nan]]}, ValueError, "centers must be finite.*row 0, column 1"),
        ({"centers": 3, "center_method": "kmeans"}, ValueError, r"Did you mean 'kmeans\+\+'"),
    ],
)
def test_errors(parameters, error, complaint):
    with pytest.raises(error, match=complaint):
        KernelBasis(**parameters).bind(X)


@pytest.mark.parametrize("centers", ["all", 3])
@pytest.mark.parametrize("method", ["kmeans++", "random", "grid"])
def test_some_row_must_have_weight(centers, method):
    with pytest.raises(ValueError, match="no input has a positive sample_weight"):
        KernelBasis(gamma=1, centers=centers, center_method=method).bind(
            X, sample_weight=np.zeros(25)
        )


def test_centres_that_are_no_numbers_are_refused():
    with pytest.raises(TypeError, match='centers must be "all", a number, or an array of numbers'):
        KernelBasis("rbf", centers=object()).bind(np.zeros((3, 1)))
