"""Refinement of length-scales by a few steps on the evidence of the sparse model.

The steps are few on purpose: at its maximum that evidence overfits the length-scales.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relvec._typing import Vector
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._output import RegressionFit, is_noise_negligible
from relvec.learning import LearntLengthScales
from relvec.learning.feature_rule import select_features
from relvec.learning.sparse_evidence import SparseEvidence
from relvec.solvers.gaussian.state import build_objective

if TYPE_CHECKING:
    from relvec.estimators._plan import Data, PlanTuning
    from relvec.estimators._regression_plan import RegressionPlan

__all__ = ["refine_scales"]


def refine_scales(plan: RegressionPlan, fit: RegressionFit, data: Data) -> RegressionFit:
    """Refine the length-scales and fit again, up to `n_refinements` times while that improves."""
    assert fit.scaled is not None
    # with several outputs the one of least noise would dominate
    if not fit.scaled.learnt.is_learnt or len(fit.outputs) > 1:
        return fit
    assert plan.learner is not None
    for _ in range(plan.learner.n_refinements):
        better = _fit_refined(plan, fit, fit.scaled, data)
        if better is None:
            break
        fit = better
    return fit


def _fit_refined(
    plan: RegressionPlan, fit: RegressionFit, scaled: ScaledBasis, data: Data
) -> RegressionFit | None:
    """Take joint steps of precisions and length-scales and refit; None if not improved."""
    (output,), (problem,), learnt, tuning = fit.outputs, fit.problems, scaled.learnt, plan.tuning
    posterior, solution, active = output.posterior, output.solution, output.active
    if posterior.noise_variance and is_noise_negligible(
        posterior.noise_variance, posterior.target_variance
    ):
        return None
    atoms, centers = scaled.kernel_atoms(fit.bound)
    is_kernel = (active >= atoms.start) & (active < atoms.stop)
    if not is_kernel.any():
        return None
    objective = build_objective(problem, problem.noise_variance)
    model = SparseEvidence(
        scaled.kernel,
        data.X,
        centers[active[is_kernel] - atoms.start],
        fit.bound.dictionary.columns(active[~is_kernel]),
        data.targets[:, 0],
        data.regression_weight(0),
        centre=plan.fit_intercept,
        objective=objective._replace(prior=problem.prior.with_rate(solution.laplace_rate)),
    )
    # `SparseEvidence` has kernels first, then other atoms.
    theta = np.concatenate([solution.log_lam[is_kernel], solution.log_lam[~is_kernel]])
    theta, scale, increase = model.maximise(theta, learnt.scale, tuning.n_joint_steps)
    if increase < tuning.min_improvement:
        return None
    for trial in _make_trials(model, theta, scaled, scale, tuning):
        refined = scaled._replace(learnt=trial)
        found = plan.fit(refined.basis, data)
        n_more = np.count_nonzero(trial.scale) - np.count_nonzero(learnt.scale)
        # Net of the penalty of each additional feature; with fewer features n_more is negative.
        if found.objective - learnt.penalty * n_more > fit.objective + tuning.min_improvement:
            return replace(found, scaled=refined)
    return None


def _make_trials(
    model: SparseEvidence, theta: Vector, scaled: ScaledBasis, scale: Vector, tuning: PlanTuning
) -> list[LearntLengthScales]:
    """Return length-scales to try: with features added and removed by the rule, or all kept.

    Where features were not selected, none is added or removed.
    """
    learnt = scaled.learnt
    relevance = scale * learnt.spread**2
    moved = learnt.with_relevance(relevance)
    if not learnt.is_selection or len(scale) > tuning.max_joint_features:
        return [moved]
    information, point = model.information(theta, scale), model.evaluate(theta, scale)
    if information is None or point is None:
        return [moved]
    # derivatives with respect to relevances: input scales times variances of features
    unit = np.where(learnt.spread > 0.0, learnt.spread, np.inf) ** 2
    # relevance = eta spread^2, so d / d relevance = spread^-2 d / d eta; infinite units give zero
    # derivatives for constant features.
    curvature = information / np.multiply.outer(unit, unit)
    penalties = learnt.penalty + np.where(relevance > 0.0, 0.0, tuning.readmission_gain)
    kept, mean, gain = select_features(curvature, point.scale / unit, relevance, penalties)
    kept &= learnt.spread > 0.0
    if not kept.any() or np.array_equal(kept, relevance > 0.0):
        return [moved]
    entering = kept & (relevance == 0.0)
    # Features that stay keep the scales of the ascent; entering ones start at the mode of the
    # quadratic approximation.
    weighed = np.where(kept, np.where(entering, mean, relevance), 0.0)
    changed = kept != (relevance > 0.0)
    other = learnt.with_relevance(weighed)
    return [replace(other, gain=np.where(changed, gain, learnt.gain)), moved]
