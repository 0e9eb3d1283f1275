"""Two-class problems with known class probabilities, to test predicted probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp
from sklearn.utils import check_random_state

from relvec._checks import check_bool, check_finite_input, check_integer, check_positive
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector

__all__ = [
    "GaussianMixtures",
    "TwoClassTruth",
    "UniformIntervals",
    "make_overlapping_uniforms",
    "make_ripley_mixture",
    "make_snake",
]

Seed = int | np.random.RandomState | None

RIPLEY_CENTERS = (((-0.7, 0.3), (0.3, 0.3)), ((-0.3, 0.7), (0.4, 0.7)))


class TwoClassTruth(ABC):
    """Distribution of two equally frequent classes, 0 and 1.

    The functions that make data return it with ``return_truth=True``.

    Examples
    --------
    >>> from relvec.datasets import make_ripley_mixture
    >>> X, y, truth = make_ripley_mixture(250, random_state=0, return_truth=True)
    >>> truth.probability([[-0.3, 0.9], [0.0, 0.5], [-0.7, 0.2]]).round(3)
    array([1.   , 0.567, 0.001])
    """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features."""

    @abstractmethod
    def log_densities(self, X: ArrayLike) -> Matrix:
        """Return the log density of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        log_densities : ndarray of shape (n_samples, 2)
        """

    @abstractmethod
    def draw(self, y: IndexArray, random_state: Seed = None) -> Matrix:
        """Draw inputs of given classes.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Classes, 0 or 1.
        random_state : int, RandomState or None, default=None
            Seed of the inputs.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        """

    def log_odds(self, X: ArrayLike) -> Vector:
        """Return the log odds of class 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        log_odds : ndarray of shape (n_samples,)
            Infinite where only one class has positive density, NaN where neither has.
        """
        zero, one = self.log_densities(X).T
        with np.errstate(invalid="ignore"):
            odds: Vector = one - zero
        return odds

    def probability(self, X: ArrayLike) -> Vector:
        """Return the probability of class 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            NaN where neither class has positive density.
        """
        probability: Vector = expit(self.log_odds(X))
        return probability

    def sample(self, n_samples: int, *, random_state: Seed = None) -> tuple[Matrix, IndexArray]:
        """Draw data, half of each class.

        Parameters
        ----------
        n_samples : int
            Number of rows, at least 2. If it is odd, class 0 has one more.
        random_state : int, RandomState or None, default=None
            Seed of the data.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            Classes, 0 or 1, in random order.
        """
        n_samples = check_integer("n_samples", n_samples, minimum=2)
        random = check_random_state(random_state)
        y = random.permutation(np.arange(n_samples) % 2)
        return self.draw(y, random), y

    def _check_inputs(self, X: ArrayLike) -> Matrix:
        check_finite_input(X, "X")
        inputs = np.asarray(X, dtype=np.float64)
        if inputs.ndim != 2 or inputs.shape[1] != self.n_features:
            raise ValueError(
                f"X must have shape (n_samples, {self.n_features}); got shape {inputs.shape}."
            )
        return inputs


@dataclass(frozen=True, eq=False)
class GaussianMixtures(TwoClassTruth):
    """Two classes, each a mixture of equally weighted Gaussians with one diagonal covariance.

    Parameters
    ----------
    centers : tuple of two ndarray of shape (n_gaussians, n_features)
        Centres of class 0 and of class 1.
    std : ndarray of shape (n_features,)
        Standard deviation of every Gaussian along each feature.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.datasets import GaussianMixtures
    >>> truth = GaussianMixtures((np.array([[-1.0]]), np.array([[1.0]])), std=np.ones(1))
    >>> truth.probability([[0.0], [1.0]]).round(2)
    array([0.5 , 0.88])
    >>> X, y = truth.sample(5, random_state=0)
    >>> X.shape, y.shape
    ((5, 1), (5,))
    """

    centers: tuple[Matrix, Matrix]
    std: Vector

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.std)

    def log_densities(self, X: ArrayLike) -> Matrix:
        """Return the log density of each class, shape (n_samples, 2)."""
        scaled = self._check_inputs(X) / self.std
        constant = -np.log(self.std).sum() - 0.5 * self.n_features * np.log(2.0 * np.pi)
        columns = []
        for centers in self.centers:
            differences = scaled[:, np.newaxis] - centers / self.std
            exponents = -0.5 * np.einsum("ijk,ijk->ij", differences, differences)
            columns.append(logsumexp(exponents, axis=1) - np.log(len(centers)) + constant)
        return np.column_stack(columns)

    def draw(self, y: IndexArray, random_state: Seed = None) -> Matrix:
        """Draw inputs of given classes, shape (n_samples, n_features)."""
        random = check_random_state(random_state)
        X = random.standard_normal((len(y), self.n_features)) * self.std
        for label, centers in enumerate(self.centers):
            rows = np.flatnonzero(y == label)
            X[rows] += centers[random.randint(len(centers), size=len(rows))]
        return X


