"""Invalid input gives one clear error message and leaves no partial file."""

from __future__ import annotations

import errno
import os

import numpy as np
import polars as pl
import pytest

from relvec.cli.limits import Limits


@pytest.fixture
def fit(refused, tmp_path):
    """Fit a table given as text or bytes; it must fail and write nothing."""

    def run(content, *more, target="y", name="table.csv", code=1):
        table = tmp_path / name
        table.write_bytes(content if isinstance(content, bytes) else content.encode())
        sentence = refused(
            "fit", table, "-t", target, "-o", tmp_path / "m.relvec", *more, code=code
        )
        assert sorted(each.name for each in tmp_path.iterdir()) == [name]
        return sentence

    return run


def rows(n, line="{i},{j}\n", header="x,y\n"):
    return header + "".join(line.format(i=i, j=(i * 7) % 13 + 0.5) for i in range(n))


def test_missing_file(refused, tmp_path):
    (tmp_path / "houses.csv").write_text("a,b\n1,2\n")
    sentence = refused("fit", tmp_path / "house.csv", "-t", "b", "-o", tmp_path / "m.relvec")
    assert "There is no file" in sentence
    assert "Did you mean 'houses.csv'?" in sentence


def test_missing_folder_of_a_file(refused, tmp_path):
    sentence = refused("fit", tmp_path / "no" / "a.csv", "-t", "b", "-o", tmp_path / "m.relvec")
    assert "does not exist either" in sentence


def test_folder_instead_of_a_file(refused, tmp_path):
    sentence = refused("fit", tmp_path, "-t", "b", "-o", tmp_path / "m.relvec")
    assert "is a folder" in sentence


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_empty_file(fit, content):
    assert "is empty" in fit(content)


def test_empty_input(refused, tmp_path):
    sentence = refused("fit", "-", "-t", "y", "-o", tmp_path / "m.relvec", input="")
    assert sentence == "the standard input is empty."


def test_header_without_rows(fit):
    assert "a header but no rows" in fit("x,y\n")


def test_unknown_suffix(fit):
    assert "has the unknown suffix '.dat'" in fit("x", name="table.dat", code=2)


def test_unknown_format(fit):
    assert "Did you mean 'csv'?" in fit("x", "--format", "cvs", code=2)


def test_wrong_delimiter(fit):
    sentence = fit(rows(9, "{i};{j}\n", "x;y\n"))
    assert "has one column, 'x;y'" in sentence
    assert "Is the delimiter ';'?" in sentence
    assert "--delimiter ';'" in sentence


def test_delimiter_of_two_characters(fit):
    assert "must be one character" in fit(rows(9), "--delimiter", ";;", code=2)


def test_unknown_target(fit):
    sentence = fit(rows(9, header="rooms,price\n"), target="prize")
    assert "no target column 'prize'" in sentence
    assert "Did you mean 'price'?" in sentence


def test_no_header(fit):
    assert "is the header with the column names missing?" in fit(rows(9, header=""))


@pytest.mark.parametrize("option", ["--features", "--drop", "--categorical"])
def test_unknown_column_in_an_option(fit, option):
    assert "Did you mean 'x'?" in fit(rows(9), option, "xx")


def test_target_as_a_feature(fit):
    assert "cannot be given with --features" in fit(rows(9), "--features", "y", code=2)


def test_duplicate_names(fit):
    assert "several columns named 'x'" in fit("x,x,y\n1,2,3\n")


def test_one_row(fit):
    assert "1 row with a known 'y'" in fit("x,y\n1,2\n")


def test_target_missing_everywhere(fit):
    assert "0 rows with a known 'y'" in fit("x,y\n" + "1,\n" * 9)


def test_one_class(fit):
    assert "is 'a' in all rows; two classes are needed" in fit("x,y\n" + "1,a\n" * 9)


def test_as_many_classes_as_rows(fit):
    content = "x,y\n" + "".join(f"{i % 4},name{i}\n" for i in range(9))
    assert "All values of the target 'y' differ" in fit(content)


def test_infinite_target(fit):
    assert "infinite" in fit(rows(20) + "3,inf\n", "--task", "regression")


