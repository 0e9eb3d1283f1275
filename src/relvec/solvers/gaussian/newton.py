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
from relvec.evidence import gradient_and_hessian, penalised_shrinkage, removal_loss, without_each
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


class Point(NamedTuple):
    """The objective evaluated at one theta."""

    theta: Vector
    lam: Vector
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
    prior: float
    """What the prior adds to ``J``."""
    known_covariance: Matrix | None
    """``(G + Lam)^-1`` where a penalty needed it anyway."""

    @property
    def covariance(self) -> Matrix:
        """``(G + Lam)^-1``."""
        known = self.known_covariance
        return inverse_from_cholesky(self.factor) if known is None else known


class Maximum(NamedTuple):
    """Where Newton's method stopped."""

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
    if not quadratic > 0.0 and (len(lam) or objective.noise_variance is None):
        return None
    log_det = log_det_cholesky(factor) - float(theta.sum())
    if objective.noise_variance is None:
        cost = objective.n_effective * math.log(quadratic) + log_det
    else:
        cost = quadratic / objective.noise_variance + log_det
    prior, noise, covariance, added = objective.prior, objective.noise_variance, None, 0.0
    if prior.has_density:
        added = float(prior.log_density(theta, noise).sum())
    if prior.is_penalised:
        covariance = inverse_from_cholesky(factor)
        added -= float(prior.penalty_on(1.0 - lam * covariance.diagonal()))
    cost -= 2.0 * added
    return Point(theta, lam, cost, factor, whitened, quadratic, log_det, added, covariance)


class _Model:
    """An active set on its way to the maximum.

    Parameters
    ----------
    gram, correlation, objective
        Of its atoms.
    charge
        Price of each atom, if those worth less are to go.
    kept
        Which of the atoms that were given these are.
    """

    def __init__(
        self,
        gram: Matrix,
        correlation: Vector,
        objective: Objective,
        charge: Vector | None,
        kept: IndexArray,
    ) -> None:
        self.gram, self.correlation, self.objective = gram, correlation, objective
        self.charge, self.kept = charge, kept

    def move_to(self, point: Point) -> _Model:
        """Change the precisions, in place."""
        self.point, known = point, point.known_covariance
        self.covariance = inverse_from_cholesky(point.factor) if known is None else known
        self.mean = self.covariance @ self.correlation
        self.shrunk, prior = None, self.objective.prior
        if prior.is_penalised:
            self.shrunk = penalised_shrinkage(prior.penalty, self.covariance, point.lam)
        return self


def _raised(gram: Matrix, correlation: Vector, theta: Vector, objective: Objective) -> Point:
    """Evaluate with all precisions raised until the objective is numerically defined."""
    point = None
    while point is None:
        theta = np.maximum(theta, THETA_MIN) + 1.0
        point = evaluate(gram, correlation, theta, objective)
    return point


def _rounding(model: _Model) -> float:
    """Size of the rounding error of the cost.

    ``R`` is a difference of larger numbers, and an error of one unit in the last place of the
    Gram matrix moves ``R`` by ``|mu|^2`` and ``log|K|`` by ``tr S`` such units.
    """
    n, target_ss, _, noise = model.objective
    mean, size = model.mean, len(model.mean)
    precision = n / model.point.quadratic if noise is None else 1.0 / noise
    data = precision * (target_ss + size * float(mean @ mean))
    return 4.0 * EPS * (abs(model.point.cost) + data + size * float(model.covariance.trace()))


