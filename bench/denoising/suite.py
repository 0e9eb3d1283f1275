"""The denoising suite: run its parts, make tables, say which targets are met."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

from bench.denoising.part import Record, target_table
from bench.denoising.worker import PARTS
from bench.report import Table
from bench.runner import ONE_THREAD, ROOT

__all__ = ["DEFAULT_PARTS", "PACKAGES", "PARTS", "run_part", "tables"]

DEFAULT_PARTS = tuple(name for name, part in PARTS.items() if part.is_default)

PACKAGES = ("relvec", "PyWavelets", "scikit-image", "numpy", "scipy")


def run_part(name: str, seed: int, repeats: int | None, quick: bool) -> Iterator[Record]:
    """Yield the records of a part as they come."""
    part = PARTS[name]
    n_draws = repeats or (min(2, part.repeats) if quick else part.repeats)
    seeds = list(range(seed, seed + n_draws))
    for case in part.cases(quick):
        record = _run({"part": name, "case": case, "seeds": seeds})
        note = "" if record["status"] == "ok" else f": {record['error']}"
        label = " ".join(str(value) for value in case.values() if not isinstance(value, list))
        print(f"{name} {label}{note}", file=sys.stderr, flush=True)
        yield record


def _run(job: Record) -> Record:
    process = subprocess.run(
        [sys.executable, "-m", "bench.denoising.worker", json.dumps(job)],
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode != 0:
        reason = f"ended with code {process.returncode}"
        print(process.stderr[-2000:], file=sys.stderr)
        return {**job, "status": "failed", "error": reason}
    record: Record = json.loads(process.stdout.splitlines()[-1])
    if record["status"] == "failed":
        print(process.stderr[-2000:], file=sys.stderr)
    return record


def tables(name: str, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a part, its targets last."""
    part = PARTS[name]
    targets = part.targets(records)
    return part.tables(records) + ([target_table(targets)] if targets else [])
