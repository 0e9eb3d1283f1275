"""Spline kernels against their textbook formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from relvec.kernels import LinearSpline, ThinPlateSpline
from relvec.testing import check_kernel

NUMBERS = st.floats(-5, 5)


def spline_formula(x, z, r):
    """Tipping (2001), equation 29, with inputs in units of r."""
    result = 1.0
    for a, b in zip(np.asarray(x) / r, np.asarray(z) / r, strict=True):
        m = min(a, b)
        result *= 1 + a * b + a * b * m - (a + b) / 2 * m**2 + m**3 / 3
    return result


@given(
    x=st.lists(NUMBERS, min_size=2, max_size=2),
    z=st.lists(NUMBERS, min_size=2, max_size=2),
    r=st.floats(0.3, 4),
)
def test_linear_spline_formula(x, z, r):
    expected = spline_formula(x, z, r)
    tolerance = 1e-10 * (1 + max(map(abs, [*x, *z])) / r) ** 6
    assert LinearSpline(r)([x], [z])[0, 0] == pytest.approx(expected, abs=tolerance)


@given(x=st.lists(NUMBERS, min_size=3, max_size=3), z=st.lists(NUMBERS, min_size=3, max_size=3))
def test_thin_plate_spline_formula(x, z):
    distance = math.dist(x, z) / 0.7
    expected = distance**2 * math.log(distance) if distance > 1e-150 else 0.0
    value = ThinPlateSpline(0.7)([x], [z])[0, 0]
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_thin_plate_spline_changes_sign_at_the_length_scale():
    values = ThinPlateSpline(2.0)([[0.0], [1.0], [2.0], [3.0]], [[0.0]])[:, 0]
    assert values[0] == 0
    assert values[1] < 0
    assert values[2] == pytest.approx(0, abs=1e-15)
    assert values[3] > 0


KERNELS = [
    LinearSpline(),
    LinearSpline(2.5),
    LinearSpline(2.0, "fixed"),
    ThinPlateSpline(0.4),
    ThinPlateSpline(0.4, length_scale_bounds="fixed"),
    LinearSpline(2.0) * RBF(0.7) + ThinPlateSpline(1.3),
    (LinearSpline(3.0) + 2.0) ** 2,
    ConstantKernel(2.0) * ThinPlateSpline(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_conformance(kernel):
    check_kernel(kernel)
    check_kernel(kernel, np.random.default_rng(0).uniform(-1, 1, size=(8, 1)))


def test_parameters():
    kernel = LinearSpline(2.0, (0.1, 10.0))
    assert kernel.get_params() == {"length_scale": 2.0, "length_scale_bounds": (0.1, 10.0)}
    np.testing.assert_allclose(kernel.theta, [math.log(2)])
    np.testing.assert_allclose(kernel.bounds, np.log([[0.1, 10.0]]))
    assert clone(kernel) == kernel
    assert kernel.set_params(length_scale=3.0).length_scale == 3.0
    assert repr(kernel) == "LinearSpline(length_scale=3)"
    assert (kernel + RBF()).set_params(k1__length_scale=4).k1.length_scale == 4


def test_stationarity():
    assert not LinearSpline().is_stationary()
    assert ThinPlateSpline().is_stationary()


def test_fixed_length_scale_has_no_gradient():
    _, gradient = LinearSpline(1.0, "fixed")(np.ones((2, 1)), eval_gradient=True)
    assert gradient.shape == (2, 2, 0)


@pytest.mark.parametrize("kernel", [LinearSpline(), ThinPlateSpline()])
def test_gradient_needs_one_set_of_inputs(kernel):
    with pytest.raises(ValueError, match="only be evaluated when Y is None"):
        kernel(np.ones((2, 1)), np.ones((2, 1)), eval_gradient=True)


@pytest.mark.parametrize("length_scale", [0.0, -1.0, np.nan])
def test_length_scale_must_be_positive(length_scale):
    with pytest.raises(ValueError, match="length_scale of LinearSpline must be a positive number"):
        LinearSpline(length_scale)([[1.0]])


def test_linear_spline_serves_a_gaussian_process():
    X = np.linspace(0, 1, 8)[:, np.newaxis]
    model = GaussianProcessRegressor(LinearSpline(1.0), alpha=1e-3).fit(X, np.sin(3 * X[:, 0]))
    assert model.score(X, np.sin(3 * X[:, 0])) > 0.99
