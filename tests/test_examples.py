"""The examples run and print the expected results."""

from __future__ import annotations

import builtins
import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.slow
def test_quickstart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    example = runpy.run_path(str(EXAMPLES / "quickstart.py"))
    path = tmp_path / "new" / "quickstart.png"
    example["main"](path)
    assert path.stat().st_size > 10_000
    printed = capsys.readouterr().out
    for word in ("RMSE", "SVR", "noise standard deviation", "log evidence", "95 %", "fit time"):
        assert word in printed


def test_quickstart_explains_a_missing_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def without(name: str, *args: object) -> object:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return load(name, *args)

    example = runpy.run_path(str(EXAMPLES / "quickstart.py"))
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SystemExit, match=r'pip install "relvec\[plot\]"'):
        example["main"]()


@pytest.mark.slow
def test_mixed_basis(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "mixed_basis.py"))["main"]()
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("kernels of x0 + terms")
    weights = {term: float(weight) for weight, term in re.findall(r"(-?[\d.]+) (x[\w^]+)", last)}
    assert weights["x1"] == pytest.approx(0.1, abs=0.01)


@pytest.mark.slow
def test_trend_and_season(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / "series.png"
    runpy.run_path(str(EXAMPLES / "trend_and_season.py"))["main"](path)
    assert path.stat().st_size > 10_000
    rows = [re.split(r"  +", line) for line in capsys.readouterr().out.splitlines()[3:5]]
    known, smooth = ([float(value) for value in row[1:]] for row in rows)
    assert known[0] < 0.5 * smooth[0]
    assert 0.85 <= known[1] <= 1.0
    assert known[2] > smooth[2] + 20.0


@pytest.mark.slow
def test_tied_precisions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / "tied.png"
    runpy.run_path(str(EXAMPLES / "tied_precisions.py"))["main"](path, n_sets=4)
    assert path.stat().st_size > 10_000
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[3:]]
    covered = {row[0]: float(row[2]) for row in rows}
    assert covered["tied"] > 0.9
    assert covered["tied"] > covered["atom"]


@pytest.mark.slow
def test_source_separation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pywt")
    path = tmp_path / "new" / "separation.png"
    runpy.run_path(str(EXAMPLES / "source_separation.py"))["main"](path)
    assert path.stat().st_size > 10_000
    printed = capsys.readouterr().out
    errors = [float(row.split()[-4]) for row in printed.splitlines()[3:6]]
    assert errors[2] < 0.7 * min(errors[:2])
    correlations = [float(text) for text in re.findall(r"half of the source ([\d.]+)", printed)]
    assert len(correlations) == 2
    assert min(correlations) > 0.95


