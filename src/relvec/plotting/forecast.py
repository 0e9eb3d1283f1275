"""Plot of a series with its forecast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from relvec._checks import check_integer
from relvec._typing import ArrayLike, Matrix
from relvec.plotting._axes import (
    adapt_colour,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
)
from relvec.plotting._checks import check_coverage, check_vector
from relvec.plotting._structures import check_search, mark_end, read_positions, to_positions
from relvec.plotting._style import DATA, MODEL, OTHER

__all__ = ["ForecastDisplay"]

MOST_POINTS = 400
"""Longer histories are lines, not points."""
OPACITIES = (0.15, 0.4)
"""Of the widest and of the narrowest band."""


class ForecastDisplay:
    """Plot of a series with the median and the intervals of its forecast.

    Use `from_estimator` to create one.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        History: inputs, numbers or dates, and targets.
    x_future : array-like of shape (n_steps,)
        Inputs that are predicted.
    median : array-like of shape (n_steps,)
        Predictive medians.
    intervals : array-like of shape (n_coverages, n_steps, 2)
        Predictive intervals of each coverage.
    coverages : sequence of float, default=(0.5, 0.8, 0.95)
        Coverages of the intervals.
    y_future : array-like of shape (n_steps,), optional
        Observed targets at `x_future`; NaN where they are not known yet.
    names : tuple of two str, default=("", "y")
        Names of input and target.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    history_, median_, observed_ : matplotlib Line2D
        `observed_` is None without observed targets.
    bands_ : list of matplotlib PolyCollection
        One for each coverage, the widest first.

    See Also
    --------
    ComponentsDisplay : The components of the forecast.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import KernelSearchRegressor
    >>> from relvec.plotting import ForecastDisplay
    >>> t = np.arange(72.0)[:, np.newaxis]
    >>> rng = np.random.default_rng(0)
    >>> y = 0.1 * t[:, 0] + np.sin(2 * np.pi * t[:, 0] / 12) + 0.2 * rng.normal(size=72)
    >>> model = KernelSearchRegressor(effort="fast").fit(t, y)
    >>> display = ForecastDisplay.from_estimator(model, n_steps=12)
    >>> len(display.median_.get_xdata()), len(display.bands_)
    (12, 3)
    """

    def __init__(
        self,
        *,
        x: ArrayLike,
        y: ArrayLike,
        x_future: ArrayLike,
        median: ArrayLike,
        intervals: ArrayLike,
        coverages: Sequence[float] = (0.5, 0.8, 0.95),
        y_future: ArrayLike | None = None,
        names: tuple[str, str] = ("", "y"),
    ) -> None:
        self.y = check_vector("y", y)
        self.x = read_positions("x", x, len(self.y))
        self.median = check_vector("median", median)
        n_steps = len(self.median)
        self.x_future = read_positions("x_future", x_future, n_steps)
        for coverage in coverages:
            check_coverage(coverage)
        self.coverages = list(coverages)
        self.intervals = _read_intervals(intervals, (len(self.coverages), n_steps, 2))
        self.y_future = (
            None if y_future is None else check_vector("y_future", y_future, n_steps, "median")
        )
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        n_steps: int | None = None,
        n_history: int | None = None,
        coverages: Sequence[float] = (0.5, 0.8, 0.95),
        names: tuple[str, str] = ("", "y"),
        ax: Any = None,
    ) -> Self:
        """Plot the forecast of a fitted kernel search.

        Parameters
        ----------
        estimator : KernelSearchRegressor
            Fitted to one input.
        X : array-like of shape (n_steps, 1), optional
            Inputs to predict; by default the next `n_steps` ones.
        y : array-like of shape (n_steps,), optional
            Observed targets at `X`, or at the next inputs.
        n_steps : int, optional
            Number of inputs to predict without `X`; by default the length of `y`, or a fifth of
            the history.
        n_history : int, optional
            Number of last training rows to draw; by default all.
        coverages : sequence of float, default=(0.5, 0.8, 0.95)
            Coverages of the intervals.
        names : tuple of two str, default=("", "y")
            Names of input and target.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ForecastDisplay
        """
        model = check_search(estimator, cls.__name__)
        if model.n_features_in_ != 1:
            raise ValueError(
                f"ForecastDisplay plots models of one input; the model has {model.n_features_in_}. "
                "Use ComponentsDisplay."
            )
        rows = model.training_rows_
        if X is None:
            default = max(1, len(rows.target) // 5) if y is None else len(np.asarray(y))
            X = model.future_inputs(default if n_steps is None else n_steps)
        levels = [0.5 + 0.5 * sign * each for each in coverages for sign in (-1.0, 1.0)]
        quantiles = model.predict_quantiles(X, [0.5, *levels])
        kept = slice(None)
        if n_history is not None:
            kept = slice(-check_integer("n_history", n_history, minimum=1), None)
        display = cls(
            x=to_positions(rows.inputs[:, 0], model.has_dates_)[kept],
            y=rows.target[kept],
            x_future=X,
            median=quantiles[:, 0],
            intervals=quantiles[:, 1:].reshape(len(quantiles), -1, 2).transpose(1, 0, 2),
            coverages=coverages,
            y_future=y,
            names=names,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ForecastDisplay
        """
        self.figure_, (axes,) = get_axes(ax, 1, "the forecast", figsize=(8.0, 3.8))
        self.ax_ = axes
        size = float(np.clip(60.0 / np.sqrt(len(self.y)), 2.0, 4.5))
        marker = "o" if len(self.y) <= MOST_POINTS else ""
        data = adapt_colour(axes, DATA)
        (self.history_,) = axes.plot(
            self.x, self.y, color=data, lw=0.8, marker=marker, ms=size, mew=0, label="observed"
        )
        mark_end(axes, self.x[-1])
        self._draw_fan()
        self.observed_ = None
        if self.y_future is not None:
            (self.observed_,) = axes.plot(
                self.x_future,
                self.y_future,
                color=adapt_colour(axes, OTHER),
                lw=0.8,
                marker="o" if marker or len(self.y_future) <= MOST_POINTS else "",
                ms=size,
                mew=0,
                label="observed later",
            )
        axes.set(xlabel=escape_mathtext(self.names[0]), ylabel=escape_mathtext(self.names[1]))
        axes.margins(x=0.01)
        finish_axes(axes)
        place_legend_above(axes, most_columns=6)
        return self

    def _draw_fan(self) -> None:
        """Draw the intervals, the widest first, and the median."""
        order = np.argsort(self.x_future, kind="stable")
        x, colour = self.x_future[order], adapt_colour(self.ax_, MODEL)
        self.bands_ = []
        places = np.argsort(self.coverages)[::-1]
        # narrower bands lie on wider ones, so their opacities add up
        for place, opacity in zip(places, np.linspace(*OPACITIES, len(places)), strict=True):
            low, high = self.intervals[place][order].T
            band = self.ax_.fill_between(
                x,
                low,
                high,
                color=colour,
                alpha=opacity,
                lw=0,
                label=f"{100 * self.coverages[place]:.4g} % interval",
            )
            self.bands_.append(band)
        (self.median_,) = self.ax_.plot(
            x, self.median[order], color=colour, lw=1.5, label="median", zorder=3
        )


def _read_intervals(intervals: Any, shape: tuple[int, ...]) -> Matrix:
    array = np.asarray(intervals, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"intervals must have shape {shape}, (n_coverages, n_steps, 2); got {array.shape}."
        )
    return array
