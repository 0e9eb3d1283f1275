"""Accuracy of forecasts: the end of a series is held out, and predicted by what comes before."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from relvec._typing import Vector
from relvec.cli.console import CommandConsole
from relvec.cli.metrics import compute_metrics, predict_table
from relvec.cli.problem import Problem

__all__ = ["HELD_OUT_FRACTION", "hold_out_end"]

HELD_OUT_FRACTION = 0.2
"""Share of the rows at the end of a series that is held out."""
LEAST_ROWS = 8
"""Fewest rows from which a structure is searched, as for rolling origins."""


def hold_out_end(pipeline: Any, problem: Problem, console: CommandConsole) -> dict[str, Any] | None:
    """Search again on the first rows of a series and predict the last ones.

    Two baselines are compared: the last value before the held-out rows, and a least-squares line.
    Returns None if there are too few rows.
    """
    n_held_out = max(1, round(HELD_OUT_FRACTION * problem.n_rows))
    n_train = problem.n_rows - n_held_out
    if n_train < LEAST_ROWS:
        console.note(
            f"With {problem.n_rows} rows none are held out: the accuracy of forecasts is not known."
        )
        return None
    train, test = slice(0, n_train), slice(n_train, None)
    target = problem.target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the fit to all rows are shown
        fitted = clone(pipeline).fit(problem.table[train], target[train])
        prediction = predict_table(fitted, problem.table[test], target=target[test])
    models = {"search": compute_metrics(target[test], prediction)}
    x = problem.table.to_series().to_physical().to_numpy().astype(np.float64)
    baselines = {
        "last value": np.full(n_held_out, target[train][-1]),
        "straight line": _extrapolate_line(x, target[train]),
    }
    for name, median in baselines.items():
        models[name] = _measure_errors(target[test], median)
    return {"rows": n_held_out, "expression": fitted[-1].expression_, "models": models}


def _extrapolate_line(x: Vector, known: Vector) -> Vector:
    """Return a least-squares line through the first targets, at the later inputs."""
    scaled = (x - x[0]) / (x[-1] - x[0])
    design = np.column_stack([np.ones_like(scaled), scaled])
    coef = np.linalg.lstsq(design[: len(known)], known, rcond=None)[0]
    return np.asarray(design[len(known) :] @ coef)


def _measure_errors(target: Vector, predicted: Vector) -> dict[str, float]:
    errors = target - predicted
    return {
        "rmse": float(np.sqrt(np.mean(errors**2))),
        "mae": float(np.mean(np.abs(errors))),
    }