@pytest.mark.slow
def test_classification(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / "classification.png"
    runpy.run_path(str(EXAMPLES / "classification.py"))["main"](path)
    assert path.stat().st_size > 10_000
    printed = capsys.readouterr().out
    entropy = [float(text) for text in re.findall(r"\d%\s+(\d\.\d+)", printed)]
    assert entropy[2] < entropy[0] < entropy[2] + 0.1
    rows = ("most probable class", "minimum expected loss", "the same, with reject option")
    found = [re.search(rf"{row}.*?(\d\.\d+)(?:   rejects|\n)", printed) for row in rows]
    paid = [float(match[1]) for match in found if match]
    assert len(paid) == 3
    assert paid == sorted(paid, reverse=True)


@pytest.mark.slow
def test_denoising(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pywt")
    example = runpy.run_path(str(EXAMPLES / "denoising.py"))
    path = tmp_path / "new" / "denoising.png"
    example["main"](path)
    assert path.stat().st_size > 10_000
    printed = capsys.readouterr().out
    rows = re.findall(r"([\d.]+)\s+([\d.]+)\s+(\d+)%\s+([\d.]+)%", printed)
    assert len(rows) == 2
    for noise, estimate, ratio, coverage in ([float(entry) for entry in row] for row in rows):
        assert estimate == pytest.approx(noise, rel=0.1)
        assert ratio < 50
        assert 85 < coverage < 99


@pytest.mark.slow
def test_feature_selection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / "features.png"
    runpy.run_path(str(EXAMPLES / "feature_selection.py"))["main"](path)
    for name in ("features.png", "features_ring.png", "features_frequency.png"):
        assert (path.parent / name).stat().st_size > 10_000
    friedman, ring, diabetes = capsys.readouterr().out.split("\n\n")[:3]

    def row(table: str, name: str) -> tuple[float, str]:
        match = re.search(rf"{re.escape(name)}\s+([\d.]+)%?\s+[\d.-]+  (.*)", table)
        assert match, name
        return float(match[1]), match[2]

    given = row(friedman, "RVM, fixed length-scale")[0]
    for name in ("RVM, length-scales learnt", "DRVM, features selected"):
        error, features = row(friedman, name)
        assert error < 0.5 * given
        assert features.startswith("x0 x1 x2 x3 x4")
    assert row(ring, "PFCVM, features selected")[1] == "x0 x1"
    assert row(ring, "PFCVM, features selected")[0] < 5.0
    assert row(ring, "SVM, cross-validated")[0] > 20.0
    chosen, line = (row(diabetes, name)[0] for name in ("DRVM, features selected", "least squares"))
    assert chosen < 1.1 * line
    assert re.search(r"100% bmi", diabetes)


@pytest.mark.slow
def test_kernel_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / "series.png"
    runpy.run_path(str(EXAMPLES / "kernel_search.py"))["main"](path)
    assert path.stat().st_size > 10_000
    text = capsys.readouterr().out
    assert re.findall(r"periods in years: \[([\d.]+)\]", text) == ["1.0", "1.0"]
    found = re.findall(r"RMSE of the 36 months ahead ([\d.]+), coverage (\d+)%", text)
    # The noise of the first has standard deviation 0.03 * 450, that of the second 0.3.
    for (rmse, coverage), noise in zip(found, (13.5, 0.3), strict=True):
        assert float(rmse) < 2.0 * noise
        assert float(coverage) > 80.0


@pytest.mark.slow
def test_kernel_search_of_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / "table.png"
    runpy.run_path(str(EXAMPLES / "kernel_search_table.py"))["main"](path)
    assert path.stat().st_size > 10_000
    text = capsys.readouterr().out
    assert "structure: LIN(x3) + LIN(x4) + SE(x0, x1) + SE(x2)" in text
    (found,) = re.findall(r"error of the function ([\d.]+), noise 1.00, estimated ([\d.]+)", text)
    assert float(found[0]) < 0.5
    assert float(found[1]) == pytest.approx(1.0, abs=0.15)


@pytest.mark.slow
def test_density(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / "density.png"
    runpy.run_path(str(EXAMPLES / "density.py"))["main"](path)
    assert path.stat().st_size > 10_000
    rows = re.findall(r"\d+ +(-?[\d.]+) +([\d.]+) +([\d.]+)%", capsys.readouterr().out)
    assert len(rows) == 2
    for ours, theirs, coverage in rows:
        assert float(ours) < 0.5 * float(theirs)
        assert float(coverage) > 80.0


@pytest.mark.slow
def test_bump_hunt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / "bump.png"
    runpy.run_path(str(EXAMPLES / "bump_hunt.py"))["main"](path, n_simulations=40)
    assert path.stat().st_size > 10_000
    printed = capsys.readouterr().out
    ((z, place),) = re.findall(r"significance: ([\d.]+) standard deviations at ([\d.]+)", printed)
    assert float(z) > 5.0
    assert abs(float(place) - 125.0) <= 1.0
    ((signal, std),) = re.findall(r"signal there: (\d+) events\n.*no peak: (\d+) events", printed)
    assert abs(float(signal) - 150.0) < 2.0 * float(std)
    ((exact,),) = [re.findall(r"exactly it would be ([\d.]+)", printed)]
    assert float(exact) > float(z)
