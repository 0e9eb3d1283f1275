"""The Laplace approximation of a logistic model: mode, curvature, evidence and its gradient.

Given precisions, the posterior of the weights is strictly log-concave. Newton's method finds
its mode; the curvature there makes it a Gaussian, whose volume gives the evidence

    log p(t | w) - w'Aw / 2 + log|A| / 2 - log|H| / 2,     H = Phi'B Phi + A.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from relvec._linalg import (
    inverse_from_cholesky,
    log_det_cholesky,
    robust_cholesky,
    solve_cholesky,
)
from relvec._typing import Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.likelihoods.bernoulli import log_likelihood, working_response

__all__ = [
    "RAREST",
    "Labels",
    "Mode",
    "Place",
    "bound_degrees",
    "bound_entry",
    "find_mode",
    "go_uphill",
    "is_small",
]

EPS = float(np.finfo(np.float64).eps)
ARMIJO = 1e-4
SHORTEST = 1e-10
SETTLED = 1e-4
"""Largest step of a logit at which Newton's method may stop. Where all samples are saturated the
posterior hardly rises any more, yet the curvature follows every step."""


RAREST = 1e-6
"""Share of a class that is taken to be no smaller, so that its logit is finite."""


@dataclass(frozen=True)
class Labels:
    """What was observed: one of two classes in every row."""

    target: Vector
    """0 or 1."""
    weight: Vector | None = None
    """How often each row counts."""
    offset: Vector | None = None
    """Part of the logit that is given."""
    has_intercept: bool = True

    @property
    def total_weight(self) -> float:
        """Number of rows, counted as often as they weigh."""
        return float(len(self.target)) if self.weight is None else float(self.weight.sum())

    def null_intercept(self) -> float:
        """Logit of the share of class 1, kept finite when there is only one class."""
        share = float(np.average(self.target, weights=self.weight))
        share = min(max(share, RAREST), 1.0 - RAREST)
        return math.log(share / (1.0 - share))


@dataclass(frozen=True)
class Mode:
    """The mode of the posterior of the weights, and the Gaussian around it."""

    atoms: Matrix
    """Active atoms at the training rows, with a column of ones if there is an intercept."""
    precision: Vector
    """Prior precision of each weight; zero for the intercept."""
    weights: Vector
    logit: Vector
    curvature: Vector
    """Negative second derivative of the log likelihood in each logit."""
    response: Vector
    """Working response: where the quadratic approximation has its maximum, offset taken off."""
    factor: Matrix
    """Cholesky factor of the Hessian, scaled to unit diagonal."""
    scale: Vector
    log_evidence: float
    n_steps: int

    @property
    def n_atoms(self) -> int:
        """Number of weights besides the intercept."""
        return int(np.count_nonzero(self.precision))

    @cached_property
    def covariance(self) -> Matrix:
        """Posterior covariance of the weights."""
        inverse = inverse_from_cholesky(self.factor) if len(self.scale) else self.factor
        return inverse * np.multiply.outer(self.scale, self.scale)

    @property
    def degrees(self) -> float:
        """Effective degrees of freedom at the model's own curvature, the intercept left out."""
        return float((1.0 - self.precision * self.covariance.diagonal())[: self.n_atoms].sum())

    def gradient(self, c: float, *, exact: bool) -> Vector:
        """Derivative of the evidence, less `c` per degree of freedom, in the log precisions.

        Parameters
        ----------
        c : float
            Price of one of `degrees`.
        exact : bool
            Whether to follow the curvature as it moves with the mode. If not, the derivative
            is that at fixed curvature, which the updates of Tipping and of MacKay set to zero.
        """
        k, covariance, precision = self.n_atoms, self.covariance, self.precision
        own = precision * covariance.diagonal()
        result: Vector = 0.5 * (1.0 - own - precision * self.weights**2)
        if c:
            result = result + c * (own - precision * ((covariance * covariance) @ precision))
        if exact:
            pull = covariance @ (self.atoms.T @ self.drift(c))
            result = result + 0.5 * precision * self.weights * pull
        return result[:k]

    def drift(self, c: float) -> Vector:
        """Derivative of twice the penalised log volume in each logit, through the curvature."""
        spread = self.atoms @ self.covariance
        variance = np.einsum("ij,ij->i", spread, self.atoms)
        if c:
            variance = variance + 2.0 * c * ((spread * spread) @ self.precision)
        return self.curvature * (1.0 - 2.0 * expit(self.logit)) * variance


def is_small(change: Matrix) -> bool:
    """Whether a change of the logits leaves their curvatures as they are."""
    return float(np.abs(change).max(initial=0.0)) < SETTLED


class Place(NamedTuple):
    """A point on the way to the mode."""

    weights: Vector
    logits: Matrix
    value: float
    """Log posterior, up to a constant."""


def go_uphill(
    here: Place,
    step: Vector,
    change: Matrix,
    rise: float,
    log_posterior: Callable[[Vector, Matrix], float],
) -> Place | None:
    """Take a Newton step, halved until the log posterior rises; None if that is beyond rounding.

    Parameters
    ----------
    here : Place
        Where the step starts.
    step : ndarray
        Of the weights.
    change : ndarray
        The same step of the logits.
    rise : float
        What the step would gain if the slope stayed as it is here.
    log_posterior : callable
        Function of weights and logits.
    """
    length = 1.0
    while length > SHORTEST:
        weights, logits = here.weights + length * step, here.logits + length * change
        value = log_posterior(weights, logits)
        if value >= here.value + ARMIJO * length * rise - 8.0 * EPS * abs(here.value):
            return Place(weights, logits, value)
        length *= 0.5
    return None


