"""Problems of many inputs of which few matter, or all a little, to test how inputs are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import log_expit
from scipy.stats import qmc
from sklearn.utils import check_random_state

from relvec._checks import check_bool, check_finite_input, check_integer, check_positive
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.datasets.labels import GaussianMixtures, Seed, TwoClassTruth

__all__ = [
    "RegressionTruth",
    "RingTruth",
    "make_friedman",
    "make_ring",
    "make_sinc_and_line",
    "make_twonorm",
]

LOG2_POINTS = 16
"""Binary logarithm of the number of points that the spread of Friedman's functions is computed
from; it is then known to 1e-4 of itself."""


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
    # The resistance is not negative; where it is zero the angle still is what it tends to.
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
"""Function, ranges of the inputs that matter, and how many inputs there usually are."""


@dataclass(frozen=True, eq=False)
class RegressionTruth:
    """What numbers are drawn from: a function of uniform inputs, and Gaussian noise.

    Get one with ``return_truth=True`` from the functions that make data, and call it for the
    values without noise.

    Parameters
    ----------
    function : callable
        From inputs of shape (n_samples, n_features) to values of shape (n_samples,).
    low, high : ndarray of shape (n_features,)
        Ends of the interval that each input is uniform on.
    relevant : ndarray of shape (n_relevant,)
        Positions of the inputs that the function depends on.
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
        """Number of inputs."""
        return len(self.low)

    def __call__(self, X: ArrayLike) -> Vector:
        """Values without noise.

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
            Source of the data.

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


@dataclass(frozen=True)
class RingTruth(TwoClassTruth):
    """A class around another one in the first two of independent standard normal inputs.

    With ``u = exp(-(x1**2 + x2**2) / 2)``, which is uniform on [0, 1], class 1 has the probability
    ``1 / (1 + exp(-(1/2 - u) / softness))``. It is a half at the radius ``sqrt(2 log 2) = 1.18``,
    and both classes are equally frequent.

    Parameters
    ----------
    n_inputs : int
        Number of inputs, of which the first two matter.
    softness : float
        How wide the boundary is, as a share of the data.

    Examples
    --------
    >>> from relvec.datasets import RingTruth
    >>> truth = RingTruth(n_inputs=3, softness=0.05)
    >>> truth.probability([[0.0, 0.0, 5.0], [2.0, 0.0, 5.0]]).round(2)
    array([0., 1.])
    """

    n_inputs: int
    softness: float

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.n_inputs

    @property
    def bayes_error(self) -> float:
        """How often the best classifier errs."""
        # the integral of 1 / (1 + exp(|1/2 - u| / softness)) over u
        beyond = np.log1p(np.exp(-0.5 / self.softness))
        return float(2.0 * self.softness * (np.log(2.0) - beyond))

    def log_densities(self, X: ArrayLike) -> Matrix:
        """Logarithm of the density of each class at inputs, shape (n_samples, 2)."""
        inputs = self._inputs(X)
        normal = -0.5 * (inputs**2).sum(axis=1) - 0.5 * self.n_features * np.log(2.0 * np.pi)
        odds = self.log_odds(inputs)
        return np.column_stack([normal + np.log(2.0) + log_expit(sign * odds) for sign in (-1, 1)])

    def log_odds(self, X: ArrayLike) -> Vector:
        """Logarithm of the probability of class 1 over that of class 0, shape (n_samples,)."""
        uniform = np.exp(-0.5 * (self._inputs(X)[:, :2] ** 2).sum(axis=1))
        odds: Vector = (0.5 - uniform) / self.softness
        return odds

    def draw(self, y: IndexArray, random_state: Seed = None) -> Matrix:
        """Inputs of given classes, shape (n_samples, n_features)."""
        random = check_random_state(random_state)
        X: Matrix = random.standard_normal((len(y), self.n_features))
        wanted = np.asarray(y) == 1
        given = np.log(random.uniform(size=len(y))) < log_expit(self.log_odds(X))
        # 1 - u has the probabilities of the classes of u exchanged, and is as frequent: inputs of
        # the wrong class are moved along their ray to where they are of the right one.
        wrong = np.flatnonzero(given != wanted)
        squared = (X[wrong, :2] ** 2).sum(axis=1)
        other = -2.0 * np.log(-np.expm1(-0.5 * squared))
        X[wrong, :2] *= np.sqrt(other / squared)[:, np.newaxis]
        return X


def make_friedman(
    kind: int = 1,
    n_samples: int = 240,
    *,
    n_features: int | None = None,
    noise: float | None = None,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Friedman's three functions, with the noise that Tipping (2001) added.

    The first is ``10 sin(pi x1 x2) + 20 (x3 - 1/2)**2 + 10 x4 + 5 x5`` of ten inputs that are
    uniform on [0, 1], half of which do not matter; its noise has standard deviation 1. The other
    two are the impedance ``sqrt(x1**2 + u**2)`` and the phase ``arctan(u / x1)`` of a circuit, with
    ``u = x2 x3 - 1 / (x2 x4)`` and inputs uniform on [0, 100], [40 pi, 560 pi], [0, 1], [1, 11].
    The standard deviation of their noise is a third of that of the function, over its inputs:
    126.3 and 0.1055.

    Parameters
    ----------
    kind : {1, 2, 3}, default=1
        Which function.
    n_samples : int, default=240
        Number of rows.
    n_features : int, optional
        Number of inputs; 10, 4 and 4 by default. Those beyond the 5, 4 and 4 that matter are
        uniform on [0, 1].
    noise : float, optional
        Standard deviation of the noise, instead of Tipping's; zero for none.
    random_state : int, RandomState or None, default=None
        Source of the data.
    return_truth : bool, default=False
        Also return what the data were drawn from.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Values with noise.
    truth : RegressionTruth
        A function of inputs anywhere, with `noise_std` and `sample`. Only if `return_truth`.

    See Also
    --------
    sklearn.datasets.make_friedman1 : With noise to be chosen, and without the truth.

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
    return _sampled(truth, n_samples, random_state, return_truth)


def make_sinc_and_line(
    n_samples: int = 100,
    *,
    noise: float = 0.1,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """A function that winds along one input and is straight along the other.

    It is ``sin(x1) / x1 + 0.1 x2``, after Tipping (2001), who does not say where the inputs are;
    here both are uniform on [-10, 10].

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    noise : float, default=0.1
        Standard deviation of the noise; zero for none.
    random_state : int, RandomState or None, default=None
        Source of the data.
    return_truth : bool, default=False
        Also return what the data were drawn from.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        Values with noise.
    truth : RegressionTruth
        A function of inputs anywhere, with `noise_std` and `sample`. Only if `return_truth`.

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
    return _sampled(truth, n_samples, random_state, return_truth)


