"""Sinc by RVM and DRVM: fits without noise, printed numbers of vectors, plot."""

import pytest

pytest.importorskip("matplotlib")

from reproduce.common.kernlab import SMALLEST_NOISE
from reproduce.engine import Results, Settings
from reproduce.experiments import heimsaeter_sinc as module

FIGURES = """
[heimsaeter.other]
sinc_noise_free = { N = 100, rvm_vectors = 15, drvm_vectors = 14 }
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    (folder / "TARGETS.toml").write_text(FIGURES)
    return Settings(folder, repetitions=2)


@pytest.fixture(scope="module")
def results(settings):
    tasks = module.EXPERIMENT.stages[0](settings, Results({}, {}))
    done = {}
    for task in tasks:
        if task.call is module.fit_variant:
            done[task.key] = done["clean/DRVM/0"]
        else:
            done[task.key] = task.call(None, *task.arguments)
    return Results(done, dict.fromkeys(done, 0.0))


@pytest.mark.slow
@pytest.mark.parametrize("label", module.MODEL_COLOURS)
def test_fits_follow_the_curve(label):
    clean, noisy = (module.fit(None, label, seed, 1) for seed in (None, 0))
    assert clean["noise_variance"] == SMALLEST_NOISE
    assert clean["rms"] < 1e-4
    assert noisy["noise_variance"] == pytest.approx(0.1**2 / 3.0, rel=0.4)
    assert 0.005 < noisy["rms"] < 0.04
    assert noisy["n_vectors"] < clean["n_vectors"]


def test_width_depends_on_the_pairs_of_one_model_only():
    first, second = (module.fit(None, "RVM", 0, pairs)["curve"] for pairs in (1, 2))
    assert abs(first - second).max() > 1e-4


@pytest.mark.slow
def test_cells_and_tables(results, settings):
    plain, choosing = module.EXPERIMENT.cells(results, settings)
    assert (plain.model, plain.published, plain.n) == ("RVM", 15, 2)
    assert (choosing.model, choosing.published, choosing.n) == ("DRVM", 14, 1)
    (table,) = module.EXPERIMENT.tables(results, settings)
    assert len(table.rows) == 2 + len(module.VARIANTS)
    assert " to " in table.rows[0][2]


@pytest.mark.slow
def test_picture_has_both_figures(results, settings):
    (figure,) = module.EXPERIMENT.figures(results, settings).values()
    titles = [axes.get_title() for axes in figure.axes]
    assert [title.split(":")[0] for title in titles] == ["RVM", "DRVM"] * 2
