"""Bound priors, and problems with them, in few words."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec import evidence
from relvec._typing import Matrix, Vector
from relvec.moments.base import Moments
from relvec.priors import (
    BoundFlat,
    BoundPrior,
    BoundSmoothness,
    GammaPrior,
    InverseGamma,
    SeparablePrior,
    Statistics,
)
from relvec.priors.laplace import BoundLaplace
from relvec.solvers import Problem
from relvec.solvers.gaussian.newton import Objective


class HalfCauchy(SeparablePrior):
    """Half-Cauchy density of the prior standard deviation of a weight."""

    def __init__(self, scale: float = 1.0, *, noise: InverseGamma | None = None) -> None:
        self.scale = scale
        self.noise = noise

    def log_density(self, log_lam: np.ndarray) -> np.ndarray:
        return -np.log1p(np.exp(-log_lam) / self.scale**2)

    def slope(self, log_lam: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + self.scale**2 * np.exp(log_lam))

    def curvature(self, log_lam: np.ndarray) -> np.ndarray:
        return -self.slope(log_lam) * (1.0 - self.slope(log_lam))


def gamma_prior(
    shape: float = 0.0, rate: float = 0.0, noise_shape: float = 0.0, noise_rate: float = 0.0
) -> GammaPrior:
    """Gamma densities of the precisions and of that of the noise."""
    return GammaPrior(shape, rate, noise=InverseGamma(noise_shape, noise_rate))


def prior_of(
    smoothness: float | Vector = 0.0,
    hyperprior: GammaPrior | None = None,
    laplace_rate: float = 0.0,
    column_norm: Vector | None = None,
) -> BoundPrior:
    """Return the bound prior with one of these."""
    if np.any(smoothness):
        return BoundSmoothness(smoothness, None if hyperprior is None else hyperprior.noise)
    if hyperprior is not None:
        return hyperprior.bind(1.0, column_norm)
    return BoundLaplace(laplace_rate) if laplace_rate else BoundFlat()


def with_prior(options: dict[str, Any], column_norm: Vector | None = None) -> dict[str, Any]:
    """Replace keywords of `prior_of` by the prior."""
    words = {"smoothness", "hyperprior", "laplace_rate"} & set(options)
    chosen = {word: options.pop(word) for word in words}
    return {"prior": prior_of(**chosen, column_norm=column_norm), **options} if words else options


def posed(moments: Moments, *given: Any, **options: Any) -> Problem:
    """Pose a problem with keywords of `prior_of`."""
    return Problem(moments, *given, **with_prior(options, moments.column_norm))


def objective(
    n: float, target_ss: float, smoothness: float, noise: float | None, rate: float = 0.0
) -> Objective:
    """Return an objective with keywords of `prior_of`."""
    return Objective(n, target_ss, prior_of(smoothness, None, rate), noise)


def best_precision(
    s: Vector,
    q: Vector,
    p: Vector | None,
    quadratic: Vector | float,
    n: float,
    c: float,
    noise: float | None,
    rate: float = 0.0,
) -> tuple[Vector, Vector]:
    """Return the best precision of one atom; `p` is ``phi' K^-2 phi``."""
    w = c * p if c and p is not None else None
    return prior_of(c, None, rate).best_precision(Statistics(s, q, w, quadratic), n, noise)


def removal_loss(
    s: Vector,
    lam: Vector,
    without: Vector,
    quadratic: float,
    p: Vector | None,
    n: float,
    c: float,
    noise: float | None,
    rate: float = 0.0,
) -> Vector:
    """Return what taking out an atom costs; `p` is ``phi' K^-2 phi``."""
    w = c * p if c and p is not None else None
    density = prior_of(0.0, None, rate).log_density(np.log(lam), noise)
    known = Statistics(s, np.sqrt(s), w, without)
    return evidence.removal_loss(known, lam, quadratic, n, noise, density)


def gradient_and_hessian(
    covariance: Matrix,
    mean: Vector,
    lam: Vector,
    shrunk: Matrix | None,
    quadratic: float,
    n: float,
    c: float,
    noise: float | None,
    rate: float = 0.0,
) -> tuple[Vector, Matrix]:
    """Return the derivatives of ``-2 J``; `shrunk` is ``S G S``."""
    Q = c * shrunk if c and shrunk is not None else None
    slopes = prior_of(0.0, None, rate).derivatives(np.log(lam), noise) if rate else None
    return evidence.gradient_and_hessian(covariance, mean, lam, Q, quadratic, n, noise, slopes)
