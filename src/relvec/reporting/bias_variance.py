"""The squared error split into variance and the rest, by fits to resampled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec.bases import LinearBasis
from relvec.describing import transform_inputs
from relvec.estimators import RVMRegressor, SparseBayesRegressor
from relvec.reporting.predictions import refit
from relvec.reporting.subject import Subject
from relvec.solvers import NullSolver, RidgeSolver

__all__ = ["BiasVariance", "bias_variance"]

STREAM = b"bias and variance"


@dataclass(frozen=True)
class BiasVariance:
    """Mean squared error of rows that a resampled fit did not see, and its parts.

    ``mse = bias_and_noise + variance`` exactly. Without the truth, bias and noise are not seen
    apart; `noise` is what the model takes for it.
    """

    mse: float
    variance: float
    noise: float
    n_fits: int
    n_rows: int
    scales_held: bool
    """Whether kernels were held at those of the model, and only vectors and weights found anew."""

    @property
    def bias_and_noise(self) -> float:
        """What would be left of the error if fits did not differ."""
        return self.mse - self.variance

    @property
    def bias(self) -> float:
        """Squared bias, if the noise is what the model says; not below zero."""
        return max(self.bias_and_noise - self.noise, 0.0)


def bias_variance(subject: Subject, n_fits: int, seed: int) -> BiasVariance | None:
    """Fit to rows drawn with replacement, and predict the rows that were not drawn.

    A row that is drawn twice has weight two, so kernels at training rows stay what they are.
    None if too few rows were left out at least twice.

    Raises
    ------
    RefitError
        If the model cannot be fitted to such rows.
    """
    model, held = _held(subject.model)
    inputs, y = transform_inputs(subject.estimator, subject.X), subject.y
    # a stream of our own: data made with the same seed would otherwise be drawn by their values
    rng, n_rows = np.random.default_rng([seed, *STREAM]), subject.n_rows
    said = np.full((n_fits, n_rows), np.nan)
    for each in said:
        weight = rng.multinomial(n_rows, np.full(n_rows, 1.0 / n_rows)).astype(np.float64)
        fit = refit(model, inputs, y, sample_weight=weight)
        left_out = weight == 0.0
        each[left_out] = np.asarray(fit.predict(inputs))[left_out]
    counts = np.count_nonzero(~np.isnan(said), axis=0)
    used = counts > 1
    if not used.any():
        return None
    said = said[:, used]
    mse = float(np.mean(np.nanmean((y[used] - said) ** 2, axis=0)))
    variance = float(np.mean(np.nanvar(said, axis=0, ddof=1)))
    noise = float(subject.model.noise_variance_)
    return BiasVariance(mse, variance, noise, n_fits, int(np.count_nonzero(used)), held)


def _held(model: Any) -> tuple[Any, bool]:
    """The model with its kernels held, where they were learnt: a fit then takes a moment."""
    own = model.get_params(deep=False)
    if not hasattr(model, "learnt_length_scales_") or "kernel" not in own:
        return model, False
    simple = {"linear": RidgeSolver(), "null": NullSolver()}.get(model.model_kind_)
    if simple is not None:  # no kernels at all
        return SparseBayesRegressor(LinearBasis(), solver=simple), False
    kernel = model.kernel_
    shared = RVMRegressor().get_params(deep=False).keys() & own.keys()
    options = {
        name: own[name] for name in shared - {"kernel", "length_scales", "gamma", "warm_start"}
    }
    return RVMRegressor(kernel, length_scales=None, **options), True
