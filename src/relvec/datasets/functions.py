"""Regression problems with known functions and relevant features, to test feature selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import qmc
from sklearn.utils import check_random_state

from relvec._checks import check_finite_input, check_integer, check_positive
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.datasets.two_classes import Seed, draw_dataset

__all__ = ["RegressionTruth", "make_friedman", "make_sinc_and_line"]


def _friedman_1(X: Matrix) -> Vector:
    wave = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1])
    values: Vector = wave + 20.0 * (X[:, 2] - 0.5) ** 2 + 10.0 * X[:, 3] + 5.0 * X[:, 4]
    return values


def _reactance(X: Matrix) -> Vector:
    values: Vector = X[:, 1] * X[:, 2] - 1.0 / (X[:, 1] * X[:, 3])
    return values


def _friedman_2(X: Matrix) -> Vector:
    values: Vector = np.hypot(X[:, 0], _reactance(X))
    return values


def _friedman_3(X: Matrix) -> Vector:
    # arctan(u / x1) for x1 >= 0; arctan2 gives its limit at x1 = 0.
    values: Vector = np.arctan2(_reactance(X), X[:, 0])
    return values


def _sinc_and_line(X: Matrix) -> Vector:
    values: Vector = np.sinc(X[:, 0] / np.pi) + 0.1 * X[:, 1]
    return values


CIRCUIT = ((0.0, 100.0), (40.0 * np.pi, 560.0 * np.pi), (0.0, 1.0), (1.0, 11.0))
"""Ranges of the resistance, the frequency, the inductance and the capacitance."""
FRIEDMAN: dict[int, tuple[Callable[[Matrix], Vector], tuple[tuple[float, float], ...], int]] = {
    1: (_friedman_1, ((0.0, 1.0),) * 5, 10),
    2: (_friedman_2, CIRCUIT, 4),
    3: (_friedman_3, CIRCUIT, 4),
}
"""Function, ranges of the relevant features, and usual number of features."""


@dataclass(frozen=True, eq=False)
class RegressionTruth:
    """Distribution of regression data: a function of uniform features plus Gaussian noise.

    `make_friedman` and `make_sinc_and_line` return it with ``return_truth=True``. Call it to get
    values without noise.

    Parameters
    ----------
    function : callable
        Maps inputs of shape (n_samples, n_features) to values of shape (n_samples,).
    low, high : ndarray of shape (n_features,)
        Ends of the interval on which each feature is uniform.
    relevant : ndarray of shape (n_relevant,)
        Indices of the features that the function depends on.
    noise_std : float
        Standard deviation of the noise.

    Examples
    --------
    >>> from relvec.datasets import make_sinc_and_line
    >>> X, y, truth = make_sinc_and_line(random_state=0, return_truth=True)
    >>> truth([[0.0, 0.0], [0.0, 10.0]])
    array([1., 2.])
    >>> X_test, y_test = truth.sample(1000, random_state=1)
    """

    function: Callable[[Matrix], Vector]
    low: Vector
    high: Vector
    relevant: IndexArray
    noise_std: float

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.low)

    def __call__(self, X: ArrayLike) -> Vector:
        """Return values without noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        check_finite_input(X, "X")
        inputs = np.asarray(X, dtype=np.float64)
        if inputs.ndim != 2 or inputs.shape[1] != self.n_features:
            raise ValueError(
                f"X must have shape (n_samples, {self.n_features}); got shape {inputs.shape}."
            )
        return self.function(inputs)

    def sample(self, n_samples: int, *, random_state: Seed = None) -> tuple[Matrix, Vector]:
        """Draw data.

        Parameters
        ----------
        n_samples : int
            Number of rows, at least 1.
        random_state : int, RandomState or None, default=None
            Seed of the data.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            Values with noise.
        """
        n_samples = check_integer("n_samples", n_samples, minimum=1)
        random = check_random_state(random_state)
        X: Matrix = random.uniform(self.low, self.high, size=(n_samples, self.n_features))
        return X, self.function(X) + self.noise_std * random.standard_normal(n_samples)


