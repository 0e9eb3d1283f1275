"""Birth schemes of the reversible-jump sampler of Schmolck (2008, section 2.7.2).

A scheme draws the precision of an atom that enters the model, and knows the prior density of
precisions in the model. Precisions are denoted by ``alpha``, the noise variance by ``sigma^2``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import erf, exp1

from relvec._typing import Vector

__all__ = ["Birth", "FixedBirth", "LogNormalBirth", "PriorBirth", "log_normaliser"]


def log_normaliser(c: float, noise_variance: float, low: float, high: float) -> float:
    """Return the log of the integral of ``exp(-c / (1 + sigma^2 alpha))`` from `low` to `high`.

    Equation (2.62) of the thesis, in terms of ``E1``. The integral extends over one precision.

    Examples
    --------
    >>> round(log_normaliser(0.0, 1.0, 0.0, 2.0), 6), round(math.log(2.0), 6)
    (0.693147, 0.693147)
    """
    if c == 0.0:
        return math.log(high - low)

    def primitive(alpha: float) -> float:
        # With u = 1 + sigma^2 alpha: the integral of exp(-c / u) is u exp(-c / u) - c E1(c / u).
        # (2.62) has Ei, for a negative argument: Ei(-x) = -E1(x).
        u = 1.0 + noise_variance * alpha
        return float((u * math.exp(-c / u) - c * exp1(c / u)) / noise_variance)

    return math.log(primitive(high) - primitive(low))


@dataclass(frozen=True)
class Birth(ABC):
    """How precisions enter the model, and their prior.

    Parameters
    ----------
    c : float
        Constant of the smoothness prior ``exp(-c / (1 + sigma^2 alpha))``; 0 for none.
    low, high : float
        Bounds of a precision, ``[L, H]`` of equation (2.61).
    """

    c: float
    low: float
    high: float

    @abstractmethod
    def propose(self, noise_variance: float, rng: np.random.Generator) -> float:
        """Draw the precision of an atom that enters."""

    @abstractmethod
    def log_weight(self, alpha: float, noise_variance: float) -> float:
        """Return the log of prior over proposal density, what a birth adds to the likelihood."""

    def log_prior(self, alpha: Vector, noise_variance: float) -> float:
        """Return the log prior density of precisions, summed over atoms in the model."""
        # (2.60), with the effective degrees of freedom of an orthonormal basis.
        value = -self.c * float((1.0 / (1.0 + noise_variance * alpha)).sum())
        return value - len(alpha) * self.log_mass(noise_variance)

    def log_mass(self, noise_variance: float) -> float:
        """Return the log of the constant that the prior of one precision is divided by."""
        return log_normaliser(self.c, noise_variance, self.low, self.high)


@dataclass(frozen=True)
class PriorBirth(Birth):
    """Scheme 1: precisions are drawn from their prior on ``[L, H]``.

    Nearly all its mass is at precisions so large that the atom has no effect: births are then
    accepted, and change nothing.
    """

    def propose(self, noise_variance: float, rng: np.random.Generator) -> float:
        """Draw from the prior, by rejection from the uniform distribution."""
        while True:
            alpha = self.low + (self.high - self.low) * rng.random()
            # The density is at most 1 and at least exp(-c), 1 / N for "ric".
            if self.c == 0.0 or math.log1p(-rng.random()) <= -self.c / (
                1.0 + noise_variance * alpha
            ):
                return alpha

    def log_weight(self, alpha: float, noise_variance: float) -> float:
        """Return zero: prior and proposal cancel, (2.105) to (2.106)."""
        return 0.0


@dataclass(frozen=True)
class FixedBirth(Birth):
    """Scheme 2: all precisions in the model have one value.

    The prior is ``exp(-c / (1 + sigma^2 alpha))`` for each atom, a penalty on the model size.
    """

    value: float = 1e-5

    def propose(self, noise_variance: float, rng: np.random.Generator) -> float:
        """Return the value."""
        return self.value

    def log_weight(self, alpha: float, noise_variance: float) -> float:
        """Return the log prior: the proposal has a single point, (2.107) to (2.109)."""
        return -self.c / (1.0 + noise_variance * alpha)

    def log_mass(self, noise_variance: float) -> float:
        """Return zero: the prior is a penalty, not a density."""
        return 0.0


@dataclass(frozen=True)
class LogNormalBirth(Birth):
    """Scheme 3: ``log alpha`` is normal with mean zero and deviation `scale` on ``[L, H]``.

    The thesis does not normalise the smoothness prior here. Every atom then has prior odds near
    ``H``, and the model grows to the largest size allowed. With `is_normalised` it is normalised.
    """

    scale: float = 2.0
    is_normalised: bool = True

    def propose(self, noise_variance: float, rng: np.random.Generator) -> float:
        """Draw from the truncated log-normal distribution, by rejection."""
        low, high = math.log(self.low), math.log(self.high)
        while True:
            x = self.scale * rng.standard_normal()
            if low <= x <= high:
                return math.exp(x)

    def log_weight(self, alpha: float, noise_variance: float) -> float:
        """Return prior over proposal, the terms of (2.114) to (2.116) besides the likelihood."""
        x, s = math.log(alpha), self.scale
        # (2.110) prints 1 / x; the density of alpha has 1 / alpha, as in (2.114).
        z = 0.5 * float(
            erf(math.log(self.high) / (math.sqrt(2.0) * s))
            + erf(-math.log(self.low) / (math.sqrt(2.0) * s))
        )  # (2.112)
        weight = x + math.log(z) + 0.5 * (math.log(2.0 * math.pi * s * s) + (x / s) ** 2)
        weight -= self.c / (1.0 + noise_variance * alpha)
        return weight - self.log_mass(noise_variance)

    def log_mass(self, noise_variance: float) -> float:
        """Return the log normaliser, or zero as printed."""
        return super().log_mass(noise_variance) if self.is_normalised else 0.0
