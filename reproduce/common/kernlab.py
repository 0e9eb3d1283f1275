"""Settings of the relevance vector machine of R's kernlab."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec import RVMRegressor

__all__ = ["SMALLEST_NOISE", "estimate_gamma", "make_rvm"]

SMALLEST_NOISE = 2e-9
"""Noise variance at which kernlab stops, with a warning of overfitting."""
TAILS = (0.1, 0.9)


def estimate_gamma(X: np.ndarray, seed: int) -> float:
    """Return kernlab's estimate of gamma, the inverse squared kernel scale.

    Half as many pairs of rows as there are rows are drawn, with replacement. The estimate is the
    mean of the inverses of two quantiles of their squared distances, zeros left out.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs, not standardised.
    seed : int
        Seed of the pairs.
    """
    first, second = np.random.default_rng(seed).integers(len(X), size=(2, len(X) // 2))
    squares = np.sum((X[first] - X[second]) ** 2, axis=1)
    return float(np.mean(1.0 / np.quantile(squares[squares > 0.0], TAILS)))


def make_rvm(X: np.ndarray, seed: int, **options: Any) -> RVMRegressor:
    """Return our model with kernlab's settings: its gamma, no intercept, MacKay's fixed point.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs that it will be fitted to.
    seed : int
        For `estimate_gamma`.
    **options
        Of `RVMRegressor`.
    """
    gamma = estimate_gamma(X, seed)
    given = {"length_scales": None, "fit_intercept": False, "solver": "mackay", "calibrate": False}
    return RVMRegressor(gamma=gamma, **given, **options)