def test_constant_number_as_target(fit):
    sentence = fit("x,y\n" + "1,2.5\n" * 9, "--task", "regression")
    assert "is constant: 2.5 in all rows" in sentence


def test_no_usable_column(fit):
    content = "x,gone,y\n" + "".join(f"7,,{i + 0.5}\n" for i in range(20))
    assert "no usable column to predict 'y' from" in fit(content)


def test_text_in_a_regression(fit):
    content = rows(20) + "3,many\n"
    assert "must contain numbers for regression" in fit(content, "--task", "regression")


def test_too_many_classes(fit):
    content = "x,y\n" + "".join(f"{i % 7},name{i % 150}\n" for i in range(200))
    assert "at most 100 classes are possible" in fit(content)


@pytest.mark.parametrize("option", ["--task", "--model"])
def test_unknown_choice(fit, option):
    sentence = fit(rows(20), option, "regresion", code=2)
    assert f"{option} must be one of auto, " in sentence
    assert "got 'regresion'" in sentence


def test_one_fold(fit):
    assert "--folds must be at least 2" in fit(rows(20), "--folds", "1", code=2)


def test_row_with_too_many_fields(fit):
    assert "Row 3 of" in fit("x,y\n1,2\n1,2\n1,2,3\n")


def test_not_utf8(fit):
    assert "is not UTF-8 text" in fit("x,y\n1,Köln\n".encode("latin1"))


def test_not_json_lines(fit):
    assert "is not JSON lines" in fit('{"x": 1}\n{"x": \n', name="table.jsonl")


def test_not_parquet(fit):
    assert "cannot be read as parquet" in fit("x,y\n1,2\n", name="table.parquet")


@pytest.mark.parametrize("name", ["table.npy", "table.npz"])
def test_not_numpy(fit, name):
    assert "is not a NumPy" in fit("x,y\n1,2\n", name=name)


def test_arrays_of_different_lengths(refused, tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((3, 2)), y=np.ones(4))
    sentence = refused("fit", tmp_path / "a.npz", "-t", "y", "-o", tmp_path / "m.relvec")
    assert "differ in length" in sentence


def test_array_of_three_axes(refused, tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 2, 2)))
    sentence = refused("fit", tmp_path / "a.npy", "-t", "x0", "-o", tmp_path / "m.relvec")
    assert "has 3 axes" in sentence


# outputs


@pytest.mark.slow
def test_output_folder_missing(refused, folder, tmp_path):
    output = tmp_path / "no" / "m.relvec"
    sentence = refused("fit", folder / "houses.csv", "-t", "price", "-o", output)
    assert "does not exist. Create it first" in sentence


def test_output_is_a_folder(refused, folder, tmp_path):
    sentence = refused("predict", folder / "houses.relvec", folder / "new.csv", "-o", tmp_path)
    assert "is a folder; name a file to write" in sentence


def test_no_permission(refused, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *where: False)
    output = tmp_path / "out.csv"
    sentence = refused("predict", folder / "houses.relvec", folder / "new.csv", "-o", output)
    assert "No permission to write to the folder" in sentence


def test_permission_denied_by_the_system(refused, folder, tmp_path, monkeypatch):
    def denied(**options):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("relvec.cli.writing.tempfile.mkstemp", denied)
    output = tmp_path / "out.csv"
    sentence = refused("predict", folder / "houses.relvec", folder / "new.csv", "-o", output)
    assert "cannot be written: Permission denied" in sentence


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_full_disk_keeps_the_old_file(refused, folder, tmp_path, monkeypatch, suffix):
    output = tmp_path / f"out.{suffix}"
    output.write_text("older")

    def full(*where, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, f"write_{suffix}", full)
    sentence = refused("predict", folder / "houses.relvec", folder / "new.csv", "-o", output)
    assert "No space left on device" in sentence
    assert output.read_text() == "older"
    assert [each.name for each in tmp_path.iterdir()] == [output.name]


