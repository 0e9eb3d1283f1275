"""Distribution function, quantiles, random points and searches for peaks of a fitted density."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_integer, check_positive
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.learning.density import (
    FittedDensity,
    PeakScan,
    sample_points,
    scan_peaks,
    tabulate_distribution,
)

__all__ = ["DistributionMethods", "make_generator"]


class DistributionMethods:
    """Methods of a density that describe its distribution."""

    n_features_in_: int
    _fitted: FittedDensity

    def _read(self, X: ArrayLike) -> Matrix:
        raise NotImplementedError

    def cdf(self, X: ArrayLike) -> Vector:
        """Compute the distribution function of one variable.

        Parameters
        ----------
        X : array-like of shape (n_samples, 1)
            Points.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
            Probability of a smaller value; of the density also with ``normalise=False``.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesDensity
        >>> X = np.random.default_rng(0).normal(size=(500, 1))
        >>> SparseBayesDensity().fit(X).cdf([[-9.0], [0.0], [9.0]]).round(1)
        array([0. , 0.5, 1. ])
        """
        self._check_one_variable("cdf")
        (margin,), points = self._fitted.coordinates.margins, self._read(X)
        x = points[:, 0]
        ends = margin.inverse(np.array([margin.standard.lower, margin.standard.upper]))
        score = margin.score(np.clip(x, ends.min(), ends.max()))
        probability = tabulate_distribution(self._fitted).cdf(score)
        if margin.is_reversed:
            probability = 1.0 - probability
        return np.clip(probability, 0.0, 1.0)

    def ppf(self, q: ArrayLike) -> Vector:
        """Compute quantiles of one variable, the inverse of `cdf`.

        Parameters
        ----------
        q : array-like
            Probabilities, from 0 to 1.

        Returns
        -------
        quantile : ndarray, shaped like `q`

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesDensity
        >>> X = np.random.default_rng(0).uniform(size=(500, 1))
        >>> SparseBayesDensity(support=(0, 1)).fit(X).ppf([0.0, 0.5, 1.0]).round(1)
        array([0. , 0.5, 1. ])
        """
        self._check_one_variable("ppf")
        level = np.asarray(q, dtype=np.float64)
        if not ((level >= 0.0) & (level <= 1.0)).all():
            raise ValueError(f"q must be probabilities between 0 and 1; got {q!r}.")
        (margin,) = self._fitted.coordinates.margins
        inner = 1.0 - level.ravel() if margin.is_reversed else level.ravel()
        result: Vector = margin.inverse(tabulate_distribution(self._fitted).ppf(inner))
        return result.reshape(level.shape)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Matrix:
        """Draw random points from the density.

        Parameters
        ----------
        n_samples : int, default=1
            Number of points.
        random_state : int, RandomState instance or None, default=None
            Seed of the random numbers.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesDensity
        >>> X = np.random.default_rng(0).normal(5.0, size=(500, 1))
        >>> SparseBayesDensity().fit(X).sample(3, random_state=0).shape
        (3, 1)
        """
        check_is_fitted(self)
        number = check_integer("n_samples", n_samples, minimum=1)
        return sample_points(self._fitted, number, make_generator(random_state))

    def scan_peaks(
        self,
        positions: ArrayLike,
        width: float,
        *,
        n_simulations: int = 0,
        random_state: Any = None,
    ) -> PeakScan:
        """Search for a narrow peak on a smooth background, whose uncertainty is included.

        The fitted density is the background. It must be too smooth to follow the peak: fit it with
        `widths` several times as large as that of the peak. They are fractions of a range: on a
        bounded support, multiply them by ``upper - lower`` to compare. At each position the number
        of events in a Gaussian peak is estimated, with the weights of the background integrated
        out.

        Parameters
        ----------
        positions : array-like
            Positions of the peak.
        width : float
            Its standard deviation, in units of the data.
        n_simulations : int, default=0
            Number of backgrounds to simulate, for the global p-value. Each is drawn from the
            posterior, and fitted with the same precisions.
        random_state : int, RandomState instance or None, default=None
            Seed of the simulations.

        Returns
        -------
        scan : PeakScan
            At each position the signal, its standard deviation if there were no signal, and the
            ratio of both, the local significance. A signal that is there has a larger standard
            deviation: its own Poisson noise adds ``signal`` to the variance, roughly.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesDensity
        >>> x = np.random.default_rng(0).uniform(size=1000)
        >>> background = SparseBayesDensity(support=(0, 1), widths=[0.5, 0.25]).fit(x[:, None])
        >>> scan = background.scan_peaks(np.linspace(0.1, 0.9, 9), width=0.02)
        >>> bool(abs(scan.z).max() < 3.5)
        True
        """
        self._check_one_variable("scan_peaks")
        places = np.ravel(np.asarray(positions, dtype=np.float64))
        if not len(places) or not np.isfinite(places).all():
            raise ValueError(f"positions must be finite numbers; got {positions!r}.")
        return scan_peaks(
            self._fitted,
            places,
            check_positive("width", width),
            check_integer("n_simulations", n_simulations, minimum=0),
            make_generator(random_state),
        )

    def _check_one_variable(self, method: str) -> None:
        check_is_fitted(self)
        if self.n_features_in_ > 1:
            raise ValueError(
                f"{method} is for densities of one variable; this one has {self.n_features_in_}. "
                "For probabilities of regions count points of sample(n)."
            )


def make_generator(random_state: Any) -> np.random.Generator:
    """Return a NumPy generator that is seeded by a random state of scikit-learn."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
