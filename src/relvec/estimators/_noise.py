"""Noise models of regressors: what each value of the option `noise` fits after the default fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from relvec.estimators._heteroscedastic import fit_heteroscedastic
from relvec.estimators._output import RegressionFit
from relvec.estimators._robust import ROBUST_KINDS, fit_robust
from relvec.estimators._robust_search import fit_noises
from relvec.likelihoods.robust_noise import ContaminatedNoise, GaussianNoise, StudentNoise

if TYPE_CHECKING:
    from relvec.estimators._plan import Data
    from relvec.estimators._regression_plan import RegressionPlan

__all__ = ["NOISE_KINDS", "estimate_noise_gain", "fit_noise_model"]

NoiseFitter = Callable[["RegressionPlan", RegressionFit, "Data"], RegressionFit]

_FITTERS: dict[str, NoiseFitter] = {
    "heteroscedastic": fit_heteroscedastic,
    **dict.fromkeys(ROBUST_KINDS, fit_robust),
}

NOISE_KINDS = ("constant", *_FITTERS)
"""Values of the option `noise`."""


def fit_noise_model(plan: RegressionPlan, fit: RegressionFit, data: Data) -> RegressionFit:
    """Fit the noise model of a plan, starting from a fit with constant Gaussian noise."""
    return fit if plan.noise == "constant" else _FITTERS[plan.noise](plan, fit, data)


def estimate_noise_gain(plan: RegressionPlan, fit: RegressionFit, data: Data) -> float:
    """Return the gain in log evidence, in nats, of the best noise model over constant noise.

    The bound of heavy-tailed noise is that with the regression of the fit, which costs little: the
    gain with a new regression is larger. Gains that are too small for the option `noise` are zero.

    Parameters
    ----------
    plan : RegressionPlan
        Plan of the fit.
    fit : RegressionFit
        Fit of one output with constant Gaussian noise.
    data : Data
        Training data.
    """
    # Error bars have no influence on the bound.
    fast = replace(plan.make_fold_plan(), error_bars="plain", calibrate=False)
    varying = fit_heteroscedastic(fast, fit, data).outputs[0].noise_gain
    gaussian, *tails = (
        fit_noises(fit, data, [noise]).bound
        for noise in (GaussianNoise(), StudentNoise(), ContaminatedNoise())
    )
    return max(varying, max(tails) - gaussian, 0.0)
