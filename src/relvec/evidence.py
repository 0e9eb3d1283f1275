"""The log evidence of a Gaussian sparse Bayesian model: pure functions, one home.

Notation (see `relvec.moments.base`): unit-norm centred atoms, ``lam = alpha sigma^2``,
``K = I + Phi Lam^-1 Phi'``, ``R = t' K^-1 t``, ``N`` the effective sample size. The
objective is::

    J = -1/2 [ N log(2 pi sigma^2) + R / sigma^2 + log|K| ] - c tr(I - K^-1)
        - rate/2 sum(1 / lam)

with the noise either held, or profiled out (``sigma^2 = R / N``), in which case
``R / sigma^2 = N``. ``tr(I - K^-1)`` is the number of effective degrees of freedom, and
``c`` its price under a smoothness prior (zero: the plain evidence). ``1 / lam`` is the prior
variance of a weight in units of the noise; the last term is its exponential density under a
Laplace prior, without its constant, and is zero for a rate of zero. At most one of ``c`` and
``rate`` is positive.
"""

from __future__ import annotations

import math

import numpy as np

from relvec._typing import Matrix, Vector


def gaussian_objective(
    n_effective: float, quadratic: float, log_det: float, noise_variance: float | None
) -> float:
    """Log evidence from ``R``, ``log|K|`` and the noise (profiled out when None)."""
    if noise_variance is None:
        fit = n_effective * (math.log(2.0 * math.pi * quadratic / n_effective) + 1.0)
    else:
        fit = n_effective * math.log(2.0 * math.pi * noise_variance) + quadratic / noise_variance
    return -0.5 * (fit + log_det)


def best_precision(
    s: Vector,
    q: Vector,
    p: Vector | None,
    quadratic: Vector | float,
    n_effective: float,
    smoothness: float,
    noise_variance: float | None,
    rate: float = 0.0,
) -> tuple[Vector, Vector]:
    """Best ``lam`` of one atom, all others fixed, and what it gains over leaving it out.

    Parameters
    ----------
    s, q, p : ndarray
        ``phi' K^-1 phi``, ``phi' K^-1 t`` and ``phi' K^-2 phi`` of the model without the
        atom; `p` is only read when `smoothness` is positive.
    quadratic : float or ndarray
        ``R`` of the model without the atom.
    n_effective, smoothness, noise_variance
        ``N``, ``c`` and the held noise; None when the noise is profiled out, in which case
        the optimum is joint with the noise.
    rate : float, default=0.0
        Of the exponential density of ``1 / lam``; not together with a positive `smoothness`.

    Returns
    -------
    gain : ndarray
        Change of ``J``; minus infinity where the best ``lam`` is infinite.
    lam : ndarray
        The maximiser; meaningless where the gain is minus infinity.
    """
    with np.errstate(all="ignore"):
        if rate:
            assert not smoothness
            return _best_exponential_precision(s, q, quadratic, n_effective, rate, noise_variance)
        if noise_variance is not None:
            ratio = q * q / (noise_variance * s)
            if smoothness:
                assert p is not None
                ratio = ratio - 2.0 * smoothness * p / s
            gain = 0.5 * (ratio - 1.0 - np.log(ratio))
            return np.where(ratio > 1.0, gain, -np.inf), s / (ratio - 1.0)
        # u < s always; rounding must not make an atom explain more than there is.
        u = np.minimum(q * q / quadratic, s * (1.0 - 1e-14))
        if not smoothness:
            excess = n_effective * u - s
            lam = s * (s - u) / excess
            x = s * u * (n_effective - 1.0) / excess
            gain = -0.5 * (n_effective * np.log1p(-u / x) + np.log(x / lam))
            return np.where((excess > 0.0) & np.isfinite(gain), gain, -np.inf), lam
        assert p is not None
        return _best_penalised_precision(s, u, p, n_effective, smoothness)


def _best_penalised_precision(
    s: Vector, u: Vector, p: Vector, n_effective: float, smoothness: float
) -> tuple[Vector, Vector]:
    """Profiled noise with a smoothness prior: stationary points solve a quadratic in x."""
    price = 2.0 * smoothness * p
    a2 = price + s - n_effective * u
    a1 = n_effective * u * s - s * u - price * (u + s)
    a0 = price * u * s
    root = np.sqrt(np.maximum(a1 * a1 - 4.0 * a2 * a0, 0.0))
    half = -0.5 * (a1 + np.where(a1 >= 0.0, root, -root))  # no cancellation
    best_gain = np.full(np.shape(s), -np.inf)
    best_lam = np.full(np.shape(s), np.inf)
    for x in (half / a2, a0 / half):
        lam = x - s
        gain = -0.5 * (n_effective * np.log1p(-u / x) + np.log(x / lam) + price / x)
        gain = np.where((lam > 0.0) & (x > u) & (gain > 0.0), gain, -np.inf)
        better = gain > best_gain
        best_gain = np.where(better, gain, best_gain)
        best_lam = np.where(better, lam, best_lam)
    return best_gain, best_lam


