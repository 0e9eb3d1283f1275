"""Single columns of one feature: lines, steps and changes of slope."""

from __future__ import annotations

import math
import numbers
from typing import Any

from relvec.bases.series.base import FactorBasis
from relvec.bases.series.scaling import FeatureScale
from relvec.kernels.expansions import Expansion, Kink, Line, Step

__all__ = ["KinkBasis", "RampBasis", "StepBasis"]

ORIGINS = {"start": -1.0, "centre": 0.0, "end": 1.0}


class RampBasis(FactorBasis):
    """A line in one feature that is zero at its origin.

    By itself it is a linear trend, wherever its origin is. As a factor of a product it makes an
    amplitude grow from zero at the origin: ``PeriodicBasis(12.0) * RampBasis()``.

    Parameters
    ----------
    origin : {"start", "centre", "end"} or float, default="start"
        Where the line is zero: at an end or in the middle of the training inputs, or at a value of
        the feature.
    feature : int, default=0
        Column of the inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import RampBasis
    >>> RampBasis().bind(np.array([[2.0], [4.0], [6.0]])).atoms.evaluate(np.array([[2.0], [6.0]]))
    array([[0.],
           [2.]])
    """

    is_spectrum = False

    def __init__(self, origin: float | str = "start", *, feature: int = 0) -> None:
        self.origin = origin
        self.feature = feature

    def expand_factor(
        self, scale: FeatureScale, *, most: int | None = None, is_in_product: bool = False
    ) -> Expansion:
        """Return the line."""
        if isinstance(self.origin, str):
            if self.origin not in ORIGINS:
                raise ValueError(
                    f"origin must be one of {tuple(ORIGINS)} or a number; got {self.origin!r}."
                )
            return Line(feature=self.feature, origin=ORIGINS[self.origin])
        return Line(feature=self.feature, origin=scale.scale(_check_number("origin", self.origin)))


class StepBasis(FactorBasis):
    """A level that changes once, at a known location: one above it, zero up to it.

    Parameters
    ----------
    location : float
        Value of the feature after which the level is another one.
    feature : int, default=0
        Column of the inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import StepBasis
    >>> X = np.arange(4.0)[:, np.newaxis]
    >>> StepBasis(1.5).bind(X).atoms.evaluate(X).ravel()
    array([0., 0., 1., 1.])
    """

    is_spectrum = False

    def __init__(self, location: float, *, feature: int = 0) -> None:
        self.location = location
        self.feature = feature

    def expand_factor(
        self, scale: FeatureScale, *, most: int | None = None, is_in_product: bool = False
    ) -> Expansion:
        """Return the step."""
        origin = scale.scale(_check_number("location", self.location))
        return Step(feature=self.feature, origin=origin)


class KinkBasis(StepBasis):
    """A slope that changes once, at a known location: zero up to it, and a line from it on.

    Parameters
    ----------
    location : float
        Value of the feature at which the slope changes.
    feature : int, default=0
        Column of the inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import KinkBasis
    >>> X = np.arange(5.0)[:, np.newaxis]
    >>> KinkBasis(2.0).bind(X).atoms.evaluate(X).ravel()
    array([0. , 0. , 0. , 0.5, 1. ])
    """

    def expand_factor(
        self, scale: FeatureScale, *, most: int | None = None, is_in_product: bool = False
    ) -> Expansion:
        """Return the kink."""
        origin = scale.scale(_check_number("location", self.location))
        return Kink(feature=self.feature, origin=origin)


def _check_number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number; got {value!r} of type {type(value).__name__}.")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite; got {value!r}.")
    return float(value)
