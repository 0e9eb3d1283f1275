"""The benchmark of counts must be right before its results are."""

import json

import numpy as np
import pytest

from bench import __main__ as command
from bench.counts import problems, suite
from bench.counts.worker import CLAIM_MODELS, SIMULATED_MODELS, run


@pytest.mark.parametrize("name", problems.SIMULATED)
def test_counts_have_the_given_rate(name):
    draws = [problems.SIMULATED[name](seed) for seed in range(30)]
    total = sum(draw.counts.sum() for draw in draws)
    expected = sum(draw.exposure @ draw.rate for draw in draws)
    assert total == pytest.approx(expected, rel=0.05)
    assert draws[0].X.shape[0] == problems.N_ROWS


@pytest.mark.slow
def test_a_record_of_simulated_counts_and_its_table():
    job = {"part": "simulated", "problem": "sine, 4 events per row", "seeds": [0]}
    record = run(job)
    json.dumps(record)
    assert set(record["draws"][0]) == set(SIMULATED_MODELS)
    for result in record["draws"][0].values():
        assert 0.0 < result["excess"] < 0.2
    (table,) = suite.tables("simulated", [record])
    assert table.rows[0][0] == job["problem"]


def write_claims(folder):
    rng = np.random.default_rng(0)
    district, group, age = (each.ravel() for each in np.meshgrid(*[np.arange(4)] * 3))
    holders = rng.uniform(20.0, 500.0, size=64)
    claims = rng.poisson(holders * np.exp(-2.0 + 0.2 * group - 0.2 * age)).astype(float)
    np.savez(
        folder / problems.CLAIMS,
        District=district,
        Group=group.astype(str),
        Age=age.astype(str),
        Holders=holders,
        Claims=claims,
    )


@pytest.mark.slow
def test_claims_are_predicted_or_left_out(tmp_path, monkeypatch, capsys):
    write_claims(tmp_path)
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path))
    X, _, _ = problems.read_claims()
    assert X.shape == (64, 12)
    assert (X.sum(axis=1) == 3.0).all()
    record = run({"part": "claims", "problem": "insurance", "seeds": [0]})
    results = record["draws"][0]
    assert set(results) == set(CLAIM_MODELS)
    assert results["relvec linear, tied"]["deviance"] < 2.0
    (table,) = suite.tables("claims", [record])
    assert len(table.rows) == len(CLAIM_MODELS)
    monkeypatch.delenv("RELVEC_DATA")
    assert list(suite.run_part("claims", 0, 1, quick=True)) == []
    assert "claims left out: it needs insurance.npz" in capsys.readouterr().err


def test_page_and_command(tmp_path):
    suite.write_page({"claims": "a table"}, "- facts", tmp_path / "page.md")
    assert "## Insurance claims\n\na table" in (tmp_path / "page.md").read_text("utf-8")
    assert command.parse(["counts"]).parts == ("simulated", "claims")
