"""Experiments are run, kept, resumed and written down."""

import json
import os

import pytest
from matplotlib.figure import Figure

from bench.report import Table
from reproduce import __main__ as command
from reproduce.engine import Cell, Experiment, Kind, Results, Settings, Task
from reproduce.engine.pages import _inline
from reproduce.engine.run import TaskError, Workers, run
from reproduce.engine.store import Record, Store, fingerprint

CALLS = []


def double(folder, number):
    CALLS.append(number)
    return {"value": 2 * number}


def fail(folder):
    raise ArithmeticError("no good")


def first(settings, results):
    n = settings.draws(5, quick=3)
    return [Task(f"draw/{i}", double, (i,)) for i in range(n)]


def second(settings, results):
    return [Task("sum", double, (sum(results.column("draw", "value")),))]


def cells(results, settings):
    values = results.column("draw", "value")
    return [
        Cell.of("evens <b>", "mean", "RVM", 4.0, values, kind=Kind.ERROR, runs=5),
        Cell.of(
            "evens <b>",
            "sum",
            "RVM",
            1.0,
            [results["sum"]["value"]],
            kind=Kind.PLAIN,
            runs=1,
            is_test=False,
        ),
        Cell.of("evens <b>", "other", "SVM", 1.0, values, kind=Kind.PLAIN, runs=5),
    ]


def figures(results, settings):
    figure = Figure()
    figure.subplots().plot(results.column("draw", "value"))
    return {"plot": figure}


def tables(results, settings):
    return [Table("More", ["", "x"], [["row", "1"]])]


@pytest.fixture
def experiment():
    CALLS.clear()
    return Experiment(
        source="Nobody 1900",
        title="doubling",
        protocol="Words with `code`.\n\n- **one**\n  goes on\n- two < three",
        stages=(first, second),
        cells=cells,
        figures=figures,
        tables=tables,
    )


@pytest.fixture
def folder(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "TARGETS.toml").write_text("")
    return data


@pytest.fixture
def output(tmp_path):
    return tmp_path / "output"


@pytest.fixture
def main(experiment, folder, output, monkeypatch):
    monkeypatch.setattr(command, "NAMES", ("doubling",))
    monkeypatch.setattr(command, "load", {"doubling": experiment}.__getitem__)

    def call(*words):
        return command.main(
            [*words, "--data", str(folder), "--output", str(output), "--n-jobs", "1"]
        )

    return call


def test_later_stages_see_earlier_results_and_nothing_is_done_twice(experiment, tmp_path):
    path = tmp_path / "deep" / "tasks.jsonl"
    with Workers(1) as workers:
        results = run("doubling", experiment, Settings(), Store(path), workers, is_quiet=True)
        assert results.column("draw", "value") == [0, 2, 4, 6, 8]
        assert results["sum"] == {"value": 40}
        assert "nothing" not in results
        assert results.seconds >= 0.0
        assert len(CALLS) == 6
        again = run("doubling", experiment, Settings(), Store(path), workers, is_quiet=True)
    assert len(CALLS) == 6
    assert again.column("draw", "value") == results.column("draw", "value")


def test_fewer_repetitions_use_what_is_known(experiment, tmp_path):
    path = tmp_path / "tasks.jsonl"
    with Workers(1) as workers:
        run("doubling", experiment, Settings(), Store(path), workers, is_quiet=True)
        CALLS.clear()
        quick = Settings(is_quick=True)
        results = run("doubling", experiment, quick, Store(path), workers, is_quiet=True)
    assert results.column("draw", "value") == [0, 2, 4]
    assert CALLS == [6]  # the sum is another one


def test_a_line_cut_short_is_done_again(experiment, tmp_path):
    path = tmp_path / "tasks.jsonl"
    with Workers(1) as workers:
        run("doubling", experiment, Settings(), Store(path), workers, is_quiet=True)
        path.write_text(path.read_text()[:-10])
        CALLS.clear()
        run("doubling", experiment, Settings(), Store(path), workers, is_quiet=True)
        assert CALLS == [20]
        run("doubling", experiment, Settings(), Store(path), workers, is_quiet=True)
        assert CALLS == [20]


