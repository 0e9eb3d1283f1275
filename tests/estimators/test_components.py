"""Contributions of each basis of a sum: sums, error bars, and separation of sources."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import CosineBasis, KernelBasis, LinearBasis, UnionBasis, WaveletBasis
from relvec.datasets import make_parts
from relvec.kernels import ThinPlateSpline


def slope_and_curve(n=80, seed=0, outputs=None):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, size=(n, 2))
    y = np.sinc(X[:, 0] / np.pi) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=n)
    if outputs is not None:
        y = np.stack([y, y[::-1]], axis=1)
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("outputs", [None, 2])
def test_contributions_and_intercept_add_up_to_the_prediction(intercept, outputs):
    X, y = slope_and_curve(outputs=outputs)
    basis = KernelBasis(gamma=0.1) + LinearBasis()
    model = SparseBayesRegressor(basis, fit_intercept=intercept).fit(X, y)
    parts = model.predict_components(X[:7])
    assert parts.shape == ((7, 2) if outputs is None else (7, 2, 2))
    np.testing.assert_allclose(
        parts.sum(axis=1) + model.intercept_, model.predict(X[:7]), atol=1e-10
    )


@pytest.mark.slow
def test_centred_contributions_have_mean_zero_and_miss_the_mean_of_the_target():
    X, y = slope_and_curve()
    weight = np.random.default_rng(1).integers(1, 4, size=len(y))
    model = SparseBayesRegressor(KernelBasis(gamma=0.1) + LinearBasis()).fit(X, y, weight)
    parts = model.predict_components(X, centred=True)
    np.testing.assert_allclose(weight @ parts, 0.0, atol=1e-9)
    np.testing.assert_allclose(
        parts.sum(axis=1) + np.average(y, weights=weight), model.predict(X), atol=1e-10
    )


def test_error_bars_are_those_of_the_block_of_the_posterior():
    X, y = slope_and_curve()
    model = SparseBayesRegressor(KernelBasis(gamma=0.1) + LinearBasis()).fit(X, y)
    X_new = X[:5] + 0.1
    _, std = model.predict_components(X_new, return_std=True)
    atoms = model.atoms_.evaluate(X_new)
    is_kernel = np.array([name.startswith("rbf") for name in model.atom_names()])
    for number, mine in enumerate((is_kernel, ~is_kernel)):
        block = model.weight_covariance_[np.ix_(mine, mine)]
        variance = np.einsum("ij,jk,ik->i", atoms[:, mine], block, atoms[:, mine])
        np.testing.assert_allclose(std[:, number] ** 2, variance, rtol=1e-8)


def test_components_describe_each_basis():
    X, y = slope_and_curve()
    model = SparseBayesRegressor(KernelBasis(gamma=0.1) + LinearBasis()).fit(X, y)
    kernels, terms = model.components_
    assert (kernels.name, terms.name) == ("KernelBasis", "LinearBasis")
    assert (kernels.n_atoms, terms.n_atoms) == (80, 2)
    assert kernels.n_relevant + terms.n_relevant == len(model.coef_)
    total = kernels.effective_dof + terms.effective_dof
    assert total == pytest.approx(model.effective_dof_ - 1.0)
    # the share is read off the posterior; here it is computed from the data
    contributions = model.predict_components(X, centred=True)
    expected = contributions.var(axis=0) / y.var()
    assert [kernels.share, terms.share] == pytest.approx(expected.tolist(), rel=1e-6)


@pytest.mark.slow
def test_names_of_two_bases_of_one_kind_differ():
    X, y = slope_and_curve()
    basis = UnionBasis([KernelBasis(gamma=0.1), KernelBasis(gamma=1.0), LinearBasis()])
    model = SparseBayesRegressor(basis).fit(X, y)
    names = [part.name for part in model.components_]
    assert names == ["KernelBasis 0", "KernelBasis 1", "LinearBasis"]


def test_a_single_basis_is_one_part():
    X, y = slope_and_curve()
    model = RVMRegressor(gamma=0.1).fit(X, y)
    (part,) = model.components_
    assert part.name == "KernelBasis"
    assert part.n_relevant == len(model.relevance_)
    np.testing.assert_allclose(
        model.predict_components(X)[:, 0] + model.intercept_, model.predict(X)
    )


def test_a_part_that_is_not_needed_contributes_nothing():
    rng = np.random.default_rng(0)
    X = np.arange(64.0)[:, None]
    y = rng.normal(size=64)
    model = SparseBayesRegressor(WaveletBasis("haar") + CosineBasis(), prior="ric").fit(X, y)
    mean, std = model.predict_components(X, return_std=True)
    for number, part in enumerate(model.components_):
        if not part.n_relevant:
            assert part.share == 0.0
            assert not mean[:, number].any()
            assert not std[:, number].any()
    assert any(part.n_relevant == 0 for part in model.components_)


@pytest.mark.slow
def test_several_outputs_have_a_description_each():
    X, y = slope_and_curve(outputs=2)
    model = SparseBayesRegressor(KernelBasis(gamma=0.1) + LinearBasis()).fit(X, y)
    assert [len(parts) for parts in model.components_] == [2, 2]
    assert model.components_[0] != model.components_[1]


def test_components_survive_pickling():
    X, y = slope_and_curve()
    model = SparseBayesRegressor(KernelBasis(gamma=0.1) + LinearBasis()).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.components_ == model.components_
    np.testing.assert_array_equal(copy.predict_components(X), model.predict_components(X))


def test_options_must_be_true_or_false():
    X, y = slope_and_curve()
    model = SparseBayesRegressor(LinearBasis()).fit(X, y)
    with pytest.raises((TypeError, ValueError), match="centred"):
        model.predict_components(X, centred="yes")


@pytest.mark.slow
def test_steps_and_a_curve_are_separated():
    n = 512
    sources = make_parts("BlocksSinc", n, grid="linspace")
    truth = sources.sum(axis=0)
    noise = truth.std(ddof=1) / 7.0
    x = np.linspace(-10, 10, n)[:, None]
    y = truth + noise * np.random.default_rng(1).standard_normal(n)
    haar, splines = WaveletBasis("haar", level=9), KernelBasis(ThinPlateSpline(3.0))
    both = SparseBayesRegressor(haar + splines, prior="ric").fit(x, y)
    steps_only = SparseBayesRegressor(haar, prior="ric").fit(x, y)
    found = both.predict_components(x, centred=True)
    assert np.corrcoef(found[:, 0], sources[0])[0, 1] > 0.98
    right = slice(n // 2, n)
    assert np.corrcoef(found[right, 1], sources[1, right])[0, 1] > 0.9
    errors = [np.mean((model.predict(x) - truth) ** 2) for model in (both, steps_only)]
    assert errors[0] < 0.8 * errors[1]
