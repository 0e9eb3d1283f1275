"""The Laplace approximation of a softmax model: mode, evidence, gradient, predictions.

The same as `relvec.laplace.binary` for any number of classes. A weight belongs to a pair of
an atom and a class; only pairs in the model have one, so the Hessian is as small as the model:

    log p(t | w) - w'Aw / 2 + log|A| / 2 - log|H| / 2 + (K - 1) / 2 log(2 pi).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri, xlogy
from scipy.stats import qmc

from relvec._linalg import solve_lower
from relvec._typing import IndexArray, Matrix, Vector
from relvec.laplace.binary import RAREST, Place, go_uphill, is_small
from relvec.laplace.pair_design import PairCurvature, PairDesign
from relvec.likelihoods.bernoulli import moderate
from relvec.likelihoods.softmax import (
    curving_probabilities,
    log_likelihood,
    mean_probabilities,
    probabilities,
)

__all__ = ["ClassLabels", "SoftmaxMode", "SoftmaxPosterior", "bound_curvature", "find_softmax_mode"]

BLOCK_ENTRIES = 1_000_000
"""Logits drawn at a time when probabilities are averaged over draws."""


@dataclass(frozen=True)
class ClassLabels:
    """What was observed: one of several classes in every row."""

    target: IndexArray
    """Classes, coded 0, 1, ..."""
    n_classes: int
    weight: Vector | None = None
    """How often each row counts."""
    offset: Matrix | None = None
    """Part of the logits that is given, shape (n_samples, n_classes)."""
    has_intercept: bool = True

    @property
    def total_weight(self) -> float:
        """Number of rows, counted as often as they weigh."""
        return float(len(self.target)) if self.weight is None else float(self.weight.sum())

    def null_log_likelihood(self) -> float:
        """Log probability of the classes given their shares alone."""
        count = np.bincount(self.target, weights=self.weight, minlength=self.n_classes)
        return float(xlogy(count, count / count.sum()).sum())

    def null_intercepts(self) -> Vector:
        """Log share of each class less the mean of all, finite also for classes without rows."""
        count = np.bincount(self.target, weights=self.weight, minlength=self.n_classes)
        share = np.log(np.maximum(count / count.sum(), RAREST))
        centred: Vector = share - share.mean()
        return centred


@dataclass(frozen=True)
class SoftmaxMode:
    """The mode of the posterior of the weights, and the Gaussian around it."""

    curvature: PairCurvature
    weights: Vector
    """Of the pairs, class by class, then of the contrasts of the intercepts."""
    logits: Matrix
    log_evidence: float
    n_steps: int

    @property
    def precision(self) -> Vector:
        """Prior precision of each weight; zero for intercepts."""
        return self.curvature.precision

    @property
    def n_atoms(self) -> int:
        """Number of weights besides the intercepts."""
        return self.curvature.design.n_pairs

    @property
    def covariance(self) -> Matrix:
        """Posterior covariance of the weights."""
        return self.curvature.covariance

    @property
    def degrees(self) -> float:
        """Effective degrees of freedom at the model's own curvature, intercepts left out."""
        return self.curvature.degrees

    def gradient(self, c: float, *, exact: bool) -> Vector:
        """Derivative of the evidence, less `c` per degree of freedom, in the log precisions.

        Parameters
        ----------
        c : float
            Price of one of `degrees`.
        exact : bool
            Whether to follow the curvature as it moves with the mode.
        """
        precision, n = self.precision, self.n_atoms
        determined = 1.0 - precision * (self.covariance.diagonal() + self.weights**2)
        result: Vector = 0.5 * determined[:n]
        if c:
            result = result + c * self.curvature.degrees_slope
        if exact:
            pull = self.curvature.solve(self.curvature.design.pull(self.curvature.drift(c)))
            result = result + 0.5 * (precision * self.weights * pull)[:n]
        return result

    def averaged_log_likelihood(self, labels: ClassLabels) -> float:
        """Log probability of each row's class, averaged over the weights, added up.

        By pairs of a row's own class with another, as if each were a logistic model whose logit
        is normal (MacKay, 1992).
        """
        design, rows = self.curvature.design, np.arange(len(labels.target))
        own = np.zeros_like(self.logits)
        own[rows, labels.target] = 1.0
        shared = design.within(design.expected(own) @ self.covariance)
        variance = design.variances(self.covariance) - 2.0 * shared
        variance += shared[rows, labels.target, None]
        ahead = self.logits - self.logits[rows, labels.target, None]
        moderated = moderate(ahead, np.maximum(variance, 0.0))
        moderated[rows, labels.target] = 0.0
        return log_likelihood(moderated, labels.target, labels.weight)

    def posterior(self, given: Vector | None = None) -> SoftmaxPosterior:
        """Return what predictions need: nothing that grows with the number of rows.

        Parameters
        ----------
        given : ndarray of shape (n_classes,), optional
            Intercepts that are not fitted.
        """
        design, curvature = self.curvature.design, self.curvature
        given = np.zeros(len(design.sizes)) if given is None else given
        return SoftmaxPosterior(
            self.weights, design.sizes, design.contrast, curvature.factor, curvature.scale, given
        )


