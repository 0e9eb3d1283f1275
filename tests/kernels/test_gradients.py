"""Derivatives of kernel sums in scales and parameters, against differences of the sums."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
)

from relvec.kernels import (
    Laplacian,
    Linear,
    LinearSpline,
    Polynomial,
    Sigmoid,
    center_gradient,
    log_scale_gradient,
    parameter_gradient,
    raw_scale_gradient,
    scale_jacobian,
)

RNG = np.random.default_rng(5)
OFFSET = np.array([0.0, 40.0, -3.0])  # squares of the second cancel if nobody takes care
X, Z = RNG.normal(size=(9, 3)) + OFFSET, RNG.normal(size=(6, 3)) + OFFSET
E = RNG.normal(size=(9, 6))
WEIGHTS = RNG.normal(size=6)
SCALE = np.array([0.7, 0.2, 1.6])


def exponential_of_a_product(A, B):
    return np.exp(0.1 * A @ B.T)


KNOWN = [
    RBF(1.4),
    Matern(0.8, nu=0.5),
    Matern(0.8, nu=1.5),
    Matern(0.8, nu=2.5),
    Matern(0.8, nu=np.inf),
    RationalQuadratic(1.2, 0.6),
    Laplacian(0.6),
    Polynomial(0.3, 3, 1.0),
    Sigmoid(0.05, 0.3),
    Linear(),
]
UNKNOWN = [
    RBF([1.0, 2.0, 0.5]),
    Matern(0.8, nu=0.8),
    Matern([0.8, 1.0, 2.0], nu=1.5),
    2.0 * RBF(1.0) + DotProduct(0.5),
    Exponentiation(RationalQuadratic(1.0, 2.0), 2),
    LinearSpline(),
]


def value(kernel, scale, X=X, Z=Z):
    """The kernel by its own code, not by blocks."""
    root = np.sqrt(scale)
    return kernel(X * root, Z * root)


def differences(function, at, step=1e-6):
    """Central differences in each component."""
    columns = []
    for k in range(len(at)):
        up, down = at.copy(), at.copy()
        up[k] += step
        down[k] -= step
        columns.append((function(up) - function(down)) / (2.0 * step))
    return np.stack(columns, axis=-1)


def centred(kernel):
    """Inputs near zero for kernels of inner products, where an offset only makes large numbers."""
    if type(kernel) in (Polynomial, Sigmoid, LinearSpline) or "DotProduct" in repr(kernel):
        return X - OFFSET, Z - OFFSET
    return X, Z


@pytest.mark.parametrize("kernel", KNOWN + UNKNOWN, ids=repr)
def test_slopes_are_differences(kernel):
    A, B = centred(kernel)
    expected = differences(lambda scale: (E * value(kernel, scale, A, B)).sum(), SCALE)
    rtol, atol = (1e-5, 1e-7) if kernel in UNKNOWN else (1e-6, 1e-7)
    slope = raw_scale_gradient(kernel, SCALE, A, B, E)
    np.testing.assert_allclose(slope, expected, rtol=rtol, atol=atol)
    np.testing.assert_allclose(
        log_scale_gradient(kernel, SCALE, A, B, E), SCALE * expected, rtol=rtol, atol=atol
    )


@pytest.mark.parametrize("kernel", KNOWN + UNKNOWN, ids=repr)
def test_jacobian_is_differences(kernel):
    A, B = centred(kernel)
    expected = differences(lambda scale: value(kernel, scale, A, B) @ WEIGHTS, SCALE)
    found = scale_jacobian(kernel, SCALE, A, B, WEIGHTS)
    assert found.shape == (9, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [*KNOWN, *UNKNOWN, pytest.param(exponential_of_a_product, id="exponential_of_a_product")],
    ids=repr,
)
def test_slopes_in_centres_are_differences(kernel):
    A, B = centred(kernel) if kernel is not exponential_of_a_product else (X - OFFSET, Z - OFFSET)
    found, h = center_gradient(kernel, SCALE, A, B, E), 1e-4
    assert found.shape == B.shape
    for place in np.ndindex(B.shape):
        step = np.zeros_like(B)
        step[place] = h
        ends = [(E * value(kernel, SCALE, A, B + each)).sum() for each in (step, -step)]
        assert found[place] == pytest.approx((ends[0] - ends[1]) / (2.0 * h), rel=1e-4, abs=1e-5)


def test_functions_are_differentiated_numerically():
    A, B = X - OFFSET, Z - OFFSET
    expected = differences(
        lambda scale: (E * value(exponential_of_a_product, scale, A, B)).sum(), SCALE
    )
    np.testing.assert_allclose(
        raw_scale_gradient(exponential_of_a_product, SCALE, A, B, E), expected, rtol=1e-6
    )
    jacobian = scale_jacobian(exponential_of_a_product, SCALE, A, B, WEIGHTS)
    np.testing.assert_allclose(
        jacobian,
        differences(lambda s: value(exponential_of_a_product, s, A, B) @ WEIGHTS, SCALE),
        rtol=1e-6,
        atol=1e-9,
    )


@pytest.mark.parametrize("kernel", [k for k in KNOWN if not isinstance(k, Laplacian)], ids=repr)
def test_what_an_input_that_is_left_out_would_gain(kernel):
    scale = np.array([0.7, 0.0, 1.6])
    A, B = X - OFFSET, Z - OFFSET
    step = 1e-7

    def at(extra):
        return (E * value(kernel, scale + extra * np.eye(3)[1], A, B)).sum()

    # one-sided, to second order: scales are not negative
    expected = (4.0 * at(step) - at(2.0 * step) - 3.0 * at(0.0)) / (2.0 * step)
    slope = raw_scale_gradient(kernel, scale, A, B, E)
    np.testing.assert_allclose(slope[1], expected, rtol=1e-5, atol=1e-6)
    assert log_scale_gradient(kernel, scale, A, B, E)[1] == 0.0
    assert scale_jacobian(kernel, scale, A, B, WEIGHTS)[:, 1] @ np.ones(9) == pytest.approx(
        raw_scale_gradient(kernel, scale, A, B, np.tile(WEIGHTS, (9, 1)))[1]
    )


def test_laplacian_has_a_vertical_slope_at_zero_of_the_right_sign():
    scale = np.array([0.7, 0.0, 1.6])
    for sign in (1.0, -1.0):
        slope = raw_scale_gradient(Laplacian(0.6), scale, X, Z, np.full((9, 6), -sign))
        assert np.isfinite(slope).all()
        assert slope[1] * sign > 1e100
        gradient = log_scale_gradient(Laplacian(0.6), scale, X, Z, np.full((9, 6), -sign))
        assert gradient[1] == 0.0
    assert (scale_jacobian(Laplacian(0.6), scale, X, Z, WEIGHTS)[:, 1] == 0.0).all()


def test_unknown_forms_are_differentiated_at_zero_as_well():
    scale = np.array([0.7, 0.0, 1.6])
    slope = raw_scale_gradient(RBF(1.0) + RBF(2.0), scale, X, Z, E)
    both = raw_scale_gradient(RBF(1.0), scale, X, Z, E) + raw_scale_gradient(
        RBF(2.0), scale, X, Z, E
    )
    np.testing.assert_allclose(slope[[0, 2]], both[[0, 2]], rtol=1e-6)
    np.testing.assert_allclose(slope[1], both[1], rtol=1e-3)
    assert slope[1] != 0.0


def test_equal_points_are_no_trouble():
    same = np.repeat(X[:3], 3, axis=0)
    weight = RNG.normal(size=(9, 9))
    for nu in (0.5, 1.5, 2.5):
        kernel = Matern(0.8, nu=nu)
        slope = raw_scale_gradient(kernel, SCALE, same, same, weight)
        expected = differences(
            lambda scale, kernel=kernel: (weight * value(kernel, scale, same, same)).sum(), SCALE
        )
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-7)


def test_offset_costs_no_digits():
    far = np.array([1e6, -1e6, 1e6])
    near = raw_scale_gradient(RBF(1.0), SCALE, X - OFFSET, Z - OFFSET, E)
    away = raw_scale_gradient(RBF(1.0), SCALE, X - OFFSET + far, Z - OFFSET + far, E)
    np.testing.assert_allclose(away, near, rtol=1e-6, atol=1e-8)


# ------------------------------------------------------------------ parameters

COMPOSITES = [
    RBF(1.2),
    RBF([1.0, 2.0, 0.5]),
    ConstantKernel(2.0) * RBF(0.8) + Matern([1.0, 2.0, 3.0], nu=2.5) * RationalQuadratic(1.0, 0.5),
    DotProduct(0.4) + ExpSineSquared(1.0, 3.0) * RBF(2.0, "fixed"),
    Laplacian(0.4) + Polynomial(0.2, 2, 1.0),
]


@pytest.mark.parametrize("block", [1, 200, 1000, 1 << 22])
@pytest.mark.parametrize("kernel", COMPOSITES, ids=repr)
def test_parameter_gradient_is_the_contraction_of_the_full_tensor(kernel, block):
    A, B = X - OFFSET, Z - OFFSET
    _, tensor = kernel(np.vstack([A, B]), eval_gradient=True)
    expected = np.einsum("nm,nmp->p", E, tensor[:9, 9:])
    found = parameter_gradient(kernel, A, B, E, block_values=block)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    theta = kernel.theta
    by_differences = differences(
        lambda at: (E * kernel.clone_with_theta(at)(A, B)).sum(), np.array(theta)
    )
    np.testing.assert_allclose(
        parameter_gradient(kernel, A, B, E), by_differences, rtol=1e-5, atol=1e-7
    )


def test_no_free_parameter_no_gradient():
    assert parameter_gradient(RBF(1.0, "fixed"), X, Z, E).shape == (0,)
    assert parameter_gradient(Linear(), X, Z, E).shape == (0,)


# ------------------------------------------------------------------ memory


def peak_bytes(function):
    function()  # whatever is loaded once
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "kernel", [RBF(1.0), Matern(1.0, nu=1.5), RationalQuadratic(), Laplacian(0.5), Linear()]
)
def test_memory_is_that_of_a_few_matrices(kernel):
    n, m, p = 2000, 20, 50
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(n, p))
    centers, slopes = inputs[:m], rng.normal(size=(n, m))
    scale = np.full(p, 0.02)
    few = 8 * 8 * (n * m + n * p)
    assert few < 8 * n * m * p  # of the tensor that must not be
    assert peak_bytes(lambda: raw_scale_gradient(kernel, scale, inputs, centers, slopes)) < few
    assert peak_bytes(lambda: scale_jacobian(kernel, scale, inputs, centers, slopes[0])) < few


def test_memory_of_a_square_matrix():
    n, p = 400, 40
    inputs = np.random.default_rng(0).normal(size=(n, p))
    weight = cdist(inputs, inputs)
    scale = np.full(p, 0.02)
    peak = peak_bytes(lambda: raw_scale_gradient(RBF(1.0), scale, inputs, inputs, weight))
    assert peak < 8 * 6 * (n * n + n * p)


def test_memory_of_many_parameters():
    n, m, p = 1000, 10, 30
    inputs = np.random.default_rng(0).normal(size=(n, p))
    kernel = RBF(np.full(p, 5.0))
    weight = np.ones((n, m))
    peak = peak_bytes(
        lambda: parameter_gradient(kernel, inputs, inputs[:m], weight, block_values=1 << 16)
    )
    assert peak < 8 * 5 * (1 << 16) + 8 * 4 * n * m
