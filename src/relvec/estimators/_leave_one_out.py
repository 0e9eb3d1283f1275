"""Leave-one-out predictions of fitted regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from relvec._typing import Vector
from relvec.estimators._predict import PredictionMixin
from relvec.estimators._target_transform import check_support

__all__ = ["LeaveOneOutMixin"]


class LeaveOneOutMixin(PredictionMixin):
    """Closed formula of leave-one-out predictions, given precisions and noise."""

    def leave_one_out(
        self,
        X: Any,
        y: Any,
        sample_weight: Any | None = None,
        *,
        noise_variance: Any = None,
    ) -> tuple[Vector, Vector]:
        """Predict each training row from all others, with fixed precisions and noise variance.

        The formula is closed and needs no refit. The basis functions remain those selected with the
        row included, so the errors are somewhat optimistic: use cross-validation to compare models.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs; a fitted model does not store them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Training targets.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights of the fit; default, 1 for each row. A row is left out with all its
            weight.
        noise_variance : array-like of shape (n_samples,), optional
            Noise variances that were given in fit; required if there were any.

        Returns
        -------
        mean : ndarray of the shape of `y`
            Predictive mean of each left-out target.
        std : ndarray of the shape of `y`
            Its predictive standard deviation, noise included.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> model = RVMRegressor(gamma=0.5).fit(X, y)
        >>> mean, std = model.leave_one_out(X, y)
        >>> print("standardised residuals:", np.std((y - mean) / std).round(1))
        standardised residuals: 1.0
        """
        X, targets = self._validate_pair(X, y)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        means, variances = [], []
        given = self._read_noise(X, noise_variance, True, is_required=True)
        for output, target, each in zip(self.outputs_, targets.T, given, strict=True):
            transform = output.transform
            if transform is not None:
                check_support(transform, target)
                target = transform.forward(target)
            mean, spread = output.leave_one_out(X, target, weight, each)
            noise = output.predict_noise(X, each).total_variance
            # calibrated noise, and calibrated variance of the function
            variance = noise + output.calibration * spread
            if transform is not None:
                mean, variance = transform.moments(mean, variance)
            means.append(mean)
            variances.append(variance)
        return self._stack_outputs(means), np.sqrt(self._stack_outputs(variances))
