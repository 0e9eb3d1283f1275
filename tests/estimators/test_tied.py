"""Tied precisions as an option: predictions, bands, files, errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.linalg import null_space
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV

from relvec import RVMRegressor, SparseBayesClassifier, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.io import load, save
from relvec.priors import FlatPrior, InverseGamma
from relvec.reporting import make_report
from relvec.solvers import TiedLaplaceSolver, TiedSolver


def several_scales(scales=(0.25, 0.125, 0.0625, 0.03125)):
    first, *others = (KernelBasis(RBF(scale)) for scale in scales)
    return sum(others, start=first)


def curve(x):
    return np.sin(3.0 * np.pi * x)


def sample(seed, n=80, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    return X, curve(X[:, 0]) + noise * rng.normal(size=n)


def test_one_precision_per_part():
    X, y = sample(0)
    basis = several_scales((0.3, 0.05)) + LinearBasis()
    model = SparseBayesRegressor(basis, precision="tied").fit(X, y)
    labels = basis.bind(X).groups("part")[model.outputs_[0].active]
    for part in np.unique(labels):
        precision = model.weight_precision_[labels == part]
        assert np.ptp(precision) < 1e-9 * precision[0]
    assert 1 <= len(np.unique(labels)) <= 3
    assert model.converged_


def test_predictions_are_those_of_a_gaussian_process():
    """With the precisions of the fit, the prior of the function is a Gaussian process."""
    X, y = sample(1)
    model = SparseBayesRegressor(
        several_scales((0.3, 0.05)), precision="tied", error_bars="plain", calibrate=False
    ).fit(X, y)
    grid = np.linspace(0.0, 1.0, 30)[:, None]
    mean, std = model.predict(grid, return_std=True, include_noise=False)
    weights = 1.0 / model.weight_precision_
    at_rows, at_grid = model.atoms_.evaluate(X), model.atoms_.evaluate(grid)
    noise = model.noise_variance_ * np.eye(len(y))
    # Generalised least squares for the intercept, whose prior is flat (Rasmussen & Williams 2006,
    # section 2.7).
    inverse = np.linalg.inv((at_rows * weights) @ at_rows.T + noise)
    cross = (at_grid * weights) @ at_rows.T @ inverse
    intercept = inverse.sum(axis=0) @ y / inverse.sum()
    assert mean == pytest.approx(intercept + cross @ (y - intercept), abs=1e-6)
    variance = ((at_grid * weights) * at_grid).sum(axis=1)
    variance -= np.einsum("ij,ij->i", cross, (at_grid * weights) @ at_rows.T)
    variance += (1.0 - cross.sum(axis=1)) ** 2 / inverse.sum()
    assert std**2 == pytest.approx(variance, abs=1e-6)
    contrasts = null_space(np.ones((1, len(y))))
    covariance = contrasts.T @ ((at_rows * weights) @ at_rows.T + noise) @ contrasts
    target = contrasts.T @ y
    log_det = np.linalg.slogdet(2.0 * np.pi * covariance)[1]
    dense = -0.5 * (log_det + target @ np.linalg.solve(covariance, target))
    assert model.log_evidence_ == pytest.approx(dense, abs=1e-6)
    assert model.objective_ == pytest.approx(dense, abs=1e-5)


@pytest.mark.slow
def test_bands_cover_where_those_of_single_precisions_do_not():
    """Bands of the function at 95 %, four length-scales, as a user calls it."""
    covered = {"atom": [], "tied": []}
    grid = np.linspace(0.01, 0.99, 100)[:, None]
    for seed in range(40, 46):
        X, y = sample(seed, n=150)
        for precision, shares in covered.items():
            model = SparseBayesRegressor(several_scales(), precision=precision).fit(X, y)
            mean, std = model.predict(grid, return_std=True, include_noise=False)
            shares.append(np.mean(np.abs(mean - curve(grid[:, 0])) <= 1.96 * std))
    assert np.mean(covered["tied"]) > 0.9
    assert np.mean(covered["tied"]) > np.mean(covered["atom"]) + 0.03


@pytest.mark.filterwarnings("ignore:Rows are repeated")
def test_weights_count_as_repetitions():
    X, y = sample(2, n=40)
    weight = np.random.default_rng(0).integers(0, 3, 40)
    kernels = KernelBasis(RBF(0.2), centers=np.linspace(0, 1, 12)[:, None])
    model = SparseBayesRegressor(kernels, precision="tied", calibrate=False)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    weighted = model.fit(X, y, sample_weight=weight)
    grid = np.linspace(0, 1, 10)[:, None]
    assert weighted.predict(grid) == pytest.approx(repeated.predict(grid), abs=1e-4)
    assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, abs=1e-5)


def test_copies_and_files(tmp_path):
    X, y = sample(3)
    model = SparseBayesRegressor(several_scales((0.3, 0.05)), precision="tied").fit(X, y)
    expected = model.predict(X, return_std=True)
    copies = [
        pickle.loads(pickle.dumps(model)),
        load(save(model, tmp_path / "model.relvec")),
        clone(model).fit(X, y),
    ]
    for copy in copies:
        assert copy.precision == "tied"
        for one, two in zip(copy.predict(X, return_std=True), expected, strict=True):
            np.testing.assert_array_equal(one, two)


def test_components_of_parts_add_up():
    X, y = sample(4)
    basis = LinearBasis() + several_scales((0.3, 0.05))
    model = SparseBayesRegressor(basis, precision="tied").fit(X, y + 4.0 * X[:, 0])
    parts = model.predict_components(X)
    assert parts.shape == (len(X), 3)
    assert parts.sum(axis=1) + model.intercept_ == pytest.approx(model.predict(X), abs=1e-6)


@pytest.mark.slow
def test_report():
    X, y = sample(9)
    model = SparseBayesRegressor(several_scales((0.3, 0.05)), precision="tied").fit(X, y)
    report = make_report(model, X, y, cv=3, n_bootstrap=3)
    assert "several bases" in report.html or "basis functions" in report.html


def test_warm_start_and_several_outputs():
    X, y = sample(5)
    targets = np.column_stack([y, np.cos(9.0 * X[:, 0])])
    model = SparseBayesRegressor(several_scales((0.3, 0.05)), precision="tied", warm_start=True)
    first = model.fit(X, targets).predict(X)
    n_iter = model.n_iter_
    assert model.fit(X, targets).predict(X) == pytest.approx(first, abs=1e-3)
    assert model.n_iter_ < n_iter


def test_grid_search_over_the_option():
    X, y = sample(6, n=60)
    search = GridSearchCV(
        SparseBayesRegressor(several_scales((0.3, 0.1)), effort="fast"),
        {"precision": ["atom", "tied"]},
        cv=3,
    )
    assert search.fit(X, y).best_params_["precision"] in ("atom", "tied")


def test_held_noise_and_prior_of_the_noise():
    X, y = sample(7)
    held = SparseBayesRegressor(several_scales(), precision="tied", noise_variance=0.04).fit(X, y)
    assert held.noise_variance_ == 0.04
    prior = FlatPrior(noise=InverseGamma(200.0, 200.0))
    vague = SparseBayesRegressor(several_scales(), precision="tied", prior=prior).fit(X, y)
    assert vague.noise_variance_ > 0.3


def test_learnt_length_scale_with_one_precision():
    X, y = sample(8)
    model = SparseBayesRegressor(KernelBasis(), length_scales="isotropic", precision="tied")
    model.fit(X, y)
    assert np.sqrt(np.mean((model.predict(X) - curve(X[:, 0])) ** 2)) < 0.12


# ------------------------------------------------------------------ classes


def classes(seed, n=150):
    X, latent = sample(seed, n=n, noise=0.0)
    return X, np.random.default_rng(100 + seed).random(n) < 1.0 / (1.0 + np.exp(-3.0 * latent))


def test_two_classes():
    X, y = classes(0)
    model = SparseBayesClassifier(several_scales((0.2, 0.03)), precision="tied").fit(X, y)
    assert len(np.unique(model.weight_precision_[np.isfinite(model.weight_precision_)])) <= 2
    error = np.abs(model.predict_proba(X)[:, 1] - 1.0 / (1.0 + np.exp(-3.0 * curve(X[:, 0]))))
    prevalence = np.abs(y.mean() - 1.0 / (1.0 + np.exp(-3.0 * curve(X[:, 0]))))
    assert error.mean() < 0.5 * prevalence.mean()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_rows_of_weight_zero_are_not_centres():
    X, y = classes(1, n=60)
    weight = (np.arange(60) % 3 > 0).astype(float)
    kernels = KernelBasis(RBF(0.2))
    one = SparseBayesClassifier(kernels, precision="tied").fit(X, y, sample_weight=weight)
    kept = weight > 0.0
    two = SparseBayesClassifier(kernels, precision="tied").fit(X[kept], y[kept])
    grid = np.linspace(0, 1, 10)[:, None]
    assert one.predict_proba(grid) == pytest.approx(two.predict_proba(grid), abs=1e-4)


def test_more_than_two_classes():
    X, _ = sample(0)
    y = np.digitize(X[:, 0], [0.3, 0.6])
    with pytest.raises(ValueError, match=r'precision="tied".*is for binary models.*one_vs_rest'):
        SparseBayesClassifier(several_scales(), precision="tied").fit(X, y)
    model = SparseBayesClassifier(
        several_scales((0.3, 0.1)), precision="tied", multi_class="one_vs_rest"
    )
    assert model.fit(X, y).score(X, y) > 0.9


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"precision": "shared"}, "precision must be one of"),
        ({"precision": "tied", "prior": "bic"}, 'precision="tied" needs prior="flat"'),
        ({"precision": "tied", "min_gain": 2.0}, 'needs min_gain="auto"'),
        ({"precision": "tied", "solver": "mackay"}, 'needs solver="auto"'),
        ({"precision": "tied", "solver": TiedSolver()}, 'needs solver="auto"'),
        ({"solver": TiedLaplaceSolver()}, "is for classification"),
    ],
)
def test_options_that_do_not_fit(options, match):
    X, y = sample(0)
    with pytest.raises((ValueError, TypeError), match=match):
        SparseBayesRegressor(several_scales(), **options).fit(X, y)


def test_relevance_vector_machines_do_not_have_the_option():
    with pytest.raises(TypeError, match="precision"):
        RVMRegressor(precision="tied")
