"""Change of the evidence if a component is removed or added, the other parameters held."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relvec._linalg import inverse_from_cholesky, log_det_cholesky, robust_cholesky, solve_lower
from relvec._typing import Vector
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.posterior import ColumnPosterior
from relvec.learning.structures.structure import Component

__all__ = ["Addition", "compute_addition", "compute_removal_losses"]

LOG_VARIANCES = np.linspace(-8.0, 4.0, 25)
"""Log variances at which the gain of a component is evaluated: half a unit apart, between which its
maximum changes by some hundredths of a nat. Targets have variance one."""


class Addition(NamedTuple):
    """A component at the variance of largest evidence, and its gain."""

    component: Component
    gain: float
    """Rise of the log evidence."""


def compute_removal_losses(posterior: ColumnPosterior) -> Vector:
    """Compute how much the log evidence falls if each component is removed.

    The model without a component has its weights at zero, so the ratio of both evidences is that of
    posterior and prior density of these weights at zero (Dickey, 1971)::

        log p(t | w_c = 0) - log p(t) = log p(w_c = 0 | t) - log p(w_c = 0)

    In units of the prior standard deviations, with ``W = Lam^1/2 (G + Lam)^-1 Lam^1/2`` and the
    mean ``m = Lam^1/2 mu / sigma``, it is ``-(log |W_cc| + m_c' W_cc^-1 m_c) / 2``.
    """
    root = np.sqrt(posterior.lam)
    covariance = inverse_from_cholesky(posterior.lower) * np.multiply.outer(root, root)
    mean = root * posterior.mean * math.exp(-0.5 * posterior.structure.log_noise)
    losses = np.zeros(len(posterior.structure.components))
    for place in range(len(losses)):
        own = np.flatnonzero(posterior.component[posterior.used] == place)
        if len(own):  # without columns of more than negligible variance it has no effect
            lower = robust_cholesky(covariance[np.ix_(own, own)])
            white = solve_lower(lower, mean[own])
            losses[place] = 0.5 * (log_det_cholesky(lower) + float(white @ white))
    return losses


def compute_addition(
    component: Component, posterior: ColumnPosterior, store: ColumnStore
) -> Addition:
    """Compute the largest rise of the log evidence over the variance of a further component.

    With ``S_c`` and ``q_c`` the statistics of Tipping and Faul (2003) for several columns, in units
    of the noise and of their prior standard deviations at variance one, and the eigenvalues ``e``
    of ``S_c``, the gain at variance ``s`` is::

        1/2 sum_j [ s z_j^2 / (1 + s e_j) - log(1 + s e_j) ],   z = E' q_c

    Parameters
    ----------
    component : Component
        The component, whose length-scales are held.
    posterior : ColumnPosterior
        The model without it.
    store : ColumnStore
        The rows.
    """
    design = store.design(posterior.structure.with_added(component))
    own = slice(-component.product.n_columns, None)
    white = solve_lower(posterior.lower, np.asfortranarray(design.gram[own][:, posterior.used].T))
    s = design.gram[own, own] - white.T @ white
    q = design.correlation[own] - design.gram[own][:, posterior.used] @ posterior.mean
    log_scale = component.product.log_spectrum() + design.log_square[own]
    scale = np.exp(0.5 * (log_scale - posterior.structure.log_noise))
    values, vectors = np.linalg.eigh(s * np.multiply.outer(scale, scale))
    values = np.maximum(values, 0.0)
    squares = (vectors.T @ (scale * q)) ** 2 * math.exp(-posterior.structure.log_noise)
    ratio = np.exp(LOG_VARIANCES)[:, np.newaxis]
    gains = 0.5 * np.sum(
        ratio * squares / (1.0 + ratio * values) - np.log1p(ratio * values), axis=1
    )
    best = int(np.argmax(gains))
    return Addition(Component(component.product, float(LOG_VARIANCES[best])), float(gains[best]))
