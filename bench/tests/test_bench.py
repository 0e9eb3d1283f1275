"""The benchmark must be right before its results are."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal

from bench import __main__ as command
from bench import regression, report, scaling
from bench.evidence import ActiveSet, rbf, reoptimised_evidence
from bench.measure import cpu_seconds
from bench.problems import PROBLEMS
from bench.runner import ROOT, run_job
from bench.worker import Job


@pytest.fixture
def draw():
    return PROBLEMS["friedman240"].draw(0, n_samples=40)


def test_evidence_is_the_density_of_the_contrasts(draw):
    rows, n = np.array([3, 7, 20]), 40
    columns = rbf(draw.X, draw.X[rows], 0.5)
    active = ActiveSet(columns, draw.y)
    theta = np.log([0.1, 0.5, 2.0])
    contrasts = np.linalg.svd(np.ones((1, n)))[2][1:]
    lam = np.exp(theta) * active.norm**2
    K = np.eye(n - 1) + (contrasts @ columns / lam) @ (contrasts @ columns).T
    target = contrasts @ draw.y
    noise = target @ np.linalg.solve(K, target) / (n - 1)
    expected = multivariate_normal(cov=noise * K).logpdf(target)
    assert active.value_and_gradient(theta)[0] == pytest.approx(expected, rel=1e-8)


def test_gradient_against_finite_differences(draw):
    active = ActiveSet(rbf(draw.X, draw.X[:5], 0.5), draw.y)
    theta = np.linspace(-3, 1, 5)
    numerical = approx_fprime(theta, lambda t: active.value_and_gradient(t)[0], 1e-6)
    np.testing.assert_allclose(active.value_and_gradient(theta)[1], numerical, atol=1e-4)


def test_reoptimised_evidence_grows_with_the_set_and_from_any_start(draw):
    few = reoptimised_evidence(draw.X, draw.y, 0.5, np.arange(3))
    more = reoptimised_evidence(draw.X, draw.y, 0.5, np.arange(6))
    started = reoptimised_evidence(draw.X, draw.y, 0.5, np.arange(6), np.ones(6), 1.0)
    none = reoptimised_evidence(draw.X, draw.y, 0.5, np.empty(0))
    assert none - 1e-6 <= few <= more + 1e-6
    assert started >= more - 1e-6


def test_rbf_is_the_kernel(draw):
    distance = ((draw.X[:, None] - draw.X_test[None, :9]) ** 2).sum(axis=2)
    np.testing.assert_allclose(rbf(draw.X, draw.X_test[:9], 0.3), np.exp(-0.3 * distance))


@pytest.mark.parametrize("name", PROBLEMS)
def test_draws_depend_on_the_seed_alone(name):
    first, again, other = (PROBLEMS[name].draw(seed, n_samples=30) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.y, other.y)
    assert len(first.X) == len(first.y) == 30
    assert len(first.X_test) == len(first.target_test)


def test_peak_memory_sees_a_temporary_array():
    # in a process of its own, like every measurement: one that has freed memory before may serve
    # the array from what it still holds, and its peak does not move
    script = (
        "import numpy as np; from bench.measure import PeakMemory; memory = PeakMemory(); "
        "np.ones(4_000_000).sum(); print(memory.above_start())"  # 30.5 MB, freed at once
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert 25 < float(done.stdout) < 60


def test_cpu_seconds_repeats_short_calls():
    calls = []
    assert cpu_seconds(lambda: calls.append(sum(range(1000)))) < 0.01
    assert len(calls) > 1


@pytest.mark.slow
def test_one_job_end_to_end_in_one_thread():
    record = run_job(Job("sinc100", "SVR", seed=0, cpu_limit=30))
    assert record["status"] == "ok", record
    assert record["cpu"] > 0
    assert record["rmse"] < 0.1
    assert {library["num_threads"] for library in record["blas"]} == {1}


@pytest.mark.slow
def test_a_fit_over_its_limit_is_reported_as_such():
    record = run_job(Job("friedman240", "ARDRegression", seed=0, cpu_limit=0))
    assert record["status"] == "over limit"
    (table,) = regression.tables([record])
    assert table.rows[0][:2] == ["ARDRegression", "> 0"]


def fake(method, seed, **changes):
    return {
        "problem": "sinc100",
        "method": method,
        "seed": seed,
        "status": "ok",
        "cpu": 2.0,
        "kernel_cpu": 0.5,
        "product_cpu": 0.5,
        "peak_mb": 10.0,
        "rmse": 0.1,
        "n_vectors": 5,
        "evidence": 80.0,
        "reported_evidence": None,
        "n_samples": None,
        "n_centers": None,
        **changes,
    }


def test_ratios_are_paired_by_draw():
    records = [fake("fastrvm", 0, cpu=4.0), fake("fastrvm", 1, cpu=8.0, evidence=70.0)]
    records += [fake("relvec fast", 0), fake("relvec fast", 1, cpu=1.0, reported_evidence=80.5)]
    (table,) = regression.tables(records)
    row = dict(zip(table.head, table.rows[1], strict=True))
    assert row["speed-up"] == "5×"
    assert row["floor"] == "1.5×"
    assert row["gain"] == "+5.0 ± 5.0"
    assert "0.5 nats over 1 fits" in regression.notes(records)[-1]


def test_scaling_reports_the_exponent():
    records = [fake("relvec fast", 0, n_samples=n, cpu=n**2 / 1e6) for n in (1000, 2000, 4000)]
    (table,) = scaling.tables(records)
    assert [row[2] for row in table.rows] == ["–", "2", "2"]


def test_readme_is_filled_between_its_markers(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("a\n<!-- table:regression -->\nold\n<!-- /table:regression -->\nb\n")
    report.write_readme("regression", "new\n", page)
    assert page.read_text() == "a\n<!-- table:regression -->\nnew\n<!-- /table:regression -->\nb\n"
    with pytest.raises(ValueError, match="must hold the lines"):
        report.write_readme("scaling", "new\n", page)


def test_markers_are_in_the_page():
    text = report.README.read_text(encoding="utf-8")
    for suite in ("regression", "scaling"):
        assert f"<!-- table:{suite} -->" in text
        assert f"<!-- /table:{suite} -->" in text


def test_unknown_names_are_refused(capsys):
    with pytest.raises(SystemExit):
        command.parse(["regression", "--problems", "sinc7"])
    assert "choose from" in capsys.readouterr().err


@pytest.mark.slow
def test_command_writes_records(tmp_path):
    output = tmp_path / "records.json"
    arguments = ["regression", "--problems", "sinc100", "--methods", "SVR", "--repeats", "1"]
    process = subprocess.run(
        [sys.executable, "-m", "bench", *arguments, "--output", str(output)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "SVR" in process.stdout
    assert json.loads(output.read_text())[0]["status"] == "ok"
