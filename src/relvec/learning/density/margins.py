"""Reference densities of one variable: a change of variable to the score of a standard density.

A margin maps ``x`` to a score ``s(x)`` such that ``x`` has its reference density if the score has
the standard one: ``s = G^-1(F(x))``, with ``F`` and ``G`` the distribution functions (Wand, Marron
and Ruppert, 1991, Transformations in density estimation). The reference density is ``g(s(x))
s'(x)``. Bins and basis functions are evenly spaced in the score: with a heavy-tailed reference they
are wider in the tails, where there are few data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, ndtr, ndtri, stdtr, stdtrit

from relvec._typing import Matrix, Vector
from relvec.learning.density.standard import STANDARD, Standard

__all__ = [
    "ExponentialMargin",
    "LogNormalMargin",
    "Margin",
    "NormalMargin",
    "StudentMargin",
    "TwoNormalsMargin",
    "UniformMargin",
]

LEAST_MASS = 1e-300
"""Smallest tail probability of a score: further out, scores stay finite."""


@dataclass(frozen=True)
class Margin:
    """A reference density of one variable."""

    location: float
    scale: float

    name = ""
    standard_name = "normal"
    n_parameters = 2
    """Parameters fitted to the data, for the penalty in the choice between margins."""

    @property
    def standard(self) -> Standard:
        """Standard density of the score."""
        return STANDARD[self.standard_name]

    @property
    def is_reversed(self) -> bool:
        """Whether the score falls with ``x``: the support has an upper end only."""
        return self.scale < 0.0

    def score(self, x: Vector) -> Vector:
        """Return the score ``s(x)``."""
        return (x - self.location) / self.scale

    def inverse(self, score: Vector) -> Vector:
        """Return ``x`` of a score."""
        return self.location + self.scale * score

    def log_slope(self, x: Vector) -> Vector:
        """Return ``log |s'(x)|``."""
        return np.full(np.shape(x), -math.log(abs(self.scale)))

    def tangents(self, score: Vector) -> Matrix:
        """Return derivatives of the log density in the parameters, up to constants, at scores.

        As basis functions with a nearly flat prior they let the parameters differ from their
        estimates, to first order: of a normal density the score and its square, for location and
        scale.
        """
        return np.column_stack([score, score**2])

    def log_density(self, x: Vector) -> Vector:
        """Return the log of the reference density."""
        result: Vector = self.standard.log_density(self.score(x)) + self.log_slope(x)
        return result


class NormalMargin(Margin):
    """Normal density."""

    name = "normal"


class UniformMargin(Margin):
    """Uniform density on the interval from `location`, of length `scale`."""

    name = standard_name = "uniform"
    n_parameters = 0

    def tangents(self, score: Vector) -> Matrix:
        """Return the score: a uniform density has no parameters, but may be tilted."""
        return score[:, None]


class ExponentialMargin(Margin):
    """Exponential density from `location`; to the left if the scale is negative."""

    name = standard_name = "exponential"
    n_parameters = 1

    def tangents(self, score: Vector) -> Matrix:
        """Return the derivative in the scale."""
        return score[:, None]


@dataclass(frozen=True)
class LogNormalMargin(Margin):
    """Log-normal density of the distance from `edge`: the logarithm of it is normal."""

    edge: float
    sign: float
    """-1 if the edge is the upper end of the support."""

    name = "log_normal"

    @property
    def is_reversed(self) -> bool:
        """Whether the score falls with ``x``."""
        return self.sign < 0.0

    def score(self, x: Vector) -> Vector:
        """Return the score ``s(x)``."""
        distance = np.maximum(self.sign * (x - self.edge), np.finfo(float).tiny)
        result: Vector = (np.log(distance) - self.location) / self.scale
        return result

    def inverse(self, score: Vector) -> Vector:
        """Return ``x`` of a score."""
        result: Vector = self.edge + self.sign * np.exp(self.location + self.scale * score)
        return result

    def log_slope(self, x: Vector) -> Vector:
        """Return ``log |s'(x)|``."""
        distance = np.maximum(self.sign * (x - self.edge), np.finfo(float).tiny)
        result: Vector = -np.log(distance) - math.log(self.scale)
        return result


