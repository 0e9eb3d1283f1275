"""Invalid requests are rejected before any work, with a hint."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.io import wavfile

from relvec.cli.columns import check_column
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
def test_one_fold_is_rejected_before_the_table_is_read(refused, tmp_path, command):
    output = ["-o", tmp_path / "m.relvec"] if command == "fit" else []
    table = tmp_path / "broken.csv"
    table.write_bytes(b"\xff\xfe")
    message = refused(command, table, "-t", "y", "--folds", 1, *output, code=2)
    assert message.startswith("--folds must be at least 2; got 1.")


@pytest.mark.slow
def test_more_folds_than_rows_allow_are_noted(cli, tmp_path):
    rng = np.random.default_rng(0)
    pl.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40)}).write_csv(tmp_path / "t.csv")
    compare = ["compare", tmp_path / "t.csv", "-t", "y", "--model", "ridge", "--folds", 1000]
    notes = json.loads(cli(*compare, "--json").stdout)["notes"]
    assert any(note.startswith("Only 20 of 1000 folds are used:") for note in notes)
    fit = ["fit", tmp_path / "t.csv", "-t", "y", "--model", "linear", "--folds", 80, "--json"]
    result = cli(*fit, "-o", tmp_path / "m.relvec", obj=Limits(many_fits=60))
    assert (
        "61 fits are needed; --folds 5 or 10 is usually enough."
        in json.loads(result.stdout)["notes"]
    )


def test_a_report_is_an_html_file(refused, folder, tmp_path):
    report = ["report", folder / "houses.relvec", folder / "houses.csv", "-o"]
    assert "must end in .html" in refused(*report, tmp_path / "t.csv", code=2)
    (tmp_path / "r.html").mkdir()
    assert "is a folder" in refused(*report, tmp_path / "r.html")


def test_the_summary_of_a_report_names_its_metric(cli, folder, tmp_path):
    report = ["report", folder / "houses.relvec", folder / "houses.csv", "--bootstrap", 0]
    shown = cli(*report, "--folds", 2, "-o", tmp_path / "r.html").stdout
    assert "RMSE" in shown
    assert "(2-fold cross-validation, all rows pooled)" in shown


def test_json_contains_the_notes(cli, folder, tmp_path):
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
def test_quiet_commands_still_print_results(cli, folder, arguments):
    command, *files = arguments
    result = cli(command, *(folder / file for file in files), "--quiet")
    assert result.exit_code == 0
    assert result.stdout
    assert result.stderr == ""


def test_names_separated_by_commas(cli, refused, folder, tmp_path):
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
        check_column("cost", columns, Source("t.csv", "csv"), role="target")


def test_only_files_of_the_same_kind_are_suggested(refused, sound):
    (sound / "mona.csv").write_text("x\n1\n")
    message = refused("denoise", sound / "mon.wav", "-o", sound / "x.wav")
    assert message.endswith("Did you mean 'mono.wav'?")
    message = refused("denoise", sound / "other.wav", "-o", sound / "x.wav")
    assert "mean" not in message
    assert "csv" not in message
    message = refused("fit", sound / "mon.parquet", "-t", "y", "-o", sound / "m.relvec")
    assert message.endswith("Did you mean 'mona.csv'?")


def test_spreadsheets(refused, tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    message = refused("fit", tmp_path / "t.xlsx", "-t", "y", "-o", tmp_path / "m.relvec", code=2)
    assert message.endswith(
        "is a spreadsheet, which is not supported; save its sheet as csv first."
    )


def test_a_sound_as_a_table(cli, sound):
    result = cli("denoise", sound / "mono.wav", "--std", "-o", sound / "mono.csv")
    assert result.exit_code == 0, result.output
    assert "1 channel, 8000 Hz" in result.stdout
    assert "(full scale is 32767)" in result.stdout
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


def test_formats_that_cannot_store_a_sound(refused, sound):
    message = refused("denoise", sound / "mono.wav", "-o", sound / "x.png", code=2)
    assert ".csv" in message
    assert ".wav" in message
    message = refused("denoise", sound / "mono.wav", "--std", "-o", sound / "x.wav", code=2)
    assert ".npz or .csv" in message


@pytest.mark.slow
def test_a_typing_error_in_the_target_does_not_make_it_categorical(cli, refused, tmp_path):
    """Whole numbers with one text among them are not classes, unless --task says so."""
    values = [str(i % 8) for i in range(80)]
    values[7] = "four"
    pl.DataFrame({"x": np.arange(80) * 0.5, "rooms": values}).write_csv(tmp_path / "t.csv")
    fit = ["fit", tmp_path / "t.csv", "-t", "rooms", "-o", tmp_path / "m.relvec", "--no-cv"]
    fit += ["--model", "linear"]
    message = refused(*fit)
    assert (
        "'rooms' is not numeric throughout: most values are numbers, but one is 'four'" in message
    )
    assert "--task classification" in message
    assert cli(*fit, "--task", "classification").exit_code == 0


@pytest.mark.slow
def test_numbers_with_many_texts_are_categorical_with_a_note(cli, tmp_path):
    rng = np.random.default_rng(0)
    rooms = rng.choice(["1", "2", "3", "4+"], 100)
    pl.DataFrame({"rooms": rooms, "y": rng.normal(size=100)}).write_csv(tmp_path / "t.csv")
    fit = ["fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.relvec", "--no-cv", "--json"]
    answer = json.loads(cli(*fit).stdout)
    assert answer["columns"][0]["kind"] == "category"
    assert any("contains numbers and text such as '4+'" in note for note in answer["notes"])
    answer = json.loads(cli(*fit, "--categorical", "rooms").stdout)
    assert not any("numbers and text" in note for note in answer["notes"])
