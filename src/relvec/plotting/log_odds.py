"""Plot of log odds along one feature, with their standard deviation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.special import logit

from relvec._checks import check_integer, check_positive
from relvec._typing import ArrayLike, Vector
from relvec.describing import (
    check_classifier,
    check_labels,
    compute_range,
    format_class_label,
    get_final_estimator,
    get_kernel_centers,
    shorten,
    transform_inputs,
)
from relvec.plotting._axes import (
    adapt_colour,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
)
from relvec.plotting._checks import check_vector
from relvec.plotting._style import INK, MODEL, OTHER, STYLE

__all__ = ["LogOddsDisplay"]

PROBABILITIES = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)
"""Ticks of the probability axis at the right."""


class LogOddsDisplay:
    """Plot of the log odds of two classes along one feature.

    The line is the posterior mean of the logit, the band a multiple of its standard deviation. The
    axis at the right gives probabilities. Use `from_estimator` to create one.

    Parameters
    ----------
    x : array-like of shape (n_points,)
        Values of the feature, ascending.
    mean : array-like of shape (n_points,)
        Posterior mean of the log odds of the second class.
    std : array-like of shape (n_points,), optional
        Posterior standard deviation of the log odds, for the band.
    truth : array-like of shape (n_points,), optional
        True log odds; infinite values are clipped, NaN is not drawn.
    samples : tuple of two array-like, optional
        Training inputs of the first class and of the second, drawn as ticks.
    relevance_vectors : array-like of shape (n_relevant,), optional
        Drawn as circles.
    classes : sequence of two labels, default=(0, 1)
        Class labels.
    xlabel : str, default="x0"
        Name of the feature.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    line_, band_, truth_, relevance_ : matplotlib artists
        None if not drawn.
    samples_ : list of matplotlib artists
        Training inputs of the first class and of the second.

    Examples
    --------
    >>> from relvec import RVMClassifier
    >>> from relvec.datasets import make_overlapping_uniforms
    >>> from relvec.plotting import LogOddsDisplay
    >>> X, y, truth = make_overlapping_uniforms(400, random_state=0, return_truth=True)
    >>> model = RVMClassifier(gamma=100.0).fit(X, y)
    >>> display = LogOddsDisplay.from_estimator(model, X, y, truth=truth.log_odds)
    >>> display.ax_.get_legend_handles_labels()[1][:3]
    ['± 2 std', 'log odds', 'true log odds']
    """

    def __init__(
        self,
        *,
        x: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        samples: tuple[ArrayLike, ArrayLike] | None = None,
        relevance_vectors: ArrayLike | None = None,
        classes: Any = (0, 1),
        xlabel: str = "x0",
    ) -> None:
        self.x = check_vector("x", x)
        n = len(self.x)
        self.mean = check_vector("mean", mean, n, "x")
        self.std = None if std is None else check_vector("std", std, n, "x")
        self.truth = None if truth is None else check_vector("truth", truth, n, "x")
        self.samples = (
            []
            if samples is None
            else [check_vector(f"samples[{i}]", each) for i, each in enumerate(samples)]
        )
        self.relevance_vectors = (
            None
            if relevance_vectors is None
            else check_vector("relevance_vectors", relevance_vectors)
        )
        self.classes = list(classes)
        if len(self.classes) != 2:
            raise ValueError(f"classes must contain two labels; got {len(self.classes)}.")
        self.xlabel = xlabel

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        truth: Callable[[Any], Vector] | None = None,
        n_std: float = 2.0,
        limit: float | None = None,
        grid_resolution: int = 800,
        ax: Any = None,
    ) -> Self:
        """Plot a fitted classifier with two classes and one feature.

        Parameters
        ----------
        estimator : RVMClassifier or SparseBayesClassifier
            Fitted to one feature and two classes.
        X : array-like of shape (n_samples, 1)
            Inputs; the plot covers their range and a small margin.
        y : array-like of shape (n_samples,), optional
            Class labels; the inputs are marked by ticks if given.
        truth : callable, optional
            True log odds of the second class, as a function of inputs of shape (n, 1).
        n_std : float, default=2.0
            Half-width of the band in standard deviations.
        limit : float, optional
            As in `plot`.
        grid_resolution : int, default=800
            Number of points of the curve.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : LogOddsDisplay
        """
        check_classifier(estimator, cls.__name__, n_features=1)
        if len(estimator.classes_) != 2:
            raise ValueError(
                f"LogOddsDisplay needs two classes; {type(estimator).__name__} was "
                f"fitted to {len(estimator.classes_)}."
            )
        check_integer("grid_resolution", grid_resolution, minimum=2)
        inputs = np.asarray(X, dtype=np.float64)
        if inputs.ndim != 2 or inputs.shape[1] != 1:
            raise ValueError(f"X must have shape (n_samples, 1); got shape {inputs.shape}.")
        column = inputs[:, 0]
        x = np.linspace(*compute_range(column), grid_resolution)
        names = list(getattr(estimator, "feature_names_in_", ["x0"]))
        grid = type(X)({names[0]: x}) if hasattr(X, "columns") else x[:, np.newaxis]
        model, transformed = get_final_estimator(estimator), transform_inputs(estimator, grid)
        mean, std = model.decision_function(transformed, return_std=True, marginalise=False)
        samples = None
        if y is not None:
            labels = np.asarray(y)
            if labels.shape != column.shape:
                raise ValueError(
                    f"y must contain a class for each of the {len(column)} rows of X; got shape "
                    f"{labels.shape}."
                )
            check_labels(labels, estimator.classes_)
            first, second = (column[labels == label] for label in estimator.classes_)
            samples = first, second
        centers = get_kernel_centers(estimator)
        display = cls(
            x=x,
            mean=mean,
            std=std,
            truth=None if truth is None else truth(x[:, np.newaxis]),
            samples=samples,
            relevance_vectors=None if centers is None else centers[:, 0],
            classes=estimator.classes_,
            xlabel=escape_mathtext(shorten(str(names[0]))),
        )
        return display.plot(ax, n_std=n_std, limit=limit)

    def plot(self, ax: Any = None, *, n_std: float = 2.0, limit: float | None = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        n_std : float, default=2.0
            Half-width of the band in standard deviations.
        limit : float, optional
            Limit of the axis. By default the range of the mean, but at most 10 (a probability
            of 1 in 20 000), as log odds are unbounded where classes do not overlap.

        Returns
        -------
        display : LogOddsDisplay
        """
        n_std = check_positive("n_std", n_std)
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the log odds", figsize=(7.0, 4.2))
        axes = self.ax_
        if limit is None:
            limit = min(1.25 * max(float(np.abs(self.mean).max()), 1.0), 10.0)
        limit = check_positive("limit", limit)
        axes.axhline(0.0, color=adapt_colour(axes, "0.8"), lw=1.0, zorder=0)
        self.band_ = None
        if self.std is not None:
            half = n_std * self.std
            self.band_ = axes.fill_between(
                self.x,
                self.mean - half,
                self.mean + half,
                color=adapt_colour(axes, MODEL),
                alpha=0.22,
                lw=0,
                label=f"± {n_std:g} std",
            )
        (self.line_,) = axes.plot(
            self.x, self.mean, color=adapt_colour(axes, MODEL), lw=1.8, label="log odds"
        )
        self.truth_ = None
        if self.truth is not None:
            # Clipped outside the axes: matplotlib would omit infinite values.
            (self.truth_,) = axes.plot(
                self.x,
                self.truth.clip(-4.0 * limit, 4.0 * limit),
                color=adapt_colour(axes, INK),
                lw=1.4,
                ls=(0, (5, 2)),
                label="true log odds",
            )
        self.relevance_ = None
        if self.relevance_vectors is not None:
            (self.relevance_,) = axes.plot(
                self.relevance_vectors,
                np.zeros(len(self.relevance_vectors)),
                "o",
                mfc=adapt_colour(axes, "white"),
                mec=adapt_colour(axes, INK),
                ms=8,
                mew=1.5,
                label="relevance vectors",
            )
        axes.set(xlim=(self.x[0], self.x[-1]), ylim=(-limit, limit), xlabel=self.xlabel)
        second = escape_mathtext(format_class_label(self.classes[1]))
        axes.set_ylabel(f"log odds of {second}")
        self._draw_samples(limit)
        self._mark_probabilities(limit, f"probability of {second}")
        finish_axes(axes)
        place_legend_above(axes)
        return self

    def _draw_samples(self, limit: float) -> None:
        self.samples_ = []
        for values, colour, at, label in zip(
            self.samples, (MODEL, OTHER), (-0.96, 0.96), self.classes, strict=False
        ):
            (artist,) = self.ax_.plot(
                values,
                np.full(len(values), at * limit),
                "|",
                color=adapt_colour(self.ax_, colour),
                ms=9,
                mew=0.7,
                alpha=0.6,
            )
            self.ax_.annotate(
                escape_mathtext(format_class_label(label)),
                (0.01, at * limit),
                xycoords=("axes fraction", "data"),
                xytext=(0, -9 if at > 0 else 9),
                textcoords="offset points",
                va="top" if at > 0 else "bottom",
                fontsize=STYLE.font_size,
                color=adapt_colour(self.ax_, colour),
            )
            self.samples_.append(artist)

    def _mark_probabilities(self, limit: float, label: str) -> None:
        shown = [p for p in PROBABILITIES if abs(logit(p)) < limit]
        right = self.ax_.secondary_yaxis("right")
        right.set_yticks([float(logit(p)) for p in shown], [f"{p:g}" for p in shown])
        right.set_ylabel(label)
        right.spines["right"].set_color(adapt_colour(self.ax_, "0.7"))
