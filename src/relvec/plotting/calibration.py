"""Reliability diagram of predicted probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from relvec._checks import check_choice, check_integer
from relvec._typing import ArrayLike, BoolArray, Vector
from relvec.describing import ReliabilityCurve, check_labels, format_class_label, name_estimators
from relvec.plotting._axes import adapt_colour, escape_mathtext, finish_axes, get_axes
from relvec.plotting._checks import check_coverage
from relvec.plotting._style import line_style

__all__ = ["ReliabilityCurve", "ReliabilityDisplay"]

STRATEGIES = ("uniform", "quantile")


class ReliabilityDisplay:
    """Reliability diagram: observed frequency against predicted probability.

    On the diagonal the probabilities are calibrated. Error bars are binomial (Wilson) intervals
    of each bin, and a histogram below shows the distribution of the predictions. For two classes
    the probabilities are those of the second class. For more they are those of the most probable
    class, and the frequency is that of correct predictions; for another class use
    ``from_predictions(y == label, probability[:, column])``.

    Use `from_estimator` or `from_predictions` to create one.

    Parameters
    ----------
    curves : sequence of ReliabilityCurve
        Curves to plot.
    event : str, default="the second class"
        Event that the probabilities refer to, for the axis label.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_, histogram_ax_ : matplotlib Axes
        Axes of the curves and of the histogram.
    lines_ : dict of str to matplotlib ErrorbarContainer
        Curves by name.
    histograms_ : dict of str to list of matplotlib artists
        Histograms by name.

    See Also
    --------
    sklearn.calibration.CalibrationDisplay : Reliability diagram without intervals.

    Examples
    --------
    >>> from relvec import RVMClassifier
    >>> from relvec.datasets import make_snake
    >>> from relvec.plotting import ReliabilityDisplay
    >>> X, y, truth = make_snake(200, random_state=0, return_truth=True)
    >>> X_test, y_test = truth.sample(2000, random_state=1)
    >>> model = RVMClassifier(gamma=1.0).fit(X, y)
    >>> display = ReliabilityDisplay.from_estimator(model, X_test, y_test)
    >>> display.curves[0].expected_error < 0.06
    True
    """

    def __init__(
        self, curves: Sequence[ReliabilityCurve], *, event: str = "the second class"
    ) -> None:
        self.curves = list(curves)
        names = {curve.name for curve in self.curves}
        if not names or len(names) < len(self.curves):
            raise ValueError(
                "curves must contain at least one curve, with distinct names; got "
                f"{[curve.name for curve in self.curves]}."
            )
        self.event = event

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Plot the calibration of one or several fitted classifiers.

        Parameters
        ----------
        estimator : classifier, sequence of them, or mapping of str to classifier
            Fitted, with `predict_proba`.
        X : array-like of shape (n_samples, n_features)
            Held-out inputs.
        y : array-like of shape (n_samples,)
            True classes.
        n_bins, strategy, ax
            As in `from_predictions`.
        **options : dict
            For `predict_proba`, such as ``marginalise=False``.

        Returns
        -------
        display : ReliabilityDisplay
        """
        estimators = name_estimators(estimator)
        classes = None
        probabilities = {}
        for name, each in estimators.items():
            if not hasattr(each, "predict_proba"):
                raise TypeError(
                    "ReliabilityDisplay needs classifiers with predict_proba; got "
                    f"{type(each).__name__}."
                )
            if classes is not None and not np.array_equal(classes, each.classes_):
                raise ValueError(
                    f"All classifiers must have the same classes; {name!r} has "
                    f"{list(each.classes_)}, not {list(classes)}."
                )
            classes = each.classes_
            probabilities[name] = each.predict_proba(X, **options)
        return cls.from_predictions(
            y, probabilities, classes=classes, n_bins=n_bins, strategy=strategy, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        probability: Any,
        *,
        classes: Any = None,
        n_bins: int = 10,
        strategy: str = "uniform",
        name: str = "predictions",
        ax: Any = None,
    ) -> Self:
        """Plot the calibration of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes.
        probability : array-like of shape (n_samples,) or (n_samples, n_classes), or mapping
            Probabilities of the second class or of all classes, or a mapping of names to such.
        classes : sequence of labels, optional
            Classes in the order of the columns; by default the sorted labels in `y_true`.
        n_bins : int, default=10
            Number of bins; empty ones are not drawn.
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of equal width, or of equally many predictions.
        name : str, default="predictions"
            Name of the predictions, unless `probability` is a mapping.
        ax : sequence of 2 matplotlib Axes, optional
            For the curves and the histogram; a new figure by default.

        Returns
        -------
        display : ReliabilityDisplay
        """
        n_bins = check_integer("n_bins", n_bins, minimum=1)
        check_choice("strategy", strategy, STRATEGIES)
        labels = np.asarray(y_true)
        known = np.unique(labels) if classes is None else np.asarray(classes)
        if labels.ndim != 1 or len(known) < 2:
            raise ValueError(
                "y_true must be a vector with at least 2 distinct classes, unless classes are "
                f"given; got shape {labels.shape} and the classes {list(known)}."
            )
        check_labels(labels, known)
        several = probability if isinstance(probability, Mapping) else {name: probability}
        curves = []
        for each, values in several.items():
            predicted, happened = _get_events(str(each), values, labels, known)
            curves.append(
                ReliabilityCurve.from_events(
                    str(each), predicted, happened, n_bins=n_bins, strategy=strategy
                )
            )
        event = (
            escape_mathtext(format_class_label(known[1]))
            if len(known) == 2
            else "the most probable class"
        )
        return cls(curves, event=event).plot(ax)

    def plot(self, ax: Any = None, *, coverage: float = 0.95) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : sequence of 2 matplotlib Axes, optional
            For the curves and the histogram; a new figure by default.
        coverage : float, default=0.95
            Coverage of the interval of each bin.

        Returns
        -------
        display : ReliabilityDisplay
        """
        check_coverage(coverage)
        self.figure_, (self.ax_, self.histogram_ax_) = get_axes(
            ax,
            2,
            "the curves and the histogram",
            nrows=2,
            figsize=(5.4, 6.4),
            sharex=True,
            height_ratios=[3.2, 1.0],
        )
        self.ax_.plot(
            [0.0, 1.0], [0.0, 1.0], color=adapt_colour(self.ax_, "0.75"), lw=1.2, zorder=0
        )
        self.lines_, self.histograms_ = {}, {}
        for index, curve in enumerate(self.curves):
            colour, dashes, marker = line_style(index)
            low, high = curve.interval(coverage)
            self.lines_[curve.name] = self.ax_.errorbar(
                curve.mean,
                curve.frequency,
                yerr=[curve.frequency - low, high - curve.frequency],
                color=adapt_colour(self.ax_, colour),
                marker=marker,
                ls=dashes,
                ms=5,
                lw=1.6,
                elinewidth=1.1,
                capsize=2.5,
                label=f"{escape_mathtext(curve.name)}, ECE {curve.expected_error:.3f}",
            )
            self.histograms_[curve.name] = self.histogram_ax_.hist(
                curve.predicted,
                bins=np.linspace(0.0, 1.0, 21).tolist(),
                color=adapt_colour(self.ax_, colour),
                ls=dashes,
                **({"alpha": 0.75} if len(self.curves) == 1 else {"histtype": "step", "lw": 1.5}),
            )[2]
        self.ax_.set(
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            ylabel="observed frequency",
        )
        self.histogram_ax_.set(xlabel=f"predicted probability of {self.event}", ylabel="count")
        finish_axes(self.ax_, legend="upper left", grid=True)
        finish_axes(self.histogram_ax_)
        return self


def _get_events(
    name: str, values: Any, labels: np.ndarray, classes: np.ndarray
) -> tuple[Vector, BoolArray]:
    """Return the probabilities of the event, and whether it occurred."""
    probability = np.asarray(values, dtype=np.float64)
    n_samples, n_classes = len(labels), len(classes)
    shapes = [(n_samples, n_classes)] + [(n_samples,)] * (n_classes == 2)
    if probability.shape not in shapes:
        raise ValueError(
            f"Probabilities of {name!r} must have shape {' or '.join(map(str, shapes))}; got "
            f"{probability.shape}."
        )
    # The negation also catches NaN.
    if not ((probability >= 0.0) & (probability <= 1.0)).all():
        raise ValueError(
            f"Probabilities of {name!r} must be between 0 and 1; they range from "
            f"{probability.min():.3g} to {probability.max():.3g}."
        )
    if n_classes == 2:
        second = probability if probability.ndim == 1 else probability[:, 1]
        return second, labels == classes[1]
    best = probability.argmax(axis=1)
    return probability.max(axis=1), labels == classes[best]
