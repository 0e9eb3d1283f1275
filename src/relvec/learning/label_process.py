"""Evidence of a Gaussian process for class labels, as a function of its input scales.

Laplace approximation (Rasmussen & Williams 2006, eq. 3.32, algorithms 3.1 and 5.1): with ``f`` the
mode of the logits, ``W`` the curvature of the log likelihood there and ``B = I + W^1/2 K W^1/2``::

    log p = log p(t | f) - f' K^-1 f / 2 - log|B| / 2

Several classes are treated one against the rest, with common scales. A regression on the labels
would be cheaper, but labels are steps where the logits are smooth: the length-scales would be too
short.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
from scipy.special import expit

from relvec._linalg import cholesky, inverse_from_cholesky, log_det_cholesky, solve_lower
from relvec._typing import Matrix, Vector
from relvec.learning.process import Process
from relvec.likelihoods.bernoulli import Bernoulli, BoundBernoulli

__all__ = ["LabelProcess"]


class _Mode(NamedTuple):
    """Mode of the logits of one class, and quantities for the gradient."""

    log_evidence: float
    dual: Vector
    """``K^-1 f``, which equals the gradient of the log likelihood at the mode."""
    logit: Vector
    curvature: Vector
    factor: Matrix


class LabelProcess(Process):
    """Data of a Gaussian process classifier whose parameters are to be learnt.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    targets : ndarray of shape (n_samples, n_classes)
        Class indicators, 0 or 1; each class is modelled against the rest.
    weight : ndarray of shape (n_samples,), default=None
        Frequency weights of the rows; all positive.
    explicit : ndarray of shape (n_samples, n_columns), default=None
        Columns that are in the model in addition to the kernels.
    settled : float, default=1e-6
        Rise of the log posterior at which the search for a mode stops.
    """

    signal_bounds = (-7.0, 2.0 * math.log(100.0))
    max_rows = 300  # an evaluation costs as much as several of a regression, for each class
    full_cost_classes = 3
    """With more classes fewer rows are used; an evaluation costs no more than with these."""
    scale_factors = (0.5, 1.0)  # neither is always better
    noise, intercept_variance = 0.0, 25.0  # prior variance of the intercept of a logit
    weighs_covariance = False

    def __init__(
        self,
        X: Matrix,
        targets: Matrix,
        weight: Vector | None = None,
        explicit: Matrix | None = None,
        *,
        settled: float = 1e-6,
    ) -> None:
        super().__init__(X, targets, weight, explicit)
        share = np.average(targets, axis=0, weights=self.weight)
        # A class that all rows or none have carries no information about the scales.
        self.labels = targets[:, (share > 0.0) & (share < 1.0)]
        self.settled = settled
        self._duals: list[Vector | None] = [None] * self.labels.shape[1]

    @classmethod
    def affordable_rows(cls, n_targets: int) -> int:
        """Return how many rows are shown: the cost grows with their third power.

        Examples
        --------
        >>> from relvec.learning.label_process import LabelProcess
        >>> [LabelProcess.affordable_rows(n_classes) for n_classes in (1, 3, 10)]
        [300, 300, 200]
        """
        return int(cls.max_rows * min(1.0, cls.full_cost_classes / n_targets) ** (1 / 3))

    def ranked(self) -> Self:
        """Return the process itself: ranks of two values are again two values."""
        return self

    def _evidence(self, covariance: Matrix, slopes: bool) -> tuple[float, Matrix | None] | None:
        """Sum the log evidence over the classes; each mode is searched from the previous one."""
        total, E = 0.0, np.zeros_like(covariance) if slopes else None
        for number, target in enumerate(self.labels.T):
            mode = self._find_mode(covariance, target, self._duals[number])
            if mode is None and self._duals[number] is not None:
                # A warm start may be so far from the new mode that Newton's method fails; f = 0 is
                # the start of algorithm 3.1.
                mode = self._find_mode(covariance, target, None)
            if mode is None:
                return None
            self._duals[number] = mode.dual
            total += mode.log_evidence
            if E is not None:
                E += _entry_slopes(covariance, mode)
        return total, E

    def _find_mode(self, K: Matrix, target: Vector, dual: Vector | None) -> _Mode | None:
        """Find the mode of the logits by Newton's method, with steps halved until it rises.

        Algorithm 3.1 of Rasmussen & Williams (2006), in terms of ``dual = K^-1 f``.
        """
        dual = np.zeros(len(target)) if dual is None else dual
        # f = K a with a = K^-1 f: K is never inverted, and may be singular.
        logit = K @ dual
        value = self._log_posterior(target, logit, dual)
        for _ in range(50):  # a few suffice, unless the classes are almost separable
            curvature, factor = self._curvature(K, logit)
            if factor is None:
                return None
            root = np.sqrt(curvature)
            # b = W f + grad log p(t | f); the Newton step is a = b - W^1/2 B^-1 W^1/2 K b, that is
            # (K^-1 + W)^-1 b = K a (R&W 2006, eqs. 3.18, 3.27).
            right = curvature * logit + self.weight * (target - expit(logit))
            inner = solve_lower(factor, root * (K @ right))
            full = right - root * solve_lower(factor, inner, transposed=True)
            # The log posterior is concave in the logits, so halving finds a rise; failing that at
            # 1e-4 the mode is reached to rounding.
            step, length = full - dual, 1.0
            while length > 1e-4:
                trial = dual + length * step
                moved = K @ trial
                there = self._log_posterior(target, moved, trial)
                if there >= value:
                    break
                length *= 0.5
            else:
                break
            dual, logit, rise = trial, moved, there - value
            value = there
            if rise < self.settled:
                break
        curvature, factor = self._curvature(K, logit)
        if factor is None or not math.isfinite(value):
            return None
        # Laplace approximation (R&W 2006, eq. 3.32): log posterior at the mode less log|B| / 2.
        evidence = value - 0.5 * log_det_cholesky(factor)
        return _Mode(evidence, dual, logit, curvature, factor)

    def _curvature(self, K: Matrix, logit: Vector) -> tuple[Vector, Matrix | None]:
        """Compute ``W`` at some logits, and the Cholesky factor of ``B`` if there is one."""
        probability = expit(logit)
        curvature = self.weight * probability * (1.0 - probability)
        root = np.sqrt(curvature)
        # Eigenvalues of B = I + W^1/2 K W^1/2 are at least one, so its factorisation is stable.
        B = K * root
        B *= root[:, None]
        B.flat[:: len(B) + 1] += 1.0
        return curvature, cholesky(B.T)  # which is symmetric

    def _log_posterior(self, target: Vector, logit: Vector, dual: Vector) -> float:
        labels = BoundBernoulli(Bernoulli(), target, self.weight)
        # f' K^-1 f = a' f.
        return labels.total_log_density(logit) - 0.5 * float(dual @ logit)


def _entry_slopes(K: Matrix, mode: _Mode) -> Matrix:
    """Compute the derivative of the evidence in the entries of ``K``.

    Algorithm 5.1 of Rasmussen & Williams (2006): the explicit part ``(a a' - R) / 2`` with ``a =
    K^-1 f``, plus the implicit part through the mode, which moves with ``K``.

    With ``R = W^1/2 B^-1 W^1/2`` the posterior covariance of the logits is ``K - K R K = W^-1/2 (I
    - B^-1) W^-1/2``.
    """
    probability, root = expit(mode.logit), np.sqrt(mode.curvature)
    R = inverse_from_cholesky(mode.factor)
    # Half the posterior variance times the third derivative of the log likelihood.
    moved = 0.5 * (R.diagonal() - 1.0) * (1.0 - 2.0 * probability)
    R *= root
    R *= root[:, None]
    # (I + W K)^-1 = I - R K by the Woodbury identity: the response df = (I + K W)^-1 dK grad of the
    # mode, transposed (R&W 2006, eq. 5.24).
    v = moved - R @ (K @ moved)
    # sum of a matrix and its transpose: symmetric to the last digit
    # (a a' + v a' + a v' - R) / 2; the factor 0.5 of the dual is doubled by the transpose.
    follow = np.multiply.outer(v + 0.5 * mode.dual, mode.dual)
    follow += follow.T
    follow -= R
    follow *= 0.5
    return follow
