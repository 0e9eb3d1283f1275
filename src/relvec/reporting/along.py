"""Pictures of the function that a model of numbers has found, along single inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.describing import compute_critical_value, get_kernel_centers, make_slice, order_features
from relvec.reporting.chart import Axis, Chart, number, padded
from relvec.reporting.figures import Figure, some_rows, thin
from relvec.reporting.subject import Space, Subject

__all__ = [
    "REACH",
    "effect_figure",
    "effect_figures",
    "fit_figure",
    "function_figures",
    "has_few_values",
    "inputs_by_effect",
    "rows_at_values",
]

REACH = compute_critical_value(0.95)


def fit_figure(subject: Subject, space: Space) -> Figure:
    """The function over the only input, with the rows."""
    along = make_slice(space.inputs, 0, 240, space.names)
    mean, std, doubt = _ask(space, along.X)
    shown = some_rows(subject.n_rows, subject.limits.points)
    x, y = space.inputs[shown, 0], subject.y[shown]
    chart = Chart(
        "fit over the input",
        Axis(along.values[0], along.values[-1], along.name),
        Axis(*padded(np.r_[mean - REACH * std, mean + REACH * std, y]), subject.target),
        width=940,
        height=380,
    )
    _bands(chart, along.values, mean, std, doubt)
    tips = [
        f"row {i}: {along.name} {number(a)}, {subject.target} {number(b)}"
        for i, a, b in zip(shown, x, y, strict=True)
    ]
    chart.dots(x, y, "data", tips, 2.6)
    chart.line(along.values, mean, "model thick")
    legend = [("data dot", "rows"), ("model", "mean"), ("model soft", "95 % of new targets")]
    legend.append(("model soft2", "95 % of the function"))
    vectors = get_kernel_centers(space.estimator)
    if vectors is not None and len(vectors):
        where = vectors[:, 0]
        height = np.interp(where, along.values, mean)
        chart.dots(where, height, "ring", [f"vector at {number(v)}" for v in where], 6.0)
        legend.append(("ring dot", "relevance vectors"))
    spots = thin(len(along.values), 60)
    tips = [_said(along.name, along.values[i], mean[i], std[i]) for i in spots]
    chart.spots(along.values[spots], mean[spots], tips)
    caption = "The function found, with the intervals of new targets and of the function itself."
    return Figure("Fit", caption, chart.svg(), tuple(legend), layout="wide")


def function_figures(subject: Subject, space: Space) -> list[Figure]:
    """Each function in use, times its weight: their sum, with the intercept, is the fit."""
    model = subject.model
    if not len(model.coef_):
        return []
    along = make_slice(space.inputs, 0, 160, space.names)
    parts = space.functions(along.X) * model.coef_
    largest = np.argsort(-np.abs(model.coef_), kind="stable")[: subject.limits.functions]
    chart = Chart(
        f"functions of the {subject.units}, times their weights",
        Axis(along.values[0], along.values[-1], along.name),
        Axis(*padded(np.append(parts[:, largest], 0.0)), "function × weight"),
    )
    chart.segments([[along.values[0], 0.0, along.values[-1], 0.0]], "axis")
    names, spots = model.atoms_.names(subject.names), thin(len(along.values), 30)
    for place in largest:
        chart.line(along.values, parts[:, place], "model")
        tips = [f"{names[place]}, weight {number(model.coef_[place])}"] * len(spots)
        chart.spots(along.values[spots], parts[spots, place], tips)
    caption = "Their sum, with the intercept, is the fit among the data."
    if len(largest) < len(model.coef_):
        caption += f" The {len(largest)} with the largest weights of {len(model.coef_)}."
    return [Figure("Functions in use", caption, chart.svg())]


def effect_figures(subject: Subject, space: Space) -> list[Figure]:
    """The function along each of the inputs that explain most."""
    if getattr(subject.model, "feature_relevance_", None) is not None:
        order = order_features(subject.model)
        order = order[np.asarray(subject.model.feature_relevance_)[order] > 0.0]
    else:
        order = inputs_by_effect(subject, space)
    return [effect_figure(subject, space, int(place)) for place in order[: subject.limits.slices]]


def inputs_by_effect(subject: Subject, space: Space, n_steps: int = 9) -> IndexArray:
    """Inputs along which the function moves, those first along which it moves most."""
    n_inputs = len(space.names)
    if n_inputs > subject.limits.inputs_tried:
        return np.arange(n_inputs)
    rows = np.tile(np.median(space.inputs, axis=0), (n_inputs, n_steps, 1))
    levels = np.quantile(space.inputs, np.linspace(0.02, 0.98, n_steps), axis=0)
    every = np.arange(n_inputs)
    rows[every, :, every] = levels.T
    mean = np.asarray(space.predict(rows.reshape(-1, n_inputs))).reshape(n_inputs, n_steps)
    moves = mean.std(axis=1)
    order = np.argsort(-moves, kind="stable")
    # a millionth of the spread of the target is rounding
    return order[moves[order] > 1e-6 * float(np.std(subject.y))]


def has_few_values(column: Vector) -> bool:
    """Whether an input is a list of values, each of several rows, and not a line."""
    count = len(np.unique(column))
    # up to eight points can be read one by one, and four rows say something of each
    return 1 < count <= 8 and len(column) >= 4 * count


def effect_figure(subject: Subject, space: Space, place: int) -> Figure:
    """The function along one input: a line, or points where only few values occur."""
    values, counts = np.unique(space.inputs[:, place], return_counts=True)
    if has_few_values(space.inputs[:, place]):
        return _effect_of_values(subject, space, place, values, counts)
    return _effect_of_line(subject, space, place)


def _effect_of_line(subject: Subject, space: Space, place: int) -> Figure:
    along = make_slice(space.inputs, place, 120, space.names)
    mean, std, doubt = _ask(space, along.X)
    chart = Chart(
        f"effect of {along.name}",
        Axis(along.values[0], along.values[-1], along.name),
        Axis(*padded(np.r_[mean - REACH * std, mean + REACH * std]), subject.target),
        height=250,
    )
    _bands(chart, along.values, mean, std, doubt)
    chart.line(along.values, mean, "model thick")
    low, high = chart.y.low, chart.y.high
    marks = np.quantile(space.inputs[:, place], np.linspace(0.0, 1.0, 40))
    foot = np.full(40, low)
    chart.whiskers(marks, foot, foot + 0.03 * (high - low), "data")
    spots = thin(len(along.values), 40)
    tips = [_said(along.name, along.values[i], mean[i], std[i]) for i in spots]
    chart.spots(along.values[spots], mean[spots], tips)
    caption = "Along this input, all others at their medians. Marks below: where rows are."
    return Figure(f"Effect of {along.name}", caption, chart.svg())


def _effect_of_values(
    subject: Subject, space: Space, place: int, values: Vector, counts: IndexArray
) -> Figure:
    """Points at the values that occur: what is between them cannot be asked for."""
    mean, std, doubt = _ask(space, rows_at_values(space.inputs, place, values))
    low, high = padded(values, 0.5 if len(values) == 2 else 0.2)
    name = space.names[place]
    chart = Chart(
        f"effect of {name}",
        Axis(low, high, name, ticks=[(value, number(value)) for value in values.tolist()]),
        Axis(*padded(np.r_[mean - REACH * std, mean + REACH * std]), subject.target),
        height=250,
    )
    chart.whiskers(values, mean - REACH * std, mean + REACH * std, "model")
    chart.whiskers(values, mean - REACH * doubt, mean + REACH * doubt, "model broad")
    tips = [
        f"{_said(name, value, a, b)}; {count} rows"
        for value, a, b, count in zip(values, mean, std, counts, strict=True)
    ]
    chart.dots(values, mean, "model", tips, 5.0)
    caption = (
        "At each of its values, all others at their medians. Thick bars hold the function with "
        "95 %, thin ones new targets."
    )
    return Figure(f"Effect of {name}", caption, chart.svg())


def rows_at_values(inputs: Matrix, place: int, values: Vector) -> Matrix:
    """Medians of all inputs but one, as far as they occur together with its values."""
    rows = np.tile(np.median(inputs, axis=0), (len(values), 1))
    rows[:, place] = values
    marks = np.flatnonzero(np.isin(inputs, (0.0, 1.0)).all(axis=0))
    if place in marks:
        # another level of the same column is never one together with this one
        together = inputs[inputs[:, place] == 1.0].max(axis=0, initial=0.0)
        never = marks[together[marks] == 0.0]
        rows[np.ix_(values == 1.0, never)] = 0.0
    return rows


def _bands(chart: Chart, x: Any, mean: Any, std: Any, doubt: Any) -> None:
    chart.band(x, mean - REACH * std, mean + REACH * std, "model soft")
    chart.band(x, mean - REACH * doubt, mean + REACH * doubt, "model soft2")


def _ask(space: Space, rows: Any) -> tuple[Any, Any, Any]:
    """Mean, standard deviation of a target, and of the function."""
    mean, std = space.predict(rows, return_std=True)
    return mean, std, space.predict(rows, return_std=True, include_noise=False)[1]


def _said(name: str, x: float, mean: float, std: float) -> str:
    return f"{name} {number(x)}: {number(mean)} ± {number(std)}"
