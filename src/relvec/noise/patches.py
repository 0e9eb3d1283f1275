"""Noise level of images from the smallest principal components of their patches."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relvec.noise.tuning import DEFAULT, PatchTuning

__all__ = ["estimate_from_patches"]


def estimate_from_patches(
    planes: NDArray[np.float64], tuning: PatchTuning = DEFAULT.patches
) -> float:
    """Estimate the noise level of images from the covariance of their patches.

    The smoothest patches of a natural image lie near a subspace, so the smallest eigenvalues of
    their covariance are the noise variance. Patches of high variance are left out, a twentieth at a
    time, until the seven smallest eigenvalues agree.

    Parameters
    ----------
    planes : ndarray of shape (n_planes, height, width)
        Images of equal size.
    tuning : PatchTuning, optional
        Size of the patches, and the tolerance for the agreement of eigenvalues.

    Returns
    -------
    std : float
        Standard deviation of the noise.

    References
    ----------
    Pyatykh, Hesser and Zheng (2013), Image noise level estimation by principal component
    analysis, IEEE Transactions on Image Processing 22.
    """
    side, n_equal = tuning.side, tuning.n_equal
    stride = 1 if planes.size < tuning.all_patches_below else 2
    windows = np.lib.stride_tricks.sliding_window_view(planes, (side, side), axis=(1, 2))
    patches = windows[:, ::stride, ::stride].reshape(-1, side * side)
    patches = patches[np.argsort(patches.var(axis=1))]
    n_patches = len(patches)
    counts = [int((1.0 - 0.05 * i) * n_patches) for i in range(20)]

    # Covariances of nested sets of patches by cumulative sums: every patch is visited once.
    total = np.zeros(side * side)
    products = np.zeros((side * side, side * side))
    covariances = {}
    start = 0
    for n in reversed(counts):
        added = patches[start:n]
        total += added.sum(axis=0)
        products += added.T @ added
        covariances[n] = (products - np.outer(total, total) / max(n, 1)) / max(n - 1, 1)
        start = n

    smallest = 0.0
    for n in counts:
        if n < tuning.min_patches and smallest > 0.0:
            break
        variances = np.maximum(np.linalg.eigvalsh(covariances[n]), 0.0)
        smallest = math.sqrt(float(variances[0]))
        if variances[n_equal - 1] - variances[0] < tuning.agreement_factor * variances[
            0
        ] / math.sqrt(n):
            return math.sqrt(float(variances[:n_equal].mean()))
    return smallest
