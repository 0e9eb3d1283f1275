"""Reproduce published tables and figures, and compare with the published values."""

from __future__ import annotations

import argparse
import difflib
import os
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import report
from reproduce.common.published import FILE, VARIABLE, PublishedError, find
from reproduce.engine import Settings
from reproduce.engine.notes import read_notes
from reproduce.engine.outcome import FIGURES, Outcome, compress_image, conclude, write_files
from reproduce.engine.pages import html_page, markdown_page
from reproduce.engine.run import TaskError, Workers, run
from reproduce.engine.store import Store
from reproduce.experiments import NAMES, load

HERE = Path(__file__).parent
OUTPUT = HERE / "output"
QUICK = "A quick run: too few repetitions for verdicts. Protocols and notes describe full runs."
PACKAGES = ("relvec", "scikit-learn", "numpy", "scipy", "PyWavelets")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m reproduce", description=__doc__)
    parser.add_argument(
        "name",
        nargs="?",
        default="list",
        metavar="list|all|NAME",
        help="what to run; list (the default) prints the experiments",
    )
    parser.add_argument(
        "--repetitions", type=int, metavar="R", help="draws or splits (default: as in the paper)"
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help=f"folder with {FILE} and data (or {VARIABLE})"
    )
    n_cores = os.cpu_count() or 1
    parser.add_argument(
        "--n-jobs",
        type=int,
        metavar="J",
        default=n_cores,
        help=f"number of processes (default: {n_cores}, all cores)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a few repetitions, as a test; verdicts are invalid"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=OUTPUT,
        metavar="DIR",
        help="folder of results and reports (default: reproduce/output)",
    )
    parser.add_argument("--fresh", action="store_true", help="ignore results of earlier runs")
    parser.add_argument("--quiet", action="store_true", help="do not report progress")
    parser.add_argument(
        "--publish", action="store_true", help="with all: also write reproduce/RESULTS.md"
    )
    options = parser.parse_args(arguments)
    _check(options, parser)
    return options


