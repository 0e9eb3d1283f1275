"""Report figures of regressors."""

from __future__ import annotations

import numpy as np

from relvec.describing import (
    EXTRAPOLATION_THRESHOLD,
    compute_normal_quantiles,
    compute_quantile_band,
    is_kernel_search,
)
from relvec.reporting.chart import Axis, Chart, format_number, pad_range
from relvec.reporting.count_figures import make_rootogram
from relvec.reporting.figures import Figure, choose_rows, describe_rows, thin_indices
from relvec.reporting.function_figures import (
    Z_95,
    has_few_values,
    make_basis_figures,
    make_effect_figure,
    make_effect_figures,
    make_fit_figure,
)
from relvec.reporting.metrics import compute_coverage
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

__all__ = ["make_regression_figures"]

NOMINAL_COVERAGES = np.linspace(0.05, 0.95, 19)


def make_regression_figures(subject: Subject, evaluated: PredictionSet) -> list[Figure]:
    """Make the figures of a regressor: fit, predictions, residuals, coverage and effects.

    Parameters
    ----------
    subject : Subject
        Model and rows of the report.
    evaluated : PredictionSet
        Predictions by which the model is evaluated: held-out ones if there are any.
    """
    space = subject.space()
    quality = [
        _predicted_observed(subject, evaluated),
        make_rootogram(subject) if subject.counts_events else _coverage(evaluated),
        _residuals(subject, evaluated),
        _quantiles(subject, evaluated),
    ]
    if evaluated.n_extrapolated:
        quality.append(_extrapolation(subject, evaluated))
    if space is None or is_kernel_search(subject.model):
        return quality
    if len(space.names) == 1 and has_few_values(space.inputs[:, 0]):
        return [make_effect_figure(subject, space, 0), *quality]
    if len(space.names) == 1:
        return [make_fit_figure(subject, space), *quality, *make_basis_figures(subject, space)]
    return [*quality, *make_effect_figures(subject, space)]


def _predicted_observed(subject: Subject, evaluated: PredictionSet) -> Figure:
    assert evaluated.mean is not None
    assert evaluated.std is not None
    shown = choose_rows(len(evaluated.y), subject.limits.points)
    y, mean, std = evaluated.y[shown], evaluated.mean[shown], evaluated.std[shown]
    bounds = evaluated.bounds[shown]
    is_covered = (bounds[:, 0] <= y) & (y <= bounds[:, 1])
    ends = pad_range(np.r_[y, mean])
    chart = Chart(
        "predicted against observed",
        Axis(*ends, f"observed {subject.target}"),
        Axis(*ends, f"predicted {subject.target}"),
        height=380,
    )
    chart.segments([[ends[0], ends[0], ends[1], ends[1]]], "axis")
    row = evaluated.row[shown]
    for style, which in (("model", is_covered), ("other", ~is_covered)):
        low, high = np.clip(bounds[which], *ends).T
        if len(shown) <= 400:
            chart.whiskers(y[which], low, high, f"{style} whisker")
        tips = [
            f"row {i}: observed {format_number(a)}, "
            f"predicted {format_number(b)} ± {format_number(c)}"
            for i, a, b, c in zip(row[which], y[which], mean[which], std[which], strict=True)
        ]
        chart.dots(y[which], mean[which], style, tips, 3.0)
    legend = (("model dot", "inside its 95 % interval"), ("other dot", "outside"))
    caption = f"Predictive mean with 95 % intervals against the target. {describe_rows(evaluated)}"
    return Figure("Predicted vs. observed", caption, chart.svg(), legend)


def _coverage(evaluated: PredictionSet) -> Figure:
    observed = np.array([compute_coverage(evaluated, level) for level in NOMINAL_COVERAGES])
    ticks = [(t, f"{round(100 * t)} %") for t in (0.0, 0.25, 0.5, 0.75, 1.0)]
    chart = Chart(
        "coverage of predictive intervals",
        Axis(0.0, 1.0, "nominal coverage", ticks=ticks),
        Axis(0.0, 1.0, "observed coverage", ticks=ticks),
        height=380,
    )
    half_width = Z_95 * np.sqrt(NOMINAL_COVERAGES * (1.0 - NOMINAL_COVERAGES) / len(evaluated.y))
    chart.band(
        NOMINAL_COVERAGES,
        np.clip(NOMINAL_COVERAGES - half_width, 0, 1),
        np.clip(NOMINAL_COVERAGES + half_width, 0, 1),
        "grey",
    )
    chart.segments([[0.0, 0.0, 1.0, 1.0]], "axis")
    chart.line(NOMINAL_COVERAGES, observed, "model thick")
    tips = [
        f"{round(100 * a)} % intervals cover {100 * b:.1f} % of the targets"
        for a, b in zip(NOMINAL_COVERAGES, observed, strict=True)
    ]
    chart.dots(NOMINAL_COVERAGES, observed, "model", tips, 3.2)
    caption = (
        "On the diagonal, intervals have the right length; above it they are too long, below it "
        f"too short. {describe_rows(evaluated)}"
    )
    legend = (("model dot", evaluated.name), ("grey", "95 % sampling band"))
    return Figure("Coverage of predictive intervals", caption, chart.svg(), legend)


