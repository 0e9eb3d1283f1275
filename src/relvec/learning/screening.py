"""Which of many inputs have anything to do with the targets by themselves."""

from __future__ import annotations

import numpy as np

from relvec._typing import BoolArray, Matrix, Vector
from relvec.learning.process import Process

__all__ = ["screen_inputs"]

WIDTHS = (0.1, 1.0)
"""Scales at which each input is tried: one at which kernels are nearly straight lines, and one at
which they see that the middle is unlike both ends."""
BLOCK_VALUES = 1 << 22


def screen_inputs(process: Process, varies: BoolArray, most: int) -> BoolArray:
    """Return the inputs whose kernel goes best with the targets, one by one.

    The measure is how much of the targets a kernel of a single input picks up, ``t' K t``, in
    standard deviations of what it picks up from targets in random order.

    Parameters
    ----------
    process : Process
        Inputs in units of their standard deviation, and targets.
    varies : ndarray of shape (n_features,)
        Inputs that come into question.
    most : int
        How many pass.
    """
    score = np.where(varies, process.single_scores(_all_scores), -np.inf)
    chosen = np.zeros(len(score), dtype=bool)
    chosen[np.argsort(-score, kind="stable")[:most]] = True
    return chosen & varies


def _all_scores(process: Process) -> Vector:
    """Score of every input, in blocks."""
    targets, root = process.targets, process.root
    similar = targets @ targets.T
    # of which the mean over permutations, with the diagonal held, is what chance would give
    np.fill_diagonal(similar, 0.0)
    n_samples, n_features = process.X.shape
    size = max(1, BLOCK_VALUES // n_samples**2)
    return np.concatenate(
        [
            _scores(process.X[:, start : start + size], similar, root)
            for start in range(0, n_features, size)
        ]
    )


def _scores(X: Matrix, similar: Matrix, root: np.ndarray) -> np.ndarray:
    """Best score of each column of `X` over the widths."""
    squared = (X.T[:, :, None] - X.T[:, None, :]) ** 2
    best = np.full(X.shape[1], -np.inf)
    share = np.square(root) / np.square(root).sum()
    for width in WIDTHS:
        values = np.exp(-width * squared)
        mean = values @ share
        values -= mean[:, :, None] + mean[:, None, :] - (mean @ share)[:, None, None]
        picked = np.einsum("kij,ij->k", values, similar)
        noise = np.sqrt(np.einsum("kij,kij->k", values, values))
        best = np.maximum(best, picked / np.maximum(noise, 1e-300))
    return best
