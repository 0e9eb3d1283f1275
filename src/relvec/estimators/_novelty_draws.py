"""Samples of functions away from the training inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.error_bars import Novelty

__all__ = ["add_novelty_draws"]


def add_novelty_draws(
    novelty: Novelty, X: Any, mean: Vector, draws: Matrix, rng: np.random.Generator
) -> Matrix:
    """Return draws of a sparse model with the uncertainty away from the training inputs.

    Parameters
    ----------
    novelty : Novelty
        The process that is added.
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    mean : ndarray of shape (n_samples,)
        Mean of the sparse model.
    draws : ndarray of shape (n_samples, n_draws)
        Its samples.
    rng : Generator
        Random numbers.
    """
    # A root by eigenvalues, as the covariance is singular at the pivots; negative ones are
    # rounding.
    values, vectors = np.linalg.eigh(novelty.covariance(X))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    process = root @ rng.standard_normal(draws.shape)
    fallback = novelty.fallback(X, mean)
    own = np.sqrt(fallback.kept)[:, None] * (draws - mean[:, None])
    # One normal deviate per draw: which of the two means holds is common to all inputs.
    between = np.multiply.outer(fallback.spread, rng.standard_normal(draws.shape[1]))
    return (mean + fallback.shift)[:, None] + own + between + process
