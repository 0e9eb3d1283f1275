"""Joint maximisation of the evidence over the precisions of an active set.

Newton's method in ``theta = log lam``, with exact removal of atoms whose best precision is
infinite (``q^2 <= s sigma^2`` under the flat prior; Tipping and Faul, 2003). An iteration costs
O(k^3) for k active atoms, whatever the number of samples. Every accepted step and every removal
raises the objective. MacKay's fixed point (Tipping 2001, eq. 16) has the same stationary points,
but converges linearly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relvec._linalg import (
    EPS,
    inverse_from_cholesky,
    log_det_cholesky,
    shifted_cholesky,
    solve_cholesky,
    solve_lower,
)
from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.evidence import (
    compute_leave_one_out,
    downdate_penalised_shrinkage,
    factorise,
    gradient_and_hessian,
    penalised_shrinkage,
    removal_loss,
)
from relvec.priors import BoundPrior
from relvec.solvers.gaussian.tuning import DEFAULT, SearchTuning

THETA_MIN, THETA_MAX = math.log(1e-13), math.log(1e13)
"""Bounds on ``theta``. Beyond them a weight has no prior, or is zero, to working precision."""


class Objective(NamedTuple):
    """Constants of the objective, apart from Gram matrix and correlations."""

    n_effective: float
    target_ss: float
    prior: BoundPrior
    """Prior of the atoms concerned."""
    noise_variance: float | None
    """Held noise variance; None if it is profiled out."""

    def subset(self, atoms: IndexArray) -> Objective:
        """Return the objective of some of the atoms."""
        n_effective, target_ss, prior, noise = self
        return Objective(n_effective, target_ss, prior.subset(atoms), noise)

    def noise_variance_at(self, point: Point) -> float:
        """Return the noise variance: held, or the maximiser ``R / N`` at a point."""
        noise = self.noise_variance
        return point.quadratic / self.n_effective if noise is None else noise


@dataclass(eq=False)
class Point:
    """The objective at one theta, and the posterior of the weights there."""

    gram: Matrix
    correlation: Vector
    objective: Objective
    theta: Vector
    lam: Vector
    factor: Matrix
    """Lower Cholesky factor of ``G + Lam``."""
    whitened: Vector
    """``L^-1 Phi't``."""
    quadratic: float
    """``R = t' K^-1 t``."""
    log_det: float
    """``log|K|``."""
    cost: float
    """``-2 J`` up to a constant."""
    prior: float = 0.0
    """Terms of the prior in ``J``."""
    density: Vector | None = None
    """Log density of each log precision; None if flat."""
    # Computed on first use. `cached_property` takes a lock, as slow as the arithmetic itself.
    _covariance: Matrix | None = None
    _mean: Vector | None = None
    _shrunk: Matrix | None = None

    @property
    def covariance(self) -> Matrix:
        """``S = (G + Lam)^-1``."""
        if self._covariance is None:
            self._covariance = inverse_from_cholesky(self.factor)
        return self._covariance

    @property
    def mean(self) -> Vector:
        """``mu = S Phi't``."""
        if self._mean is None:
            self._mean = self.covariance @ self.correlation
        return self._mean

    @property
    def shrunk(self) -> Matrix | None:
        """See `penalised_shrinkage`; None without a penalty."""
        prior = self.objective.prior
        if self._shrunk is None and prior.is_penalised:
            self._shrunk = penalised_shrinkage(prior.penalty, self.covariance, self.lam)
        return self._shrunk

    def removal_losses(self) -> Vector:
        """Fall of ``J`` when each atom is removed, all other precisions held."""
        lam, quadratic, variance = self.lam, self.quadratic, self.covariance.diagonal()
        stats = compute_leave_one_out(lam, variance, self.mean, quadratic, self.shrunk)
        n, _, _, noise = self.objective
        return removal_loss(stats, lam, quadratic, n, noise, self.density)


class Maximum(NamedTuple):
    """Result of Newton's method."""

    kept: IndexArray
    """Positions, in the initial active set, of the atoms that remain."""
    point: Point
    n_iter: int
    converged: bool
    gradient: float
    """Largest absolute derivative of ``-2 J`` in a log precision."""


