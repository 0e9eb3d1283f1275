"""Compute published tables and figures again, next to what was printed."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import report
from reproduce.common.published import FILE, find
from reproduce.engine import Settings
from reproduce.engine.notes import read_notes
from reproduce.engine.outcome import FIGURES, Outcome, conclude, shrink_picture, write_files
from reproduce.engine.pages import html_page, markdown_page
from reproduce.engine.run import TaskError, Workers, run
from reproduce.engine.store import Store
from reproduce.experiments import NAMES, load

HERE = Path(__file__).parent
OUTPUT = HERE / "output"
PACKAGES = ("relvec", "scikit-learn", "numpy", "scipy", "PyWavelets")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m reproduce", description=__doc__)
    parser.add_argument(
        "name",
        nargs="?",
        default="list",
        choices=["list", "all", *NAMES],
        metavar="list|all|NAME",
        help="what to compute; list (the default) says what there is",
    )
    parser.add_argument("--repetitions", type=int, metavar="R", help="as in the paper if left out")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help=f"folder with {FILE} and data (or RELVEC_DATA)"
    )
    parser.add_argument(
        "--n-jobs", type=int, metavar="J", default=os.cpu_count() or 1, help="processes"
    )
    parser.add_argument("--quick", action="store_true", help="a few repetitions, to see it work")
    parser.add_argument(
        "--output", type=Path, default=OUTPUT, metavar="DIR", help="where results and reports go"
    )
    parser.add_argument("--fresh", action="store_true", help="forget results of earlier runs")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument(
        "--publish", action="store_true", help="of all: also write reproduce/RESULTS.md"
    )
    options = parser.parse_args(arguments)
    if options.repetitions is not None and options.repetitions < 2:
        parser.error(
            f"--repetitions must be at least 2 for a standard error; got {options.repetitions}."
        )
    if options.n_jobs < 1:
        parser.error(f"--n-jobs must be at least 1; got {options.n_jobs}.")
    if options.publish and options.name != "all":
        parser.error("--publish goes with all.")
    return options


def _list() -> int:
    print("python -m reproduce all, or python -m reproduce NAME, where NAME is one of:")
    width = max(len(name) for name in NAMES)
    for name in NAMES:
        experiment = load(name)
        print(f"  {name.ljust(width)}  {experiment.source}: {experiment.title}")
    return 0


def _command(options: argparse.Namespace) -> str:
    """Return the command without what belongs to this machine."""
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
    print(f"\n{name}: {experiment.source}: {experiment.title}")
    shown = [outcome.table] if outcome.judged else []
    report.show([*shown, *outcome.tables])
    notes = read_notes()
    for text, cells in outcome.misses(notes):
        print(f"not reproduced: {'; '.join(cells)}. {text}")
    print("wrote " + ", ".join(str(each) for each in paths))
    return outcome


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; the exit code is 2 if data are missing, 1 if something failed."""
    options = parse(arguments)
    if options.name == "list":
        return _list()
    names = NAMES if options.name == "all" else (options.name,)
    outcomes: list[Outcome] = []
    failures: list[str] = []
    start = time.monotonic()
    try:
        folder = find(options.data, FILE).parent.resolve()
        settings = Settings(folder, options.repetitions, options.quick)
        with Workers(options.n_jobs) as workers:
            for name in names:
                try:
                    outcomes.append(_run(name, settings, options, workers))
                except TaskError as error:
                    failures.append(f"{name} failed: {error}")
                    print(failures[-1], file=sys.stderr)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    if options.name == "all":
        _write_report(outcomes, options, time.monotonic() - start)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def _write_report(outcomes: Sequence[Outcome], options: argparse.Namespace, wall: float) -> None:
    """Write one page of all experiments, and publish it if asked to."""
    cpu = sum(outcome.seconds for outcome in outcomes)
    facts = report.machine([], _command(options), PACKAGES)
    facts += f"\n- {cpu / 60:.0f} minutes of CPU time; this run took {wall / 60:.0f} minutes "
    facts += f"with {options.n_jobs} processes"
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
                shrink_picture(options.output / FIGURES / f"{name}.png", HERE / FIGURES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
