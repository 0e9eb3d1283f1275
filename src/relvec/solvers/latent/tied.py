"""One precision for each group of atoms: evidence of a few variance components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from relvec._checks import check_integer, check_positive
from relvec._typing import IndexArray, Vector
from relvec.solvers.base import Certificate, Monitor
from relvec.solvers.groups import check_flags, check_groups
from relvec.solvers.latent.problem import LatentProblem, LatentSolution
from relvec.solvers.latent.tied_columns import TiedColumns
from relvec.solvers.latent.tied_search import LatentGroupSearch

__all__ = ["TiedLaplaceSolver"]


@dataclass(eq=False, repr=False)
class TiedLaplaceSolver(BaseEstimator):
    """Maximise the Laplace evidence with one precision for each group of atoms.

    With one precision per atom, automatic relevance determination keeps a few atoms and its
    posterior does not count the others: in a dictionary of kernels of several length-scales its
    bands are too narrow. With one precision per length-scale whole groups are relevant or not. All
    atoms of a relevant group stay in the model and add to its uncertainty.

    Parameters
    ----------
    groups : array-like of int of shape (n_atoms,), optional
        Group of each atom: 0, 1, ..., or -1 for atoms with a nearly flat prior, whose prior
        variance is the largest that the problem allows (`LatentProblem.largest_latent`). None puts
        all atoms into one group.
    standardise : bool or array-like of bool of shape (n_atoms,), default=False
        Atoms whose weights share the precision after scaling the columns to unit variance; for
        columns in different units. Others, such as kernels, share it as they are.
    tol : float, default=1e-3
        Largest derivative of the evidence in a log precision, in nats, at the end.
    max_iter : int, default=200
        Largest number of steps.

    Notes
    -----
    Trial steps follow the rule of MacKay, with effective degrees of freedom and squared weights
    summed over the group, and then the expected information of the log precisions, with exact
    derivatives. A step is taken only if the evidence rises. A group is removed if the evidence does
    not fall, and enters again if its derivative at zero variance is positive. The result is at
    least as good as the model without groups.

    The objective is the Laplace evidence itself: minimum gains of the problem refer to single atoms
    and have no effect, but atoms of infinite minimum gain are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.likelihoods import Poisson
    >>> from relvec.solvers import LatentProblem, TiedLaplaceSolver
    >>> x = np.linspace(0, 1, 120)
    >>> centres, widths = np.linspace(0, 1, 12), (0.2, 0.05)
    >>> Phi = np.hstack([np.exp(-0.5 * ((x[:, None] - centres) / h) ** 2) for h in widths])
    >>> counts = np.random.default_rng(0).poisson(np.exp(1 + np.sin(6 * x)))
    >>> problem = LatentProblem(DenseDictionary(Phi), Poisson().bind(counts))
    >>> solution = TiedLaplaceSolver(np.repeat([0, 1], 12)).solve(problem)
    >>> solution.state.active  # the narrow kernels have been removed
    array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11])
    >>> len(np.unique(solution.state.log_precision)), solution.converged
    (1, True)
    """

    groups: IndexArray | None = None
    standardise: Any = False
    tol: float = 1e-3
    max_iter: int = 200

    uses_min_gain = False  # not a field: minimum gains are those of single atoms

    def solve(
        self,
        problem: LatentProblem,
        *,
        warm_start: tuple[IndexArray, Vector] | None = None,
        monitor: Monitor | None = None,
    ) -> LatentSolution:
        """Maximise the Laplace evidence of `problem` over the precisions of the groups.

        Parameters
        ----------
        problem : LatentProblem
            A problem with one latent function and without signs.
        warm_start : (ndarray, ndarray), optional
            Active atoms and their log precisions to start from; groups without active atoms start
            removed.
        monitor : callable, optional
            Called after every step; returning True stops the search.
        """
        tol = check_positive("tol", self.tol)
        max_iter = check_integer("max_iter", self.max_iter, minimum=1)
        if problem.n_blocks > 1:
            raise ValueError(
                "TiedLaplaceSolver is for one latent function; with more than two classes use "
                'multi_class="one_vs_rest".'
            )
        if problem.signs is not None:
            raise ValueError("TiedLaplaceSolver needs weights of free sign; got signs.")
        if problem.prior.is_penalised or problem.prior.has_density:
            raise ValueError(
                "TiedLaplaceSolver needs a flat prior of the precisions; got a "
                f"{type(problem.prior).__name__}."
            )
        groups = check_groups(self.groups, problem.dictionary.shape[1])
        columns = TiedColumns(problem, groups, check_flags(self.standardise, len(groups)))
        search = LatentGroupSearch(problem, columns, tol, monitor)
        start = columns.initial if warm_start is None else columns.read_precisions(*warm_start)
        converged = search.run(start, max_iter)
        state = columns.expand(search.point.state, search.point.theta)
        n_iter = max(1, len(search.trace) - 1)
        certificate = Certificate(search.find_largest_derivative(), search.best_gain)
        return LatentSolution(state, n_iter, converged, certificate, tuple(search.trace))
