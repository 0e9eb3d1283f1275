"""Plot of a regression function over one feature, with intervals and relevance vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_integer
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.describing import (
    compute_critical_value,
    convert_to_matrix,
    find_column,
    get_column_names,
    get_kernel_centers,
    make_interval_function,
    make_slice,
    predict_with_std,
    shorten,
)
from relvec.plotting._axes import (
    adapt_colour,
    draw_circles,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
)
from relvec.plotting._checks import check_coverage, check_vector
from relvec.plotting._style import DATA, INK, MODEL, OTHER

__all__ = ["RegressionFitDisplay"]


class RegressionFitDisplay:
    """Plot of a regression function over one feature.

    The line is the predictive mean. The light band is the interval of new targets, noise included,
    and the darker one that of the function, each with coverage `coverage`. Circles are relevance
    vectors, drawn on the mean. With several features the plot is along one of them, the others at
    their medians; the scatter of the points then includes the effects of the other features, and
    relevance vectors are not drawn.

    Use `from_estimator` or `from_predictions` to create one.

    Parameters
    ----------
    x : array-like of shape (n_points,)
        Values of the feature, ascending.
    mean : array-like of shape (n_points,)
        Predictive mean.
    std, function_std : array-like of shape (n_points,), optional
        Standard deviations of new targets, noise included, and of the function.
    x_observed, y_observed : array-like of shape (n_samples,), optional
        Data, drawn as points.
    x_vectors, y_vectors : array-like of shape (n_relevant,), optional
        Coordinates of the circles.
    truth : array-like of shape (n_points,), optional
        True function, drawn dashed.
    names : tuple of two str, default=("x0", "y")
        Names of the feature and the target.
    note : str, optional
        Note on the other features.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    mean_, points_, relevance_, truth_ : matplotlib Line2D
        None if not drawn.
    band_, function_band_ : matplotlib PolyCollection or None

    See Also
    --------
    PredictedObservedDisplay : Predictions for any number of features.
    ResidualDisplay : Residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.plotting import RegressionFitDisplay
    >>> X = np.linspace(-10, 10, 60)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> model = RVMRegressor(gamma=0.1).fit(X, y)
    >>> display = RegressionFitDisplay.from_estimator(model, X, y)
    >>> len(display.relevance_.get_xdata()) == len(model.relevance_)
    True
    """

    def __init__(
        self,
        *,
        x: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike | None = None,
        function_std: ArrayLike | None = None,
        x_observed: ArrayLike | None = None,
        y_observed: ArrayLike | None = None,
        x_vectors: ArrayLike | None = None,
        y_vectors: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        names: tuple[str, str] = ("x0", "y"),
        note: str | None = None,
    ) -> None:
        self.x = check_vector("x", x)
        if len(self.x) < 2 or not (np.diff(self.x) >= 0.0).all():
            raise ValueError("x must have at least 2 values in ascending order; sort it first.")
        count = len(self.x)
        self.mean = check_vector("mean", mean, count, "x")
        self.std = None if std is None else check_vector("std", std, count, "x")
        self.function_std = (
            None if function_std is None else check_vector("function_std", function_std, count, "x")
        )
        self.truth = None if truth is None else check_vector("truth", truth, count, "x")
        self.observed = _points("x_observed", x_observed, "y_observed", y_observed)
        self.vectors = _points("x_vectors", x_vectors, "y_vectors", y_vectors)
        self.names = names
        self.note = note
        self._limits: Callable[..., Matrix] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        feature: int | str | None = None,
        truth: Callable[[Any], Any] | None = None,
        target_name: str = "y",
        coverage: float = 0.95,
        grid_resolution: int = 300,
        ax: Any = None,
    ) -> Self:
        """Plot a fitted regressor along one feature.

        Parameters
        ----------
        estimator : regressor
            Fitted; bands are drawn if its `predict` takes ``return_std=True``, circles if it
            has relevance vectors and one feature.
        X : array-like of shape (n_samples, n_features)
            Inputs; the plot covers their range and a small margin.
        y : array-like of shape (n_samples,), optional
            Targets; the data are drawn as points if given.
        feature : int or str, optional
            Name or index of the feature; needed if there are several.
        truth : callable, optional
            True function of the inputs.
        target_name : str, default="y"
            Name of the target.
        coverage : float, default=0.95
            Coverage of the bands.
        grid_resolution : int, default=300
            Number of points of the curve.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : RegressionFitDisplay
        """
        check_is_fitted(estimator)
        n_points = check_integer("grid_resolution", grid_resolution, minimum=2)
        inputs, names = convert_to_matrix(X), get_column_names(X)
        index = find_column(feature, names)
        along = make_slice(X, index, n_points)
        mean, std, function_std = predict_with_std(estimator, along.X, cls.__name__)
        is_single = inputs.shape[1] == 1
        vectors = get_kernel_centers(estimator) if is_single else None
        circles: tuple[Any, Any] = (None, None)
        if vectors is not None and len(vectors):
            circles = vectors[:, 0], np.interp(vectors[:, 0], along.values, mean)
        display = cls(
            x=along.values,
            mean=mean,
            std=std,
            function_std=function_std,
            x_observed=None if y is None else inputs[:, index],
            y_observed=y,
            x_vectors=circles[0],
            y_vectors=circles[1],
            truth=None if truth is None else np.asarray(truth(along.X)),
            names=(escape_mathtext(shorten(along.name)), target_name),
            note=None if is_single else "other features at their medians",
        )
        display._limits = make_interval_function(estimator, along.X)
        return display.plot(ax, coverage=coverage)

    @classmethod
    def from_predictions(
        cls,
        x: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike | None = None,
        *,
        function_std: ArrayLike | None = None,
        x_observed: ArrayLike | None = None,
        y_observed: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        names: tuple[str, str] = ("x0", "y"),
        coverage: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Plot given predictions along a feature.

        Parameters
        ----------
        x, mean, std, function_std, x_observed, y_observed, truth, names
            As the parameters of the class.
        coverage : float, default=0.95
            Coverage of the bands.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : RegressionFitDisplay
        """
        display = cls(
            x=x,
            mean=mean,
            std=std,
            function_std=function_std,
            x_observed=x_observed,
            y_observed=y_observed,
            truth=truth,
            names=names,
        )
        return display.plot(ax, coverage=coverage)

    def plot(self, ax: Any = None, *, coverage: float = 0.95, legend: bool = True) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        coverage : float, default=0.95
            Coverage of the bands.
        legend : bool, default=True
            Draw a legend above the axes.

        Returns
        -------
        display : RegressionFitDisplay
        """
        check_coverage(coverage)
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the fit", figsize=(6.8, 4.4))
        percent = f"{100.0 * coverage:g} %"
        self.band_ = self._band(self.std, coverage, 0.16, f"{percent}, new targets", True)
        self.function_band_ = self._band(
            self.function_std, coverage, 0.34, f"{percent}, function", False
        )
        self.points_ = self.relevance_ = self.truth_ = None
        if self.observed is not None:
            (self.points_,) = self.ax_.plot(
                *self.observed,
                "o",
                color=adapt_colour(self.ax_, DATA),
                ms=3.6,
                mec="none",
                alpha=0.8,
                label="data",
            )
        (self.mean_,) = self.ax_.plot(
            self.x, self.mean, color=adapt_colour(self.ax_, MODEL), lw=2.0, label="mean"
        )
        if self.truth is not None:
            (self.truth_,) = self.ax_.plot(
                self.x,
                self.truth,
                color=adapt_colour(self.ax_, INK),
                lw=1.3,
                ls=(0, (4, 2)),
                label="true function",
            )
        if self.vectors is not None:
            self.relevance_ = draw_circles(
                self.ax_,
                self.vectors,
                adapt_colour(self.ax_, OTHER),
                size=9,
                width=1.8,
                label="relevance vectors",
            )
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        self.ax_.set_xlim(self.x[0], self.x[-1])
        if self.note is not None:
            self.ax_.annotate(
                self.note,
                (1.0, 0.0),
                xycoords="axes fraction",
                xytext=(-4, 4),
                textcoords="offset points",
                ha="right",
                fontsize=8,
                color=adapt_colour(self.ax_, "0.4"),
            )
        finish_axes(self.ax_)
        if legend:
            place_legend_above(self.ax_, 3)
        return self

    def _band(
        self, std: Vector | None, coverage: float, alpha: float, label: str, include_noise: bool
    ) -> Any:
        if std is None:
            return None
        half_width = compute_critical_value(coverage) * std
        low, high = self.mean - half_width, self.mean + half_width
        if self._limits is not None:
            low, high = self._limits(coverage, include_noise)
        return self.ax_.fill_between(
            self.x,
            low,
            high,
            color=adapt_colour(self.ax_, MODEL),
            alpha=alpha,
            lw=0,
            label=label,
        )


def _points(x_name: str, x: Any, y_name: str, y: Any) -> tuple[Vector, Vector] | None:
    if x is None and y is None:
        return None
    if x is None or y is None:
        raise ValueError(f"{x_name} and {y_name} must be given together; one is missing.")
    first, second = check_vector(x_name, x), check_vector(y_name, y)
    if len(first) != len(second):
        raise ValueError(
            f"{x_name} and {y_name} must have the same length; got {len(first)} and {len(second)}."
        )
    return first, second
