"""Monotone search for the evidence over the precisions of groups of atoms.

The weights of group ``g`` have the common prior ``N(0, 1 / alpha_g)``: the model is one of variance
components. At fixed curvature the derivative of the evidence in ``log alpha_g`` is ``(gamma_g -
alpha_g |w_g|^2) / 2``, with the effective degrees of freedom ``gamma_g`` summed over the group
(MacKay 1992; Tipping 2001, eq. 16).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.solvers.base import Monitor, Progress, SearchStopped
from relvec.solvers.groups import (
    best_common_precision,
    find_ascent_step,
    split_at_bounds,
    sum_blocks,
)

__all__ = ["EntryStatistics", "GroupPoint", "GroupSearch", "GroupTuning"]


@dataclass(frozen=True)
class GroupTuning:
    """Constants of the search over the precisions of groups."""

    relaxation: float = 1.6
    """Over-relaxation of MacKay's rule in the log precisions, which converges linearly."""
    longest_rule_step: float = 4.0
    """Longest step of MacKay's rule in a log precision."""
    longest_step: float = 2.0
    """Longest step of Fisher scoring in a log precision."""
    damping: float = 0.02
    """Initial damping of Fisher scoring, in nats per squared unit of a log precision. It becomes
    three times smaller after a step that rises as predicted, ten times larger after one that does
    not rise."""
    min_damping: float = 1e-3
    """Smallest damping. Without it, groups whose influence vanishes would take the longest steps,
    and the others would be shortened with them."""
    max_damping: float = 2e3
    """Damping at which a step is given up."""
    n_remembered: int = 3
    """Number of last steps whose changes of the gradient correct the information."""
    n_halvings: int = 2
    """How often a step of MacKay's rule is halved before it is given up."""
    rule_rise: float = 0.3
    """Rise of the evidence, in nats, below which MacKay's rule is followed by exact steps."""
    removable_dof: float = 0.5
    """The removal of a group is tried if it has fewer effective degrees of freedom and its
    precision would grow."""
    negligible_dof: float = 1e-3
    """With fewer, it is tried in any case."""
    n_weaker: int = 8
    """How often the prior variance of an entering group is divided by four."""
    rounding: float = 1e-5
    """Rise of the evidence, in nats, that steps must predict; less is lost in rounding errors."""


@dataclass(frozen=True)
class GroupPoint(ABC):
    """Log precisions of the groups, the evidence there, and quantities of single weights."""

    theta: Vector
    """Log precision of each group; infinite if it is removed."""
    labels: IndexArray
    """Group of each weight in the model; -1 if its precision is fixed."""
    evidence: float

    @abstractmethod
    def compute_shares(self) -> tuple[Vector, Vector]:
        """Return ``gamma_i = 1 - alpha_i S_ii`` and ``alpha_i w_i^2`` of each weight."""

    @abstractmethod
    def compute_gradient(self) -> Vector:
        """Return the exact derivative of the evidence in each log precision."""

    @abstractmethod
    def compute_shrinkage(self) -> Matrix:
        """Return ``A^(1/2) S A^(1/2)``, with the posterior covariance ``S`` of the weights."""

    @property
    def live(self) -> IndexArray:
        """Groups in the model."""
        return np.flatnonzero(np.isfinite(self.theta))

    def sum_groups(self, each: Vector) -> Vector:
        """Sum values of weights over the groups."""
        inside = self.labels >= 0
        # Integers if there is nothing to sum.
        sums = np.bincount(self.labels[inside], each[inside], len(self.theta))
        return sums.astype(np.float64)

    @cached_property
    def _shares(self) -> tuple[Vector, Vector]:
        return self.compute_shares()

    @cached_property
    def degrees_of_freedom(self) -> Vector:
        """Effective degrees of freedom ``gamma_g`` of each group."""
        return self.sum_groups(self._shares[0])

    @cached_property
    def squares(self) -> Vector:
        """``alpha_g |w_g|^2`` of each group."""
        return self.sum_groups(self._shares[1])

    @cached_property
    def gradient(self) -> Vector:
        """Exact derivative of the evidence in the log precisions of the groups in the model."""
        return self.sum_groups(self.compute_gradient())[self.live]

    @cached_property
    def information(self) -> Matrix:
        """Expected information of the log precisions of the groups in the model.

        With ``K_g`` the prior covariance of the effect of group ``g`` and ``R`` the inverse
        covariance of the targets, ``tr(R K_g R K_h) / 2`` (Rasmussen & Williams 2006, section
        5.4.1). In the weights this is half the squared norm of the block ``delta_gh I - (alpha_g
        alpha_h)^(1/2) S_gh``.
        """
        block = -self.compute_shrinkage()
        block.flat[:: len(block) + 1] += 1.0
        blocks = sum_blocks(block * block, self.labels, len(self.theta))
        return 0.5 * blocks[np.ix_(self.live, self.live)]


