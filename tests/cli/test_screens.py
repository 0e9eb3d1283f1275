"""What people see, in a terminal of 80 columns."""

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
from relvec.cli.summaries.parts import figure, with_error


def on_a_terminal(*arguments, columns=80, console=False):
    """What a command shows on the standard output, with its talk too, if that is a terminal."""
    ours, theirs = pty.openpty()
    seen = []

    def watch():
        with contextlib.suppress(OSError):  # so a terminal says that the other side is gone
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
def dear(tmp_path_factory):
    """Houses with prices of seven digits, and columns of no use."""
    rng = np.random.default_rng(0)
    n_rows = 90
    area = rng.uniform(40.0, 200.0, n_rows)
    path = tmp_path_factory.mktemp("dear") / "t.csv"
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
def screens(dear):
    """Screens of a fit to numbers and to classes, and of all that is in the first model."""
    place = dear.parent
    common = ["fit", dear, "--folds", 2]
    return {
        "numbers": on_a_terminal(
            *common, "-t", "price", "--drop", "size", "-o", place / "n.relvec"
        ),
        "classes": on_a_terminal(
            *common, "-t", "size", "--drop", "price", "-o", place / "c.relvec"
        ),
        "inside": on_a_terminal("inspect", place / "n.relvec", "--vectors"),
        "compare": on_a_terminal(
            *("compare", dear, "-t", "price", "--drop", "size", "--folds", 2),
            *("--model", "select,rvm,svm,ridge"),
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["numbers", "classes", "inside", "compare"])
def test_tables_do_not_break_figures_or_names(screens, name):
    lines = screens[name].splitlines()
    assert lines
    assert max(map(len, lines)) <= 80
    for line in lines:
        assert not line.rstrip().endswith("±")
        assert line.count("±") != 1 or re.search(r"\S ± \S", line)
    names = [line for line in lines if "±" in line and "standard error" not in line]
    known = ("sparse linear model", "relevance vector machine", "mean (no", "class shares (no")
    known += ("ridge regression", "logistic regression", "input-choosing", "support vector m")
    known += ("no inputs at all",)
    assert names
    assert all(line.strip().startswith(known) for line in names)


@pytest.mark.slow
def test_words_are_explained(screens):
    flat = {name: " ".join(text.split()) for name, text in screens.items()}
    for name in ("numbers", "inside"):
        assert "Means of 2 folds of unseen rows ± standard error." in flat[name]
        assert "log density is how probable the model held the true values" in flat[name]
        assert "the best of 2 by log density" in flat[name]
        assert "if a column's values are shuffled among unseen rows" in flat[name]
        assert "No rise: " in flat[name]
        assert "above" not in flat[name]
    assert "the best of 2 by log loss" in flat["classes"]
    assert re.search(r"gives its choices \S+ % on average; \S+ % are right", flat["classes"])
    assert "time for 1000 rows" in flat["compare"]


@pytest.mark.slow
def test_vectors_have_rows_and_weights_a_meaning(screens, cli, dear):
    table = pl.read_csv(dear)
    assert "opposite signs are normal: they cancel" in " ".join(screens["inside"].split())
    lines = screens["inside"].splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["row", "weight"])
    row, _, area = lines[start + 2].split()[:3]
    assert float(area) == pytest.approx(table["area"][int(row) - 1], rel=1e-3)


def test_rows_of_vectors_are_those_of_the_file(cli, dear, tmp_path):
    """Rows without a target come between."""
    table = pl.read_csv(dear).with_columns(
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
def test_a_weight_says_for_which_class_it_speaks(cli, folder, screens, dear):
    shown = cli("inspect", dear.parent / "c.relvec", "--vectors").stdout
    assert "speak for 'small', negative ones for 'large'" in " ".join(shown.split())
    shown = cli("inspect", folder / "flowers.relvec", "--vectors").stdout
    assert "speak for the class, negative ones against it" in " ".join(shown.split())


def test_without_folds_relevance_is_of_training_rows(cli, dear, tmp_path):
    fit = ["fit", dear, "-t", "price", "--no-cv", "--model", "linear", "-o", tmp_path / "m.relvec"]
    assert "shuffled among training rows" in " ".join(cli(*fit).stdout.split())


def test_figures_have_a_bounded_length():
    for value in (1e-9, 0.5, 999.4, 9_999_999.0, 27_646_639.0, -1e30):
        assert len(figure(value)) <= 9
    assert with_error({"mean": 2.7e7, "se": 1.2e7}) == "2.7e+07 ± 1.2e+07"
    assert with_error({"mean": 0.5, "se": None}, "decimals") == "0.500"


def test_inputs_of_a_program_keep_their_numbers(tmp_path, fit_model):
    """However long the rule for an input is."""
    rng = np.random.default_rng(0)
    towns = [f"a town with the long name of number {i % 12}" for i in range(100)]
    towns[:12] = [f"a rare town number {i}" for i in range(12)]
    table = pl.DataFrame({"town": towns, "x": rng.normal(size=100), "y": rng.normal(size=100)})
    table.write_csv(tmp_path / "t.csv")
    fit_model(tmp_path / "t.csv", "y", tmp_path / "m.relvec")
    shown = on_a_terminal("export", tmp_path / "m.relvec", "-o", tmp_path / "m.c")
    numbers = [line.split()[0] for line in shown.splitlines() if line.strip()]
    assert [each for each in numbers if each.isdigit()] == [str(i) for i in range(1, 15)]


def test_notes_are_broken_between_words(dear, tmp_path):
    columns = ["--drop", "spend,newsletter,size", "--no-cv", "--model", "linear"]
    seen = on_a_terminal(
        "fit",
        dear,
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
    assert "Of 90 rows, 50 drawn by chance are used; --max-rows changes that." in lines


def test_no_bar_between_predictions(dear, tmp_path):
    model = tmp_path / "m.relvec"
    columns = ["--drop", "spend,newsletter,size", "--no-cv", "--model", "linear", "--quiet"]
    on_a_terminal("fit", dear, "-t", "price", "-o", model, *columns)
    seen = on_a_terminal("predict", model, dear, console=True)
    assert "\u2501" not in seen  # what bars are made of
    note, header, *rows = seen.splitlines()
    assert note.startswith("Not used by the model: 'spend'")
    assert header == "price_predicted"
    assert len(rows) == 90
