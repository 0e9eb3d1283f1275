"""Fast search for the structure of a series: all components at once, then elimination."""

from __future__ import annotations

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
"""Terms of trends that multiply a season in the first model."""
MAX_SEED_COLUMNS = 130
"""Largest number of columns of a trend and a season: without seasons that change their shape."""
N_STARTS = 2
"""Number of structures whose changes are tried at each level."""


@dataclass
class FastSeriesSearch(SeriesSearch):
    """Search for the structure of a series by elimination; see `SeriesSearch` for the parameters.

    All trends and seasons are fitted at once, with one variance for each component, and removed one
    at a time while the score rises. Trends with one season are further initialisations. Then the
    changes of `SeriesSearch`, and simplifications, are tried on the best structures, compared by
    the evidence at the present values of all other parameters before any is fitted.
    """

    _changed: set[Structure] = field(default_factory=set)
    _is_started: bool = False

    def run(self) -> None:
        """Search; what is fitted is in `found`."""
        self.start()
        null = self.settle(Structure())
        everything = self._make_everything()
        if everything and not self.watch.is_over:
            rest = self._eliminate_coarse(everything, null.structure.log_noise)
            self._polish_periods(self.settle(rest))
        for _ in range(self.tuning.max_levels):
            best = self.list_best(1)[0]
            for start in self._list_unchanged():
                changed = self._change(start)
                if changed is not None and changed.score > start.score:
                    self.eliminate(changed)
            if self.list_best(1)[0].score <= best.score + self.tuning.min_improvement:
                break
            self._polish_periods(self.list_best(1)[0])

    @property
    def max_components(self) -> float:
        """Largest number of components that an elimination leaves."""
        return self.tuning.max_components

    def _list_unchanged(self) -> list[Scored]:
        """Return those of the best structures whose changes were not tried."""
        starts = [each for each in self.list_best(N_STARTS) if each.structure not in self._changed]
        self._changed.update(each.structure for each in starts)
        return starts

    def start(self) -> None:
        """Fit the best combinations of a trend and a season, unless that was done before."""
        if self._is_started:
            return
        self._is_started = True
        seeds = self.grammar.make_seeds(self.periods[:N_PERIODS])
        narrow = [seed for seed in seeds if seed.n_columns <= MAX_SEED_COLUMNS]
        screened = self._screen(narrow)
        screened.sort(key=by_score, reverse=True)
        for seed in screened[:N_STARTS]:
            if not self.watch.is_over:
                self._polish_periods(self.settle(seed.structure))
        if not self.found:  # the time was over before the first fit
            self.settle(Structure())

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
        # Expansions of few terms must not be mistaken for those of all terms.
        found, self.found = self.found, {}
        first = Structure(tuple(map(_coarsen, everything)), log_noise)
        rest = self.eliminate(self._fit(first, self.tuning.n_settle_steps)).structure
        self.found = found
        return rest.with_components(
            [coarse[each.product.column_key].with_vector(each.vector) for each in rest.components]
        )

    # ------------------------------------------------------------------ changes

    def _change(self, current: Scored) -> Scored | None:
        """Return the best structure that one change leads to."""
        structure = current.structure
        neighbours = self._list_neighbours(structure)
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
            if self.watch.is_over:
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
