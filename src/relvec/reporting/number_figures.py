"""Pictures of models that predict numbers."""

from __future__ import annotations

import numpy as np

from relvec.describing import (
    EXTRAPOLATION_THRESHOLD,
    compute_normal_quantiles,
    compute_quantile_band,
)
from relvec.reporting.along import (
    REACH,
    effect_figure,
    effect_figures,
    fit_figure,
    function_figures,
    has_few_values,
)
from relvec.reporting.chart import Axis, Chart, number, padded
from relvec.reporting.figures import Figure, rows_said, some_rows, thin
from relvec.reporting.metrics import coverage_at
from relvec.reporting.predictions import Sample
from relvec.reporting.subject import Subject

__all__ = ["number_figures"]

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
        _residuals(subject, judged),
        _quantiles(subject, judged),
    ]
    if judged.n_beyond:
        quality.append(_extrapolation(subject, judged))
    if space is None:
        return quality
    if len(space.names) == 1 and has_few_values(space.inputs[:, 0]):
        return [effect_figure(subject, space, 0), *quality]
    if len(space.names) == 1:
        return [fit_figure(subject, space), *quality, *function_figures(subject, space)]
    return [*quality, *effect_figures(subject, space)]


def _predicted(subject: Subject, judged: Sample) -> Figure:
    assert judged.mean is not None
    assert judged.std is not None
    shown = some_rows(len(judged.y), subject.limits.points)
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


def _residuals(subject: Subject, judged: Sample) -> Figure:
    assert judged.mean is not None
    assert judged.std is not None
    shown = some_rows(len(judged.y), subject.limits.points)
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


def _extrapolation(subject: Subject, judged: Sample) -> Figure:
    """Predictions against how far rows are beyond the training rows."""
    assert judged.mean is not None
    assert judged.std is not None
    assert judged.beyond is not None
    shown = some_rows(len(judged.y), subject.limits.points)
    share, y, mean, std = (
        each[shown] for each in (judged.beyond, judged.y, judged.mean, judged.std)
    )
    low, high = mean - REACH * std, mean + REACH * std
    chart = Chart(
        "predictions against how far rows are beyond the training rows",
        Axis(-0.03, 1.03, "share beyond the training rows"),
        Axis(*padded(np.r_[y, low, high]), subject.target),
    )
    chart.segments(
        [[EXTRAPOLATION_THRESHOLD, chart.y.low, EXTRAPOLATION_THRESHOLD, chart.y.high]], "axis"
    )
    row = judged.row[shown]
    for style, which in (
        ("model", share <= EXTRAPOLATION_THRESHOLD),
        ("other", share > EXTRAPOLATION_THRESHOLD),
    ):
        chart.whiskers(share[which], low[which], high[which], f"{style} whisker")
        tips = [
            f"row {i}: {round(100 * s)} % beyond, observed {number(a)}, "
            f"predicted {number(b)} ± {number(c)}"
            for i, s, a, b, c in zip(
                row[which], share[which], y[which], mean[which], std[which], strict=True
            )
        ]
        chart.dots(share[which], mean[which], style, tips, 3.0)
    chart.dots(share, y, "faint", radius=2.2)
    legend = (
        ("model dot", "predicted, among the training rows"),
        ("other dot", "predicted, beyond them"),
        ("faint dot", "observed"),
    )
    caption = (
        "To the right the training rows say less: 95 % intervals are longer, and predictions far "
        "from all targets are drawn to their mean."
    )
    return Figure("Rows beyond the data", caption, chart.svg(), legend)


def _quantiles(subject: Subject, judged: Sample) -> Figure:
    assert judged.mean is not None
    assert judged.std is not None
    score = (judged.y - judged.mean) / judged.std
    order = np.argsort(score)
    expected, band = compute_normal_quantiles(len(score)), compute_quantile_band(len(score))
    places = thin(len(score), subject.limits.quantiles)
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
