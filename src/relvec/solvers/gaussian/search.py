"""The default solver: ascents from several deterministic initialisations.

Local optima are recombined and improved by moves; the best one is returned.
"""

from __future__ import annotations

from copy import copy
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator

from relvec._checks import check_choice, check_integer, check_positive
from relvec.solvers.base import Candidate, Monitor, Problem, Relay, Solution, WarmStart
from relvec.solvers.gaussian.ascent import Schedule, ascend, maximise_precisions
from relvec.solvers.gaussian.backward import eliminate_backward, remove_penalties
from relvec.solvers.gaussian.beam import find_subset_states
from relvec.solvers.gaussian.initialisation import (
    Ridge,
    average_states,
    build_dense_state,
    fit_ridge,
    mix_with_ridge,
)
from relvec.solvers.gaussian.moves import Visited, improve_by_moves
from relvec.solvers.gaussian.orthonormal import OrthonormalSolver, find_unmet_condition
from relvec.solvers.gaussian.state import EMPTY, State, empty_state
from relvec.solvers.gaussian.tuning import DEFAULT, SearchTuning
from relvec.solvers.gaussian.unions import build_residual_problem, replace_part, restrict_to_part

EFFORTS = ("fast", "balanced", "thorough")


class SequentialSolver(BaseEstimator):
    """Maximise the evidence by ascents from several deterministic initialisations.

    The evidence (marginal likelihood) has many local optima. The algorithm builds on the sequential
    one of Tipping and Faul (2003):

    - Each ascent adds atoms in batches and takes joint Newton steps in their log precisions, with
      the noise profiled out in closed form. It ends where the optimality conditions hold (see
      `relvec.solvers.gaussian.ascent`).
    - Initialisations are the empty model, with the noise first held at fractions of a ridge
      estimate, and the model of all atoms.
    - Local optima are recombined by averaging prior variances, which usually leads to a better
      optimum than any of them.
    - Small active sets are improved by shifting, swapping and merging atoms (see `moves`).
    - Columns with entry penalties are also searched from subsets of small residual (see `beam`)
      and by backward elimination from the model without penalties (see `backward`).
    - Each part of a union of dictionaries is solved by itself first, in closed form if it is
      orthonormal, so that the result is never below that of one part (see `unions`).

    The solution is the local optimum of highest objective.

    Parameters
    ----------
    effort : {"fast", "balanced", "thorough"}, default="balanced"
        How many initialisations and recombinations to try. "fast" makes one ascent, and a second
        one from all atoms if a ridge regression on the same atoms has more evidence.
    tol : float, default=1e-4
        Largest derivative of the objective in a log precision that counts as zero. An ascent also
        ends if the predicted gain is below the rounding error of the objective.
    max_iter : int, default=500
        Largest number of rounds of one ascent.
    tuning : SearchTuning, optional
        Constants of the search.

    Examples
    --------
    >>> SequentialSolver(effort="fast")
    SequentialSolver(effort='fast')
    """

    def __init__(
        self,
        effort: str = "balanced",
        *,
        tol: float = 1e-4,
        max_iter: int = 500,
        tuning: SearchTuning | None = None,
    ) -> None:
        self.effort = effort
        self.tol = tol
        self.max_iter = max_iter
        self.tuning = tuning

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Maximise the objective of `problem`.

        Parameters
        ----------
        problem : Problem
            Any prior but one with a Gamma density on the weight precisions.
        warm_start : WarmStart, optional
            Make one ascent, from this active set only.
        monitor : callable, optional
            Called after every round; returning True ends the search with the best state so far.
        """
        check_choice("effort", self.effort, EFFORTS)
        check_positive("tol", self.tol)
        check_integer("max_iter", self.max_iter, minimum=1)
        if not problem.prior.is_removable:
            raise ValueError(
                "A Gamma prior with positive shape or rate gives an atom that is switched off "
                "(infinite precision) zero or infinite density, so atoms cannot be added or "
                'removed one by one. Use solver="mackay" or solver="em".'
            )
        if find_unmet_condition(problem) is None:  # a closed form, and a global maximum
            return OrthonormalSolver().solve(problem, monitor=monitor)
        moments = problem.moments
        if moments.n_effective < 2 or not moments.usable.any() or not moments.target_ss > 0.0:
            return empty_state(problem, problem.noise_variance).solution(0, problem)
        search = _Search(problem, self, monitor)
        try:
            if warm_start is None:
                start = fit_ridge(problem, search.tuning)
                search.plan(start)
                best = search.complete_search(start)
            else:
                best = search.ascend_from("warm start", State(*warm_start), search.polish)
        except _Stopped as stop:
            best = search.get_best_so_far(stop.state)
        optima = sorted(search.optima, key=_rank, reverse=True)
        candidates = tuple([Candidate(end.stage, end.objective, len(end.active)) for end in optima])
        return best.solution(search.relay.n_iter, problem, candidates=candidates)


class _Stopped(Exception):
    """A monitor requested to stop; `state` is the state at that time."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state


