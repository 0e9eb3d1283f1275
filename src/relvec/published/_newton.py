"""The damped Newton ascent of the MATLAB fragments, guarded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._linalg import cholesky, inverse_from_cholesky
from relvec._typing import BoolArray, Matrix, Vector
from relvec.published._algebra import updated_precision
from relvec.published._objectives import Objective, Trial


class NewtonRules(NamedTuple):
    """Constants of the ascent."""

    steps: int
    gradient_stop: float
    gradient_scale: float
    """What the norm of the gradient is divided by before it is compared."""
    first: float
    """Fraction of the Newton step that is tried first."""
    smallest: float
    """Fractions are halved while they are larger than this."""
    stale: bool = False
    """Judge trials by the log likelihood before the step, as the thesis' code is printed."""


def inverse_curvature(curvature: Matrix) -> Matrix:
    """Invert a curvature.

    If it is not positive definite, eigenvalues are replaced by their size, and not by less than
    1e-8.

    Examples
    --------
    >>> import numpy as np
    >>> inverse_curvature(np.diag([2.0, -4.0])) + 0.0
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    factor = cholesky(curvature)
    if factor is not None:
        return inverse_from_cholesky(factor)
    values, vectors = np.linalg.eigh(curvature)
    result: Matrix = (vectors / np.maximum(np.abs(values), 1e-8)) @ vectors.T
    return result


def _newton_step(gradient: Vector, curvature: Matrix, free: BoolArray) -> tuple[Vector, Vector]:
    """Newton step among free coordinates, and the diagonal of the inverse curvature there."""
    step, variance = np.zeros_like(gradient), np.zeros_like(gradient)
    if curvature.ndim == 1:
        variance[free] = 1.0 / np.maximum(curvature[free], 1e-8)
        step[free] = variance[free] * gradient[free]
    elif free.any():
        inverse = inverse_curvature(curvature[np.ix_(free, free)])
        variance[free] = inverse.diagonal()
        step[free] = inverse @ gradient[free]
    return step, variance


def _line_search(
    objective: Objective, current: Trial, step: Vector, rules: NewtonRules, best: float
) -> tuple[Trial, float] | None:
    """Halve the step until the objective rises; None if no fraction does."""
    fraction, bounded = rules.first, objective.prior.bounded
    while fraction > rules.smallest:
        x = current.x + fraction * step
        x[bounded] = np.maximum(x[bounded], 0.0)
        trial = objective.evaluate(x)
        judged = current.fit + trial.prior if rules.stale else trial.value
        # A stale judgement does not see that the outputs have left the floating-point range.
        if np.isfinite(trial.value) and judged > best:
            return trial, judged
        fraction /= 2.0
    return None


def ascend(objective: Objective, start: Vector, rules: NewtonRules) -> tuple[Trial, Vector]:
    """Climb by damped Newton steps until the gradient is small or no fraction of a step helps.

    Coordinates at zero that may not be negative and whose gradient is negative are held, so that
    the step of the others is one of ascent after the projection as well.

    Returns
    -------
    trial : Trial
        Where the ascent ended.
    precision : ndarray of shape (n,)
        MacKay's re-estimate, from the inverse curvature where the last step was computed.
    """
    current = objective.evaluate(start)
    best = current.value
    variance = np.zeros_like(start)
    for iteration in range(rules.steps):
        gradient, curvature = objective.derivatives(current)
        free = ~(objective.prior.bounded & (current.x <= 0.0) & (gradient <= 0.0))
        # The first curvature is always computed: precisions are re-estimated from it.
        size = float(np.linalg.norm(gradient[free])) / rules.gradient_scale
        if iteration and size < rules.gradient_stop:
            break
        step, variance = _newton_step(gradient, curvature, free)
        found = _line_search(objective, current, step, rules, best)
        if found is None:
            break
        current, best = found
    gamma = 1.0 - objective.prior.precision * variance
    return current, updated_precision(gamma, current.x)
