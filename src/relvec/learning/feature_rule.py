"""Selection of features: the fast rule for weights, applied to the input scales.

Around the current input scales ``eta`` (Tipping 2001, eq. 52) the log likelihood of a model is
approximately quadratic, ``h' eta - eta' H eta / 2``. A scale is not negative; its prior is
half-normal with a precision ``b`` of its own (Heimsæter, 2021; for weights Chen, Tino and Yao,
2009, use the same prior). As for weights (Tipping and Faul, 2003), the evidence as a function of
one precision, all others held, has a closed form in::

    s = H_ii - H_io (H_oo + B_o)^-1 H_oi,     q = h_i - H_io (H_oo + B_o)^-1 h_o

where ``o`` are the other selected features and ``B_o`` their precisions. For an irrelevant feature
the best precision is infinite. (Heimsæter, 2021, appendix A.1.1, takes ``B theta`` to be constant
and finds a minimum of the evidence.)
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from relvec._typing import BoolArray, Matrix, Vector

__all__ = ["half_normal_gain", "select_features"]

GRID = np.concatenate(
    [
        np.geomspace(1e-8, 0.1, 40),
        np.linspace(0.1, 0.9, 54)[1:],
        1.0 - np.geomspace(0.09, 1e-14, 50),
    ]
)
"""Initial grid of ``s / (b + s)``, dense near both ends."""


def half_normal_gain(s: Vector, q: Vector) -> tuple[Vector, Vector]:
    """Find the best precision of half-normal scales, and its gain in log evidence over none.

    Maximises ``log 2 + log(b / (b + s)) / 2 + q^2 / (2 (b + s)) + log Phi(q / sqrt(b + s))``: the
    contribution of a Gaussian weight (Tipping and Faul, 2003), times two for the half-normal
    density, times the posterior probability of a positive scale (``Phi`` is the normal
    distribution function).

    Parameters
    ----------
    s, q : ndarray
        Negative second and first derivative of the log evidence at scale zero, the other scales
        integrated out.

    Returns
    -------
    gain : ndarray
        Never negative; zero if the best precision is infinite, as it is for ``q <= 0``.
    precision : ndarray
    """
    s, q = np.atleast_1d(s).astype(np.float64), np.atleast_1d(q).astype(np.float64)
    # The evidence depends on s, q and b through z = q / sqrt(s) and s / (b + s) only, so one
    # bounded variable is searched for all features at once; 1e-300 avoids a division by zero.
    z = q / np.sqrt(np.maximum(s, 1e-300))
    values = _evidence_of_share(GRID[:, None], z)
    best = np.argmax(values, axis=0)
    # The function of the share need not be unimodal over (0, 1): the grid brackets its largest
    # maximum, within which golden sections (ratio (sqrt 5 - 1) / 2) are safe.
    low, high = GRID[np.maximum(best - 1, 0)], GRID[np.minimum(best + 1, len(GRID) - 1)]
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    for _ in range(60):  # golden-section search, for all features at once
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        falls = _evidence_of_share(left, z) > _evidence_of_share(right, z)
        low, high = np.where(falls, low, left), np.where(falls, right, high)
    share = 0.5 * (low + high)
    gain = _evidence_of_share(share, z)
    useful = (q > 0.0) & (gain > 0.0)
    # Inverse of share = s / (b + s).
    precision = np.where(useful, s * (1.0 - share) / share, np.inf)
    return np.where(useful, gain, 0.0), precision


def _evidence_of_share(share: Vector, z: Vector) -> Vector:
    """Compute the log evidence in terms of ``share = s / (b + s)`` and ``z = q / sqrt(s)``."""
    # log(b / (b + s)) / 2 = log(1 - share) / 2, the Occam factor; log1p keeps small shares exact.
    with np.errstate(divide="ignore"):
        occam = 0.5 * np.log1p(-share)
    # q^2 / (b + s) = share z^2, and q / sqrt(b + s) = z sqrt(share).
    result: Vector = math.log(2.0) + occam + 0.5 * share * z**2 + log_ndtr(z * np.sqrt(share))
    return result


def select_features(
    H: Matrix, slope: Vector, scale: Vector, penalty: Vector | float, *, rounds: int = 30
) -> tuple[BoolArray, Vector, Vector]:
    """Remove and add features, one after the other, until the selection no longer changes.

    Parameters
    ----------
    H : ndarray of shape (n_features, n_features)
        Information matrix of the scales, with the weights integrated out.
    slope : ndarray of shape (n_features,)
        Derivative of the log evidence at `scale`.
    scale : ndarray of shape (n_features,)
        Current scales, zero for features that are not in the model.
    penalty : float or ndarray of shape (n_features,)
        Minimum gain in log evidence of a feature.
    rounds : int, default=30
        Largest number of passes over all features.

    Returns
    -------
    kept : ndarray of bool of shape (n_features,)
    mean : ndarray of shape (n_features,)
        Scales at the mode of the approximation; zero for features that are not kept.
    gain : ndarray of shape (n_features,)
        Gain in log evidence of each feature that is kept, or would be.
    """
    # Expand around zero: the gradient at `scale` is h - H scale.
    h = slope + H @ scale
    # MacKay's fixed point b = gamma / scale^2 with gamma = 1 as a start; it is replaced for each
    # feature in its turn.
    precision = np.where(scale > 0.0, 1.0 / np.maximum(scale, 1e-150) ** 2, np.inf)
    gain, penalties = np.zeros(len(scale)), np.broadcast_to(penalty, scale.shape)
    for _ in range(rounds):
        before = precision.copy()
        # Coordinate ascent as in Tipping & Faul (2003): the others' precisions are held while the
        # best one of feature k is set.
        for k in range(len(scale)):
            s, q = _without(H, h, precision, k)
            gains, best = half_normal_gain(np.array([s]), np.array([q]))
            gain[k] = gains[0]
            precision[k] = best[0] if gain[k] > penalties[k] else np.inf
        if np.array_equal(np.isfinite(before), np.isfinite(precision)):
            break
    kept = np.isfinite(precision)
    mean = np.zeros(len(scale))
    if kept.any():
        # Mode (H + B)^-1 h without the constraint; negative scales, which the half-normal prior
        # excludes, are set to zero one by one, which is approximate if features are correlated.
        inside = H[np.ix_(kept, kept)] + np.diag(precision[kept])
        mean[kept] = np.maximum(np.linalg.solve(inside, h[kept]), 0.0)
    return kept & (mean > 0.0), mean, gain


def _without(H: Matrix, h: Vector, precision: Vector, k: int) -> tuple[float, float]:
    """Compute ``s`` and ``q`` of one scale, with the other selected scales integrated out."""
    others = np.isfinite(precision)
    others[k] = False
    s, q = float(H[k, k]), float(h[k])
    if others.any():
        # Schur complement of the others' block: their scales are integrated out with precisions
        # B_o.
        inside = H[np.ix_(others, others)] + np.diag(precision[others])
        solved = np.linalg.solve(inside, np.column_stack([H[others, k], h[others]]))
        s -= float(H[k, others] @ solved[:, 0])
        q -= float(H[k, others] @ solved[:, 1])
    # The subtraction above cancels: below 1e-10 of H_kk nothing but rounding error remains.
    if s <= 1e-10 * H[k, k]:
        return 1.0, 0.0  # collinear with the other features, to rounding: no gain
    return s, q
