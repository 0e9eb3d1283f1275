"""Report figures of a kernel search: forecast, and the parts of its best structure."""

from __future__ import annotations

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.describing import (
    DescribedPart,
    StructureDescription,
    StructurePart,
    evaluate_centred,
)
from relvec.kernels.expansions import Harmonics
from relvec.reporting.chart import Axis, Chart, format_number, pad_range
from relvec.reporting.figures import Figure, thin_indices
from relvec.reporting.function_figures import Z_95
from relvec.reporting.subject import Subject

__all__ = ["make_date_ticks", "make_forecast_figure", "make_part_figures"]

HORIZON = 0.15
"""How far a series is continued, as a fraction of the record."""
POINTS_PER_PERIOD, FEWEST_POINTS, MOST_POINTS = 12, 300, 1500
"""Points of a curve: for each of its periods, at least, and at most."""
N_MARKS = 60
"""Points of a curve with tooltips."""
SCALES = {"identity": "{}", "log": "log {}", "sqrt": "√{}"}
"""Labels of axes, by transform of the target."""
SECOND_LEVELS = (0.1, 0.5, 0.9)
"""Quantiles of the second feature at which functions of two features are drawn."""
LINE_STYLES = ("model", "other", "data")
DATE_STEPS = ("50Y", "20Y", "10Y", "5Y", "2Y", "1Y", "6M", "3M", "1M", "14D", "7D", "2D", "1D")
"""Distances of the ticks of dates."""
MOST_TICKS = 8


