"""Screening of many features by the association of each one with the targets."""

from __future__ import annotations

import numpy as np

from relvec._typing import BoolArray, Matrix, Vector
from relvec.learning.process import Process

__all__ = ["score_single_features"]


def score_single_features(
    process: Process, varies: BoolArray, *, block_values: int = 1 << 18
) -> Vector:
    """Score every feature by the alignment of a kernel of this feature alone with the targets.

    The score is ``t' K t`` with a centred Gaussian kernel ``K``, without the diagonal, divided by
    its standard deviation for randomly permuted targets (as in the Hilbert-Schmidt independence
    criterion).

    Parameters
    ----------
    process : Process
        Features in units of their standard deviations, and targets.
    varies : ndarray of shape (n_features,)
        Features to be scored; the score of the others is minus infinity.
    block_values : int, default=262144
        Number of kernel values computed at once; two megabytes stay in the cache.
    """
    similar = process.targets @ process.targets.T
    # Without the diagonal the expectation over permutations is near zero.
    np.fill_diagonal(similar, 0.0)
    n_samples, n_features = process.X.shape
    size = max(1, block_values // n_samples**2)
    scores = [
        _scores(process.X[:, start : start + size], similar, process.weight)
        for start in range(0, n_features, size)
    ]
    return np.where(varies, np.concatenate(scores), -np.inf)


def _scores(X: Matrix, similar: Matrix, weight: Vector) -> Vector:
    """Compute the best score of each column of `X` over two length-scales."""
    squared = (X.T[:, :, None] - X.T[:, None, :]) ** 2
    best = np.full(X.shape[1], -np.inf)
    share = weight / weight.sum()
    # At 0.1 kernels capture nearly linear relations, at 1 also that the middle differs from the
    # ends.
    for scale in (0.1, 1.0):
        values = np.exp(-scale * squared)
        mean = values @ share
        # Double centring H K H with H = I - 1 share': constants are projected out, as by an
        # intercept.
        values -= mean[:, :, None] + mean[:, None, :] - (mean @ share)[:, None, None]
        picked = np.einsum("kij,ij->k", values, similar)
        # Over permutations of the targets the variance of the sum is proportional to |H K H|_F^2.
        noise = np.sqrt(np.einsum("kij,kij->k", values, values))
        best = np.maximum(best, picked / np.maximum(noise, 1e-300))
    return best
