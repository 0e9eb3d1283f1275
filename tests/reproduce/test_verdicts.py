"""The rule by which published figures are judged, and the notes on those that are missed."""

import math

import numpy as np
import pytest

from reproduce.engine import Cell, Kind, Verdict, judge
from reproduce.engine.cells import last_digit
from reproduce.engine.notes import UNEXPLAINED, explain, read_notes


def cell(published, values, kind=Kind.ERROR, column="error", **options):
    options = {"runs": 100, **options}
    model = options.pop("model", "RVM")
    return Cell.of("line", column, model, published, values, kind=kind, **options)


def verdicts(*cells):
    return [each.verdict for each in judge(cells)]


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(10.0, 1.0, 100)


def test_standard_errors_are_those_of_means(values):
    found = cell(10.0, values)
    assert found.ours == pytest.approx(values.mean())
    assert found.standard_error == pytest.approx(values.std(ddof=1) / 10.0)
    assert found.published_error == pytest.approx(found.standard_error)
    assert cell(10.0, values, runs=1).published_error == pytest.approx(values.std(ddof=1))
    assert cell(10.0, values, runs=4, spread=3.0).published_error == 1.5


@pytest.mark.parametrize(
    ("shift", "verdict"),
    [
        (0.0, Verdict.REPRODUCED),
        (2.0, Verdict.BETTER),
        (-2.0, Verdict.MISSED),
    ],
)
def test_errors_agree_or_are_better_or_are_missed(values, shift, verdict):
    assert verdicts(cell(values.mean() + shift, values, unit=0.001)) == [verdict]


def test_the_border_is_two_standard_errors_and_half_a_digit(values):
    at = cell(0.0, values, unit=0.1)
    border = 2.0 * math.hypot(at.standard_error, at.published_error) + 0.05
    for factor, expected in ((0.99, Verdict.REPRODUCED), (1.01, Verdict.MISSED)):
        published = values.mean() - factor * border
        assert verdicts(cell(published, values, unit=0.1)) == [expected]


def test_one_printed_draw_may_be_as_far_off_as_draws_are(values):
    published = values.mean() - 1.8 * values.std(ddof=1)
    assert verdicts(cell(published, values, runs=1, unit=0.01)) == [Verdict.REPRODUCED]
    assert verdicts(cell(published, values, runs=100, unit=0.01)) == [Verdict.MISSED]


@pytest.mark.parametrize(
    ("published", "digit"), [(7.46, 0.01), (0.0164, 1e-4), (3505.0, 1.0), (0.2, 0.1), (0.0, 1.0)]
)
def test_last_printed_digit(published, digit):
    assert last_digit(published) == pytest.approx(digit)


def test_digits_are_shown_as_printed():
    assert cell(0.007, [1.0], unit=1e-4).printed == "0.0070"
    assert cell(3505.0, [1.0]).printed == "3505"


def test_a_smaller_model_is_better_only_if_it_costs_no_accuracy():
    small = cell(20.0, [5.0, 6.0], Kind.SIZE, "vectors")
    right, wrong = cell(1.0, [1.0, 1.001]), cell(0.5, [1.0, 1.001], unit=0.01)
    assert verdicts(right, small) == [Verdict.REPRODUCED, Verdict.BETTER]
    assert verdicts(wrong, small) == [Verdict.MISSED, Verdict.MISSED]
    assert verdicts(small) == [Verdict.MISSED]
    other = cell(0.5, [1.0, 1.001], unit=0.01, model="SVM")
    assert verdicts(right, other, small)[2] is Verdict.BETTER


def test_a_larger_model_is_missed():
    assert verdicts(cell(5.0, [20.0, 21.0], Kind.SIZE)) == [Verdict.MISSED]


def test_an_estimate_is_better_if_nearer_to_the_truth():
    far, near = [0.2, 0.201], [0.101, 0.102]
    assert verdicts(cell(0.15, near, Kind.ESTIMATE, truth=0.1)) == [Verdict.BETTER]
    assert verdicts(cell(0.15, far, Kind.ESTIMATE, truth=0.1)) == [Verdict.MISSED]
    with pytest.raises(ValueError, match="needs its truth"):
        cell(0.15, far, Kind.ESTIMATE)


def test_a_plain_figure_is_never_better():
    assert verdicts(cell(5.0, [1.0, 1.1], Kind.PLAIN)) == [Verdict.MISSED]


def test_figures_that_are_not_finite_are_missed():
    assert verdicts(cell(5.0, [math.nan, 1.0])) == [Verdict.MISSED]


def test_support_vector_machines_are_not_counted():
    assert cell(1.0, [1.0]).is_counted
    assert not cell(1.0, [1.0], model="SVM").is_counted


def test_the_first_note_that_fits_is_taken(tmp_path):
    path = tmp_path / "notes.toml"
    path.write_text(
        '[[note]]\nexperiment = "one"\nline = "li*"\ncolumn = "vectors"\ntext = """A\n  b."""\n'
        '[[note]]\nexperiment = "one"\ntext = "C."\n'
    )
    notes = read_notes(path)
    assert explain(notes, "one", cell(1.0, [1.0], column="vectors")) == "A b."
    assert explain(notes, "one", cell(1.0, [1.0])) == "C."
    assert explain(notes, "two", cell(1.0, [1.0])) == UNEXPLAINED


def test_notes_of_the_project_can_be_read():
    for note in read_notes():
        assert note.text.endswith(".")
