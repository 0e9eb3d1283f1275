"""Empirical Bayes thresholding (Johnstone and Silverman 2004, 2005), after the R package.

A coefficient is zero with probability ``1 - w`` and Laplace with scale ``1/a`` otherwise; both are
chosen by marginal maximum likelihood, with the threshold they imply at most the universal one.
All coefficients are in units of the noise.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtri

__all__ = ["excess", "posterior_median", "shrink", "weight", "weight_at_threshold"]

DECAYS = np.geomspace(0.04, 3.0, 10)
"""Decays of the Laplace density to choose from: the range of EbayesThresh."""
HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)
N_BISECTIONS = 40


def _mills(x: np.ndarray) -> np.ndarray:
    """Return ``Phi(x) / phi(x)``, capped where it would overflow."""
    return np.exp(np.minimum(log_ndtr(x) + 0.5 * x * x + HALF_LOG_2PI, 700.0))


def excess(x: np.ndarray, a: float) -> np.ndarray:
    """Return ``g(x) / phi(x) - 1``, `g` the density of a non-zero coefficient plus noise."""
    x = np.abs(x)
    return 0.5 * a * (_mills(-x - a) + _mills(x - a)) - 1.0


def weight_at_threshold(threshold: float, a: float) -> float:
    """Return the weight at which the posterior median is zero up to `threshold`."""
    t = np.asarray(threshold)
    return float(1.0 / (a * _mills(t - a) - excess(t, a)))


def weight(x: np.ndarray, a: float) -> float:
    """Return the weight of highest marginal likelihood: a root of its decreasing derivative."""
    low, high = weight_at_threshold(np.sqrt(2.0 * np.log(x.size)), a), 1.0
    beta = excess(x, a)

    def slope(w: float) -> float:
        return float((beta / (1.0 + w * beta)).sum())

    if slope(high) >= 0.0:
        return high
    if slope(low) <= 0.0:
        return low
    for _ in range(N_BISECTIONS):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return float(np.sqrt(low * high))


def posterior_median(x: np.ndarray, w: float, a: float) -> np.ndarray:
    """Return the median of the posterior of each coefficient."""
    shifted = np.abs(x) - a
    density = np.exp(-0.5 * shifted**2 - HALF_LOG_2PI)
    share = np.minimum(density * (1.0 / w + excess(x, a)) / a, 1.0)
    share[shifted > 25.0] = 0.5
    return np.sign(x) * np.maximum(0.0, shifted - ndtri(share))


def shrink(x: np.ndarray) -> np.ndarray:
    """Return the posterior medians at the most likely weight and decay."""
    pairs = [(weight(x, a), a) for a in DECAYS]
    likelihoods = [np.log1p(w * excess(x, a)).sum() for w, a in pairs]
    return posterior_median(x, *pairs[int(np.argmax(likelihoods))])
