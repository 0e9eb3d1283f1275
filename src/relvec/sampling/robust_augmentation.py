"""Augmentation of Student-t noise in regression."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from relvec._checks import check_positive
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.likelihoods.base import check_rows
from relvec.posterior import noise_floor
from relvec.priors import InverseGamma
from relvec.sampling.augmentation import Augmentation, WorkingRows
from relvec.sampling.priors import PrecisionGrid
from relvec.sampling.state import draw_index
from relvec.sampling.target import UnknownNoise

__all__ = ["StudentTAugmentation"]

DEGREES = tuple(float(df) for df in np.geomspace(1.0, 64.0, 13).round(2))
"""Degrees of freedom, from Cauchy noise to noise that is hardly distinguishable from normal."""


class StudentTAugmentation(Augmentation):
    """Regression with noise from Student's t distribution, of unknown scale.

    The noise is normal with variance ``sigma^2 / lambda_n`` and
    ``lambda_n ~ Gamma(df / 2, rate df / 2)``, so that ``omega_n = lambda_n`` in units of
    ``sigma^2``, which is integrated out where models are compared. Degrees of freedom are drawn
    from a grid, all equally probable, with ``lambda`` integrated out.

    A row of weight ``w`` is ``w`` observations, each with a ``lambda`` of its own. Only their sum
    matters for the latent function; it is drawn from
    ``Gamma(w (df + 1) / 2, rate (df + e^2 / sigma^2) / 2)``, exact for whole and other weights.

    Parameters
    ----------
    target : array-like of shape (n_rows,)
        Observations.
    sample_weight : array-like of shape (n_rows,), optional
        Frequency weights.
    offset : array-like of shape (n_rows,), optional
        Known part of the location. Pass the mean of the targets if it is far from zero, compared
        to the noise: the prior of the constant is a thousand noise standard deviations wide.
    df : float or array-like, optional
        Degrees of freedom: one value, or a grid to sample them from; default, 13 values from 1 to
        64. Their logarithm is the parameter of a draw.
    noise_prior : InverseGamma, optional
        Prior of ``sigma^2``; default, uniform over its logarithm.
    has_flat_constant : bool, default=False
        Whether the prior of the constant is flat, as that of an intercept that is integrated out: a
        normal prior in units of the noise lets a model that interpolates the targets pass for
        probable. The limit of a wide prior of the constant, with one observation less for the
        noise.

    Examples
    --------
    A row far from the function has little weight:

    >>> import numpy as np
    >>> from relvec.sampling import StudentTAugmentation
    >>> augmentation = StudentTAugmentation([0.1, -0.2, 90.0], df=3.0)
    >>> rows = augmentation.augment(
    ...     0, np.zeros((3, 1)), 1.0, np.log([3.0]), np.random.default_rng(0)
    ... )
    >>> bool(rows.precision[2] < 0.01)
    True
    """

    intercept_precision = 1e-6

    def __init__(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        *,
        df: ArrayLike | None = None,
        noise_prior: InverseGamma | None = None,
        has_flat_constant: bool = False,
    ) -> None:
        self.target, weight, offsets = check_rows(target, sample_weight, offset)
        self.weight = np.ones(self.n_rows) if weight is None else weight
        self.residual_target = self.target if offsets is None else self.target - offsets
        grid = np.atleast_1d(np.asarray(DEGREES if df is None else df, dtype=np.float64))
        for value in grid:
            check_positive("df", float(value))
        self.df = grid
        self.noise_prior = (InverseGamma() if noise_prior is None else noise_prior).checked()
        n = float(self.weight.sum())
        # the spread of the middle half, which outliers do not change
        low, middle, high = np.quantile(self.target[self.weight > 0.0], [0.25, 0.5, 0.75])
        floor = noise_floor(float(high - low) ** 2, float(middle))
        n_observed = max(n - float(has_flat_constant), 1.0)
        if has_flat_constant:
            self.intercept_precision = 1e-10
        self.noise = UnknownNoise(self.noise_prior.shape + 0.5 * n_observed)
        self.rate = self.noise_prior.rate + 0.5 * n * floor
        self.first_noise = max(
            float(self.weight @ self.residual_target**2) / n, float(np.finfo(np.float64).tiny)
        )
        # of atoms of unit norm, as in `CollapsedSampler`
        self.grid = PrecisionGrid()

    def init_parameters(self, rng: np.random.Generator) -> Vector:
        """Draw degrees of freedom from the grid."""
        return np.log(self.df[[rng.integers(len(self.df))]])

    def update_parameters(
        self, latent: Matrix, noise: float, parameters: Vector, rng: np.random.Generator
    ) -> Vector:
        """Draw degrees of freedom given function and scale, ``lambda`` integrated out."""
        if len(self.df) == 1:
            return parameters
        density = self._log_densities(latent, noise, self.df)
        return np.log(self.df[[draw_index(np.exp(density - density.max()), rng)]])

    def augment(
        self, k: int, latent: Matrix, noise: float, parameters: Vector, rng: np.random.Generator
    ) -> WorkingRows:
        """Draw the sum of ``lambda`` of each row."""
        df = math.exp(parameters[0])
        residual = self.residual_target - latent[:, 0]
        # standard_gamma(0) is 0: rows of no weight
        drawn = rng.standard_gamma(0.5 * self.weight * (df + 1.0))
        precision = drawn / (0.5 * (df + residual**2 / noise))
        return WorkingRows(precision, precision * self.residual_target)

    def log_density(self, latent: Matrix, noise: float, parameters: Vector) -> float:
        """Return the log likelihood and the log prior density of ``log sigma^2``."""
        [value] = self._log_densities(latent, noise, np.exp(parameters))
        rate = self.rate  # that of the prior and the least noise
        return float(value) - self.noise_prior.shape * math.log(noise) - rate / noise

    def _log_densities(self, latent: Matrix, noise: float, df: Vector) -> Vector:
        """Return the log likelihood for each of several degrees of freedom."""
        squares = (self.residual_target - latent[:, 0]) ** 2 / noise
        tails = np.log1p(squares / df[:, None]) @ self.weight
        constant = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(np.pi * df * noise)
        total: Vector = self.weight.sum() * constant - 0.5 * (df + 1.0) * tails
        return total
