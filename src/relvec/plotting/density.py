"""Plot of a density of one variable with its band."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_integer
from relvec._typing import ArrayLike, Vector
from relvec.plotting._axes import (
    adapt_colour,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
)
from relvec.plotting._checks import (
    check_coverage,
    check_finite,
    check_nonnegative,
    check_vector,
    ignore_missing_names,
)
from relvec.plotting._style import DATA, MODEL, OTHER

__all__ = ["DensityDisplay"]


class DensityDisplay:
    """Plot of a density, or intensity, with a pointwise credible band.

    Use `from_estimator` to create one.

    Parameters
    ----------
    x : array-like of shape (n_points,)
        Values of the variable, ascending.
    density : array-like of shape (n_points,)
        Density at `x`.
    band : array-like of shape (n_points, 2), optional
        Lower and upper ends of the band.
    coverage : float, default=0.95
        Pointwise coverage of the band, for the legend.
    data : array-like, optional
        Observed values, for a histogram and a rug.
    sample_weight : array-like, optional
        Their weights.
    truth : array-like of shape (n_points,), optional
        True density, if known.
    is_density : bool, default=True
        Whether the integral is one; otherwise an intensity, whose integral is the number of
        values.
    name : str, default="x"
        Name of the variable.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    line_, band_, histogram_, rug_, truth_ : matplotlib artists
        None if not drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesDensity
    >>> from relvec.plotting import DensityDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 1))
    >>> display = DensityDisplay.from_estimator(SparseBayesDensity().fit(X), X)
    >>> display.ax_.get_legend_handles_labels()[1]
    ['histogram', '95 % band', 'density']
    """

    def __init__(
        self,
        *,
        x: ArrayLike,
        density: ArrayLike,
        band: ArrayLike | None = None,
        coverage: float = 0.95,
        data: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        is_density: bool = True,
        name: str = "x",
    ) -> None:
        self.x = check_vector("x", x)
        n = len(self.x)
        self.density = check_vector("density", density, n, like="x")
        self.band = None if band is None else np.asarray(band, dtype=np.float64)
        if self.band is not None and self.band.shape != (n, 2):
            raise ValueError(
                f"band must have shape ({n}, 2), a lower and an upper end for each point; got "
                f"{self.band.shape}."
            )
        self.coverage = check_coverage(coverage)
        self.data = None if data is None else check_vector("data", data)
        self.sample_weight = None
        if self.data is not None:
            check_finite("data", self.data)
            if sample_weight is not None:
                weight = check_vector("sample_weight", sample_weight, len(self.data), like="data")
                self.sample_weight = check_nonnegative("sample_weight", weight)
        self.truth = None if truth is None else check_vector("truth", truth, n, like="x")
        self.is_density, self.name = is_density, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        x: ArrayLike | None = None,
        coverage: float | None = 0.95,
        n_points: int = 400,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Plot a fitted density of one variable.

        Parameters
        ----------
        estimator : SparseBayesDensity
            Fitted to one variable.
        X : array-like of shape (n_samples, 1), optional
            Observed values, for the histogram and the rug.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights.
        truth : array-like of shape (n_points,), optional
            True density at `x`.
        x : array-like of shape (n_points,), optional
            Points at which the density is drawn. By default they cover all but a thousandth of
            the probability.
        coverage : float or None, default=0.95
            Pointwise coverage of the band; None for no band.
        n_points : int, default=400
            Number of points if `x` is not given.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Parameters of `plot`.

        Returns
        -------
        display : DensityDisplay
        """
        check_is_fitted(estimator)
        if estimator.n_features_in_ != 1:
            raise ValueError(
                f"DensityDisplay needs a density of one variable; got {estimator.n_features_in_}. "
                "Use DensityContourDisplay."
            )
        names = getattr(estimator, "feature_names_in_", ["x"])
        values = None if X is None else np.asarray(X, dtype=np.float64).reshape(len(np.asarray(X)))
        if x is None:
            n = check_integer("n_points", n_points, minimum=10)
            points = _cover(estimator, values, n)
        else:
            points = check_vector("x", x)
        with ignore_missing_names():
            found = estimator.pdf(points[:, None], coverage=coverage)
        density, band = (found, None) if coverage is None else found
        display = cls(
            x=points,
            density=density,
            band=band,
            coverage=coverage or 0.95,
            data=values,
            sample_weight=sample_weight,
            truth=truth,
            is_density=estimator.normalise,
            name=str(names[0]),
        )
        return display.plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        histogram: bool = True,
        rug: bool | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        histogram : bool, default=True
            Draw a histogram of the observed values, if there are any.
        rug : bool, optional
            Draw a short line at each observed value; by default for up to 500 of them.
        legend : bool, default=True
            Draw a legend above the axes.

        Returns
        -------
        display : DensityDisplay
        """
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the density", figsize=(6.4, 4.0))
        self.histogram_ = self.rug_ = self.band_ = self.truth_ = None
        word = "density" if self.is_density else "intensity"
        if self.data is not None and histogram:
            self.histogram_ = self._draw_histogram()
        model = adapt_colour(self.ax_, MODEL)
        if self.band is not None:
            label = f"{100 * self.coverage:.4g} % band"
            self.band_ = self.ax_.fill_between(
                self.x, *self.band.T, color=model, alpha=0.3, lw=0, label=label
            )
        (self.line_,) = self.ax_.plot(self.x, self.density, color=model, lw=1.6, label=word)
        if self.truth is not None:
            (self.truth_,) = self.ax_.plot(
                self.x,
                self.truth,
                color=adapt_colour(self.ax_, OTHER),
                lw=1.2,
                ls=(0, (4, 2)),
                label="truth",
            )
        if self.data is not None and (len(self.data) <= 500 if rug is None else rug):
            # in units of the axes, below the curve
            (self.rug_,) = self.ax_.plot(
                self.data,
                np.full(len(self.data), 0.012),
                "|",
                color=adapt_colour(self.ax_, DATA),
                ms=7,
                mew=0.7,
                alpha=0.6,
                transform=self.ax_.get_xaxis_transform(),
            )
        self.ax_.set(xlabel=escape_mathtext(self.name), ylabel=word)
        self.ax_.set_xlim(self.x[0], self.x[-1])
        self.ax_.set_ylim(bottom=0.0)
        finish_axes(self.ax_)
        if legend:
            place_legend_above(self.ax_)
        return self

    def _draw_histogram(self) -> Any:
        assert self.data is not None
        weight = np.ones(len(self.data)) if self.sample_weight is None else self.sample_weight
        # as many bins as a reader can tell apart; the fit has more
        n_bins = int(np.clip(2.0 * np.sqrt(len(self.data)), 10, 60))
        edges = np.linspace(self.x[0], self.x[-1], n_bins + 1)
        counts = np.histogram(self.data, edges, weights=weight)[0] / (edges[1] - edges[0])
        if self.is_density:
            counts = counts / weight.sum()
        return self.ax_.stairs(
            counts, edges, fill=True, color=adapt_colour(self.ax_, "0.85"), label="histogram"
        )


def _cover(estimator: Any, values: Vector | None, n_points: int) -> Vector:
    """Return points over all but a thousandth of the probability, and the observed values."""
    lower, first, third, upper = estimator.ppf([0.0005, 0.25, 0.75, 0.9995])
    # heavy tails would squeeze the plot
    reach = 6.0 * (third - first)
    lower, upper = max(lower, first - reach), min(upper, third + reach)
    support = estimator.ppf([0.0, 1.0])
    if values is not None:
        reach = 0.25 * (upper - lower)  # far outliers are left out
        near = values[(values > lower - reach) & (values < upper + reach)]
        if len(near):
            lower, upper = min(lower, near.min()), max(upper, near.max())
    margin = 0.03 * (upper - lower)
    lower, upper = max(lower - margin, support[0]), min(upper + margin, support[1])
    # a bounded support is drawn up to its ends
    width = support[1] - support[0]
    if np.isfinite(width) and upper - lower > 0.8 * width:
        lower, upper = support
    elif np.isfinite(support[0]) and lower - support[0] < 0.1 * (upper - lower):
        lower = support[0]
    elif np.isfinite(support[1]) and support[1] - upper < 0.1 * (upper - lower):
        upper = support[1]
    return np.linspace(lower, upper, n_points)
