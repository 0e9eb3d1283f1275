"""Fast search for the structure of a series: all components at once, then elimination."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from relvec.kernels.expansions import Expansion, Line, Product, SlopeWalk, Smooth, Walk
from relvec.learning.structures.changes import Change
from relvec.learning.structures.memory import by_score
from relvec.learning.structures.score import Scored
from relvec.learning.structures.search import SeriesSearch
from relvec.learning.structures.structure import Component, Structure

__all__ = ["FastSeriesSearch"]

N_PERIODS = 3
"""Number of candidate periods in the first model."""
FEW_TERMS: dict[type[Expansion], int] = {Smooth: 40, Walk: 60, SlopeWalk: 30}
"""Terms of trends in the first model, which costs the third power of all columns."""
FEW_TERMS_OF_FACTORS: dict[type[Expansion], int] = {Smooth: 20, Walk: 20}
N_SEED_PERIODS = 2
"""Number of candidate periods in combinations of a trend and a season."""
N_STARTS = 2
"""Number of structures whose changes are tried at each level."""


@dataclass
class FastSeriesSearch(SeriesSearch):
    """Search for the structure of a series by elimination; see `SeriesSearch` for the parameters.

    All trends and seasons are fitted at once, with one variance for each component, and removed one
    at a time while the score rises. Then the same changes as in `SeriesSearch` are tried on the
    best structure only, compared by the evidence at the present values of all other parameters.
    """

    _changed: set[Structure] = field(default_factory=set)

    def run(self) -> None:
        """Search; what is fitted is in `found`."""
        null = self.settle(Structure())
        self._start(null.structure.log_noise)
        for _ in range(self.tuning.max_levels):
            best = self.list_best(1)[0]
            for start in self._list_unchanged():
                changed = self._change(start)
                if changed is not None and changed.score > start.score:
                    self.eliminate(changed)
            if self.list_best(1)[0].score <= best.score + self.tuning.min_improvement:
                break
            self._polish_periods(self.list_best(1)[0])

    def _list_unchanged(self) -> list[Scored]:
        """Return those of the best structures whose changes were not tried."""
        starts = [each for each in self.list_best(N_STARTS) if each.structure not in self._changed]
        self._changed.update(each.structure for each in starts)
        return starts

    def _start(self, log_noise: float) -> None:
        """Fit what remains of all components at once, and the best combinations of a trend and a season."""
        everything = self._make_everything()
        if everything and not self.is_stopped():
            rest = self._eliminate_coarse(everything, log_noise)
            self.settle(rest)
        seeds = self._screen(self.grammar.make_seeds(self.periods[:N_SEED_PERIODS]))
        seeds.sort(key=by_score, reverse=True)
        for seed in seeds[:N_STARTS]:
            if not self.is_stopped():
                self.settle(seed.structure)
        self._polish_periods(self.list_best(1)[0])

    # ------------------------------------------------------------------ elimination

    def _make_everything(self) -> list[Component]:
        """Return all trends, and seasons of the best periods, as far as they are allowed."""
        grammar, start = self.grammar, -2.0
        components = [grammar.line(start), grammar.quadratic(start)]
        components += [grammar.trend(kind, start) for kind in (Smooth, Walk, SlopeWalk)]
        for rank, period in enumerate(self.periods[:N_PERIODS]):
            components += [grammar.season(period, log_variance=start)]
            components += [grammar.season(period, Line, log_variance=start)]
            if rank == 0:
                components.append(grammar.season(period, Walk, log_variance=start - 1.0))
        return [each for each in components if self.allowed.issuperset(each.kinds)]

    def _eliminate_coarse(self, everything: list[Component], log_noise: float) -> Structure:
        """Eliminate components in expansions of few terms; return the rest in all terms."""
        coarse = {_coarsen(each).product.column_key: each for each in everything}
        found = dict(self.found)
        first = Structure(tuple(map(_coarsen, everything)), log_noise)
        rest = self.eliminate(self._fit(first, self.tuning.n_settle_steps)).structure
        self.found = found  # without expansions of few terms
        return rest.with_components(
            [coarse[each.product.column_key].with_vector(each.vector) for each in rest.components]
        )

    # ------------------------------------------------------------------ changes

    def _change(self, current: Scored) -> Scored | None:
        """Return the best structure that one change leads to."""
        structure = current.structure
        neighbours = [*self._list_changes(structure), *_simplify(structure)]
        changes = [Change.between(structure, each) for each in neighbours]
        estimates = self._estimator(current).estimate_additions(
            each for each in changes if each.added and each.can_be_estimated
        )
        ranked = sorted(estimates, key=by_score, reverse=True)[: self.tuning.n_settled]
        trials = [each.structure for each in ranked]
        trials += [each.apply(structure) for each in changes if not each.can_be_estimated]
        screened = sorted(self._screen(trials), key=by_score, reverse=True)
        settled = []
        for each in screened[: self.tuning.n_settled // 3]:
            if self.is_stopped():
                break
            settled.append(self.settle(each.structure))
        return max(settled, key=by_score, default=None)


def _coarsen(component: Component) -> Component:
    """Return a component with fewer terms."""
    n_terms = FEW_TERMS if len(component.factors) == 1 else FEW_TERMS_OF_FACTORS
    factors = tuple(
        replace(each, n_terms=min(each.n_terms, n_terms[type(each)]))
        if isinstance(each, Smooth | Walk)
        else each
        for each in component.factors
    )
    return Component(Product(factors), component.log_variance)


def _simplify(structure: Structure) -> Iterator[Structure]:
    """Return the structure with one factor less in one of its products."""
    have = [component.kinds for component in structure.components]
    for place, component in enumerate(structure.components):
        for left_out in range(len(component.factors) if len(component.factors) > 1 else 0):
            factors = component.factors[:left_out] + component.factors[left_out + 1 :]
            simpler = Component(Product(factors), component.log_variance)
            if simpler.kinds not in have:
                yield structure.with_replaced(place, simpler)
