"""What all pictures of a report share: a frame of words, tips, and which rows to draw."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.describing import (
    Weights,
    collect_weights,
    get_feature_gain,
    get_objective_traces,
    order_features,
)
from relvec.reporting.chart import Axis, Chart, number, padded, short
from relvec.reporting.predictions import Sample
from relvec.reporting.subject import Subject

__all__ = [
    "Figure",
    "relevance_figure",
    "rows_said",
    "some_rows",
    "thin",
    "trace_figure",
    "weight_figure",
]


@dataclass(frozen=True)
class Figure:
    """One picture with its words."""

    title: str
    caption: str
    svg: str
    legend: tuple[tuple[str, str], ...] = ()
    """Style and label of what is drawn."""
    layout: str = ""
    """"wide" for one that takes the whole width, "rows" for one as high as its rows are many."""


def some_rows(count: int, most: int) -> IndexArray:
    """Rows to draw: all, or as many as a page can show, chosen by chance but always alike."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def thin(count: int, most: int) -> IndexArray:
    """Evenly spaced places along a line, both ends included."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.intp))


def rows_said(judged: Sample) -> str:
    """Say whose predictions a picture shows."""
    if judged.is_cross_validated:
        return "Each row is predicted by a model that was fitted without it."
    if judged.is_seen:
        return "These are rows the model was fitted to, which flatters it."
    return "These are rows the model has not seen."


def relevance_figure(subject: Subject) -> Figure | None:
    """How much each input matters, if that was learnt: what it explains, and how it bends."""
    relevance = getattr(subject.model, "feature_relevance_", None)
    if relevance is None or len(relevance) < 2:
        return None
    relevance = np.asarray(relevance, dtype=np.float64)
    gain, order = get_feature_gain(subject.model), order_features(subject.model)
    shown = order[: subject.limits.bars]
    largest = float((relevance if gain is None else gain)[shown].max()) or 1.0
    label, room = "relevance (1 / squared length scale)", 1.05
    if gain is not None:  # with words at the ends of the bars
        label, room = "log evidence it brings (nats)", 1.35
    ticks = [(float(row), short(subject.names[i])) for row, i in enumerate(shown)]
    chart = Chart(
        "relevance of the inputs",
        Axis(0.0, room * largest, label),
        Axis(len(shown) - 0.4, -0.6, ticks=ticks),
        height=64 + 22 * max(len(shown), 3),
    )
    for row, i in enumerate(shown):
        brings = None if gain is None else float(gain[i])
        _relevance_bar(chart, row, subject.names[i], float(relevance[i]), brings, largest)
    caption = _what_relevance_is(gain is not None)
    caption += _what_is_missing(relevance, len(shown))
    return Figure("Relevance of inputs", caption, chart.svg(), layout="rows")


def _relevance_bar(
    chart: Chart, row: int, name: str, bends: float, gain: float | None, largest: float
) -> None:
    """One input: a bar as long as what it explains, or else as it bends; a dot if left out."""
    if bends == 0.0:
        chart.dots([0.0], [row], "faint", [f"{name}: left out"], 3.0)
        return
    tip = f"{name}: relevance {number(bends)}"
    length = max(bends if gain is None else gain, 0.0)
    if gain is not None:
        tip += f", brings {number(gain)} nats"
    chart.bar(0.0, length, row - 0.34, row + 0.34, "model", tip)
    if gain is not None:
        chart.text(length + 0.02 * largest, row, f"bends {number(bends, 2)}", "tick")


def _what_relevance_is(is_gain: bool) -> str:
    if is_gain:
        return (
            "What would be lost without an input, which is not how fast the function bends along "
            "it (1 / squared length scale, in units of its spread: the numbers). A dot: left out."
        )
    return "How fast the function bends along each input, in units of its spread; a dot: left out."


def _what_is_missing(relevance: Vector, n_shown: int) -> str:
    n_inputs, dropped = len(relevance), int(np.count_nonzero(relevance == 0.0))
    words = f" That is {dropped} of {n_inputs} inputs." if dropped else ""
    return words + (f" The first {n_shown} are shown." if n_inputs > n_shown else "")


class _Weight(NamedTuple):
    """One weight, with what it belongs to."""

    mean: float
    std: float
    """Zero where it is not known."""
    name: str
    of: str
    """Which target or logit; empty if there is only one."""

    @property
    def label(self) -> str:
        """What it is called beside its bar."""
        return short(f"{self.name} · {self.of}" if self.of else self.name)


def weight_figure(subject: Subject) -> Figure | None:
    """Largest weights, with their error bars where they are known."""
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
            *padded([(0.0, 0.0), *ends]), "weight ± one standard deviation" if has_std else "weight"
        ),
        Axis(len(rows) - 0.4, -0.6, ticks=ticks),
        height=64 + 22 * max(len(rows), 3),
    )
    chart.segments([[0.0, -0.6, 0.0, len(rows) - 0.4]], "axis")
    for i, weight in enumerate(rows):
        _weight_bar(chart, i, weight)
    caption = _what_weights_do(subject)
    if len(found) > len(rows):
        caption += f" The {len(rows)} largest of {len(found)} are shown."
    return Figure("Weights", caption, chart.svg(), layout="rows")


def _weights(group: Weights) -> list[_Weight]:
    std = np.zeros(len(group.mean)) if group.std is None else group.std
    parts = zip(group.mean.tolist(), std, group.atoms, strict=True)
    return [_Weight(*each, group.name) for each in parts]


def _weight_bar(chart: Chart, row: int, weight: _Weight) -> None:
    mean, std, name, of = weight
    chart.segments([[mean - std, row, mean + std, row]], "model thick")
    of_what = f" ({of})" if of else ""
    spread = f" ± {number(std)}" if std else ""
    chart.dots([mean], [row], "model", [f"{name}{of_what}: {number(mean)}{spread}"], 4.0)


def _what_weights_do(subject: Subject) -> str:
    if subject.unit != "column":
        return f"What each {subject.unit} adds where its function is one."
    to = f"the prediction of {subject.target}"
    if subject.is_classifier:
        to = "the log odds" if len(subject.classes) == 2 else "the logit of a class"
    return f"What a column adds to {to} when it rises by one, in its own units."


def trace_figure(subject: Subject) -> Figure | None:
    """The objective after each accepted step."""
    traces = get_objective_traces(subject.model)
    trace = traces[0] if traces else np.empty(0)
    if len(trace) < 2 or not np.isfinite(trace).all():
        return None
    if np.ptp(trace) < 1e-3:  # nats: the search was over before its last run began
        return None
    places = thin(len(trace), subject.limits.steps)
    chart = Chart(
        "objective after each step",
        Axis(0.0, float(len(trace) - 1), "accepted step", ticks=_whole(len(trace) - 1)),
        Axis(*padded(trace), "objective (nats)"),
    )
    chart.line(places, trace[places], "model")
    tips = [f"step {i}: {number(trace[i], 6)}" for i in places]
    chart.spots(places, trace[places], tips)
    end = f"{trace[-1]:.2f}".replace("-", "−")
    caption = (
        f"What the fit climbs: the log evidence with its prior and penalties. It ends at {end}."
    )
    return Figure("Evidence, step by step", caption, chart.svg())


def _whole(last: int) -> list[tuple[float, str]]:
    """Ticks at whole numbers from zero."""
    every = max(1, -(-last // 6))
    return [(float(i), str(i)) for i in range(0, last + 1, every)]
