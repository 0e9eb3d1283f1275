"""Two-class problems for feature selection: two relevant features among many, or all relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_expit
from sklearn.utils import check_random_state

from relvec._checks import check_integer, check_positive
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.datasets.two_classes import GaussianMixtures, Seed, TwoClassTruth, draw_dataset

__all__ = ["RingTruth", "make_ring", "make_twonorm"]


@dataclass(frozen=True)
class RingTruth(TwoClassTruth):
    """Distribution of `make_ring`: one class surrounds the other in the first two features.

    Features are independent and standard normal. With ``u = exp(-(x1**2 + x2**2) / 2)``, which is
    uniform on [0, 1], class 1 has the probability ``1 / (1 + exp(-(1/2 - u) / softness))``. It is
    1/2 at the radius ``sqrt(2 log 2) = 1.18``, and both classes are equally frequent.

    Parameters
    ----------
    n_dimensions : int
        Number of features, of which the first two are relevant.
    softness : float
        Width of the boundary, as a fraction of the data.

    Examples
    --------
    >>> from relvec.datasets import RingTruth
    >>> truth = RingTruth(n_dimensions=3, softness=0.05)
    >>> truth.probability([[0.0, 0.0, 5.0], [2.0, 0.0, 5.0]]).round(2)
    array([0., 1.])
    """

    n_dimensions: int
    softness: float

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.n_dimensions

    @property
    def bayes_error(self) -> float:
        """Error rate of the Bayes classifier."""
        # the integral of 1 / (1 + exp(|1/2 - u| / softness)) over u in [0, 1]
        upper_limit = np.log1p(np.exp(-0.5 / self.softness))
        return float(2.0 * self.softness * (np.log(2.0) - upper_limit))

    def log_densities(self, X: ArrayLike) -> Matrix:
        """Return the log density of each class, shape (n_samples, 2)."""
        inputs = self._check_inputs(X)
        normal = -0.5 * (inputs**2).sum(axis=1) - 0.5 * self.n_features * np.log(2.0 * np.pi)
        odds = self.log_odds(inputs)
        return np.column_stack([normal + np.log(2.0) + log_expit(sign * odds) for sign in (-1, 1)])

    def log_odds(self, X: ArrayLike) -> Vector:
        """Return the log odds of class 1, shape (n_samples,)."""
        uniform = np.exp(-0.5 * (self._check_inputs(X)[:, :2] ** 2).sum(axis=1))
        odds: Vector = (0.5 - uniform) / self.softness
        return odds

    def draw(self, y: IndexArray, random_state: Seed = None) -> Matrix:
        """Draw inputs of given classes, shape (n_samples, n_features)."""
        random = check_random_state(random_state)
        X: Matrix = random.standard_normal((len(y), self.n_features))
        wanted = np.asarray(y) == 1
        drawn = np.log(random.uniform(size=len(y))) < log_expit(self.log_odds(X))
        # u and 1 - u have the same distribution, with the class probabilities exchanged. So an
        # input of the wrong class is moved along its ray from u to 1 - u.
        wrong = np.flatnonzero(drawn != wanted)
        squared_radius = (X[wrong, :2] ** 2).sum(axis=1)
        new_squared_radius = -2.0 * np.log(-np.expm1(-0.5 * squared_radius))
        X[wrong, :2] *= np.sqrt(new_squared_radius / squared_radius)[:, np.newaxis]
        return X


def make_ring(
    n_samples: int = 150,
    n_features: int = 10,
    *,
    softness: float = 0.005,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Make two classes, one around the other in two features, with irrelevant further features.

    Features are independent and standard normal, and none is correlated with the class. Class 1 is
    outside the circle in the first two features that contains half of the data. The Bayes error
    rate is 0.7 %. Irrelevant features harm a support vector machine: on 150 rows, with
    length-scale and penalty cross-validated, its error rate is about 21 % with 10 features and
    about 46 % with 50.

    Parameters
    ----------
    n_samples : int, default=150
        Number of rows, half of each class.
    n_features : int, default=10
        Number of features, at least 2; only the first two are relevant.
    softness : float, default=0.005
        Width of the boundary, as a fraction of the data. For small values the Bayes error rate is
        ``2 log(2) softness``.
    random_state : int, RandomState or None, default=None
        Seed of the data.
    return_truth : bool, default=False
        Also return the distribution that the data were drawn from.

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
    return draw_dataset(truth, n_samples, random_state, return_truth)


def make_twonorm(
    n_samples: int = 400,
    n_features: int = 20,
    *,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Make two Gaussian classes with equally relevant features, after Breiman (1996).

    Both have unit covariance. The mean of class 1 is ``2 / sqrt(n_features)`` in every feature,
    that of class 0 minus that. The Bayes error rate is 2.3 % for any number of features. Dropping
    features increases it: with 10 of 20 features to 7.9 %.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows, half of each class.
    n_features : int, default=20
        Number of features; Breiman used 20.
    random_state : int, RandomState or None, default=None
        Seed of the data.
    return_truth : bool, default=False
        Also return the distribution that the data were drawn from.

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
    return draw_dataset(truth, n_samples, random_state, return_truth)
