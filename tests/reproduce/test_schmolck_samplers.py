"""Chains of the samplers of the thesis: diagnostics, tables and plots."""

import numpy as np
import pytest

pytest.importorskip("pywt")
pytest.importorskip("matplotlib")

from relvec.dictionaries import DenseDictionary
from relvec.moments import compute_moments
from relvec.published import ReversibleJumpSampler
from reproduce.common import sampler_schemes as schemes
from reproduce.common.mixing import run_chain, split_rhat
from reproduce.common.sampler_plots import ABSENT, draw_rejection_sampling
from reproduce.engine import Results, Settings
from reproduce.experiments import schmolck_samplers as samplers


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {}
    for signal, (n, _) in schemes.SIGNALS.items():
        arrays[f"{signal}_{n}"] = np.sinc(np.linspace(-3.0, 3.0, n))
        arrays[f"unit_noise_{n}"] = rng.standard_normal((1, n))
    np.savez(tmp_path / "schmolck_signals.npz", **arrays)
    return tmp_path


def test_rhat_tells_chains_that_mix_from_those_that_do_not():
    rng = np.random.default_rng(0)
    chains = rng.standard_normal((3, 2000))
    assert split_rhat(chains) == pytest.approx(1.0, abs=0.01)
    assert split_rhat(chains + np.array([[0.0], [0.0], [3.0]])) > 1.5
    # a common drift
    assert split_rhat(chains + np.linspace(0.0, 4.0, 2000)) > 1.2
    assert split_rhat(np.zeros((2, 10))) == 1.0
    assert split_rhat(np.array([[0.0] * 10, [1.0] * 10])) == np.inf


def test_rhat_is_that_of_the_formula():
    chains = np.arange(12.0).reshape(2, 6) ** 1.5
    halves = chains.reshape(4, 3)
    within = np.mean([np.var(half, ddof=1) for half in halves])
    between = 3.0 * np.var(halves.mean(axis=1), ddof=1)
    expected = np.sqrt((2.0 / 3.0 * within + between / 3.0) / within)
    assert split_rhat(chains) == pytest.approx(expected)


def test_a_chain_keeps_precisions_in_the_units_asked_for():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(20, 3)) * [1.0, 10.0, 100.0]
    [moments] = compute_moments(DenseDictionary(design), design[:, [1]], None, centre=False)
    sampler = ReversibleJumpSampler(moments, birth="fixed", precision=1e-3, raw_units=True)
    norm = moments.column_norm
    chain = run_chain(sampler, design / norm, norm**2, n_steps=50, every=5, seed=0)
    assert chain.log_alpha.shape == (10, 3)
    assert chain.curve.shape == (10, 20)
    present = np.isfinite(chain.log_alpha)
    assert present.any(axis=1).all()
    np.testing.assert_allclose(chain.log_alpha[present], -3.0)
    assert chain.proposed[:3].sum() == 50


@pytest.mark.slow
def test_every_scheme_runs_and_is_shown(folder):
    settings = Settings(folder, repetitions=2, is_quick=True)
    tasks = samplers._tasks(settings, Results({}, {}))
    assert [task.key for task in tasks] == list(schemes.SCHEMES)
    results = Results({task.key: task.call(folder, *task.arguments[:2], 60) for task in tasks}, {})
    table, statements = samplers.EXPERIMENT.tables(results, settings)
    assert len(table.rows) == len(schemes.SCHEMES)
    assert {word for row in statements.rows for word in row[-1].split(" / ")} <= {"yes", "no"}
    figures = samplers.EXPERIMENT.figures(results, settings)
    wanted = ["2_24", "2_25", "2_26", "2_26_others", "2_27"]
    assert list(figures) == [f"schmolck_samplers_{number}" for number in wanted]
    assert samplers.EXPERIMENT.cells(results, settings) == []


def test_a_fixed_precision_is_shown_as_it_is(folder):
    found = schemes.run_scheme(folder, "rj", 2, 60)
    shown = np.array(found["log_alpha"])
    assert set(np.unique(shown)) == {-5.0, ABSENT}
    assert found["acceptance"][3] is None
    assert len(found["curves"]) == 2


def test_rejection_sampling_accepts_the_share_of_the_areas():
    figure = draw_rejection_sampling(np.random.default_rng(0), n=20000)
    words = figure.axes[0].get_title().split()
    shares = [float(words[place - 1]) for place, word in enumerate(words) if word == "%"]
    assert shares[0] == pytest.approx(shares[1], abs=1.5)
