"""Requirements that are not met yet: each test fails until its bug is fixed.

A test that passes belongs into the file of its subject.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import estimator_checks

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import LinearBasis, UnionBasis
from relvec.solvers import SequentialSolver
from tests.estimators.problems import sinc, smooth
from tests.estimators.test_callbacks import Recorder

X, Y = smooth(n=50)
COUNTS = np.random.default_rng(7).choice([0, 1, 2], p=[0.2, 0.6, 0.2], size=50)


# ------------------------------------------------------------------ wrong numbers


def test_error_bars_of_weighted_rows_are_those_of_repeated_rows():
    """The offset of the novelty variance is an unweighted quantile, and sees pivots again."""
    rows = np.repeat(np.arange(50), COUNTS)
    weighted = RVMRegressor(gamma=0.1).fit(X, Y, COUNTS)
    repeated = RVMRegressor(gamma=0.1).fit(X[rows], Y[rows])
    np.testing.assert_allclose(
        weighted.predict(X, return_std=True)[1], repeated.predict(X, return_std=True)[1], rtol=1e-6
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_augmented_error_bars_of_weighted_rows():
    """With almost no noise, |k|^2 - |L^-1 Phi'k|^2 cancels to rounding errors."""
    model = RVMRegressor(error_bars="augmented")
    estimator_checks.check_sample_weight_equivalence_on_dense_data("RVMRegressor", model)


@pytest.mark.parametrize("seed", [0, 11, 12, 18, 21])
def test_plain_problems_converge(seed):
    """One in twelve default fits of noisy sinc ends above tol, far below max_iter."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RVMRegressor(gamma=0.1).fit(*sinc(seed=seed))
    assert model.converged_


@pytest.mark.parametrize("n_steps", [2, 5])
def test_a_fit_that_is_stopped_early_keeps_what_it_has(n_steps):
    """Stopped while the noise is held, the search returns the empty model as converged."""
    model = RVMRegressor(gamma=0.1).set_callbacks(Recorder(stop_after=n_steps)).fit(X, Y)
    assert not model.converged_
    assert len(model.relevance_) > 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_cap_on_atoms_is_the_one_that_is_told():
    """ "reached its cap of 35 active atoms (half the effective sample size)", of 40 rows."""
    model = RVMRegressor(gamma=1000.0).fit(X[:40], Y[:40])
    assert model.saturated_
    assert len(model.relevance_) <= 20


def test_boston_near_the_training_districts():
    """The offset of the novelty variance, fitted to optimistic residuals, takes too much away."""
    folder = os.environ.get("RELVEC_DATA")
    if not folder:
        pytest.skip("set RELVEC_DATA to the folder that holds boston.npz")
    with np.load(Path(folder) / "boston.npz", allow_pickle=False) as data:
        inputs, target = data["X"], data["y"]
    inputs = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)
    score = inputs @ np.linalg.svd(inputs, full_matrices=False)[2][0]
    score *= np.sign(score @ inputs[:, 0])
    low = np.flatnonzero(score <= np.quantile(score, 0.75))
    coverage = []
    for seed in range(5):
        shuffled = np.random.default_rng(seed).permutation(low)
        train, test = shuffled[:200], shuffled[200:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = RVMRegressor(gamma=1 / 16).fit(inputs[train], target[train])
        low_end, high_end = model.predict_interval(inputs[test]).T
        coverage.append(np.mean((low_end <= target[test]) & (target[test] <= high_end)))
    assert 0.93 <= np.mean(coverage) <= 0.97


# ------------------------------------------------------------------ crashes


def test_one_row_with_a_gamma_prior():
    """ValueError: math domain error."""
    model = RVMRegressor(prior="gamma").fit(X[:1], Y[:1])
    np.testing.assert_allclose(model.predict(X[:3]), Y[0])


def test_target_whose_square_overflows():
    """OverflowError: (34, 'Numerical result out of range')."""
    scaled = RVMRegressor(gamma=0.1).fit(X, Y * 1e200)
    np.testing.assert_allclose(
        scaled.predict(X) / 1e200, RVMRegressor(gamma=0.1).fit(X, Y).predict(X), rtol=1e-5
    )


# ------------------------------------------------------------------ late or unclear errors


def test_a_misspelt_option_is_found_before_the_work():
    class NeverAsked:
        def solve(self, problem, *, warm_start=None, monitor=None):
            raise AssertionError("minutes of work before the mistake was found")

    with pytest.raises(ValueError, match="error_bars must be one of"):
        RVMRegressor(error_bars="novel", solver=NeverAsked()).fit(X, Y)


def test_union_with_something_that_is_no_basis():
    """AttributeError: 'int' object has no attribute 'accepts_sparse'."""
    with pytest.raises(TypeError, match=r"UnionBasis needs bases .*; bases\[1\] is 3 of type int"):
        SparseBayesRegressor(UnionBasis([LinearBasis(), 3])).fit(X, Y)


def test_class_instead_of_a_solver():
    """TypeError: SequentialSolver.solve() missing 1 required positional argument: 'problem'."""
    with pytest.raises(TypeError, match="solver must be .*SequentialSolver"):
        RVMRegressor(solver=SequentialSolver).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "value"), [("low_memory", "aut"), ("fit_intercept", "no"), ("warm_start", "no")]
)
def test_words_where_a_truth_value_is_needed(name, value):
    """Taken for True, or "could not convert string to float: 'no'"."""
    with pytest.raises((TypeError, ValueError), match=f"{name} must be .*; got '{value}'"):
        RVMRegressor(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("coverage", ["95%", [0.5, 0.9], None])
def test_coverage_that_is_no_number(coverage):
    """TypeError: '<' not supported between instances of 'float' and 'str'."""
    model = RVMRegressor(gamma=0.1).fit(X, Y)
    with pytest.raises(TypeError, match="coverage must be a number"):
        model.predict_interval(X, coverage)
