"""What other packages get wrong, and what their users ask for, as requirements.

Sources: their issue trackers, and trying them (fastrvm 0.1.5, sklearn-rvm 0.1.1, scikit-rvm,
sklearn-bayes, SparseBayes-Python, kernlab, prml, dlib, scikit-learn's ARDRegression).
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.published import FixedPointSolver, TextbookSolver
from relvec.solvers import SequentialSolver
from tests.estimators.problems import linear, sinc, smooth

SOLVERS = ["sequential", "mackay", "em", "textbook"]
ONE_ROW = (
    "RVMRegressor cannot estimate the noise variance from so few samples, so the error bars are "
    "meaningless. Give noise_variance, or more data."
)


def rmse(model, X, truth):
    return np.sqrt(np.mean((model.predict(X) - truth) ** 2))


def truth(X):
    return np.sinc(X[:, 0] / np.pi)


# ------------------------------------------------------------------ kernels


@pytest.mark.slow
def test_precomputed_kernel_predicts_what_the_kernel_does():
    """fastrvm can fit a precomputed kernel but never predict."""
    X, y = sinc()
    new = np.linspace(-14, 14, 40)[:, None]
    for kernel in (rbf_kernel, laplacian_kernel):
        by_matrix = RVMRegressor("precomputed", calibrate=False).fit(kernel(X, gamma=1 / 9), y)
        by_kernel = RVMRegressor(
            lambda A, B, k=kernel: k(A, B, gamma=1 / 9), error_bars="plain", calibrate=False
        ).fit(X, y)
        np.testing.assert_array_equal(by_matrix.relevance_, by_kernel.relevance_)
        for mine, its in zip(
            by_matrix.predict(kernel(new, X, gamma=1 / 9), return_std=True),
            by_kernel.predict(new, return_std=True),
            strict=True,
        ):
            np.testing.assert_allclose(mine, its, rtol=1e-6)


def test_precomputed_kernel_reads_only_relevant_columns():
    X, y = sinc()
    model = RVMRegressor("precomputed").fit(rbf_kernel(X, gamma=1 / 9), y)
    K = rbf_kernel(X[:5], X, gamma=1 / 9)
    spoilt = np.full_like(K, 1e9)
    spoilt[:, model.relevance_] = K[:, model.relevance_]
    np.testing.assert_array_equal(model.predict(spoilt), model.predict(K))


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [1, np.int64(1), np.float32(1), np.array(1.0), True + 0])
def test_gamma_of_any_numeric_type(gamma):
    """gamma=1 is an AssertionError in fastrvm."""
    X, y = sinc()
    np.testing.assert_allclose(
        RVMRegressor(gamma=gamma).fit(X, y).predict(X),
        RVMRegressor(gamma=1.0).fit(X, y).predict(X),
        rtol=1e-6,
    )


def test_callable_kernel_is_called_with_two_arrays():
    """fastrvm adds keywords, sklearn-rvm has no kernel_params: both fail."""
    calls = []

    def kernel(A, B):
        calls.append((A.shape[1], B.shape[1]))
        return np.exp(-((A - B.T) ** 2) / 9)

    X, y = sinc()
    model = RVMRegressor(kernel).fit(X, y)
    np.testing.assert_allclose(
        model.predict(X), RVMRegressor(gamma=1 / 9).fit(X, y).predict(X), rtol=1e-6
    )
    assert set(calls) == {(1, 1)}


def test_kernel_that_is_not_positive_definite():
    X, y = sinc()
    model = RVMRegressor(lambda A, B: -np.abs(A - B.T), gamma=0.1).fit(X, y)
    assert model.score(X, y) > 0.7
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()


def test_default_kernel_learns_sinc():
    """sklearn-bayes defaults to a cubic, R2 of 0.003 here."""
    X, y = sinc()
    assert RVMRegressor().fit(X, y).score(*sinc(seed=50)) > 0.8


# ------------------------------------------------------------------ targets


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("value", [0.0, 5.0, -1e9, 1e-300])
def test_constant_target(solver, value):
    """RuntimeError, "0 samples", NaN without a word: four packages, four ways."""
    X, _ = sinc()
    model = RVMRegressor(solver=solver).fit(X, np.full(100, value))
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, value, rtol=1e-12)
    assert len(model.relevance_) == 0
    assert (std >= 0).all()
    assert std.max() <= 1e-10 * abs(value) + 1e-100
    assert np.isfinite(model.log_evidence_)
    assert np.isfinite(model.sample_y(X[:3])).all()


@cache
def in_natural_units(solver):
    return RVMRegressor(gamma=1 / 9, solver=solver).fit(*sinc())


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-6, 1e6, 1e-100, 1e100])
@pytest.mark.parametrize("solver", SOLVERS)
def test_units_of_the_target_do_not_matter(solver, scale):
    """y * 1e-6: sklearn-rvm crashes, scikit-rvm does not fit."""
    X, y = sinc()
    natural = in_natural_units(solver)
    scaled = clone(natural).fit(X, y * scale)
    np.testing.assert_array_equal(scaled.relevance_, natural.relevance_)
    for mine, its in zip(
        scaled.predict(X, return_std=True), natural.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(mine / scale, its, rtol=1e-4, atol=1e-6)
    # each of the n - 1 contrasts is measured in the other unit
    assert scaled.log_evidence_ == pytest.approx(natural.log_evidence_ - 99 * np.log(scale))


@pytest.mark.parametrize("shift", [1000.0, -1e6])
def test_origin_of_the_target_does_not_matter(shift):
    """y + 1000: RMSE 1.26 instead of 0.089 with fastrvm's defaults."""
    X, y = sinc()
    natural, shifted = (RVMRegressor(gamma=1 / 9).fit(X, target) for target in (y, y + shift))
    assert rmse(shifted, X, truth(X) + shift) == pytest.approx(rmse(natural, X, truth(X)), rel=1e-3)
    assert rmse(natural, X, truth(X)) < 0.05
    assert shifted.log_evidence_ == pytest.approx(natural.log_evidence_, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-5, 1e5])
