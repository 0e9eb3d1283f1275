"""Regression with heavy-tailed noise: reweighted regressions around a variational bound.

Each round fits the regression with the row precisions of a scale mixture of normals
(`relvec.likelihoods.robust_noise`), then the noise to the expected squared errors. Every
regression starts without basis functions: those found under earlier weights are local maxima.
Length-scales and the kind of model are chosen again under the weights, because outliers hide
structure from the default fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from relvec._typing import Vector
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._output import FittedOutput, RegressionFit
from relvec.likelihoods.robust_noise import ContaminatedNoise, ScaleMixtureNoise, StudentNoise
from relvec.posterior import noise_floor

if TYPE_CHECKING:
    from relvec.estimators._plan import Data
    from relvec.estimators._regression_plan import RegressionPlan

__all__ = ["fit_robust"]


@dataclass(frozen=True)
class RobustTuning:
    """Constants of the reweighting."""

    max_iter: int = 25
    tolerance: float = 0.02
    """Increase of the bound, in nats, below which a loop stops."""
    max_relearnings: int = 3
    min_relearning_gain: float = 1.0
    margin: float = 5.0
    """Nats by which the bound of a contaminated normal must exceed that of Student-t noise."""
    min_gain: float = 3.0


class State(NamedTuple):
    """A regression of one output with its noise."""

    bound: float
    fit: RegressionFit
    noise: ScaleMixtureNoise
    weight: Vector
    """Row weights ``u``, for the next regression."""
    n_regressions: int = 0


def _with_precision(data: Data, u: Vector) -> Data:
    weight = np.ones(len(u)) if data.weight is None else data.weight
    return data._replace(weight=weight * u * weight.sum() / (weight @ u))


def _divergence(output: FittedOutput) -> float:
    p = output.posterior
    k = len(p.lam)
    from relvec._linalg import inverse_from_cholesky

    S = inverse_from_cholesky(p.factor)
    value = 0.5 * (
        float(p.lam @ S.diagonal())
        + float(p.lam @ p.unit_mean**2) / p.noise_variance
        - k
        + 2 * np.log(p.factor.diagonal()).sum()
        - np.log(p.lam).sum()
    )
    if p.has_intercept:
        value -= 0.5 * (np.log(2 * np.pi * p.noise_variance * p._offset_variance) + 1.0)
    return float(value)


def squared_errors(output: FittedOutput, data: Data) -> Vector:
    atoms = output.atoms.evaluate(data.X)
    p = output.posterior
    return (data.targets[:, 0] - p.predict(atoms)) ** 2 + p.variance(atoms)


def update(fit, data, noise) -> State:
    (output,) = fit.outputs
    p = output.posterior
    weight = np.ones(len(data.targets)) if data.weight is None else data.weight
    squared = squared_errors(output, data)
    floor = noise_floor(p.target_variance, p.target_mean)
    if noise == "gaussian":
        s2 = p.noise_variance
        total = float(weight @ (-0.5 * np.log(2 * np.pi * s2) - 0.5 * squared / s2))
        u = np.ones(len(weight))
    else:
        noise = noise.fit(squared, weight, floor)
        total = float(weight @ noise.log_density(squared))
        u = noise.row_weight(squared)
    penalty = output.objective - p.log_evidence
    return State(total - _divergence(output) + penalty, fit, noise, u)


def regress(plan, scaled, data):
    if scaled is None:
        return plan.fit(plan.basis, data)
    return replace(plan.fit_candidate(scaled, data), scaled=scaled)


def ascend(plan, scaled, data, noise, u, tuning) -> State:
    best, last = None, -np.inf
    for it in range(tuning.max_iter):
        state = update(regress(plan, scaled, _with_precision(data, u)), data, noise)
        noise, u = state.noise, state.weight
        if best is None or state.bound > best.bound:
            best = state
        if state.bound - last < tuning.tolerance and it > 1:
            break
        last = state.bound
    return best._replace(n_regressions=it + 1)


def relearn(plan, data, u):
    w = _with_precision(data, u)
    return plan.fit_best_candidate(plan.learn_length_scales(w), w)


def climb(plan, data, state: State, tuning, log) -> State:
    if plan.learner is None:
        return state
    for _ in range(tuning.max_relearnings):
        fit = relearn(plan, data, state.weight)
        new = ascend(plan, fit.scaled, data, state.noise, state.weight, tuning)
        log.append(("relearn", fit.scaled.learnt.kind, new.bound, new.n_regressions))
        if new.bound > state.bound:
            gain, state = new.bound - state.bound, new
            if gain < tuning.min_relearning_gain:
                break
        else:
            break
    return state


def run(plan, fit, data, kind, tuning=RobustTuning()):
    log = []
    fast = replace(plan.make_fold_plan(), error_bars="plain")
    gaussian = update(fit, data, "gaussian")
    log.append(("gaussian", gaussian.bound))
    first = update(fit, data, StudentNoise())
    log.append(("t of default", first.bound))
    A = ascend(fast, fit.scaled, data, first.noise, first.weight, tuning)
    log.append(("A", A.bound, A.n_regressions))
    y = data.targets[:, 0]
    med = np.median(y)
    mad = max(1.4826 * np.median(abs(y - med)), 1e-12)
    B = ascend(
        fast, fit.scaled, data, StudentNoise(), 5.0 / (4.0 + ((y - med) / mad) ** 2), tuning
    )
    log.append(("B", B.bound, B.n_regressions))
    student = max(A, B, key=lambda s: s.bound)
    student = climb(fast, data, student, tuning, log)
    con = update(student.fit, data, ContaminatedNoise())
    con = ascend(fast, student.fit.scaled, data, con.noise, con.weight, tuning)
    log.append(("contaminated", con.bound, con.n_regressions))
    con = climb(fast, data, con, tuning, log)
    return gaussian, student, con, log


def fit_robust(plan: RegressionPlan, fit: RegressionFit, data: Data, kind: str) -> RegressionFit:
    raise NotImplementedError
