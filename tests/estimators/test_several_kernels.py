"""Models whose bases have kernels of their own, learnt together."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF

from relvec import (
    RVMRegressor,
    SparseBayesClassifier,
    SparseBayesCountRegressor,
    SparseBayesRegressor,
)
from relvec.bases import KernelBasis, LinearBasis
from relvec.io import load, save
from relvec.kernels import Periodic

PERIOD = 1.7
BASIS = KernelBasis(RBF(1.0)) + KernelBasis(Periodic(period=4.0)) + LinearBasis()


def make(seed=0, n=100, *, curve=2.0, wave=1.0):
    rng = np.random.default_rng([920, seed])
    X = np.sort(rng.uniform(0.0, 10.0, size=(n, 1)), axis=0)
    x = X[:, 0]
    f = wave * np.sin(2.0 * np.pi * x / PERIOD) + curve * np.exp(-0.25 * (x - 4.0) ** 2)
    return X, f + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("precision", ["atom", "tied"])
def test_kernels_of_a_sum_are_learnt_together(precision, tmp_path):
    X, y = make()
    model = SparseBayesRegressor(BASIS, length_scales="kernel", precision=precision).fit(X, y)
    rbf, periodic = model.kernels_
    assert model.model_kind_ == "kernel"
    assert periodic.period == pytest.approx(PERIOD, rel=0.01)
    assert rbf.length_scale > 0.5
    assert [part.name for part in model.components_][:2] == ["KernelBasis 0", "KernelBasis 1"]
    assert [block.is_kept for block in model.kernel_blocks_] == [True, True]
    assert all(block.signal > 0.0 and block.gain > 10.0 for block in model.kernel_blocks_)
    with pytest.raises(AttributeError, match="kernels_"):
        model.kernel_  # noqa: B018
    # The learnt covariance is the sum, with variances in units of the noise variance.
    total = sum(block.signal * block.kernel(X) for block in model.kernel_blocks_)
    np.testing.assert_allclose(model.learnt_length_scales_.kernel(X), total, rtol=1e-10)
    save(model, tmp_path / "model.relvec")
    again = load(tmp_path / "model.relvec")
    assert again.kernel_blocks_ == model.kernel_blocks_
    for mine, loaded in zip(
        model.predict(X, return_std=True), again.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(mine, loaded)
    assert again.basis.bases[0].tune is True


def test_the_fitted_kernels_are_in_the_basis_functions():
    X, y = make(1)
    model = SparseBayesRegressor(BASIS, length_scales="kernel").fit(X, y)
    held = KernelBasis(model.kernels_[0]) + KernelBasis(model.kernels_[1]) + LinearBasis()
    same = SparseBayesRegressor(held).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), same.predict(X), rtol=1e-8)


def test_a_kernel_that_is_not_needed_is_removed():
    X, y = make(2, wave=0.0)
    model = SparseBayesRegressor(BASIS, length_scales="kernel").fit(X, y)
    assert [block.is_kept for block in model.kernel_blocks_] == [True, False]
    assert [part.name for part in model.components_] == ["KernelBasis", "LinearBasis"]
    assert model.kernels_ == (model.kernel_,)
    assert isinstance(model.kernel_, RBF)
    assert model.kernel_blocks_[1].kernel == Periodic(period=4.0)


def test_a_basis_can_be_held():
    X, y = make(3)
    held = KernelBasis(RBF(1.3), tune=False) + KernelBasis(Periodic(period=4.0))
    model = SparseBayesRegressor(held, length_scales="kernel").fit(X, y)
    assert model.kernels_[0] == RBF(1.3)
    assert model.kernels_[1].period == pytest.approx(PERIOD, rel=0.01)
    assert [block.is_held for block in model.kernel_blocks_] == [True, False]
    named = KernelBasis("rbf", gamma=0.5, tune=False) + KernelBasis(Periodic(period=4.0))
    assert SparseBayesRegressor(named, length_scales="kernel").fit(X, y).kernels_[0] == RBF(1.0)


@pytest.mark.parametrize("kind", ["kernel", "ard", "isotropic"])
def test_a_single_held_kernel_is_used_as_it_is(kind):
    X, y = make(4)
    basis = KernelBasis(RBF(0.7), tune=False)
    model = SparseBayesRegressor(basis, length_scales=kind).fit(X, y)
    assert not hasattr(model, "learnt_length_scales_")
    assert not hasattr(model, "kernel_blocks_")
    assert model.kernel_ == RBF(0.7)
    plain = SparseBayesRegressor(KernelBasis(RBF(0.7))).fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert clone(basis).tune is False


def test_noise_gives_the_null_model_or_kernels_as_given():
    rng = np.random.default_rng(921)
    X = rng.uniform(0.0, 10.0, size=(80, 1))
    model = SparseBayesRegressor(BASIS, length_scales="kernel").fit(X, rng.normal(size=80))
    assert model.model_kind_ in ("none", "null")
    assert model.learnt_length_scales_.kind == model.model_kind_


def test_a_refit_forgets_the_blocks():
    X, y = make(5, n=60)
    model = SparseBayesRegressor(BASIS, length_scales="kernel").fit(X, y)
    model.set_params(length_scales=None).fit(X, y)
    assert not hasattr(model, "kernel_blocks_")
    assert model.kernels_[0] == RBF(1.0)


def test_bounds_are_reported_with_the_basis():
    X, y = make(6)
    basis = KernelBasis(RBF(0.5, (0.2, 0.6))) + KernelBasis(Periodic(period=4.0))
    with pytest.warns(ConvergenceWarning, match="length_scale of KernelBasis 0 is at a bound"):
        SparseBayesRegressor(basis, length_scales="kernel").fit(X, y)


def test_errors_say_what_is_needed():
    X, y = make(7, n=40)
    named = KernelBasis("rbf") + KernelBasis(Periodic())
    with pytest.raises(ValueError, match="got the name 'rbf'"):
        SparseBayesRegressor(named, length_scales="kernel").fit(X, y)
    with pytest.raises(ValueError, match='length_scales="kernel" with a kernel object'):
        SparseBayesRegressor(BASIS, length_scales="ard").fit(X, y)
    own = KernelBasis(lambda X, Z: np.exp(-np.abs(X - Z.T)), tune=False) + KernelBasis(Periodic())
    with pytest.raises(ValueError, match="KernelBasis 0 needs a kernel given by name"):
        SparseBayesRegressor(own, length_scales="kernel").fit(X, y)


def test_labels_and_counts_have_several_kernels_too():
    rng = np.random.default_rng(922)
    X = np.sort(rng.uniform(0.0, 10.0, size=(200, 1)), axis=0)
    f = 5.0 * np.sin(2.0 * np.pi * X[:, 0] / PERIOD) + 0.6 * (X[:, 0] - 5.0)
    basis = KernelBasis(RBF(2.0)) + KernelBasis(Periodic(period=3.0))
    labels = f + rng.logistic(size=200) > 0.0
    classifier = SparseBayesClassifier(basis, length_scales="kernel").fit(X, labels)
    assert [block.is_kept for block in classifier.kernel_blocks_] == [True, True]
    assert classifier.kernels_[1].period == pytest.approx(PERIOD, rel=0.05)
    assert classifier.score(X, labels) > 0.75
    counts = rng.poisson(np.exp(1.0 + 0.2 * f))
    model = SparseBayesCountRegressor(basis, length_scales="kernel").fit(X, counts)
    assert model.kernel_blocks_[1].kernel.period == pytest.approx(PERIOD, rel=0.05)


def two_scales(seed, n=150):
    rng = np.random.default_rng([923, seed])
    X = rng.uniform(-10.0, 10.0, size=(n, 1))
    x = X[:, 0]
    f = np.sin(0.6 * x) + np.exp(-8.0 * (x - 3.0) ** 2) - 0.8 * np.exp(-5.0 * (x + 4.0) ** 2)
    return X, f + 0.05 * rng.normal(size=n)


@pytest.mark.parametrize("moves", ["widths", "centers", "both"])
def test_moved_kernels_never_lower_the_objective(moves, tmp_path):
    X, y = two_scales(0)
    options = {"gamma": 0.5, "calibrate": False}
    plain = RVMRegressor(**options).fit(X, y)
    model = RVMRegressor(tune_atoms=moves, **options).fit(X, y)
    assert model.objective_ >= plain.objective_
    save(model, tmp_path / "model.relvec")
    again = load(tmp_path / "model.relvec")
    for mine, loaded in zip(
        model.predict(X, return_std=True), again.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(mine, loaded)
    assert len(model.atom_names()) == len(model.coef_) == len(model.relevance_vectors_)


def test_widths_differ_where_the_function_has_two_scales():
    X, y = two_scales(1)
    plain = RVMRegressor(calibrate=False).fit(X, y)
    model = RVMRegressor(tune_atoms="widths", calibrate=False).fit(X, y)
    scales = np.array([float(part.kernel.scale[0]) for part in model.atoms_.parts])
    widths = 1.0 / np.sqrt(2.0 * scales)
    assert widths.max() > 3.0 * widths.min()
    assert widths.min() > 0.99 * np.median(np.diff(np.sort(X[:, 0])))
    assert model.objective_ > plain.objective_ + 5.0
    # Centres are training rows still.
    np.testing.assert_array_equal(model.relevance_vectors_, X[model.relevance_])
    prediction = model.predict(X, return_std=True)
    assert all(np.isfinite(each).all() for each in prediction)


def test_bases_of_a_sum_keep_their_components():
    X, y = two_scales(2)
    basis = KernelBasis(RBF(1.5)) + LinearBasis()
    model = SparseBayesRegressor(basis, tune_atoms="widths", calibrate=False).fit(X, y + X[:, 0])
    assert [part.name for part in model.components_] == ["KernelBasis", "LinearBasis"]
    assert model.components_[1].n_relevant == 1
    parts = model.predict_components(X)
    near = model.intercept_ + parts.sum(axis=1)
    np.testing.assert_allclose(near, model.predict(X), atol=0.05)


def test_options_that_exclude_moves_are_refused():
    X, y = two_scales(3, n=40)
    with pytest.raises(ValueError, match="2 outputs"):
        RVMRegressor(gamma=0.5, tune_atoms="widths").fit(X, np.column_stack([y, -y]))
    with pytest.raises(ValueError, match="tune_atoms must be"):
        RVMRegressor(gamma=0.5, tune_atoms="width").fit(X, y)
    with pytest.raises(ValueError, match='precision="tied"'):
        SparseBayesRegressor(precision="tied", tune_atoms="both").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RVMRegressor(gamma=0.5, calibrate=False).fit(X, y)


def test_tune_is_true_or_false():
    X = np.arange(8.0)[:, np.newaxis]
    model = SparseBayesRegressor(KernelBasis(RBF(1.0), tune="no"), length_scales="kernel")
    with pytest.raises(TypeError, match="tune must be True or False; got 'no'"):
        model.fit(X, X[:, 0])
