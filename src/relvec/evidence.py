"""The log evidence of a Gaussian sparse Bayesian model: pure functions, one home.

Notation (see `relvec.moments.base`): unit-norm centred atoms, ``lam = alpha sigma^2``,
``K = I + Phi Lam^-1 Phi'``, ``R = t' K^-1 t``, ``N`` the effective sample size. The
objective is::

    J = -1/2 [ N log(2 pi sigma^2) + R / sigma^2 + log|K| ] - sum_i c_i gamma_i + sum_i h(log lam_i)

with the noise either held, or profiled out (``sigma^2 = R / N``), in which case
``R / sigma^2 = N``. The last two terms are the prior's (see `relvec.priors.base`): penalties ``c``
on effective degrees of freedom ``gamma_i = 1 - lam_i S_ii``, and the log density ``h`` of a log
precision.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relvec._linalg import EPS, log_det_cholesky, shifted_cholesky
from relvec._typing import IndexArray, Matrix, Vector
from relvec.priors.base import FixedPointTerms, Statistics

NOISE_FLOOR = 1e-10
"""The estimated noise never explains less than this share of the target's variance: in the search a
pseudo-observation orthogonal to every atom, which keeps the objective smooth and bounded."""


def gaussian_objective(
    n_effective: float, quadratic: float, log_det: float, noise_variance: float | None
) -> float:
    """Log evidence from ``R``, ``log|K|`` and the noise (profiled out when None)."""
    if noise_variance is None:
        fit = n_effective * (math.log(2.0 * math.pi * quadratic / n_effective) + 1.0)
    else:
        fit = n_effective * math.log(2.0 * math.pi * noise_variance) + quadratic / noise_variance
    return -0.5 * (fit + log_det)


class Factor(NamedTuple):
    """``G + Lam`` factorised."""

    lam: Vector
    """Precisions, raised where rounding asked for it."""
    lower: Matrix
    """Lower Cholesky factor."""
    log_det: float
    """``log|K| = log|G + Lam| - log|Lam|``."""


def factorise(gram: Matrix, lam: Vector) -> Factor:
    """Factorise ``G + Lam``: the posterior precision of unit weights in units of the noise.

    The one rescue: where precisions are below the rounding of the Gram matrix, so that the sum is
    not positive definite in floating point, those below a floor are raised to it, and the floor
    tenfold from 1e-13 until it is.
    """
    lower, floor = shifted_cholesky(gram, lam), 1e-13
    while lower is None:
        floor *= 10.0
        if floor > 1e100:
            raise FloatingPointError("the inner products of the atoms are not finite")
        lam = np.maximum(lam, floor)
        lower = shifted_cholesky(gram, lam)
    return Factor(lam, lower, log_det_cholesky(lower) - float(np.log(lam).sum()))


def entry_penalty(
    penalty: float | Vector, active: IndexArray, s: Vector, lam: Vector, back: Matrix
) -> Vector:
    """``w`` of absent atoms: one of precision ``lam`` adds ``w / (lam + s)`` to the penalty.

    Parameters
    ----------
    penalty
        ``c``, one number or one per atom of the dictionary.
    active, lam
        Atoms in the model and their precisions.
    s
        ``phi' K^-1 phi`` of all atoms.
    back
        ``b = S G[active, :]``.

    Notes
    -----
    Spec: ``w_j = c_j s_j - sum_i c_i lam_i b_ij^2``, which is ``c phi' K^-2 phi`` for one ``c``. It
    may be negative: a cheap atom displaces dear ones.
    """
    each = np.broadcast_to(penalty, s.shape)
    return each * s - (each[active] * lam) @ (back * back)


def penalised_shrinkage(penalty: float | Vector, covariance: Matrix, lam: Vector) -> Matrix:
    """Return ``Q``, by which the penalty on degrees of freedom changes with the precisions.

    Spec: ``Q_jk = (c_j + c_k) / 2 S_jk - (S C Lam S)_jk``, which is ``c S G S`` for one ``c``. With
    ``D = sum_i c_i gamma_i``, ``dD / dtheta_j = -lam_j Q_jj``, and the atom ``j`` has
    ``w_j = Q_jj / S_jj^2`` in the model without it.
    """
    mean = 0.5 * np.add.outer(penalty, penalty)
    shrunk: Matrix = mean * covariance - (covariance * (penalty * lam)) @ covariance
    return shrunk


def downdate_shrinkage(
    penalty: float | Vector, shrunk: Matrix, covariance: Matrix, lam: Vector, a: Vector
) -> None:
    """Change the result of `penalised_shrinkage`: an atom goes, and ``S`` will lose ``a a'``."""
    la = penalty * lam * a
    change = np.multiply.outer(a, covariance @ la - a * (0.5 * float(a @ la) + 0.5 * penalty))
    shrunk += change
    shrunk += change.T


def without_each(
    lam: Vector, variance: Vector, mean: Vector, quadratic: float, shrunk: Matrix | None
) -> Statistics:
    """Statistics of each active atom in the model without it.

    Parameters
    ----------
    lam, variance, mean
        Precisions, diagonal of ``S = (G + Lam)^-1`` and ``mu = S Phi't``.
    quadratic
        ``R`` of the model with all of them.
    shrunk
        The result of `penalised_shrinkage`; None without a penalty.
    """
    s = np.maximum(1.0 / variance - lam, 1e-300)
    q = mean / variance
    w = None if shrunk is None else shrunk.diagonal() / variance**2
    return Statistics(s, q, w, quadratic + mean * q)


