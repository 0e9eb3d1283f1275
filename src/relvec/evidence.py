"""Log evidence (log marginal likelihood) of a Gaussian sparse Bayesian model, as pure functions.

Notation (see `relvec.moments.base`): unit-norm centred atoms ``Phi``, Gram matrix ``G = Phi'Phi``,
scaled precisions ``lam = alpha sigma^2`` with ``Lam = diag(lam)``, effective sample size ``N``,
and::

    K  = I + Phi Lam^-1 Phi'        C = sigma^2 K is the covariance of the targets
    R  = t' K^-1 t
    S  = (G + Lam)^-1               sigma^2 S is the posterior covariance of the weights
    mu = S Phi't                    posterior mean of the weights

The covariance ``C`` and the log evidence are those of Tipping (2001, eqs. 15 and 36), the posterior
is that of his eqs. 12 and 13. The objective is::

    J = -1/2 [ N log(2 pi sigma^2) + R / sigma^2 + log|K| ] - sum_i c_i gamma_i + sum_i h(log lam_i)

The noise variance is either held or profiled out: for given ``lam``, ``J`` is largest at
``sigma^2 = R / N``, where ``R / sigma^2 = N``. The last two terms come from the prior (see
`relvec.priors.base`): penalties ``c_i`` on the effective degrees of freedom ``gamma_i = 1 - lam_i
S_ii`` (MacKay 1992; Tipping 2001, eq. 17), and the log density ``h`` of a log precision.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relvec._linalg import EPS, log_det_cholesky, shifted_cholesky
from relvec._typing import IndexArray, Matrix, Vector
from relvec.priors.base import FixedPointTerms, Statistics

NOISE_FLOOR = 1e-10
"""Lower bound on the estimated noise variance, as a share of the variance of the target. The search
adds it to ``t't``, like an observation orthogonal to every atom: the objective stays smooth and
bounded when the atoms interpolate the data."""


def gaussian_objective(
    n_effective: float, quadratic: float, log_det: float, noise_variance: float | None
) -> float:
    """Compute the log evidence from ``R``, ``log|K|`` and the noise variance.

    Tipping (2001, eq. 36) with ``log|C| = N log sigma^2 + log|K|``. If `noise_variance` is None,
    the noise is profiled out.
    """
    if noise_variance is None:
        # At the maximum sigma^2 = R / N the quadratic term R / sigma^2 equals N.
        fit = n_effective * (math.log(2.0 * math.pi * quadratic / n_effective) + 1.0)
    else:
        # Tipping (2001, eq. 36): log|2 pi C| + t' C^-1 t with C = sigma^2 K.
        fit = n_effective * math.log(2.0 * math.pi * noise_variance) + quadratic / noise_variance
    return -0.5 * (fit + log_det)


class Factor(NamedTuple):
    """Cholesky factorisation of ``G + Lam``."""

    lam: Vector
    """Scaled precisions; some are raised if the sum was not positive definite."""
    lower: Matrix
    """Lower Cholesky factor."""
    log_det: float
    """``log|K| = log|G + Lam| - log|Lam|``."""


def factorise(gram: Matrix, lam: Vector) -> Factor:
    """Factorise ``G + Lam``, the posterior precision of the weights in units of the noise.

    If precisions are smaller than the rounding errors of the Gram matrix, the sum may not be
    positive definite in floating point. Precisions below a floor are then raised to the floor. The
    floor starts at 1e-12 and grows tenfold until the factorisation succeeds.
    """
    # The first floor that is applied, 1e-12, is some thousand rounding errors of the unit diagonal
    # of G.
    lower, floor = shifted_cholesky(gram, lam), 1e-13
    while lower is None:
        floor *= 10.0
        if floor > 1e100:
            raise FloatingPointError("the inner products of the atoms are not finite")
        lam = np.maximum(lam, floor)
        lower = shifted_cholesky(gram, lam)
    # Matrix determinant lemma: |K| = |I + Phi Lam^-1 Phi'| = |G + Lam| / |Lam|.
    return Factor(lam, lower, log_det_cholesky(lower) - float(np.log(lam).sum()))


def compute_entry_penalty(
    penalty: float | Vector, active: IndexArray, s: Vector, lam: Vector, back: Matrix
) -> Vector:
    """Compute ``w`` of absent atoms, which gives the penalty on the degrees of freedom they add.

    If an atom enters with precision ``lam``, the penalty term of ``J`` changes by ``-w / (lam +
    s)``.

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
    ``w_j = c_j s_j - sum_i c_i lam_i b_ij^2``. For one common penalty ``c`` this is ``c phi' K^-2
    phi``. The first term is the penalty on the degree of freedom of the new atom, the second one
    what the active atoms lose of theirs. ``w`` is negative if an atom with a small penalty takes
    degrees of freedom from atoms with larger ones.
    """
    # The entering atom gets gamma = s / (lam + s). By the block inverse of the enlarged G + Lam,
    # S_ii of an active atom grows by b_ij^2 / (lam + s), so its gamma_i falls by lam_i times that.
    each = np.broadcast_to(penalty, s.shape)
    return each * s - (each[active] * lam) @ (back * back)


def penalised_shrinkage(penalty: float | Vector, covariance: Matrix, lam: Vector) -> Matrix:
    """Compute ``Q``, which gives the derivatives of the penalty on degrees of freedom.

    ``Q_jk = (c_j + c_k) / 2 S_jk - (S diag(c) Lam S)_jk``. For one common penalty ``c`` this is
    ``c S G S``. The penalty ``D = sum_i c_i gamma_i`` has the derivatives ``dD / dtheta_j = -lam_j
    Q_jj`` in ``theta = log lam``, because ``dS = -S dLam S``. In the model without atom ``j``, this
    atom has ``w_j = Q_jj / S_jj^2`` (see `compute_entry_penalty`).
    """
    # Only the diagonal follows from dD / dtheta; the average of c_j and c_k off the diagonal makes
    # Q symmetric, as the second derivative dQ_jj / dtheta_k = -2 lam_k S_jk Q_jk requires.
    mean = 0.5 * np.add.outer(penalty, penalty)
    shrunk: Matrix = mean * covariance - (covariance * (penalty * lam)) @ covariance
    return shrunk


def downdate_penalised_shrinkage(
    penalty: float | Vector, shrunk: Matrix, covariance: Matrix, lam: Vector, a: Vector
) -> None:
    """Update the result of `penalised_shrinkage` in place when one atom is removed.

    The removal changes ``S`` to ``S - a a'`` with ``a = S_j / sqrt(S_jj)``, a rank-one downdate.
    Insert this into the definition of ``Q`` and collect terms: ``Q`` changes by a symmetric matrix
    of rank two. `covariance` is ``S`` before the removal.
    """
    # With C = diag(c): (S - a a') C Lam (S - a a') has the cross terms a (S C Lam a)' and its
    # transpose, and (a' C Lam a) a a'. Of the latter, and of c_j and c_k, half is in `change` and
    # half in its transpose.
    la = penalty * lam * a
    change = np.multiply.outer(a, covariance @ la - a * (0.5 * float(a @ la) + 0.5 * penalty))
    shrunk += change
    shrunk += change.T


def compute_leave_one_out(
    lam: Vector, variance: Vector, mean: Vector, quadratic: float, shrunk: Matrix | None
) -> Statistics:
    """Compute ``s``, ``q``, ``w`` and ``R`` of each active atom in the model without that atom.

    Tipping and Faul (2003) obtain these statistics from those of the full model, ``s = alpha S /
    (alpha - S)`` and ``q = alpha Q / (alpha - S)``. In terms of the posterior of the weights, and
    in units of the noise, they are ``s_i = 1 / S_ii - lam_i`` and ``q_i = mu_i / S_ii``, which
    involve less cancellation. Without the atom, ``R`` grows by ``mu_i^2 / S_ii``.

    Parameters
    ----------
    lam, variance, mean
        Precisions, diagonal of ``S = (G + Lam)^-1`` and ``mu = S Phi't``.
    quadratic
        ``R`` of the model with all of them.
    shrunk
        The result of `penalised_shrinkage`; None without a penalty.
    """
    # Schur complement: 1 / S_ii = lam_i + s_i is the pivot of atom i after all others in G + Lam.
    # Rounding can make the difference negative if the other atoms explain atom i.
    s = np.maximum(1.0 / variance - lam, 1e-300)
    q = mean / variance
    # From dD / dlam_i = -Q_ii with the full model, and D = w_i / (lam_i + s_i) + constant as a
    # function of lam_i alone: Q_ii = w_i S_ii^2.
    w = None if shrunk is None else shrunk.diagonal() / variance**2
    return Statistics(s, q, w, quadratic + mean * q)


def removal_loss(
    stats: Statistics,
    lam: Vector,
    quadratic: float,
    n_effective: float,
    noise_variance: float | None,
    density: Vector | None = None,
) -> Vector:
    """Compute how much ``J`` falls when an active atom is removed; negative if ``J`` rises.

    With the noise held at ``sigma^2`` this is the contribution of one atom to the log evidence
    (Tipping and Faul, 2003), here in units of the noise::

        l(lam) = 1/2 [ log lam - log(lam + s) + q^2 / ((lam + s) sigma^2) ]

    The quadratic term equals ``(R_without - R) / sigma^2``. With the noise profiled out it becomes
    ``N log(R_without / R)``. Penalty and density of the prior are included.

    Parameters
    ----------
    stats
        Statistics of the atom in the model without it.
    lam
        Its precision.
    quadratic, n_effective, noise_variance
        ``R`` of the model with it, ``N`` and the held noise.
    density
        Log density of the log precision.
    """
    s, _, w, quadratic_without = stats
    # R_without - R = q^2 / x and log|K| - log|K_without| = log(x / lam), by Sherman-Morrison and
    # the determinant lemma for K = K_without + phi phi' / lam (Tipping & Faul 2003).
    x = lam + s
    if noise_variance is None:
        fit = n_effective * np.log(quadratic_without / quadratic)
    else:
        fit = np.asarray(quadratic_without - quadratic) / noise_variance
    loss = 0.5 * (fit - np.log(x / lam))
    if w is not None:
        # J contains minus the penalty; the removal takes w / x of it away.
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
    """Update the precisions of the active atoms by MacKay's fixed point, prior included.

    Under the flat prior the update is ``alpha_i = gamma_i / mu_i^2`` (MacKay 1992; Tipping 2001,
    eq. 16), that is ``lam_i = gamma_i sigma^2 / mu_i^2``.

    Parameters
    ----------
    lam, gamma, mean
        Precisions, effective degrees of freedom ``gamma = 1 - lam S_ii``, and ``mu = S Phi't``.
    noise_variance
        Variance of the noise, profiled out or held.
    shrunk
        Diagonal of ``Q``, see `penalised_shrinkage`; None without a penalty.
    density
        Terms that the density of the log precisions adds to the stationarity condition.

    Notes
    -----
    Stationarity of ``J`` in ``log lam`` reads ``gamma + constant + inverse / lam = lam (mu^2 /
    sigma^2 + scale)``: a quadratic equation in ``lam``, of which the positive root is returned.
    """
    first, scale = gamma, density.scale
    if shrunk is not None:
        # The penalty adds 2 lam Q_ii to gamma. Where Q_ii < 0 it goes to the other side of the
        # equation, so that all terms stay positive.
        first = first + 2.0 * lam * np.maximum(shrunk, 0.0)
        scale = scale + 2.0 * np.maximum(-shrunk, 0.0)
    first = first + density.constant
    # Both sides times sigma^2: the coefficient of lam is mu^2 + scale sigma^2. The bound keeps a
    # weight that is exactly zero from dividing by zero; its precision then becomes very large.
    square = np.maximum(mean * mean + scale * noise_variance, 1e-300)
    root = np.abs(first)
    if not isinstance(density.inverse, float) or density.inverse:
        # Discriminant of (square / sigma^2) lam^2 - first lam - inverse = 0. The product of its
        # roots is not positive for inverse >= 0, so the larger root is the only one that can be
        # positive.
        root = np.sqrt(first * first + 4.0 * density.inverse * square / noise_variance)
    result: Vector = 0.5 * (first + root) * noise_variance / square
    return result


def mackay_noise(residual_ss: float, gamma: Vector, count: float, least: float = EPS) -> float:
    """Update the noise variance by MacKay's fixed point.

    ``sigma^2 = |t - Phi mu|^2 / (N - sum_i gamma_i)`` (MacKay 1992; Tipping 2001, eq. 18). `count`
    is ``N``; the denominator is at least `least`.

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
    """Compute gradient and Hessian of ``-2 J`` in ``theta = log lam`` of the active atoms.

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
    With ``v = N / R`` (noise profiled out) or ``1 / sigma^2`` (held) and ``d = lam mu^2``::

        g_i  = v d_i - gamma_i - 2 lam_i Q_ii - 2 h'_i
        H_ij = delta_ij [ v d_i + 1 - gamma_i - 2 lam_i Q_ii - 2 h''_i ]
               - lam_i lam_j S_ij (2 v mu_i mu_j + S_ij - 4 Q_ij) - (N / R^2) d_i d_j

    The last term of ``H`` only occurs when the noise is profiled out. The gradient vanishes at
    MacKay's fixed point ``lam_i mu_i^2 v = gamma_i`` (Tipping 2001, eq. 16). Derivatives follow
    from ``dR / dtheta_i = d_i``, ``d mu / dtheta_i = -S_i lam_i mu_i`` and ``dS / dtheta_i = -lam_i
    S_i S_i'``.
    """
    size = len(lam)
    # dJ / dR = -v / 2 in both cases: d(N log R) = (N / R) dR, or d(R / sigma^2) = dR / sigma^2.
    weight = n_effective / quadratic if noise_variance is None else 1.0 / noise_variance
    residual_share = lam * covariance.diagonal()  # 1 - gamma
    data = lam * mean * mean
    diagonal = weight * data + residual_share
    # d log|K| / dtheta_i = lam_i S_ii - 1 = -gamma_i (Tipping 2001, appendix A).
    gradient = diagonal - 1.0
    # d(lam_i mu_i^2) / dtheta_j = -2 lam_i lam_j S_ij mu_i mu_j for i != j; the common factor
    # -lam_i lam_j S_ij is applied at the end.
    curvature = mean[:, None] * ((2.0 * weight) * mean)
    curvature += covariance
    if shrunk is not None:
        by_penalty = 2.0 * lam * shrunk.diagonal()
        gradient = gradient - by_penalty
        diagonal = diagonal - by_penalty
        # d(-2 lam_i Q_ii) / dtheta_j = 4 lam_i lam_j S_ij Q_ij for i != j.
        curvature -= 4.0 * shrunk
    if slopes is not None:
        gradient = gradient - 2.0 * slopes[0]
        diagonal = diagonal - 2.0 * slopes[1]
    # Off-diagonal part: elementwise product with S, rows and columns times lam, sign reversed.
    curvature *= covariance
    curvature *= -lam[:, None]
    curvature *= lam
    if noise_variance is None:
        # The best noise R / N moves with theta: rank-one term (N / R^2) d d'.
        scaled = (math.sqrt(n_effective) / quadratic) * data
        curvature -= scaled[:, None] * scaled
    curvature.ravel()[:: size + 1] += diagonal
    return gradient, curvature
