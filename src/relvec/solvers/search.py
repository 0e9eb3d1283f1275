"""The default solver: several deterministic ascents, recombined, best objective kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relvec.solvers.ascent import EMPTY, Schedule, State, ascend, max_active
from relvec.solvers.base import Candidate, Monitor, Problem, Progress, Solution, WarmStart
from relvec.solvers.starts import Ridge, dense_start, recombine, ridge

SMALL = 600
"""Up to this many atoms the whole Gram is at hand and every start is affordable."""


class _Stop(Exception):
    """A monitor asked to stop."""


class SequentialSolver:
    """Fast evidence maximisation with a certificate."""

    def __init__(self, effort: str = "balanced", tol: float = 1e-4, max_iter: int = 500) -> None:
        self.effort = effort
        self.tol = tol
        self.max_iter = max_iter

    def solve(
        self,
        problem: Problem,
        *,
        warm_start: WarmStart | None = None,
        monitor: Monitor | None = None,
    ) -> Solution:
        """Maximise the objective of `problem`."""
        return _Search(problem, self, monitor).run(warm_start)


class _Search:
    def __init__(self, problem, solver, monitor):
        self.problem = problem
        self.solver = solver
        self.monitor = monitor
        self.ends = []
        self.total = 0

    def climb(self, label, start, schedule, noise=None, record=True):
        if self.problem.noise_variance is not None:
            noise = self.problem.noise_variance
        state = ascend(self.problem, start, schedule, noise_variance=noise, stage=label, monitor=self.monitor)
        self.total += state.n_rounds
        if record:
            self.ends.append((label, state))
        return state

    def run(self, warm_start):
        problem = self.problem
        small = problem.moments.n_atoms <= SMALL
        r = ridge(problem)
        eff = self.solver.effort
        if small and eff == "fast":
            st = self.climb("h", EMPTY, Schedule(0.5, .1, 1, polish=False), .3 * r.noise_variance, record=False)
            best = self.climb("p", st, Schedule(1e-3, .1, 1))
            if best.objective < r.objective:
                st = dense_start(problem, r.atoms, r.log_lam, sweeps=30, keep=20)
                b2 = self.climb("d", st, Schedule(1e-3, .1, 1))
                best = max(best, b2, key=lambda x: x.objective)
        elif small:
            best = self.small(r)
        else:
            best = self.large(r)
        return best

    def small(self, r):
        pb = self.problem
        hold = Schedule(0.5, .1, 1, polish=False)
        free = Schedule(1e-2, .1, 1, polish=False)
        pool = []
        for f in (1., .3, .1):
            st = self.climb(f"h{f}", EMPTY, hold, f * r.noise_variance, record=False)
            pool.append(self.climb(f"h{f}", st, free))
        pool.append(self.climb("e", EMPTY, free))
        st = dense_start(pb, r.atoms, r.log_lam, sweeps=30, keep=20)
        pool.append(self.climb("d", st, free))
        st = dense_start(pb, r.atoms, np.log(.1), sweeps=150, keep=0)
        pool.append(self.climb("d.1", st, free))
        pool.append(self.climb("U", recombine(pool, pb.moments.n_atoms), free))
        best = max(pool, key=lambda s: s.objective)
        for f in (.5, .2):
            st = self.climb("b", best, hold, f * best.noise_variance, record=False)
            pool.append(self.climb("b", st, free))
        pool.sort(key=lambda s: -s.objective)
        best, others, tried = pool[0], pool[1:], 0
        while others and tried < 12:
            o = others.pop(0)
            if abs(o.objective - best.objective) < 1e-4 and len(o.active) == len(best.active):
                continue
            tried += 1
            st = self.climb("x", recombine([best, o], pb.moments.n_atoms), free)
            if st.objective > best.objective + 1e-3:
                others.append(best)
                best = st
        return self.climb("f", best, Schedule(1e-3, .1, 1))

    def large(self, r):
        pb = self.problem
        eff = self.solver.effort
        M = pb.moments.n_atoms
        prof = Schedule(1e-2, .02, 4)
        st = self.climb("h", EMPTY, Schedule(.5, .02, 4, polish=False), .3 * r.noise_variance, record=False)
        if eff == "fast":
            return self.climb("p", st, prof)
        loose = prof._replace(threshold=.05, polish=False)
        pool = [self.climb("p", st, loose)]
        for f in ((.1, 1.) if eff == "thorough" else (.1,)):
            st = self.climb("h", EMPTY, Schedule(2., .005, 4, polish=False), f * r.noise_variance, record=False)
            pool.append(self.climb("p", st, loose))
        u = self.climb("U", recombine(pool, M), prof)
        b = max(pool, key=lambda s: s.objective)
        u2 = self.climb("U2", recombine([u, b], M), prof)
        best = max(u, u2, key=lambda s: s.objective)
        return best if best.objective > b.objective else self.climb("f", b, prof)
