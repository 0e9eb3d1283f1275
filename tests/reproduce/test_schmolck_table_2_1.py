"""Table 2.1 of Schmolck (2008): the models behind it, its lines, cells and places."""

import numpy as np
import pytest
from scipy.optimize import brentq

pytest.importorskip("pywt")

from relvec.datasets import make_noisy_signal
from relvec.solvers.gaussian.noise_profile import profile_objective
from reproduce.common.smooth_models import (
    NOISE_PRIOR,
    WAVELAB,
    denoise,
    fit_kernels,
    fit_wavelets,
    symmlets,
)
from reproduce.engine import Kind, Results, Settings
from reproduce.experiments.schmolck_table_2_1 import EXPERIMENT, fit_draw, read_rows, shift_line

FIGURES = """
[schmolck.table_2_1]
rows = [
  ["bumps", 128, 2.0, 0.119, "symmlet", "None", 127.0, 0.0, 0.119, 0.001, 0.0, 0.0],
  ["sinc", 128, 2.0, 0.031, "symmlet", "RIC", 6.2, 0.6, 0.006, 0.001, 0.036, 0.002],
]
rows_sigma2_given = [
  ["doppler", 1024, 2.0, 0.031, "symmlet", "BIC", 56.6, 2.8, 0.00026, 0.00002],
]
"""
SYMMLET = (
    ".002672793393 -.000428394300 -.021145686528 .005386388754 .069490465911 -.038493521263 "
    "-.073462508761 .515398670374 1.099106630537 .680745347190 -.086653615406 -.202648655286 "
    ".010758611751 .044823623042 -.000766690896 -.004783458512"
)
"""Filter of WaveLab's `MakeONFilter('Symmlet', 8)`, not yet of norm one."""


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    return Settings(folder=tmp_path, repetitions=2, is_quick=True)


@pytest.fixture
def results(settings):
    (stage,) = EXPERIMENT.stages
    tasks = stage(settings, Results({}, {}))
    return Results({task.key: task.call(None, *task.arguments) for task in tasks}, {})


def draw_of(signal, n=128, snr=2.0):
    return make_noisy_signal(signal, n, snr=snr, exact_noise=True, random_state=0)


def wavelab(values):
    """Do what WaveLab's FWT_PO does, down to one coefficient."""
    low = np.array(SYMMLET.split(), dtype=float)
    low /= np.linalg.norm(low)
    high = low * (-1.0) ** np.arange(len(low))
    details = []
    while len(values) > 1:
        start, taps = np.arange(0, len(values), 2)[:, np.newaxis], np.arange(len(low))
        details.append(values[(start + 1 - taps) % len(values)] @ high)
        values = values[(start + taps) % len(values)] @ low
    return np.concatenate([values, *details[::-1]])


@pytest.mark.parametrize("n", [64, 128, 512])
def test_symmlets_lie_where_wavelab_puts_them(n):
    values = np.random.default_rng(0).normal(size=n)
    theirs, ours = wavelab(values), symmlets(n).analyse(np.roll(values, -WAVELAB))
    for stop in 2 ** np.arange(1, int(np.log2(n)) + 1):
        # the order within a scale differs
        scale = slice(stop // 2, stop)
        np.testing.assert_allclose(
            np.sort(np.abs(ours[scale])), np.sort(np.abs(theirs[scale])), atol=1e-6
        )


def test_without_a_penalty_the_fit_interpolates():
    draw = draw_of("bumps")
    fit = fit_wavelets(draw.noisy, draw.clean, "None")
    assert fit.n_components == 127
    assert fit.error == pytest.approx(draw.noise_std**2, rel=0.02)
    assert fit.noise_variance < 1e-3


def test_noise_is_at_a_maximum_and_none_lies_above():
    draw = draw_of("bumps", snr=7.0)
    found = denoise(draw.noisy, "BIC")
    grid = found.noise_variance * np.geomspace(0.99, 20.0, 400)
    c = 0.5 * np.log(128)
    shape, rate = NOISE_PRIOR["noise_shape"], NOISE_PRIOR["noise_rate"]
    values = [profile_objective(level, found.data**2, c) for level in grid]
    values -= shape * np.log(grid) + rate / grid
    assert np.argmax(values) == np.abs(grid - found.noise_variance).argmin()
    assert np.all(np.diff(values[5:]) < 0.0)


def noise_slope(log_level, z, alpha, c):
    """Equation (2.84) for orthonormal components, over minus the fourth power of the noise."""
    level, kept = np.exp(log_level), np.isfinite(alpha)
    total = level + 1.0 / alpha[kept]
    likelihood = np.sum(1.0 / total - z[kept] ** 2 / total**2)
    likelihood += np.sum(1.0 / level - z[~kept] ** 2 / level**2)
    penalty = c * np.sum(alpha[kept] / (1.0 + level * alpha[kept]) ** 2)
    shape, rate = NOISE_PRIOR["noise_shape"], NOISE_PRIOR["noise_rate"]
    return -0.5 * likelihood + penalty - shape / level + rate / level**2


def algorithm_1(z, c, level, rng, noise_every=10):
    """Components in random order, the noise every ten steps, until nothing has changed for long."""
    n, step, quiet = len(z), 1, 0
    alpha = np.full(n, np.inf)
    first = np.abs(z).argmax()
    alpha[first] = 1.0 / (z[first] ** 2 - (1.0 + 2.0 * c) * level)
    while quiet < 8 * n:
        i, quiet = rng.integers(n), quiet + 1
        excess = z[i] ** 2 - (1.0 + 2.0 * c) * level
        best = 1.0 / excess if excess > 0.0 else np.inf
        if np.isinf(best) and np.isinf(alpha[i]):
            continue
        if not np.isclose(best, alpha[i], rtol=1e-6):
            quiet = 0
        alpha[i], step = best, step + 1
        if step % noise_every == 0:
            ends = np.log(level) + np.array([-3.0, 3.0])
            after = np.exp(brentq(noise_slope, *ends, args=(z, alpha, c)))
            quiet = quiet if np.isclose(after, level, rtol=1e-6) else 0
            level = after
    return level


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signal", "snr", "prior"), [("bumps", 7.0, "BIC"), ("bumps", 2.0, "RIC"), ("sinc", 2.0, "AIC")]
)
def test_the_algorithm_of_the_thesis_ends_at_the_same_noise(signal, snr, prior):
    draw = draw_of(signal, snr=snr)
    found = denoise(draw.noisy, prior)
    c = {"AIC": 1.0, "BIC": 0.5 * np.log(128), "RIC": np.log(128)}[prior]
    start = 0.1 * draw.noisy.var(ddof=1)
    level = algorithm_1(found.data, c, start, np.random.default_rng(0))
    assert level == pytest.approx(found.noise_variance, rel=1e-4)


