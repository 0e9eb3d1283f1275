"""The Gaussian process that stands for what is not known away from the data.

Kernels of a sparse model are wider than those of the process that learnt their scales, and inputs
that were left out have no scale at all: a sparse model knows nothing of what happens where such an
input leaves the range of the data. The process here has the scales of the one that learnt them, and
under every input that varies a floor, the largest that the data do not speak against.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtri

from relvec._linalg import tridiagonal, tridiagonal_terms
from relvec._typing import Matrix, Vector
from relvec.kernels import KernelLike, ScaledInputs, kernel_block
from relvec.learning.learnt import LearntLengthScales
from relvec.learning.process import Process
from relvec.learning.rows import select_learning_rows

__all__ = ["PriorProcess", "PriorProcessTuning", "fit_prior_process"]


class PriorProcess(NamedTuple):
    """A stationary process of mean zero."""

    kernel: KernelLike
    """Of inputs in their own units."""
    variance: float


@dataclass(frozen=True)
class PriorProcessTuning:
    """Numbers of the search for the floor."""

    max_rows: int = 300
    """Rows that are looked at: the cost grows with their third power."""
    log_floors: tuple[float, float, float] = (-4.0, 1.0, 0.5)
    """First, last and step of the decimal logarithms of the floor, in units of the spread of
    each input: from none at all to kernels of a third of a standard deviation."""
    bisections: int = 4
    """After which the floor is known to a factor of 1.1."""
    confidence: float = 0.99
    """The scales with the floor under them are within a confidence region of this probability,
    by the likelihood ratio."""
    most_free: int = 5
    """Degrees of freedom of that region at most: of hundreds of scales it would hold anything."""
    hopeless_loss: float = 5.0
    """Log evidence lost besides, in nats, after which larger floors are not tried."""


_TUNING = PriorProcessTuning()
_UNDEFINED = 1e30
"""Minus the log evidence where there is none."""


def fit_prior_process(
    kernel: KernelLike,
    X: Matrix,
    target: Vector,
    sample_weight: Vector | None = None,
    learnt: LearntLengthScales | None = None,
    tuning: PriorProcessTuning = _TUNING,
) -> PriorProcess | None:
    """Find kernel and variance of the process.

    Parameters
    ----------
    kernel : Kernel or callable
        A covariance of the inputs.
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    target : ndarray of shape (n_samples,)
        What the process explains, besides an intercept and noise.
    sample_weight : ndarray of shape (n_samples,), default=None
        How often each row counts.
    learnt : LearntLengthScales, default=None
        How the scales in the kernel were learnt. If they were not, the kernel stays as it is.
    tuning : PriorProcessTuning, optional
        Numbers of the search.

    Returns
    -------
    process : PriorProcess or None
        None if the inputs are not numbers, the target does not vary or there are too few rows.
    """
    if X.dtype == object:
        return None
    rows, _ = select_learning_rows(
        X, target[:, None], sample_weight, tuning.max_rows, 0, are_labels=False
    )
    # each row counts once: copies of a row would ask for no noise and a short length-scale
    profile = _Profile(X[rows], target[rows], np.ones(len(rows)))
    if profile.is_empty:
        return None
    if learnt is None or not isinstance(learnt.kernel, ScaledInputs):
        return PriorProcess(kernel, profile.evaluate(kernel)[1])
    inner, spread = learnt.kernel.kernel, learnt.spread
    varies, own = spread > 0.0, learnt.relevance / learnt.scale_factor

    def floored(log_floor: float) -> ScaledInputs:
        relevance = np.where(varies, np.maximum(own, 10.0**log_floor), 0.0)
        scale = np.divide(relevance, spread**2, out=np.zeros_like(spread), where=varies)
        return ScaledInputs(inner, scale)

    first, last, step = tuning.log_floors
    if varies.any():  # floors below all scales change nothing
        least = float(own[varies].min())
        first = max(first, math.log10(least)) if least > 0.0 else first

    def allowed_loss(log_floor: float) -> float:
        """Half the quantile of chi-squared with a degree of freedom for each scale it raises."""
        n_raised = int(np.count_nonzero(own[varies] < 10.0**log_floor))
        n_free = min(max(n_raised, 1), tuning.most_free)
        return 0.5 * float(chdtri(n_free, 1.0 - tuning.confidence))

    @cache
    def evaluate(log_floor: float) -> tuple[float, float]:
        return profile.evaluate(floored(log_floor))

    best, low = evaluate(-math.inf)[0], first
    # a floor under hundreds of inputs may outweigh the scales of a few at once
    while (value := evaluate(low)[0]) < best - allowed_loss(low):
        low, step = low - 2.0, 2.0
    best, log_floor = max(best, value), low + step
    while log_floor <= last:
        value = evaluate(log_floor)[0]
        best = max(best, value)
        if value >= best - allowed_loss(log_floor):
            low = log_floor
        elif value < best - allowed_loss(log_floor) - tuning.hopeless_loss:
            break
        log_floor += step
    high = low + step
    for _ in range(tuning.bisections):
        middle = 0.5 * (low + high)
        is_allowed = evaluate(middle)[0] >= best - allowed_loss(middle)
        low, high = (middle, high) if is_allowed else (low, middle)
    return PriorProcess(floored(low), evaluate(low)[1])


class _Profile:
    """The evidence of a process, its ratio of signal to noise maximised out."""

    def __init__(self, X: Matrix, target: Vector, weight: Vector) -> None:
        self.X, self.root = X, np.sqrt(weight)
        self.n_contrasts = float(weight.sum()) - 1.0
        centred = target - np.average(target, weights=weight)
        self.unit = max(float(np.abs(centred).max(initial=0.0)), 1e-300)
        self.target = centred / self.unit * self.root
        self.is_empty = self.n_contrasts < 2.0 or not self.target.any()

    def evaluate(self, kernel: Any) -> tuple[float, float]:
        """Return the log evidence, and the variance of the signal."""
        values = kernel_block(kernel, self.X, self.X)
        covariance = values * np.multiply.outer(self.root, self.root).T
        # an intercept of flat prior leaves what is orthogonal to the constant
        constant = self.root / np.linalg.norm(self.root)
        along = covariance @ constant
        covariance -= np.multiply.outer(along, constant).T
        covariance -= np.multiply.outer(constant, along - constant * (constant @ along)).T
        diagonal, beside, target = tridiagonal(covariance, self.target)
        n = self.n_contrasts

        def terms(log_signal: float) -> tuple[float, float] | None:
            signal = math.exp(log_signal)
            return tridiagonal_terms(1.0 + signal * diagonal, signal * beside, target)

        def loss(log_signal: float) -> float:
            found = terms(log_signal)
            if found is None:  # not a covariance
                return _UNDEFINED
            return 0.5 * (n * math.log(found[0] / n) + found[1])

        end = minimize_scalar(loss, bounds=Process.signal_bounds, method="bounded")
        found = terms(end.x)
        noise = 0.0 if found is None else found[0] / n
        typical = float(np.average(values.diagonal(), weights=self.root**2))
        return -float(end.fun), math.exp(end.x) * noise * typical * self.unit**2