def find_mode(
    atoms: Matrix,
    log_precision: Vector,
    labels: Labels,
    start: Vector | None = None,
    *,
    max_steps: int = 100,
    tol: float = 1e-10,
) -> Mode:
    """Maximise the posterior of the weights by Newton's method with backtracking.

    Parameters
    ----------
    atoms : ndarray of shape (n_samples, k)
        Active atoms.
    log_precision : ndarray of shape (k,)
        Log prior precision of their weights.
    labels : Labels
        The data.
    start : ndarray of shape (k,) or (k + 1,), optional
        Weights to start from, the intercept last.
    max_steps : int, default=100
        Most steps.
    tol : float, default=1e-10
        Rise of the log posterior, as the quadratic model sees it, at which to stop.
    """
    target, weight = labels.target, labels.weight
    k = atoms.shape[1]
    precision = np.exp(log_precision)
    if labels.has_intercept:
        atoms = np.column_stack([atoms, np.ones(len(atoms))])
        precision = np.append(precision, 0.0)
    if start is None:
        start = np.zeros(len(precision))
        if labels.has_intercept and labels.offset is None:
            start[-1] = labels.null_intercept()
    offset = 0.0 if labels.offset is None else labels.offset

    def log_posterior(weights: Vector, logit: Vector) -> float:
        return log_likelihood(logit, target, weight) - 0.5 * float(precision @ (weights * weights))

    here = Place(start, atoms @ start + offset, log_posterior(start, atoms @ start + offset))
    n_steps = 0
    while True:
        curvature, response = working_response(here.logits, target, weight)
        gradient = (curvature * (response - here.logits)) @ atoms - precision * here.weights
        hessian = atoms.T @ (atoms * curvature[:, None])
        hessian.flat[:: len(precision) + 1] += precision
        scale = 1.0 / np.sqrt(np.maximum(hessian.diagonal(), np.finfo(float).tiny))
        factor = robust_cholesky(hessian * np.multiply.outer(scale, scale))
        step = scale * solve_cholesky(factor, scale * gradient) if len(scale) else gradient
        rise = float(gradient @ step)
        change = atoms @ step
        if (rise < tol and is_small(change)) or n_steps >= max_steps:
            break
        there = go_uphill(here, step, change, rise, log_posterior)
        if there is None:
            break
        here = there
        n_steps += 1
    log_det = log_det_cholesky(factor) - 2.0 * float(np.log(scale).sum())
    evidence = here.value + 0.5 * float(log_precision.sum()) - 0.5 * log_det
    evidence += 0.5 * (len(precision) - k) * math.log(2.0 * math.pi)
    return Mode(
        atoms,
        precision,
        here.weights,
        here.logits,
        curvature,
        response - offset,
        factor,
        scale,
        evidence,
        n_steps,
    )


def bound_degrees(
    atoms: Matrix, precision: Vector, weight: Vector | None, has_intercept: bool
) -> tuple[float, Vector]:
    """Degrees of freedom at the largest curvature there is, and minus their gradient.

    With ``B = 1/4`` everywhere (Böhning's bound) they depend on the atoms alone and not on the
    labels, so that a price on them is a prior.

    Parameters
    ----------
    atoms : ndarray of shape (n_samples, k)
        Active atoms, without the intercept.
    precision : ndarray of shape (k,)
        Their prior precisions.
    weight : ndarray of shape (n_samples,) or None
        How often rows count.
    has_intercept : bool
        Whether an intercept takes up the mean.
    """
    if not len(precision):
        return 0.0, np.empty(0)
    if has_intercept:
        atoms = atoms - np.average(atoms, axis=0, weights=weight)
    weighted = 0.25 * (atoms if weight is None else atoms * weight[:, None])
    hessian = atoms.T @ weighted
    hessian.flat[:: len(precision) + 1] += precision
    scale = 1.0 / np.sqrt(hessian.diagonal())
    factor = robust_cholesky(hessian * np.multiply.outer(scale, scale))
    covariance = inverse_from_cholesky(factor) * np.multiply.outer(scale, scale)
    own = precision * covariance.diagonal()
    slope: Vector = own - precision * ((covariance * covariance) @ precision)
    return float((1.0 - own).sum()), slope


def bound_entry(
    dictionary: Dictionary,
    atoms: Matrix,
    precision: Vector,
    weight: Vector | None,
    has_intercept: bool,
) -> tuple[Vector, Vector]:
    """Statistics ``s`` and ``r`` of absent atoms at the largest curvature there is.

    An atom that enters with precision ``a`` adds ``r / (a + s)`` to `bound_degrees`.

    Parameters
    ----------
    dictionary : Dictionary
        All atoms.
    atoms, precision, weight, has_intercept
        As for `bound_degrees`.

    Returns
    -------
    s, r : ndarray of shape (n_atoms,)
        Meaningless for active atoms.
    """
    rows = np.full(len(atoms), 0.25) if weight is None else 0.25 * weight
    if has_intercept:
        atoms = atoms - np.average(atoms, axis=0, weights=rows) if len(precision) else atoms
    weighted = rows[:, None] * atoms
    products = dictionary.rmatmat(np.column_stack([weighted, rows]))
    k = len(precision)
    cross, total = products[:, :k], products[:, k]
    s = dictionary.sq_norms(rows)
    if has_intercept:
        s = s - total**2 / rows.sum()
    hessian = atoms.T @ weighted
    hessian.flat[:: k + 1] += precision
    solved = np.linalg.solve(hessian, cross.T).T if k else cross
    s = np.maximum(s - np.einsum("ij,ij->i", solved, cross), 0.0)
    return s, np.maximum(s - np.square(solved) @ precision, 0.0)
