"""Transforms of skewed targets: ``z = h(y)`` is modelled instead of the target ``y``.

If ``z`` has the density ``p(z)``, the target has the density ``p(h(y)) h'(y)``. With the logarithm
of the slope ``h'`` added, evidences and predictive densities of different transforms of the same
targets can be compared (Box & Cox 1964; Snelson, Rasmussen & Ghahramani 2004).

All transforms increase, and map their support onto all real numbers, so every Gaussian ``z`` is
that of a target, and mean and variance of the target exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from relvec._typing import BoolArray, Matrix, Vector

__all__ = [
    "IdentityTransform",
    "LogTransform",
    "TargetTransform",
    "YeoJohnsonTransform",
    "expect_over_gaussian",
]

LARGEST_EXPONENT = 345.0
"""Limit of exponents in the inverse of a transform: squares of the result are finite numbers."""


class TargetTransform(Protocol):
    """An increasing function ``h`` of the target.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import LogTransform
    >>> transform = LogTransform()
    >>> transform.inverse(transform.forward(np.array([1.0, 10.0])))
    array([ 1., 10.])
    """

    @property
    def growth_rate(self) -> float:
        """A rate such that the inverse grows at most like ``exp(rate |z|)``."""

    def supports(self, target: Matrix) -> BoolArray:
        """Return where targets are in the range of the inverse."""

    def forward(self, target: Matrix) -> Matrix:
        """Return ``z = h(y)``."""

    def inverse(self, z: Matrix) -> Matrix:
        """Return the target ``y`` with ``h(y) = z``."""

    def log_slope(self, target: Matrix) -> Matrix:
        """Return ``log h'(y)``."""

    def moments(self, mean: Matrix, variance: Matrix) -> tuple[Matrix, Matrix]:
        """Return mean and variance of the target if ``z`` is Gaussian."""


@dataclass(frozen=True)
class IdentityTransform:
    """No transform: ``z = y``.

    Examples
    --------
    >>> from relvec.likelihoods import IdentityTransform
    >>> print(IdentityTransform())
    identity
    """

    @property
    def growth_rate(self) -> float:
        """Zero: the inverse grows linearly."""
        return 0.0

    def supports(self, target: Matrix) -> BoolArray:
        """Return True everywhere."""
        return np.ones(np.shape(target), dtype=bool)

    def forward(self, target: Matrix) -> Matrix:
        """Return the target."""
        return target

    def inverse(self, z: Matrix) -> Matrix:
        """Return ``z``."""
        return z

    def log_slope(self, target: Matrix) -> Matrix:
        """Return zero."""
        return np.zeros(np.shape(target))

    def moments(self, mean: Matrix, variance: Matrix) -> tuple[Matrix, Matrix]:
        """Return mean and variance as they are."""
        return mean, variance

    def __str__(self) -> str:
        return "identity"


@dataclass(frozen=True)
class LogTransform:
    """Logarithm of positive targets, which makes predictive distributions log-normal.

    Predictions are positive, and do not depend on the unit of the target.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import LogTransform
    >>> mean, variance = LogTransform().moments(np.array([0.0]), np.array([1.0]))
    >>> mean.round(3)  # exp(1 / 2)
    array([1.649])
    """

    @property
    def growth_rate(self) -> float:
        """One."""
        return 1.0

    def supports(self, target: Matrix) -> BoolArray:
        """Return where targets are positive."""
        return np.asarray(target) > 0.0

    def forward(self, target: Matrix) -> Matrix:
        """Return ``log y``."""
        return np.log(target)

    def inverse(self, z: Matrix) -> Matrix:
        """Return ``exp z``."""
        return _exp(z)

    def log_slope(self, target: Matrix) -> Matrix:
        """Return ``-log y``."""
        return -np.log(target)

    def moments(self, mean: Matrix, variance: Matrix) -> tuple[Matrix, Matrix]:
        """Return the moments of a log-normal distribution."""
        # E y = exp(m + v / 2); var y = exp(2 m + 2 v) - exp(2 m + v).
        squared = np.exp(np.minimum(2.0 * (mean + variance), 2.0 * LARGEST_EXPONENT))
        return _exp(mean + 0.5 * variance), -np.expm1(-variance) * squared

    def __str__(self) -> str:
        return "log"


