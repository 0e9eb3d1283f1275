"""Profile of the evidence in the noise variance, for an orthonormal dictionary.

With all precisions maximised out, the objective is a function of the noise variance ``s`` alone.
Let ``a = z^2`` be the squared coefficients. Those above ``T s`` are kept (``T = 1 + 2 c``, larger
if atoms have a penalty)::

    J(s) = -1/2 sum_out [log s + a / s] - 1/2 sum_kept [log(a - 2 c s) + 1 + 2 c] + constant

Its derivative in ``log s``, times ``s``, is ``h(s) = 1/2 sum_out (a - s) + c s^2 sum_kept 1 / (a -
2 c s)``. Each kept term rises with ``s`` and is convex, each left-out term falls. So bounds of
``h`` on an interval follow from values at its ends, and ``h`` is convex between the breakpoints ``a
/ T``. Bisection with these bounds finds all local maxima of ``J``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from relvec._checks import check_positive
from relvec._typing import Vector
from relvec.evidence import NOISE_FLOOR
from relvec.solvers.gaussian.shrinkage import BLOCK, entry_threshold

__all__ = ["NoiseOnly", "NoiseProfile", "iterate_noise", "profile_noise", "profile_objective"]


class NoiseOnly(NamedTuple):
    """Observations that only the noise explains: their number and sum of squares.

    These are directions outside the span of the atoms, atoms that may not enter, and a Gamma prior
    on the noise precision, which acts like ``2 shape`` observations with sum of squares ``2 rate``.
    """

    n: float = 0.0
    ss: float = 0.0
    """Sum of squares."""


class NoiseProfile(NamedTuple):
    """The best noise variance, and the other local maxima."""

    noise_variance: float
    objective: float
    """Penalised log evidence there."""
    maxima: tuple[tuple[float, float], ...]
    """Noise variance and objective of every local maximum found, best first."""


class Group:
    """Coefficients under one penalty.

    Parameters
    ----------
    squares : ndarray
        Squared coefficients that may be kept, ascending.
    c, penalty : float
        Penalty on a degree of freedom, and of an atom.
    """

    def __init__(self, squares: Vector, c: float, penalty: float = 0.0) -> None:
        self.squares, self.c, self.penalty = squares, float(c), float(penalty)
        self.threshold = entry_threshold(c, penalty)
        # u = a / s exceeds T as long as s < a / T.
        self.breakpoints = squares / self.threshold
        # Sums of squares of the smallest coefficients: the left-out terms of h in O(1).
        self.sums = np.concatenate([[0.0], np.cumsum(squares)])

    def first_kept(self, s: float) -> int:
        """Return the index of the first coefficient that is kept at the noise variance `s`."""
        return int(np.searchsorted(self.breakpoints, s, side="right"))

    def kept(self, first: int, s: float) -> float:
        """Contribution of the kept coefficients to ``h``: ``c s^2 sum 1 / (a - 2 c s)``."""
        if not self.c:
            return 0.0
        # a - 2 c s = s v with v > 1 for a kept coefficient: positive, no division by zero.
        gap = self.squares[first:] - 2.0 * self.c * s
        return self.c * s * s * float((1.0 / gap).sum())

    def kept_slope(self, first: int, s: float) -> tuple[float, float]:
        """Contribution of the kept coefficients to ``h``, and to its derivative in ``s``."""
        if not self.c:
            return 0.0, 0.0
        gap = self.squares[first:] - 2.0 * self.c * s
        inverse = float((1.0 / gap).sum())
        inverse_slope = 2.0 * self.c * float((1.0 / gap**2).sum())  # d inverse / ds
        return self.c * s * s * inverse, self.c * s * (2.0 * inverse + s * inverse_slope)

    def crossing_bounds(
        self, low: float, high: float, first: int, last: int
    ) -> tuple[float, float]:
        """Bounds on the contribution of coefficients whose breakpoint is in the interval.

        Each contribution rises up to its breakpoint, where the coefficient is no longer kept, and
        falls beyond it.
        """
        # Such a coefficient contributes c s^2 / (a - 2 c s) below its breakpoint, (a - s) / 2
        # above. The lower bound is the smaller of the values at the ends of the interval.
        crossing = self.squares[first:last]
        rising = self.c * low * low / (crossing - 2.0 * self.c * low)
        below = float(np.minimum(rising, 0.5 * (crossing - high)).sum())
        # Upper bound: (a - s) / 2 at s = a / T. The kept branch ends there at c a / (T (T - 2 c)),
        # which is not larger since T >= 1 + 2 c; equal without a penalty of the atom.
        reach = 0.5 * (1.0 - 1.0 / self.threshold)
        return below, reach * float(self.sums[last] - self.sums[first])


class Curve:
    """The profile ``J(s)``; an evaluation costs as much as there are kept coefficients.

    Contributions of groups with different penalties add up, and so do their bounds. A sum of convex
    functions is convex.

    Parameters
    ----------
    groups : sequence of Group
        Coefficients that may be kept, all atoms of one penalty.
    noise_only : NoiseOnly
        Everything that cannot be kept.
    """

    rounding = 1e-13
    """Relative to the number of coefficients times the noise, ``h`` is zero below this."""

    def __init__(self, groups: Sequence[Group], noise_only: NoiseOnly) -> None:
        self.groups, self.noise_only = groups, noise_only
        self.size = sum(len(group.squares) for group in groups)
        self.count = self.size + noise_only.n
        self.total = sum(float(group.sums[-1]) for group in groups) + noise_only.ss

    def n_kept(self, s: float) -> int:
        """Number of coefficients kept at the noise variance `s`."""
        return self.size - sum(group.first_kept(s) for group in self.groups)

    def objective(self, s: float) -> float:
        """``J`` without the constant ``-N/2 log(2 pi)``."""
        count, ss, active, n_kept = self.noise_only.n, self.noise_only.ss, 0.0, 0
        for group in self.groups:
            first = group.first_kept(s)
            kept = group.squares[first:]
            count, ss, n_kept = count + first, ss + float(group.sums[first]), n_kept + len(kept)
            # -1/2 (log s + a / s) plus the gain (v - 1 - log v) / 2 of a kept coefficient: with v =
            # a / s - 2 c the logarithm of s and the term a / s drop out.
            active += float(np.log(kept - 2.0 * group.c * s).sum())
            active += len(kept) * (1.0 + 2.0 * group.c)
        # All groups have the same penalty of an atom; they differ in c only.
        return -0.5 * (count * math.log(s) + ss / s + active) - self.groups[0].penalty * n_kept

    def slope(self, s: float) -> float:
        """Derivative of ``J`` in ``log s``."""
        return self._h([group.first_kept(s) for group in self.groups], s)[0] / s

    def _falling(self, firsts: Sequence[int], s: float) -> tuple[float, float]:
        """Contribution of left-out coefficients to ``h``, and to its derivative in ``s``."""
        ss, count = self.noise_only.ss, self.noise_only.n + sum(firsts)
        for group, first in zip(self.groups, firsts, strict=True):
            ss += float(group.sums[first])
        return 0.5 * (ss - count * s), -0.5 * count

    def _h(self, firsts: Sequence[int], s: float) -> tuple[float, float]:
        """``h`` and its derivative, with these coefficients left out."""
        value, slope = self._falling(firsts, s)
        for group, first in zip(self.groups, firsts, strict=True):
            kept, kept_slope = group.kept_slope(first, s)
            value, slope = value + kept, slope + kept_slope
        return value, slope

    def _bounds(
        self, low: float, high: float, firsts: Sequence[int], lasts: Sequence[int]
    ) -> tuple[float, float]:
        """Bounds of ``h`` on an interval that has the breakpoints of the atoms ``first:last``."""
        # Left-out terms are largest at the lower end, kept terms at the upper end: monotone bounds.
        below, above = self._falling(firsts, high)[0], self._falling(firsts, low)[0]
        for group, first, last in zip(self.groups, firsts, lasts, strict=True):
            least, most = group.crossing_bounds(low, high, first, last)
            below = below + group.kept(last, low) + least
            above = above + group.kept(last, high) + most
        return below, above

    def maxima(self) -> list[float]:
        """Return every local maximum, and the lower end if the profile falls from there."""
        if not self.total > 0.0:
            return []
        # If nothing is kept, J is that of the noise alone, with its maximum at the mean square.
        mean = self.total / self.count
        low = NOISE_FLOOR * mean
        end = max((float(group.breakpoints[-1]) for group in self.groups if len(group.squares)),
                  default=0.0)  # fmt: skip
        # Beyond the last breakpoint nothing is kept: the mean square is a maximum if it is there.
        found = [mean] if mean >= end else []
        if end <= low:
            return found or [low]
        if self.slope(low) <= 0.0:
            found.append(low)
        cells = [(low, end)]
        while cells:
            root, halves = self._search_interval(*cells.pop())
            found += root
            cells += halves
        return sorted(found)

    def _search_interval(
        self, low: float, high: float
    ) -> tuple[list[float], list[tuple[float, float]]]:
        """Return the maximum in an interval, or its halves to be searched, or neither."""
        firsts = [group.first_kept(low) for group in self.groups]
        lasts = [int(np.searchsorted(group.breakpoints, high, "left")) for group in self.groups]
        # h is a sum of `count` terms of the size of s.
        rounding = self.rounding * self.count * low
        below, above = self._bounds(low, high, firsts, lasts)
        # h is the derivative of J: without a change of sign there is no maximum inside.
        if below > rounding or above <= -rounding:
            return [], []
        crossing = [last - first for first, last in zip(firsts, lasts, strict=True)]
        if max(crossing) <= 0:
            # No breakpoint inside: h is convex and has at most one change from positive to
            # negative. At a breakpoint h does not fall, so no maximum of J is there.
            root = self._first_root(low, high, firsts)
            return [] if root is None else [root], []
        # Geometric mean: noise variances extend over many orders of magnitude. In a short interval
        # a breakpoint is taken, so that the number of those inside is halved and the search ends.
        middle = math.sqrt(low * high)
        if high < 1.01 * low:
            most = int(np.argmax(crossing))
            middle = float(self.groups[most].breakpoints[(firsts[most] + lasts[most]) // 2])
        return [], [(low, middle), (middle, high)]

    def _first_root(self, low: float, high: float, firsts: Sequence[int]) -> float | None:
        """Find where ``h``, convex on the interval, turns from positive to negative, or None.

        Newton's method started to the left of the first root of a convex function never passes it.
        """
        s = low
        value = rounding = math.inf
        for _ in range(200):
            rounding = self.rounding * self.count * s
            value, slope = self._h(firsts, s)
            if value <= rounding:
                break
            # A convex function that is positive and rises has no root further to the right.
            if slope >= 0.0:
                return None
            step = -value / slope
            if s + step > high:
                return None
            s += step
            if step <= 1e-15 * s:
                break
        # If h is negative at the lower end, the maximum is to the left of the interval.
        return s if value >= -rounding else None


def profile_objective(noise_variance: float, squares: Vector, c: float) -> float:
    """Compute the penalised log evidence for a given noise variance, at the best precisions.

    Parameters
    ----------
    noise_variance : float
        Variance of the noise.
    squares : ndarray
        Squared coefficients of the data.
    c : float
        Penalty of one degree of freedom.

    Returns
    -------
    objective : float
        Log evidence, less `c` for every degree of freedom: comparable with
        ``Solution.objective``.
    """
    curve = Curve([Group(np.sort(np.ravel(squares)), c)], NoiseOnly())
    return curve.objective(noise_variance) - 0.5 * np.size(squares) * math.log(2.0 * math.pi)


def profile_noise(
    z: Vector,
    c: float,
    *,
    noise_shape: float = 0.0,
    noise_rate: float = 0.0,
    exact_limit: int = 1 << 20,
) -> NoiseProfile:
    """Find the noise variance of highest evidence, with all precisions maximised out.

    All local maxima are found and the best is returned. With more than `exact_limit` coefficients,
    a regular subsample gives the initial value for `iterate_noise` instead.

    Parameters
    ----------
    z : ndarray
        Coefficients of the data, of any shape.
    c : float
        Penalty of one degree of freedom.
    noise_shape, noise_rate : float, default=0.0
        Gamma prior on the noise precision.
    exact_limit : int, default=2**20
        Up to this many coefficients all maxima are found.

    Raises
    ------
    ValueError
        If `c` is so small that the evidence prefers a model without noise, whatever the data.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.solvers.gaussian.noise_profile import profile_noise
    >>> z = np.random.default_rng(0).normal(scale=0.5, size=1000)
    >>> z[:10] += 8.0
    >>> profile_noise(z, c=np.log(1000) / 2).noise_variance  # the truth is 0.25
    0.225
    """
    _check_noise_identifiable(c, noise_rate)
    flat = np.reshape(z, -1)
    if flat.size > exact_limit:
        # Ceiling division: at most a quarter of the limit.
        step = -(-flat.size // (exact_limit >> 2))
        # The prior counts for the sample as much as for all coefficients.
        sample, shape, rate = flat[::step], noise_shape / step, noise_rate / step
        start = profile_noise(sample, c, noise_shape=shape, noise_rate=rate).noise_variance
        return iterate_noise(flat, c, start, noise_shape=noise_shape, noise_rate=noise_rate)
    curve = Curve([Group(np.sort(flat * flat), c)], NoiseOnly(2.0 * noise_shape, 2.0 * noise_rate))
    return rank_maxima(curve, curve.maxima(), flat.size)


def rank_maxima(curve: Curve, maxima: list[float], n_samples: float) -> NoiseProfile:
    """Evaluate the maxima and sort them, best first; there are none if all data are zero."""
    constant = 0.5 * n_samples * math.log(2.0 * math.pi)
    pairs = sorted(((curve.objective(s) - constant, s) for s in maxima), reverse=True)
    if not pairs:
        return NoiseProfile(0.0, math.inf, ())
    return NoiseProfile(pairs[0][1], pairs[0][0], tuple((s, value) for value, s in pairs))


def _check_noise_identifiable(c: float, noise_rate: float) -> None:
    """Raise an error if the threshold is so low that pure noise is fitted by atoms.

    At ``T = 1`` the profile never rises with the noise. Up to about ``T = 1 + 2 * 0.35`` its
    maximum tends to zero as the number of coefficients grows.
    """
    if entry_threshold(c) < 1.7 and not noise_rate:
        raise ValueError(
            f"With c={c:g} the noise variance cannot be estimated from the evidence: an "
            "orthonormal dictionary can fit any data exactly, and the estimate falls to zero. Pass "
            "the noise variance (the median absolute deviation of the finest wavelet coefficients "
            'estimates it), or a higher penalty such as the "bic" prior.'
        )


def iterate_noise(
    z: Vector,
    c: float,
    start: float,
    *,
    noise_shape: float = 0.0,
    noise_rate: float = 0.0,
) -> NoiseProfile:
    """Find a local maximum of the noise profile by fixed-point iteration.

    The data are read once, in blocks. Coefficients that can never be kept are only counted and
    summed, so further iterations cost little.

    Parameters
    ----------
    z : ndarray
        Coefficients of the data, of any shape.
    c : float
        Penalty of one degree of freedom.
    start : float
        Noise variance to start from.
    noise_shape, noise_rate : float, default=0.0
        Gamma prior on the noise precision.
    """
    _check_noise_identifiable(c, noise_rate)
    s = check_positive("start", start)
    flat = np.reshape(z, -1)
    noise_only = NoiseOnly(2.0 * noise_shape, 2.0 * noise_rate)
    curve, lowest = _split_coefficients(flat, c, noise_only, s), 0.25 * s
    for _ in range(500):
        left_out = curve.count - curve.n_kept(s)
        # Fixed point of dJ / d log s = 0: s is the mean square of the left-out coefficients, plus
        # a term of the kept ones. If nothing is left out, J rises with s.
        after = 2.0 * s
        if left_out > 0.0:
            after = s + 2.0 * s * curve.slope(s) / left_out
        after = max(after, NOISE_FLOOR * curve.total / curve.count)
        if after < lowest:
            curve, lowest = _split_coefficients(flat, c, noise_only, after), 0.25 * after
        done = abs(after - s) <= 1e-10 * s
        s = after
        if done or not s > 0.0:
            break
    return rank_maxima(curve, [s] if s > 0.0 else [], flat.size)


def _split_coefficients(flat: Vector, c: float, noise_only: NoiseOnly, s: float) -> Curve:
    """Sort the coefficients that may be kept at noise variances above ``s / 4``; count the rest."""
    # The margin of four lets s fall during the iteration without reading the data again.
    cut = 0.25 * s * entry_threshold(c)
    count, ss = noise_only
    candidates = []
    for start in range(0, flat.size, BLOCK):
        square = flat[start : start + BLOCK] ** 2
        high = square > cut
        candidates.append(square[high])
        square[high] = 0.0
        count += square.size - candidates[-1].size
        ss += float(square.sum())
    return Curve([Group(np.sort(np.concatenate(candidates)), c)], NoiseOnly(count, ss))
