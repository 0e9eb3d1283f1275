"""The classical kernels of support vector machines, as kernel objects.

Compared with the functions of `sklearn.metrics.pairwise` they add what is needed to learn a
kernel: the operators ``+``, ``*`` and ``**``, hyper-parameters with bounds, and exact gradients
(Rasmussen & Williams 2006, section 4.2).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from relvec._checks import check_positive
from relvec._typing import Matrix, Vector
from relvec.kernels.definition import KernelProfile, format_parameter, register_kernel

__all__ = ["Cosine", "Laplacian", "Linear", "Polynomial", "Sigmoid"]


def _as_rows(X: Any) -> Matrix:
    return np.atleast_2d(np.asarray(X, dtype=np.float64))


class _ParameterFreeKernel(Kernel):
    """Inner product of feature vectors, without hyper-parameters."""

    def __init__(self) -> None:
        # scikit-learn reads the parameters from the signature of __init__; the one inherited from
        # `object` has varargs, which it refuses.
        super().__init__()

    def __call__(
        self, X: Any, Y: Any = None, eval_gradient: bool = False
    ) -> Matrix | tuple[Matrix, np.ndarray]:
        """Evaluate the kernel between the rows of `X` and of `Y` (None means `X`)."""
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        left = self._features(_as_rows(X))
        right = left if Y is None else self._features(_as_rows(Y))
        value: Matrix = left @ right.T
        return (value, np.empty((*value.shape, 0))) if eval_gradient else value

    @abstractmethod
    def _features(self, X: Matrix) -> Matrix:
        """Return the feature vectors whose inner product is the kernel."""

    def diag(self, X: Any) -> Vector:
        """Return ``k(x, x)`` for every row of `X`."""
        features = self._features(_as_rows(X))
        result: Vector = np.einsum("ij,ij->i", features, features)
        return result

    def is_stationary(self) -> bool:
        """Return False: the kernel depends on the origin of the inputs."""
        return False

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Linear(_ParameterFreeKernel):
    """Linear kernel, the inner product ``x . z``.

    Examples
    --------
    >>> from relvec.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    measure = "product"

    def _features(self, X: Matrix) -> Matrix:
        return X

    def slope(self, X: Matrix, Z: Matrix, E: Matrix) -> Matrix:
        """Return `E`: the derivative with respect to the inner product is one."""
        return E

    def profile(self) -> KernelProfile:
        """Return the kernel as a function of the inner product."""
        return KernelProfile("linear", "product", lambda t, f: t)


class Cosine(_ParameterFreeKernel):
    """Cosine of the angle between two inputs; zero if either is the origin.

    Examples
    --------
    >>> from relvec.kernels import Cosine
    >>> Cosine()([[1.0, 0.0]], [[3.0, 0.0], [0.0, 2.0]])
    array([[1., 0.]])
    """

    def _features(self, X: Matrix) -> Matrix:
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        # The origin has no direction: its features stay zero, and so does the kernel.
        norms[norms == 0] = 1.0
        directions: Matrix = X / norms
        return directions


class _GammaKernel(Kernel):
    """A kernel ``value(gamma * argument)`` whose only learnable hyper-parameter is `gamma`."""

    gamma: float
    gamma_bounds: tuple[float, float] | str

    @property
    def hyperparameter_gamma(self) -> Any:
        """Name, kind and bounds of gamma."""
        return Hyperparameter("gamma", "numeric", self.gamma_bounds)

    def __call__(
        self, X: Any, Y: Any = None, eval_gradient: bool = False
    ) -> Matrix | tuple[Matrix, np.ndarray]:
        """Evaluate the kernel, optionally with its gradient with respect to log gamma.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Left inputs.
        Y : array-like of shape (n_samples_Y, n_features), default=None
            Right inputs; None means `X`.
        eval_gradient : bool, default=False
            Also return the derivative; `Y` must be None.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Y)
        K_gradient : ndarray of shape (n_samples_X, n_samples_X, n_dims)
            Only if `eval_gradient` is True.
        """
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        check_positive(f"gamma of {type(self).__name__}", self.gamma)
        left = _as_rows(X)
        scaled = self.gamma * self._argument(left, left if Y is None else _as_rows(Y))
        value = self._value(scaled)
        if not eval_gradient:
            return value
        if self.hyperparameter_gamma.fixed:
            return value, np.empty((*value.shape, 0))
        # d value / d log(gamma) = scaled * value'(scaled)
        return value, (scaled * self._slope(scaled))[:, :, np.newaxis]

    @abstractmethod
    def _argument(self, left: Matrix, right: Matrix) -> Matrix:
        """Return the argument that gamma multiplies: a distance or an inner product."""

    @abstractmethod
    def _value(self, scaled: Matrix) -> Matrix:
        """Return the kernel as a function of gamma times the argument."""

    @abstractmethod
    def _slope(self, scaled: Matrix) -> Matrix:
        """Return the derivative of `_value`."""


class _InnerProductKernel(_GammaKernel):
    """A function of ``gamma x . z + coef0``."""

    coef0: float
    measure = "product"

    def slope(self, X: Matrix, Z: Matrix, E: Matrix) -> Matrix:
        """Return `E` times the derivative with respect to the inner product."""
        # The inner product x . z is multiplied by gamma inside: dk / d(x . z) = gamma value'.
        result: Matrix = E * self.gamma * self._slope(self.gamma * (X @ Z.T))
        return result

    def _argument(self, left: Matrix, right: Matrix) -> Matrix:
        product: Matrix = left @ right.T
        return product

    def diag(self, X: Any) -> Vector:
        """Return ``k(x, x)`` for every row of `X`."""
        rows = _as_rows(X)
        return self._value(self.gamma * np.einsum("ij,ij->i", rows, rows))

    def is_stationary(self) -> bool:
        """Return False: the kernel depends on the origin of the inputs."""
        return False


