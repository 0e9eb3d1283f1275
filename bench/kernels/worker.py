"""One method on one problem, in a process of its own.

Run by `bench.kernels.suite` as ``python -m bench.kernels.worker JOB`` with a JSON job; prints a
JSON record.
"""

from __future__ import annotations

import json
import resource
import sys
import traceback
import warnings
from typing import Any

import numpy as np

from bench.accuracy.forecasts import Forecast
from bench.kernels.forecasts import LEVEL, Fitted
from bench.kernels.methods import METHODS
from bench.kernels.problems import STRUCTURES, Rows, draw

__all__ = ["normalise_structure", "run", "used_cpu"]

N_WARM = 30
"""Rows of a first fit, which imports what a method needs and is not measured."""


def used_cpu() -> float:
    """Return the CPU seconds of this process and of processes that it started and that ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Measure the method of a job on all its draws."""
    fit, draws = METHODS[job["method"]].fit, []
    for seed in job["seeds"]:
        rows = draw(job["part"], job["problem"], seed, job["is_development"])
        if not draws:
            fit(Rows(rows.X[:N_WARM], rows.y[:N_WARM], rows.X_test, rows.y_test))
        began = used_cpu()
        fitted = fit(rows)
        cpu = used_cpu() - began
        judge = _judge_function if job["part"] == "structure" else _judge_forecast
        found = {"structure": fitted.structure, "warp": fitted.warp}
        draws.append({"seed": seed, "cpu": cpu, **found, **judge(job, rows, fitted)})
    return {**job, "status": "ok", "draws": draws}


def _judge_forecast(job: dict[str, Any], rows: Rows, fitted: Fitted) -> dict[str, Any]:
    """Compare forecasts with test targets; log densities are those of standardised targets."""
    forecast, y = fitted.forecast(rows.X_test), rows.y_test
    return {
        "rmse": _find_rmse(forecast.mean, y),
        "coverage": _find_coverage(forecast.interval(LEVEL), y),
        "mlpd": float(np.mean(forecast.log_density(y)) + np.log(rows.y.std())),
    }


def _judge_function(job: dict[str, Any], rows: Rows, fitted: Fitted) -> dict[str, Any]:
    """Compare predictions with a known function, in the range of the data and after it."""
    inside: Forecast = fitted.forecast(rows.X_test)
    found: dict[str, Any] = {"rmse": _find_rmse(inside.mean, rows.y_test)}
    X, y = rows.X_test, rows.y_test
    if rows.X_after is not None and rows.y_after is not None:
        X, y = rows.X_after, rows.y_after
        found["rmse_after"] = _find_rmse(fitted.forecast(X).mean, y)
    if fitted.band is not None:
        found["coverage"] = _find_coverage(fitted.band(X), y)
    # A series without a signal is all noise, of standard deviation one; so is that of Friedman.
    is_plain = job["problem"] in ("noise", "friedman1")
    found["scale"] = 1.0 if is_plain else float(rows.y_test.std())
    if fitted.structure is not None:
        truth = normalise_structure(STRUCTURES[job["problem"]])
        found["is_exact"] = normalise_structure(fitted.structure) == truth
    return found


def normalise_structure(name: str) -> list[list[str]]:
    """Return the components of a structure in sorted order, each as its sorted factors."""
    components = [part.strip() for part in name.split(" + ")]
    return sorted(sorted(part.replace("×", "x").split(" x ")) for part in components)


def _find_rmse(mean: np.ndarray, y: np.ndarray) -> float:
    return float(np.sqrt(np.mean((mean - y) ** 2)))


def _find_coverage(interval: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean((interval[:, 0] <= y) & (y <= interval[:, 1])))


def main() -> None:
    """Run the job of the command line."""
    job = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")  # of peers about their own convergence
    try:
        record = run(job)
    except Exception as error:
        traceback.print_exc()
        record = {**job, "status": "failed", "error": repr(error)}
    print(json.dumps(record))


if __name__ == "__main__":
    main()
