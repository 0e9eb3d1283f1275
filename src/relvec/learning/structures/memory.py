"""Fits of structures, and the memory of those that a search fitted well."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from operator import attrgetter

import numpy as np

from relvec.learning.structures.changes import Change, ChangeEstimator
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.fit import StructureFitter
from relvec.learning.structures.rows import TransformedTarget
from relvec.learning.structures.score import Scored, ScoreRule
from relvec.learning.structures.structure import Structure
from relvec.learning.structures.tuning import SearchTuning
from relvec.learning.structures.watch import Watch
from relvec.solvers import Progress

__all__ = ["Keyed", "StructureMemory", "by_score"]

NEGLIGIBLE_LOSS = 0.01
"""Components whose removal costs less evidence than this, in nats, are removed all at once."""

by_score = attrgetter("score")
Keyed = dict[tuple[str, ...], Scored]


class StructureMemory(ABC):
    """What searches for structures share: fits, and the best fit of each structure."""

    store: ColumnStore
    fitter: StructureFitter
    rule: ScoreRule
    tuning: SearchTuning
    target: TransformedTarget
    watch: Watch
    found: Keyed
    n_fits: int

    @property
    def max_components(self) -> float:
        """Largest number of components that an elimination leaves."""
        return math.inf

    @abstractmethod
    def key(self, structure: Structure) -> tuple[str, ...]:
        """Identify a structure up to its continuous parameters."""

    def list_best(self, number: int) -> list[Scored]:
        """Return the best structures that were found."""
        return sorted(self.found.values(), key=by_score, reverse=True)[:number]

    def settle(self, structure: Structure, n_steps: int | None = None) -> Scored:
        """Fit a structure well, and remember it."""
        fitted = self._fit(structure, n_steps or self.tuning.n_settle_steps)
        key = self.key(fitted.structure)
        if key not in self.found or self.found[key].score < fitted.score:
            self.found[key] = fitted
        stage, n_components = str(self.target.transform), len(structure.components)
        self.watch.report(Progress(stage, self.n_fits, fitted.score, n_components))
        return fitted

    def eliminate(self, scored: Scored) -> Scored:
        """Remove components one at a time while the score rises, or while they are too many."""
        current = self._drop_negligible(scored)
        while current.structure.components and not self.watch.is_over:
            ranked = sorted(
                self._estimator(current).estimate_removals(), key=by_score, reverse=True
            )
            fitted = []
            for each in ranked[: self.tuning.n_settled // 2]:
                known = self.found.get(self.key(each.structure))
                fitted.append(known or self._fit(each.structure, self.tuning.n_screen_steps))
                # The best estimate is a lower bound: if it is a gain, no others are needed.
                if fitted[-1].score > current.score:
                    break
            best = max(fitted, key=by_score)
            is_few = len(current.structure.components) <= self.max_components
            if best.score <= current.score and is_few:
                break
            current = best
        return self.settle(current.structure)

    def _drop_negligible(self, scored: Scored) -> Scored:
        """Remove all components without an effect at once."""
        losses = self._estimator(scored).removal_losses
        removed = tuple(map(int, np.flatnonzero(losses < NEGLIGIBLE_LOSS)))
        if not removed:
            return scored
        rest = Change(removed, ()).apply(scored.structure)
        return self._fit(rest, self.tuning.n_screen_steps)

    def _estimator(self, current: Scored) -> ChangeEstimator:
        return ChangeEstimator(current, self.store, self.fitter, self.rule)

    def _fit(self, structure: Structure, n_steps: int) -> Scored:
        self.n_fits += 1
        return self.rule(self.fitter.fit(structure, n_steps))

    def _screen(self, structures: Iterable[Structure]) -> list[Scored]:
        """Fit structures that were not settled yet by a few steps."""
        screened = []
        for structure in structures:
            if self.watch.is_over:
                break
            if self.key(structure) not in self.found:
                screened.append(self._fit(structure, self.tuning.n_screen_steps))
        return screened
