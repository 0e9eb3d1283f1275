"""From names and numbers to kernel objects."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    Kernel,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.metrics.pairwise import rbf_kernel

from relvec.kernels import (
    KERNEL_NAMES,
    Cosine,
    Laplacian,
    Linear,
    LinearSpline,
    Polynomial,
    Sigmoid,
    ThinPlateSpline,
    kernel_block,
    resolve_gamma,
    resolve_kernel,
)
from relvec.testing import check_kernel

X = np.random.default_rng(4).normal(size=(20, 3))
LENGTH = 1 / math.sqrt(2 * 0.25)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("rbf", RBF(LENGTH)),
        ("laplacian", Laplacian(0.25)),
        ("matern32", Matern(LENGTH, nu=1.5)),
        ("matern52", Matern(LENGTH, nu=2.5)),
        ("rational_quadratic", RationalQuadratic(LENGTH)),
        ("linear_spline", LinearSpline(LENGTH)),
        ("thin_plate_spline", ThinPlateSpline(LENGTH)),
        ("polynomial", Polynomial(0.25, 2, 0.5)),
        ("poly", Polynomial(0.25, 2, 0.5)),
        ("sigmoid", Sigmoid(0.25, 0.5)),
        ("linear", Linear()),
        ("cosine", Cosine()),
    ],
)
def test_names(name, kernel):
    assert name in KERNEL_NAMES
    assert resolve_kernel(name, 0.25, 2, 0.5) == kernel


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_every_name_conforms(name):
    kernel = resolve_kernel(name, "scale", X=X)
    assert isinstance(kernel, Kernel)
    check_kernel(kernel)


@given(gamma=st.floats(1e-3, 1e2))
def test_gamma_means_the_same_as_in_scikit_learn(gamma):
    kernel = resolve_kernel("rbf", gamma)
    np.testing.assert_allclose(
        kernel_block(kernel, X, X[:4]), rbf_kernel(X, X[:4], gamma), atol=1e-11
    )


@pytest.mark.parametrize("gamma", [1, 1.0, np.float32(1), np.int64(1), np.array(1.0)])
def test_gamma_may_be_any_number(gamma):
    assert resolve_gamma(gamma, None) == 1.0


def test_gamma_scale_and_auto():
    assert resolve_gamma("auto", X) == 1 / 3
    assert resolve_gamma("scale", X) == pytest.approx(1 / (3 * X.var()), rel=1e-13)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e10])
def test_gamma_scale_of_constant_inputs_is_one(value):
    assert resolve_gamma("scale", np.full((7, 2), value)) == 1.0


@given(weight=st.lists(st.integers(0, 3), min_size=20, max_size=20).filter(any))
def test_gamma_scale_counts_a_weight_as_repetition(weight):
    weight = np.array(weight)
    repeated = np.repeat(X, weight, axis=0)
    assert resolve_gamma("scale", X, weight.astype(float)) == pytest.approx(
        resolve_gamma("scale", repeated), rel=1e-12
    )


def test_gamma_scale_ignores_rows_of_zero_weight():
    padded = np.vstack([X, np.full((1, 3), 1e9)])
    weight = np.append(np.ones(20), 0.0)
    assert resolve_gamma("scale", padded, weight) == resolve_gamma("scale", X)


def test_objects_and_functions_pass_through():
    kernel = RBF() + Matern()
    assert resolve_kernel(kernel) is kernel
    assert resolve_kernel(rbf_kernel) is rbf_kernel


@pytest.mark.parametrize(
    "kernel",
    [
        WhiteKernel(),
        RBF() + WhiteKernel(),
        (RBF() * (Matern() + WhiteKernel())) ** 2,
        CompoundKernel([RBF(), WhiteKernel()]),
    ],
)
def test_noise_is_refused(kernel):
    with pytest.raises(ValueError, match="noise belongs to the likelihood.*noise_variance"):
        resolve_kernel(kernel)


@pytest.mark.parametrize(
    ("wrong", "right"), [("rfb", "rbf"), ("RBF", "rbf"), ("polinomial", "polynomial")]
)
def test_unknown_name_suggests_the_nearest(wrong, right):
    with pytest.raises(ValueError, match=rf"got '{wrong}'\. Did you mean '{right}'\?"):
        resolve_kernel(wrong, X=X)


def test_unknown_name_lists_the_names():
    with pytest.raises(
        ValueError, match=r"one of 'rbf', .*'cosine',.* a kernel object.*got 'zzz'\.$"
    ):
        resolve_kernel("zzz", X=X)


def test_precomputed_points_to_its_basis():
    with pytest.raises(ValueError, match="Use PrecomputedBasis"):
        resolve_kernel("precomputed")


@pytest.mark.parametrize("kernel", [3, None, RBF])
def test_other_types_are_refused(kernel):
    with pytest.raises(TypeError, match="a name, a scikit-learn kernel object or a function"):
        resolve_kernel(kernel)


def test_parameter_errors():
    with pytest.raises(ValueError, match=r"one of 'scale', 'auto'; got 'scael'. Did you mean 'sc"):
        resolve_kernel("rbf", "scael", X=X)
    with pytest.raises(ValueError, match='gamma must be a positive number or "scale" or "auto"'):
        resolve_kernel("rbf", -1)
    with pytest.raises(TypeError, match="gamma must be a positive number.*got None"):
        resolve_kernel("rbf", None)
    with pytest.raises(ValueError, match='gamma="scale" depends on the inputs; give X'):
        resolve_kernel("rbf")
    with pytest.raises(TypeError, match=r"degree must be an integer.*got 2\.5"):
        resolve_kernel("poly", 1, 2.5)
    with pytest.raises(TypeError, match="coef0 must be a number; got 'a'"):
        resolve_kernel("poly", 1, 2, "a")
    with pytest.raises(ValueError, match="coef0 must be finite; got nan"):
        resolve_kernel("sigmoid", 1, 2, np.nan)