@dataclass(frozen=True)
class SoftmaxPosterior:
    """The Gaussian around the mode, without the training data.

    Methods take the atoms of each class at new inputs: a list with an array of shape
    (n_rows, n_atoms of the class) per class.
    """

    weights: Vector
    sizes: tuple[int, ...]
    contrast: Matrix
    factor: Matrix
    """Cholesky factor of the Hessian, scaled to unit diagonal."""
    scale: Vector
    given: Vector
    """Intercepts that were not fitted."""

    @property
    def coefficients(self) -> list[Vector]:
        """Weights of each class."""
        n = sum(self.sizes)
        return np.split(self.weights[:n], np.cumsum(self.sizes)[:-1])

    @property
    def intercepts(self) -> Vector:
        """Intercept of each class; they add up to zero."""
        fitted: Vector = self.contrast @ self.weights[sum(self.sizes) :]
        return fitted + self.given

    def logits(self, atoms_by_class: Sequence[Matrix]) -> Matrix:
        """Logits at the mode, shape (n_rows, n_classes)."""
        return self._design(atoms_by_class).logits(self.weights) + self.given

    def plug_in(self, atoms_by_class: Sequence[Matrix]) -> Matrix:
        """Probabilities at the mode, which takes the weights to be known."""
        return probabilities(self.logits(atoms_by_class))

    def logit_moments(self, atoms_by_class: Sequence[Matrix]) -> tuple[Matrix, np.ndarray]:
        """Mean (n_rows, n_classes) and covariance (n_rows, n_classes, n_classes) of the logits."""
        design = self._design(atoms_by_class)
        n_rows, n_classes = len(design.columns), len(self.sizes)
        ends = np.cumsum([0, *self.sizes])
        rows = np.zeros((n_classes, n_rows, len(self.weights)))
        for k in range(n_classes):
            rows[k, :, ends[k] : ends[k + 1]] = design.columns[:, ends[k] : ends[k + 1]]
            rows[k, :, ends[-1] :] = self.contrast[k]
        rows *= self.scale
        flat = rows.reshape(n_classes * n_rows, len(self.weights)).T
        if len(self.weights):
            flat = solve_lower(self.factor, np.asfortranarray(flat))
        white = flat.reshape(len(self.weights), n_classes, n_rows)
        covariance = np.einsum("pkn,pln->nkl", white, white, optimize=True)
        return design.logits(self.weights) + self.given, covariance

    def probabilities(
        self, atoms_by_class: Sequence[Matrix], n_draws: int, more_variance: Vector | None = None
    ) -> Matrix:
        """Probabilities averaged over the logits of each row, shape (n_rows, n_classes).

        The logits of a row are jointly normal. They are averaged over evenly spread points of
        that distribution, the same for every row, with classes ordered by their mean, so that
        answers do not depend on the order of anything. Shrinking the logit of each class by its
        own variance instead, as is done for two classes, can change which class is the most
        probable. `more_variance` of a row is added to that of each of its logits.
        """
        n_rows, n_classes = len(atoms_by_class[0]), len(self.sizes)
        points = _normal_points(n_classes, n_draws)
        result = np.empty((n_rows, n_classes))
        step = max(1, BLOCK_ENTRIES // (max(n_draws, len(self.weights)) * n_classes))
        for start in range(0, n_rows, step):
            part = [np.asarray(atoms)[start : start + step] for atoms in atoms_by_class]
            mean, covariance = self.logit_moments(part)
            order = np.argsort(mean, axis=1)
            mean = np.take_along_axis(mean, order, axis=1)
            covariance = np.take_along_axis(covariance, order[:, :, None], axis=1)
            covariance = np.take_along_axis(covariance, order[:, None, :], axis=2)
            values, vectors = np.linalg.eigh(covariance)
            if more_variance is not None:
                values = values + more_variance[start : start + step, None]
            root = np.einsum("nkj,nj,nlj->nkl", vectors, np.sqrt(np.maximum(values, 0.0)), vectors)
            logits = mean[None] + np.einsum("nkl,ld->dnk", root, points)
            ordered = mean_probabilities(logits)
            np.put_along_axis(result[start : start + step], order, ordered, axis=1)
        return result

    def _design(self, atoms_by_class: Sequence[Matrix]) -> PairDesign:
        sizes = tuple(np.shape(atoms)[1] for atoms in atoms_by_class)
        if sizes != self.sizes:
            raise ValueError(
                f"atoms_by_class must hold {list(self.sizes)} columns, class by class; "
                f"got {list(sizes)}."
            )
        return PairDesign(np.hstack(atoms_by_class), self.sizes, self.contrast)


@lru_cache(maxsize=16)
def _normal_points(n_dimensions: int, n_points: int) -> Matrix:
    """Points spread like a standard normal distribution, one per column, in pairs of signs."""
    half = qmc.Sobol(n_dimensions, scramble=True, rng=np.random.default_rng(0)).random(
        max(1, n_points // 2)
    )
    points = ndtri(np.clip(half, 1e-6, 1.0 - 1e-6)).T
    return np.concatenate([points, -points], axis=1)


def find_softmax_mode(
    columns: Matrix,
    sizes: tuple[int, ...],
    log_precision: Vector,
    labels: ClassLabels,
    start: Vector | None = None,
    *,
    max_steps: int = 100,
    tol: float = 1e-10,
) -> SoftmaxMode:
    """Maximise the posterior of the weights by Newton's method with backtracking.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_pairs)
        The atom of each pair in the model, class by class.
    sizes : tuple of int
        Number of pairs of each class.
    log_precision : ndarray of shape (n_pairs,)
        Log prior precision of their weights.
    labels : ClassLabels
        The data.
    start : ndarray, optional
        Weights to start from, contrasts of the intercepts last.
    max_steps : int, default=100
        Most steps.
    tol : float, default=1e-10
        Rise of the log posterior, as the quadratic model sees it, at which to stop.
    """
    design = PairDesign.of(columns, sizes, has_intercept=labels.has_intercept)
    target, weight = labels.target, labels.weight
    precision = np.zeros(design.n_weights)
    precision[: design.n_pairs] = np.exp(log_precision)
    if start is None:
        start = np.zeros(design.n_weights)
        if labels.offset is None:
            start[design.n_pairs :] = labels.null_intercepts() @ design.contrast
    logits = design.logits(start)
    if labels.offset is not None:
        logits = logits + labels.offset

    def log_posterior(weights: Vector, logits: Matrix) -> float:
        return log_likelihood(logits, target, weight) - 0.5 * float(precision @ weights**2)

    here = Place(start, logits, log_posterior(start, logits))
    rows = np.arange(len(target))
    n_steps = 0
    while True:
        curvature = PairCurvature(design, curving_probabilities(here.logits), weight, precision)
        residual = -probabilities(here.logits)
        residual[rows, target] += 1.0
        if weight is not None:
            residual *= weight[:, None]
        gradient = design.pull(residual) - precision * here.weights
        step = curvature.solve(gradient)
        rise = float(gradient @ step)
        change = design.logits(step)
        if (rise < tol and is_small(change)) or n_steps >= max_steps:
            break
        there = go_uphill(here, step, change, rise, log_posterior)
        if there is None:
            break
        here = there
        n_steps += 1
    evidence = here.value + 0.5 * float(log_precision.sum()) - 0.5 * curvature.log_det
    evidence += 0.5 * design.contrast.shape[1] * math.log(2.0 * math.pi)
    return SoftmaxMode(curvature, here.weights, here.logits, evidence, n_steps)


def bound_curvature(mode: SoftmaxMode) -> PairCurvature:
    """Return the largest curvature there is, for the design and the precisions of a mode.

    Böhning's bound ``(I - 11'/K) / 2`` is the curvature at equal probabilities times K / 2. It
    depends on the atoms and not on the labels, so that a price on degrees of freedom is a prior.
    """
    own = mode.curvature
    n_classes = own.probability.shape[1]
    equal = np.full_like(own.probability, 1.0 / n_classes)
    return PairCurvature(own.design, equal, own.weight * (0.5 * n_classes), own.precision)
