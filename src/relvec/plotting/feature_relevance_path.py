"""Plot of feature relevances during the fit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec._checks import check_bool, check_integer
from relvec._compat import import_optional
from relvec._typing import ArrayLike, BoolArray, IndexArray, Vector
from relvec.describing import (
    check_feature_names,
    format_count,
    get_feature_names,
    get_final_estimator,
    get_fitted_attribute,
    shorten,
)
from relvec.plotting._axes import adapt_colour, escape_mathtext, finish_axes, get_axes, set_title
from relvec.plotting._checks import check_matrix, check_vector
from relvec.plotting._rows import spread_labels
from relvec.plotting._style import FAINT, INK, STYLE, line_style

__all__ = ["FeatureRelevancePathDisplay"]


class FeatureRelevancePathDisplay:
    """Plot of the relevance of each feature during the fit.

    A line is the relevance of a feature, proportional to its inverse squared length-scale as in
    `FeatureRelevanceDisplay`, on a logarithmic axis; it ends with a cross where the feature is
    dropped. The features with the largest final relevance are labelled, the others are grey. The
    objective, if available, is drawn in a second panel.

    Use `from_estimator` to create one.

    Parameters
    ----------
    relevances : array-like of shape (n_steps, n_features)
        Relevances after each step; zero if a feature is dropped.
    objective : array-like of shape (n_steps,), optional
        Objective after each step.
    feature_names : sequence of str, optional
        Names of the features; x0, x1 and so on by default.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        Axes of the relevances.
    objective_ax_ : matplotlib Axes or None
    lines_ : dict of int to matplotlib Line2D
        Labelled lines by index of the feature, the largest first.
    others_ : matplotlib LineCollection or None
        Grey lines.
    crosses_ : matplotlib Line2D or None
        Markers where features are dropped.
    labels_ : list of matplotlib Annotation

    See Also
    --------
    FeatureRelevanceDisplay : Final relevances with error bars.
    EvidenceTraceDisplay : Objective of several fits.

    Examples
    --------
    >>> from relvec.plotting import FeatureRelevancePathDisplay
    >>> relevances = [[1.0, 1.0, 1.0], [2.0, 0.3, 0.1], [3.0, 0.2, 0.0]]
    >>> display = FeatureRelevancePathDisplay(
    ...     relevances, feature_names=["age", "sex", "bmi"]
    ... ).plot()
    >>> list(display.lines_), display.crosses_.get_xydata().tolist()
    ([0, 1], [[1.0, 0.1]])
    """

    def __init__(
        self,
        relevances: ArrayLike,
        objective: ArrayLike | None = None,
        *,
        feature_names: Any = None,
    ) -> None:
        self.relevances = check_matrix("relevances", relevances, "step")
        n_steps, n_features = self.relevances.shape
        self.objective: Vector | None = None
        if objective is not None:
            self.objective = check_vector("objective", objective)
            if len(self.objective) != n_steps:
                raise ValueError(
                    f"objective must have {n_steps} values, one per step; got "
                    f"{len(self.objective)}."
                )
        self.feature_names = check_feature_names(feature_names, n_features)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Any = None,
        n_labels: int = 10,
        objective: bool = True,
        ax: Any = None,
    ) -> Self:
        """Plot the relevances of a fitted estimator after each step.

        Parameters
        ----------
        estimator : estimator
            Fitted, with `feature_relevance_path_`, and `feature_relevance_path_objective_`
            if available; or a pipeline that ends in one.
        feature_names : sequence of str, optional
            Names of the features; by default those of the fit.
        n_labels, objective
            As in `plot`.
        ax : matplotlib Axes or pair of them, optional
            Axes to draw on, two with the objective; a new figure by default.

        Returns
        -------
        display : FeatureRelevancePathDisplay
        """
        relevances = get_fitted_attribute(
            estimator, "feature_relevance_path_", cls.__name__, "the relevances after each step"
        )
        display = cls(
            relevances,
            getattr(get_final_estimator(estimator), "feature_relevance_path_objective_", None),
            feature_names=get_feature_names(
                estimator, np.atleast_1d(relevances).shape[-1], feature_names
            ),
        )
        return display.plot(ax, n_labels=n_labels, objective=objective)

    def plot(self, ax: Any = None, *, n_labels: int = 10, objective: bool = True) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or pair of them, optional
            Axes to draw on, two with the objective; a new figure by default.
        n_labels : int, default=10
            Maximum number of labelled lines.
        objective : bool, default=True
            Draw the objective, if available.

        Returns
        -------
        display : FeatureRelevancePathDisplay
        """
        n_labels = check_integer("n_labels", n_labels, minimum=0)
        two = check_bool("objective", objective) and self.objective is not None
        layout: dict[str, Any] = {"figsize": (6.4, 4.0)}
        if two:
            layout = {"figsize": (6.4, 5.0), "nrows": 2, "sharex": True, "height_ratios": (4, 1)}
        self.figure_, axes = get_axes(
            ax,
            2 if two else 1,
            "the relevances and the objective" if two else "the relevances",
            **layout,
        )
        self.ax_, self.objective_ax_ = axes[0], axes[1] if two else None
        if self.objective_ax_ is not None:
            self._draw_objective()
        last = self.relevances[-1]
        order = np.argsort(-last, kind="stable")
        order = order[last[order] > 0.0]
        self._draw_lines(order[:n_labels])
        set_title(self.ax_, f"{len(order)} of {format_count(len(last))} kept")
        axes[-1].set_xlabel("iteration")
        axes[-1].xaxis.get_major_locator().set_params(integer=True)
        self.ax_.set_ylabel("relevance (∝ 1 / squared length-scale)")
        for each in axes:
            finish_axes(each, grid=True)
        self._write_labels(order[:n_labels])
        return self

    def _draw_lines(self, chosen: IndexArray) -> None:
        axes, n_steps = self.ax_, len(self.relevances)
        positive = self.relevances[self.relevances > 0.0]
        top = float(positive.max()) if len(positive) else 1.0
        # Relevances more than eight decades below the largest are drawn at the bottom.
        bottom = max(float(positive.min()), 1e-8 * top) if len(positive) else 0.1
        # Zero has no logarithm: NaN is not drawn.
        values = np.where(self.relevances > 0.0, np.maximum(self.relevances, bottom), np.nan)
        steps = np.arange(n_steps)
        others = np.setdiff1d(np.flatnonzero(np.isfinite(values).any(axis=0)), chosen)
        self.others_ = None
        axes.set_yscale("log")
        if len(others):
            is_kept = np.isfinite(values[-1, others])
            paths = [np.column_stack([steps, values[:, each]]) for each in others]
            self.others_ = import_optional("matplotlib.collections").LineCollection(
                paths,
                colors=adapt_colour(axes, FAINT),
                lw=0.9,
                alpha=np.where(is_kept, *_alphas(is_kept)),
            )
            axes.add_collection(self.others_)
        self.lines_ = {}
        for index, each in enumerate(chosen):
            dashes = ("-", "--")[index // 5 % 2]  # five colours, then the same with dashes
            (self.lines_[int(each)],) = axes.plot(
                steps,
                values[:, each],
                color=adapt_colour(axes, line_style(index).colour),
                ls=dashes,
                lw=1.7,
                marker="o" if n_steps == 1 else "",
                ms=4,
                zorder=3,
            )
        self._draw_crosses(values)
        span = max(top / bottom, 10.0) ** 0.05
        axes.set_ylim(bottom / span, top * span)
        axes.set_xlim(-0.02 * max(n_steps - 1, 1), 1.01 * max(n_steps - 1, 1))

    def _draw_crosses(self, values: Any) -> None:
        dropped = np.flatnonzero(np.isfinite(values).any(axis=0) & np.isnan(values[-1]))
        self.crosses_ = None
        if len(dropped):
            drawn = np.isfinite(values[:, dropped])
            last = len(values) - 1 - np.argmax(drawn[::-1], axis=0)
            (self.crosses_,) = self.ax_.plot(
                last,
                values[last, dropped],
                "x",
                color=adapt_colour(self.ax_, INK),
                ms=5 if len(dropped) <= 50 else 3,
                mew=1.1 if len(dropped) <= 50 else 0.6,
                alpha=_alpha(len(dropped)),
                zorder=4,
            )

    def _draw_objective(self) -> None:
        axes = self.objective_ax_
        assert axes is not None
        assert self.objective is not None
        axes.plot(
            np.arange(len(self.objective)), self.objective, color=adapt_colour(axes, INK), lw=1.3
        )
        axes.set_ylabel("objective\n(nats)")
        axes.yaxis.get_major_locator().set_params(nbins=3)

    def _write_labels(self, chosen: IndexArray) -> None:
        """Label lines at their right ends, without overlap."""
        self.labels_ = []
        if not len(chosen):
            return
        axes = self.ax_
        # The layout must run first to fix the height of the axes; a subfigure cannot draw itself.
        self.figure_.canvas.figure.draw_without_rendering()
        height = axes.get_window_extent().height * 72.0 / self.figure_.dpi
        ends = np.column_stack(
            [
                np.full(len(chosen), len(self.relevances) - 1.0),
                [line.get_ydata()[-1] for line in self.lines_.values()],
            ]
        )
        places = axes.transAxes.inverted().transform(axes.transData.transform(ends))[:, 1]
        kept, moved = spread_labels(places, min(1.3 * STYLE.font_size / max(height, 1.0), 1.0))
        for number, index in zip(kept, moved, strict=True):
            name = self.feature_names[chosen[number]]
            self.labels_.append(
                axes.annotate(
                    escape_mathtext(shorten(name)),
                    xy=ends[number],
                    xytext=(1.04, index),
                    textcoords="axes fraction",
                    va="center",
                    fontsize=STYLE.font_size,
                    color=self.lines_[int(chosen[number])].get_color(),
                    arrowprops={
                        "arrowstyle": "-",
                        "lw": 0.6,
                        "color": adapt_colour(axes, FAINT),
                        "shrinkA": 1,
                        "shrinkB": 1,
                        "relpos": (0, 0.5),
                    },
                )
            )


def _alphas(is_kept: BoolArray) -> tuple[float, float]:
    """Return the opacity of the grey lines of kept and of dropped features."""
    n_kept = int(np.count_nonzero(is_kept))
    return _alpha(n_kept), _alpha(len(is_kept) - n_kept)


def _alpha(n_lines: int) -> float:
    """Return the opacity of lines: lower for more than 50, so that their density is visible."""
    return max(0.12, min(0.8, 0.8 * 50 / max(n_lines, 1)))
