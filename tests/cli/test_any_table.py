"""For any table, a command ends with a result or with one error message."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from relvec.cli.app import app

missing = st.sampled_from(["", "NA", " ", "?"])
kinds = st.sampled_from(
    [
        st.floats(-10.0, 10.0).map(repr),
        st.integers(0, 4).map(str),
        st.sampled_from(["1e308", "-1e300", "1e-308", "5", "inf"]),
        st.sampled_from(["a", "b", "ü", "x,y", 'q"t', "line\nbreak", "[bold]", "True"]),
        st.text(max_size=3),
        st.sampled_from(["1", "2", "three", "4.5"]),
        st.just("7"),
        st.just(""),
        st.integers(1, 9).map("2020-01-0{}".format),
    ]
)
names = st.lists(st.text(max_size=4), min_size=1, max_size=4)


@st.composite
def tables(draw):
    """Text of a csv file with the target y."""
    header = draw(names)
    columns = [draw(kinds) | missing for _ in [*header, "y"]]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*header, "y"])
    for _ in range(draw(st.integers(0, 25))):
        writer.writerow([draw(column) for column in columns])
    return text.getvalue()


def run(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Unexpected error" not in result.stderr
    if result.exit_code:
        assert result.stderr.splitlines()[-1].startswith("relvec: ")
        assert result.stdout == ""
    return result


@pytest.mark.slow
@settings(max_examples=40)
@given(tables())
def test_any_table(text):
    with tempfile.TemporaryDirectory() as place:
        table, model = Path(place, "t.csv"), Path(place, "m.relvec")
        table.write_text(text, encoding="utf-8", newline="")
        fit = run("fit", table, "-t", "y", "-o", model, "--model", "linear", "--folds", "2")
        assert model.exists() == (fit.exit_code == 0)
        if model.exists():
            run("inspect", model, "--vectors")
            predicted = run("predict", model, table, "--keep")
            if predicted.exit_code == 0:
                rows = list(csv.reader(io.StringIO(predicted.stdout)))
                given_rows = list(csv.reader(io.StringIO(text)))
                assert len(rows) == sum(map(bool, given_rows))
                assert all(row[-1] for row in rows)
