"""How much of everything a report shows."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ReportLimits"]


@dataclass(frozen=True)
class ReportLimits:
    """Most of each kind that a page of about a megabyte can hold and a reader can take in."""

    points: int = 1500
    """Rows drawn as dots, each with a tip."""
    quantiles: int = 500
    """Sorted residuals drawn as dots: neighbours are nearly the same."""
    dots_of_class: int = 300
    """Rows of one class, right or wrong, in the figure of how sure the model is."""
    bars: int = 15
    """Inputs or weights with a bar of their own."""
    steps: int = 300
    """Places along the trace of the objective; a screen has not many more across."""
    slices: int = 6
    """Inputs along which the function is drawn."""
    inputs_tried: int = 200
    """Inputs that are ordered by what they do; of more the first ones are drawn."""
    functions: int = 40
    """Basis functions drawn over the only input."""
    classes: int = 20
    """Classes of a confusion matrix that can be read."""
    grid: int = 90
    """Places along each of two inputs where classes are asked for."""
    vectors: int = 500
    """Lines of the table of vectors."""
    inputs: int = 10
    """Inputs with a column in the table of vectors."""
