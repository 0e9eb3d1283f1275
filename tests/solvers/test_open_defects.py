"""Behaviour the design promises and the solver does not show yet.

Each test fails for a defect that was reported with it; once mended, it moves to the file
of its subject.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import PrecomputedBasis
from relvec.solvers import SequentialSolver
from relvec.solvers.ascent import max_active
from tests.helpers_dense import sparse_design
from tests.solvers.test_degeneracies import NOISY, K, X
from tests.solvers.test_newton import draw, run
from tests.solvers.test_search import dictionary, lazy_problem


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Turn an endless loop into a failure."""

    def fail(*_: object) -> None:
        pytest.fail(f"still running after {seconds} s")

    previous = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


# The cap on active atoms is not applied to starts that begin above it ("all atoms",
# "recombined"), so the winner may exceed it, converged and unflagged.


@pytest.mark.parametrize("cap", [0, 1, 2])
def test_max_active_is_kept_and_flagged(cap: int) -> None:
    Phi, t = sparse_design()
    solution = SequentialSolver().solve(lazy_problem(Phi, t, max_active=cap))
    assert len(solution.active) <= cap
    assert solution.saturated
    assert not solution.converged


@pytest.mark.parametrize("seed", range(3))
def test_more_atoms_than_samples_stay_below_half_the_sample_size(seed: int) -> None:
    Phi, t = dictionary("wide", seed)
    problem = lazy_problem(Phi, t)
    assert len(SequentialSolver().solve(problem).active) <= max_active(problem)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_an_identity_dictionary_keeps_at_most_half_its_atoms(seed: int) -> None:
    target = np.random.default_rng(seed).standard_normal(50)
    model = SparseBayesRegressor(PrecomputedBasis()).fit(np.eye(50), target)
    assert len(model.relevance_) <= 25
    assert model.saturated_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n", [3, 4, 6])
def test_a_handful_of_samples_is_not_interpolated_unflagged(n: int) -> None:
    rows = slice(0, 15 * n, 15)
    model = RVMRegressor(gamma=1 / 9).fit(X[rows], NOISY[rows])
    assert len(model.relevance_) <= max(1, (n - 1) // 2)


# Copies of a column all stay in the model, each with a share of the weight: the fit is the
# same, but every copy beyond the first costs its price and means nothing.


@pytest.mark.parametrize("n_copies", [2, 3])
def test_of_equal_columns_one_is_kept(n_copies: int) -> None:
    model = SparseBayesRegressor(PrecomputedBasis()).fit(np.hstack([K] * n_copies), NOISY)
    assert len(np.unique(model.relevance_ % 100)) == len(model.relevance_)


# A search that is stopped before its first end state calls the empty model converged.


def test_stopping_at_once_is_not_convergence() -> None:
    Phi, t = dictionary("kernel", 9)
    solution = SequentialSolver().solve(lazy_problem(Phi, t), monitor=lambda _: True)
    assert not solution.converged
    assert solution.certificate.best_gain > 0


# The rounding error that ends Newton's method leaves the condition of G + Lam out, so it
# stalls in the noise of the objective, is not converged, and the user is warned.


def test_repeated_inputs_converge() -> None:
    rows = np.repeat(np.arange(0, 100, 10), 6)
    model = RVMRegressor(gamma=1 / 30).fit(X[rows], NOISY[rows])  # warnings are errors
    assert model.converged_


@pytest.mark.parametrize("gamma", [3e-3, 1e-2])
def test_smooth_targets_and_wide_kernels_converge(gamma: float) -> None:
    x = np.linspace(-10, 10, 100)[:, None]
    assert RVMRegressor(gamma=gamma).fit(x, np.sinc(x[:, 0] / np.pi)).converged_


# Where the objective is flat and curved the wrong way (an atom that gains .003 nats), the
# shift of the Hessian is a hundred times its curvature: 221 steps of two atoms.


def test_a_flat_tail_is_crossed_in_few_steps() -> None:
    data = draw(20150, 3)
    end = run(data, np.ones(3), 0.0, 0.25, max_iter=50, tol=1e-4)
    assert end.converged


# Squares of a tiny target are denormal numbers: an endless loop, or the logarithm of zero.


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-155, 1e-160, 1e-161])
def test_extreme_units_of_the_target(scale: float) -> None:
    with time_limit(5):
        model = RVMRegressor(gamma=1 / 9, error_bars="plain").fit(X, scale * NOISY)
    assert np.isfinite(model.log_evidence_)
    assert np.isfinite(model.predict(X)).all()
