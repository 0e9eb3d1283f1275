"""The simulation of verdicts of `compare_models`."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bench.comparing import SETTINGS, draw_data, make_candidates, run


def test_functions_have_the_variance_that_is_stated():
    for truth in make_candidates():
        X, y = draw_data(truth, np.random.default_rng(0), 400, 4.0)
        assert X.shape == (400, 1)
        assert np.var(y) == pytest.approx(5.0, rel=0.3)


@pytest.mark.slow
def test_verdicts_are_mostly_right_and_seldom_wrong():
    outcomes = Counter[str]()
    for (_, outcome), number in run(next(iter(SETTINGS)), 25, seed=9000).items():
        outcomes[outcome] += number
    assert outcomes["wrong"] <= 1
    assert outcomes["correct"] >= 15