def test_changed_arguments_functions_and_data_count(folder):
    tasks = [Task("a", double, (1,)), Task("a", double, (2,)), Task("a", fail, (1,))]
    assert len({fingerprint(task, folder) for task in tasks}) == 3
    before = fingerprint(tasks[0], folder)
    other = folder.parent / "other"
    other.mkdir()
    assert fingerprint(tasks[0], other) == before
    changed = folder.parent / "changed"
    changed.mkdir()
    (changed / "set.npz").write_bytes(b"1")
    assert fingerprint(tasks[0], changed) != before


def test_results_survive_as_plain_numbers(tmp_path):
    import numpy as np

    store = Store(tmp_path / "tasks.jsonl")
    value = {"a": np.arange(3), "b": np.float64(1.5), "c": np.bool_(True)}
    kept = store.add("key", "mark", Record(value, 0.5))
    assert kept == Record({"a": [0, 1, 2], "b": 1.5, "c": True}, 0.5)
    assert Store(store.path).get("key", "mark") == kept
    assert store.get("key", "another") is None
    with pytest.raises(TypeError, match="A task may return"):
        store.add("key", "mark", Record({"a": object()}, 0.5))


def test_a_failing_task_is_named(experiment, tmp_path):
    import dataclasses

    broken = dataclasses.replace(experiment, stages=(lambda *_: [Task("bad/1", fail)],))
    with Workers(1) as workers, pytest.raises(TaskError, match="bad/1: ArithmeticError: no good"):
        run("broken", broken, Settings(), Store(tmp_path / "x"), workers, is_quiet=True)


def test_keys_must_differ(experiment, tmp_path):
    import dataclasses

    twice = dataclasses.replace(experiment, stages=(first, first))
    with Workers(1) as workers, pytest.raises(ValueError, match="same key"):
        run("twice", twice, Settings(), Store(tmp_path / "x"), workers, is_quiet=True)


@pytest.mark.slow
def test_processes_do_the_same(tmp_path):
    tasks = [Task(str(i), os.path.join, (str(i),)) for i in range(4)]
    with Workers(2) as workers:
        found = {task.key: record.value for task, record in workers.do(tasks, tmp_path)}
    assert found == {str(i): str(tmp_path / str(i)) for i in range(4)}


@pytest.mark.parametrize(
    ("settings", "draws", "at_most"),
    [
        (Settings(), 10, 10),
        (Settings(is_quick=True), 3, 3),
        (Settings(repetitions=20), 20, 10),
        (Settings(repetitions=5, is_quick=True), 5, 5),
    ],
)
def test_numbers_of_repetitions(settings, draws, at_most):
    assert settings.draws(10, quick=3) == draws
    assert settings.at_most(10, quick=3) == at_most


def test_results_by_prefix():
    results = Results(
        {"a/1": {"x": 1}, "ab/1": {"x": 2}, "a/2": {"x": 3}}, {"a/1": 1.0, "a/2": 2.0}
    )
    assert results.column("a", "x") == [1, 3]
    assert results.seconds == 3.0


def test_command_prints_and_writes(main, output, capsys):
    assert main("doubling", "--quick") == 0
    text = capsys.readouterr().out
    assert "evens" in text
    assert "not reproduced: evens <b>, mean" not in text
    assert "not reproduced: evens <b>, sum" in text
    assert "other" not in text.split("not reproduced:")[-1]
    assert (output / "figures" / "plot.png").stat().st_size > 1000
    lines = (output / "doubling.csv").read_text().splitlines()
    assert len(lines) == 4
    assert lines[1].startswith("evens <b>,mean,RVM,4.0,")
    assert ",3," in lines[1]
    assert lines[1].endswith(",error,,True,reproduced")
    assert lines[2].endswith(",False,not reproduced")
    page = (output / "doubling.md").read_text()
    assert "too few repetitions" in page
    assert "no test: not reproduced" in page
    assert "Words with `code`" in page