def test_units_of_the_features_do_not_matter(scale):
    X, y = smooth()
    natural, scaled = (RVMRegressor().fit(inputs, y) for inputs in (X, X * scale))
    np.testing.assert_allclose(scaled.predict(X * scale), natural.predict(X), rtol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_everything_pruned(solver):
    """scikit-rvm #9, sklearn-rvm #4: a crash when no vector or only the bias is left."""
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = np.random.default_rng(1).standard_normal(80)
    model = RVMRegressor(gamma=0.5, prior="ric", solver=solver).fit(X, y)
    assert len(model.relevance_) == 0
    assert model.coef_.shape == (0,)
    assert model.relevance_vectors_.shape == (0, 2)
    assert model.weight_covariance_.shape == (0, 0)
    assert model.atom_names() == []
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, y.mean())
    np.testing.assert_allclose(std, y.std(ddof=1) * np.sqrt(1 + 1 / 80), rtol=1e-6)
    assert model.predict(X, return_cov=True)[1].shape == (80, 80)
    assert model.sample_y(X, 2).shape == (80, 2)
    assert model.predict_interval(X).shape == (80, 2)


def test_noise_is_mostly_left_unexplained():
    X = np.random.default_rng(0).normal(size=(100, 20))
    kept = [
        len(
            SparseBayesRegressor(LinearBasis())
            .fit(X, np.random.default_rng(seed).standard_normal(100))
            .relevance_
        )
        for seed in range(20)
    ]
    assert np.mean(kept) < 1.5  # plain evidence would keep six


# ------------------------------------------------------------------ shapes


