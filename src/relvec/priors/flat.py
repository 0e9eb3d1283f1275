"""Flat prior over log precisions: plain evidence maximisation."""

from __future__ import annotations

import numpy as np

from relvec._typing import BoolArray, Vector
from relvec.priors.base import BoundPrior, GroupLabels, InverseGamma, Prior, Statistics


class BoundFlat(BoundPrior):
    """Flat prior bound to atoms; the best precision of one atom has a closed form.

    Parameters
    ----------
    noise : InverseGamma, optional
        Prior of the noise variance.

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
        """Return the best precision of one atom and its gain; see `BoundPrior.best_precision`.

        Notes
        -----
        Noise held (Tipping & Faul 2003, section 3): with ``ratio = q^2 / (sigma^2 s)``, the best
        precision is ``lam = s / (ratio - 1)`` if ``ratio > 1``, otherwise infinite. The gain is
        ``(ratio - 1 - log ratio) / 2``.

        Noise profiled out: the objective is ``-(N log(1 - u / x) + log(x / lam)) / 2`` with ``x =
        lam + s`` and ``u = q^2 / R``. It has one stationary point, at ``lam = s (s - u) / (N u -
        s)``, a maximum if ``N u > s``.
        """
        s, q, _, _ = known
        with np.errstate(all="ignore"):
            if noise_variance is not None:
                # At the maximum (lam + s) / lam = ratio and q^2 / (sigma^2 (lam + s)) = ratio - 1,
                # so the gain depends on the ratio only (Tipping & Faul 2003, eqs. 20 and 21, in
                # units of the noise).
                ratio = q * q / (noise_variance * s)
                gain = 0.5 * (ratio - 1.0 - np.log(ratio))
                return np.where(ratio > 1.0, gain, -np.inf), s / (ratio - 1.0)
            u = known.explained
            excess = n_effective * u - s
            lam = s * (s - u) / excess
            # x = lam + s at this lam, in closed form.
            x = s * u * (n_effective - 1.0) / excess
            gain = -0.5 * (n_effective * np.log1p(-u / x) + np.log(x / lam))
            # Without excess the objective rises up to infinite precision: the atom should be
            # absent.
            return np.where((excess > 0.0) & np.isfinite(gain), gain, -np.inf), lam

    def has_no_gain(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> BoolArray:
        """Return which atoms do not raise the objective at any precision."""
        # `rate` is that of the Laplace prior, which derives from this class; zero here.
        s, q, _, quadratic = known
        if noise_variance is None:
            # N u <= s + rate, multiplied by R: no division by a quadratic form that may be zero.
            no_gain: BoolArray = n_effective * q * q <= (s + self.rate) * quadratic
        else:
            no_gain = q * q <= (s + self.rate) * noise_variance
        return no_gain


class FlatPrior(Prior):
    """Flat prior over log precisions: plain evidence (marginal likelihood) maximisation.

    The prior of Tipping & Faul (2003). As a density over the precision ``alpha`` itself it is ``1 /
    alpha``, which Schmolck (2008) calls Jeffreys' prior. Use it with kernels, which are many and
    similar, and of which none has a meaning of its own. It is not consistent for variable
    selection: a basis function unrelated to the target enters with probability 0.32. Prefer
    `SmoothnessPrior`, or a positive ``min_gain``, if single basis functions are to be interpreted.

    Parameters
    ----------
    noise : InverseGamma, optional
        Prior of the noise variance; flat in its logarithm by default.

    See Also
    --------
    SmoothnessPrior : Penalises effective degrees of freedom.
    GammaPrior : Keeps every basis function, with a proper density over its precision.

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
        """Return the prior for particular atoms."""
        return BoundFlat(self.noise)
