"""Damped Newton ascent, after the MATLAB code of Heimsæter (2021), with safeguards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._linalg import cholesky, inverse_from_cholesky
from relvec._typing import BoolArray, Matrix, Vector
from relvec.published._algebra import mackay_precision
from relvec.published._objectives import Objective, Trial


class NewtonRules(NamedTuple):
    """Constants of the ascent."""

    steps: int
    """Maximum number of Newton steps."""
    gradient_stop: float
    """The ascent stops if the scaled norm of the gradient is smaller."""
    gradient_scale: float
    """Number by which the norm of the gradient is divided."""
    first: float
    """Fraction of the Newton step that is tried first."""
    smallest: float
    """Smallest fraction: it is halved while larger than this."""
    stale: bool = False
    """Evaluate trial steps with the log likelihood before the step, as printed in the thesis."""


def inverse_curvature(curvature: Matrix) -> Matrix:
    """Return the inverse of a curvature matrix (negative Hessian).

    If it is not positive definite, eigenvalues are replaced by their absolute values, at least
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
    # Absolute eigenvalues: the step remains an ascent direction where the log posterior is not
    # concave (Nocedal & Wright 2006, section 3.4).
    values, vectors = np.linalg.eigh(curvature)
    result: Matrix = (vectors / np.maximum(np.abs(values), 1e-8)) @ vectors.T
    return result


def _newton_step(gradient: Vector, curvature: Matrix, free: BoolArray) -> tuple[Vector, Vector]:
    """Return the Newton step in the free coordinates, and the diagonal of the inverse curvature."""
    step, variance = np.zeros_like(gradient), np.zeros_like(gradient)
    if curvature.ndim == 1:
        # Diagonal approximation: each coordinate on its own, negative curvatures replaced by the
        # floor.
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
    """Halve the step until the objective rises; return None if no fraction raises it."""
    fraction, bounded = rules.first, objective.prior.bounded
    while fraction > rules.smallest:
        x = current.x + fraction * step
        # Projection on the feasible set.
        x[bounded] = np.maximum(x[bounded], 0.0)
        trial = objective.evaluate(x)
        value = current.fit + trial.prior if rules.stale else trial.value
        # A stale value does not reveal an overflow of the outputs: check the true one.
        if np.isfinite(trial.value) and value > best:
            return trial, value
        fraction /= 2.0
    return None


def ascend(objective: Objective, start: Vector, rules: NewtonRules) -> tuple[Trial, Vector]:
    """Maximise by damped Newton steps, until the gradient is small or no step raises the objective.

    Non-negative coordinates that are zero and have a negative gradient are held fixed, so that the
    step in the others remains an ascent direction after the projection.

    Returns
    -------
    trial : Trial
        The last accepted point.
    precision : ndarray of shape (n,)
        MacKay's re-estimate of the precisions, from the inverse curvature at the last step.
    """
    current = objective.evaluate(start)
    best = current.value
    variance = np.zeros_like(start)
    for iteration in range(rules.steps):
        gradient, curvature = objective.derivatives(current)
        # Projected Newton: coordinates at zero whose gradient points out of the feasible set are
        # held; leaving them in the system would distort the step of the others.
        free = ~(objective.prior.bounded & (current.x <= 0.0) & (gradient <= 0.0))
        # At least one curvature is computed: precisions are re-estimated from it.
        size = float(np.linalg.norm(gradient[free])) / rules.gradient_scale
        if iteration and size < rules.gradient_stop:
            break
        step, variance = _newton_step(gradient, curvature, free)
        found = _line_search(objective, current, step, rules, best)
        if found is None:
            break
        current, best = found
    # gamma = 1 - beta Sigma_ii with Sigma at the last curvature computed, which may belong to the
    # point before the last accepted step. Held coordinates have variance zero; their x is zero,
    # hence an infinite precision.
    gamma = 1.0 - objective.prior.precision * variance
    return current, mackay_precision(gamma, current.x)
