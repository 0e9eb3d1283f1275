"""Pictures of models that predict numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from relvec.plotting._estimators import centers_of
from relvec.plotting._slices import slice_along
from relvec.plotting.residuals import normal_quantiles, quantile_band
from relvec.reporting.chart import Axis, Chart, number, padded
from relvec.reporting.figures import Figure, rows_said, some_rows, thin
from relvec.reporting.metrics import coverage_at
from relvec.reporting.predictions import Sample
from relvec.reporting.subject import Space, Subject

__all__ = ["number_figures"]

MOST_SLICES = 6
MOST_QUANTILES = 500
MOST_FUNCTIONS = 40
REACH = float(ndtri(0.975))
LEVELS = np.linspace(0.05, 0.95, 19)


def number_figures(subject: Subject, judged: Sample) -> list[Figure]:
    """Fit, predictions, residuals and coverage.

    Parameters
    ----------
    subject : Subject
        The model.
    judged : Sample
        Predictions to judge it by: of rows it has not seen, if there are any.
    """
    space = subject.space()
    quality = [
        _predicted(subject, judged),
        _coverage(judged),
        _residuals(judged),
        _quantiles(judged),
    ]
    if space is None:
        return quality
    if len(space.names) == 1:
        return [_fit(subject, space), *quality, *_functions(subject, space)]
    return [*quality, *_slices(subject, space)]


def _slices(subject: Subject, space: Space) -> list[Figure]:
    """The function along each of the inputs that matter most."""
    relevance = getattr(subject.model, "feature_relevance_", None)
    order = np.arange(len(space.names))
    if relevance is not None:
        order = np.argsort(-np.asarray(relevance), kind="stable")
        order = order[np.asarray(relevance)[order] > 0.0]
    return [_slice(subject, space, int(place)) for place in order[:MOST_SLICES]]


def _fit(subject: Subject, space: Space) -> Figure:
    along = slice_along(space.inputs, 0, 240, space.names)
    mean, std, doubt = _ask(space, along.X)
    shown = some_rows(subject.n_rows)
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
    vectors = centers_of(space.estimator)
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


def _functions(subject: Subject, space: Space) -> list[Figure]:
    """Each vector's own function, times its weight: their sum, with the intercept, is the fit."""
    model = subject.model
    if not len(model.coef_):
        return []
    along = slice_along(space.inputs, 0, 160, space.names)
    parts = space.functions(along.X) * model.coef_
    largest = np.argsort(-np.abs(model.coef_), kind="stable")[:MOST_FUNCTIONS]
    chart = Chart(
        "functions of the vectors, times their weights",
        Axis(along.values[0], along.values[-1], along.name),
        Axis(*padded(np.append(parts[:, largest], 0.0)), "function × weight"),
    )
    chart.segments([[along.values[0], 0.0, along.values[-1], 0.0]], "axis")
    names, spots = model.atom_names(), thin(len(along.values), 30)
    for place in largest:
        chart.line(along.values, parts[:, place], "model")
        tips = [f"{names[place]}, weight {number(model.coef_[place])}"] * len(spots)
        chart.spots(along.values[spots], parts[spots, place], tips)
    caption = "Their sum, with the intercept, is the fit."
    if len(largest) < len(model.coef_):
        caption += f" The {len(largest)} with the largest weights of {len(model.coef_)}."
    return [Figure("Functions in use", caption, chart.svg())]


def _slice(subject: Subject, space: Space, place: int) -> Figure:
    along = slice_along(space.inputs, place, 120, space.names)
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


def _bands(chart: Chart, x: Any, mean: Any, std: Any, doubt: Any) -> None:
    chart.band(x, mean - REACH * std, mean + REACH * std, "model soft")
    chart.band(x, mean - REACH * doubt, mean + REACH * doubt, "model soft2")


def _predicted(subject: Subject, judged: Sample) -> Figure:
    assert judged.mean is not None
    assert judged.std is not None
    shown = some_rows(len(judged.y))
    y, mean, std = judged.y[shown], judged.mean[shown], judged.std[shown]
    held = np.abs(y - mean) <= REACH * std
    ends = padded(np.r_[y, mean])
    chart = Chart(
        "predicted against observed",
        Axis(*ends, f"observed {subject.target}"),
        Axis(*ends, f"predicted {subject.target}"),
        height=380,
    )
    chart.segments([[ends[0], ends[0], ends[1], ends[1]]], "axis")
    row = judged.row[shown]
    for style, which in (("model", held), ("other", ~held)):
        low, high = (np.clip(mean[which] + s * REACH * std[which], *ends) for s in (-1, 1))
        if len(shown) <= 400:
            chart.whiskers(y[which], low, high, f"{style} whisker")
        tips = [
            f"row {i}: observed {number(a)}, predicted {number(b)} ± {number(c)}"
            for i, a, b, c in zip(row[which], y[which], mean[which], std[which], strict=True)
        ]
        chart.dots(y[which], mean[which], style, tips, 3.0)
    legend = (("model dot", "inside its 95 % interval"), ("other dot", "outside"))
    return Figure("Predicted and observed", rows_said(judged), chart.svg(), legend)


