"""Penalised evidence of structures, by which a search ranks them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relvec.learning.structures.grammar import is_quadratic
from relvec.learning.structures.structure import Component, Structure

__all__ = ["ScoreRule", "Scored"]


@dataclass(frozen=True)
class Scored:
    """A fitted structure and its score."""

    structure: Structure
    score: float
    """Penalised log evidence of the targets in their own units, in nats."""


@dataclass(frozen=True)
class ScoreRule:
    """Log evidence less penalties for parameters and for the choice of the structure.

    Parameters
    ----------
    log_samples : float
        Logarithm of the number of rows; each parameter costs half of it, as in BIC.
    log_jacobian : float
        Log derivative of the transform of the targets, summed over rows.
    per_component : float
        Log prior odds against each component, in nats.
    per_factor : float
        Log prior odds against each further factor of a product, of which there are several choices
        per component.
    """

    log_samples: float
    log_jacobian: float
    per_component: float
    per_factor: float

    def structure_penalty(self, component: Component) -> float:
        """Return the log prior odds against a component."""
        further = len(component.factors) - 1
        # The square of a line has one further factor of one kind only.
        per_factor = self.per_component if is_quadratic(component) else self.per_factor
        return self.per_component + further * per_factor

    def component_penalty(self, component: Component) -> float:
        """Return the penalty of a component: of its parameters, and of its choice."""
        return 0.5 * component.n_parameters * self.log_samples + self.structure_penalty(component)

    def __call__(self, fitted: Structure) -> Scored:
        """Return a fitted structure with its score."""
        penalty = 0.5 * self.log_samples  # of the noise variance
        penalty += math.fsum(map(self.component_penalty, fitted.components))
        return Scored(fitted, fitted.objective + self.log_jacobian - penalty)
