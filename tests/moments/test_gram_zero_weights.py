"""A block of rows none of which counts, read first."""

from __future__ import annotations

import numpy as np

from relvec.moments import SufficientStatistics
from tests.helpers_dense import DenseMoments
from tests.moments.test_columns import check_same, design


def test_a_first_block_without_weight_is_as_if_absent() -> None:
    Phi, t = design(40, 4)
    weight = np.r_[np.zeros(15), np.ones(25)]
    statistics = SufficientStatistics(4)
    for rows in (slice(0, 15), slice(15, 40)):
        statistics.update(Phi[rows], t[rows], weight[rows])
    check_same(statistics.moments(), DenseMoments(Phi[15:], t[15:]), tol=1e-9)
