"""Fast search for the structure of a series: all components at once, then elimination."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
N_ROUNDS = 4
"""Largest number of changes after the elimination."""


@dataclass
class FastSeriesSearch(SeriesSearch):
    """Search for the structure of a series by elimination; see `SeriesSearch` for the parameters.

    All trends and seasons are fitted at once, with one variance for each component, and removed one
    at a time while the score rises. Then the same changes as in `SeriesSearch` are tried on the
    best structure only, compared by the evidence at the present values of all other parameters.
    """

    def run(self) -> None:
        """Search; what is fitted is in `found`."""
        best = self.settle(Structure())
        everything = self._make_everything()
        if everything and not self.is_stopped():
            rest = self._eliminate_coarse(everything, best.structure.log_noise)
            best = max(best, self._polish_periods(self.settle(rest)), key=by_score)
        for _ in range(N_ROUNDS):
            changed = self._change(best)
            if changed is None or changed.score <= best.score + self.tuning.min_improvement:
                break
            best = max(changed, self.eliminate(changed), key=by_score)
        self._polish_periods(best)

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
        changes = [Change.between(structure, each) for each in self._list_changes(structure)]
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
