"""Difficult text: encodings, quotes, control characters, columns that change between rows."""

from __future__ import annotations

import io
import json

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from relvec.cli.console import CommandConsole, escape_controls
from relvec.cli.limits import Limits

NUMBERS = [f"{i},{i * i % 7}.5,{2 * i}.25" for i in range(40)]


def text_of(header="a,b,y", lines=NUMBERS):
    return "\n".join([header, *lines]) + "\n"


@pytest.fixture
def fit_text(cli, tmp_path):
    """Fit a table of these bytes; return the exit code and the messages."""

    def run(content, *options):
        table = tmp_path / "table.csv"
        table.write_bytes(content if isinstance(content, bytes) else content.encode())
        result = cli(
            "fit", table, "-t", "y", "-o", tmp_path / "m.relvec", "--model", "linear", "--no-cv",
            *options,
        )  # fmt: skip
        assert "Traceback" not in result.output
        return result.exit_code, result.stderr

    return run


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_recognised(fit_text, encoding):
    code, message = fit_text(text_of().encode(encoding))
    assert code == 1
    assert "iconv -f utf-16" in message


def test_nul_bytes_are_rejected(fit_text):
    code, message = fit_text(text_of().replace("0.5", "0\0.5"))
    assert code == 1
    assert "NUL bytes" in message


def test_a_quote_that_is_not_closed(fit_text):
    code, message = fit_text(text_of().replace("\n", '\n"', 1))
    assert code == 1
    assert "Is every quote closed?" in message


def test_a_semicolon_is_suggested_where_commas_are_decimal(fit_text):
    content = text_of().replace(",", ";").replace(".", ",")
    code, message = fit_text(content)
    assert code == 1
    assert "--delimiter ';', with --decimal-comma" in message
    code, message = fit_text(content, "--delimiter", ";")
    assert code == 1
    assert "add --decimal-comma" in message
    assert fit_text(content, "--delimiter", ";", "--decimal-comma")[0] == 0


def test_short_rows_are_counted(fit_text):
    code, message = fit_text(text_of() + "1\n2,3\n")
    assert code == 0
    assert "2 rows of" in message
    assert "fewer fields than the header (the first is row 41)" in message


def test_one_text_among_numbers_is_shown(fit_text):
    code, message = fit_text(text_of(lines=[*NUMBERS, "oops,1,2"]))
    assert code == 1
    assert "most values are numbers, but one is 'oops'" in message
    code, message = fit_text(text_of(lines=[*NUMBERS, "1,1,oops"]))
    assert code == 1
    assert "most values are numbers, but one is 'oops'" in message


@pytest.mark.parametrize("name", ["*", "^x$", "^.*$"])
def test_names_that_are_patterns_are_rejected(fit_text, name):
    code, message = fit_text(text_of(f"{name},b,y"))
    assert code == 1
    assert f"has a column named {name!r}" in message
    assert "Rename the column" in message


def test_names_cannot_control_the_terminal(cli, tmp_path):
    names = "\x1b[31mred,[/bold]:heart:,y"
    table = tmp_path / "table.csv"
    table.write_text(text_of(names, [f"{i % 3 or ''},{i}.5,{i}.25" for i in range(40)]))
    model = tmp_path / "m.relvec"
    result = cli("fit", table, "-t", "y", "-o", model, "--model", "linear")
    shown = cli("inspect", model).stdout + result.output
    assert "\x1b" not in shown
    assert r"\x1b[31mred" in shown
    assert "[/bold]:heart:" in shown
    assert model.exists()


def test_progress_bars_show_names_without_markup(monkeypatch):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(
        "rich.console.Console", lambda **_: Console(file=screen, force_terminal=True, width=80)
    )
    with CommandConsole().progress("denoising [/b]", 2) as advance:
        advance(2)
    assert "denoising [/b]" in screen.getvalue()


