"""Changes of a structure, and estimates of their scores without a fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from relvec._typing import Vector
from relvec.kernels.expansions import SlopeWalk
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.component_evidence import compute_addition, compute_removal_losses
from relvec.learning.structures.fit import StructureFitter
from relvec.learning.structures.posterior import ColumnPosterior
from relvec.learning.structures.score import Scored, ScoreRule
from relvec.learning.structures.structure import Component, Structure

__all__ = ["Change", "ChangeEstimator", "Estimate"]


class Change(NamedTuple):
    """Places of the components to remove from a structure, and components to add to it."""

    removed: tuple[int, ...]
    added: tuple[Component, ...]

    @classmethod
    def between(cls, before: Structure, after: Structure) -> Change:
        """Return the change that leads from one structure to another."""
        places = (p for p, each in enumerate(before.components) if each not in after.components)
        added = (each for each in after.components if each not in before.components)
        return cls(tuple(places), tuple(added))

    @property
    def can_be_estimated(self) -> bool:
        """Whether it adds one component at most, none of which brings a diffuse slope."""
        return len(self.added) < 2 and all(each.kinds != (SlopeWalk,) for each in self.added)

    def apply(self, structure: Structure) -> Structure:
        """Return the changed structure."""
        rest = (c for place, c in enumerate(structure.components) if place not in self.removed)
        return structure.with_components([*rest, *self.added])


class Estimate(NamedTuple):
    """A changed structure, not yet fitted."""

    structure: Structure
    score: float
    """Its score with all other parameters held."""


@dataclass(frozen=True)
class ChangeEstimator:
    """Scores after changes of a fitted structure, with the parameters of the rest held.

    A fit only raises them.
    """

    current: Scored
    store: ColumnStore
    fitter: StructureFitter
    rule: ScoreRule

    @cached_property
    def removal_losses(self) -> Vector:
        """Fall of the log evidence if each component is removed."""
        return compute_removal_losses(ColumnPosterior(self.current.structure, self.store))

    def estimate_removals(self) -> list[Estimate]:
        """Estimate the removal of each component."""
        structure = self.current.structure
        return [
            self._score(Change((place,), ()), -float(loss))
            for place, loss in zip(
                range(len(structure.components)), self.removal_losses, strict=True
            )
        ]

    def estimate_additions(self, changes: Iterable[Change]) -> Iterator[Estimate]:
        """Estimate changes that add one component each, and may remove others.

        The component gets the variance of largest evidence.
        """
        by_removal: dict[tuple[int, ...], list[Change]] = {}
        for change in changes:
            by_removal.setdefault(change.removed, []).append(change)
        for removed, alike in by_removal.items():
            rest = Change(removed, ()).apply(self.current.structure)
            posterior = ColumnPosterior(rest, self.store)
            loss = self.current.structure.log_evidence - self.fitter.compute_log_evidence(rest)
            for change in alike:
                (component,) = change.added
                addition = compute_addition(component, posterior, self.store)
                yield self._score(Change(removed, (addition.component,)), addition.gain - loss)

    def _score(self, change: Change, gain: float) -> Estimate:
        structure = self.current.structure
        removed = [structure.components[place] for place in change.removed]
        gain += sum(map(self.rule.component_penalty, removed))
        gain -= sum(map(self.rule.component_penalty, change.added))
        return Estimate(change.apply(structure), self.current.score + gain)
