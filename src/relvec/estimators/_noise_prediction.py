"""Prediction of the noise level of regressors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_probability
from relvec._typing import Matrix, Vector
from relvec.estimators._output import FittedOutput
from relvec.learning.noise_variance import HeteroscedasticNoise

__all__ = ["NoisePredictionMixin"]


class NoisePredictionMixin:
    """Noise level at inputs."""

    outputs_: tuple[FittedOutput, ...]
    _validate: Callable[..., Any]
    _stack_outputs: Callable[..., Any]
    _single: bool

    def predict_noise(
        self, X: Any, coverage: float | None = None
    ) -> Vector | tuple[Vector, Matrix]:
        """Predict the standard deviation of the noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, optional
            Probability of a credible interval of the noise standard deviation, strictly between 0
            and 1. By default none is returned.

        Returns
        -------
        std : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Standard deviation of the noise of a new target, in units of the target; of the
            transformed target, with `target_transform`. It includes the calibration factor, as
            predictions do. Unless ``noise="heteroscedastic"`` it is the same everywhere. With
            heavy-tailed noise it includes outliers, and is much larger than the root of
            `noise_variance_`, that of ordinary rows.
        interval : ndarray of shape (n_samples, 2) or (n_samples, 2, n_outputs)
            Lower and upper limits; only if `coverage` is given.

        Raises
        ------
        ValueError
            If noise variances were given in fit, so that those of new rows are not known; or with
            `coverage`, if the noise model has no uncertainty.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 1, size=(300, 1))
        >>> y = np.sin(6 * X[:, 0]) + (0.1 + 0.4 * X[:, 0]) * rng.normal(size=300)
        >>> model = RVMRegressor(noise="heteroscedastic").fit(X, y)
        >>> std, interval = model.predict_noise([[0.1], [0.9]], coverage=0.95)
        >>> std.round(1)
        array([0.1, 0.5])
        >>> bool((interval[:, 0] < std).all() and (std < interval[:, 1]).all())
        True
        """
        check_is_fitted(self)
        coverage = None if coverage is None else check_probability("coverage", coverage)
        X = self._validate(X)
        if self.outputs_[0].needs_row_variance:
            raise ValueError(
                f"{type(self).__name__} was fitted with noise_variance for each row, so the noise "
                "of new rows is not known. For a noise level that is learnt, fit without "
                'noise_variance and with noise="heteroscedastic".'
            )
        std = self._stack_outputs(
            np.sqrt(output.predict_noise(X).total_variance) for output in self.outputs_
        )
        if coverage is None:
            return std
        return std, self._stack_outputs(
            _find_noise_interval(output, X, coverage) for output in self.outputs_
        )


def _find_noise_interval(output: FittedOutput, X: Any, coverage: float) -> Matrix:
    """Return a credible interval of the noise standard deviation at each input."""
    posterior = output.posterior
    common = output.noise_calibration * posterior.noise_variance / output.noise_unit
    if output.noise is None:
        # The estimate of a variance from n - dof residuals is about log-normal, with variance
        # 2 / (n - dof).
        n_free = max(posterior.n_effective + 1.0 - posterior.effective_dof, 1.0)
        mean, variance = np.zeros(X.shape[0]), np.full(X.shape[0], 2.0 / n_free)
    elif isinstance(output.noise, HeteroscedasticNoise):
        mean, variance = output.noise.log_variance(X)
    else:
        raise ValueError(
            "coverage needs a noise level with an uncertainty, as of "
            'noise="heteroscedastic" and "constant". Call predict_noise(X) without coverage.'
        )
    z = float(ndtri(0.5 + 0.5 * coverage))
    ends = mean[:, None] + np.sqrt(variance)[:, None] * np.array([-z, z])
    return math.sqrt(common) * np.exp(0.5 * np.clip(ends, -600.0, 600.0))
