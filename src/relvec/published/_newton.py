"""The damped Newton ascent of the MATLAB fragments, guarded."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from relvec._linalg import cholesky, inverse_from_cholesky
from relvec._typing import BoolArray, Matrix, Vector

__all__ = ["Ascent", "NewtonRules", "Objective", "Trial", "ascend", "inverse_curvature"]


class Trial(NamedTuple):
    """An objective at one point."""

    x: Vector
    fit: float
    """Log likelihood, up to constants."""
    prior: float
    """Log prior, up to constants."""
    output: Vector
    """What the likelihood sees at each sample."""
    kernel: Matrix

    @property
    def value(self) -> float:
        """The objective."""
        return self.fit + self.prior


class Objective(Protocol):
    """Something to maximise."""

    def evaluate(self, x: Vector) -> Trial:
        """Value at a point."""

    def derivatives(self, trial: Trial) -> tuple[Vector, Matrix]:
        """Gradient and negative Hessian, a vector if only its diagonal is used."""


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


class Ascent(NamedTuple):
    """Where the ascent ended."""

    trial: Trial
    variance: Vector
    """Diagonal of the inverse curvature where the last step was computed."""


def inverse_curvature(curvature: Matrix, smallest: float = 1e-8) -> Matrix:
    """Invert a curvature.

    If it is not positive definite, eigenvalues are replaced by their size, and not by less than
    `smallest`.

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
    result: Matrix = (vectors / np.maximum(np.abs(values), smallest)) @ vectors.T
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
    objective: Objective,
    current: Trial,
    step: Vector,
    rules: NewtonRules,
    bounded: BoolArray | None,
    best: float,
) -> tuple[Trial, float] | None:
    """Halve the step until the objective rises; None if no fraction does."""
    fraction = rules.first
    while fraction > rules.smallest:
        x = current.x + fraction * step
        if bounded is not None:
            x[bounded] = np.maximum(x[bounded], 0.0)
        trial = objective.evaluate(x)
        judged = current.fit + trial.prior if rules.stale else trial.value
        # A stale judgement does not see that the outputs have left the floating-point range.
        if np.isfinite(trial.value) and judged > best:
            return trial, judged
        fraction /= 2.0
    return None


def ascend(
    objective: Objective, start: Vector, rules: NewtonRules, bounded: BoolArray | None = None
) -> Ascent:
    """Climb by damped Newton steps until the gradient is small or no fraction of a step helps.

    Parameters
    ----------
    objective : Objective
        What to maximise.
    start : ndarray of shape (n,)
        Where to start.
    rules : NewtonRules
        Constants.
    bounded : ndarray of bool of shape (n,), optional
        Coordinates that may not be negative. Those at zero whose gradient is negative are held,
        so that the step of the others is one of ascent after the projection as well.
    """
    current = objective.evaluate(start)
    best = current.value
    variance = np.zeros_like(start)
    for iteration in range(rules.steps):
        gradient, curvature = objective.derivatives(current)
        free = np.ones(len(start), dtype=bool)
        if bounded is not None:
            free = ~(bounded & (current.x <= 0.0) & (gradient <= 0.0))
        # The first curvature is always computed: precisions are re-estimated from it.
        size = float(np.linalg.norm(gradient[free])) / rules.gradient_scale
        if iteration and size < rules.gradient_stop:
            break
        step, variance = _newton_step(gradient, curvature, free)
        found = _line_search(objective, current, step, rules, bounded, best)
        if found is None:
            break
        current, best = found
    return Ascent(current, variance)