def _residuals(subject: Subject, evaluated: PredictionSet) -> Figure:
    assert evaluated.mean is not None
    shown = choose_rows(len(evaluated.y), subject.limits.points)
    mean, score = evaluated.mean[shown], evaluated.standardised_residuals[shown]
    # minus infinity is the residual of a target that a transform rules out
    largest = max(3.0, float(np.abs(score[np.isfinite(score)]).max(initial=0.0)) * 1.05)
    score = np.clip(score, -largest, largest)
    chart = Chart(
        "standardised residuals against predictions",
        Axis(*pad_range(mean), "predictive mean"),
        Axis(-largest, largest, "standardised residual"),
    )
    chart.band([chart.x.low, chart.x.high], [-Z_95] * 2, [Z_95] * 2, "grey")
    chart.segments([[chart.x.low, 0.0, chart.x.high, 0.0]], "axis")
    tips = [
        f"row {i}: standardised residual {format_number(s)}, predicted {format_number(m)}"
        for i, s, m in zip(evaluated.row[shown], score, mean, strict=True)
    ]
    chart.dots(mean, score, "model", tips, 2.8)
    caption = (
        f"{_define_residuals(evaluated)} There should be no pattern, and 95 % of rows should lie "
        "in the grey band."
    )
    return Figure("Standardised residuals", f"{caption} {describe_rows(evaluated)}", chart.svg())


def _define_residuals(evaluated: PredictionSet) -> str:
    if evaluated.exposure is not None:
        return (
            "Randomised quantile residuals: standard normal if the predictive distributions of the "
            "counts are right."
        )
    if evaluated.score is not None:
        return (
            "Quantile residuals: the standard normal quantile of the predictive probability of "
            "each target, with the noise at its row."
        )
    return "Residual / predictive standard deviation."


def _extrapolation(subject: Subject, evaluated: PredictionSet) -> Figure:
    """Make the figure of predictions against the degree of extrapolation."""
    assert evaluated.mean is not None
    assert evaluated.std is not None
    assert evaluated.extrapolation is not None
    shown = choose_rows(len(evaluated.y), subject.limits.points)
    degree, y, mean, std = (
        each[shown]
        for each in (evaluated.extrapolation, evaluated.y, evaluated.mean, evaluated.std)
    )
    low, high = evaluated.bounds[shown].T
    chart = Chart(
        "predictions against the degree of extrapolation",
        Axis(-0.03, 1.03, "degree of extrapolation"),
        Axis(*pad_range(np.r_[y, low, high]), subject.target),
    )
    chart.segments(
        [[EXTRAPOLATION_THRESHOLD, chart.y.low, EXTRAPOLATION_THRESHOLD, chart.y.high]], "axis"
    )
    row = evaluated.row[shown]
    for style, which in (
        ("model", degree <= EXTRAPOLATION_THRESHOLD),
        ("other", degree > EXTRAPOLATION_THRESHOLD),
    ):
        chart.whiskers(degree[which], low[which], high[which], f"{style} whisker")
        tips = [
            f"row {i}: {round(100 * s)} % extrapolation, observed {format_number(a)}, "
            f"predicted {format_number(b)} ± {format_number(c)}"
            for i, s, a, b, c in zip(
                row[which], degree[which], y[which], mean[which], std[which], strict=True
            )
        ]
        chart.dots(degree[which], mean[which], style, tips, 3.0)
    chart.dots(degree, y, "faint", radius=2.2)
    legend = (
        ("model dot", "predicted, interpolation"),
        ("other dot", "predicted, extrapolation"),
        ("faint dot", "observed"),
    )
    caption = (
        "0: supported by training rows; 1: no information from them. 95 % intervals become longer "
        "with extrapolation, and predictions far outside the range of the targets shrink to "
        "their mean."
    )
    return Figure("Extrapolation", caption, chart.svg(), legend)


def _quantiles(subject: Subject, evaluated: PredictionSet) -> Figure:
    score = evaluated.standardised_residuals
    score = score[np.isfinite(score)]
    order = np.argsort(score)
    expected, band = compute_normal_quantiles(len(score)), compute_quantile_band(len(score))
    shown = thin_indices(len(score), subject.limits.quantiles)
    x, y = expected[shown], score[order][shown]
    chart = Chart(
        "normal Q–Q plot of the standardised residuals",
        Axis(*pad_range(x), "theoretical normal quantile"),
        Axis(*pad_range(np.r_[y, x]), "standardised residual"),
    )
    low, high = np.clip(band[:, shown], chart.y.low, chart.y.high)
    chart.band(x, low, high, "grey")
    chart.segments([[x[0], x[0], x[-1], x[-1]]], "axis")
    rows = evaluated.row[np.isfinite(evaluated.standardised_residuals)][order][shown]
    tips = [
        f"row {i}: standardised residual {format_number(b)}, normal quantile {format_number(a)}"
        for i, a, b in zip(rows, x, y, strict=True)
    ]
    chart.dots(x, y, "model", tips, 2.8)
    caption = (
        f"{'' if evaluated.score is None else 'Quantile residuals. '}On the line, the residuals "
        "agree with the predictive distributions. Grey: pointwise 95 % band."
    )
    return Figure("Normal Q–Q plot", caption, chart.svg())
