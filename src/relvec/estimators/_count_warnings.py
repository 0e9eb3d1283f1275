"""Warnings about fits to counts that converged but should not be relied on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.estimators._count_model import FittedCountModel
from relvec.likelihoods import Poisson

__all__ = ["FitLimits", "explain_crowded_model", "explain_improbable_count"]


@dataclass(frozen=True)
class FitLimits:
    """Limits beyond which a fit to counts is warned about."""

    max_shortfall: float = 100.0
    """Largest difference, in nats, of the log probability of a training count under its own best
    rate and under the model. A probability of ``exp(-100)`` does not occur in any data
    set; a count of 100 where 20 are expected is within the limit."""
    max_share: float = 0.5
    """Largest number of basis functions in the model, as a fraction of the distinct rows; that at
    which a regression with Gaussian noise reaches the cap on its active set."""
    min_functions: int = 10
    """Number of basis functions up to which there is no warning: a handful of rows may need one
    for each."""


_LIMITS = FitLimits()


def explain_improbable_count(
    model: FittedCountModel,
    X: Any,
    counts: Vector,
    exposure: Vector,
    weight: Vector | None,
    limits: FitLimits = _LIMITS,
) -> str:
    """Return a warning if the model makes a training count all but impossible, else "".

    One count of enormous size outweighs all others in the Poisson likelihood: the fit may gain more
    nats there than it loses in all other rows.
    """
    likelihood = model.likelihood
    mean, variance = model.latent(X)
    found = likelihood.predict(mean + np.log(exposure), variance).log_density(counts)
    # Both likelihoods are largest where the mean is the count; of no events, where it is zero.
    best = likelihood.distribution(np.log(np.maximum(counts, 1e-300))).logpmf(counts)
    shortfall = best - found
    if weight is not None:
        shortfall = np.where(weight > 0.0, shortfall, 0.0)
    is_improbable = ~(shortfall <= limits.max_shortfall)
    if not is_improbable.any():
        return ""
    row = int(np.argmax(np.where(np.isnan(shortfall), np.inf, shortfall)))
    advice = (
        'use likelihood="auto", for overdispersed counts, and precision="tied" if that is not '
        "enough"
        if isinstance(likelihood, Poisson)
        else "these counts are not negative binomial either: model their logarithms"
    )
    return (
        f"{int(is_improbable.sum())} of {len(counts)} training counts are all but impossible under "
        f"the fitted model, most of all that of row {row}: {counts[row]:g}, where the median of "
        f"the expected count is {np.exp(mean[row]) * exposure[row]:.3g}. Predictions and intervals "
        f"are not to be relied on. Check the largest count, {counts.max():g} in row "
        f"{int(np.argmax(counts))}; if it is right, {advice}."
    )


def explain_crowded_model(
    n_functions: int, X: Any, weight: Vector | None, limits: FitLimits = _LIMITS
) -> str:
    """Return a warning if a model has a basis function for every other row or so, else "".

    It then reproduces the counts. Evidence favours that if weights, or copies of rows, say that
    the same count was observed several times: overdispersion would have varied it.

    Examples
    --------
    >>> explain_crowded_model(3, np.arange(40.0)[:, None], None)
    ''
    >>> explain_crowded_model(30, np.arange(40.0)[:, None], None)[:50]
    'the model has 30 basis functions for 40 distinct r'
    """
    if n_functions <= limits.min_functions:
        return ""
    used = X if weight is None else X[weight > 0.0]
    total = float(X.shape[0] if weight is None else weight.sum())
    n_rows = used.shape[0]
    if isinstance(used, np.ndarray) and used.ndim == 2 and used.dtype.kind == "f":
        n_rows = len(np.unique(used, axis=0))
    if n_functions <= limits.max_share * n_rows:
        return ""
    advice = (
        "Frequency weights and copies of rows say that the same count was observed repeatedly, "
        "which is evidence against overdispersion. If they are no true repetitions, leave out "
        'copies and divide weights by their mean; else use precision="tied".'
        if total > n_rows
        else 'Use likelihood="auto" if counts are overdispersed, or precision="tied".'
    )
    return (
        f"the model has {n_functions} basis functions for {n_rows} distinct rows, so it reproduces "
        f"the counts, and its error bars are those of single rows. {advice}"
    )
