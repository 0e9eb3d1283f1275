"""The examples of the gallery run, without a warning, and find what their pages say."""

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
def said(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """What an example prints; its pictures are closed."""
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


@pytest.mark.parametrize("said", ["how_sparsity_arises"], indirect=True)
def test_how_sparsity_arises(said: str) -> None:
    ((kept, noise),) = numbers(r"(\d+) of 100 kernels kept\nnoise ([\d.]+)", said)
    assert kept < 10
    assert noise == pytest.approx(0.1, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("said", ["error_bars"], indirect=True)
def test_error_bars(said: str) -> None:
    for promised, held in numbers(r"promised\s+(\d+)%, covered\s+([\d.]+)%", said):
        assert held == pytest.approx(promised, abs=6.0)


@pytest.mark.slow
@pytest.mark.parametrize("said", ["photograph_line"], indirect=True)
def test_photograph_line(said: str) -> None:
    pytest.importorskip("pywt")
    rows = numbers(r"(\d+)\s+([\d.]+)\s+([\d.]+)\n", said)
    assert len(rows) == 6
    assert max(error for _, _, error in rows) < 30.0


@pytest.mark.slow
@pytest.mark.parametrize("said", ["named_columns"], indirect=True)
def test_named_columns(said: str) -> None:
    pytest.importorskip("polars")
    errors = [error for error, _ in numbers(r"([\d.]+) ± ([\d.]+)", said)]
    assert len(errors) == 5
    assert errors[0] < errors[1]  # ten columns, and what is kept of sixty-five
    assert max(errors) < 1.06 * min(errors)


@pytest.mark.slow
@pytest.mark.parametrize("said", ["smoothness_priors"], indirect=True)
def test_smoothness_priors(said: str) -> None:
    pytest.importorskip("pywt")
    signals, columns, kernels = said.split("\n\n")
    error = dict(re.findall(r"^(\w+)\s+\d+\s+([\d.]+)$", signals, re.MULTILINE))
    assert float(error["bic"]) < float(error["flat"])
    wrong = [row[1] for row in numbers(r"([\d.]+)/5\s+([\d.]+)/95", columns)]
    assert wrong[:4] == sorted(wrong[:4], reverse=True)
    assert wrong[0] > 20.0
    vectors = [row[0] for row in numbers(r"\w+\s+([\d.]+) vectors, error ([\d.]+) ", kernels)]
    assert vectors == sorted(vectors, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("said", ["local_optima"], indirect=True)
def test_local_optima(said: str) -> None:
    assert "40 runs in random order" in said
    objectives = [row[0] for row in numbers(r"objective\s+([\d.]+), (\d+) vectors", said)]
    assert objectives[0] <= objectives[1] <= objectives[2]


@pytest.mark.slow
@pytest.mark.parametrize("said", ["iris_three_classes"], indirect=True)
def test_iris_three_classes(said: str) -> None:
    ((wrong, all_of_them),) = numbers(r"all decided:\s+(\d+) of (\d+) wrong", said)
    ((fewer, decided),) = numbers(r"with refusal: (\d+) of (\d+) wrong", said)
    assert fewer < wrong < 10
    assert decided < all_of_them


@pytest.mark.slow
@pytest.mark.parametrize("said", ["breast_cancer_decisions"], indirect=True)
def test_breast_cancer_decisions(said: str) -> None:
    for wrong, loss in numbers(r"(\d\.\d)%\s+(0\.\d+)", said):
        assert wrong < 4.0
        assert loss < 0.12
    ((ours, theirs),) = numbers(r"keeps (\d+) samples, the support vector machine (\d+)", said)
    assert ours < theirs / 5


@pytest.mark.slow
@pytest.mark.parametrize("said", ["digits_relevance_vectors"], indirect=True)
def test_digits_relevance_vectors(said: str) -> None:
    rows = numbers(r"(\d+)\s+([\d.]+)%", said)
    assert len(rows) == 4
    assert all(3 * vectors < rows[3][0] for vectors, _ in rows[:3])
    assert all(wrong > rows[3][1] for _, wrong in rows[:3])


@pytest.mark.slow
@pytest.mark.parametrize("said", ["wine_inputs"], indirect=True)
def test_wine_inputs(said: str) -> None:
    assert "13 of 13 inputs" in said
    ((_, kept),) = numbers(r"select='always': (\d+) wines, (\d+) of 13", said)
    assert kept < 8
    rows = numbers(r"([\d.]+)% wrong, log loss ([\d.]+)", said)
    assert max(wrong for wrong, _ in rows) < 8.0
    (all_wrong, all_loss), (wrong, loss) = rows[:2]  # of all inputs, and of those chosen
    assert wrong < all_wrong + 2.0
    assert loss > 1.4 * all_loss


@pytest.mark.parametrize("said", ["missing_pixels"], indirect=True)
def test_missing_pixels(said: str) -> None:
    pytest.importorskip("pywt")
    ((seen, lost),) = numbers(r"were seen ([\d.]+), of those that were lost ([\d.]+)", said)
    assert seen < lost < 15.0
    for _, held in numbers(r"(\d+) % bands hold ([\d.]+)%", said):
        assert 80.0 < held < 99.0


@pytest.mark.slow
@pytest.mark.parametrize("said", ["texts"], indirect=True)
def test_texts(said: str) -> None:
    scores = dict(re.findall(r"  (substrings of \d|shares of letters) +(-?[\d.]+)", said))
    assert len(scores) == 5
    assert max(scores, key=lambda name: float(scores[name])) == "substrings of 5"
    assert float(scores["substrings of 5"]) > 0.7
    assert "TATAA" in said.split("relevance vectors")[1]
