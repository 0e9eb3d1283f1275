"""Kernels as functions of one number, written once for arrays, program text and graphs.

A kernel that can be exported compares an input with a vector by one number ``t`` (their squared
distance, the sum of absolute differences, or their inner product) and is a function of that.
The function is written with ordinary operators and with `exp`, `sqrt`, ... of whatever stands
for numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    Product,
    RationalQuadratic,
)

from relvec._typing import Vector
from relvec.kernels import Laplacian, Linear, Polynomial, ScaledInputs, Sigmoid, ThinPlateSpline

__all__ = ["ExportError", "Profile", "read_kernel"]

TINY = 1e-37
"""Smaller than any squared distance that matters, and a number in single precision as well."""


class ExportError(ValueError):
    """A model that cannot be written as a formula; the message says why and what to do."""


@dataclass(frozen=True, eq=False)
class Profile:
    """A kernel of unit variance as a function of one number."""

    name: str
    measure: str
    """What the number is: "squared" or "absolute" distance, or "product"."""
    value: Callable[[Any, Any], Any]
    """Takes the number and a place that has `exp`, `sqrt`, `tanh`, `log`, `power`, `maximum`."""

    @property
    def is_stationary(self) -> bool:
        """Whether only differences of inputs matter."""
        return self.measure != "product"

    def compare(self, left: Any, right: Any) -> Any:
        """Return the number for all rows of two arrays."""
        if self.measure == "product":
            return left @ right.T
        difference = left[:, None, :] - right[None, :, :]
        each = np.abs(difference) if self.measure == "absolute" else difference * difference
        return each.sum(axis=-1)


def _rbf(t: Any, f: Any) -> Any:
    return f.exp(-0.5 * t)


def _exponential(t: Any, f: Any) -> Any:
    return f.exp(-f.sqrt(t))


def _matern32(t: Any, f: Any) -> Any:
    distance = f.sqrt(3.0 * t)
    return (1.0 + distance) * f.exp(-distance)


def _matern52(t: Any, f: Any) -> Any:
    distance = f.sqrt(5.0 * t)
    return (1.0 + distance + (5.0 / 3.0) * t) * f.exp(-distance)


def _laplacian(t: Any, f: Any) -> Any:
    return f.exp(-t)


def _thin_plate(t: Any, f: Any) -> Any:
    return 0.5 * t * f.log(f.maximum(t, TINY))


_MATERN = {0.5: _exponential, 1.5: _matern32, 2.5: _matern52, math.inf: _rbf}


def read_kernel(kernel: Any, factor: Vector) -> tuple[Profile, Vector, float]:
    """Return the kernel as a profile of scaled inputs, the scaling, and the variance.

    Parameters
    ----------
    kernel : Kernel
        Of inputs that are already multiplied by `factor`.
    factor : ndarray of shape (n_features,)
        One number for each input.

    Returns
    -------
    profile : Profile
    factor : ndarray of shape (n_features,)
        What inputs are multiplied by; zero for those that do not matter.
    variance : float
        What the profile is multiplied by.
    """
    kind = type(kernel)
    if kind is ScaledInputs:
        return read_kernel(kernel.kernel, factor * np.sqrt(np.asarray(kernel.scale, float)))
    if kind is Product:
        for constant, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
            if type(constant) is ConstantKernel:
                profile, factor, variance = read_kernel(other, factor)
                return profile, factor, variance * float(constant.constant_value)
    if kind is RBF:
        return Profile("RBF", "squared", _rbf), factor / kernel.length_scale, 1.0
    if kind is Matern and kernel.nu in _MATERN:
        profile = Profile(f"Matern nu={kernel.nu}", "squared", _MATERN[kernel.nu])
        return profile, factor / kernel.length_scale, 1.0
    if kind is RationalQuadratic:
        alpha = float(kernel.alpha)
        profile = Profile(
            f"rational quadratic alpha={alpha:g}",
            "squared",
            lambda t, f: f.power(1.0 + t / (2.0 * alpha), -alpha),
        )
        return profile, factor / kernel.length_scale, 1.0
    if kind is ThinPlateSpline:
        profile = Profile("thin-plate spline", "squared", _thin_plate)
        return profile, factor / kernel.length_scale, 1.0
    if kind is Laplacian:
        return Profile("Laplacian", "absolute", _laplacian), factor * float(kernel.gamma), 1.0
    if kind is Linear:
        return Profile("linear", "product", lambda t, f: t), factor, 1.0
    if kind is DotProduct:
        bias = float(kernel.sigma_0) ** 2
        return Profile("dot product", "product", lambda t, f: t + bias), factor, 1.0
    if kind is Polynomial:
        degree, constant = float(kernel.degree), float(kernel.coef0)
        profile = Profile(
            f"polynomial degree={kernel.degree}",
            "product",
            lambda t, f: f.power(t + constant, degree),
        )
        return profile, factor * math.sqrt(kernel.gamma), 1.0
    if kind is Sigmoid:
        constant = float(kernel.coef0)
        profile = Profile("sigmoid", "product", lambda t, f: f.tanh(t + constant))
        return profile, factor * math.sqrt(kernel.gamma), 1.0
    raise ExportError(
        f"the kernel {kernel!r} cannot be exported; RBF, Laplacian, Matern (nu 1/2, 3/2, 5/2), "
        "rational quadratic, thin-plate spline, linear, dot product, polynomial and sigmoid "
        "kernels can, also with learnt scales and times a constant. Use relvec.io.save, or fit "
        "with one of these."
    )
