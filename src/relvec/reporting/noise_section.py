"""Section of a report on the noise of a regression: its kind, its level and checks of it."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.describing import (
    lacks_noise,
    make_slice,
    predict_distribution,
    transform_inputs,
)
from relvec.reporting.chart import Axis, Chart, format_number, pad_range
from relvec.reporting.figures import Figure, choose_rows
from relvec.reporting.noise import NoiseAssessment
from relvec.reporting.page import render_figure
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

__all__ = ["render_noise_section"]

KINDS = {
    "constant": "Gaussian, of the same variance everywhere",
    "heteroscedastic": "Gaussian, with a variance that depends on the features",
    "student_t": "Student-t: heavy tails",
    "contaminated": "contaminated normal: ordinary rows and outliers",
}


def render_noise_section(
    subject: Subject, evaluated: PredictionSet, noise: NoiseAssessment
) -> tuple[str, str]:
    """Return title and content of the section.

    Parameters
    ----------
    subject : Subject
        Model and rows of the report.
    evaluated : PredictionSet
        Predictions of the rows of the report whose residuals were checked.
    noise : NoiseAssessment
        Checks of the residuals.
    """
    rows = [*_describe_target(subject), *_describe_noise(subject), *_describe_checks(noise)]
    lines = "".join(
        f'<tr><td>{escape(name)}</td><td class="best">{escape(value)}</td>'
        f'<td class="words meaning">{escape(text)}</td></tr>'
        for name, value, text in rows
    )
    table = f'<div class="card across"><table><tbody>{lines}</tbody></table></div>'
    residuals = "out-of-fold predictions" if evaluated.is_cross_validated else "these rows"
    note = f'<p class="caption">Checks use the standardised residuals of {residuals}.</p>'
    figure = _make_level_figure(subject)
    figures = "" if figure is None else f'<div class="grid2">{render_figure(figure)}</div>'
    return "Noise", f"{table}{note}{figures}{_tabulate_outliers(subject)}"


Rows = list[tuple[str, str, str]]


def _find_kind(model: Any) -> str:
    """Return the kind of noise that the model has, which may not be the requested one."""
    if not model.noise_gain_:
        return "constant"
    if model.noise != "robust":
        return str(model.noise)
    return "student_t" if np.isfinite(model.df_) else "contaminated"


def _describe_target(subject: Subject) -> Rows:
    """Describe the transform of the target, if there is one."""
    output = subject.model.outputs_[0]
    if output.transform is None:
        return []
    how = "chosen by evidence" if subject.model.target_transform == "auto" else "as requested"
    text = f"{how}; noise, weights and intercept are those of the transformed target"
    return [("transform of the target", str(output.transform), text)]


def _describe_noise(subject: Subject) -> Rows:
    """Describe the kind and the size of the noise."""
    model = subject.model
    if lacks_noise(model):
        values = np.sqrt(np.asarray(subject.row_values))
        low, high = np.quantile(values, [0.05, 0.95])
        text = "standard deviation of 90 % of the rows, as given"
        rows = [("noise", "known", "Gaussian, with a given variance for each row")]
        rows.append(("noise std", f"{format_number(low)} to {format_number(high)}", text))
        if model.scale_noise:
            text = "estimated factor of the given variances; about 1 if they are right"
            rows.append(("factor of the variances", format_number(float(model.noise_scale_)), text))
        return rows
    kind = _find_kind(model)
    rows = [("noise", kind.replace("_", "-"), KINDS[kind])]
    if kind == "heteroscedastic":
        std = _predict_noise(subject, transform_inputs(subject.estimator, subject.X))
        low, high = np.quantile(std, [0.05, 0.95])
        text = "standard deviation at 90 % of the rows"
        rows.append(("noise std", f"{format_number(low)} to {format_number(high)}", text))
    else:
        text = "standard deviation" if kind == "constant" else "standard deviation of ordinary rows"
        value = float(np.sqrt(model.noise_variance_))
        rows.append(("noise std", format_number(value), text))
    if kind == "student_t":
        rows.append(("degrees of freedom", format_number(float(model.df_)), "30 is nearly normal"))
    if kind == "contaminated":
        share, ratio = (float(each) for each in model.contamination_)
        text = f"with a variance that is {format_number(ratio)} times as large"
        rows.append(("share of outliers", f"{100.0 * share:.1f} %", text))
    if model.noise != "constant":
        text = "gain in log evidence over constant noise, in nats"
        text += "" if kind != "constant" else f'; too little for noise="{model.noise}"'
        rows.append(("gain", format_number(float(model.noise_gain_)), text))
    return rows


def _describe_checks(noise: NoiseAssessment) -> Rows:
    """Describe the checks of the standardised residuals."""
    checks = noise.checks
    if checks is None:
        return []
    constancy = checks.constancy
    p_value = constancy.p_value
    verdict = "constant" if p_value >= 0.01 else "not constant"
    return [
        (
            "test of constancy",
            "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.2g}",
            f"{verdict} relative to the model, by a regression of squared residuals on prediction "
            "and features (Breusch & Pagan 1979; Koenker 1981)",
        ),
        (
            "excess kurtosis",
            format_number(checks.kurtosis, 2),
            f"0 for normal residuals, positive for heavy tails; {checks.n_beyond} of "
            f"{checks.n_rows} rows are beyond 4 standard deviations",
        ),
        ("skewness", format_number(checks.skewness, 2), "0 for symmetric residuals"),
    ]


def _predict_noise(subject: Subject, inputs: Any) -> Vector:
    return np.asarray(subject.model.predict_noise(inputs), dtype=np.float64)


def _make_level_figure(subject: Subject) -> Figure | None:
    """Make the figure of absolute residuals with the noise level of the model."""
    space = subject.space()
    if space is None or lacks_noise(subject.model):
        return None
    distribution: Any = predict_distribution(subject.estimator, subject.X)
    base = getattr(distribution, "base", distribution)
    transform = subject.model.outputs_[0].transform
    target = subject.y if transform is None else transform.forward(subject.y)
    size = np.abs(target - base.mean)
    if len(space.names) == 1:
        along = make_slice(space.inputs, 0, 160, space.names)
        x, line_x, label = space.inputs[:, 0], along.values, along.name
        std, band = _predict_level(subject, space.transform(along.X))
    else:
        std, band = _predict_level(subject, transform_inputs(subject.estimator, subject.X))
        predicted = "prediction" if transform is None else "transformed prediction"
        candidates = [(base.mean, predicted), *zip(space.inputs.T, space.names, strict=True)]
        x, label = max(candidates, key=lambda each: _measure_association(each[0], std))
        order = np.argsort(x, kind="stable")
        line_x, std, band = x[order], std[order], None if band is None else band[order]
    return _draw_level(
        subject, (x, size), (line_x, std, band), label, is_line=len(space.names) == 1
    )


def _measure_association(x: Vector, std: Vector) -> float:
    """Return how much of the noise level neighbours along x have in common, at most one."""
    spread = float(np.var(std))
    if not spread > 0.0:
        return 0.0  # constant noise: the first candidate, the prediction
    # Half the mean squared difference of neighbours is the variance that x does not explain.
    steps = np.diff(std[np.argsort(x, kind="stable")])
    return 1.0 - 0.5 * float(np.mean(steps**2)) / spread


def _predict_level(subject: Subject, inputs: Any) -> tuple[Vector, Matrix | None]:
    """Predict the noise standard deviation, with a 95 % band if the model has one."""
    if _find_kind(subject.model) == "heteroscedastic":
        std, band = subject.model.predict_noise(inputs, coverage=0.95)
        return np.asarray(std), np.asarray(band)
    return _predict_noise(subject, inputs), None


def _draw_level(
    subject: Subject,
    points: tuple[Vector, Vector],
    level: tuple[Vector, Vector, Matrix | None],
    label: str,
    *,
    is_line: bool,
) -> Figure:
    (x, size), (line_x, std, band) = points, level
    shown = choose_rows(len(x), subject.limits.points)
    high = float(np.quantile(size, 0.995))
    tops = [high, std.max()] if band is None else [high, std.max(), np.quantile(band[:, 1], 0.98)]
    chart = Chart(
        "noise level",
        Axis(*pad_range(x), label),
        Axis(0.0, 1.1 * float(max(tops)), "noise std, absolute residual"),
        width=940,
    )
    clipped = np.minimum(size[shown], chart.y.high)
    tips = [f"row {i}: absolute residual {format_number(float(size[i]))}" for i in shown]
    chart.dots(x[shown], clipped, "data", tips, 2.6)
    legend = [("data dot", "absolute residuals"), ("model", "noise standard deviation")]
    if band is not None:
        low, upper = np.minimum(band, chart.y.high).T
        if is_line:
            chart.band(line_x, low, upper, "model soft")
        else:
            chart.whiskers(line_x, low, upper, "model whisker")
        legend.append(("model soft", "95 % interval of the noise level"))
    if is_line or band is None:
        chart.line(line_x, std, "model thick")
    else:
        chart.dots(line_x, std, "model", None, 2.4)
    caption = (
        "Absolute residuals of the rows, and the standard deviation of the noise that the model "
        "predicts. About two thirds of the residuals should lie below it, everywhere. Training "
        "rows."
    )
    if subject.model.outputs_[0].transform is not None:
        caption += " On the scale of the transformed target."
    return Figure("Noise level", caption, chart.svg(), tuple(legend), layout="wide")


def _tabulate_outliers(subject: Subject) -> str:
    """Return the table of the most probable outliers, for robust noise and training rows."""
    probability = getattr(subject.model, "outlier_probability_", None)
    if probability is None or not subject.are_training or len(probability) != subject.n_rows:
        return ""
    order = np.argsort(-probability, kind="stable")
    shown = [int(i) for i in order[: subject.limits.outliers] if probability[i] > 0.5]
    total = int(np.count_nonzero(probability > 0.5))
    if not shown:
        return '<p class="caption">No row is probably an outlier.</p>'
    mean = np.asarray(subject.model.predict(transform_inputs(subject.estimator, subject.X)))
    lines = "".join(
        f"<tr><td>{i}</td><td>{format_number(float(subject.y[i]))}</td>"
        f"<td>{format_number(float(mean[i]))}</td><td>{float(probability[i]):.3f}</td></tr>"
        for i in shown
    )
    more = f"; shown: the {len(shown)} most probable" if len(shown) < total else ""
    return (
        f'<div class="card"><p class="caption">Rows that are probably outliers: {total} of '
        f"{subject.n_rows}{more}. Rows are counted from 0; they have little influence on the "
        'model.</p><div class="scroll"><table class="sortable"><thead><tr><th>row</th>'
        f"<th>{escape(subject.target)}</th><th>predicted</th><th>outlier probability</th></tr>"
        f"</thead><tbody>{lines}</tbody></table></div></div>"
    )
