"""What a solver is given is checked where it is made."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.moments import SufficientStatistics
from relvec.priors import BoundFlat, BoundSmoothness, SmoothnessPrior
from relvec.solvers import Problem
from relvec.solvers.gaussian.newton import Objective, maximise


@pytest.mark.parametrize(
    ("parts", "error", "match"),
    [
        ({"noise_variance": -1.0}, ValueError, "noise_variance must be a positive number"),
        ({"noise_variance": np.nan}, ValueError, "or None to estimate it; got nan"),
        ({"noise_variance": 0.0}, ValueError, "noise_variance must be a positive number"),
        ({"min_gain": np.nan}, ValueError, "min_gain must be a number"),
        ({"min_gain": -1.0}, ValueError, "not negative and not NaN; got -1"),
        ({"min_gain": np.ones(2)}, ValueError, "one for each of 3 atoms"),
        ({"prior": BoundSmoothness(np.ones(2))}, ValueError, "penalty must be a number"),
        ({"prior": SmoothnessPrior("bic")}, TypeError, "prior must be bound"),
        ({"moments": np.ones((5, 3))}, TypeError, "moments must be Moments.* got ndarray"),
        ({"max_active": -1}, ValueError, "max_active must be an integer"),
    ],
)
def test_parts_that_do_not_fit_are_named(parts, error, match):
    rng = np.random.default_rng(0)
    moments = SufficientStatistics(3).update(rng.normal(size=(9, 3)), rng.normal(size=9)).moments()
    with pytest.raises(error, match=match):
        Problem(**({"moments": moments} | parts))


def test_an_evidence_that_is_nowhere_finite_ends_the_search_for_one():
    objective = Objective(5.0, np.nan, BoundFlat(), 1.0)
    with pytest.raises(FloatingPointError, match="not finite"):
        maximise(np.eye(2), np.ones(2), np.zeros(2), objective, max_iter=5, tol=1e-3)
