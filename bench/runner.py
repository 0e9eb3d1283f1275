"""Run jobs one after the other, each in a fresh process with one BLAS thread."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.worker import Job

ROOT = Path(__file__).resolve().parent.parent

ONE_THREAD = dict.fromkeys(
    (
        "OPENBLAS_NUM_THREADS",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)

Record = dict[str, Any]


def run_job(job: Job) -> Record:
    """Return the record of one job; a fit stopped at its CPU limit has status "over limit"."""
    process = subprocess.run(
        [sys.executable, "-m", "bench.worker", json.dumps(asdict(job))],
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode == -signal.SIGXCPU:
        return {**asdict(job), "status": "over limit"}
    if process.returncode != 0:
        reason = f"ended with code {process.returncode}"
        print(process.stderr[-2000:], file=sys.stderr)
        return {**asdict(job), "status": "failed", "error": reason}
    record: Record = json.loads(process.stdout.splitlines()[-1])
    if record["status"] == "failed":
        print(process.stderr[-2000:], file=sys.stderr)
    return record


def run_worker(module: str, job: Record) -> Record:
    """Return the record of a job that a module with a worker of its own does."""
    process = subprocess.run(
        [sys.executable, "-m", module, json.dumps(job)],
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode != 0:
        print(process.stderr[-2000:], file=sys.stderr)
        return {**job, "status": "failed", "error": f"ended with code {process.returncode}"}
    record: Record = json.loads(process.stdout.splitlines()[-1])
    if record["status"] == "failed":
        print(process.stderr[-2000:], file=sys.stderr)
    return record


def run_jobs(jobs: Iterable[Job]) -> Iterator[Record]:
    """Yield records as they come; a method over the limit is not tried on further draws."""
    given_up: set[tuple[str, str, int | None, int | None]] = set()
    for job in jobs:
        case = (job.problem, job.method, job.n_samples, job.n_centers)
        if case in given_up:
            continue
        record = run_job(job)
        if record["status"] != "ok":
            given_up.add(case)
        print(progress_line(record), file=sys.stderr, flush=True)
        yield record


def progress_line(record: Record) -> str:
    """Return one line about a record."""
    size = f" n={record['n_samples']}" if record["n_samples"] else ""
    what = f"{record['problem']}{size} seed {record['seed']}: {record['method']}"
    if record["status"] != "ok":
        return f"{what}: {record.get('error', record['status'])}"
    metrics = f"{record['cpu']:.3g} CPU s, {record['n_vectors']} vectors"
    return f"{what}: {metrics}, rmse {record['rmse']:.3g}"
