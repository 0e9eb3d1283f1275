"""Augmentation of the negative binomial likelihood of counts."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from relvec._checks import check_counts, check_positive
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.likelihoods.base import check_rows
from relvec.sampling.augmentation import Augmentation, WorkingRows
from relvec.sampling.polya_gamma import sample_polya_gamma
from relvec.sampling.priors import PrecisionGrid

__all__ = ["NegativeBinomialAugmentation", "draw_slice"]

SMALLEST_SHAPE, LARGEST_SHAPE = 1e-3, 1e6
"""Range of the shape, that of `relvec.likelihoods.NegativeBinomial`."""


class NegativeBinomialAugmentation(Augmentation):
    """Counts with mean ``exp(f + offset)`` and variance ``mean + mean^2 / r``.

    With ``psi = f + offset - log r`` the likelihood of a row is proportional to
    ``exp(psi)^t / (1 + exp(psi))^(t + r)``: ``omega ~ PG(t + r, psi)`` and ``kappa = (t - r) / 2``
    (Polson, Scott & Windle 2013, section 2). The Poisson likelihood has no such augmentation: use
    a large shape, of which it is the limit.

    Parameters
    ----------
    target : array-like of shape (n_rows,)
        Counts.
    sample_weight : array-like of shape (n_rows,), optional
        Frequency weights.
    offset : array-like of shape (n_rows,), optional
        Known part of the log mean, such as the log exposure.
    shape : float, optional
        Shape ``r``; None to sample its logarithm, the parameter of a draw.
    log_shape_mean, log_shape_deviation : float, default=2.0, 2.0
        Normal prior of ``log r`` if it is sampled. By default 95 % of its mass are shapes between
        0.15 and 370.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import NegativeBinomialAugmentation
    >>> augmentation = NegativeBinomialAugmentation([0, 3, 8], shape=2.0)
    >>> rows = augmentation.augment(
    ...     0, np.zeros((3, 1)), 1.0, np.log([2.0]), np.random.default_rng(0)
    ... )
    >>> (rows.linear + rows.precision * np.log(1 / 2.0)).round(6)  # (t - r) / 2
    array([-1. ,  0.5,  3. ])
    """

    # Standard deviation 30 of the log mean of counts: hardly informative.
    intercept_precision = 1e-3

    def __init__(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        *,
        shape: float | None = None,
        log_shape_mean: float = 2.0,
        log_shape_deviation: float = 2.0,
    ) -> None:
        check_counts("target", target)
        self.target, weight, offsets = check_rows(target, sample_weight, offset)
        self.weight = np.ones(self.n_rows) if weight is None else weight
        self.offset = np.zeros(self.n_rows) if offsets is None else offsets
        self.shape = None if shape is None else check_positive("shape", shape)
        if self.shape is not None and not SMALLEST_SHAPE <= self.shape <= LARGEST_SHAPE:
            raise ValueError(f"shape must be between 0.001 and 1e6; got {shape:g}.")
        self.log_shape_mean = float(log_shape_mean)
        self.log_shape_deviation = check_positive("log_shape_deviation", log_shape_deviation)
        # Terms of the log mean of counts: factors between exp(0.3) and exp(5).
        self.grid = PrecisionGrid(1.0 / 5.0**2, 1.0 / 0.3**2, n_levels=5)

    def init_parameters(self, rng: np.random.Generator) -> Vector:
        """Return the shape, or draw it from its prior, on a logarithmic scale."""
        if self.shape is not None:
            return np.array([math.log(self.shape)])
        drawn = rng.normal(self.log_shape_mean, self.log_shape_deviation)
        return np.array([min(max(drawn, math.log(SMALLEST_SHAPE)), math.log(LARGEST_SHAPE))])

    def update_parameters(
        self, latent: Matrix, noise: float, parameters: Vector, rng: np.random.Generator
    ) -> Vector:
        """Update ``log r`` by slice sampling, Pólya-Gamma variables integrated out.

        Their shape contains ``r``: given them, ``r`` could hardly move.
        """
        if self.shape is not None:
            return parameters
        density = self._density_of_shape(latent)
        return np.array([draw_slice(density, float(parameters[0]), rng)])

    def augment(
        self, k: int, latent: Matrix, noise: float, parameters: Vector, rng: np.random.Generator
    ) -> WorkingRows:
        """Draw Pólya-Gamma variables given the log means and the shape."""
        shape, shift = math.exp(parameters[0]), self.offset - parameters[0]
        total = self.weight * (self.target + shape)
        precision = sample_polya_gamma(total, latent[:, 0] + shift, rng)
        linear = 0.5 * self.weight * (self.target - shape) - precision * shift
        return WorkingRows(precision, linear)

    def log_density(self, latent: Matrix, noise: float, parameters: Vector) -> float:
        """Return the log likelihood and, if the shape is sampled, the log density of ``log r``."""
        return self._density_of_shape(latent)(float(parameters[0]))

    def _density_of_shape(self, latent: Matrix) -> Callable[[float], float]:
        """Return the log density of ``log r`` given the latent function, up to a constant."""
        psi = latent[:, 0] + self.offset
        # log Gamma(t + r) is needed once for every distinct count only
        counts, place = np.unique(self.target, return_inverse=True)
        share = np.bincount(place, weights=self.weight)
        total = float(self.weight.sum())
        low, high = math.log(SMALLEST_SHAPE), math.log(LARGEST_SHAPE)

        def density(log_shape: float) -> float:
            if not low <= log_shape <= high:
                return -math.inf
            shape, z = math.exp(log_shape), psi - log_shape
            value = float(share @ gammaln(counts + shape)) - total * float(gammaln(shape))
            # t log p + r log(1 - p), p = sigmoid(z)
            value += float(
                self.weight @ (self.target * z - (self.target + shape) * np.logaddexp(0.0, z))
            )
            if self.shape is None:
                value -= 0.5 * ((log_shape - self.log_shape_mean) / self.log_shape_deviation) ** 2
            return value

        return density


def draw_slice(
    density: Callable[[float], float], start: float, rng: np.random.Generator, width: float = 1.0
) -> float:
    """Return the next state of a chain on the real line, by slice sampling (Neal 2003).

    The interval is found by stepping out; nothing has to be tuned.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling.count_augmentation import draw_slice
    >>> rng, x, total = np.random.default_rng(0), 0.0, 0.0
    >>> for _ in range(4000):
    ...     x = draw_slice(lambda value: -0.5 * (value - 3.0) ** 2, x, rng)
    ...     total += x / 4000
    >>> round(total, 1)
    3.0
    """
    level = density(start) - rng.standard_exponential()
    low = start - width * rng.random()
    high = low + width
    while density(low) > level:
        low -= width
    while density(high) > level:
        high += width
    while True:
        value = low + (high - low) * rng.random()
        if density(value) >= level:
            return value
        low, high = (value, high) if value < start else (low, value)
