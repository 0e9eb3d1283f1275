"""The grammar of several features: main effects, products of two features, and their changes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from relvec._typing import Matrix
from relvec.kernels.expansions import Expansion, Line, Smooth
from relvec.learning.structures.changes import Change
from relvec.learning.structures.score import ScoreRule
from relvec.learning.structures.structure import Component, Structure

__all__ = ["TableGrammar", "TableScoreRule"]

LENGTH_SCALE = 0.7
"""Initial length-scale; features range from -1 to 1."""
N_TERMS = {1: 16, 2: 8}
"""Terms per feature of smooth main effects and of smooth functions of two features. The smallest
length-scales are then 0.16 and 0.32."""


FEW_FEATURES = 10.0
"""Number of features up to which the penalty of a component is that of a series. Among more of
them, the logarithm of their ratio to this number is added: by trials with noise alone."""


@dataclass(frozen=True)
class TableScoreRule(ScoreRule):
    """Score of structures of several features.

    The log prior odds against a component grow with the logarithm of the number ``d`` of features.
    There are ``d (d - 1) / 2`` pairs of them: the logarithm of the ratio of both numbers is added
    for a pair.
    """

    n_features: int = 2

    def structure_penalty(self, component: Component) -> float:
        """Return the log prior odds against a component."""
        further = len(component.factors) - 1
        main = math.log(max(1.0, self.n_features / FEW_FEATURES))
        pair = math.log(max(1.0, 0.5 * (self.n_features - 1)))
        return self.per_component + main + further * (self.per_factor + pair)


@dataclass(frozen=True)
class TableGrammar:
    """Components and changes of structures of several features.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_features)
        Scaled inputs.
    allowed : frozenset of type
        Factors that may be used: `Line` and `Smooth` are.
    max_columns : int
        Largest number of columns of a structure.
    """

    U: Matrix
    allowed: frozenset[type[Expansion]]
    max_columns: int

    @cached_property
    def features(self) -> list[int]:
        """Features that vary."""
        return [j for j in range(self.U.shape[1]) if np.ptp(self.U[:, j]) > 0.0]

    @cached_property
    def _smooth_features(self) -> frozenset[int]:
        """Features of three values at least: every function of two values is a line."""
        if Smooth not in self.allowed:
            return frozenset()
        return frozenset(j for j in self.features if len(np.unique(self.U[:, j])) > 2)

    def _factor(self, kind: type[Expansion], feature: int, n_terms: int) -> Expansion:
        if kind is Line:
            return Line(feature=feature)
        return Smooth(feature=feature, length_scale=LENGTH_SCALE, n_terms=n_terms)

    def _kinds(self, feature: int) -> list[type[Expansion]]:
        kinds: list[type[Expansion]] = [Smooth] if feature in self._smooth_features else []
        return [*kinds, Line] if Line in self.allowed else kinds

    def main_effects(self, feature: int) -> list[Component]:
        """Return a smooth function and a line of a feature, if they are allowed."""
        kinds = self._kinds(feature)
        return [Component.of(self._factor(kind, feature, N_TERMS[1])) for kind in kinds]

    def products(self, one: int, other: int, n_terms: int = N_TERMS[2]) -> list[Component]:
        """Return the products of main effects of two features."""
        return [
            Component.of(self._factor(left, one, n_terms), self._factor(right, other, n_terms))
            for left in self._kinds(one)
            for right in self._kinds(other)
        ]

    # ------------------------------------------------------------------ changes

    def additions(self, structure: Structure, max_pairs: int) -> Iterator[Change]:
        """Return additions of one component: main effects, and products of two features.

        Products of features that the structure contains come first; there are `max_pairs` pairs at
        most.
        """
        have = {_content(component) for component in structure.components}
        active = {feature for _, features in have for feature in features}
        components = [each for feature in self.features for each in self.main_effects(feature)]
        pairs = sorted(
            combinations(self.features, 2), key=lambda pair: -len(active.intersection(pair))
        )
        for one, other in pairs[:max_pairs]:
            components += self.products(one, other)
        for component in components:
            if _content(component) not in have:
                yield Change((), (component,))

    def replacements(self, structure: Structure) -> Iterator[Change]:
        """Return other kinds of each component, and pairs of main effects made one function."""
        places: dict[int, list[int]] = {}
        for place, component in enumerate(structure.components):
            features = [factor.feature for factor in component.factors]
            others = (
                self.main_effects(*features) if len(features) == 1 else self.products(*features)
            )
            yield from (
                Change((place,), (other,)) for other in others if other.kinds != component.kinds
            )
            if len(features) == 1:
                places.setdefault(features[0], []).append(place)
        for one, other in combinations(sorted(places), 2):
            for product in self.products(one, other)[:1]:
                yield Change((*places[one], *places[other]), (product,))

    def allows(self, structure: Structure) -> bool:
        """Whether the columns are few enough, and every component occurs once."""
        contents = [_content(component) for component in structure.components]
        return len(set(contents)) == len(contents) and structure.n_columns <= self.max_columns

    @staticmethod
    def key(structure: Structure) -> tuple[str, ...]:
        """Identify a structure up to its continuous parameters."""
        return tuple(sorted(f"{_content(each)}" for each in structure.components))


def _content(component: Component) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the kinds and the features of a component."""
    return component.symbols, tuple(factor.feature for factor in component.factors)