def test_given_noise_is_used():
    draw = draw_of("doppler", 256, 7.0)
    few, many = (fit_wavelets(draw.noisy, draw.clean, "BIC", s) for s in (0.01, 0.0001))
    assert few.noise_variance == 0.01
    assert few.n_components < many.n_components


def test_a_shift_of_data_and_wavelets_together_changes_nothing():
    draw = draw_of("sinc")
    here = fit_wavelets(draw.noisy, draw.clean, "BIC")
    there = fit_wavelets(np.roll(draw.noisy, 5), np.roll(draw.clean, 5), "BIC", shift=WAVELAB + 5)
    assert here == pytest.approx(there)
    assert here != pytest.approx(fit_wavelets(draw.noisy, draw.clean, "BIC", shift=WAVELAB + 5))


@pytest.mark.slow
def test_kernels_recover_sinc():
    draw = draw_of("sinc")
    fit = fit_kernels(draw.noisy, draw.clean, "None", 3.0)
    assert 3 <= fit.n_components <= 8
    assert fit.error < 0.01
    assert fit.noise_variance == pytest.approx(0.031, rel=0.2)


def test_lines_carry_the_corrected_snr(settings):
    rows = read_rows(settings.folder)
    assert [row.snr for row in rows] == [2.0, 2.0, 7.0]
    assert rows[2].means == (56.6, 0.00026)
    assert [row.model for row in rows] == ["RVM", "sRVM", "sRVM"]


def test_one_task_is_one_fit():
    row = ("doppler", 256, 7.0, "symmlet", "BIC", True)
    value = fit_draw(None, row, 3)
    draw = make_noisy_signal("doppler", 256, snr=7.0, exact_noise=True, random_state=3)
    expected = fit_wavelets(draw.noisy, draw.clean, "BIC", draw.noise_std**2)
    assert value == {**expected._asdict(), "truth": draw.noise_std**2}


def test_the_first_place_is_the_one_of_the_table():
    row = ("sinc", 128, 2.0, "symmlet", "RIC", False)
    figures = shift_line(None, row, 3, 2)["figures"]
    assert figures.shape == (3, 2, 3)
    assert figures[0, 1] == pytest.approx(list(fit_draw(None, row, 1).values())[:3])


def test_cells_read_the_printed_columns(results, settings):
    cells = EXPERIMENT.cells(results, settings)
    assert [cell.column for cell in cells] == ["S", "MSE", "σ²", "S", "MSE", "σ²", "S", "MSE"]
    assert [cell.published for cell in cells[3:6]] == [6.2, 0.006, 0.036]
    assert cells[5].kind is Kind.ESTIMATE
    assert cells[5].truth == pytest.approx(0.0312, abs=1e-4)
    assert cells[3].published_error == pytest.approx(0.6 / np.sqrt(10))
    # 0 ± 0 is printed with three digits
    assert cells[2].agrees
    assert cells[7].ours == pytest.approx(np.mean(results.column(f"fit/{cells[7].line}", "error")))


def test_pictures_and_places_are_made(results, settings):
    (table,) = EXPERIMENT.tables(results, settings)
    assert [row[-1].endswith("of 4") for row in table.rows] == [True] * 4
    assert table.rows[0][0] == "Sinc SNR 2, symmlet, RIC"
    figure = EXPERIMENT.figures(results, settings)["schmolck_table_2_1"]
    assert len(figure.axes[0].get_yticks()) == 3