def test_the_shape_that_was_singular():
    """scikit-rvm #4: "Singular matrix" on 9249 x 50."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 50))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(1500)
    model = RVMRegressor(gamma=0.002, effort="fast").fit(X, y)
    assert model.score(X, y) > 0.7
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()


def test_the_shape_that_was_too_big():
    """scikit-rvm #12: exceptions on 200 x 21."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 21))
    y = X[:, :3].sum(axis=1) + 0.3 * rng.standard_normal(200)
    model = RVMRegressor(gamma=0.01).fit(X, y)
    assert len(model.relevance_) < 30
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("solver", SOLVERS)
def test_repeated_and_collinear_features(solver):
    X, y = smooth(n=40)
    X = np.column_stack([X, X[:, 0], 1e-9 * X[:, 1], np.ones(40)])
    X = np.vstack([X, X])
    y = np.concatenate([y, y + 0.2 * np.random.default_rng(0).standard_normal(40)])
    for model in (RVMRegressor(gamma=0.1), SparseBayesRegressor(LinearBasis())):
        model.set_params(solver=solver).fit(X, y)
        assert model.score(X, y) > 0.6
        assert np.isfinite(model.predict(X, return_std=True)[1]).all()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_a_handful_of_rows(n):
    """Warn that so few rows do not identify the noise, and about nothing else."""
    X, y = smooth(n=n)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = RVMRegressor().fit(X, y)
    if n == 1:
        assert [str(each.message) for each in told] == [ONE_ROW]
    else:
        assert len(told) == model.reached_max_active_
        assert all("noise variance is not identifiable" in str(each.message) for each in told)
    mean, std = model.predict(X + 1, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()


@pytest.mark.parametrize("prior", ["flat", "bic", "gamma"])
def test_one_row(prior):
    X, y = smooth(n=1)
    with pytest.warns(UserWarning, match="cannot estimate the noise"):
        model = RVMRegressor(prior=prior).fit(X, y)
    np.testing.assert_allclose(model.predict(X + 1), y[0])
    held = RVMRegressor(prior=prior, noise_variance=0.5).fit(X, y)  # a warning would be an error
    np.testing.assert_allclose(held.predict(X + 1), y[0])


def test_more_columns_than_rows():
    X, y = linear(n=50, d=400)
    model = SparseBayesRegressor(LinearBasis()).fit(X, y)
    np.testing.assert_array_equal(model.relevance_, [1, 4])


def test_kernels_of_very_different_size():
    """An "unequal" union: one block of atoms in millionths, one in millions."""
    X, y = linear(n=80, d=6)
    X = X * np.array([1e-6, 1e6, 1, 1e3, 1e-3, 1])
    model = SparseBayesRegressor(LinearBasis() + KernelBasis(RBF(1e6))).fit(X, y)
    assert model.score(X, y) > 0.95
    assert {"x1", "x4"} <= set(model.atom_names())


# ------------------------------------------------------------------ manners


def test_fit_returns_self():
    """`EMRVR().fit(X, y).predict(X)` fails: fit returns None."""
    X, y = sinc()
    model = RVMRegressor()
    assert model.fit(X, y) is model


def test_second_fit_forgets_the_first():
    X, y = sinc()
    model = RVMRegressor(gamma=1 / 9).fit(*smooth())
    model.fit(X, y)
    assert model.n_features_in_ == 1
    np.testing.assert_array_equal(model.predict(X), RVMRegressor(gamma=1 / 9).fit(X, y).predict(X))


@pytest.mark.parametrize(
    "solver",
    [
        SequentialSolver(max_iter=1),
        FixedPointSolver("mackay", max_iter=1),
        FixedPointSolver("em", max_iter=1),
        TextbookSolver(max_iter=1),
    ],
    ids=str,
)
def test_unconverged_fits_warn(solver):
    """sklearn-bayes stops at 300 iterations without a warning."""
    X, y = sinc()
    with pytest.warns(ConvergenceWarning, match=r"RVMRegressor did not converge in .* max_iter"):
        model = RVMRegressor(gamma=1 / 9, solver=solver).fit(X, y)
    assert not model.converged_
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 11, 12, 18, 21])
def test_plain_problems_converge(seed):
    assert RVMRegressor(gamma=0.1).fit(*sinc(seed=seed)).converged_  # warnings are errors


