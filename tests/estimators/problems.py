"""Small data sets, and the model by explicit matrices: no algebra shared with relvec."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

FLAT_PRECISION = 1e-12
"""Prior precision of a bias column that stands for an intercept with a flat prior."""


def sinc(n=100, noise=0.1, seed=0, width=10.0):
    """Draw noisy samples of sin(x)/x; a good value is gamma = 1/9."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-width, width, size=(n, 1))
    return X, np.sinc(X[:, 0] / np.pi) + noise * rng.standard_normal(n)


def smooth(n=60, d=3, noise=0.2, seed=1):
    """Draw a smooth function of two of `d` features; a good value is gamma = 0.1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 3.0 + noise * rng.standard_normal(n)


def linear(n=80, d=20, noise=0.5, seed=2):
    """Draw a linear function of columns 1 and 4."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 2.0 * X[:, 1] - 3.0 * X[:, 4] + 1.0 + noise * rng.standard_normal(n)


def brute_posterior(Phi, t, precision, noise, weight=None):
    """Return mean and covariance of the weights of `Phi` and of a flat intercept (last)."""
    weight = np.ones(len(t)) if weight is None else weight
    design = np.column_stack([Phi, np.ones(len(t))])
    prior = np.diag(np.append(precision, FLAT_PRECISION))
    covariance = np.linalg.inv(prior + design.T @ (weight[:, None] * design) / noise)
    return covariance @ design.T @ (weight * t) / noise, covariance


def brute_predict(Phi, t, precision, noise, Phi_new):
    """Return mean and covariance of new targets, intercept and noise included."""
    mean, covariance = brute_posterior(Phi, t, precision, noise)
    design = np.column_stack([Phi_new, np.ones(len(Phi_new))])
    return design @ mean, design @ covariance @ design.T + noise * np.eye(len(Phi_new))


def gaussian(model, X, gamma):
    """Relevant kernels at the rows of `X`."""
    return rbf_kernel(X, model.relevance_vectors_, gamma=gamma)
