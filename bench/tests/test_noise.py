"""The noise suite must be right before its results are."""

import numpy as np
import pytest

from bench.noise import robust, suite, worker
from bench.noise.methods import METHODS
from bench.noise.problems import CONTROLS, PROBLEMS, SYNTHETIC


@pytest.mark.parametrize("problem", [*SYNTHETIC, *CONTROLS], ids=lambda each: each.name)
def test_rows_have_the_noise_that_is_stated(problem):
    rows = problem.draw(0)
    assert len(rows.y) == problem.n
    z = (rows.y_test - rows.mean) / rows.std
    # 2000 rows: the standard deviation has a standard error of 0.016
    assert abs(z.std() - 1.0) < 0.06
    np.testing.assert_array_equal(problem.draw(0).y, rows.y)
    assert not np.array_equal(problem.draw(1).y, rows.y)


def test_the_truth_covers_95_percent_in_every_quarter():
    rows = PROBLEMS["step"].draw(3)
    inside = np.abs(rows.y_test - rows.mean) < 1.96 * rows.std
    quarters = worker._cover_quarters(inside, rows.std, rows.std)
    assert all(abs(share - 0.95) < 0.04 for share in quarters)


def test_tables_and_targets_of_a_record():
    job = {"part": "synthetic", "problem": "Goldberg", "seeds": [5, 6]}
    job["methods"] = [suite.OURS, suite.CONSTANT]
    record = worker.run(job)
    found = suite.tables("synthetic", [record])
    scores, targets = found[0], found[-1]
    assert scores.head == ("set", suite.OURS, suite.CONSTANT)
    values = [d["methods"][suite.OURS]["nll"] - d["oracle"] for d in record["draws"]]
    assert scores.rows[0][1].startswith(f"{np.mean(values):.3f}")
    assert any("excess NLL, Goldberg" in row[0] for row in targets.rows)
    assert set(job["methods"]) <= set(METHODS)


def test_gains_count_the_draws_that_keep_constant_noise():
    draws = [
        {"seed": 0, "oracle": None, "methods": {suite.OURS: {"gain": 7.0, "is_default": False}}},
        {"seed": 1, "oracle": None, "methods": {suite.OURS: {"gain": 0.0, "is_default": True}}},
    ]
    record = {"status": "ok", "problem": "step", "draws": draws}
    assert suite._tabulate_gains([record], ["step"]).rows == [["step", "1 of 2", "7", "7"]]


def test_outliers_are_as_many_and_as_large_as_stated():
    rng = np.random.default_rng(0)
    for case in robust.CASES:
        errors = robust.make_errors(case, rng, 20_000)
        if np.isfinite(case.df):
            continue
        large = np.abs(errors) > 6.0  # an ordinary error is never that large, an outlier always is
        assert abs(large.mean() - case.share) < 0.01
        assert not case.share or np.abs(errors).max() > 38.0
        assert (errors[large] > 0.0).all() == (case.one_sided or not case.share)


@pytest.mark.slow
def test_robust_noise_is_measured():
    outliers = robust.CASES[1]
    constant, found = (robust.measure(outliers, noise, 7) for noise in robust.NOISES)
    assert found.rmse < 0.5 * constant.rmse
    assert found.gain > 20.0 > constant.gain == 0.0
    assert 0.0 <= found.coverage <= 1.0
