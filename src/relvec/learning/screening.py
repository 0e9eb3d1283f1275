"""Which of many inputs have anything to do with the targets by themselves."""

from __future__ import annotations

import numpy as np

from relvec._typing import BoolArray, Matrix, Vector
from relvec.learning.process import Process

__all__ = ["score_single_features"]


def score_single_features(
    process: Process, varies: BoolArray, *, block_values: int = 1 << 18
) -> Vector:
    """Score every input by how well a kernel of it alone goes with the targets.

    The measure is how much of the targets a kernel of a single input picks up, ``t' K t``, in
    standard deviations of what it picks up from targets in random order.

    Parameters
    ----------
    process : Process
        Inputs in units of their standard deviation, and targets.
    varies : ndarray of shape (n_features,)
        Inputs that come into question; the others score minus infinity.
    block_values : int, default=262144
        Kernel values of several inputs that are computed at once; two megabytes stay in the cache.
    """
    similar = process.targets @ process.targets.T
    # of which the mean over permutations, with the diagonal held, is what chance would give
    np.fill_diagonal(similar, 0.0)
    n_samples, n_features = process.X.shape
    size = max(1, block_values // n_samples**2)
    scores = [
        _scores(process.X[:, start : start + size], similar, process.weight)
        for start in range(0, n_features, size)
    ]
    return np.where(varies, np.concatenate(scores), -np.inf)


def _scores(X: Matrix, similar: Matrix, weight: Vector) -> Vector:
    """Best score of each column of `X` over two widths."""
    squared = (X.T[:, :, None] - X.T[:, None, :]) ** 2
    best = np.full(X.shape[1], -np.inf)
    share = weight / weight.sum()
    # at 0.1 kernels are nearly straight lines, at 1 they see that the middle is unlike both ends
    for scale in (0.1, 1.0):
        values = np.exp(-scale * squared)
        mean = values @ share
        values -= mean[:, :, None] + mean[:, None, :] - (mean @ share)[:, None, None]
        picked = np.einsum("kij,ij->k", values, similar)
        noise = np.sqrt(np.einsum("kij,kij->k", values, values))
        best = np.maximum(best, picked / np.maximum(noise, 1e-300))
    return best
