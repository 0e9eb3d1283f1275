"""Plot of evidence and held-out predictions against the length-scale of a kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec._typing import Vector
from relvec.assessing import EvidenceCurve
from relvec.plotting._axes import (
    adapt_colour,
    finish_axes,
    get_axes,
    place_legend_above,
)
from relvec.plotting._style import DATA, INK, MODEL, line_style

__all__ = ["EvidenceCurveDisplay"]

EVIDENCES = {
    "log_evidence": "log evidence",
    "penalised_evidence": "penalised",
    "tied_evidence": "tied precisions",
}


class EvidenceCurveDisplay:
    """Plot of criteria of model selection against the length-scale of the kernel.

    Three panels over the length-scale: the log evidence with its penalised and tied variants; the
    mean log predictive density of held-out rows, with a band of one standard error; and the number
    of basis functions. The maximum of each criterion is marked. A vertical line is the spacing of
    the inputs, and the length-scales below it are shaded. Use `from_curve` to create one.

    Parameters
    ----------
    curve : EvidenceCurve
        Result of `relvec.evidence_curve`.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        Evidence, held-out predictions, number of basis functions.
    lines_ : dict
        Curve of each criterion, by its name in `curve`.
    maxima_ : dict
        Mark of the maximum of each criterion.
    text_ : matplotlib Text or None
        Warning in the first panel if the log evidence is largest below the spacing.

    See Also
    --------
    AtomEvidenceDisplay : Evidence against the precision of one basis function.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, evidence_curve
    >>> from relvec.plotting import EvidenceCurveDisplay
    >>> x = np.linspace(-10, 10, 50)[:, np.newaxis]
    >>> y = np.sinc(x[:, 0] / np.pi) + 0.05 * np.random.default_rng(0).normal(size=50)
    >>> curve = evidence_curve(RVMRegressor(), x, y, length_scales=[0.5, 2.0, 8.0], cv=2)
    >>> display = EvidenceCurveDisplay.from_curve(curve)
    >>> float(display.maxima_["log_evidence"].get_xdata()[0])
    2.0

    >>> display.figure_.clear()
    """

    def __init__(self, curve: EvidenceCurve) -> None:
        if not isinstance(curve, EvidenceCurve):
            raise TypeError(
                "EvidenceCurveDisplay needs the result of evidence_curve(estimator, X, y); got "
                f"{curve!r} of type {type(curve).__name__}."
            )
        self.curve = curve

    @classmethod
    def from_curve(cls, curve: EvidenceCurve, ax: Any = None) -> Self:
        """Plot the result of `relvec.evidence_curve`.

        Parameters
        ----------
        curve : EvidenceCurve
            Result of `relvec.evidence_curve`.
        ax : sequence of 3 matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : EvidenceCurveDisplay
        """
        return cls(curve).plot(ax)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : sequence of 3 matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        legend : bool, default=True
            Draw a legend above the first panel.

        Returns
        -------
        display : EvidenceCurveDisplay
        """
        self.figure_, self.axes_ = get_axes(
            ax,
            3,
            "evidence, held-out predictions and number of basis functions",
            nrows=3,
            figsize=(6.4, 7.2),
            sharex=True,
            height_ratios=(2.0, 1.4, 1.0),
        )
        curve, (evidence, held_out, count) = self.curve, self.axes_
        self.lines_: dict[str, Any] = {}
        self.maxima_: dict[str, Any] = {}
        self.text_ = None
        for index, (key, label) in enumerate(EVIDENCES.items()):
            self._draw_criterion(evidence, key, label, index)
        evidence.set_ylabel("evidence (nats)")
        self._draw_held_out(held_out)
        (self.lines_["n_relevant"],) = count.plot(
            curve.length_scales, curve.n_relevant, color=adapt_colour(count, MODEL), lw=1.6
        )
        count.set_ylabel("basis functions")
        count.set_ylim(bottom=0.0)
        count.set_xlabel("length-scale")
        for axes in self.axes_:
            self._draw_spacing(axes)
            finish_axes(axes)
        if curve.is_below_spacing:
            self.text_ = self._warn(evidence)
        if legend:
            place_legend_above(evidence)
        return self

    def _draw_criterion(self, axes: Any, key: str, label: str, index: int) -> None:
        values: Vector = getattr(self.curve, key)
        style, place = line_style(index), int(np.nanargmax(values))
        colour = adapt_colour(axes, style.colour)
        (self.lines_[key],) = axes.plot(
            self.curve.length_scales, values, color=colour, ls=style.dashes, lw=1.6, label=label
        )
        (self.maxima_[key],) = axes.plot(
            self.curve.length_scales[place], values[place], style.marker, color=colour, ms=7
        )

    def _draw_held_out(self, axes: Any) -> None:
        curve = self.curve
        axes.set_ylabel("held-out MLPD (nats)")
        if np.isnan(curve.mlpd).all():
            axes.text(
                0.5,
                0.5,
                "not computed (cv=None)",
                transform=axes.transAxes,
                ha="center",
                va="center",
            )
            axes.set_yticks([])
            return
        self._draw_criterion(axes, "mlpd", "", 0)
        axes.fill_between(
            curve.length_scales,
            curve.mlpd - curve.mlpd_error,
            curve.mlpd + curve.mlpd_error,
            color=adapt_colour(axes, MODEL),
            alpha=0.2,
            lw=0,
        )

    def _draw_spacing(self, axes: Any) -> None:
        curve = self.curve
        axes.set_xscale("log")
        # A single length-scale has no range.
        low, high = curve.length_scales[[0, -1]]
        low, high = (low / 1.1, high * 1.1) if low == high else (low, high)
        axes.set_xlim(low, high)
        colour = adapt_colour(axes, DATA)
        if low < curve.spacing < high:
            axes.axvline(curve.spacing, color=colour, lw=0.9, ls=":", label="spacing of the inputs")
        if curve.spacing > low:
            axes.axvspan(low, min(curve.spacing, high), color=colour, alpha=0.12, lw=0, zorder=-1)
        own = curve.own_length_scale
        if own is not None and low < own < high:
            axes.axvline(
                own, color=adapt_colour(axes, INK), lw=0.9, ls="-.", label="estimator itself"
            )

    def _warn(self, axes: Any) -> Any:
        return axes.text(
            0.98,
            0.97,
            "log evidence is largest below the spacing:\nnot a choice of length-scale",
            transform=axes.transAxes,
            ha="right",
            va="top",
            color=adapt_colour(axes, INK),
            bbox={"facecolor": axes.get_facecolor(), "edgecolor": "none", "pad": 2.0},
        )
