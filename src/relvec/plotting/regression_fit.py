"""A regression over one input, with its bands and its vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_integer
from relvec._typing import ArrayLike, Vector
from relvec.describing import (
    compute_critical_value,
    convert_to_matrix,
    find_column,
    get_column_names,
    get_kernel_centers,
    make_slice,
    predict_with_std,
    shorten,
)
from relvec.plotting._axes import draw_rings, finish, legend_above, plain, take_axes, tone
from relvec.plotting._checks import check_coverage, check_line
from relvec.plotting._style import DATA, INK, MODEL, OTHER

__all__ = ["RegressionFitDisplay"]


class RegressionFitDisplay:
    """Picture of a regression over one input.

    The line is the mean; the light band holds new targets and the darker one the function, each
    with probability `coverage`. Rings are relevance vectors, drawn on the mean. Of a model with
    several inputs it is a view along one of them, the others at their medians: points are then
    scattered by what the others do, and vectors are not drawn.

    Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    x : array-like of shape (n_points,)
        Values of the input, ascending.
    mean : array-like of shape (n_points,)
        Predicted there.
    std, function_std : array-like of shape (n_points,), optional
        Standard deviations of a new target, and of the function without noise.
    x_observed, y_observed : array-like of shape (n_samples,), optional
        Data, drawn as points.
    x_vectors, y_vectors : array-like of shape (n_relevant,), optional
        Where rings are.
    truth : array-like of shape (n_points,), optional
        The true function, dashed.
    names : tuple of two str, default=("x0", "y")
        What to call the input and the target.
    note : str, optional
        What is said of other inputs, above the picture.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    mean_, points_, relevance_, truth_ : matplotlib Line2D
        None for what was not drawn.
    band_, function_band_ : matplotlib PolyCollection or None

    See Also
    --------
    PredictedObservedDisplay : Of any number of inputs.
    ResidualDisplay : What is left.

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
        self.x = check_line("x", x)
        if len(self.x) < 2 or not (np.diff(self.x) >= 0.0).all():
            raise ValueError("x must hold at least 2 values in ascending order; sort it first.")
        count = len(self.x)
        self.mean = check_line("mean", mean, count, "x")
        self.std = None if std is None else check_line("std", std, count, "x")
        self.function_std = (
            None if function_std is None else check_line("function_std", function_std, count, "x")
        )
        self.truth = None if truth is None else check_line("truth", truth, count, "x")
        self.observed = _points("x_observed", x_observed, "y_observed", y_observed)
        self.vectors = _points("x_vectors", x_vectors, "y_vectors", y_vectors)
        self.names = names
        self.note = note

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
        """Draw a fitted regressor along one of its inputs.

        Parameters
        ----------
        estimator : regressor
            Fitted; bands are drawn if its `predict` takes ``return_std=True``, rings if it
            has relevance vectors and one input.
        X : array-like of shape (n_samples, n_features)
            Inputs: their range is drawn, and a little more.
        y : array-like of shape (n_samples,), optional
            Their targets, for points at the inputs.
        feature : int or str, optional
            Along which input; needed if there are several.
        truth : callable, optional
            The true function of the inputs.
        target_name : str, default="y"
            What to call the target.
        coverage : float, default=0.95
            Probability of the bands.
        grid_resolution : int, default=300
            Points of the line.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : RegressionFitDisplay
        """
        check_is_fitted(estimator)
        n_points = check_integer("grid_resolution", grid_resolution, minimum=2)
        inputs, names = convert_to_matrix(X), get_column_names(X)
        place = find_column(feature, names)
        along = make_slice(X, place, n_points)
        mean, std, function_std = predict_with_std(estimator, along.X, cls.__name__)
        is_only = inputs.shape[1] == 1
        vectors = get_kernel_centers(estimator) if is_only else None
        rings: tuple[Any, Any] = (None, None)
        if vectors is not None and len(vectors):
            rings = vectors[:, 0], np.interp(vectors[:, 0], along.values, mean)
        display = cls(
            x=along.values,
            mean=mean,
            std=std,
            function_std=function_std,
            x_observed=None if y is None else inputs[:, place],
            y_observed=y,
            x_vectors=rings[0],
            y_vectors=rings[1],
            truth=None if truth is None else np.asarray(truth(along.X)),
            names=(plain(shorten(along.name)), target_name),
            note=None if is_only else "other inputs at their medians",
        )
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
        """Draw predictions along an input.

        Parameters
        ----------
        x, mean, std, function_std, x_observed, y_observed, truth, names
            As the parameters of the class.
        coverage : float, default=0.95
            Probability of the bands.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

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
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        coverage : float, default=0.95
            Probability of the bands.
        legend : bool, default=True
            Explain lines, bands and points above the axes.

        Returns
        -------
        display : RegressionFitDisplay
        """
        check_coverage(coverage)
        self.figure_, (self.ax_,) = take_axes(ax, 1, "the fit", figsize=(6.8, 4.4))
        percent = f"{100.0 * coverage:g} %"
        self.band_ = self._band(self.std, coverage, 0.16, f"{percent} of new targets")
        self.function_band_ = self._band(self.function_std, coverage, 0.34, f"{percent}, function")
        self.points_ = self.relevance_ = self.truth_ = None
        if self.observed is not None:
            (self.points_,) = self.ax_.plot(
                *self.observed,
                "o",
                color=tone(self.ax_, DATA),
                ms=3.6,
                mec="none",
                alpha=0.8,
                label="data",
            )
        (self.mean_,) = self.ax_.plot(
            self.x, self.mean, color=tone(self.ax_, MODEL), lw=2.0, label="mean"
        )
        if self.truth is not None:
            (self.truth_,) = self.ax_.plot(
                self.x, self.truth, color=tone(self.ax_, INK), lw=1.3, ls=(0, (4, 2)), label="truth"
            )
        if self.vectors is not None:
            self.relevance_ = draw_rings(
                self.ax_,
                self.vectors,
                tone(self.ax_, OTHER),
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
                color=tone(self.ax_, "0.4"),
            )
        finish(self.ax_)
        if legend:
            legend_above(self.ax_, 3)
        return self

    def _band(self, std: Vector | None, coverage: float, alpha: float, label: str) -> Any:
        if std is None:
            return None
        reach = compute_critical_value(coverage) * std
        return self.ax_.fill_between(
            self.x,
            self.mean - reach,
            self.mean + reach,
            color=tone(self.ax_, MODEL),
            alpha=alpha,
            lw=0,
            label=label,
        )


def _points(x_name: str, x: Any, y_name: str, y: Any) -> tuple[Vector, Vector] | None:
    if x is None and y is None:
        return None
    if x is None or y is None:
        raise ValueError(f"{x_name} and {y_name} must be given together; one is missing.")
    first, second = check_line(x_name, x), check_line(y_name, y)
    if len(first) != len(second):
        raise ValueError(
            f"{x_name} and {y_name} must be of one length; got {len(first)} and {len(second)}."
        )
    return first, second
