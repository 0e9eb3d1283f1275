"""Plot of the components of a constructed kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from relvec._checks import check_integer
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.describing import (
    StructurePart,
    compute_critical_value,
    evaluate_centred,
    list_parts,
    make_clauses,
    shorten,
)
from relvec.kernels.expansions import Harmonics
from relvec.plotting._axes import (
    adapt_colour,
    add_colorbar,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
    set_title,
)
from relvec.plotting._checks import check_coverage, check_vector
from relvec.plotting._structures import check_search, mark_end, read_positions, to_positions
from relvec.plotting._style import DATA, MODEL

__all__ = ["ComponentCurve", "ComponentsDisplay"]

POINTS_PER_PERIOD = 16
"""Points at which the shortest period is drawn."""
MOST_POINTS = 3000
"""Largest number of points of a curve."""
N_SURFACE = 40
"""Points of each axis of a map of two features."""
SCALES = {"identity": "{}", "log": "log {}", "sqrt": "√{}"}
"""Labels of axes, by transform of the target."""
MANY_FEATURES = 3
"""Functions of so many features are shown by their values at the training rows."""


@dataclass(frozen=True, eq=False)
class ComponentCurve:
    """A component along its feature, or over two of them.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0.0, 1.0, 5)
    >>> ComponentCurve("Smooth function of a", x, x**2, 0.1 * x, labels=("a",)).name
    'Smooth function of a'
    """

    name: str
    """Title of its panel."""
    x: np.ndarray
    """Positions; values of the first feature."""
    mean: np.ndarray
    """Posterior mean; with two features of shape (n_second, n_first)."""
    std: np.ndarray | None = None
    """Posterior standard deviation of a curve."""
    second: Vector | None = None
    """Values of the second feature, of a map."""
    labels: tuple[str, ...] = ("",)
    """Names of the features."""


class ComponentsDisplay:
    """Plot of the parts of the best structure of a kernel search, a panel for each.

    For a series the data and the sum of all parts are on top, and a dashed line marks the end of
    the record, beyond which parts are forecasts. All panels are in units of the transformed target.
    Parts other than seasons are centred over the data. Bands are pointwise posterior intervals,
    without noise.

    Use `from_estimator` to create one.

    Parameters
    ----------
    curves : sequence of ComponentCurve
        Parts, in the order of the panels.
    total : ComponentCurve, optional
        Sum of all parts, for the panel on top.
    x_observed, y_observed : array-like of shape (n_samples,), optional
        Data, with targets transformed as the model does.
    end : float or date, optional
        End of the record.
    scale : str, default="y"
        Label of transformed targets, such as "log y".

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        The panel on top, if there is one, then one for each part.
    lines_ : list of matplotlib artists
        Curve, map or points of each panel.
    bands_ : list of matplotlib PolyCollection or None

    See Also
    --------
    ForecastDisplay : Forecast in units of the target.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import KernelSearchRegressor
    >>> from relvec.plotting import ComponentsDisplay
    >>> t = np.arange(72.0)[:, np.newaxis]
    >>> rng = np.random.default_rng(0)
    >>> y = 0.1 * t[:, 0] + np.sin(2 * np.pi * t[:, 0] / 12) + 0.2 * rng.normal(size=72)
    >>> model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(t, y)
    >>> display = ComponentsDisplay.from_estimator(model, unit="months")
    >>> [curve.name for curve in display.curves]
    ['Linear trend (LIN)', 'Yearly season (PER)']
    """

    def __init__(
        self,
        *,
        curves: Sequence[ComponentCurve],
        total: ComponentCurve | None = None,
        x_observed: ArrayLike | None = None,
        y_observed: ArrayLike | None = None,
        end: Any = None,
        scale: str = "y",
    ) -> None:
        self.curves, self.total = list(curves), total
        self.y_observed = None if y_observed is None else check_vector("y_observed", y_observed)
        self.x_observed = (
            None
            if x_observed is None or self.y_observed is None
            else read_positions("x_observed", x_observed, len(self.y_observed))
        )
        self.end, self.scale = end, scale
        if not self.curves and total is None:
            raise ValueError("There is nothing to plot: the structure has no components.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        unit: str | None = None,
        horizon: float = 0.15,
        grid_resolution: int = 400,
        coverage: float = 0.95,
        names: tuple[str, str] = ("", "y"),
        ax: Any = None,
    ) -> Self:
        """Plot the parts of a fitted kernel search.

        Parameters
        ----------
        estimator : KernelSearchRegressor
            Fitted.
        unit : str, optional
            Unit of the input of a series, for names such as "yearly season".
        horizon : float, default=0.15
            How far a series is continued, as a fraction of the record.
        grid_resolution : int, default=400
            Least number of points of a curve; more are used for short periods.
        coverage : float, default=0.95
            Pointwise coverage of the bands.
        names : tuple of two str, default=("", "y")
            Names of input and target.
        ax : matplotlib Axes or sequence of them, optional
            One for each panel; a new figure by default.

        Returns
        -------
        display : ComponentsDisplay
        """
        model = check_search(estimator, cls.__name__)
        n_points = check_integer("grid_resolution", grid_resolution, minimum=2)
        if not horizon >= 0.0:
            raise ValueError(f"horizon must be zero or positive; got {horizon!r}.")
        parts, clauses = list_parts(model), make_clauses(model, unit)
        titles = [_capitalise(clauses.name(each)) for each in parts]
        scale = SCALES[model.transform_].format(names[1])
        if model.n_features_in_ > 1:
            pairs = zip(parts, titles, strict=True)
            curves = [_evaluate_over_features(model, part, name) for part, name in pairs]
            display = cls(curves=curves, scale=scale)
            return display.plot(ax, coverage=coverage)
        x = _make_grid(model, parts, horizon, n_points)
        titles = [f"{name} ({each.expression})" for name, each in zip(titles, parts, strict=True)]
        rows, positions = model.training_rows_, to_positions(x, model.has_dates_)
        total = ComponentCurve(
            "Data and sum of all parts", positions, *_predict_total(model, x), labels=(names[0],)
        )
        curves = [
            ComponentCurve(
                name,
                positions,
                *evaluate_centred(model, part, x[:, np.newaxis]),
                labels=(names[0],),
            )
            for part, name in zip(parts, titles, strict=True)
        ]
        observed = to_positions(rows.inputs[:, 0], model.has_dates_)
        display = cls(
            curves=curves,
            total=total,
            x_observed=observed,
            y_observed=model.best_.target.transform.forward(rows.target),
            end=observed[-1],
            scale=scale,
        )
        return display.plot(ax, coverage=coverage)

    def plot(self, ax: Any = None, *, coverage: float = 0.95) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each panel; a new figure by default.
        coverage : float, default=0.95
            Pointwise coverage of the bands.

        Returns
        -------
        display : ComponentsDisplay
        """
        check_coverage(coverage)
        self._width = compute_critical_value(coverage)
        panels = [*([] if self.total is None else [self.total]), *self.curves]
        self.figure_, self.axes_ = get_axes(
            ax, len(panels), "the components", **self._layout(len(panels))
        )
        for extra in self.axes_[len(panels) :]:
            extra.set_visible(False)
        self.axes_ = self.axes_[: len(panels)]
        self.lines_: list[Any] = []
        self.bands_: list[Any] = []
        for axes, curve in zip(self.axes_, panels, strict=True):
            self._draw_panel(axes, curve, coverage)
        if self.total is not None:
            self._draw_data(self.axes_[0])
            self.axes_[-1].set_xlabel(escape_mathtext(self.total.labels[0]))
            place_legend_above(self.axes_[0])
        return self

    def _layout(self, n_panels: int) -> dict[str, Any]:
        """Return the arguments of ``subplots``: rows of a series, a grid of functions."""
        if self.total is not None:
            return {
                "nrows": n_panels,
                "figsize": (8.0, 2.8 + 1.5 * (n_panels - 1)),
                "sharex": True,
                "height_ratios": [2.0] + [1.0] * (n_panels - 1),
            }
        n_columns = min(n_panels, 3)
        n_rows = -(-n_panels // n_columns)
        return {
            "nrows": n_rows,
            "ncols": n_columns,
            "figsize": (3.6 * n_columns, 3.0 * n_rows),
        }

    def _draw_panel(self, axes: Any, curve: ComponentCurve, coverage: float) -> None:
        colour, band = adapt_colour(axes, MODEL), None
        if curve.second is not None:
            line = axes.contourf(curve.x, curve.second, curve.mean, levels=12, cmap="viridis")
            add_colorbar(axes, line, self.scale)
        else:
            if curve.std is not None:
                half = self._width * curve.std
                band = axes.fill_between(
                    curve.x,
                    curve.mean - half,
                    curve.mean + half,
                    color=colour,
                    alpha=0.25,
                    lw=0,
                    label=f"{100 * coverage:.4g} % interval",
                )
            style = {"lw": 1.2} if curve.std is not None else {"ls": "", "marker": "o", "ms": 2.5}
            (line,) = axes.plot(curve.x, curve.mean, color=colour, label="posterior mean", **style)
        self.lines_.append(line)
        self.bands_.append(band)
        if self.end is not None:
            mark_end(axes, self.end)
        is_alone = self.total is None
        if is_alone:
            axes.set_xlabel(escape_mathtext(curve.labels[0]))
        if curve.second is not None:
            axes.set_ylabel(escape_mathtext(curve.labels[1]))
        else:
            axes.set_ylabel(escape_mathtext(self.scale))
        if curve is not self.total:
            set_title(axes, escape_mathtext(shorten(curve.name, 40 if is_alone else 90)))
        axes.margins(x=0.01)
        finish_axes(axes)

    def _draw_data(self, axes: Any) -> None:
        if self.x_observed is None or self.y_observed is None:
            return
        size = float(np.clip(60.0 / np.sqrt(len(self.y_observed)), 1.5, 4.0))
        axes.plot(
            self.x_observed,
            self.y_observed,
            ls="",
            marker="o",
            ms=size,
            mew=0,
            color=adapt_colour(axes, DATA),
            alpha=0.8,
            label="observed",
            zorder=1.5,
        )


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _make_grid(model: Any, parts: Sequence[StructurePart], horizon: float, n_points: int) -> Vector:
    """Return a grid over the record and the horizon, fine enough for the shortest period."""
    x = model.training_rows_.inputs[:, 0]
    record = float(x[-1] - x[0]) or 1.0
    periods = [each.period for part in parts for each in part.list_factors(Harmonics)]
    if periods:  # scaled inputs have range two
        n_points = max(n_points, int(POINTS_PER_PERIOD * (1.0 + horizon) * 2.0 / min(periods)))
    return np.linspace(x[0], x[-1] + horizon * record, min(n_points, MOST_POINTS))


def _predict_total(model: Any, x: Vector) -> tuple[Vector, Vector]:
    return model.predict_latent(x[:, np.newaxis], return_std=True)


def _evaluate_over_features(model: Any, part: StructurePart, name: str) -> ComponentCurve:
    """Evaluate a component over the range of its one or two features."""
    X: Matrix = model.training_rows_.inputs
    known = getattr(model, "feature_names_in_", None)
    names = [f"x{i}" for i in range(X.shape[1])] if known is None else list(map(str, known))
    features = part.features
    labels = tuple(names[i] for i in features)
    ranges = [np.linspace(X[:, i].min(), X[:, i].max(), N_SURFACE) for i in features]
    if len(features) >= MANY_FEATURES:
        mean, _ = evaluate_centred(model, part, X)
        return ComponentCurve(name, X[:, features[0]], mean, labels=labels)
    if len(features) == 1:
        x = np.linspace(ranges[0][0], ranges[0][-1], 4 * N_SURFACE)
        inputs = np.tile(X[:1], (len(x), 1))
        inputs[:, features[0]] = x
        mean, std = evaluate_centred(model, part, inputs)
        return ComponentCurve(name, x, mean, std, labels=labels)
    first, second = np.meshgrid(*ranges)
    inputs = np.tile(X[:1], (first.size, 1))
    inputs[:, features[0]], inputs[:, features[1]] = first.ravel(), second.ravel()
    mean, _ = evaluate_centred(model, part, inputs)
    return ComponentCurve(
        name, ranges[0], mean.reshape(first.shape), second=ranges[1], labels=labels
    )
