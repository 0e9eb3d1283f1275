"""Spectral mixture kernel: any stationary kernel, from a Gaussian mixture of its spectrum."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel, StationaryKernelMixin

from relvec._checks import check_finite_block
from relvec._typing import Matrix, Vector
from relvec.kernels.definition import format_parameter, register_kernel

__all__ = ["SpectralMixture"]


class SpectralMixture(StationaryKernelMixin, Kernel):
    """Spectral mixture kernel of Wilson and Adams (2013).

    The spectral density is a mixture of Gaussians, each placed at a frequency and its negative.
    With ``tau = x - z`` the kernel is (Wilson & Adams 2013, eq. 12)::

        sum_q weight_q prod_d exp(-2 pi^2 tau_d^2 variance_qd) cos(2 pi tau_d mean_qd)

    With enough components it approximates any stationary covariance function, by Bochner's theorem
    (Rasmussen & Williams 2006, section 4.2.1). By name, ``kernel="spectral_mixture"`` has three
    components of equal weight that decay like ``exp(-gamma |x - z|^2)``, at frequencies of a
    quarter, one and four standard deviations of their spectral peaks. Pass an object, with
    ``length_scales="kernel"``, to learn weights, frequencies and bandwidths.

    Parameters
    ----------
    weights : array-like of shape (n_components,), default=(1.0,)
        Variance of each component.
    means : array-like of shape (n_components,) or (n_components, n_features), default=(1.0,)
        Frequencies, in cycles per unit of the input; one for all features, or one per feature.
    variances : array-like of the same shape as `means`, default=(1.0,)
        Variances of the spectral peaks (squared bandwidths): the larger, the faster the kernel
        decays.
    weights_bounds, means_bounds, variances_bounds : pair of floats or "fixed"
        Ranges in which the hyper-parameters may be learnt.

    References
    ----------
    A. G. Wilson and R. P. Adams (2013). Gaussian process kernels for pattern discovery and
    extrapolation. International Conference on Machine Learning, 1067-1075.

    Examples
    --------
    >>> from relvec.kernels import SpectralMixture
    >>> kernel = SpectralMixture(weights=[1.0, 0.5], means=[0.5, 3.0], variances=[0.01, 0.1])
    >>> kernel([[0.0], [1.0], [2.0]], [[0.0]]).round(3)
    array([[ 1.5  ],
           [-0.751],
           [ 0.454]])
    """

    def __init__(
        self,
        weights: Any = (1.0,),
        means: Any = (1.0,),
        variances: Any = (1.0,),
        weights_bounds: tuple[float, float] | str = (1e-5, 1e5),
        means_bounds: tuple[float, float] | str = (1e-5, 1e5),
        variances_bounds: tuple[float, float] | str = (1e-5, 1e5),
    ) -> None:
        self.weights = weights
        self.means = means
        self.variances = variances
        self.weights_bounds = weights_bounds
        self.means_bounds = means_bounds
        self.variances_bounds = variances_bounds

    @property
    def hyperparameter_means(self) -> Any:
        """Name, kind and bounds of the frequencies."""
        return self._hyperparameter("means")

    @property
    def hyperparameter_variances(self) -> Any:
        """Name, kind and bounds of the variances of the spectral peaks."""
        return self._hyperparameter("variances")

    @property
    def hyperparameter_weights(self) -> Any:
        """Name, kind and bounds of the weights."""
        return self._hyperparameter("weights")

    def _hyperparameter(self, name: str) -> Any:
        size = max(1, np.size(getattr(self, name)))
        return Hyperparameter(name, "numeric", getattr(self, name + "_bounds"), size)

    @property
    def theta(self) -> Vector:
        """Logarithms of the free hyper-parameters, concatenated."""
        free = [each.name for each in self.hyperparameters if not each.fixed]
        flat = [np.ravel(np.asarray(getattr(self, name), dtype=np.float64)) for name in free]
        return np.log(np.concatenate([*flat, np.empty(0)]))

    @theta.setter
    def theta(self, theta: Vector) -> None:
        Kernel.theta.fset(self, theta)

    def _table(self, name: str, n_features: int | None) -> Matrix:
        """Return a parameter with a row for each component and a column for each feature."""
        values = np.asarray(getattr(self, name), dtype=np.float64)
        n_components = np.size(self.weights)
        if values.size == 0 or values.size % n_components:
            raise ValueError(
                f"{name} of SpectralMixture must hold a number for each of {n_components} "
                f"components, or one for each component and feature; got {values.size} numbers."
            )
        check_finite_block(values, f"{name} of SpectralMixture")
        if (values <= 0.0).any():
            raise ValueError(f"{name} of SpectralMixture must be positive; got {values.min():g}.")
        table = values.reshape(n_components, -1)
        if n_features is not None and table.shape[1] not in (1, n_features):
            raise ValueError(
                f"{name} of SpectralMixture has {table.shape[1]} numbers for each component, but "
                f"the inputs have {n_features} features. Give one, or one for each feature."
            )
        return table

    def __call__(
        self, X: Any, Y: Any = None, eval_gradient: bool = False
    ) -> Matrix | tuple[Matrix, np.ndarray]:
        """Evaluate the kernel, optionally with its gradient in the log hyper-parameters.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Left inputs.
        Y : array-like of shape (n_samples_Y, n_features), default=None
            Right inputs; None means `X`.
        eval_gradient : bool, default=False
            Also return the derivative; `Y` must be None.
        """
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        left = np.atleast_2d(np.asarray(X, dtype=np.float64))
        right = left if Y is None else np.atleast_2d(np.asarray(Y, dtype=np.float64))
        difference = left.T[:, :, np.newaxis] - right.T[:, np.newaxis, :]
        weights = self._table("weights", None)[:, 0]
        means, variances = (
            self._table("means", len(difference)),
            self._table("variances", len(difference)),
        )
        peaks = [
            _Peak.between(difference, *row) for row in zip(weights, means, variances, strict=True)
        ]
        value: Matrix = np.sum([peak.value for peak in peaks], axis=0)
        if not eval_gradient:
            return value
        slopes = [np.empty((0, *value.shape))]
        for each in self.hyperparameters:  # alphabetical, the order of `theta`
            if not each.fixed:
                # With one feature both readings give the same derivative.
                is_shared = each.n_elements == len(peaks)  # one for all features
                slopes += [peak.slopes(each.name, is_shared) for peak in peaks]
        return value, np.moveaxis(np.concatenate(slopes), 0, 2)

    def diag(self, X: Any) -> Vector:
        """Return ``k(x, x)``, the sum of the weights for every row of `X`."""
        return np.full(len(np.atleast_2d(X)), float(self._table("weights", None).sum()))

    def __repr__(self) -> str:
        weights, means, variances = map(
            format_parameter, (self.weights, self.means, self.variances)
        )
        return f"SpectralMixture(weights={weights}, means={means}, variances={variances})"


class _Peak(NamedTuple):
    """One component for all pairs of inputs; in arrays of three axes, features come first."""

    value: Matrix
    envelope: Matrix
    exponents: np.ndarray
    phases: np.ndarray

    @classmethod
    def between(
        cls, difference: np.ndarray, weight: float, mean: Vector, variance: Vector
    ) -> _Peak:
        # Fourier transform of a Gaussian of variance v: exp(-2 pi^2 v tau^2).
        exponents = -2.0 * math.pi**2 * variance[:, np.newaxis, np.newaxis] * difference**2
        phases = 2.0 * math.pi * mean[:, np.newaxis, np.newaxis] * difference
        envelope = weight * np.exp(exponents.sum(axis=0))
        return cls(envelope * np.cos(phases).prod(axis=0), envelope, exponents, phases)

    def slopes(self, name: str, is_shared: bool) -> np.ndarray:
        """Return the derivatives in the log of a hyper-parameter, per feature or shared by all."""
        if name == "weights":
            return self.value[np.newaxis]
        # d exp(e) / d log v = e exp(e), as the exponent e is linear in v.
        each = self._slopes_in_means() if name == "means" else self.value * self.exponents
        return each.sum(axis=0, keepdims=True) if is_shared else each

    def _slopes_in_means(self) -> np.ndarray:
        cosines = np.cos(self.phases)
        # Product rule. The product of the other factors is formed by leaving one out: dividing by
        # it would fail where it is zero.
        others = [np.delete(cosines, k, axis=0).prod(axis=0) for k in range(len(cosines))]
        # d cos(p) / d log m = -p sin(p), as the phase p is linear in m.
        result: np.ndarray = -self.envelope * np.array(others) * np.sin(self.phases) * self.phases
        return result


def _make_named(gamma: float, degree: int, coef0: float) -> SpectralMixture:
    # Solves exp(-2 pi^2 v tau^2) = exp(-gamma tau^2) for v.
    variance = gamma / (2.0 * math.pi**2)
    means = math.sqrt(variance) * np.array([0.25, 1.0, 4.0])
    return SpectralMixture(np.full(3, 1.0 / 3.0), means, np.full(3, variance))


register_kernel(
    SpectralMixture,
    names={"spectral_mixture": _make_named},
    aliases={"sm": "spectral_mixture", "spectral": "spectral_mixture"},
    decays=True,
)
