"""Missing samples: filled before the transform, with more doubt afterwards."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import correlate1d, distance_transform_edt

from relvec._typing import BoolArray
from relvec.denoising.frame import Array

__all__ = ["fill", "gap_variance"]


def fill(values: Array, observed: BoolArray, *, n_sweeps: int = 64) -> Array:
    """Fill missing samples from their neighbours.

    Along a line linearly, beyond its ends with the last observed value. In more dimensions
    each takes the value of the nearest observed sample, and neighbours in a gap are then
    levelled out.

    Parameters
    ----------
    values : ndarray
        Signal; what is not observed is not looked at.
    observed : ndarray of bool
        At least one must be True.
    n_sweeps : int, default=64
        How often neighbours in a gap are levelled out; gaps much wider than this keep traces
        of their rims.
    """
    if observed.all():
        return values
    if values.ndim == 1:
        places = np.arange(len(values))
        return np.interp(places, places[observed], values[observed])
    nearest = distance_transform_edt(~observed, return_distances=False, return_indices=True)
    filled: Array = values[tuple(nearest)]
    gap = ~observed
    kernel = np.array([0.25, 0.5, 0.25])
    for _ in range(n_sweeps):
        smoothed = filled
        for axis in range(values.ndim):
            smoothed = correlate1d(smoothed, kernel, axis=axis, mode="nearest")
        filled[gap] = smoothed[gap]
    return filled


def gap_variance(mean: Array, observed: BoolArray, *, farthest: int = 256) -> Array:
    """Variance to add where nothing was observed.

    How wrong is a value half way between two others, each so many samples away? The denoised
    signal itself answers, on average over all places: more the farther away the observed
    samples are, and not at all where it is straight.

    Parameters
    ----------
    mean : ndarray
        Denoised signal.
    observed : ndarray of bool
        Where there were data.
    farthest : int, default=256
        Distance from which on interpolating is as uncertain as at this distance.
    """
    distance = np.rint(distance_transform_edt(~observed)).astype(np.intp)
    farthest = min(int(distance.max()), farthest, max(mean.shape) // 2)
    doubt = np.zeros(farthest + 1)
    for step in range(1, farthest + 1):
        errors = []
        for axis in range(mean.ndim):
            along = np.moveaxis(mean, axis, 0)
            if len(along) > 2 * step:
                half_way = 0.5 * (along[: -2 * step] + along[2 * step :])
                errors.append(np.square(along[step:-step] - half_way).ravel())
        doubt[step] = np.mean(np.concatenate(errors)) if errors else doubt[step - 1]
    return np.maximum.accumulate(doubt)[np.minimum(distance, farthest)]
