"""Gaussian process that models the uncertainty away from the data.

The length-scales of a sparse model are longer than those of the process that learnt them, and
features that were left out have none at all. So a sparse model has no uncertainty about inputs at
which such a feature leaves the range of the data. The process here has the input scales of the
learnt process, raised to a common floor for every feature that varies: the largest floor that is
compatible with the data, by a likelihood-ratio test.
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
    """A stationary Gaussian process of mean zero."""

    kernel: KernelLike
    """Covariance function of features in their own units."""
    variance: float
    """Variance of the signal."""


@dataclass(frozen=True)
class PriorProcessTuning:
    """Constants of the search for the floor of the input scales."""

    max_rows: int = 300
    """Largest number of rows used; the cost grows with their third power."""
    log_floors: tuple[float, float, float] = (-4.0, 1.0, 0.5)
    """First, last and step of the decimal logarithm of the floor, in units of the standard
    deviation of each feature: from no effect to length-scales of about a quarter of it."""
    bisections: int = 4
    """Bisections of the last step, which determine the floor to a factor of 1.1."""
    confidence: float = 0.99
    """Probability of the likelihood-ratio confidence region that must contain the raised scales."""
    most_free: int = 5
    """Largest number of degrees of freedom of that region; with hundreds of scales it would contain
    almost anything."""
    hopeless_loss: float = 5.0
    """Further loss of log evidence, in nats, after which larger floors are not tried."""


_TUNING = PriorProcessTuning()
_UNDEFINED = 1e30
"""Minus the log evidence where it is undefined."""


def fit_prior_process(
    kernel: KernelLike,
    X: Matrix,
    target: Vector,
    sample_weight: Vector | None = None,
    learnt: LearntLengthScales | None = None,
    tuning: PriorProcessTuning = _TUNING,
    *,
    relative_precision: Vector | None = None,
) -> PriorProcess | None:
    """Fit kernel and variance of the process.

    Parameters
    ----------
    kernel : Kernel or callable
        A covariance function.
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    target : ndarray of shape (n_samples,)
        Targets, modelled by an intercept, the process and noise.
    sample_weight : ndarray of shape (n_samples,), default=None
        Frequency weights of the rows.
    learnt : LearntLengthScales, default=None
        The learnt length-scales of the kernel. Without them the kernel is used as it is.
    tuning : PriorProcessTuning, optional
        Constants of the search.
    relative_precision : ndarray of shape (n_samples,), optional
        Noise precision of each row relative to the average; default, 1 for each row.

    Returns
    -------
    process : PriorProcess or None
        None if the inputs are not numeric, the target is constant or there are too few rows.
    """
    if X.dtype == object:
        return None
    rows, _ = select_learning_rows(
        X, target[:, None], sample_weight, tuning.max_rows, 0, are_labels=False
    )
    # Each row has weight one: copies of a row would favour little noise and short length-scales.
    precision = np.ones(len(rows)) if relative_precision is None else relative_precision[rows]
    profile = _Profile(X[rows], target[rows], precision)
    if profile.is_empty:
        return None
    if learnt is None or not isinstance(learnt.kernel, ScaledInputs):
        return PriorProcess(kernel, profile.evaluate(kernel)[1])
    inner, spread = learnt.kernel.kernel, learnt.spread
    # Relevances of the process itself: those of the sparse model have the scale factor in them.
    varies, own = spread > 0.0, learnt.relevance / learnt.scale_factor

    def floored(log_floor: float) -> ScaledInputs:
        relevance = np.where(varies, np.maximum(own, 10.0**log_floor), 0.0)
        scale = np.divide(relevance, spread**2, out=np.zeros_like(spread), where=varies)
        return ScaledInputs(inner, scale)

    first, last, step = tuning.log_floors
    if varies.any():  # floors below all scales have no effect
        least = float(own[varies].min())
        first = max(first, math.log10(least)) if least > 0.0 else first

    def allowed_loss(log_floor: float) -> float:
        """Half the chi-squared quantile, with one degree of freedom per raised scale (Wilks)."""
        n_raised = int(np.count_nonzero(own[varies] < 10.0**log_floor))
        n_free = min(max(n_raised, 1), tuning.most_free)
        return 0.5 * float(chdtri(n_free, 1.0 - tuning.confidence))

    @cache
    def evaluate(log_floor: float) -> tuple[float, float]:
        return profile.evaluate(floored(log_floor))

    # 10^-inf = 0: no floor. Larger floors may raise the evidence too, so `best` is updated.
    best, low = evaluate(-math.inf)[0], first
    # Under hundreds of features even the first floor may be too large.
    while (value := evaluate(low)[0]) < best - allowed_loss(low):
        low, step = low - 2.0, 2.0
    # `low` is allowed now; the grid continues from there.
    best, log_floor = max(best, value), low + step
    while log_floor <= last:
        value = evaluate(log_floor)[0]
        best = max(best, value)
        if value >= best - allowed_loss(log_floor):
            low = log_floor
        elif value < best - allowed_loss(log_floor) - tuning.hopeless_loss:
            break
        log_floor += step
    # The last allowed floor and the next one, which is not allowed or not in the range.
    high = low + step
    for _ in range(tuning.bisections):
        middle = 0.5 * (low + high)
        is_allowed = evaluate(middle)[0] >= best - allowed_loss(middle)
        low, high = (middle, high) if is_allowed else (low, middle)
    return PriorProcess(floored(low), evaluate(low)[1])


class _Profile:
    """Profile evidence of a process, with noise and signal-to-noise ratio maximised out."""

    def __init__(self, X: Matrix, target: Vector, weight: Vector) -> None:
        # Weights are relative noise precisions: each row is one observation.
        self.X, self.root = X, np.sqrt(weight)
        self.n_contrasts = float(len(weight)) - 1.0
        # In units of the largest deviation, so that squares neither overflow nor underflow.
        centred = target - np.average(target, weights=weight)
        self.unit = max(float(np.abs(centred).max(initial=0.0)), 1e-300)
        self.target = centred / self.unit * self.root
        self.is_empty = self.n_contrasts < 2.0 or not self.target.any()

    def evaluate(self, kernel: Any) -> tuple[float, float]:
        """Compute the log evidence (Rasmussen & Williams 2006, eq. 5.8) and the signal variance.

        The centred covariance ``K`` is reduced to tridiagonal form once. Then ``|I + g K|`` and
        ``t' (I + g K)^-1 t`` cost O(n) for each signal-to-noise ratio ``g``.
        """
        values = kernel_block(kernel, self.X, self.X)
        covariance = values * np.multiply.outer(self.root, self.root).T
        # An intercept with flat prior is integrated out by projection orthogonal to the constant.
        constant = self.root / np.linalg.norm(self.root)
        # (I - c c') K (I - c c') as two rank-one downdates, with c of unit norm; the second uses K
        # c after the first.
        along = covariance @ constant
        covariance -= np.multiply.outer(along, constant).T
        covariance -= np.multiply.outer(constant, along - constant * (constant @ along)).T
        diagonal, beside, target = tridiagonal(covariance, self.target)
        n = self.n_contrasts

        def terms(log_signal: float) -> tuple[float, float] | None:
            signal = math.exp(log_signal)
            # Q' (I + g K) Q = I + g T for the orthogonal Q of the reduction: one reduction serves
            # all g.
            return tridiagonal_terms(1.0 + signal * diagonal, signal * beside, target)

        def loss(log_signal: float) -> float:
            found = terms(log_signal)
            if found is None:  # not a covariance
                return _UNDEFINED
            # Noise variance at its maximum R / n, with R = t' (I + g K)^-1 t: constants are
            # dropped. Along the constant the projected matrix has eigenvalue one, which adds
            # nothing to log|I + g K|.
            return 0.5 * (n * math.log(found[0] / n) + found[1])

        end = minimize_scalar(loss, bounds=Process.signal_bounds, method="bounded")
        found = terms(end.x)
        noise = 0.0 if found is None else found[0] / n
        # The mean prior variance g sigma^2 k(x, x), in the units of the target.
        typical = float(np.average(values.diagonal(), weights=self.root**2))
        return -float(end.fun), math.exp(end.x) * noise * typical * self.unit**2
