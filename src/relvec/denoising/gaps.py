"""Missing samples: interpolation before the transform, and its variance afterwards."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import correlate1d, distance_transform_edt

from relvec._typing import BoolArray
from relvec.denoising.frame import Array

__all__ = ["compute_gap_variance", "fill_gaps"]


def fill_gaps(values: Array, observed: BoolArray, *, n_sweeps: int = 64) -> Array:
    """Interpolate missing samples.

    In one dimension the interpolation is linear, and constant beyond the ends. In more dimensions
    a missing sample takes the value of the nearest observed one; the filled samples are then
    smoothed.

    Parameters
    ----------
    values : ndarray
        Signal. Values of missing samples are ignored.
    observed : ndarray of bool
        At least one must be True.
    n_sweeps : int, default=64
        Number of smoothing passes; gaps much wider than this are not smoothed completely.

    Returns
    -------
    filled : ndarray
        `values` itself if nothing is missing.
    """
    if observed.all():
        return values
    if values.ndim == 1:
        positions = np.arange(len(values))
        return np.interp(positions, positions[observed], values[observed])
    nearest = distance_transform_edt(~observed, return_distances=False, return_indices=True)
    filled: Array = values[tuple(nearest)]
    gap = ~observed
    # Binomial smoothing with observed samples held: Jacobi steps towards a nearly harmonic
    # interpolation.
    kernel = np.array([0.25, 0.5, 0.25])
    for _ in range(n_sweeps):
        smoothed = filled
        for axis in range(values.ndim):
            smoothed = correlate1d(smoothed, kernel, axis=axis, mode="nearest")
        filled[gap] = smoothed[gap]
    return filled


def compute_gap_variance(mean: Array, observed: BoolArray, *, farthest: int = 256) -> Array:
    """Compute the variance of interpolation at missing samples.

    The variance at distance ``d`` from the nearest observed sample is the mean squared error of
    linear interpolation of the denoised signal itself, between samples ``d`` to the left and to
    the right, averaged over all positions. It grows with ``d`` and is zero for a straight line.

    Parameters
    ----------
    mean : ndarray
        Denoised signal.
    observed : ndarray of bool
        False where a sample was missing.
    farthest : int, default=256
        Distance beyond which the variance no longer grows.

    Returns
    -------
    variance : ndarray
        Zero where samples were observed.
    """
    distance = np.rint(distance_transform_edt(~observed)).astype(np.intp)
    farthest = min(int(distance.max()), farthest, max(mean.shape) // 2)
    interpolation_mse = np.zeros(farthest + 1)
    for step in range(1, farthest + 1):
        errors = []
        for axis in range(mean.ndim):
            along = np.moveaxis(mean, axis, 0)
            if len(along) > 2 * step:
                # Error at the middle of a gap of 2 d samples, where the error is largest for a
                # constant second derivative.
                half_way = 0.5 * (along[: -2 * step] + along[2 * step :])
                errors.append(np.square(along[step:-step] - half_way).ravel())
        interpolation_mse[step] = (
            np.mean(np.concatenate(errors)) if errors else interpolation_mse[step - 1]
        )
    # Uncertainty must not fall with the distance, as it would for oscillating signals.
    return np.maximum.accumulate(interpolation_mse)[np.minimum(distance, farthest)]
