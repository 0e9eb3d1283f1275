"""Working sets of problems with many rows."""

import numpy as np
import pytest

from relvec import RVMRegressor
from relvec.solvers import SearchTuning, SequentialSolver


@pytest.mark.slow
def test_fewer_candidates_than_a_working_set_holds():
    """Of wide kernels few are left once some are active: there is nothing to choose among them."""
    solver = SequentialSolver(tuning=SearchTuning(large_dictionary=0.0))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.02 * rng.normal(size=1200)
    model = RVMRegressor(gamma=0.03, solver=solver).fit(X, y)
    assert model.score(X, y) > 0.99
