"""The benchmark of samplers must be right before its results are."""

import json

import numpy as np
import pytest

from bench import __main__ as command
from bench.sampling import methods, problems, suite

SHORT = methods.Length(n_chains=2, n_warmup=5, n_burn=5, n_draws=20)


def test_columns_have_unit_norm_and_the_given_correlation():
    data = problems.draw_regression("correlated", 0)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=0), 1.0)
    neighbours = np.sum(data.X[:, 1:] * data.X[:, :-1], axis=0)
    assert neighbours.mean() == pytest.approx(0.7, abs=0.03)
    assert problems.find_global_scale(200) == pytest.approx(5.0 / 195.0)


def test_chains_of_a_sampler_of_the_library():
    data = problems.draw_regression("quick", 0)
    chains = methods.METHODS["relvec HorseshoeSampler, slab"].run(data, 0, SHORT)
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
    tables = suite.tables("independent columns", records)
    assert len(tables) == len({each.model for each in methods.METHODS.values()})
    row = dict(zip(tables[0].head, tables[0].rows[0], strict=True))
    assert row["ESS/s, predictor"] == "200"
    assert row["with warm-up: predictor"] == "133"
    assert row["converged"] == "0 of 1"
    suite.write_page({"independent columns": "a table"}, "- facts", tmp_path / "page.md")
    assert "## Independent columns\n\na table" in (tmp_path / "page.md").read_text("utf-8")
    assert command.parse(["sampling"]).parts == suite.DEFAULT_PARTS
