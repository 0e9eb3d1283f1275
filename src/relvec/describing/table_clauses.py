"""Sentences about the components of a function of several features."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec.describing.amounts import Amounts
from relvec.describing.series_clauses import format_move, join_words
from relvec.describing.structure_parts import StructurePart
from relvec.kernels.expansions import Line, Smooth

__all__ = ["TableClauses"]


class TableClauses:
    """Writes a sentence for each component of a function of several features.

    Parameters
    ----------
    model : KernelSearchRegressor
        Fitted to several features.
    names : list of str
        Names of the features.
    amounts : Amounts
        Units of the target.
    """

    def __init__(self, model: Any, names: list[str], amounts: Amounts) -> None:
        self.model, self.names, self.amounts = model, names, amounts

    def name(self, part: StructurePart) -> str:
        """Return a short name of a component, such as "smooth function of x2"."""
        return self.describe_shape(part)

    def describe_shape(self, part: StructurePart) -> str:
        """Return what kind of function a component is, such as "smooth function of x2"."""
        (component,) = part.components
        lines = [each.feature for each in component.factors if isinstance(each, Line)]
        smooth = [each.feature for each in component.factors if isinstance(each, Smooth)]
        if not smooth:
            distinct = list(dict.fromkeys(lines))
            listed = join_words([self.names[i] for i in distinct])
            if len(lines) == 1:
                return f"linear function of {listed}"
            if len(distinct) == 1:
                return f"quadratic function of {listed}"
            return f"product of {listed}"
        listed = join_words([self.names[i] for i in dict.fromkeys(smooth)])
        joint = "joint smooth" if len(set(smooth)) > 1 else "smooth"
        text = f"{joint} function of {listed}"
        if lines:
            text += f", proportional to {join_words([self.names[i] for i in lines])}"
        return text

    def describe(self, part: StructurePart) -> str:
        """Return a sentence without its full stop."""
        (component,) = part.components
        shape = f"A {self.describe_shape(part)}"
        X = self.model.training_rows_.inputs
        if len(component.factors) == 1 and isinstance(component.factors[0], Line):
            column = X[:, component.factors[0].feature]
            change, std = self._compute_change(part, int(column.argmin()), int(column.argmax()))
            where = f"from {column.min():.3g} to {column.max():.3g}"
            return f"{shape}: {where} it {format_move(self.amounts, change, std)}"
        mean, _ = self.model.predict_part(X, part.places)
        low, high = int(mean.argmin()), int(mean.argmax())
        change, std = self._compute_change(part, low, high)
        size = self.amounts.format_swing(change, std)
        where = ""
        if len(part.features) == 1:
            (feature,) = part.features
            top, bottom = (f"{X[row, feature]:.3g}" for row in (high, low))
            where = f", highest at {top} and lowest at {bottom}"
        return f"{shape}: it varies by {size} over the data{where}"

    def _compute_change(self, part: StructurePart, start: int, end: int) -> tuple[float, float]:
        """Return the change between two training rows, and its standard deviation."""
        X = self.model.training_rows_.inputs[[start, end]]
        mean, std = self.model.predict_part(X, part.places, contrasts=np.array([[-1.0, 1.0]]))
        return float(mean[0]), float(std[0])
