"""Automated construction of a kernel: search, held-out comparison, weights of the structures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from joblib import Parallel, delayed

from relvec._linalg import limit_blas_threads
from relvec._typing import Matrix, Vector
from relvec.kernels.expansions import Expansion, Harmonics
from relvec.learning.structures.arbiter import (
    HeldOut,
    Member,
    Split,
    predict_held_out,
    split_at_origins,
    split_folds,
)
from relvec.learning.structures.broad_search import BroadSeriesSearch
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.fast_search import FastSeriesSearch
from relvec.learning.structures.forecast import FittedMember, Forecaster
from relvec.learning.structures.posterior import ColumnPosterior
from relvec.learning.structures.rows import Scaling, SearchRows, TransformedTarget
from relvec.learning.structures.score import Scored
from relvec.learning.structures.stacking import stack_densities, stack_means
from relvec.learning.structures.structure import Structure
from relvec.learning.structures.table_search import TableSearch
from relvec.learning.structures.transforms import find_possible_transforms
from relvec.learning.structures.tuning import SearchTuning
from relvec.learning.structures.watch import Watch

__all__ = ["Construction", "KernelConstruction", "Lost", "Search"]


NEGLIGIBLE_WEIGHT = 0.002
"""Structures of less weight are left out of predictions; so little hardly moves a quantile."""


class Search(Protocol):
    """A search for structures under one transform of the targets."""

    target: TransformedTarget
    watch: Watch
    found: dict[tuple[str, ...], Scored]
    n_fits: int

    def start(self) -> None:
        """Fit a few structures, by which transforms can be compared."""

    def run(self) -> None:
        """Search; what is fitted is in `found`."""

    def list_best(self, number: int) -> list[Scored]:
        """Return the best structures that were found."""

    def settle(self, structure: Structure) -> Scored:
        """Fit a structure well, and remember it."""

    def list_alternatives(self, structure: Structure) -> list[Structure]:
        """Return structures that differ in what they predict beyond the data."""


class Lost(NamedTuple):
    """What a component of the best structure is worth."""

    without: Structure
    """The structure without the component, fitted again."""
    score: float
    """Loss of penalised log evidence, in nats."""


@dataclass(frozen=True)
class Construction:
    """Structures that a search found, their held-out predictions, and their weights."""

    scaling: Scaling
    rows: SearchRows
    weight: Vector | None
    members: tuple[Member, ...]
    """Candidates, the one of the best score first."""
    held_out: HeldOut | None
    """Held-out predictions of the candidates; None if they were not compared so."""
    mixture_weights: Vector
    """Weight of each candidate in averaged predictions."""
    lost: tuple[Lost, ...]
    """For each component of the best structure, the best one without it."""
    effective_dof: float
    """Effective degrees of freedom of the best structure."""
    is_complete: bool
    """Whether the search ended by itself, not by a limit of time."""

    @property
    def best(self) -> Member:
        """The candidate of the best score."""
        return self.members[0]

    def make_forecaster(self) -> Forecaster:
        """Return the predictions of all structures of positive weight, averaged."""
        kept = np.flatnonzero(self.mixture_weights > 0.0)
        members = [FittedMember(self.members[i], self.rows.U, self.weight) for i in kept]
        return Forecaster(members, self.mixture_weights[kept], self.scaling)

    def make_best_forecaster(self, min_gamma: float | None = None) -> Forecaster:
        """Return the predictions of the best structure, or of the columns the data determine."""
        if min_gamma is None:
            fitted = FittedMember(self.best, self.rows.U, self.weight)
        else:
            fitted = FittedMember.of_columns(self.best, self.rows.U, self.weight, min_gamma)
        return Forecaster([fitted], np.ones(1), self.scaling)

    def list_periods(self, structure: Structure) -> Vector:
        """Return the periods of a structure, in units of the input."""
        factors = [each for part in structure.components for each in part.factors]
        found = {each.period for each in factors if isinstance(each, Harmonics)}
        return np.array(sorted(found)) * self.scaling.half_range[0]


@dataclass(frozen=True)
class KernelConstruction:
    """Plan of an automated construction.

    Parameters
    ----------
    allowed : frozenset of type
        Factors that may be used.
    transforms : tuple of str
        Names of the transforms of the targets to compare.
    periods : sequence of float or None
        Candidate periods in units of the input; None to find them.
    origins, horizon : sequence of float, float
        Rolling origins as fractions of the record, and how far each predicts.
    is_averaged : bool
        Whether predictions average several structures, which are then compared on held-out rows.
    tuning : SearchTuning
        Effort and penalties.
    n_jobs : int or None
        Number of parallel jobs.
    watch : Watch
        Asked before every fit whether to end with what was found.
    """

    allowed: frozenset[type[Expansion]]
    transforms: tuple[str, ...]
    periods: Sequence[float] | None
    origins: tuple[float, ...]
    horizon: float
    is_averaged: bool
    tuning: SearchTuning
    n_jobs: int | None = None
    watch: Watch = field(default_factory=Watch)

    def run(
        self, X: Matrix, y: Vector, weight: Vector | None, searches: Sequence[Search] = ()
    ) -> tuple[Construction, tuple[Search, ...]]:
        """Construct a kernel for rows in the order of their inputs.

        `searches` of an earlier construction for the same data go on where they ended. They are
        returned beside the construction.
        """
        scaling = Scaling.of(X)
        rows = SearchRows(scaling.apply(X))
        for search in searches:
            search.watch = self.watch
        if not searches:
            searches = self._make_searches(scaling, rows, y, weight)
        searches = self._run_all(searches)
        ranked = sorted(searches, key=_best_score, reverse=True)
        members = self._collect(ranked)
        held_out, mixture_weights = None, np.eye(len(members))[0]
        splits = self._make_splits(rows)
        if self.is_averaged and len(members) > 1 and splits:
            held_out = predict_held_out(
                members,
                rows.U,
                weight,
                rows.spacing,
                splits,
                self.tuning.n_refit_steps,
                self.n_jobs,
            )
            mixture_weights = _average_weights(held_out)
        own = next(search for search in ranked if search.target is members[0].target)
        lost = _compute_losses(own, members[0])
        construction = Construction(
            scaling=scaling,
            rows=rows,
            weight=weight,
            members=tuple(members),
            held_out=held_out,
            mixture_weights=mixture_weights,
            lost=lost,
            effective_dof=_count_dof(members[0], rows.U, weight),
            is_complete=not self.watch.is_over,
        )
        return construction, tuple(ranked)

    def _make_searches(
        self, scaling: Scaling, rows: SearchRows, y: Vector, weight: Vector | None
    ) -> list[Search]:
        """Return one search for each transform that suits the targets."""
        possible = find_possible_transforms(y, self.transforms)
        targets = [TransformedTarget.of(each, y, weight) for each in possible.values()]
        if rows.U.shape[1] > 1:
            return [
                TableSearch(rows, target, weight, self.allowed, self.tuning, self.watch)
                for target in targets
            ]
        scaled = None
        if self.periods is not None:
            scaled = [float(period / scaling.half_range[0]) for period in self.periods]
        kind = FastSeriesSearch if self.tuning.is_fast else BroadSeriesSearch
        return [
            kind(rows, target, weight, self.allowed, scaled, self.tuning, self.watch)
            for target in targets
        ]

    def _run_all(self, searches: Sequence[Search]) -> list[Search]:
        """Run the searches, in parallel if there are several jobs.

        A fast search is run for the transform under which a trend and a season score best.
        """
        parallel = Parallel(n_jobs=self.n_jobs)
        if self.tuning.is_fast and len(searches) > 1:
            begun = parallel(delayed(_call_search)(search, "start") for search in searches)
            best, *others = sorted(begun, key=_best_score, reverse=True)
            return [_call_search(best, "run"), *others]
        return list(parallel(delayed(_call_search)(search, "run") for search in searches))

    def _collect(self, ranked: Sequence[Search]) -> list[Member]:
        """Return the candidates: the best structures, and the best with other trends.

        The runners-up of a search are near copies of the best structure. What decides a forecast is
        the trend and the transform, between which the evidence hardly distinguishes.
        """
        first = ranked[0]
        chosen = [Member(each, first.target) for each in first.list_best(self.tuning.n_runners_up)]
        if not self.is_averaged:
            return chosen
        threshold = chosen[0].scored.score - self.tuning.max_score_gap
        for search in ranked:
            best = search.list_best(1)[0]
            if best.score < threshold:
                continue
            members = [] if search is first else [Member(best, search.target)]
            known = {member.structure.name() for member in chosen + members}
            for alternative in search.list_alternatives(best.structure):
                if alternative.name() not in known and not self.watch.is_over:
                    members.append(Member(search.settle(alternative), search.target))
            chosen += members
        # An alternative trend may turn out to be the best of all.
        return sorted(chosen, key=lambda member: -member.scored.score)

    def _make_splits(self, rows: SearchRows) -> list[Split]:
        """Return rolling origins for a series, folds for several inputs."""
        if rows.U.shape[1] > 1:
            return split_folds(rows.U, self.tuning.n_folds)
        return split_at_origins(rows.n_samples, self.origins, self.horizon)


def _call_search(search: Search, method: str) -> Search:
    """Call a method of a search, on one BLAS thread: its matrices are small."""
    with limit_blas_threads(0.0):
        getattr(search, method)()
    return search


def _best_score(search: Search) -> float:
    return search.list_best(1)[0].score


def _average_weights(held_out: HeldOut) -> Vector:
    """Return the mean of the weights of best density and of least squared error."""
    by_density = stack_densities(held_out.log_density, held_out.weight)
    by_mean = stack_means(held_out.median, held_out.target, held_out.fold, held_out.weight)
    weights = 0.5 * (by_density + by_mean)
    weights[weights < NEGLIGIBLE_WEIGHT] = 0.0
    return weights / weights.sum()


def _compute_losses(search: Search, best: Member) -> tuple[Lost, ...]:
    """Fit the best structure again without each of its components."""
    found = []
    with limit_blas_threads(0.0):
        for place in range(len(best.structure.components)):
            without = search.settle(best.structure.without(place))
            found.append(Lost(without.structure, best.scored.score - without.score))
    return tuple(found)


def _count_dof(best: Member, U: Matrix, weight: Vector | None) -> float:
    """Return the sum of ``gamma`` over the columns, the intercept's included."""
    with limit_blas_threads(0.0):
        store = ColumnStore(U, best.target.values, weight)
        return float(ColumnPosterior(best.structure, store).well_determined.sum())