def _check(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Exit with an error message if the options are invalid."""
    if options.name not in ("list", "all", *NAMES):
        near = difflib.get_close_matches(options.name, ["list", "all", *NAMES], n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        parser.error(f"there is no experiment {options.name!r}.{hint} `list` prints all of them.")
    if options.repetitions is not None and options.repetitions < 2:
        given = options.repetitions
        parser.error(f"--repetitions must be at least 2 for a standard error; got {given}.")
    if options.n_jobs < 1:
        parser.error(f"--n-jobs must be at least 1; got {options.n_jobs}.")
    if options.publish and (options.name != "all" or options.quick or options.repetitions):
        parser.error("--publish needs `all`, without --quick and --repetitions.")


def _list() -> int:
    print("python -m reproduce all, or python -m reproduce NAME, where NAME is one of:")
    width = max(len(name) for name in NAMES)
    for name in NAMES:
        experiment = load(name)
        print(f"  {name.ljust(width)}  {experiment.source}: {experiment.title}")
    return 0


def _command(options: argparse.Namespace) -> str:
    """Return the command without options that do not change the results."""
    words = ["python", "-m", "reproduce", options.name]
    if options.repetitions is not None:
        words += ["--repetitions", str(options.repetitions)]
    return shlex.join(words + (["--quick"] if options.quick else []))


def _run(name: str, settings: Settings, options: argparse.Namespace, workers: Workers) -> Outcome:
    """Run one experiment, print its tables and write its files."""
    experiment = load(name)
    path = options.output / "tasks" / f"{name}.jsonl"
    if options.fresh:
        path.unlink(missing_ok=True)
    results = run(name, experiment, settings, Store(path), workers, options.quiet)
    outcome = conclude(name, experiment, results, settings)
    paths = write_files(outcome, options.output)
    notes = read_notes()
    paths.append(options.output / f"{name}.md")
    page = markdown_page([outcome], _facts([outcome], options), notes, FIGURES)
    paths[-1].write_text(page, encoding="utf-8")
    print(f"\n{name}: {experiment.source}: {experiment.title}")
    if options.quick:
        print(QUICK)
    shown = [outcome.table] if outcome.judged else []
    report.show([*shown, *outcome.tables])
    for text, cells in outcome.misses(notes):
        print(f"not reproduced: {'; '.join(cells)}. {text}")
    print("wrote " + ", ".join(str(each) for each in paths))
    return outcome


def main(arguments: Sequence[str]) -> int:
    """Run the command; the exit code is 2 if data are missing, 1 if an experiment failed."""
    options = parse(arguments)
    if options.name == "list":
        return _list()
    try:
        return _run_all(options)
    except (FileNotFoundError, PublishedError) as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"Results cannot be written to {options.output}: {error}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command continues from here.", file=sys.stderr)
        return 130


def _run_all(options: argparse.Namespace) -> int:
    """Run one or all experiments; a failure does not stop the others."""
    names = NAMES if options.name == "all" else (options.name,)
    outcomes: list[Outcome] = []
    failures: list[str] = []
    start = time.monotonic()
    folder = find(options.data, FILE).parent.resolve()
    try:
        (options.output / FIGURES).mkdir(parents=True, exist_ok=True)
    except FileNotFoundError as error:
        raise PermissionError(f"the folder cannot be made ({error.strerror})") from error
    settings = Settings(folder, options.repetitions, options.quick)
    is_data_missing = False
    with Workers(options.n_jobs) as workers:
        for name in names:
            try:
                outcomes.append(_run(name, settings, options, workers))
            except (TaskError, FileNotFoundError, PublishedError) as error:
                is_data_missing |= not isinstance(error, TaskError)
                failures.append(f"{name} failed: {error}")
                print(failures[-1], file=sys.stderr)
    if options.name == "all":
        _write_report(outcomes, options, time.monotonic() - start)
        for failure in failures:
            print(failure, file=sys.stderr)
    return (2 if is_data_missing else 1) if failures else 0


def _facts(outcomes: Sequence[Outcome], options: argparse.Namespace) -> str:
    """Return command, hardware, versions and time."""
    facts = report.machine([], _command(options), PACKAGES)
    facts += f"\n- {sum(outcome.seconds for outcome in outcomes) / 60:.1f} minutes of CPU time"
    return facts + (f"\n- **{QUICK}**" if options.quick else "")


def _write_report(outcomes: Sequence[Outcome], options: argparse.Namespace, wall: float) -> None:
    """Write the report of all experiments, and publish it if requested."""
    facts = _facts(outcomes, options)
    facts += f"; this run took {wall / 60:.1f} minutes with {options.n_jobs} processes"
    n_known = sum(outcome.n_known for outcome in outcomes)
    if n_known:
        n_tasks = sum(outcome.n_tasks for outcome in outcomes)
        facts += f", with {n_known} of {n_tasks} tasks stored by earlier runs"
    notes = read_notes()
    markdown = markdown_page(outcomes, facts, notes, FIGURES)
    page = html_page(outcomes, facts, notes, options.output / FIGURES)
    (options.output / "RESULTS.md").write_text(markdown, encoding="utf-8")
    (options.output / "results.html").write_text(page, encoding="utf-8")
    print(f"wrote {options.output / 'RESULTS.md'} and {options.output / 'results.html'}")
    if options.publish:
        (HERE / "RESULTS.md").write_text(markdown, encoding="utf-8")
        shutil.rmtree(HERE / FIGURES, ignore_errors=True)
        (HERE / FIGURES).mkdir()
        for outcome in outcomes:
            for name in outcome.figures:
                compress_image(options.output / FIGURES / f"{name}.png", HERE / FIGURES)
        print(f"wrote {HERE / 'RESULTS.md'} and its plots")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
