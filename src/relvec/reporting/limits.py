"""Limits on the amount of content in a report."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ReportLimits"]


@dataclass(frozen=True)
class ReportLimits:
    """Maximum numbers of elements of each kind; they keep a page below about a megabyte."""

    points: int = 1500
    """Rows drawn as dots, each with a tooltip."""
    quantiles: int = 500
    """Points of a normal Q–Q plot."""
    dots_of_class: int = 300
    """Rows of one class, correct or misclassified, in the plot of the true-class probability."""
    bars: int = 15
    """Features or weights in a bar chart."""
    steps: int = 300
    """Points of the trace of the objective."""
    slices: int = 6
    """Features whose effect is plotted."""
    features_tried: int = 200
    """Features that are ordered by the size of their effect; with more, the first are plotted."""
    functions: int = 40
    """Basis functions plotted over the only feature."""
    classes: int = 20
    """Classes in a confusion matrix."""
    grid: int = 90
    """Grid points along each of two features in a decision surface."""
    count_bins: int = 40
    """Bins of a rootogram; each is one count if the largest is smaller."""
    outliers: int = 30
    """Rows of the table of outliers."""
    weights: int = 500
    """Rows of the table of weights."""
    features: int = 10
    """Features with a column in the table of weights."""
