"""Means over held-out rows with their standard errors, and the verdict."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.comparing.statistics import Estimate, HeldOutRows, estimate_mean
from relvec.comparing.verdict import Criteria, decide, find_disagreements
from relvec.comparing.wording import reach_verdict

NONE = Estimate(0.0, 0.0)


def equal_rows(n_folds, size):
    return HeldOutRows(tuple(np.ones(size) for _ in range(n_folds)), 1.0 / (n_folds - 1))


def test_mean_and_error_of_folds_by_hand():
    values = [np.array([1.0, 3.0]), np.array([5.0, 7.0]), np.array([9.0, 11.0])]
    found = estimate_mean(values, equal_rows(3, 2))
    assert found.mean == 6.0
    # fold means 2, 6, 10 have variance 16; Nadeau & Bengio: 1/3 + 1/2
    assert found.se == pytest.approx(np.sqrt((1 / 3 + 1 / 2) * 16.0))


def test_folds_that_agree_do_not_make_the_error_small():
    values = [np.array([-1.0, 1.0]), np.array([-2.0, 2.0])]
    found = estimate_mean(values, equal_rows(2, 2))
    variance_of_rows = 10.0 / 3.0
    assert found.se == pytest.approx(np.sqrt((1 / 2 + 1) * variance_of_rows / 2))


def test_weights_are_frequencies():
    rng = np.random.default_rng(0)
    values, counts = rng.normal(size=(3, 8)), rng.integers(1, 4, size=(3, 8))
    weighted = estimate_mean(list(values), HeldOutRows(tuple(counts.astype(float)), 0.5))
    repeated = [np.repeat(v, c) for v, c in zip(values, counts, strict=True)]
    ones = HeldOutRows(tuple(np.ones(len(each)) for each in repeated), 0.5)
    assert weighted == pytest.approx(estimate_mean(repeated, ones))


def test_error_of_independent_rows_is_not_too_small():
    """The standard error of five folds covers the truth at least as often as it says."""
    rng = np.random.default_rng(1)
    rows = equal_rows(5, 20)
    z = []
    for _ in range(400):
        found = estimate_mean(list(rng.normal(size=(5, 20))), rows)
        z.append(abs(found.mean) / found.se)
    assert np.mean(np.array(z) > 2.0) < 0.05


def test_estimates_print_with_two_digits_of_the_error():
    assert str(Estimate(-0.61234, 0.0999)) == "-0.612 ± 0.100"
    assert str(Estimate(1234.5, 120.0)) == "1234 ± 120"
    assert str(Estimate(0.5, 0.0)) == "0.5"


def test_held_out_rows_decide_where_they_can():
    models = {
        "a": Criteria(-1.0, NONE, 0.01, -50.0),
        "b": Criteria(-2.0, Estimate(1.0, 0.4), 0.99, -40.0),
    }
    found = decide(models)
    assert (found.best, found.contenders, found.favourite) == ("a", ("a",), None)
    disagreements = find_disagreements(found.leader, models)
    assert [each[:2] for each in disagreements] == [
        ("posterior probability", "b"),
        ("log evidence", "b"),
    ]
    verdict = reach_verdict(models, "MLPD", {"a": "model A"})
    assert "model A is the best" in verdict.text
    assert "model A predicts held-out rows better by 1.00 ± 0.40" in verdict.disagreements[0]


@pytest.mark.parametrize(
    ("probability", "behind", "best"),
    [
        (0.95, Estimate(0.1, 0.2), "b"),
        (0.85, Estimate(0.1, 0.2), None),  # not probable enough
        (0.95, Estimate(0.3, 0.2), None),  # too far behind, though not distinguishable
        (None, Estimate(0.1, 0.2), None),
        (0.95, Estimate(np.inf, np.nan), "a"),  # density zero of some rows
    ],
)
def test_evidence_decides_among_models_that_predict_equally_well(probability, behind, best):
    other = None if probability is None else 1.0 - probability
    models = {
        "a": Criteria(-1.0, NONE, other, None),
        "b": Criteria(-1.0 - behind.mean, behind, probability, None),
    }
    assert decide(models).best == best


def test_text_says_why_a_comparison_is_undecided():
    near = Estimate(0.1, 0.2)

    def text(probability, behind=near, known=0.1):
        models = {
            "a": Criteria(-1.0, NONE, known, None),
            "b": Criteria(-1.1, behind, probability, None),
        }
        return reach_verdict(models, "MLPD").text

    assert text(0.1).endswith("is 0.500; 0.9 is needed to decide.")
    assert "no tied evidence of b" in text(None)
    assert "worse by more than one standard error" in text(0.99, Estimate(0.3, 0.2), 0.01)
    assert text(0.9).startswith("b is the best of these models. a predicts held-out rows best")


def test_probability_below_the_limit_is_not_printed_as_the_limit():
    models = {
        "a": Criteria(-1.0, NONE, 0.89996, None),
        "b": Criteria(-1.1, Estimate(0.1, 0.2), 0.10004, None),
    }
    verdict = reach_verdict(models, "MLPD")
    assert verdict.best is None
    assert "is 0.899; 0.9 is needed" in verdict.text


def test_models_without_densities_are_not_ranked_but_may_prevent_a_decision():
    smaller = Criteria(None, None, None, None, Estimate(-1.0, 0.2))
    models = {"a": Criteria(-1.0, NONE, None, None), "forest": smaller}
    verdict = reach_verdict(models, "MLPD")
    assert verdict.best is None
    assert "the error of forest is distinctly smaller" in verdict.text
    larger = Criteria(None, None, None, None, Estimate(1.0, 0.2))
    assert decide(models | {"forest": larger}).best == "a"
    nothing = reach_verdict({"forest": Criteria(None, None, None, None)}, "MLPD")
    assert (nothing.best, nothing.leader) == (None, None)
