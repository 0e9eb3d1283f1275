"""Models from sufficient statistics: the same as from the rows, without the rows."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from relvec import SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.io import load, save
from relvec.moments import SufficientStatistics, merge_statistics
from tests.estimators.problems import linear, sinc

CENTERS = np.linspace(-10, 10, 25)[:, None]
KERNELS = KernelBasis(gamma=1 / 9, centers=CENTERS)


def statistics_of(basis, X, y, n_targets=1, n_workers=3):
    """Add up some of the rows in each worker, then merge."""
    atoms = basis.bind(X).atoms
    workers = [SufficientStatistics(len(atoms), n_targets) for _ in range(n_workers)]
    for number, rows in enumerate(np.array_split(np.arange(len(X)), 7)):
        workers[number % n_workers].update(atoms.evaluate(X[rows]), y[rows])
    return merge_statistics(*workers)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prior": "bic"},
        {"prior": "gamma"},
        {"fit_intercept": False},
        {"noise_variance": 0.01},
        {"solver": "mackay"},
        {"min_gain": 2.0, "effort": "fast"},
    ],
    ids=repr,
)
def test_the_same_model_as_from_the_rows(options):
    X, y = sinc(300)
    options = options | {"calibrate": False}  # moments hold no rows to calibrate by
    known = SparseBayesRegressor.from_moments(statistics_of(KERNELS, X, y), KERNELS, X, **options)
    fitted = SparseBayesRegressor(KERNELS, **options).fit(X, y)
    np.testing.assert_array_equal(known.relevance_, fitted.relevance_)
    # with the noise free its level shows how far sums of squares cancel
    new = np.linspace(-9, 9, 50)[:, None]
    mine, theirs = (each.predict(new, return_std=True) for each in (known, fitted))
    np.testing.assert_allclose(mine[0], theirs[0], atol=1e-6)
    np.testing.assert_allclose(mine[1], theirs[1], rtol=0.2)  # moments say less of novelty
    plain = {"error_bars": "plain"} | options
    known = SparseBayesRegressor.from_moments(statistics_of(KERNELS, X, y), KERNELS, X, **plain)
    fitted = SparseBayesRegressor(KERNELS, **plain).fit(X, y)
    mine, theirs = (each.predict(new, return_std=True) for each in (known, fitted))
    np.testing.assert_allclose(mine, theirs, atol=1e-6)
    assert known.log_evidence_ == pytest.approx(fitted.log_evidence_, abs=1e-5)
    assert known.noise_variance_ == pytest.approx(fitted.noise_variance_, rel=1e-6)
    assert known.converged_


def test_columns_of_a_table():
    X, y = linear()
    table = pd.DataFrame(X, columns=[f"column {i}" for i in range(X.shape[1])])
    basis = LinearBasis()
    known = SparseBayesRegressor.from_moments(statistics_of(basis, X, y), basis, table[:5])
    assert known.atom_names() == ["column 1", "column 4"]
    fitted = SparseBayesRegressor(basis).fit(table, y)
    np.testing.assert_allclose(known.predict(table), fitted.predict(table), atol=1e-8)


def test_several_targets():
    X, y = sinc(200)
    targets = np.column_stack([y, np.cos(X[:, 0])])
    statistics = statistics_of(KERNELS, X, targets, n_targets=2)
    known = SparseBayesRegressor.from_moments(statistics, KERNELS, X)
    fitted = SparseBayesRegressor(KERNELS).fit(X, targets)
    np.testing.assert_allclose(known.predict(X), fitted.predict(X), atol=1e-5)


def test_error_bars_widen_away_from_the_inputs_that_stand_for_the_data():
    X, y = sinc(300)
    statistics = statistics_of(KERNELS, X, y)
    known = SparseBayesRegressor.from_moments(statistics, KERNELS, X[:100])
    plain = SparseBayesRegressor.from_moments(statistics, KERNELS, X[:100], error_bars="plain")
    far, near = [[40.0]], X[:20]
    assert known.predict(far, return_std=True)[1] > 2.0 * plain.predict(far, return_std=True)[1]
    np.testing.assert_allclose(
        known.predict(near, return_std=True)[1], plain.predict(near, return_std=True)[1], rtol=0.25
    )


def test_files_and_copies(tmp_path):
    X, y = sinc(200)
    known = SparseBayesRegressor.from_moments(statistics_of(KERNELS, X, y), KERNELS, X)
    save(known, tmp_path / "model.relvec")
    for again in (load(tmp_path / "model.relvec"), pickle.loads(pickle.dumps(known))):
        np.testing.assert_array_equal(again.predict(X), known.predict(X))


def test_mistakes():
    X, y = sinc(100)
    statistics = statistics_of(KERNELS, X, y)
    with pytest.raises(ValueError, match="moments are of 25 atoms, but .* has 10. Bind it to the"):
        SparseBayesRegressor.from_moments(statistics, KernelBasis(centers=X[:10]), X)
    with pytest.raises(ValueError, match="length_scales='ard' needs the training rows"):
        SparseBayesRegressor.from_moments(statistics, KERNELS, X, length_scales="ard")
    with pytest.raises(ValueError, match='error_bars="augmented" needs the training rows'):
        SparseBayesRegressor.from_moments(statistics, KERNELS, X, error_bars="augmented")
    with pytest.raises(ValueError, match="No rows have been added"):
        SparseBayesRegressor.from_moments(SufficientStatistics(25), KERNELS, X)
    with pytest.raises(TypeError, match="moments must be SufficientStatistics"):
        SparseBayesRegressor.from_moments(statistics.moments(), KERNELS, X)
