"""Joint maximisation of the evidence over the precisions of a given active set.

Newton's method on ``theta = log lam`` with exact removal of atoms whose best precision is
infinite. Costs O(k^3) an iteration whatever the number of samples or atoms; every accepted
step and every removal raises the objective.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relvec._linalg import (
    EPS,
    cholesky,
    inverse_from_cholesky,
    log_det_cholesky,
    shifted_cholesky,
    solve_cholesky,
    solve_lower,
)
from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.evidence import gradient_and_hessian, penalised_shrinkage, removal_loss
from relvec.priors import BoundPrior
from relvec.solvers.gaussian.tuning import DEFAULT, SearchTuning

THETA_MIN, THETA_MAX = math.log(1e-13), math.log(1e13)
"""Beyond these an atom is unpenalised, or absent, to working precision."""


class Objective(NamedTuple):
    """The numbers that, with a Gram block and correlations, define the objective."""

    n_effective: float
    target_ss: float
    prior: BoundPrior
    """Of the atoms in question."""
    noise_variance: float | None
    """Held noise; None when it is profiled out."""

    def take(self, atoms: IndexArray) -> Objective:
        """Return the objective of some of the atoms."""
        return self._replace(prior=self.prior.take(atoms))

    def density(self, theta: Vector) -> Vector | None:
        """Log density of each log precision; None if it is flat."""
        prior = self.prior
        return prior.log_density(theta, self.noise_variance) if prior.has_density else None

    def slopes(self, theta: Vector) -> tuple[Vector, Vector] | None:
        """Derivatives of `density`."""
        prior = self.prior
        return prior.slopes(theta, self.noise_variance) if prior.has_density else None


class Point(NamedTuple):
    """The objective evaluated at one theta."""

    cost: float
    """``-2 J`` up to a constant."""
    factor: Matrix
    """Lower Cholesky factor of ``G + Lam``."""
    whitened: Vector
    """``L^-1 Phi't``."""
    quadratic: float
    """``R = t' K^-1 t``."""
    log_det: float
    """``log|K|``."""
    lam: Vector
    prior: float = 0.0
    """What the prior adds to ``J``."""


class Maximum(NamedTuple):
    """Where Newton's method stopped."""

    theta: Vector
    kept: IndexArray
    """Positions, in the active set that was given, of the atoms still there."""
    point: Point
    covariance: Matrix | None
    """``(G + Lam)^-1``; None after a brief visit, as is the mean."""
    mean: Vector | None
    n_iter: int
    converged: bool
    gradient: float


def evaluate(
    gram: Matrix, correlation: Vector, theta: Vector, objective: Objective
) -> Point | None:
    """Evaluate the objective; None where it is numerically not defined."""
    lam = np.exp(theta)
    factor = shifted_cholesky(gram, lam) if len(lam) else np.empty((0, 0))
    if factor is None:
        return None
    whitened = solve_lower(factor, correlation) if len(lam) else correlation
    quadratic = objective.target_ss - float(whitened @ whitened)
    if not quadratic > 0.0:
        return None
    log_det = log_det_cholesky(factor) - float(theta.sum())
    if objective.noise_variance is None:
        cost = objective.n_effective * math.log(quadratic) + log_det
    else:
        cost = quadratic / objective.noise_variance + log_det
    density = objective.density(theta)
    prior = 0.0 if density is None else float(density.sum())
    return Point(cost - 2.0 * prior, factor, whitened, quadratic, log_det, lam, prior)


def _penalised(point: Point, covariance: Matrix, penalty: float | Vector) -> Point:
    degrees = 1.0 - point.lam * covariance.diagonal()
    if isinstance(penalty, float):
        charged = penalty * float(degrees.sum())
    else:
        charged = float(penalty @ degrees)
    return point._replace(cost=point.cost + 2.0 * charged, prior=point.prior - charged)


def _rounding(point: Point, covariance: Matrix, mean: Vector, objective: Objective) -> float:
    """Size of the rounding error of the cost.

    ``R`` is a difference of larger numbers, and an error of one unit in the last place of the
    Gram matrix moves ``R`` by ``|mu|^2`` and ``log|K|`` by ``tr S`` such units.
    """
    noise = objective.noise_variance
    precision = objective.n_effective / point.quadratic if noise is None else 1.0 / noise
    data = precision * (objective.target_ss + len(mean) * float(mean @ mean))
    return 4.0 * EPS * (abs(point.cost) + data + len(mean) * float(covariance.trace()))


def _evaluate_with_covariance(
    gram: Matrix, correlation: Vector, theta: Vector, objective: Objective
) -> tuple[Point, Matrix | None] | None:
    """Evaluate; the covariance comes along where the penalty needs it anyway."""
    point = evaluate(gram, correlation, theta, objective)
    if point is None or not objective.prior.is_penalised:
        return None if point is None else (point, None)
    covariance = inverse_from_cholesky(point.factor)
    return _penalised(point, covariance, objective.prior.penalty), covariance


