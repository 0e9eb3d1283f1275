"""Noise level as the lower envelope of robust scales over many orthonormal transforms.

White noise has the same variance in every coefficient of an orthonormal transform, and a signal
can only add to it. So the robust scale of any fixed set of coefficients is an upper bound of the
noise level. The smallest of many such bounds is biased downwards by selection. Two steps prevent
this. Cross-fitting: blocks are ranked by the energy of one half of their coefficients, and the
scale is measured on the other half. Averaging: the result is not the smallest bound but the mean
of all bounds that are compatible with it within their standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relvec._typing import Matrix
from relvec.noise.regions import Regions
from relvec.noise.scale import QUARTILE, clipped_scale
from relvec.noise.tuning import DEFAULT, EnvelopeTuning

__all__ = ["Envelope", "estimate_lower_envelope"]


class UpperBound(NamedTuple):
    """An upper bound of the noise level, with its standard error."""

    source: str
    """Name of the transform."""
    fraction: float
    """Fraction of the blocks that was measured."""
    log_scale: float
    """Logarithm of the bound."""
    standard_error: float
    """Standard error of `log_scale`."""


@dataclass(frozen=True)
class Envelope:
    """Noise level, and diagnostics of the coefficients at that level.

    Parameters
    ----------
    std : float
        Noise level; zero if no transform has a positive scale.
    standard_error : float
        Relative standard error of the most precise bound that was averaged.
    source : str
        Transform and fraction of blocks with the lowest bound.
    null_fraction : float
        Estimated fraction of coefficients that are pure noise; the largest over all transforms.
    core_ratio : float
        `null_fraction` divided by the estimate from coefficients within three standard
        deviations: one if these are Gaussian.
    quiet_fraction : float
        Estimated fraction of blocks that are pure noise, by their median magnitude; the largest
        over all transforms.
    """

    std: float
    standard_error: float
    source: str
    null_fraction: float
    core_ratio: float
    quiet_fraction: float


def estimate_lower_envelope(
    dictionaries: Iterable[Regions],
    min_coefficients: int,
    tuning: EnvelopeTuning = DEFAULT.envelope,
) -> Envelope:
    """Estimate the noise level as the cross-fitted lower envelope over transforms and regions.

    Parameters
    ----------
    dictionaries : iterable of Regions
        Coefficients of each transform.
    min_coefficients : int
        Coefficients that a fraction of the blocks must contain to be measured.
    tuning : EnvelopeTuning, optional
        Constants of the estimate.

    Returns
    -------
    envelope : Envelope
    """
    regions = [each for each in dictionaries if len(each.blocks)]
    bounds = [
        bound for each in regions for bound in compute_upper_bounds(each, min_coefficients, tuning)
    ]
    if not bounds:
        return Envelope(0.0, math.inf, "nothing", 0.0, 0.0, 0.0)
    log_scale = np.array([bound.log_scale for bound in bounds])
    error = np.array([bound.standard_error for bound in bounds])
    lowest = int(np.argmin(log_scale + tuning.penalty * error))
    limit = log_scale[lowest] + tuning.compatibility_limit * np.hypot(error, error[lowest])
    agree = log_scale <= limit
    std = math.exp(float(np.average(log_scale[agree], weights=error[agree] ** -2)))
    best = bounds[lowest]
    quietest = "all" if best.fraction == 1.0 else f"the quietest 1/{round(1 / best.fraction)}"
    diagnoses = np.array([_diagnose(each.blocks, std, tuning) for each in regions]).max(axis=0)
    return Envelope(
        std, float(error[agree].min()), f"{quietest} of {best.source}", *diagnoses.tolist()
    )


def compute_upper_bounds(
    regions: Regions, min_coefficients: int, tuning: EnvelopeTuning = DEFAULT.envelope
) -> list[UpperBound]:
    """Measure the robust scale of ever smaller fractions of the quietest blocks, cross-fitted."""
    blocks = regions.blocks
    n_blocks, size = blocks.shape
    # the two halves of a block interleave like the squares of a chess board
    white, black = blocks[:, 0::2], blocks[:, 1::2]
    bounds = []
    for fraction in tuning.fractions:
        n_chosen = max(1, round(fraction * n_blocks))
        n = n_chosen * size
        enough = tuning.min_for_small_fractions if fraction < 0.25 else min_coefficients
        if fraction < 1.0 and n < max(min_coefficients, enough):
            break
        if fraction == 1.0:
            square = clipped_scale(blocks) ** 2
            error = tuning.error_factor_all / math.sqrt(n)
        else:
            if fraction == 0.5:
                white_energy = np.einsum("ij,ij->i", white, white)
                black_energy = np.einsum("ij,ij->i", black, black)
            by_white = np.argpartition(white_energy, n_chosen - 1)[:n_chosen]
            by_black = np.argpartition(black_energy, n_chosen - 1)[:n_chosen]
            # geometric mean of the two halves, each selected by the other
            square = clipped_scale(black[by_white]) * clipped_scale(white[by_black])
            error = tuning.error_factor_selected / math.sqrt(n)
        if square > 0.0:
            bounds.append(UpperBound(regions.name, fraction, 0.5 * math.log(square), error))
    return bounds


def _diagnose(blocks: Matrix, std: float, tuning: EnvelopeTuning) -> tuple[float, float, float]:
    """Compute `null_fraction`, `core_ratio` and `quiet_fraction` of `Envelope`."""
    magnitude = np.abs(blocks[:: max(1, len(blocks) // tuning.max_diagnosed_blocks)])
    size = magnitude.shape[1]
    # P(|x| < 0.75) = 0.546745 and P(|x| < 3) = 0.9973 for standard normal x.
    null_fraction = np.count_nonzero(magnitude < 0.75 * std) / magnitude.size / 0.546745
    within = np.count_nonzero(magnitude < 3.0 * std) / magnitude.size / 0.9973
    # The median magnitude of a block of noise is below this limit with probability 0.95.
    limit = QUARTILE * std * (1.0 + 1.92 / math.sqrt(size))
    is_quiet = np.count_nonzero(magnitude < limit, axis=1) > size // 2
    return null_fraction, null_fraction / max(within, 1e-9), float(is_quiet.mean()) / 0.95
