"""Predictions of held-out rows, and the calibration factor of error bars from their errors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import brentq, minimize_scalar

from relvec._typing import IndexArray, Matrix, Vector
from relvec.learning.rows import select_learning_rows

if TYPE_CHECKING:
    from relvec.estimators._output import FittedOutput
    from relvec.estimators._plan import Data

__all__ = ["HeldOutPredictions", "find_distinct_rows", "split_folds"]


class HeldOutPredictions(NamedTuple):
    """Squared errors and predictive variances of held-out rows, one column per output."""

    squared_error: Matrix
    variance: Matrix
    """Posterior variance of the function."""
    noise: Matrix
    """Noise variance of each row."""
    extra: Matrix
    """Variance added away from the data."""
    weight: Vector
    """Frequency weight of each row."""
    relative: Matrix
    """Noise variance of each row up to a factor that is common to all rows."""

    @classmethod
    def predict(cls, outputs: Sequence[FittedOutput], data: Data) -> HeldOutPredictions:
        """Predict rows with the outputs of a fit to other rows."""
        columns = []
        for number, (output, target) in enumerate(zip(outputs, data.targets.T, strict=True)):
            mean, variance, extra = output.moments(data.X)
            relative = np.ones(len(mean))
            if data.row_variance is not None:
                relative = data.row_variance[:, number]
            noise = output.posterior.noise_variance / output.noise_unit * relative
            columns.append(((target - mean) ** 2, variance, noise, extra, relative))
        weight = np.ones(len(data.targets)) if data.weight is None else data.weight
        squared, variance, noise, extra, relative = (
            np.stack(each, axis=1) for each in zip(*columns, strict=True)
        )
        return cls(squared, variance, noise, extra, weight, relative)

    @classmethod
    def concatenate(cls, parts: Sequence[HeldOutPredictions]) -> HeldOutPredictions:
        """Concatenate the predictions of several folds, with the mean of their noise variances.

        The fit that holds out an outlier estimates a smaller noise variance; with that the outlier
        would have too much influence.
        """
        held = cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))
        pooled = np.average(held.noise / held.relative, axis=0, weights=held.weight)
        return held._replace(noise=pooled * held.relative)

    @property
    def within_data(self) -> HeldOutPredictions:
        """The same without the variance added away from the data."""
        return self._replace(extra=np.zeros_like(self.extra))

    def calibration(self, dof_fraction: float = 1.0) -> Vector:
        """Return the calibration factor of each output, at least one.

        The factor ``kappa`` of noise variance and posterior variance solves ``mean(error^2 / (kappa
        variance + extra)) = dof_fraction``: the squared errors then agree with the predictive
        variances on average. `dof_fraction` is below one if all folds share length-scales that were
        learnt from all rows.
        """
        # `extra` is not multiplied: near the data it is about zero, and errors there say nothing
        # about it.
        known = self.variance + self.noise
        columns = zip(self.squared_error.T, known.T, self.extra.T, strict=True)
        return np.array([_solve_calibration(*each, self.weight, dof_fraction) for each in columns])

    def posterior_calibration(self) -> Vector:
        """Return the factor of the posterior variance of each output if the noise is known.

        The factor, at least one, maximises the log predictive density. Where the noise is known,
        the mean of squared errors says little about the posterior variance: rows with little noise
        say most, and the likelihood gives them their weight.
        """
        columns = zip(
            self.squared_error.T, self.variance.T, (self.noise + self.extra).T, strict=True
        )
        return np.array([_maximise_density(*each, self.weight) for each in columns])

    def log_density(self, *, calibrate: bool) -> Vector:
        """Log predictive density of each row in nats, summed over outputs."""
        factor = self.calibration() if calibrate else 1.0
        total = factor * (self.variance + self.noise) + self.extra
        # Gaussian log density at the calibrated variance.
        density = -0.5 * (np.log(2.0 * math.pi * total) + self.squared_error / total)
        return np.asarray(density.sum(axis=1))


def _solve_calibration(
    squared: Vector, variance: Vector, extra: Vector, weight: Vector, dof_fraction: float
) -> float:
    """Solve for the calibration factor of one output; one if variances are large enough."""
    # Division by `dof_fraction` moves it to the left side: the weighted mean must be one.
    weight = weight / (dof_fraction * weight.sum())

    def excess(log_factor: float) -> float:
        # Falls in kappa, so there is one root at most; log kappa keeps kappa positive.
        return float(weight @ (squared / (math.exp(log_factor) * variance + extra))) - 1.0

    if excess(0.0) <= 0.0:
        return 1.0
    # Without `extra` the root is explicit; `extra` >= 0 can only lower it, so this is an upper
    # bracket. 1e-9 covers rounding.
    highest = math.log(float(weight @ (squared / variance))) + 1e-9
    return math.exp(float(brentq(excess, 0.0, highest, xtol=1e-6)))


def _maximise_density(
    squared_error: Vector, variance: Vector, noise: Vector, weight: Vector
) -> float:
    """Find the factor of `variance` that maximises the log density of errors, from one on."""

    def loss(log_factor: float) -> float:
        total = math.exp(log_factor) * variance + noise
        return float(weight @ (np.log(total) + squared_error / total))

    # Two posteriors that differ in variance by more than a factor of 100 are different models.
    found = minimize_scalar(loss, bounds=(0.0, math.log(100.0)), method="bounded")
    return math.exp(found.x) if loss(found.x) < loss(0.0) else 1.0


def find_distinct_rows(data: Data) -> tuple[IndexArray, Vector]:
    """Return the distinct rows of inputs and targets, and how often each occurs.

    They are sorted by inputs, then by targets, so that the result does not depend on the order of
    the rows, on units, on whether a weight is two or the row is given twice, nor on other outputs.
    Inputs that are not numbers all count as distinct.
    """
    X, weight = data.X, data.weight
    sort_keys = X[:, :100]  # enough features to sort rows
    if sparse.issparse(X):
        sort_keys = sort_keys.toarray()
        # rows are equal if the bytes of their indices and values are
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
        X = sort_keys = np.arange(float(len(X)))[:, None]
    targets = data.targets
    if data.row_variance is not None:  # rows of different noise are not copies
        targets = np.hstack([targets, data.row_variance])
    rows, counts = select_learning_rows(X, targets, weight, len(X), 0, are_labels=False)
    order = np.lexsort(np.hstack([sort_keys[rows], targets[rows]]).T[::-1])
    return rows[order], counts[order]


def split_folds(n_rows: int, n_folds: int, enough: int) -> list[IndexArray]:
    """Divide rows at random into folds; return as many folds as have `enough` rows in total."""
    order = np.random.RandomState(0).permutation(n_rows)
    # Each fold has n_rows / n_folds rows.
    n_used = min(n_folds, math.ceil(enough * n_folds / n_rows))
    return [np.sort(order[fold::n_folds]) for fold in range(n_used)]
