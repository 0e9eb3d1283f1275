"""The examples of the gallery run without a warning, with the results that their pages state."""

from __future__ import annotations

import re
import runpy
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from matplotlib import pyplot

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


class WithoutPandas(MetaPathFinder):
    """An environment made by ``pip install "relvec[all]"``, in which the site is built."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def printed(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """What an example prints; its plots are closed."""
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(sys, "meta_path", [WithoutPandas(), *sys.meta_path])
    monkeypatch.setattr(pyplot, "show", lambda: None)
    runpy.run_path(str(EXAMPLES / f"{request.param}.py"), run_name="__main__")
    assert pyplot.get_fignums(), "an example draws"
    pyplot.close("all")
    return capsys.readouterr().out


def numbers(pattern: str, text: str) -> list[tuple[float, ...]]:
    found = re.findall(pattern, text)
    assert found, pattern
    return [tuple(float(each) for each in row) for row in found]


@pytest.mark.parametrize("printed", ["how_sparsity_arises"], indirect=True)
def test_how_sparsity_arises(printed: str) -> None:
    ((kept, noise),) = numbers(r"(\d+) of 100 kernels kept\nnoise ([\d.]+)", printed)
    assert kept < 10
    assert noise == pytest.approx(0.1, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["outliers"], indirect=True)
def test_outliers(printed: str) -> None:
    ((true, found, wrong),) = numbers(r"(\d+) outliers, (\d+) found, (\d+) false positive", printed)
    assert found - wrong == true
    assert wrong <= 3
    (constant,) = numbers(r"constant RMSE / noise: ([\d.]+) ([\d.]+) ([\d.]+)", printed)
    (robust,) = numbers(r"robust RMSE / noise: ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)", printed)
    assert constant[0] == robust[0]
    assert max(robust) < 0.5 < 1.5 < constant[1]


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["error_bars"], indirect=True)
def test_error_bars(printed: str) -> None:
    for nominal, actual in numbers(r"nominal\s+(\d+)%, actual\s+([\d.]+)%", printed):
        assert actual == pytest.approx(nominal, abs=6.0)


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["photograph_line"], indirect=True)
def test_photograph_line(printed: str) -> None:
    pytest.importorskip("pywt")
    rows = numbers(r"(\d+)\s+([\d.]+)\s+([\d.]+)\n", printed)
    assert len(rows) == 6
    assert max(error for _, _, error in rows) < 30.0


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["named_columns"], indirect=True)
def test_named_columns(printed: str) -> None:
    pytest.importorskip("polars")
    errors = [error for error, _ in numbers(r"([\d.]+) ± ([\d.]+)", printed)]
    assert len(errors) == 5
    assert errors[0] < errors[1]  # ten columns, and what is kept of sixty-five
    assert max(errors) < 1.06 * min(errors)


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["smoothness_priors"], indirect=True)
def test_smoothness_priors(printed: str) -> None:
    pytest.importorskip("pywt")
    signals, columns, kernels = printed.split("\n\n")
    error = dict(re.findall(r"^(\w+)\s+\d+\s+([\d.]+)$", signals, re.MULTILINE))
    assert float(error["bic"]) < float(error["flat"])
    wrong = [row[1] for row in numbers(r"([\d.]+)/5\s+([\d.]+)/95", columns)]
    assert wrong[:4] == sorted(wrong[:4], reverse=True)
    assert wrong[0] > 20.0
    vectors = [row[0] for row in numbers(r"\w+\s+([\d.]+) vectors, RMSE ([\d.]+) ", kernels)]
    assert vectors == sorted(vectors, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["local_optima"], indirect=True)
def test_local_optima(printed: str) -> None:
    assert "40 runs in random order" in printed
    objectives = [row[0] for row in numbers(r"objective\s+([\d.]+), (\d+) vectors", printed)]
    assert objectives[0] <= objectives[1] <= objectives[2]


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["assessing"], indirect=True)
def test_assessing(printed: str) -> None:
    rows = numbers(r"squared bias (-?[\d.]+)  variance ([\d.]+)  noise ([\d.]+)", printed)
    (long_bias, long_variance, noise), (bias, variance, _), (_, short_variance, _) = rows
    assert long_bias > 3.0 * abs(bias)
    assert short_variance > max(2.0 * variance, long_variance)
    assert noise == pytest.approx(0.01, rel=0.1)
    assert "narrower than the spacing" in printed
    covered = dict(re.findall(r"(\w+)\s+covers (\d+) % outside", printed))
    assert float(covered["novelty"]) > 85.0 > float(covered["plain"])


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["iris_three_classes"], indirect=True)
def test_iris_three_classes(printed: str) -> None:
    ((wrong, all_of_them),) = numbers(r"without rejection: (\d+) errors of (\d+)", printed)
    ((fewer, decided),) = numbers(r"with rejection: (\d+) errors of (\d+)", printed)
    assert fewer < wrong < 10
    assert decided < all_of_them


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["breast_cancer_decisions"], indirect=True)
def test_breast_cancer_decisions(printed: str) -> None:
    for wrong, loss in numbers(r"(\d\.\d)%\s+(0\.\d+)", printed):
        assert wrong < 4.0
        assert loss < 0.12
    ((ours, theirs),) = numbers(r"keeps (\d+) samples, the support vector machine (\d+)", printed)
    assert ours < theirs / 5


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["digits_relevance_vectors"], indirect=True)
def test_digits_relevance_vectors(printed: str) -> None:
    rows = numbers(r"(\d+)\s+([\d.]+)%", printed)
    assert len(rows) == 4
    assert all(3 * vectors < rows[3][0] for vectors, _ in rows[:3])
    assert all(wrong > rows[3][1] for _, wrong in rows[:3])


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["wine_features"], indirect=True)
def test_wine_features(printed: str) -> None:
    assert "13 of 13 features" in printed
    ((_, kept),) = numbers(r"select='always': (\d+) wines, (\d+) of 13", printed)
    assert kept < 8
    rows = numbers(r"error rate +([\d.]+)%, log loss ([\d.]+)", printed)
    assert max(wrong for wrong, _ in rows) < 8.0
    (all_wrong, all_loss), (wrong, loss) = rows[:2]  # with all features, and with the selected ones
    assert wrong < all_wrong + 2.0
    assert loss > 1.4 * all_loss


@pytest.mark.parametrize("printed", ["missing_pixels"], indirect=True)
def test_missing_pixels(printed: str) -> None:
    pytest.importorskip("pywt")
    ((observed, missing),) = numbers(
        r"observed pixels ([\d.]+), of missing pixels ([\d.]+)", printed
    )
    assert observed < missing < 15.0
    for _, coverage in numbers(r"(\d+) % bands cover ([\d.]+)%", printed):
        assert 80.0 < coverage < 99.0


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["texts"], indirect=True)
def test_texts(printed: str) -> None:
    scores = dict(re.findall(r"  (substrings of \d|letter frequencies) +(-?[\d.]+)", printed))
    assert len(scores) == 5
    assert max(scores, key=lambda name: float(scores[name])) == "substrings of 5"
    assert float(scores["substrings of 5"]) > 0.7
    assert "TATAA" in printed.split("relevance vectors")[1]


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["counts"], indirect=True)
def test_counts(printed: str) -> None:
    gain = re.findall(r"shape ([\d.]+) \(true: 2\), gain (\d+) nats", printed)
    assert len(gain) == 1
    assert 1.0 < float(gain[0][0]) < 4.0
    assert float(gain[0][1]) > 10.0
    assert "tied: the band covers the true rate at" in printed


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["sampling"], indirect=True)
def test_sampling(printed: str) -> None:
    one, many = (int(each) for each in re.findall(r"the band covers (\d+) %", printed))
    assert many > one + 10
    assert len(re.findall(r"^0\.\d\d  sensor", printed, re.MULTILINE)) == 4
    assert "evidence: sensor A + dose" in printed


@pytest.mark.slow
@pytest.mark.parametrize("printed", ["comparing_models"], indirect=True)
def test_comparing_models(printed: str) -> None:
    verdicts = re.findall(r"^line \+ season is the best of these models", printed, re.MULTILINE)
    assert len(verdicts) == 2  # shuffled folds, and rolling origins
    assert "the log evidence is highest for length-scale 0.05" in printed
