"""Regressors with Student-t and contaminated normal noise.

The final fit is a regression with the row weights of the noise (`relvec.estimators._robust_search`)
and with the error bars of any other fit. Then the posterior gets the covariance of the expected
information, and predictions the noise as a mixture of normals.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from relvec.estimators._calibrate import calibrate_fit
from relvec.estimators._output import FittedOutput, RegressionFit
from relvec.estimators._robust_search import (
    RobustState,
    find_robust_state,
    fit_noises,
    refit_regression,
)
from relvec.likelihoods.robust_noise import (
    ContaminatedNoise,
    GaussianNoise,
    ScaleMixtureNoise,
    StudentNoise,
)

if TYPE_CHECKING:
    from relvec.estimators._plan import Data
    from relvec.estimators._regression_plan import RegressionPlan

__all__ = ["ROBUST_KINDS", "fit_robust"]

ROBUST_KINDS = ("student_t", "contaminated", "robust")
"""Values of the option `noise` that `fit_robust` fits."""


def fit_robust(plan: RegressionPlan, fit: RegressionFit, data: Data) -> RegressionFit:
    """Fit heavy-tailed noise, starting from a fit with Gaussian noise.

    The fit is returned as it is if no output gains by such noise.
    """
    if data.statistics is not None:
        raise ValueError(
            f"noise={plan.noise!r} needs the training rows, which moments do not contain. Use "
            'noise="constant".'
        )
    state, gain, increase = find_robust_state(plan, fit, data, plan.noise)
    if not gain.any():
        return replace(fit, noise_attributes=_describe_noise(state))
    plain = replace(plan, noise="constant", previous=())
    weighted = data._replace(row_variance=1.0 / state.row_weight)
    found = fit_noises(refit_regression(plain, state.fit, weighted), weighted, state.noises)
    # The search of the last regression is more thorough, but may end in a lower maximum.
    state = found if found.bound >= state.bound else state
    final, weighted = state.fit, state.data
    if final.scaled is not None:
        final = plain.attach_length_scales(final.scaled, final, weighted)
    final = calibrate_fit(plain, plain.add_error_bars(final, weighted), weighted)
    changes = zip(gain.tolist(), increase.tolist(), strict=True)
    outputs = [
        replace(_finish_output(output, before, noise, more), noise_gain=each)
        for output, before, noise, (each, more) in zip(
            final.outputs, fit.outputs, state.noises, changes, strict=True
        )
    ]
    return replace(
        final,
        outputs=tuple(outputs),
        n_copies=fit.n_copies,
        noise_attributes=_describe_noise(state),
    )


def _finish_output(
    output: FittedOutput, before: FittedOutput, noise: ScaleMixtureNoise, increase: float
) -> FittedOutput:
    """Return an output whose posterior and predictions are those of heavy-tailed noise."""
    plain = replace(output, noise_unit=1.0, has_row_variance=False)
    if isinstance(noise, GaussianNoise):
        return plain
    posterior, ratio = output.posterior, noise.information_ratio
    # In units of sigma^2 of ordinary rows, weights are larger than those of mean one by
    # `scale`, and norms of atoms by its root.
    scale = noise.variance / posterior.noise_variance
    # Precisions u are uncertain: the information of the data about the weights is smaller than
    # with known precisions by `information_ratio`, the Fisher information of the noise
    # relative to the mean of u (for Student-t noise (nu + 1) / (nu + 3); Lange et al. 1989).
    # With G = L L' - Lam the new precision c G + Lam is a sum of positive matrices.
    precision = ratio * (posterior.factor @ posterior.factor.T)
    precision += (1.0 - ratio) * np.diag(posterior.lam)
    factor = np.asarray(np.linalg.cholesky(precision), dtype=np.float64)
    n_effective = ratio * scale * (posterior.n_effective + 1.0) - 1.0
    changed = replace(
        posterior,
        factor=factor,
        unit_mean=math.sqrt(scale) * posterior.unit_mean,
        column_norm=math.sqrt(scale) * posterior.column_norm,
        noise_variance=noise.variance,
        n_effective=n_effective,
        # The bound takes the place of the evidence, with the same constants as the default fit.
        log_evidence=before.posterior.log_evidence + increase,
        quadratic=noise.variance * n_effective,
    )
    return replace(plain, posterior=changed, objective=before.objective + increase, noise=noise)


def _describe_noise(state: RobustState) -> dict[str, tuple[Any, ...]]:
    """Return the attributes of estimators that describe the noise, for each output."""
    noises = state.noises
    contaminations = [
        np.array([each.share, each.ratio] if isinstance(each, ContaminatedNoise) else [0.0, 1.0])
        for each in noises
    ]
    dfs = [each.df if isinstance(each, StudentNoise) else math.inf for each in noises]
    return {
        "outlier_probability_": tuple(state.outlier_probability.T),
        "row_weight_": tuple(state.row_weight.T),
        "df_": tuple(dfs),
        "contamination_": tuple(contaminations),
    }
