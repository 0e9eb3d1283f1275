"""A few steps of the evidence of a sparse model in the scales of its inputs.

They are few on purpose: pushed to its end that evidence overfits the scales.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relvec._typing import Vector
from relvec.estimators._output import RegressionFit, is_rounding
from relvec.estimators._scales import ScaledBasis, relevance_deviations, scale_directions
from relvec.learning import LearntScales
from relvec.learning.feature_rule import ScaleInformation, weigh_inputs
from relvec.learning.sparse_evidence import SparseEvidence

if TYPE_CHECKING:
    from relvec.estimators._plan import Data, PlanTuning, RegressionPlan

__all__ = ["measure_scales", "refine_scales"]


def refine_scales(plan: RegressionPlan, fit: RegressionFit, data: Data) -> RegressionFit:
    """Move the scales and fit again, as often as asked and as long as it pays."""
    assert fit.scaled is not None
    is_fixed = fit.scaled.learnt.kind in ("kernel", "none")
    if is_fixed or len(fit.outputs) > 1:  # of which the one of least noise would decide for all
        return fit
    for _ in range(fit.scaled.learner.refine):
        better = _fit_moved(plan, fit, fit.scaled, data)
        if better is None:
            break
        fit = better
    return fit


def _fit_moved(
    plan: RegressionPlan, fit: RegressionFit, scaled: ScaledBasis, data: Data
) -> RegressionFit | None:
    """Take joint steps of precisions and scales and fit there; None if that does not pay."""
    posterior, learnt, tuning = fit.outputs[0].posterior, scaled.learnt, plan.tuning
    if posterior.noise_variance and is_rounding(
        posterior.noise_variance, posterior.target_variance
    ):
        return None
    (model, theta), *_ = _models(fit, data, centre=plan.fit_intercept)
    if not len(model.centers):
        return None
    theta, scale, rise = model.climb(theta, learnt.scale, tuning.joint_steps)
    if rise < tuning.worthwhile:
        return None
    for trial in _trials(model, theta, scaled, scale, tuning):
        there = scaled._replace(learnt=trial)
        found = plan.fit(there.basis, data)
        n_more = np.count_nonzero(trial.scale) - np.count_nonzero(learnt.scale)
        if found.objective - learnt.price * n_more > fit.objective + tuning.worthwhile:
            return replace(found, scaled=there)
    return None


def measure_scales(
    fit: RegressionFit, data: Data, *, centre: bool, propagate: bool
) -> RegressionFit:
    """Say how uncertain the scales are, and let error bars contain that if asked."""
    assert fit.scaled is not None
    learnt = fit.scaled.learnt
    kept, directions = np.flatnonzero(learnt.scale), scale_directions(learnt)
    curvature = np.zeros((directions.shape[1], directions.shape[1]))
    pairs = list(_models(fit, data, centre=centre))
    for model, theta in pairs:
        if len(theta):
            more = model.information(theta, learnt.scale, kept, directions)
            curvature += 0.0 if more is None else more
    deviation, root = relevance_deviations(learnt, curvature)
    outputs = list(fit.outputs)
    for number, (model, theta) in enumerate(pairs):
        if propagate and learnt.kind != "none" and len(theta):
            doubt = model.doubt(theta, learnt.scale, kept, root)
            outputs[number] = replace(outputs[number], scale_doubt=doubt)
    return replace(fit, outputs=tuple(outputs), relevance_std=deviation)


def _models(
    fit: RegressionFit, data: Data, *, centre: bool
) -> Iterator[tuple[SparseEvidence, Vector]]:
    """Give every fitted target as a function of precisions and scales, and its precisions.

    Precisions are put in the order of the model: kernels first.
    """
    assert fit.scaled is not None
    atoms, centers = fit.scaled.kernel_atoms(fit.bound)
    for number, (objective, output) in enumerate(zip(fit.objectives, fit.outputs, strict=True)):
        is_kernel = (output.active >= atoms.start) & (output.active < atoms.stop)
        model = SparseEvidence(
            fit.scaled.kernel,
            data.X,
            centers[output.active[is_kernel] - atoms.start],
            fit.bound.dictionary.columns(output.active[~is_kernel]),
            data.targets[:, number],
            data.weight,
            centre=centre,
            objective=objective,
        )
        log_lam = output.solution.log_lam
        yield model, np.concatenate([log_lam[is_kernel], log_lam[~is_kernel]])


def _trials(
    model: SparseEvidence, theta: Vector, scaled: ScaledBasis, scale: Vector, tuning: PlanTuning
) -> list[LearntScales]:
    """Return what to fit next: with inputs taken out and in by the rule, or just moved.

    Where it was decided that all inputs stay, scales only move.
    """
    learnt = scaled.learnt
    relevance = scale * learnt.spread**2
    moved = learnt.moved(relevance, scaled.kernel)
    if not learnt.is_choice or len(scale) > tuning.weighed_inputs:
        return [moved]
    information, point = model.information(theta, scale), model.at(theta, scale)
    if information is None or point is None:
        return [moved]
    # relevances are scales in units of standard deviations
    unit = np.where(learnt.spread > 0.0, learnt.spread, np.inf) ** 2
    known = ScaleInformation(information / np.multiply.outer(unit, unit), point.scale / unit)
    penalties = learnt.price + np.where(relevance > 0.0, 0.0, tuning.overruling_gain)
    kept, mean, gain = weigh_inputs(known, relevance, penalties)
    kept &= learnt.spread > 0.0
    if not kept.any() or np.array_equal(kept, relevance > 0.0):
        return [moved]
    entering = kept & (relevance == 0.0)
    weighed = np.where(kept, np.where(entering, mean, relevance), 0.0)
    changed = kept != (relevance > 0.0)
    other = learnt.moved(weighed, scaled.kernel)
    return [replace(other, gain=np.where(changed, gain, learnt.gain)), moved]
