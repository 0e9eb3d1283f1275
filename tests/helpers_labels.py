"""Classification problems and brute-force answers that share no algebra with relvec."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from relvec._typing import IndexArray, Matrix, Vector


def kernel_problem(
    n: int, seed: int, *, width: float = 1.0, steepness: float = 2.0
) -> tuple[Matrix, Vector]:
    """Two noisy classes in the plane and the Gaussian kernel at all points."""
    rng = np.random.default_rng(seed)
    X = 1.5 * rng.normal(size=(n, 2))
    logit = steepness * (2.0 * np.sin(1.5 * X[:, 0]) - X[:, 1])
    return _kernel(X, X, width), (rng.random(n) < expit(logit)).astype(float)


def class_problem(
    n: int, seed: int, *, n_classes: int = 3, width: float = 1.0, spread: float = 0.7
) -> tuple[Matrix, IndexArray]:
    """Several overlapping classes in the plane and the Gaussian kernel at all points."""
    rng = np.random.default_rng(seed)
    target = np.arange(n) % n_classes
    angle = 2.0 * np.pi * target / n_classes
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + spread * rng.normal(size=(n, 2))
    return _kernel(X, X, width), target


def _kernel(X: Matrix, Z: Matrix, width: float) -> Matrix:
    squared = ((X[:, None] - Z[None]) ** 2).sum(axis=-1)
    return np.exp(-0.5 * squared / width**2)


def softmax_effects(columns: Matrix, sizes: tuple[int, ...], contrast: Matrix) -> Matrix:
    """Effect of every weight on every logit, shape (n_samples, n_classes, n_weights)."""
    n, n_pairs = columns.shape
    effects = np.zeros((n, len(sizes), n_pairs + contrast.shape[1]))
    classes = np.repeat(np.arange(len(sizes)), sizes)
    for pair, k in enumerate(classes):
        effects[:, k, pair] = columns[:, pair]
    effects[:, :, n_pairs:] = contrast
    return effects


def dense_softmax_evidence(
    effects: Matrix,
    target: IndexArray,
    precision: Vector,
    weight: Vector | None = None,
    offset: Matrix | float = 0.0,
) -> tuple[float, Vector, Matrix]:
    """Laplace evidence, mode and covariance by general-purpose optimisation and a dense Hessian.

    `precision` is zero for weights with a flat prior.
    """
    n, n_classes, _ = effects.shape
    rows = np.ones(n) if weight is None else weight
    observed = np.eye(n_classes)[target]

    def cost(w: Vector) -> tuple[float, Vector]:
        logits = effects @ w + offset
        y = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
        value = rows @ ((observed * logits).sum(axis=1) - logsumexp(logits, axis=1))
        slope = np.einsum("n,nk,nkj->j", rows, observed - y, effects) - precision * w
        return float(0.5 * precision @ w**2 - value), -slope

    found = minimize(cost, np.zeros(effects.shape[2]), jac=True, method="BFGS", tol=1e-11)
    w = found.x
    logits = effects @ w + offset
    y = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    curvature = np.einsum("nk,kl->nkl", y, np.eye(n_classes)) - np.einsum("nk,nl->nkl", y, y)
    hessian = np.einsum("n,nki,nkl,nlj->ij", rows, effects, curvature, effects)
    hessian += np.diag(precision)
    proper = precision > 0
    value = -cost(w)[0] + 0.5 * np.log(precision[proper]).sum()
    value += 0.5 * np.count_nonzero(~proper) * np.log(2.0 * np.pi)
    return value - 0.5 * np.linalg.slogdet(hessian)[1], w, np.linalg.inv(hessian)