def test_only_control_characters_are_escaped():
    assert escape_controls("Größe 温度 ²") == "Größe 温度 ²"
    assert escape_controls("a\r\nb\x9b") == r"a\r\nb\x9b"


def test_file_names_may_be_invalid_unicode(cli):
    result = cli("inspect", "\udcff.relvec", "--json")
    assert result.exit_code == 1
    assert "There is no file" in json.loads(result.stdout)["error"]


def test_many_notes_are_shortened(cli, tmp_path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 20))
    table = pl.DataFrame({f"x{i}": values[:, i] for i in range(20)})
    gaps = table.with_columns(
        pl.when(pl.int_range(30) == 3).then(None).otherwise(pl.all()).name.keep()
    )
    gaps.with_columns(y=values[:, 0]).write_csv(tmp_path / "t.csv")
    result = cli(
        "fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m", "--no-cv", "--model", "linear"
    )
    assert result.exit_code == 0
    assert len(result.stderr.splitlines()) == 5
    assert "20 columns have missing values in total" in result.stderr


@pytest.fixture
def lines_of(cli, fit_model, tmp_path):
    """Predict JSON lines in blocks of ten rows, with --keep."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 2))
    train = pl.DataFrame({"a": values[:, 0], "b": values[:, 1], "y": values[:, 0] + 0.5})
    train.write_csv(tmp_path / "train.csv")
    fit_model(tmp_path / "train.csv", "y", tmp_path / "m.relvec")

    def run(make, name):
        rows = [make(i, float(values[i, 0]), float(values[i, 1])) for i in range(30)]
        source = tmp_path / "new.jsonl"
        source.write_text("\n".join(map(json.dumps, rows)))
        arguments = ["predict", tmp_path / "m.relvec", source, "--keep", "-o", tmp_path / name]
        result = cli(*arguments, obj=Limits(block_rows=10))
        assert result.exit_code == 0, result.output
        return result, values

    return run


def test_columns_of_json_lines_may_change_their_order(lines_of, tmp_path):
    def make(i, a, b):
        return {"a": a, "b": b} if i < 15 else {"b": b, "a": a}

    _, values = lines_of(make, "out.csv")
    kept = pl.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(kept.select("a", "b").to_numpy(), values)


def test_columns_absent_from_the_first_json_lines_are_named(lines_of, tmp_path):
    def make(i, a, b):
        return {"a": a, "b": b} | ({"late": i} if i > 15 else {})

    result, _ = lines_of(make, "out.csv")
    assert pl.read_csv(tmp_path / "out.csv").columns == ["a", "b", "y_predicted"]
    assert result.stderr.count("'late'") == 1


def test_columns_of_json_lines_may_change_their_kind(lines_of, tmp_path):
    def make(i, a, b):
        return {"a": a, "b": b, "empty": None if i < 15 else 3, "mixed": "q" if i < 15 else 3}

    lines_of(make, "out.parquet")
    kept = pl.read_parquet(tmp_path / "out.parquet")
    assert kept["empty"].sum() == 45
    assert kept["mixed"].unique().sort().to_list() == ["3", "q"]


def test_the_line_of_bad_json_is_named(refused, tmp_path):
    table = tmp_path / "t.jsonl"
    table.write_text('{"a": 1, "y": 2}\n{"a": 1,\n')
    assert "row 2 has an error" in refused("fit", table, "-t", "y", "-o", tmp_path / "m")
    table.write_text("[1, 2]\n")
    assert "row 1 is not a JSON object" in refused("fit", table, "-t", "y", "-o", tmp_path / "m")


def test_lists_do_not_go_into_csv(refused, folder, tmp_path):
    table = tmp_path / "t.jsonl"
    frame = pl.read_csv(folder / "new.csv").with_columns(tags=pl.lit([1, 2]))
    frame.write_ndjson(table)
    sentence = refused("predict", folder / "houses.relvec", table, "--keep")
    assert "csv cannot store the lists or objects of 'tags'" in sentence