def removal_loss(
    known: Statistics,
    lam: Vector,
    quadratic: float,
    n_effective: float,
    noise_variance: float | None,
    density: Vector | None = None,
) -> Vector:
    """How much ``J`` falls when an active atom is taken out (negative: it rises).

    Parameters
    ----------
    known
        Statistics of the atom in the model without it.
    lam
        Its precision.
    quadratic, n_effective, noise_variance
        ``R`` of the model with it, ``N`` and the held noise.
    density
        Log density of the log precision.
    """
    s, _, w, quadratic_without = known
    x = lam + s
    if noise_variance is None:
        fit = n_effective * np.log(quadratic_without / quadratic)
    else:
        fit = np.asarray(quadratic_without - quadratic) / noise_variance
    loss = 0.5 * (fit - np.log(x / lam))
    if w is not None:
        loss = loss - w / x
    return loss if density is None else loss + density


def mackay_update(
    lam: Vector,
    gamma: Vector,
    mean: Vector,
    noise_variance: float,
    shrunk: Vector | None,
    density: FixedPointTerms,
) -> Vector:
    """MacKay's fixed point for the precisions of the active atoms, the prior included.

    Parameters
    ----------
    lam, gamma, mean
        Precisions, well-determinedness ``1 - lam S_ii``, and ``mu = S Phi't``.
    noise_variance
        Of the noise, profiled out or held.
    shrunk
        Diagonal of ``Q``, see `penalised_shrinkage`; None without a penalty.
    density
        What the density of the log precisions adds.
    """
    first, scale = gamma, density.scale
    if shrunk is not None:
        first = first + 2.0 * lam * np.maximum(shrunk, 0.0)
        scale = scale + 2.0 * np.maximum(-shrunk, 0.0)
    first = first + density.constant
    square = np.maximum(mean * mean + scale * noise_variance, 1e-300)
    root = np.abs(first)
    if not isinstance(density.inverse, float) or density.inverse:
        root = np.sqrt(first * first + 4.0 * density.inverse * square / noise_variance)
    result: Vector = 0.5 * (first + root) * noise_variance / square
    return result


def mackay_noise(residual_ss: float, gamma: Vector, count: float, least: float = EPS) -> float:
    """MacKay's fixed point for the noise: what is left, by the degrees of freedom that are left.

    Of `count` observations; of which not less than `least` are taken to be left.

    Examples
    --------
    >>> import numpy as np
    >>> mackay_noise(6.0, np.array([0.5, 0.5]), 4.0)
    2.0
    """
    return residual_ss / max(count - float(gamma.sum()), least)


def gradient_and_hessian(
    covariance: Matrix,
    mean: Vector,
    lam: Vector,
    shrunk: Matrix | None,
    quadratic: float,
    n_effective: float,
    noise_variance: float | None,
    slopes: tuple[Vector, Vector] | None = None,
) -> tuple[Vector, Matrix]:
    """Derivatives of ``-2 J`` in ``theta = log lam`` of the active atoms.

    Parameters
    ----------
    covariance, mean
        ``S = (G + Lam)^-1`` and ``mu = S Phi't``.
    shrunk
        ``Q`` of `penalised_shrinkage`; None without a penalty.
    slopes
        First and second derivative of the log density ``h`` of each log precision; None if flat.

    Notes
    -----
    Spec: with ``v = N / R`` (profiled) or ``1 / sigma^2`` (held) and ``d = lam mu^2``::

        g_i  = v d_i - gamma_i - 2 lam_i Q_ii - 2 h'_i
        H_ij = delta_ij [ v d_i + 1 - gamma_i - 2 lam_i Q_ii - 2 h''_i ]
               - lam_i lam_j S_ij (2 v mu_i mu_j + S_ij - 4 Q_ij) - (N / R^2) d_i d_j

    where the last term is only there when the noise is profiled out.
    """
    size = len(lam)
    weight = n_effective / quadratic if noise_variance is None else 1.0 / noise_variance
    residual_share = lam * covariance.diagonal()
    data = lam * mean * mean
    diagonal = weight * data + residual_share
    gradient = diagonal - 1.0
    curvature = mean[:, None] * ((2.0 * weight) * mean)
    curvature += covariance
    if shrunk is not None:
        by_penalty = 2.0 * lam * shrunk.diagonal()
        gradient = gradient - by_penalty
        diagonal = diagonal - by_penalty
        curvature -= 4.0 * shrunk
    if slopes is not None:
        gradient = gradient - 2.0 * slopes[0]
        diagonal = diagonal - 2.0 * slopes[1]
    curvature *= covariance
    curvature *= -lam[:, None]
    curvature *= lam
    if noise_variance is None:
        scaled = (math.sqrt(n_effective) / quadratic) * data
        curvature -= scaled[:, None] * scaled
    curvature.ravel()[:: size + 1] += diagonal
    return gradient, curvature
