"""Relevance and gain of features in a sparse linear model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relvec.learning import LearntLengthScales
from relvec.solvers import inclusion_penalty
from relvec.solvers.gaussian.reference import compute_best_gains, compute_statistics, condition

if TYPE_CHECKING:
    from relvec.estimators._output import RegressionFit

__all__ = ["describe_selected_features"]


def describe_selected_features(
    learnt: LearntLengthScales, fit: RegressionFit
) -> LearntLengthScales:
    """Return which features are in the sparse linear model, and the gain by each feature.

    For several outputs the gain is the largest of them.
    """
    gain, relevance, penalties = np.zeros(len(learnt.spread)), np.zeros(len(learnt.spread)), []
    for output, problem in zip(fit.outputs, fit.problems, strict=True):
        active = output.active
        relevance[active] = 1.0
        n_usable = int(np.count_nonzero(problem.moments.usable))
        penalties.append(inclusion_penalty(n_usable, len(active)))
        if output.posterior.target_variance > 0.0:
            # s and q of every feature, those in the model with their own contribution removed.
            known = compute_statistics(
                problem, condition(problem, active, np.exp(output.solution.log_lam))
            )
            gain = np.maximum(gain, compute_best_gains(problem, known)[0])
    return replace(learnt.with_relevance(relevance), gain=gain, penalty=min(penalties))
