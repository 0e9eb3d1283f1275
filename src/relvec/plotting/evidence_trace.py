"""Plot of the objective during a fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from relvec._checks import check_choice
from relvec._typing import ArrayLike, Vector
from relvec.describing import get_final_estimator, get_objective_traces, name_estimators
from relvec.plotting._axes import adapt_colour, escape_mathtext, finish_axes, get_axes
from relvec.plotting._checks import check_vector
from relvec.plotting._style import line_style

__all__ = ["EvidenceTraceDisplay"]

KINDS = ("objective", "gap")


class EvidenceTraceDisplay:
    """Plot of the objective after each accepted step of a fit.

    Use `from_estimator` to create one.

    Parameters
    ----------
    traces : mapping of str to array-like of shape (n_steps,)
        Name of each fit, and its objective after each step.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : dict of str to matplotlib Line2D
        The line of each fit.

    Examples
    --------
    >>> from relvec import RVMClassifier
    >>> from relvec.datasets import make_snake
    >>> from relvec.plotting import EvidenceTraceDisplay
    >>> X, y = make_snake(100, random_state=0)
    >>> model = RVMClassifier(gamma=1.0).fit(X, y)
    >>> display = EvidenceTraceDisplay.from_estimator(model)
    >>> len(display.lines_["RVMClassifier"].get_ydata()) == len(model.trace_)
    True
    """

    def __init__(self, traces: Mapping[str, ArrayLike]) -> None:
        if not traces:
            raise ValueError("traces must contain at least one fit; got none.")
        self.traces: dict[str, Vector] = {}
        for name, trace in traces.items():
            line = check_vector(f"traces[{name!r}]", trace)
            if len(line) == 0:
                raise ValueError(f"traces[{name!r}] is empty: there is no step to plot.")
            if not np.isfinite(line).all():
                raise ValueError(f"traces[{name!r}] must be finite; it contains NaN or infinity.")
            self.traces[name] = line

    @classmethod
    def from_estimator(cls, estimator: Any, *, kind: str = "objective", ax: Any = None) -> Self:
        """Plot the objective of one or several fitted estimators.

        Parameters
        ----------
        estimator : estimator, sequence of them, or mapping of str to estimator
            Fitted classifiers or regressors of relvec; with one line per target.
        kind : {"objective", "gap"}, default="objective"
            As in `plot`.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : EvidenceTraceDisplay
        """
        traces: dict[str, Vector] = {}
        for name, each in name_estimators(estimator).items():
            found = _traces(each)
            for number, trace in enumerate(found):
                traces[name if len(found) == 1 else f"{name}, target {number}"] = trace
        return cls(traces).plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "objective") -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        kind : {"objective", "gap"}, default="objective"
            The objective itself, or its gap to the final value, on a logarithmic axis.

        Returns
        -------
        display : EvidenceTraceDisplay
        """
        check_choice("kind", kind, KINDS)
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the traces", figsize=(6.4, 4.0))
        self.lines_ = {}
        for index, (name, trace) in enumerate(self.traces.items()):
            colour, dashes, _ = line_style(index)
            # The gap of the last step is zero, which has no logarithm.
            values = trace if kind == "objective" else _gap(trace)
            (self.lines_[name],) = self.ax_.plot(
                np.arange(len(values)),
                values,
                color=adapt_colour(self.ax_, colour),
                ls=dashes,
                lw=1.6,
                marker="o" if len(trace) <= 40 else "",
                ms=3.5,
                label=f"{escape_mathtext(name)}, final value {trace[-1]:.2f}",
            )
        self.ax_.set_xlabel("accepted step")
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        if kind == "objective":
            self.ax_.set_ylabel("objective (nats)")
        else:
            self.ax_.set_ylabel("gap to the final value (nats)")
            self.ax_.set_yscale("log")
        finish_axes(
            self.ax_, legend="lower right" if kind == "objective" else "upper right", grid=True
        )
        return self


def _gap(trace: Vector, smallest: float = 1e-10) -> Vector:
    """Compute the gap to the final value, in nats; NaN, which is not drawn, if it is rounding."""
    gap = trace[-1] - trace
    return np.where(gap > smallest, gap, np.nan)


def _traces(estimator: Any) -> list[Vector]:
    """Return the objective of a fitted estimator after each step, for each target."""
    model = get_final_estimator(estimator)
    traces = get_objective_traces(model)
    if not traces:
        raise TypeError(
            "EvidenceTraceDisplay needs an estimator that stores the objective after each step, "
            f"such as RVMClassifier or RVMRegressor; {type(model).__name__} does not."
        )
    return traces
