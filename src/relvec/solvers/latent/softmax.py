"""The solver of classification into several classes."""

from __future__ import annotations

from dataclasses import replace

from sklearn.base import BaseEstimator

from relvec._checks import check_integer, check_positive
from relvec._typing import IndexArray, Vector
from relvec.priors import BoundFlat
from relvec.solvers.base import Monitor
from relvec.solvers.latent.labels import listening, refuse_gamma
from relvec.solvers.latent.softmax_problem import SoftmaxProblem, SoftmaxSolution
from relvec.solvers.latent.softmax_search import PairSearch, SharedSearch

__all__ = ["SoftmaxSolver"]


class SoftmaxSolver(BaseEstimator):
    """Maximise the Laplace evidence of a softmax classifier.

    Parameters
    ----------
    tol : float, default=1e-3
        Rise of the objective, in nats, at which to stop.
    max_iter : int, default=500
        Working sets to go through.

    Examples
    --------
    >>> SoftmaxSolver(tol=0.01)
    SoftmaxSolver(tol=0.01)
    """

    def __init__(self, *, tol: float = 1e-3, max_iter: int = 500) -> None:
        self.tol = tol
        self.max_iter = max_iter

    def solve(
        self,
        problem: SoftmaxProblem,
        *,
        warm_start: tuple[IndexArray, Vector] | None = None,
        monitor: Monitor | None = None,
    ) -> SoftmaxSolution:
        """Maximise the objective of `problem`.

        Parameters
        ----------
        problem : SoftmaxProblem
            Any prior but one with a Gamma density on the weight precisions.
        warm_start : (ndarray, ndarray), optional
            Active pairs, ascending, and their log precisions to start from.
        monitor : callable, optional
            Told of every step; returning True ends the search where it is.
        """
        tol = check_positive("tol", self.tol)
        max_iter = check_integer("max_iter", self.max_iter, minimum=1)
        refuse_gamma(problem.prior)
        monitor = listening(monitor)
        if problem.smoothness and warm_start is None:
            # under a price single atoms are hard to find; the free model finds them
            flat = SoftmaxSolver(tol=10.0 * tol, max_iter=max_iter)
            state = flat.solve(replace(problem, prior=BoundFlat()), monitor=monitor).state
            warm_start = state.active, state.log_precision
        kind = SharedSearch if problem.shared else PairSearch
        search = kind(problem, tol, max_iter, monitor, warm_start)
        converged = search.run()
        return SoftmaxSolution(
            search.state,
            max(1, search.n_steps),
            converged,
            search.certificate(),
            tuple(search.trace),
        )
