"""How much each input matters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec._checks import check_bool, check_choice, check_integer
from relvec._compat import import_optional
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.describing import attribute_of, check_names, count_of, names_of, predictor
from relvec.plotting._axes import draw_grid, finish, take_axes, tone
from relvec.plotting._checks import check_amounts
from relvec.plotting._rows import label_rows, row_figure, row_font
from relvec.plotting._style import FAINT, INK, MODEL

__all__ = ["FeatureRelevanceDisplay"]

SCALES = ("log", "linear")


class FeatureRelevanceDisplay:
    """Picture of how much each input matters, and of how sure that is.

    A point is the relevance of an input, its inverse squared length scale: at one the function
    changes over a standard deviation of the input, at 0.01 over ten. Whiskers are one standard
    deviation; on the logarithmic axis that is one of the logarithm, to first order. Dropped
    inputs are grey, at the bottom.

    Use `from_estimator` to make one.

    Parameters
    ----------
    relevance : array-like of shape (n_features,)
        Relevance of each input; zero where it was dropped.
    std : array-like of shape (n_features,), optional
        Standard deviations of the relevances; NaN or zero where there is none.
    inclusion_probability : array-like of shape (n_features,), optional
        How probable it is that each input matters at all; written at the right.
    feature_names : sequence of str, optional
        Names of the inputs; x0, x1 and so on by default.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    shown_ : ndarray of shape (n_rows,)
        Positions of the inputs that are drawn, from the top.
    points_ : matplotlib Line2D
        Relevances of those that were kept.
    whiskers_ : matplotlib LineCollection or None
    dropped_ : matplotlib Line2D or None
        Marks of those that were dropped.
    note_ : matplotlib Text or None
        What is said of the inputs that are not drawn.

    See Also
    --------
    SelectionFrequencyDisplay : Whether the same inputs are kept on other data.
    FeatureRelevancePathDisplay : How the relevances were learnt.

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
        self.relevance = check_amounts("relevance", relevance)
        shape = self.relevance.shape
        self.std = None if std is None else check_amounts("std", std, shape, allow_nan=True)
        self.inclusion_probability: Vector | None = None
        if inclusion_probability is not None:
            given = check_amounts(
                "inclusion_probability", inclusion_probability, shape, allow_nan=True
            )
            if (given > 1.0).any():
                raise ValueError(
                    f"inclusion_probability must not exceed 1; got {np.nanmax(given)}."
                )
            self.inclusion_probability = given
        self.feature_names = check_names(feature_names, len(self.relevance))

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
        """Draw what an estimator has learnt of its inputs.

        Parameters
        ----------
        estimator : estimator
            Fitted, with `feature_relevance_`, and `feature_relevance_std_` and
            `feature_inclusion_probability_` if it knows them; or a pipeline that ends in one.
        feature_names : sequence of str, optional
            Names of the inputs; by default those it was fitted with.
        max_features, sort, scale
            As in `plot`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : FeatureRelevanceDisplay
        """
        relevance = attribute_of(estimator, "feature_relevance_", cls.__name__, "a number for each")
        model = predictor(estimator)
        display = cls(
            relevance,
            std=getattr(model, "feature_relevance_std_", None),
            inclusion_probability=getattr(model, "feature_inclusion_probability_", None),
            feature_names=names_of(estimator, np.size(relevance), feature_names),
        )
        return display.plot(ax, max_features=max_features, sort=sort, scale=scale)

    def plot(
        self, ax: Any = None, *, max_features: int = 20, sort: bool = True, scale: str = "log"
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        max_features : int, default=20
            How many inputs are drawn at most: the most relevant. Dropped ones are drawn if there
            is room for all of them, else counted.
        sort : bool, default=True
            The most relevant on top, or in the order of the inputs.
        scale : {"log", "linear"}, default="log"
            The axis of the relevances.

        Returns
        -------
        display : FeatureRelevanceDisplay
        """
        max_features = check_integer("max_features", max_features, minimum=1)
        check_bool("sort", sort)
        check_choice("scale", scale, SCALES)
        note = self._choose(max_features, sort)
        self.figure_, (self.ax_,) = take_axes(
            ax, 1, "the relevances", **row_figure(len(self.shown_) + (note is not None), 5.2)
        )
        axes, rows = self.ax_, np.arange(len(self.shown_))
        relevance = self.relevance[self.shown_]
        kept = relevance > 0.0
        axes.hlines(
            rows, 0.0, 1.0, transform=axes.get_yaxis_transform(), color=tone(axes, "0.92"), lw=0.8
        )
        (self.points_,) = axes.plot(
            relevance[kept], rows[kept], "o", color=tone(axes, MODEL), ms=6, zorder=3
        )
        ends = self._ends(scale)
        self.whiskers_ = None
        if self.std is not None and kept.any():
            self.whiskers_ = axes.hlines(
                rows[kept], *ends, color=tone(axes, MODEL), lw=1.8, zorder=2
            )
        axes.set_xscale(scale)
        self._set_limits(relevance[kept], ends, scale)
        self.dropped_ = None
        if not kept.all():
            (self.dropped_,) = axes.plot(
                np.full(np.count_nonzero(~kept), 0.015),
                rows[~kept],
                "x",
                color=tone(axes, FAINT),
                ms=5,
                mew=1.2,
                transform=axes.get_yaxis_transform(),
                clip_on=False,
            )
        self.note_ = label_rows(
            axes, [self.feature_names[each] for each in self.shown_], ~kept, note
        )
        self._write_probabilities(kept)
        axes.set_xlabel("relevance (inverse squared length scale)")
        finish(axes)
        draw_grid(axes, "x")
        return self

    def _choose(self, max_features: int, sort: bool) -> str | None:
        """Choose the inputs to draw; return what to say of the others."""
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
            return f"all {count_of(n_dropped)} dropped" if n_dropped else None
        if n_more:
            return f"and {n_more} more kept" + (f", {n_dropped} dropped" if n_dropped else "")
        return f"and {n_dropped} more dropped" if n_dropped else None

    def _ends(self, scale: str) -> Matrix:
        """Ends of the whiskers of those that were kept, shape (2, n_kept)."""
        shown = self.shown_[self.relevance[self.shown_] > 0.0]
        middle = self.relevance[shown]
        half = np.zeros(len(shown)) if self.std is None else np.nan_to_num(self.std[shown])
        if scale == "log":
            # 43 decades are beyond every axis, and further ones beyond matplotlib.
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
        # Whiskers widen the axis by no more than two decades beyond the points.
        low = max(ends[0].min(), points.min() / 100.0)
        high = min(ends[1].max(), points.max() * 100.0)
        # At least a decade and a half, so that an axis has numbers to read.
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
            "fontsize": row_font(self.ax_, len(self.shown_)),
        }
        axes = self.ax_
        axes.annotate(
            "included", (1.0, -0.5), xytext=(40, 3), va="bottom", color=tone(axes, INK), **options
        )
        for row, (each, is_kept) in enumerate(zip(self.shown_, kept, strict=True)):
            probability = self.inclusion_probability[each]
            if np.isfinite(probability):
                axes.annotate(
                    _percent(probability),
                    (1.0, row),
                    xytext=(40, 0),
                    va="center",
                    color=tone(axes, INK if is_kept else FAINT),
                    **options,
                )


def _percent(share: float) -> str:
    """A share in percent; never 0 or 100 unless it is."""
    if 0.0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1.0:
        return ">99 %"
    return f"{100.0 * share:.0f} %"
