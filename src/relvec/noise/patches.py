"""The noise level of images from the smallest principal components of their patches."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["patch_scale"]

_SIDE = 5
_N_EQUAL = 7
"""Smallest variances that must agree before they are believed to be noise."""

_AGREE = 9.8
"""Spread of that many equal variances, in units of ``variance / sqrt(n_patches)``."""

_FEWEST = 500
"""Patches below which covariances are too noisy."""

_N_SHARES = 20
_DENSE_BELOW = 192 * 192
"""Pixels up to which every patch counts; above, every second one in both directions."""


def patch_scale(planes: NDArray[np.float64]) -> float:
    """Noise level of images whose patches do not use all their dimensions.

    The flattest patches of a natural image lie near a subspace, so that the smallest eigenvalues of
    their covariance are those of the noise. Busy patches are left out, a twentieth at a time, until
    the seven smallest eigenvalues agree.

    Parameters
    ----------
    planes : ndarray of shape (n_planes, height, width)
        Images of equal size.

    References
    ----------
    Pyatykh, Hesser and Zheng (2013), Image noise level estimation by principal component
    analysis, IEEE Transactions on Image Processing 22.
    """
    stride = 1 if planes.size < _DENSE_BELOW else 2
    windows = np.lib.stride_tricks.sliding_window_view(planes, (_SIDE, _SIDE), axis=(1, 2))
    patches = windows[:, ::stride, ::stride].reshape(-1, _SIDE * _SIDE)
    patches = patches[np.argsort(patches.var(axis=1))]
    n_patches = len(patches)
    shares = [int((1.0 - 0.05 * i) * n_patches) for i in range(_N_SHARES)]

    # Sums over ever more patches, each patch visited once.
    total = np.zeros(_SIDE * _SIDE)
    products = np.zeros((_SIDE * _SIDE, _SIDE * _SIDE))
    covariances = {}
    start = 0
    for n in reversed(shares):
        added = patches[start:n]
        total += added.sum(axis=0)
        products += added.T @ added
        covariances[n] = (products - np.outer(total, total) / max(n, 1)) / max(n - 1, 1)
        start = n

    smallest = 0.0
    for n in shares:
        if n < _FEWEST and smallest > 0.0:
            break
        variances = np.maximum(np.linalg.eigvalsh(covariances[n]), 0.0)
        smallest = math.sqrt(float(variances[0]))
        if variances[_N_EQUAL - 1] - variances[0] < _AGREE * variances[0] / math.sqrt(n):
            return math.sqrt(float(variances[:_N_EQUAL].mean()))
    return smallest