class Laplacian(_GammaKernel):
    """Laplacian kernel, ``exp(-gamma * sum |x - z|)``.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse length-scale of the sum of absolute differences.
    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Range in which `gamma` may be learnt.

    Examples
    --------
    >>> from relvec.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0], [2.0]], [[0.0]])
    array([[1.        ],
           [0.36787944]])
    """

    def __init__(
        self, gamma: float = 1.0, gamma_bounds: tuple[float, float] | str = (1e-5, 1e5)
    ) -> None:
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds

    measure = "absolute"

    @property
    def rate(self) -> float:
        """Return `gamma`: the kernel is ``exp(-rate * sum |x - z|)``."""
        return float(self.gamma)

    def profile(self) -> KernelProfile:
        """Return the kernel as a function of the sum of absolute differences."""
        return KernelProfile("Laplacian", "absolute", lambda t, f: f.exp(-t), float(self.gamma))

    def _argument(self, left: Matrix, right: Matrix) -> Matrix:
        distance: Matrix = cdist(left, right, "cityblock")
        return distance

    def _value(self, scaled: Matrix) -> Matrix:
        return np.exp(-scaled)

    def _slope(self, scaled: Matrix) -> Matrix:
        return -np.exp(-scaled)

    def diag(self, X: Any) -> Vector:
        """Return ``k(x, x)``, one for every row of `X`."""
        return np.ones(len(_as_rows(X)))

    def is_stationary(self) -> bool:
        """Return True: the kernel depends on the difference of the inputs only."""
        return True

    def __repr__(self) -> str:
        return f"Laplacian(gamma={format_parameter(self.gamma)})"


class Polynomial(_InnerProductKernel):
    """Polynomial kernel, ``(gamma x . z + coef0)**degree``.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the inner product.
    degree : int, default=3
        Exponent.
    coef0 : float, default=1.0
        Constant added to the inner product.
    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Range in which `gamma` may be learnt.

    Examples
    --------
    >>> from relvec.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    def __init__(
        self,
        gamma: float = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        gamma_bounds: tuple[float, float] | str = (1e-5, 1e5),
    ) -> None:
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.gamma_bounds = gamma_bounds

    def _value(self, scaled: Matrix) -> Matrix:
        result: Matrix = (scaled + self.coef0) ** self.degree
        return result

    def profile(self) -> KernelProfile:
        """Return the kernel as a function of the inner product."""
        degree, constant = float(self.degree), float(self.coef0)
        return KernelProfile(
            f"polynomial degree={self.degree}",
            "product",
            lambda t, f: f.power(t + constant, degree),
            # Features are multiplied by sqrt(gamma) on both sides: the inner product by gamma.
            math.sqrt(self.gamma),
        )

    def _slope(self, scaled: Matrix) -> Matrix:
        # d (s + c)^p / ds = p (s + c)^(p - 1).
        result: Matrix = self.degree * (scaled + self.coef0) ** (self.degree - 1)
        return result

    def __repr__(self) -> str:
        return (
            f"Polynomial(gamma={format_parameter(self.gamma)}, degree={self.degree}, "
            f"coef0={format_parameter(self.coef0)})"
        )


class Sigmoid(_InnerProductKernel):
    """Sigmoid kernel, ``tanh(gamma x . z + coef0)``. Not positive definite.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=1.0
        Constant added to the inner product.
    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Range in which `gamma` may be learnt.

    Examples
    --------
    >>> from relvec.kernels import Sigmoid
    >>> Sigmoid(coef0=0.0)([[0.0]], [[1.0]])
    array([[0.]])
    """

    def __init__(
        self,
        gamma: float = 1.0,
        coef0: float = 1.0,
        gamma_bounds: tuple[float, float] | str = (1e-5, 1e5),
    ) -> None:
        self.gamma = gamma
        self.coef0 = coef0
        self.gamma_bounds = gamma_bounds

    def _value(self, scaled: Matrix) -> Matrix:
        return np.tanh(scaled + self.coef0)

    def profile(self) -> KernelProfile:
        """Return the kernel as a function of the inner product."""
        constant, factor = float(self.coef0), math.sqrt(self.gamma)
        return KernelProfile("sigmoid", "product", lambda t, f: f.tanh(t + constant), factor)

    def _slope(self, scaled: Matrix) -> Matrix:
        # tanh' = 1 - tanh^2.
        return 1.0 - np.tanh(scaled + self.coef0) ** 2

    def __repr__(self) -> str:
        return (
            f"Sigmoid(gamma={format_parameter(self.gamma)}, coef0={format_parameter(self.coef0)})"
        )


register_kernel(
    Laplacian,
    names={"laplacian": lambda gamma, degree, coef0: Laplacian(gamma)},
    aliases={"exponential": "laplacian"},
    decays=True,
    learns_length_scales=True,
)
register_kernel(Polynomial, names={"polynomial": Polynomial, "poly": Polynomial})
register_kernel(
    Sigmoid,
    names={"sigmoid": lambda gamma, degree, coef0: Sigmoid(gamma, coef0)},
    aliases={"tanh": "sigmoid"},
)
register_kernel(Linear, names={"linear": lambda gamma, degree, coef0: Linear()})
register_kernel(Cosine, names={"cosine": lambda gamma, degree, coef0: Cosine()})