def _evaluate_safely(
    gram: Matrix, correlation: Vector, theta: Vector, objective: Objective
) -> tuple[Vector, Point, Matrix]:
    """Evaluate, raising all precisions until the matrix is numerically positive definite."""
    result = _evaluate_with_covariance(gram, correlation, theta, objective)
    while result is None:
        theta = np.maximum(theta, THETA_MIN) + 1.0
        result = _evaluate_with_covariance(gram, correlation, theta, objective)
    point, covariance = result
    return theta, point, inverse_from_cholesky(point.factor) if covariance is None else covariance


def without_each(
    point: Point, covariance: Matrix, mean: Vector, prior: BoundPrior
) -> tuple[Vector, Vector, Vector, Vector | None]:
    """Statistics (s, q, R, w) of each active atom in the model without it."""
    variance = covariance.diagonal()
    s = np.maximum(1.0 / variance - point.lam, 1e-300)
    q = mean / variance
    w = None
    if prior.is_penalised:
        w = _without(prior, penalised_shrinkage(prior.penalty, covariance, point.lam), variance)
    return s, q, point.quadratic + mean * q, w


def _without(prior: BoundPrior, shrunk: Matrix, variance: Vector) -> Vector:
    """``w`` of active atoms; only several penalties can make it negative, else rounding does."""
    diagonal = shrunk.diagonal()
    if isinstance(prior.penalty, float):
        diagonal = np.maximum(diagonal, 0.0)
    return diagonal / variance**2


