"""Report figure of count models: the rootogram."""

from __future__ import annotations

import numpy as np

from relvec.describing import compute_rootogram
from relvec.reporting.chart import Axis, Chart, format_number
from relvec.reporting.figures import Figure
from relvec.reporting.subject import Subject

__all__ = ["make_rootogram"]


def make_rootogram(subject: Subject) -> Figure:
    """Make the hanging rootogram of a count model (Tukey 1977; Kleiber & Zeileis 2016)."""
    found = compute_rootogram(
        subject.estimator,
        subject.X,
        subject.y,
        exposure=subject.row_values,
        max_bins=subject.limits.count_bins,
    )
    edges, observed, expected = found.edges, found.observed, found.expected
    top, size = np.sqrt(expected), np.sqrt(observed)
    low = min(-1.5, float((top - size).min()) - 0.5)
    unit = edges[1] - edges[0]
    chart = Chart(
        "rootogram",
        Axis(float(edges[0] - 0.7 * unit), float(edges[-1] - 0.3 * unit), f"{subject.target}"),
        Axis(low, 1.08 * max(float(top.max()), 1.0), "√ number of rows"),
        height=380,
    )
    # A root of a Poisson number has standard deviation of about one half.
    chart.band([chart.x.low, chart.x.high], [-1.0, -1.0], [1.0, 1.0], "grey")
    chart.segments([[chart.x.low, 0.0, chart.x.high, 0.0]], "axis")
    middle = found.centres
    for i, at in enumerate(middle.tolist()):
        name = f"{edges[i]:.0f}" if unit == 1.0 else f"{edges[i]:.0f} to {edges[i + 1] - 1.0:.0f}"
        tip = f"{name}: {observed[i]:.0f} rows, {format_number(float(expected[i]))} expected"
        half = 0.38 * unit
        chart.bar(at - half, at + half, top[i] - size[i], top[i], "grey", tip)
    chart.line(middle, top, "model thick")
    chart.dots(middle, top, "model", None, 3.2)
    caption = (
        "Bars hang from the expected number of rows with each count, on a square-root scale. If "
        "the distribution is right they end near zero: 95 % of them in the grey band. Bars that "
        "end above it are counts that are rarer than expected. Training rows."
    )
    legend = (("model dot", "expected"), ("grey", "observed; band: ±2 standard errors"))
    return Figure("Rootogram", caption, chart.svg(), legend)
