"""The default solver of classification into two classes."""

from __future__ import annotations

from dataclasses import replace

from sklearn.base import BaseEstimator

from relvec._checks import check_bool, check_integer, check_positive
from relvec._typing import IndexArray, Vector
from relvec.priors import BoundFlat
from relvec.solvers.base import Monitor
from relvec.solvers.latent.block_search import BlockSearch
from relvec.solvers.latent.labels import LabelProblem, LabelSolution, listening, refuse_gamma
from relvec.solvers.latent.laplace_exact import ExactAscent

__all__ = ["LaplaceSolver"]


class LaplaceSolver(BaseEstimator):
    """Maximise the Laplace evidence of a binary classifier.

    Parameters
    ----------
    exact : bool, default=False
        Whether to go on, from where steps at fixed curvature end, with exact derivatives of the
        Laplace evidence, which follow the curvature as it moves. The end is then a
        local maximum, certified by those derivatives. It costs more, and seldom predicts better.
    tol : float, default=1e-3
        Rise of the objective, in nats, at which to stop.
    max_iter : int, default=500
        Working sets to go through.

    Notes
    -----
    If the problem has signs, every model on the way has them: atoms whose weight at the mode is
    zero or of the wrong sign are left out before a step is judged, and atoms enter only if their
    slope has their sign. What `LabelProblem` says of its evidence holds.

    Examples
    --------
    >>> LaplaceSolver(exact=True)
    LaplaceSolver(exact=True)
    """

    def __init__(self, *, exact: bool = False, tol: float = 1e-3, max_iter: int = 500) -> None:
        self.exact = exact
        self.tol = tol
        self.max_iter = max_iter

    def solve(
        self,
        problem: LabelProblem,
        *,
        warm_start: tuple[IndexArray, Vector] | None = None,
        monitor: Monitor | None = None,
    ) -> LabelSolution:
        """Maximise the objective of `problem`.

        Parameters
        ----------
        problem : LabelProblem
            Any prior but one with a Gamma density on the weight precisions.
        warm_start : (ndarray, ndarray), optional
            Active atoms, ascending, and their log precisions to start from.
        monitor : callable, optional
            Told of every step; returning True ends the search where it is.
        """
        exact = check_bool("exact", self.exact)
        tol = check_positive("tol", self.tol)
        max_iter = check_integer("max_iter", self.max_iter, minimum=1)
        refuse_gamma(problem.prior)
        monitor = listening(monitor)
        if problem.smoothness and warm_start is None:
            # under a price single atoms are hard to find; the free model finds them
            flat = LaplaceSolver(tol=10.0 * tol, max_iter=max_iter)
            state = flat.solve(replace(problem, prior=BoundFlat()), monitor=monitor).state
            warm_start = state.active, state.log_precision
        search = BlockSearch(problem, tol, max_iter, monitor, warm_start)
        converged = search.run()
        certificate = search.certificate()
        state, trace = search.state, search.trace
        if exact and not search.is_stopped:
            # one atom at a time: more rounds than working sets
            ascent = ExactAscent(problem, state, tol, 4 * max_iter, monitor, search.n_steps)
            converged = ascent.run()
            state, trace, certificate = ascent.state, trace + ascent.trace, ascent.certificate()
        return LabelSolution(state, max(1, len(trace) - 1), converged, certificate, tuple(trace))