def evaluate(
    gram: Matrix, correlation: Vector, theta: Vector, objective: Objective
) -> Point | None:
    """Evaluate the objective; None where it is numerically not defined."""
    n, target_ss, prior, noise = objective
    lam = np.exp(theta)
    factor = shifted_cholesky(gram, lam)
    if factor is None:
        return None
    # R = t't - (Phi't)' (G + Lam)^-1 Phi't, by the Woodbury identity for K^-1.
    whitened = solve_lower(factor, correlation)
    quadratic = target_ss - float(whitened @ whitened)
    # R is a difference: not positive if the atoms fit the target to rounding error. A constant
    # target without atoms has R = 0, which only a profiled noise (log R) cannot use.
    if not quadratic > 0.0 and (len(lam) or noise is None):
        return None
    # Determinant lemma: log|K| = log|G + Lam| - log|Lam|.
    log_det = log_det_cholesky(factor) - float(theta.sum())
    cost = (n * math.log(quadratic) if noise is None else quadratic / noise) + log_det
    point = Point(
        gram, correlation, objective, theta, lam, factor, whitened, quadratic, log_det, cost
    )
    if prior.has_density:
        point.density = prior.log_density(theta, noise)
        point.prior += float(point.density.sum())
    if prior.is_penalised:
        # Penalty sum_i c_i gamma_i on effective degrees of freedom (Schmolck 2008), exact for atoms
        # that are not orthogonal.
        point.prior -= float((prior.penalty * (1.0 - lam * point.covariance.diagonal())).sum())
    point.cost -= 2.0 * point.prior
    return point


def evaluate_robustly(
    gram: Matrix, correlation: Vector, theta: Vector, objective: Objective
) -> Point:
    """Evaluate the objective; if it is not defined, raise small precisions until it is.

    Precisions are raised as in `relvec.evidence.factorise`, and further until ``R`` is positive.
    """
    lam, point = np.exp(theta), evaluate(gram, correlation, theta, objective)
    while point is None:
        lam = factorise(gram, lam).lam
        point = evaluate(gram, correlation, np.log(lam), objective)
        if point is None and not lam.min(initial=np.inf) < 1e100:
            raise FloatingPointError("the evidence is not finite at any precision")
        # A larger precision raises R towards t't > 0, so this ends. Only the smallest precisions,
        # which cause the cancellation, are changed.
        lam = np.maximum(lam, 10.0 * lam.min(initial=np.inf))
    return point


