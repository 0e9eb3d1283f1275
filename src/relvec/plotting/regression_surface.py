"""A regression over two inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from relvec._checks import check_integer
from relvec._compat import import_optional
from relvec._typing import ArrayLike
from relvec.describing import (
    centers_of,
    grid_over,
    like_table,
    numbers_of,
    predicted,
    shorten,
    table_names,
)
from relvec.plotting._axes import (
    add_colorbar,
    draw_rings,
    finish,
    legend_above,
    name_inputs,
    plain,
    take_axes,
)
from relvec.plotting._checks import check_finite, check_line, check_points
from relvec.plotting._style import INK, OTHER

__all__ = ["RegressionSurfaceDisplay"]

HINT = " Along one of several inputs draw RegressionFitDisplay."


class RegressionSurfaceDisplay:
    """Picture of a regression over two inputs.

    Colours are predictions, and points are data in the colours of their targets: a point that
    stands out is one that the model does not follow. Rings are relevance vectors.

    Use `from_estimator` to make one.

    Parameters
    ----------
    x0, x1 : array-like of shape (n_columns,) and (n_rows,)
        Values of the two inputs on a grid, ascending.
    mean : array-like of shape (n_rows, n_columns)
        Predicted there.
    X : array-like of shape (n_samples, 2), optional
        Inputs, drawn as points.
    y : array-like of shape (n_samples,), optional
        Their targets.
    relevance_vectors : array-like of shape (n_relevant, 2), optional
        Drawn as rings.
    names : sequence of three str, default=("x0", "x1", "y")
        What to call the inputs and the target.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    surface_ : matplotlib QuadContourSet
    points_, relevance_, colorbar_ : matplotlib artists
        None for what was not drawn.

    See Also
    --------
    RegressionFitDisplay : Along one input, with bands.
    BasisFunctionsDisplay : The functions it is made of.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.plotting import RegressionSurfaceDisplay
    >>> X = np.random.default_rng(0).uniform(-10, 10, size=(60, 2))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * X[:, 1]
    >>> model = RVMRegressor(gamma=0.02, noise_variance=0.01).fit(X, y)
    >>> display = RegressionSurfaceDisplay.from_estimator(model, X, y)
    >>> display.mean.shape
    (80, 80)
    """

    def __init__(
        self,
        *,
        x0: ArrayLike,
        x1: ArrayLike,
        mean: ArrayLike,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        relevance_vectors: ArrayLike | None = None,
        names: Sequence[str] = ("x0", "x1", "y"),
    ) -> None:
        self.x0, self.x1 = check_line("x0", x0), check_line("x1", x1)
        self.mean = np.asarray(mean, dtype=np.float64)
        shape = len(self.x1), len(self.x0)
        if self.mean.shape != shape:
            raise ValueError(
                f"mean must have shape {shape}, as x1 and x0 say; got {self.mean.shape}."
            )
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together; one is missing.")
        self.X = None if X is None else check_points("X", X, HINT)
        self.y = None if y is None else check_line("y", y)
        if self.X is not None and self.y is not None:
            if len(self.X) != len(self.y):
                raise ValueError(
                    f"y must hold {len(self.X)} values, one for each row of X; got {len(self.y)}."
                )
            check_finite("y", self.y)
        self.relevance_vectors = (
            None
            if relevance_vectors is None
            else check_points("relevance_vectors", relevance_vectors, HINT)
        )
        self.names = list(names)
        if len(self.names) != 3:
            raise ValueError(f"names must be of two inputs and the target; got {self.names}.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        target_name: str = "y",
        grid_resolution: int = 80,
        ax: Any = None,
    ) -> Self:
        """Draw a fitted regressor of two inputs.

        Parameters
        ----------
        estimator : regressor
            Fitted to two inputs; rings are drawn if it has relevance vectors.
        X : array-like of shape (n_samples, 2)
            Inputs: their range is drawn, and a little more.
        y : array-like of shape (n_samples,), optional
            Their targets, for points at the inputs.
        target_name : str, default="y"
            What to call the target.
        grid_resolution : int, default=80
            Points of the grid along each input.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : RegressionSurfaceDisplay
        """
        count = check_integer("grid_resolution", grid_resolution, minimum=2)
        inputs = check_points("X", numbers_of(X), HINT)
        grid = grid_over(inputs, count)
        mean, _, _ = predicted(estimator, like_table(grid.points, X), cls.__name__)
        display = cls(
            x0=grid.axes[0],
            x1=grid.axes[1],
            mean=mean.reshape(grid.shape),
            X=None if y is None else inputs,
            y=y,
            relevance_vectors=centers_of(estimator),
            names=[*(plain(shorten(name)) for name in table_names(X)), target_name],
        )
        return display.plot(ax)

    def plot(self, ax: Any = None, *, legend: bool = True, colorbar: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        legend : bool, default=True
            Explain points and rings above the axes.
        colorbar : bool, default=True
            Explain the colours.

        Returns
        -------
        display : RegressionSurfaceDisplay
        """
        self.figure_, (self.ax_,) = take_axes(ax, 1, "the surface", figsize=(6.2, 5.0))
        self.points_ = self.relevance_ = self.colorbar_ = None
        shown = self.mean if self.y is None else np.append(self.mean, self.y)
        low, high = float(shown.min()), float(shown.max())
        room = 0.0 if low < high else 0.5 * abs(low) or 0.5
        # round numbers that enclose all of them
        locator = import_optional("matplotlib.ticker").MaxNLocator(14)
        levels = locator.tick_values(low - room, high + room)
        scale: dict[str, Any] = {"vmin": levels[0], "vmax": levels[-1], "cmap": "cividis"}
        self.surface_ = self.ax_.contourf(self.x0, self.x1, self.mean, levels=levels, **scale)
        if self.X is not None:
            self.points_ = self.ax_.scatter(
                *self.X.T, c=self.y, s=22, edgecolors=INK, linewidths=0.6, label="data", **scale
            )
        if self.relevance_vectors is not None and len(self.relevance_vectors):
            self.relevance_ = draw_rings(
                self.ax_,
                self.relevance_vectors.T,
                OTHER,
                size=10,
                width=1.8,
                label="relevance vectors",
            )
        name_inputs(self.ax_, self.x0, self.x1, self.names)
        if colorbar:
            self.colorbar_ = add_colorbar(self.ax_, self.surface_, self.names[2])
        finish(self.ax_)
        if legend:
            legend_above(self.ax_)
        return self
