"""Two classes: the logistic likelihood of a logit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from relvec._typing import Vector

__all__ = ["WorkingResponse", "log_likelihood", "moderate", "working_response"]

FLATTEST = 1e-10
"""Curvatures of saturated samples are not taken to be smaller: their working response would
leave the range of floating-point numbers, and they carry no information anyway."""


class WorkingResponse(NamedTuple):
    """The quadratic approximation of the log likelihood at a logit."""

    curvature: Vector
    """Negative second derivative, times the weight of the sample."""
    target: Vector
    """Where the approximation has its maximum."""


def log_likelihood(logit: Vector, target: Vector, weight: Vector | None = None) -> float:
    """Log probability of the labels ``target`` in {0, 1}."""
    each = target * logit - np.logaddexp(0.0, logit)
    return float(each.sum() if weight is None else weight @ each)


def working_response(
    logit: Vector, target: Vector, weight: Vector | None = None
) -> WorkingResponse:
    """Approximate the log likelihood to second order around `logit`."""
    probability = expit(logit)
    curvature = np.maximum(probability * (1.0 - probability), FLATTEST)
    response = logit + (target - probability) / curvature
    return WorkingResponse(curvature if weight is None else weight * curvature, response)


def moderate(mean: Vector, variance: Vector) -> Vector:
    """Log odds of class 1 when the logit is normal, by the approximation of MacKay (1992)."""
    odds: Vector = mean / np.sqrt(1.0 + np.pi * variance / 8.0)
    return odds
