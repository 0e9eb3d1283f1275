"""Calibration of error bars, and comparison with simpler models, both by held-out rows.

The evidence does not account for the selection of atoms and length-scales. That selection uses
about as many degrees of freedom as the model counts, or several times as many, so that errors on
new rows are larger than the posterior states. Here models are refitted to four fifths of the rows
with the length-scales of the whole fit, and their errors on the other rows are compared with their
variances. These refits do not repeat the choice of length-scales, so its degrees of freedom are
counted separately (`_count_length_scale_dof`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from relvec._linalg import limit_blas_threads
from relvec._typing import IndexArray
from relvec.bases import KernelBasis
from relvec.error_bars import Covers
from relvec.estimators._build_output import add_far_uncertainty
from relvec.estimators._held_out import HeldOutPredictions, split_folds
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._output import FittedOutput, RegressionFit
from relvec.kernels.definition import decays
from relvec.learning import LearntLengthScales
from relvec.learning.prior_process import PriorProcess, fit_prior_process

if TYPE_CHECKING:
    from relvec.estimators._plan import Data
    from relvec.estimators._regression_plan import RegressionPlan

__all__ = ["CandidateComparison", "calibrate_fit", "compare_before_fit", "select_and_calibrate"]

FarProcess = tuple[str, PriorProcess | None] | None
"""Kind of error bars, and the Gaussian process whose variance is added away from the data; None if
no variance is added."""


class CandidateComparison(NamedTuple):
    """The best of several candidate models, and its held-out predictions."""

    scaled: ScaledBasis | None
    held_out: HeldOutPredictions
    processes: Sequence[PriorProcess | None]
    """Gaussian process of each output whose variance is added away from the data."""


class Fold(NamedTuple):
    """A fold of cross-validation: held-out rows and all others."""

    train: Data
    test: Data
    covers: Covers
    """Cache that models with the same kernel share; see `relvec.error_bars.fit_novelty`."""

    @classmethod
    def hold_out(cls, data: Data, test: IndexArray) -> Fold:
        """Hold out the rows `test`."""
        train = np.setdiff1d(np.arange(len(data.targets)), test)
        return cls(data.subset(train), data.subset(test), {})


def compare_before_fit(
    plan: RegressionPlan, scaled: ScaledBasis, data: Data
) -> CandidateComparison | None:
    """Compare a model with simpler candidates before any of them is fitted to all rows.

    Returns None if there are no candidates, or if the comparison needs a fit to all rows: for
    kernels that do not decay, and for length-scales that a fit refines.
    """
    assert plan.learner is not None
    kernel, candidates = scaled.learnt.kernel, list(_list_candidates(plan, scaled))
    is_supported = isinstance(plan.basis, KernelBasis) and plan.error_bars == "novelty"
    if not (
        candidates
        and is_supported
        and not plan.learner.n_refinements
        and decays(kernel, data.X[:1])
    ):
        return None
    distinct = plan.merge_equal_rows(data)
    if not _can_hold_out_rows(plan, distinct):
        return None
    with limit_blas_threads(0.0):
        processes = [
            fit_prior_process(
                kernel,
                data.X,
                target,
                data.weight,
                scaled.learnt,
                relative_precision=data.relative_precision(number),
            )
            for number, target in enumerate(data.targets.T)
        ]
    known = [None if process is None else ("novelty", process) for process in processes]
    return _compare_candidates(plan, scaled, candidates, distinct, known)._replace(
        processes=processes
    )


def select_and_calibrate(
    plan: RegressionPlan,
    fit: RegressionFit,
    data: Data,
    known: HeldOutPredictions | None,
    *,
    are_scales_shared: bool = False,
) -> RegressionFit:
    """Return the best of a fit and its simpler candidates, with calibrated error bars.

    Parameters
    ----------
    plan : RegressionPlan
        Plan of the fit.
    fit : RegressionFit
        Fit to all rows, with error bars.
    data : Data
        Training data.
    known : HeldOutPredictions or None
        Held-out predictions of the model, if they have been computed already. No other model is
        then considered.
    are_scales_shared : bool, default=False
        Whether the models of these predictions have the length-scales of `fit`, rather than
        length-scales learnt in each fold.
    """
    if data.statistics is not None:  # no rows to hold out
        return fit
    distinct = plan.merge_equal_rows(data)
    n_rows = len(distinct.targets)
    if data.weight is None:
        fit = replace(fit, n_copies=len(data.targets) / n_rows)
    if known is None:
        candidates = [] if fit.scaled is None else list(_list_candidates(plan, fit.scaled))
        is_needed = candidates or plan.is_calibrated or plan.is_posterior_calibrated
        if not is_needed or not _can_hold_out_rows(plan, distinct):
            return fit
        fit, known = _fit_best_candidate(plan, fit, data, distinct, candidates)
        are_scales_shared = True
    return _apply_calibration(plan, fit, known, n_rows, are_scales_shared=are_scales_shared)


def calibrate_fit(plan: RegressionPlan, fit: RegressionFit, data: Data) -> RegressionFit:
    """Return a fit with calibrated error bars, without a comparison with other models."""
    distinct = plan.merge_equal_rows(data)
    if not plan.is_calibrated or not _can_hold_out_rows(plan, distinct):
        return fit
    known = [_find_far_process(output, plan.error_bars) for output in fit.outputs]
    held_out = _compare_candidates(plan, fit.scaled, [], distinct, known).held_out
    return _apply_calibration(plan, fit, held_out, len(distinct.targets), are_scales_shared=True)


def _apply_calibration(
    plan: RegressionPlan,
    fit: RegressionFit,
    known: HeldOutPredictions,
    n_rows: int,
    *,
    are_scales_shared: bool,
) -> RegressionFit:
    """Return a fit with the calibration factors of its held-out predictions."""
    if plan.is_posterior_calibrated:
        pairs = zip(fit.outputs, known.posterior_calibration(), strict=True)
        outputs = [replace(output, calibration=float(factor)) for output, factor in pairs]
        return replace(fit, outputs=tuple(outputs))
    if not plan.is_calibrated:
        return fit
    dof_fraction = _compute_remaining_dof(fit, n_rows) if are_scales_shared else 1.0
    outputs = []
    for output, factor in zip(fit.outputs, known.calibration(dof_fraction), strict=True):
        # the noise variance is at most the variance of the target
        posterior = output.posterior
        # Largest factor that keeps calibrated noise below the variance of the target.
        limit = max(1.0, posterior.target_variance / posterior.noise_variance)
        outputs.append(replace(output, calibration=min(float(factor), limit)))
    return replace(fit, outputs=tuple(outputs))


def _can_hold_out_rows(plan: RegressionPlan, distinct: Data) -> bool:
    """Whether there are enough distinct rows, targets vary, and the basis can use subsets."""
    n_rows, varies = len(distinct.targets), bool(np.ptp(distinct.targets, axis=0).any())
    return varies and n_rows >= plan.tuning.min_held_out_rows and not plan.basis.needs_all_rows


def _list_candidates(plan: RegressionPlan, scaled: ScaledBasis) -> Iterator[ScaledBasis]:
    """Yield simpler models, and one with another length-scale factor, to compare."""
    assert plan.learner is not None
    learnt = scaled.learnt
    null, *others = plan.make_baseline_candidates([scaled])
    if learnt.kind == "none":
        yield null
    is_single = np.count_nonzero(learnt.spread) == 1
    if is_single and learnt.is_learnt and isinstance(plan.learner.scale_factor, str):
        narrow = plan.tuning.narrow_factor
        # The scales of the process are relevance / scale_factor; the candidate has another factor.
        moved = learnt.with_relevance(learnt.relevance * (narrow / learnt.scale_factor))
        yield scaled._replace(learnt=replace(moved, scale_factor=narrow))
    yield from others


def _fit_best_candidate(
    plan: RegressionPlan,
    fit: RegressionFit,
    data: Data,
    distinct: Data,
    candidates: list[ScaledBasis],
) -> tuple[RegressionFit, HeldOutPredictions]:
    """Compare a fit with candidates; return the best, fitted, and its held-out predictions."""
    known = [_find_far_process(output, plan.error_bars) for output in fit.outputs]
    best, held_out, _ = _compare_candidates(plan, fit.scaled, candidates, distinct, known)
    if best is not fit.scaled:
        assert best is not None
        chosen = plan.attach_length_scales(best, plan.fit_candidate(best, data), data)
        fit = replace(plan.add_error_bars(chosen, data), n_copies=fit.n_copies)
    return fit, held_out


def _find_far_process(output: FittedOutput, error_bars: str) -> FarProcess:
    """Return the kind of error bars of an output and its process, for fits to training folds."""
    if output.novelty is None:
        return None if output.augmentation is None else (error_bars, None)
    return error_bars, PriorProcess(output.novelty.kernel, output.novelty.amplitude)


def _compare_candidates(
    plan: RegressionPlan,
    scaled: ScaledBasis | None,
    candidates: list[ScaledBasis],
    distinct: Data,
    known: Sequence[FarProcess],
) -> CandidateComparison:
    """Compare a model with candidates on the same held-out rows, by log predictive density.

    The null model is kept unless the features improve predictions. A linear model replaces kernels
    unless these are better by more than the optimism of their length-scales, which were learnt
    from all rows. Other candidates must be better by more than a standard error.
    """
    tuning, best = plan.tuning, scaled
    if len(distinct.targets) > tuning.max_held_out_rows:
        some = np.random.RandomState(0).permutation(len(distinct.targets))[
            : tuning.max_held_out_rows
        ]
        distinct = distinct.subset(np.sort(some))
    folds = [
        Fold.hold_out(distinct, test)
        for test in split_folds(len(distinct.targets), tuning.folds, tuning.enough_held_out_rows)
    ]
    held = _predict_folds(plan, best, folds, known)
    density = held.within_data.log_density(calibrate=plan.is_calibrated)
    for candidate in candidates:
        other = _predict_folds(plan, candidate, folds, known)
        # Paired differences on the same rows: variation that both models share cancels.
        gains = other.within_data.log_density(calibrate=plan.is_calibrated) - density
        kept_gains, weight, required = gains, held.weight, 0.0
        if candidate.learnt.kind != "null":
            # robust to outliers: mean and standard error without the two extreme gains
            extremes = [np.argmax(gains), np.argmin(gains)]
            kept_gains, weight = (np.delete(each, extremes) for each in (kept_gains, weight))
            assert best is not None
            if candidate.learnt.kind == "linear" and best.learnt.kind not in ("linear", "null"):
                # Expected gain in log likelihood of k fitted parameters without effect is k / 2
                # nats (Wilks), here per row: kernels may be better by that much for their
                # length-scales alone.
                required = -0.5 * _count_length_scale_dof(best.learnt) / float(held.weight.sum())
            else:
                variance = np.cov(kept_gains, aweights=weight, ddof=0)
                # Standard error of a mean of n values, with n - 1 for the fitted mean.
                required = math.sqrt(float(variance) / max(len(kept_gains) - 1, 1))
        mean = float(np.average(kept_gains, weights=weight))
        # Equal predictions and no required gain: the simpler candidate is used.
        if mean > required or (mean == required == 0.0):
            best, held, density = candidate, other, density + gains
    return CandidateComparison(best, held, ())


def _predict_folds(
    plan: RegressionPlan,
    scaled: ScaledBasis | None,
    folds: Sequence[Fold],
    known: Sequence[FarProcess],
) -> HeldOutPredictions:
    """Predict each fold by a fit to the other rows, with length-scales and process fixed."""
    fold_plan, parts = plan.make_fold_plan(), []
    for train, test, covers in folds:
        fit = fold_plan.fit_candidate(scaled, train) if scaled else fold_plan.fit(plan.basis, train)
        fit = replace(fit, scaled=scaled)
        with limit_blas_threads(0.0):
            outputs = [
                add_far_uncertainty(fit, train, number, *(each or ("plain", None)), covers)
                for number, each in enumerate(known)
            ]
            parts.append(HeldOutPredictions.predict(outputs, test))
    return HeldOutPredictions.concatenate(parts)


def _count_length_scale_dof(learnt: LearntLengthScales) -> float:
    """Degrees of freedom used by the choice of length-scales.

    Twice the penalty of a feature is, in units of chi-squared, the expected gain of the best of all
    irrelevant features.
    """
    if learnt.kind in ("linear", "none", "null"):
        return 0.0
    # At least one degree of freedom for each scale: half a nat, as in Wilks' theorem.
    return 2.0 * learnt.n_scales * max(0.5, learnt.penalty)


def _compute_remaining_dof(fit: RegressionFit, n_rows: int) -> float:
    """Fraction of the degrees of freedom that the length-scales of all folds did not use."""
    n_used = 0.0 if fit.scaled is None else _count_length_scale_dof(fit.scaled.learnt)
    # At least 0.3: with few rows the linear correction 1 - k / n is no longer valid.
    return max(1.0 - n_used / n_rows, 0.3)
