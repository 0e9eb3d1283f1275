"""What a linear model that has chosen its inputs says of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relvec.learning import LearntLengthScales
from relvec.solvers import inclusion_penalty
from relvec.solvers.gaussian.reference import compute_best_gains, compute_statistics, condition

if TYPE_CHECKING:
    from relvec.estimators._output import RegressionFit

__all__ = ["with_chosen"]


def with_chosen(learnt: LearntLengthScales, fit: RegressionFit) -> LearntLengthScales:
    """Return which inputs are in the model, and what each brings or would bring.

    Of several outputs the one counts for which an input does most.
    """
    gain, relevance, penalties = np.zeros(len(learnt.spread)), np.zeros(len(learnt.spread)), []
    for output, problem in zip(fit.outputs, fit.problems, strict=True):
        active = output.active
        relevance[active] = 1.0
        n_usable = int(np.count_nonzero(problem.moments.usable))
        penalties.append(inclusion_penalty(n_usable, len(active)))
        if output.posterior.target_variance > 0.0:
            known = compute_statistics(
                problem, condition(problem, active, np.exp(output.solution.log_lam))
            )
            gain = np.maximum(gain, compute_best_gains(problem, known)[0])
    return replace(learnt.with_relevance(relevance), gain=gain, penalty=min(penalties))
