"""The benchmark of samplers must be right before its results are."""

import json

import numpy as np
import pytest

from bench import __main__ as command
from bench.sampling import bands, ladder, large, methods, problems, published, suite
from bench.sampling.worker import run

SHORT = methods.Length(n_chains=2, n_warmup=5, n_burn=5, n_draws=20)


def test_columns_have_unit_norm_and_the_given_correlation():
    data = problems.draw_regression("correlated", 0)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=0), 1.0)
    neighbours = np.sum(data.X[:, 1:] * data.X[:, :-1], axis=0)
    assert neighbours.mean() == pytest.approx(0.7, abs=0.03)
    assert problems.find_global_scale(200) == pytest.approx(5.0 / 195.0)


@pytest.mark.parametrize("name", ["relvec HorseshoeSampler, slab", "relvec CollapsedSampler"])
def test_chains_of_a_sampler_of_the_library(name):
    data = problems.draw_regression("quick", 0)
    chains = methods.METHODS[name].run(data, 0, SHORT)
    assert chains.predictor.shape == (2, 20, 30)
    assert chains.noise.shape == (2, 20)
    assert chains.draws_cpu > 0.0
    # moments have unit-norm atoms as well, so the predictor is near the target
    assert np.corrcoef(chains.predictor.mean(axis=(0, 1)), data.y)[0, 1] > 0.5


def test_what_is_missing_is_named(monkeypatch, capsys):
    monkeypatch.setattr(suite, "find_missing", lambda: ["numpyro", "arviz"])
    assert list(suite.run_part("independent columns", 0, 1, quick=True)) == []
    message = capsys.readouterr().err
    assert "not installed: numpyro, arviz; pip install numpyro arviz" in message


def test_only_samplers_of_one_model_share_a_table(tmp_path):
    record = {
        "status": "ok",
        "problem": "independent",
        "seed": 0,
        "ess_predictor": 400.0,
        "ess_noise": 300.0,
        "rhat": 1.02,
        "warmup_cpu": 1.0,
        "draws_cpu": 2.0,
        "compile_cpu": 0.0,
        "n_divergences": 3,
        "n_leapfrog": 127.0,
        "noise_mean": 1.0,
    }
    records = [{**record, "method": name} for name in methods.METHODS]
    json.dumps(records)
    *tables, targets = suite.tables("independent columns", records)
    assert len(targets.rows) == 4
    assert {row[1] for row in targets.rows} == {"1×"}
    assert {row[3] for row in targets.rows} == {"**not met**"}
    assert len(tables) == len({each.model for each in methods.METHODS.values()})
    row = dict(zip(tables[0].head, tables[0].rows[0], strict=True))
    assert row["ESS/s, predictor"] == "200"
    assert row["with warm-up: predictor"] == "133"
    assert row["converged"] == "0 of 1"
    suite.write_page({"independent columns": "a table"}, "- facts", tmp_path / "page.md")
    assert "## Independent columns\n\na table" in (tmp_path / "page.md").read_text("utf-8")
    assert command.parse(["sampling"]).parts == suite.DEFAULT_PARTS


@pytest.mark.parametrize("name", [bands.SINC, bands.BLOCKS])
def test_noise_of_the_given_ratio_to_the_signal(name):
    draws = [bands.draw_bands(name, seed) for seed in range(20)]
    noise = np.array([draw.y - draw.truth for draw in draws])
    assert noise.std() == pytest.approx(draws[0].noise_std, rel=0.1)
    snr = draws[0].truth.std() / draws[0].noise_std
    assert snr == pytest.approx(7.0 if name == bands.BLOCKS else 5.0)


@pytest.mark.slow
def test_records_of_error_bars_and_their_table():
    job = {"part": "coverage sinc", "problem": bands.QUICK, "seeds": [0]}
    records = [run({**job, "method": method}) for method in bands.METHODS]
    json.dumps(records)
    for record in records:
        [draw] = record["draws"]
        assert 0.3 < draw["cover_f"] <= 1.0
        assert 0.5 < draw["cover_y"] <= 1.0
        assert draw["mse"] < 0.05
        assert ("r_hat" in draw) == record["method"].startswith("sampled")
    [table] = suite.tables("coverage sinc", records)
    assert [row[0] for row in table.rows] == list(bands.METHODS)
    assert table.rows[0][-1] == "–"
    records = [{**record, "problem": bands.BLOCKS} for record in records]
    targets = suite.tables("coverage blocks", records)[-1]
    assert len(targets.rows) == 4


def test_published_sets_that_are_not_there_are_named(monkeypatch, capsys):
    monkeypatch.delenv("RELVEC_DATA", raising=False)
    jobs = list(published.list_jobs(published.REGRESSION, 7, 2, quick=False))
    assert {job["problem"] for job in jobs} == {"friedman1"}
    assert [(job["method"], job["seed"]) for job in jobs] == [
        (method, seed) for seed in (7, 8) for method in ("evidence", "sampled")
    ]
    said = capsys.readouterr().err
    assert "left out: boston, diabetes, uci_yacht, uci_energy; they need --data FOLDER" in said