class _Search:
    """The ascents of one call of `solve`, and the local optima they reached."""

    def __init__(self, problem: Problem, solver: SequentialSolver, monitor: Monitor | None) -> None:
        self.problem, self.solver, self.effort = problem, solver, solver.effort
        self.tuning = DEFAULT if solver.tuning is None else solver.tuning
        self.relay = Relay(monitor)
        self.optima: list[State] = []
        """Local optima to be compared."""
        self.visited: Visited = set()
        self.held = problem.noise_variance
        usable = problem.moments.usable
        self.has_entry_penalties = bool(
            (problem.min_gain[usable] > self.tuning.negligible_penalty).all()
        )
        prior = problem.prior
        self.is_penalised = self.has_entry_penalties or prior.is_penalised or prior.has_density
        self.null = empty_state(problem, self.held)
        self.is_small = int(np.count_nonzero(usable)) <= self.tuning.small_dictionary
        self.polish = Schedule(
            threshold=1e-3 if self.is_small else 1e-2,
            pool_share=0.1 if self.is_small else 0.02,
            batch_min=1 if self.is_small else 16,
            max_rounds=solver.max_iter,
            gradient_tol=solver.tol,
            tuning=self.tuning,
            working_sets=problem.moments.n_atoms * problem.moments.n_effective
            > self.tuning.large_dictionary,
        )
        self.loose = self.polish._replace(threshold=0.01 if self.is_small else 0.05, polish=False)
        self.coarse = self.loose._replace(threshold=0.5)
        self.plan = self._search_small if self.is_small else self._search_large
        if self.has_entry_penalties:
            self.plan = self._search_columns

    # ------------------------------------------------------------------ moves

    def ascend_from(
        self,
        label: str,
        start: State,
        schedule: Schedule,
        parent: State = EMPTY,
        *,
        noise: float | None = None,
        is_optimum: bool = True,
    ) -> State:
        """Make one ascent, with the noise as in the problem or temporarily held at `noise`.

        `parent` is the local optimum from which `start` was derived. If `is_optimum` is False, the
        result is not added to the local optima to be compared.
        """
        state = ascend(
            self.problem,
            start,
            schedule,
            noise_variance=self.held if noise is None else noise,
            stage=label,
            monitor=self.relay,
        )
        self.relay.n_iter += state.n_rounds
        state = _extend_trace(parent, state)
        if noise is None and is_optimum:
            self.optima.append(state)
        if state.stopped:
            raise _Stopped(state)
        return state

    def forward(
        self, share: float, start: Ridge, end: Schedule, coarse: Schedule | None = None
    ) -> State:
        """Ascend from the empty model: first with the noise held below its ridge estimate.

        With a free noise the empty model is a poor initialisation: the noise explains the data.
        """
        label = f"forward, noise held at {share:g}"
        noise = share * (start.noise_variance if self.held is None else self.held)
        return self.ascend_from(
            label, self.ascend_from(label, EMPTY, coarse or self.coarse, noise=noise), end
        )

    def dense(self, start: Ridge, shift: float, end: Schedule) -> State:
        """Ascend from all atoms of the ridge regression, their log precision changed by `shift`."""
        state = build_dense_state(self.problem, start.atoms, start.log_lam + shift, self.tuning)
        return self.ascend_from(f"all atoms, log precision {shift:+g}", state, end)

    def recombine(self, states: list[State], end: Schedule) -> State:
        """Ascend from the average of several local optima."""
        start = average_states(states, self.problem.moments.n_atoms)
        return self.ascend_from("recombined", start, end, max(states, key=_rank))

    def lower_noise(self, state: State, share: float, end: Schedule) -> State:
        """Ascend from a local optimum with the noise lowered, then with the noise as usual."""
        label = f"noise lowered to {share:g}"
        lowered = self.ascend_from(label, state, self.coarse, noise=share * state.noise_variance)
        return self.ascend_from(label, lowered, end)

    def move_atoms(self, states: list[State], count: int) -> list[State]:
        """Shift, swap and merge atoms of the best `count` of several local optima."""
        # Without a penalty on degrees of freedom many sets of atoms are almost equally good.
        limit = (
            self.tuning.max_moved_atoms
            if self.problem.prior.is_penalised
            else self.tuning.few_active
        )
        label = "atoms moved"
        again = partial(self.ascend_from, label, schedule=self.polish, is_optimum=False)
        moved: list[State] = []
        for state in sorted(states, key=_rank, reverse=True):
            seen = tuple(state.active) in self.visited
            if len(moved) == count or seen or len(state.active) > limit:
                continue
            end = improve_by_moves(self.problem, state, again, self.visited, self.tuning)
            moved.append(end if end is state else _extend_trace(state, end))
            self.optima.append(moved[-1])
        return moved

    def mix_in_all_atoms(self, start: Ridge, state: State, share: float) -> State:
        """Ascend from a local optimum mixed with a small share of the ridge regression."""
        theta = mix_with_ridge(state, start, share, self.problem.moments.n_atoms)
        again = build_dense_state(self.problem, start.atoms, theta, self.tuning)
        return self.ascend_from(f"all atoms mixed in at {share:g}", again, self.loose)

    def try_subsets(self) -> None:
        """Ascend from subsets of small residual that are new and not far below the best optimum."""
        found = [
            maximise_precisions(self.problem, each)
            for each in find_subset_states(self.problem, self.tuning)
        ]
        for state in sorted(found, key=_rank, reverse=True):
            best = max(self.optima, key=_rank)
            is_optimum = any(np.array_equal(state.active, end.active) for end in self.optima)
            if not is_optimum and state.objective > best.objective - self.tuning.max_shift_loss:
                self.ascend_from("subset", state, self.polish)

    def search_backward(self, start: Ridge) -> None:
        """Ascend from the best model of a backward elimination that starts without penalties."""
        free = remove_penalties(self.problem, self.loose.threshold)
        begin, noise = EMPTY, self.held
        if len(start.atoms) <= self.problem.active_cap:
            begin = build_dense_state(free, start.atoms, start.log_lam, self.tuning)
        elif noise is None:  # all atoms together would interpolate the data
            noise = 0.45 * start.noise_variance
        flat = ascend(
            free, begin, self.loose, noise_variance=noise, stage="backward", monitor=self.relay
        )
        self.relay.n_iter += flat.n_rounds
        if flat.stopped:
            raise _Stopped(flat)
        state = eliminate_backward(self.problem, flat, self.tuning)
        if state.objective > max(self.optima, key=_rank).objective + self.tuning.min_improvement:
            self.ascend_from("backward", state, self.polish)

    # ------------------------------------------------------------------ plans

    def complete_search(self, start: Ridge) -> State:
        """Add the initialisations that the results call for; converge the best optimum."""
        if self.is_penalised and max(self.optima, key=_rank).objective < self.null.objective:
            self.ascend_from("no atoms", EMPTY, self.polish)
        best = max(self.optima, key=_rank)
        # The value of the ridge regression has no penalties of atoms: compare without them.
        log_evidence = best.objective + float(self.problem.min_gain[best.active].sum())
        if not self.has_entry_penalties and log_evidence < start.objective:
            # Ridge regression has more evidence: single atoms gain too little to be found one by
            # one, as with kernels of long length-scale. So start with all of them.
            self.dense(start, 0.0, self.polish)
        if self.problem.moments.parts:
            self._search_union()
        best = max(self.optima, key=_rank)
        return best if best.polished else self.ascend_from("final", best, self.polish, best)

    def get_best_so_far(self, state: State) -> State:
        """Return the best state so far; `state` is the one at which the monitor stopped."""
        if not self.optima:  # the noise was still held: evaluate the state with the noise free
            evaluation = self.loose._replace(max_rounds=0)
            self.optima.append(
                ascend(self.problem, state, evaluation, noise_variance=self.held, stage="stopped")
            )
        return max(self.optima, key=_rank)._replace(converged=False)

    def _search_union(self) -> None:
        """Search the parts of a union, recombine their optima and refit the parts in turn."""
        pool = [max(self.optima, key=_rank), *self._search_parts()]
        if self.effort == "fast":
            return
        best = self._average_pairs(pool, 4)
        if not self.polish.working_sets:
            best = self._refit_parts(best, 6 if self.effort == "thorough" else 2)
        self.move_atoms([best], 1)

    def _search_parts(self) -> list[State]:
        """Solve each part of a union, ascend from there among all atoms, and average the parts."""
        found, optima = [], []
        for number, part in enumerate(self.problem.moments.parts):
            if self.effort == "fast" and not part.is_orthonormal:
                continue
            state = self._solve(restrict_to_part(self.problem, part), self.effort)
            if not state.reached_max_active and len(state.active):
                found.append(state)
                optima.append(self.ascend_from(f"part {number} by itself", state, self.polish))
        if self.effort != "fast" and len(found) > 1:
            self._average_parts(found, optima)
        return optima

    def _average_parts(self, found: list[State], optima: list[State]) -> None:
        """Append the local optima that are reached from averages of the solutions of the parts."""
        equal = np.full(len(found), 1.0 / len(found))
        # Convex combinations of prior variances: equal shares, and one part favoured over the
        # others.
        favours = [equal, *(0.8 * one + 0.2 * equal for one in np.eye(len(found)))]
        starts = [
            average_states(found, self.problem.moments.n_atoms, shares.tolist())
            for shares in favours
        ]
        optima += [self.ascend_from("parts averaged", start, self.polish) for start in starts]
        # With the noise held above its estimate, an atom stays only if it fits much better than
        # those of the other parts. So the signal is divided among the parts before details enter.
        noise = max(optima, key=_rank).noise_variance
        for factor in self.tuning.noise_factors:
            label = f"parts averaged, noise raised {factor:g} times"
            coarse = self.ascend_from(label, starts[0], self.coarse, noise=factor * noise)
            optima.append(self.ascend_from(label, coarse, self.polish))

    def _refit_parts(self, best: State, n_rounds: int) -> State:
        """Refit the parts of a union in turn, each to the residual of the others."""
        effort = self.effort if self.problem.prior.is_penalised else "fast"
        for _ in range(n_rounds):
            before = best.objective
            for part in self.problem.moments.parts:
                rest = build_residual_problem(self.problem, part, best)
                if rest is None:
                    continue
                start = replace_part(best, part, self._solve(rest, effort))
                best = max(best, self.ascend_from("part refitted", start, self.polish), key=_rank)
            if best.objective < before + 0.01:
                break
        return best

    def _solve(self, problem: Problem, effort: str) -> State:
        """Solve a subproblem."""
        solver = copy(self.solver).set_params(effort=effort)
        answer = solver.solve(problem, monitor=self.relay)
        self.relay.n_iter += answer.n_iter
        state = State(answer.active, answer.log_lam, reached_max_active=answer.reached_max_active)
        if self.relay.is_stop_requested:
            raise _Stopped(state)
        return state

    def _search_columns(self, start: Ridge) -> None:
        """Search columns with entry penalties: forward, from subsets, and backward."""
        first = self.ascend_from("forward", EMPTY, self.polish)
        if self.effort != "fast":
            self.recombine([first, self.forward(0.45, start, self.polish)], self.polish)
        if self.is_small and (self.effort != "fast" or not len(first.active)):
            # Columns may gain more than their penalties together even if none does by itself.
            self.try_subsets()
        if self.is_small and self.effort != "fast":
            self.search_backward(start)

    def _search_small(self, start: Ridge) -> None:
        """Search a small dictionary, of which all atoms can be active at first."""
        first = self.dense(start, 0.0, self.polish)  # "balanced" is never below "fast"
        if self.effort == "fast":
            return
        few, loose = self.tuning.few_active, self.loose
        pool = [first, self.forward(0.3, start, loose), self.forward(0.1, start, loose)]
        # Optima of very different sizes: further initialisations find more than moves do.
        largest = max(len(first.active), len(pool[1].active), len(pool[2].active))
        is_sparse = len(max(pool, key=_rank).active) <= few and largest <= 2 * few
        if is_sparse:
            pool += self.move_atoms(pool, 3)
            pool.append(self._average_pairs(pool, 3))
            if self.effort == "balanced":
                return
        pool += [self.dense(start, shift, loose) for shift in (1.0, -1.0, 2.0, -2.0)]
        if self.effort == "thorough":
            self._search_thoroughly(pool, start)
            return
        pool.append(self.recombine(pool, loose))
        self.move_atoms([self._average_pairs(pool, 8)], 1)

    def _search_thoroughly(self, pool: list[State], start: Ridge) -> None:
        """Add the initialisations of effort "thorough" to those of the balanced search."""
        pool.append(self.forward(1.0, start, self.loose))
        pool.append(self.recombine(pool, self.loose))
        pool.append(self.ascend_from("forward", EMPTY, self.loose))
        best = max(pool, key=_rank)
        pool += [self.lower_noise(best, share, self.loose) for share in (0.5, 0.2)]
        best = self._average_pairs(pool, 8)
        pool = [best, *(self.mix_in_all_atoms(start, best, share) for share in (0.5, 0.1, 0.02))]
        self._average_pairs(pool, 8)
        self.move_atoms(self.optima, 8)

    def _search_large(self, start: Ridge) -> None:
        """Search a large dictionary, mainly forward."""
        pool = [self.forward(0.45, start, self.polish)]  # never below "fast"
        if self.effort == "fast":
            return
        pool.append(self.dense(start, 0.0, self.loose))
        if self.effort == "thorough":
            deep = self.coarse._replace(threshold=2.0, pool_share=0.005)
            pool.append(self.forward(0.2, start, self.loose, deep))
            pool.append(self.dense(start, 1.5, self.loose))
        parent = max(pool, key=_rank)
        merged = self.recombine(pool, self.loose)
        again = self.recombine([merged, parent], self.loose)
        if self.effort == "thorough":
            best = max(parent, merged, again, key=_rank)
            self.recombine([best, self.lower_noise(best, 0.5, self.loose)], self.loose)

    def _average_pairs(self, pool: list[State], attempts: int) -> State:
        """Recombine the best local optimum with the next best ones, at most `attempts` times."""
        waiting = sorted(pool, key=_rank, reverse=True)
        best = waiting.pop(0)
        while waiting and attempts:
            other = waiting.pop(0)
            same = abs(other.objective - best.objective) < self.tuning.same_objective_tol
            if same and len(other.active) == len(best.active):
                continue
            attempts -= 1
            child = self.recombine([best, other], self.loose)
            # A rise within the accuracy of unpolished optima is no reason to continue from the
            # child.
            if _rank(child) > _rank(best) and child.objective > best.objective + 1e-3:
                waiting.append(best)
                best = child
        return best


def _extend_trace(parent: State, child: State) -> State:
    """Prepend the trace of the parent to the part of the child's trace that is higher."""
    if not child.objective > parent.objective:
        return child
    trace = np.array(child.trace)
    higher = trace[trace > parent.objective].tolist()
    return child._replace(trace=(*parent.trace, *higher))


def _rank(state: State) -> tuple[bool, float]:
    """Sort key of local optima: those at the cap have an arbitrary noise and come last."""
    return (not state.reached_max_active, state.objective)
