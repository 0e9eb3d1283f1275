"""Report figures of the regression function along single features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.describing import (
    compute_critical_value,
    get_kernel_centers,
    is_sampled,
    lacks_noise,
    make_slice,
    order_features,
)
from relvec.reporting.chart import Axis, Chart, format_number, pad_range
from relvec.reporting.figures import Figure, choose_rows, thin_indices
from relvec.reporting.subject import FeatureSpace, Subject

__all__ = [
    "Z_95",
    "has_few_values",
    "make_basis_figures",
    "make_effect_figure",
    "make_effect_figures",
    "make_fit_figure",
    "make_rows_at_values",
    "order_features_by_effect",
]

Z_95 = compute_critical_value(0.95)
"""Half-width of a 95 % interval, in standard deviations."""


def make_fit_figure(subject: Subject, space: FeatureSpace) -> Figure:
    """Make the figure of the fit over the only feature, with the data."""
    along = make_slice(space.inputs, 0, 240, space.names)
    curve = _predict_curve(subject, space, along.X)
    shown = choose_rows(subject.n_rows, subject.limits.points)
    x, y = space.inputs[shown, 0], subject.rates[shown]
    chart = Chart(
        "fit over the feature",
        Axis(along.values[0], along.values[-1], along.name),
        Axis(*pad_range(np.r_[curve.extent, y]), subject.response),
        width=940,
        height=380,
    )
    curve.draw_bands(chart, along.values)
    mean = curve.mean
    tips = [
        f"row {i}: {along.name} {format_number(a)}, {subject.response} {format_number(b)}"
        for i, a, b in zip(shown, x, y, strict=True)
    ]
    chart.dots(x, y, "data", tips, 2.6)
    chart.line(along.values, mean, "model thick")
    legend = [("data dot", "data"), ("model", "predictive mean")]
    if curve.new_targets is not None:
        legend.append(("model soft", "95 % interval, new targets"))
    legend.append(("model soft2", "95 % interval, function"))
    vectors = get_kernel_centers(space.estimator)
    # those of a sampled model differ from draw to draw
    if vectors is not None and len(vectors) and not is_sampled(subject.model):
        position = vectors[:, 0]
        height = np.interp(position, along.values, mean)
        chart.dots(
            position,
            height,
            "ring",
            [f"relevance vector at {format_number(v)}" for v in position],
            6.0,
        )
        legend.append(("ring dot", "relevance vectors"))
    marks = thin_indices(len(along.values), 60)
    tips = [_format_prediction(along.name, along.values[i], curve, i) for i in marks]
    chart.hover_points(along.values[marks], mean[marks], tips)
    caption = f"Predictive mean with 95 % intervals{_describe_bands(subject, curve)}."
    return Figure("Fit", caption, chart.svg(), tuple(legend), layout="wide")


def make_basis_figures(subject: Subject, space: FeatureSpace) -> list[Figure]:
    """Make the figure of the basis functions of the model, each times its weight."""
    model = subject.model
    if is_sampled(model) or not len(model.coef_):
        return []
    along = make_slice(space.inputs, 0, 160, space.names)
    terms = space.evaluate_basis(along.X) * model.coef_
    largest = np.argsort(-np.abs(model.coef_), kind="stable")[: subject.limits.functions]
    chart = Chart(
        "weighted basis functions",
        Axis(along.values[0], along.values[-1], along.name),
        Axis(*pad_range(np.append(terms[:, largest], 0.0)), "weight × basis function"),
    )
    chart.segments([[along.values[0], 0.0, along.values[-1], 0.0]], "axis")
    names, marks = model.atoms_.names(subject.names), thin_indices(len(along.values), 30)
    for index in largest:
        chart.line(along.values, terms[:, index], "model")
        tips = [f"{names[index]}, weight {format_number(model.coef_[index])}"] * len(marks)
        chart.hover_points(along.values[marks], terms[marks, index], tips)
    mean = "log rate" if subject.counts_events else "predictive mean"
    if getattr(getattr(model, "outputs_", [None])[0], "transform", None) is not None:
        mean = "prediction of the transformed target"
    caption = (
        f"Within the data, the {mean} is the sum of the weighted basis functions and the intercept."
    )
    if len(largest) < len(model.coef_):
        caption += f" Shown: the {len(largest)} largest weights of {len(model.coef_)}."
    return [Figure("Weighted basis functions", caption, chart.svg())]


def make_effect_figures(subject: Subject, space: FeatureSpace) -> list[Figure]:
    """Make the figures of the effects of the most relevant features."""
    if getattr(subject.model, "feature_relevance_", None) is not None:
        order = order_features(subject.model)
        order = order[np.asarray(subject.model.feature_relevance_)[order] > 0.0]
    else:
        order = order_features_by_effect(subject, space)
    return [
        make_effect_figure(subject, space, int(index)) for index in order[: subject.limits.slices]
    ]


def order_features_by_effect(subject: Subject, space: FeatureSpace, n_steps: int = 9) -> IndexArray:
    """Order features by the standard deviation of the predictive mean along each of them.

    The other features are at their medians. Features without an effect are left out.
    """
    n_features = len(space.names)
    if n_features > subject.limits.features_tried:
        return np.arange(n_features)
    rows = np.tile(np.median(space.inputs, axis=0), (n_features, n_steps, 1))
    quantiles = np.quantile(space.inputs, np.linspace(0.02, 0.98, n_steps), axis=0)
    all_features = np.arange(n_features)
    rows[all_features, :, all_features] = quantiles.T
    mean = np.asarray(space.predict(rows.reshape(-1, n_features))).reshape(n_features, n_steps)
    effect = mean.std(axis=1)
    order = np.argsort(-effect, kind="stable")
    # Effects below a millionth of the standard deviation of the target are rounding errors.
    return order[effect[order] > 1e-6 * float(np.std(subject.y))]


def has_few_values(column: Vector) -> bool:
    """Whether a feature is discrete: few distinct values, each with several rows."""
    count = len(np.unique(column))
    # Up to eight points are legible, and four rows per value give some support to each.
    return 1 < count <= 8 and len(column) >= 4 * count


def make_effect_figure(subject: Subject, space: FeatureSpace, index: int) -> Figure:
    """Make the figure of the effect of one feature: a curve, or points for a discrete feature."""
    values, counts = np.unique(space.inputs[:, index], return_counts=True)
    if has_few_values(space.inputs[:, index]):
        return _effect_of_values(subject, space, index, values, counts)
    return _effect_of_line(subject, space, index)


def _effect_of_line(subject: Subject, space: FeatureSpace, index: int) -> Figure:
    along = make_slice(space.inputs, index, 120, space.names)
    curve = _predict_curve(subject, space, along.X)
    mean = curve.mean
    chart = Chart(
        f"effect of {along.name}",
        Axis(along.values[0], along.values[-1], along.name),
        Axis(*pad_range(curve.extent), subject.response),
        height=250,
    )
    curve.draw_bands(chart, along.values)
    chart.line(along.values, mean, "model thick")
    low, high = chart.y.low, chart.y.high
    quantiles = np.quantile(space.inputs[:, index], np.linspace(0.0, 1.0, 40))
    bottom = np.full(40, low)
    chart.whiskers(quantiles, bottom, bottom + 0.03 * (high - low), "data")
    marks = thin_indices(len(along.values), 40)
    tips = [_format_prediction(along.name, along.values[i], curve, i) for i in marks]
    chart.hover_points(along.values[marks], mean[marks], tips)
    caption = (
        f"Predictive mean with 95 % intervals{_describe_bands(subject, curve)}; all other features "
        "are at their medians. Ticks on the axis: quantiles of the feature."
    )
    return Figure(f"Effect of {along.name}", caption, chart.svg())


def _effect_of_values(
    subject: Subject, space: FeatureSpace, index: int, values: Vector, counts: IndexArray
) -> Figure:
    """Make the figure of the effect of a discrete feature: one point per value."""
    curve = _predict_curve(subject, space, make_rows_at_values(space.inputs, index, values))
    mean = curve.mean
    low, high = pad_range(values, 0.5 if len(values) == 2 else 0.2)
    name = space.names[index]
    chart = Chart(
        f"effect of {name}",
        Axis(low, high, name, ticks=[(value, format_number(value)) for value in values.tolist()]),
        Axis(*pad_range(curve.extent), subject.response),
        height=250,
    )
    if curve.new_targets is not None:
        chart.whiskers(values, curve.new_targets[:, 0], curve.new_targets[:, 1], "model")
    chart.whiskers(values, curve.function[:, 0], curve.function[:, 1], "model broad")
    tips = [
        f"{_format_prediction(name, value, curve, i)}; {count} rows"
        for i, (value, count) in enumerate(zip(values, counts, strict=True))
    ]
    chart.dots(values, mean, "model", tips, 5.0)
    caption = (
        "Predictive mean at each value; all other features are at their medians. Bars: 95 % "
        "intervals, thick for the regression function, thin for new targets."
    )
    return Figure(f"Effect of {name}", caption, chart.svg())


def make_rows_at_values(inputs: Matrix, index: int, values: Vector) -> Matrix:
    """Make rows with one feature at given values and all others at their medians.

    Indicator columns of the same categorical variable are kept consistent: at most one is 1.
    """
    rows = np.tile(np.median(inputs, axis=0), (len(values), 1))
    rows[:, index] = values
    indicators = np.flatnonzero(np.isin(inputs, (0.0, 1.0)).all(axis=0))
    if index in indicators:
        # Indicators that are never 1 together with this one are other categories of the variable.
        together = inputs[inputs[:, index] == 1.0].max(axis=0, initial=0.0)
        exclusive = indicators[together[indicators] == 0.0]
        rows[np.ix_(values == 1.0, exclusive)] = 0.0
    return rows


class _Curve(NamedTuple):
    """Predictions along a line, with 95 % intervals."""

    mean: Vector
    function: Matrix
    """Interval of the regression function, or of the rate."""
    new_targets: Matrix | None
    """Interval of new targets; None if their noise is not known."""

    @property
    def extent(self) -> Vector:
        """All values that are drawn."""
        widest = self.function if self.new_targets is None else self.new_targets
        return np.concatenate([self.mean, widest.ravel()])

    def draw_bands(self, chart: Chart, x: Vector) -> None:
        """Draw the intervals as bands."""
        if self.new_targets is not None:
            chart.band(x, self.new_targets[:, 0], self.new_targets[:, 1], "model soft")
        chart.band(x, self.function[:, 0], self.function[:, 1], "model soft2")


def _predict_curve(subject: Subject, space: FeatureSpace, rows: Matrix) -> _Curve:
    """Predict the mean, and 95 % intervals of new targets and of the function."""
    if subject.counts_events:
        # The rate is log-normal; a new count depends on its exposure, which rows here do not have.
        log_rate, std = space.predict_log_rate(rows)
        ends = np.exp(log_rate[:, None] + Z_95 * np.multiply.outer(std, [-1.0, 1.0]))
        return _Curve(np.asarray(space.predict(rows)), ends, None)
    mean = np.asarray(space.predict(rows))
    function = space.predict_interval(rows, include_noise=False)
    targets = None if lacks_noise(subject.model) else space.predict_interval(rows)
    return _Curve(mean, function, targets)


def _describe_bands(subject: Subject, curve: _Curve) -> str:
    if subject.counts_events:
        return " of the rate, per unit of exposure"
    if curve.new_targets is None:
        return " of the regression function; the noise of new targets is not known"
    return " of new targets (noise included) and of the regression function"


def _format_prediction(name: str, x: float, curve: _Curve, index: int) -> str:
    ends = curve.function if curve.new_targets is None else curve.new_targets
    low, high = (format_number(float(end)) for end in ends[index])
    return f"{name} {format_number(x)}: {format_number(float(curve.mean[index]))} ({low} to {high})"
