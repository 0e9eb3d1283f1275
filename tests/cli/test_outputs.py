"""Outputs: inputs are not overwritten; links, pipes and failing outputs are handled."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import polars as pl
import pytest

from relvec.cli.demonstrating import FILES


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "t.csv", "-t", "price", "-o", "t.csv"],
        ["fit", "t.csv", "-t", "price", "-o", "link.csv"],
        ["predict", "houses.relvec", "t.csv", "-o", "./t.csv"],
        ["predict", "houses.relvec", "t.csv", "-o", "houses.relvec", "--output-format", "csv"],
        ["report", "houses.relvec", "t.csv", "-o", "t.csv"],
        ["denoise", "t.csv", "-c", "price", "-o", "t.csv"],
        ["export", "houses.relvec", "-o", "houses.relvec"],
    ],
)
def test_inputs_are_not_overwritten(refused, folder, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    for name, source in (("t.csv", "houses.csv"), ("houses.relvec", "houses.relvec")):
        (tmp_path / name).write_bytes((folder / source).read_bytes())
    os.symlink("t.csv", "link.csv")
    assert "is also an input" in refused(*command, code=2)
    assert (tmp_path / "t.csv").read_bytes() == (folder / "houses.csv").read_bytes()
    assert (tmp_path / "houses.relvec").read_bytes() == (folder / "houses.relvec").read_bytes()


def test_a_link_stays_a_link(cli, folder, tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    arguments = ["predict", folder / "houses.relvec", folder / "new.csv", "-o"]
    assert cli(*arguments, tmp_path / "link.csv").exit_code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("price_predicted")


@pytest.mark.parametrize("what", ["csv", "parquet", "model"])
def test_a_pipe_stays_a_pipe(cli, folder, tmp_path, what):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    if what == "model":
        command = ["fit", folder / "houses.csv", "-t", "price", "--no-cv", "--model", "linear"]
    else:
        command = ["predict", folder / "houses.relvec", folder / "new.csv"]
        command += ["--output-format", what]
    result = cli(*command, "-o", pipe)
    reader.join(10)
    assert result.exit_code == 0, result.output
    assert pipe.is_fifo()
    assert (
        read[0][:5] == {"csv": b"price", "parquet": b"PAR1\x15", "model": b"PK\x03\x04\x14"}[what]
    )


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_table_may_come_from_a_pipe(cli, folder, tmp_path, format):
    table = pl.read_csv(folder / "new.csv")
    file, pipe = tmp_path / f"new.{format}", tmp_path / "pipe"
    table.write_csv(file) if format == "csv" else table.write_parquet(file)
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()))
    writer.start()
    result = cli("predict", folder / "houses.relvec", pipe, "--format", format)
    writer.join(10)
    assert result.stdout == cli("predict", folder / "houses.relvec", file).stdout
    assert result.exit_code == 0


def test_models_and_standard_streams(refused, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    houses = folder / "houses.csv"
    assert "name a file" in refused("fit", houses, "-t", "price", "-o", "-", code=2)
    assert "name a model file" in refused("predict", "-", houses, code=2)
    model = folder / "houses.relvec"
    assert "name a file" in refused("report", model, houses, "-o", "-", code=2)
    assert os.listdir() == []


def shell(command, **environment):
    return subprocess.run(
        ["bash", "-c", command.replace("relvec ", f"{sys.executable} -m relvec ", 1)],
        capture_output=True,
        env=os.environ | environment,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["score {0}/houses.relvec {0}/houses.csv --json"])
def test_a_full_output_gives_one_message(folder, command):
    done = shell(f"relvec {command.format(folder)} > /dev/full")
    assert done.returncode == 1
    message = done.stderr.decode().strip().splitlines()
    assert [line for line in message if not line.startswith("Columns not used")] == [
        "relvec: Cannot read or write: No space left on device."
    ]


@pytest.mark.slow
def test_a_closed_output_gives_one_message(folder):
    done = shell(f"relvec predict {folder}/houses.relvec {folder}/houses.csv >&-")
    assert done.returncode == 1
    assert b"The standard output is closed" in done.stderr
    assert b"Unexpected error" not in done.stderr


@pytest.mark.slow
def test_summaries_in_ascii(folder):
    done = shell(f"relvec fit {folder}/houses.csv -t price -o {folder}/ascii.relvec --model linear",
                 PYTHONIOENCODING="ascii")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"####" in done.stdout
    assert b"+-" in done.stdout


@pytest.mark.slow
def test_data_are_utf8_in_any_terminal(folder, tmp_path):
    text = (folder / "new.csv").read_text().replace("Astad", "Åstad")
    (tmp_path / "new.csv").write_text(text)
    done = shell(f"relvec predict {folder}/houses.relvec {tmp_path}/new.csv --keep",
                 PYTHONIOENCODING="ascii")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Åstad" in done.stdout.decode("utf-8")


@pytest.mark.parametrize("name", FILES)
def test_the_demo_overwrites_nothing(refused, tmp_path, name):
    (tmp_path / name).write_text("mine")
    assert f"already contains '{name}'" in refused("demo", "--folder", tmp_path)
    assert (tmp_path / name).read_text() == "mine"


def test_seeds_are_checked(cli, folder, tmp_path):
    result = cli("fit", folder / "houses.csv", "-t", "price", "-o", tmp_path / "m", "--seed", -1)
    assert result.exit_code == 2
    assert "--seed" in result.stderr
