"""Variational Gaussian approximation of the posterior of one latent function.

Where counts are small, the log likelihood falls off steeply above the mode and slowly below it. The
Laplace approximation, symmetric about the mode, then predicts rates that are too large: of ``n``
events of constant rate the posterior is a Gamma distribution with mean ``n``, but the mean of the
log-normal distribution at the mode is ``n exp(1 / 2n)``. The Gaussian ``q`` of smallest
Kullback-Leibler divergence ``KL(q || posterior)`` has the right mean here (Opper & Archambeau
2009): its mean maximises the log posterior averaged over ``q``, and its precision is the averaged
negative Hessian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from relvec._typing import Vector
from relvec.laplace.mode import Mode, find_mode
from relvec.likelihoods.base import BoundLikelihood, WorkingResponse

__all__ = ["NearestTuning", "find_nearest_regression"]


@dataclass(frozen=True)
class NearestTuning:
    """Constants of the fixed-point iteration."""

    first_variance: float = 1.0
    """Largest variance of a latent value in the first step."""
    growth: float = 2.0
    """Largest factor by which variances grow in one step, so that the mean can follow."""
    first_step: float = 0.7
    """Fraction of the fixed-point step in log variances to begin with."""
    least_step: float = 0.05
    """Smallest fraction of it."""
    max_steps: int = 100
    """Largest number of iterations."""
    tol: float = 1e-4
    """Change of the variances of the latent values, relative to one plus themselves, at which to
    stop."""


_TUNING = NearestTuning()


def find_nearest_regression(
    mode: Mode, likelihood: BoundLikelihood, tuning: NearestTuning = _TUNING
) -> WorkingResponse:
    """Return the weighted regression whose posterior is the Gaussian nearest to the posterior.

    Precisions are those of the mode.

    Parameters
    ----------
    mode : Mode
        Mode of the posterior of a model with one latent function.
    likelihood : BoundLikelihood
        The likelihood of this mode.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.laplace import find_mode
    >>> from relvec.laplace.nearest import find_nearest_regression
    >>> from relvec.likelihoods import Poisson
    >>> counts = Poisson().bind([1, 0, 1])
    >>> mode = find_mode(np.empty((3, 0)), np.empty(0), counts)
    >>> curvature, response = find_nearest_regression(mode, counts)
    >>> mean, variance = np.average(response, weights=curvature), 1.0 / curvature.sum()
    >>> round(float(3.0 * np.exp(mean + variance / 2.0)), 3)  # expected number of events
    2.0
    """
    design = mode.design
    k = design.n_atoms
    columns, log_precision = design.columns[:, :k], np.log(mode.hessian.precision[:k])
    # Small at first: averages over wide errors at the mode itself may overflow.
    variance, averaged = np.minimum(_compute_variance(mode), tuning.first_variance), likelihood
    share, last = tuning.first_step, math.inf
    for _ in range(tuning.max_steps):
        averaged = likelihood.averaged_over(variance)
        mode = find_mode(
            columns, log_precision, averaged, mode.weights, has_intercept=design.n_weights > k
        )
        found = _compute_variance(mode)
        change = float((np.abs(found - variance) / (1.0 + variance)).max(initial=0.0))
        if change < tuning.tol:
            break
        # Steps of the log variances are damped, more if they oscillate between wide and narrow.
        share = share if change < 0.9 * last else max(0.7 * share, tuning.least_step)
        last = change
        variance = np.minimum(variance * (found / variance) ** share, tuning.growth * variance)
    return averaged.working_responses(mode.latent)[0]


def _compute_variance(mode: Mode) -> Vector:
    """Posterior variance of the latent value of each row."""
    effects = mode.design.columns  # the last column is that of the intercept
    result: Vector = np.einsum("ij,ij->i", effects @ mode.hessian.covariance, effects)
    return result