def _best_exponential_precision(
    s: Vector,
    q: Vector,
    quadratic: Vector | float,
    n_effective: float,
    rate: float,
    noise_variance: float | None,
) -> tuple[Vector, Vector]:
    """Find the best precision under an exponential density of the prior variance ``1 / lam``.

    Notes
    -----
    Spec: with ``z = s / lam`` the change of ``-2 J`` is, with the noise held and ``Q = q^2 /
    sigma^2``, or profiled out and ``u = q^2 / R``::

        log(1 + z) - (Q / s) z / (1 + z) + (rate / s) z
        log(1 + z) + N log(1 - (u / s) z / (1 + z)) + (rate / s) z

    Either has one stationary point at most, the root of ``a z^2 + (2 a + b) z - excess``, where

        held:     a = rate,                b = s,                     excess = Q - s - rate
        profiled: a = rate (s - u) / s,    b = s - u + rate u / s,    excess = N u - s - rate

    and it is a minimum. All coefficients are positive as soon as the excess is, so nothing
    cancels, and ``rate = 0`` gives the formulas of the flat prior.
    """
    if noise_variance is not None:
        quality = q * q / noise_variance
        share = quality / s
        excess = quality - s - rate
        a, b = np.full(np.shape(s), rate), s
    else:
        # u < s always; rounding must not make an atom explain more than there is.
        u = np.minimum(q * q / quadratic, s * (1.0 - 1e-14))
        share = u / s
        excess = n_effective * u - s - rate
        a, b = rate * (s - u) / s, s - u + rate * share
    slope = 2.0 * a + b
    z = 2.0 * excess / (slope + np.sqrt(slope * slope + 4.0 * a * excess))
    explained = share * (z / (1.0 + z))
    fit = n_effective * np.log1p(-explained) if noise_variance is None else -explained
    gain = -0.5 * (fit + np.log1p(z) + rate * z / s)
    return np.where((excess > 0.0) & np.isfinite(gain), gain, -np.inf), s / z


def removal_loss(
    s: Vector,
    lam: Vector,
    quadratic_without: Vector,
    quadratic: float,
    p: Vector | None,
    n_effective: float,
    smoothness: float,
    noise_variance: float | None,
    rate: float = 0.0,
) -> Vector:
    """How much ``J`` falls when an active atom is taken out (negative: it rises)."""
    x = lam + s
    if noise_variance is None:
        fit = n_effective * np.log(quadratic_without / quadratic)
    else:
        fit = (quadratic_without - quadratic) / noise_variance
    loss = 0.5 * (fit - np.log(x / lam))
    if smoothness:
        assert p is not None
        loss = loss - smoothness * p / x
    if rate:
        loss = loss - 0.5 * rate / lam
    return loss


def gradient_and_hessian(
    covariance: Matrix,
    mean: Vector,
    lam: Vector,
    shrunk: Matrix | None,
    quadratic: float,
    n_effective: float,
    smoothness: float,
    noise_variance: float | None,
    rate: float = 0.0,
) -> tuple[Vector, Matrix]:
    """Derivatives of ``-2 J`` in ``theta = log lam`` of the active atoms.

    Parameters
    ----------
    covariance, mean
        ``S = (G + Lam)^-1`` and ``mu = S Phi't``.
    shrunk
        ``P = S G S = S - S Lam S``; only needed for positive `smoothness`.

    Notes
    -----
    Spec: with ``w = N / R`` (profiled) or ``1 / sigma^2`` (held) and ``d = lam mu^2``::

        g_i  = w d_i - gamma_i - 2 c lam_i P_ii - rate / lam_i
        H_ij = delta_ij [ w d_i + 1 - gamma_i - 2 c lam_i P_ii + rate / lam_i ]
               - lam_i lam_j S_ij (2 w mu_i mu_j + S_ij - 4 c P_ij) - (N / R^2) d_i d_j

    where the last term is only there when the noise is profiled out.
    """
    size = len(lam)
    weight = n_effective / quadratic if noise_variance is None else 1.0 / noise_variance
    residual_share = lam * covariance.diagonal()
    data = lam * mean * mean
    gradient = weight * data + residual_share - 1.0
    diagonal = weight * data + residual_share
    curvature = np.multiply.outer(mean, (2.0 * weight) * mean)
    curvature += covariance
    if smoothness:
        assert shrunk is not None
        penalty = 2.0 * smoothness * lam * shrunk.diagonal()
        gradient = gradient - penalty
        diagonal = diagonal - penalty
        curvature -= (4.0 * smoothness) * shrunk
    if rate:
        gradient = gradient - rate / lam
        diagonal = diagonal + rate / lam
    curvature *= covariance
    curvature *= -lam[:, None]
    curvature *= lam
    if noise_variance is None:
        scaled = (math.sqrt(n_effective) / quadratic) * data
        curvature -= np.multiply.outer(scaled, scaled)
    curvature.flat[:: size + 1] += diagonal
    return gradient, curvature
