"""Spline kernels, which scikit-learn does not have.

Kernels of a relevance vector machine need not be positive definite, so the thin-plate spline can
be used, which is only conditionally positive definite.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import xlogy
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from relvec._checks import check_positive
from relvec._typing import Matrix, Vector
from relvec.kernels.definition import KernelProfile, format_parameter, register_kernel

__all__ = ["LinearSpline", "ThinPlateSpline"]


class _LengthScaleKernel(Kernel):
    """A kernel of inputs divided by one length-scale."""

    def __init__(
        self,
        length_scale: float = 1.0,
        length_scale_bounds: tuple[float, float] | str = (1e-5, 1e5),
    ) -> None:
        self.length_scale = length_scale
        self.length_scale_bounds = length_scale_bounds

    @property
    def hyperparameter_length_scale(self) -> Any:
        """Name, kind and bounds of the length-scale."""
        return Hyperparameter("length_scale", "numeric", self.length_scale_bounds)

    def __call__(
        self, X: Any, Y: Any = None, eval_gradient: bool = False
    ) -> Matrix | tuple[Matrix, np.ndarray]:
        """Evaluate the kernel between the rows of `X` and of `Y`.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Left inputs.
        Y : array-like of shape (n_samples_Y, n_features), default=None
            Right inputs; None means `X`.
        eval_gradient : bool, default=False
            Also return the derivative with respect to the logarithm of the length-scale.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Y)
        K_gradient : ndarray of shape (n_samples_X, n_samples_X, n_dims)
            Only if `eval_gradient` is True.
        """
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        left = self._scaled(X)
        right = left if Y is None else self._scaled(Y)
        if not eval_gradient:
            return self._value(left, right)
        value, slope = self._value_and_slope(left)
        if self.hyperparameter_length_scale.fixed:
            return value, np.empty((*value.shape, 0))
        return value, slope[:, :, np.newaxis]

    def _scaled(self, X: Any) -> Matrix:
        scale = check_positive(f"length_scale of {type(self).__name__}", self.length_scale)
        return np.atleast_2d(np.asarray(X, dtype=np.float64)) / scale

    @abstractmethod
    def _value(self, left: Matrix, right: Matrix) -> Matrix:
        """Kernel of inputs in units of the length-scale."""

    @abstractmethod
    def _value_and_slope(self, inputs: Matrix) -> tuple[Matrix, Matrix]:
        """Kernel of all pairs, and its derivative with respect to the log length-scale."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(length_scale={format_parameter(self.length_scale)})"


class LinearSpline(_LengthScaleKernel):
    """Linear spline kernel: the product over the features of univariate linear splines.

    With `x` and `z` divided by the length-scale, the factor of each feature is (Tipping 2001,
    eq. 29)::

        1 + x z + x z min(x, z) - (x + z) / 2 * min(x, z)**2 + min(x, z)**3 / 3

    As a function of `x` it is cubic between the origin and the centre `z`, and linear beyond it.

    Parameters
    ----------
    length_scale : float, default=1.0
        Length-scale by which the inputs are divided.
    length_scale_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Range in which `length_scale` may be learnt.

    References
    ----------
    M. E. Tipping (2001). Sparse Bayesian learning and the relevance vector machine.
    Journal of Machine Learning Research 1, 211-244.

    Examples
    --------
    >>> from relvec.kernels import LinearSpline
    >>> LinearSpline()([[1.0], [2.0]], [[1.0]])
    array([[2.33333333],
           [3.83333333]])
    """

    def diag(self, X: Any) -> Vector:
        """Return ``k(x, x)`` for every row of `X`."""
        scaled = self._scaled(X)
        # x = z in eq. 29: 1 + x^2 + x^3 - x^3 + x^3 / 3.
        result: Vector = np.prod(1.0 + scaled**2 * (1.0 + scaled / 3.0), axis=1)
        return result

    def is_stationary(self) -> bool:
        """Return False: the kernel depends on the origin of the inputs."""
        return False

    def _value(self, left: Matrix, right: Matrix) -> Matrix:
        value = np.ones((len(left), len(right)))
        for x, z in zip(left.T, right.T, strict=True):
            quadratic, cubic = _spline_terms(x, z)
            quadratic += cubic
            quadratic += 1.0
            value *= quadratic
        return value

    def _value_and_slope(self, inputs: Matrix) -> tuple[Matrix, Matrix]:
        value = np.ones((len(inputs), len(inputs)))
        slope = np.zeros_like(value)
        for x in inputs.T:
            quadratic, cubic = _spline_terms(x, x)
            factor = 1.0 + quadratic + cubic
            # Product rule, accumulated factor by factor: no division by a factor that may vanish.
            # A term of degree p in inputs / l has the log-derivative -p with respect to l.
            slope = slope * factor - value * (2.0 * quadratic + 3.0 * cubic)
            value *= factor
        return value, slope


