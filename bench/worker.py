"""One fit of one candidate on one draw, in a process of its own.

Run by `bench.runner` as ``python -m bench.worker JOB`` with a JSON job; prints a JSON record.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bench.evidence import reoptimised_evidence
from bench.measure import (
    PeakMemory,
    cpu_clock,
    cpu_seconds,
    limit_cpu,
    unavoidable,
    unavoidable_by_rows,
)
from bench.methods import METHODS, Fit, Method
from bench.problems import PROBLEMS, Draw

WARM_UP = 60
"""Rows of the untimed first fit, which pays for lazy imports and for waking the BLAS."""


@dataclass(frozen=True)
class Job:
    """What to fit. `n_samples` overrides the problem's size, `n_centers` takes that many rows."""

    problem: str
    method: str
    seed: int
    cpu_limit: float
    n_samples: int | None = None
    n_centers: int | None = None


def blas_libraries() -> list[dict[str, Any]]:
    """Return the BLAS libraries this process has loaded, with their number of threads."""
    from threadpoolctl import threadpool_info

    return [
        {key: library.get(key) for key in ("internal_api", "version", "num_threads")}
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]


def options_for(job: Job, X: np.ndarray) -> dict[str, Any]:
    """Return the extra arguments of the fit: centres, if they are not all rows."""
    if job.n_centers is None:
        return {}
    return {"centers": np.ascontiguousarray(X[: job.n_centers])}


def timed_fit(job: Job, method: Method, draw: Draw, gamma: float) -> tuple[Any, dict[str, Any]]:
    """Return the fitted object, and the CPU seconds and the memory it took."""
    loaded = method.load()
    few = slice(0, WARM_UP)
    method.fit(loaded, draw.X[few], draw.y[few], gamma)
    options = options_for(job, draw.X)

    def fit() -> Any:
        return method.fit(loaded, draw.X, draw.y, gamma, **options)

    limit_cpu(job.cpu_limit)
    memory = PeakMemory()
    start = cpu_clock()
    model = fit()
    first = cpu_clock() - start
    peak = memory.above_start()
    cpu = first if first > 0.25 else cpu_seconds(fit, total=first)
    limit_cpu(None)
    return model, {"cpu": cpu, "peak_mb": peak}


def columns_needed(fit: Fit) -> int:
    """Return how many columns the search asked for, or at least those it kept."""
    return fit.n_vectors if fit.n_columns_fetched is None else fit.n_columns_fetched


def judge(fit: Fit, draw: Draw, gamma: float, *, on_rows: bool) -> dict[str, Any]:
    """Return accuracy, size and evidence of a fitted candidate."""
    error = fit.predict(draw.X_test) - draw.target_test
    evidence = None
    if on_rows and fit.rows is not None:
        evidence = reoptimised_evidence(
            draw.X, draw.y, gamma, fit.rows, fit.weight_precision, fit.noise_variance
        )
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "n_vectors": int(fit.n_vectors),
        "evidence": evidence,
        "reported_evidence": None if fit.log_evidence is None else float(fit.log_evidence),
        "n_iter": None if fit.n_iter is None else int(fit.n_iter),
        "is_cut_short": fit.is_cut_short,
        "n_columns_fetched": fit.n_columns_fetched,
    }


def run(job: Job) -> dict[str, Any]:
    """Return the record of one fit."""
    floor: dict[str, Any]
    problem, method = PROBLEMS[job.problem], METHODS[job.method]
    draw = problem.draw(job.seed, job.n_samples)
    model, cost = timed_fit(job, method, draw, problem.gamma)
    fit = method.read(model, draw.X, problem.gamma)
    quality = judge(fit, draw, problem.gamma, on_rows=job.n_centers is None)
    if fit.rows is None:  # another model: our floor is not its floor
        floor = {"kernel_cpu": None, "product_cpu": None}
    elif job.n_centers is None:
        floor = unavoidable(draw.X, problem.gamma, columns_needed(fit))
    else:
        centers = options_for(job, draw.X)["centers"]
        floor = unavoidable_by_rows(draw.X, draw.y, centers, problem.gamma)
    return {"status": "ok", **cost, **quality, **floor, "blas": blas_libraries()}


def main(argument: str) -> None:
    """Run the job and print its record as the last line."""
    warnings.simplefilter("ignore")
    job = Job(**json.loads(argument))
    try:
        record = run(job)
    except Exception as error:
        traceback.print_exc()
        record = {"status": "failed", "error": f"{type(error).__name__}: {error}"}
    print(json.dumps({**asdict(job), **record}))


if __name__ == "__main__":
    main(sys.argv[1])
