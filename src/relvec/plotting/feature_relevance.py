"""Plot of feature relevance."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec._checks import check_bool, check_choice, check_integer
from relvec._compat import import_optional
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.describing import (
    check_feature_names,
    format_count,
    get_feature_names,
    get_final_estimator,
    get_fitted_attribute,
)
from relvec.plotting._axes import adapt_colour, draw_grid, finish_axes, get_axes
from relvec.plotting._checks import check_nonnegative
from relvec.plotting._rows import (
    compute_figure_size,
    compute_font_size,
    format_percent,
    label_rows,
)
from relvec.plotting._style import FAINT, INK, MODEL

__all__ = ["FeatureRelevanceDisplay"]

SCALES = ("log", "linear")


class FeatureRelevanceDisplay:
    """Plot of the relevance of each feature, with its standard deviation.

    The relevance of a feature is proportional to its inverse squared length-scale, in standard
    deviations of the feature: ``1 / (2 l^2)`` for the Gaussian kernel, which is 0.5 for a
    length-scale of one standard deviation. Error bars are one standard deviation; on the
    logarithmic axis that of the logarithm, to first order. Dropped features are grey.

    Use `from_estimator` to create one.

    Parameters
    ----------
    relevance : array-like of shape (n_features,)
        Relevance of each feature; zero if it was dropped.
    std : array-like of shape (n_features,), optional
        Standard deviations of the relevances; NaN or zero if not available.
    inclusion_probability : array-like of shape (n_features,), optional
        Posterior inclusion probability of each feature; written at the right.
    feature_names : sequence of str, optional
        Names of the features; x0, x1 and so on by default.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    shown_ : ndarray of shape (n_rows,)
        Indices of the features that are drawn, from the top.
    points_ : matplotlib Line2D
        Relevances of the kept features.
    whiskers_ : matplotlib LineCollection or None
    dropped_ : matplotlib Line2D or None
        Markers of the dropped features.
    note_ : matplotlib Text or None
        Note on the features that are not drawn.

    See Also
    --------
    SelectionFrequencyDisplay : Stability of the selection under resampling.
    FeatureRelevancePathDisplay : Relevances during the fit.

    Examples
    --------
    >>> from relvec.plotting import FeatureRelevanceDisplay
    >>> display = FeatureRelevanceDisplay(
    ...     [0.3, 0.0, 2.0], std=[0.1, 0.0, 0.4], feature_names=["age", "sex", "bmi"]
    ... ).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['bmi', 'age', 'sex']
    """

    def __init__(
        self,
        relevance: ArrayLike,
        *,
        std: ArrayLike | None = None,
        inclusion_probability: ArrayLike | None = None,
        feature_names: Any = None,
    ) -> None:
        self.relevance = check_nonnegative("relevance", relevance)
        shape = self.relevance.shape
        self.std = None if std is None else check_nonnegative("std", std, shape, allow_nan=True)
        self.inclusion_probability: Vector | None = None
        if inclusion_probability is not None:
            given = check_nonnegative(
                "inclusion_probability", inclusion_probability, shape, allow_nan=True
            )
            if (given > 1.0).any():
                raise ValueError(
                    f"inclusion_probability must not exceed 1; got {np.nanmax(given)}."
                )
            self.inclusion_probability = given
        self.feature_names = check_feature_names(feature_names, len(self.relevance))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Any = None,
        max_features: int = 20,
        sort: bool = True,
        scale: str = "log",
        ax: Any = None,
    ) -> Self:
        """Plot the feature relevances of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            Fitted, with `feature_relevance_`, and `feature_relevance_std_` and
            `feature_inclusion_probability_` if available; or a pipeline that ends in one.
        feature_names : sequence of str, optional
            Names of the features; by default those of the fit.
        max_features, sort, scale
            As in `plot`.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : FeatureRelevanceDisplay
        """
        relevance = get_fitted_attribute(
            estimator, "feature_relevance_", cls.__name__, "one relevance per feature"
        )
        model = get_final_estimator(estimator)
        display = cls(
            relevance,
            std=getattr(model, "feature_relevance_std_", None),
            inclusion_probability=getattr(model, "feature_inclusion_probability_", None),
            feature_names=get_feature_names(estimator, np.size(relevance), feature_names),
        )
        return display.plot(ax, max_features=max_features, sort=sort, scale=scale)

    def plot(
        self, ax: Any = None, *, max_features: int = 20, sort: bool = True, scale: str = "log"
    ) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        max_features : int, default=20
            Maximum number of features, the most relevant first. Dropped features are drawn if
            all of them fit, otherwise counted.
        sort : bool, default=True
            The most relevant on top; otherwise in the order of the features.
        scale : {"log", "linear"}, default="log"
            Scale of the relevance axis.

        Returns
        -------
        display : FeatureRelevanceDisplay
        """
        max_features = check_integer("max_features", max_features, minimum=1)
        check_bool("sort", sort)
        check_choice("scale", scale, SCALES)
        note = self._choose(max_features, sort)
        self.figure_, (self.ax_,) = get_axes(
            ax,
            1,
            "the relevances",
            **compute_figure_size(len(self.shown_) + (note is not None), 5.2),
        )
        axes, rows = self.ax_, np.arange(len(self.shown_))
        relevance = self.relevance[self.shown_]
        kept = relevance > 0.0
        axes.hlines(
            rows,
            0.0,
            1.0,
            transform=axes.get_yaxis_transform(),
            color=adapt_colour(axes, "0.92"),
            lw=0.8,
        )
        (self.points_,) = axes.plot(
            relevance[kept], rows[kept], "o", color=adapt_colour(axes, MODEL), ms=6, zorder=3
        )
        ends = self._compute_error_bars(scale)
        self.whiskers_ = None
        if self.std is not None and kept.any():
            self.whiskers_ = axes.hlines(
                rows[kept], *ends, color=adapt_colour(axes, MODEL), lw=1.8, zorder=2
            )
        axes.set_xscale(scale)
        self._set_limits(relevance[kept], ends, scale)
        self.dropped_ = None
        if not kept.all():
            (self.dropped_,) = axes.plot(
                np.full(np.count_nonzero(~kept), 0.015),
                rows[~kept],
                "x",
                color=adapt_colour(axes, FAINT),
                ms=5,
                mew=1.2,
                transform=axes.get_yaxis_transform(),
                clip_on=False,
            )
        self.note_ = label_rows(
            axes, [self.feature_names[each] for each in self.shown_], ~kept, note
        )
        self._write_probabilities(kept)
        axes.set_xlabel("relevance (∝ 1 / squared length-scale)")
        finish_axes(axes)
        draw_grid(axes, "x")
        return self

    def _choose(self, max_features: int, sort: bool) -> str | None:
        """Choose the features to draw; return a note on the others."""
        kept = np.flatnonzero(self.relevance > 0.0)
        kept = kept[np.argsort(-self.relevance[kept], kind="stable")]
        dropped = np.flatnonzero(self.relevance == 0.0)
        if self.inclusion_probability is not None:
            probability = np.nan_to_num(self.inclusion_probability[dropped])
            dropped = dropped[np.argsort(-probability, kind="stable")]
        chosen: IndexArray = kept[:max_features]
        n_more, n_dropped = len(kept) - len(chosen), len(dropped)
        if len(kept) + len(dropped) <= max_features:
            chosen, n_dropped = np.concatenate([chosen, dropped]), 0
        self.shown_ = chosen if sort else np.sort(chosen)
        if not len(kept):
            return f"all {format_count(n_dropped)} dropped" if n_dropped else None
        if n_more:
            return f"and {n_more} more kept" + (f", {n_dropped} dropped" if n_dropped else "")
        return f"and {n_dropped} more dropped" if n_dropped else None

    def _compute_error_bars(self, scale: str) -> Matrix:
        """Return the ends of the error bars of the kept features, of shape (2, n_kept)."""
        shown = self.shown_[self.relevance[self.shown_] > 0.0]
        middle = self.relevance[shown]
        half = np.zeros(len(shown)) if self.std is None else np.nan_to_num(self.std[shown])
        if scale == "log":
            # A factor of exp(100), 43 decades, exceeds every axis; matplotlib fails beyond.
            factor = np.exp(np.minimum(half / middle, 100.0))
            return np.stack([middle / factor, middle * factor])
        return np.stack([np.maximum(middle - half, 0.0), middle + half])

    def _set_limits(self, points: Vector, ends: Matrix, scale: str) -> None:
        axes = self.ax_
        if not len(points):
            axes.set_xlim((0.1, 10.0) if scale == "log" else (0.0, 1.0))
            return
        if scale == "linear":
            axes.set_xlim(-0.03 * ends.max(), 1.05 * ends.max())
            return
        # Error bars extend the axis by at most two decades beyond the points.
        low = max(ends[0].min(), points.min() / 100.0)
        high = min(ends[1].max(), points.max() * 100.0)
        # At least one and a half decades, so that the axis has tick labels.
        missing = max(1.5 - np.log10(high / low), 0.0)
        margin = 10.0 ** (0.06 * np.log10(high / low) + 0.5 * missing + 0.05)
        axes.set_xlim(low / margin, high * margin)
        axes.xaxis.set_minor_formatter(import_optional("matplotlib.ticker").NullFormatter())

    def _write_probabilities(self, kept: Any) -> None:
        if self.inclusion_probability is None or not np.isfinite(self.inclusion_probability).any():
            return
        options = {
            "xycoords": ("axes fraction", "data"),
            "textcoords": "offset points",
            "ha": "right",
            "fontsize": compute_font_size(self.ax_, len(self.shown_)),
        }
        axes = self.ax_
        axes.annotate(
            "included",
            (1.0, -0.5),
            xytext=(40, 3),
            va="bottom",
            color=adapt_colour(axes, INK),
            **options,
        )
        for row, (each, is_kept) in enumerate(zip(self.shown_, kept, strict=True)):
            probability = self.inclusion_probability[each]
            if np.isfinite(probability):
                axes.annotate(
                    format_percent(probability),
                    (1.0, row),
                    xytext=(40, 0),
                    va="center",
                    color=adapt_colour(axes, INK if is_kept else FAINT),
                    **options,
                )
