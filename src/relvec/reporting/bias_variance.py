"""Bootstrap estimate of the bias–variance decomposition of the mean squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec.bases import LinearBasis
from relvec.describing import transform_inputs
from relvec.estimators import RVMRegressor, SparseBayesRegressor
from relvec.learning.learnt import SPARSE_LINEAR
from relvec.reporting.evidence import has_simple_noise
from relvec.reporting.predictions import refit
from relvec.reporting.subject import Subject
from relvec.solvers import NullSolver, OddsLearner, RidgeSolver

__all__ = ["BiasVariance", "compute_bias_variance"]

STREAM = b"bias and variance"
NOISE_OPTIONS = ("noise", "scale_noise", "target_transform")
"""Options of regressors that refits with another basis keep."""


@dataclass(frozen=True)
class BiasVariance:
    """Out-of-bag mean squared error of bootstrap fits, and its decomposition.

    ``mse = bias_and_noise + variance`` holds exactly. Squared bias and noise cannot be separated
    from data alone; `noise` is the noise variance that the model estimated.
    """

    mse: float
    variance: float
    noise: float
    n_fits: int
    n_rows: int
    kernel_fixed: bool
    """Whether the kernel was fixed at its learnt parameters in the refits."""

    @property
    def bias_and_noise(self) -> float:
        """Mean squared error without the variance of the fits."""
        return self.mse - self.variance

    @property
    def bias(self) -> float:
        """Squared bias, given the noise variance that the model estimated; at least zero."""
        return max(self.bias_and_noise - self.noise, 0.0)


def compute_bias_variance(subject: Subject, n_fits: int, seed: int) -> BiasVariance | None:
    """Fit bootstrap samples and decompose their out-of-bag error.

    A row that is drawn k times has frequency weight k, so the candidate basis functions do not
    change. None if no row was out of bag at least twice.

    Raises
    ------
    RefitError
        If the model cannot be fitted to bootstrap samples.
    """
    model, is_fixed = _fix_kernel(subject.model)
    inputs, y = transform_inputs(subject.estimator, subject.X), subject.y
    # A separate random stream: data generated with the same seed would otherwise be resampled
    # by the very numbers they consist of.
    rng, n_rows = np.random.default_rng([seed, *STREAM]), subject.n_rows
    predictions = np.full((n_fits, n_rows), np.nan)
    for each in predictions:
        weight = rng.multinomial(n_rows, np.full(n_rows, 1.0 / n_rows)).astype(np.float64)
        options = subject.fit_options(is_pipeline=False)
        fit = refit(model, inputs, y, sample_weight=weight, **options)
        out_of_bag = weight == 0.0
        each[out_of_bag] = np.asarray(fit.predict(inputs))[out_of_bag]
    counts = np.count_nonzero(~np.isnan(predictions), axis=0)
    used = counts > 1
    if not used.any():
        return None
    predictions = predictions[:, used]
    mse = float(np.mean(np.nanmean((y[used] - predictions) ** 2, axis=0)))
    variance = float(np.mean(np.nanvar(predictions, axis=0, ddof=1)))
    noise = _average_noise(subject, inputs, used)
    return BiasVariance(mse, variance, noise, n_fits, int(np.count_nonzero(used)), is_fixed)


def _average_noise(subject: Subject, inputs: Any, used: np.ndarray) -> float:
    """Return the noise variance, in units of the target; averaged over rows if it varies."""
    model = subject.model
    output = model.outputs_[0]
    if has_simple_noise(output) and output.transform is None:
        return float(model.noise_variance_)
    # The noise of a transformed target depends on the inputs too: the mean over the rows of
    # E var(y | f) = var y - var E(y | f).
    options = subject.fit_options(is_pipeline=False)
    total = model.predict(inputs, return_std=True, **options)[1]
    function = model.predict(inputs, return_std=True, include_noise=False)[1]
    return float(np.mean(total[used] ** 2 - function[used] ** 2))


def _fix_kernel(model: Any) -> tuple[Any, bool]:
    """Return the model with its learnt kernel fixed, for fast refits; and whether it was learnt."""
    own = model.get_params(deep=False)
    if not hasattr(model, "learnt_length_scales_") or "kernel" not in own:
        return model, False
    simple = {"linear": RidgeSolver(), SPARSE_LINEAR: OddsLearner(), "null": NullSolver()}.get(
        model.learnt_length_scales_.group
    )
    if simple is not None:  # a linear or null model, without kernels
        kept = {name: own[name] for name in NOISE_OPTIONS if name in own}
        return SparseBayesRegressor(LinearBasis(), solver=simple, **kept), False
    kernel = model.kernel_
    shared = RVMRegressor().get_params(deep=False).keys() & own.keys()
    options = {
        name: own[name] for name in shared - {"kernel", "length_scales", "gamma", "warm_start"}
    }
    return RVMRegressor(kernel, length_scales=None, **options), True
