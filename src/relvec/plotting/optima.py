"""Where runs in random order end: how good, how often, and with which atoms."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec._typing import Vector
from relvec.estimators import OptimaReport
from relvec.plotting._axes import finish, set_title, take_axes, tone
from relvec.plotting._style import DATA, INK, MODEL, OTHER, STYLE

__all__ = ["OptimaDisplay"]


class OptimaDisplay:
    """Picture of the local maxima of the evidence.

    Three panels: error against what the objective lacks to the best one; how many runs ended
    how far below; and the atoms of the different solutions, the best on top. Use `from_report`
    to make one.

    Parameters
    ----------
    report : OptimaReport
        What `relvec.explore_optima` returns.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        Errors, histogram, atoms.
    points_, chosen_ : matplotlib artists
        The runs and the chosen solution in the first panel.

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
    'nats below the best'

    >>> display.figure_.clear()
    """

    def __init__(self, report: OptimaReport) -> None:
        if not isinstance(report, OptimaReport):
            raise TypeError(
                "OptimaDisplay draws what explore_optima(estimator, X, y) returns; got "
                f"{report!r} of type {type(report).__name__}."
            )
        self.report = report

    @classmethod
    def from_report(cls, report: OptimaReport, ax: Any = None) -> Self:
        """Draw a report.

        Parameters
        ----------
        report : OptimaReport
            What `relvec.explore_optima` returns.
        ax : sequence of 3 matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : OptimaDisplay
        """
        return cls(report).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : sequence of 3 matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : OptimaDisplay
        """
        self.figure_, self.axes_ = take_axes(
            ax, 3, "errors, a histogram and the atoms", ncols=3, figsize=(12.0, 3.8)
        )
        report = self.report
        top = max(report.best.objective, report.chosen.objective)
        gap = np.maximum(top - report.objectives, 0.0)
        near = 0.1  # nats; smaller gaps are drawn to scale, larger ones on a logarithmic axis
        self._draw_errors(gap, max(top - report.chosen.objective, 0.0), near)
        self._draw_histogram(gap, near)
        self._draw_atoms()
        for axes in self.axes_:
            finish(axes)
        return self

    def _draw_errors(self, gap: Vector, chosen_gap: float, near: float) -> None:
        axes, report = self.axes_[0], self.report
        bad = report.is_bad
        self.points_ = axes.scatter(
            gap,
            report.errors,
            s=16,
            c=[tone(axes, OTHER if each else MODEL) for each in bad],
            alpha=0.45,
            lw=0,
        )
        (self.chosen_,) = axes.plot(
            chosen_gap, report.chosen.error, "*", color=tone(axes, INK), ms=13, zorder=3
        )
        axes.annotate(
            "chosen",
            (chosen_gap, report.chosen.error),
            xytext=(0, 10),
            textcoords="offset points",
            fontsize=STYLE.font_size,
            color=tone(axes, INK),
        )
        axes.set_xscale("symlog", linthresh=near)
        axes.set_xlim(left=-0.3 * near)
        if report.errors.min() > 0.0:
            axes.set_yscale("log")
        axes.set_xlabel("nats below the best")
        axes.set_ylabel("error to the truth" if report.has_truth else "training error")
        set_title(
            axes,
            f"{len(report.runs)} runs, {report.n_unique} different, "
            f"{100 * report.share_bad:.3g} % bad",
        )

    def _draw_histogram(self, gap: Vector, near: float) -> None:
        axes, report = self.axes_[1], self.report
        edges = np.concatenate([[0.0], np.geomspace(near / 10, max(gap.max(), near) * 1.01, 25)])
        for mask, colour, label in ((~report.is_bad, MODEL, "good"), (report.is_bad, OTHER, "bad")):
            if mask.any():
                axes.hist(gap[mask], bins=edges.tolist(), color=tone(axes, colour), label=label)
        axes.set_xscale("symlog", linthresh=near)
        axes.set_xlim(left=0.0)
        axes.set_xlabel("nats below the best")
        axes.set_ylabel("runs")
        set_title(axes, "how far below the best runs end")
        if report.is_bad.any():
            axes.legend(frameon=False, fontsize=STYLE.font_size)

    def _draw_atoms(self) -> None:
        axes, report = self.axes_[2], self.report
        order = np.argsort(-report.objectives, kind="stable")
        rows: dict[tuple[int, ...], bool] = {}
        for number in order:
            rows.setdefault(tuple(report.runs[number].active), bool(report.is_bad[number]))
        shown = list(rows.items())[:200]  # the best; more rows than that run into each other
        for row, (atoms, bad) in enumerate(shown):
            axes.plot(
                atoms,
                np.full(len(atoms), row),
                "|",
                color=tone(axes, OTHER if bad else MODEL),
                ms=4,
                mew=1.2,
            )
        for atom in report.chosen.active:
            axes.axvline(atom, color=tone(axes, DATA), lw=0.6, alpha=0.6, zorder=0)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlabel("relevant atoms (lines: chosen)")
        axes.set_ylabel("solutions, best on top")
        set_title(axes, "which atoms they use")