def _prune(
    point: Point,
    covariance: Matrix,
    mean: Vector,
    objective: Objective,
    charge: Vector | None,
    bulk: int | None,
) -> tuple[BoolArray, bool]:
    """Find atoms to take out, exactly, one after the other by rank-one downdates.

    An atom goes when its best precision is infinite or, if a `charge` is given, when the
    model without it loses less than the charge. Returns the survivors, and whether many
    went at once, in which case nothing says that the objective rose: the caller checks.
    """
    n, _, prior, noise = objective
    size = len(mean)
    alive = np.ones(size, dtype=bool)
    n_alive = size
    lam, quadratic, c = point.lam, point.quadratic, prior.penalty
    shrunk = penalised_shrinkage(c, covariance, lam) if prior.is_penalised else None
    density = objective.density(np.log(lam))
    first = True
    while n_alive:
        variance = (
            covariance.diagonal()
            if n_alive == size
            else np.where(alive, covariance.diagonal(), 1.0)
        )
        s = np.maximum(1.0 / variance - lam, 1e-300)
        q = mean / variance
        without = quadratic + mean * q
        w = None if shrunk is None else _without(prior, shrunk, variance)
        hopeless = prior.is_hopeless(s, q, w, without, n, noise)
        if charge is None and not hopeless.any():
            break
        loss = removal_loss(s, lam, without, quadratic, w, n, noise, density)
        if charge is not None:
            hopeless |= loss < charge
        hopeless &= alive
        n_hopeless = int(np.count_nonzero(hopeless))
        if not n_hopeless:
            break
        loss = np.where(hopeless, loss if charge is None else loss - charge, np.inf)
        if bulk is not None and first and charge is None and n_hopeless > bulk and size > 40:
            alive[np.argsort(loss, kind="stable")[: n_hopeless // 2]] = False
            return alive, True
        if first:
            covariance, first = covariance.copy(), False
        worst = int(np.argmin(loss))
        a = covariance[:, worst] / math.sqrt(variance[worst])
        if shrunk is not None:
            la = c * lam * a
            y = covariance @ la - a * (0.5 * float(a @ la) + 0.5 * c)
            change = np.multiply.outer(a, y)
            shrunk += change
            shrunk += change.T
        quadratic = float(without[worst])
        mean = mean - a * (mean[worst] / math.sqrt(variance[worst]))
        covariance -= np.multiply.outer(a, a)
        alive[worst] = False
        mean[worst] = 0.0
        n_alive -= 1
    return alive, False


def _direction(gradient: Vector, hessian: Matrix, max_step: float) -> Vector:
    """Newton direction, with a diagonal shift where the Hessian is not positive definite.

    Every log precision is measured in units of its own curvature, so that one shift serves
    precisions of very different curvatures, and some shift always does.
    """
    if not np.isfinite(hessian).all():
        raise FloatingPointError("the curvature of the evidence is not finite")
    unit = 1.0 / np.sqrt(np.maximum(np.abs(hessian.diagonal()) + np.abs(gradient), 1e-8))
    scaled = hessian * np.multiply.outer(unit, unit)
    diagonal = scaled.diagonal().copy()
    shift = 0.0
    while True:
        if shift:
            scaled.flat[:: len(unit) + 1] = diagonal + shift
        factor = cholesky(scaled.T)
        if factor is not None:
            pivots = factor.diagonal()
            if pivots.min() ** 2 > 1e-10 * pivots.max() ** 2:
                break
        shift = 0.1 if shift == 0.0 else 3.0 * shift
    step = unit * solve_cholesky(factor, -unit * gradient)
    largest = float(np.abs(step).max())
    return step * (max_step / largest) if largest > max_step else step


def maximise(
    gram: Matrix,
    correlation: Vector,
    theta: Vector,
    objective: Objective,
    *,
    max_iter: int,
    tol: float,
    charge: Vector | None = None,
    brief: bool = False,
    tuning: SearchTuning = DEFAULT,
) -> Maximum:
    """Maximise over the precisions of an active set, dropping atoms that should go.

    Parameters
    ----------
    gram, correlation : ndarray of shape (k, k) and (k,)
        Moments of the active set.
    theta : ndarray of shape (k,)
        Log precisions to start from.
    objective : Objective
        Sample size, target sum of squares, prior and noise.
    max_iter, tol
        Newton steps, and the largest gradient entry that counts as zero.
    charge : ndarray of shape (k,), optional
        Price of each atom; those worth less are taken out as well.
    brief : bool, default=False
        Return right after the last step, without looking for atoms to drop or at the gradient:
        for a caller who will be back soon.
    tuning : SearchTuning
        Lengths of steps.
    """
    n, _, prior, noise = full_objective = objective
    full_gram, full_correlation, full_charge = gram, correlation, charge
    kept = np.arange(len(theta))
    theta, point, covariance = _evaluate_safely(gram, correlation, theta, objective)
    n_iter, converged, largest_gradient = 0, False, np.inf
    bulk: int | None = tuning.bulk_removal
    while True:
        mean = covariance @ correlation
        alive, many = _prune(point, covariance, mean, objective, charge, bulk)
        if not alive.all():
            fewer = kept[alive]
            smaller = full_gram[np.ix_(fewer, fewer)], full_correlation[fewer]
            fewer_objective = full_objective.take(fewer)
            moved = _evaluate_safely(*smaller, theta[alive], fewer_objective)
            if many and moved[1].cost > point.cost:
                bulk = None
                continue
            kept, (gram, correlation), (theta, point, covariance) = fewer, smaller, moved
            charge = None if full_charge is None else full_charge[kept]
            objective, prior = fewer_objective, fewer_objective.prior
            mean = covariance @ correlation
            if many:
                continue
        if not len(theta):
            converged, largest_gradient = True, 0.0
            break
        c = prior.penalty
        shrunk = penalised_shrinkage(c, covariance, point.lam) if prior.is_penalised else None
        gradient, hessian = gradient_and_hessian(
            covariance,
            mean,
            point.lam,
            shrunk,
            point.quadratic,
            n,
            noise,
            objective.slopes(theta),
        )
        # A precision at its bound is stationary when the objective wants it further out.
        free = ~(((theta <= THETA_MIN) & (gradient > 0)) | ((theta >= THETA_MAX) & (gradient < 0)))
        largest_gradient = float(np.abs(gradient[free]).max(initial=0.0))
        if largest_gradient < tol:
            converged = True
            break
        if n_iter >= max_iter:
            break
        if not free.all():  # the others stay at their bounds
            gradient[~free] = 0.0
            hessian[~free] = hessian[:, ~free] = 0.0
            hessian[~free, ~free] = 1.0
        step = _direction(gradient, hessian, tuning.max_step)
        slope = float(gradient @ step)
        slack = _rounding(point, covariance, mean, objective)
        if -slope < slack:
            converged = True  # what is left to gain is below rounding
            break
        length = 1.0
        for _ in range(tuning.max_backtracks):
            trial_theta = np.clip(theta + length * step, THETA_MIN, THETA_MAX)
            trial = _evaluate_with_covariance(gram, correlation, trial_theta, objective)
            if trial is not None and trial[0].cost <= (
                point.cost + tuning.armijo * length * slope + slack
            ):
                break
            length *= tuning.backtrack
        else:
            break
        n_iter += 1
        theta, point = trial_theta, trial[0]
        if brief and n_iter >= max_iter:
            return Maximum(theta, kept, point, None, None, n_iter, False, np.inf)
        covariance = inverse_from_cholesky(point.factor) if trial[1] is None else trial[1]
    return Maximum(theta, kept, point, covariance, mean, n_iter, converged, largest_gradient)
