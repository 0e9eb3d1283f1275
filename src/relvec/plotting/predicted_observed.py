"""Predictions next to what was observed, for any number of inputs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._typing import ArrayLike
from relvec.describing import compute_critical_value, predict_with_std
from relvec.plotting._axes import finish, take_axes, tone
from relvec.plotting._checks import check_coverage, check_finite, check_line
from relvec.plotting._style import INK, MODEL, OTHER

__all__ = ["PredictedObservedDisplay"]


class PredictedObservedDisplay:
    """Picture of predicted against observed targets, with the interval of each prediction.

    On the diagonal predictions are right. Intervals that miss the diagonal, and so the observed
    value, are drawn in another colour; of 95 % intervals these should be one in twenty.
    Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Observed and predicted.
    std : array-like of shape (n_samples,), optional
        Standard deviations of the predictions of new targets.
    name : str, default="y"
        What to call the target.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_, missed_ : matplotlib Line2D
        Those whose interval holds the observed value, and the others; all are among the first
        if `std` is not given.
    bars_ : matplotlib LineCollection or None
    covered_ : float or None
        Share of the intervals that hold the observed value.

    See Also
    --------
    RegressionFitDisplay : Along one input.

    Examples
    --------
    >>> from relvec.plotting import PredictedObservedDisplay
    >>> display = PredictedObservedDisplay.from_predictions([1, 2, 3], [1.1, 1.8, 4], [0.2] * 3)
    >>> round(display.covered_, 2)
    0.67
    """

    def __init__(
        self, y_true: ArrayLike, y_pred: ArrayLike, *, std: ArrayLike | None = None, name: str = "y"
    ) -> None:
        self.y_true = check_line("y_true", y_true)
        n = len(self.y_true)
        self.y_pred = check_line("y_pred", y_pred, n, "y_true")
        self.std = None if std is None else check_line("std", std, n, "y_true")
        self.name = name
        if not len(self.y_true):
            raise ValueError("y_true is empty: there is nothing to draw.")
        check_finite("y_true", self.y_true)
        check_finite("y_pred", self.y_pred)

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
        """Draw predictions of a fitted regressor.

        Parameters
        ----------
        estimator : regressor
            Fitted; intervals are drawn if its `predict` takes ``return_std=True``.
        X : array-like of shape (n_samples, n_features)
            Inputs, best those that were not used to fit.
        y : array-like of shape (n_samples,)
            Their targets.
        name : str, default="y"
            What to call the target.
        coverage : float, default=0.95
            Probability of the intervals.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : PredictedObservedDisplay
        """
        check_is_fitted(estimator)
        mean, std, _ = predict_with_std(estimator, X, cls.__name__)
        return cls(y, mean, std=std, name=name).plot(ax, coverage=coverage)

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
        """Draw predictions.

        Parameters
        ----------
        y_true, y_pred, std, name
            As the parameters of the class.
        coverage : float, default=0.95
            Probability of the intervals.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : PredictedObservedDisplay
        """
        return cls(y_true, y_pred, std=std, name=name).plot(ax, coverage=coverage)

    def plot(self, ax: Any = None, *, coverage: float = 0.95) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        coverage : float, default=0.95
            Probability of the intervals.

        Returns
        -------
        display : PredictedObservedDisplay
        """
        check_coverage(coverage)
        self.figure_, (self.ax_,) = take_axes(ax, 1, "the predictions", figsize=(5.2, 5.0))
        ends = np.concatenate([self.y_true, self.y_pred])
        low, high = float(ends.min()), float(ends.max())
        self.ax_.plot([low, high], [low, high], color=tone(self.ax_, INK), lw=1.2, zorder=1)
        held = np.ones(len(self.y_true), dtype=bool)
        self.bars_, self.covered_ = None, None
        if self.std is not None:
            reach = compute_critical_value(coverage) * self.std
            held = np.abs(self.y_true - self.y_pred) <= reach
            self.covered_ = float(held.mean())
            if len(held) <= 400:  # more would hide each other
                self.bars_ = self.ax_.vlines(
                    self.y_true,
                    self.y_pred - reach,
                    self.y_pred + reach,
                    colors=[tone(self.ax_, MODEL if each else OTHER) for each in held],
                    lw=0.9,
                    alpha=0.4,
                    zorder=2,
                )
        percent = f"{100.0 * coverage:g} %"
        label = None if self.covered_ is None else f"within {percent} ({100 * self.covered_:.1f} %)"
        (self.points_,) = self.ax_.plot(
            self.y_true[held],
            self.y_pred[held],
            "o",
            color=tone(self.ax_, MODEL),
            ms=4,
            zorder=3,
            label=label,
        )
        (self.missed_,) = self.ax_.plot(
            self.y_true[~held],
            self.y_pred[~held],
            "s",
            color=tone(self.ax_, OTHER),
            ms=4,
            zorder=3,
            label="outside" if (~held).any() else None,
        )
        self.ax_.set(xlabel=f"observed {self.name}", ylabel=f"predicted {self.name}")
        finish(self.ax_, legend=None if label is None else "upper left", grid=True)
        return self
