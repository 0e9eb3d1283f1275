"""What a regression leaves: residuals against predictions, and against normal quantiles."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_choice
from relvec._typing import ArrayLike
from relvec.describing import compute_normal_quantiles, compute_quantile_band, predict_with_std
from relvec.plotting._axes import finish, take_axes, tone
from relvec.plotting._checks import check_finite, check_line
from relvec.plotting._style import INK, MODEL, OTHER

__all__ = ["ResidualDisplay"]

KINDS = ("both", "predicted", "quantiles")


class ResidualDisplay:
    """Picture of residuals.

    On the left against the predictions, where a pattern says that something is left to explain.
    On the right, sorted, against normal quantiles: off the line, tails are not those of the noise
    the model assumes. Standardised residuals are divided by the standard deviation of each
    prediction, so that 19 of 20 should be between -2 and 2.

    Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    y_pred, residuals : array-like of shape (n_samples,)
        Predictions, and observations less predictions.
    std : array-like of shape (n_samples,), optional
        Standard deviations of the predictions; residuals are standardised by them.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        Of the residuals against the predictions, or the only one.
    quantile_ax_ : matplotlib Axes or None
    points_, quantile_points_ : matplotlib Line2D or None
    values_ : ndarray of shape (n_samples,)
        The residuals that are drawn, standardised if they are.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.plotting import ResidualDisplay
    >>> display = ResidualDisplay.from_predictions([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], [0.5] * 3)
    >>> display.values_
    array([-1.,  0.,  2.])
    """

    def __init__(
        self, y_pred: ArrayLike, residuals: ArrayLike, *, std: ArrayLike | None = None
    ) -> None:
        self.y_pred = check_line("y_pred", y_pred)
        n = len(self.y_pred)
        self.residuals = check_line("residuals", residuals, n, "y_pred")
        self.std = None if std is None else check_line("std", std, n, "y_pred")
        if not len(self.y_pred):
            raise ValueError("y_pred is empty: there is nothing to draw.")
        check_finite("y_pred", self.y_pred)
        check_finite("residuals", self.residuals)
        if self.std is not None and not (self.std > 0.0).all():
            raise ValueError("std must be positive everywhere to standardise residuals by it.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        standardise: bool = True,
        kind: str = "both",
        ax: Any = None,
    ) -> Self:
        """Draw residuals of a fitted regressor.

        Parameters
        ----------
        estimator : regressor
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Their targets.
        standardise : bool, default=True
            Divide by the standard deviation of each prediction, if `predict` gives one.
        kind : {"both", "predicted", "quantiles"}, default="both"
            As in `plot`.
        ax : matplotlib Axes, or two of them, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : ResidualDisplay
        """
        check_is_fitted(estimator)
        mean, std, _ = predict_with_std(estimator, X, cls.__name__)
        return cls.from_predictions(y, mean, std if standardise else None, kind=kind, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        std: ArrayLike | None = None,
        *,
        kind: str = "both",
        ax: Any = None,
    ) -> Self:
        """Draw residuals of predictions.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Observed and predicted.
        std : array-like of shape (n_samples,), optional
            Standard deviations to divide by.
        kind : {"both", "predicted", "quantiles"}, default="both"
            As in `plot`.
        ax : matplotlib Axes, or two of them, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : ResidualDisplay
        """
        observed = check_line("y_true", y_true)
        mean = check_line("y_pred", y_pred, len(observed), "y_true")
        check_finite("y_true", observed)
        return cls(mean, observed - mean, std=std).plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "both") -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or two of them, optional
            Where to draw; a new figure by default.
        kind : {"both", "predicted", "quantiles"}, default="both"
            Against predictions, against normal quantiles, or both side by side.

        Returns
        -------
        display : ResidualDisplay
        """
        check_choice("kind", kind, KINDS)
        n_axes = 2 if kind == "both" else 1
        self.figure_, axes = take_axes(
            ax, n_axes, "the residuals", ncols=n_axes, figsize=(4.6 * n_axes, 3.9)
        )
        self.values_ = self.residuals if self.std is None else self.residuals / self.std
        self.ax_, self.quantile_ax_ = axes[0], None if kind == "predicted" else axes[-1]
        self.points_ = self.quantile_points_ = None
        label = "residual" if self.std is None else "residual / its standard deviation"
        if kind != "quantiles":
            self._draw_predicted(label)
        if kind != "predicted":
            self._draw_quantiles(axes[-1], label if kind == "quantiles" else "sorted")
        return self

    def _draw_predicted(self, label: str) -> None:
        spread = 1.0 if self.std is not None else float(np.std(self.values_)) or 1.0
        self.ax_.axhspan(-2.0 * spread, 2.0 * spread, color=tone(self.ax_, MODEL), alpha=0.08, lw=0)
        self.ax_.axhline(0.0, color=tone(self.ax_, INK), lw=1.2)
        (self.points_,) = self.ax_.plot(
            self.y_pred,
            self.values_,
            "o",
            color=tone(self.ax_, MODEL),
            ms=4,
            alpha=0.75,
            mec="none",
        )
        self.ax_.set(xlabel="predicted", ylabel=label)
        finish(self.ax_, grid=True)

    def _draw_quantiles(self, axes: Any, label: str) -> None:
        ordered = np.sort(self.values_)
        expected = compute_normal_quantiles(len(ordered))
        scale = 1.0 if self.std is not None else float(np.std(ordered)) or 1.0
        band = scale * compute_quantile_band(len(ordered))
        axes.fill_between(expected, *band, color=tone(axes, MODEL), alpha=0.12, lw=0)
        axes.plot(expected, scale * expected, color=tone(axes, INK), lw=1.2)
        is_out = (ordered < band[0]) | (ordered > band[1])
        (self.quantile_points_,) = axes.plot(
            expected, ordered, "o", color=tone(axes, MODEL), ms=4, mec="none"
        )
        axes.plot(expected[is_out], ordered[is_out], "s", color=tone(axes, OTHER), ms=4, mec="none")
        axes.set(xlabel="normal quantile", ylabel=label)
        finish(axes, grid=True)
