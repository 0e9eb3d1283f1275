"""Held-out predictions of candidate structures, refitted to training parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from relvec._linalg import limit_blas_threads
from relvec._typing import IndexArray, Matrix, Vector
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.fit import StructureFitter
from relvec.learning.structures.mixture import Normal
from relvec.learning.structures.posterior import ColumnPosterior
from relvec.learning.structures.rows import TransformedTarget
from relvec.learning.structures.score import Scored
from relvec.learning.structures.structure import Structure

__all__ = ["HeldOut", "Member", "Split", "predict_held_out", "split_at_origins", "split_folds"]


class Member(NamedTuple):
    """A candidate: a structure of transformed targets."""

    scored: Scored
    target: TransformedTarget

    @property
    def structure(self) -> Structure:
        """The structure."""
        return self.scored.structure


class Split(NamedTuple):
    """Rows to train on and rows to predict."""

    train: IndexArray
    test: IndexArray


@dataclass(frozen=True)
class HeldOut:
    """Held-out predictions of all members, for the rows of all splits one after the other."""

    log_density: Matrix
    """Log predictive density of the target, one row per member."""
    median: Matrix
    """Predictive median, one row per member."""
    target: Vector
    fold: IndexArray
    """Split of each row."""
    weight: Vector

    @property
    def mlpd(self) -> Vector:
        """Mean log predictive density of each member."""
        return np.average(self.log_density, axis=1, weights=self.weight)

    @property
    def rmse(self) -> Vector:
        """RMSE of each member."""
        squares = (self.median - self.target) ** 2
        return np.sqrt(np.average(squares, axis=1, weights=self.weight))


def split_at_origins(
    n_rows: int, origins: Sequence[float], horizon: float, least: int = 8
) -> list[Split]:
    """Return splits at fractions of a record: rows before each, and rows up to a horizon after."""
    ahead, splits = math.ceil(horizon * n_rows), []
    for origin in origins:
        start = int(origin * n_rows)
        if start >= least:
            splits.append(Split(np.arange(start), np.arange(start, min(n_rows, start + ahead))))
    return [split for split in splits if len(split.test)]


def split_folds(U: Matrix, n_folds: int) -> list[Split]:
    """Return splits into folds at random, by an order that does not depend on that of the rows."""
    order = np.lexsort(U.T[::-1])
    order = order[np.random.RandomState(0).permutation(len(order))]
    folds = [np.sort(order[number::n_folds]) for number in range(n_folds)]
    everything = np.arange(len(U))
    return [Split(np.setdiff1d(everything, fold), fold) for fold in folds]


def predict_held_out(
    members: Sequence[Member],
    U: Matrix,
    weight: Vector | None,
    spacing: float,
    splits: Sequence[Split],
    n_steps: int,
    n_jobs: int | None = None,
) -> HeldOut:
    """Refit each member to each training part and predict the rows held out.

    Parameters that only the spectra depend on are fitted again by `n_steps` steps from their values
    for all rows. Structure, periods and locations are not, so the scores are optimistic, but
    comparable.
    """
    tasks = (delayed(_predict_split)(members, U, weight, spacing, each, n_steps) for each in splits)
    parts = Parallel(n_jobs=n_jobs)(tasks)
    rows = np.concatenate([split.test for split in splits])
    return HeldOut(
        np.hstack([part[0] for part in parts]),
        np.hstack([part[1] for part in parts]),
        members[0].target.target[rows],
        np.repeat(np.arange(len(splits)), [len(split.test) for split in splits]),
        np.ones(len(rows)) if weight is None else weight[rows],
    )


def _predict_split(
    members: Sequence[Member],
    U: Matrix,
    weight: Vector | None,
    spacing: float,
    split: Split,
    n_steps: int,
) -> tuple[Matrix, Matrix]:
    """Return log densities and medians of all members for one split."""
    stores: dict[int, ColumnStore] = {}
    log_density, median = [], []
    train_weight = None if weight is None else weight[split.train]
    with limit_blas_threads(0.0):
        for structure, target in ((member.structure, member.target) for member in members):
            values = target.values[split.train]
            if id(target) not in stores:
                stores[id(target)] = ColumnStore(U[split.train], values, train_weight)
            store = stores[id(target)]
            refitted = StructureFitter(store, spacing).fit(structure, n_steps)
            latent = ColumnPosterior(refitted, store).predict(U[split.test])
            std = np.sqrt(latent.variance + math.exp(refitted.log_noise))
            prediction = Normal(target, latent.mean, std)
            log_density.append(prediction.log_density(target.target[split.test]))
            median.append(prediction.median)
    return np.array(log_density), np.array(median)
