"""Probabilities of classes over inputs and against other numbers, for displays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import ArrayLike, Matrix, Vector
from relvec.describing import check_labels, format_class_label
from relvec.plotting._axes import adapt_colour, escape_mathtext
from relvec.plotting._style import DASHES, DATA, INK, MODEL, class_colour

__all__ = ["ClassRows"]

LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Probabilities of the second of two classes that lines on a map belong to."""


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows of which the probability of each class is known.

    Of two classes the probability of the second is drawn, of several that of the most probable, in
    the colour of that class.
    """

    probability: Matrix
    classes: list[Any]
    y: np.ndarray | None
    """Observed classes."""

    @classmethod
    def checked(
        cls, probability: ArrayLike, classes: Any, y: ArrayLike | None, n_rows: int
    ) -> ClassRows:
        """Return them, or say what is wrong."""
        array = np.asarray(probability, dtype=np.float64)
        is_complete = array.ndim == 2 and len(array) == n_rows and array.shape[1] > 1
        if not is_complete or not np.isfinite(array).all():
            raise ValueError(
                f"probability must hold finite numbers for each of {n_rows} rows and of at least "
                f"2 classes; got shape {array.shape}."
            )
        names = list(range(array.shape[1]) if classes is None else classes)
        if len(names) != array.shape[1]:
            raise ValueError(
                f"classes must name each of {array.shape[1]} classes; got {len(names)}."
            )
        labels = None if y is None else np.asarray(y)
        if labels is not None:
            if labels.shape != (n_rows,):
                raise ValueError(
                    f"y_new must hold {n_rows} classes, as many as share; got {labels.shape}."
                )
            check_labels(labels, names)
        return cls(array, names, labels)

    @property
    def are_two(self) -> bool:
        """Whether there are two classes."""
        return len(self.classes) == 2

    @property
    def names(self) -> list[str]:
        """What to call the classes."""
        return [escape_mathtext(format_class_label(each)) for each in self.classes]

    @property
    def label(self) -> str:
        """What the height of a point is."""
        return f"probability of {self.names[1]}" if self.are_two else "probability of a class"

    @property
    def height(self) -> Vector:
        """Return the probability that is drawn of each row."""
        return self.probability[:, 1] if self.are_two else self.probability.max(axis=1)

    def draw(self, ax: Any, x: Vector, y: Vector, place: Any, mark: str, colour: Any) -> Any:
        """Draw some rows as points, in a colour or in those of several classes."""
        best = self.probability[place].argmax(axis=1)
        return ax.scatter(
            x[place],
            y[place],
            c=[colour if self.are_two else adapt_colour(ax, class_colour(each)) for each in best],
            marker=mark,
            s=30,
            linewidths=0,
            zorder=3,
            clip_on=False,
        )

    def draw_observed(self, ax: Any, x: Vector) -> Any:
        """Draw crosses: of two classes at 0 and 1, of several where the best was not observed."""
        assert self.y is not None
        index = np.array([self.classes.index(each) for each in self.y.tolist()])
        if self.are_two:
            height, colours = index.astype(np.float64), [adapt_colour(ax, INK)] * len(index)
        else:
            wrong = np.flatnonzero(index != self.probability.argmax(axis=1))
            x, index = x[wrong], index[wrong]
            height = self.probability[wrong, index]
            colours = [adapt_colour(ax, class_colour(each)) for each in index]
        return ax.scatter(
            x, height, c=colours, marker="x", s=26, linewidths=1.2, zorder=3, clip_on=False
        )

    def draw_curves(self, ax: Any, x: Vector, probability: Matrix) -> None:
        """Draw probabilities over one input: that of the second of two classes, or all."""
        if self.are_two:
            ax.plot(x, probability[:, 1], color=adapt_colour(ax, MODEL), lw=1.8, label=self.label)
            return
        for number, name in enumerate(self.names):
            colour, dashes = adapt_colour(ax, class_colour(number)), DASHES[number % len(DASHES)]
            ax.plot(x, probability[:, number], color=colour, ls=dashes, lw=1.6, label=name)

    def draw_lines(self, ax: Any, axes: list[Vector], probability: np.ndarray) -> None:
        """Draw lines over two inputs: of equal probability, or where the decision changes."""
        if self.are_two:
            second = probability[:, :, 1]
            levels = [each for each in LEVELS if second.min() < each < second.max()]
            if levels:
                widths = [1.8 if each == 0.5 else 0.8 for each in levels]
                drawn = ax.contour(
                    *axes, second, levels=levels, colors=[adapt_colour(ax, INK)], linewidths=widths
                )
                ax.clabel(drawn, fmt="%.1f", fontsize=8)
                ax.plot([], [], color=adapt_colour(ax, INK), lw=1.2, label=self.label)
            return
        for number in range(len(self.classes)):
            lead = probability[:, :, number] - np.delete(probability, number, axis=2).max(axis=2)
            if lead.min() < 0.0 < lead.max():
                ax.contour(
                    *axes, lead, levels=[0.0], colors=[adapt_colour(ax, INK)], linewidths=1.2
                )

    def explain(self, ax: Any, *, colours: bool) -> None:
        """Name colours of classes if there are several, and crosses of what was observed."""
        if colours and not self.are_two:
            for number, name in enumerate(self.names):
                ax.plot([], [], color=adapt_colour(ax, class_colour(number)), lw=5, label=name)
        if self.y is not None:
            grey = adapt_colour(ax, INK if self.are_two else DATA)
            words = "observed" if self.are_two else "another observed"
            ax.plot([], [], "x", color=grey, ms=4.5, label=words)