def test_full_disk_when_a_model_is_saved(refused, folder, tmp_path, monkeypatch):
    def full(*what, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("relvec.io.save", full)
    fit = ["fit", folder / "houses.csv", "-t", "price", "--no-cv", "--model", "linear", "-q"]
    sentence = refused(*fit, "-o", tmp_path / "m.relvec")
    assert "could not be written: No space left" in sentence
    assert not list(tmp_path.iterdir())


# predictions


def test_not_a_model(refused, folder):
    sentence = refused("predict", folder / "houses.csv", folder / "new.csv")
    assert "is not a model file" in sentence


def test_model_that_is_missing(refused, folder):
    sentence = refused("predict", folder / "house.relvec", folder / "new.csv")
    assert "Did you mean 'houses.relvec'?" in sentence


def test_missing_columns_are_named_with_similar_ones(refused, folder, tmp_path):
    table = pl.read_csv(folder / "new.csv").rename({"area": "areas"}).drop("town")
    table.write_csv(tmp_path / "new.csv")
    sentence = refused("predict", folder / "houses.relvec", tmp_path / "new.csv")
    assert "does not have 2 of the 5 columns" in sentence
    assert "'area', 'town'" in sentence
    assert "For 'area': Did you mean 'areas'?" in sentence


def test_wrong_delimiter_at_prediction(refused, folder, tmp_path):
    pl.read_csv(folder / "new.csv").write_csv(tmp_path / "new.csv", separator=";")
    sentence = refused("predict", folder / "houses.relvec", tmp_path / "new.csv")
    assert "is the delimiter correct?" in sentence


@pytest.mark.parametrize("block", [7, 1000])
def test_text_among_numbers_is_reported_with_row_and_value(refused, folder, tmp_path, block):
    ages = pl.read_csv(folder / "new.csv")["age"].cast(pl.String).to_list()
    ages[16] = "old"
    table = pl.read_csv(folder / "new.csv").with_columns(age=pl.Series(ages))
    table.write_csv(tmp_path / "new.csv")
    output = tmp_path / "out.csv"
    arguments = ["predict", folder / "houses.relvec", tmp_path / "new.csv", "-o", output]
    sentence = refused(*arguments, obj=Limits(block_rows=block))
    assert "Column 'age' must contain numbers, but row 17 has 'old'" in sentence
    assert not output.exists()
    assert [each.name for each in tmp_path.iterdir()] == ["new.csv"]


@pytest.mark.parametrize(
    ("model", "table", "options", "words"),
    [
        ("houses", "new", ["--proba"], "--proba is for classes"),
        ("flowers", "flowers", ["--std"], "--std is for regression"),
        ("flowers", "flowers", ["--interval", "0.9"], "--interval is for regression"),
        ("houses", "new", ["--interval", "95"], "strictly between 0 and 1"),
        (
            "houses",
            "new",
            ["--output-format", "parquet"],
            "cannot be written to the standard output",
        ),
        ("houses", "new", ["--output-format", "xls"], "--output-format must be one of"),
    ],
)
def test_incompatible_options(refused, folder, model, table, options, words):
    arguments = [folder / f"{model}.relvec", folder / f"{table}.csv", *options]
    assert words in refused("predict", *arguments, code=2)


def test_json_and_data_do_not_share_an_output(cli, folder):
    result = cli("predict", folder / "houses.relvec", folder / "new.csv", "--json")
    assert result.exit_code == 2
    assert "to a file with -o" in result.stderr


def test_score_without_a_target(refused, folder, tmp_path):
    pl.read_csv(folder / "new.csv").drop("price").write_csv(tmp_path / "new.csv")
    sentence = refused("score", folder / "houses.relvec", tmp_path / "new.csv")
    assert "no target column 'price'" in sentence


def test_score_without_known_targets(refused, folder, tmp_path):
    table = pl.read_csv(folder / "new.csv").with_columns(price=pl.lit(None, pl.Float64))
    table.write_csv(tmp_path / "new.csv")
    assert "No row of" in refused("score", folder / "houses.relvec", tmp_path / "new.csv")


def test_compare_with_an_unknown_model(refused, folder):
    sentence = refused("compare", folder / "houses.csv", "-t", "price", "--model", "smv", code=2)
    assert "Did you mean 'svm'?" in sentence


def test_export_to_an_unknown_language(refused, folder, tmp_path):
    sentence = refused("export", folder / "houses.relvec", "-o", tmp_path / "m.f90", code=2)
    assert ".onnx, .c, .py" in sentence
