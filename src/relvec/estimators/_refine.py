"""A few steps of the evidence of a sparse model in the scales of its inputs.

They are few on purpose: pushed to its end that evidence overfits the scales.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import BoundBasis
from relvec.estimators._output import UNRESOLVED, FittedOutput
from relvec.estimators._scales import ScaledBasis, ScalesMixin
from relvec.learning import LearntScales
from relvec.learning.feature_rule import ScaleInformation, weigh_inputs
from relvec.learning.sparse_evidence import SparseEvidence, climb_jointly
from relvec.solvers.gaussian.newton import Objective

__all__ = ["RefineMixin", "SparseFit"]

STEPS = 3
"""Steps of the joint climb in one round."""
WORTHWHILE = 0.01
"""Rise of the objective that is worth another fit."""
OVERRULED = 2.0
"""Log evidence, besides its price, for which the sparse model takes in an input that the process
left out."""
WEIGHED = 200
"""Inputs that are weighed against each other at once; among more, only those in the model."""


class SparseFit(NamedTuple):
    """One fitted dictionary and its targets."""

    bound: BoundBasis
    outputs: list[FittedOutput]
    objectives: list[Objective]
    """What was maximised for each target, as a function of a Gram matrix."""
    n_fetched: int
    """Columns of the dictionary that the search took a closer look at."""

    @property
    def objective(self) -> float:
        """What was maximised, over all targets."""
        return sum(output.objective for output in self.outputs)


class RefineMixin(ScalesMixin):
    """Joint steps of precisions and scales between fits of a sparse regression."""

    fit_intercept: bool
    _solve: Callable[..., SparseFit]
    _bind: Callable[..., BoundBasis]

    def _refine_scales(
        self,
        scaled: ScaledBasis,
        fit: SparseFit,
        X: Any,
        targets: Matrix,
        weight: Vector | None,
        context: Any,
    ) -> SparseFit:
        """Move the scales and fit again, as often as asked and as long as it pays."""
        learnt = scaled.learnt
        assert learnt is not None
        rounds = 0 if learnt.kind in ("kernel", "none") else scaled.learner.refine
        if len(fit.outputs) > 1:  # the one of least noise would decide for all
            rounds = 0
        for _ in range(rounds):
            if any(_is_unresolved(output) for output in fit.outputs):
                break  # residuals are rounding errors, of which scales would follow
            models, thetas = self._models(scaled, fit, X, targets, weight)
            if not any(len(model.centers) for model in models):
                break
            thetas, scale, rise = climb_jointly(models, thetas, learnt.scale, STEPS)
            if rise < WORTHWHILE:
                break
            for trial in _proposals(models, thetas, learnt, scale, scaled.kernel):
                there = scaled._replace(learnt=trial)
                bound = self._bind(there.basis, X, weight)
                found = self._solve(bound, X, targets, weight, (), context)
                n_more = np.count_nonzero(trial.scale) - np.count_nonzero(learnt.scale)
                if found.objective - learnt.price * n_more > fit.objective + WORTHWHILE:
                    break
            else:
                break
            fit, learnt, scaled = found, trial, there
        self._expose_scales(learnt)
        return fit

    def _models(
        self,
        scaled: ScaledBasis,
        fit: SparseFit,
        X: Any,
        targets: Matrix,
        weight: Vector | None,
    ) -> tuple[list[SparseEvidence], list[Vector]]:
        """Return every fitted target as a function of precisions and scales, and its precisions.

        Precisions are put in the order of the model: kernels first.
        """
        models, thetas = [], []
        for objective, output, target in zip(fit.objectives, fit.outputs, targets.T, strict=True):
            kernels, others = _kinds(scaled, fit.bound, output)
            models.append(
                SparseEvidence(
                    scaled.kernel,
                    X,
                    _centers(scaled, fit.bound)[kernels],
                    fit.bound.dictionary.columns(output.active[others]),
                    target,
                    weight,
                    centre=bool(self.fit_intercept),
                    objective=objective,
                )
            )
            log_lam, is_kernel = output.solution.log_lam, np.ones(len(output.active), dtype=bool)
            is_kernel[others] = False
            thetas.append(np.concatenate([log_lam[is_kernel], log_lam[others]]))
        return models, thetas


def _information(
    models: list[SparseEvidence], thetas: list[Vector], scale: Vector, spread: Vector
) -> ScaleInformation | None:
    """What all targets say of relevances, the scales in units of standard deviations."""
    unit = np.where(spread > 0.0, spread, np.inf) ** 2
    curvature, slope = np.zeros((len(scale), len(scale))), np.zeros(len(scale))
    for model, theta in zip(models, thetas, strict=True):
        if not len(model.centers):
            continue
        information, point = model.information(theta, scale), model.at(theta, scale)
        if information is None or point is None:
            return None
        curvature += information / np.multiply.outer(unit, unit)
        slope += point.scale / unit
    return ScaleInformation(curvature, slope)


def _proposals(
    models: list[SparseEvidence],
    thetas: list[Vector],
    learnt: LearntScales,
    scale: Vector,
    kernel: Any,
) -> list[LearntScales]:
    """Return what to fit next: with inputs taken out and in by the rule, or just moved.

    Where it was decided that all inputs stay, scales only move.
    """
    relevance = scale * learnt.spread**2
    moved = learnt.moved(relevance, kernel)
    if not learnt.is_choice or len(scale) > WEIGHED:
        return [moved]
    information = _information(models, thetas, scale, learnt.spread)
    if information is None:
        return [moved]
    prices = learnt.price + np.where(relevance > 0.0, 0.0, OVERRULED)
    kept, mean, gain = weigh_inputs(information, relevance, prices)
    kept &= learnt.spread > 0.0
    if not kept.any() or np.array_equal(kept, relevance > 0.0):
        return [moved]
    entering = kept & (relevance == 0.0)
    weighed = np.where(kept, np.where(entering, mean, relevance), 0.0)
    changed = kept != (relevance > 0.0)
    weighed_scales = replace(
        learnt.moved(weighed, kernel), gain=np.where(changed, gain, learnt.gain)
    )
    return [weighed_scales, moved]


def _is_unresolved(output: FittedOutput) -> bool:
    posterior = output.posterior
    return 0.0 < posterior.noise_variance <= UNRESOLVED * posterior.target_variance


def _kinds(
    scaled: ScaledBasis, bound: BoundBasis, output: FittedOutput
) -> tuple[IndexArray, IndexArray]:
    """Active kernels, numbered among kernels, and places of the other active atoms."""
    atoms = scaled.kernel_atoms(bound)
    is_kernel = (output.active >= atoms.start) & (output.active < atoms.stop)
    return output.active[is_kernel] - atoms.start, np.flatnonzero(~is_kernel)


def _centers(scaled: ScaledBasis, bound: BoundBasis) -> Matrix:
    atoms: Any = bound.atoms
    centers: Matrix = (atoms.parts[scaled.place] if bound.parts else atoms).centers
    return centers
