"""Regression with a noise variance that depends on the inputs (``noise="heteroscedastic"``).

The mean is a regression on the basis of the fit with constant noise, with noise variances of rows
from the model of `relvec.learning.noise_variance`; the two alternate until the variational bound of
the log evidence no longer rises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from relvec._typing import IndexArray
from relvec.estimators._calibrate import calibrate_fit
from relvec.estimators._output import RegressionFit, is_noise_negligible
from relvec.learning.noise_dictionary import Level, build_noise_dictionary
from relvec.learning.noise_variance import NoiseFit, fit_noise_variance
from relvec.learning.reweight import alternate

if TYPE_CHECKING:
    from relvec.estimators._plan import Data
    from relvec.estimators._regression_plan import RegressionPlan

__all__ = ["fit_heteroscedastic"]


@dataclass(frozen=True)
class HeteroscedasticTuning:
    """Gains of the bound, in nats, below which the noise is constant."""

    min_gain: float = 3.0
    """With one feature. On 50 sets with constant noise no gain was as large; where the noise varies
    by a factor of three in 200 rows it was smaller on 2 of 20 sets, and 6 to 30 on the others."""
    min_gain_several: float = 5.0
    """With several features, where more groups of basis functions are tried: with constant noise
    gains of 4.6 were found in 60 fits."""


_TUNING = HeteroscedasticTuning()


def fit_heteroscedastic(plan: RegressionPlan, fit: RegressionFit, data: Data) -> RegressionFit:
    """Fit a noise variance that depends on the inputs.

    Parameters
    ----------
    plan : RegressionPlan
        Plan of the fit.
    fit : RegressionFit
        The fit with constant noise.
    data : Data
        Training data.

    Returns
    -------
    fit : RegressionFit
        Outputs whose noise is found to be constant are those of `fit`. If all are, it is `fit`.
    """
    if data.statistics is not None:
        raise ValueError(
            'noise="heteroscedastic" needs the training rows, which moments do not contain. Use '
            'noise="constant".'
        )
    fits = [_fit_output(plan, fit, data, number) for number in range(len(fit.outputs))]
    if all(each is None for each in fits):
        return fit
    # Outputs are fitted one by one: each has noise of its own.
    pairs = zip(fits, fit.outputs, fit.problems, strict=True)
    chosen = [
        (output, problem) if each is None else (each.outputs[0], each.problems[0])
        for each, output, problem in pairs
    ]
    outputs, problems = zip(*chosen, strict=True)
    return replace(fit, outputs=outputs, problems=problems)


def _fit_output(
    plan: RegressionPlan, fit: RegressionFit, data: Data, number: int
) -> RegressionFit | None:
    """Fit mean and noise of one output; None if its noise is constant."""
    target, constant = data.targets[:, number], fit.outputs[number]
    total = constant.posterior.target_variance
    if not total > 0.0 or is_noise_negligible(constant.posterior.noise_variance, total):
        return None
    level = Level(constant.atoms, constant.posterior.coef, constant.posterior.intercept)
    dictionary = build_noise_dictionary(data.X, data.weight, level, _find_relevant_features(fit))
    if dictionary is None:
        return None
    columns, groups = dictionary.evaluate(data.X), dictionary.find_groups(data.X)
    single = data._replace(targets=target[:, None])
    fitter = plan.make_candidate_plan(fit.scaled)

    warm: list[NoiseFit] = []

    def model_noise(now: RegressionFit) -> NoiseFit | None:
        output = now.outputs[0]
        atoms = output.atoms.evaluate(data.X)
        residual = target - output.posterior.predict(atoms)
        square = residual**2 + output.posterior.variance(atoms)
        last = warm[-1].model if warm else None
        found = fit_noise_variance(dictionary, columns, groups, square, data.weight, last)
        warm.extend([found] if found else [])
        return found

    def regress(noise: NoiseFit, now: RegressionFit | None) -> RegressionFit:
        weighted = single._replace(row_variance=noise.variance[:, None])
        previous = () if now is None else now.outputs
        return replace(fitter, previous=previous).fit_bound(fit.bound, weighted)

    def compute_bound(now: RegressionFit, noise: NoiseFit) -> float:
        # The log evidence contains the log precisions of the rows.
        return now.outputs[0].posterior.log_evidence - noise.divergence

    start = replace(fit, outputs=(constant,), problems=(fit.problems[number],))
    best = alternate(start, model_noise, regress, compute_bound)
    is_several = len(dictionary.features) != 1
    required = _TUNING.min_gain_several if is_several else _TUNING.min_gain
    gain = -math.inf if best is None else best.bound - constant.posterior.log_evidence
    if best is None or gain < required:
        return None
    weighted = single._replace(row_variance=best.noise.variance[:, None])
    found = replace(best.fit, scaled=fit.scaled)
    found = plan.add_scale_uncertainty(found, weighted)
    found = calibrate_fit(plan, plan.add_error_bars(found, weighted), weighted)
    (output,) = found.outputs
    # Evidences are those of mean and noise: lower bounds that are comparable with other models.
    output = replace(
        output,
        noise=best.noise.model,
        noise_gain=gain,
        posterior=replace(output.posterior, log_evidence=best.bound),
        objective=output.objective - best.noise.divergence,
    )
    return replace(found, outputs=(output,))


def _find_relevant_features(fit: RegressionFit) -> IndexArray | None:
    """Return the features that the mean depends on; None if that is not known."""
    learnt = None if fit.scaled is None else fit.scaled.learnt
    if learnt is None or not learnt.has_feature_scales:
        return None
    return np.flatnonzero(learnt.relevance > 0.0)
