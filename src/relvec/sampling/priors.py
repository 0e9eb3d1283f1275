"""Priors of a sampled model: which atoms are in it, and how precise their weights are."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from relvec._checks import check_integer, check_positive
from relvec._typing import Vector

__all__ = ["BetaBinomialSize", "ExponentialSize", "PrecisionGrid", "SizePrior"]


class PrecisionGrid(BaseEstimator):
    """Discrete prior of the precision of each weight: uniform over a logarithmic grid.

    The precision is ``lam = alpha sigma^2 / norm^2``, that of the weight of an atom of unit norm in
    units of the noise. With ``lam = 0.01`` the prior standard deviation of the weight is ten times
    that of the noise, with ``lam = 1e-8`` ten thousand times. Larger precisions are of atoms that
    can hardly be seen: they make models larger and chains slower, without better predictions.

    Parameters
    ----------
    low, high : float, default=1e-8, 0.01
        Smallest and largest precision.
    n_levels : int, default=7
        Number of precisions.

    Examples
    --------
    >>> from relvec.sampling import PrecisionGrid
    >>> PrecisionGrid(1e-4, 1.0, n_levels=5).values
    array([1.e-04, 1.e-03, 1.e-02, 1.e-01, 1.e+00])
    """

    def __init__(self, low: float = 1e-8, high: float = 0.01, n_levels: int = 7) -> None:
        self.low = low
        self.high = high
        self.n_levels = n_levels

    @property
    def values(self) -> Vector:
        """Precisions of the grid, in ascending order."""
        low, high = check_positive("low", self.low), check_positive("high", self.high)
        n_levels = check_integer("n_levels", self.n_levels, minimum=1)
        if not low <= high:
            raise ValueError(f"low must not exceed high; got low={low:g} and high={high:g}.")
        return np.geomspace(low, high, n_levels)


class SizePrior(BaseEstimator, ABC):
    """Prior of the number of atoms in the model; all models of one size are equally probable.

    Samplers ask for `log_odds` in every step; parameters are checked once, by `checked`.
    """

    def checked(self) -> SizePrior:
        """Return the prior; raise if a parameter is not valid."""
        return self

    @abstractmethod
    def log_odds(self, size: int, n_atoms: int) -> float:
        """Return ``log p(model with one more atom) / p(model)`` for a model of `size` atoms.

        Both are probabilities of single models, not of all models of a size.
        """

    def log_probability(self, size: int, n_atoms: int) -> float:
        """Return the log probability of a model of `size` atoms, relative to the empty one."""
        return float(sum(self.log_odds(each, n_atoms) for each in range(size)))


class ExponentialSize(SizePrior):
    """Probability ``exp(-penalty * size)`` of a model, up to a constant.

    Every atom is in the model with prior probability ``1 / (1 + exp(penalty))``, independently of
    the others (George & McCulloch 1997); the size has a binomial distribution.

    Parameters
    ----------
    penalty : float
        Log prior odds against each atom. The marginal likelihood penalises atoms by itself;
        ``log(n_samples) / 2`` on top of it, as in the smoothness prior of Schmolck (2008), is a
        much stronger penalty than that of the BIC.

    Examples
    --------
    >>> from relvec.sampling import ExponentialSize
    >>> ExponentialSize(2.0).log_probability(3, n_atoms=10)
    -6.0
    """

    def __init__(self, penalty: float) -> None:
        self.penalty = penalty

    def checked(self) -> ExponentialSize:
        """Return the prior; raise unless the penalty is a finite number."""
        if not math.isfinite(self.penalty):
            raise ValueError(f"penalty must be a finite number; got {self.penalty!r}.")
        return self

    def log_odds(self, size: int, n_atoms: int) -> float:
        """Return minus the penalty."""
        return -float(self.penalty)


class BetaBinomialSize(SizePrior):
    """Every atom is in the model with the same probability, which has a Beta(a, b) prior.

    With ``a = b = 1`` all sizes are equally probable, so that the penalty on an atom adapts to the
    number of candidates and of those already in the model (Scott & Berger 2010).

    Parameters
    ----------
    a, b : float, default=1.0, 1.0
        Parameters of the Beta prior.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import BetaBinomialSize
    >>> odds = np.exp(BetaBinomialSize().log_odds(0, n_atoms=10))
    >>> round(float(odds), 3)  # one model without atoms, ten with one, in all as probable
    0.1
    """

    def __init__(self, a: float = 1.0, b: float = 1.0) -> None:
        self.a = a
        self.b = b

    def checked(self) -> BetaBinomialSize:
        """Return the prior; raise unless its parameters are positive."""
        check_positive("a", self.a)
        check_positive("b", self.b)
        return self

    def log_odds(self, size: int, n_atoms: int) -> float:
        """Return the log ratio of Beta functions ``(a + size) / (b + n_atoms - size - 1)``."""
        # B(a + k + 1, b + M - k - 1) / B(a + k, b + M - k) with k atoms of M.
        return math.log((self.a + size) / (self.b + n_atoms - size - 1))
