"""A kernel of inputs that are measured on scales of their own."""

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
    """Another kernel of inputs multiplied by the square roots of their scales.

    ``k(sqrt(scale) * x, sqrt(scale) * z)``: for a Gaussian kernel ``scale`` are inverse squared
    widths, eta in Tipping (2001), equation 52. A scale of zero leaves an input out, so that it
    costs nothing to evaluate.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the scaled inputs. Its parameters stay what is learnt by `theta`.
    scale : array-like of shape (n_features,)
        One number for each input, none of them negative.

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
        """Return the inputs that count, each multiplied by the square root of its scale."""
        scale = np.asarray(self.scale, dtype=np.float64)
        if scale.ndim != 1 or not np.isfinite(scale).all() or (scale < 0.0).any():
            raise ValueError(
                "scale must hold one finite number for each input, none of them negative; got "
                f"{self.scale!r}."
            )
        X = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if X.shape[1] != len(scale):
            raise ValueError(
                f"a kernel of {len(scale)} scaled inputs was given {X.shape[1]} of them."
            )
        return scale_features(self.kernel, scale, X)

    _transformed = scaled

    def profile(self) -> KernelProfile | None:
        """Return the inner kernel as a function of one number, if it is one."""
        profile = get_kernel_property(self.kernel, "profile")
        inner = None if profile is None else profile()
        return None if inner is None else replace(inner, factor=inner.factor * np.sqrt(self.scale))

    def is_stationary(self) -> bool:
        """Whether the inner kernel is."""
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
            inside = f"{np.count_nonzero(scale)} of {scale.size} inputs"
        return f"ScaledInputs({self.kernel!r}, {inside})"


def scale_features(kernel: Any, scale: Vector, X: Matrix) -> Matrix:
    """Return inputs multiplied by the square roots of their scales, those of scale zero left out.

    Parameters
    ----------
    kernel : Kernel or callable
        What the result is meant for. A kernel with a parameter for each input gets all of them,
        those that are left out as zeros.
    scale : ndarray of shape (n_features,)
        Scales, none of them negative.
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
    matters = scale > 0.0
    if matters.all() or not accepts_any_n_features(kernel):
        return X * np.sqrt(scale)
    if not matters.any():  # a constant: every input is like every other
        return np.zeros((len(X), 1))
    result: Matrix = X[:, matters] * np.sqrt(scale[matters])
    return result


def accepts_any_n_features(kernel: Any) -> bool:
    """Whether a kernel has no parameter for each input; of functions nothing is known.

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
