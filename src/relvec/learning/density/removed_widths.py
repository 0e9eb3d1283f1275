"""Uncertainty of prior variances that the evidence sets to zero, for the bands of a density.

The evidence removes a width if its best prior variance is zero. The variance is not known to be
zero: its posterior is a normal density, cut off at zero, around a maximum at or below zero. With
the mean of this posterior as prior variance the width adds to the covariance of the weights,
while the estimate itself stays without it.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from relvec._typing import IndexArray, Matrix, Vector
from relvec.solvers.latent.problem import LatentState

__all__ = ["add_removed_widths", "expect_variances"]


def expect_variances(columns: Matrix, groups: IndexArray, state: LatentState) -> Vector:
    """Return the expected prior variance of each removed group; NaN for those in the model.

    At zero the derivative of the log evidence in a variance is ``(q'q - tr S) / 2``, and the
    expected information ``tr(S S) / 2``, with ``q`` the slopes of the log likelihood in the weights
    and ``S`` their precision with all other weights integrated out (Tipping and Faul, 2003, of a
    group of atoms).
    """
    mode = state.mode
    known = mode.design.columns
    result = np.full(groups.max() + 1, np.nan)
    for group in np.setdiff1d(np.arange(len(result)), groups[state.active]):
        own = columns[:, groups == group]
        weighted = own * mode.hessian.rows[:, None]
        cross = known.T @ weighted
        precision = own.T @ weighted - cross.T @ mode.hessian.covariance @ cross
        q = own.T @ mode.slope
        std = math.sqrt(2.0 / float((precision**2).sum()))
        # Maximum of the quadratic approximation, in standard deviations.
        best = 0.5 * float(q @ q - np.trace(precision)) * std
        # Mean of a normal density cut off at zero: its inverse Mills ratio.
        mills = math.exp(-0.5 * best**2 - 0.5 * math.log(2.0 * math.pi) - float(log_ndtr(best)))
        result[group] = std * max(best + mills, 0.0)
    return result


def add_removed_widths(columns: Matrix, groups: IndexArray, state: LatentState) -> Vector:
    """Return log precisions of all atoms, those of removed groups from their expected variances."""
    variance = expect_variances(columns, groups, state)
    log_precision = np.full(len(groups), np.nan)
    log_precision[state.active] = state.log_precision
    removed = np.isnan(log_precision)
    # Atoms that are constant over the bins have no effect: the solver leaves them out, as here.
    known = np.nan_to_num(variance[groups[removed]], nan=0.0)
    log_precision[removed] = -np.log(np.maximum(known, 1e-100))
    return log_precision