def make_friedman(
    kind: int = 1,
    n_samples: int = 240,
    *,
    n_features: int | None = None,
    noise: float | None = None,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Make data from one of Friedman's three functions, with the noise of Tipping (2001).

    The first is ``10 sin(pi x1 x2) + 20 (x3 - 1/2)**2 + 10 x4 + 5 x5`` of ten features that are
    uniform on [0, 1], half of which are irrelevant; its noise has standard deviation 1. The other
    two are the impedance ``sqrt(x1**2 + u**2)`` and the phase ``arctan(u / x1)`` of a circuit, with
    ``u = x2 x3 - 1 / (x2 x4)`` and features uniform on [0, 100], [40 pi, 560 pi], [0, 1], [1, 11].
    The standard deviation of their noise is a third of the standard deviation of the function:
    126.3 and 0.1055.

    Parameters
    ----------
    kind : {1, 2, 3}, default=1
        Which function.
    n_samples : int, default=240
        Number of rows.
    n_features : int, optional
        Number of features; 10, 4 and 4 by default. The first 5, 4 and 4 are relevant; all others
        are uniform on [0, 1].
    noise : float, optional
        Standard deviation of the noise, instead of Tipping's; zero for none.
    random_state : int, RandomState or None, default=None
        Seed of the data.
    return_truth : bool, default=False
        Also return the distribution that the data were drawn from.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Values with noise.
    truth : RegressionTruth
        The function at any inputs, with `noise_std` and `sample`. Only if `return_truth`.

    See Also
    --------
    sklearn.datasets.make_friedman1 : The first function, without Tipping's noise and the truth.

    References
    ----------
    Friedman (1991), Multivariate adaptive regression splines, The Annals of Statistics 19.

    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, appendix E.1.

    Examples
    --------
    >>> from relvec.datasets import make_friedman
    >>> X, y, truth = make_friedman(2, random_state=0, return_truth=True)
    >>> X.shape, round(truth.noise_std)
    ((240, 4), 126)
    >>> X, y = make_friedman(1, 100, n_features=50, random_state=0)
    >>> X.shape
    (100, 50)
    """
    if kind not in tuple(FRIEDMAN) or isinstance(kind, bool):
        raise ValueError(f"kind must be 1, 2 or 3; got {kind!r}.")
    function, ranges, usual = FRIEDMAN[kind]
    if n_features is None:
        n_features = usual
    n_features = check_integer("n_features", n_features, minimum=len(ranges))
    std = (
        _friedman_noise(kind) if noise is None else check_positive("noise", noise, allow_zero=True)
    )
    low, high = np.array([*ranges, *((0.0, 1.0),) * (n_features - len(ranges))]).T
    truth = RegressionTruth(function, low, high, np.arange(len(ranges)), std)
    return draw_dataset(truth, n_samples, random_state, return_truth)


def make_sinc_and_line(
    n_samples: int = 100,
    *,
    noise: float = 0.1,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Make data from ``sin(x1) / x1 + 0.1 x2``: non-linear in one feature, linear in the other.

    The function is Tipping's (2001). He does not give the distribution of the inputs; here both
    features are uniform on [-10, 10].

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    noise : float, default=0.1
        Standard deviation of the noise; zero for none.
    random_state : int, RandomState or None, default=None
        Seed of the data.
    return_truth : bool, default=False
        Also return the distribution that the data were drawn from.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        Values with noise.
    truth : RegressionTruth
        The function at any inputs, with `noise_std` and `sample`. Only if `return_truth`.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, section 4.3.

    Examples
    --------
    >>> from relvec.datasets import make_sinc_and_line
    >>> X, y = make_sinc_and_line(random_state=0)
    >>> X.shape
    (100, 2)
    """
    ends = np.full(2, 10.0)
    std = check_positive("noise", noise, allow_zero=True)
    truth = RegressionTruth(_sinc_and_line, -ends, ends, np.arange(2), std)
    return draw_dataset(truth, n_samples, random_state, return_truth)


@cache
def _friedman_noise(kind: int) -> float:
    """Return the standard deviation of Tipping's noise."""
    if kind == 1:
        return 1.0
    function, ranges, _ = FRIEDMAN[kind]
    low, high = np.array(ranges).T
    # With 2^16 points the relative error of the standard deviation is 1e-4.
    points = qmc.Sobol(len(ranges), scramble=False).random_base2(16)
    # The first Sobol point is a corner of the cube, where the phase changes fast: shift all points.
    points = (points + np.sqrt([2.0, 3.0, 5.0, 7.0])) % 1.0
    return float(function(low + (high - low) * points).std()) / 3.0
