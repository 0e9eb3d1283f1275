"""Initialisation of a search by weighted regressions on the working response.

A search that begins without atoms adds the best single atom first. Kernels of long length-scale
explain a function only together, with weights that cancel, so it may end at a poor local maximum.
The regression solver has initialisations against that. So the Laplace problem is replaced by
regressions: the log likelihood is approximated by a quadratic function at the mode found so far
(iteratively reweighted least squares), whose noise is known.
"""

from __future__ import annotations

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.moments import compute_moments
from relvec.solvers.base import Problem
from relvec.solvers.gaussian.search import SequentialSolver
from relvec.solvers.latent.problem import LatentProblem

__all__ = ["find_working_start"]


def find_working_start(problem: LatentProblem, n_rounds: int = 4) -> tuple[IndexArray, Vector]:
    """Return active atoms and log precisions by regressions on the working response.

    Parameters
    ----------
    problem : LatentProblem
        A problem with one latent function, and a flat prior or a penalty on degrees of freedom.
    n_rounds : int, default=4
        Number of regressions. The first is expanded around the model without atoms.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.likelihoods import Poisson
    >>> from relvec.solvers import LatentProblem
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(80, 3))
    >>> counts = Poisson().bind(rng.poisson(np.exp(Phi[:, 1])))
    >>> problem = LatentProblem(DenseDictionary(Phi), counts, min_gain=np.log(3))
    >>> find_working_start(problem)[0]
    array([1])
    """
    nothing = np.empty(0, dtype=np.intp)
    n_rows = problem.dictionary.shape[0]
    state = best = problem.evaluate(nothing, np.empty(0), np.empty((n_rows, 0)))
    solver = SequentialSolver("fast")
    for _ in range(n_rounds):
        curvature, response = problem.likelihood.working_responses(state.mode.latent)[0]
        [moments] = compute_moments(
            problem.dictionary, response[:, None], curvature, centre=problem.has_intercept
        )
        regression = Problem(
            moments, problem.min_gain, problem.regression_prior, noise_variance=1.0
        )
        found = solver.solve(regression)
        # alpha = lam |phi|^2 / sigma^2 for raw columns (docs/notation.md), with sigma^2 = 1.
        log_precision = found.log_lam + 2.0 * np.log(moments.column_norm[found.active])
        columns = problem.dictionary.columns(found.active)
        least, largest = problem.bounds(columns)
        log_precision = np.clip(log_precision, least, largest)
        start = state.get_initial_weights(found.active)
        state = problem.evaluate(found.active, log_precision, columns, start)
        if state.objective < best.objective + 1e-2:
            break
        best = state
    return best.active, best.log_precision
