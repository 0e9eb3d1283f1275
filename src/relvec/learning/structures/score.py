"""Penalised evidence of structures, by which a search ranks them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relvec.kernels.expansions import Line
from relvec.learning.structures.structure import Component, Structure

__all__ = ["UNDECIDED_MARGIN", "ScoreRule", "Scored"]

UNDECIDED_MARGIN = 5.0
"""Differences of scores below this, in nats, do not decide between structures."""


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
    n_samples : float
        Number of rows. Each parameter that an ascent fitted costs half its logarithm, as in BIC;
        periods and locations cost the logarithm of the number of values among which they were
        searched.
    log_jacobian : float
        Log derivative of the transform of the targets, summed over rows.
    per_component : float
        Log prior odds against each component, in nats. That of a line is zero, of its square half.
    per_factor : float
        Log prior odds against each further factor of a product, of which there are several choices
        per component.
    """

    n_samples: float
    log_jacobian: float
    per_component: float
    per_factor: float

    def structure_penalty(self, component: Component) -> float:
        """Return the log prior odds against a component."""
        further = len(component.factors) - 1
        if set(component.kinds) == {Line}:
            return 0.5 * further * self.per_component
        return self.per_component + further * self.per_factor

    def component_penalty(self, component: Component) -> float:
        """Return the penalty of a component: of its parameters, and of its choice."""
        fitted = 0.5 * len(component.vector) * math.log(self.n_samples)
        searched = component.count_log_choices(self.n_samples)
        return fitted + searched + self.structure_penalty(component)

    def __call__(self, fitted: Structure) -> Scored:
        """Return a fitted structure with its score."""
        penalty = 0.5 * math.log(self.n_samples)  # of the noise variance
        penalty += math.fsum(map(self.component_penalty, fitted.components))
        return Scored(fitted, fitted.objective + self.log_jacobian - penalty)
