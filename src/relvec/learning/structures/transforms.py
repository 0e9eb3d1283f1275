"""Transforms of the target that a search compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from relvec._typing import BoolArray, Vector
from relvec.likelihoods import IdentityTransform, LogTransform

__all__ = ["TRANSFORMS", "OutputTransform", "SquareRootTransform", "find_possible_transforms"]


class OutputTransform(Protocol):
    """An increasing function of the target; see `relvec.likelihoods.TargetTransform`."""

    def supports(self, target: Vector) -> BoolArray:
        """Return where targets are in the domain."""

    def forward(self, target: Vector) -> Vector:
        """Return transformed targets."""

    def inverse(self, z: Vector) -> Vector:
        """Return the targets of transformed values."""

    def log_slope(self, target: Vector) -> Vector:
        """Return the log derivative of the transform at targets."""


@dataclass(frozen=True)
class SquareRootTransform:
    """Square root of positive targets.

    Negative values of the root stand for a target of zero, so this is not one of the transforms of
    `relvec.likelihoods`, whose range is all numbers. Medians and quantiles exist all the same.
    """

    def supports(self, target: Vector) -> BoolArray:
        """Return where targets are positive."""
        return np.asarray(target) > 0.0

    def forward(self, target: Vector) -> Vector:
        """Return the root; minus infinity below zero, which no value reaches."""
        return np.where(target >= 0.0, np.sqrt(np.maximum(target, 0.0)), -np.inf)

    def inverse(self, z: Vector) -> Vector:
        """Return the square, zero for negative values."""
        return np.maximum(z, 0.0) ** 2

    def log_slope(self, target: Vector) -> Vector:
        """Return ``-log(2 sqrt(y))``."""
        return -np.log(2.0) - 0.5 * np.log(target)

    def __str__(self) -> str:
        return "sqrt"


TRANSFORMS: dict[str, OutputTransform] = {
    "identity": IdentityTransform(),
    "log": LogTransform(),
    "sqrt": SquareRootTransform(),
}

LEAST_RATIO = 1.5
"""Ratio of the largest to the smallest target from which on transforms differ from a line."""


def find_possible_transforms(target: Vector, names: tuple[str, ...]) -> dict[str, OutputTransform]:
    """Return the transforms that suit the targets: the identity, others if they are positive."""
    low, high = float(target.min()), float(target.max())
    varied = low > 0.0 and high > LEAST_RATIO * low
    return {name: TRANSFORMS[name] for name in names if name == "identity" or varied}
