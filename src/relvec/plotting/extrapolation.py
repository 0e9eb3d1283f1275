"""How far new inputs are beyond the training inputs, and what is predicted there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from relvec._checks import check_choice, check_integer
from relvec._compat import import_optional
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.describing import (
    BEYOND,
    extrapolation_of,
    grid_over,
    like_table,
    normal_reach,
    numbers_of,
    predicted,
    shorten,
    table_names,
)
from relvec.plotting._axes import (
    add_colorbar,
    finish,
    is_dark,
    legend_above,
    name_inputs,
    plain,
    take_axes,
    tone,
)
from relvec.plotting._checks import check_coverage, check_finite, check_line
from relvec.plotting._style import DATA, INK, MODEL, OTHER

__all__ = ["ExtrapolationDisplay", "ExtrapolationMap"]

KINDS = ("auto", "inputs", "rows")
PAPER, DARK = "#f4bb98", "#5c2c12"
"""Tints of the colour of what stands out, on light and dark paper: all else can be read on them."""


@dataclass(frozen=True, eq=False)
class ExtrapolationMap:
    """Extrapolation over one input or two, with the training inputs and the new ones.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.plotting import ExtrapolationDisplay
    >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
    >>> model = RVMRegressor(gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> display = ExtrapolationDisplay.from_estimator(model, X, [[0.0], [9.0]])
    >>> display.inputs.share.shape == display.inputs.axes[0].shape
    True
    """

    axes: list[Vector]
    """Values of each input on a grid."""
    share: Matrix
    """How far beyond the training inputs, of shape (n_points,) or (n_second, n_first)."""
    X: Matrix
    X_new: Matrix
    names: list[str]
    mean: Vector | None = None
    std: Vector | None = None
    """Predictions on the grid, of one input."""


class ExtrapolationDisplay:
    """Picture of how far new inputs are beyond the training inputs, and of predictions there.

    The share by which an input is beyond the training inputs is zero at all of them, and one where
    they say nothing of the function. Over one input the background has its colour, below the mean
    and its band; over two it is drawn as a map with the training inputs. Of any number of inputs
    new rows are drawn as intervals against their share: to the right intervals are longer, and
    predictions that are far from all targets are drawn to their mean. Rows that are more beyond
    the data than among them stand out.

    Use `from_estimator` to make one.

    Parameters
    ----------
    share : array-like of shape (n_new,)
        How far new rows are beyond the training inputs, from 0 to 1.
    mean, std : array-like of shape (n_new,)
        Predictions of new targets, and their standard deviations.
    y_new : array-like of shape (n_new,), optional
        What was observed, drawn as crosses.
    inputs : ExtrapolationMap, optional
        The surroundings of the rows, of models with one input or two.
    target_name : str, default="y"
        What to call the target.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    is_beyond_ : ndarray of shape (n_new,)
        Which new rows are more beyond the training inputs than among them.
    near_, far_ : matplotlib Line2D or None
        New rows among the training inputs, and beyond them.
    observed_, training_ : matplotlib Line2D or None
    surface_ : matplotlib QuadContourSet, QuadMesh or None
        Of the share, over inputs.
    colorbar_ : matplotlib Colorbar or None

    See Also
    --------
    RegressionFitDisplay : A fit over one input, with its vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.plotting import ExtrapolationDisplay
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> model = RVMRegressor(gamma=0.5).fit(X, y)
    >>> display = ExtrapolationDisplay.from_estimator(model, X, [[1.5], [4.0], [9.0]])
    >>> display.is_beyond_
    array([False, False,  True])
    """

    def __init__(
        self,
        share: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike,
        *,
        y_new: ArrayLike | None = None,
        inputs: ExtrapolationMap | None = None,
        target_name: str = "y",
    ) -> None:
        self.share = check_line("share", share)
        n = len(self.share)
        if not n:
            raise ValueError("share is empty: there is no new row to draw.")
        if not ((self.share >= 0.0) & (self.share <= 1.0)).all():
            raise ValueError("share must be between 0 and 1; some values are not.")
        self.mean = check_line("mean", mean, n, "share")
        self.std = check_line("std", std, n, "share")
        self.y_new = None if y_new is None else check_line("y_new", y_new, n, "share")
        check_finite("mean", self.mean)
        self.inputs = inputs
        self.target_name = target_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        X_new: Any,
        y_new: ArrayLike | None = None,
        *,
        kind: str = "auto",
        coverage: float = 0.95,
        target_name: str = "y",
        grid_resolution: int = 80,
        ax: Any = None,
    ) -> Self:
        """Draw where new rows are, seen from the training rows, and what is predicted there.

        Parameters
        ----------
        estimator : regressor
            Fitted, with kernels that decay and ``error_bars="novelty"``, as by default.
        X : array-like of shape (n_samples, n_features)
            Training inputs.
        X_new : array-like of shape (n_new, n_features)
            Inputs to ask about.
        y_new : array-like of shape (n_new,), optional
            Their targets, if they are known.
        kind, coverage
            As in `plot`.
        target_name : str, default="y"
            What to call the target.
        grid_resolution : int, default=80
            Points of the grid along each input, if there are two; four times as many of one.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : ExtrapolationDisplay
        """
        count = check_integer("grid_resolution", grid_resolution, minimum=2)
        mean, std, _ = predicted(estimator, X_new, cls.__name__)
        share = extrapolation_of(estimator, X_new)
        if share is None or std is None:
            raise ValueError(
                f"{type(estimator).__name__} cannot tell which inputs are beyond its data: that "
                'needs error_bars="novelty" and a kernel that decays.'
            )
        known, asked = numbers_of(X), numbers_of(X_new, "X_new")
        if known.shape[1] != asked.shape[1]:
            raise ValueError(
                f"X and X_new must have the same columns; got {known.shape[1]} and "
                f"{asked.shape[1]}."
            )
        inputs = None
        if known.shape[1] <= 2:
            grid = grid_over(np.vstack([known, asked]), count * (4 if known.shape[1] == 1 else 1))
            points = like_table(grid.points, X)
            over = extrapolation_of(estimator, points)
            assert over is not None
            curve = predicted(estimator, points, cls.__name__)[:2] if known.shape[1] == 1 else ()
            names = [plain(shorten(name)) for name in table_names(X)]
            shares = over.reshape(grid.shape)
            inputs = ExtrapolationMap(grid.axes, shares, known, asked, names, *curve)
        display = cls(share, mean, std, y_new=y_new, inputs=inputs, target_name=target_name)
        return display.plot(ax, kind=kind, coverage=coverage)

    def plot(
        self, ax: Any = None, *, kind: str = "auto", coverage: float = 0.95, legend: bool = True
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        kind : {"auto", "inputs", "rows"}, default="auto"
            Over the inputs, if there are one or two; or new rows against their share, which
            "auto" takes where there are more.
        coverage : float, default=0.95
            Probability of the intervals.
        legend : bool, default=True
            Explain what is drawn above the axes.

        Returns
        -------
        display : ExtrapolationDisplay
        """
        check_choice("kind", kind, KINDS)
        reach = normal_reach(check_coverage(coverage))
        if kind == "inputs" and self.inputs is None:
            raise ValueError('kind="inputs" needs a model of one input or two; use kind="rows".')
        self.figure_, (self.ax_,) = take_axes(ax, 1, "the extrapolation", figsize=(6.8, 4.4))
        self.is_beyond_ = self.share > BEYOND
        self.near_ = self.far_ = self.observed_ = self.training_ = None
        self.surface_ = self.colorbar_ = None
        interval = f"{100.0 * coverage:g} %"
        if self.inputs is None or kind == "rows":
            self._draw_rows(reach, interval)
        elif len(self.inputs.axes) == 1:
            self._draw_line(self.inputs, reach, interval)
        else:
            self._draw_map(self.inputs)
        finish(self.ax_)
        if legend:
            legend_above(self.ax_)
        return self

    def _draw_rows(self, reach: float, interval: str) -> None:
        self._new_rows(self.share, reach, f", {interval} of targets")
        self.ax_.axvline(BEYOND, color=tone(self.ax_, DATA), lw=0.9, ls=":")
        self.ax_.set(
            xlim=(-0.03, 1.03),
            xlabel="share by which a row is beyond the training rows",
            ylabel=f"predicted {self.target_name}",
        )

    def _draw_line(self, inputs: ExtrapolationMap, reach: float, interval: str) -> None:
        (x,) = inputs.axes
        assert inputs.mean is not None
        assert inputs.std is not None
        low, high = inputs.mean - reach * inputs.std, inputs.mean + reach * inputs.std
        self.ax_.fill_between(
            x,
            low,
            high,
            color=tone(self.ax_, MODEL),
            alpha=0.2,
            lw=0,
            label=f"{interval} of targets",
        )
        self.ax_.plot(x, inputs.mean, color=tone(self.ax_, MODEL), lw=1.8, label="mean")
        self._new_rows(inputs.X_new[:, 0], reach)
        bottom, top = self.ax_.get_ylim()
        edges = np.r_[x[0], 0.5 * (x[1:] + x[:-1]), x[-1]]
        self.surface_ = self.ax_.pcolormesh(
            edges,
            [bottom, top],
            inputs.share[np.newaxis],
            cmap=self._colours(),
            vmin=0.0,
            vmax=1.0,
            zorder=-1,
            rasterized=True,
        )
        (self.training_,) = self.ax_.plot(
            inputs.X[:, 0],
            np.full(len(inputs.X), bottom),
            "|",
            color=tone(self.ax_, INK),
            ms=9,
            clip_on=False,
            label="training",
        )
        self.ax_.set(xlim=(x[0], x[-1]), ylim=(bottom, top))
        self.ax_.set(xlabel=inputs.names[0], ylabel=self.target_name)
        self._explain_colours()

    def _draw_map(self, inputs: ExtrapolationMap) -> None:
        levels = np.linspace(0.0, 1.0, 11)
        self.surface_ = self.ax_.contourf(
            *inputs.axes, inputs.share, levels=levels, cmap=self._colours(), zorder=-1
        )
        (self.training_,) = self.ax_.plot(
            *inputs.X.T, ".", color=tone(self.ax_, DATA), ms=4, label="training"
        )
        for place, colour, mark, label in self._kinds():
            (line,) = self.ax_.plot(
                *inputs.X_new[place].T, mark, color=colour, ms=6, mec="none", label=label
            )
            self._keep(line, mark)
        name_inputs(self.ax_, inputs.axes[0], inputs.axes[1], inputs.names)
        self._explain_colours()

    def _new_rows(self, x: Vector, reach: float, more: str = "") -> None:
        """Draw predictions of new rows with their intervals, and what was observed."""
        for place, colour, mark, label in self._kinds():
            mean, half = self.mean[place], reach * self.std[place]
            self.ax_.vlines(x[place], mean - half, mean + half, color=colour, lw=1.1, alpha=0.7)
            (line,) = self.ax_.plot(
                x[place], mean, mark, color=colour, ms=5, mec="none", label=f"{label}{more}"
            )
            self._keep(line, mark)
        if self.y_new is not None:
            (self.observed_,) = self.ax_.plot(
                x, self.y_new, "x", color=tone(self.ax_, INK), ms=4.5, label="observed"
            )

    def _kinds(self) -> list[tuple[Any, Any, str, str]]:
        """Rows among the data and beyond them, where there are any: which, colour, mark, name."""
        kinds = [
            (~self.is_beyond_, tone(self.ax_, MODEL), "o", "new"),
            (self.is_beyond_, tone(self.ax_, OTHER), "s", "new, beyond"),
        ]
        return [each for each in kinds if each[0].any()]

    def _keep(self, line: Any, mark: str) -> None:
        if mark == "o":
            self.near_ = line
        else:
            self.far_ = line

    def _colours(self) -> Any:
        """From the paper itself to a tint on which points can be seen."""
        ends = [self.ax_.get_facecolor(), DARK if is_dark(self.ax_) else PAPER]
        return import_optional("matplotlib.colors").LinearSegmentedColormap.from_list(
            "beyond", ends
        )

    def _explain_colours(self) -> None:
        self.colorbar_ = add_colorbar(
            self.ax_, self.surface_, "share beyond the data", ticks=[0.0, 0.5, 1.0]
        )
