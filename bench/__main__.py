"""Command line of the benchmarks."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import regression, report, scaling
from bench.accuracy import page as accuracy_page
from bench.accuracy import suite as accuracy
from bench.accuracy.problems import PROBLEMS as ACCURACY_PROBLEMS
from bench.accuracy.store import Store
from bench.classification import suite as classification
from bench.counts import suite as counts
from bench.denoising import suite as denoising
from bench.density import suite as density
from bench.density.real import draw_plots as draw_real_densities
from bench.features import suite as features
from bench.kernels import suite as kernels
from bench.methods import METHODS
from bench.noise import suite as noise
from bench.problems import PROBLEMS
from bench.runner import Record, run_jobs
from bench.sampling import suite as sampling
from bench.worker import Job

SUITES = {
    "denoise": denoising,
    "classification": classification,
    "features": features,
    "accuracy": accuracy,
    "density": density,
    "noise": noise,
    "counts": counts,
    "sampling": sampling,
    "kernels": kernels,
}
"""Suites that consist of parts."""
PAGE_SUITES: dict[str, Any] = {
    "density": density,
    "noise": noise,
    "counts": counts,
    "sampling": sampling,
    "kernels": kernels,
}
"""Suites whose parts are written on one page of their own."""
LIMIT = 120.0
"""CPU seconds of a fit unless asked otherwise, but for the accuracy suite."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("suite", choices=("regression", "scaling", *SUITES))
    parser.add_argument("--quick", action="store_true", help="small problems, one draw")
    parser.add_argument("--repeats", type=int, help="draws or splits per problem")
    parser.add_argument("--seed", type=int, default=1000, help="seed of the first draw")
    parser.add_argument("--limit", type=float, help="CPU seconds allowed to one fit")
    parser.add_argument(
        "--problems",
        type=_names([*PROBLEMS, *ACCURACY_PROBLEMS, *kernels.PROBLEMS]),
        help="of the regression, accuracy and kernels suites, comma-separated",
    )
    parser.add_argument(
        "--methods",
        type=_names([*METHODS, *accuracy.NAMES, *kernels.NAMES]),
        help="comma-separated",
    )
    parser.add_argument(
        "--parts",
        type=_names({part for suite in SUITES.values() for part in suite.PARTS}),
        help="comma-separated; "
        + "; ".join(f"of the {n} suite: {', '.join(s.PARTS)}" for n, s in SUITES.items()),
    )
    parser.add_argument("--data", type=Path, help="folder of published sets (or RELVEC_DATA)")
    parser.add_argument(
        "--output",
        type=Path,
        help="write the report (.md) or raw records (.json); of the accuracy suite the folder of "
        "records, page and plots",
    )
    parser.add_argument(
        "--write-readme",
        action="store_true",
        help="fill in bench/README.md (or the page of the suite)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="of the accuracy suite: run again what is recorded"
    )
    parser.add_argument(
        "--report-only",
        action="store_true",
        help="of the accuracy and kernels suites: page of the records",
    )
    parser.add_argument(
        "--development",
        action="store_true",
        help="of the kernels suite: seeds, splits and parts of series on which choices are made",
    )
    options = parser.parse_args(arguments)
    if options.suite in SUITES:
        suite = SUITES[options.suite]
        options.parts = options.parts or suite.DEFAULT_PARTS
        unknown = [name for name in options.parts if name not in suite.PARTS]
        if unknown:
            parser.error(f"unknown parts {unknown}; choose from {list(suite.PARTS)}")
    is_accuracy = options.suite == "accuracy"
    if options.limit is None:
        options.limit = accuracy.LIMIT if is_accuracy else LIMIT
    if options.development and (options.suite != "kernels" or options.write_readme):
        parser.error("--development is of the kernels suite, and its results are not on the page")
    known_names: dict[str, tuple[Collection[str], Collection[str]]] = {
        "accuracy": (ACCURACY_PROBLEMS, accuracy.NAMES),
        "kernels": (kernels.PROBLEMS, kernels.NAMES),
    }
    problems, methods = known_names.get(options.suite, (PROBLEMS, METHODS))
    for what, names, known in (
        ("problems", options.problems, problems),
        ("methods", options.methods, methods),
    ):
        unknown = [name for name in names or () if name not in known]
        if unknown:
            parser.error(f"unknown {what} {unknown}; choose from {list(known)}")
    return options


