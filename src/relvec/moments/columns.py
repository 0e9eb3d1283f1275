"""How raw atoms relate to prepared ones: weighted, centred, scaled to unit norm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._linalg import EPS
from relvec._typing import BoolArray, Vector


class ColumnScales(NamedTuple):
    """How raw atoms relate to prepared ones."""

    mean: Vector
    norm: Vector
    usable: BoolArray
    resolution: Vector


def compute_column_scales(
    mean: Vector, centred_ss: Vector, total_weight: float, summed_ss: Vector | None = None
) -> ColumnScales:
    """Decide which atoms are usable and how finely their Gram entries are resolved.

    Below 1e-9 of its squared norm an atom counts as explained by the others. Where centred sums
    are differences of sums, `summed_ss` are the squares that were summed: their rounding is that of
    the difference.
    """
    # A centred norm of 1e-12 of the raw one is the rounding of a constant column.
    with np.errstate(invalid="ignore", over="ignore"):
        raw_ss = centred_ss + total_weight * mean**2
        usable = (centred_ss > 1e-24 * raw_ss) & (centred_ss > 1e-280) & np.isfinite(centred_ss)
    norm = np.sqrt(np.where(usable, centred_ss, 1.0))
    rounding = 100.0 * EPS * np.sqrt(np.where(usable, raw_ss, 1.0)) / norm
    resolution = np.maximum(1e-9, rounding)
    if summed_ss is not None:
        amplification = summed_ss / np.where(usable, centred_ss, 1.0)
        usable = usable & (amplification < 1e13)
        resolution = np.maximum(resolution, 100.0 * EPS * amplification)
    return ColumnScales(mean, norm, usable, resolution)
