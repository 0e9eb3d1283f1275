"""The suite of length-scales and feature selection must be right before its results are."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from bench import __main__ as command
from bench import report
from bench.classification.part import Plan
from bench.classification.problems import Draw
from bench.features import benchmarks, cost, fits, genes, outcomes, selection, suite
from bench.features.children import in_child
from bench.features.methods import METHODS, gamma_candidates
from bench.features.problems import BENCHMARKS, GENES, SYNTHETIC, wide
from bench.runner import ROOT


def test_a_child_reports_and_leaves_its_parent_alone():
    changed = []
    record = in_child(lambda: {"pid": os.getpid(), "n": len(changed) + 1}, 10)
    assert record["status"] == "ok"
    assert record["pid"] != os.getpid()
    assert changed == []


def test_a_child_that_fails_says_why(capfd):
    record = in_child(lambda: {"x": 1 / 0}, 10)
    assert record == {"status": "failed", "error": "ZeroDivisionError: division by zero"}
    assert "ZeroDivisionError" in capfd.readouterr().err
    assert in_child(lambda: os._exit(3), 10)["error"] == "ended with code 3"


def test_a_child_over_its_limits_is_ended(capfd):
    def spin():
        end = time.monotonic() + 30
        while time.monotonic() < end:
            pass
        return {}

    assert in_child(spin, 0.1) == {"status": "over limit"}
    if sys.platform == "linux":
        record = in_child(lambda: {"n": len(np.ones(2**31))}, 10, memory_gb=4)
        assert record["status"] == "failed"
        capfd.readouterr()


def small_draw():
    rng = np.random.default_rng(2)
    label = np.arange(260) % 2
    X = rng.standard_normal((260, 4))
    X[:, 1] += 3.0 * label
    return Draw(X[:60], label[:60], X[60:], label[60:])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", METHODS)
def test_every_method_runs(name):
    draw = small_draw()
    fits.warm_up(METHODS[name], draw)
    record = fits.fit_and_judge(METHODS[name], draw)
    assert record["error"] < (0.55 if name == "majority" else 0.15)
    assert record["log_loss"] < (0.7 if name == "majority" else 0.4)
    assert record["kept"] is None or 1 in record["kept"]
    assert record["n_kept"] == (4 if record["kept"] is None else len(record["kept"]))
    assert len(record["wrong"]) == round(record["error"] * record["n_test"])
    json.dumps(record)


def test_widths_are_counted_in_inputs():
    assert gamma_candidates(4)[2] == 0.25


@pytest.mark.parametrize("problem", [*SYNTHETIC.values(), wide(30)], ids=lambda p: p.name)
def test_draws_are_fixed_by_their_seed(problem):
    one, same, other = problem.draw(3), problem.draw(3), problem.draw(4)
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.y_test, same.y_test)
    assert not np.array_equal(one.X, other.X)
    assert not np.array_equal(one.X[:10], one.X_test[:10])
    assert set(one.y) == {0, 1}


@pytest.mark.parametrize("name", GENES)
def test_splits_of_genes(name):
    problem = GENES[name]
    if not problem.is_there:
        pytest.skip("the published set is not here")
    draw = problem.draw(0)
    assert len(draw.X_test) == pytest.approx(0.2 * (len(draw.X) + len(draw.X_test)), abs=1)
    assert draw.y.mean() == pytest.approx(draw.y_test.mean(), abs=0.05)
    if "log" in name:
        assert draw.X.min() >= 0.0
        np.testing.assert_allclose(np.exp(draw.X), np.maximum(GENES[name[:-5]].draw(0).X, 1.0))


def outcome(seed, kept, **changes):
    return {
        "seed": seed,
        "status": "ok",
        "cpu": 1.0,
        "peak_mb": 5.0,
        "predict_cpu": 0.01,
        "predict_mb": 0.0,
        "error": 0.25,
        "wrong": [0],
        "n_test": 4,
        "log_loss": 0.5,
        "kept": kept,
        "n_kept": 10 if kept is None else len(kept),
        "n_vectors": 3,
        "is_cut_short": False,
        **changes,
    }


def record_of(problem, method, draws, **changes):
    case = {"problem": problem, "method": method, "seeds": [draw["seed"] for draw in draws]}
    return {"case": case, "status": "ok", "limit": 60, "draws": draws, **changes}


def test_features_are_compared_as_sets():
    draws = [outcome(0, [0, 1]), outcome(1, [1, 2]), outcome(2, [])]
    assert outcomes.jaccard(draws) == pytest.approx((1 / 3 + 0 + 0) / 3)
    assert outcomes.jaccard([outcome(0, None), outcome(1, None)]) is None
    assert outcomes.jaccard([outcome(0, None), outcome(1, [0])]) == pytest.approx(0.1)
    assert outcomes.jaccard([outcome(0, []), outcome(1, [])]) == 1.0
    draws = [outcome(0, [0, 1, 7]), outcome(1, [1]), outcome(2, None)]
    assert outcomes.all_found_rate(draws, (0, 1)) == pytest.approx(2 / 3)
    assert outcomes.spurious(draws, (0, 1)) == pytest.approx((1 + 0 + 8) / 3)


def test_selection_says_what_was_found():
    draws = [outcome(0, [0, 1]), outcome(1, [0, 5], error=0.35, n_vectors=4)]
    bad = record_of("ring10", "SVC", draws[:1], status="over limit")
    table, other = selection.tables(
        [
            record_of("ring10", "PFCVM", draws),
            bad,
            record_of("twonorm", "L1 logistic", [outcome(0, None, n_vectors=None)]),
        ]
    )
    first, second = (dict(zip(table.head, row, strict=True)) for row in table.rows)
    assert first["error %"] == "30.00 ± 5.00"
    assert (first["all found %"], first["irrelevant"], first["vectors"]) == ("50", "0.5", "3.5")
    assert (second["CPU s"], second["error %"]) == ("> 60", "–")
    assert "irrelevant" not in other.head
    assert dict(zip(other.head, other.rows[0], strict=True))["vectors"] == "–"
    (line,) = (line for line in outcomes.method_notes([bad]) if "finished" in line)
    assert line == "ring10, SVC: over 60 CPU seconds, after 1 finished draws."


def test_errors_are_paired_by_split():
    ours = record_of("Banana", "PFCVM", [outcome(0, None), outcome(1, None, error=0.5)])
    plain = record_of(
        "Banana", "RVM, one length-scale", [outcome(1, None), outcome(0, None, error=0.2)]
    )
    gap, error = benchmarks.paired(ours, plain)
    assert gap == pytest.approx((5 + 25) / 2)
    assert error == pytest.approx(10)
    (target,) = benchmarks.targets([ours, plain])
    assert not target.is_met


def test_one_split_is_paired_by_row():
    ours = record_of("Pima", "PFCVM", [outcome(0, None, wrong=[0, 2], error=0.5)])
    plain = record_of("Pima", "RVM, one length-scale", [outcome(0, None, wrong=[0], error=0.25)])
    gap, error = benchmarks.paired(ours, plain)
    assert gap == pytest.approx(25)
    assert error == pytest.approx(np.std([0, 0, 100, 0], ddof=1) / 2)
    assert [target.is_met for target in benchmarks.targets([ours, plain])] == [True]


def cost_record(method, seed, cpu, **changes):
    case = {"n": 1000, "p": 10, "method": method, "seed": seed}
    metrics = {"cpu": cpu, "peak_mb": 9.0, "mse": 1.5, "n_vectors": 7, "n_kept": 5}
    return {"case": case, "status": "ok", "limit": 60, **metrics, **changes}


def test_cost_is_a_ratio_within_a_draw():
    records = [cost_record(cost.PLAIN, seed, 1.0 + seed) for seed in range(3)]
    records += [cost_record("DRVM", seed, 12.0) for seed in range(3)]
    records += [cost_record("RVM, ARD", 0, 0.0, status="over limit")]
    (table,) = cost.tables(records)
    rows = {row[0]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert rows["1000, DRVM"]["/ gamma given"] == "6×"
    assert rows["1000, DRVM"]["N²P MB"] == "76.3"
    assert rows["1000, DRVM"]["MSE"] == "1.500 ± 0.000"
    assert rows["1000, RVM, ARD"]["CPU s"] == "> 60"
    (target,) = cost.targets(records)
    assert (target.measured, target.is_met) == (6.0, True)
    assert cost.targets(records[:3]) == []


def test_genes_have_a_column_of_stability_and_wide_ones_of_memory():
    colon, broad = genes.tables(
        [
            record_of("Colon", "PFCVM", [outcome(0, [1]), outcome(1, [1, 2])]),
            record_of("wide50000", "PFCVM", [outcome(0, [0, 1, 2, 3, 4])]),
        ]
    )
    assert dict(zip(colon.head, colon.rows[0], strict=True))["Jaccard"] == "0.5"
    assert dict(zip(broad.head, broad.rows[0], strict=True))["peak MB"] == "5"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["selection", "benchmarks", "genes"])
def test_quick_cases_of_a_part(name):
    part = suite.PARTS[name]
    quick = list(part.cases(Plan(range(1), quick=True)))
    if name == "benchmarks" and not quick:
        pytest.skip("the published sets are not here")
    records = [{"case": case, "limit": 60, "status": "ok", **fits.run(case, 60)} for case in quick]
    assert {record["status"] for record in records} == {"ok"}
    assert all(table.rows for table in suite.tables(name, records))
    assert all(isinstance(line, str) for line in suite.notes(name, records))


def test_a_case_stops_at_the_draw_that_takes_too_long(monkeypatch):
    answers = iter([{"status": "ok"}, {"status": "over limit"}, {"status": "ok"}])
    monkeypatch.setattr(fits, "in_child", lambda *arguments: next(answers))
    case = {"problem": "ring10", "method": "majority", "seeds": [5, 6, 7]}
    record = fits.run(case, 1)
    assert record["status"] == "over limit"
    assert [draw["seed"] for draw in record["draws"]] == [5]


def test_draws_are_limited_by_set_and_method(monkeypatch):
    plan = Plan(range(40, 70))
    seeds = {(c["problem"], c["method"]): c["seeds"] for c in selection.cases(plan)}
    assert seeds["ring50", "PFCVM"] == list(range(40, 70))
    assert seeds["ring50", "GP, ARD"] == [40, 41, 42]
    if BENCHMARKS["Pima"].is_there:
        seeds = {(c["problem"], c["method"]): c["seeds"] for c in benchmarks.cases(plan)}
        assert seeds["Pima", "PFCVM"] == [0]
        assert seeds["Banana", "PFCVM"] == list(range(10))
    monkeypatch.delenv("RELVEC_DATA", raising=False)
    assert list(benchmarks.cases(plan)) == []


def test_parts_belong_to_their_suite(capsys, monkeypatch):
    assert command.parse(["features"]).parts == tuple(suite.PARTS)
    with pytest.raises(SystemExit):
        command.parse(["features", "--parts", "digits"])
    assert "unknown parts" in capsys.readouterr().err
    monkeypatch.delenv("RELVEC_DATA", raising=False)
    assert list(suite.run_part("genes", 0, 1, True, 10)) == []
    assert "needs --data" in capsys.readouterr().err


def test_markers_of_all_parts_are_in_the_page():
    text = report.README.read_text(encoding="utf-8")
    for part in suite.PARTS:
        assert f"<!-- table:features-{part} -->" in text
        assert f"<!-- /table:features-{part} -->" in text


@pytest.mark.slow
def test_a_part_end_to_end(tmp_path):
    output = tmp_path / "records.json"
    options = ["--quick", "--parts", "cost", "--output", str(output)]
    process = subprocess.run(
        [sys.executable, "-m", "bench", "features", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    records = json.loads(output.read_text())
    assert {record["status"] for record in records} == {"ok"}
    assert "/ gamma given" in process.stdout
