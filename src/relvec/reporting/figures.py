"""Report figures common to all models: relevance, weights, objective; choice of rows to draw."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.describing import (
    Weights,
    collect_weights,
    find_transform,
    get_feature_gain,
    get_objective_traces,
    order_features,
)
from relvec.reporting.chart import Axis, Chart, format_number, pad_range, shorten_label
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

__all__ = [
    "Figure",
    "choose_rows",
    "describe_rows",
    "make_relevance_figure",
    "make_trace_figure",
    "make_weight_figure",
    "thin_indices",
]


@dataclass(frozen=True)
class Figure:
    """A chart with title, caption and legend."""

    title: str
    caption: str
    svg: str
    legend: tuple[tuple[str, str], ...] = ()
    """CSS class and label of each entry."""
    layout: str = ""
    """"wide" for the full width of the page, "rows" for a height that grows with the rows."""


def choose_rows(count: int, most: int) -> IndexArray:
    """Choose the rows to draw: all, or a random subset of size `most` with a fixed seed."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def thin_indices(count: int, most: int) -> IndexArray:
    """Return at most `most` evenly spaced indices, both ends included."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.intp))


def describe_rows(evaluated: PredictionSet) -> str:
    """Describe the rows that a figure shows: out-of-fold, training or held-out."""
    if evaluated.is_cross_validated:
        return "Out-of-fold predictions."
    if evaluated.is_training:
        return "Training rows: optimistic."
    return "Held-out rows."


def make_relevance_figure(subject: Subject) -> Figure | None:
    """Make the figure of feature relevance, if it was learnt: evidence gain and relevance."""
    relevance = getattr(subject.model, "feature_relevance_", None)
    if relevance is None or len(relevance) < 2:
        return None
    relevance = np.asarray(relevance, dtype=np.float64)
    gain, order = get_feature_gain(subject.model), order_features(subject.model)
    shown = order[: subject.limits.bars]
    largest = float((relevance if gain is None else gain)[shown].max()) or 1.0
    label, stretch = "relevance (∝ 1 / squared length-scale)", 1.05
    if gain is not None:  # leave space for the relevance at the end of each bar
        label, stretch = "gain in log evidence (nats)", 1.35
    ticks = [(float(row), shorten_label(subject.names[i])) for row, i in enumerate(shown)]
    chart = Chart(
        "feature relevance",
        Axis(0.0, stretch * largest, label),
        Axis(len(shown) - 0.4, -0.6, ticks=ticks),
        height=64 + 22 * max(len(shown), 3),
    )
    for row, i in enumerate(shown):
        feature_gain = None if gain is None else float(gain[i])
        _relevance_bar(chart, row, subject.names[i], float(relevance[i]), feature_gain, largest)
    caption = _relevance_caption(gain is not None)
    caption += _dropped_caption(relevance, len(shown))
    return Figure("Feature relevance", caption, chart.svg(), layout="rows")


def _relevance_bar(
    chart: Chart, row: int, name: str, relevance: float, gain: float | None, largest: float
) -> None:
    """Draw one feature: a bar of its gain, else of its relevance; a dot if it was dropped."""
    if relevance == 0.0:
        chart.dots([0.0], [row], "faint", [f"{name}: dropped"], 3.0)
        return
    tip = f"{name}: relevance {format_number(relevance)}"
    length = max(relevance if gain is None else gain, 0.0)
    if gain is not None:
        tip += f", gain {format_number(gain)} nats"
    chart.bar(0.0, length, row - 0.34, row + 0.34, "model", tip)
    if gain is not None:
        chart.text(length + 0.02 * largest, row, f"relevance {format_number(relevance, 2)}", "tick")


def _relevance_caption(is_gain: bool) -> str:
    if is_gain:
        return (
            "Bars: loss of log evidence if the feature is removed. Numbers: relevance, "
            "proportional to 1 / squared length-scale in standard deviations of the feature; a "
            "high relevance means fast variation, not importance. Dots: dropped features."
        )
    return (
        "Relevance: proportional to 1 / squared length-scale, in standard deviations of the "
        "feature. Dots: dropped features."
    )


def _dropped_caption(relevance: Vector, n_shown: int) -> str:
    n_features, dropped = len(relevance), int(np.count_nonzero(relevance == 0.0))
    text = f" {dropped} of {n_features} features were dropped." if dropped else ""
    return text + (f" Shown: the first {n_shown}." if n_features > n_shown else "")


class _Weight(NamedTuple):
    """One weight, with the names of its basis function and output."""

    mean: float
    std: float
    """Posterior standard deviation; zero if not available."""
    name: str
    output: str
    """Name of the target or class; empty if there is only one."""

    @property
    def label(self) -> str:
        """Return the tick label."""
        return shorten_label(f"{self.name} · {self.output}" if self.output else self.name)


def make_weight_figure(subject: Subject) -> Figure | None:
    """Make the figure of the largest weights with their posterior standard deviations."""
    groups = collect_weights(subject.model, subject.names)
    found = sorted(chain.from_iterable(map(_weights, groups)), key=lambda each: -abs(each.mean))
    if not found:
        return None
    rows = found[: subject.limits.bars]
    ends = [(weight.mean - weight.std, weight.mean + weight.std) for weight in rows]
    ticks = [(i, weight.label) for i, weight in enumerate(rows)]
    has_std = any(group.std is not None for group in groups)
    chart = Chart(
        f"weights of the {subject.units}",
        Axis(
            *pad_range([(0.0, 0.0), *ends]),
            "weight (posterior mean ± 1 std)" if has_std else "weight",
        ),
        Axis(len(rows) - 0.4, -0.6, ticks=ticks),
        height=64 + 22 * max(len(rows), 3),
    )
    chart.segments([[0.0, -0.6, 0.0, len(rows) - 0.4]], "axis")
    for i, weight in enumerate(rows):
        _weight_bar(chart, i, weight)
    caption = _weight_caption(subject)
    if len(found) > len(rows):
        caption += f" Shown: the {len(rows)} largest of {len(found)} weights."
    return Figure("Weights", caption, chart.svg(), layout="rows")


def _weights(group: Weights) -> list[_Weight]:
    std = np.zeros(len(group.mean)) if group.std is None else group.std
    parts = zip(group.mean.tolist(), std, group.atoms, strict=True)
    return [_Weight(*each, group.name) for each in parts]


def _weight_bar(chart: Chart, row: int, weight: _Weight) -> None:
    mean, std, name, output = weight
    chart.segments([[mean - std, row, mean + std, row]], "model thick")
    suffix = f" ({output})" if output else ""
    spread = f" ± {format_number(std)}" if std else ""
    chart.dots([mean], [row], "model", [f"{name}{suffix}: {format_number(mean)}{spread}"], 4.0)


def _weight_caption(subject: Subject) -> str:
    if subject.unit != "feature":
        return "Weights of the basis functions, posterior mean ± one standard deviation."
    response = f"the prediction of {subject.target}"
    if subject.counts_events:
        response = "the log rate"
    elif find_transform(subject.model) is not None:
        response = f"the transformed {subject.target}"
    if subject.is_classifier:
        response = "the log odds" if len(subject.classes) == 2 else "the logit of a class"
    return f"Change in {response} per unit increase of each feature."


def make_trace_figure(subject: Subject) -> Figure | None:
    """Make the figure of the objective after each accepted step."""
    traces = get_objective_traces(subject.model)
    trace = traces[0] if traces else np.empty(0)
    if len(trace) < 2 or not np.isfinite(trace).all():
        return None
    if np.ptp(trace) < 1e-3:  # nats: the last run started at the optimum
        return None
    shown = thin_indices(len(trace), subject.limits.steps)
    chart = Chart(
        "objective after each step",
        Axis(0.0, float(len(trace) - 1), "accepted step", ticks=_integer_ticks(len(trace) - 1)),
        Axis(*pad_range(trace), "objective (nats)"),
    )
    chart.line(shown, trace[shown], "model")
    tips = [f"step {i}: {format_number(trace[i], 6)}" for i in shown]
    chart.hover_points(shown, trace[shown], tips)
    end = f"{trace[-1]:.2f}".replace("-", "−")
    caption = f"Objective: log evidence with prior terms and penalties. Final value: {end} nats."
    return Figure("Objective during the fit", caption, chart.svg())


def _integer_ticks(last: int) -> list[tuple[float, str]]:
    """Return ticks at integers from zero."""
    every = max(1, -(-last // 6))
    return [(float(i), str(i)) for i in range(0, last + 1, every)]
