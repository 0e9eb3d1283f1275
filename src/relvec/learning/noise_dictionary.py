"""Basis functions of the log noise variance: linear in the inputs, and wide Gaussians.

Squared residuals say little about the noise variance at one input, so its logarithm has few, wide
basis functions: the inputs themselves, Gaussians of the inputs in several widths, and the same of
the *level*, which is the predicted mean (noise that grows with the level is common). Each linear
term, and all Gaussians of one width, are a group with one precision (`groups`), so that the
evidence decides which of them are in the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import Atoms

__all__ = ["Level", "NoiseDictionary", "NoiseTuning", "build_noise_dictionary"]


@dataclass(frozen=True)
class NoiseTuning:
    """Constants of the basis functions of the log noise variance."""

    n_widths: tuple[int, ...] = (3, 6, 12)
    """Gaussians of one feature: their widths are the range of the feature divided by these
    numbers, and so is the distance of their centres."""
    n_level_widths: tuple[int, ...] = (3, 6)
    """The same of the level."""
    widths: tuple[float, ...] = (1.0, 0.5)
    """Widths of the Gaussians of several standardised features, in units of the root of the number
    of features."""
    n_centers: int = 40
    """Centres of the Gaussians of several features: training rows."""
    max_features: int = 50
    """With more features than this the noise depends on the level only."""


_TUNING = NoiseTuning()


@dataclass(frozen=True, eq=False)
class Level:
    """A fitted mean as a function of the inputs."""

    atoms: Atoms
    coef: Vector
    intercept: float

    def evaluate(self, X: Any) -> Vector:
        """Return the mean at inputs."""
        return np.asarray(self.atoms.evaluate(X)) @ self.coef + self.intercept


@dataclass(frozen=True, eq=False)
class NoiseCoordinates:
    """Some coordinates of the training rows: their range, mean and standard deviation."""

    lower: Vector
    upper: Vector
    mean: Vector
    scale: Vector

    @classmethod
    def measure(cls, values: Matrix, weight: Vector | None) -> NoiseCoordinates:
        """Measure coordinates of rows with positive weight."""
        share = np.ones(len(values)) if weight is None else weight
        share = share / share.sum()
        mean = share @ values
        scale = np.sqrt(share @ (values - mean) ** 2)
        return cls(values.min(axis=0), values.max(axis=0), mean, scale)

    def standardise(self, values: Matrix) -> Matrix:
        """Standardise coordinates; beyond their range they are those of the nearest limit."""
        return (np.clip(values, self.lower, self.upper) - self.mean) / self.scale

    def rescale(self, values: Matrix) -> Matrix:
        """Rescale coordinates to [0, 1]; beyond their range they are those of the nearest limit."""
        return (np.clip(values, self.lower, self.upper) - self.lower) / (self.upper - self.lower)

    def squared_distance(self, values: Matrix) -> Vector:
        """Return the squared distance from the ranges, in units of their lengths."""
        away = (values - np.clip(values, self.lower, self.upper)) / (self.upper - self.lower)
        return np.asarray(np.square(away).sum(axis=1))


@dataclass(frozen=True, eq=False)
class NoiseDictionary:
    """Basis functions of the log noise variance; see `build_noise_dictionary`."""

    features: IndexArray
    """Features of the linear columns and of Gaussians in one dimension."""
    inputs: NoiseCoordinates
    """Coordinates of these features."""
    near: IndexArray
    """Positions among `features` of those that Gaussians in several dimensions depend on."""
    centers: Matrix
    """Centres of these Gaussians, standardised."""
    level: Level | None
    level_range: NoiseCoordinates | None
    tuning: NoiseTuning = _TUNING

    def parts(self, X: Any) -> Iterator[Matrix]:
        """Yield the columns of each group at inputs."""
        if len(self.features):
            values = X[:, self.features]
            standardised = self.inputs.standardise(values)
            yield from standardised.T[:, :, None]
            if len(self.features) == 1:
                yield from _make_gaussians(self.inputs.rescale(values), self.tuning.n_widths)
        if len(self.near):
            squared = pairwise_distances(standardised[:, self.near], self.centers) ** 2
            for width in self.tuning.widths:
                yield np.exp(-0.5 * squared / (len(self.near) * width**2))
        if self.level is not None:
            assert self.level_range is not None
            values = self.level.evaluate(X)[:, None]
            yield self.level_range.standardise(values)
            yield from _make_gaussians(self.level_range.rescale(values), self.tuning.n_level_widths)

    def evaluate(self, X: Any) -> Matrix:
        """Return the columns at inputs."""
        return np.hstack([np.empty((X.shape[0], 0)), *self.parts(X)])

    def find_groups(self, X: Any) -> IndexArray:
        """Return the group of each column."""
        sizes = [part.shape[1] for part in self.parts(X[:1])]
        return np.repeat(np.arange(len(sizes)), sizes)

    def extrapolation(self, X: Any) -> Vector:
        """Return how far inputs are outside the range of the training inputs, between 0 and 1.

        It is one minus a Gaussian of the distance, with a third of the range as width: the widest
        Gaussian of one feature.
        """
        squared = np.zeros(X.shape[0])
        if len(self.features):
            squared += self.inputs.squared_distance(X[:, self.features])
        width = 1.0 / self.tuning.n_widths[0]
        return -np.expm1(-0.5 * squared / width**2)


def _make_gaussians(values: Matrix, n_widths: tuple[int, ...]) -> Iterator[Matrix]:
    """Yield Gaussians on a grid in [0, 1] for each width, as far apart as they are wide."""
    for n in n_widths:
        yield np.exp(-0.5 * ((values - np.linspace(0.0, 1.0, n + 1)) * n) ** 2)


def build_noise_dictionary(
    X: Any,
    weight: Vector | None,
    level: Level | None,
    relevant: IndexArray | None = None,
    tuning: NoiseTuning = _TUNING,
) -> NoiseDictionary | None:
    """Build the basis functions of the log noise variance for training inputs.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training inputs. Of sparse matrices, objects and more than `tuning.max_features` features
        only the level is used.
    weight : ndarray of shape (n_samples,), optional
        Frequency weights.
    level : Level or None
        Mean of a fit; not used if there is one feature, of which it is a function.
    relevant : ndarray of int, optional
        Features that the mean depends on. Gaussians of several features are of these, or of all if
        there is none.
    tuning : NoiseTuning, optional
        Constants.

    Returns
    -------
    dictionary : NoiseDictionary or None
        None if there is nothing that the noise could depend on.
    """
    rows = slice(None) if weight is None else np.flatnonzero(weight > 0.0)
    X, weight = X[rows], None if weight is None else weight[rows]
    features = np.empty(0, dtype=np.intp)
    if not sparse.issparse(X) and X.dtype != object and X.shape[1] <= tuning.max_features:
        features = np.flatnonzero(X.max(axis=0) > X.min(axis=0))
    values = X[:, features] if len(features) else np.empty((X.shape[0], 0))
    inputs = NoiseCoordinates.measure(values, weight)
    near, centers = np.empty(0, dtype=np.intp), np.empty((0, 0))
    if len(features) > 1:
        near = np.arange(len(features))
        if relevant is not None and np.isin(features, relevant).any():
            near = np.flatnonzero(np.isin(features, relevant))
        # Distinct rows, sorted by content: copies of rows and their order do not matter.
        distinct = np.unique(inputs.standardise(values)[:, near], axis=0)
        order = np.random.RandomState(0).permutation(len(distinct))
        centers = distinct[np.sort(order[: tuning.n_centers])]
    level_range = None
    if level is not None and len(features) != 1:
        means = level.evaluate(X)[:, None]
        level_range = NoiseCoordinates.measure(means, weight)
        # A range of rounding errors only is none.
        if not np.ptp(means) > 1e-9 * np.abs(means).max():
            level_range = None
    if not len(features) and level_range is None:
        return None
    return NoiseDictionary(
        features,
        inputs,
        near,
        centers,
        level if level_range is not None else None,
        level_range,
        tuning,
    )