def _hopeless(model: _Model, bulk: int) -> tuple[BoolArray, bool]:
    """Find atoms to take out, exactly, one after the other by rank-one downdates.

    An atom goes when its best precision is infinite or, if there is a charge, when the
    model without it loses less than the charge. Returns the survivors, and whether many
    went at once, in which case nothing says that the objective rose: the caller checks.
    """
    n, _, prior, noise = model.objective
    lam, quadratic, mean, charge = model.point.lam, model.point.quadratic, model.mean, model.charge
    covariance, shrunk = model.covariance, model.shrunk
    density = prior.log_density(model.point.theta, noise) if prior.has_density else None
    alive = np.ones(len(mean), dtype=bool)
    while alive.any():
        variance = np.where(alive, covariance.diagonal(), 1.0)
        s, q, without, w = without_each(lam, variance, mean, quadratic, prior.penalty, shrunk)
        goes = prior.is_hopeless(s, q, w, without, n, noise) & alive
        if charge is None and not goes.any():
            break
        loss = removal_loss(s, lam, without, quadratic, w, n, noise, density)
        if charge is not None:
            loss = loss - charge
            goes |= (loss < 0.0) & alive
        n_going = int(np.count_nonzero(goes))
        if not n_going:
            break
        loss = np.where(goes, loss, np.inf)
        if n_going > bulk and alive.all():
            alive[np.argsort(loss, kind="stable")[: n_going // 2]] = False
            return alive, True
        worst = int(np.argmin(loss))
        quadratic, alive[worst] = float(without[worst]), False
        covariance, mean, shrunk = _downdate(worst, covariance, mean, shrunk, lam, prior.penalty)
    return alive, False


def _downdate(
    atom: int,
    covariance: Matrix,
    mean: Vector,
    shrunk: Matrix | None,
    lam: Vector,
    penalty: float | Vector,
) -> tuple[Matrix, Vector, Matrix | None]:
    """Return the covariance, the mean and ``Q`` without an atom."""
    root = math.sqrt(covariance[atom, atom])
    a = covariance[:, atom] / root
    if shrunk is not None:
        penalty = 1.0 if isinstance(penalty, float) else penalty
        la = penalty * lam * a
        change = np.multiply.outer(a, covariance @ la - a * (0.5 * float(a @ la) + 0.5 * penalty))
        shrunk = shrunk + change + change.T
    mean = mean - a * (mean[atom] / root)
    mean[atom] = 0.0
    return covariance - np.multiply.outer(a, a), mean, shrunk


def _without_hopeless(given: _Model, model: _Model, bulk: int) -> tuple[_Model, int]:
    """Take out atoms the model is better without; `given` is the model before any went.

    With more than `bulk` of them the clearest half goes at once, unless that was wrong once.
    """
    while True:
        size = len(model.kept)
        alive, many = _hopeless(model, bulk if model.charge is None and size > 40 else size)
        if alive.all():
            return model, bulk
        kept, theta = model.kept[alive], model.point.theta[alive]
        gram, correlation = given.gram[np.ix_(kept, kept)], given.correlation[kept]
        objective = given.objective.take(kept)
        point = evaluate(gram, correlation, theta, objective)
        point = point or _raised(gram, correlation, theta, objective)
        if many and point.cost > model.point.cost:
            bulk = len(given.kept)
            continue
        charge = None if given.charge is None else given.charge[kept]
        model = _Model(gram, correlation, objective, charge, kept).move_to(point)
        if not many:
            return model, bulk


def _derivatives(model: _Model) -> tuple[Vector, Matrix]:
    """Gradient and Hessian of the cost, those at their bounds held there."""
    n, _, prior, noise = model.objective
    point, theta = model.point, model.point.theta
    gradient, hessian = gradient_and_hessian(
        model.covariance,
        model.mean,
        point.lam,
        model.shrunk,
        point.quadratic,
        n,
        noise,
        prior.slopes(theta, noise) if prior.has_density else None,
        prior.penalty,
    )
    # A precision at its bound is stationary when the objective wants it further out.
    held = ((theta <= THETA_MIN) & (gradient > 0)) | ((theta >= THETA_MAX) & (gradient < 0))
    if held.any():
        gradient[held] = 0.0
        hessian[held] = hessian[:, held] = 0.0
        hessian[held, held] = 1.0
    return gradient, hessian


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
    point = evaluate(gram, correlation, theta, objective)
    point = point or _raised(gram, correlation, theta, objective)
    given = _Model(gram, correlation, objective, charge, np.arange(len(theta)))
    model, bulk = given.move_to(point), tuning.bulk_removal
    n_iter, converged, steepest = 0, False, np.inf
    while True:
        model, bulk = _without_hopeless(given, model, bulk)
        if not len(model.kept):
            converged, steepest = True, 0.0
            break
        gradient, hessian = _derivatives(model)
        steepest = float(np.abs(gradient).max())
        converged = steepest < tol
        if converged or n_iter >= max_iter:
            break
        step = _direction(gradient, hessian, tuning.max_step)
        slope, slack = float(gradient @ step), _rounding(model)
        converged = -slope < slack  # what is left to gain is below rounding
        trial = None if converged else _line_search(model, step, slope, slack, tuning)
        if trial is None:
            break
        n_iter += 1
        if brief and n_iter >= max_iter:
            return Maximum(model.kept, trial, None, None, n_iter, False, np.inf)
        model.move_to(trial)
    return Maximum(
        model.kept, model.point, model.covariance, model.mean, n_iter, converged, steepest
    )


def _line_search(
    model: _Model, step: Vector, slope: float, slack: float, tuning: SearchTuning
) -> Point | None:
    """Shorten a step until the cost falls as its slope promises; None if it never does."""
    theta, cost, length = model.point.theta, model.point.cost, 1.0
    for _ in range(tuning.max_backtracks):
        trial_theta = np.clip(theta + length * step, THETA_MIN, THETA_MAX)
        trial = evaluate(model.gram, model.correlation, trial_theta, model.objective)
        if trial is not None and trial.cost <= cost + tuning.armijo * length * slope + slack:
            return trial
        length *= tuning.backtrack
    return None
