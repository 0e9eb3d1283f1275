"""How the objective rises while a model is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from relvec._checks import check_choice
from relvec._typing import ArrayLike, Vector
from relvec.describing import get_final_estimator, get_objective_traces, name_estimators
from relvec.plotting._axes import finish, plain, take_axes, tone
from relvec.plotting._checks import check_line
from relvec.plotting._style import line_style

__all__ = ["EvidenceTraceDisplay"]

KINDS = ("objective", "gap")


class EvidenceTraceDisplay:
    """Picture of the objective after each accepted step of a fit.

    Use `from_estimator` to make one.

    Parameters
    ----------
    traces : mapping of str to array-like of shape (n_steps,)
        Name and objectives of every fit.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : dict of str to matplotlib Line2D
        The line of every fit.

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
            raise ValueError("traces must hold at least one fit; got none.")
        self.traces: dict[str, Vector] = {}
        for name, trace in traces.items():
            line = check_line(f"traces[{name!r}]", trace)
            if len(line) == 0:
                raise ValueError(f"traces[{name!r}] is empty: there is no step to draw.")
            if not np.isfinite(line).all():
                raise ValueError(f"traces[{name!r}] must be finite; it holds NaN or infinity.")
            self.traces[name] = line

    @classmethod
    def from_estimator(cls, estimator: Any, *, kind: str = "objective", ax: Any = None) -> Self:
        """Draw the fits of one or several estimators.

        Parameters
        ----------
        estimator : estimator, sequence of them, or mapping of str to estimator
            Fitted classifiers or regressors of relvec; of several targets each has its line.
        kind : {"objective", "gap"}, default="objective"
            As in `plot`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

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
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        kind : {"objective", "gap"}, default="objective"
            The objective itself, or what it lacks to its last value, on a logarithmic axis.

        Returns
        -------
        display : EvidenceTraceDisplay
        """
        check_choice("kind", kind, KINDS)
        self.figure_, (self.ax_,) = take_axes(ax, 1, "the traces", figsize=(6.4, 4.0))
        self.lines_ = {}
        for place, (name, trace) in enumerate(self.traces.items()):
            colour, dashes, _ = line_style(place)
            # The last step has no gap to itself, and a logarithm of none.
            values = trace if kind == "objective" else _gap(trace)
            (self.lines_[name],) = self.ax_.plot(
                np.arange(len(values)),
                values,
                color=tone(self.ax_, colour),
                ls=dashes,
                lw=1.6,
                marker="o" if len(trace) <= 40 else "",
                ms=3.5,
                label=f"{plain(name)}, {trace[-1]:.2f} at the end",
            )
        self.ax_.set_xlabel("accepted step")
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        if kind == "objective":
            self.ax_.set_ylabel("objective (nats)")
        else:
            self.ax_.set_ylabel("nats below the end")
            self.ax_.set_yscale("log")
        finish(self.ax_, legend="lower right" if kind == "objective" else "upper right", grid=True)
        return self


def _gap(trace: Vector, smallest: float = 1e-10) -> Vector:
    """What the objective lacks to its end, in nats; NaN, which is not drawn, below rounding."""
    gap = trace[-1] - trace
    return np.where(gap > smallest, gap, np.nan)


def _traces(estimator: Any) -> list[Vector]:
    """Objectives of a fitted estimator, for each of its targets."""
    model = get_final_estimator(estimator)
    traces = get_objective_traces(model)
    if not traces:
        raise TypeError(
            "EvidenceTraceDisplay needs an estimator that kept the objective after each step, "
            f"such as RVMClassifier or RVMRegressor; {type(model).__name__} did not."
        )
    return traces
