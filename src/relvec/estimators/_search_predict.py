"""Predictions of a fitted kernel search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import (
    check_finite_input,
    check_integer,
    check_probability,
    check_targets,
)
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.estimators._inputs import check_numbers
from relvec.estimators._search_inputs import from_days
from relvec.estimators._search_parts import SearchPartsMixin
from relvec.learning.structures.forecast import Forecaster
from relvec.learning.structures.mixture import StructureMixture

__all__ = ["Decomposition", "SearchPredictionMixin"]


class Decomposition(NamedTuple):
    """Posterior of the components of the best structure, at each row.

    Means add up to the posterior mean less `intercept`, in units of the transformed target.
    """

    names: tuple[str, ...]
    """Name of each component, in the order of `KernelSearchRegressor.components_`."""
    mean: Matrix
    """Posterior means, shape (n_samples, n_components)."""
    std: Matrix
    """Posterior standard deviations, of the same shape."""
    total: Vector
    """Posterior mean of the function."""
    transform: str
    """Transform of the target."""

    @property
    def intercept(self) -> Vector:
        """What the total has beyond the components, the same for all rows."""
        rest: Vector = self.total - self.mean.sum(axis=1)
        return rest


class SearchPredictionMixin(SearchPartsMixin):
    """Prediction methods of `KernelSearchRegressor`."""

    n_features_in_: int
    has_dates_: bool
    _forecaster: Forecaster

    def predict(
        self, X: Any, return_std: bool = False, *, include_noise: bool = True
    ) -> Vector | tuple[Vector, Vector]:
        """Predict the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; dates if the model was fitted to dates.
        return_std : bool, default=False
            Whether to return the spread of the predictive distribution.
        include_noise : bool, default=True
            Whether the spread is that of a new target, which includes noise, or of the function.

        Returns
        -------
        median : ndarray of shape (n_samples,)
            Weighted mean of the predictive medians of the structures; with ``mode="interpretable"``
            the median of the best one. Without a transform it is the predictive mean.
        std : ndarray of shape (n_samples,)
            Half the width of the central 68.3 % interval: the standard deviation of a normal
            distribution. Only if `return_std` is True.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(60.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + np.sin(X[:, 0] / 2) + 0.1 * np.random.default_rng(0).normal(size=60)
        >>> model = KernelSearchRegressor(effort="fast").fit(X, y)
        >>> bool(abs(model.predict([[66.0]])[0] - (6.6 + np.sin(33.0))) < 0.3)
        True
        """
        mixture = self.predict_distribution(X, include_noise=include_noise)
        return (mixture.centre, mixture.std) if return_std else mixture.centre

    def predict_distribution(self, X: Any, *, include_noise: bool = True) -> StructureMixture:
        """Predict distributions of targets, from which all other predictions come.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        include_noise : bool, default=True
            Whether distributions are those of new targets, or of the function.

        Returns
        -------
        mixture : object
            With `quantile`, `interval`, `cdf`, `log_density` and `sample`, one value for each row.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(40.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + 0.2 * np.random.default_rng(0).normal(size=40)
        >>> model = KernelSearchRegressor(factors=("linear",)).fit(X, y)
        >>> probability = model.predict_distribution([[50.0]]).cdf(np.array([5.0]))[0]
        >>> bool(0.2 < probability < 0.8)
        True
        """
        check_is_fitted(self)
        return self._forecaster.predict(self._read_inputs(X), include_noise=include_noise)

    def predict_interval(
        self, X: Any, coverage: float = 0.95, *, include_noise: bool = True
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

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Quantiles of the averaged distribution, in units of the target.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(40.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + 0.2 * np.random.default_rng(0).normal(size=40)
        >>> model = KernelSearchRegressor(factors=("linear",)).fit(X, y)
        >>> low, high = model.predict_interval([[50.0]], coverage=0.95)[0]
        >>> bool(low < 5.0 < high)
        True
        """
        probability = check_probability("coverage", coverage)
        interval: Matrix = self.predict_distribution(X, include_noise=include_noise).interval(
            probability
        )
        return interval

    def predict_quantiles(self, X: Any, levels: ArrayLike) -> Matrix:
        """Predict quantiles of new targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        levels : array-like of shape (n_levels,)
            Probabilities, strictly between 0 and 1.

        Returns
        -------
        quantiles : ndarray of shape (n_samples, n_levels)

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(40.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + 0.2 * np.random.default_rng(0).normal(size=40)
        >>> model = KernelSearchRegressor(factors=("linear",)).fit(X, y)
        >>> model.predict_quantiles([[50.0], [60.0]], [0.1, 0.5, 0.9]).shape
        (2, 3)
        """
        mixture = self.predict_distribution(X)
        given = np.atleast_1d(np.asarray(levels))
        if given.ndim != 1 or not len(given):
            raise ValueError(f"levels must be a sequence of probabilities; got {levels!r}.")
        each = [check_probability("each of levels", level) for level in given.tolist()]
        return np.stack([mixture.quantile(level) for level in each], axis=-1)

    def log_predictive_density(self, X: Any, y: ArrayLike) -> Vector:
        """Compute the log predictive density of observed targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Minus infinity for targets that a transform excludes.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(40.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + 0.2 * np.random.default_rng(0).normal(size=40)
        >>> model = KernelSearchRegressor(factors=("linear",)).fit(X, y)
        >>> likely, unlikely = model.log_predictive_density([[50.0], [50.0]], [5.0, 9.0])
        >>> bool(likely > unlikely)
        True
        """
        mixture = self.predict_distribution(X)
        check_numbers(y)
        check_finite_input(y, "y")
        target = check_targets(y, mixture.centre.shape).astype(np.float64)
        density: Vector = mixture.log_density(target)
        return density

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = None) -> Matrix:
        """Draw targets, independent between rows.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Inputs.
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState instance or None, default=None
            Source of random numbers.

        Returns
        -------
        draws : ndarray of shape (n_samples_X, n_samples)

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(40.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + 0.2 * np.random.default_rng(0).normal(size=40)
        >>> model = KernelSearchRegressor(factors=("linear",)).fit(X, y)
        >>> model.sample_y([[50.0], [60.0]], n_samples=3, random_state=0).shape
        (2, 3)
        """
        n_draws = check_integer("n_samples", n_samples, minimum=1)
        draws: Matrix = self.predict_distribution(X).sample(n_draws, random_state)
        return draws

    def decompose(self, X: Any) -> Decomposition:
        """Return the posterior of each component of the best structure.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        decomposition : Decomposition
            Means and standard deviations, in units of the transformed target.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(60.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + np.sin(X[:, 0] / 2) + 0.1 * np.random.default_rng(0).normal(size=60)
        >>> model = KernelSearchRegressor(effort="fast").fit(X, y)
        >>> model.decompose(X).names
        ('LIN', 'PER')
        """
        check_is_fitted(self)
        U = self._construction.scaling.apply(self._read_inputs(X))
        fitted = self._best_forecaster.members[0]
        output = fitted.output
        parts = [fitted.predict_components(U)[place] for place in self._component_order]
        names = fitted.structure.components
        return Decomposition(
            tuple(names[place].name(self._component_features) for place in self._component_order),
            _stack_columns([output.std * part.mean for part in parts], len(U)),
            _stack_columns([output.std * np.sqrt(part.variance) for part in parts], len(U)),
            output.mean + output.std * fitted.predict(U).mean,
            str(output.transform),
        )

    @property
    def _component_features(self) -> list[str] | None:
        raise NotImplementedError

    def future_inputs(self, n_steps: int) -> Matrix | np.ndarray:
        """Return the next inputs of a series, at the median spacing of the training inputs.

        Parameters
        ----------
        n_steps : int
            Number of inputs.

        Returns
        -------
        X : ndarray of shape (n_steps, 1)
            Inputs after the last training input; dates if the model was fitted to dates. Dates at
            the same day of consecutive months, quarters or years, or at their last days, go on so.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.arange(40.0)[:, np.newaxis]
        >>> y = 0.1 * X[:, 0] + 0.2 * np.random.default_rng(0).normal(size=40)
        >>> model = KernelSearchRegressor(factors=("linear",)).fit(X, y)
        >>> model.future_inputs(2).ravel()
        array([40., 41.])
        >>> months = np.datetime64("2020-01") + np.arange(40)
        >>> ahead = KernelSearchRegressor(factors=("linear",)).fit(months, y).future_inputs(2)
        >>> ahead.ravel().astype("datetime64[D]")
        array(['2023-05-01', '2023-06-01'], dtype='datetime64[D]')
        """
        check_is_fitted(self)
        n_steps = check_integer("n_steps", n_steps, minimum=1)
        if self.n_features_in_ != 1:
            raise ValueError(
                f"Steps ahead are defined for one input; the model has {self.n_features_in_}."
            )
        x = np.unique(self._construction.scaling.invert(self._construction.rows.U)[:, 0])
        if len(x) < 2:
            raise ValueError("All training inputs are equal, so steps ahead have no length.")
        if self.has_dates_:
            return continue_dates(from_days(x), n_steps)[:, np.newaxis]
        step = float(np.median(np.diff(x)))
        return x[-1] + step * np.arange(1.0, n_steps + 1.0)[:, np.newaxis]


def continue_dates(dates: np.ndarray, n_steps: int) -> np.ndarray:
    """Return the dates after the last of sorted dates: calendar months, or the median spacing."""
    day = np.timedelta64(1, "D")
    after = dates + day
    if len(dates) > 1 and (after.astype("datetime64[M]") > dates.astype("datetime64[M]")).all():
        return continue_dates(after, n_steps) - day  # last days of months
    months = dates.astype("datetime64[M]")
    gaps = np.diff(months).astype(int)
    offsets = dates - months.astype(dates.dtype)
    if len(gaps) and (gaps > 0).all() and (offsets == offsets[0]).all():
        n_months = int(np.median(gaps))
        ahead = months[-1] + n_months * np.arange(1, n_steps + 1)
        return ahead.astype(dates.dtype) + offsets[0]
    step = np.median(np.diff(dates).astype(np.int64)).astype(np.int64)
    return dates[-1] + (step * np.arange(1, n_steps + 1)).astype("timedelta64[s]")


def _stack_columns(columns: list[Vector], n_rows: int) -> Matrix:
    return np.column_stack(columns) if columns else np.empty((n_rows, 0))
