"""A comparison that sees no difference must be able to see one."""

import json
import math
import re

import numpy as np
import pytest

from bench.runner import ROOT
from bench.unchanged import __main__ as command
from bench.unchanged.compare import Side, compare, difference, largest_difference
from bench.unchanged.problems import PROBLEMS
from bench.unchanged.quantities import Answer
from bench.unchanged.worker import WARM_UP

STUB = """
from types import SimpleNamespace

calls = []

def estimate_noise(values, **options):
    calls.append(values)
    {body}
    return {std}, SimpleNamespace(standard_error=0.1, is_reliable=True)
"""


@pytest.fixture
def checkout(tmp_path):
    """Make something that has the one function of relvec which the problem noise-alone uses."""

    def make(name, std=1.0, body="pass"):
        package = tmp_path / name / "src" / "relvec"
        package.mkdir(parents=True)
        text = STUB.format(std=std, body=body)
        (package / "__init__.py").write_text(text, encoding="utf-8")
        return package.parent.parent

    return make


def run(before, after, *more):
    only = ["--only", "noise-alone", "--repeats", "2"]
    return command.main(["--before", str(before), "--after", str(after), *only, *more])


@pytest.mark.slow
def test_relvec_is_equal_to_itself():
    names = ["rvm-20-rows", "labels-20-rows", "refused-kernel"]
    with Side(ROOT) as before, Side(ROOT) as after:
        found = list(compare(names, before, after, repeats=2))
    assert [each.problem for each in found] == names
    assert [each.difference for each in found] == [0.0, 0.0, 0.0]
    assert [each.unsteadiness for each in found] == [0.0, 0.0, 0.0]
    assert found[0].cpu_before > 0.0
    assert [each.errors[0] for each in found] == [None, None, "ValueError"]


def test_equal_results(checkout, tmp_path, capsys):
    file = tmp_path / "all.json"
    assert run(checkout("a"), checkout("b", std=1.0 + 1e-10), "--json", str(file)) == 0
    assert "1 problems: 1 equal (0 to the last bit), 0 different" in capsys.readouterr().out
    (record,) = json.loads(file.read_text(encoding="utf-8"))["problems"]
    assert record["quantity"] == "std"
    assert 0.9e-10 < record["difference"] < 1.1e-10


def test_a_difference_is_told_and_named_ones_are_forgiven(checkout, tmp_path, capsys, monkeypatch):
    before, after = checkout("a"), checkout("b", std=1.0 + 1e-7)
    assert run(before, after) == 1
    line = capsys.readouterr().out.splitlines()[1]
    assert re.match(r"noise-alone +1\.0e-07 .* std; DIFFERENT$", line)
    named = tmp_path / "named.toml"
    named.write_text('noise-alone = "a better estimate"\n', encoding="utf-8")
    monkeypatch.setattr(command, "DIFFERENCES", named)
    assert run(before, after) == 0
    assert "meant: a better estimate" in capsys.readouterr().out
    assert run(before, before) == 0
    assert "named, but equal: noise-alone" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("raise KeyError", "exception (none, KeyError)"),
        ("import warnings; warnings.warn('no')", "warnings (none; UserWarning)"),
        ("import os; os._exit(3)", "exception (none, EndOfProcess)"),
        ("print('a word')", None),
        ("import warnings; warnings.warn('old', FutureWarning)", None),
    ],
)
def test_what_else_is_a_difference(checkout, capsys, body, what):
    assert run(checkout("a"), checkout("b", body=body)) == (what is not None)
    assert what is None or what in capsys.readouterr().out


def test_an_exception_in_both_is_no_comparison(checkout, capsys):
    broken = checkout("a", body="raise KeyError")
    assert run(broken, broken) == 1
    assert "exception in both (KeyError)" in capsys.readouterr().out


def test_unsteady_results_are_told(checkout, capsys):
    unsteady = checkout("a", std="2.0 + len(calls)")
    assert run(unsteady, unsteady) == 0
    assert "repeats differ by 3.3e-01" in capsys.readouterr().out


def test_a_version_that_cannot_be_imported_ends_the_program(checkout):
    broken = checkout("a")
    (broken / "src" / "relvec" / "__init__.py").write_text("1 / 0", encoding="utf-8")
    with pytest.raises(SystemExit, match="cannot be started"):
        run(broken, broken)


def test_options_are_checked(tmp_path, capsys):
    for arguments in (
        ["--before", str(tmp_path)],
        ["--before", str(ROOT), "--only", "nonsense"],
        ["--before", str(ROOT), "--repeats", "0"],
    ):
        with pytest.raises(SystemExit):
            command.parse(arguments)
    assert "no src/relvec" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 0.5], [1.0, 0.5 + 1e-3], 1e-3),
        ([1.0, 100.0], [1.0, 100.1], 1e-3),
        ([1e-6], [2e-6], 1e-6),
        ([1.0, np.nan, np.inf], [1.0, np.nan, np.inf], 0.0),
        ([1.0, np.nan], [1.0, 2.0], math.inf),
        ([1.0, 2.0], [1.0, np.nan], math.inf),
        ([1.0, np.inf], [1.0, -np.inf], math.inf),
        ([1.0, 2.0], [1.0], math.inf),
        ([], [], 0.0),
        ([1, 5, 7], [1, 5, 8], math.inf),
        ([1, 5, 7], [1, 5, 7], 0.0),
        (["a"], ["b"], math.inf),
        ([True], [False], math.inf),
        ([1.0 + 1.0j], [1.0 + 1.1j], 0.1 / math.sqrt(2.0)),
    ],
)
def test_difference(before, after, expected):
    assert difference(np.array(before), np.array(after)) == pytest.approx(expected, rel=1e-6)


def test_largest_difference_says_where_it_is():
    first = Answer(0.0, {"a": np.array(1.0), "b": np.array(2.0)})
    other = Answer(0.0, {"a": np.array(1.5), "b": np.array(2.1)})
    assert largest_difference(first, other) == (0.5, "a")
    assert largest_difference(first, first) == (0.0, "")
    assert largest_difference(first, Answer(0.0, {"a": np.array(1.0)})) == (
        math.inf,
        "b (absent after)",
    )


def test_named_differences_must_be_of_problems_and_have_reasons(tmp_path):
    named = tmp_path / "named.toml"
    for text in ('nonsense = "why"', 'noise-alone = ""'):
        named.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="named.toml"):
            command.named_differences(named)
    command.named_differences(command.DIFFERENCES)


def test_the_table():
    assert len(PROBLEMS) >= 70
    assert set(WARM_UP) <= set(PROBLEMS)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in PROBLEMS)
