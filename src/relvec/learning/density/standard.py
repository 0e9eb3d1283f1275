"""Standard reference densities: what the data have, after a change of variable, without atoms.

Each is a density of one variable, the *score*, with its tails: outside the range of the bins a
fitted density falls as its reference does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from relvec._typing import Vector

__all__ = ["STANDARD", "Exponential", "Normal", "Standard", "Uniform"]


@dataclass(frozen=True)
class Standard:
    """A standard density of a score."""

    name = ""
    lower = -math.inf
    """Smallest score."""
    upper = math.inf
    """Largest score."""

    def log_density(self, score: Vector) -> Vector:
        """Return the log density."""
        raise NotImplementedError

    def lower_mass(self, score: Vector) -> Vector:
        """Return the probability below a score."""
        raise NotImplementedError

    def upper_mass(self, score: Vector) -> Vector:
        """Return the probability above a score."""
        raise NotImplementedError

    def lower_quantile(self, mass: Vector) -> Vector:
        """Return the score with this probability below it."""
        raise NotImplementedError

    def upper_quantile(self, mass: Vector) -> Vector:
        """Return the score with this probability above it."""
        raise NotImplementedError


class Normal(Standard):
    """Standard normal density, for the whole line."""

    name = "normal"

    def log_density(self, score: Vector) -> Vector:
        """Return the log density."""
        result: Vector = -0.5 * score**2 - 0.5 * math.log(2.0 * math.pi)
        return result

    def lower_mass(self, score: Vector) -> Vector:
        """Return the probability below a score."""
        result: Vector = ndtr(score)
        return result

    def upper_mass(self, score: Vector) -> Vector:
        """Return the probability above a score."""
        result: Vector = ndtr(-score)
        return result

    def lower_quantile(self, mass: Vector) -> Vector:
        """Return the score with this probability below it."""
        result: Vector = ndtri(mass)
        return result

    def upper_quantile(self, mass: Vector) -> Vector:
        """Return the score with this probability above it."""
        result: Vector = -ndtri(mass)
        return result


class Exponential(Standard):
    """Exponential density of mean one, for a half-line."""

    name = "exponential"
    lower = 0.0

    def log_density(self, score: Vector) -> Vector:
        """Return the log density."""
        return -score

    def lower_mass(self, score: Vector) -> Vector:
        """Return the probability below a score."""
        result: Vector = -np.expm1(-score)
        return result

    def upper_mass(self, score: Vector) -> Vector:
        """Return the probability above a score."""
        result: Vector = np.exp(-score)
        return result

    def lower_quantile(self, mass: Vector) -> Vector:
        """Return the score with this probability below it."""
        result: Vector = -np.log1p(-mass)
        return result

    def upper_quantile(self, mass: Vector) -> Vector:
        """Return the score with this probability above it."""
        with np.errstate(divide="ignore"):  # infinite at zero
            result: Vector = -np.log(mass)
        return result


class Uniform(Standard):
    """Uniform density on the unit interval, for a bounded support."""

    name = "uniform"
    lower, upper = 0.0, 1.0

    def log_density(self, score: Vector) -> Vector:
        """Return the log density."""
        return np.zeros_like(score)

    def lower_mass(self, score: Vector) -> Vector:
        """Return the probability below a score."""
        return score

    def upper_mass(self, score: Vector) -> Vector:
        """Return the probability above a score."""
        return 1.0 - score

    def lower_quantile(self, mass: Vector) -> Vector:
        """Return the score with this probability below it."""
        return mass

    def upper_quantile(self, mass: Vector) -> Vector:
        """Return the score with this probability above it."""
        return 1.0 - mass


STANDARD = {kind.name: kind() for kind in (Normal, Exponential, Uniform)}
"""Standard densities by name."""
