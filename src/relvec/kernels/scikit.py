"""Adapters that give scikit-learn's kernels the optional properties of `relvec.kernels.definition`.

Formulas: Rasmussen & Williams (2006), section 4.2. With ``t = |x - z|^2`` and ``r = sqrt(t) / l``:

- squared exponential ``exp(-r^2 / 2)`` (eq. 4.9);
- Matern ``nu = 1/2``: ``exp(-r)``; ``3/2``: ``(1 + sqrt(3) r) exp(-sqrt(3) r)``; ``5/2``: ``(1 +
  sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)`` (eqs. 4.16, 4.17);
- rational quadratic ``(1 + r^2 / (2 alpha))^-alpha`` (eq. 4.19).

``slope`` returns ``E * dk/dt``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)

from relvec._typing import Matrix
from relvec.kernels.definition import KernelProfile, get_kernel_property, register_kernel
from relvec.kernels.evaluate import GaussianDictionary, kernel_block

__all__: list[str] = []


class _DistanceAdapter:
    """Adapter of a kernel that is a function of the distance in units of a length-scale."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    @property
    def measure(self) -> str | None:
        """Return "squared", or None if there is one length-scale per feature: no closed form."""
        return "squared" if np.size(self.kernel.length_scale) == 1 else None


class _GaussianAdapter(_DistanceAdapter):
    @property
    def rate(self) -> float:
        return 0.5 / float(self.kernel.length_scale) ** 2

    def profile(self) -> KernelProfile:
        factor = 1.0 / np.asarray(self.kernel.length_scale)
        return KernelProfile("RBF", "squared", _gaussian, factor)


class _RationalQuadraticAdapter(_DistanceAdapter):
    def slope(self, X: Matrix, Z: Matrix, E: Matrix) -> Matrix:
        alpha = self.kernel.alpha
        unit = 1.0 / (2.0 * alpha * self.kernel.length_scale**2)
        # dk/dt = -alpha unit (1 + unit t)^(-alpha - 1)
        base = 1.0 + unit * cdist(X, Z, "sqeuclidean")
        result: Matrix = E * (-alpha * unit) * base ** (-alpha - 1.0)
        return result

    def profile(self) -> KernelProfile:
        alpha = float(self.kernel.alpha)
        return KernelProfile(
            f"rational quadratic alpha={alpha:g}",
            "squared",
            lambda t, f: f.power(1.0 + t / (2.0 * alpha), -alpha),
            1.0 / self.kernel.length_scale,
        )


class _MaternAdapter(_DistanceAdapter):
    @property
    def measure(self) -> str | None:
        return super().measure if self.kernel.nu in _MATERN else None

    def slope(self, X: Matrix, Z: Matrix, E: Matrix) -> Matrix:
        length, nu = self.kernel.length_scale, self.kernel.nu
        if nu == math.inf:
            return E * kernel_block(self.kernel, X, Z) * (-0.5 / length**2)
        distance = cdist(X / length, Z / length)
        # dk/dt = -slope / l^2, with slope = -(dk/dr) / (2 r)
        if nu == 0.5:
            slope = np.exp(-distance) / np.maximum(2.0 * distance, 1e-150)
            slope[distance == 0.0] = 0.0  # unbounded, but multiplied by differences that are zero
        elif nu == 1.5:
            # k = (1 + s) exp(-s) with s = sqrt(3) r: dk/dr = -3 r exp(-s), finite over r at r = 0.
            slope = 1.5 * np.exp(-math.sqrt(3.0) * distance)
        else:
            # k = (1 + s + s^2 / 3) exp(-s) with s = sqrt(5) r: dk/dr = -(5 / 3) r (1 + s) exp(-s).
            scaled_distance = math.sqrt(5.0) * distance
            slope = (5.0 / 6.0) * (1.0 + scaled_distance) * np.exp(-scaled_distance)
        result: Matrix = E * slope / -(length**2)
        return result

    def profile(self) -> KernelProfile | None:
        kernel = self.kernel
        if kernel.nu not in _MATERN:
            return None
        name, factor = f"Matern nu={kernel.nu}", 1.0 / np.asarray(kernel.length_scale)
        return KernelProfile(name, "squared", _MATERN[kernel.nu], factor)


class _DotProductAdapter:
    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def profile(self) -> KernelProfile:
        bias = float(self.kernel.sigma_0) ** 2
        return KernelProfile("dot product", "product", lambda t, f: t + bias)


class _ProductAdapter:
    """Adapter of products: a constant times a kernel is that kernel with another variance."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def profile(self) -> KernelProfile | None:
        parts = self.kernel.k1, self.kernel.k2
        for constant, other in (parts, parts[::-1]):
            if type(constant) is ConstantKernel:
                profile = get_kernel_property(other, "profile")
                inner = None if profile is None else profile()
                variance = float(constant.constant_value)
                return None if inner is None else replace(inner, variance=variance * inner.variance)
        return None


def _gaussian(t: Any, f: Any) -> Any:
    return f.exp(-0.5 * t)


def _exponential(t: Any, f: Any) -> Any:
    return f.exp(-f.sqrt(t))


def _matern32(t: Any, f: Any) -> Any:
    distance = f.sqrt(3.0 * t)
    return (1.0 + distance) * f.exp(-distance)


def _matern52(t: Any, f: Any) -> Any:
    distance = f.sqrt(5.0 * t)
    return (1.0 + distance + (5.0 / 3.0) * t) * f.exp(-distance)


_MATERN = {0.5: _exponential, 1.5: _matern32, 2.5: _matern52, math.inf: _gaussian}

# By name, length_scale = 1 / sqrt(2 gamma), so that gamma means the same as in the RBF kernel
# exp(-gamma |x - z|^2).
register_kernel(
    RBF,
    names={"rbf": lambda gamma, degree, coef0: RBF(1.0 / math.sqrt(2.0 * gamma))},
    aliases={"gauss": "rbf", "gaussian": "rbf", "squared_exponential": "rbf"},
    decays=True,
    learns_length_scales=True,
    dictionary=GaussianDictionary,
    adapter=_GaussianAdapter,
)
register_kernel(
    Matern,
    names={
        "matern32": lambda gamma, degree, coef0: Matern(1.0 / math.sqrt(2.0 * gamma), nu=1.5),
        "matern52": lambda gamma, degree, coef0: Matern(1.0 / math.sqrt(2.0 * gamma), nu=2.5),
    },
    aliases={"matern": "matern52"},
    decays=True,
    learns_length_scales=True,
    adapter=_MaternAdapter,
)
register_kernel(
    RationalQuadratic,
    names={
        "rational_quadratic": lambda gamma, degree, coef0: RationalQuadratic(
            1.0 / math.sqrt(2.0 * gamma)
        )
    },
    aliases={"rq": "rational_quadratic"},
    decays=True,
    learns_length_scales=True,
    adapter=_RationalQuadraticAdapter,
)
register_kernel(DotProduct, adapter=_DotProductAdapter)
register_kernel(Product, adapter=_ProductAdapter)
for kind in (
    CompoundKernel,
    ConstantKernel,
    Exponentiation,
    ExpSineSquared,
    PairwiseKernel,
    Sum,
    WhiteKernel,
):
    register_kernel(kind)