def _names(known: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    def split(text: str) -> tuple[str, ...]:
        names = tuple(name.strip() for name in text.split(","))
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown {unknown}; choose from {list(known)}")
        return names

    return split


def plan(options: argparse.Namespace) -> Iterator[Job]:
    """Yield the jobs that the options ask for, leaving out what is not installed."""
    seeds = range(options.seed, options.seed + (options.repeats or (1 if options.quick else 3)))
    default = tuple(METHODS) if options.suite == "regression" else scaling.METHODS
    methods = options.methods or default
    absent = [name for name in methods if not METHODS[name].is_installed]
    if absent:
        print(f"not installed, left out: {', '.join(absent)}", file=sys.stderr)
        methods = tuple(name for name in methods if name not in absent)
    if options.suite == "scaling":
        return scaling.jobs(methods, seeds, options.limit, options.quick)
    problems = options.problems or regression.default_problems(options.quick)
    return regression.jobs(problems, methods, seeds, options.limit)


def main(arguments: Sequence[str]) -> int:
    """Run a suite and report; the exit code is 1 if a fit failed other than by its limit."""
    options = parse(arguments)
    if options.suite == "denoise":
        return denoise(options, arguments)
    if options.suite in ("classification", "features"):
        return classify(options, arguments)
    if options.suite in PAGE_SUITES:
        return run_page(options, arguments)
    if options.suite == "accuracy":
        return compare_accuracy(options, arguments)
    records: list[Record] = list(run_jobs(plan(options)))
    suite = regression if options.suite == "regression" else scaling
    tables = suite.tables(records)
    notes = regression.notes(records) if suite is regression else []
    report.show(tables)
    print("\n".join(notes))
    text = report.markdown(tables, report.describe_run(records, command_line(arguments)), notes)
    if options.output:
        raw = json.dumps(records, indent=1) if options.output.suffix == ".json" else text
        options.output.write_text(raw, encoding="utf-8")
    if options.write_readme:
        report.write_readme(options.suite, text)
    return int(any(record["status"] == "failed" for record in records))


def denoise(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Run parts of the denoising suite; each has a place of its own in the page."""
    everything: list[Record] = []
    texts = []
    for name in options.parts:
        records = list(denoising.run_part(name, options.seed, options.repeats, options.quick))
        everything += records
        tables = denoising.tables(name, records)
        report.show(tables)
        facts = report.describe_run(records, command_line(arguments), denoising.PACKAGES)
        texts.append(report.markdown(tables, facts, []))
        if options.write_readme:
            report.write_readme(f"denoise-{name}", texts[-1])
    return finish_parts(options, everything, texts)


def run_page(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Run parts of a suite that has a page of its own."""
    classification.use_data(options.data)
    suite = PAGE_SUITES[options.suite]
    everything: list[Record] = []
    texts = {}
    choice = _choose_kernels(options) if suite is kernels else {}
    for name in options.parts:
        records = list(suite.run_part(name, options.seed, options.repeats, options.quick, **choice))
        if not records:
            continue
        everything += records
        tables = suite.tables(name, records)
        report.show(tables)
        texts[name] = "\n\n".join(table.markdown() for table in tables)
    facts = report.describe_run(everything, command_line(arguments), suite.PACKAGES)
    if suite is density and "real" in texts:
        plot = (density.PAGE.parent if options.write_readme else Path("build")) / density.PLOT
        draw_real_densities(plot)
        print(f"plot: {plot.name} in {plot.parent.name}")
    if options.write_readme:
        suite.write_page(texts, facts)
    return finish_parts(options, everything, [facts, *texts.values()])


def _choose_kernels(options: argparse.Namespace) -> dict[str, Any]:
    """Return what is asked of the kernels suite beyond the other suites."""
    return {
        "methods": () if options.report_only else options.methods,
        "problems": options.problems,
        "is_development": options.development,
    }


def classify(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Run parts of a suite with published sets; each has a place of its own in the page."""
    classification.use_data(options.data)
    suite = features if options.suite == "features" else classification
    everything: list[Record] = []
    texts = []
    for name in options.parts:
        records = list(
            suite.run_part(name, options.seed, options.repeats, options.quick, options.limit)
        )
        if not records:
            continue
        everything += records
        tables, notes = suite.tables(name, records), suite.notes(name, records)
        report.show(tables)
        print("\n".join(notes))
        facts = report.describe_run(records, command_line(arguments))
        texts.append(report.markdown(tables, facts, notes))
        if options.write_readme:
            report.write_readme(f"{options.suite}-{name}", texts[-1])
    return finish_parts(options, everything, texts)


def compare_accuracy(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Run what is not recorded yet; then make tables, page and plots of all records."""
    classification.use_data(options.data)
    folder = accuracy.folder_of(options.output, options.quick)
    store = Store(folder)
    if not options.report_only:
        request = accuracy.Request(
            parts=options.parts,
            problems=options.problems,
            methods=options.methods,
            seed=options.seed,
            repeats=options.repeats,
            limit=options.limit,
            is_quick=options.quick,
            is_fresh=options.fresh,
        )
        accuracy.run(request, store)
    records = list(store.records())
    if not records:
        print(f"no records in {folder}", file=sys.stderr)
        return 1
    for part in options.parts:
        report.show(accuracy_page.shown_tables(part, records))
        print("\n".join(accuracy_page.notes(part, records)))
    packages = (*report.PACKAGES, "ngboost")
    facts = report.describe_run(records, command_line(arguments), packages)
    folders = [folder, *([report.README.parent] if options.write_readme else [])]
    for where in folders:
        accuracy_page.write_page(where, records, facts)
    return int(any(record["status"] == "failed" for record in records))


def finish_parts(options: argparse.Namespace, records: Sequence[Record], texts: list[str]) -> int:
    """Write the output, if one is asked for, and return the exit code."""
    if options.output:
        as_json = options.output.suffix == ".json"
        text = json.dumps(records, indent=1) if as_json else "\n".join(texts)
        options.output.write_text(text, encoding="utf-8")
    return int(any(record["status"] == "failed" for record in records))


def command_line(arguments: Sequence[str]) -> str:
    """Return the command that was given, without where its output went or its data lie."""
    kept = []
    for argument, before in zip(arguments, ["", *arguments], strict=False):
        if "--output" not in (argument, before):
            kept.append("DATA" if before == "--data" else argument)
    return shlex.join(["python", "-m", "bench", *kept])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
