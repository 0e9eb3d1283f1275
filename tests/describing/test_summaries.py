"""Summaries of fitted models against independent computations."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import DRVMRegressor, RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.describing import (
    ReliabilityCurve,
    collect_weights,
    compute_critical_value,
    compute_wilson_interval,
    get_feature_names,
    get_kernel_centers,
    get_objective_traces,
    make_grid,
    make_slice,
    summarise_fit,
)
from relvec.estimators.fitted import fitted_basis, fitted_problem
from relvec.priors import LaplacePrior

RNG = np.random.default_rng(8)
X = RNG.normal(size=(50, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * RNG.normal(size=50)


@pytest.mark.parametrize("coverage", [0.5, 0.95])
def test_wilson_intervals_agree_with_scipy(coverage):
    happened, count = np.array([0, 1, 7, 10]), 10
    found = compute_wilson_interval(happened / count, count, compute_critical_value(coverage))
    for k, low, high in zip(happened.tolist(), *found, strict=True):
        expected = binomtest(k, count).proportion_ci(coverage, method="wilson")
        np.testing.assert_allclose((low, high), (expected.low, expected.high), atol=1e-12)


def test_bins_contain_all_predictions():
    predicted = RNG.uniform(size=200)
    curve = ReliabilityCurve.from_events("a", predicted, RNG.uniform(size=200) < predicted)
    assert curve.count.sum() == 200
    np.testing.assert_allclose(np.average(curve.mean, weights=curve.count), predicted.mean())


def test_grid_has_the_order_of_an_image():
    grid = make_grid(X[:, :2], 4)
    image = grid.points.reshape(*grid.shape, 2)
    np.testing.assert_array_equal(image[0, :, 0], grid.axes[0])
    np.testing.assert_array_equal(image[:, 0, 1], grid.axes[1])
    assert grid.axes[0][0] < X[:, 0].min() < X[:, 0].max() < grid.axes[0][-1]


def test_slice_keeps_other_features_at_their_medians():
    along = make_slice(X, "b", 5, ["a", "b", "c"])
    np.testing.assert_array_equal(along.X[:, 1], along.values)
    np.testing.assert_array_equal(along.X[:, [0, 2]], np.tile(np.median(X[:, [0, 2]], 0), (5, 1)))


@pytest.mark.slow
def test_summary_of_a_fit():
    model = RVMRegressor(gamma=0.3).fit(X, np.column_stack([Y, -Y, X[:, 2]]))
    summary = summarise_fit(model)
    assert (summary.n_kept, summary.n_candidates) == (len(model.relevance_), 50)
    np.testing.assert_allclose(summary.noise_std**2, model.noise_variance_)
    assert summary.classes is None
    assert summary.features_used is None
    assert [len(trace) for trace in get_objective_traces(model)] == [
        len(output.solution.trace) for output in model.outputs_
    ]
    labels = RVMClassifier(gamma=0.3).fit(X, np.where(Y > 0, "yes", "no"))
    summary = summarise_fit(labels)
    assert summary.classes == ("no", "yes")
    assert summary.noise_std is None
    chosen = DRVMRegressor().fit(X, Y)
    used = np.count_nonzero(chosen.feature_relevance_)
    assert summarise_fit(chosen).features_used == f"{used} of 3"
    assert summarise_fit(LinearRegression().fit(X, Y)) is None
    assert get_objective_traces(LinearRegression().fit(X, Y)) == []


def test_weights_centers_and_names_of_a_pipeline():
    scaled = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.3)).fit(X, Y)
    model = scaled[-1]
    np.testing.assert_allclose(get_kernel_centers(scaled), X[model.relevance_])
    assert get_feature_names(scaled, 3) == ["x0", "x1", "x2"]
    (weights,) = collect_weights(scaled)
    posterior = model.outputs_[0].posterior
    np.testing.assert_array_equal(weights.mean, model.coef_)
    np.testing.assert_allclose(weights.std, np.sqrt(np.diag(posterior.covariance)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(gamma=0.1),
        RVMRegressor(length_scales="ard"),
        SparseBayesRegressor(KernelBasis(gamma=0.1) + LinearBasis()),
        SparseBayesRegressor(LinearBasis(), prior="bic", noise_variance=0.2),
        SparseBayesRegressor(LinearBasis(), prior=LaplacePrior(2.0), fit_intercept=False),
    ],
    ids=["kernels", "length-scales", "sum", "fixed noise", "laplace"],
)
@pytest.mark.parametrize("weight", [None, np.arange(50) % 3.0], ids=["equal", "weighted"])
def test_fitted_problem_can_be_reconstructed(model, weight):
    model.fit(X, Y, sample_weight=weight)
    problem, bound = fitted_problem(model, X, Y, weight)
    assert problem.moments.n_atoms == model.n_atoms_
    (output,) = model.outputs_
    kept = bound.atoms.subset(output.active)
    np.testing.assert_allclose(kept.evaluate(X[:5]), output.atoms.evaluate(X[:5]))
    posterior = output.posterior
    np.testing.assert_allclose(problem.moments.n_effective, posterior.n_effective)
    squares = problem.moments.target_ss
    np.testing.assert_allclose(squares, posterior.n_effective * posterior.target_variance)
    again = fitted_basis(model).bind(X, sample_weight=weight).atoms
    np.testing.assert_allclose(
        again.subset(output.active).evaluate(X[:5]), output.atoms.evaluate(X[:5])
    )


@pytest.mark.slow
def test_matplotlib_is_not_imported():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import relvec.describing, relvec.reporting\n"
        "print([name for name in sys.modules if name.startswith('relvec.plotting')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