def _spline_terms(x: Vector, z: Vector) -> tuple[Matrix, Matrix]:
    """Return the terms of degree two and three of the linear spline of one feature.

    With ``m = min(x, z)`` and ``M = max(x, z)``, the quadratic term is ``m M`` and the cubic terms
    of Tipping (2001), eq. 29, simplify to ``m^2 (3 M - m) / 6``.
    """
    smaller = np.minimum.outer(x, z)
    larger = np.maximum.outer(x, z)
    quadratic = smaller * larger
    # In place, as the matrix may be large: m^2 (3 M - m) / 6.
    larger *= 3.0
    larger -= smaller
    larger /= 6.0
    larger *= smaller
    larger *= smaller
    return quadratic, larger


class ThinPlateSpline(_LengthScaleKernel):
    """Thin-plate spline kernel, ``(d / r)**2 log(d / r)`` with `d` the Euclidean distance.

    The kernel is zero at zero distance. It is only conditionally positive definite, which a
    relevance vector machine does not require.

    Parameters
    ----------
    length_scale : float, default=1.0
        The distance `r` at which the kernel changes sign.
    length_scale_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Range in which `length_scale` may be learnt.

    Examples
    --------
    >>> from relvec.kernels import ThinPlateSpline
    >>> ThinPlateSpline(length_scale=1.0)([[0.0], [1.0], [2.0]], [[0.0]])
    array([[0.        ],
           [0.        ],
           [2.77258872]])
    """

    def diag(self, X: Any) -> Vector:
        """Return ``k(x, x)``, zero for every row of `X`."""
        return np.zeros(len(np.atleast_2d(X)))

    def is_stationary(self) -> bool:
        """Return True: the kernel depends on the distance only."""
        return True

    def profile(self) -> KernelProfile:
        """Return the kernel as a function of the squared distance."""
        # Keeps log(0) finite: below any relevant squared distance, and normal in single precision.
        tiny = 1e-37
        return KernelProfile(
            "thin-plate spline",
            "squared",
            lambda t, f: 0.5 * t * f.log(f.maximum(t, tiny)),
            1.0 / float(self.length_scale),
        )

    def _value(self, left: Matrix, right: Matrix) -> Matrix:
        squared = cdist(left, right, "sqeuclidean")
        # d^2 log d = (d^2 log d^2) / 2 needs no square root; xlogy(0, 0) is 0.
        value: Matrix = xlogy(squared, squared)
        value *= 0.5
        return value

    def _value_and_slope(self, inputs: Matrix) -> tuple[Matrix, Matrix]:
        squared = cdist(inputs, inputs, "sqeuclidean")
        value: Matrix = 0.5 * xlogy(squared, squared)
        # With r = d / l: d(r^2 log r) / d log l = -(2 r^2 log r + r^2).
        return value, -(2.0 * value + squared)


register_kernel(
    LinearSpline,
    names={
        "linear_spline": lambda gamma, degree, coef0: LinearSpline(1.0 / math.sqrt(2.0 * gamma))
    },
    aliases={"lspline": "linear_spline"},
)
register_kernel(
    ThinPlateSpline,
    names={
        "thin_plate_spline": lambda gamma, degree, coef0: ThinPlateSpline(
            1.0 / math.sqrt(2.0 * gamma)
        )
    },
    aliases={"tpspline": "thin_plate_spline"},
)
