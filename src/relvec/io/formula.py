"""A fitted model as a formula: all that its predictions need, and nothing of how it was found.

    u      = (x[inputs] - shift) * factor
    phi_j  = profile(u, vectors_j),  one more that is always 1
    a_p    = (phi[index_p] - centre_p) * scale_p
    mean   = offset + (design * a) @ weights
    cov    = spread * white @ white.T + constant + doubt * identity,   factor @ white = design * a
    answer = link(mean, cov)

The exporters write this down in other languages. `Formula.evaluate` is the same in NumPy, in any
precision, and says what rounding costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from relvec._typing import IndexArray, Matrix, Vector
from relvec.kernels import KernelProfile

__all__ = ["Block", "Cover", "Doubt", "Formula"]

PRECISIONS = ("float32", "float64")


class Cover(NamedTuple):
    """Vectors that stand for the training inputs."""

    pivots: IndexArray
    factor: Matrix
    """Lower Cholesky factor of their correlations."""


class Doubt(NamedTuple):
    """Variance of inputs that are unlike the training inputs.

    ``amplitude * max(r - known, 0) / (1 - known)``, where ``r`` is the share of the variance of a
    process that is not explained by its values at a cover.
    """

    cover: int
    amplitude: float
    known: float


@dataclass(frozen=True, eq=False)
class Block:
    """Jointly normal values: one target, one logit, or the logits of all classes."""

    index: IndexArray
    """Which kernel value each weight multiplies; minus one is the one that is always 1."""
    centre: Vector
    scale: Vector
    weights: Vector
    """Means of the weights of the scaled kernel values."""
    design: Matrix
    """Which weights each value has, shape (n_values, n_weights)."""
    offset: Vector
    factor: Matrix
    """Lower Cholesky factor of the precision of the weights."""
    spread: float
    constant: float
    noise: float
    """Variance of a new target beyond that of the function."""
    doubt: Doubt | None


@dataclass(frozen=True, eq=False)
class Formula:
    """A fitted model, as the module describes it."""

    source: str
    n_features: int
    feature_names: tuple[str, ...] | None
    inputs: IndexArray
    shift: Vector
    factor: Vector
    profile: KernelProfile
    vectors: Matrix
    """In the units of ``u``."""
    blocks: tuple[Block, ...]
    covers: tuple[Cover, ...]
    link: str
    """"identity" for targets; "logistic", "one_vs_rest" or "softmax" for classes."""
    has_std: bool = True
    """Whether variances are wanted; else they are not complete."""
    classes: np.ndarray | None = None
    points: Matrix | None = None
    """Over which the logits of a softmax are averaged: a column for every two, one the negative
    of the other, in the order of the means of the logits."""

    @property
    def is_classifier(self) -> bool:
        """Whether answers are probabilities."""
        return self.classes is not None

    def places(self, block: Block) -> IndexArray:
        """Return the kernel values that a block uses, counted from zero."""
        return np.where(block.index < 0, len(self.vectors), block.index)

    def evaluate(self, X: Any, precision: str = "float64") -> tuple[Matrix, Matrix]:
        """Return means and standard deviations of targets, or probabilities of classes twice.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        precision : {"float32", "float64"}, default="float64"
            Of the numbers in the formula and of all arithmetic.
        """
        kind = np.dtype(precision).type
        X = np.asarray(X, dtype=np.float64)[:, self.inputs]
        u = ((X - self.shift) * self.factor).astype(kind)
        phi = self.profile.value(self.profile.compare(u, self.vectors.astype(kind)), np)
        phi = np.hstack([phi, np.ones((len(phi), 1), kind)])
        moments = [self._moments(block, phi, kind) for block in self.blocks]
        if self.link == "softmax":
            [(mean, covariance)] = moments
            probability = self._averaged(mean, covariance, kind)
            return probability, probability
        mean = np.column_stack([mean[:, 0] for mean, _ in moments])
        variance = np.column_stack([covariance[:, 0, 0] for _, covariance in moments])
        if self.link == "identity":
            noise = np.array([block.noise for block in self.blocks], kind)
            return mean, np.sqrt(variance + noise)
        odds = mean / np.sqrt(1.0 + kind(np.pi / 8.0) * variance)
        if self.link == "logistic":
            probability = np.hstack([expit(-odds), expit(odds)])
        else:
            log = -np.logaddexp(kind(0.0), -odds)
            probability = np.exp(log - log.max(axis=1, keepdims=True))
            probability /= probability.sum(axis=1, keepdims=True)
        return probability, probability

    def _moments(self, block: Block, phi: Matrix, kind: Any) -> tuple[Matrix, np.ndarray]:
        a = (phi[:, block.index] - block.centre.astype(kind)) * block.scale.astype(kind)
        rows = a[:, None, :] * block.design.astype(kind)
        mean = rows @ block.weights.astype(kind) + block.offset.astype(kind)
        flat = rows.reshape(-1, rows.shape[2]).T
        white = solve_triangular(block.factor.astype(kind), flat, lower=True).T.reshape(rows.shape)
        covariance = kind(block.spread) * (white @ white.transpose(0, 2, 1)) + kind(block.constant)
        if block.doubt is not None:
            doubt = self._doubt(block.doubt, phi, kind)
            covariance = covariance + doubt[:, None, None] * np.eye(rows.shape[1], dtype=kind)
        return mean, covariance

    def _doubt(self, doubt: Doubt, phi: Matrix, kind: Any) -> Vector:
        cover = self.covers[doubt.cover]
        white = solve_triangular(cover.factor.astype(kind), phi[:, cover.pivots].T, lower=True)
        unexplained = np.clip(1.0 - (white * white).sum(axis=0), 0.0, 1.0)
        share = np.maximum(unexplained - kind(doubt.known), 0.0) / kind(1.0 - doubt.known)
        result: Vector = kind(doubt.amplitude) * share
        return result

    def _averaged(self, mean: Matrix, covariance: np.ndarray, kind: Any) -> Matrix:
        assert self.points is not None
        values, vectors = np.linalg.eigh(covariance)
        scaled = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        root = scaled @ vectors.transpose(0, 2, 1)
        rank = np.argsort(np.argsort(mean, axis=1), axis=1)
        moved = root @ self.points.astype(kind)[rank]
        result = np.zeros_like(mean)
        for sign in (1.0, -1.0):
            logits = mean[:, :, None] + kind(sign) * moved
            share = np.exp(logits - logits.max(axis=1, keepdims=True))
            result += (share / share.sum(axis=1, keepdims=True)).mean(axis=2)
        return result / 2.0

    def tables(self) -> list[np.ndarray]:
        """Return all numbers but those that count something."""
        found = [self.shift, self.factor, self.vectors, *(cover.factor for cover in self.covers)]
        for block in self.blocks:
            found += [block.centre, block.scale, block.weights, block.offset, block.factor]
            found.append(np.array([block.spread, block.constant, block.noise]))
        return found

    def rounding(self, precision: str, *, inputs_too: bool = False) -> float:
        """Measure what a precision costs, over the region of the vectors.

        Parameters
        ----------
        precision : {"float32", "float64"}
            Of the numbers in the formula and of all arithmetic.
        inputs_too : bool, default=False
            Whether inputs are given in that precision as well.

        Returns
        -------
        error : float
            Largest error of a mean in units of its standard deviation, or of a standard deviation
            relative to itself, or of a probability.
        """
        rng = np.random.default_rng(0)
        low, high = self.vectors.min(axis=0), self.vectors.max(axis=0)
        u = np.vstack([self.vectors, rng.uniform(low, high, size=(256, len(low)))])
        X = np.zeros((len(u), self.n_features))
        X[:, self.inputs] = u / np.where(self.factor == 0.0, 1.0, self.factor) + self.shift
        first, second = self.evaluate(X)
        with np.errstate(all="ignore"):
            given = X.astype(precision) if inputs_too else X
            rough, rough_second = self.evaluate(given, precision)
        scale = 1.0 if self.is_classifier else second
        errors = np.maximum(np.abs(rough - first) / scale, np.abs(rough_second - second) / scale)
        return float(np.nan_to_num(errors, nan=np.inf).max())
