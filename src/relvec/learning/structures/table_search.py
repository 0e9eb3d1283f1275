"""Search over structures of several features: selection of groups of columns by evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from relvec._typing import Vector
from relvec.kernels.expansions import Expansion
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.component_evidence import compute_addition, compute_removal_losses
from relvec.learning.structures.fit import StructureFitter
from relvec.learning.structures.memory import Keyed, StructureMemory, by_score
from relvec.learning.structures.posterior import ColumnPosterior
from relvec.learning.structures.rows import SearchRows, TransformedTarget
from relvec.learning.structures.score import Scored
from relvec.learning.structures.structure import Component, Structure
from relvec.learning.structures.table_grammar import Change, TableGrammar, TableScoreRule
from relvec.learning.structures.tuning import SearchTuning

__all__ = ["TableSearch"]

NEGLIGIBLE_LOSS = 0.01
"""Components whose removal costs less evidence than this, in nats, are removed all at once."""
MAX_PAIRS = 120
"""Largest number of pairs of features that are screened at a time: all pairs of 16 features."""


class _Estimate(NamedTuple):
    change: Change
    score: float
    """Score after the change with all other parameters held, a lower bound up to rounding."""


@dataclass
class TableSearch(StructureMemory):
    """Search for the structure of a function of several features.

    All main effects are fitted at once, with one variance for each; backward elimination removes or
    simplifies them while the score rises. Then components are added or replaced one at a time, with
    an elimination after each. Candidates are compared by the evidence at the present values of all
    other parameters, and the best of them are fitted.

    Parameters
    ----------
    rows : SearchRows
        Scaled inputs.
    target : TransformedTarget
        The targets.
    weight : ndarray of shape (n_samples,), optional
        Frequency weights.
    allowed : frozenset of type
        Factors that may be used, of which lines and smooth functions are.
    tuning : SearchTuning
        Effort and penalties.
    is_stopped : callable
        Called before every fit but the first; returning True ends the search with the best
        structure so far.
    """

    rows: SearchRows
    target: TransformedTarget
    weight: Vector | None
    allowed: frozenset[type[Expansion]]
    tuning: SearchTuning
    is_stopped: Callable[[], bool] = lambda: False
    found: Keyed = field(default_factory=dict)
    """Fitted structures, the best of each kind."""
    n_fits: int = 0

    def __post_init__(self) -> None:
        self.store = ColumnStore(self.rows.U, self.target.values, self.weight)
        # Smooth functions of few terms bound length-scales from below, not the spacing.
        self.fitter = StructureFitter(self.store, 0.0)
        self.grammar = TableGrammar(self.rows.U, self.allowed, self.tuning.max_columns)
        jacobian = self.target.log_jacobian
        self.rule = TableScoreRule(
            float(np.log(self.store.n_samples)),
            float(jacobian.sum() if self.weight is None else self.weight @ jacobian),
            *self.tuning.structure_penalty,
            n_features=len(self.grammar.features),
        )

    def key(self, structure: Structure) -> tuple[str, ...]:
        """Identify a structure up to its continuous parameters."""
        return self.grammar.key(structure)

    # ------------------------------------------------------------------ search

    def run(self) -> None:
        """Search; what is fitted is in `found`."""
        null = self.settle(Structure())
        effects = self._choose_main_effects(null.structure)
        if not effects or self.is_stopped():
            return
        everything = self.settle(Structure(tuple(effects), null.structure.log_noise))
        best = max(self._eliminate(everything), null, key=by_score)
        for _ in range(2 * self.tuning.max_levels):
            grown = self._grow(best)
            if grown is None or grown.score <= best.score + self.tuning.min_improvement:
                return
            best = max(self._eliminate(grown), grown, key=by_score)

    def list_alternatives(self, structure: Structure) -> list[Structure]:
        """Return the structure with one component removed or of another kind."""
        removals = [structure.without(place) for place in range(len(structure.components))]
        others = [change.apply(structure) for change in self.grammar.replacements(structure)]
        return [each for each in [*removals, *others] if self.grammar.allows(each)]

    def _choose_main_effects(self, null: Structure) -> list[Component]:
        """Return a main effect of every feature: the best ones by themselves if there are many."""
        posterior = ColumnPosterior(null, self.store)
        effects = [
            compute_addition(effects[0], posterior, self.store)
            for effects in map(self.grammar.main_effects, self.grammar.features)
            if effects
        ]
        effects.sort(key=lambda each: -each.gain)
        chosen: list[Component] = []
        n_columns = 0
        for component, _ in effects:
            n_columns += component.product.n_columns
            if n_columns <= self.tuning.max_columns:
                chosen.append(Component(component.product, -1.5))
        return chosen

    # ------------------------------------------------------------------ elimination

    def _eliminate(self, scored: Scored) -> Scored:
        """Remove and simplify components while the score rises."""
        current = self._drop_negligible(scored)
        while current.structure.components and not self.is_stopped():
            posterior = ColumnPosterior(current.structure, self.store)
            losses = compute_removal_losses(posterior)
            changes = [Change((place,), ()) for place in range(len(losses))]
            estimates = [
                self._estimate(change, current, -loss)
                for change, loss in zip(changes, losses, strict=True)
            ]
            trials = self._fit_best(current, estimates)
            best = max(trials, key=by_score, default=current)
            if best.score <= current.score:
                break
            current = self._drop_negligible(best)
        return self.settle(current.structure)

    def _drop_negligible(self, scored: Scored) -> Scored:
        """Remove all components without an effect at once."""
        losses = compute_removal_losses(ColumnPosterior(scored.structure, self.store))
        removed = tuple(map(int, np.flatnonzero(losses < NEGLIGIBLE_LOSS)))
        if not removed:
            return scored
        rest = Change(removed, ()).apply(scored.structure)
        return self._fit(rest, self.tuning.n_screen_steps)

    def _fit_best(self, current: Scored, estimates: Sequence[_Estimate]) -> list[Scored]:
        """Fit the best change by a few steps; more of them unless its estimate is a gain."""
        ranked = sorted(estimates, key=by_score, reverse=True)
        n_trials = 1 if ranked and ranked[0].score > current.score else self.tuning.n_settled // 2
        return self._screen_all(each.change.apply(current.structure) for each in ranked[:n_trials])

    def _screen_all(self, structures: Iterable[Structure]) -> list[Scored]:
        """Fit structures by a few steps, or return what was settled."""
        screened = []
        for structure in structures:
            if self.is_stopped():
                break
            known = self.found.get(self.key(structure))
            screened.append(known or self._fit(structure, self.tuning.n_screen_steps))
        return screened

    def _estimate(self, change: Change, current: Scored, gain: float) -> _Estimate:
        """Return the score after a change by which the log evidence rises by `gain`."""
        removed = [current.structure.components[place] for place in change.removed]
        saved = sum(map(self._penalty, removed)) - sum(map(self._penalty, change.added))
        return _Estimate(change, current.score + gain + saved)

    def _penalty(self, component: Component) -> float:
        half_log = 0.5 * self.rule.log_samples
        return half_log * component.n_parameters + self.rule.structure_penalty(component)

    # ------------------------------------------------------------------ additions

    def _grow(self, current: Scored) -> Scored | None:
        """Return the best structure that one change leads to."""
        structure = current.structure
        estimates = [
            self._estimate_addition(change, current)
            for change in [
                *self.grammar.additions(structure, MAX_PAIRS),
                *self.grammar.replacements(structure),
            ]
            if self.grammar.allows(change.apply(structure))
        ]
        ranked = sorted(estimates, key=by_score, reverse=True)[: 2 * self.tuning.n_settled]
        screened = self._screen(each.change.apply(structure) for each in ranked)
        screened.sort(key=by_score, reverse=True)
        settled = []
        for each in screened[: self.tuning.n_settled // 2]:
            if self.is_stopped():
                break
            settled.append(self.settle(each.structure))
        return max(settled, key=by_score, default=None)

    def _estimate_addition(self, change: Change, current: Scored) -> _Estimate:
        """Estimate a change with one added component."""
        rest = Change(change.removed, ()).apply(current.structure)
        posterior = ColumnPosterior(rest, self.store)
        log_evidence = self.fitter.compute_log_evidence(rest)
        (component,) = change.added
        addition = compute_addition(component, posterior, self.store)
        started = Change(change.removed, (addition.component,))
        gain = log_evidence + addition.gain - current.structure.log_evidence
        return self._estimate(started, current, gain)
