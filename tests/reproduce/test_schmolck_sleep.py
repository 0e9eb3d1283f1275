"""Sleep by cosines: weights of the closed form, bands, and where a burst is."""

import numpy as np
import pytest
from scipy.fft import dct, idct

pytest.importorskip("matplotlib")

from reproduce.engine import Results, Settings
from reproduce.experiments import schmolck_sleep as sleep

RATE, N = 100.0, 800


def made(seed=0):
    """Return slow waves, a burst of 13 Hz from 3 s to 5 s, and noise."""
    time = np.arange(N) / RATE
    slow = 20.0 * np.sin(2.0 * np.pi * 0.7 * time)
    burst = 15.0 * np.sin(2.0 * np.pi * 13.0 * time) * ((time > 3.0) & (time < 5.0))
    return slow + burst + np.random.default_rng(seed).standard_normal(N)


@pytest.fixture
def folder(tmp_path):
    np.savez(tmp_path / "sleep_eeg_spindles.npz", y=made(), fs=RATE)
    return tmp_path


def test_weights_are_those_of_the_closed_form_at_the_noise_found(folder):
    found = sleep.denoise(folder, "ric")
    raw = dct(made(), norm="ortho")
    u = (raw / found["noise"]) ** 2 - 2.0 * np.log(N)
    wanted = np.where(u > 1.0, (1.0 - 1.0 / np.maximum(u, 1.0)) * raw, 0.0)
    np.testing.assert_array_equal(np.flatnonzero(wanted), found["atoms"])
    np.testing.assert_allclose(found["weights"], wanted[found["atoms"]], rtol=1e-4)


def test_the_burst_is_found_in_its_band_and_nowhere_else(folder):
    weights = sleep._weights(sleep.denoise(folder, "ric"), N)
    band = idct(sleep.in_band(weights, RATE, sleep.SPINDLES), norm="ortho")
    ((start, end),) = sleep.bursts(band, RATE)
    assert start == pytest.approx(3.0, abs=0.3)
    assert end == pytest.approx(5.0, abs=0.3)


def test_a_band_holds_its_frequencies_only():
    kept = sleep.in_band(np.ones(N), RATE, (11.0, 16.0))
    frequencies = np.arange(N) * RATE / (2 * N)
    assert frequencies[kept > 0].min() == pytest.approx(11.0, abs=RATE / N)
    assert frequencies[kept > 0].max() == pytest.approx(16.0, abs=RATE / N)


@pytest.mark.slow
def test_all_priors_and_plots(folder):
    settings = Settings(folder, is_quick=True)
    tasks = sleep.EXPERIMENT.stages[0](settings, Results({}, {}))
    values = {task.key: task.call(folder, *task.arguments) for task in tasks}
    sizes = [len(values[f"denoise/{prior}"]["atoms"]) for prior in sleep.PRIORS]
    assert sizes == sorted(sizes, reverse=True)
    (table,) = sleep.EXPERIMENT.tables(Results(values, {}), settings)
    assert [int(row[1]) for row in table.rows] == sizes
    assert len(sleep.EXPERIMENT.figures(Results(values, {}), settings)) == 3
