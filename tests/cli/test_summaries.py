"""Printed summaries in a terminal of 80 columns."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import threading

import numpy as np
import polars as pl
import pytest

from relvec.cli.app import app
from relvec.cli.summaries.parts import format_mean, format_number


def on_a_terminal(*arguments, columns=80, console=False):
    """Run a command on a terminal; return its output, with its messages if `console`."""
    ours, theirs = pty.openpty()
    seen = []

    def watch():
        with contextlib.suppress(OSError):  # raised when the other side closes the terminal
            while more := os.read(ours, 65536):
                seen.append(more)

    watcher = threading.Thread(target=watch)
    watcher.start()
    with (
        pytest.MonkeyPatch.context() as patch,
        os.fdopen(theirs, "w", encoding="utf-8") as terminal,
        contextlib.redirect_stdout(terminal),
        contextlib.redirect_stderr(terminal if console else io.StringIO()),
    ):
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("TERM", "xterm")
        with pytest.raises(SystemExit):
            app([str(each) for each in arguments])
    watcher.join()
    os.close(ours)
    text = b"".join(seen).decode()
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r\n", "\n")


@pytest.fixture(scope="module")
def expensive_houses(tmp_path_factory):
    """Houses with prices of seven digits, and irrelevant columns."""
    rng = np.random.default_rng(0)
    n_rows = 90
    area = rng.uniform(40.0, 200.0, n_rows)
    path = tmp_path_factory.mktemp("expensive_houses") / "t.csv"
    pl.DataFrame(
        {
            "area": area,
            "spend": rng.normal(size=n_rows),
            "newsletter": rng.choice(["yes", "no"], n_rows),
            "price": 1e6 * np.tanh(area / 100.0) + 1e4 * rng.normal(size=n_rows),
            "size": np.where(area + 10 * rng.normal(size=n_rows) > 120.0, "large", "small"),
        }
    ).write_csv(path)
    return path


@pytest.fixture(scope="module")
def summaries(expensive_houses):
    """Summaries of a regression, a classification, an inspection and a comparison."""
    place = expensive_houses.parent
    common = ["fit", expensive_houses, "--folds", 2]
    return {
        "numbers": on_a_terminal(
            *common, "-t", "price", "--drop", "size", "-o", place / "n.relvec"
        ),
        "classes": on_a_terminal(
            *common, "-t", "size", "--drop", "price", "-o", place / "c.relvec"
        ),
        "inside": on_a_terminal("inspect", place / "n.relvec", "--vectors"),
        "compare": on_a_terminal(
            *("compare", expensive_houses, "-t", "price", "--drop", "size", "--folds", 2),
            *("--model", "select,rvm,svm,ridge"),
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["numbers", "classes", "inside", "compare"])
def test_tables_do_not_wrap_numbers_or_names(summaries, name):
    lines = summaries[name].splitlines()
    assert lines
    assert max(map(len, lines)) <= 80
    for line in lines:
        assert not line.rstrip().endswith("±")
        assert line.count("±") != 1 or re.search(r"\S ± \S|\d±\d", line)
    names = [line for line in lines if " ± " in line and "standard error" not in line]
    known = ("sparse linear model", "relevance vector machine", "mean (no", "class prior (no")
    known += ("ridge regression", "logistic regression", "RVM with feature", "support vector m")
    assert names
    assert all(line.strip().startswith(known) for line in names)


@pytest.mark.slow
def test_metrics_are_defined(summaries):
    flat = {name: " ".join(text.split()) for name, text in summaries.items()}
    for name in ("numbers", "inside"):
        assert "Mean over the held-out rows of 2 folds ± standard error;" in flat[name]
        assert "MLPD: mean log predictive density; higher is better." in flat[name]
        assert "highest MLPD of 2 models" in flat[name]
        assert "when the values of a column are permuted among held-out rows" in flat[name]
        assert "No increase: " in flat[name]
        assert "above" not in flat[name]
    assert "lowest log loss of 2 models" in flat["classes"]
    assert re.search(r"mean confidence \S+ %, accuracy \S+ % on held-out rows", flat["classes"])
    assert "milliseconds to predict 1000 rows" in flat["compare"]


@pytest.mark.slow
def test_vectors_have_row_numbers_and_weights_an_explanation(summaries, cli, expensive_houses):
    table = pl.read_csv(expensive_houses)
    assert "opposite signs are normal: overlapping kernels cancel" in " ".join(
        summaries["inside"].split()
    )
    lines = summaries["inside"].splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["row", "weight"])
    row, _, area = lines[start + 2].split()[:3]
    assert float(area) == pytest.approx(table["area"][int(row) - 1], rel=1e-3)


def test_rows_of_vectors_are_those_of_the_file(cli, expensive_houses, tmp_path):
    """Rows without a target are interspersed."""
    table = pl.read_csv(expensive_houses).with_columns(
        pl.when(pl.int_range(pl.len()) % 3 > 0).then("price").alias("price")
    )
    table.write_csv(tmp_path / "t.csv")
    fit = ["fit", tmp_path / "t.csv", "-t", "price", "--model", "rvm", "--no-cv", "-q"]
    assert cli(*fit, "--drop", "size", "-o", tmp_path / "m.relvec").exit_code == 0
    found = cli("inspect", tmp_path / "m.relvec", "--vectors", "--json")
    vectors = json.loads(found.stdout)["vectors"]
    rows = np.array(vectors["row"], dtype=int) - 1
    assert len(rows) > 1
    assert np.allclose(table["area"].to_numpy()[rows], vectors["area"])


@pytest.mark.slow
def test_weights_of_classes_are_explained(cli, folder, summaries, expensive_houses):
    shown = cli("inspect", expensive_houses.parent / "c.relvec", "--vectors").stdout
    assert "raises the probability of 'small'" in " ".join(shown.split())
    assert "a negative weight that of 'large'" in " ".join(shown.split())
    shown = cli("inspect", folder / "flowers.relvec", "--vectors").stdout
    assert (
        "the probability of the class as the term increases, a negative weight lowers it"
        in " ".join(shown.split())
    )


def test_importance_without_folds_is_on_training_rows(cli, expensive_houses, tmp_path):
    fit = [
        "fit",
        expensive_houses,
        "-t",
        "price",
        "--no-cv",
        "--model",
        "linear",
        "-o",
        tmp_path / "m.relvec",
    ]
    assert "permuted among training rows" in " ".join(cli(*fit).stdout.split())


def test_numbers_have_a_bounded_length():
    for value in (1e-9, 0.5, 999.4, 9_999_999.0, 27_646_639.0, -1e30):
        assert len(format_number(value)) <= 9
    assert format_mean({"mean": 2.7e7, "se": 1.2e7}) == "2.7e+07 ± 1.2e+07"
    assert format_mean({"mean": 0.5, "se": None}, "decimals") == "0.500"


def test_features_of_exported_code_are_numbered(tmp_path, fit_model):
    """However long the encoding rule of a feature is."""
    rng = np.random.default_rng(0)
    towns = [f"a town with the long name of number {i % 12}" for i in range(100)]
    towns[:12] = [f"a rare town number {i}" for i in range(12)]
    table = pl.DataFrame({"town": towns, "x": rng.normal(size=100), "y": rng.normal(size=100)})
    table.write_csv(tmp_path / "t.csv")
    fit_model(tmp_path / "t.csv", "y", tmp_path / "m.relvec")
    shown = on_a_terminal("export", tmp_path / "m.relvec", "-o", tmp_path / "m.c")
    numbers = [line.split()[0] for line in shown.splitlines() if line.strip()]
    assert [each for each in numbers if each.isdigit()] == [str(i) for i in range(1, 15)]


def test_notes_are_wrapped_between_words(expensive_houses, tmp_path):
    columns = ["--drop", "spend,newsletter,size", "--no-cv", "--model", "linear"]
    seen = on_a_terminal(
        "fit",
        expensive_houses,
        "-t",
        "price",
        "-o",
        tmp_path / "m.relvec",
        "--max-rows",
        50,
        *columns,
        console=True,
    )
    lines = seen.splitlines()
    assert max(map(len, lines)) <= 80
    assert "50 of 90 rows, drawn at random, are used; see --max-rows." in lines


def test_no_progress_bar_between_predictions(expensive_houses, tmp_path):
    model = tmp_path / "m.relvec"
    columns = ["--drop", "spend,newsletter,size", "--no-cv", "--model", "linear", "--quiet"]
    on_a_terminal("fit", expensive_houses, "-t", "price", "-o", model, *columns)
    seen = on_a_terminal("predict", model, expensive_houses, console=True)
    assert "\u2501" not in seen  # what bars are made of
    note, header, *rows = seen.splitlines()
    assert note.startswith("Columns not used by the model: 'spend'")
    assert header == "price_predicted"
    assert len(rows) == 90