@dataclass(frozen=True)
class YeoJohnsonTransform:
    """Power transform of Yeo & Johnson (2000), for targets of any sign.

    With ``u = (y - origin) / scale`` the transform is ``((1 + u)^power - 1) / power`` for positive
    ``u``, and the mirror image with ``2 - power`` for negative ``u``. A power below 1 makes targets
    that are skewed to the right more symmetric, a power above 1 those skewed to the left; 1 is a
    linear function. The transform is not unit free: `scale` is the distance from the origin at
    which it begins to differ from a linear function.

    Parameters
    ----------
    power : float
        Power, often called lambda, from 0 to 2. Beyond these limits the transform has a bounded
        range, and means of targets would not exist.
    origin, scale : float
        Origin and unit of `u`, in units of the target.
    of_log : bool, default=False
        Whether `u` is made from the logarithm of the target, which keeps predictions positive. The
        power is then at least 1: below 1 the inverse grows faster than ``exp(rate |z|)`` at any
        rate, and below 1/2 the mean of the target is infinite. So logarithms that are still skewed
        to the right are not corrected.

    References
    ----------
    I.-K. Yeo, R. A. Johnson (2000), A new family of power transformations to improve normality or
    symmetry, Biometrika 87.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import YeoJohnsonTransform
    >>> transform = YeoJohnsonTransform(power=0.0, origin=0.0, scale=10.0)
    >>> transform.forward(np.array([0.0, 10.0, 100.0])).round(2)  # log(1 + y / 10)
    array([0.  , 0.69, 2.4 ])
    """

    power: float
    origin: float = 0.0
    scale: float = 1.0
    of_log: bool = False

    def __post_init__(self) -> None:
        least = 1.0 if self.of_log else 0.0
        if not (least <= self.power <= 2.0 and 0.0 < self.scale < np.inf):
            raise ValueError(
                f"A Yeo-Johnson transform needs a power between {least:g} and 2 and a positive "
                f"scale; got {self.power:g} and {self.scale:g}."
            )

    @property
    def growth_rate(self) -> float:
        """The scale of logarithms, else one."""
        return self.scale if self.of_log else 1.0

    def supports(self, target: Matrix) -> BoolArray:
        """Return where targets are positive, if the logarithm is transformed; else True."""
        return np.asarray(target) > 0.0 if self.of_log else np.ones(np.shape(target), dtype=bool)

    def _standardise(self, target: Matrix) -> Matrix:
        return ((np.log(target) if self.of_log else target) - self.origin) / self.scale

    def forward(self, target: Matrix) -> Matrix:
        """Return the transformed targets."""
        u = self._standardise(target)
        power, log_distance = self._side_power(u), np.log1p(np.abs(u))
        size = np.where(power > 0.0, np.expm1(power * log_distance) / _positive(power), 0.0)
        return np.sign(u) * np.where(power > 0.0, size, log_distance)

    def inverse(self, z: Matrix) -> Matrix:
        """Return the targets of transformed values."""
        power, size = self._side_power(z), np.abs(z)
        log_distance = np.where(power > 0.0, np.log1p(power * size) / _positive(power), size)
        u = np.sign(z) * np.expm1(np.minimum(log_distance, LARGEST_EXPONENT))
        value = self.origin + self.scale * u
        return _exp(value) if self.of_log else value

    def log_slope(self, target: Matrix) -> Matrix:
        """Return the log derivative at targets."""
        u = self._standardise(target)
        slope: Matrix = (self._side_power(u) - 1.0) * np.log1p(np.abs(u)) - np.log(self.scale)
        return slope - np.log(target) if self.of_log else slope

    def _side_power(self, value: Matrix) -> Matrix:
        """Return the power of the side of the origin on which each value is."""
        power = np.where(np.asarray(value) >= 0.0, self.power, 2.0 - self.power)
        # Below 1e-8 the power of a number differs from one by rounding errors only: use the limit,
        # the logarithm.
        return np.where(power < 1e-8, 0.0, power)

    def moments(self, mean: Matrix, variance: Matrix) -> tuple[Matrix, Matrix]:
        """Return mean and variance of the target, by quadrature."""
        return expect_over_gaussian(self.inverse, mean, np.sqrt(variance), self.growth_rate)

    def __str__(self) -> str:
        name = "log, then Yeo-Johnson" if self.of_log else "Yeo-Johnson"
        return f"{name} (power {self.power:.2f}, origin {self.origin:.4g}, scale {self.scale:.4g})"


def expect_over_gaussian(
    function: Callable[[Matrix], Matrix],
    mean: Matrix,
    std: Matrix,
    rate: float,
    n_nodes: int = 161,
) -> tuple[Matrix, Matrix]:
    """Return mean and variance of a function of Gaussian values, by the trapezoidal rule.

    Parameters
    ----------
    function : callable
        Function of an array of values; smooth, and growing at most like ``exp(rate |z|)``.
    mean, std : ndarray
        Mean and standard deviation of the values.
    rate : float
        Rate of growth.
    n_nodes : int, default=161
        Number of nodes.
    """
    # exp(2 rate z) N(z | m, s^2) has its peak at m + 2 rate s^2, which is 2 rate s standard
    # deviations from the mean; nine more hold all of the mass. The trapezoidal rule converges
    # exponentially for analytic integrands that decay at both ends.
    reach = 9.0 + np.minimum(2.0 * rate * std, 60.0)
    nodes = np.linspace(-1.0, 1.0, n_nodes)
    total: Matrix = np.zeros(np.broadcast_shapes(np.shape(mean), np.shape(std)))
    first, second = total.copy(), total.copy()
    centre = function(mean)  # subtracted, so that small variances do not cancel
    for node in nodes:
        weight = np.exp(-0.5 * (reach * node) ** 2)
        away = function(mean + std * reach * node) - centre
        total += weight
        first += weight * away
        second += weight * away**2
    shift = first / total
    return centre + shift, np.maximum(second / total - shift**2, 0.0)


def _exp(value: Matrix) -> Matrix:
    """Exponential of values up to `LARGEST_EXPONENT`."""
    result: Matrix = np.exp(np.minimum(value, LARGEST_EXPONENT))
    return result


def _positive(power: Vector) -> Vector:
    """Return powers, with one in place of zero, for divisions whose result is not used."""
    return np.where(power > 0.0, power, 1.0)
