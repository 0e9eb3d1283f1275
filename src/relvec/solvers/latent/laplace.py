"""The default solver for latent functions: classification and counts."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import BaseEstimator

from relvec._checks import check_bool, check_integer, check_positive
from relvec._typing import IndexArray, Vector
from relvec.solvers.base import Monitor
from relvec.solvers.latent.backward import find_backward_start, has_penalties, remove_one_by_one
from relvec.solvers.latent.exact import ascend_exactly
from relvec.solvers.latent.problem import LatentProblem, LatentSolution
from relvec.solvers.latent.search import BlockSearch

__all__ = ["LaplaceSolver"]


@dataclass(kw_only=True, eq=False, repr=False)
class LaplaceSolver(BaseEstimator):
    """Maximise the Laplace approximation of the evidence, for any likelihood.

    The evidence (marginal likelihood) of a non-Gaussian likelihood is approximated by a Gaussian
    integral around the mode of the weights (Tipping 2001, section 3; Rasmussen & Williams 2006,
    section 3.4).

    Parameters
    ----------
    exact : bool, default=False
        Whether to continue, after steps at fixed curvature have converged, with exact derivatives
        of the Laplace evidence, which include the change of the curvature with the mode. The
        result is then a local maximum that satisfies the optimality conditions for these
        derivatives. It costs more, and seldom predicts better.
    tol : float, default=1e-3
        Rise of the objective, in nats, at which to stop.
    max_iter : int, default=500
        Largest number of working sets.

    Notes
    -----
    If the problem has signs, every model of the search has them: atoms whose weight at the mode is
    zero or of the wrong sign are removed before a step is evaluated, and atoms enter only if their
    slope has the required sign. See the notes of `LatentProblem` about the evidence.

    Examples
    --------
    >>> LaplaceSolver(exact=True)
    LaplaceSolver(exact=True)
    """

    exact: bool = False
    tol: float = 1e-3
    max_iter: int = 500

    def solve(
        self,
        problem: LatentProblem,
        *,
        warm_start: tuple[IndexArray, Vector] | None = None,
        monitor: Monitor | None = None,
    ) -> LatentSolution:
        """Maximise the objective of `problem`.

        Parameters
        ----------
        problem : LatentProblem
            A problem with a flat prior or a penalty on degrees of freedom.
        warm_start : (ndarray, ndarray), optional
            Active atoms, ascending, and their log precisions to start from.
        monitor : callable, optional
            Called after every step; returning True stops the search.
        """
        exact = check_bool("exact", self.exact)
        tol = check_positive("tol", self.tol)
        max_iter = check_integer("max_iter", self.max_iter, minimum=1)
        if not problem.prior.is_removable:
            raise ValueError(
                "A Gamma prior with positive shape or rate gives an atom that is switched off "
                "(infinite precision) zero or infinite density, so atoms cannot be added or "
                'removed one by one. Use solver="mackay" or solver="em".'
            )
        # A warm start is continued as it is: backward elimination would discard it.
        is_stopped, is_pruned = False, warm_start is None and has_penalties(problem)
        if is_pruned:
            # Under a penalty single atoms gain too little; the model without penalties has them.
            warm_start, is_stopped = find_backward_start(problem, tol, max_iter, monitor)
        search = BlockSearch(problem, tol, max_iter, monitor, warm_start)
        converged = not is_stopped and search.run()
        if converged and is_pruned:
            converged = remove_one_by_one(search)
        if exact and not (is_stopped or search.is_stopped):
            # Only one atom enters or leaves per round, so more rounds than working sets are needed.
            converged, certificate = ascend_exactly(search, 4 * max_iter)
        else:
            certificate = search.certificate()
        n_iter = max(1, len(search.trace) - 1)
        return LatentSolution(search.state, n_iter, converged, certificate, tuple(search.trace))
