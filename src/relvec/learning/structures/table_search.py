"""Search over structures of several features: selection of groups of columns by evidence."""

from __future__ import annotations

from dataclasses import dataclass, field

from relvec._typing import Vector
from relvec.kernels.expansions import Expansion
from relvec.learning.structures.columns import ColumnStore
from relvec.learning.structures.component_evidence import compute_addition
from relvec.learning.structures.fit import StructureFitter
from relvec.learning.structures.memory import Keyed, StructureMemory, by_score
from relvec.learning.structures.posterior import ColumnPosterior
from relvec.learning.structures.rows import SearchRows, TransformedTarget
from relvec.learning.structures.score import Scored
from relvec.learning.structures.structure import Component, Structure
from relvec.learning.structures.table_grammar import TableGrammar, TableScoreRule
from relvec.learning.structures.tuning import SearchTuning
from relvec.learning.structures.watch import Watch

__all__ = ["TableSearch"]

MAX_PAIRS = 120
"""Largest number of pairs of features that are screened at a time: all pairs of 16 features."""


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
    watch : Watch
        Asked before every fit but the first whether to end with what was found.
    """

    rows: SearchRows
    target: TransformedTarget
    weight: Vector | None
    allowed: frozenset[type[Expansion]]
    tuning: SearchTuning
    watch: Watch = field(default_factory=Watch)
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
            self.store.n_samples,
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
        if not effects or self.watch.is_over:
            return
        everything = self.settle(Structure(tuple(effects), null.structure.log_noise))
        best = max(self.eliminate(everything), null, key=by_score)
        for _ in range(2 * self.tuning.max_levels):
            grown = self._grow(best)
            if grown is None or grown.score <= best.score + self.tuning.min_improvement:
                return
            best = max(self.eliminate(grown), grown, key=by_score)

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

    def _grow(self, current: Scored) -> Scored | None:
        """Return the best structure that one addition or replacement leads to."""
        structure = current.structure
        changes = [
            *self.grammar.additions(structure, MAX_PAIRS),
            *self.grammar.replacements(structure),
        ]
        allowed = (each for each in changes if self.grammar.allows(each.apply(structure)))
        estimates = sorted(
            self._estimator(current).estimate_additions(allowed), key=by_score, reverse=True
        )
        n_screened = 2 * self.tuning.n_settled
        screened = self._screen(each.structure for each in estimates[:n_screened])
        screened.sort(key=by_score, reverse=True)
        settled = []
        for each in screened[: self.tuning.n_settled // 2]:
            if self.watch.is_over:
                break
            settled.append(self.settle(each.structure))
        return max(settled, key=by_score, default=None)
