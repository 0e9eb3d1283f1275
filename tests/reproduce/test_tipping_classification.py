"""Tipping's table of classifiers: data, choice of r, standard errors, digits, cells."""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from relvec import RVMClassifier
from reproduce.common import classification_fits, digits
from reproduce.common.class_datasets import (
    Split,
    count_splits,
    read_digits,
    read_split,
    standardised,
)
from reproduce.common.classification_fits import (
    compute_reference_r,
    cross_validate,
    cross_validate_r,
    evaluate_rvm,
    evaluate_svm,
    fit_split,
)
from reproduce.common.ratios import Sample, compute_ratio
from reproduce.engine import Results, Settings
from reproduce.engine.run import Workers, run
from reproduce.engine.store import Store
from reproduce.experiments import tipping_classification
from reproduce.experiments.tipping_classification import EXPERIMENT, choose

FIGURES = """
[tipping2001.classification]
rows = [
  ["blobs", 60, 2, 4.0, 5.0, 30.0, 6.0],
  ["usps", 90, 4, 9.0, 10.0, 50.0, 20.0],
  ["normalised_mean", 0, 0, 1.0, 1.2, 1.0, 0.3],
]
"""


def blobs(n, n_classes, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    angle = 2.0 * np.pi * y / n_classes
    centers = 0.5 * n_classes * np.column_stack([np.cos(angle), np.sin(angle)])
    return centers + rng.normal(size=(n, 2)), y.astype(np.int8)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    X, y = blobs(90, 2, seed=0)
    order = np.array([np.random.default_rng(i).permutation(90) for i in range(2)])
    np.savez(tmp_path / "blobs.npz", X=X, y=y, train=order[:, :60], test=order[:, 60:])
    X, y = blobs(300, 10, seed=1)
    X = np.round(1000 * X).astype(np.int16)
    halves = {"X_train": X[:200], "y_train": y[:200], "X_test": X[200:], "y_test": y[200:]}
    np.savez(tmp_path / "usps.npz", **halves, x_scale=1000.0)
    return tmp_path


def test_inputs_are_standardised_on_training_rows_only():
    X = np.array([[0.0, 5.0], [2.0, 5.0]])
    split = standardised(Split(X, np.arange(2), X + 2.0, np.arange(2)))
    np.testing.assert_array_equal(split.X, [[-1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(split.X_test, [[1.0, 2.0], [3.0, 2.0]])


def test_sets_are_cut_as_the_files_say(folder):
    assert count_splits(folder, "blobs") == 2
    assert count_splits(folder, "usps") == 1
    first, second = (read_split(folder, "blobs", place) for place in range(2))
    assert first.X.shape == second.X.shape == (60, 2)
    assert first.X_test.shape == (30, 2)
    assert not np.array_equal(first.y, second.y)
    assert 4.0 < np.abs(read_digits(folder).X).max() < 20.0


def test_r_is_tippings(folder):
    """exp(-|x - z|^2 / r^2), so gamma is 1 / r^2."""
    split = read_split(folder, "blobs")
    model = RVMClassifier(gamma=0.25).fit(split.X, split.y)
    found = evaluate_rvm(split, 2.0)
    assert found["n_vectors"] == len(model.relevance_)
    assert found["error"] == pytest.approx(
        100.0 * np.mean(model.predict(split.X_test) != split.y_test)
    )
    assert compute_reference_r(np.array([[0.0, 0.0], [2.0, 4.0]])) == pytest.approx(np.sqrt(5.0))


def test_cross_validation_weighs_folds_by_their_rows():
    X, y = np.zeros((12, 1)), np.arange(12) % 2
    found = cross_validate(X, y, 0, lambda part: {"n": float(len(part.y_test))})
    sizes = np.array([3, 3, 2, 2, 2])
    assert found["n"] == pytest.approx(np.sum(sizes**2) / 12)


@pytest.mark.slow
def test_cross_validation_prefers_r_that_separates(folder):
    narrow, wide = (cross_validate_r(folder, "RVM", "blobs", 0, factor) for factor in (0.01, 1.0))
    assert narrow["log_loss"] > wide["log_loss"]
    narrow, wide = (cross_validate_r(folder, "SVM", "blobs", 0, factor) for factor in (0.001, 1.0))
    assert len(wide["errors"]) == len(classification_fits.C_VALUES)
    assert min(narrow["errors"]) > max(wide["errors"])


def test_splits_are_judged_on_their_test_rows(folder):
    split = read_split(folder, "blobs", 1)
    found = fit_split(folder, "SVM", "blobs", 1, 2.0, 3.0)
    assert found["n_test"] == 30
    assert found["r"] == pytest.approx(2.0 * compute_reference_r(split.X))
    assert found["n_vectors"] == evaluate_svm(split, found["r"], 3.0)["n_vectors"]


def test_a_common_width_and_one_for_each():
    values = np.array([[3, 1, 2], [1, 4, 4], [0, 5, 0]])
    assert choose(values, is_common=False) == [1, 0, 0]
    assert choose(values, is_common=True) == [0, 0, 0]


def test_only_the_first_five_parts_choose_a_common_width():
    values = np.array([[0.0, 1.0]] * 5 + [[99.0, 0.0]])
    assert choose(values, is_common=True) == [0] * 6


def test_standard_errors():
    two = Sample(np.array([10.0, 14.0]), np.array([4.0, 6.0]), 50)
    assert two.standard_error("error") == pytest.approx(2.0)
    assert two.standard_error("n_vectors") == pytest.approx(1.0)
    one = Sample(np.array([10.0]), np.array([4.0]), 100)
    assert one.standard_error("error") == pytest.approx(3.0)
    assert one.standard_error("n_vectors") == 0.0


def test_standard_errors_of_ratios():
    """Against many draws of pairs that go together."""
    rng = np.random.default_rng(0)
    shared = rng.normal(10.0, 1.0, (2000, 10))
    top, bottom = shared + rng.normal(0.0, 0.5, shared.shape), 2.0 * shared
    found = [
        compute_ratio(Sample(a, a, 1), Sample(b, b, 1), "error")
        for a, b in zip(top, bottom, strict=True)
    ]
    ratios, errors = np.array(found).T
    assert ratios.mean() == pytest.approx(0.5, abs=0.005)
    assert errors.mean() == pytest.approx(ratios.std(), rel=0.1)


def test_the_ratio_of_single_splits():
    ours, other = (Sample(np.array([each]), np.array([each]), 100) for each in (10.0, 20.0))
    assert compute_ratio(ours, other, "error") == pytest.approx((0.5, 0.5 * np.hypot(0.3, 0.2)))
    assert compute_ratio(ours, other, "n_vectors") == (0.5, 0.0)


@pytest.mark.slow
def test_ten_machines_are_one_against_the_rest(folder):
    """As the classifier does by itself."""
    found = {
        f"fit/RVM/usps/as they are/{digit}": digits.fit_digit(
            folder, "as they are", "RVM", digit, 1.0, None, 150
        )
        for digit in digits.DIGITS
    }
    combined = digits.combine(folder, Results(found, {}), "RVM", "as they are")
    split = read_digits(folder)
    rows = np.random.default_rng(digits.SEED).permutation(200)[:150]
    X, y = split.X[rows], split.y[rows]
    model = RVMClassifier(gamma=compute_reference_r(X) ** -2, multi_class="one_vs_rest").fit(X, y)
    wrong = model.predict(split.X_test) != split.y_test
    assert combined.error == pytest.approx(100.0 * wrong.mean())
    assert combined.n_distinct == len(model.relevance_)
    assert combined.n_vectors == np.isfinite(model.weight_precision_).sum()
    assert combined.n_test == 100


def test_images_are_smoothed_on_a_white_background():
    images = np.full((2, 16, 16), digits.PAPER)
    images[1, 8, 8] = 1.0
    plain, dot = digits.smoothed(images.reshape(2, -1), 0.75)
    np.testing.assert_allclose(plain, digits.PAPER)
    ink = dot.reshape(16, 16) - digits.PAPER
    assert ink.sum() == pytest.approx(2.0)
    across = (np.arange(16) - 8.0) ** 2
    assert np.sum(ink * across) / ink.sum() == pytest.approx(0.75**2, rel=0.05)


@pytest.mark.slow
def test_printed_figures_next_to_ours(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(tipping_classification, "QUICK_FACTORS", (1.0, 2.0))
    monkeypatch.setattr(digits, "C_VALUES", (1.0, 10.0))
    monkeypatch.setattr(digits, "SIDE", 1)
    settings = Settings(folder, is_quick=True)
    with Workers(1) as workers:
        results = run("x", EXPERIMENT, settings, Store(tmp_path / "x.jsonl"), workers, True)
    cells = {
        (cell.line, cell.column, cell.model): cell for cell in EXPERIMENT.cells(results, settings)
    }
    assert cells["Blobs", "error %", "RVM"].published == 5.0
    assert cells["Blobs", "error %", "SVM"].published == 4.0
    assert cells["Blobs", "vectors", "RVM"].published == 6.0
    assert cells["U.S.P.S.", "vectors", "SVM"].published == 50.0
    assert cells["Blobs", "error %", "RVM"].n == 2
    assert cells["U.S.P.S.", "error %", "RVM"].ours < 50.0
    mean = cells["Normalised mean", "vectors over SVM's", "RVM"]
    ratios = [
        cells[line, "vectors", "RVM"].ours / cells[line, "vectors", "SVM"].ours
        for line in ("Blobs", "U.S.P.S.")
    ]
    assert (mean.published, mean.ours) == (0.3, pytest.approx(np.mean(ratios)))
    choices, both = EXPERIMENT.tables(results, settings)
    assert [row[0] for row in choices.rows] == ["Blobs"]
    assert [row[0] for row in both.rows] == ["smoothed, RVM", "smoothed, SVM"]
    (figure,) = EXPERIMENT.figures(results, settings).values()
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["Blobs", "U.S.P.S."]


DATA = Path(os.environ.get("RELVEC_DATA", "/nowhere"))


@pytest.mark.skipif(not (DATA / "ida_titanic.npz").is_file(), reason="data are not there")
def test_published_data():
    assert count_splits(DATA, "ida_titanic") == 10
    assert read_split(DATA, "ida_titanic").X.shape == (150, 3)
    found = fit_split(DATA, "RVM", "ida_titanic", 0, 1.0, None)
    assert found["error"] == pytest.approx(23.0, abs=2.0)
