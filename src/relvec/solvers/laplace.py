"""The default solver of classification: regression steps at fixed curvature, each one checked.

At its mode a logistic model looks like a weighted regression with known noise. The ascent of
that regression proposes a new active set with new precisions; a step towards it is taken only
as far as the Laplace evidence itself rises. So the objective never falls and, being bounded,
converges, where updates without the check need not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from relvec._checks import check_bool, check_integer, check_positive
from relvec._typing import IndexArray, Matrix, Vector
from relvec.evidence import best_precision
from relvec.moments.gram import SufficientStatistics
from relvec.moments.weighted import WeightedMoments
from relvec.solvers.ascent import Schedule, State, ascend
from relvec.solvers.base import Certificate, Monitor, Problem, Progress
from relvec.solvers.labels import LOG_RANGE, LabelProblem, LabelSolution, LabelState
from relvec.solvers.laplace_exact import ExactAscent
from relvec.solvers.newton import Maximum, Objective, evaluate
from relvec.solvers.screening import screen

__all__ = ["LaplaceSolver"]

SPREAD = 192
"""Atoms of the first working set, spread evenly over all."""
PROMISING = 128
"""Most promising atoms that join the active ones in a later working set."""
ROUNDS = 25
"""Most regression steps in one working set."""
SHORTEST = 0.05
"""Least share of a proposed step that is tried."""
RISE = 1e-9
"""Least rise of the objective that is one."""


class LaplaceSolver(BaseEstimator):
    """Maximise the Laplace evidence of a binary classifier.

    Parameters
    ----------
    exact : bool, default=False
        Whether to go on, from where steps at fixed curvature end, with exact derivatives of the
        Laplace evidence, which follow the curvature as it moves. The end is then a certified
        local maximum. It costs more, and does not predict better.
    tol : float, default=1e-3
        Rise of the objective, in nats, at which to stop.
    max_iter : int, default=60
        Working sets to go through.

    Examples
    --------
    >>> LaplaceSolver(exact=True)
    LaplaceSolver(exact=True)
    """

    def __init__(self, *, exact: bool = False, tol: float = 1e-3, max_iter: int = 60) -> None:
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
        if problem.hyperprior.shape or problem.hyperprior.rate:
            raise ValueError(
                "A Gamma prior with positive shape or rate gives an atom that is switched off "
                "(infinite precision) zero or infinite density, so atoms cannot be added or "
                'removed one by one. Use solver="mackay" or solver="em".'
            )
        if problem.smoothness and warm_start is None:
            # under a price single atoms are hard to find; the free model finds them
            flat = LaplaceSolver(tol=10.0 * tol, max_iter=max_iter)
            state = flat.solve(replace(problem, smoothness=0.0), monitor=monitor).state
            warm_start = state.active, state.log_precision
        search = _Search(problem, tol, max_iter, monitor, warm_start)
        converged = search.run()
        certificate = search.certificate()
        if exact:
            ascent = ExactAscent(problem, search.state, tol, max_iter)
            converged = ascent.run()
            search.state, certificate = ascent.state, ascent.certificate()
            search.trace += ascent.trace
        return LabelSolution(
            search.state, max(1, search.n_steps), converged, certificate, tuple(search.trace)
        )


class _Stopped(Exception):
    """A monitor has seen enough."""


class _Promise(NamedTuple):
    """Atoms that would gain at fixed curvature, best first."""

    atoms: IndexArray
    best_net: float
    """Largest gain net of the price; zero if nothing gains."""


class _Search:
    """The state of one search and the atoms it works with."""

    def __init__(
        self,
        problem: LabelProblem,
        tol: float,
        max_iter: int,
        monitor: Monitor | None,
        warm_start: tuple[IndexArray, Vector] | None,
    ) -> None:
        self.problem = problem
        self.labels = problem.labels
        self.tol = tol
        self.max_iter = max_iter
        self.monitor = monitor
        self.n_steps = 0
        n_atoms = problem.dictionary.shape[1]
        self.working = np.unique(np.linspace(0, n_atoms - 1, min(n_atoms, SPREAD)).astype(np.intp))
        active, log_precision = np.empty(0, dtype=np.intp), np.empty(0)
        if warm_start is not None:
            active, log_precision = warm_start
            self.working = np.union1d(self.working, active)
        self.atoms: Matrix = problem.dictionary.columns(self.working)
        self.state = problem.evaluate(active, log_precision, self._columns(active))
        self.trace = [self.state.objective]
        threshold = float(problem.min_gain.min(initial=1e-3))
        self.schedule = Schedule(threshold=max(threshold, 1e-4), gradient_tol=1e-3, max_rounds=50)
        self.loose = self.schedule._replace(threshold=0.05, polish=False)

    def run(self) -> bool:
        """Go through working sets until none brings a rise; False if cut short."""
        try:
            self._settle(0.02, first_loose=not len(self.state.active))
            for _ in range(self.max_iter):
                before = self.state.objective
                promise = self._look()
                if not len(promise.atoms):
                    self._settle(self.tol)
                    if self.state.objective - before < self.tol:
                        return True
                    continue
                self.working = np.union1d(self.state.active, promise.atoms)
                self.atoms = self.problem.dictionary.columns(self.working)
                self._settle(10.0 * self.tol if promise.best_net > 0.1 else self.tol)
                if self.state.objective - before < self.tol:
                    return True
        except _Stopped:
            pass
        return False

    def certificate(self) -> Certificate:
        """Derivatives at fixed curvature where the search ended."""
        gradient = self.problem.gradient(self.state.mode, exact=False)
        at_bound = self.state.log_precision <= self._least(self.state.active) + 1e-6
        gradient = gradient[~at_bound]
        return Certificate(float(np.abs(gradient).max(initial=0.0)), self._look().best_net)

    # ------------------------------------------------------------------ steps

    def _columns(self, active: IndexArray) -> Matrix:
        return self.atoms[:, np.searchsorted(self.working, active)]

    def _least(self, active: IndexArray) -> Vector:
        """Smallest log precisions allowed: the bound on logits."""
        atoms = self._columns(active)
        if self.labels.has_intercept:
            spread = atoms.var(axis=0)
        else:
            spread = np.square(atoms).mean(axis=0)
        return np.log(np.maximum(spread, 1e-300)) - 2.0 * np.log(self.problem.largest_logit)

    def _settle(self, tol: float, *, first_loose: bool = False) -> None:
        """Take regression steps in the working set until they bring less than `tol`."""
        for number in range(ROUNDS):
            before = self.state.objective
            schedule = self.loose if first_loose and number < 2 else self.schedule
            if not self._step_towards(*self._proposal(schedule)):
                break
            if self.state.objective - before < tol:
                break
        if self.problem.smoothness and self.problem.is_prior:
            self._settle_prior(tol)

    def _proposal(self, schedule: Schedule) -> tuple[IndexArray, Vector]:
        """Ascend the evidence of the regression that the model looks like at its mode."""
        mode = self.state.mode
        statistics = SufficientStatistics(len(self.working))
        statistics.update(self.atoms, mode.response, mode.curvature)
        moments = statistics.moments(centre=self.labels.has_intercept)
        problem = Problem(
            moments,
            min_gain=self.problem.min_gain[self.working],
            smoothness=self.problem.smoothness,
            noise_variance=1.0,
        )
        inside = np.searchsorted(self.working, self.state.active)
        norms = 2.0 * np.log(moments.column_norm)
        end = ascend(
            problem,
            State(inside, self.state.log_precision - norms[inside]),
            schedule,
            noise_variance=1.0,
        )
        active = self.working[end.active]
        proposed = end.theta + norms[end.active]
        return active, np.maximum(proposed, self._least(active))

    def _step_towards(self, active: IndexArray, log_precision: Vector) -> bool:
        """Go towards a proposal as far as the objective rises; False if it does not."""
        share = 1.0
        while share > SHORTEST:
            if share == 1.0:
                trial, value = active, log_precision
            else:
                trial, value = _between(self.state, active, log_precision, share)
            if self._accept(trial, value):
                return True
            share *= 0.5
        return False

    def _accept(self, active: IndexArray, log_precision: Vector) -> bool:
        """Move to a model if its objective is higher."""
        trial = self.problem.evaluate(
            active, log_precision, self._columns(active), self.state.start_for(active)
        )
        if not trial.objective > self.state.objective + RISE:
            return False
        self.state = trial
        self.trace.append(trial.objective)
        self.n_steps += 1
        if self.monitor is not None and self.monitor(
            Progress("laplace", self.n_steps, trial.objective, len(active))
        ):
            raise _Stopped
        return True

    def _settle_prior(self, tol: float) -> None:
        """Steps for a price at the largest curvature, of which the regression knows nothing.

        MacKay's fixed point with the price in it, then removals that pay.
        """
        for _ in range(ROUNDS):
            before = self.state.objective
            mode, k = self.state.mode, len(self.state.active)
            if not k:
                return
            drive = 2.0 * self.problem.gradient(mode, exact=False)
            determined = drive + mode.precision[:k] * mode.weights[:k] ** 2
            ratio = np.maximum(determined, 1e-12) / np.maximum(mode.weights[:k] ** 2, 1e-300)
            least = self._least(self.state.active)
            proposed = np.clip(np.log(ratio), least, least + LOG_RANGE)
            moved = self._step_towards(self.state.active, proposed)
            removed = self._remove_one()
            if not removed and (not moved or self.state.objective - before < tol):
                return

    def _remove_one(self) -> bool:
        """Drop the atom whose loss is least, if the objective rises by that."""
        mode, k = self.state.mode, len(self.state.active)
        if not k:
            return False
        variance = mode.covariance.diagonal()[:k]
        loss = mode.weights[:k] ** 2 / variance + np.log(mode.precision[:k] * variance)
        for place in np.argsort(loss)[:2]:
            rest = np.delete(np.arange(k), place)
            if self._accept(self.state.active[rest], self.state.log_precision[rest]):
                return True
        return False

    # ------------------------------------------------------------------ all atoms

    def _look(self) -> _Promise:
        """Screen every atom at the curvature of the mode."""
        problem, mode, active = self.problem, self.state.mode, self.state.active
        centre = self.labels.has_intercept
        moments = WeightedMoments(
            problem.dictionary, mode.response, mode.curvature, centre=centre, active=active
        )
        c = problem.smoothness
        theta = self.state.log_precision - 2.0 * np.log(moments.column_norm[active])
        objective = Objective(moments.n_effective, moments.target_ss, c, 1.0)
        maximum, quadratic = None, moments.target_ss
        if len(active):
            point = evaluate(moments.gram(active), moments.correlation[active], theta, objective)
            if point is None:  # beyond rounding: nothing can be said of other atoms
                return _Promise(np.empty(0, dtype=np.intp), 0.0)
            everything = np.arange(len(active))
            maximum = Maximum(theta, everything, point, None, None, 0, True, 0.0)
            quadratic = point.quadratic
        seen = screen(Problem(moments, smoothness=c, noise_variance=1.0), active, maximum)
        admissible = moments.usable & (seen.s > moments.resolution)
        admissible[active] = False
        index = np.flatnonzero(admissible)
        gain, _ = best_precision(
            seen.s[index],
            seen.q[index],
            None if seen.p is None else seen.p[index],
            quadratic,
            moments.n_effective,
            c,
            1.0,
        )
        net = gain - np.maximum(problem.min_gain[index], self.schedule.threshold)
        order = np.argsort(-net, kind="stable")[:PROMISING]
        order = order[net[order] > 0.0]
        return _Promise(index[order], max(0.0, float(net.max(initial=0.0))))


def _between(
    state: LabelState, active: IndexArray, log_precision: Vector, share: float
) -> tuple[IndexArray, Vector]:
    """Go part of the way to another model, on the straight line of prior variances."""
    union = np.union1d(state.active, active)
    variance = np.zeros(len(union))
    variance[np.searchsorted(union, state.active)] = (1.0 - share) * np.exp(-state.log_precision)
    variance[np.searchsorted(union, active)] += share * np.exp(-log_precision)
    return union, -np.log(variance)
