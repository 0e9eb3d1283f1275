"""Tipping's classification table computed again: data, choice of widths, comparison, command."""

import os
from pathlib import Path

import numpy as np
import pytest

from relvec import RVMClassifier
from reproduce import classification_usps
from reproduce.__main__ import main
from reproduce.classification import (
    MAIN,
    Line,
    Rule,
    choose,
    read_printed,
    ripley,
    standard_error,
    study,
    tables,
)
from reproduce.label_sets import Printed, Split, read_digits, read_set, standardised
from reproduce.widths import FACTORS, Curve, Outcome, cross_validate, judge, scale_of

FIGURES = """
[tipping2001.classification]
rows = [
  ["blobs", 60, 2, 4.0, 5.0, 30.0, 4.0],
  ["usps", 90, 4, 9.0, 10.0, 50.0, 20.0],
  ["normalised_mean", 0, 0, 1.0, 1.0, 1.0, 1.0],
]
[tipping2001.examples.ripley_100]
N = 40
rvm_error_pct = 9.3
rvm_vectors = 4
svm_error_pct = 10.6
svm_vectors = 38
"""
PRINTED = Printed("blobs", 60, 4.0, 5.0, 30.0, 4.0)


def blobs(n, n_classes, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return 3.0 * np.eye(n_classes)[y][:, :2] + rng.normal(size=(n, 2)), y.astype(np.int8)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    X, y = blobs(90, 2, seed=0)
    order = np.array([np.random.default_rng(i).permutation(90) for i in range(2)])
    np.savez(tmp_path / "blobs.npz", X=X, y=y, train=order[:, :60], test=order[:, 60:])
    halves = {"X_train": X[:60], "y_train": y[:60], "X_test": X[60:], "y_test": y[60:]}
    np.savez(tmp_path / "ripley_synth.npz", **halves, subset100=order[:, :40] % 60)
    X, y = blobs(135, 3, seed=1)
    X = np.round(1000 * X).astype(np.int16)
    halves = {"X_train": X[:90], "y_train": y[:90], "X_test": X[90:], "y_test": y[90:]}
    np.savez(tmp_path / "usps.npz", **halves, x_scale=1000.0)
    return tmp_path


@pytest.fixture
def few_widths(monkeypatch):
    monkeypatch.setattr("reproduce.classification.FACTORS", (1.0, 2.0))
    monkeypatch.setattr("reproduce.classification_usps.SEARCHED", (1.0, 2.0))


def test_inputs_are_standardised_on_training_rows_only():
    X = np.array([[0.0, 5.0], [2.0, 5.0]])
    split = standardised(Split(X, np.arange(2), X + 2.0, np.arange(2)))
    np.testing.assert_array_equal(split.X, [[-1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(split.X_test, [[1.0, 2.0], [3.0, 2.0]])


def test_sets_are_cut_as_the_files_say(folder):
    splits = read_set(folder, "blobs")
    assert [split.X.shape for split in splits] == [(60, 2), (60, 2)]
    assert splits[0].X_test.shape == (30, 2)
    digits = read_digits(folder)
    assert digits.X.shape == (90, 2)
    assert 1.0 < np.abs(digits.X).max() < 10.0


def test_widths_are_tipping_s(folder):
    """exp(-|x - z|^2 / r^2), so gamma is 1 / r^2."""
    split = read_set(folder, "blobs")[0]
    model = RVMClassifier(gamma=0.25).fit(split.X, split.y)
    outcome = judge(split, 2.0)
    assert outcome.n_vectors == len(model.relevance_)
    assert outcome.error == pytest.approx(
        100.0 * np.mean(model.predict(split.X_test) != split.y_test)
    )
    assert scale_of(np.array([[0.0, 0.0], [2.0, 4.0]])) == pytest.approx(np.sqrt(5.0))


def test_cross_validation_prefers_widths_that_separate(folder):
    split = read_set(folder, "blobs")[0]
    curve = cross_validate(split.X, split.y, 0, (0.02, 1.0))
    assert curve.error[0] > curve.error[1]
    assert curve.log_loss[0] > curve.log_loss[1]


def test_a_common_width_and_one_for_each():
    curves = [Curve(np.array(e), np.array(e[::-1])) for e in ([3, 1, 2], [1, 4, 4], [0, 5, 0])]
    assert choose(curves, Rule("error", is_common=False)) == [1, 0, 0]
    assert choose(curves, Rule("error", is_common=True)) == [0, 0, 0]
    assert choose(curves, Rule("log_loss", is_common=True)) == [2, 2, 2]


def test_only_the_first_five_parts_choose_a_common_width():
    curves = [Curve(np.zeros(2), np.array([0.0, 1.0]))] * 5
    curves += [Curve(np.zeros(2), np.array([99.0, 0.0]))]
    assert choose(curves, MAIN) == [0] * 6


def test_standard_errors():
    outcomes = [Outcome(error, 0.3, 4, 0.1, True) for error in (10.0, 14.0)]
    assert standard_error(outcomes, 50) == pytest.approx(2.0)
    assert standard_error(outcomes[:1], 100) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("error", "vectors", "misses"),
    [(6.0, 6, []), (6.1, 6, ["error"]), (1.0, 7, ["vectors"]), (9.0, 9, ["error", "vectors"])],
)
def test_agreement(error, vectors, misses):
    line = Line(PRINTED, [Outcome(error, 0.3, vectors, 0.1, True)], 1.0, [1.0])
    assert line.misses == misses


def test_lines_of_a_set(folder, few_widths):
    lines = study(PRINTED, read_set(folder, "blobs"), seed=0)
    assert all(len(line.outcomes) == 2 for line in lines)
    assert lines[0].mean("error") < 25.0
    assert (
        len({width / scale for width, scale in zip(lines[0].widths, _scales(folder), strict=True)})
        == 1
    )


def _scales(folder):
    return [scale_of(split.X) for split in read_set(folder, "blobs")]


def test_tables_hold_printed_figures_and_ours(folder, few_widths):
    first, second = tables(folder, 2, 0)
    assert [row[0] for row in first.rows][:2] == ["Ripley", "Blobs"]
    assert first.rows[1][2] == "4, 5"
    assert first.rows[2][2] == "1, 1.25"
    assert [row[0] for row in second.rows] == ["Blobs"]
    assert "usps" in read_printed(folder)
    assert "normalised_mean" not in read_printed(folder)


def test_digits(folder, few_widths):
    (table,) = classification_usps.tables(folder, 2, 0)
    assert [row[0] for row in table.rows] == [
        "one vs rest",
        "one vs rest, logit ≤ 10",
        "softmax",
    ]
    assert table.rows[2][1] == table.rows[0][1]
    assert "10 % with 20" in table.title


def test_missing_data_are_named(tmp_path, capsys):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    assert main(["classification", "--data", str(tmp_path)]) == 2
    assert "ripley_synth.npz does not exist" in capsys.readouterr().err


DATA = Path(os.environ.get("RELVEC_DATA", "/nowhere"))


@pytest.mark.skipif(not (DATA / "ida_titanic.npz").is_file(), reason="data are not there")
def test_published_data():
    line = ripley(DATA, 5)
    assert line.mean("error") == pytest.approx(9.5, abs=1.0)
    printed = read_printed(DATA)["ida_titanic"]
    split = read_set(DATA, "ida_titanic")[0]
    assert split.X.shape == (printed.n, 3)
    outcome = judge(split, FACTORS[4] * scale_of(split.X))
    assert outcome.error == pytest.approx(printed.error, abs=2.0)
