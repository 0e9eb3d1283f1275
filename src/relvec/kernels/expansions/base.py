"""Covariance functions written as basis functions whose weights have known prior variances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np

from relvec._typing import Matrix, Vector

__all__ = ["Expansion", "Product"]


@dataclass(frozen=True, kw_only=True)
class Expansion(ABC):
    """A covariance function of one scaled feature, and its expansion in columns.

    A Gaussian process of this covariance is ``sum_j w_j phi_j(u)`` with independent weights ``w_j ~
    N(0, s lambda_j)``: one variance ``s`` for all columns, and a prior spectrum ``lambda``. The
    columns do not depend on the hyper-parameters in `learnt`, only the spectrum does. So the
    evidence and its gradient need the Gram matrix of the columns once.

    The feature is scaled: ``u`` is in [-1, 1] over the training rows.
    """

    symbol: ClassVar[str]
    """Name in expressions such as ``LIN + PER x RW``."""
    learnt: ClassVar[tuple[str, ...]] = ()
    """Positive hyper-parameters that only the spectrum depends on."""
    n_searched: ClassVar[int] = 0
    """Number of further parameters that a search determines, such as a period."""

    feature: int = 0
    """Column of the inputs."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Number of columns."""

    @property
    @abstractmethod
    def reach(self) -> tuple[float, float]:
        """Values of ``u`` between which the columns stand for the covariance function."""

    @abstractmethod
    def columns(self, U: Matrix) -> Matrix:
        """Evaluate the columns at scaled inputs, shape (n_samples, n_columns)."""

    @abstractmethod
    def covariance(self, U: Matrix, V: Matrix) -> Matrix:
        """Evaluate the covariance function, of which the columns are an expansion."""

    @abstractmethod
    def variance(self, U: Matrix) -> Vector:
        """Evaluate the covariance function of each row with itself."""

    def count_log_choices(self, n_samples: float) -> float:
        """Return the log of the number of values among which `n_searched` were searched."""
        return 0.0

    def log_spectrum(self) -> Vector:
        """Return the logarithm of the spectrum, one value per column."""
        return np.zeros(self.n_columns)

    def spectrum_slopes(self) -> Matrix:
        """Return the derivative of the log spectrum in each log parameter in `learnt`."""
        return np.empty((0, self.n_columns))

    @property
    def column_key(self) -> Expansion:
        """A hashable value that is the same for equal columns, whatever the spectrum."""
        return self.with_log_parameters(np.zeros(len(self.learnt)))

    @property
    def log_parameters(self) -> Vector:
        """Logarithms of the parameters in `learnt`."""
        return np.log([getattr(self, name) for name in self.learnt])

    def with_log_parameters(self, values: Vector) -> Self:
        """Return the expansion with other parameters."""
        found = map(float, np.exp(values))
        changes: dict[str, Any] = dict(zip(self.learnt, found, strict=True))
        return replace(self, **changes)

    def _select(self, U: Matrix) -> Vector:
        """Return the scaled feature."""
        return U[:, self.feature]

    def _differences(self, U: Matrix, V: Matrix) -> Matrix:
        return np.subtract.outer(self._select(U), self._select(V))


@dataclass(frozen=True)
class Product:
    """Product of expansions: products of columns, and of their prior variances."""

    factors: tuple[Expansion, ...]

    def columns(self, U: Matrix) -> Matrix:
        """Multiply every column of each factor by every column of the others."""
        first, *others = (factor.columns(U) for factor in self.factors)
        return reduce(_multiply_columns, others, first)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(np.prod([factor.n_columns for factor in self.factors]))

    def log_spectrum(self) -> Vector:
        """Return the logarithm of the spectrum, one value per column."""
        return _outer_sum([factor.log_spectrum() for factor in self.factors])

    def spectrum_slopes(self) -> Matrix:
        """Return the derivative of the log spectrum in each log parameter, factor by factor."""
        zeros = [np.zeros(factor.n_columns) for factor in self.factors]
        slopes = [
            _outer_sum([*zeros[:place], slope, *zeros[place + 1 :]])
            for place, factor in enumerate(self.factors)
            for slope in factor.spectrum_slopes()
        ]
        return np.array(slopes).reshape(-1, self.n_columns)

    def covariance(self, U: Matrix, V: Matrix) -> Matrix:
        """Multiply the covariance functions."""
        result: Matrix = np.prod([factor.covariance(U, V) for factor in self.factors], axis=0)
        return result

    def variance(self, U: Matrix) -> Vector:
        """Multiply the variances of each row."""
        result: Vector = np.prod([factor.variance(U) for factor in self.factors], axis=0)
        return result

    @property
    def column_key(self) -> Product:
        """A hashable value that is the same for equal columns, whatever the spectrum."""
        return Product(tuple(factor.column_key for factor in self.factors))

    @property
    def log_parameters(self) -> Vector:
        """Logarithms of the parameters in `Expansion.learnt`, factor by factor."""
        return np.concatenate([factor.log_parameters for factor in self.factors])

    def with_log_parameters(self, values: Vector) -> Product:
        """Return the product with other parameters."""
        ends = np.cumsum([len(factor.learnt) for factor in self.factors])[:-1]
        pairs = zip(self.factors, np.split(np.asarray(values), ends), strict=True)
        return Product(tuple(factor.with_log_parameters(part) for factor, part in pairs))


def _multiply_columns(left: Matrix, right: Matrix) -> Matrix:
    """Row-wise Kronecker product: the columns of a product of covariance functions."""
    product: Matrix = (left[:, :, np.newaxis] * right[:, np.newaxis, :]).reshape(len(left), -1)
    return product


def _outer_sum(parts: list[Vector]) -> Vector:
    """Add every value of each part to every value of the others, in the order of columns."""
    total = parts[0]
    for part in parts[1:]:
        total = np.add.outer(total, part).ravel()
    return total
