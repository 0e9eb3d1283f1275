"""The evidence of a Gaussian process of logits, as a function of the scales of its inputs.

Laplace's approximation (Rasmussen and Williams, 2006, algorithms 3.1 and 5.1): with ``f`` the mode
of the logits, ``W`` the curvature of the log likelihood there and ``B = I + W^1/2 K W^1/2``::

    log p = log p(t | f) - f' K^-1 f / 2 - log|B| / 2

Several classes are told apart one against the rest, with scales in common. A regression of the
labels, which would be cheaper, sees steps where the logits are smooth, and asks for kernels that
are too narrow.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
from scipy.special import expit

from relvec._linalg import cholesky, log_det_cholesky, solve_lower
from relvec._typing import Matrix, Vector
from relvec.learning.process import Process
from relvec.likelihoods.bernoulli import Bernoulli, BoundBernoulli

__all__ = ["LabelProcess"]


class _Mode(NamedTuple):
    """Mode of the logits of one class, and what the gradient needs."""

    log_evidence: float
    dual: Vector
    """``K^-1 f``, which is the gradient of the log likelihood."""
    logit: Vector
    curvature: Vector
    factor: Matrix


class LabelProcess(Process):
    """Labels of a Gaussian process whose parameters are to be learnt.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    targets : ndarray of shape (n_samples, n_classes)
        Indicators, 0 or 1, each told apart from the rest.
    weight : ndarray of shape (n_samples,), default=None
        How often each row counts; all positive.
    explicit : ndarray of shape (n_samples, n_columns), default=None
        Columns that are in the model besides the kernels.
    settled : float, default=1e-6
        Rise of the log posterior at which a mode is found.
    """

    signal_bounds = (-7.0, 2.0 * math.log(100.0))
    max_rows = 300  # one evaluation is several of a regression
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
        self.labels = targets[:, (share > 0.0) & (share < 1.0)]
        self.settled = settled
        self._duals: list[Vector | None] = [None] * self.labels.shape[1]

    def ranked(self) -> Self:
        """Return the process itself: ranks of two values are two values."""
        return self

    def _evidence(self, covariance: Matrix, slopes: bool) -> tuple[float, Matrix | None] | None:
        """Sum over the classes, each climb to a mode starting from the last one."""
        total, E = 0.0, np.zeros_like(covariance) if slopes else None
        for number, target in enumerate(self.labels.T):
            mode = self._find_mode(covariance, target, self._duals[number])
            if mode is None and self._duals[number] is not None:
                mode = self._find_mode(covariance, target, None)
            if mode is None:
                return None
            self._duals[number] = mode.dual
            total += mode.log_evidence
            if E is not None:
                E += _entry_slopes(covariance, mode)
        return total, E

    def _find_mode(self, K: Matrix, target: Vector, dual: Vector | None) -> _Mode | None:
        """Newton's method in the logits, steps halved until the posterior rises."""
        dual = np.zeros(len(target)) if dual is None else dual
        logit = K @ dual
        value = self._log_posterior(target, logit, dual)
        for _ in range(50):  # a handful do unless labels are all but separated
            curvature, factor = self._curvature(K, logit)
            if factor is None:
                return None
            root = np.sqrt(curvature)
            right = curvature * logit + self.weight * (target - expit(logit))
            inner = solve_lower(factor, root * (K @ right))
            full = right - root * solve_lower(factor, inner, transposed=True)
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
        evidence = value - 0.5 * log_det_cholesky(factor)
        return _Mode(evidence, dual, logit, curvature, factor)

    def _curvature(self, K: Matrix, logit: Vector) -> tuple[Vector, Matrix | None]:
        """Return W at some logits, and the Cholesky factor of B if there is one."""
        probability = expit(logit)
        curvature = self.weight * probability * (1.0 - probability)
        root = np.sqrt(curvature)
        B = K * np.multiply.outer(root, root)
        B.flat[:: len(B) + 1] += 1.0
        return curvature, cholesky(np.asfortranarray(B))

    def _log_posterior(self, target: Vector, logit: Vector, dual: Vector) -> float:
        labels = BoundBernoulli(Bernoulli(), target, self.weight)
        return labels.total_log_density(logit) - 0.5 * float(dual @ logit)


def _entry_slopes(K: Matrix, mode: _Mode) -> Matrix:
    """Derivative of the evidence in the entries of K, the mode following."""
    probability, root = expit(mode.logit), np.sqrt(mode.curvature)
    half = solve_lower(mode.factor, np.asfortranarray(np.diag(root)))
    R = half.T @ half
    C = half @ K
    posterior = K.diagonal() - np.einsum("ij,ij->j", C, C)
    third = -mode.curvature * (1.0 - 2.0 * probability)
    moved = 0.5 * posterior * third
    v = moved - R @ (K @ moved)
    slopes = 0.5 * (np.multiply.outer(mode.dual, mode.dual) - R)
    follow = np.multiply.outer(v, mode.dual)
    return slopes + 0.5 * (follow + follow.T)
