"""Warped, periodic and spectral-mixture kernels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared, Matern

from relvec import RVMRegressor
from relvec.io import ExportError, export_c, export_onnx, export_python, load, save
from relvec.kernels import Periodic, ScaledInputs, SpectralMixture, Warped, resolve_kernel
from relvec.testing import check_kernel

RNG = np.random.default_rng(1)
X = RNG.uniform(0.2, 4.0, size=(40, 2))
Y = np.sin(3.0 * X[:, 0]) + 0.1 * RNG.normal(size=40)


def polar(X):
    return np.column_stack([np.hypot(*X[:, :2].T), np.arctan2(*X[:, :2].T)])


def radius(X):
    return np.hypot(*X[:, :2].T)


def first_log(X):
    return np.log(X[:, 0])


KERNELS = [
    Warped(RBF(1.3), np.log),
    Warped(RBF([1.0, 2.0]), polar),
    Warped(Periodic(1.0, 2.0), radius),
    2.0 * Warped(RBF(1.3), np.log) + RBF(0.5) ** 2,
    ScaledInputs(Warped(RBF(1.0), radius), [1.0, 0.5, 2.0]),
    Periodic(0.8, 2.3),
    Periodic(0.8, 2.3, "fixed"),
    Periodic(0.8, 2.3, "fixed", "fixed"),
    SpectralMixture(),
    SpectralMixture([1.0, 0.5], [0.5, 0.2], [0.01, 0.1]),
    SpectralMixture([1.0, 0.5], [[0.5, 0.2, 0.3], [0.1, 0.2, 0.3]], [0.01, 0.1]),
    SpectralMixture([1.0, 2.0], [0.3, 0.1], [[0.1, 0.2, 0.1], [0.2, 0.1, 0.1]], "fixed"),
    SpectralMixture(means_bounds="fixed", weights_bounds="fixed", variances_bounds="fixed"),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_conformance(kernel):
    check_kernel(kernel)
    again = pickle.loads(pickle.dumps(clone(kernel)))
    inputs = np.c_[X, X[:, :1]]
    np.testing.assert_array_equal(again(inputs), kernel(inputs))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_they_are_covariances(kernel):
    inputs = RNG.uniform(0.1, 5.0, size=(60, 3))
    square = kernel(inputs)
    np.testing.assert_allclose(square, square.T, rtol=1e-13)
    assert np.linalg.eigvalsh(square).min() > -1e-9 * np.abs(square).max()


def test_a_warped_kernel_is_the_kernel_of_warped_inputs():
    both = polar(X), polar(X[:5])
    np.testing.assert_array_equal(Warped(Matern(0.7), polar)(X, X[:5]), Matern(0.7)(*both))
    straight = RVMRegressor(RBF(0.8), error_bars="plain").fit(np.log(X), Y)
    warped = RVMRegressor(Warped(RBF(0.8), np.log), error_bars="plain").fit(X, Y)
    mean, std = straight.predict(np.log(X[:7]), return_std=True)
    np.testing.assert_allclose(warped.predict(X[:7], return_std=True)[0], mean, rtol=1e-8)
    np.testing.assert_allclose(warped.predict(X[:7], return_std=True)[1], std, rtol=1e-6)


def test_parameters_of_a_warped_kernel_are_learnt():
    model = RVMRegressor(Warped(RBF(1.0), first_log), length_scales="kernel").fit(X, Y)
    assert isinstance(model.kernel_, Warped)
    assert 0.05 < model.kernel_.kernel.length_scale < 0.9
    assert model.score(X, Y) > 0.9


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (lambda X: X[:3], r"shape \(3, 2\).* must return numbers, a row for each of 40 inputs"),
        (lambda X: np.full(len(X), "a"), "dtype <U1; it must return numbers"),
        (lambda X: np.full(len(X), np.nan), "must be finite"),
        ("log", "a function of the whole input array"),
    ],
)
def test_functions_that_do_not_warp(function, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        Warped(RBF(), function)(X)


def test_own_functions_in_files_must_be_trusted(tmp_path):
    model = RVMRegressor(Warped(RBF(1.0), polar)).fit(X, Y)
    with pytest.raises(Exception, match=r"polar"):
        save(model, tmp_path / "a.relvec")
    save(model, tmp_path / "b.relvec", trusted=[polar])
    with pytest.raises(Exception, match=r"polar.*trusted="):
        load(tmp_path / "b.relvec")
    again = load(tmp_path / "b.relvec", trusted=[polar])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@settings(max_examples=20)
@given(length=st.floats(0.2, 3.0), period=st.floats(0.3, 9.0))
def test_periodic_is_that_of_scikit_learn_in_one_dimension(length, period):
    line = X[:, :1]
    np.testing.assert_allclose(
        Periodic(length, period)(line), ExpSineSquared(length, period)(line), rtol=1e-9, atol=1e-12
    )


def test_periodic_repeats_itself_along_every_input():
    kernel = Periodic(0.9, 1.7)
    np.testing.assert_allclose(kernel(X, X + np.array([1.7, -3.4])), kernel(X), rtol=1e-10)


def test_periodic_by_name_is_as_wide_as_gamma_says():
    near = np.array([[0.0], [1e-3]])
    for gamma in (0.1, 5.0):
        fall = 1.0 - resolve_kernel("periodic", gamma)(near)[0, 1]
        assert fall == pytest.approx(gamma * 1e-6, rel=1e-3)


def test_a_period_is_continued_beyond_the_data():
    rng = np.random.default_rng(0)
    line = rng.uniform(0, 10, size=(80, 1))
    model = RVMRegressor(Periodic(1.0, 2.5)).fit(
        line, np.sin(2 * np.pi * line[:, 0] / 2.5) + 0.05 * rng.normal(size=80)
    )
    beyond = np.linspace(20, 25, 30)[:, None]
    truth = np.sin(2 * np.pi * beyond[:, 0] / 2.5)
    assert np.abs(model.predict(beyond) - truth).max() < 0.1


def test_spectral_mixture_is_the_formula():
    weights, means = np.array([1.0, 0.5]), np.array([[0.5, 0.2], [0.1, 0.3]])
    variances = np.array([[0.02, 0.1], [0.3, 0.04]])
    value = np.zeros((40, 40))
    for w, m, v in zip(weights, means, variances, strict=True):
        apart = X[:, None] - X[None]
        each = np.exp(-2 * np.pi**2 * apart**2 * v) * np.cos(2 * np.pi * apart * m)
        value += w * each.prod(axis=2)
    np.testing.assert_allclose(SpectralMixture(weights, means, variances)(X), value, atol=1e-13)


def test_one_peak_near_zero_is_a_gaussian():
    kernel = SpectralMixture(means=[1e-5], variances=[0.3 / (2 * np.pi**2)])
    np.testing.assert_allclose(kernel(X), RBF(np.sqrt(0.5 / 0.3))(X), atol=1e-7)


def test_spectral_mixture_is_learnt():
    rng = np.random.default_rng(0)
    line = np.sort(rng.uniform(0, 12, size=(90, 1)), axis=0)
    y = np.sin(2 * np.pi * 0.8 * line[:, 0]) * np.exp(-0.1 * line[:, 0])
    y = y + 0.05 * rng.normal(size=90)
    start = SpectralMixture([1.0], [0.7], [0.01])
    model = RVMRegressor(start, length_scales="kernel").fit(line, y)
    assert np.ravel(model.kernel_.means)[0] == pytest.approx(0.8, abs=0.05)
    assert model.score(line, y) > 0.95


@pytest.mark.parametrize(
    ("kernel", "complaint"),
    [
        (SpectralMixture([1.0, 1.0], [1.0]), "means .* each of 2 components.* got 1 numbers"),
        (SpectralMixture(means=[-1.0]), "means of SpectralMixture must be positive; got -1"),
        (SpectralMixture(variances=[[1.0, 1.0, 1.0]]), "3 numbers .* inputs have 2 features"),
        (Periodic(period=0.0), "period of Periodic must be a positive number"),
        (Periodic(length_scale=-1.0), "length_scale of Periodic must be a positive number"),
    ],
)
def test_parameters_out_of_range(kernel, complaint):
    with pytest.raises(ValueError, match=complaint):
        kernel(X)


NEW = ["periodic", "spectral_mixture", Warped(RBF(), np.log)]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", NEW, ids=repr)
def test_files_and_exports(kernel, tmp_path):
    model = RVMRegressor(kernel, gamma=0.5, noise_variance=0.01).fit(X, Y)
    again = load(save(model, tmp_path / "model.relvec"))
    for one, other in zip(
        again.predict(X, return_std=True), model.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for export in (export_onnx, export_c, export_python):
        with pytest.raises(ExportError, match=r"kernel .* cannot be exported; .*relvec\.io\.save"):
            export(model)
