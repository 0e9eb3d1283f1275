"""Start of the command: imports, help, usage errors, interruption."""

from __future__ import annotations

import subprocess
import sys

import pytest

import relvec
from relvec.cli.app import COMMANDS
from relvec.cli.entry import main

HEAVY = ("numpy", "scipy", "sklearn", "polars", "pandas", "rich", "joblib", "skops", "PIL")


def python(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **options)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys\n"
        f"sys.argv = ['relvec', *{arguments}]\n"
        "from relvec.cli.entry import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    ended = python("-c", code)
    assert ended.stdout.strip().splitlines()[-1] == "[]", ended.stderr


def test_help_names_every_command(cli):
    text = cli("--help").stdout
    for command in COMMANDS:
        assert command.__name__ in text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_an_example(cli, command):
    result = cli(command.__name__, "--help")
    assert result.exit_code == 0
    assert f"relvec {command.__name__} " in result.stdout


def test_version(cli):
    assert cli("--version").stdout.strip() == f"relvec {relvec.__version__}"


def test_python_dash_m():
    ended = python("-m", "relvec", "--version")
    assert ended.returncode == 0
    assert ended.stdout.startswith("relvec ")


@pytest.mark.parametrize("arguments", [["fit"], ["fitt"], ["fit", "x.csv", "--nothing"]])
def test_usage_errors_exit_with_two(cli, arguments):
    result = cli(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_missing_packages_are_named(monkeypatch, capsys):
    monkeypatch.setattr("relvec.cli.entry.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert 'pip install "relvec[cli]"' in capsys.readouterr().err


def test_debug_raises_the_error(cli, tmp_path):
    result = cli("inspect", tmp_path / "none.relvec", "--debug")
    assert result.exit_code == 1
    assert type(result.exception).__name__ == "CommandError"


def test_unexpected_errors_give_one_message(refused, monkeypatch, folder):
    def broken(path):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("relvec.cli.inspecting.load_model", broken)
    sentence = refused("inspect", folder / "houses.relvec")
    assert "ZeroDivisionError" in sentence
    assert "--debug" in sentence


def test_an_interruption_prints_no_traceback(cli, monkeypatch, folder):
    def interrupted(path):
        raise KeyboardInterrupt

    monkeypatch.setattr("relvec.cli.inspecting.load_model", interrupted)
    result = cli("inspect", folder / "houses.relvec")
    assert result.exit_code == 130
    assert result.stderr.startswith("Interrupted")


def test_errors_are_printed_as_json_with_json(cli):
    import json

    result = cli("inspect", "nowhere.relvec", "--json")
    assert result.exit_code == 1
    assert "nowhere.relvec" in json.loads(result.stdout)["error"]


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(folder):
    predict = [sys.executable, "-m", "relvec", "predict"]
    command = [*predict, folder / "houses.relvec", folder / "new.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        console = process.stderr.read().decode()
    assert "Traceback" not in console
    assert "Exception" not in console


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_bars_are_shown_on_terminals_only(monkeypatch, capsys, quiet):
    from relvec.cli.console import CommandConsole

    def drawn():
        with CommandConsole(quiet=quiet).progress("counting", 3) as advance:
            advance(1)
            advance(2, total=5)
        return capsys.readouterr()

    assert drawn() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    out, err = drawn()
    assert out == ""
    assert ("counting" in err) != quiet
