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
    """How much each input matters, if that was learnt."""
    relevance = getattr(subject.model, "feature_relevance_", None)
    if relevance is None or len(relevance) < 2:
        return None
    gain = np.asarray(getattr(subject.model, "feature_gain_", np.full(len(relevance), np.nan)))
    order = np.argsort(-np.asarray(relevance), kind="stable")
    kept = order[np.asarray(relevance)[order] > 0.0]
    dropped = len(order) - len(kept)
    shown = order[:MOST_BARS]
    values = np.asarray(relevance, dtype=np.float64)[shown]
    rows = np.arange(len(shown), dtype=np.float64)
    largest = float(values.max()) or 1.0
    ticks = [(row, short(subject.names[i])) for row, i in zip(rows, shown, strict=True)]
    chart = Chart(
        "relevance of the inputs",
        Axis(0.0, 1.05 * largest, "relevance (1 / squared length scale)"),
        Axis(len(shown) - 0.4, -0.6, ticks=ticks),
        height=64 + 22 * max(len(shown), 3),
    )
    for row, i in zip(rows, shown, strict=True):
        value, brings = float(relevance[i]), float(gain[i])
        tip = f"{subject.names[i]}: relevance {number(value)}"
        if np.isfinite(brings):
            tip += f", brings {number(brings)} nats"
        if value == 0.0:
            tip = f"{subject.names[i]}: left out"
        chart.bar(0.0, value, row - 0.34, row + 0.34, "model", tip)
        if value == 0.0:
            chart.dots([0.0], [row], "faint", [tip], 3.0)
    caption = "How fast the function bends along each input, in units of its spread; 0: left out."
    if dropped:
        caption += f" That is {dropped} of {len(order)} inputs."
    if len(order) > len(shown):
        caption += f" The first {len(shown)} are shown."
    return Figure("Relevance of inputs", caption, chart.svg(), layout="rows")


def weight_figure(subject: Subject) -> Figure | None:
    """Largest weights, with their error bars where they are known."""
    groups = weights_of(subject.model)
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
        "weights of the vectors",
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
    caption = "What each vector adds where its function is one."
    if total > len(rows):
        caption += f" The {len(rows)} largest of {total} are shown."
    return Figure("Weights", caption, chart.svg(), layout="rows")


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
