"""Noise models of regressors: what each value of the option `noise` fits after the default fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from relvec.estimators._heteroscedastic import fit_heteroscedastic
from relvec.estimators._output import RegressionFit
from relvec.estimators._robust import ROBUST_KINDS, fit_robust

if TYPE_CHECKING:
    from relvec.estimators._plan import Data
    from relvec.estimators._regression_plan import RegressionPlan

__all__ = ["NOISE_KINDS", "fit_noise_model"]

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
