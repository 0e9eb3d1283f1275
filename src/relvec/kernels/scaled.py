"""Kernels with one scale per feature (automatic relevance determination)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from relvec._typing import Matrix, Vector
from relvec.kernels.definition import (
    KernelProfile,
    format_parameter,
    get_kernel_property,
    register_kernel,
)
from relvec.kernels.transformed import TransformedInputsKernel

__all__ = ["ScaledInputs", "accepts_any_n_features", "scale_features"]


class ScaledInputs(TransformedInputsKernel):
    """A kernel with one scale per feature: ``k(sqrt(scale) * x, sqrt(scale) * z)``.

    `scale` holds the input scales ``eta`` of Tipping (2001), eq. 52. For an `RBF` kernel of
    length-scale one, the length-scale of a feature is ``1 / sqrt(scale)``, as in the ARD kernel of
    Rasmussen & Williams (2006), eq. 5.1. A feature of scale zero has no influence and costs nothing
    to evaluate.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the scaled inputs. `theta` holds its hyper-parameters, not the scales.
    scale : array-like of shape (n_features,)
        Non-negative scale of each feature.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import ScaledInputs
    >>> kernel = ScaledInputs(RBF(1.0), [4.0, 0.0])
    >>> kernel([[0.0, 0.0]], [[0.5, 99.0]])
    array([[0.60653066]])
    """

    def __init__(self, kernel: Kernel, scale: Any) -> None:
        self.kernel = kernel
        self.scale = scale

    def scaled(self, X: Any) -> Matrix:
        """Return the features of positive scale, multiplied by the square roots of their scales."""
        scale = np.asarray(self.scale, dtype=np.float64)
        if scale.ndim != 1 or not np.isfinite(scale).all() or (scale < 0.0).any():
            raise ValueError(
                f"scale must hold one finite, non-negative number per feature; got {self.scale!r}."
            )
        X = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if X.shape[1] != len(scale):
            raise ValueError(
                f"X has {X.shape[1]} features, but the kernel has scales for {len(scale)}."
            )
        return scale_features(self.kernel, scale, X)

    _transformed = scaled

    def profile(self) -> KernelProfile | None:
        """Return the profile of the inner kernel with its features scaled, or None."""
        profile = get_kernel_property(self.kernel, "profile")
        inner = None if profile is None else profile()
        return None if inner is None else replace(inner, factor=inner.factor * np.sqrt(self.scale))

    def is_stationary(self) -> bool:
        """Whether the inner kernel is stationary."""
        return bool(self.kernel.is_stationary())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ScaledInputs)
            and bool(self.kernel == other.kernel)
            and np.array_equal(np.asarray(self.scale), np.asarray(other.scale))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        scale = np.asarray(self.scale)
        if scale.size <= 6:
            inside = format_parameter(scale)
        else:
            inside = f"{np.count_nonzero(scale)} of {scale.size} features"
        return f"ScaledInputs({self.kernel!r}, {inside})"


def scale_features(kernel: Any, scale: Vector, X: Matrix) -> Matrix:
    """Multiply features by the square roots of their scales, and drop those of scale zero.

    Parameters
    ----------
    kernel : Kernel or callable
        The kernel that will be evaluated. If it has one parameter per feature, no feature is
        dropped; those of scale zero become zero.
    scale : ndarray of shape (n_features,)
        Non-negative scales.
    X : ndarray of shape (n_samples, n_features)
        Inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import scale_features
    >>> scale_features(RBF(1.0), np.array([4.0, 0.0]), np.array([[1.0, 7.0], [2.0, 8.0]]))
    array([[2.],
           [4.]])
    """
    has_influence = scale > 0.0
    if has_influence.all() or not accepts_any_n_features(kernel):
        return X * np.sqrt(scale)
    if not has_influence.any():  # all inputs are equal then: the kernel is constant
        # One column of zeros rather than none, which kernels do not accept.
        return np.zeros((len(X), 1))
    # Only for kernels without parameters per feature, which would otherwise lose their columns.
    result: Matrix = X[:, has_influence] * np.sqrt(scale[has_influence])
    return result


def accepts_any_n_features(kernel: Any) -> bool:
    """Whether a kernel accepts any number of features: it has no parameter per feature.

    Nothing is known of plain callables, so they count as not accepting any number.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.kernels import accepts_any_n_features
    >>> accepts_any_n_features(RBF(1.0)), accepts_any_n_features(RBF([1.0, 2.0]))
    (True, False)
    """
    if not isinstance(kernel, Kernel):
        return False
    for name, value in kernel.get_params().items():
        is_parameter = not name.endswith("_bounds") and not isinstance(value, Kernel)
        if is_parameter and (np.size(value) != 1 or callable(value)):
            return False
    return True


register_kernel(ScaledInputs)
