"""Fits of structures, and the memory of those that a search fitted well."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from operator import attrgetter

from relvec.learning.structures.fit import StructureFitter
from relvec.learning.structures.score import Scored, ScoreRule
from relvec.learning.structures.structure import Structure
from relvec.learning.structures.tuning import SearchTuning

__all__ = ["Keyed", "StructureMemory", "by_score"]

by_score = attrgetter("score")
Keyed = dict[tuple[str, ...], Scored]


class StructureMemory(ABC):
    """What searches for structures share: fits, and the best fit of each structure."""

    fitter: StructureFitter
    rule: ScoreRule
    tuning: SearchTuning
    is_stopped: Callable[[], bool]
    found: Keyed
    n_fits: int

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
        return fitted

    def _fit(self, structure: Structure, n_steps: int) -> Scored:
        self.n_fits += 1
        return self.rule(self.fitter.fit(structure, n_steps))

    def _screen(self, structures: Iterable[Structure]) -> list[Scored]:
        """Fit structures that were not settled yet by a few steps."""
        screened = []
        for structure in structures:
            if self.is_stopped():
                break
            if self.key(structure) not in self.found:
                screened.append(self._fit(structure, self.tuning.n_screen_steps))
        return screened