def _coverage(judged: Sample) -> Figure:
    observed = np.array([coverage_at(judged, level) for level in LEVELS])
    ticks = [(t, f"{round(100 * t)} %") for t in (0.0, 0.25, 0.5, 0.75, 1.0)]
    chart = Chart(
        "coverage of intervals",
        Axis(0.0, 1.0, "probability of the interval", ticks=ticks),
        Axis(0.0, 1.0, "share of rows inside", ticks=ticks),
        height=380,
    )
    reach = REACH * np.sqrt(LEVELS * (1.0 - LEVELS) / len(judged.y))
    chart.band(LEVELS, np.clip(LEVELS - reach, 0, 1), np.clip(LEVELS + reach, 0, 1), "grey")
    chart.segments([[0.0, 0.0, 1.0, 1.0]], "axis")
    chart.line(LEVELS, observed, "model thick")
    tips = [
        f"{round(100 * a)} % intervals hold {100 * b:.1f} %"
        for a, b in zip(LEVELS, observed, strict=True)
    ]
    chart.dots(LEVELS, observed, "model", tips, 3.2)
    caption = "On the diagonal, error bars are neither too long nor too short; above it, too long."
    legend = (("model dot", judged.name), ("grey", "what chance explains (95 %)"))
    return Figure("Coverage of intervals", caption, chart.svg(), legend)


def _residuals(judged: Sample) -> Figure:
    assert judged.mean is not None
    assert judged.std is not None
    shown = some_rows(len(judged.y))
    mean, score = judged.mean[shown], ((judged.y - judged.mean) / judged.std)[shown]
    largest = max(3.0, float(np.abs(score).max()) * 1.05)
    chart = Chart(
        "standardised residuals against predictions",
        Axis(*padded(mean), "predicted"),
        Axis(-largest, largest, "residual / standard deviation"),
    )
    chart.band([chart.x.low, chart.x.high], [-REACH] * 2, [REACH] * 2, "grey")
    chart.segments([[chart.x.low, 0.0, chart.x.high, 0.0]], "axis")
    tips = [
        f"row {i}: {number(s)} standard deviations at {number(m)}"
        for i, s, m in zip(judged.row[shown], score, mean, strict=True)
    ]
    chart.dots(mean, score, "model", tips, 2.8)
    caption = "No pattern should be left; 19 of 20 rows should be in the grey."
    return Figure("Residuals", f"{caption} {rows_said(judged)}", chart.svg())


def _quantiles(judged: Sample) -> Figure:
    assert judged.mean is not None
    assert judged.std is not None
    score = (judged.y - judged.mean) / judged.std
    order = np.argsort(score)
    expected, band = normal_quantiles(len(score)), quantile_band(len(score))
    places = thin(len(score), MOST_QUANTILES)
    x, y = expected[places], score[order][places]
    chart = Chart(
        "normal quantiles of the residuals",
        Axis(*padded(x), "normal quantile"),
        Axis(*padded(np.r_[y, x]), "residual / standard deviation"),
    )
    low, high = np.clip(band[:, places], chart.y.low, chart.y.high)
    chart.band(x, low, high, "grey")
    chart.segments([[x[0], x[0], x[-1], x[-1]]], "axis")
    rows = judged.row[order][places]
    tips = [
        f"row {i}: {number(b)}, normal would be {number(a)}"
        for i, a, b in zip(rows, x, y, strict=True)
    ]
    chart.dots(x, y, "model", tips, 2.8)
    caption = "On the line if the noise is normal and its size is right; grey holds 95 % of points."
    return Figure("Normal quantiles", caption, chart.svg())


def _ask(space: Space, rows: Any) -> tuple[Any, Any, Any]:
    """Mean, standard deviation of a target, and of the function."""
    mean, std = space.predict(rows, return_std=True)
    return mean, std, space.predict(rows, return_std=True, include_noise=False)[1]


def _said(name: str, x: float, mean: float, std: float) -> str:
    return f"{name} {number(x)}: {number(mean)} ± {number(std)}"