AnyPoint = TypeVar("AnyPoint", bound=GroupPoint)


class EntryStatistics(NamedTuple):
    """Statistics of weights outside the model, the others integrated out.

    The derivative of the evidence in the prior variance of a group, at zero, is half the sum of
    ``square - s`` over its weights (Tipping and Faul, 2003, for a single weight).
    """

    labels: IndexArray
    s: Vector
    """Curvature of the log likelihood in the weight."""
    square: Vector
    """Squared slope; with a likelihood whose curvature changes, including that change."""


class GroupSearch(ABC, Generic[AnyPoint]):
    """Current point of a search over the precisions of groups, and its trace.

    Subclasses set `least`, `most` and evaluate the evidence. A group whose bounds are infinite is
    never in the model.
    """

    least: Vector
    most: Vector
    null: AnyPoint
    """Model without groups."""

    def __init__(self, n_groups: int, tol: float, monitor: Monitor | None) -> None:
        self.tol, self.monitor, self.tuning = tol, monitor, GroupTuning()
        self.trace: list[float] = []
        self.best_gain = 0.0
        self.null = self.point = self.evaluate(np.full(n_groups, np.inf))
        self._failed_removal = np.full(n_groups, np.inf)
        self._damping = self.tuning.damping
        self._steps: list[tuple[AnyPoint, AnyPoint]] = []

    @abstractmethod
    def evaluate(self, theta: Vector, start: AnyPoint | None = None) -> AnyPoint:
        """Evaluate the evidence at log precisions `theta`; another point may be a warm start."""

    @abstractmethod
    def compute_entry_statistics(self, outside: IndexArray) -> EntryStatistics:
        """Compute the statistics of the weights of some groups that are not in the model."""

    # ------------------------------------------------------------------ moves

    def _accept(self, trial: AnyPoint) -> None:
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
        trial[live] = np.clip(trial[live] + step, *self._get_bounds(live))
        return self._move_if_better(trial)

    # ------------------------------------------------------------------ the search

    def run(self, theta: Vector, max_iter: int) -> bool:
        """Maximise the evidence from log precisions `theta`; return whether it converged.

        The result is at least as good as the model without groups.
        """
        null, converged = self.null, False
        try:
            first = self.evaluate(theta, null)
            if np.isfinite(first.evidence):
                self._accept(first)
                converged = self._ascend(max_iter)
            if not self.trace or self.point.evidence < null.evidence:
                self.trace.clear()
                self._accept(null)
                converged = self._ascend(max_iter)
        except SearchStopped:
            if self.point.evidence < null.evidence:
                self.point = null
                self.trace = [null.evidence]
        return converged

    def _ascend(self, max_iter: int) -> bool:
        """Ascend from the current point until no step raises the evidence."""
        follows_rule = True
        for _ in range(max_iter):
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
                return True  # no step raises the evidence
        return False

    def _follow_rule(self) -> bool:
        """Take an over-relaxed step of MacKay's rule ``alpha_g = gamma_g / |w_g|^2``."""
        degrees, squares = self.point.degrees_of_freedom, self.point.squares
        ratio = np.maximum(degrees, 1e-12) / np.maximum(squares, 1e-300)
        step = self.tuning.relaxation * np.log(ratio[self.point.live])
        longest = self.tuning.longest_rule_step
        step = np.clip(step, -longest, longest)
        return any(self._step(step * 0.5**n) for n in range(1 + self.tuning.n_halvings))

    def _get_bounds(self, groups: IndexArray) -> tuple[Vector, Vector]:
        return self.least[groups], self.most[groups]

    def _find_free(self, gradient: Vector) -> BoolArray:
        live = self.point.live
        return split_at_bounds(gradient, self.point.theta[live], *self._get_bounds(live))

    def find_largest_derivative(self) -> float:
        """Return the largest derivative in a log precision that is not at its bound."""
        gradient = self.point.gradient
        return float(np.abs(gradient[self._find_free(gradient)]).max(initial=0.0))

    def _step_exactly(self) -> bool:
        """Take a step of Fisher scoring with exact derivatives, unless they vanish."""
        before = self.point
        gradient = before.gradient
        free = np.flatnonzero(self._find_free(gradient))
        if np.abs(gradient[free]).max(initial=0.0) < self.tol:
            return False
        curvature = self._find_curvature()[np.ix_(free, free)]
        while self._damping < self.tuning.max_damping:
            step = np.zeros(len(gradient))
            step[free] = find_ascent_step(
                gradient[free], curvature, self._damping, self.tuning.longest_step
            )
            rise = float(gradient @ step)
            predicted = rise - 0.5 * float(step[free] @ curvature @ step[free])
            if self._step(step):
                if self.point.evidence - before.evidence > 0.7 * predicted:
                    self._damping = max(0.3 * self._damping, self.tuning.min_damping)
                self._steps = [*self._steps, (before, self.point)][-self.tuning.n_remembered :]
                return True
            if rise < self.tuning.rounding:
                break
            self._damping *= 10.0
        self._damping = self.tuning.damping
        return False

    def _find_curvature(self) -> Matrix:
        """Return the information, corrected by the changes of the gradient in the last steps.

        The information is an expectation, and that of a Laplace approximation neglects the change
        of the curvature with the mode. Updates of Broyden, Fletcher, Goldfarb and Shanno make it
        agree with observed changes (Nocedal & Wright 2006, eq. 6.19).
        """
        curvature = self.point.information
        for one, two in self._steps:
            if np.array_equal(one.live, two.live) and np.array_equal(two.live, self.point.live):
                step = two.theta[two.live] - one.theta[two.live]
                change = one.gradient - two.gradient
                effect = curvature @ step
                if step @ change > 0.1 * float(step @ effect) > 0.0:
                    curvature = (
                        curvature
                        - np.multiply.outer(effect, effect) / float(step @ effect)
                        + np.multiply.outer(change, change) / float(step @ change)
                    )
        return curvature

    # ------------------------------------------------------------------ groups leave and enter

    def _remove_groups(self) -> bool:
        """Remove groups of few degrees of freedom, all or the weakest, if nothing is lost."""
        point, live = self.point, self.point.live
        degrees = point.degrees_of_freedom[live]
        wants_more = degrees > point.squares[live]
        weak = (wants_more & (degrees < self.tuning.removable_dof)) | (
            degrees < self.tuning.negligible_dof
        )
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
        """Let a removed group enter if that raises the evidence."""
        point = self.point
        self.best_gain = 0.0
        outside = np.flatnonzero(~np.isfinite(point.theta) & np.isfinite(self.least))
        if not len(outside):
            return False
        labels, s, square = self.compute_entry_statistics(outside)
        drive = np.bincount(labels, square - s, len(point.theta))[outside]
        scale = np.bincount(labels, np.maximum(s, 0.0), len(point.theta))[outside]
        for place in np.argsort(-drive / np.maximum(scale, 1e-300)):
            if drive[place] <= 1e-9 * scale[place]:
                break
            group = outside[place]
            inside = labels == group
            _, wanted = best_common_precision(
                np.maximum(s[inside], 1e-300)[None], np.maximum(square[inside], 0.0)[None]
            )
            for weaker in range(self.tuning.n_weaker):
                theta = point.theta.copy()
                value = wanted[0] + weaker * np.log(4.0)
                theta[group] = np.clip(value, *self._get_bounds(group))
                trial = self.evaluate(theta, point)
                # Groups that gain next to nothing would leave and enter for ever.
                if trial.evidence > point.evidence + self.tol:
                    self._accept(trial)
                    return True
                self.best_gain = max(self.best_gain, trial.evidence - point.evidence - self.tol)
        return False
