"""What held-out rows say of a fit: how wide error bars are, and whether a simpler model does.

The evidence knows nothing of what the choice of vectors and of scales has cost: about as many
degrees of freedom as the model counts, or several times as many. Refits that do not see a fifth of
the rows, with the scales of the whole fit, do. What the choice of scales has cost they see in
part only; a scale counts as the degrees of freedom that it takes to choose it.
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
from relvec.estimators._held_out import HeldOut, folds_of
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._output import FittedOutput, RegressionFit, widened
from relvec.kernels.definition import decays
from relvec.learning import LearntLengthScales
from relvec.learning.prior_process import PriorProcess, fit_prior_process

if TYPE_CHECKING:
    from relvec.estimators._plan import Data, RegressionPlan

__all__ = ["Compared", "calibrated", "compared_first"]

Known = tuple[str, PriorProcess | None] | None
"""How error bars widen away from the data, and the process that stands for the unknown there; None
if they do not."""


class Compared(NamedTuple):
    """The best of a proposal and its rivals, and how it predicts rows that were held out."""

    scaled: ScaledBasis | None
    held_out: HeldOut
    processes: Sequence[PriorProcess | None]
    """What stands for the unknown away from the data, for each output."""


class Fold(NamedTuple):
    """Rows that are held out, and all others."""

    train: Data
    test: Data
    covers: Covers
    """What models of one kernel away from the data have in common there."""

    @classmethod
    def of(cls, data: Data, test: IndexArray) -> Fold:
        """Hold out some rows."""
        train = np.setdiff1d(np.arange(len(data.targets)), test)
        return cls(data.subset(train), data.subset(test), {})


def compared_first(plan: RegressionPlan, scaled: ScaledBasis, data: Data) -> Compared | None:
    """Compare a proposal with its rivals before any of them is fitted to all rows.

    Returns None if there are none, or if that takes a fit to all rows: of a kernel of which nothing
    is known away from the data, or whose scales a fit refines.
    """
    assert plan.learner is not None
    kernel, rivals = scaled.learnt.kernel, list(_rivals(plan, scaled))
    is_usual = isinstance(plan.basis, KernelBasis) and plan.error_bars == "novelty"
    if not (rivals and is_usual and not plan.learner.n_refinements and decays(kernel, data.X[:1])):
        return None
    distinct = plan.grouped(data)
    if not _is_telling(plan, distinct):
        return None
    with limit_blas_threads(0.0):
        processes = [
            fit_prior_process(kernel, data.X, target, data.weight, scaled.learnt)
            for target in data.targets.T
        ]
    known = [None if process is None else ("novelty", process) for process in processes]
    return _compared(plan, scaled, rivals, distinct, known)._replace(processes=processes)


def calibrated(
    plan: RegressionPlan,
    fit: RegressionFit,
    data: Data,
    known: HeldOut | None,
    *,
    are_scales_shared: bool = False,
) -> RegressionFit:
    """Return the fit, or one that predicts held-out rows better, with calibrated error bars.

    Parameters
    ----------
    plan : RegressionPlan
        What was done.
    fit : RegressionFit
        The result, as predictions need it.
    data : Data
        What it was fitted to.
    known : HeldOut or None
        Held-out predictions of such models, if there are any.
    are_scales_shared : bool, default=False
        Whether those models have the scales of the fit, rather than scales of their own.
    """
    if data.statistics is not None:  # there are no rows
        return fit
    distinct = plan.grouped(data)
    n_rows = len(distinct.targets)
    if data.weight is None:
        fit = replace(fit, n_copies=len(data.targets) / n_rows)
    if known is None:
        rivals = [] if fit.scaled is None else list(_rivals(plan, fit.scaled))
        if not (rivals or plan.is_calibrated) or not _is_telling(plan, distinct):
            return fit
        fit, known = _best(plan, fit, data, distinct, rivals)
        are_scales_shared = True
    if not plan.is_calibrated:
        return fit
    unspent = _unspent(fit, n_rows) if are_scales_shared else 1.0
    outputs = []
    for output, factor in zip(fit.outputs, known.calibration(unspent), strict=True):
        # noise is never more than all that varies
        posterior = output.posterior
        limit = max(1.0, posterior.target_variance / posterior.noise_variance)
        outputs.append(replace(output, calibration=min(float(factor), limit)))
    return replace(fit, outputs=tuple(outputs))


def _is_telling(plan: RegressionPlan, distinct: Data) -> bool:
    """Whether there are enough rows that vary, of a basis that can do without some of them."""
    n_rows, varies = len(distinct.targets), bool(np.ptp(distinct.targets, axis=0).any())
    return varies and n_rows >= plan.tuning.fewest_rows and not plan.basis.needs_all_rows


def _rivals(plan: RegressionPlan, scaled: ScaledBasis) -> Iterator[ScaledBasis]:
    """Proposals that held-out rows compare with one."""
    assert plan.learner is not None
    learnt = scaled.learnt
    null, *others = plan.simple_proposals([scaled])
    if learnt.kind == "none":
        yield null
    is_single = np.count_nonzero(learnt.spread) == 1
    if is_single and learnt.is_learnt and isinstance(plan.learner.scale_factor, str):
        narrow = plan.tuning.narrow_width
        moved = learnt.with_relevance(learnt.relevance * (narrow / learnt.scale_factor))
        yield scaled._replace(learnt=replace(moved, scale_factor=narrow))
    yield from others


def _best(
    plan: RegressionPlan,
    fit: RegressionFit,
    data: Data,
    distinct: Data,
    rivals: list[ScaledBasis],
) -> tuple[RegressionFit, HeldOut]:
    """Compare a fit with its rivals; return the best, fitted, and its held-out predictions."""
    known = [_known(output, plan.error_bars) for output in fit.outputs]
    best, held_out, _ = _compared(plan, fit.scaled, rivals, distinct, known)
    if best is not fit.scaled:
        assert best is not None
        chosen = plan.finish_scales(best, plan.fit_scaled(best, data), data)
        fit = replace(plan.finish(chosen, data), n_copies=fit.n_copies)
    return fit, held_out


def _known(output: FittedOutput, error_bars: str) -> Known:
    """Return what widens the error bars of an output, for fits to some of the rows."""
    if output.novelty is None:
        return None if output.augmentation is None else (error_bars, None)
    return error_bars, PriorProcess(output.novelty.kernel, output.novelty.amplitude)


def _compared(
    plan: RegressionPlan,
    scaled: ScaledBasis | None,
    rivals: list[ScaledBasis],
    distinct: Data,
    known: Sequence[Known],
) -> Compared:
    """Compare a proposal with its rivals on the same held-out rows.

    The null model stands unless inputs are shown to say something. A linear model takes the place
    of kernels unless these are better by more than their scales, which have seen all rows, gain by
    that; others must be better by more than a standard error.
    """
    tuning, best = plan.tuning, scaled
    if len(distinct.targets) > tuning.most_rows:
        some = np.random.RandomState(0).permutation(len(distinct.targets))[: tuning.most_rows]
        distinct = distinct.subset(np.sort(some))
    folds = [
        Fold.of(distinct, test)
        for test in folds_of(len(distinct.targets), tuning.folds, tuning.enough_rows)
    ]
    held = _predict_folds(plan, best, folds, known)
    density = held.among.log_density(calibrate=plan.is_calibrated)
    for rival in rivals:
        other = _predict_folds(plan, rival, folds, known)
        gains = other.among.log_density(calibrate=plan.is_calibrated) - density
        shown, weight, needed = gains, held.weight, 0.0
        if rival.learnt.kind != "null":
            # an outlier must not decide: the mean and its standard error without the two extremes
            extremes = [np.argmax(gains), np.argmin(gains)]
            shown, weight = (np.delete(each, extremes) for each in (shown, weight))
            assert best is not None
            if rival.learnt.kind == "linear" and best.learnt.kind not in ("linear", "null"):
                needed = -0.5 * _spent(best.learnt) / float(held.weight.sum())
            else:
                spread = np.cov(shown, aweights=weight, ddof=0)
                needed = math.sqrt(float(spread) / max(len(shown) - 1, 1))
        mean = float(np.average(shown, weights=weight))
        if mean > needed or (mean == needed == 0.0):
            best, held, density = rival, other, density + gains
    return Compared(best, held, ())


def _predict_folds(
    plan: RegressionPlan,
    scaled: ScaledBasis | None,
    folds: Sequence[Fold],
    known: Sequence[Known],
) -> HeldOut:
    """Predict folds by fits to all other rows, all that was learnt from all rows held."""
    quick, parts = plan.quickened(), []
    for train, test, covers in folds:
        fit = quick.fit_scaled(scaled, train) if scaled else quick.fit(plan.basis, train)
        fit = replace(fit, scaled=scaled)
        with limit_blas_threads(0.0):
            outputs = [
                widened(fit, train, number, *(each or ("plain", None)), covers)
                for number, each in enumerate(known)
            ]
            parts.append(HeldOut.of(outputs, test))
    return HeldOut.joined(parts)


def _spent(learnt: LearntLengthScales) -> float:
    """Degrees of freedom that were spent on scales.

    Twice the penalty of an input is what the best of all inputs that do not matter gains in units
    of chi-squared.
    """
    if learnt.kind in ("linear", "none", "null"):
        return 0.0
    return 2.0 * learnt.n_scales * max(0.5, learnt.penalty)


def _unspent(fit: RegressionFit, n_rows: int) -> float:
    """Share of the degrees of freedom that were not spent on scales, which the folds share."""
    spent = 0.0 if fit.scaled is None else _spent(fit.scaled.learnt)
    return max(1.0 - spent / n_rows, 0.3)
