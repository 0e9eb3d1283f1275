"""Plot of the coverage of intervals inside and outside the range of the training inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from relvec.assessing import CoverageOutside
from relvec.describing import shorten
from relvec.plotting._axes import (
    adapt_colour,
    draw_grid,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
)
from relvec.plotting._checks import check_coverage
from relvec.plotting._style import DATA, MODEL, OTHER

__all__ = ["CoverageOutsideDisplay"]


class CoverageOutsideDisplay:
    """Plot of the coverage of intervals inside and outside the range of the training inputs.

    A panel for each nominal coverage, marked by a vertical line; in it, for each estimator, the
    share of held-out targets inside the intervals, with a 95 % Wilson score interval. Use
    `from_results` to create one.

    Parameters
    ----------
    results : CoverageOutside or sequence of them
        Results of `relvec.coverage_outside`.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        One for each nominal coverage.
    points_ : dict
        Drawn coverages, by "inside" or "outside" and nominal coverage.

    See Also
    --------
    ExtrapolationDisplay : Predictions against the degree of extrapolation.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, coverage_outside
    >>> from relvec.plotting import CoverageOutsideDisplay
    >>> x = np.linspace(-5, 5, 50)[:, np.newaxis]
    >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=50)
    >>> results = [
    ...     coverage_outside(RVMRegressor(gamma=0.5, error_bars=kind), x, y, name=kind)
    ...     for kind in ("novelty", "plain")
    ... ]
    >>> display = CoverageOutsideDisplay.from_results(results)
    >>> [label.get_text() for label in display.axes_[0].get_yticklabels()]
    ['novelty', 'plain']

    >>> display.figure_.clear()
    """

    def __init__(self, results: CoverageOutside | Sequence[CoverageOutside]) -> None:
        listed: list[Any] = [results] if isinstance(results, CoverageOutside) else list(results)
        wrong = [each for each in listed if not isinstance(each, CoverageOutside)]
        if wrong or not listed:
            raise TypeError(
                "CoverageOutsideDisplay needs results of coverage_outside(estimator, X, y); got "
                f"{wrong[0]!r}."
                if wrong
                else "CoverageOutsideDisplay needs at least one result."
            )
        self.results = listed

    @classmethod
    def from_results(
        cls,
        results: CoverageOutside | Sequence[CoverageOutside],
        *,
        levels: Sequence[float] = (0.5, 0.95),
        ax: Any = None,
    ) -> Self:
        """Plot results of `relvec.coverage_outside`.

        Parameters
        ----------
        results : CoverageOutside or sequence of them
            Results of the estimators to compare.
        levels, ax
            As in `plot`.

        Returns
        -------
        display : CoverageOutsideDisplay
        """
        return cls(results).plot(ax, levels=levels)

    def plot(
        self, ax: Any = None, *, levels: Sequence[float] = (0.5, 0.95), legend: bool = True
    ) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, optional
            Axes to draw on, one for each nominal coverage; a new figure by default.
        levels : sequence of float, default=(0.5, 0.95)
            Nominal coverages.
        legend : bool, default=True
            Draw a legend above the first axes.

        Returns
        -------
        display : CoverageOutsideDisplay
        """
        levels = [check_coverage(level) for level in levels]
        count, height = len(levels), 1.5 + 0.5 * len(self.results)
        self.figure_, self.axes_ = get_axes(
            ax,
            count,
            "one nominal coverage each",
            ncols=count,
            figsize=(1.0 + 3.4 * count, height),
            sharey=True,
        )
        self.points_: dict[tuple[str, float], Any] = {}
        for axes, level in zip(self.axes_, levels, strict=True):
            axes.axvline(level, color=adapt_colour(axes, DATA), lw=0.9, ls=":")
            # the two are drawn a little above and below the row of the estimator
            self._draw(axes, "inside", level, -0.14, MODEL, "o")
            self._draw(axes, "outside", level, 0.14, OTHER, "s")
            axes.set_xlim(-0.02, 1.02)
            axes.set_xlabel(f"coverage of {100.0 * level:g} % intervals")
            draw_grid(axes, "x")
        names = [escape_mathtext(shorten(each.name)) for each in self.results]
        self.axes_[0].set_yticks(np.arange(len(names)), names)
        self.axes_[0].set_ylim(len(names) - 0.5, -0.5)
        for axes in self.axes_:
            finish_axes(axes)
        if legend:
            place_legend_above(self.axes_[0])
        return self

    def _draw(
        self, axes: Any, part: str, level: float, shift: float, colour: str, marker: str
    ) -> None:
        metrics = [getattr(each, part) for each in self.results]
        share = np.array([each.coverage(level).value for each in metrics])
        ends = np.array([each.coverage_interval(level) for each in metrics]).T
        self.points_[part, level] = axes.errorbar(
            share,
            np.arange(len(share)) + shift,
            xerr=np.abs(ends - share),
            fmt=marker,
            color=adapt_colour(axes, colour),
            ms=5,
            capsize=2.5,
            lw=1.2,
            label="inside (cross-validation)" if part == "inside" else "outside",
        )
