"""Shrinkage of wavelet coefficients in groups of neighbours.

Large coefficients of a signal occur next to each other, those of noise do not. So a coefficient
shares one precision with its neighbours. For a group of ``m`` coefficients with a common precision
the shrinkage factor is that of a single coefficient (`relvec.solvers.gaussian.shrinkage`), with
``u`` replaced by the mean of the group's ``u`` and the penalty ``c`` by ``c / m``. That is exact
for disjoint groups. Here every coefficient is the centre of its own group, as in the
overlapping-block (NeighCoeff) rule of Cai and Silverman (2001), Sankhya B 63.

Without penalty and with groups of one this is the non-negative garrote, ``z (1 - sigma^2 / z^2)``
for ``|z| > sigma`` and zero otherwise (Schmolck 2008, chapter 2).
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

__all__ = ["ShrunkBand", "compute_group_penalty", "shrink_band"]


class ShrunkBand(NamedTuple):
    """The coefficients of a band after shrinkage."""

    values: Array
    """Posterior means of the coefficients."""
    factor: Array
    """Shrinkage factors: 0 for a coefficient set to zero, near 1 for a large one."""
    divergence: float
    """Contribution of this band to the divergence term of Stein's risk estimate, from the part
    of each atom that lies inside the signal."""
    effective_dof: float
    """Effective degrees of freedom: the sum of the factors, over the same part."""
    group_c: float
    """Penalty per group that was used."""


def compute_group_penalty(c: float, size: int) -> float:
    """Compute the group penalty with the false-positive rate of one coefficient at penalty `c`.

    A coefficient of pure noise exceeds the threshold, ``u > 1 + 2 c``, with the probability
    ``p = P(chi2_1 > 1 + 2 c)``. The returned ``c_m`` satisfies
    ``P(chi2_m > m + 2 c_m) = p`` for a group of ``m = size`` coefficients, or is zero if even
    that is rarer.

    Examples
    --------
    >>> compute_group_penalty(3.0, 1)
    3.0
    >>> round(compute_group_penalty(3.0, 3), 2)
    4.39
    """
    if size == 1:
        return c
    # Solved for c_m: m + 2 c_m is the upper quantile of chi2_m.
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
) -> ShrunkBand:
    """Shrink every coefficient by the precision that maximises the evidence of its group.

    Parameters
    ----------
    values : ndarray
        Coefficients of one band.
    noise : float or ndarray
        Their noise variance.
    inside : ndarray
        The part of the noise variance that comes from samples of the signal; the rest comes from
        the padding.
    c : float
        Penalty per effective degree of freedom of a single coefficient.
    band : Band
        Axes along which coefficients have neighbours.
    width : int
        Odd number of coefficients in a group along each of these axes.
    group_c : float, optional
        Penalty per group. By default the one of two with the lower Stein's unbiased risk
        estimate: `c`, which is right for disjoint groups and suits dense signals, or
        `compute_group_penalty`, which keeps the false-positive rate although overlapping groups
        share large noise coefficients, and suits sparse signals.
    tuning : DenoisingTuning, optional
        Constants of that comparison.

    Returns
    -------
    shrunk : ShrunkBand
    """
    widths = tuple(min(width, _largest_odd(values.shape[axis])) for axis in band.axes)
    size = math.prod(widths)
    if group_c is None:
        group_c = _choose_group_penalty(values, noise, inside, c, band, widths, tuning)
    squares, means, own_weight = _average_squares(values, noise, band, widths)
    # Maximum of the evidence over one precision per group: c / m per coefficient.
    factor = shrinkage(means, group_c / size)
    _, derivative = _compute_residual_and_derivative(factor, squares, own_weight)
    return ShrunkBand(
        values=values * factor,
        factor=factor,
        divergence=band.shift_fraction * float(np.vdot(inside, derivative)),
        effective_dof=band.shift_fraction * _sum_weighted_by_energy(inside, noise, factor),
        group_c=group_c,
    )


def _choose_group_penalty(
    values: Array,
    noise: Array | float,
    inside: Array,
    c: float,
    band: Band,
    widths: tuple[int, ...],
    tuning: DenoisingTuning,
) -> float:
    """Choose the group penalty with the lower Stein's risk estimate, on a sample of the band."""
    size = math.prod(widths)
    if size == 1:
        return c
    # the first axis counts shifts or frames: some of them are a sample of the band
    rows = slice(max(1, tuning.penalty_sample * len(values) // values.size))
    sample_noise = noise if isinstance(noise, float) else noise[rows]
    squares, means, own_weight = _average_squares(values[rows], sample_noise, band, widths)
    risks = {}
    for group_c in (c, compute_group_penalty(c, size)):
        residual, derivative = _compute_residual_and_derivative(
            shrinkage(means, group_c / size), squares, own_weight
        )
        # Stein's estimate without the constant -sum sigma^2; both terms weighted by `inside`, the
        # noise variance from the samples.
        risks[group_c] = float(np.vdot(inside[rows], residual + tuning.stein_factor * derivative))
    return min(risks, key=lambda group_c: risks[group_c])


def _average_squares(
    values: Array, noise: Array | float, band: Band, widths: tuple[int, ...]
) -> tuple[Array, Array, Array]:
    """Compute squared coefficients in units of the noise variance, and their group means.

    Returns
    -------
    squares : ndarray
        ``u = z^2 / sigma^2``.
    means : ndarray
        Mean of ``u`` over the group centred on each coefficient.
    own_weight : ndarray
        Weight of each coefficient in its own group mean.
    """
    squares = values * values
    squares /= noise
    means, own_weight = squares, np.ones(1)
    size = math.prod(widths)
    if size > 1:
        for axis, width in zip(band.axes, widths, strict=True):
            means = _window_sum(means, axis, width, band.wraps)
            weight = _own_weight(values.shape[axis], width, band.wraps)
            along_axis = [-1 if other == axis else 1 for other in range(values.ndim)]
            own_weight = own_weight * weight.reshape(along_axis)
        # Windows along each axis in turn sum over a box: hence one division by the product.
        means /= size
    return squares, means, own_weight / size


def _compute_residual_and_derivative(
    factor: Array, squares: Array, own_weight: Array
) -> tuple[Array, Array]:
    """Compute the squared residual of each coefficient, and the derivative of its estimate.

    With ``kappa = 1 - 1 / v``, ``v = mean(u) - 2 c / m`` and ``w`` the weight of a coefficient in
    its own group, ``d (kappa z) / d z = kappa + 2 w u (1 - kappa)^2`` for ``kappa > 0``. The
    squared residual, in units of the noise variance, is ``u (1 - kappa)^2``.
    """
    residual = 1.0 - factor
    residual *= residual
    residual *= squares
    # Group means depend on the coefficient itself by its weight w: d mean(u) / dz = 2 w z /
    # sigma^2. Below the threshold the estimate is constant, zero.
    derivative = residual * (2.0 * own_weight)
    derivative *= factor > 0.0
    derivative += factor
    return residual, derivative


def _sum_weighted_by_energy(inside: Array, noise: Array | float, factor: Array) -> float:
    if isinstance(noise, float):
        # inside / noise is the fraction of the energy of an atom within the signal.
        return float(np.vdot(inside, factor)) / noise
    return float(np.vdot(inside / noise, factor))


def _largest_odd(size: int) -> int:
    return size - 1 if size % 2 == 0 else size


def _window_sum(values: Array, axis: int, width: int, wraps: bool) -> Array:
    """Sum over `width` neighbours along an axis, with a periodic or mirrored extension."""
    moved = np.moveaxis(values, axis, -1)
    total = np.array(moved)
    n = moved.shape[-1]
    for step in range(1, width // 2 + 1):
        total[..., step:] += moved[..., : n - step]
        total[..., : n - step] += moved[..., step:]
        before, after = moved[..., n - step :], moved[..., :step]
        if not wraps:
            # Half-sample symmetric extension: the ends are repeated.
            before, after = after[..., ::-1], before[..., ::-1]
        total[..., :step] += before
        total[..., n - step :] += after
    return np.moveaxis(total, -1, axis)


def _own_weight(n: int, width: int, wraps: bool) -> Vector:
    """Count how often each coefficient occurs in its own window: mirroring repeats the ends."""
    weight = np.ones(n)
    if not wraps:
        near = np.arange(width // 2)[: n // 2]
        # sample i is mirrored onto itself by the step 2 i + 1
        weight[near[2 * near + 1 <= width // 2]] += 1.0
        weight[::-1][near[2 * near + 1 <= width // 2]] += 1.0
    return weight
