"""The classification suite must be right before its results are."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from sklearn import metrics as reference

from bench import __main__ as command
from bench import report
from bench.classification import calibration, digits, memory, metrics, speed, suite, usps
from bench.classification.fits import assess, cut_short
from bench.classification.methods import METHODS
from bench.classification.part import Plan, mean_and_error
from bench.classification.problems import PROBLEMS, SETS, Draw, crescents, mixture
from bench.runner import ROOT


@pytest.fixture
def forecast():
    rng = np.random.default_rng(0)
    probability = rng.dirichlet(np.ones(3), 200)
    return probability, rng.integers(0, 3, 200)


def test_loss_and_error_are_those_of_scikit_learn(forecast):
    probability, label = forecast
    expected = reference.log_loss(label, probability, labels=[0, 1, 2])
    assert metrics.log_loss(probability, label) == pytest.approx(expected)
    hits = reference.accuracy_score(label, probability.argmax(axis=1))
    assert metrics.error_rate(probability, label) == pytest.approx(1 - hits)


def test_calibration_error_by_brute_force(forecast):
    probability, label = forecast
    total = 0.0
    for k in range(10):
        rows = [
            i
            for i, row in enumerate(probability)
            if k / 10 <= row.max() < (k + 1) / 10 or (k == 9 and row.max() == 1.0)
        ]
        if rows:
            confidence = np.mean([probability[i].max() for i in rows])
            hits = np.mean([probability[i].argmax() == label[i] for i in rows])
            total += len(rows) / len(label) * abs(confidence - hits)
    assert metrics.calibration_error(probability, label) == pytest.approx(total)


def test_certain_and_right_is_perfect_and_certain_and_wrong_is_finite():
    certain = np.eye(2)[[0, 1, 1]]
    assert metrics.judge(certain, np.array([0, 1, 1])) == {"error": 0, "log_loss": 0, "ece": 0}
    wrong = metrics.judge(certain, np.array([1, 0, 0]))
    assert wrong == {"error": 1, "log_loss": pytest.approx(12 * math.log(10)), "ece": 1}


@pytest.mark.parametrize("sampler", [mixture, crescents])
def test_draws_depend_on_the_seed_alone_and_classes_are_even(sampler):
    (X, y), (again, _), (other, _) = (sampler(60, np.random.default_rng(s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(X, again)
    assert not np.array_equal(X, other)
    assert np.bincount(y).tolist() == [30, 30]


def test_mixture_has_the_error_ripley_gives():
    X, y = mixture(20_000, np.random.default_rng(0))
    centres = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]])
    squares = ((X[:, None, None] - centres) ** 2).sum(axis=-1)
    density = np.exp(-squares / 0.06).sum(axis=-1)
    assert np.mean(density.argmax(axis=1) != y) == pytest.approx(0.08, abs=0.01)


@pytest.mark.filterwarnings("ignore")  # of other libraries
@pytest.mark.parametrize("name", METHODS)
def test_every_method_runs(name):
    method = METHODS[name]
    if not method.is_installed:
        pytest.skip(f"{method.package} is not installed")
    rng = np.random.default_rng(3)
    draw = Draw(*crescents(60, rng), *crescents(200, rng))
    record = assess(method, method.make(1.0).fit(draw.X, draw.y), draw)
    assert record["error"] < 0.35
    assert 1 <= record["n_vectors"] <= 60
    assert record["predict_cpu"] > 0
    if method.has_probability:
        assert record["log_loss"] < 0.7


def test_both_ways_to_say_that_a_search_was_cut_short():
    class Says:
        converged_ = False

    class Counts:
        max_iter, n_iter_ = 10, np.array([10])

    class Unlimited:
        max_iter, n_iter_ = -1, np.array([7])

    assert cut_short(Says())
    assert cut_short(Counts())
    assert not cut_short(Unlimited())


def fit_record(method, seed, **changes):
    return {
        "case": {"problem": "crescents2000", "method": method, "seed": seed},
        "status": "ok",
        "limit": 60,
        "cpu": 1.0,
        "kernel_cpu": 0.2,
        "product_cpu": 0.3,
        "error": 0.14,
        "log_loss": 0.3,
        "ece": 0.02,
        "n_vectors": 5,
        "peak_mb": 10.0,
        "resident_mb": 170.0,
        "predict_cpu": 1e-3,
        "is_cut_short": False,
        **changes,
    }


def test_ratios_are_paired_by_draw_and_targets_take_the_better_peer():
    records = [fit_record("relvec", 0), fit_record("relvec", 1, cpu=2.0)]
    records += [fit_record("fastrvm", 0, cpu=12.0, error=0.138), fit_record("fastrvm", 1, cpu=30.0)]
    records += [fit_record("fastrvm, no intercept", 0, status="over limit")]
    (table,) = speed.tables(records)
    rows = {row[0]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert rows["fastrvm"]["/ relvec"] == "14×"
    assert rows["relvec"]["floor"] == "3×"
    assert rows["fastrvm, no intercept"]["CPU s"] == "> 60"
    faster, gap = speed.targets(records)
    assert faster.measured == pytest.approx(13.5)
    assert faster.is_met
    assert gap.measured == pytest.approx(0.1)


def test_memory_quotes_what_it_did_not_measure():
    case = {"problem": "crescents5000", "method": "relvec low-memory", "seed": 0}
    records = [fit_record("", 0, case=case, peak_mb=80.0)]
    (table,) = memory.tables(records)
    assert table.rows[-1][0] == "dlib (quoted)"
    assert [target.is_met for target in memory.targets(records)] == [True, False, True]


def calibrated(name, method, losses, **changes):
    splits = [{"error": 0.1, "log_loss": loss, "ece": 0.02} for loss in losses]
    return {
        "case": {"set": name, "method": method, "n_splits": len(losses)},
        "status": "ok",
        "limit": 60,
        "splits": splits,
        "gamma_factor": 1.0,
        "C": 1.0,
        "cpu": 0.1,
        "choosing_cpu": 3.0,
        "n_cut_short": 0,
        **changes,
    }


def test_calibration_compares_on_sets_that_both_finished():
    records = [calibrated("Banana", method, [0.3, 0.5]) for method in calibration.METHODS]
    records += [calibrated("Image", "relvec", [0.2]), calibrated("Image", "SVC + Platt", [0.1])]
    records += [calibrated("Image", "fastrvm", [], status="over limit")]
    table, means = calibration.tables(records)
    assert table.rows[0][2] == "0.4000 ± 0.1000"
    assert table.rows[-1][2] == "> 60 CPU s"
    assert means.rows[0][1] == "0.4000"
    fastrvm, platt = calibration.targets(records)
    assert fastrvm.measured == 0.0
    assert platt.measured == pytest.approx(0.05)


def test_standardised_by_the_training_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(5, 2, 50), np.ones(50)])
    draw = calibration.standardised(Draw(X, np.zeros(50), X + 1.0, np.zeros(50)))
    np.testing.assert_allclose(draw.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(draw.X.std(axis=0), [1, 0])
    np.testing.assert_allclose(draw.X_test[:, 0] - draw.X[:, 0], 1 / X[:, 0].std())


def test_a_model_without_vectors_predicts_the_class_frequencies():
    class Empty:
        relevance_, intercept_ = np.empty(0, dtype=int), np.array([math.log(3.0)])

    expected = np.tile([0.25, 0.75], (2, 1))
    np.testing.assert_allclose(calibration.probability(Empty(), np.zeros((2, 1))), expected)


def test_gamma_of_least_loss_is_chosen(monkeypatch):
    monkeypatch.setattr(calibration, "GRID", (1e4, 1.0))
    draw = Draw(*crescents(80, np.random.default_rng(0)), np.empty(0), np.empty(0))
    assert calibration.choose("relvec", [draw])["gamma_factor"] == 1.0
    assert len(calibration.options("SVC + Platt")) == 2 * len(calibration.STRENGTHS)


def test_gamma_of_the_postal_digits_is_from_the_grid(monkeypatch):
    monkeypatch.setattr(usps, "GRID", (1e4, 1.0))
    X, y = crescents(60, np.random.default_rng(0))
    assert usps.choose_gamma(X, y, seed=0) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", digits.METHODS)
def test_digits_run(name):
    record = digits.run({"method": name, "seed": 0, "n_rows": 160}, limit=60)
    assert record["error"] < 0.5
    assert record["n_train"] == 80


def test_published_sets_are_left_out_without_their_folder(monkeypatch, capsys):
    monkeypatch.delenv("RELVEC_DATA", raising=False)
    assert not any(problem.is_there for problem in SETS.values())
    named = {case["problem"] for case in speed.cases(Plan(range(2)))}
    assert named == {name for name, problem in PROBLEMS.items() if problem.file is None}
    assert list(suite.run_part("calibration", 0, 1, True, 10)) == []
    assert "needs --data" in capsys.readouterr().err


def test_mean_and_its_error():
    assert mean_and_error([1.0]) == "1.000"
    assert mean_and_error([1.0, 3.0], 1) == "2.0 ± 1.0"


def test_folders_are_left_out_of_the_recorded_command():
    given = ["classification", "--data", "/some/where", "--output", "a.json", "--seed", "3"]
    assert command.command_line(given) == "python -m bench classification --data DATA --seed 3"


def test_parts_belong_to_their_suite(capsys):
    assert command.parse(["classification"]).parts == suite.DEFAULT_PARTS
    with pytest.raises(SystemExit):
        command.parse(["classification", "--parts", "cost"])
    assert "unknown parts" in capsys.readouterr().err


def test_markers_of_all_parts_are_in_the_page():
    text = report.README.read_text(encoding="utf-8")
    for part in suite.PARTS:
        assert f"<!-- table:classification-{part} -->" in text
        assert f"<!-- /table:classification-{part} -->" in text


@pytest.mark.slow
def test_a_part_end_to_end(tmp_path):
    output = tmp_path / "records.json"
    options = ["--quick", "--parts", "memory", "--output", str(output)]
    process = subprocess.run(
        [sys.executable, "-m", "bench", "classification", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    records = json.loads(output.read_text())
    assert {record["status"] for record in records} == {"ok"}
    assert "dlib (quoted)" in process.stdout
