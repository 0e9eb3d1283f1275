"""Plot of class probabilities and decision boundaries over two features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from relvec._checks import check_integer
from relvec._compat import import_optional
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.describing import (
    check_classifier,
    check_labels,
    format_class_label,
    get_column_names,
    get_kernel_centers,
    make_grid,
    match_container,
    shorten,
)
from relvec.plotting._axes import (
    add_colorbar,
    draw_circles,
    escape_mathtext,
    finish_axes,
    get_axes,
    label_features,
    place_legend_above,
)
from relvec.plotting._checks import check_points
from relvec.plotting._style import INK, class_colour, class_marker

__all__ = ["DecisionSurfaceDisplay"]


class DecisionSurfaceDisplay:
    """Plot of class probabilities over two features.

    For two classes the colour is the probability of the second class. For more it is that of the
    most probable class, more intense for a higher probability. Lines are decision boundaries,
    circles are relevance vectors. Use `from_estimator` to create one.

    Parameters
    ----------
    x0, x1 : array-like of shape (n_columns,) and (n_rows,)
        Grid values of the two features.
    probability : array-like of shape (n_rows, n_columns, n_classes)
        Probability of each class on the grid.
    classes : sequence of labels, optional
        Class labels; 0, 1 and so on by default.
    X : array-like of shape (n_samples, 2), optional
        Training inputs, drawn as points.
    y : array-like of shape (n_samples,), optional
        Class labels of the rows of `X`.
    relevance_vectors : array-like of shape (n_relevant, 2), optional
        Drawn as circles.
    truth : array-like of shape (n_rows, n_columns), optional
        True probability of the second of two classes; its boundary is drawn dashed.
    names : sequence of two str, default=("x0", "x1")
        Names of the features.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    surface_ : matplotlib artist
        Filled contours for two classes, an image for more.
    boundary_ : list of matplotlib ContourSet
        Decision boundaries: one for two classes, else one per class, if inside the axes.
    points_ : dict of label to matplotlib artist
        Training points of each class.
    relevance_, truth_, colorbar_ : matplotlib artists
        None if not drawn.

    Examples
    --------
    >>> from relvec import RVMClassifier
    >>> from relvec.datasets import make_ripley_mixture
    >>> from relvec.plotting import DecisionSurfaceDisplay
    >>> X, y, truth = make_ripley_mixture(100, random_state=0, return_truth=True)
    >>> model = RVMClassifier(gamma=4.0).fit(X, y)
    >>> display = DecisionSurfaceDisplay.from_estimator(model, X, y, truth=truth.probability)
    >>> len(display.relevance_.get_xdata()) == len(model.relevance_)
    True
    """

    def __init__(
        self,
        *,
        x0: ArrayLike,
        x1: ArrayLike,
        probability: ArrayLike,
        classes: Any = None,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        relevance_vectors: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        names: Sequence[str] = ("x0", "x1"),
    ) -> None:
        self.x0 = np.asarray(x0, dtype=np.float64)
        self.x1 = np.asarray(x1, dtype=np.float64)
        shape = (*self.x1.shape, *self.x0.shape)
        self.probability = _check_probability(probability, shape)
        self.classes = _check_classes(classes, self.probability.shape[2])
        self.X = None if X is None else check_points("X", X)
        self.y = None if y is None else _check_classes_of_rows(y, self.X, self.classes)
        self.relevance_vectors = (
            None
            if relevance_vectors is None
            else check_points("relevance_vectors", relevance_vectors)
        )
        self.truth = None if truth is None else _check_truth(truth, shape, len(self.classes))
        self.names = list(names)
        if len(self.names) != 2:
            raise ValueError(
                f"names must contain a name for each of two features; got {self.names}."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        truth: Callable[[Any], Vector] | None = None,
        grid_resolution: int = 200,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Plot a fitted classifier with two features.

        Parameters
        ----------
        estimator : RVMClassifier, SparseBayesClassifier or any with `predict_proba`
            Fitted to two features. Relevance vectors are drawn if it has any.
        X : array-like of shape (n_samples, 2)
            Inputs; the plot covers their range and a small margin.
        y : array-like of shape (n_samples,), optional
            Class labels; the data are drawn as points if given.
        truth : callable, optional
            True probability of the second of two classes, as a function of inputs.
        grid_resolution : int, default=200
            Grid points along each feature.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Passed to `predict_proba`; ``marginalise=False`` uses the most probable weights.

        Returns
        -------
        display : DecisionSurfaceDisplay
        """
        check_classifier(estimator, cls.__name__, n_features=2)
        check_integer("grid_resolution", grid_resolution, minimum=2)
        inputs = check_points("X", X)
        grid = make_grid(inputs, grid_resolution, margin=0.12)
        shown = match_container(grid.points, X)
        probability = np.asarray(estimator.predict_proba(shown, **options))
        display = cls(
            x0=grid.axes[0],
            x1=grid.axes[1],
            probability=probability.reshape(*grid.shape, -1),
            classes=estimator.classes_,
            X=None if y is None else inputs,
            y=y,
            relevance_vectors=get_kernel_centers(estimator),
            truth=None if truth is None else _on_grid(truth(grid.points), grid.shape),
            names=[escape_mathtext(shorten(name)) for name in get_column_names(X)],
        )
        return display.plot(ax)

    def plot(self, ax: Any = None, *, legend: bool = True, colorbar: bool = True) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        legend : bool, default=True
            Draw a legend above the axes.
        colorbar : bool, default=True
            Draw a colour bar for two classes.

        Returns
        -------
        display : DecisionSurfaceDisplay
        """
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the surface", figsize=(6.4, 5.0))
        self.colorbar_: Any = None
        self.truth_ = self.relevance_ = None
        self.points_: dict[Any, Any] = {}
        if len(self.classes) == 2:
            self._draw_two(colorbar)
        else:
            self._draw_several()
        self._draw_points()
        if self.truth is not None and _crosses(self.truth - 0.5):
            self.truth_ = self._line(self.truth - 0.5, lw=1.3, dashed=True)
            self.ax_.plot([], [], color=INK, lw=1.3, ls=(0, (4, 2)), label="true boundary")
        label_features(self.ax_, self.x0, self.x1, self.names)
        finish_axes(self.ax_)
        n_entries = len(self.ax_.get_legend_handles_labels()[1])
        if legend and n_entries:
            # In two rows: a single row would be wider than the axes and displace the colour bar.
            place_legend_above(self.ax_, -(-n_entries // 2))
        return self

    def _draw_two(self, colorbar: bool) -> None:
        second = self.probability[:, :, 1]
        colours = import_optional("matplotlib.colors").LinearSegmentedColormap.from_list(
            "two classes", [_pale(class_colour(0)), "white", _pale(class_colour(1))]
        )
        self.surface_ = self.ax_.contourf(
            self.x0, self.x1, second, levels=np.linspace(0.0, 1.0, 11), cmap=colours, zorder=0
        )
        self.boundary_ = [self._line(second - 0.5, lw=2.0)] if _crosses(second - 0.5) else []
        if colorbar:
            name = escape_mathtext(format_class_label(self.classes[1]))
            self.colorbar_ = add_colorbar(self.ax_, self.surface_, f"probability of {name}")

    def _draw_several(self) -> None:
        best = self.probability.argmax(axis=2)
        n_classes = len(self.classes)
        # A probability of 1 / n_classes is white.
        strength = (self.probability.max(axis=2) - 1.0 / n_classes) / (1.0 - 1.0 / n_classes)
        strong = np.array([_pale(class_colour(index)) for index in range(n_classes)])
        image = 1.0 - strength[:, :, np.newaxis] * (1.0 - strong[best])
        # Pixels are centred on the points of the grid.
        (left, right), (bottom, top) = (_edges(axis) for axis in (self.x0, self.x1))
        self.surface_ = self.ax_.imshow(
            image.clip(0.0, 1.0),
            origin="lower",
            extent=(left, right, bottom, top),
            aspect="auto",
            zorder=0,
        )
        self.boundary_ = []
        for index in range(n_classes):
            others = np.delete(self.probability, index, axis=2).max(axis=2)
            margin = self.probability[:, :, index] - others
            if _crosses(margin):
                self.boundary_.append(self._line(margin, lw=1.4))

    def _line(self, values: Matrix, *, lw: float, dashed: bool = False) -> Any:
        style = (0, (4, 2)) if dashed else "solid"
        return self.ax_.contour(
            self.x0, self.x1, values, levels=[0.0], colors=INK, linewidths=lw, linestyles=[style]
        )

    def _draw_points(self) -> None:
        for index, label in enumerate(self.classes):
            if self.X is None or self.y is None:
                break
            points = self.X[self.y == label]
            (self.points_[label],) = self.ax_.plot(
                *points.T,
                class_marker(index),
                color=class_colour(index),
                mec="white",
                mew=0.6,
                ms=5.5,
                ls="",
                label=escape_mathtext(format_class_label(label)),
            )
        if self.relevance_vectors is not None:
            self.relevance_ = draw_circles(
                self.ax_,
                self.relevance_vectors.T,
                "black",
                size=11,
                width=1.7,
                label="relevance vectors",
            )


def _check_probability(probability: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(probability, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("probability must be finite; it contains NaN or infinity.")
    if array.shape[:2] != shape or array.ndim != 3:
        raise ValueError(
            f"probability must have shape {(*shape, 'n_classes')}, as x1, x0 and the classes "
            f"imply; got {array.shape}."
        )
    return array


def _check_classes(classes: Any, n_classes: int) -> list[Any]:
    found = list(range(n_classes) if classes is None else classes)
    if len(found) != n_classes or n_classes < 2:
        raise ValueError(
            f"classes must contain one label per class, at least 2; got {len(found)} labels for "
            f"{n_classes} classes."
        )
    return found


def _check_classes_of_rows(y: Any, X: Matrix | None, classes: list[Any]) -> np.ndarray:
    labels = np.asarray(y)
    if X is None or labels.shape != X.shape[:1]:
        rows = "X, which is missing" if X is None else f"the {len(X)} rows of X"
        raise ValueError(f"y must contain a class for each of {rows}; got shape {labels.shape}.")
    check_labels(labels, classes)
    return labels


def _check_truth(truth: Any, shape: tuple[int, ...], n_classes: int) -> Matrix:
    array = np.asarray(truth, dtype=np.float64)
    if n_classes != 2 or array.shape != shape:
        raise ValueError(
            f"truth must be the probability of the second of two classes on the grid, of "
            f"shape {shape}; got shape {array.shape} for {n_classes} classes."
        )
    return array


def _on_grid(values: Any, shape: tuple[int, ...]) -> Matrix:
    array = np.asarray(values, dtype=np.float64)
    if array.size != shape[0] * shape[1]:
        raise ValueError(
            f"truth must return one probability for each of {shape[0] * shape[1]} inputs; got "
            f"shape {array.shape}."
        )
    return array.reshape(shape)


def _edges(axis: Vector) -> tuple[float, float]:
    half = 0.5 * (axis[1] - axis[0])
    return float(axis[0] - half), float(axis[-1] + half)


def _crosses(values: Matrix) -> bool:
    """Whether values have a zero contour."""
    return bool(values.min() < 0.0 < values.max())


def _pale(colour: str, amount: float = 0.55) -> tuple[float, float, float]:
    """Mix a colour with white, so that points stand out."""
    red, green, blue = import_optional("matplotlib.colors").to_rgb(colour)
    return tuple(1.0 - amount * (1.0 - part) for part in (red, green, blue))
