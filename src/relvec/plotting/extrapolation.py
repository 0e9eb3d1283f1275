"""Plot of predictions against the degree of extrapolation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_choice, check_integer
from relvec._compat import import_optional
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.describing import (
    EXTRAPOLATION_THRESHOLD,
    compute_critical_value,
    compute_extrapolation,
    convert_to_matrix,
    get_column_names,
    make_grid,
    match_container,
    predict_with_std,
    shorten,
)
from relvec.plotting._axes import (
    adapt_colour,
    add_colorbar,
    escape_mathtext,
    finish_axes,
    get_axes,
    is_dark,
    label_features,
    place_legend_above,
)
from relvec.plotting._checks import check_coverage, check_finite, check_vector
from relvec.plotting._class_rows import ClassRows
from relvec.plotting._style import DATA, INK, MODEL, OTHER

__all__ = ["ExtrapolationDisplay", "ExtrapolationMap"]

KINDS = ("auto", "inputs", "rows")
PAPER, DARK = "#f4bb98", "#5c2c12"
"""Background colours of extrapolation, on light and dark axes."""


@dataclass(frozen=True, eq=False)
class ExtrapolationMap:
    """Degree of extrapolation over one or two features, with training inputs and new inputs.

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
    """Grid values of each feature."""
    share: Matrix
    """Degree of extrapolation, of shape (n_points,) or (n_second, n_first)."""
    X: Matrix
    X_new: Matrix
    names: list[str]
    mean: Vector | None = None
    std: Vector | None = None
    """Predictions on the grid, for one feature."""
    probability: np.ndarray | None = None
    """Of each class on the grid, with one more axis than `share`."""


