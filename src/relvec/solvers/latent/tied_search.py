"""Monotone search for the Laplace evidence over the precisions of groups of atoms.

The weights of group ``g`` have the common prior ``N(0, 1 / alpha_g)``: the model is one of variance
components. At fixed curvature the derivative of the evidence in ``log alpha_g`` is ``(gamma_g -
alpha_g |w_g|^2) / 2``, with the effective degrees of freedom ``gamma_g`` summed over the group
(MacKay 1992; Tipping 2001, eq. 16).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.dictionaries.matrix import DenseDictionary
from relvec.laplace.mode import Mode, find_mode
from relvec.solvers.base import Monitor, Progress
from relvec.solvers.groups import find_ascent_step, split_at_bounds, sum_blocks
from relvec.solvers.latent.entries import best_common_precision, compute_curvature_term
from relvec.solvers.latent.monotone import SearchStopped
from relvec.solvers.latent.problem import LatentProblem, LatentState

__all__ = ["TiedSearch", "TiedTuning"]


@dataclass(frozen=True)
class TiedTuning:
    """Constants of the search over the precisions of groups."""

    relaxation: float = 1.6
    """Over-relaxation of MacKay's rule in the log precisions, which converges linearly: 1.6 takes
    about half the steps."""
    longest_rule_step: float = 4.0
    """Longest step of MacKay's rule in a log precision."""
    longest_step: float = 2.0
    """Longest step of Fisher scoring in a log precision."""
    dampings: tuple[float, ...] = (0.02, 0.2, 2.0, 20.0, 200.0, 2000.0)
    """Damping of Fisher scoring, increased until the evidence rises."""
    n_halvings: int = 2
    """How often a step of MacKay's rule is halved before it is given up."""
    rule_rise: float = 0.3
    """Rise of the evidence, in nats, below which MacKay's rule is followed by exact steps."""
    removable_dof: float = 0.5
    """The removal of a group is tried if it has fewer effective degrees of freedom and its
    precision would grow."""
    n_weaker: int = 8
    """How often the prior variance of an entering group is divided by four."""
    rounding: float = 1e-5
    """Rise of the evidence, in nats, that steps must predict; less is lost in rounding errors."""


@dataclass(frozen=True)
class TiedPoint:
    """Log precisions of the groups and the mode there."""

    theta: Vector
    """Log precision of each group; infinite if it is removed."""
    state: LatentState
    labels: IndexArray
    """Group of each active atom."""

    @property
    def evidence(self) -> float:
        """Laplace approximation of the log evidence."""
        return self.state.objective

    @property
    def live(self) -> IndexArray:
        """Groups in the model."""
        return np.flatnonzero(np.isfinite(self.theta))

    @property
    def mode(self) -> Mode:
        """Mode of the weights."""
        return self.state.mode

    def sum_groups(self, each: Vector) -> Vector:
        """Sum values of active atoms over the groups."""
        inside = self.labels >= 0
        # Integers if there is nothing to sum.
        sums = np.bincount(self.labels[inside], each[inside], len(self.theta))
        return sums.astype(np.float64)

    @cached_property
    def degrees_of_freedom(self) -> Vector:
        """Effective degrees of freedom of each group."""
        return self.sum_groups(self.mode.hessian.degrees_of_freedom)

    @cached_property
    def squares(self) -> Vector:
        """Sum of squared weights of each group."""
        return self.sum_groups(self.mode.weights[: len(self.labels)] ** 2)

    @cached_property
    def information(self) -> Matrix:
        """Expected information of the log precisions of the groups in the model.

        With ``K_g`` the prior covariance of the effect of group ``g`` and ``R`` the inverse
        covariance of the working response, ``tr(R K_g R K_h) / 2`` (Rasmussen & Williams 2006,
        section 5.4.1). In the weights this is half the squared norm of the block ``delta_gh I -
        (alpha_g alpha_h)^(1/2) S_gh``, of no more columns than there are atoms.
        """
        k = len(self.labels)
        root = np.sqrt(self.mode.hessian.precision[:k])
        block = -self.mode.hessian.covariance[:k, :k] * np.multiply.outer(root, root)
        block.flat[:: k + 1] += 1.0
        blocks = sum_blocks(block * block, self.labels, len(self.theta))
        return 0.5 * blocks[np.ix_(self.live, self.live)]


