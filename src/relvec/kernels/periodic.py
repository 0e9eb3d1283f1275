"""Periodic kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel, StationaryKernelMixin

from relvec._checks import check_positive
from relvec._typing import Matrix, Vector
from relvec.kernels.definition import format_parameter, register_kernel

__all__ = ["Periodic"]


class Periodic(StationaryKernelMixin, Kernel):
    """Periodic kernel, ``exp(-2 sum sin(pi (x - z) / period)**2 / length_scale**2)``.

    Rasmussen & Williams (2006), eq. 4.31, with a sum over the features, which makes it a covariance
    function for any number of features; scikit-learn's `ExpSineSquared` is one for a single feature
    only. By name, ``kernel="periodic"`` has length-scale 1 and period ``pi * sqrt(2 / gamma)``;
    near its centre it then agrees with ``exp(-gamma |x - z|^2)`` to second order.

    Parameters
    ----------
    length_scale : float, default=1.0
        Length-scale; the smaller, the more functions vary within a period.
    period : float, default=1.0
        Period along every feature.
    length_scale_bounds, period_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Ranges in which the hyper-parameters may be learnt.

    Examples
    --------
    >>> from relvec.kernels import Periodic
    >>> Periodic(period=7.0)([[0.0], [3.5], [7.0]], [[0.0]]).round(3)
    array([[1.   ],
           [0.135],
           [1.   ]])
    """

    def __init__(
        self,
        length_scale: float = 1.0,
        period: float = 1.0,
        length_scale_bounds: tuple[float, float] | str = (1e-5, 1e5),
        period_bounds: tuple[float, float] | str = (1e-5, 1e5),
    ) -> None:
        self.length_scale = length_scale
        self.period = period
        self.length_scale_bounds = length_scale_bounds
        self.period_bounds = period_bounds

    @property
    def hyperparameter_length_scale(self) -> Any:
        """Name, kind and bounds of the length-scale."""
        return Hyperparameter("length_scale", "numeric", self.length_scale_bounds)

    @property
    def hyperparameter_period(self) -> Any:
        """Name, kind and bounds of the period."""
        return Hyperparameter("period", "numeric", self.period_bounds)

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
        length = check_positive("length_scale of Periodic", self.length_scale)
        period = check_positive("period of Periodic", self.period)
        left = np.atleast_2d(np.asarray(X, dtype=np.float64)) * (math.pi / period)
        right = left
        if Y is not None:
            right = np.atleast_2d(np.asarray(Y, dtype=np.float64)) * (math.pi / period)
        phases = [np.subtract.outer(x, z) for x, z in zip(left.T, right.T, strict=True)]
        # sin^2 has the period pi in the phase, hence pi (x - z) / period rather than 2 pi.
        squares: Matrix = np.sum([np.square(np.sin(phase)) for phase in phases], axis=0)
        value: Matrix = np.exp((-2.0 / length**2) * squares)
        if not eval_gradient:
            return value
        # k = exp(-2 S / l^2) with S = sum sin(phase)^2 and phase = pi (x - z) / period:
        # dk / d log l = 4 S k / l^2 and dk / d log period = 2 sum(phase sin(2 phase)) k / l^2.
        by_period = np.sum([phase * np.sin(2.0 * phase) for phase in phases], axis=0)
        both = {"length_scale": 4.0 * squares, "period": 2.0 * by_period}
        free = [both[each.name] for each in self.hyperparameters if not each.fixed]
        slopes = np.array(free).reshape(-1, *value.shape) * value / length**2
        return value, np.moveaxis(slopes, 0, 2)

    def diag(self, X: Any) -> Vector:
        """Return ``k(x, x)``, one for every row of `X`."""
        return np.ones(len(np.atleast_2d(X)))

    def __repr__(self) -> str:
        length, period = format_parameter(self.length_scale), format_parameter(self.period)
        return f"Periodic(length_scale={length}, period={period})"


register_kernel(
    Periodic,
    names={
        "periodic": lambda gamma, degree, coef0: Periodic(period=math.pi * math.sqrt(2.0 / gamma))
    },
    aliases={"exp_sine_squared": "periodic", "cosine_periodic": "periodic"},
)
