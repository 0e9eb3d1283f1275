"""The example of regression in Tipping's slides: which data, which cells."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from reproduce.common.sinc_splines import fit_rvm, read_sinc
from reproduce.engine import Results, Settings
from reproduce.experiments.slides_sinc import EXPERIMENT, GAUSSIAN, fit

FIGURES = """
[slides.sinc_demo]
noise_sd = 0.1
rvr_max = 0.014
rvr_rms = 0.015
rvr_vectors = 16
rvr_noise_estimate = 0.117
svr_max = 0.024
svr_rms = 0.025
svr_vectors = 26
"""
N = 40


@pytest.fixture
def folder(tmp_path):
    x, x_test = np.linspace(-10, 10, N), np.linspace(-10, 10, 3 * N)
    np.savez(
        tmp_path / "tipping_sinc.npz",
        x=x,
        f=np.sinc(x / np.pi),
        x_test=x_test,
        f_test=np.sinc(x_test / np.pi),
        noise_gauss=0.1 * np.random.default_rng(0).normal(size=(3, N)),
    )
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    return tmp_path


@pytest.mark.slow
def test_the_slides_are_of_gaussian_noise_and_one_kernel_more(folder):
    data = read_sinc(folder)
    y = data["f"] + data["noise_gauss"][2]
    spline, gauss = fit(folder, "RVM", 2), fit(folder, GAUSSIAN, 2)
    np.testing.assert_array_equal(spline["curve"], fit_rvm(data, y)["curve"])
    gaussian = fit_rvm(data, y, kernel="rbf", gamma=1.0 / 9.0)
    np.testing.assert_array_equal(gauss["curve"], gaussian["curve"])
    assert 0.05 < spline["noise"] < 0.15


@pytest.mark.slow
def test_the_cells_of_the_slides(folder):
    settings = Settings(folder, 2)
    nothing = Results({}, {})
    values = {
        task.key: task.call(folder, *task.arguments)
        for task in EXPERIMENT.stages[0](settings, nothing)
    }
    results = Results(values, dict.fromkeys(values, 0.0))
    cells = {(c.model, c.column): c for c in EXPERIMENT.cells(results, settings)}
    assert {key: cell.published for key, cell in cells.items()} == {
        ("RVM", "largest error"): 0.014,
        ("RVM", "RMSE"): 0.015,
        ("RVM", "vectors"): 16,
        ("RVM", "estimate of the noise"): 0.117,
        ("SVM", "largest error"): 0.024,
        ("SVM", "RMSE"): 0.025,
        ("SVM", "vectors"): 26,
    }
    noise = cells["RVM", "estimate of the noise"]
    assert noise.truth == 0.1
    assert noise.ours == pytest.approx(np.mean(results.column("RVM", "noise")))
    assert [row[0] for row in EXPERIMENT.tables(results, settings)[0].rows] == ["RVM", GAUSSIAN]
    assert len(EXPERIMENT.figures(results, settings)["slides_sinc"].axes) == 2
