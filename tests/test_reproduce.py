"""Published tables computed again: the models, the comparison, the command."""

import numpy as np
import pytest

pytest.importorskip("pywt")

from relvec.datasets import make_noisy_signal
from reproduce.__main__ import main
from reproduce.models import fit_kernels, fit_wavelets
from reproduce.published import load
from reproduce.table_2_1 import Row, compare, read_rows

FIGURES = """
[schmolck.table_2_1]
rows = [
  ["bumps", 128, 2.0, 0.119, "symmlet", "None", 127.0, 0.0, 0.119, 0.001, 0.0, 0.0],
  ["sinc", 128, 2.0, 0.031, "symmlet", "RIC", 60.0, 0.6, 0.006, 0.001, 0.036, 0.002],
]
rows_sigma2_given = [
  ["doppler", 1024, 2.0, 0.031, "symmlet", "BIC", 56.6, 2.8, 0.00026, 0.00002],
]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "TARGETS.toml").write_text(FIGURES)
    return tmp_path


def test_without_a_price_the_fit_interpolates():
    draw = make_noisy_signal("bumps", 128, snr=2, exact_noise=True, random_state=0)
    fit = fit_wavelets(draw.noisy, draw.clean, "None")
    assert fit.n_components == 127
    assert fit.error == pytest.approx(draw.noise_std**2, rel=0.02)
    assert fit.noise_variance < 1e-3


def test_given_noise_is_used():
    draw = make_noisy_signal("doppler", 256, snr=7, random_state=0)
    few, many = (fit_wavelets(draw.noisy, draw.clean, "BIC", s) for s in (0.01, 0.0001))
    assert few.noise_variance == 0.01
    assert few.n_components < many.n_components


def test_kernels_recover_sinc():
    draw = make_noisy_signal("sinc", 128, snr=2, exact_noise=True, random_state=0)
    fit = fit_kernels(draw.noisy, draw.clean, "None", 3.0)
    assert 3 <= fit.n_components <= 8
    assert fit.error < 0.01
    assert fit.noise_variance == pytest.approx(0.031, rel=0.2)


def test_rows_carry_the_corrected_snr(folder):
    rows = read_rows(folder)
    assert [row.snr for row in rows] == [2.0, 2.0, 7.0]
    assert rows[2].means == (56.6, 0.00026)
    assert rows[2].is_noise_given


def test_agreement_and_its_absence(folder):
    interpolation, wrong, doppler = (compare(row, 4, seed=0) for row in read_rows(folder))
    assert interpolation.agrees
    assert interpolation.shifted is None
    assert doppler.means[0] == pytest.approx(55, abs=8)
    assert not wrong.agrees
    assert wrong.shifted.shape == (128, 3)
    assert not wrong.matching.any()
    assert wrong.reason == "not explained"


def test_rounding_of_the_printed_figure_counts():
    row = Row("bumps", 128, 2.0, "symmlet", "None", False, (127.0, 0.1185, 0.0), (0, 0, 0))
    assert np.all(compare(row, 2, seed=0).within)


def test_command_prints_and_writes(folder, capsys, monkeypatch, tmp_path):
    page = tmp_path / "README.md"
    page.write_text("<!-- table:table_2_1 -->\n<!-- /table:table_2_1 -->\n")
    monkeypatch.setattr("reproduce.__main__.README", page)
    assert main(["table_2_1", "--draws", "2", "--data", str(folder), "--write-readme"]) == 0
    assert "Bumps SNR 2" in capsys.readouterr().out
    assert "python -m reproduce table_2_1 --draws 2 --seed 0" in page.read_text()
    assert str(folder) not in page.read_text()


def test_list_of_tables(capsys):
    assert main([]) == 0
    assert "table_2_1" in capsys.readouterr().out


def test_absent_figures_are_explained(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("RELVEC_DATA", raising=False)
    assert main(["table_2_1"]) == 2
    assert "--data DIR" in capsys.readouterr().err
    assert main(["table_2_1", "--data", str(tmp_path)]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_unknown_table_is_named(folder):
    with pytest.raises(KeyError, match="no table"):
        load(folder, "nobody")
