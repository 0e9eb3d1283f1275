"""Plot of residuals against predictions, and normal Q–Q plot."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_choice
from relvec._typing import ArrayLike
from relvec.describing import (
    compute_normal_quantiles,
    compute_quantile_band,
    find_transform,
    predict_transformed,
    predict_with_std,
)
from relvec.plotting._axes import adapt_colour, finish_axes, get_axes
from relvec.plotting._checks import check_finite, check_vector
from relvec.plotting._style import INK, MODEL, OTHER

__all__ = ["ResidualDisplay"]

KINDS = ("both", "predicted", "quantiles")


class ResidualDisplay:
    """Plot of residuals against predictions, and their normal Q–Q plot.

    A pattern in the residuals against the predictions is structure that the model does not explain.
    Deviations from the line of the Q–Q plot show that the residuals are not normal, as the model
    assumes. Standardised residuals are divided by the predictive standard deviation, so that about
    95 % should lie between -2 and 2.

    Use `from_estimator` or `from_predictions` to create one.

    Parameters
    ----------
    y_pred, residuals : array-like of shape (n_samples,)
        Predictive means, and observed minus predicted targets.
    std : array-like of shape (n_samples,), optional
        Predictive standard deviations, to standardise the residuals.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        Axes of the residuals against the predictions, or the only ones.
    quantile_ax_ : matplotlib Axes or None
    points_, quantile_points_ : matplotlib Line2D or None
    values_ : ndarray of shape (n_samples,)
        Residuals as drawn, standardised if `std` is given.

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
        self.y_pred = check_vector("y_pred", y_pred)
        n = len(self.y_pred)
        self.residuals = check_vector("residuals", residuals, n, "y_pred")
        self.std = None if std is None else check_vector("std", std, n, "y_pred")
        if not len(self.y_pred):
            raise ValueError("y_pred is empty: there is nothing to plot.")
        check_finite("y_pred", self.y_pred)
        check_finite("residuals", self.residuals)
        if self.std is not None and not (self.std > 0.0).all():
            raise ValueError("std must be positive everywhere to standardise residuals.")

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
        """Plot the residuals of a fitted regressor.

        Parameters
        ----------
        estimator : regressor
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Observed targets.
            If the model is that of a transformed target, residuals are those of the transformed
            target.
        standardise : bool, default=True
            Divide by the predictive standard deviation, if `predict` returns it.
        kind : {"both", "predicted", "quantiles"}, default="both"
            As in `plot`.
        ax : matplotlib Axes, or two of them, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ResidualDisplay
        """
        check_is_fitted(estimator)
        mean, std, _ = predict_with_std(estimator, X, cls.__name__)
        transform = find_transform(estimator)
        if transform is not None:  # the noise is that of the transformed target
            y = transform.forward(check_vector("y", y, len(mean), "X"))
            mean, std = predict_transformed(estimator, X)
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
        """Plot the residuals of given predictions.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Observed targets and predictive means.
        std : array-like of shape (n_samples,), optional
            Predictive standard deviations, to standardise the residuals.
        kind : {"both", "predicted", "quantiles"}, default="both"
            As in `plot`.
        ax : matplotlib Axes, or two of them, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ResidualDisplay
        """
        observed = check_vector("y_true", y_true)
        mean = check_vector("y_pred", y_pred, len(observed), "y_true")
        check_finite("y_true", observed)
        return cls(mean, observed - mean, std=std).plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "both") -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, or two of them, optional
            Axes to draw on; a new figure by default.
        kind : {"both", "predicted", "quantiles"}, default="both"
            Residuals against predictions, normal Q–Q plot, or both side by side.

        Returns
        -------
        display : ResidualDisplay
        """
        check_choice("kind", kind, KINDS)
        n_axes = 2 if kind == "both" else 1
        self.figure_, axes = get_axes(
            ax, n_axes, "the residuals", ncols=n_axes, figsize=(4.6 * n_axes, 3.9)
        )
        self.values_ = self.residuals if self.std is None else self.residuals / self.std
        self.ax_, self.quantile_ax_ = axes[0], None if kind == "predicted" else axes[-1]
        self.points_ = self.quantile_points_ = None
        label = "residual" if self.std is None else "standardised residual"
        if kind != "quantiles":
            self._draw_predicted(label)
        if kind != "predicted":
            self._draw_quantiles(axes[-1], label if kind == "quantiles" else "sample quantile")
        return self

    def _draw_predicted(self, label: str) -> None:
        spread = 1.0 if self.std is not None else float(np.std(self.values_)) or 1.0
        self.ax_.axhspan(
            -2.0 * spread, 2.0 * spread, color=adapt_colour(self.ax_, MODEL), alpha=0.08, lw=0
        )
        self.ax_.axhline(0.0, color=adapt_colour(self.ax_, INK), lw=1.2)
        (self.points_,) = self.ax_.plot(
            self.y_pred,
            self.values_,
            "o",
            color=adapt_colour(self.ax_, MODEL),
            ms=4,
            alpha=0.75,
            mec="none",
        )
        self.ax_.set(xlabel="predicted", ylabel=label)
        finish_axes(self.ax_, grid=True)

    def _draw_quantiles(self, axes: Any, label: str) -> None:
        ordered = np.sort(self.values_)
        expected = compute_normal_quantiles(len(ordered))
        scale = 1.0 if self.std is not None else float(np.std(ordered)) or 1.0
        band = scale * compute_quantile_band(len(ordered))
        axes.fill_between(expected, *band, color=adapt_colour(axes, MODEL), alpha=0.12, lw=0)
        axes.plot(expected, scale * expected, color=adapt_colour(axes, INK), lw=1.2)
        is_out = (ordered < band[0]) | (ordered > band[1])
        (self.quantile_points_,) = axes.plot(
            expected, ordered, "o", color=adapt_colour(axes, MODEL), ms=4, mec="none"
        )
        axes.plot(
            expected[is_out],
            ordered[is_out],
            "s",
            color=adapt_colour(axes, OTHER),
            ms=4,
            mec="none",
        )
        axes.set(xlabel="theoretical normal quantile", ylabel=label)
        finish_axes(axes, grid=True)
