"""One problem with all methods, in a process of its own.

Run by `bench.noise.suite` as ``python -m bench.noise.worker JOB`` with a JSON job; prints a JSON
record.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from typing import Any

import numpy as np

from bench.noise.methods import METHODS, Forecast, quiet
from bench.noise.problems import PROBLEMS, Rows

_IMPORTED: set[str] = set()


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Measure the methods of a job on all its draws."""
    problem, draws = PROBLEMS[job["problem"]], []
    for seed in job["seeds"]:
        rows, measured = problem.draw(seed), {}
        for method in job["methods"]:
            found = _measure(method, rows)
            if found is not None:
                measured[method] = found
        draws.append({"seed": seed, "oracle": _score_oracle(rows), "methods": measured})
    return {**job, "status": "ok", "draws": draws}


def _score_oracle(rows: Rows) -> float | None:
    """Return the mean negative log density of the test targets under the truth."""
    if rows.mean is None or rows.std is None:
        return None
    z = (rows.y_test - rows.mean) / rows.std
    return float(np.mean(0.5 * np.log(2.0 * np.pi * rows.std**2) + 0.5 * z**2))


def _measure(method: str, rows: Rows) -> dict[str, Any] | None:
    try:
        if method not in _IMPORTED:  # imports are not part of a fit
            METHODS[method](rows.X[:40], rows.y[:40])
            _IMPORTED.add(method)
        began = time.process_time()
        forecast = METHODS[method](rows.X, rows.y)
        cpu = time.process_time() - began
        found: Forecast = forecast(rows.X_test, rows.y_test)
    except Exception as error:  # a peer that fails is not compared
        if method.startswith("relvec"):
            raise
        print(f"{method}: {error!r}", file=sys.stderr)
        return None
    inside = (rows.y_test >= found.lower) & (rows.y_test <= found.upper)
    result: dict[str, Any] = {
        "cpu": cpu,
        "coverage": float(inside.mean()),
        "quarters": _cover_quarters(inside, rows.std, found.upper - found.lower),
    }
    if found.log_density is not None:
        result["nll"] = -float(np.mean(found.log_density))
    if found.mean is not None:
        result["rmse"] = float(np.sqrt(np.mean((rows.y_test - found.mean) ** 2)))
    if found.noise_gain is not None:
        result.update(gain=float(found.noise_gain), is_default=bool(found.is_default))
    return result


def _cover_quarters(inside: np.ndarray, std: np.ndarray | None, width: np.ndarray) -> list[float]:
    """Return the coverage in quarters of the test rows by true noise, or by length of interval."""
    by = width if std is None else std
    # Ties (a noise of two levels) are put in a random order, so that quarters have equal sizes.
    order = np.lexsort([np.random.RandomState(0).random(len(by)), by])
    return [float(inside[rows].mean()) for rows in np.array_split(order, 4)]


def main() -> None:
    """Run the job of the command line."""
    job = json.loads(sys.argv[1])
    quiet()
    try:
        record = run(job)
    except Exception as error:
        traceback.print_exc()
        record = {**job, "status": "failed", "error": repr(error)}
    print(json.dumps(record))


if __name__ == "__main__":
    main()
