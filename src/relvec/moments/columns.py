"""Means, norms and numerical resolution of atoms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._linalg import EPS
from relvec._typing import BoolArray, Vector


class ColumnScales(NamedTuple):
    """What prepares a raw atom, ``(atom - mean) / norm``, and how accurate the result is."""

    mean: Vector
    norm: Vector
    usable: BoolArray
    """True for atoms that are finite and, after centring, not zero."""
    resolution: Vector
    """Smallest sparsity factor that is distinguishable from rounding error."""


def compute_column_scales(
    mean: Vector, centred_ss: Vector, total_weight: float, summed_ss: Vector | None = None
) -> ColumnScales:
    """Determine which atoms are usable, and the numerical resolution of their Gram entries.

    An atom of which less than 1e-9 of the squared norm is left by the others counts as explained by
    them. If `centred_ss` was computed as a difference of sums, pass the sums of squares before
    subtraction as `summed_ss`: the rounding error of the difference is relative to them.
    """
    # A column whose centred norm is below 1e-12 of the raw norm is constant up to rounding.
    with np.errstate(invalid="ignore", over="ignore"):
        raw_ss = centred_ss + total_weight * mean**2
        # 1e-280 is far above the smallest normal number: squares of small entries do not underflow.
        usable = (centred_ss > 1e-24 * raw_ss) & (centred_ss > 1e-280) & np.isfinite(centred_ss)
    norm = np.sqrt(np.where(usable, centred_ss, 1.0))
    # Centring leaves an error of EPS |raw column| in a column of length `norm`; relative to the
    # latter it bounds the error of s = 1 - (sum of squares). The factor covers sums over rows.
    rounding = 100.0 * EPS * np.sqrt(np.where(usable, raw_ss, 1.0)) / norm
    resolution = np.maximum(1e-9, rounding)
    if summed_ss is not None:
        # Cancellation amplifies the relative rounding error by this factor.
        amplification = summed_ss / np.where(usable, centred_ss, 1.0)
        usable = usable & (amplification < 1e13)
        resolution = np.maximum(resolution, 100.0 * EPS * amplification)
    return ColumnScales(mean, norm, usable, resolution)
