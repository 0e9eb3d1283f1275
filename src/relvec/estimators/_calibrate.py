"""What held-out rows say of a fit: how wide error bars are, and whether a simpler model does.

The evidence knows nothing of what the choice of vectors and of scales has cost: about as many
degrees of freedom as the model counts, or several times as many. Refits that do not see a fifth of
the rows, with the scales of the whole fit, do. What the choice of scales has cost they see in
part only; a scale counts as the degrees of freedom that it takes to choose it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relvec._linalg import limit_blas_threads
from relvec._typing import IndexArray
from relvec.estimators._held_out import HeldOut, folds_of
from relvec.estimators._length_scales import ScaledBasis
from relvec.estimators._output import RegressionFit, widened

if TYPE_CHECKING:
    from relvec.estimators._plan import Data, RegressionPlan

__all__ = ["calibrated"]


def calibrated(
    plan: RegressionPlan, fit: RegressionFit, data: Data, known: HeldOut | None
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
        Held-out predictions of such models, if the choice of scales made any.
    """
    if data.statistics is not None:  # there are no rows
        return fit
    distinct = plan.grouped(data)
    n_rows = len(distinct.targets)
    if data.weight is None:
        fit = replace(fit, n_copies=len(data.targets) / n_rows)
    unspent = 1.0
    if known is None:
        rivals = list(_rivals(plan, fit))
        if not (rivals or plan.is_calibrated) or not _is_telling(plan, fit, n_rows):
            return fit
        fit, known = _best(plan, fit, data, distinct, rivals)
        unspent = _unspent(fit, n_rows)
    if not plan.is_calibrated:
        return fit
    outputs = []
    for output, factor in zip(fit.outputs, known.calibration(unspent), strict=True):
        # noise is never more than all that varies
        posterior = output.posterior
        limit = max(1.0, posterior.target_variance / posterior.noise_variance)
        outputs.append(replace(output, calibration=min(float(factor), limit)))
    return replace(fit, outputs=tuple(outputs))


def _is_telling(plan: RegressionPlan, fit: RegressionFit, n_rows: int) -> bool:
    """Whether there are enough rows that vary, of a basis that can do without some of them."""
    varies = any(output.posterior.target_variance > 0.0 for output in fit.outputs)
    return varies and n_rows >= plan.tuning.fewest_rows and not plan.basis.needs_all_rows


def _rivals(plan: RegressionPlan, fit: RegressionFit) -> Iterator[ScaledBasis]:
    """Proposals that held-out rows compare with the fit."""
    if fit.scaled is None:
        return
    assert plan.learner is not None
    learnt = fit.scaled.learnt
    null, *others = plan.simple_proposals(fit.scaled)
    if learnt.kind == "none":
        yield null
    is_single = np.count_nonzero(learnt.spread) == 1
    if is_single and learnt.is_known and isinstance(plan.learner.width, str):
        narrow = plan.tuning.narrow_width
        moved = learnt.moved(learnt.relevance * (narrow / learnt.width))
        yield fit.scaled._replace(learnt=replace(moved, width=narrow))
    yield from others


def _best(
    plan: RegressionPlan,
    fit: RegressionFit,
    data: Data,
    distinct: Data,
    rivals: list[ScaledBasis],
) -> tuple[RegressionFit, HeldOut]:
    """Compare the fit with its rivals on the same held-out rows.

    The null model stands unless inputs are shown to say something; others must be better by more
    than a standard error.
    """
    tuning, best = plan.tuning, fit.scaled
    if len(distinct.targets) > tuning.most_rows:
        some = np.random.RandomState(0).permutation(len(distinct.targets))[: tuning.most_rows]
        distinct = distinct.subset(np.sort(some))
    folds = folds_of(len(distinct.targets), tuning.folds, tuning.enough_rows)
    held = _predict_folds(plan, fit, best, distinct, folds)
    density, first = held.among.log_density(calibrate=plan.is_calibrated), held
    for rival in rivals:
        other = _predict_folds(plan, fit, rival, distinct, folds)
        gains = other.among.log_density(calibrate=plan.is_calibrated) - density
        shown, weight, needed = gains, held.weight, 0.0
        if rival.learnt.kind != "null":
            # an outlier must not decide: the mean and its standard error without the two extremes
            extremes = [np.argmax(gains), np.argmin(gains)]
            shown, weight = (np.delete(each, extremes) for each in (shown, weight))
            spread = np.cov(shown, aweights=weight, ddof=0)
            needed = math.sqrt(float(spread) / max(len(shown) - 1, 1))
        mean = float(np.average(shown, weights=weight))
        if mean > needed or (mean == needed == 0.0):
            best, held, density = rival, other, density + gains
    if held is not first:
        assert best is not None
        chosen = plan.finish_scales(best, plan.fit_scaled(best, data), data)
        fit = replace(plan.finish(chosen, data), n_copies=fit.n_copies)
    return fit, held


def _predict_folds(
    plan: RegressionPlan,
    fit: RegressionFit,
    scaled: ScaledBasis | None,
    data: Data,
    folds: list[IndexArray],
) -> HeldOut:
    """Predict folds by fits to all other rows, all that was learnt from all rows held."""
    quick, parts = plan.quickened(), []
    everywhere = np.arange(len(data.targets))
    for test in folds:
        train = data.subset(np.setdiff1d(everywhere, test))
        here = quick.fit_scaled(scaled, train) if scaled else quick.fit(plan.basis, train)
        here = replace(here, scaled=scaled)
        numbers = range(len(fit.outputs))
        with limit_blas_threads(0.0):
            outputs = [widened(here, train, number, plan.error_bars, fit) for number in numbers]
            parts.append(HeldOut.of(outputs, data.subset(test)))
    return HeldOut.joined(parts)


def _unspent(fit: RegressionFit, n_rows: int) -> float:
    """Share of the degrees of freedom that were not spent on scales, which the folds share.

    Twice the penalty of an input is what the best of all inputs that do not matter gains in units
    of chi-squared.
    """
    if fit.scaled is None or fit.scaled.learnt.kind in ("linear", "none", "null"):
        return 1.0
    learnt = fit.scaled.learnt
    spent = 2.0 * learnt.n_scales * max(0.5, learnt.penalty)
    return max(1.0 - spent / n_rows, 0.3)
