"""Plot of a bias–variance decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from relvec._checks import check_choice
from relvec._typing import Vector
from relvec.assessing import BiasVariance
from relvec.describing import get_column_names, shorten
from relvec.plotting._axes import (
    adapt_colour,
    draw_grid,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
)
from relvec.plotting._style import DATA, INK, MODEL, OTHER

__all__ = ["BiasVarianceDisplay"]

KINDS = ("auto", "curves", "bars")
COLOURS = {"squared bias": OTHER, "variance": MODEL, "noise": DATA}


class BiasVarianceDisplay:
    """Plot of squared bias, variance and noise of one or several estimators.

    Over one input, curves of all parts and of their sum, with a panel for each estimator and bands
    of one standard error. For several inputs, or for bootstrap samples, stacked bars of the means,
    with one standard error of their sum. Use `from_results` to create one.

    Parameters
    ----------
    results : sequence of BiasVariance
        Results of `relvec.bias_variance_decomposition`.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        One for each estimator, or one for all bars.
    lines_ : list of dict
        Curves of each estimator by name of the part, for curves.
    bars_ : dict
        Bars of all estimators by name of the part, for bars.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, bias_variance_decomposition
    >>> from relvec.plotting import BiasVarianceDisplay
    >>> def function(X):
    ...     return np.sin(X[:, 0])
    >>> def make(random_state):
    ...     rng = np.random.default_rng(random_state)
    ...     X = rng.uniform(-3, 3, size=(40, 1))
    ...     return X, function(X) + 0.2 * rng.normal(size=40)
    >>> result = bias_variance_decomposition(
    ...     RVMRegressor(gamma=0.5), make, function=function, n_fits=5, random_state=0
    ... )
    >>> display = BiasVarianceDisplay.from_results(result)
    >>> sorted(display.lines_[0])
    ['MSE', 'noise', 'squared bias', 'variance']

    >>> display.figure_.clear()
    """

    def __init__(self, results: BiasVariance | Sequence[BiasVariance]) -> None:
        listed: list[Any] = [results] if isinstance(results, BiasVariance) else list(results)
        wrong = [each for each in listed if not isinstance(each, BiasVariance)]
        if wrong or not listed:
            raise TypeError(
                "BiasVarianceDisplay needs results of bias_variance_decomposition(estimator, ...); "
                f"got {wrong[0]!r}."
                if wrong
                else "BiasVarianceDisplay needs at least one result."
            )
        if len({each.is_separated for each in listed}) > 1:
            raise ValueError(
                "results of a generator and of bootstrap samples cannot be compared: the first are "
                "errors at the test inputs, the second out-of-bag errors. Plot them one at a time."
            )
        self.results = listed

    @classmethod
    def from_results(
        cls, results: BiasVariance | Sequence[BiasVariance], *, kind: str = "auto", ax: Any = None
    ) -> Self:
        """Plot results of `relvec.bias_variance_decomposition`.

        Parameters
        ----------
        results : BiasVariance or sequence of them
            Results of the estimators to compare.
        kind, ax
            As in `plot`.

        Returns
        -------
        display : BiasVarianceDisplay
        """
        return cls(results).plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "auto", legend: bool = True) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            Axes to draw on, one for each estimator with curves; a new figure by default.
        kind : {"auto", "curves", "bars"}, default="auto"
            Curves over the input, or bars of the means. "auto" draws curves if there is one input
            and the function is known.
        legend : bool, default=True
            Draw a legend above the first axes.

        Returns
        -------
        display : BiasVarianceDisplay
        """
        check_choice("kind", kind, KINDS)
        has_curves = all(
            each.is_separated and np.ndim(each.X) == 2 and each.X.shape[1] == 1
            for each in self.results
        )
        if kind == "curves" and not has_curves:
            raise ValueError(
                'kind="curves" needs one input and data sets of a generator, whose function is '
                'known. Use kind="bars".'
            )
        self.lines_: list[dict[str, Any]] = []
        self.bars_: dict[str, Any] = {}
        if kind == "bars" or not has_curves:
            height = 1.3 + 0.45 * len(self.results)
            self.figure_, self.axes_ = get_axes(ax, 1, "the bars", figsize=(6.8, height))
            self._draw_bars(self.axes_[0])
        else:
            count = len(self.results)
            self.figure_, self.axes_ = get_axes(
                ax,
                count,
                "one estimator each",
                ncols=count,
                figsize=(max(4.0 * count, 5.4), 3.6),
                sharey=True,
            )
            for axes, result in zip(self.axes_, self.results, strict=True):
                self._draw_curves(axes, result)
            self.axes_[0].set_ylabel("squared error")
            bottom, top = self.axes_[0].get_ylim()
            self.axes_[0].set_ylim(bottom, top + 0.12 * (top - bottom))  # the names of estimators
        for axes in self.axes_:
            finish_axes(axes)
        if legend:
            place_legend_above(self.axes_[0])
        return self

    def _draw_curves(self, axes: Any, result: BiasVariance) -> None:
        x = np.asarray(result.X, dtype=np.float64)[:, 0]
        order = np.argsort(x, kind="stable")
        parts: dict[str, tuple[Vector, Vector | None]] = {
            "squared bias": (result.point_remainder, result.point_remainder_error),
            "variance": (result.point_variance, result.point_variance_error),
            "noise": (result.point_noise, None),
        }
        drawn = {}
        total = np.sum([values for values, _ in parts.values()], axis=0)
        (drawn["MSE"],) = axes.plot(
            x[order], total[order], color=adapt_colour(axes, INK), lw=1.0, ls=":", label="MSE (sum)"
        )
        for label, (values, error) in parts.items():
            colour = adapt_colour(axes, COLOURS[label])
            line = "--" if label == "noise" else "-"
            (drawn[label],) = axes.plot(
                x[order], values[order], color=colour, lw=1.6, ls=line, label=label
            )
            if error is not None and np.isfinite(error).all():
                low, high = (values - error)[order], (values + error)[order]
                axes.fill_between(x[order], low, high, color=colour, alpha=0.2, lw=0)
        self.lines_.append(drawn)
        axes.axhline(0.0, color=adapt_colour(axes, DATA), lw=0.6, zorder=0)
        axes.set(xlim=(x.min(), x.max()), xlabel=escape_mathtext(get_column_names(result.X)[0]))
        # the title is below the legend, which is above the first axes only
        axes.text(
            0.5,
            0.97,
            f"{escape_mathtext(shorten(result.name))}: MSE {result.mse:.3g}",
            transform=axes.transAxes,
            ha="center",
            va="top",
            color=adapt_colour(axes, INK),
        )

    def _draw_bars(self, axes: Any) -> None:
        rows = np.arange(len(self.results))
        is_known = not any(np.isnan(each.noise) for each in self.results)
        parts = {
            "squared bias": [each.squared_bias for each in self.results],
            "variance": [each.variance for each in self.results],
            "noise": [each.noise for each in self.results],
        }
        if not is_known:
            parts = {
                "squared bias and noise": [each.bias_and_noise for each in self.results],
                "variance": parts["variance"],
            }
        elif not self.results[0].is_separated:  # what is left of a large noise estimate
            noise = [each.bias_and_noise - each.squared_bias for each in self.results]
            parts["noise"] = noise
        left = np.zeros(len(rows))
        for label, values in parts.items():
            # an unbiased estimate of a squared bias may be negative
            lengths = np.maximum(values, 0.0)
            self.bars_[label] = axes.barh(
                rows,
                lengths,
                left=left,
                height=0.6,
                color=adapt_colour(axes, COLOURS.get(label, OTHER)),
                label=label,
            )
            left = left + lengths
        errors = [each.standard_error.mse for each in self.results]
        axes.errorbar(
            left,
            rows,
            xerr=np.nan_to_num(errors),
            fmt="none",
            ecolor=adapt_colour(axes, INK),
            capsize=3,
        )
        names = [escape_mathtext(shorten(each.name)) for each in self.results]
        axes.set_yticks(rows, names)
        axes.invert_yaxis()
        axes.set_xlim(left=0.0)
        axes.set_xlabel(
            "mean squared error of new targets"
            if self.results[0].is_separated
            else "out-of-bag mean squared error"
        )
        draw_grid(axes, "x")
