"""One ascent of the evidence to a local optimum: batches of additions, joint Newton steps.

The algorithm extends that of Tipping and Faul (2003), which changes one atom at a time. Each round

1. takes a few Newton steps in the log precisions of the active set and removes atoms whose best
   precision is infinite (see `newton`);
2. screens all atoms: one triangular solve gives ``s`` and ``q`` of each (see `screening`);
3. adds a batch of atoms, chosen by exact greedy selection from a pool of the best candidates;
4. computes the Gram rows of the whole batch in one matrix product.

All moves are exact, so the objective never falls. The last state satisfies the optimality
conditions: zero gradient on the active set, and no admissible atom would raise the objective.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.moments.gram import subset_moments
from relvec.solvers.base import Certificate, Monitor, Problem, Progress
from relvec.solvers.gaussian.newton import THETA_MAX, THETA_MIN, Maximum, maximise
from relvec.solvers.gaussian.screening import Screening, screen, select_batch
from relvec.solvers.gaussian.state import State, build_objective, compute_objective
from relvec.solvers.gaussian.tuning import DEFAULT, SearchTuning


class Schedule(NamedTuple):
    """Options of one ascent: how fast it adds atoms and when it stops."""

    threshold: float = 1e-3
    """Minimum gain, in nats, of an atom that is added; its penalty is the other lower bound."""
    pool_share: float = 0.1
    """A batch contains only atoms whose gain is at least this fraction of the largest gain."""
    batch_min: int = 1
    """Size of the first batches; later ones have up to as many atoms as are active."""
    newton_steps: int = 1
    """Newton steps per round while atoms are being added."""
    polish: bool = True
    """Whether to iterate to convergence; otherwise stop as soon as no atom can be added."""
    max_rounds: int = 500
    gradient_tol: float = 1e-4
    """Largest absolute derivative in a log precision that counts as zero."""
    tuning: SearchTuning = DEFAULT
    working_sets: bool = False
    """Whether to restrict rounds to working sets, which saves Gram rows if there are many atoms."""


class EntryCandidates(NamedTuple):
    """Inactive atoms that may enter the model."""

    atoms: IndexArray
    gain: Vector
    """Gain in the objective at the best precision of each atom, all other precisions held."""
    net: Vector
    """Gain less penalty."""
    lam: Vector
    """Best scaled precision of each atom."""
    screening: Screening


def ascend(
    problem: Problem,
    start: State,
    schedule: Schedule,
    *,
    noise_variance: float | None = None,
    stage: str = "",
    monitor: Monitor | None = None,
) -> State:
    """Maximise the objective from `start` until no move of the schedule raises it.

    `noise_variance` holds the noise for this ascent; None profiles it out.
    """
    ascent = _Ascent(problem, schedule, noise_variance, stage, monitor, start.active, start.theta)
    while True:
        # While atoms are still being added, a few Newton steps without convergence suffice.
        is_brief = bool(len(ascent.active)) and ascent.polish_stage == 0 and not ascent.is_settling
        if ascent.take_newton_steps(is_brief=is_brief):
            return ascent.state(None, is_full=False)
        found = ascent.screen_atoms()
        has_candidate = bool((found.net > 0.0).any())
        n_free = ascent.cap - len(ascent.active)
        if has_candidate and n_free > 0 and ascent.n_rounds < schedule.max_rounds:
            ascent.add_batch(found, n_free)
        elif is_brief:
            ascent.is_settling = True
        elif n_free < 0:
            ascent.cut_to_cap()
        elif ascent.is_finished(n_free):
            return ascent.state(found, is_full=has_candidate and n_free == 0)


def maximise_precisions(problem: Problem, state: State) -> State:
    """Maximise the objective over the precisions of the active atoms; no atom is added."""
    moments, noise = problem.moments, problem.noise_variance
    gram, correlation = moments.gram(state.active), moments.correlation[state.active]
    objective = build_objective(problem, noise).subset(state.active)
    maximum = maximise(gram, correlation, state.theta, objective, max_iter=50, tol=1e-3)
    active, point = state.active[maximum.kept], maximum.point
    value = compute_objective(problem, active, point.quadratic, point.log_det, point.prior, noise)
    return State(active, point.theta, value, objective.noise_variance_at(point))


@dataclass(eq=False)
class _Ascent:
    """State of one ascent and the moves that change it."""

    problem: Problem
    schedule: Schedule
    noise_variance: float | None
    stage: str
    monitor: Monitor | None
    active: IndexArray
    theta: Vector
    maximum: Maximum = field(init=False)
    polish_stage: int = 0
    """0 while atoms are added, 1 with more Newton steps when gains become small, 2 at the end."""
    was_cut: bool = False
    """Whether atoms were removed to respect the cap."""
    is_settling: bool = False
    """Whether Newton steps run to convergence because no atom could be added."""
    n_rounds: int = 0
    trace: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem, self.tuning = self.problem, self.schedule.tuning
        self.moments, self.cap = problem.moments, problem.active_cap
        self.objective = build_objective(problem, self.noise_variance)
        # A gain below the threshold counts as zero: without it atoms of negligible gain would enter
        # and leave again.
        self.penalty = np.maximum(problem.min_gain, self.schedule.threshold)
        self.has_entry_penalties = bool((problem.min_gain > self.tuning.negligible_penalty).any())
        self.removals = np.zeros(self.moments.n_atoms, dtype=np.int8)
        self.is_waiting = np.zeros(self.moments.n_atoms, dtype=bool)
        self.merge_copies()

    def take_newton_steps(self, *, is_brief: bool) -> bool:
        """Take Newton steps and drop the atoms they remove; return whether the monitor stops."""
        active, use_entry_penalties = (
            self.active,
            self.has_entry_penalties and self.polish_stage == 2,
        )
        maximum = maximise(
            self.moments.gram(active),
            self.moments.correlation[active],
            self.theta,
            self.objective.subset(active),
            # While atoms still enter, the maximum moves and accurate steps would be wasted.
            max_iter=(self.schedule.newton_steps, 3, 100)[self.polish_stage],
            tol=self.schedule.gradient_tol,
            # Only at the end must each atom gain more than its penalty: earlier, others follow.
            entry_penalty=self.problem.min_gain[active] if use_entry_penalties else None,
            is_brief=is_brief,
            tuning=self.tuning,
        )
        self.n_rounds += 1
        self.maximum, self.theta = maximum, maximum.point.theta
        if len(maximum.kept) < len(self.active):
            self.removals[np.delete(self.active, maximum.kept)] += 1
            self.active = self.active[maximum.kept]
        point, noise = maximum.point, self.noise_variance
        self.trace.append(
            compute_objective(
                self.problem, self.active, point.quadratic, point.log_det, point.prior, noise
            )
        )
        progress = Progress(self.stage, self.n_rounds, self.trace[-1], len(self.active))
        return self.monitor is not None and self.monitor(progress)

    def screen_atoms(self) -> EntryCandidates:
        """Compute the gain of every inactive atom that may enter.

        An atom whose ``s`` is at the rounding level is a linear combination of active ones.
        """
        screening = screen(self.problem, self.active, self.maximum.point)
        admissible = (
            self.moments.usable
            & (screening.statistics.s > self.moments.resolution)
            & ~self.is_waiting
        )
        admissible[self.active] = False
        index = np.flatnonzero(admissible)
        gain, lam = self.objective.prior.subset(index).best_precision(
            screening.statistics.subset(index), self.objective.n_effective, self.noise_variance
        )
        return EntryCandidates(index, gain, gain - self.penalty[index], lam, screening)

    def add_batch(self, found: EntryCandidates, n_free: int) -> None:
        """Add a batch of atoms, at most `n_free`."""
        self.is_settling = False
        gain, net = found.gain, found.net
        entering = net > 0.0
        best = float(gain[entering].max())
        # Atoms of much smaller gain often gain nothing once the best ones are in the model.
        share = self.schedule.pool_share * best
        order = np.flatnonzero(entering & (gain >= share))
        self.polish_stage = 1 if best < 0.05 and self.schedule.polish else 0
        working_set = self.tuning.working_set_size
        if (
            self.schedule.working_sets
            and len(order) <= working_set // 4
            and len(self.active) + working_set < self.moments.n_atoms // 2
        ):
            self._ascend_in_working_set(found)
            return
        size = int(
            min(max(self.schedule.batch_min, len(self.active)), n_free, self.tuning.max_batch)
        )
        if len(order) > 2 * size:
            order = order[np.argpartition(-net[order], 2 * size - 1)[: 2 * size]]
        order = order[np.argsort(-net[order], kind="stable")]
        pool = found.atoms[order]
        if len(pool) == 1:
            new, theta = pool, np.clip(np.log(found.lam[order]), THETA_MIN, THETA_MAX)
        else:
            # Gains fall as similar atoms are chosen; below this share of the best gain none enters.
            penalty = np.maximum(self.penalty[pool], share)
            point = self.maximum.point
            new, theta = select_batch(
                self.problem, self.active, point, found.screening, pool, penalty, size
            )
        # Each move raises J, but the thresholds of entry and removal differ, and rounding errors
        # allow cycles of nearly equal value.
        must_wait = self.removals[new] >= self.tuning.max_removals
        self.is_waiting[new[must_wait]] = True
        self.moments.fetch(new[~must_wait])
        self.active = np.concatenate([self.active, new[~must_wait]])
        self.theta = np.concatenate([self.theta, theta[~must_wait]])

    def _ascend_in_working_set(self, found: EntryCandidates) -> None:
        """Continue among the active atoms and the best candidates until convergence there.

        Candidates are ranked by their entry ratio; without prior terms this is ``q^2 / (s
        sigma^2)``, which exceeds one if and only if the atom would gain (Tipping and Faul, 2003).
        """
        screening, chosen, size = found.screening, found.atoms, self.tuning.working_set_size
        if len(chosen) > size:
            entry_ratio = self.objective.prior.entry_ratio(
                screening.statistics.subset(chosen),
                self.objective.noise_variance_at(self.maximum.point),
            )
            chosen = chosen[np.argpartition(-entry_ratio, size - 1)[:size]]
        atoms = np.sort(np.concatenate([self.active, chosen]))
        order = np.argsort(self.active)
        inside = ascend(
            replace(
                self.problem,
                moments=subset_moments(self.moments, atoms),
                min_gain=self.problem.min_gain[atoms],
                prior=self.problem.prior.subset(atoms),
                max_active=self.cap,
            ),
            State(np.searchsorted(atoms, self.active[order]), self.theta[order]),
            self.schedule._replace(working_sets=False, polish=False),
            noise_variance=self.noise_variance,
            stage=self.stage,
            monitor=self.monitor,
        )
        self.active, self.theta = atoms[inside.active], inside.theta
        self.trace.extend(inside.trace)
        self.moments.fetch(self.active)

    def cut_to_cap(self) -> None:
        """Keep only the atoms of largest removal loss if the initial state exceeds the cap.

        This is the only move that lowers the objective: above the cap the noise variance is not
        identifiable. The trace starts again.
        """
        # With other precisions held; they are maximised again in the next round.
        loss = self.maximum.point.removal_losses()
        kept = np.sort(np.argsort(-loss, kind="stable")[: self.cap])
        self.active, self.theta = self.active[kept], self.theta[kept]
        self.was_cut = True
        self.trace.clear()

    def is_finished(self, n_free: int) -> bool:
        """Return whether to stop when no atom enters; otherwise prepare another round."""
        is_late = self.n_rounds >= 2 * self.schedule.max_rounds
        if is_late or not self.schedule.polish or not len(self.active):
            return True
        if self.polish_stage < 2:
            self.polish_stage = 2
            return False
        # The density of a Laplace prior depends on the sum of the prior variances only. Exchanging
        # variance between similar atoms follows a ridge of tiny curvature, which takes many steps.
        is_rising = bool((np.diff(self.trace[-2:]) > self.tuning.min_rise).all())
        if self.objective.prior.has_density and not self.maximum.converged and is_rising:
            return False
        if self.is_waiting.any() and n_free > 0:
            self.is_waiting[:] = False
            self.removals[:] = 0
            return False
        return not self.merge_copies()

    def merge_copies(self) -> bool:
        """Keep one of each set of parallel atoms; return whether there were any.

        ``K = I + sum_i phi_i phi_i' / lam_i``: one of several parallel atoms with the sum of their
        prior variances ``1 / lam_i`` gives the same ``K``, hence the same model.
        """
        active = self.active
        if len(active) < 2:
            return False
        self.moments.fetch(active)
        # Of unit-norm atoms |phi_i' phi_j| = 1 means phi_i = +-phi_j; phi phi' is the same for
        # both.
        is_copy = np.abs(self.moments.gram(active)) > 1.0 - self.tuning.copy_tolerance
        # Rounding can leave a diagonal entry below the bound, so it is counted and not assumed.
        if np.count_nonzero(is_copy) == np.count_nonzero(is_copy.diagonal()):
            return False
        pairs = np.argwhere(np.triu(is_copy, 1))
        variance, kept = np.exp(-self.theta), np.ones(len(active), dtype=bool)
        for first, second in pairs:
            if kept[first] and kept[second]:
                variance[first] += variance[second]
                kept[second] = False
        self.active, self.theta = active[kept], -np.log(variance[kept])
        return True

    def state(self, found: EntryCandidates | None, *, is_full: bool) -> State:
        """Return the last state; `found` is None if a monitor ended the ascent."""
        reached_max_active = found is not None and (self.was_cut or is_full)
        order = np.argsort(self.active)
        maximum, polish = self.maximum, self.schedule.polish
        certificate = Certificate(np.inf, np.inf)
        if found is not None:
            best_net = max(0.0, float(found.net.max(initial=0.0)))
            # Newton's method has the gradient of -2 J.
            certificate = Certificate(0.5 * maximum.gradient, best_net)
        is_over = found is not None and self.n_rounds < self.schedule.max_rounds
        return State(
            active=self.active[order],
            theta=self.theta[order],
            objective=self.trace[-1],
            noise_variance=self.objective.noise_variance_at(maximum.point),
            n_rounds=self.n_rounds,
            converged=is_over and polish and not reached_max_active and maximum.converged,
            reached_max_active=reached_max_active,
            polished=polish,
            stopped=found is None,
            certificate=certificate,
            trace=tuple(self.trace),
            stage=self.stage,
        )