def make_ring(
    n_samples: int = 150,
    n_features: int = 10,
    *,
    softness: float = 0.005,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """A class around another one in two inputs, and further inputs that do not matter.

    All inputs together are independent and standard normal, and none is correlated with the class.
    Class 1 is outside the circle around the origin of the first two that holds half of the data.
    The best classifier errs in 0.7 % of cases. To a support vector machine the other inputs are a
    burden: on 150 rows, with width and penalty cross-validated, it errs in about 21 % of cases
    with 10 inputs and in about 46 % with 50.

    Parameters
    ----------
    n_samples : int, default=150
        Number of rows, half of each class.
    n_features : int, default=10
        Number of inputs, at least 2; only the first two matter.
    softness : float, default=0.005
        How wide the boundary is, as a share of the data. The best classifier errs in
        ``2 log(2) softness`` of cases where that is small.
    random_state : int, RandomState or None, default=None
        Source of the data.
    return_truth : bool, default=False
        Also return what the data were drawn from.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes, 0 or 1.
    truth : RingTruth
        With the methods `probability`, `log_odds` and `sample`. Only if `return_truth`.

    Examples
    --------
    >>> from relvec.datasets import make_ring
    >>> X, y, truth = make_ring(150, 50, random_state=0, return_truth=True)
    >>> X.shape, round(truth.bayes_error, 4)
    ((150, 50), 0.0069)
    """
    n_features = check_integer("n_features", n_features, minimum=2)
    truth = RingTruth(n_features, check_positive("softness", softness))
    return _sampled(truth, n_samples, random_state, return_truth)


def make_twonorm(
    n_samples: int = 400,
    n_features: int = 20,
    *,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Two Gaussians between which all inputs tell equally little, after Breiman (1996).

    Both have unit covariance. The mean of class 1 is ``2 / sqrt(n_features)`` in every input, that
    of class 0 minus that. Whatever their number, the best classifier errs in 2.3 % of cases, and
    one that drops inputs errs more often: with half of 20 in 7.9 %.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows, half of each class.
    n_features : int, default=20
        Number of inputs; 20 are Breiman's.
    random_state : int, RandomState or None, default=None
        Source of the data.
    return_truth : bool, default=False
        Also return what the data were drawn from.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Classes, 0 or 1.
    truth : GaussianMixtures
        With the methods `probability`, `log_odds` and `sample`. Only if `return_truth`.

    References
    ----------
    Breiman (1996), Bias, variance, and arcing classifiers, University of California, Berkeley.

    Examples
    --------
    >>> from relvec.datasets import make_twonorm
    >>> X, y = make_twonorm(random_state=0)
    >>> X.shape, int(y.sum())
    ((400, 20), 200)
    """
    n_features = check_integer("n_features", n_features, minimum=1)
    mean = np.full((1, n_features), 2.0 / np.sqrt(n_features))
    truth = GaussianMixtures((-mean, mean), np.ones(n_features))
    return _sampled(truth, n_samples, random_state, return_truth)


def _sampled(
    truth: RegressionTruth | TwoClassTruth, n_samples: int, random_state: Seed, return_truth: bool
) -> tuple[Any, ...]:
    with_truth = check_bool("return_truth", return_truth)
    X, y = truth.sample(n_samples, random_state=random_state)
    return (X, y, truth) if with_truth else (X, y)


@cache
def _friedman_noise(kind: int) -> float:
    """Standard deviation of the noise that Tipping added."""
    if kind == 1:
        return 1.0
    function, ranges, _ = FRIEDMAN[kind]
    low, high = np.array(ranges).T
    points = qmc.Sobol(len(ranges), scramble=False).random_base2(LOG2_POINTS)
    # Sobol's points begin in a corner, where the phase turns fast; any shift takes them away.
    points = (points + np.sqrt([2.0, 3.0, 5.0, 7.0])) % 1.0
    return float(function(low + (high - low) * points).std()) / 3.0
