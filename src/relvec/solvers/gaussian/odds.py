"""Learn how many atoms are to be expected, in turns with the atoms.

A penalty of ``log M`` for each of ``M`` atoms expects one of them in the model. Where fifty of five
hundred matter a little, it lets few of these in; half of it lets in noise where five matter.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import gammaln
from sklearn.base import BaseEstimator

from relvec.solvers.base import Candidate, Monitor, Problem, Relay, Solution, Solver, WarmStart
from relvec.solvers.gaussian.search import SequentialSolver

__all__ = ["OddsLearner", "inclusion_penalty"]

LEAST_PENALTY = 1e-3
"""Where most atoms matter, none has to bring more than a tolerance."""
MAX_ROUNDS = 6
"""The number of atoms settles after two or three."""


class OddsLearner(BaseEstimator):
    """A solver that learns the log prior odds of inclusion by means of another one.

    Every atom is in the model with the same unknown probability, of which all values are equally
    likely beforehand. A set of ``k`` of ``M`` atoms then has prior probability ``1 / ((M + 1)
    binomial(M, k))``, and the expected probability is ``(k + 1) / (M + 2)``. The problem is solved
    with the log odds of that against each atom, which is found anew from the number of atoms until
    that stays; from two penalties, as there may be a solution with few atoms and one with many.
    What penalties the problem has are not looked at.

    Parameters
    ----------
    solver : Solver, optional
        Solves the problem for given penalties. Default, `SequentialSolver()`.

    References
    ----------
    J. G. Scott, J. O. Berger (2010), Bayes and empirical-Bayes multiplicity adjustment in the
    variable-selection problem, Annals of Statistics 38.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import LinearBasis
    >>> from relvec.solvers import OddsLearner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 60))
    >>> y = X[:, :30].sum(axis=1) + 2.0 * rng.normal(size=100)
    >>> sparse = SparseBayesRegressor(LinearBasis()).fit(X, y)
    >>> learnt = SparseBayesRegressor(LinearBasis(), solver=OddsLearner()).fit(X, y)
    >>> len(sparse.coef_) < len(learnt.coef_)
    True
    """

    def __init__(self, solver: Solver | None = None) -> None:
        self.solver = solver

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Maximise the log evidence of `problem` and the log prior probability of the atoms."""
        solver = SequentialSolver() if self.solver is None else self.solver
        n_atoms = max(int(np.count_nonzero(problem.moments.usable)), 1)
        relay, found = Relay(monitor), []
        # log M expects about one atom; half of it, odds of 1 to sqrt(M), about sqrt(M) atoms.
        for share in (1.0, 0.5):
            penalty = max(share * math.log(n_atoms), LEAST_PENALTY)
            count = -1
            for _ in range(MAX_ROUNDS):
                penalised = replace(problem, min_gain=penalty)  # type: ignore[arg-type]  # broadcast
                solution = solver.solve(penalised, warm_start=warm_start, monitor=relay)
                relay.n_iter += solution.n_iter
                before, count = count, len(solution.active)
                # The objective contains -penalty for each atom, which depends on the round.
                # Solutions are compared by log evidence plus the log prior probability of their set
                # of atoms instead.
                value = solution.objective + penalty * count - _log_sets(n_atoms, count)
                found.append((value, f"penalty {penalty:.3g}", solution))
                if relay.is_stop_requested or count == before:
                    break
                penalty = inclusion_penalty(n_atoms, count)
            if relay.is_stop_requested:
                break
        # where the noise is not identified the evidence says nothing
        ranked = sorted(found, key=lambda each: (each[2].reached_max_active, -each[0]))
        value, _, best = ranked[0]
        return replace(
            best,
            objective=value,
            n_iter=relay.n_iter,
            trace=(value,),
            candidates=tuple(
                Candidate(start, worth, len(each.active)) for worth, start, each in ranked
            ),
        )


def inclusion_penalty(n_atoms: int, count: int) -> float:
    """Log odds against one more of `n_atoms` atoms where `count` are in the model.

    Those of the expected probability of inclusion given that number, at least a tolerance.

    Examples
    --------
    >>> from relvec.solvers import inclusion_penalty
    >>> round(inclusion_penalty(500, 0), 1), round(inclusion_penalty(500, 50), 1)
    (6.2, 2.2)
    """
    # Laplace's rule of succession: p = (k + 1) / (M + 2), so (1 - p) / p = (M - k + 1) / (k + 1).
    return max(math.log((n_atoms - count + 1.0) / (count + 1.0)), LEAST_PENALTY)


def _log_sets(n_atoms: int, count: int) -> float:
    """Minus the log prior probability of a set of so many atoms."""
    # int p^k (1 - p)^(M - k) dp = 1 / ((M + 1) binomial(M, k)) (Scott & Berger 2010).
    log_binomial = gammaln(n_atoms + 1) - gammaln(count + 1) - gammaln(n_atoms - count + 1)
    return float(log_binomial) + math.log(n_atoms + 1)
