"""The grammar of a series: components with initial values, and the changes of a structure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from relvec.kernels.expansions import (
    Expansion,
    Harmonics,
    Kink,
    Line,
    Product,
    SlopeWalk,
    Smooth,
    Step,
    Walk,
)
from relvec.learning.structures.rows import SearchRows
from relvec.learning.structures.structure import Component, Structure

__all__ = ["FACTORS", "TRENDS", "Grammar", "is_quadratic", "period_of"]

FACTORS: dict[str, type[Expansion]] = {
    "linear": Line,
    "smooth": Smooth,
    "walk": Walk,
    "slope_walk": SlopeWalk,
    "periodic": Harmonics,
    "step": Step,
    "kink": Kink,
}
"""Names of the factors that a search may use."""

TRENDS: tuple[type[Expansion], ...] = (Line, Smooth, Walk, SlopeWalk)
WANDERING = (Smooth, Walk)
"""Factors of many columns; a product has one of them at most."""


def is_quadratic(component: Component) -> bool:
    """Whether a component is the square of a line."""
    return component.kinds == (Line, Line)


def is_trend(component: Component) -> bool:
    """Whether a component is a single trend."""
    return len(component.factors) == 1 and component.kinds[0] in TRENDS


def period_of(component: Component) -> float | None:
    """Return the shortest period of a component, or None."""
    periods = [each.period for each in component.factors if isinstance(each, Harmonics)]
    return min(periods, default=None)


@dataclass(frozen=True)
class Grammar:
    """Components and changes of structures for the rows of a series.

    Parameters
    ----------
    rows : SearchRows
        The inputs.
    allowed : frozenset of type
        Factors that may be used.
    max_columns : int
        Largest number of columns of a structure.
    max_components : int
        Largest number of components of a structure.
    """

    rows: SearchRows
    allowed: frozenset[type[Expansion]]
    max_columns: int
    max_components: int

    # ------------------------------------------------------------------ components

    def line(self, log_variance: float = -1.5) -> Component:
        """A line, zero in the middle of the record."""
        return Component.of(Line(), log_variance=log_variance)

    def quadratic(self, log_variance: float = -1.5) -> Component:
        """The square of a line."""
        return Component.of(Line(), Line(), log_variance=log_variance)

    def smooth(self, log_variance: float = -1.5, length_scale: float = 0.3) -> Component:
        """A smooth function."""
        # Shorter length-scales than the sampling allows need no more terms than half the rows.
        n_terms = min(110, max(20, self.rows.n_samples // 2))
        factor = Smooth(length_scale=length_scale, n_terms=n_terms)
        return Component.of(factor, log_variance=log_variance)

    def walk(self, log_variance: float = -1.5) -> Component:
        """A level that wanders."""
        return Component.of(Walk(n_terms=min(110, self.rows.n_samples)), log_variance=log_variance)

    def slope_walk(self, log_variance: float = -1.5) -> Component:
        """A slope that wanders."""
        n_terms = min(60, self.rows.n_samples)
        return Component.of(SlopeWalk(n_terms=n_terms), log_variance=log_variance)

    def trend(self, kind: type[Expansion], log_variance: float = -1.5) -> Component:
        """Return a trend of some kind."""
        makers = {
            Line: self.line,
            Smooth: self.smooth,
            Walk: self.walk,
            SlopeWalk: self.slope_walk,
        }
        return makers[kind](log_variance)

    def season(
        self,
        period: float,
        *others: type[Expansion],
        log_variance: float = -1.5,
        length_scale: float = 1.0,
        n_harmonics: int = 6,
        longer: Harmonics | None = None,
    ) -> Component:
        """Return a periodic function, multiplied by others and by one of a longer period."""
        # Harmonics up to the highest frequency that the spacing shows.
        visible = int(max(1.0, period / (2.05 * self.rows.smallest_spacing)))
        n_harmonics = min(n_harmonics, visible)
        wanders = any(kind in WANDERING for kind in others)
        if wanders or longer is not None:
            n_harmonics = min(n_harmonics, 4)  # every harmonic is multiplied by all other columns
        season = Harmonics(period=period, n_harmonics=n_harmonics, length_scale=length_scale)
        factors: list[Expansion] = [season]
        n_terms = min(40, max(12, 190 // season.n_columns))
        if longer is not None:
            factors.append(longer)
            n_terms = max(8, n_terms // 4)
        for kind in others:
            if kind is Line:
                factors.append(Line(origin=-1.0))  # amplitudes grow from the start of the record
            elif kind is Smooth:
                factors.append(Smooth(n_terms=n_terms))
            else:
                factors.append(Walk(n_terms=n_terms))
        return Component.of(*factors, log_variance=log_variance)

    # ------------------------------------------------------------------ structures

    def allows(self, structure: Structure) -> bool:
        """Whether all factors are allowed, none is redundant and the columns are few enough."""
        have = {component.kinds for component in structure.components}
        if {(Line,), (SlopeWalk,)} <= have:  # a wandering slope comes with a line of its own
            return False
        kinds = {kind for each in have for kind in each}
        return (
            kinds <= self.allowed
            and structure.n_columns <= self.max_columns
            and len(structure.components) <= self.max_components
        )

    def make_seeds(self, periods: Sequence[float]) -> list[Structure]:
        """Return trends with seasons, found in one step.

        A search that adds one component at a time takes a wandering level first, which explains
        the season too.
        """
        seeds = []
        for period in periods:
            season = self.season(period)
            for kind in TRENDS:
                trend = self.trend(kind, 0.0 if kind is SlopeWalk else -1.0)
                seeds.append([trend, season])
                if kind is not Smooth:
                    changing = self.season(period, Walk, log_variance=-3.0)
                    seeds.append([trend, season, changing])
                seeds.append([trend, self.season(period, Line)])
                if kind is Line:
                    seeds.append([trend, self.quadratic(), season])
        seeds.append([self.line(), self.quadratic()])
        return [
            each for each in (Structure(tuple(seed), -2.0) for seed in seeds) if self.allows(each)
        ]

    def list_changes(
        self,
        structure: Structure,
        log_variance: float,
        periods: Sequence[float],
        longer_periods: Sequence[float],
        locations: dict[type[Expansion], float],
    ) -> list[Structure]:
        """Return the neighbours of a structure: additions, products, swaps and removals.

        Parameters
        ----------
        structure : Structure
            The structure.
        log_variance : float
            Log variance of its residuals, about which new components start.
        periods : sequence of float
            Candidate periods that it does not have yet.
        longer_periods : sequence of float
            Candidate periods that may modulate shorter ones.
        locations : dict
            Best location of a step and of a kink.
        """
        changed = [
            *self._additions(structure, log_variance, periods, locations),
            *self._season_products(structure, log_variance, longer_periods),
            *self._trend_swaps(structure),
            *(structure.without(place) for place in range(len(structure.components))),
        ]
        return [each for each in changed if self.allows(each)]

    def _additions(
        self,
        structure: Structure,
        start: float,
        periods: Sequence[float],
        locations: dict[type[Expansion], float],
    ) -> Iterator[Structure]:
        have = {component.kinds for component in structure.components}
        for kind in TRENDS:
            is_redundant = kind is Line and (SlopeWalk,) in have
            if (kind,) not in have and not is_redundant:
                # a wandering slope needs a larger variance for the same effect
                yield structure.with_added(self.trend(kind, start + 2.0 * (kind is SlopeWalk)))
        short = max(4.0 * self.rows.spacing, 0.03)
        yield structure.with_added(self.smooth(start, length_scale=short))
        if (Smooth,) in have:
            yield structure.with_added(self.smooth(start))
        if (Line,) in have and (Line, Line) not in have:
            yield structure.with_added(self.quadratic(start))
        for rank, period in enumerate(periods):
            yield structure.with_added(self.season(period, log_variance=start))
            yield structure.with_added(self.season(period, Line, log_variance=start))
            if rank < 2:
                n_harmonics = 1 if period < 1.0 / 20.0 * 2.0 else 2
                yield structure.with_added(
                    self.season(period, Smooth, log_variance=start, n_harmonics=n_harmonics)
                )
        for shape, location in locations.items():
            # A kink is a change of a slope that is there, if there are lines.
            if shape is Step or {(Line,), (Kink,)} & have or Line not in self.allowed:
                factor = Step(origin=location) if shape is Step else Kink(origin=location)
                yield structure.with_added(Component.of(factor, log_variance=start + 1.0))

    def _season_products(
        self, structure: Structure, start: float, longer_periods: Sequence[float]
    ) -> Iterator[Structure]:
        have = {component.kinds for component in structure.components}
        for place, component in enumerate(structure.components):
            seasons = [each for each in component.factors if isinstance(each, Harmonics)]
            if not seasons:
                if component.kinds == (Smooth,):
                    growing = Component.of(
                        *component.factors, Line(origin=-1.0), log_variance=component.log_variance
                    )
                    yield structure.with_replaced(place, growing)
                continue
            first = min(seasons, key=lambda each: each.period)
            longer = max(seasons, key=lambda each: each.period) if len(seasons) > 1 else None
            others = [kind for kind in component.kinds if kind is not Harmonics]
            for kind in (Line, Smooth, Walk):
                is_wide = kind in WANDERING and any(each in WANDERING for each in others)
                if kind in others or is_wide:
                    continue
                product = self.season(
                    first.period,
                    *others,
                    kind,
                    log_variance=start,
                    length_scale=first.length_scale,
                    longer=longer,
                )
                if product.kinds not in have:
                    yield structure.with_added(product)
                yield structure.with_replaced(
                    place, replace(product, log_variance=component.log_variance)
                )
            if len(component.factors) == 1 and (Harmonics, Harmonics) not in have:
                for period in [each for each in longer_periods if each > 2.5 * first.period][:3]:
                    modulation = Harmonics(period=period, n_harmonics=3)
                    product = self.season(first.period, log_variance=start, longer=modulation)
                    yield structure.with_added(product)

    def _trend_swaps(self, structure: Structure) -> Iterator[Structure]:
        have = {component.kinds for component in structure.components}
        for place, component in enumerate(structure.components):
            if not is_trend(component):
                continue
            for kind in TRENDS:
                if (kind,) not in have:
                    start = component.log_variance + 2.0 * (kind is SlopeWalk)
                    yield structure.with_replaced(place, self.trend(kind, start))

    def list_simplifications(self, structure: Structure) -> list[Structure]:
        """Return the structure with one factor less in a product, or with a parabola as trend."""
        simpler = []
        for place, component in enumerate(structure.components):
            # The first factor, such as a season, is what the others modulate.
            for left_out in range(1, len(component.factors)):
                factors = component.factors[:left_out] + component.factors[left_out + 1 :]
                reduced = Component(Product(factors), component.log_variance)
                simpler.append(structure.with_replaced(place, reduced))
            if component.kinds in ((Smooth,), (Walk,), (SlopeWalk,)):
                others = structure.without(place).components
                rest = [each for each in others if set(each.kinds) != {Line}]
                simpler.append(structure.with_components([*rest, self.line(), self.quadratic()]))
        return [each for each in simpler if self.allows(each) and not _repeats_trends(each)]

    # ------------------------------------------------------------------ alternatives

    def list_trend_alternatives(self, structure: Structure) -> list[Structure]:
        """Return the structure with every other trend, and every other pair of trends.

        What a series does beyond its record depends on the trend, between which the evidence hardly
        decides.
        """
        pairs = (
            (Line, Walk),
            (Line, Smooth),
            (SlopeWalk, Walk),
            (SlopeWalk, Smooth),
            (Walk, Smooth),
        )
        choices: list[tuple[type[Expansion], ...]] = [(Line,), (SlopeWalk,), (Walk,), (Smooth,)]
        choices += pairs
        own = {each.kinds[0]: each for each in structure.components if is_trend(each)}
        rest = [
            component
            for component in structure.components
            if not (is_trend(component) or is_quadratic(component) or Kink in component.kinds)
        ]
        found = []
        for kinds in choices:
            trends = [
                own.get(kind) or self.trend(kind, 0.0 if kind is SlopeWalk else -1.5)
                for kind in kinds
            ]
            found.append(structure.with_components([*trends, *rest]))
        return [each for each in found if self.allows(each)]

    @staticmethod
    def are_variants(first: Structure, second: Structure) -> bool:
        """Whether two structures differ in slightly moved periods or locations only."""
        left, right = (sorted(each.components, key=_component_key) for each in (first, second))
        names = [[component.name() for component in each] for each in (left, right)]
        if names[0] != names[1]:
            return False
        searched = [np.array([v for c in each for v in _searched(c)]) for each in (left, right)]
        return bool((np.abs(searched[0] - searched[1]) < 0.05 * np.abs(searched[0]) + 0.01).all())

    @staticmethod
    def key(structure: Structure) -> tuple[str, ...]:
        """Identify a structure up to its continuous parameters; periods and locations count."""
        return tuple(sorted(map(_component_key, structure.components)))


def _repeats_trends(structure: Structure) -> bool:
    """Whether two components without a period are of the same kind."""
    kinds = [each.kinds for each in structure.components if Harmonics not in each.kinds]
    return len(set(kinds)) < len(kinds)


def _component_key(component: Component) -> str:
    return f"{component.name()} {[round(each, 3) for each in _searched(component)]}"


def _searched(component: Component) -> list[float]:
    """Return the periods and locations of a component."""
    return [
        float(getattr(factor, name))
        for factor in component.factors
        for name in ("period", "origin")
        if hasattr(factor, name) and factor.n_searched
    ]


def log_start(variance: float) -> float:
    """Return the log variance at which a component starts that explains some residuals."""
    return math.log(max(variance, 1e-4)) - 0.7
