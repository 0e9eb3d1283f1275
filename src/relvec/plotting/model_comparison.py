"""Plot of a comparison of models: held-out predictions beside evidences."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec.comparing import ModelComparison
from relvec.plotting._axes import (
    adapt_colour,
    draw_grid,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
    set_title,
)
from relvec.plotting._style import FAINT, MODEL, OTHER, STYLE

__all__ = ["ModelComparisonDisplay"]


class ModelComparisonDisplay:
    """Plot of the differences between models: of held-out rows, and of the evidence.

    The left panel has the difference of the mean log predictive density (MLPD) to the best
    predictor, with bars of one and two paired standard errors; of classes, the MLPD is minus the
    log loss. The right panel has the differences of the penalised evidences to the largest. Use
    `from_comparison` to create one.

    Parameters
    ----------
    comparison : ModelComparison
        Result of `relvec.compare_models`.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        MLPD, evidence.
    differences_ : matplotlib artist
        Differences of the MLPD.
    tied_, penalised_ : matplotlib artists
        Differences of the tied and of the penalised evidence; None if no model has one.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, compare_models
    >>> from relvec.plotting import ModelComparisonDisplay
    >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> comparison = compare_models([RVMRegressor(gamma=0.5), RVMRegressor(gamma=5.0)], X, y)
    >>> display = ModelComparisonDisplay.from_comparison(comparison)
    >>> display.axes_[0].get_xlabel()
    'MLPD less that of the best (nats a row)'

    >>> display.figure_.clear()
    """

    def __init__(self, comparison: ModelComparison) -> None:
        if not isinstance(comparison, ModelComparison):
            raise TypeError(
                "ModelComparisonDisplay needs the result of compare_models(models, X, y); got "
                f"{comparison!r} of type {type(comparison).__name__}."
            )
        if all(each.difference is None for each in comparison.models):
            raise ValueError(
                "There is nothing to plot: no model has predictive distributions. Use regressors "
                "with predict(X, return_std=True) or classifiers with predict_proba."
            )
        self.comparison = comparison

    @classmethod
    def from_comparison(cls, comparison: ModelComparison, ax: Any = None) -> Self:
        """Plot the result of `relvec.compare_models`.

        Parameters
        ----------
        comparison : ModelComparison
            Result of `relvec.compare_models`.
        ax : sequence of 2 matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ModelComparisonDisplay
        """
        return cls(comparison).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : sequence of 2 matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ModelComparisonDisplay
        """
        models = self.comparison.models
        self.figure_, self.axes_ = get_axes(
            ax,
            2,
            "held-out predictions and evidence",
            ncols=2,
            figsize=(9.0, 1.4 + 0.4 * len(models)),
        )
        self._draw_predictions(self.axes_[0])
        self._draw_evidences(self.axes_[1])
        for axes in self.axes_:
            axes.set_ylim(len(models) - 0.4, -0.6)
            draw_grid(axes, "x")
            finish_axes(axes)
        left, right = self.axes_
        left.set_yticks(range(len(models)), [escape_mathtext(each.name) for each in models])
        right.set_yticks(range(len(models)), [""] * len(models))
        if self.tied_ is not None:
            place_legend_above(right)
        return self

    def _draw_predictions(self, axes: Any) -> None:
        """Draw the differences of the MLPD with bars of one and two standard errors."""
        known = [
            (place, each.difference)
            for place, each in enumerate(self.comparison.models)
            if each.difference is not None
        ]
        places = np.array([place for place, _ in known])
        self._note_missing(axes, set(places.tolist()))
        mean = -np.array([difference.mean for _, difference in known])
        se = np.array([difference.se for _, difference in known])
        colour = adapt_colour(axes, MODEL)
        axes.axvline(0.0, color=adapt_colour(axes, FAINT), lw=0.8)
        for factor, width in ((2.0, 1.0), (1.0, 2.8)):
            axes.hlines(places, mean - factor * se, mean + factor * se, color=colour, lw=width)
        (self.differences_,) = axes.plot(mean, places, "o", color=colour, ms=6)
        self._mark_best(axes)
        axes.set_xlabel("MLPD less that of the best (nats a row)")
        set_title(axes, "held-out rows, ± 1 and 2 standard errors")

    def _mark_best(self, axes: Any) -> None:
        """Mark the best model, if there is one."""
        names = [each.name for each in self.comparison.models]
        if self.comparison.best_ is not None:
            place = names.index(self.comparison.best_)
            axes.axhspan(
                place - 0.4, place + 0.4, color=adapt_colour(axes, OTHER), alpha=0.12, lw=0
            )

    def _draw_evidences(self, axes: Any) -> None:
        """Draw the differences of the penalised evidences."""
        axes.set_xlabel("penalised log evidence less the largest (nats)")
        models = self.comparison.models
        tied = [each.evidences.tied_evidence for each in models]
        penalised = [each.evidences.penalised_evidence for each in models]
        # markers of the same model are moved apart, so that equal values can be seen
        self.tied_ = self._draw_series(axes, tied, "tied: one precision for each basis", "o", -0.13)
        self.penalised_ = self._draw_series(
            axes, penalised, "one for each basis function", "D", 0.13
        )
        self._mark_best(axes)
        pairs = enumerate(zip(tied, penalised, strict=True))
        self._note_missing(axes, {place for place, pair in pairs if pair != (None, None)})
        axes.axvline(0.0, color=adapt_colour(axes, FAINT), lw=0.8)

    def _draw_series(
        self, axes: Any, values: list[float | None], label: str, marker: str, offset: float
    ) -> Any:
        """Draw the differences of one evidence to its largest value; None if there is none."""
        known = [(place, each) for place, each in enumerate(values) if each is not None]
        if not known:
            return None
        largest = max(each for _, each in known)
        colour = adapt_colour(axes, MODEL)
        (artist,) = axes.plot(
            [each - largest for _, each in known],
            [place + offset for place, _ in known],
            marker,
            mfc=colour if marker == "o" else "none",
            mec=colour,
            ms=6,
            label=label,
        )
        return artist

    def _note_missing(self, axes: Any, places: set[int]) -> None:
        """Note the models that a panel says nothing of."""
        for place in set(range(len(self.comparison.models))) - places:
            axes.text(
                *(0.02, place, "not available"),
                transform=axes.get_yaxis_transform(),
                va="center",
                fontsize=STYLE.font_size,
                color=adapt_colour(axes, FAINT),
            )
