"""The lower envelope: noise is what the emptiest regions of the best dictionary hold.

The scale of a fixed set of orthonormal coefficients is an upper bound of the noise level, because a
signal can only add to it. The smallest of many such bounds would be too small, by selection.
Two devices prevent that. Blocks are ranked by one half of their coefficients and measured by the
other. And the result is not the smallest bound but the average of all that are compatible with it.
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

__all__ = ["Envelope", "lower_envelope"]


class Candidate(NamedTuple):
    """An upper bound of the noise level and how well it is known."""

    source: str
    fraction: float
    log_scale: float
    standard_error: float


@dataclass(frozen=True)
class Envelope:
    """Noise level and what the coefficients look like at that level.

    Parameters
    ----------
    std : float
        Noise level; zero if no dictionary has a positive scale.
    standard_error : float
        Relative standard error of the most precise bound that was averaged.
    source : str
        Dictionary and share of blocks with the lowest bound.
    null_share : float
        Largest share, over dictionaries, of coefficients that look like noise.
    core_shape : float
        `null_share` over the share of coefficients within three standard deviations: one
        where these are Gaussian.
    quiet_share : float
        Largest share of blocks whose median magnitude is compatible with noise.
    """

    std: float
    standard_error: float
    source: str
    null_share: float
    core_shape: float
    quiet_share: float


def lower_envelope(
    dictionaries: Iterable[Regions], fewest: int, tuning: EnvelopeTuning = DEFAULT.envelope
) -> Envelope:
    """Noise level as the cross-fitted lower envelope over dictionaries and regions.

    Parameters
    ----------
    dictionaries : iterable of Regions
        What to look at.
    fewest : int
        Coefficients that a share of blocks must have to be measured.
    tuning : EnvelopeTuning, optional
        How bounds become one estimate.
    """
    regions = [each for each in dictionaries if len(each.blocks)]
    bounds = [bound for each in regions for bound in upper_bounds(each, fewest, tuning)]
    if not bounds:
        return Envelope(0.0, math.inf, "nothing", 0.0, 0.0, 0.0)
    log_scale = np.array([bound.log_scale for bound in bounds])
    error = np.array([bound.standard_error for bound in bounds])
    lowest = int(np.argmin(log_scale + tuning.penalty * error))
    limit = log_scale[lowest] + tuning.compatible * np.hypot(error, error[lowest])
    agree = log_scale <= limit
    std = math.exp(float(np.average(log_scale[agree], weights=error[agree] ** -2)))
    best = bounds[lowest]
    share = "all" if best.fraction == 1.0 else f"the quietest 1/{round(1 / best.fraction)}"
    diagnoses = np.array([_diagnose(each.blocks, std, tuning) for each in regions]).max(axis=0)
    return Envelope(
        std, float(error[agree].min()), f"{share} of {best.source}", *diagnoses.tolist()
    )


def upper_bounds(
    regions: Regions, fewest: int, tuning: EnvelopeTuning = DEFAULT.envelope
) -> list[Candidate]:
    """Scales of ever smaller shares of the emptiest blocks, cross-fitted."""
    blocks = regions.blocks
    n_blocks, size = blocks.shape
    white, black = blocks[:, 0::2], blocks[:, 1::2]
    bounds = []
    for fraction in tuning.fractions:
        n_chosen = max(1, round(fraction * n_blocks))
        n = n_chosen * size
        enough = tuning.enough_for_small_shares if fraction < 0.25 else fewest
        if fraction < 1.0 and n < max(fewest, enough):
            break
        if fraction == 1.0:
            square = clipped_scale(blocks) ** 2
            error = tuning.error_of_all / math.sqrt(n)
        else:
            if fraction == 0.5:
                white_energy = np.einsum("ij,ij->i", white, white)
                black_energy = np.einsum("ij,ij->i", black, black)
            by_white = np.argpartition(white_energy, n_chosen - 1)[:n_chosen]
            by_black = np.argpartition(black_energy, n_chosen - 1)[:n_chosen]
            square = clipped_scale(black[by_white]) * clipped_scale(white[by_black])
            error = tuning.error_of_chosen / math.sqrt(n)
        if square > 0.0:
            bounds.append(Candidate(regions.name, fraction, 0.5 * math.log(square), error))
    return bounds


def _diagnose(blocks: Matrix, std: float, tuning: EnvelopeTuning) -> tuple[float, float, float]:
    """Null share, shape of the core, and share of quiet blocks; see `Envelope`."""
    magnitude = np.abs(blocks[:: max(1, len(blocks) // tuning.diagnosed_blocks)])
    size = magnitude.shape[1]
    # Probabilities of a standard normal variable to be within 0.75 and within 3.
    null_share = np.count_nonzero(magnitude < 0.75 * std) / magnitude.size / 0.546745
    within = np.count_nonzero(magnitude < 3.0 * std) / magnitude.size / 0.9973
    # The median of a block of noise is below this limit 19 times in 20.
    limit = QUARTILE * std * (1.0 + 1.92 / math.sqrt(size))
    is_quiet = np.count_nonzero(magnitude < limit, axis=1) > size // 2
    return null_share, null_share / max(within, 1e-9), float(is_quiet.mean()) / 0.95
