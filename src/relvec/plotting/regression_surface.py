"""Plot of a regression function over two features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from relvec._checks import check_integer
from relvec._compat import import_optional
from relvec._typing import ArrayLike
from relvec.describing import (
    convert_to_matrix,
    get_column_names,
    get_kernel_centers,
    make_grid,
    match_container,
    predict_with_std,
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
from relvec.plotting._checks import check_finite, check_points, check_vector
from relvec.plotting._style import INK, OTHER

__all__ = ["RegressionSurfaceDisplay"]

HINT = " For a plot along one of several features use RegressionFitDisplay."


class RegressionSurfaceDisplay:
    """Plot of a regression function over two features.

    Colours are predictive means, and points are data in the colours of their targets: a point that
    stands out has a large residual. Circles are relevance vectors.

    Use `from_estimator` to create one.

    Parameters
    ----------
    x0, x1 : array-like of shape (n_columns,) and (n_rows,)
        Grid values of the two features, ascending.
    mean : array-like of shape (n_rows, n_columns)
        Predictive mean on the grid.
    X : array-like of shape (n_samples, 2), optional
        Inputs, drawn as points.
    y : array-like of shape (n_samples,), optional
        Targets of the rows of `X`.
    relevance_vectors : array-like of shape (n_relevant, 2), optional
        Drawn as circles.
    names : sequence of three str, default=("x0", "x1", "y")
        Names of the features and the target.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    surface_ : matplotlib QuadContourSet
    points_, relevance_, colorbar_ : matplotlib artists
        None if not drawn.

    See Also
    --------
    RegressionFitDisplay : Regression function along one feature, with intervals.
    BasisFunctionsDisplay : Basis functions of a model.

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
        self.x0, self.x1 = check_vector("x0", x0), check_vector("x1", x1)
        self.mean = np.asarray(mean, dtype=np.float64)
        shape = len(self.x1), len(self.x0)
        if self.mean.shape != shape:
            raise ValueError(
                f"mean must have shape {shape}, as x1 and x0 imply; got {self.mean.shape}."
            )
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together; one is missing.")
        self.X = None if X is None else check_points("X", X, HINT)
        self.y = None if y is None else check_vector("y", y)
        if self.X is not None and self.y is not None:
            if len(self.X) != len(self.y):
                raise ValueError(
                    f"y must have {len(self.X)} values, one for each row of X; got {len(self.y)}."
                )
            check_finite("y", self.y)
        self.relevance_vectors = (
            None
            if relevance_vectors is None
            else check_points("relevance_vectors", relevance_vectors, HINT)
        )
        self.names = list(names)
        if len(self.names) != 3:
            raise ValueError(f"names must contain two features and the target; got {self.names}.")

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
        """Plot a fitted regressor with two features.

        Parameters
        ----------
        estimator : regressor
            Fitted to two features; circles are drawn if it has relevance vectors.
        X : array-like of shape (n_samples, 2)
            Inputs; the plot covers their range and a small margin.
        y : array-like of shape (n_samples,), optional
            Targets; the data are drawn as points if given.
        target_name : str, default="y"
            Name of the target.
        grid_resolution : int, default=80
            Grid points along each feature.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : RegressionSurfaceDisplay
        """
        count = check_integer("grid_resolution", grid_resolution, minimum=2)
        inputs = check_points("X", convert_to_matrix(X), HINT)
        grid = make_grid(inputs, count)
        mean, _, _ = predict_with_std(estimator, match_container(grid.points, X), cls.__name__)
        display = cls(
            x0=grid.axes[0],
            x1=grid.axes[1],
            mean=mean.reshape(grid.shape),
            X=None if y is None else inputs,
            y=y,
            relevance_vectors=get_kernel_centers(estimator),
            names=[*(escape_mathtext(shorten(name)) for name in get_column_names(X)), target_name],
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
            Draw a colour bar.

        Returns
        -------
        display : RegressionSurfaceDisplay
        """
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the surface", figsize=(6.2, 5.0))
        self.points_ = self.relevance_ = self.colorbar_ = None
        shown = self.mean if self.y is None else np.append(self.mean, self.y)
        low, high = float(shown.min()), float(shown.max())
        padding = 0.0 if low < high else 0.5 * abs(low) or 0.5
        # round levels that enclose all values
        locator = import_optional("matplotlib.ticker").MaxNLocator(14)
        levels = locator.tick_values(low - padding, high + padding)
        scale: dict[str, Any] = {"vmin": levels[0], "vmax": levels[-1], "cmap": "cividis"}
        self.surface_ = self.ax_.contourf(self.x0, self.x1, self.mean, levels=levels, **scale)
        if self.X is not None:
            self.points_ = self.ax_.scatter(
                *self.X.T, c=self.y, s=22, edgecolors=INK, linewidths=0.6, label="data", **scale
            )
        if self.relevance_vectors is not None and len(self.relevance_vectors):
            self.relevance_ = draw_circles(
                self.ax_,
                self.relevance_vectors.T,
                OTHER,
                size=10,
                width=1.8,
                label="relevance vectors",
            )
        label_features(self.ax_, self.x0, self.x1, self.names)
        if colorbar:
            self.colorbar_ = add_colorbar(self.ax_, self.surface_, self.names[2])
        finish_axes(self.ax_)
        if legend:
            place_legend_above(self.ax_)
        return self