class ExtrapolationDisplay:
    """Plot of the degree of extrapolation of new inputs, and of the predictions there.

    The degree of extrapolation (`share`) is 0 at the training inputs, and 1 where they carry no
    information about the function. Over one feature it is the background colour, below the
    predictive mean and its interval; over two features it is a map with the training inputs. For
    any number of features, ``kind="rows"`` shows the predictive interval of each new row against
    its degree of extrapolation: intervals become longer, and predictions far outside the range of
    the targets shrink to their mean. Rows with a degree above 0.5 are highlighted.

    For a classifier, probabilities are drawn in place of means: over one feature those of the
    classes, over two features as contour lines, and for any number of features those of new rows
    against their degree of extrapolation. Far to the right they approach the class prior. With two
    classes the second is drawn; with several, new rows have the colour of the most probable class.

    Use `from_estimator` to create one.

    Parameters
    ----------
    share : array-like of shape (n_new,)
        Degree of extrapolation of each new row, from 0 to 1.
    mean, std : array-like of shape (n_new,), optional
        Predictive means of new targets, and their standard deviations.
    probability : array-like of shape (n_new, n_classes), optional
        Probability of each class, in place of both.
    classes : sequence of labels, optional
        Names of the classes; numbered by default.
    y_new : array-like of shape (n_new,), optional
        Observed targets, drawn as crosses: of two classes at 0 and 1; of several only where the
        observed class is not the most probable one, at its probability and in its colour.
    inputs : ExtrapolationMap, optional
        Degree of extrapolation on a grid, for models with one or two features.
    target_name : str, default="y"
        Name of the target.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    is_beyond_ : ndarray of shape (n_new,)
        Which new rows have a degree of extrapolation above 0.5.
    near_, far_ : matplotlib artists or None
        New rows that are not extrapolated, and those that are.
    observed_, training_ : matplotlib artists or None
    surface_ : matplotlib QuadContourSet, QuadMesh or None
        Degree of extrapolation, over the features.
    colorbar_ : matplotlib Colorbar or None

    See Also
    --------
    RegressionFitDisplay : Regression function over one feature, with relevance vectors.

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

    A classifier, whose probabilities approach the class prior far away:

    >>> from relvec import RVMClassifier
    >>> from relvec.datasets import make_snake
    >>> X, y = make_snake(100, random_state=0)
    >>> model = RVMClassifier(gamma=1.0).fit(X, y)
    >>> display = ExtrapolationDisplay.from_estimator(model, X, [[0.0, 0.0], [9.0, 9.0]])
    >>> display.probability.round(1)[1], display.is_beyond_
    (array([0.5, 0.5]), array([False,  True]))
    """

    def __init__(
        self,
        share: ArrayLike,
        mean: ArrayLike | None = None,
        std: ArrayLike | None = None,
        *,
        probability: ArrayLike | None = None,
        classes: Any = None,
        y_new: ArrayLike | None = None,
        inputs: ExtrapolationMap | None = None,
        target_name: str = "y",
    ) -> None:
        self.share = check_vector("share", share)
        n = len(self.share)
        if not n:
            raise ValueError("share is empty: there is no new row to plot.")
        if not ((self.share >= 0.0) & (self.share <= 1.0)).all():
            raise ValueError("share must be between 0 and 1; some values are not.")
        self.inputs, self.target_name = inputs, target_name
        self.probability = self._classes = None
        if probability is not None:
            self._classes = ClassRows.checked(probability, classes, y_new, n)
            self.probability, self.y_new = self._classes.probability, self._classes.y
            return
        if mean is None or std is None:
            raise ValueError("mean and std are needed, or probability of a classifier.")
        self.mean = check_vector("mean", mean, n, "share")
        self.std = check_vector("std", std, n, "share")
        self.y_new = None if y_new is None else check_vector("y_new", y_new, n, "share")
        check_finite("mean", self.mean)

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
        """Plot predictions of new rows with their degree of extrapolation.

        Parameters
        ----------
        estimator : regressor or classifier
            Fitted with a kernel that decays and ``error_bars="novelty"``, the default.
        X : array-like of shape (n_samples, n_features)
            Training inputs.
        X_new : array-like of shape (n_new, n_features)
            New inputs.
        y_new : array-like of shape (n_new,), optional
            Targets of the new inputs, if known.
        kind, coverage
            As in `plot`.
        target_name : str, default="y"
            Name of the target.
        grid_resolution : int, default=80
            Grid points along each of two features; four times as many for one feature.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ExtrapolationDisplay
        """
        count = check_integer("grid_resolution", grid_resolution, minimum=2)
        has_classes = is_classifier(estimator)
        answers = _answers(estimator, X_new, cls.__name__)
        share = compute_extrapolation(estimator, X_new)
        if share is None or any(each is None for each in answers.values()):
            raise ValueError(
                f"{type(estimator).__name__} does not measure extrapolation. Fit it with "
                'error_bars="novelty" and a kernel that decays.'
            )
        known, asked = convert_to_matrix(X), convert_to_matrix(X_new, "X_new")
        if known.shape[1] != asked.shape[1]:
            raise ValueError(
                f"X and X_new must have the same number of columns; got {known.shape[1]} and "
                f"{asked.shape[1]}."
            )
        inputs = None
        if known.shape[1] <= 2:
            grid = make_grid(np.vstack([known, asked]), count * (4 if known.shape[1] == 1 else 1))
            points = match_container(grid.points, X)
            over = compute_extrapolation(estimator, points)
            assert over is not None
            curve: dict[str, Any] = {}
            if has_classes or known.shape[1] == 1:
                curve = _answers(estimator, points, cls.__name__)
            if has_classes:
                curve["probability"] = curve["probability"].reshape(*grid.shape, -1)
            names = [escape_mathtext(shorten(name)) for name in get_column_names(X)]
            shares = over.reshape(grid.shape)
            inputs = ExtrapolationMap(grid.axes, shares, known, asked, names, **curve)
        if has_classes:
            answers["classes"] = estimator.classes_
        display = cls(share, **answers, y_new=y_new, inputs=inputs, target_name=target_name)
        return display.plot(ax, kind=kind, coverage=coverage)

    def plot(
        self, ax: Any = None, *, kind: str = "auto", coverage: float = 0.95, legend: bool = True
    ) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        kind : {"auto", "inputs", "rows"}, default="auto"
            Plot over the features, if there are one or two; or new rows against their degree of
            extrapolation, which "auto" uses for more features.
        coverage : float, default=0.95
            Probability of the intervals of a regressor.
        legend : bool, default=True
            Draw a legend above the axes.

        Returns
        -------
        display : ExtrapolationDisplay
        """
        check_choice("kind", kind, KINDS)
        reach = compute_critical_value(check_coverage(coverage))
        if kind == "inputs" and self.inputs is None:
            raise ValueError(
                'kind="inputs" needs a model with one or two features; use kind="rows".'
            )
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the extrapolation", figsize=(6.8, 4.4))
        self.is_beyond_ = self.share > EXTRAPOLATION_THRESHOLD
        self.near_ = self.far_ = self.observed_ = self.training_ = None
        self.surface_ = self.colorbar_ = None
        interval = f"{100.0 * coverage:g} %"
        if self.inputs is None or kind == "rows":
            self._draw_rows(reach, interval)
        elif len(self.inputs.axes) == 1:
            self._draw_line(self.inputs, reach, interval)
        else:
            self._draw_map(self.inputs)
        finish_axes(self.ax_)
        if legend:
            place_legend_above(self.ax_)
        return self

    def _draw_rows(self, reach: float, interval: str) -> None:
        classes, name = self._classes, f"predicted {self.target_name}"
        if classes is not None:
            classes.explain(self.ax_, colours=True)
            name = classes.label if classes.are_two else "largest probability of a class"
            self.ax_.set(ylim=(0.0, 1.0))
        self._new_rows(self.share, reach, f", {interval} interval")
        self.ax_.axvline(
            EXTRAPOLATION_THRESHOLD, color=adapt_colour(self.ax_, DATA), lw=0.9, ls=":"
        )
        self.ax_.set(
            xlim=(-0.03, 1.03),
            xlabel="degree of extrapolation",
            ylabel=name,
        )

    def _draw_line(self, inputs: ExtrapolationMap, reach: float, interval: str) -> None:
        (x,), name = inputs.axes, self.target_name
        if self._classes is None:
            self._draw_band(inputs, reach, interval)
        else:
            name = self._classes.label
            assert inputs.probability is not None
            self._classes.draw_curves(self.ax_, x, inputs.probability)
            self._classes.explain(self.ax_, colours=False)
            self.ax_.set(ylim=(0.0, 1.0))
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
            color=adapt_colour(self.ax_, INK),
            ms=9,
            clip_on=False,
            label="training",
        )
        self.ax_.set(xlim=(x[0], x[-1]), ylim=(bottom, top))
        self.ax_.set(xlabel=inputs.names[0], ylabel=name)
        self._explain_colours()

    def _draw_band(self, inputs: ExtrapolationMap, reach: float, interval: str) -> None:
        (x,) = inputs.axes
        assert inputs.mean is not None
        assert inputs.std is not None
        low, high = inputs.mean - reach * inputs.std, inputs.mean + reach * inputs.std
        self.ax_.fill_between(
            x,
            low,
            high,
            color=adapt_colour(self.ax_, MODEL),
            alpha=0.2,
            lw=0,
            label=f"{interval} interval",
        )
        self.ax_.plot(x, inputs.mean, color=adapt_colour(self.ax_, MODEL), lw=1.8, label="mean")

    def _draw_map(self, inputs: ExtrapolationMap) -> None:
        levels = np.linspace(0.0, 1.0, 11)
        self.surface_ = self.ax_.contourf(
            *inputs.axes, inputs.share, levels=levels, cmap=self._colours(), zorder=-1
        )
        (self.training_,) = self.ax_.plot(
            *inputs.X.T, ".", color=adapt_colour(self.ax_, DATA), ms=4, label="training"
        )
        if self._classes is not None:
            assert inputs.probability is not None
            self._classes.draw_lines(self.ax_, inputs.axes, inputs.probability)
            self._classes.explain(self.ax_, colours=True)
        for place, colour, mark, label in self._kinds():
            self._points(inputs.X_new[:, 0], inputs.X_new[:, 1], place, colour, mark, label)
        label_features(self.ax_, inputs.axes[0], inputs.axes[1], inputs.names)
        self._explain_colours()

    def _new_rows(self, x: Vector, reach: float, more: str = "") -> None:
        """Draw predictions of new rows with their intervals, and what was observed."""
        if self._classes is not None:
            for place, colour, mark, label in self._kinds():
                self._points(x, self._classes.height, place, colour, mark, label)
            if self._classes.y is not None:
                self.observed_ = self._classes.draw_observed(self.ax_, x)
            return
        for place, colour, mark, label in self._kinds():
            mean, half = self.mean[place], reach * self.std[place]
            self.ax_.vlines(x[place], mean - half, mean + half, color=colour, lw=1.1, alpha=0.7)
            self._points(x, self.mean, place, colour, mark, f"{label}{more}")
        if self.y_new is not None:
            (self.observed_,) = self.ax_.plot(
                x, self.y_new, "x", color=adapt_colour(self.ax_, INK), ms=4.5, label="observed"
            )

    def _kinds(self) -> list[tuple[Any, Any, str, str]]:
        """Return mask, colour, marker and label of the rows without and with extrapolation."""
        kinds = [
            (~self.is_beyond_, adapt_colour(self.ax_, MODEL), "o", "new"),
            (self.is_beyond_, adapt_colour(self.ax_, OTHER), "s", "extrapolated"),
        ]
        return [each for each in kinds if each[0].any()]

    def _points(self, x: Vector, y: Vector, place: Any, colour: Any, mark: str, label: str) -> None:
        """Draw some of the new rows, and keep what was drawn."""
        if self._classes is None:
            (drawn,) = self.ax_.plot(
                x[place], y[place], mark, color=colour, ms=5.5, mec="none", label=label
            )
        else:
            drawn = self._classes.draw(self.ax_, x, y, place, mark, colour)
            own = colour if self._classes.are_two else adapt_colour(self.ax_, DATA)
            self.ax_.plot([], [], mark, color=own, ms=5.5, mec="none", label=label)
        if mark == "o":
            self.near_ = drawn
        else:
            self.far_ = drawn

    def _colours(self) -> Any:
        """Return a colour map from the background colour to a tint of it."""
        ends = [self.ax_.get_facecolor(), DARK if is_dark(self.ax_) else PAPER]
        return import_optional("matplotlib.colors").LinearSegmentedColormap.from_list(
            "beyond", ends
        )

    def _explain_colours(self) -> None:
        self.colorbar_ = add_colorbar(
            self.ax_, self.surface_, "degree of extrapolation", ticks=[0.0, 0.5, 1.0]
        )


def _answers(estimator: Any, X: Any, display: str) -> dict[str, Any]:
    """What a model says at inputs, as the display takes it."""
    if is_classifier(estimator):
        check_is_fitted(estimator)
        return {"probability": np.asarray(estimator.predict_proba(X))}
    mean, std, _ = predict_with_std(estimator, X, display)
    return {"mean": mean, "std": std}
