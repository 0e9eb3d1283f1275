"""Plot of the local optima found by runs in random order."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec._typing import Vector
from relvec.estimators import OptimaReport
from relvec.plotting._axes import adapt_colour, finish_axes, get_axes, set_title
from relvec.plotting._style import DATA, INK, MODEL, OTHER, STYLE

__all__ = ["OptimaDisplay"]


class OptimaDisplay:
    """Plot of the local maxima of the evidence (marginal likelihood).

    Three panels: error against the gap to the best objective; histogram of the gaps; and the
    active sets of the distinct optima, the best on top. Use `from_report`
    to create one.

    Parameters
    ----------
    report : OptimaReport
        Result of `relvec.explore_optima`.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        Errors, histogram, atoms.
    points_, chosen_ : matplotlib artists
        Runs and chosen optimum in the first panel.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, explore_optima
    >>> from relvec.plotting import OptimaDisplay
    >>> x = np.linspace(-10, 10, 30)[:, np.newaxis]
    >>> y = np.sinc(x[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).normal(size=30)
    >>> report = explore_optima(RVMRegressor(gamma=0.1), x, y, n_runs=3, random_state=0)
    >>> display = OptimaDisplay.from_report(report)
    >>> display.axes_[0].get_xlabel()
    'gap to the best optimum (nats)'

    >>> display.figure_.clear()
    """

    def __init__(self, report: OptimaReport) -> None:
        if not isinstance(report, OptimaReport):
            raise TypeError(
                "OptimaDisplay needs the result of explore_optima(estimator, X, y); got "
                f"{report!r} of type {type(report).__name__}."
            )
        self.report = report

    @classmethod
    def from_report(cls, report: OptimaReport, ax: Any = None) -> Self:
        """Plot the result of `relvec.explore_optima`.

        Parameters
        ----------
        report : OptimaReport
            Result of `relvec.explore_optima`.
        ax : sequence of 3 matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : OptimaDisplay
        """
        return cls(report).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : sequence of 3 matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : OptimaDisplay
        """
        self.figure_, self.axes_ = get_axes(
            ax, 3, "errors, histogram and active sets", ncols=3, figsize=(12.0, 3.8)
        )
        report = self.report
        top = max(report.best.objective, report.chosen.objective)
        gap = np.maximum(top - report.objectives, 0.0)
        near = 0.1  # nats: the axis is linear below, logarithmic above
        self._draw_errors(gap, max(top - report.chosen.objective, 0.0), near)
        self._draw_histogram(gap, near)
        self._draw_atoms()
        for axes in self.axes_:
            finish_axes(axes)
        return self

    def _draw_errors(self, gap: Vector, chosen_gap: float, near: float) -> None:
        axes, report = self.axes_[0], self.report
        bad = report.is_bad
        self.points_ = axes.scatter(
            gap,
            report.errors,
            s=16,
            c=[adapt_colour(axes, OTHER if each else MODEL) for each in bad],
            alpha=0.45,
            lw=0,
        )
        (self.chosen_,) = axes.plot(
            chosen_gap, report.chosen.error, "*", color=adapt_colour(axes, INK), ms=13, zorder=3
        )
        axes.annotate(
            "chosen",
            (chosen_gap, report.chosen.error),
            xytext=(0, 10),
            textcoords="offset points",
            fontsize=STYLE.font_size,
            color=adapt_colour(axes, INK),
        )
        axes.set_xscale("symlog", linthresh=near)
        axes.set_xlim(left=-0.3 * near)
        if report.errors.min() > 0.0:
            axes.set_yscale("log")
        axes.set_xlabel("gap to the best optimum (nats)")
        axes.set_ylabel("MSE to the truth" if report.has_truth else "training MSE")
        set_title(
            axes,
            f"{len(report.runs)} runs, {report.n_unique} distinct optima, "
            f"{100 * report.share_bad:.3g} % bad",
        )

    def _draw_histogram(self, gap: Vector, near: float) -> None:
        axes, report = self.axes_[1], self.report
        edges = np.concatenate([[0.0], np.geomspace(near / 10, max(gap.max(), near) * 1.01, 25)])
        for mask, colour, label in ((~report.is_bad, MODEL, "good"), (report.is_bad, OTHER, "bad")):
            if mask.any():
                axes.hist(
                    gap[mask], bins=edges.tolist(), color=adapt_colour(axes, colour), label=label
                )
        axes.set_xscale("symlog", linthresh=near)
        axes.set_xlim(left=0.0)
        axes.set_xlabel("gap to the best optimum (nats)")
        axes.set_ylabel("number of runs")
        set_title(axes, "histogram of the gaps")
        if report.is_bad.any():
            axes.legend(frameon=False, fontsize=STYLE.font_size)

    def _draw_atoms(self) -> None:
        axes, report = self.axes_[2], self.report
        order = np.argsort(-report.objectives, kind="stable")
        rows: dict[tuple[int, ...], bool] = {}
        for number in order:
            rows.setdefault(tuple(report.runs[number].active), bool(report.is_bad[number]))
        shown = list(rows.items())[:200]  # the best; more rows would overlap
        for row, (atoms, bad) in enumerate(shown):
            axes.plot(
                atoms,
                np.full(len(atoms), row),
                "|",
                color=adapt_colour(axes, OTHER if bad else MODEL),
                ms=4,
                mew=1.2,
            )
        for atom in report.chosen.active:
            axes.axvline(atom, color=adapt_colour(axes, DATA), lw=0.6, alpha=0.6, zorder=0)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlabel("index of the atom (lines: chosen model)")
        axes.set_ylabel("distinct optima, best on top")
        set_title(axes, "active sets")
