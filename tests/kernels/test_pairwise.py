"""The classical kernels against scikit-learn's functions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import pairwise

from relvec.kernels import Cosine, Laplacian, Linear, Polynomial, Sigmoid
from relvec.testing import check_kernel

RNG = np.random.default_rng(1)
X = RNG.normal(size=(7, 3))
Z = RNG.normal(size=(4, 3))

PAIRS = [
    (Linear(), lambda X, Z: pairwise.linear_kernel(X, Z)),
    (Cosine(), lambda X, Z: pairwise.cosine_similarity(X, Z)),
    (Laplacian(0.7), lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=0.7)),
    (
        Polynomial(0.3, 4, 2.0),
        lambda X, Z: pairwise.polynomial_kernel(X, Z, degree=4, gamma=0.3, coef0=2.0),
    ),
    (Sigmoid(0.2, -0.5), lambda X, Z: pairwise.sigmoid_kernel(X, Z, gamma=0.2, coef0=-0.5)),
]
IDS = [repr(kernel) for kernel, _ in PAIRS]


@pytest.mark.parametrize(("kernel", "function"), PAIRS, ids=IDS)
def test_values(kernel, function):
    np.testing.assert_allclose(kernel(X, Z), function(X, Z), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in PAIRS], ids=IDS)
def test_conformance(kernel):
    check_kernel(kernel)
    check_kernel(2.0 * kernel**2 + Linear())
    check_kernel(kernel, RNG.normal(size=(6, 1)))


@pytest.mark.parametrize(
    "kernel", [Laplacian(0.7, "fixed"), Polynomial(gamma_bounds="fixed"), Sigmoid(1, 1, "fixed")]
)
def test_fixed_gamma_has_no_gradient(kernel):
    check_kernel(kernel)
    assert kernel.n_dims == 0


def test_cosine_with_the_origin_is_zero():
    origin = np.zeros((1, 3))
    np.testing.assert_array_equal(Cosine()(origin, Z), np.zeros((1, 4)))
    np.testing.assert_array_equal(Cosine().diag(origin), [0.0])


def test_stationarity():
    assert Laplacian().is_stationary()
    assert not any(kernel.is_stationary() for kernel in (Linear(), Cosine(), Polynomial()))


@pytest.mark.parametrize("kernel", [Linear(), Cosine(), Laplacian(), Polynomial(), Sigmoid()])
def test_gradient_needs_one_set_of_inputs(kernel):
    with pytest.raises(ValueError, match="only be evaluated when Y is None"):
        kernel(X, X, eval_gradient=True)


def test_gamma_must_be_positive():
    with pytest.raises(ValueError, match="gamma of Laplacian must be a positive number; got -1"):
        Laplacian(-1)(X)


def test_repr_names_the_parameters():
    assert repr(Polynomial(0.5, 2, 0.0)) == "Polynomial(gamma=0.5, degree=2, coef0=0)"
    assert repr(Sigmoid(0.5, 1)) == "Sigmoid(gamma=0.5, coef0=1)"
    assert repr(Laplacian(0.5)) == "Laplacian(gamma=0.5)"
    assert repr(Linear()) == "Linear()"
