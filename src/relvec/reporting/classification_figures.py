"""Report figures of classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, roc_curve

from relvec._typing import IndexArray
from relvec.describing import format_class_label, get_kernel_centers, make_grid, make_slice, shorten
from relvec.reporting.chart import Axis, Chart, format_number, shorten_label
from relvec.reporting.figures import Figure, choose_rows, describe_rows, thin_indices
from relvec.reporting.metrics import compute_reliability
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.raster import encode_png, find_zero_contour, make_class_image
from relvec.reporting.subject import FeatureSpace, Subject

__all__ = ["make_classification_figures"]

PERCENT_TICKS = [(t, f"{round(100 * t)} %") for t in (0.0, 0.25, 0.5, 0.75, 1.0)]


def make_classification_figures(subject: Subject, evaluated: PredictionSet) -> list[Figure]:
    """Make the figures of a classifier: probabilities, confusion matrix, reliability, ROC curve.

    Parameters
    ----------
    subject, evaluated
        As in `relvec.reporting.regression_figures.make_regression_figures`.
    """
    figures = []
    space = subject.space()
    if space is not None and len(space.names) == 2:
        figures.append(_surface(subject, space))
    if space is not None and len(space.names) == 1:
        figures.append(_curve(subject, space))
    if len(subject.classes) <= subject.limits.classes:
        figures.append(_confusion(subject, evaluated))
    figures.append(_reliability(subject, evaluated))
    if len(subject.classes) == 2:
        figures.append(_roc(subject, evaluated))
    else:
        figures.append(_true_class_probability(subject, evaluated))
    return figures


def _surface(subject: Subject, space: FeatureSpace) -> Figure:
    grid = make_grid(space.inputs, subject.limits.grid, margin=0.08)
    x0, x1 = grid.axes
    probability = space.predict_proba(grid.points).reshape(*grid.shape, -1)
    chart = Chart(
        "class probabilities over the two features",
        Axis(x0[0], x0[-1], space.names[0]),
        Axis(x1[0], x1[-1], space.names[1]),
        height=400,
    )
    chart.image(encode_png(make_class_image(probability)[::-1]))
    for k in range(1 if probability.shape[2] == 2 else 0, probability.shape[2]):
        others = np.delete(probability, k, axis=2).max(axis=2)
        chart.segments(find_zero_contour(x0, x1, probability[:, :, k] - others), "border")
    legend = [
        _class_dots(chart, subject, k, rows, space.inputs[rows, 0], space.inputs[rows, 1], 3.4)
        for k, rows in enumerate(_rows_by_class(subject))
    ]
    vectors = get_kernel_centers(space.estimator)
    if vectors is not None and len(vectors):
        tips = [f"relevance vector {i}" for i in range(len(vectors))]
        chart.dots(vectors[:, 0], vectors[:, 1], "ring ink", tips, 6.5)
        legend.append(("ring ink dot", "relevance vectors"))
    caption = (
        "Colour: most probable class, more intense for a higher probability. Lines: decision "
        "boundaries."
    )
    return Figure("Decision surface", caption, chart.svg(), tuple(legend))


def _rows_by_class(subject: Subject) -> list[IndexArray]:
    """Return the rows to draw, for each class."""
    shown = choose_rows(subject.n_rows, subject.limits.points)
    return [shown[subject.y[shown] == label] for label in subject.classes]


def _class_dots(
    chart: Chart, subject: Subject, k: int, rows: IndexArray, x: Any, y: Any, radius: float
) -> tuple[str, str]:
    """Draw the rows of a class; return its legend entry."""
    name = format_class_label(subject.classes[k])
    tips = [f"row {i}: {name}" for i in rows]
    chart.dots(x, y, f"class k{k % 6}", tips, radius)
    return f"k{k % 6} dot", name


def _curve(subject: Subject, space: FeatureSpace) -> Figure:
    along = make_slice(space.inputs, 0, 240, space.names)
    probability = space.predict_proba(along.X)
    chart = Chart(
        "class probabilities over the feature",
        Axis(along.values[0], along.values[-1], along.name),
        Axis(-0.06, 1.06, "probability", ticks=PERCENT_TICKS),
        width=940,
        height=340,
    )
    marks = thin_indices(len(along.values), 60)
    legend = []
    rng = np.random.default_rng(0)
    for k, rows in enumerate(_rows_by_class(subject)):
        if k == 0 and len(subject.classes) == 2:
            chart.segments([[along.values[0], 0.5, along.values[-1], 0.5]], "axis")
        else:
            chart.line(along.values, probability[:, k], f"stroke k{k % 6} thick")
            name = format_class_label(subject.classes[k])
            tips = [
                f"{along.name} {format_number(along.values[i])}: probability of {name} "
                f"{100 * probability[i, k]:.1f} %"
                for i in marks
            ]
            chart.hover_points(along.values[marks], probability[marks, k], tips)
        level = k / max(len(subject.classes) - 1, 1)
        height = level + rng.uniform(-0.03, 0.03, len(rows))
        legend.append(_class_dots(chart, subject, k, rows, space.inputs[rows, 0], height, 2.6))
    caption = "Predicted class probabilities along the feature. Dots: rows, by class."
    return Figure("Class probabilities", caption, chart.svg(), tuple(legend), layout="wide")


def _confusion(subject: Subject, evaluated: PredictionSet) -> Figure:
    assert evaluated.probability is not None
    classes = subject.classes
    predicted = classes[evaluated.probability.argmax(axis=1)]
    counts = confusion_matrix(evaluated.y, predicted, labels=classes)
    n_classes = len(classes)
    labels = [(float(i), shorten_label(str(label))) for i, label in enumerate(classes)]
    # About 44 letters fit below the chart, shared by all class names.
    n_letters = max(4, 44 // n_classes)
    below = [(k, shorten(label, n_letters)) for k, label in labels]
    chart = Chart(
        "confusion matrix",
        Axis(-0.5, n_classes - 0.5, "predicted class", ticks=below),
        Axis(n_classes - 0.5, -0.5, "true class", ticks=labels),
        height=380,
        has_grid=False,
    )
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for i in range(n_classes):
        for j in range(n_classes):
            style = "right" if i == j else "wrong"
            level = min(9, int(10 * shares[i, j]))
            tip = (
                f"{counts[i, j]} of {counts[i].sum()} rows of {classes[i]} classified as "
                f"{classes[j]} ({100 * shares[i, j]:.1f} %)"
            )
            chart.bar(j - 0.48, j + 0.48, i - 0.48, i + 0.48, f"{style} s{level}", tip)
            strong = " strong" if level > 5 else ""
            if n_classes <= 12:
                chart.text(j, i, str(counts[i, j]), f"cell{strong}", "middle")
    return Figure("Confusion matrix", f"Numbers of rows. {describe_rows(evaluated)}", chart.svg())


def _reliability(subject: Subject, evaluated: PredictionSet) -> Figure:
    curve = compute_reliability(evaluated, subject.classes)
    event = (
        format_class_label(subject.classes[1])
        if len(subject.classes) == 2
        else "the most probable class"
    )
    chart = Chart(
        "reliability diagram",
        Axis(0.0, 1.0, f"predicted probability of {event}", ticks=PERCENT_TICKS),
        Axis(0.0, 1.0, "observed frequency", ticks=PERCENT_TICKS),
        height=380,
    )
    edges = np.linspace(0.0, 1.0, 21)
    heights = np.histogram(curve.predicted, edges)[0]
    for low, high, count in zip(edges[:-1], edges[1:], heights, strict=True):
        if count:
            tip = f"{count} rows with a predicted probability of {round(100 * low)} to "
            tip += f"{round(100 * high)} %"
            top = 0.2 * count / heights.max()
            chart.bar(low + 0.003, high - 0.003, 0.0, top, "grey", tip)
    chart.segments([[0.0, 0.0, 1.0, 1.0]], "axis")
    low, high = curve.interval()
    chart.whiskers(curve.mean, low, high, "model")
    chart.line(curve.mean, curve.frequency, "model thick")
    tips = [
        f"{n} rows: mean predicted probability {100 * m:.0f} %, observed frequency {100 * f:.0f} %"
        for n, m, f in zip(curve.count, curve.mean, curve.frequency, strict=True)
    ]
    chart.dots(curve.mean, curve.frequency, "model", tips, 4.0)
    caption = (
        "Observed frequency against predicted probability, in ten bins; on the diagonal the model "
        "is calibrated. Error bars: 95 % binomial intervals."
    )
    legend = (("model dot", evaluated.name), ("grey", "distribution of the predictions"))
    return Figure(
        "Reliability diagram", f"{caption} {describe_rows(evaluated)}", chart.svg(), legend
    )


def _roc(subject: Subject, evaluated: PredictionSet) -> Figure:
    assert evaluated.probability is not None
    is_second = evaluated.y == subject.classes[1]
    chart = Chart(
        "receiver operating characteristic",
        Axis(0.0, 1.0, "false-positive rate", ticks=PERCENT_TICKS),
        Axis(0.0, 1.0, "true-positive rate", ticks=PERCENT_TICKS),
        height=380,
    )
    chart.segments([[0.0, 0.0, 1.0, 1.0]], "axis")
    if is_second.any() and not is_second.all():
        false_positive, true_positive, threshold = roc_curve(is_second, evaluated.probability[:, 1])
        chart.line(false_positive, true_positive, "model thick")
        shown = thin_indices(len(threshold), 80)
        tips = [
            f"threshold {100 * min(threshold[i], 1.0):.0f} %: true-positive rate "
            f"{100 * true_positive[i]:.0f} %, false-positive rate {100 * false_positive[i]:.0f} %"
            for i in shown
        ]
        chart.hover_points(false_positive[shown], true_positive[shown], tips)
    positive = format_class_label(subject.classes[1])
    caption = f"True- against false-positive rate over all thresholds; positive class: {positive}."
    return Figure("ROC curve", f"{caption} {describe_rows(evaluated)}", chart.svg())


def _true_class_probability(subject: Subject, evaluated: PredictionSet) -> Figure:
    """Make the figure of the predicted probability of the true class, class by class."""
    assert evaluated.probability is not None
    classes = subject.classes
    index = np.searchsorted(classes, evaluated.y)
    true_probability = evaluated.probability[np.arange(len(index)), index]
    ticks = [
        (float(i), shorten_label(str(label)))
        for i, label in enumerate(classes[: subject.limits.classes])
    ]
    chart = Chart(
        "predicted probability of the true class",
        Axis(0.0, 1.0, "predicted probability of the true class", ticks=PERCENT_TICKS),
        Axis(len(ticks) - 0.4, -0.6, ticks=ticks),
        height=max(380, 60 + 22 * len(ticks)),
    )
    rng = np.random.default_rng(0)
    is_correct = evaluated.probability.argmax(axis=1) == index
    for k in range(len(ticks)):
        for style, which in ((f"class k{k % 6}", is_correct), ("wrongdot", ~is_correct)):
            mine = np.flatnonzero((index == k) & which)[: subject.limits.dots_of_class]
            height = k + rng.uniform(-0.3, 0.3, len(mine))
            tips = [f"row {evaluated.row[i]}: {100 * true_probability[i]:.1f} %" for i in mine]
            chart.dots(true_probability[mine], height, style, tips, 3.0)
    caption = "One dot per row; misclassified rows are drawn without colour."
    return Figure(
        "Probability of the true class", f"{caption} {describe_rows(evaluated)}", chart.svg()
    )
