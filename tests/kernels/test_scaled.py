"""A kernel of scaled inputs: what it equals, what it leaves out, how it is copied."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, RationalQuadratic

from relvec.kernels import (
    Laplacian,
    Linear,
    Polynomial,
    ScaledInputs,
    accepts_any_n_features,
    kernel_block,
    scale_features,
)
from relvec.testing import check_kernel

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(12, 3)), RNG.normal(size=(5, 3))


@pytest.mark.parametrize("scale", [[0.5, 2.0, 1.0], [0.5, 0.0, 1.0], [0.0, 0.0, 0.0]])
@pytest.mark.parametrize(
    "kernel",
    [
        RBF(1.3),
        RBF([1.0, 2.0, 0.5]),
        Matern(0.7, nu=1.5),
        RationalQuadratic(1.2, 0.8),
        Laplacian(0.6),
        Polynomial(0.4, 2, 1.0),
        Linear(),
        ConstantKernel(2.0) * RBF(1.0) + Matern([1.0, 2.0, 3.0], nu=2.5),
    ],
    ids=repr,
)
def test_conforms(kernel, scale):
    check_kernel(ScaledInputs(kernel, scale))


def test_is_the_kernel_with_a_width_for_each_input():
    widths = np.array([0.3, 2.0, 1.1])
    expected = RBF(widths)(X, Z)
    np.testing.assert_allclose(ScaledInputs(RBF(1.0), 1.0 / widths**2)(X, Z), expected, rtol=1e-12)
    np.testing.assert_allclose(
        kernel_block(ScaledInputs(RBF(1.0), 1.0 / widths**2), X, Z), expected, rtol=1e-10
    )


def test_scale_of_zero_leaves_an_input_out():
    kernel = ScaledInputs(Matern(1.0, nu=2.5), [4.0, 0.0, 0.25])
    other = X.copy()
    other[:, 1] = 1e9
    np.testing.assert_array_equal(kernel(other, Z), kernel(X, Z))
    np.testing.assert_allclose(
        kernel(X, Z), Matern([0.5, 2.0], nu=2.5)(X[:, [0, 2]], Z[:, [0, 2]]), rtol=1e-12
    )
    assert kernel.scaled(X).shape == (12, 2)


def test_all_scales_zero_is_a_constant():
    np.testing.assert_array_equal(ScaledInputs(RBF(), [0.0, 0.0, 0.0])(X, Z), np.ones((12, 5)))


@pytest.mark.parametrize(
    "kernel", [RBF([1.0, 2.0, 0.5]), ConstantKernel(3.0) * Matern([1.0, 2.0, 0.5], nu=1.5)]
)
def test_kernel_with_a_parameter_for_each_input_keeps_its_columns(kernel):
    assert not accepts_any_n_features(kernel)
    scaled = ScaledInputs(kernel, [2.0, 0.0, 1.0])
    expected = kernel(X * [np.sqrt(2.0), 0.0, 1.0], Z * [np.sqrt(2.0), 0.0, 1.0])
    np.testing.assert_allclose(scaled(X, Z), expected, rtol=1e-12)
    assert scaled.scaled(X).shape == (12, 3)


def test_functions_get_all_columns():
    seen = []

    def kernel(A, B):
        seen.append(A.shape[1])
        return A @ B.T

    assert not accepts_any_n_features(kernel)
    assert scale_features(kernel, np.array([1.0, 0.0, 4.0]), X).shape == (12, 3)


def test_parameters_are_those_of_the_inner_kernel():
    inner = ConstantKernel(2.0) * RBF(0.7)
    kernel = ScaledInputs(inner, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(kernel.theta, inner.theta)
    np.testing.assert_array_equal(kernel.bounds, inner.bounds)
    assert kernel.n_dims == 2
    assert [h.name for h in kernel.hyperparameters] == [
        "kernel__k1__constant_value",
        "kernel__k2__length_scale",
    ]
    moved = kernel.clone_with_theta(np.log([5.0, 0.1]))
    assert moved.kernel.k2.length_scale == pytest.approx(0.1)
    assert inner.k2.length_scale == 0.7  # not touched
    moved.set_params(kernel__k2__length_scale=9.0)
    assert moved.kernel.k2.length_scale == 9.0
    assert kernel.get_params()["kernel__k2__length_scale"] == 0.7
    assert set(kernel.get_params(deep=False)) == {"kernel", "scale"}


@pytest.mark.parametrize("scale", [[1.0, 0.0, 2.0], np.array([1.0, 0.0, 2.0]), (1.0, 0.0, 2.0)])
def test_copies(scale):
    kernel = ScaledInputs(Laplacian(0.5), scale)
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert copy == kernel
        assert copy is not kernel
        np.testing.assert_array_equal(copy(X, Z), kernel(X, Z))


def test_equality():
    kernel = ScaledInputs(RBF(1.0), [1.0, 2.0])
    assert kernel == ScaledInputs(RBF(1.0), np.array([1.0, 2.0]))
    assert kernel != ScaledInputs(RBF(1.0), [1.0, 3.0])
    assert kernel != ScaledInputs(RBF(2.0), [1.0, 2.0])
    assert kernel != RBF(1.0)


def test_sums_and_products_with_other_kernels():
    kernel = ConstantKernel(2.0) * ScaledInputs(RBF(1.0), [1.0, 2.0, 0.0]) + RBF(3.0)
    check_kernel(kernel)
    assert kernel.is_stationary()
    assert not ScaledInputs(Linear(), [1.0]).is_stationary()


def test_repr():
    assert repr(ScaledInputs(RBF(1.0), [4.0, 0.0])) == "ScaledInputs(RBF(length_scale=1), [4, 0])"
    many = repr(ScaledInputs(RBF(1.0), [0.0] * 3 + [1.0] * 5))
    assert many == "ScaledInputs(RBF(length_scale=1), 5 of 8 features)"


def test_errors():
    with pytest.raises(ValueError, match="X has 3 features, but the kernel has scales for 2"):
        ScaledInputs(RBF(), [1.0, 2.0])(X)
    for bad in ([1.0, -1.0, 2.0], [1.0, np.nan, 2.0], [np.inf, 1.0, 1.0], 3.0, [[1.0, 1.0, 1.0]]):
        with pytest.raises(ValueError, match="one finite, non-negative number per feature"):
            ScaledInputs(RBF(), bad)(X)
    with pytest.raises(ValueError, match="Gradient can only be evaluated when Y is None"):
        ScaledInputs(RBF(), [1.0, 1.0, 1.0])(X, Z, eval_gradient=True)