def test_random_splits_of_a_published_set(monkeypatch, tmp_path):
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path))
    X = np.arange(40.0).reshape(20, 2)
    np.savez(tmp_path / "boston.npz", X=X, y=X[:, 0])
    problem = published.PROBLEMS["boston"]
    assert problem.is_there
    split, again, other = (problem.draw(seed) for seed in (3, 3, 4))
    assert split.X.shape == (18, 2)
    assert sorted([*split.y, *split.y_test]) == X[:, 0].tolist()
    np.testing.assert_array_equal(split.y_test, again.y_test)
    assert split.y_test.tolist() != other.y_test.tolist()


def test_table_and_targets_of_published_regressions():
    evidence = {"coverage": 0.9, "mlpd": -2.0, "rmse": 1.0, "cpu": 1.0, "n_train": 9, "n_test": 4}
    chains = {"r_hat": 1.05, "ess": 100.0, "converged": False}
    sampled = {**evidence, **chains, "coverage": 0.98, "mlpd": -1.5}
    common = {"status": "ok", "problem": "boston", "quick": False}
    other = {**evidence, "mlpd": -3.0}
    pairs = [(0, "evidence", evidence), (1, "evidence", other), (0, "sampled", sampled)]
    records = [{**common, **own, "seed": seed, "method": name} for seed, name, own in pairs]
    table, targets = suite.tables(published.REGRESSION, records)
    assert table.title == "training / test rows: boston 9 / 4"
    assert table.rows[0][:5] == ["boston, evidence", "2", "0.900 (0.000)", "-2.500 (0.500)", "–"]
    # the difference is that of the split with both fits
    assert table.rows[1][:5] == ["boston, sampled", "1", "0.980", "-1.500", "0.500"]
    assert table.rows[1][-1] == "0 of 1"
    assert [row[3] for row in targets.rows] == ["met", "**not met**", "**not met**"]


def test_calibration_error_of_all_splits_together():
    gaps = np.zeros(10)
    gaps[9] = 1.0
    common = {"status": "ok", "problem": "wine", "quick": False, "n_train": 90, "n_test": 10}
    figures = {"log_loss": 0.2, "ece": 0.1, "error": 0.0, "cpu": 1.0}
    records = [
        {**common, **figures, "seed": seed, "method": name, "gaps": (sign * gaps).tolist()}
        for seed, sign in enumerate((1.0, -1.0))
        for name in published.METHODS[published.CLASSIFICATION]
    ]
    table, targets = suite.tables(published.CLASSIFICATION, records)
    row = dict(zip(table.head, table.rows[1], strict=True))
    assert row["calibration error"] == "0.100 (0.000)"
    assert row["of all splits"] == "0.000"
    assert [row[3] for row in targets.rows] == ["met"] * 4


@pytest.mark.slow
def test_a_record_of_many_rows_and_its_table():
    record = run({"part": "scaling", "problem": "quick large", "method": "scaling", "seed": 0})
    json.dumps(record)
    assert record["ess_predictor"] > 50.0
    assert record["rmse"] < 0.2
    [table] = suite.tables("scaling", [record])
    assert dict(zip(table.head, table.rows[0], strict=True))["data set"] == "0"
    shown = large.tables([{**record, "problem": "large"}])
    assert shown[-1].rows[1][2] == "≤ 120 s"


@pytest.mark.slow
def test_records_of_ladders_and_their_tables():
    jobs = ladder.list_jobs("tempering", [0], quick=True)
    assert [job["method"] for job in jobs] == list(ladder.METHODS)
    records = [run(job) for job in jobs]
    json.dumps(records)
    tempered = records[-1]
    assert tempered["powers"][0] == 1.0
    assert len(tempered["acceptance"]) == len(tempered["powers"]) - 1
    for record in records:
        assert record["mse"] < 0.1
        assert record["n_steps"] == 60
    [table] = suite.tables("tempering", records)
    assert [row[0] for row in table.rows] == list(ladder.METHODS)
    assert {len(row) for row in table.rows} == {len(table.head)}
    full = ladder.list_jobs("tempering", [0], quick=False)
    shown = suite.tables("tempering", [{**records[-1], **job} for job in full])
    assert len(shown[-1].rows) == 9
    assert shown[-1].rows[0][2] == "≤ 1.05"


@pytest.mark.slow
@pytest.mark.parametrize("part", ["coverage sinc", "scaling", "tempering", *published.PARTS])
def test_parts_run_by_the_command_line(part, tmp_path):
    output = tmp_path / "records.json"
    arguments = ["sampling", "--quick", "--parts", part, "--output", str(output)]
    assert command.main(arguments) == 0
    records = json.loads(output.read_text("utf-8"))
    assert {record["status"] for record in records} == {"ok"}