def test_the_warning_names_the_cap_on_active_atoms():
    X, y = smooth(n=40)
    with pytest.warns(
        ConvergenceWarning, match="the cap on the number of active basis functions"
    ) as told:
        model = RVMRegressor(gamma=1000.0).fit(X, y)
    assert model.reached_max_active_
    assert len(model.relevance_) <= 20
    assert f"({len(model.relevance_)}, half the effective sample size)" in str(told[0].message)


def test_unidentifiable_noise_warns():
    X, y = sinc()
    with pytest.warns(ConvergenceWarning, match='noise variance is not identifiable.*prior="bic"'):
        model = RVMRegressor(gamma=1e6).fit(X, y)
    assert model.reached_max_active_


def test_coefficients_match_the_vectors():
    """sklearn-rvm #25: mu has the bias, the vectors do not."""
    X, y = smooth()
    model = RVMRegressor(gamma=0.1).fit(X, y)
    m = len(model.relevance_)
    assert m > 0
    assert model.coef_.shape == model.weight_precision_.shape == (m,)
    np.testing.assert_array_equal(model.relevance_vectors_, X[model.relevance_])
    by_hand = rbf_kernel(X, model.relevance_vectors_, gamma=0.1) @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(X), by_hand, rtol=1e-8)


def test_std_with_a_frame():
    """scikit-learn #28310: ARDRegression's std fails on a DataFrame."""
    pd = pytest.importorskip("pandas")
    X, y = linear()
    frame = pd.DataFrame(X).rename(columns=str)
    model = SparseBayesRegressor(LinearBasis()).fit(frame, pd.Series(y, index=range(500, 580)))
    for mine, its in zip(
        model.predict(frame, return_std=True),
        SparseBayesRegressor(LinearBasis()).fit(X, y).predict(X, return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(mine, its)


def test_std_is_centred():
    """scikit-learn PR #33918: the std of ARDRegression ignored the centring of the features."""
    X, y = linear()
    near, far = (
        SparseBayesRegressor(LinearBasis()).fit(X + shift, y).predict(X + shift, return_std=True)[1]
        for shift in (0.0, 1e4)
    )
    np.testing.assert_allclose(far, near, rtol=1e-5)


def test_std_is_smallest_where_the_data_are():
    """fastrvm: std 0.094 at x=100 against 0.1015 inside the data."""
    X, y = sinc()
    model = RVMRegressor(gamma=1 / 9).fit(X, y)
    inside = model.predict(X, return_std=True)[1]
    outside = model.predict(np.array([[-100.0], [100.0]]), return_std=True)[1]
    assert outside.min() > inside.max()


def test_sparser_than_automatic_relevance_determination():
    """ARDRegression keeps 87 of 100 kernels; kernlab is 13 times off at N = 1000."""
    X, y = sinc()
    assert len(RVMRegressor(gamma=1 / 9).fit(X, y).relevance_) <= 10
    X, y = sinc(1000)
    model = RVMRegressor(gamma=1 / 9).fit(X, y)
    grid = np.linspace(-10, 10, 1000)[:, None]
    assert len(model.relevance_) <= 15
    assert rmse(model, grid, truth(grid)) < 0.012  # others: 0.0091 to 0.0105, kernlab 0.128


def test_density_on_friedman():
    """sklearn-rvm: 78 vectors and a mean log density of -2.85 where others have -2.05 to -2.46."""
    X, y = make_friedman1(240, noise=1.0, random_state=0)
    new, target = make_friedman1(1000, noise=1.0, random_state=1)
    model = RVMRegressor(gamma=0.5).fit(X, y)
    assert len(model.relevance_) < 65
    assert model.log_predictive_density(new, target).mean() > -2.3


def test_memory_without_a_square_matrix():
    """Several packages need N x N numbers; here the dictionary is never stored if asked."""
    X, y = sinc(800)
    stored, lean = (
        RVMRegressor(gamma=1 / 9, effort="fast", low_memory=flag).fit(X, y)
        for flag in (False, True)
    )
    assert lean.n_columns_fetched_ < 400
    assert lean.log_evidence_ == pytest.approx(stored.log_evidence_, rel=1e-6)
