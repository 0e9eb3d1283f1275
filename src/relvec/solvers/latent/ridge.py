"""All atoms with one precision: penalised logistic regression and its like."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from relvec._typing import IndexArray, Vector
from relvec.laplace.mode import Mode
from relvec.likelihoods.base import BoundLikelihood
from relvec.solvers.base import Certificate, Monitor
from relvec.solvers.latent.problem import LatentProblem, LatentSolution

__all__ = ["LaplaceRidgeSolver"]

SPREADS = np.arange(-8.0, 9.0)
"""Log prior variances of the latent function, on average over the rows, that are tried."""


class LaplaceRidgeSolver(BaseEstimator):
    """Keep all atoms, with one precision that predicts rows left out best.

    The mode is that of a regression with a squared penalty (of labels, L2 logistic regression).
    Where classes are separable, as with more columns than rows, the Laplace evidence asks for too
    much of a penalty; the log density of rows that are left out one by one does not. A row is
    left out of the Gaussian around the mode: with the variance ``v`` of its latent value there,
    and slope ``g`` and curvature ``w`` of its log density::

        latent value without the row = f - g v / (1 - w v)

    It is for one latent function, and takes no notice of priors and penalties.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesClassifier
    >>> from relvec.bases import LinearBasis
    >>> from relvec.solvers import LaplaceRidgeSolver
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 30))
    >>> y = X @ rng.normal(size=30) + rng.logistic(size=100) > 0
    >>> model = SparseBayesClassifier(LinearBasis(), solver=LaplaceRidgeSolver()).fit(X, y)
    >>> model.coef_.shape, len(np.unique(model.weight_precision_))
    ((1, 30), 1)
    """

    def solve(
        self,
        problem: LatentProblem,
        *,
        warm_start: tuple[IndexArray, Vector] | None = None,
        monitor: Monitor | None = None,
    ) -> LatentSolution:
        """Choose the precision of all atoms of `problem`; there is nothing else to search for."""
        if problem.n_blocks > 1:
            raise ValueError(
                "LaplaceRidgeSolver is for one latent function; with more than two classes use "
                'multi_class="one_vs_rest".'
            )
        active = np.arange(problem.dictionary.shape[1])
        columns = problem.dictionary.columns(active)
        # log precision at which the variance of the latent function is one
        # bounds() gives log(mean square) - 2 log(largest_latent) of each atom: the sum of mean
        # squares over the common precision is the mean prior variance of f.
        unit = np.logaddexp.reduce(problem.bounds(columns)[0]) if len(active) else 0.0
        unit += 2.0 * np.log(problem.largest_latent or problem.likelihood.largest_latent)
        best, highest, start = None, -np.inf, None
        for spread in SPREADS:  # from the stiffest on, each mode near the last
            log_precision = np.full(len(active), unit - spread)
            state = problem.evaluate(active, log_precision, columns, start, is_checked=False)
            density = _left_out_density(state.mode, problem.likelihood)
            start = state.mode.weights
            if best is None or density > highest:
                best, highest = state, density
        assert best is not None
        # Chosen by held-out rows: not a maximum of the evidence, so no optimality conditions.
        trace = (best.objective,)
        return LatentSolution(best, len(SPREADS), True, Certificate(0.0, 0.0), trace)


def _left_out_density(mode: Mode, likelihood: BoundLikelihood) -> float:
    """Log density of all rows, each predicted by the mode without it.

    Of a row that counts twice one copy is left out, of one that counts half that half.
    """
    spread = mode.design.columns @ mode.hessian.covariance
    # v_n = x_n' S x_n for all rows.
    variance = np.einsum("ij,ij->i", spread, mode.design.columns)
    slope, curvature = likelihood.slope_and_curvature(mode.latent)
    once = 1.0 if likelihood.weight is None else np.minimum(likelihood.weight, 1.0)
    # Rank-one downdate (Sherman-Morrison): without the row, 1 / v' = 1 / v - b, so that v' = v / (1
    # - b v) and f' = f - g v'. b v < 1 is the leverage; rounding may bring it to one.
    left = np.maximum(1.0 - once * curvature * variance, 1e-12)
    return likelihood.total_log_density(mode.latent - once * slope * variance / left)
