"""Beam search over structures of a series, by penalised evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from relvec._linalg import solve_lower
from relvec._typing import Vector
from relvec.kernels.expansions import Expansion, Harmonics, Kink, Product, Step
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.fit import StructureFitter
from relvec.learning.structures.grammar import TRENDS, Grammar, log_start, period_of
from relvec.learning.structures.memory import Keyed, StructureMemory, by_score
from relvec.learning.structures.periods import PeriodFinder
from relvec.learning.structures.posterior import ColumnPosterior
from relvec.learning.structures.rows import SearchRows, TransformedTarget
from relvec.learning.structures.score import Scored, ScoreRule
from relvec.learning.structures.structure import Component, Structure
from relvec.learning.structures.tuning import SearchTuning
from relvec.learning.structures.watch import Watch

__all__ = ["SeriesSearch"]


@dataclass
class SeriesSearch(StructureMemory):
    """Search for the structure of a series under one transform of the targets.

    Parameters
    ----------
    rows : SearchRows
        Scaled inputs, in order.
    target : TransformedTarget
        The targets.
    weight : ndarray of shape (n_samples,), optional
        Frequency weights.
    allowed : frozenset of type
        Factors that may be used.
    given_periods : sequence of float or None
        Candidate periods in scaled units; None to find them by periodograms.
    tuning : SearchTuning
        Effort and penalties.
    watch : Watch
        Asked before every fit whether to end with what was found.
    """

    rows: SearchRows
    target: TransformedTarget
    weight: Vector | None
    allowed: frozenset[type[Expansion]]
    given_periods: Sequence[float] | None
    tuning: SearchTuning
    watch: Watch = field(default_factory=Watch)
    found: Keyed = field(default_factory=dict)
    """Fitted structures, the best of each kind."""
    n_fits: int = 0
    _is_seeded: bool = False

    def __post_init__(self) -> None:
        self.store = ColumnStore(self.rows.U, self.target.values, self.weight)
        self.fitter = StructureFitter(self.store, self.rows.spacing)
        n_columns = self.tuning.max_columns
        if self.rows.n_samples < self.tuning.few_rows:
            n_columns += self.tuning.more_columns
        self.grammar = Grammar(self.rows, self.allowed, n_columns, self.tuning.max_components)
        self.period_finder = PeriodFinder(self.rows)
        jacobian = self.target.log_jacobian
        self.rule = ScoreRule(
            self.store.n_samples,
            float(jacobian.sum() if self.weight is None else self.weight @ jacobian),
            *self.tuning.structure_penalty,
        )
        if Harmonics not in self.allowed:
            self.periods: list[float] = []
        elif self.given_periods is not None:
            self.periods = list(self.given_periods)
        else:
            self.periods = self.period_finder.find_periods(self.target.values)

    def key(self, structure: Structure) -> tuple[str, ...]:
        """Identify a structure; periods and locations count."""
        return self.grammar.key(structure)

    # ------------------------------------------------------------------ search

    def run(self) -> None:
        """Search from the empty model and from seeds; what is fitted is in `found`."""
        tuning = self.tuning
        null = self.settle(Structure())
        if not self._is_seeded:
            self._is_seeded = True
            seeds = self.grammar.make_seeds(self.periods[: tuning.n_seed_periods])
            screened = sorted(self._screen(seeds), key=by_score, reverse=True)
            for each in screened[: tuning.beam + 1]:
                self.settle(each.structure)
        # With an inexact period, products that correct its drift would seem to be needed.
        self._polish_periods(self.list_best(1)[0])
        # Of an earlier run that was ended, the best structures are where the search goes on.
        beam = list(dict.fromkeys([*self.list_best(tuning.beam), null]))
        for level in range(tuning.max_levels):
            changes = (change for each in beam for change in self._list_neighbours(each.structure))
            pool = sorted(self._screen(changes), key=by_score, reverse=True)
            best_before = max(beam, key=by_score)
            settled = []
            for each in self._drop_repetitions(pool)[: tuning.n_settled]:
                if self.watch.is_over:
                    break
                settled.append(self.settle(each.structure))
            if not settled:
                return
            best = max(settled, key=by_score)
            polished = self._polish_periods(best)
            settled = [polished, *(each for each in settled if each is not best)]
            if polished.score <= best_before.score + tuning.min_improvement:
                return
            kept = [*settled, *(beam if level == 0 else [])]
            beam = sorted(kept, key=by_score, reverse=True)[: tuning.beam]

    def list_best(self, number: int) -> list[Scored]:
        """Return the best structures that were found, no two of which are nearly equal."""
        best: list[Scored] = []
        for each in sorted(self.found.values(), key=by_score, reverse=True):
            if len(best) == number:
                break
            if not any(self.grammar.are_variants(each.structure, b.structure) for b in best):
                best.append(each)
        return best

    def list_alternatives(self, structure: Structure) -> list[Structure]:
        """Return the structure with other trends."""
        return self.grammar.list_trend_alternatives(structure)

    def _drop_repetitions(self, pool: list[Scored]) -> list[Scored]:
        first: Keyed = {}
        for each in pool:
            first.setdefault(self.key(each.structure), each)
        return list(first.values())

    # ------------------------------------------------------------------ changes

    def _list_neighbours(self, structure: Structure) -> list[Structure]:
        return [*self._list_changes(structure), *self.grammar.list_simplifications(structure)]

    def _list_changes(self, structure: Structure) -> list[Structure]:
        posterior = ColumnPosterior(structure, self.store)
        residual = self.target.values - posterior.predict(self.rows.U).mean
        locations: dict[type[Expansion], float] = {
            kind: self._locate(kind, posterior)
            for kind in (Step, Kink)
            if kind in self.allowed and (structure.components or self._has_no_trends)
        }
        candidates = self.periods[: self.tuning.n_added_periods]
        if structure.components and Harmonics in self.allowed and self.given_periods is None:
            candidates = candidates + self.period_finder.find_residual_periods(residual)
        plain = [period_of(each) for each in structure.components if len(each.factors) == 1]
        known = [period for period in plain if period is not None]
        periods: list[float] = []
        for period in candidates:
            if all(abs(period - other) > 0.04 * period for other in known + periods):
                periods.append(period)
        longer = self.periods[: self.tuning.n_longer_periods]
        start = log_start(float(np.var(residual)))
        return self.grammar.list_changes(structure, start, periods, longer, locations)

    @property
    def _has_no_trends(self) -> bool:
        """Whether changes of level or slope are the only trends, with which a search begins."""
        return self.allowed.isdisjoint(TRENDS)

    def _locate(self, kind: type[Expansion], posterior: ColumnPosterior) -> float:
        """Return the location of a step or kink of largest relevance ``q^2 / s``.

        ``s`` and ``q`` are those of Tipping and Faul (2003), in units of the noise, for a column
        that is added to the model.
        """
        u, root = self.rows.U[:, 0], self.store.root
        every = max(1, len(u) // 250)
        # Rows on either side: three for a level, a tenth for a slope, which a forecast continues.
        beside = 3 if kind is Step else max(3, len(u) // 10)
        inner = u[beside - 1 : len(u) - beside + 1]
        middle = 0.5 * (inner[:-1] + inner[1:])[::every]
        if not len(middle):
            return 0.0
        away = np.subtract.outer(u, middle)
        columns = (away > 0.0) * 1.0 if kind is Step else np.maximum(away, 0.0)
        columns = columns * root[:, np.newaxis]
        cross = (posterior.columns(self.rows.U) * root[:, np.newaxis]).T @ columns
        white = solve_lower(posterior.lower, np.asfortranarray(cross))
        s = np.einsum("ij,ij->j", columns, columns) - np.einsum("ij,ij->j", white, white)
        q = columns.T @ self.store.target - cross.T @ posterior.mean
        return float(middle[np.argmax(q**2 / np.maximum(s, 1e-9))])

    # ------------------------------------------------------------------ periods

    def _polish_periods(self, scored: Scored) -> Scored:
        """Move each period to its best value, the other parameters held, and fit again."""
        structure = scored.structure
        periods = {period_of(each) for each in structure.components} - {None}
        if not periods or self.given_periods is not None or self.watch.is_over:
            return scored
        for period in sorted(filter(None, periods)):
            structure = self._polish_period(structure, period)
        polished = self.settle(structure, self.tuning.n_settle_steps // 2)
        return max(polished, scored, key=by_score)

    def _polish_period(self, structure: Structure, period: float) -> Structure:
        store = self.store.with_target(self.target.values)  # columns that are used once

        def evaluate(trial: float) -> float:
            moved = _move_period(structure, period, trial)
            fitter = StructureFitter(store, self.rows.spacing)
            return fitter.compute_log_evidence(moved)

        # A record of length 2 resolves periods to about p^2 / 2.
        grid = period + 0.175 * np.linspace(-1.0, 1.0, 13) * period**2
        values = list(map(evaluate, grid))
        place = int(np.argmax(values))
        low, high = float(grid[max(place - 1, 0)]), float(grid[min(place + 1, 12)])
        for _ in range(6):  # golden section
            left, right = low + 0.382 * (high - low), low + 0.618 * (high - low)
            if evaluate(left) > evaluate(right):
                high = right
            else:
                low = left
        return _move_period(structure, period, 0.5 * (low + high))


def _move_period(structure: Structure, period: float, trial: float) -> Structure:
    """Return the structure with another value of one period."""
    components = []
    for component in structure.components:
        factors = tuple(
            replace(each, period=trial)
            if isinstance(each, Harmonics) and abs(each.period - period) < 1e-9
            else each
            for each in component.factors
        )
        components.append(Component(Product(factors), component.log_variance))
    return structure.with_components(components)
