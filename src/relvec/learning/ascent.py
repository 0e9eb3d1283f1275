"""Ascents of smooth objectives in scales, precisions and parameters of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from relvec._linalg import EPS
from relvec._typing import Matrix, Vector

__all__ = ["Ascent", "ascend"]


class Ascent(NamedTuple):
    """Where an ascent led."""

    vector: Vector
    value: float
    first: float
    """Value at the start."""
    path: list[tuple[Vector, float]]
    """Places after every step, and the values there."""
    steepness: float
    """Norm of the slope at the start if the objective was not defined somewhere, else zero."""


def ascend(
    objective: Callable[[Vector], tuple[float, Vector] | None],
    start: Vector,
    bounds: Matrix,
    max_iter: int,
    *,
    unit: float = 1.0,
    tolerance: float = 1e7 * EPS,
) -> Ascent:
    """Maximise a function by L-BFGS within bounds.

    Parameters
    ----------
    objective : callable
        Gives the value and the slopes at a vector; None where they are not defined.
    start : ndarray of shape (n_parameters,)
        Where to start.
    bounds : ndarray of shape (2, n_parameters)
        Lower and upper bounds.
    max_iter : int
        Steps to take at most.
    unit : float, default=1.0
        In which the objective is measured: the first step is as long as the slope is steep.
    tolerance : float, default=2.2e-9
        Rise in one step, relative to the value, at which the ascent ends.
    """
    first, steepness, failed = None, 0.0, False
    path: list[tuple[Vector, float]] = []

    def cost(vector: Vector) -> tuple[float, Vector]:
        nonlocal first, steepness, failed
        found = objective(vector)
        failed |= found is None
        value, slopes = (-1e300, np.zeros_like(vector)) if found is None else found
        if first is None:
            first, steepness = value, float(np.linalg.norm(slopes))
        return -value / unit, -slopes / unit

    def record(intermediate_result: Any) -> None:
        path.append((np.array(intermediate_result.x), -float(intermediate_result.fun) * unit))

    end = minimize(
        cost,
        np.clip(start, *bounds),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds.T,
        callback=record,
        options={"maxiter": max_iter, "ftol": tolerance},
    )
    value = -float(end.fun) * unit
    return Ascent(end.x, value, value if first is None else first, path, failed * steepness)
