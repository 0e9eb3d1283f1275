"""Search for heavy-tailed noise: reweighted regressions that increase a variational bound.

Each step fits the regression with the row precisions of a scale mixture of normals
(`relvec.likelihoods.robust_noise`), then the noise to the expected squared errors. Every
regression starts without basis functions, because those found under earlier weights are local
maxima. Length-scales and the kind of model are chosen again under the weights: outliers hide
structure from the default fit, which then has misleading length-scales, is linear, or has no
features at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.estimators._output import FittedOutput, RegressionFit
from relvec.likelihoods.robust_noise import (
    MEDIAN_SQUARE,
    ContaminatedNoise,
    GaussianNoise,
    ScaleMixtureNoise,
    StudentNoise,
    weighted_median,
)
from relvec.posterior import noise_floor

if TYPE_CHECKING:
    from relvec.estimators._plan import Data
    from relvec.estimators._regression_plan import RegressionPlan

__all__ = [
    "RobustSearch",
    "RobustState",
    "RobustTuning",
    "find_robust_state",
    "fit_noises",
    "refit_regression",
]


@dataclass(frozen=True)
class RobustTuning:
    """Constants of the search."""

    max_iter: int = 25
    """Largest number of regressions with the same length-scales."""
    tolerance: float = 0.02
    """Increase of the bound, in nats, below which these regressions stop."""
    max_relearnings: int = 3
    """How often length-scales are learnt again, at most."""
    min_relearning_gain: float = 1.0
    """Increase of the bound, in nats, for which length-scales are learnt again."""
    readmission: float = 9.0
    """Factor of the noise variance with which weights are computed before length-scales are learnt
    for the last time. Rows that are taken for outliers because the model fits them poorly return,
    and the length-scales adapt to them; outliers are farther away. Without this step 2 of 8 data
    sets of Friedman's function with 10 % outliers ended at three times the RMSE, and 20 nats
    below."""
    margin: float = 5.0
    """Nats by which the bound of a contaminated normal must exceed that of Student-t noise. On
    clean data and under Student-t noise the difference was at most 4.2 nats, with 5 % or more
    outliers at least 11."""
    clear_lead: float = 20.0
    """Lead of a contaminated normal, in nats, which length-scales learnt for Student-t noise are
    unlikely to make up for, so that they are not learnt."""
    min_gain: float = 3.0
    """Nats by which the bound must exceed the evidence of Gaussian noise; otherwise the default fit
    is kept. On clean data gains were below one nat in the draws from which this was chosen; of
    70 other draws of a sinc with 200 rows one gained 3.4."""
    start_df: float = 4.0
    """Degrees of freedom of the weights around the median, from which one search starts."""


_TUNING = RobustTuning()


class RobustState(NamedTuple):
    """A regression, and the noise of each output fitted to its squared errors."""

    bounds: Vector
    """Variational bound of each output, in nats, with the penalties of the regression."""
    fit: RegressionFit
    data: Data
    """Training data with the noise variances of rows of the regression."""
    noises: tuple[ScaleMixtureNoise, ...]
    row_weight: Matrix
    """Posterior means of the relative precisions ``u``, for the next regression."""
    outlier_probability: Matrix

    @property
    def bound(self) -> float:
        """Bound of all outputs."""
        return float(self.bounds.sum())


class RobustSearch(NamedTuple):
    """Result of a search."""

    state: RobustState
    gain: Vector
    """Gain of each output over Gaussian noise with the better of old and new length-scales, in
    nats; zero if Gaussian noise is kept."""
    increase: Vector
    """Increase of the bound of each output over the default fit, in nats."""


def find_robust_state(
    plan: RegressionPlan,
    fit: RegressionFit,
    data: Data,
    kind: str,
    tuning: RobustTuning = _TUNING,
) -> RobustSearch:
    """Find regression and noise of the highest bound, and the gain over Gaussian noise.

    Contaminated normal noise is always fitted first, also for Student-t noise: as its weights of
    outliers are nearly zero, the search is less likely to stop at a poor fit.

    Parameters
    ----------
    plan : RegressionPlan
        Plan of the fit.
    fit : RegressionFit
        Fit with Gaussian noise.
    data : Data
        Training data.
    kind : {"student_t", "contaminated", "robust"}
        Noise to fit, or "robust" to choose.
    tuning : RobustTuning, optional
        Constants of the search.

    Returns
    -------
    search : RobustSearch
        Best state and gains. Outputs that gain too little have Gaussian noise.
    """
    fast = replace(plan.make_fold_plan(), error_bars="plain", noise="constant")
    gaussian = fit_noises(fit, data, [GaussianNoise()] * len(fit.outputs))
    contaminated = _search_contaminated(fast, fit, data, tuning)
    student = _fit_student(fast, contaminated, tuning)
    least = gaussian.bound + tuning.min_relearning_gain
    if max(contaminated.bound, student.bound) > least:
        contaminated = _relearn(fast, contaminated, tuning)
        if kind != "contaminated":
            student = _fit_student(fast, contaminated, tuning)
            lead = contaminated.bounds - student.bounds
            if kind == "student_t" or (lead < tuning.clear_lead).any():
                student = _relearn(fast, student, tuning)
    chosen = {"contaminated": contaminated, "student_t": student}
    if kind == "robust":
        chosen[kind] = _choose_noise(fast, contaminated, student, tuning)
    return _keep_gaussian(fast, chosen[kind], gaussian, tuning)


def fit_noises(fit: RegressionFit, data: Data, noises: Sequence[ScaleMixtureNoise]) -> RobustState:
    """Fit the noise of each output to the expected squared errors of a regression."""
    count = np.ones(len(data.targets)) if data.weight is None else data.weight
    bounds, found, weights, outliers = [], [], [], []
    for number, (output, noise) in enumerate(zip(fit.outputs, noises, strict=True)):
        posterior = output.posterior
        squared = _expect_squares(output, data, number)
        fitted = noise.fit(squared, count, _find_floor(data.targets[:, number], count))
        # sum_n log p(e_n) - KL(q(w) | p(w)), and the log prior and penalties of the regression:
        # the difference of its objective and its log evidence.
        likelihood = float(count @ fitted.log_density(squared))
        penalty = output.objective - posterior.log_evidence
        bounds.append(likelihood - posterior.divergence + penalty)
        found.append(fitted)
        weights.append(fitted.row_weight(squared))
        outliers.append(fitted.outlier_probability(squared))
    return RobustState(
        np.array(bounds),
        fit,
        data,
        tuple(found),
        np.stack(weights, axis=1),
        np.stack(outliers, axis=1),
    )


def refit_regression(plan: RegressionPlan, like: RegressionFit, data: Data) -> RegressionFit:
    """Fit the kind of model and the length-scales of another fit, without a warm start."""
    if like.scaled is None:
        return plan.fit(plan.basis, data)
    return replace(plan.fit_candidate(like.scaled, data), scaled=like.scaled)


def _find_floor(target: Vector, count: Vector) -> float:
    """Return the smallest noise variance, by the spread of the targets without outliers.

    Targets of which the majority are equal would have noise of variance zero around a constant.
    """
    centre = weighted_median(target, count)
    squared = (target - centre) ** 2
    varies = (squared > 0.0) & (count > 0.0)
    spread = weighted_median(squared[varies], count[varies]) if varies.any() else 0.0
    return noise_floor(spread, centre)


def _expect_squares(output: FittedOutput, data: Data, number: int) -> Vector:
    """Return the expected squared error ``(t - f)^2 + v`` of each training row."""
    atoms, posterior = output.atoms.evaluate(data.X), output.posterior
    residual = data.targets[:, number] - posterior.predict(atoms)
    result: Vector = residual**2 + posterior.variance(atoms)
    return result


def _search_contaminated(
    plan: RegressionPlan, fit: RegressionFit, data: Data, tuning: RobustTuning
) -> RobustState:
    """Fit contaminated normal noise, from the default fit and from weights around the median."""
    default = fit_noises(fit, data, [ContaminatedNoise()] * len(fit.outputs))
    count = np.ones(len(data.targets)) if data.weight is None else data.weight
    columns = []
    for target in data.targets.T:
        squared = (target - weighted_median(target, count)) ** 2
        spread = max(weighted_median(squared, count) / MEDIAN_SQUARE, _find_floor(target, count))
        columns.append(StudentNoise(spread, tuning.start_df).row_weight(squared))
    return max(
        _ascend(plan, default, tuning),
        _ascend(plan, default._replace(row_weight=np.stack(columns, axis=1)), tuning),
        key=lambda state: state.bound,
    )


def _fit_student(plan: RegressionPlan, state: RobustState, tuning: RobustTuning) -> RobustState:
    """Fit Student-t noise, starting from another state."""
    begin = fit_noises(state.fit, state.data, [StudentNoise()] * len(state.noises))
    return _ascend(plan, begin, tuning)


def _ascend(plan: RegressionPlan, start: RobustState, tuning: RobustTuning) -> RobustState:
    """Alternate between regression and noise until the bound stalls; return the best state."""
    best, last = None, start
    for count in range(tuning.max_iter):
        data = start.data._replace(row_variance=1.0 / last.row_weight)
        state = fit_noises(refit_regression(plan, start.fit, data), data, last.noises)
        if best is None or state.bound > best.bound:
            best = state
        # The first regression of a search has other weights than the bound before it.
        if count and state.bound - last.bound < tuning.tolerance:
            break
        last = state
    assert best is not None
    return best


def _relearn(plan: RegressionPlan, state: RobustState, tuning: RobustTuning) -> RobustState:
    """Learn length-scales under the weights while the bound rises, then with rows readmitted."""
    if plan.learner is None:
        return state
    readmits = False
    for _ in range(tuning.max_relearnings):
        factor = tuning.readmission if readmits else 1.0
        data = state.data._replace(row_variance=1.0 / _weigh_rows(state, factor))
        fit = plan.fit_best_candidate(plan.learn_length_scales(data), data)
        other = _ascend(plan, fit_noises(fit, data, state.noises), tuning)
        gain = other.bound - state.bound
        state = other if gain > 0.0 else state
        if gain < tuning.min_relearning_gain:
            if readmits:
                break
            readmits = True
    return state


def _weigh_rows(state: RobustState, factor: float) -> Matrix:
    """Return the row weights of noise whose variance is larger by a factor."""
    columns = [
        noise.row_weight(_expect_squares(output, state.data, number) / factor)
        for number, (output, noise) in enumerate(zip(state.fit.outputs, state.noises, strict=True))
    ]
    return np.stack(columns, axis=1)


def _choose_noise(
    plan: RegressionPlan, contaminated: RobustState, student: RobustState, tuning: RobustTuning
) -> RobustState:
    """Choose the noise of each output: contaminated if its bound is higher by a margin."""
    is_better = contaminated.bounds > student.bounds + tuning.margin
    if is_better.all() or not is_better.any():
        return contaminated if is_better.all() else student
    noises = [
        one if chosen else other
        for chosen, one, other in zip(is_better, contaminated.noises, student.noises, strict=True)
    ]
    weight = np.where(is_better, contaminated.row_weight, student.row_weight)
    base = max(contaminated, student, key=lambda state: state.bound)
    return _ascend(plan, base._replace(noises=tuple(noises), row_weight=weight), tuning)


def _keep_gaussian(
    plan: RegressionPlan, state: RobustState, gaussian: RobustState, tuning: RobustTuning
) -> RobustSearch:
    """Replace noise that gains too little by Gaussian noise."""
    # Gaussian noise may gain by the new length-scales too, which is no gain of the noise.
    same = fit_noises(
        refit_regression(plan, state.fit, gaussian.data), gaussian.data, gaussian.noises
    )
    others = np.maximum(gaussian.bounds, same.bounds)
    gain = state.bounds - others
    is_kept = gain >= tuning.min_gain
    if not is_kept.any():
        none = np.zeros(len(gain))
        return RobustSearch(gaussian, none, none)
    if not is_kept.all():
        noises = [
            noise if kept else GaussianNoise()
            for kept, noise in zip(is_kept, state.noises, strict=True)
        ]
        weight = np.where(is_kept, state.row_weight, 1.0)
        state = _ascend(plan, state._replace(noises=tuple(noises), row_weight=weight), tuning)
        gain = np.where(is_kept, state.bounds - others, 0.0)
    return RobustSearch(state, gain, state.bounds - gaussian.bounds)
