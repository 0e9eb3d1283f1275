"""Maximisation of smooth objectives in scales, precisions and kernel parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from relvec._linalg import EPS
from relvec._typing import Matrix, Vector

__all__ = ["Ascent", "ascend"]


class Ascent(NamedTuple):
    """Result of a maximisation."""

    vector: Vector
    """Parameters at the end."""
    value: float
    """Objective at the end."""
    first: float
    """Objective at the initial parameters."""
    path: list[tuple[Vector, float]]
    """Parameters and objective after every step."""
    steepness: float
    """Norm of the initial gradient if the objective was undefined at some trial, else zero."""


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
        Returns value and gradient at a vector of parameters; None if they are undefined.
    start : ndarray of shape (n_parameters,)
        Initial parameters.
    bounds : ndarray of shape (2, n_parameters)
        Lower and upper bounds.
    max_iter : int
        Largest number of steps.
    unit : float, default=1.0
        Unit of the objective. The first step of L-BFGS has the length of the gradient, so a larger
        unit makes it shorter.
    tolerance : float, default=2.2e-9
        Relative rise in one step at which to stop.
    """
    first, steepness, failed = None, 0.0, False
    path: list[tuple[Vector, float]] = []

    def cost(vector: Vector) -> tuple[float, Vector]:
        nonlocal first, steepness, failed
        found = objective(vector)
        failed |= found is None
        # A finite value with zero gradient: the line search of L-BFGS-B rejects the trial and
        # shortens its step, which an infinite value or NaN would break.
        value, slopes = (-1e300, np.zeros_like(vector)) if found is None else found
        if first is None:
            first, steepness = value, float(np.linalg.norm(slopes))
        # SciPy minimises, hence the sign.
        return -value / unit, -slopes / unit

    def record(intermediate_result: Any) -> None:
        path.append((np.array(intermediate_result.x), -float(intermediate_result.fun) * unit))

    end = minimize(
        cost,
        # Rounding may have put the start outside the bounds.
        np.clip(start, *bounds),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds.T,
        callback=record,
        options={"maxiter": max_iter, "ftol": tolerance},
    )
    value = -float(end.fun) * unit
    # If no trial was undefined, a shorter first step would not help: report zero.
    return Ascent(end.x, value, value if first is None else first, path, failed * steepness)
