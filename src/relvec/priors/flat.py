"""No opinion: every precision is equally likely on a logarithmic scale."""

from __future__ import annotations

import numpy as np

from relvec._typing import BoolArray, Vector
from relvec.priors.base import BoundPrior, GroupLabels, InverseGamma, Prior, Statistics


class BoundFlat(BoundPrior):
    """Plain evidence: one atom has its best precision in closed form.

    Parameters
    ----------
    noise : InverseGamma, optional
        Density of the noise variance.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.priors import BoundFlat, Statistics
    >>> gain, lam = BoundFlat().best_precision(Statistics(np.ones(1), np.full(1, 3.0)), 50.0, 1.0)
    >>> lam  # s^2 / (q^2 - s), in units of the noise
    array([0.125])
    """

    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Best precision and gain of one atom (Tipping and Faul's, or joint with the noise)."""
        s, q, _, _ = known
        with np.errstate(all="ignore"):
            if noise_variance is not None:
                ratio = q * q / (noise_variance * s)
                gain = 0.5 * (ratio - 1.0 - np.log(ratio))
                return np.where(ratio > 1.0, gain, -np.inf), s / (ratio - 1.0)
            u = known.explained
            excess = n_effective * u - s
            lam = s * (s - u) / excess
            x = s * u * (n_effective - 1.0) / excess
            gain = -0.5 * (n_effective * np.log1p(-u / x) + np.log(x / lam))
            return np.where((excess > 0.0) & np.isfinite(gain), gain, -np.inf), lam

    def has_no_gain(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> BoolArray:
        """Tell which atoms the model is better without."""
        s, q, _, quadratic = known
        if noise_variance is None:
            hopeless: BoolArray = n_effective * q * q <= (s + self.rate) * quadratic
        else:
            hopeless = q * q <= (s + self.rate) * noise_variance
        return hopeless


class FlatPrior(Prior):
    """Flat prior over log precisions: plain evidence maximisation.

    The prior of Tipping and Faul (2003); over precisions themselves it is 1 / alpha, which
    Schmolck (2008) calls Jeffreys' prior. Use it with kernel dictionaries, where atoms are
    many, similar and individually meaningless. It does not select variables consistently:
    an atom unrelated to the target enters with probability 0.32, so prefer
    `SmoothnessPrior` (or a positive ``min_gain``) when the atoms have a meaning of their own.

    Parameters
    ----------
    noise : InverseGamma, optional
        Density of the noise variance; flat in its logarithm by default.

    See Also
    --------
    SmoothnessPrior : Charges for effective degrees of freedom.
    GammaPrior : Keeps every atom, with a proper density over its precision.

    References
    ----------
    Tipping and Faul (2003), Fast marginal likelihood maximisation for sparse Bayesian
    models, AISTATS.

    Examples
    --------
    >>> from relvec.priors import FlatPrior
    >>> FlatPrior().bind(n_samples=100).penalty
    0.0
    """

    def __init__(self, *, noise: InverseGamma | None = None) -> None:
        self.noise = noise

    def bind(
        self,
        n_samples: float,
        column_norm: Vector | None = None,
        groups: GroupLabels | None = None,
    ) -> BoundFlat:
        """Return the prior of particular atoms."""
        return BoundFlat(self.noise)