@pytest.mark.slow
def test_report_on_all(main, output, monkeypatch, tmp_path):
    monkeypatch.setattr(command, "HERE", tmp_path)
    assert main("all", "--publish", "--quiet") == 0
    markdown, page = ((output / name).read_text() for name in ("RESULTS.md", "results.html"))
    assert (tmp_path / "RESULTS.md").read_text() == markdown
    assert (tmp_path / "figures" / "plot.png").is_file()
    assert "`python -m reproduce all`" in markdown
    assert "| all |  | 2 | 1 | 0 | 1 | 50.0 % |" in markdown
    assert "| all except no test |  | 1 | 1 | 0 | 0 | 100.0 % |" in markdown
    assert "![plot](figures/plot.png)" in markdown
    assert "**More**" in markdown
    assert str(tmp_path) not in markdown + page
    assert "evens &lt;b&gt;" in page
    assert "<li><b>one</b> goes on</li>" in page
    assert "two &lt; three" in page
    assert "data:image/png;base64," in page
    assert "http" not in page.replace("https://", "http://").split("</style>")[1]


@pytest.mark.slow
def test_fresh_forgets(main, output):
    main("doubling")
    CALLS.clear()
    main("doubling")
    assert CALLS == []
    main("doubling", "--fresh")
    assert len(CALLS) == 6
    stored = (output / "tasks" / "doubling.jsonl").read_text().splitlines()
    assert {json.loads(line)["key"] for line in stored} >= {"sum", "draw/0"}


def test_one_failure_does_not_stop_the_others(main, experiment, output, monkeypatch, capsys):
    import dataclasses

    broken = dataclasses.replace(experiment, stages=(lambda *_: [Task("bad", fail)],))
    monkeypatch.setattr(command, "NAMES", ("broken", "doubling"))
    monkeypatch.setattr(command, "load", {"doubling": experiment, "broken": broken}.__getitem__)
    assert main("all") == 1
    assert "broken failed: bad: ArithmeticError: no good" in capsys.readouterr().err
    assert "## doubling" in (output / "RESULTS.md").read_text()


def test_list(main, capsys):
    assert command.main(["list"]) == 0
    assert "doubling  Nobody 1900: doubling" in capsys.readouterr().out
    assert command.main([]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tipping_sink"], "Did you mean tipping_sinc?"),
        (["all", "--repetitions", "1"], "at least 2"),
        (["all", "--n-jobs", "0"], "at least 1"),
        (["list", "--publish"], "needs `all`"),
        (["all", "--quick", "--publish"], "without --quick"),
    ],
)
def test_wrong_words_are_explained(words, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(words)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_absent_data_are_explained(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("RELVEC_DATA", raising=False)
    assert command.main(["all"]) == 2
    assert "--data DIR" in capsys.readouterr().err
    assert command.main(["all", "--data", str(tmp_path)]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_stars_in_code_are_not_bold():
    assert _inline("**R**: `x**-2` and `y**2` < **S**") == (
        "<b>R</b>: <code>x**-2</code> and <code>y**2</code> &lt; <b>S</b>"
    )


@pytest.mark.parametrize("line", ["123", "{}", '{"key": "a", "fingerprint": "b", "value": 1}', "x"])
def test_strange_lines_of_the_store_are_passed_over(tmp_path, line):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b"\xff\n" + line.encode() + b"\n")
    store = Store(path)
    store.add("key", "mark", Record({"a": 1}, 0.5))
    assert Store(path).get("key", "mark") == Record({"a": 1}, 0.5)


def test_a_folder_that_cannot_be_made_is_explained(main, output, capsys):
    output.write_text("a file")
    assert main("doubling") == 1
    assert "cannot be written to" in capsys.readouterr().err


def test_printed_figures_that_cannot_be_read_are_explained(folder, monkeypatch, capsys, tmp_path):
    path = folder / "TARGETS.toml"
    for text, words in (("[[", "cannot be read"), ("", "has no table [tipping2001.examples]")):
        path.write_text(text)
        words_given = ["tipping_sinc", "--data", str(folder), "--output", str(tmp_path / "out")]
        assert command.main([*words_given, "--quick", "--n-jobs", "1"]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.slow
def test_a_dead_worker_is_named_and_replaced(tmp_path):
    # a task is given a folder first: here, that is what the process is ended with
    bad, good = Task("bad", os._exit), Task("good", os.path.join, ("a",))
    with Workers(2) as workers:
        with pytest.raises(TaskError, match="bad"):
            list(workers.do([bad], 3))
        ((_, record),) = workers.do([good], tmp_path)
    assert record.value == str(tmp_path / "a")
