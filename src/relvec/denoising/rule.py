"""Neighbouring coefficients share one precision.

A coefficient is judged together with its neighbours: those of a signal come in company,
noise does not. ``m`` coefficients with one common precision have the closed form of a single
one, their mean square in place of its own and the penalty shared among them. That is exact for
disjoint groups; here every coefficient has the group centred on it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from relvec._typing import Vector
from relvec.denoising.frame import Array, Band
from relvec.denoising.tuning import DEFAULT, DenoisingTuning
from relvec.solvers.gaussian.shrinkage import shrinkage

__all__ = ["Shrunk", "group_penalty", "shrink_band"]


class Shrunk(NamedTuple):
    """A band after shrinkage."""

    values: Array
    factor: Array
    """What each coefficient was multiplied by: 0 if dropped, towards 1 if kept."""
    penalty: float
    """Covariance of values and data, summed over the atoms' part inside the signal: what
    Stein's estimate adds to the squared residual, halved."""
    freedom: float
    """Degrees of freedom: the sum of the factors, over the same part."""
    group_c: float
    """The penalty of a group that was used."""


def group_penalty(c: float, size: int) -> float:
    """Penalty of a group that lets it in by chance as often as one coefficient at penalty `c`.

    A coefficient of pure noise passes ``u > 1 + 2 c`` with some probability; the mean of
    `size` such squares passes ``1 + 2 c_m / size`` with the same probability at the returned
    ``c_m``.

    Examples
    --------
    >>> group_penalty(3.0, 1)
    3.0
    >>> round(group_penalty(3.0, 3), 2)
    4.39
    """
    if size == 1:
        return c
    return max(0.0, 0.5 * (float(chi2.isf(chi2.sf(1.0 + 2.0 * c, 1), size)) - size))


def shrink_band(
    values: Array,
    noise: Array | float,
    inside: Array,
    c: float,
    band: Band,
    width: int,
    group_c: float | None = None,
    tuning: DenoisingTuning = DEFAULT,
) -> Shrunk:
    """Shrink every coefficient by the evidence of its neighbourhood.

    Parameters
    ----------
    values : ndarray
        Coefficients of one band.
    noise : float or ndarray
        Their noise variance.
    inside : ndarray
        How much of it comes from samples of the signal; the rest is from beyond its ends.
    c : float
        Penalty of a degree of freedom of a single coefficient.
    band : Band
        Along which axes neighbours are to be found.
    width : int
        Odd width of the neighbourhood along each of these axes.
    penalty : float, optional
        Penalty of a group. By default Stein's unbiased estimate of the error chooses between
        `c` itself, the closed form's penalty for disjoint groups, and `group_penalty`, which
        allows for each peak of the noise being seen by several overlapping groups. The first
        suits dense content, the second sparse content.
    tuning : DenoisingTuning, optional
        On how much, and how carefully, they are compared.
    """
    widths = tuple(min(width, _largest_odd(values.shape[axis])) for axis in band.axes)
    size = math.prod(widths)
    if group_c is None:
        group_c = _better_penalty(values, noise, inside, c, band, widths, tuning)
    squares, means, own = _group_squares(values, noise, band, widths)
    factor = shrinkage(means, group_c / size)
    _, slope = _residual_and_slope(factor, squares, own)
    return Shrunk(
        values=values * factor,
        factor=factor,
        penalty=band.share * float(np.vdot(inside, slope)),
        freedom=band.share * _sum_of_ratio(inside, noise, factor),
        group_c=group_c,
    )


def _better_penalty(
    values: Array,
    noise: Array | float,
    inside: Array,
    c: float,
    band: Band,
    widths: tuple[int, ...],
    tuning: DenoisingTuning,
) -> float:
    """Compare the two penalties of a group by Stein's estimate, on a sample if there are many."""
    size = math.prod(widths)
    if size == 1:
        return c
    # the first axis counts shifts, or frames: a few of them speak for all
    rows = slice(max(1, tuning.penalty_sample * len(values) // values.size))
    part = noise if isinstance(noise, float) else noise[rows]
    squares, means, own = _group_squares(values[rows], part, band, widths)
    risks = {}
    for group_c in (c, group_penalty(c, size)):
        left, slope = _residual_and_slope(shrinkage(means, group_c / size), squares, own)
        risks[group_c] = float(np.vdot(inside[rows], left + tuning.caution * slope))
    return min(risks, key=lambda group_c: risks[group_c])


def _group_squares(
    values: Array, noise: Array | float, band: Band, widths: tuple[int, ...]
) -> tuple[Array, Array, Array]:
    """Squares of coefficients, their means over neighbourhoods, and each one's own share in it.

    All in units of the noise.
    """
    squares = values * values
    squares /= noise
    means, own = squares, np.ones(1)
    size = math.prod(widths)
    if size > 1:
        for axis, width in zip(band.axes, widths, strict=True):
            means = _window_sum(means, axis, width, band.wraps)
            weight = _own_weight(values.shape[axis], width, band.wraps)
            own = own * weight.reshape([-1 if at == axis else 1 for at in range(values.ndim)])
        means /= size
    return squares, means, own / size


def _residual_and_slope(factor: Array, squares: Array, own: Array) -> tuple[Array, Array]:
    """Squared change of each coefficient, and the derivative of its new value in itself.

    In units of the noise.
    """
    left = 1.0 - factor
    left *= left
    left *= squares
    slope = left * (2.0 * own)
    slope *= factor > 0.0
    slope += factor
    return left, slope


def _sum_of_ratio(inside: Array, noise: Array | float, factor: Array) -> float:
    if isinstance(noise, float):
        return float(np.vdot(inside, factor)) / noise
    return float(np.vdot(inside / noise, factor))


def _largest_odd(size: int) -> int:
    return size - 1 if size % 2 == 0 else size


def _window_sum(values: Array, axis: int, width: int, wraps: bool) -> Array:
    """Sum over `width` neighbours along an axis; at the ends periodic, or mirrored."""
    moved = np.moveaxis(values, axis, -1)
    total = np.array(moved)
    n = moved.shape[-1]
    for step in range(1, width // 2 + 1):
        total[..., step:] += moved[..., : n - step]
        total[..., : n - step] += moved[..., step:]
        before, after = moved[..., n - step :], moved[..., :step]
        if not wraps:
            before, after = after[..., ::-1], before[..., ::-1]
        total[..., :step] += before
        total[..., n - step :] += after
    return np.moveaxis(total, -1, axis)


def _own_weight(n: int, width: int, wraps: bool) -> Vector:
    """How often each coefficient is counted in its own window: mirroring repeats the ends."""
    weight = np.ones(n)
    if not wraps:
        near = np.arange(width // 2)[: n // 2]
        # sample i is mirrored onto itself by the step 2 i + 1
        weight[near[2 * near + 1 <= width // 2]] += 1.0
        weight[::-1][near[2 * near + 1 <= width // 2]] += 1.0
    return weight
