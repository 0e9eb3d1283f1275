"""Pictures of models that predict classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, roc_curve

from relvec._typing import IndexArray
from relvec.describing import format_class_label, get_kernel_centers, make_grid, make_slice, shorten
from relvec.reporting.chart import Axis, Chart, number, short
from relvec.reporting.figures import Figure, rows_said, some_rows, thin
from relvec.reporting.metrics import reliability
from relvec.reporting.predictions import Sample
from relvec.reporting.raster import class_image, crossings, png_address
from relvec.reporting.subject import Space, Subject

__all__ = ["class_figures"]

SHARES = [(t, f"{round(100 * t)} %") for t in (0.0, 0.25, 0.5, 0.75, 1.0)]


def class_figures(subject: Subject, judged: Sample) -> list[Figure]:
    """Surface or curve, confusion, reliability and receiver operating characteristic.

    Parameters
    ----------
    subject, judged
        As in `relvec.reporting.number_figures.number_figures`.
    """
    figures = []
    space = subject.space()
    if space is not None and len(space.names) == 2:
        figures.append(_surface(subject, space))
    if space is not None and len(space.names) == 1:
        figures.append(_curve(subject, space))
    if len(subject.classes) <= subject.limits.classes:
        figures.append(_confusion(subject, judged))
    figures.append(_reliability(subject, judged))
    if len(subject.classes) == 2:
        figures.append(_ranking(subject, judged))
    else:
        figures.append(_certainty(subject, judged))
    return figures


def _surface(subject: Subject, space: Space) -> Figure:
    grid = make_grid(space.inputs, subject.limits.grid, margin=0.08)
    x0, x1 = grid.axes
    probability = space.predict_proba(grid.points).reshape(*grid.shape, -1)
    chart = Chart(
        "probabilities over the two inputs",
        Axis(x0[0], x0[-1], space.names[0]),
        Axis(x1[0], x1[-1], space.names[1]),
        height=400,
    )
    chart.image(png_address(class_image(probability)[::-1]))
    for place in range(1 if probability.shape[2] == 2 else 0, probability.shape[2]):
        others = np.delete(probability, place, axis=2).max(axis=2)
        chart.segments(crossings(x0, x1, probability[:, :, place] - others), "border")
    legend = [
        _class_dots(chart, subject, place, rows, space.inputs[rows, 0], space.inputs[rows, 1], 3.4)
        for place, rows in enumerate(_rows_by_class(subject))
    ]
    vectors = get_kernel_centers(space.estimator)
    if vectors is not None and len(vectors):
        tips = [f"vector {i}" for i in range(len(vectors))]
        chart.dots(vectors[:, 0], vectors[:, 1], "ring ink", tips, 6.5)
        legend.append(("ring ink dot", "relevance vectors"))
    caption = "The stronger the colour the surer the model; on the lines its decision changes."
    return Figure("Decision surface", caption, chart.svg(), tuple(legend))


def _rows_by_class(subject: Subject) -> list[IndexArray]:
    """Rows to draw, of each class."""
    shown = some_rows(subject.n_rows, subject.limits.points)
    return [shown[subject.y[shown] == label] for label in subject.classes]


def _class_dots(
    chart: Chart, subject: Subject, place: int, rows: IndexArray, x: Any, y: Any, radius: float
) -> tuple[str, str]:
    """Draw the rows of a class; return what the legend says of them."""
    name = format_class_label(subject.classes[place])
    tips = [f"row {i}: {name}" for i in rows]
    chart.dots(x, y, f"class k{place % 6}", tips, radius)
    return f"k{place % 6} dot", name


def _curve(subject: Subject, space: Space) -> Figure:
    along = make_slice(space.inputs, 0, 240, space.names)
    probability = space.predict_proba(along.X)
    chart = Chart(
        "probabilities over the input",
        Axis(along.values[0], along.values[-1], along.name),
        Axis(-0.06, 1.06, "probability", ticks=SHARES),
        width=940,
        height=340,
    )
    spots = thin(len(along.values), 60)
    legend = []
    rng = np.random.default_rng(0)
    for place, rows in enumerate(_rows_by_class(subject)):
        if place == 0 and len(subject.classes) == 2:
            chart.segments([[along.values[0], 0.5, along.values[-1], 0.5]], "axis")
        else:
            chart.line(along.values, probability[:, place], f"stroke k{place % 6} thick")
            name = format_class_label(subject.classes[place])
            tips = [
                f"{along.name} {number(along.values[i])}: {name} with "
                f"{100 * probability[i, place]:.1f} %"
                for i in spots
            ]
            chart.spots(along.values[spots], probability[spots, place], tips)
        level = place / max(len(subject.classes) - 1, 1)
        height = level + rng.uniform(-0.03, 0.03, len(rows))
        legend.append(_class_dots(chart, subject, place, rows, space.inputs[rows, 0], height, 2.6))
    caption = "Probability along the input; dots are rows, at the height of their class."
    return Figure("Probability", caption, chart.svg(), tuple(legend), layout="wide")


def _confusion(subject: Subject, judged: Sample) -> Figure:
    assert judged.probability is not None
    classes = subject.classes
    said = classes[judged.probability.argmax(axis=1)]
    counts = confusion_matrix(judged.y, said, labels=classes)
    n_classes = len(classes)
    labels = [(float(i), short(str(label))) for i, label in enumerate(classes)]
    room = max(4, 44 // n_classes)  # letters below the chart, of all names together
    below = [(place, shorten(label, room)) for place, label in labels]
    chart = Chart(
        "confusion matrix",
        Axis(-0.5, n_classes - 0.5, "predicted", ticks=below),
        Axis(n_classes - 0.5, -0.5, "observed", ticks=labels),
        height=380,
        has_grid=False,
    )
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for i in range(n_classes):
        for j in range(n_classes):
            style = "right" if i == j else "wrong"
            level = min(9, int(10 * shares[i, j]))
            tip = (
                f"{counts[i, j]} of {counts[i].sum()} rows of {classes[i]} were taken for "
                f"{classes[j]} ({100 * shares[i, j]:.1f} %)"
            )
            chart.bar(j - 0.48, j + 0.48, i - 0.48, i + 0.48, f"{style} s{level}", tip)
            strong = " strong" if level > 5 else ""
            if n_classes <= 12:
                chart.text(j, i, str(counts[i, j]), f"cell{strong}", "middle")
    return Figure("Confusion", rows_said(judged), chart.svg())


def _reliability(subject: Subject, judged: Sample) -> Figure:
    curve = reliability(judged, subject.classes)
    event = (
        format_class_label(subject.classes[1])
        if len(subject.classes) == 2
        else "the likeliest class"
    )
    chart = Chart(
        "reliability of the probabilities",
        Axis(0.0, 1.0, f"predicted probability of {event}", ticks=SHARES),
        Axis(0.0, 1.0, "how often it came true", ticks=SHARES),
        height=380,
    )
    edges = np.linspace(0.0, 1.0, 21)
    heights = np.histogram(curve.predicted, edges)[0]
    for low, high, count in zip(edges[:-1], edges[1:], heights, strict=True):
        if count:
            tip = f"{count} rows between {round(100 * low)} and {round(100 * high)} %"
            top = 0.2 * count / heights.max()
            chart.bar(low + 0.003, high - 0.003, 0.0, top, "grey", tip)
    chart.segments([[0.0, 0.0, 1.0, 1.0]], "axis")
    low, high = curve.interval()
    chart.whiskers(curve.mean, low, high, "model")
    chart.line(curve.mean, curve.frequency, "model thick")
    tips = [
        f"{n} rows at {100 * m:.0f} % on average: came true in {100 * f:.0f} %"
        for n, m, f in zip(curve.count, curve.mean, curve.frequency, strict=True)
    ]
    chart.dots(curve.mean, curve.frequency, "model", tips, 4.0)
    caption = "On the diagonal, what is said to be probable happens as often as that. Bars: 95 %."
    legend = (("model dot", judged.name), ("grey", "how many rows"))
    return Figure("Reliability", f"{caption} {rows_said(judged)}", chart.svg(), legend)


def _ranking(subject: Subject, judged: Sample) -> Figure:
    assert judged.probability is not None
    is_second = judged.y == subject.classes[1]
    chart = Chart(
        "receiver operating characteristic",
        Axis(0.0, 1.0, "false alarms", ticks=SHARES),
        Axis(0.0, 1.0, f"{format_class_label(subject.classes[1])} found", ticks=SHARES),
        height=380,
    )
    chart.segments([[0.0, 0.0, 1.0, 1.0]], "axis")
    if is_second.any() and not is_second.all():
        wrong, right, level = roc_curve(is_second, judged.probability[:, 1])
        chart.line(wrong, right, "model thick")
        places = thin(len(wrong), 80)
        tips = [
            f"threshold {100 * min(level[i], 1.0):.0f} %: {100 * right[i]:.0f} % found, "
            f"{100 * wrong[i]:.0f} % false alarms"
            for i in places
        ]
        chart.spots(wrong[places], right[places], tips)
    caption = "What is found for which share of false alarms, over all thresholds."
    return Figure("ROC curve", f"{caption} {rows_said(judged)}", chart.svg())


def _certainty(subject: Subject, judged: Sample) -> Figure:
    """How sure the model is, class by class."""
    assert judged.probability is not None
    classes = subject.classes
    index = np.searchsorted(classes, judged.y)
    given = judged.probability[np.arange(len(index)), index]
    ticks = [
        (float(i), short(str(label))) for i, label in enumerate(classes[: subject.limits.classes])
    ]
    chart = Chart(
        "probability given to the true class",
        Axis(0.0, 1.0, "probability given to the true class", ticks=SHARES),
        Axis(len(ticks) - 0.4, -0.6, ticks=ticks),
        height=max(380, 60 + 22 * len(ticks)),
    )
    rng = np.random.default_rng(0)
    right = judged.probability.argmax(axis=1) == index
    for place in range(len(ticks)):
        for style, which in ((f"class k{place % 6}", right), ("wrongdot", ~right)):
            mine = np.flatnonzero((index == place) & which)[: subject.limits.dots_of_class]
            height = place + rng.uniform(-0.3, 0.3, len(mine))
            tips = [f"row {judged.row[i]}: {100 * given[i]:.1f} %" for i in mine]
            chart.dots(given[mine], height, style, tips, 3.0)
    caption = "One dot a row; those without colour were put in a wrong class."
    return Figure("How sure, by class", f"{caption} {rows_said(judged)}", chart.svg())
