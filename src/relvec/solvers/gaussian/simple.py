"""Two baseline solvers: ridge regression and the model without atoms."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from relvec._typing import IndexArray, Vector
from relvec.evidence import NOISE_FLOOR, gaussian_objective
from relvec.solvers.base import (
    Candidate,
    Certificate,
    Monitor,
    Problem,
    Solution,
    WarmStart,
)

__all__ = ["NullSolver", "RidgeSolver"]

LOG_LAM = (-34.0, 20.0)
"""Range of the common log precision in units of the noise: no shrinkage below, no atoms above."""
GRID, TOLERANCE = 55, 1e-2
"""Points of a grid of log precisions, and the length of the finest grid."""


class NullSolver(BaseEstimator):
    """Solver that keeps no atom: intercept, if there is one, and noise only.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import LinearBasis
    >>> from relvec.solvers import NullSolver
    >>> X = np.arange(20.0)[:, np.newaxis]
    >>> SparseBayesRegressor(LinearBasis(), solver=NullSolver()).fit(X, X[:, 0]).predict(X[:2])
    array([9.5, 9.5])
    """

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Return the model of `problem` without atoms."""
        none = np.empty(0, dtype=np.intp)
        return _solution(problem, "null", none, np.empty(0), problem.moments.target_ss, 0.0)


class RidgeSolver(BaseEstimator):
    """Solver that keeps all atoms with one common precision: evidence-based ridge regression.

    Precision and noise maximise the log evidence (MacKay 1992); prior and penalties are ignored.
    Let ``g`` be the eigenvalues of the Gram matrix of unit-norm atoms, ``c`` the components of
    ``Phi't`` along its eigenvectors and ``lam`` the precision in units of the noise::

        R = t't - sum c^2 / (g + lam),    log|K| = sum log(1 + g / lam)

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import LinearBasis
    >>> from relvec.solvers import RidgeSolver
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 30))
    >>> y = X @ rng.normal(size=30) + rng.normal(size=100)
    >>> model = SparseBayesRegressor(LinearBasis(), solver=RidgeSolver()).fit(X, y)
    >>> len(model.coef_), round(model.effective_dof_)
    (30, 30)
    """

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Maximise the log evidence of `problem` over one precision for all atoms."""
        moments = problem.moments
        active = np.flatnonzero(moments.usable)
        if not len(active) or not moments.target_ss > 0.0 or moments.n_effective < 1.0:
            return NullSolver().solve(problem)
        values, vectors = np.linalg.eigh(moments.gram(active))
        # G is positive semi-definite; negative eigenvalues are rounding errors.
        values = np.maximum(values, 0.0)
        squared = np.square(moments.correlation[active] @ vectors)
        floor, n = NOISE_FLOOR * moments.target_ss, moments.n_effective
        (low, high), noise = LOG_LAM, problem.noise_variance
        while True:  # a grid, and a finer one between the neighbours of its best point
            grid = np.linspace(low, high, GRID)
            shifted = values + np.exp(grid)[:, None]
            # The floor bounds log R if the atoms interpolate the data.
            quadratic = np.maximum(moments.target_ss - (squared / shifted).sum(axis=1), floor)
            # log|K| = log|G + lam I| - M log lam (determinant lemma).
            log_det = np.log(shifted).sum(axis=1) - len(values) * grid
            # -2 J up to a constant, with the noise profiled out or held.
            fit = n * np.log(quadratic) if noise is None else quadratic / noise
            best = int(np.argmin(fit + log_det))
            if high - low < TOLERANCE:
                break
            low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, GRID - 1)])
        log_lam = np.full(len(active), grid[best])
        terms = float(quadratic[best]), float(log_det[best])
        return _solution(problem, "ridge", active, log_lam, *terms)


def _solution(
    problem: Problem,
    start: str,
    active: IndexArray,
    log_lam: Vector,
    quadratic: float,
    log_det: float,
) -> Solution:
    n_effective, noise = problem.moments.n_effective, problem.noise_variance
    best = max(quadratic, np.finfo(float).tiny) / max(n_effective, 1.0)
    noise = best if noise is None else noise
    objective = gaussian_objective(n_effective, quadratic, log_det, noise)
    return Solution(
        active=active,
        log_lam=log_lam,
        noise_variance=noise,
        objective=objective,
        n_iter=1,
        converged=True,
        certificate=Certificate(0.0, 0.0),
        trace=(objective,),
        candidates=(Candidate(start, objective, len(active)),),
    )
