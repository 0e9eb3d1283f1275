"""Predictions of fitted regressors."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_finite_input, check_integer, check_probability
from relvec._typing import Matrix, Vector
from relvec.estimators._inputs import read_noise_variance, validate_inputs
from relvec.estimators._output import FittedOutput
from relvec.estimators._target_transform import check_untransformed

if TYPE_CHECKING:
    from relvec.bases.base import Atoms


class PredictionMixin:
    """Methods of fitted regressors."""

    outputs_: tuple[FittedOutput, ...]
    atoms_: Atoms
    n_features_in_: int
    _single: bool

    def _validate(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_inputs(self, X, reset=False)

    def _validate_pair(self, X: Any, y: Any) -> tuple[Any, Matrix]:
        """Validate inputs and targets; return targets with one column per output."""
        check_is_fitted(self)
        check_finite_input(y, "y")
        X, y = validate_inputs(self, X, y, multi_output=True, y_numeric=True, reset=False)
        targets = np.asarray(y, dtype=np.float64).reshape(X.shape[0], -1)
        if targets.shape[1] != len(self.outputs_):
            raise ValueError(
                f"y has {targets.shape[1]} outputs, but the model was fitted with "
                f"{len(self.outputs_)}."
            )
        return X, targets

    def _read_noise(
        self, X: Any, noise_variance: Any, include_noise: bool, *, is_required: bool = False
    ) -> list[Vector | None]:
        """Validate noise variances of new rows; return those of each output, or None for each."""
        n_outputs, is_known = len(self.outputs_), self.outputs_[0].needs_row_variance
        if noise_variance is not None and not include_noise:
            raise ValueError("noise_variance has no effect with include_noise=False. Omit one.")
        if noise_variance is not None:
            check_untransformed(self.outputs_, "noise_variance, in squared units of the target,")
            return [*read_noise_variance(noise_variance, X, n_outputs).T]
        if is_known and is_required:
            raise ValueError(
                f"{type(self).__name__} was fitted with noise_variance for each row, so the noise "
                "of these rows is not known. Give their noise_variance."
            )
        if is_known and include_noise:
            warnings.warn(
                f"{type(self).__name__} was fitted with noise_variance for each row, so the noise "
                "of new rows is not known: predictions are those of the function, without noise. "
                "Give noise_variance for the new rows, or include_noise=False.",
                UserWarning,
                stacklevel=3,
            )
        return [None] * n_outputs

    def _stack_outputs(self, answers: Iterable[Any]) -> Any:
        """Return the result of a single output, or those of several along a last axis."""
        several = list(answers)
        return several[0] if self._single else np.stack(several, axis=-1)

    def predict(
        self,
        X: Any,
        return_std: bool = False,
        return_cov: bool = False,
        *,
        include_noise: bool = True,
        noise_variance: Any = None,
    ) -> Vector | tuple[Vector, Vector] | tuple[Vector, Matrix]:
        """Predict the target, with its standard deviation or covariance if requested.

        Only the basis functions in the model are evaluated, so the cost does not depend on the
        number of training samples. The mean and variance are those of Tipping (2001), eqs. 21 and
        22, with the changes that `error_bars` and `calibrate` make.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the standard deviation of the predictive distribution.
        return_cov : bool, default=False
            Whether to return the covariance of the predictive distribution between all rows of `X`.
        include_noise : bool, default=True
            Whether the predictive distribution is that of a new target, which includes noise, or
            that of the function. With `target_transform` the function is the mean of the target
            given its inputs. The predictive mean is the same in both cases.
        noise_variance : float, array-like of shape (n_samples,) or callable, optional
            Noise variance of the new rows, or a function of `X` that returns it, in the units of
            the noise variances given in fit, else in squared units of the target. By default the
            noise is that of the model; if noise variances were given in fit, those of new rows are
            not known and the noise is left out, with a warning.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictive mean.
        std : ndarray of the same shape
            Standard deviation, in units of the target. Only if `return_std` is True.
        cov : ndarray of shape (n_samples, n_samples) or (n_samples, n_samples, n_outputs)
            Covariance, in squared units of the target. Only if `return_cov` is True.

        See Also
        --------
        predict_interval : Intervals that cover a new target with a given probability.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> model = RVMRegressor(gamma=0.5).fit(X, y)
        >>> mean, std = model.predict([[1.5], [9.0]], return_std=True)
        >>> mean.round(1), std.round(1)
        (array([1. , 0.2]), array([0.1, 0.8]))
        """
        if return_std and return_cov:
            raise ValueError(
                "return_std and return_cov exclude each other. Set one of them to False."
            )
        if return_cov:
            check_is_fitted(self)
            check_untransformed(self.outputs_, "return_cov", "Use draws of `sample_y`.")
        X = self._validate(X)
        mean = self._stack_outputs(output.predict_mean(X) for output in self.outputs_)
        if not (return_std or return_cov):
            if noise_variance is not None:  # not used, but checked
                read_noise_variance(noise_variance, X, len(self.outputs_))
            return mean
        variances = self._read_noise(X, noise_variance, include_noise)
        pairs = list(zip(self.outputs_, variances, strict=True))
        if return_std:
            known = [output.predict_target(X, include_noise, each) for output, each in pairs]
            return self._stack_outputs(p.mean for p in known), self._stack_outputs(
                p.std for p in known
            )
        return mean, self._stack_outputs(
            output.covariance(X, include_noise, each) for output, each in pairs
        )

    def predict_interval(
        self,
        X: Any,
        coverage: Any = 0.95,
        *,
        include_noise: bool = True,
        noise_variance: Any = None,
    ) -> Matrix:
        """Predict intervals that cover a new target with probability `coverage`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.95
            Probability, strictly between 0 and 1.
        include_noise : bool, default=True
            Whether intervals cover a new target, which includes noise, or the function.
        noise_variance : float, array-like of shape (n_samples,) or callable, optional
            Noise variance of the new rows, or a function of `X` that returns it, in the units of
            the noise variances given in fit, else in squared units of the target. By default the
            noise is that of the model; if noise variances were given in fit, those of new rows are
            not known and the noise is left out, with a warning.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2) or (n_samples, 2, n_outputs)
            Lower and upper limits, in units of the target.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> model = RVMRegressor(gamma=0.5).fit(X, y)
        >>> model.predict_interval([[1.5], [9.0]], coverage=0.9).round(1)
        array([[ 0.9,  1.1],
               [-1. ,  1.5]])
        """
        coverage = check_probability("coverage", coverage)
        X = self._validate(X)
        variances = self._read_noise(X, noise_variance, include_noise)
        return self._stack_outputs(
            output.predict_target(X, include_noise, each).interval(coverage)
            for output, each in zip(self.outputs_, variances, strict=True)
        )

    def extrapolating(self, X: Any) -> Vector:
        """Measure how far inputs are beyond the training inputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        share : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Between zero at the training inputs and one far from them, where predictions are those
            of a Gaussian process around the mean of the targets. Zero everywhere for a model
            without basis functions, whose prediction is constant.

        Raises
        ------
        ValueError
            If `error_bars` is not "novelty", or no kernel of the basis decays.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> model = RVMRegressor(gamma=0.5).fit(X, y)
        >>> model.extrapolating([[1.5], [4.0], [9.0]]).round(1)
        array([0. , 0.4, 1. ])
        """
        X = self._validate(X)
        shares = []
        for output in self.outputs_:
            if output.novelty is None and len(output.active):
                raise ValueError(
                    f"{type(self).__name__} cannot measure extrapolation. This needs "
                    'error_bars="novelty" and a kernel that decays.'
                )
            novelty = output.novelty
            shares.append(np.zeros(X.shape[0]) if novelty is None else novelty.extrapolation(X))
        return self._stack_outputs(shares)

    def sample_y(
        self,
        X: Any,
        n_samples: int = 1,
        random_state: Any = 0,
        *,
        include_noise: bool = True,
        noise_variance: Any = None,
    ) -> Matrix:
        """Draw samples of targets or functions from the predictive distribution.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Inputs.
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState instance or None, default=0
            Seed of the draws.
        include_noise : bool, default=True
            Whether to draw targets, which include noise, or functions.
        noise_variance : float, array-like of shape (n_rows,) or callable, optional
            Noise variance of the new rows, or a function of `X` that returns it, in the units of
            the noise variances given in fit, else in squared units of the target. By default the
            noise is that of the model; if noise variances were given in fit, those of new rows are
            not known and the noise is left out, with a warning.

        Returns
        -------
        draws : ndarray of shape (n_rows, n_samples) or (n_rows, n_outputs, n_samples)
            Samples, in units of the target.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> model = RVMRegressor(gamma=0.5).fit(X, y)
        >>> curves = model.sample_y(X, n_samples=5, include_noise=False)
        >>> curves.shape
        (40, 5)
        >>> bool(np.abs(curves.mean(axis=1) - model.predict(X)).max() < 0.3)
        True
        """
        X = self._validate(X)
        n_samples = check_integer("n_samples", n_samples, minimum=1)
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        variances, draws = self._read_noise(X, noise_variance, include_noise), []
        for output, each in zip(self.outputs_, variances, strict=True):
            draws.append(output.sample_targets(X, n_samples, rng, include_noise, each))
        return draws[0] if self._single else np.stack(draws, axis=1)

    def log_predictive_density(self, X: Any, y: Any, *, noise_variance: Any = None) -> Vector:
        """Compute the log predictive density of observed targets, in nats.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        noise_variance : float, array-like of shape (n_samples,) or callable, optional
            Noise variance of the rows, as in `predict`; required if noise variances were given in
            fit.

        Returns
        -------
        log_density : ndarray of the shape of `y`
            Log predictive density of each target; its mean is the MLPD.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> model = RVMRegressor(gamma=0.5).fit(X, y)
        >>> likely, unlikely = model.log_predictive_density([[1.5], [1.5]], [1.0, 2.0])
        >>> bool(likely > 1.0), bool(unlikely < -20.0)
        (True, True)
        """
        X, targets = self._validate_pair(X, y)
        variances = self._read_noise(X, noise_variance, True, is_required=True)
        return self._stack_outputs(
            output.predict_target(X, True, each).log_density(target)
            for output, target, each in zip(self.outputs_, targets.T, variances, strict=True)
        )
