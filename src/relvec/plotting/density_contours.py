"""Contour plot of a density of two variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_integer
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.plotting._axes import (
    adapt_colour,
    escape_mathtext,
    finish_axes,
    get_axes,
    label_features,
    place_legend_above,
)
from relvec.plotting._checks import check_points, check_vector, ignore_missing_names
from relvec.plotting._style import INK, MODEL

__all__ = ["DensityContourDisplay"]


class DensityContourDisplay:
    """Contour plot of a density of two variables: regions of highest density.

    Use `from_estimator` to create one.

    Parameters
    ----------
    x0, x1 : array-like of shape (n0,) and (n1,)
        Values of the two variables on an evenly spaced grid.
    density : array-like of shape (n1, n0)
        Density on the grid.
    data : array-like of shape (n_samples, 2), optional
        Observed points.
    names : sequence of str, default=("x0", "x1")
        Names of the variables.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    contours_, lines_, points_ : matplotlib artists
        `points_` is None if there are no data.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesDensity
    >>> from relvec.plotting import DensityContourDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> display = DensityContourDisplay.from_estimator(SparseBayesDensity().fit(X), X)
    >>> len(display.lines_.levels)
    4
    """

    def __init__(
        self,
        *,
        x0: ArrayLike,
        x1: ArrayLike,
        density: ArrayLike,
        data: ArrayLike | None = None,
        names: Sequence[str] = ("x0", "x1"),
    ) -> None:
        self.x0, self.x1 = check_vector("x0", x0), check_vector("x1", x1)
        self.density = np.asarray(density, dtype=np.float64)
        shape = len(self.x1), len(self.x0)
        if self.density.shape != shape:
            raise ValueError(
                f"density must have shape {shape}, as x1 and x0 imply; got {self.density.shape}."
            )
        self.data = None if data is None else check_points("data", data)
        self.names = list(names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        *,
        grid_resolution: int = 120,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Plot a fitted density of two variables.

        Parameters
        ----------
        estimator : SparseBayesDensity
            Fitted to two variables.
        X : array-like of shape (n_samples, 2), optional
            Observed points. The plot covers them, or points drawn from the density.
        grid_resolution : int, default=120
            Grid points along each variable.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Parameters of `plot`.

        Returns
        -------
        display : DensityContourDisplay
        """
        check_is_fitted(estimator)
        if estimator.n_features_in_ != 2:
            raise ValueError(
                "DensityContourDisplay needs a density of two variables; got "
                f"{estimator.n_features_in_}. Use DensityDisplay."
            )
        n = check_integer("grid_resolution", grid_resolution, minimum=10)
        data = None if X is None else check_points("X", X)
        cloud = estimator.sample(2000, random_state=0) if data is None else data
        axes = [_cover(column, n) for column in cloud.T]
        grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
        names = getattr(estimator, "feature_names_in_", ("x0", "x1"))
        with ignore_missing_names():
            density = estimator.pdf(grid).reshape(n, n)
        display = cls(x0=axes[0], x1=axes[1], density=density, data=data, names=list(names))
        return display.plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        probabilities: Sequence[float] = (0.25, 0.5, 0.75, 0.95),
        legend: bool = True,
    ) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        probabilities : sequence of float, default=(0.25, 0.5, 0.75, 0.95)
            Probabilities of the regions of highest density, whose borders are the contours.
        legend : bool, default=True
            Draw a legend above the axes.

        Returns
        -------
        display : DensityContourDisplay
        """
        wanted = check_vector("probabilities", probabilities)
        if not len(wanted) or not ((wanted > 0.0) & (wanted < 1.0)).all():
            raise ValueError(f"probabilities must be between 0 and 1; got {probabilities!r}.")
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the density", figsize=(5.6, 4.6))
        levels = find_levels(self.density, wanted)
        colour = adapt_colour(self.ax_, MODEL)
        top = np.append(levels, max(float(self.density.max()), levels[-1] * (1.0 + 1e-9)))
        shades = np.linspace(0.12, 0.6, len(levels))
        self.contours_ = self.ax_.contourf(
            self.x0, self.x1, self.density, levels=top, colors=[(colour, a) for a in shades]
        )
        self.points_ = None
        if self.data is not None:
            (self.points_,) = self.ax_.plot(
                *self.data.T,
                "o",
                color=adapt_colour(self.ax_, INK),
                ms=float(np.clip(60.0 / np.sqrt(len(self.data)), 1.0, 4.0)),
                mew=0,
                alpha=0.5,
                label="data",
            )
        self.lines_ = self.ax_.contour(
            self.x0, self.x1, self.density, levels=levels, colors=[colour], linewidths=1.0
        )
        shown = ", ".join(f"{100 * p:.4g}" for p in np.sort(wanted))
        self.ax_.plot([], [], color=colour, lw=1.0, label=f"{shown} % of the probability")
        names = [escape_mathtext(name) for name in self.names]
        label_features(self.ax_, self.x0, self.x1, names)
        finish_axes(self.ax_)
        if legend:
            place_legend_above(self.ax_)
        return self


def find_levels(density: Matrix, probabilities: Vector) -> Vector:
    """Return the densities, ascending, above which the grid has these probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> find_levels(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.4, 0.7]))
    array([3., 4.])
    """
    ordered = np.sort(density.ravel())[::-1]
    reached = np.cumsum(ordered) / ordered.sum()
    places = np.minimum(np.searchsorted(reached, probabilities), len(ordered) - 1)
    levels: Vector = np.unique(ordered[places])
    return levels


def _cover(values: Vector, n_points: int) -> Vector:
    margin = 0.12 * float(np.ptp(values))
    return np.linspace(float(values.min()) - margin, float(values.max()) + margin, n_points)
