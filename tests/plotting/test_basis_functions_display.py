"""Candidate and kept basis functions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("matplotlib")

from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis
from relvec.plotting import BasisFunctionsDisplay

RNG = np.random.default_rng(7)
X = np.sort(RNG.uniform(-10.0, 10.0, size=(50, 1)), axis=0)
Y = np.sinc(X[:, 0] / np.pi) + 0.1 * RNG.normal(size=50)
MODEL = RVMRegressor(gamma=0.1).fit(X, Y)
X2 = RNG.uniform(-3.0, 3.0, size=(40, 2))
Y2 = np.sin(X2[:, 0]) * X2[:, 1] + 0.1 * RNG.normal(size=40)


def test_candidates_and_kept_kernels():
    display = BasisFunctionsDisplay.from_estimator(MODEL, X)
    distance = (display.x0[:, None] - X[:, 0]) ** 2
    np.testing.assert_allclose(display.values, np.exp(-0.1 * distance))
    np.testing.assert_allclose(display.kept, display.values[:, MODEL.relevance_])
    assert len(display.candidates_.get_segments()) == 50
    assert len(display.kept_.get_segments()) == len(MODEL.relevance_)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["50 candidates", f"{len(MODEL.relevance_)} kept"]
    display.figure_.canvas.draw()


def test_weighted_functions_sum_to_the_prediction():
    model = clone(MODEL).set_params(error_bars="plain").fit(X, Y)
    display = BasisFunctionsDisplay.from_estimator(model, X, weighted=True)
    total = display.kept.sum(axis=1) + model.intercept_
    np.testing.assert_allclose(total, model.predict(display.x0[:, None]))


@pytest.mark.slow
@pytest.mark.parametrize("basis", [None, LinearBasis() + KernelBasis()])
def test_learnt_kernels_are_used(basis):
    if basis is None:
        model = RVMRegressor().fit(X, Y)
    else:
        model = SparseBayesRegressor(basis, length_scales="isotropic").fit(X, Y)
    display = BasisFunctionsDisplay.from_estimator(model, X)
    kept = [
        np.isclose(display.values, each[:, None], atol=1e-9).all(axis=0).any()
        for each in display.kept.T
    ]
    assert all(kept)


def test_basis_without_a_model():
    display = BasisFunctionsDisplay.from_basis(PolynomialBasis(4), np.linspace(-2, 2, 9)[:, None])
    assert display.values.shape == (400, 4)
    assert display.kept_ is None
    assert display.candidates_.get_segments()[0].shape == (400, 2)


@pytest.mark.slow
def test_over_two_features_peaks_are_at_the_relevance_vectors():
    model = RVMRegressor(gamma=1.0, error_bars="plain").fit(X2, Y2)
    display = BasisFunctionsDisplay.from_estimator(model, X2)
    step = max(np.diff(display.x0)[0], np.diff(display.x1)[0])
    peaks = np.column_stack(display.kept_.get_data())
    np.testing.assert_allclose(peaks, model.relevance_vectors_, atol=step)
    assert display.surface_ is not None
    weighted = BasisFunctionsDisplay.from_estimator(model, X2, weighted=True, grid_resolution=9)
    points = np.column_stack([a.ravel() for a in np.meshgrid(weighted.x0, weighted.x1)])
    total = weighted.kept.sum(axis=-1).ravel() + model.intercept_
    np.testing.assert_allclose(total, model.predict(points))
    alone = BasisFunctionsDisplay.from_basis(KernelBasis(), X2, grid_resolution=9)
    assert alone.kept_ is None
    alone.figure_.canvas.draw()


def test_pipelines_and_classifiers():
    machine = RVMRegressor(gamma=2.0, error_bars="plain")
    pipeline = make_pipeline(StandardScaler(), machine).fit(X, Y)
    display = BasisFunctionsDisplay.from_estimator(pipeline, X, weighted=True)
    total = display.kept.sum(axis=1) + pipeline[-1].intercept_
    np.testing.assert_allclose(total, pipeline.predict(display.x0[:, None]))
    model = RVMClassifier(gamma=1.0).fit(X, Y > 0.2)
    assert BasisFunctionsDisplay.from_estimator(model, X).kept.shape[1] == len(model.relevance_)


def test_many_candidates_are_thinned():
    many = np.linspace(-1, 1, 900)[:, None]
    display = BasisFunctionsDisplay.from_basis(KernelBasis(gamma=1.0), many)
    assert display.values.shape[1] == 900
    assert len(display.candidates_.get_segments()) == 400


def test_bad_input():
    with pytest.raises(ValueError, match="needs one or two features; X has 3 columns"):
        BasisFunctionsDisplay.from_basis(KernelBasis(), np.zeros((4, 3)))
    with pytest.raises(TypeError, match="needs a Basis.*got RVMRegressor.*from_estimator"):
        BasisFunctionsDisplay.from_basis(MODEL, X)
    with pytest.raises(TypeError, match="LinearRegression has no basis functions"):
        BasisFunctionsDisplay.from_estimator(LinearRegression().fit(X, Y), X)
    with pytest.raises(ValueError, match=r"values must have shape \(3, 'n_atoms'\)"):
        BasisFunctionsDisplay(x0=[0, 1, 2], values=np.zeros((2, 4)))
    with pytest.raises(ValueError, match="grid_resolution must be an integer of at least 2"):
        BasisFunctionsDisplay.from_basis(KernelBasis(), X, grid_resolution=1)