class TiedSearch:
    """Current point of a search, its trace, and the columns of all atoms."""

    def __init__(
        self,
        problem: LatentProblem,
        groups: IndexArray,
        tol: float,
        max_iter: int,
        monitor: Monitor | None,
    ) -> None:
        self.problem, self.tol, self.max_iter, self.monitor = problem, tol, max_iter, monitor
        self.tuning, self.trace, self.best_gain = TiedTuning(), list[float](), 0.0
        self._is_at_rounding = False
        columns = problem.dictionary.columns(np.arange(problem.dictionary.shape[1]))
        least, _ = problem.bounds(columns)
        raw = np.log(np.maximum(np.mean(np.square(columns), axis=0), 1e-300))
        largest = problem.largest_latent or problem.likelihood.largest_latent
        # Constant up to rounding: without effect beside the intercept, and undetermined.
        is_constant = least + 2.0 * np.log(largest) < raw - 55.0
        names, labels = np.unique(groups, return_inverse=True)
        self.labels: IndexArray = np.where(groups < 0, -1, labels - np.sum(names < 0))
        self.n_groups = int(np.sum(names >= 0))
        self.columns, self.usable, self._flat = columns, ~is_constant, least
        self.least, self.most = np.full(self.n_groups, np.inf), np.full(self.n_groups, np.inf)
        self.initial = np.full(self.n_groups, np.inf)
        for group in range(self.n_groups):
            inside = self.usable & (self.labels == group)
            if inside.any():  # others are never in the model
                # No atom may exceed the bound on its prior standard deviation.
                self.least[group] = least[inside].max()
                self.most[group] = self.least[group] + 30.0
                # Unit prior variance of the effect of the group, on average over the rows.
                unit = np.logaddexp.reduce(least[inside]) + 2.0 * np.log(largest)
                self.initial[group] = np.clip(unit, self.least[group], self.most[group])
        self.point = self.evaluate(np.full(self.n_groups, np.inf))
        self._failed_removal = np.full(self.n_groups, np.inf)

    # ------------------------------------------------------------------ evaluation

    def evaluate(self, theta: Vector, start: TiedPoint | None = None) -> TiedPoint:
        """Find the mode at log precisions `theta`, from the weights of another point."""
        known = np.append(theta, 0.0)  # label -1: flat, always in the model
        active = np.flatnonzero(self.usable & np.isfinite(known[self.labels]))
        labels = self.labels[active]
        log_precision = np.where(labels < 0, self._flat[active], known[labels])
        columns = self.columns if len(active) == len(self.labels) else self.columns[:, active]
        weights = None if start is None else start.state.get_initial_weights(active)
        mode = find_mode(
            columns,
            log_precision,
            self.problem.likelihood,
            weights,
            has_intercept=self.problem.has_intercept,
        )
        state = LatentState(active, log_precision, mode, mode.log_evidence)
        return TiedPoint(theta, state, labels)

    def _accept(self, trial: TiedPoint) -> None:
        self.point = trial
        self.trace.append(trial.evidence)
        progress = Progress("tied", len(self.trace) - 1, trial.evidence, len(trial.labels))
        if self.monitor is not None and self.monitor(progress):
            raise SearchStopped

    def _move_if_better(self, theta: Vector, *, or_equal: bool = False) -> bool:
        trial = self.evaluate(theta, self.point)
        rise = trial.evidence - self.point.evidence
        # Negated, so that an evidence that is not a number is rejected.
        if not (rise > 0.0 or (or_equal and rise >= 0.0)):
            return False
        self._accept(trial)
        return True

    def _step(self, step: Vector) -> bool:
        """Move the log precisions of the groups in the model, if the evidence rises."""
        trial, live = self.point.theta.copy(), self.point.live
        trial[live] = np.clip(trial[live] + step, self.least[live], self.most[live])
        return self._move_if_better(trial)

    # ------------------------------------------------------------------ the search

    def run(self, warm_start: tuple[IndexArray, Vector] | None) -> bool:
        """Maximise the evidence; return whether the optimality conditions hold at the end."""
        null, converged = self.point, False
        theta = self.initial if warm_start is None else self._read(*warm_start)
        try:
            self._accept(self.evaluate(theta, null))
            converged = self._ascend()
            if self.point.evidence < null.evidence:
                self.trace.clear()
                self._accept(null)
                converged = self._ascend()
        except SearchStopped:
            if self.point.evidence < null.evidence:
                with suppress(SearchStopped):
                    self._accept(null)
        return converged

    def _read(self, active: IndexArray, log_precision: Vector) -> Vector:
        """Return the log precisions of the groups of a warm start."""
        theta = np.full(self.n_groups, np.inf)
        labels = self.labels[active]
        for group in np.unique(labels[labels >= 0]):
            theta[group] = np.mean(log_precision[labels == group])
        return np.where(np.isfinite(self.least), np.clip(theta, self.least, self.most), np.inf)

    def _ascend(self) -> bool:
        """Ascend from the current point; return whether it converged."""
        follows_rule = True
        for _ in range(self.max_iter):
            before = self.point.evidence
            if self._remove_groups():
                continue
            if follows_rule:
                moved = len(self.point.live) > 0 and self._follow_rule()
                follows_rule = moved and self.point.evidence - before > self.tuning.rule_rise
                continue
            if self._step_exactly():
                continue
            if not self._enter_group():
                return self.find_largest_derivative() < self.tol or self._is_at_rounding
        return False

    def _follow_rule(self) -> bool:
        """Take an over-relaxed step of MacKay's rule ``alpha_g = gamma_g / |w_g|^2``."""
        point, live = self.point, self.point.live
        square = np.maximum(point.squares[live], 1e-300)
        rule = np.log(np.maximum(point.degrees_of_freedom[live], 1e-12) / square)
        step = self.tuning.relaxation * (rule - point.theta[live])
        longest = self.tuning.longest_rule_step
        step = np.clip(step, -longest, longest)
        return any(self._step(step * 0.5**n) for n in range(1 + self.tuning.n_halvings))

    def _gradient(self) -> Vector:
        """Exact derivative of the evidence in the log precisions of the groups in the model."""
        each = self.point.mode.gradient(self.problem.likelihood, exact=True)
        return self.point.sum_groups(each)[self.point.live]

    def _find_free(self, gradient: Vector) -> BoolArray:
        live = self.point.live
        return split_at_bounds(gradient, self.point.theta[live], self.least[live], self.most[live])

    def find_largest_derivative(self) -> float:
        """Return the largest derivative in a log precision that is not at its bound."""
        gradient = self._gradient()
        return float(np.abs(gradient[self._find_free(gradient)]).max(initial=0.0))

    def _step_exactly(self) -> bool:
        """Take a step of Fisher scoring with exact derivatives, unless they vanish."""
        gradient, self._is_at_rounding = self._gradient(), False
        free = np.flatnonzero(self._find_free(gradient))
        if np.abs(gradient[free]).max(initial=0.0) < self.tol:
            return False
        information = self.point.information[np.ix_(free, free)]
        for damping in self.tuning.dampings:
            step = np.zeros(len(gradient))
            step[free] = find_ascent_step(
                gradient[free], information, damping, self.tuning.longest_step
            )
            if self._step(step):
                return True
            if gradient @ step < self.tuning.rounding:
                self._is_at_rounding = True
                break
        return False

    # ------------------------------------------------------------------ groups leave and enter

    def _remove_groups(self) -> bool:
        """Remove groups of few degrees of freedom, all or the weakest, if nothing is lost."""
        point, live = self.point, self.point.live
        degrees = point.degrees_of_freedom[live]
        wants_more = degrees > np.exp(point.theta[live]) * point.squares[live]
        weak = wants_more & (degrees < self.tuning.removable_dof)
        # A removal that failed is tried again when the group has become weaker.
        weak &= degrees < 0.3 * self._failed_removal[live]
        if not weak.any():
            return False
        weakest = live[weak][np.argsort(degrees[weak])]
        for removed in {len(weakest): weakest, 1: weakest[:1]}.values():
            theta = point.theta.copy()
            theta[removed] = np.inf
            if self._move_if_better(theta, or_equal=True):
                self._failed_removal[removed] = np.inf
                return True
        self._failed_removal[weakest] = point.degrees_of_freedom[weakest]
        return False

    def _enter_group(self) -> bool:
        """Let a removed group enter if that raises the evidence.

        The derivative in the prior variance at zero is half the sum of ``theta - s`` over the
        atoms, with the statistics of `find_candidate_units` and exact derivatives.
        """
        point, likelihood = self.point, self.problem.likelihood
        self.best_gain = 0.0
        outside = np.flatnonzero(~np.isfinite(point.theta) & np.isfinite(self.least))
        if not len(outside):
            return False
        atoms = np.flatnonzero(self.usable & np.isin(self.labels, outside))
        columns, labels = self.columns[:, atoms], self.labels[atoms]
        q = point.mode.slope @ columns
        _, s, _ = point.mode.hessian.compute_entry_statistics(DenseDictionary(columns))
        curved = q * (compute_curvature_term(point.mode, likelihood, 0.0) @ columns)
        derivative = np.bincount(labels, q * q - curved - s[:, 0], self.n_groups)[outside]
        scale = np.bincount(labels, np.maximum(s[:, 0], 0.0), self.n_groups)[outside]
        for place in np.argsort(-derivative / np.maximum(scale, 1e-300)):
            if derivative[place] <= 1e-9 * scale[place]:
                break
            group = outside[place]
            inside = labels == group
            square = np.maximum(q[inside] ** 2 - curved[inside], 0.0)
            floor = np.maximum(s[inside, 0], 1e-300)
            _, wanted = best_common_precision(floor[None], square[None])
            for weaker in range(self.tuning.n_weaker):
                theta = point.theta.copy()
                value = wanted[0] + weaker * np.log(4.0)
                theta[group] = np.clip(value, self.least[group], self.most[group])
                trial = self.evaluate(theta, point)
                # Groups that gain next to nothing would leave and enter for ever.
                if trial.evidence > point.evidence + self.tol:
                    self._accept(trial)
                    return True
                self.best_gain = max(self.best_gain, trial.evidence - point.evidence - self.tol)
        return False