@dataclass(frozen=True)
class UniformIntervals(TwoClassTruth):
    """Two classes, each uniform on an interval.

    Parameters
    ----------
    intervals : tuple of two pairs of float
        Closed intervals of class 0 and of class 1.

    Examples
    --------
    >>> from relvec.datasets import UniformIntervals
    >>> truth = UniformIntervals(((0.0, 1.0), (0.5, 1.5)))
    >>> truth.probability([[0.2], [0.7], [1.2]])
    array([0. , 0.5, 1. ])
    """

    intervals: tuple[tuple[float, float], tuple[float, float]]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return 1

    def log_densities(self, X: ArrayLike) -> Matrix:
        """Return the log density of each class, shape (n_samples, 2)."""
        x = self._check_inputs(X)[:, 0]
        return np.column_stack(
            [
                np.where((low <= x) & (x <= high), -np.log(high - low), -np.inf)
                for low, high in self.intervals
            ]
        )

    def draw(self, y: IndexArray, random_state: Seed = None) -> Matrix:
        """Draw inputs of given classes, shape (n_samples, 1)."""
        low, high = np.array(self.intervals)[y].T
        return check_random_state(random_state).uniform(low, high)[:, np.newaxis]


def make_snake(
    n_samples: int = 100,
    *,
    n_half_periods: int = 3,
    n_gaussians: int = 12,
    length: float = 6.0,
    amplitude: float = 0.75,
    separation: float = 0.9,
    spread: float | tuple[float, float] = 0.3,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Make two classes along parallel sine curves, with known class probabilities.

    Each class is a mixture of Gaussians whose centres lie on a sine; class 1 is above class 0.
    This is the "gausssnake" of Schmolck (2008), who shows a figure but gives no parameters: the
    defaults are ours. With them the Bayes error rate is 11.2 %, and the smallest possible
    cross-entropy is 0.263 nats.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows, half of each class.
    n_half_periods : int, default=3
        Number of half periods of the sine.
    n_gaussians : int, default=12
        Number of Gaussians of each class, evenly spaced along the first feature.
    length : float, default=6.0
        Distance between the first and the last centre along the first feature.
    amplitude : float, default=0.75
        Amplitude of the sine; zero gives straight lines.
    separation : float, default=0.9
        Distance of class 1 above class 0.
    spread : float or pair of floats, default=0.3
        Standard deviation of the Gaussians, or one for each feature.
    random_state : int, RandomState or None, default=None
        Seed of the data.
    return_truth : bool, default=False
        Also return the distribution that the data were drawn from.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        Classes, 0 or 1.
    truth : GaussianMixtures
        With the methods `probability`, `log_odds` and `sample`. Only if `return_truth`.

    References
    ----------
    Schmolck (2008), Smooth relevance vector machines, figure 3.1.

    Examples
    --------
    >>> from relvec.datasets import make_snake
    >>> X, y, truth = make_snake(200, random_state=0, return_truth=True)
    >>> X.shape, truth.probability(X).shape
    ((200, 2), (200,))
    >>> X_test, y_test = truth.sample(1000, random_state=1)
    """
    n_half_periods = check_integer("n_half_periods", n_half_periods, minimum=1)
    n_gaussians = check_integer("n_gaussians", n_gaussians, minimum=1)
    length = check_positive("length", length)
    amplitude = check_positive("amplitude", amplitude, allow_zero=True)
    separation = check_positive("separation", separation, allow_zero=True)
    along = np.linspace(0.0, 1.0, n_gaussians) if n_gaussians > 1 else np.array([0.5])
    middle = np.column_stack(
        [length * (along - 0.5), amplitude * np.sin(n_half_periods * np.pi * along)]
    )
    shift = np.array([0.0, 0.5 * separation])
    truth = GaussianMixtures((middle - shift, middle + shift), _stds("spread", spread))
    return draw_dataset(truth, n_samples, random_state, return_truth)


def make_ripley_mixture(
    n_samples: int = 250, *, random_state: Seed = None, return_truth: bool = False
) -> tuple[Any, ...]:
    """Make two classes of two Gaussians each, after Ripley (1996).

    All four Gaussians have variance 0.03 along both features. Those of class 0 are at (-0.7, 0.3)
    and (0.3, 0.3), those of class 1 at (-0.3, 0.7) and (0.4, 0.7). The Bayes error rate is 8.9 %,
    and the smallest possible cross-entropy is 0.215 nats. Ripley's own sample has 250 training
    rows and 1000 test rows; on these test rows the Bayes classifier has an error rate of 8.0 %,
    the number that is often quoted.

    Parameters
    ----------
    n_samples : int, default=250
        Number of rows, half of each class.
    random_state : int, RandomState or None, default=None
        Seed of the data.
    return_truth : bool, default=False
        Also return the distribution that the data were drawn from.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        Classes, 0 or 1.
    truth : GaussianMixtures
        With the methods `probability`, `log_odds` and `sample`. Only if `return_truth`.

    References
    ----------
    Ripley (1996), Pattern recognition and neural networks, Cambridge University Press.

    Examples
    --------
    >>> from relvec.datasets import make_ripley_mixture
    >>> X, y = make_ripley_mixture(250, random_state=0)
    >>> X.shape, int(y.sum())
    ((250, 2), 125)
    """
    zero, one = RIPLEY_CENTERS
    std = np.full(2, np.sqrt(0.03))  # from Ripley's book, like the centres
    truth = GaussianMixtures((np.array(zero), np.array(one)), std)
    return draw_dataset(truth, n_samples, random_state, return_truth)


def make_overlapping_uniforms(
    n_samples: int = 1000, *, random_state: Seed = None, return_truth: bool = False
) -> tuple[Any, ...]:
    """Make two classes with one feature, uniform on overlapping intervals, after Tipping (2001).

    Class 1 is uniform on [0, 1] and class 0 on [0.5, 1.5]. Between 0.5 and 1 the true log odds are
    zero, elsewhere infinite. The Bayes error rate is 25 %, and the smallest possible cross-entropy
    is log(2) / 2 = 0.347 nats.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, half of each class.
    random_state : int, RandomState or None, default=None
        Seed of the data.
    return_truth : bool, default=False
        Also return the distribution that the data were drawn from.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
    y : ndarray of shape (n_samples,)
        Classes, 0 or 1.
    truth : UniformIntervals
        With the methods `probability`, `log_odds` and `sample`. Only if `return_truth`.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, figure 10.

    Examples
    --------
    >>> from relvec.datasets import make_overlapping_uniforms
    >>> X, y, truth = make_overlapping_uniforms(random_state=0, return_truth=True)
    >>> truth.probability([[0.2], [0.7], [1.2]])
    array([1. , 0.5, 0. ])
    """
    truth = UniformIntervals(((0.5, 1.5), (0.0, 1.0)))
    return draw_dataset(truth, n_samples, random_state, return_truth)


def draw_dataset(
    truth: Any, n_samples: int, random_state: Seed, return_truth: bool
) -> tuple[Any, ...]:
    """Draw data, and return their distribution as well if `return_truth`."""
    with_truth = check_bool("return_truth", return_truth)
    X, y = truth.sample(n_samples, random_state=random_state)
    return (X, y, truth) if with_truth else (X, y)


def _stds(name: str, value: Any) -> Vector:
    """Return one standard deviation for each of two features."""
    if not isinstance(value, (tuple, list, np.ndarray)) or np.ndim(value) == 0:
        return np.full(2, check_positive(name, value, also="or a pair of them"))
    if np.shape(value) != (2,):
        raise ValueError(f"{name} must be a positive number or a pair of them; got {value!r}.")
    return np.array([check_positive(f"{name}[{i}]", each) for i, each in enumerate(value)])
