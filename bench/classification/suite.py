"""The classification suite: run its parts, make tables, say which targets are met."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.classification.calibration import CALIBRATION_PART
from bench.classification.digits import DIGITS_PART
from bench.classification.memory import MEMORY_PART
from bench.classification.part import Case, Part, Plan, Record, target_table
from bench.classification.problems import VARIABLE, folder
from bench.classification.speed import SPEED_PART
from bench.classification.usps import USPS_PART
from bench.report import Table
from bench.runner import ONE_THREAD, ROOT

__all__ = ["DEFAULT_PARTS", "PARTS", "notes", "run_job", "run_part", "tables", "use_data"]

PARTS: dict[str, Part] = {
    "speed": SPEED_PART,
    "memory": MEMORY_PART,
    "digits": DIGITS_PART,
    "calibration": CALIBRATION_PART,
    "usps": USPS_PART,
}

DEFAULT_PARTS = tuple(name for name, part in PARTS.items() if part.is_default)


def use_data(where: Path | None) -> None:
    """Name the folder of published sets, for this process and those it starts."""
    if where is not None:
        os.environ[VARIABLE] = str(where.resolve())


def run_part(
    name: str, seed: int, repeats: int | None, quick: bool, limit: float
) -> Iterator[Record]:
    """Yield the records of a part as they come; who is over the limit is not tried again."""
    part = PARTS[name]
    if part.needs_data and folder() is None:
        print(f"{name} left out: it needs --data FOLDER or {VARIABLE}", file=sys.stderr)
        return
    n_draws = repeats or (1 if quick else part.repeats)
    given_up: set[str] = set()
    for case in part.cases(Plan(range(seed, seed + n_draws), quick)):
        label = " ".join(str(v) for key, v in case.items() if key != "seed" and v is not None)
        if label in given_up:
            continue
        record = run_job({"part": name, "module": part.module, "case": case, "limit": limit})
        if record["status"] != "ok":
            given_up.add(label)
        print(f"{name} {label}: {_format_metrics(record)}", file=sys.stderr, flush=True)
        yield record


def _format_metrics(record: Record) -> str:
    if record["status"] != "ok":
        return str(record.get("error", record["status"]))
    losses = [split["log_loss"] for split in record.get("splits", [record])]
    loss = "" if None in losses else f", log loss {statistics.fmean(losses):.4f}"
    return f"{record['cpu']:.3g} CPU s{loss}"


def run_job(job: Case) -> Record:
    """Return the record of one case, run in a process of its own with one BLAS thread."""
    process = subprocess.run(
        [sys.executable, "-m", "bench.classification.worker", json.dumps(job)],
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode == -signal.SIGXCPU:
        return {**job, "status": "over limit"}
    if process.returncode != 0:
        print(process.stderr[-2000:], file=sys.stderr)
        return {**job, "status": "failed", "error": f"ended with code {process.returncode}"}
    record: Record = json.loads(process.stdout.splitlines()[-1])
    if record["status"] == "failed":
        print(process.stderr[-2000:], file=sys.stderr)
    return record


def tables(name: str, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a part, its targets last."""
    part = PARTS[name]
    targets = part.targets(records)
    return part.tables(records) + ([target_table(targets)] if targets else [])


def notes(name: str, records: Sequence[Record]) -> list[str]:
    """Return what a reader of the tables must know."""
    return PARTS[name].notes(records)
