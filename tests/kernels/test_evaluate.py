"""Blocks of kernel values: right, accurate, and checked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, CompoundKernel, Matern

from relvec.kernels import GaussianDictionary, kernel_block, kernel_dictionary

RNG = np.random.default_rng(2)
X = RNG.normal(size=(30, 4))
Z = RNG.normal(size=(11, 4))


def gaussian(X, Z, length_scale):
    return np.exp(-0.5 * cdist(X / length_scale, Z / length_scale, "sqeuclidean"))


def laplace(X, Z):
    return np.exp(-cdist(X, Z, "cityblock"))


@pytest.mark.parametrize("length_scale", [0.5, 3, [2.0], np.array([0.5, 1.0, 2.0, 4.0])])
def test_gaussian_fast_path(length_scale):
    assert isinstance(kernel_dictionary(RBF(length_scale), X, Z), GaussianDictionary)
    expected = gaussian(X, Z, np.asarray(length_scale))
    np.testing.assert_allclose(kernel_block(RBF(length_scale), X, Z), expected, atol=1e-13)


@given(
    shift=st.floats(-1e6, 1e6),
    spread=st.sampled_from([0.0, 1e-3, 1.0, 1e2, 600.0, 1e4, 1e7]),
    n_features=st.integers(1, 20),
    seed=st.integers(0, 10),
)
def test_gaussian_entries_are_accurate_for_any_spread_of_the_inputs(
    shift, spread, n_features, seed
):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(20, n_features)) * spread
    # Neighbours of every centre, so that some values are neither 0 nor 1.
    X = np.vstack([Z + rng.normal(size=Z.shape) * 0.5, Z])
    # Shifting rounds the inputs, so the reference is computed from what was rounded.
    X, Z = X + shift, Z + shift
    assert np.abs(kernel_block(RBF(1.0), X, Z) - gaussian(X, Z, 1.0)).max() < 1e-9


def test_spread_centres_are_compared_exactly():
    far = Z.copy()
    far[0] += 1e5
    evaluator = kernel_dictionary(RBF(), X, far)
    np.testing.assert_allclose(
        evaluator.columns(np.arange(11)), gaussian(X, far, 1.0), rtol=1e-12, atol=1e-300
    )
    np.testing.assert_allclose(
        evaluator.rows(3, 5), gaussian(X[3:5], far, 1.0), rtol=1e-12, atol=1e-300
    )


@pytest.mark.parametrize("distance", [1e3, 1e8, 1e160, 1e300])
def test_far_inputs_are_zero_and_warn_of_nothing(distance):
    far = X.copy()
    far[0] = distance
    values = kernel_block(RBF(), far, Z)
    np.testing.assert_array_equal(values[0], 0.0)
    np.testing.assert_allclose(values[1:], gaussian(X[1:], Z, 1.0), atol=1e-13)


@pytest.mark.parametrize(
    "kernel", [RBF(0.7), RBF([1, 2, 3, 4]), Matern(nu=1.5), RBF() + Matern(), laplace]
)
def test_blocks_agree_with_the_whole(kernel):
    whole = kernel(X, Z)
    evaluator = kernel_dictionary(kernel, X, Z)
    assert evaluator.shape == (30, 11)
    index = np.array([7, 2, 2, 10])
    columns = evaluator.columns(index)
    assert columns.flags.f_contiguous
    assert columns.dtype == np.float64
    np.testing.assert_allclose(columns, whole[:, index], atol=1e-13)
    np.testing.assert_allclose(evaluator.rows(5, 17), whole[5:17], atol=1e-13)
    assert evaluator.columns(np.arange(0)).shape == (30, 0)


def test_subclass_of_rbf_is_asked_itself():
    class Doubled(RBF):
        def __call__(self, X, Y=None, eval_gradient=False):
            return 2 * super().__call__(X, Y)

    np.testing.assert_allclose(kernel_block(Doubled(), X, Z), 2 * gaussian(X, Z, 1.0))


def test_asymmetric_functions_are_allowed():
    np.testing.assert_array_equal(
        kernel_block(lambda X, Z: X[:, :1] + 2 * Z[:, 0], X, Z), X[:, :1] + 2 * Z[:, 0]
    )


@pytest.mark.parametrize("dtype", [np.float32, np.int32, bool])
def test_real_outputs_become_float64(dtype):
    block = kernel_block(lambda X, Z: np.ones((len(X), len(Z)), dtype), X, Z)
    assert block.dtype == np.float64


def one_value(X, Z):
    return 1.0


def transposed(X, Z):
    return laplace(Z, X)


def complex_values(X, Z):
    return laplace(X, Z) * 1j


def one_nan(X, Z):
    values = laplace(X, Z)
    values[3, 2] = np.nan
    return values


@pytest.mark.parametrize(
    ("kernel", "complaint"),
    [
        (one_value, r"one_value.* returned float; .*ndarray of shape \(30, 11\)"),
        (transposed, r"transposed.* returned an array of shape \(11, 30\).*shape \(30, 11\)"),
        (CompoundKernel([RBF(), RBF()]), r"shape \(30, 11, 2\)"),
        (complex_values, "complex_values.* returned values of dtype complex128.*real numbers"),
        (one_nan, "one_nan.* must be finite; the value at row 3, column 2 is NaN"),
    ],
)
def test_bad_kernel_output(kernel, complaint):
    with pytest.raises(ValueError, match=complaint):
        kernel_block(kernel, X, Z)


def test_input_errors():
    with pytest.raises(ValueError, match=r"inputs of shape \(30, 4\) and centres of shape \(11, 3"):
        kernel_block(RBF(), X, Z[:, :3])
    with pytest.raises(ValueError, match="3 length-scales, but the inputs have 4 features"):
        kernel_block(RBF([1.0, 2.0, 3.0]), X, Z)
    for bad in (0.0, -1.0, np.nan, [1.0, 1.0, 0.0, 1.0]):
        with pytest.raises(ValueError, match="length-scale of an RBF kernel must be positive"):
            kernel_block(RBF(bad), X, Z)
