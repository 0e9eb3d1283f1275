"""What cannot be done is said before any work, with what can be done instead."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.io import wavfile

from relvec.cli.columns import find_column
from relvec.cli.limits import Limits
from relvec.cli.sources import Source


@pytest.fixture
def sound(tmp_path):
    time = np.arange(2000) / 8000
    noise = np.random.default_rng(0).normal(size=(2, 2000))
    tone = 8000 * np.sin(2 * np.pi * 440 * time)
    wavfile.write(tmp_path / "mono.wav", 8000, (tone + 300 * noise[0]).astype(np.int16))
    stereo = (tone[:, None] + 300 * noise.T) / 32768
    wavfile.write(tmp_path / "stereo.wav", 8000, stereo.astype(np.float32))
    return tmp_path


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_one_fold_is_refused_before_the_table_is_read(refused, tmp_path, command):
    output = ["-o", tmp_path / "m.relvec"] if command == "fit" else []
    table = tmp_path / "broken.csv"
    table.write_bytes(b"\xff\xfe")
    said = refused(command, table, "-t", "y", "--folds", 1, *output, code=2)
    assert said.startswith("--folds must be 2 or more; got 1.")


@pytest.mark.slow
def test_more_folds_than_rows_allow_are_said(cli, tmp_path):
    rng = np.random.default_rng(0)
    pl.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40)}).write_csv(tmp_path / "t.csv")
    compare = ["compare", tmp_path / "t.csv", "-t", "y", "--model", "ridge", "--folds", 1000]
    notes = json.loads(cli(*compare, "--json").stdout)["notes"]
    assert any(note.startswith("There are 20 folds, not 1000:") for note in notes)
    fit = ["fit", tmp_path / "t.csv", "-t", "y", "--model", "linear", "--folds", 80, "--json"]
    result = cli(*fit, "-o", tmp_path / "m.relvec", obj=Limits(many_fits=60))
    assert "These are 61 fits; --folds 5 or 10 would do." in json.loads(result.stdout)["notes"]


def test_a_report_is_a_page(refused, folder, tmp_path):
    report = ["report", folder / "houses.relvec", folder / "houses.csv", "-o"]
    assert "must end in .html" in refused(*report, tmp_path / "t.csv", code=2)
    (tmp_path / "r.html").mkdir()
    assert "is a folder" in refused(*report, tmp_path / "r.html")


def test_the_error_of_a_report_says_what_it_is(cli, folder, tmp_path):
    report = ["report", folder / "houses.relvec", folder / "houses.csv", "--bootstrap", 0]
    shown = cli(*report, "--folds", 2, "-o", tmp_path / "r.html").stdout
    assert "error (rms)" in shown
    assert "(2-fold cross-validation, all rows together)" in shown


def test_json_keeps_the_notes_to_itself(cli, folder, tmp_path):
    fit = ["fit", folder / "houses.csv", "-t", "price", "--no-cv", "--model", "linear"]
    result = cli(*fit, "-o", tmp_path / "m.relvec", "--json")
    assert result.stderr == ""
    assert any("'id' is left out" in note for note in json.loads(result.stdout)["notes"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "houses.relvec", "houses.csv"],
        ["inspect", "houses.relvec"],
        ["predict", "houses.relvec", "houses.csv"],
    ],
)
def test_quiet_commands_still_answer(cli, folder, arguments):
    command, *files = arguments
    result = cli(command, *(folder / file for file in files), "--quiet")
    assert result.exit_code == 0
    assert result.stdout
    assert result.stderr == ""


def test_names_with_commas_between(cli, refused, folder, tmp_path):
    fit = ["fit", folder / "houses.csv", "-t", "price", "--no-cv", "--model", "linear"]
    fit += ["-o", tmp_path / "m.relvec", "--json"]
    columns = json.loads(cli(*fit, "--features", "area,town").stdout)["columns"]
    assert [each["name"] for each in columns] == ["area", "town"]
    columns = json.loads(cli(*fit, "--drop", "id, area", "--drop", "town").stdout)["columns"]
    assert [each["name"] for each in columns] == ["rooms", "age", "door_number"]
    result = cli(*fit, "--features", "area,twon")
    assert "no feature column 'twon'" in json.loads(result.stdout)["error"]


def test_a_long_list_of_columns_ends_with_the_last():
    columns = [f"x{i}" for i in range(50)] + ["price"]
    with pytest.raises(Exception, match=r"'x8', 41 more, and 'price'\.$"):
        find_column("cost", columns, Source("t.csv", "csv"), role="target")


def test_only_files_of_the_same_kind_are_suggested(refused, sound):
    (sound / "mona.csv").write_text("x\n1\n")
    said = refused("denoise", sound / "mon.wav", "-o", sound / "x.wav")
    assert said.endswith("Did you mean 'mono.wav'?")
    said = refused("denoise", sound / "other.wav", "-o", sound / "x.wav")
    assert "mean" not in said
    assert "csv" not in said
    said = refused("fit", sound / "mon.parquet", "-t", "y", "-o", sound / "m.relvec")
    assert said.endswith("Did you mean 'mona.csv'?")


def test_spreadsheets(refused, tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    said = refused("fit", tmp_path / "t.xlsx", "-t", "y", "-o", tmp_path / "m.relvec", code=2)
    assert said.endswith(
        "is a spreadsheet, which is not read or written; save its sheet as csv first."
    )


def test_a_sound_as_a_table(cli, sound):
    result = cli("denoise", sound / "mono.wav", "--std", "-o", sound / "mono.csv")
    assert result.exit_code == 0, result.output
    assert "1 channel, 8000 Hz" in result.stdout
    assert "(standard deviation; full scale is 32767)" in result.stdout
    table = pl.read_csv(sound / "mono.csv")
    assert table.columns == ["seconds", "denoised", "denoised_std"]
    assert table["seconds"][8] == 0.001
    cli("denoise", sound / "mono.wav", "-o", sound / "mono.npy")
    assert np.allclose(table["denoised"], np.load(sound / "mono.npy"))
    result = cli("denoise", sound / "stereo.wav", "-o", sound / "stereo.parquet")
    assert "2 channels" in result.stdout
    assert "full scale is 1)" in result.stdout
    assert pl.read_parquet(sound / "stereo.parquet").columns == [
        "seconds",
        "denoised_1",
        "denoised_2",
    ]


def test_what_a_sound_cannot_become(refused, sound):
    said = refused("denoise", sound / "mono.wav", "-o", sound / "x.png", code=2)
    assert ".csv" in said
    assert ".wav" in said
    said = refused("denoise", sound / "mono.wav", "--std", "-o", sound / "x.wav", code=2)
    assert ".npz or .csv" in said


@pytest.mark.slow
def test_a_typo_in_the_target_does_not_make_classes(cli, refused, tmp_path):
    """Numbers of few values with one text among them are no classes, unless that is said."""
    values = [str(i % 8) for i in range(80)]
    values[7] = "four"
    pl.DataFrame({"x": np.arange(80) * 0.5, "rooms": values}).write_csv(tmp_path / "t.csv")
    fit = ["fit", tmp_path / "t.csv", "-t", "rooms", "-o", tmp_path / "m.relvec", "--no-cv"]
    fit += ["--model", "linear"]
    said = refused(*fit)
    assert "'rooms' is not a number everywhere: most are numbers, but one is 'four'" in said
    assert "--task classification" in said
    assert cli(*fit, "--task", "classification").exit_code == 0


@pytest.mark.slow
def test_numbers_with_many_texts_are_levels_and_that_is_said(cli, tmp_path):
    rng = np.random.default_rng(0)
    rooms = rng.choice(["1", "2", "3", "4+"], 100)
    pl.DataFrame({"rooms": rooms, "y": rng.normal(size=100)}).write_csv(tmp_path / "t.csv")
    fit = ["fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.relvec", "--no-cv", "--json"]
    answer = json.loads(cli(*fit).stdout)
    assert answer["columns"][0]["kind"] == "level"
    assert any("has texts such as '4+' between its numbers" in note for note in answer["notes"])
    answer = json.loads(cli(*fit, "--categorical", "rooms").stdout)
    assert not any("between its numbers" in note for note in answer["notes"])