class _HeavyTailed(Margin):
    """A symmetric density with heavier tails than the normal."""

    def tail(self, z: Vector) -> Vector:
        """Return the probability below ``-z``, for non-negative `z` in units of the scale."""
        raise NotImplementedError

    def log_density_of_units(self, z: Vector) -> Vector:
        """Return the log density of ``z``, in units of the scale."""
        raise NotImplementedError

    def tail_quantile(self, score: Vector) -> Vector:
        """Return ``z`` of a non-negative normal score."""
        raise NotImplementedError

    def score(self, x: Vector) -> Vector:
        """Return the score ``s(x)``."""
        z = (x - self.location) / self.scale
        # From the nearer tail, so that probabilities next to one lose no digits.
        result: Vector = -np.sign(z) * ndtri(np.maximum(self.tail(np.abs(z)), LEAST_MASS))
        return result

    def inverse(self, score: Vector) -> Vector:
        """Return ``x`` of a score."""
        inner = np.where(np.isinf(score), 0.0, score)
        z = np.sign(inner) * self.tail_quantile(np.abs(inner))
        result: Vector = self.location + self.scale * np.where(np.isinf(score), score, z)
        return result

    def log_slope(self, x: Vector) -> Vector:
        """Return ``log |s'(x)|``: of ``G(s) = F(x)`` follows ``s' = F'(x) / g(s)``."""
        z = (x - self.location) / self.scale
        result: Vector = self.log_density_of_units(z) - math.log(self.scale)
        return result - self.standard.log_density(self.score(x))


@dataclass(frozen=True)
class StudentMargin(_HeavyTailed):
    """Student's t density: polynomial tails."""

    df: float

    name = "student_t"
    n_parameters = 3

    def tail(self, z: Vector) -> Vector:
        """Return the probability below ``-z``."""
        result: Vector = stdtr(self.df, -z)
        return result

    def tail_quantile(self, score: Vector) -> Vector:
        """Return ``z`` of a non-negative normal score."""
        result: Vector = -stdtrit(self.df, ndtr(-score))
        return result

    def tangents(self, score: Vector) -> Matrix:
        """Return derivatives in location, scale and degrees of freedom."""
        z = (self.inverse(score) - self.location) / self.scale
        share = (self.df + 1.0) / (self.df + z**2)
        of_df = 0.5 * (share * z**2 / self.df - np.log1p(z**2 / self.df))
        return np.column_stack([share * z, share * z**2, of_df])

    def log_density_of_units(self, z: Vector) -> Vector:
        """Return the log density of ``z``."""
        half = 0.5 * (self.df + 1.0)
        constant = gammaln(half) - gammaln(0.5 * self.df) - 0.5 * math.log(self.df * math.pi)
        result: Vector = constant - half * np.log1p(z**2 / self.df)
        return result


@dataclass(frozen=True)
class TwoNormalsMargin(_HeavyTailed):
    """Mixture of two normal densities around one mean, one of them wider."""

    fraction: float
    """Probability of the wider density."""
    ratio: float
    """Its standard deviation, in units of that of the other."""

    name = "two_normals"
    n_parameters = 4

    def tail(self, z: Vector) -> Vector:
        """Return the probability below ``-z``."""
        result: Vector = (1.0 - self.fraction) * ndtr(-z) + self.fraction * ndtr(-z / self.ratio)
        return result

    def tail_quantile(self, score: Vector) -> Vector:
        """Return ``z`` of a non-negative normal score, by bisection."""
        # The quantile of a mixture lies between those of its components.
        lower, upper = np.array(score, dtype=np.float64), self.ratio * score
        mass = ndtr(-score)
        for _ in range(60):
            middle = 0.5 * (lower + upper)
            is_below = self.tail(middle) > mass
            lower, upper = np.where(is_below, middle, lower), np.where(is_below, upper, middle)
        return 0.5 * (lower + upper)

    def tangents(self, score: Vector) -> Matrix:
        """Return derivatives in location, scale, log odds of the wider density, and log ratio."""
        z = (self.inverse(score) - self.location) / self.scale
        normal = STANDARD["normal"]
        wide = math.log(self.fraction / self.ratio) + normal.log_density(z / self.ratio)
        in_wide = np.exp(wide - self.log_density_of_units(z))
        precision = 1.0 - in_wide + in_wide / self.ratio**2
        return np.column_stack(
            [precision * z, precision * z**2, in_wide, in_wide * (z / self.ratio) ** 2]
        )

    def log_density_of_units(self, z: Vector) -> Vector:
        """Return the log density of ``z``."""
        normal = STANDARD["normal"]
        narrow = math.log1p(-self.fraction) + normal.log_density(z)
        wide = math.log(self.fraction / self.ratio) + normal.log_density(z / self.ratio)
        result: Vector = np.logaddexp(narrow, wide)
        return result