def _find_survivors(
    point: Point, entry_penalty: Vector | None, bulk: int
) -> tuple[BoolArray | None, bool]:
    """Find the atoms that remain after exact removals, one after the other; None if all remain.

    An atom is removed if its best precision is infinite or, with entry penalties, if the model
    without it loses less than its penalty. Covariance and mean of the other atoms are then changed
    by a rank-one downdate. If more than `bulk` of many atoms are to be removed, the half with the
    smallest losses is removed at once. Returns the remaining atoms, and whether half were removed
    at once: the objective may then have fallen, and the caller has to check.
    """
    (n, _, prior, noise), lam, quadratic = point.objective, point.lam, point.quadratic
    covariance, mean, shrunk = point.covariance, point.mean, point.shrunk
    is_kept, variance = None, covariance.diagonal()
    for n_left in range(len(mean), 0, -1):
        stats = compute_leave_one_out(lam, variance, mean, quadratic, shrunk)
        # Tipping & Faul (2003): the best precision is infinite if q^2 <= s (in units of the noise),
        # with s, q and R of the model without the atom.
        is_removed = prior.has_no_gain(stats, n, noise)
        if entry_penalty is None and not is_removed.any():
            break
        loss = removal_loss(stats, lam, quadratic, n, noise, point.density)
        if entry_penalty is not None:
            loss = loss - entry_penalty
            is_removed |= loss < 0.0
        if is_kept is not None:
            is_removed &= is_kept
        n_going = int(np.count_nonzero(is_removed))
        if not n_going:
            break
        # After each removal s and q of the others change: only the atom of smallest loss goes, then
        # all criteria are computed again.
        loss = np.where(is_removed, loss, np.inf)
        if is_kept is None:
            is_kept = np.ones(len(mean), dtype=bool)
            # Several removals at once are not exact: of two similar atoms each may be superfluous
            # only because of the other. So half of them go, and the caller checks the objective.
            if n_going > bulk and n_left > 40:
                is_kept[np.argsort(loss, kind="stable")[: n_going // 2]] = False
                return is_kept, True
            covariance, mean = covariance.copy(), mean.copy()  # changed in place from here on
            shrunk = None if shrunk is None else shrunk.copy()
        # Without atom j: S - a a' with a = S_j / sqrt(S_jj), and mu - S_j mu_j / S_jj.
        worst = int(np.argmin(loss))
        quadratic, is_kept[worst] = float(np.asarray(stats.quadratic)[worst]), False
        root = math.sqrt(covariance[worst, worst])
        a = covariance[:, worst] / root
        if shrunk is not None:
            # Before the downdate of S, which the formula for Q needs in its old form.
            downdate_penalised_shrinkage(prior.penalty, shrunk, covariance, lam, a)
        mean -= a * (mean[worst] / root)
        mean[worst] = 0.0
        covariance -= a[:, None] * a
        # Rows of removed atoms are zero now; one avoids a division by zero in their statistics.
        variance = np.where(is_kept, covariance.diagonal(), 1.0)
    return is_kept, False


def _direction(gradient: Vector, hessian: Matrix, max_step: float) -> Vector:
    """Compute a Newton direction, with a diagonal shift if the Hessian is not positive definite.

    The Hessian is first scaled by its diagonal, so that one shift suits log precisions of very
    different curvature. The shift grows until the shifted Hessian is well conditioned.
    """
    # Near an inflection the curvature is close to zero while the gradient is not: the gradient
    # then sets the scale.
    unit = 1.0 / np.sqrt(np.maximum(np.abs(hessian.diagonal()) + np.abs(gradient), 1e-8))
    scaled = hessian * unit
    scaled *= unit[:, None]
    shift = 0.0
    while True:
        factor = shifted_cholesky(scaled, shift)
        if factor is not None:
            pivots = factor.diagonal()
            # The squared ratio of the pivots estimates the reciprocal condition number: a direction
            # of a nearly singular Hessian is dominated by rounding errors.
            if pivots.min() ** 2 > 1e-10 * pivots.max() ** 2:
                break
        if not shift and not np.isfinite(hessian).all():
            raise FloatingPointError("the curvature of the evidence is not finite")
        # Multiples of the identity, increased until the factorisation succeeds (Nocedal & Wright
        # 2006, algorithm 3.3).
        shift = 3.0 * shift or 0.1
    step = unit * solve_cholesky(factor, -unit * gradient)
    largest = float(np.abs(step).max())
    # The whole step is shortened, not its entries: it stays a direction of descent.
    return step * (max_step / largest) if largest > max_step else step


def _newton_step(
    point: Point, tol: float, tuning: SearchTuning, *, is_last: bool
) -> tuple[Point | None, float, bool]:
    """Take one Newton step with backtracking until Armijo's condition holds.

    No step is taken at the maximum, nor if `is_last`. The maximum is reached if the gradient is
    below `tol`, or if the predicted decrease is below the rounding error of the objective: ``R`` is
    a difference of larger numbers, and an error of one unit in the last place of the Gram matrix
    changes ``R`` by ``|mu|^2`` and ``log|K|`` by ``tr S`` such units.

    Returns the new point, None if no step was taken; the largest entry of the gradient at the old
    point; and whether that was the maximum.
    """
    n, target_ss, prior, noise = point.objective
    covariance, mean, quadratic = point.covariance, point.mean, point.quadratic
    theta, cost = point.theta, point.cost
    slopes = prior.derivatives(theta, noise) if prior.has_density else None
    gradient, hessian = gradient_and_hessian(
        covariance, mean, point.lam, point.shrunk, quadratic, n, noise, slopes
    )
    # A precision at its bound is stationary if the objective rises beyond the bound.
    if len(theta) and (theta.min() <= THETA_MIN or theta.max() >= THETA_MAX):
        held = ((theta <= THETA_MIN) & (gradient > 0)) | ((theta >= THETA_MAX) & (gradient < 0))
        # Unit rows and columns in the Hessian leave the Newton step of the other precisions as if
        # the held ones were constants.
        gradient[held] = 0.0
        hessian[held] = hessian[:, held] = 0.0
        hessian[held, held] = 1.0
    steepest = float(np.abs(gradient).max(initial=0.0))
    if steepest < tol or is_last:
        return None, steepest, steepest < tol
    step, length = _direction(gradient, hessian, tuning.max_newton_step), 1.0
    precision = n / quadratic if noise is None else 1.0 / noise
    data = precision * (target_ss + len(mean) * float(mean @ mean))
    # First-order effect of a relative error EPS in G and t't on -2 J: dR = -mu' dG mu and d log|G +
    # Lam| = tr(S dG), each with a factor k for the norm of dG.
    rounding = 4.0 * EPS * (abs(cost) + data + len(mean) * float(covariance.trace()))
    slope = float(gradient @ step)
    if -slope < rounding:
        return None, steepest, True
    for _ in range(tuning.max_backtracks):
        trial_theta = np.minimum(np.maximum(theta + length * step, THETA_MIN), THETA_MAX)
        trial = evaluate(point.gram, point.correlation, trial_theta, point.objective)
        if (
            trial is not None
            # Sufficient decrease (Nocedal & Wright 2006, eq. 3.4), up to rounding errors: near the
            # maximum they exceed the decrease.
            and trial.cost <= cost + tuning.armijo_fraction * length * slope + rounding
        ):
            return trial, steepest, False
        length *= tuning.backtrack_factor
    return None, steepest, False


def maximise(
    gram: Matrix,
    correlation: Vector,
    theta: Vector,
    objective: Objective,
    *,
    max_iter: int,
    tol: float,
    entry_penalty: Vector | None = None,
    is_brief: bool = False,
    tuning: SearchTuning = DEFAULT,
) -> Maximum:
    """Maximise the objective over the precisions of an active set and remove useless atoms.

    Parameters
    ----------
    gram, correlation : ndarray of shape (k, k) and (k,)
        Moments of the active set.
    theta : ndarray of shape (k,)
        Log precisions to start from.
    objective : Objective
        Sample size, target sum of squares, prior and noise.
    max_iter, tol
        Largest number of Newton steps, and the largest gradient entry that counts as zero.
    entry_penalty : ndarray of shape (k,), optional
        Penalty of each atom; atoms whose removal loses less than this are removed as well.
    is_brief : bool, default=False
        Return right after the last step, without a search for atoms to remove and without the
        gradient, if the caller takes further steps anyway.
    tuning : SearchTuning
        Constants of the line search and of removals.
    """
    point, kept = evaluate_robustly(gram, correlation, theta, objective), np.arange(len(theta))
    n_iter, bulk = 0, tuning.bulk_removal_size if entry_penalty is None else len(theta)
    while True:
        is_kept, in_bulk = _find_survivors(point, entry_penalty, bulk)
        if is_kept is not None:
            left = np.flatnonzero(is_kept)
            gram, correlation = point.gram[left[:, None], left], point.correlation[left]
            objective = point.objective.subset(left)
            smaller = evaluate_robustly(gram, correlation, point.theta[left], objective)
            # One-by-one removals are exact and need no check; those at once may have lowered J.
            if in_bulk and smaller.cost > point.cost:
                bulk = len(kept)  # removed too many at once: one by one from now on
                continue
            point, kept = smaller, kept[is_kept]
            entry_penalty = None if entry_penalty is None else entry_penalty[is_kept]
            if in_bulk:
                continue
        after, steepest, converged = _newton_step(point, tol, tuning, is_last=n_iter >= max_iter)
        if after is None:
            return Maximum(kept, point, n_iter, converged, steepest)
        point, n_iter = after, n_iter + 1
        if is_brief and n_iter >= max_iter:
            return Maximum(kept, point, n_iter, False, np.inf)
