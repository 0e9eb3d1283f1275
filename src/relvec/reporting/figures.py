"""What all pictures of a report share: a frame of words, tips, and which rows to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import IndexArray, Vector
from relvec.plotting._weights import weights_of
from relvec.reporting.chart import Axis, Chart, number, padded, short
from relvec.reporting.predictions import Sample
from relvec.reporting.subject import Subject

__all__ = [
    "Figure",
    "gain_of",
    "order_of_inputs",
    "relevance_figure",
    "rows_said",
    "some_rows",
    "thin",
    "trace_figure",
    "weight_figure",
]

MOST_POINTS = 1500
MOST_BARS = 15
MOST_STEPS = 300
ROOM_FOR_WORDS = 1.35
BENDS = "relevance (1 / squared length scale)"
FLAT = 1e-3
"""Rise of the objective, in nats, that is nothing to look at."""


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


def some_rows(count: int, most: int = MOST_POINTS) -> IndexArray:
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
    gain, order = gain_of(subject.model), order_of_inputs(subject.model)
    dropped = len(order) - int(np.count_nonzero(relevance))
    shown = order[:MOST_BARS]
    lengths = relevance if gain is None else gain
    rows = np.arange(len(shown), dtype=np.float64)
    largest = float(lengths[shown].max()) or 1.0
    ticks = [(row, short(subject.names[i])) for row, i in zip(rows, shown, strict=True)]
    label = BENDS if gain is None else "log evidence it brings (nats)"
    chart = Chart(
        "relevance of the inputs",
        Axis(0.0, (1.05 if gain is None else ROOM_FOR_WORDS) * largest, label),
        Axis(len(shown) - 0.4, -0.6, ticks=ticks),
        height=64 + 22 * max(len(shown), 3),
    )
    for row, i in zip(rows, shown, strict=True):
        length, bends = max(float(lengths[i]), 0.0), float(relevance[i])
        tip = f"{subject.names[i]}: left out"
        if bends != 0.0:
            tip = f"{subject.names[i]}: relevance {number(bends)}"
            tip += "" if gain is None else f", brings {number(gain[i])} nats"
        if bends == 0.0:
            chart.dots([0.0], [row], "faint", [tip], 3.0)
            continue
        chart.bar(0.0, length, row - 0.34, row + 0.34, "model", tip)
        if gain is not None:
            chart.text(length + 0.02 * largest, row, f"bends {number(bends, 2)}", "tick")
    caption = (
        "How fast the function bends along each input, in units of its spread; a dot: left out."
    )
    if gain is not None:
        caption = (
            "What would be lost without an input, which is not how fast the function bends along "
            "it (1 / squared length scale, in units of its spread: the numbers). A dot: left out."
        )
    if dropped:
        caption += f" That is {dropped} of {len(order)} inputs."
    if len(order) > len(shown):
        caption += f" The first {len(shown)} are shown."
    return Figure("Relevance of inputs", caption, chart.svg(), layout="rows")


def gain_of(model: Any) -> Vector | None:
    """What each input brings, in nats; None if that is not known or is nothing."""
    gain = np.asarray(getattr(model, "feature_gain_", np.nan), dtype=np.float64)
    return gain if gain.ndim and np.isfinite(gain).all() and gain.max() > 0.0 else None


def order_of_inputs(model: Any) -> IndexArray:
    """Inputs of a model that weighs them: those in use first, by what they explain."""
    relevance, gain = np.asarray(model.feature_relevance_), gain_of(model)
    worth = relevance if gain is None else gain
    return np.lexsort((-worth, relevance == 0.0))


def weight_figure(subject: Subject) -> Figure | None:
    """Largest weights, with their error bars where they are known."""
    groups = weights_of(subject.model, subject.names)
    has_std = any(row.std is not None for row in groups)
    rows = [
        (mean, 0.0 if row.std is None else row.std[i], name, row.name)
        for row in groups
        for i, (mean, name) in enumerate(zip(row.mean.tolist(), row.atoms, strict=True))
    ]
    if not rows:
        return None
    rows.sort(key=lambda each: -abs(each[0]))
    total, rows = len(rows), rows[:MOST_BARS]
    ends = [value + sign * std for value, std, _, _ in rows for sign in (-1, 1)]
    ticks = [(i, short(f"{name} · {of}" if of else name)) for i, (*_, name, of) in enumerate(rows)]
    chart = Chart(
        f"weights of the {subject.units}",
        Axis(*padded([0.0, *ends]), "weight ± one standard deviation" if has_std else "weight"),
        Axis(len(rows) - 0.4, -0.6, ticks=ticks),
        height=64 + 22 * max(len(rows), 3),
    )
    chart.segments([[0.0, -0.6, 0.0, len(rows) - 0.4]], "axis")
    for i, (value, std, name, of) in enumerate(rows):
        chart.segments([[value - std, i, value + std, i]], "model thick")
        of_what = f" ({of})" if of else ""
        spread = f" ± {number(std)}" if std else ""
        chart.dots([value], [i], "model", [f"{name}{of_what}: {number(value)}{spread}"], 4.0)
    caption = _what_weights_do(subject)
    if total > len(rows):
        caption += f" The {len(rows)} largest of {total} are shown."
    return Figure("Weights", caption, chart.svg(), layout="rows")


def _what_weights_do(subject: Subject) -> str:
    if subject.unit != "column":
        return f"What each {subject.unit} adds where its function is one."
    to = f"the prediction of {subject.target}"
    if subject.is_classifier:
        to = "the log odds" if len(subject.classes) == 2 else "the logit of a class"
    return f"What a column adds to {to} when it rises by one, in its own units."


def trace_figure(subject: Subject) -> Figure | None:
    """The objective after each accepted step."""
    trace = _trace(subject.model)
    if trace is None or len(trace) < 2 or not np.isfinite(trace).all():
        return None
    if np.ptp(trace) < FLAT:
        return None  # the search was over before its last run began
    places = thin(len(trace), MOST_STEPS)
    chart = Chart(
        "objective after each step",
        Axis(0.0, float(len(trace) - 1), "accepted step", ticks=_whole(len(trace) - 1)),
        Axis(*padded(trace), "objective (nats)"),
    )
    chart.line(places, trace[places], "model")
    tips = [f"step {i}: {number(trace[i], 6)}" for i in places]
    chart.spots(places, trace[places], tips)
    end = f"{trace[-1]:.2f}".replace("-", "−")
    caption = f"What the fit climbs: the log evidence with its prior and prices. It ends at {end}."
    return Figure("Evidence, step by step", caption, chart.svg())


def _whole(last: int) -> list[tuple[float, str]]:
    """Ticks at whole numbers from zero."""
    every = max(1, -(-last // 6))
    return [(float(i), str(i)) for i in range(0, last + 1, every)]


def _trace(model: Any) -> Vector | None:
    if hasattr(model, "trace_"):
        return np.asarray(model.trace_)
    solution = getattr(model.outputs_[0], "solution", None) if hasattr(model, "outputs_") else None
    return None if solution is None else np.asarray(getattr(solution, "trace", ()))
