"""The accuracy suite: run what is not yet recorded, then make the page of all records."""

from __future__ import annotations

import importlib
import importlib.metadata
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.accuracy.fits import METHODS
from bench.accuracy.methods import Method
from bench.accuracy.problems import PROBLEMS, Problem, problems_of
from bench.accuracy.store import Store
from bench.classification.problems import VARIABLE
from bench.classification.suite import run_job

__all__ = ["DEFAULT_PARTS", "LIMIT", "NAMES", "PARTS", "Request", "folder_of", "run"]

Record = dict[str, Any]

PARTS: dict[str, dict[str, Method]] = METHODS
DEFAULT_PARTS = tuple(PARTS)
NAMES = tuple(dict.fromkeys(name for methods in METHODS.values() for name in methods))
"""Of methods, in the order of tables."""
LIMIT = 100.0
"""CPU seconds of a fit unless asked otherwise."""
QUICK_REPEATS = 2
QUICK = {"regression": ("friedman3",), "classification": ("pima",)}
CHUNK = 5
"""Draws between two writes of a record."""
RESULTS = Path(__file__).resolve().parents[1] / "results"


@dataclass(frozen=True)
class Request:
    """What was asked for; None for everything."""

    parts: Sequence[str] = DEFAULT_PARTS
    problems: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    seed: int = 1000
    repeats: int | None = None
    limit: float = LIMIT
    is_quick: bool = False
    is_fresh: bool = False
    """Whether to run again what is recorded."""

    def seeds(self, problem: Problem) -> list[int]:
        """Return the draws of a problem."""
        default = QUICK_REPEATS if self.is_quick else problem.repeats
        return problem.seeds(self.seed, self.repeats or default)


def folder_of(output: Path | None, is_quick: bool) -> Path:
    """Return the folder of records and pages."""
    return output or RESULTS / ("accuracy-quick" if is_quick else "accuracy")


def _chosen(request: Request) -> Iterator[tuple[Problem, Method]]:
    """Yield problems and methods, leaving out, with a message, those that are not available."""
    for part in request.parts:
        names = request.problems or (QUICK[part] if request.is_quick else tuple(PROBLEMS))
        problems = [problem for problem in problems_of(part) if problem.name in names]
        absent = [problem.name for problem in problems if not problem.is_there]
        if absent:
            reason = f"they need --data FOLDER or {VARIABLE}"
            print(f"left out: {', '.join(absent)}; {reason}", file=sys.stderr)
        methods = [m for m in PARTS[part].values() if m.name in (request.methods or NAMES)]
        missing = [method.name for method in methods if not method.is_installed]
        if missing:
            print(f"not installed, left out: {', '.join(missing)}", file=sys.stderr)
        for problem in problems:
            for method in methods:
                if problem.is_there and method.is_installed:
                    yield problem, method


def run(request: Request, store: Store) -> None:
    """Run what is asked for and not recorded yet, method by method on each problem."""
    for problem, method in _chosen(request):
        if request.is_fresh:
            store.delete(problem.part, problem.name, method.name)
        record = store.read(problem.part, problem.name, method.name) or _empty(problem, method)
        for seeds in _missing(record, request.seeds(problem), request.limit):
            record = _continued(record, seeds, problem, request.limit)
            store.write(record)
            print(_line(record), file=sys.stderr, flush=True)
            if record["status"] != "ok":
                break


def _empty(problem: Problem, method: Method) -> Record:
    return {
        "part": problem.part,
        "problem": problem.name,
        "method": method.name,
        "version": _version(method.package),
        "status": "ok",
        "draws": [],
    }


def _version(package: str) -> str:
    """Return name and version of the distribution that a module belongs to."""
    names = importlib.metadata.packages_distributions().get(package, [])
    if names:
        return f"{names[0]} {importlib.metadata.version(names[0])}"
    return f"{package} {importlib.import_module(package).__version__}"  # from a checkout


def _missing(record: Record, seeds: Sequence[int], limit: float) -> Iterator[list[int]]:
    """Yield chunks of draws to run; none if a fit was stopped at this limit before."""
    if record["status"] == "over limit" and limit <= record["limit"]:
        return
    done = {draw["seed"] for draw in record["draws"]}
    left = [seed for seed in seeds if seed not in done]
    for start in range(0, len(left), CHUNK):
        yield left[start : start + CHUNK]


def _continued(record: Record, seeds: list[int], problem: Problem, limit: float) -> Record:
    case = {"problem": problem.name, "method": record["method"], "seeds": seeds}
    job = {"part": problem.part, "module": "bench.accuracy.fits", "case": case, "limit": limit}
    answer = run_job(job)
    kept = {key: answer[key] for key in ("status", "error", "stopped_at") if key in answer}
    known = {key: record[key] for key in ("part", "problem", "method", "version")}
    draws = [*record["draws"], *answer.get("draws", [])]
    return {**known, **kept, "limit": limit, "draws": sorted(draws, key=lambda d: d["seed"])}


def _line(record: Record) -> str:
    what = f"{record['part']} {record['problem']} {record['method']}, {len(record['draws'])} draws"
    if record["status"] != "ok":
        return f"{what}: {record.get('error', record['status'])}"
    keys = ("rmse", "mlpd") if record["part"] == "regression" else ("error", "log_loss")
    metrics = [f"{key} {statistics.fmean(d[key] for d in record['draws']):.4g}" for key in keys]
    cpu = statistics.median(draw["cpu"] for draw in record["draws"])
    return f"{what}: {cpu:.3g} CPU s, {', '.join(metrics)}"