def make_date_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Make ticks of an axis of days since 1970 at round dates.

    Examples
    --------
    >>> [text for _, text in make_date_ticks(10957.0, 12783.0)]  # 2000 to 2004
    ['2000', '2001', '2002', '2003', '2004']
    """
    found: list[tuple[float, str]] = []
    for step in DATE_STEPS:
        count, unit = int(step[:-1]), step[-1]
        first, last = (
            np.datetime64(int(np.floor(each)), "D").astype(f"datetime64[{unit}]").astype(int)
            for each in (low, high)
        )
        # years count from 1970, of which multiples would not be round
        shift = 1970 if unit == "Y" else 0
        numbers = np.arange(-(-(first + shift) // count) * count, last + shift + 1, count) - shift
        dates = numbers.astype(f"datetime64[{unit}]")
        days = dates.astype("datetime64[D]").astype(np.float64)
        inside = (days >= low) & (days <= high)
        if np.count_nonzero(inside) > MOST_TICKS:
            break
        found = [(day, str(date)) for day, date in zip(days[inside], dates[inside], strict=True)]
    return found


def _make_axis(subject: Subject, low: float, high: float) -> Axis:
    """Return the axis of the input of a series."""
    if subject.model.has_dates_:
        return Axis(low, high, "", ticks=make_date_ticks(low, high))
    return Axis(low, high, subject.input_unit or subject.names[0])


def make_forecast_figure(subject: Subject) -> Figure:
    """Make the figure of the record and of its forecast."""
    model, rows = subject.model, subject.model.training_rows_
    x = rows.inputs[:, 0]
    n_steps = max(1, round(HORIZON * len(x)))
    X = model.future_inputs(n_steps)
    future = model.convert_inputs(X)[:, 0]
    low, inner_low, median, inner_high, high = model.predict_quantiles(
        X, [0.025, 0.25, 0.5, 0.75, 0.975]
    ).T
    chart = Chart(
        "record and forecast",
        _make_axis(subject, x[0], future[-1]),
        Axis(*pad_range(np.r_[rows.target, low, high]), subject.target),
        width=940,
        height=320,
    )
    chart.line(x, rows.target, "data")
    chart.band(future, low, high, "model soft")
    chart.band(future, inner_low, inner_high, "model soft2")
    chart.line(future, median, "model thick")
    marks = thin_indices(len(future), N_MARKS)
    tips = [
        f"{format_number(median[i], 4)}, 95 % interval {format_number(low[i], 4)} to "
        f"{format_number(high[i], 4)}"
        for i in marks
    ]
    chart.hover_points(future[marks], median[marks], tips)
    legend = (
        ("data", "record"),
        ("model", "median forecast"),
        ("model soft2", "50 % interval"),
        ("model soft", "95 % interval"),
    )
    steps = "step" if n_steps == 1 else f"{n_steps} steps"
    caption = f"Forecast of the next {steps} after the training rows."
    return Figure("Forecast", caption, chart.svg(), legend, layout="wide")


def make_part_figures(subject: Subject, description: StructureDescription) -> list[Figure]:
    """Make a figure of each part of the best structure."""
    make = _make_series_part if subject.is_series else _make_function
    return [make(subject, each) for each in description.parts]


def _make_caption(described: DescribedPart) -> str:
    centred = "" if described.part.list_factors(Harmonics) else ", centred over the data"
    return f"{described.part.expression}{centred}. Posterior mean with 95 % intervals."


def _make_title(described: DescribedPart) -> str:
    return described.name[:1].upper() + described.name[1:]


def _make_series_part(subject: Subject, described: DescribedPart) -> Figure:
    x = subject.model.training_rows_.inputs[:, 0]
    record = float(x[-1] - x[0]) or 1.0
    end = float(x[-1] + HORIZON * record)
    grid = np.linspace(x[0], end, _count_points(described.part))
    mean, std = evaluate_centred(subject.model, described.part, grid[:, np.newaxis])
    chart = Chart(
        described.name,
        _make_axis(subject, float(x[0]), end),
        Axis(*pad_range(np.r_[mean - Z_95 * std, mean + Z_95 * std]), _label_scale(subject)),
        width=940,
        height=210,
    )
    chart.segments([[x[-1], chart.y.low, x[-1], chart.y.high]], "axis")
    _draw_curve(chart, grid, mean, std)
    caption = f"{_make_caption(described)} The vertical line is the end of the record."
    return Figure(_make_title(described), caption, chart.svg(), layout="wide")


def _count_points(part: StructurePart) -> int:
    """Return the number of points that show the shortest period of a part."""
    periods = [each.period for each in part.list_factors(Harmonics)]
    if not periods:
        return FEWEST_POINTS
    # scaled inputs have range two
    needed = int(POINTS_PER_PERIOD * (1.0 + HORIZON) * 2.0 / min(periods))
    return min(max(needed, FEWEST_POINTS), MOST_POINTS)


def _label_scale(subject: Subject) -> str:
    return SCALES[subject.model.transform_].format(subject.target)


def _draw_curve(chart: Chart, x: Vector, mean: Vector, std: Vector) -> None:
    chart.band(x, mean - Z_95 * std, mean + Z_95 * std, "model soft2")
    chart.line(x, mean, "model thick")
    marks = thin_indices(len(x), N_MARKS)
    tips = [f"{format_number(mean[i])} ± {format_number(std[i])}" for i in marks]
    chart.hover_points(x[marks], mean[marks], tips)


def _make_function(subject: Subject, described: DescribedPart) -> Figure:
    """Make the figure of a component of a function of several features."""
    X: Matrix = subject.model.training_rows_.inputs
    first, *others = described.part.features
    grid = np.linspace(X[:, first].min(), X[:, first].max(), FEWEST_POINTS)
    levels = SECOND_LEVELS if others else (0.5,)
    curves = []
    for level in levels:
        inputs = np.tile(np.median(X, axis=0), (len(grid), 1))
        inputs[:, first] = grid
        inputs[:, others] = np.quantile(X[:, others], level, axis=0)
        curves.append(evaluate_centred(subject.model, described.part, inputs))
    extent = np.concatenate([mean + sign * Z_95 * std for mean, std in curves for sign in (-1, 1)])
    chart = Chart(
        described.name,
        Axis(float(grid[0]), float(grid[-1]), subject.names[first]),
        Axis(*pad_range(extent), _label_scale(subject)),
    )
    if not others:
        _draw_curve(chart, grid, *curves[0])
        return Figure(_make_title(described), _make_caption(described), chart.svg())
    for (mean, _), style in zip(curves, LINE_STYLES, strict=True):
        chart.line(grid, mean, f"{style} thick")
    listed = " and ".join(subject.names[i] for i in others)
    legend = tuple(
        (style, f"{listed} at the {round(100 * level)} % quantile")
        for style, level in zip(LINE_STYLES, levels, strict=True)
    )
    caption = f"{described.part.expression}, centred over the data. Posterior means."
    return Figure(_make_title(described), caption, chart.svg(), legend)
