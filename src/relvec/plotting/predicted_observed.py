"""Plot of predicted against observed targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._typing import ArrayLike, Matrix
from relvec.describing import (
    compute_critical_value,
    make_interval_function,
    predict_with_std,
)
from relvec.plotting._axes import adapt_colour, finish_axes, get_axes
from relvec.plotting._checks import check_coverage, check_finite, check_vector
from relvec.plotting._style import INK, MODEL, OTHER

__all__ = ["PredictedObservedDisplay"]


class PredictedObservedDisplay:
    """Plot of predicted against observed targets, with the interval of each prediction.

    On the diagonal predictions are exact. Predictions whose interval does not cover the observed
    value are drawn in another colour; for 95 % intervals these should be 5 %.
    Use `from_estimator` or `from_predictions` to create one.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Observed targets and predictive means.
    std : array-like of shape (n_samples,), optional
        Predictive standard deviations, noise included.
    name : str, default="y"
        Name of the target.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_, outside_ : matplotlib Line2D
        Predictions whose interval covers the observed value, and the others; without `std` all
        are in `points_`.
    bars_ : matplotlib LineCollection or None
    coverage_ : float or None
        Fraction of intervals that cover the observed value.

    See Also
    --------
    RegressionFitDisplay : Regression function along one feature.

    Examples
    --------
    >>> from relvec.plotting import PredictedObservedDisplay
    >>> display = PredictedObservedDisplay.from_predictions([1, 2, 3], [1.1, 1.8, 4], [0.2] * 3)
    >>> round(display.coverage_, 2)
    0.67
    """

    def __init__(
        self, y_true: ArrayLike, y_pred: ArrayLike, *, std: ArrayLike | None = None, name: str = "y"
    ) -> None:
        self.y_true = check_vector("y_true", y_true)
        n = len(self.y_true)
        self.y_pred = check_vector("y_pred", y_pred, n, "y_true")
        self.std = None if std is None else check_vector("std", std, n, "y_true")
        self.name = name
        if not len(self.y_true):
            raise ValueError("y_true is empty: there is nothing to plot.")
        check_finite("y_true", self.y_true)
        check_finite("y_pred", self.y_pred)
        self._limits: Callable[..., Matrix] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        name: str = "y",
        coverage: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Plot predictions of a fitted regressor.

        Parameters
        ----------
        estimator : regressor
            Fitted; intervals are drawn if its `predict` takes ``return_std=True``.
        X : array-like of shape (n_samples, n_features)
            Inputs, preferably held-out.
        y : array-like of shape (n_samples,)
            Observed targets.
        name : str, default="y"
            Name of the target.
        coverage : float, default=0.95
            Coverage of the intervals.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : PredictedObservedDisplay
        """
        check_is_fitted(estimator)
        mean, std, _ = predict_with_std(estimator, X, cls.__name__)
        display = cls(y, mean, std=std, name=name)
        display._limits = make_interval_function(estimator, X)
        return display.plot(ax, coverage=coverage)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        std: ArrayLike | None = None,
        *,
        name: str = "y",
        coverage: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Plot given predictions.

        Parameters
        ----------
        y_true, y_pred, std, name
            As the parameters of the class.
        coverage : float, default=0.95
            Coverage of the intervals.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : PredictedObservedDisplay
        """
        return cls(y_true, y_pred, std=std, name=name).plot(ax, coverage=coverage)

    def plot(self, ax: Any = None, *, coverage: float = 0.95) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        coverage : float, default=0.95
            Coverage of the intervals.

        Returns
        -------
        display : PredictedObservedDisplay
        """
        check_coverage(coverage)
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the predictions", figsize=(5.2, 5.0))
        ends = np.concatenate([self.y_true, self.y_pred])
        low, high = float(ends.min()), float(ends.max())
        self.ax_.plot([low, high], [low, high], color=adapt_colour(self.ax_, INK), lw=1.2, zorder=1)
        is_covered = np.ones(len(self.y_true), dtype=bool)
        self.bars_, self.coverage_ = None, None
        if self.std is not None:
            half_width = compute_critical_value(coverage) * self.std
            low_ends, high_ends = self.y_pred - half_width, self.y_pred + half_width
            is_covered = np.abs(self.y_true - self.y_pred) <= half_width
            if self._limits is not None:
                low_ends, high_ends = self._limits(coverage)
                is_covered = (low_ends <= self.y_true) & (self.y_true <= high_ends)
            self.coverage_ = float(is_covered.mean())
            if len(is_covered) <= 400:  # more would overlap
                self.bars_ = self.ax_.vlines(
                    self.y_true,
                    low_ends,
                    high_ends,
                    colors=[
                        adapt_colour(self.ax_, MODEL if each else OTHER) for each in is_covered
                    ],
                    lw=0.9,
                    alpha=0.4,
                    zorder=2,
                )
        percent = f"{100.0 * coverage:g} %"
        label = (
            None
            if self.coverage_ is None
            else f"inside {percent} interval ({100 * self.coverage_:.1f} %)"
        )
        (self.points_,) = self.ax_.plot(
            self.y_true[is_covered],
            self.y_pred[is_covered],
            "o",
            color=adapt_colour(self.ax_, MODEL),
            ms=4,
            zorder=3,
            label=label,
        )
        (self.outside_,) = self.ax_.plot(
            self.y_true[~is_covered],
            self.y_pred[~is_covered],
            "s",
            color=adapt_colour(self.ax_, OTHER),
            ms=4,
            zorder=3,
            label="outside" if (~is_covered).any() else None,
        )
        self.ax_.set(xlabel=f"observed {self.name}", ylabel=f"predicted {self.name}")
        finish_axes(self.ax_, legend=None if label is None else "upper left", grid=True)
        return self
