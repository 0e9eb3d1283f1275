"""Section on error bars outside the range of the training rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVMClassifier, RVMRegressor, coverage_outside
from relvec.reporting import make_report

RNG = np.random.default_rng(12)
X = RNG.uniform(-10.0, 10.0, size=(60, 1))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=60)
TITLE = "Outside the range of the training data"


def report(model, X, y, **options):
    return make_report(model.fit(X, y), X, y, **{"cv": 3, "n_bootstrap": 0, **options})


@pytest.mark.slow
def test_rows_outside_are_those_of_the_public_function():
    found = report(RVMRegressor(gamma=0.2), X, Y)
    expected = coverage_outside(RVMRegressor(gamma=0.2), X, Y)
    np.testing.assert_allclose(found.coverage_outside.outside.error, expected.outside.error)
    assert found.coverage_outside.inside.n_rows == 48
    assert TITLE in found.html
    share = expected.outside.coverage(0.95)
    cell = f"{100 * share.value:.0f} % ± {100 * share.standard_error:.0f} %"
    assert cell in found.html
    assert "smallest and largest values of x0" in found.html


@pytest.mark.slow
def test_pipelines_of_several_features_hold_out_the_outermost_rows():
    wide = np.column_stack([X, RNG.normal(size=60)])
    found = report(make_pipeline(StandardScaler(), RVMRegressor(gamma=0.5)), wide, Y)
    assert "farthest from the mean" in found.coverage_outside.held_out


@pytest.mark.slow
def test_no_section_where_it_makes_no_sense():
    assert report(RVMRegressor(gamma=0.2), X, Y, cv=0).coverage_outside is None
    assert report(RVMRegressor(gamma=0.2), X[:30], Y[:30]).coverage_outside is None
    assert report(RVMClassifier(gamma=0.2), X, Y > 0).coverage_outside is None
    kernel = RVMRegressor("precomputed")
    assert report(kernel, np.exp(-((X - X.T) ** 2)), Y).coverage_outside is None
    text = report(RVMRegressor(gamma=0.2), X, Y, rows="new")
    assert TITLE not in text.html


@pytest.mark.slow
def test_features_that_are_equal_in_all_rows_have_no_outside():
    found = report(RVMRegressor(gamma=0.2), np.repeat([[0.0], [1.0]], 30, axis=0), Y)
    assert found.coverage_outside is None
