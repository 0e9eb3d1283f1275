"""Predictions of rows by models that did not see them, and what they say of error bars."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import brentq

from relvec._typing import IndexArray, Matrix, Vector
from relvec.learning.rows import select_learning_rows

if TYPE_CHECKING:
    from relvec.estimators._output import FittedOutput
    from relvec.estimators._plan import Data

__all__ = ["HeldOut", "distinct_rows", "folds_of"]


class HeldOut(NamedTuple):
    """Held-out rows and their predictions; one column for each output."""

    squared_error: Matrix
    variance: Matrix
    """Of the posterior alone."""
    noise: Matrix
    """Variance of the noise."""
    extra: Matrix
    """Variance that is added away from the data."""
    weight: Vector
    """How often each row counts."""

    @classmethod
    def of(cls, outputs: Sequence[FittedOutput], data: Data) -> HeldOut:
        """Predict rows by the outputs of a fit to others."""
        columns = []
        for output, target in zip(outputs, data.targets.T, strict=True):
            mean, variance, extra = output.moments(data.X)
            noise = np.full(len(mean), output.posterior.noise_variance)
            columns.append(((target - mean) ** 2, variance, noise, extra))
        weight = np.ones(len(data.targets)) if data.weight is None else data.weight
        squared, variance, noise, extra = (
            np.stack(each, axis=1) for each in zip(*columns, strict=True)
        )
        return cls(squared, variance, noise, extra, weight)

    @classmethod
    def joined(cls, parts: Sequence[HeldOut]) -> HeldOut:
        """Put those of several folds together, with one noise variance for all of them.

        The fold that an outlier is held out of has too little noise, and the outlier would be
        judged by that.
        """
        held = cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))
        pooled = np.average(held.noise, axis=0, weights=held.weight)
        return held._replace(noise=np.broadcast_to(pooled, held.noise.shape))

    @property
    def among(self) -> HeldOut:
        """The same as if all rows were among the data, whatever widens error bars elsewhere."""
        return self._replace(extra=np.zeros_like(self.extra))

    def calibration(self, unspent: float = 1.0) -> Vector:
        """Factor of noise and posterior variance of each output, at least one.

        With it the squared errors are on average what the variances say, ``mean(error^2 / (kappa
        variance + extra)) = unspent``, the share of the degrees of freedom that were not spent on
        what the folds had in common.
        """
        known = self.variance + self.noise
        columns = zip(self.squared_error.T, known.T, self.extra.T, strict=True)
        return np.array([_factor(*each, self.weight, unspent) for each in columns])

    def log_density(self, *, calibrate: bool) -> Vector:
        """Log predictive density of each row, summed over outputs, by calibrated variances."""
        factor = self.calibration() if calibrate else 1.0
        total = factor * (self.variance + self.noise) + self.extra
        density = -0.5 * (np.log(2.0 * math.pi * total) + self.squared_error / total)
        return np.asarray(density.sum(axis=1))


def _factor(
    squared: Vector, variance: Vector, extra: Vector, weight: Vector, share: float
) -> float:
    weight = weight / (share * weight.sum())

    def excess(log_factor: float) -> float:
        return float(weight @ (squared / (math.exp(log_factor) * variance + extra))) - 1.0

    if excess(0.0) <= 0.0:
        return 1.0
    # beyond, the novelty alone would be too wide
    highest = math.log(float(weight @ (squared / variance))) + 1e-9
    return math.exp(float(brentq(excess, 0.0, highest, xtol=1e-6)))


def distinct_rows(data: Data) -> tuple[IndexArray, Vector]:
    """Return rows that differ in inputs or targets, and how often each counts.

    They are in the order of their inputs, and of their targets where inputs are equal, so that it
    does not matter in which order rows are given, in which units, whether one that counts twice is
    given twice, and whether other targets are fitted with these. Inputs that are not numbers all
    count as different.
    """
    X, weight = data.X, data.weight
    seen = X[:, :100]  # enough inputs to tell rows apart
    if sparse.issparse(X):
        seen = seen.toarray()
        # the same numbers in the same places: their bytes stand for them
        X = sparse.csr_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        ends, both = X.indptr, (X.indices.astype(np.int64), X.data + 0.0)
        keys = [
            b"".join(part[start:stop].tobytes() for part in both)
            for start, stop in itertools.pairwise(ends)
        ]
        X = np.unique(np.array(keys, dtype=object), return_inverse=True)[1].astype(float)[:, None]
    elif X.dtype == object:
        X = seen = np.arange(float(len(X)))[:, None]
    rows, counts = select_learning_rows(X, data.targets, weight, len(X), 0, are_labels=False)
    order = np.lexsort(np.hstack([seen[rows], data.targets[rows]]).T[::-1])
    return rows[order], counts[order]


def folds_of(n_rows: int, n_folds: int, enough: int) -> list[IndexArray]:
    """Divide rows at random into folds; return as many of them as hold `enough` rows."""
    order = np.random.RandomState(0).permutation(n_rows)
    n_used = min(n_folds, math.ceil(enough * n_folds / n_rows))
    return [np.sort(order[fold::n_folds]) for fold in range(n_used)]
