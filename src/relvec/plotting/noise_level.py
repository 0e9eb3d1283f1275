"""Plot of the noise level along a feature or along the prediction."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_integer
from relvec._typing import ArrayLike, Matrix
from relvec.describing import (
    convert_to_matrix,
    find_column,
    get_column_names,
    get_final_estimator,
    make_slice,
    predict_with_std,
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
from relvec.plotting._checks import check_coverage, check_finite, check_vector
from relvec.plotting._style import DATA, INK, MODEL

__all__ = ["NoiseDisplay"]


class NoiseDisplay:
    """Plot of the predicted noise standard deviation with absolute residuals.

    With one feature, or along a given one with the others at their medians, the noise level is a
    line with its credible band. Otherwise it is drawn for each row against the prediction. Diamonds
    are root mean squares of residuals in bins of rows: where the noise model is right, they are
    near the line. (Two thirds of absolute residuals are below the noise level, not half.)

    Use `from_estimator` to create one.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Feature or prediction of each row.
    residuals : array-like of shape (n_samples,)
        Observed minus predicted targets.
    noise_x : array-like of shape (n_points,)
        Where the noise level is drawn.
    noise_std : array-like of shape (n_points,)
        Noise standard deviation there.
    band : array-like of shape (n_points, 2), optional
        Credible band of the noise standard deviation.
    is_line : bool, default=True
        Whether the noise level is a function of `noise_x`, drawn as a line, rather than points.
    name : str, default="x"
        Name of the horizontal axis.
    note : str, optional
        Text below the name.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_ : matplotlib Line2D
        Absolute residuals.
    level_ : matplotlib Line2D
        Noise level.
    binned_ : matplotlib Line2D
        Root mean squares of residuals in bins of equally many rows.
    band_ : matplotlib FillBetweenPolyCollection or None

    See Also
    --------
    ResidualDisplay : Residuals against predictions, and their normal Q–Q plot.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.plotting import NoiseDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, size=(200, 1))
    >>> y = np.sin(6 * X[:, 0]) + (0.1 + 0.4 * X[:, 0]) * rng.normal(size=200)
    >>> model = RVMRegressor(noise="heteroscedastic").fit(X, y)
    >>> display = NoiseDisplay.from_estimator(model, X, y)
    >>> bool(display.noise_std[-20] > 2 * display.noise_std[20])
    True
    """

    def __init__(
        self,
        x: ArrayLike,
        residuals: ArrayLike,
        noise_x: ArrayLike,
        noise_std: ArrayLike,
        *,
        band: ArrayLike | None = None,
        is_line: bool = True,
        name: str = "x",
        note: str | None = None,
    ) -> None:
        self.x = check_vector("x", x)
        self.residuals = check_vector("residuals", residuals, len(self.x), "x")
        self.noise_x = check_vector("noise_x", noise_x)
        self.noise_std = check_vector("noise_std", noise_std, len(self.noise_x), "noise_x")
        if not len(self.x) or not len(self.noise_x):
            raise ValueError("x or noise_x is empty: there is nothing to plot.")
        check_finite("x", self.x)
        check_finite("residuals", self.residuals)
        if not (np.isfinite(self.noise_std) & (self.noise_std >= 0.0)).all():
            raise ValueError(
                "noise_std must be finite and not negative: it is a standard deviation."
            )
        self.band: Matrix | None = None if band is None else np.asarray(band, dtype=np.float64)
        if self.band is not None and self.band.shape != (len(self.noise_x), 2):
            raise ValueError(
                f"band must have shape ({len(self.noise_x)}, 2), lower and upper limits; got "
                f"{self.band.shape}."
            )
        self.is_line, self.name, self.note = bool(is_line), name, note

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        feature: int | str | None = None,
        coverage: float = 0.95,
        n_points: int = 200,
        feature_names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot the noise level of a fitted regressor.

        Parameters
        ----------
        estimator : regressor of relvec
            Fitted, or a pipeline that ends in one; with one output.
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Observed targets.
        feature : int or str, optional
            Feature along which the noise level is drawn, the others at their medians. By default
            the only feature or, if there are several, the prediction.
        coverage : float, default=0.95
            Probability of the band.
        n_points : int, default=200
            Number of points of the line.
        feature_names : sequence of str, optional
            Names of the features; by default those of `X`.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : NoiseDisplay
        """
        check_is_fitted(estimator)
        model, coverage = get_final_estimator(estimator), check_coverage(coverage)
        n_points = check_integer("n_points", n_points, minimum=2)
        mean, _, _ = predict_with_std(estimator, X, cls.__name__)
        observed = check_vector("y", y, len(mean), "X")
        if not hasattr(model, "predict_noise"):
            raise TypeError(
                f"{cls.__name__} needs a regressor with predict_noise; got {type(model).__name__}."
            )
        inputs = convert_to_matrix(X) if feature is not None or np.ndim(X) == 2 else None
        if feature is None and (inputs is None or inputs.shape[1] != 1):
            std = model.predict_noise(transform_inputs(estimator, X))
            display = cls(mean, observed - mean, mean, std, is_line=False, name="predicted")
            return display.plot(ax)
        assert inputs is not None
        along = make_slice(X, feature, n_points, feature_names)
        std, band = model.predict_noise(transform_inputs(estimator, along.X), coverage)
        column = find_column(feature, get_column_names(X, feature_names))
        return cls(
            inputs[:, column],
            observed - mean,
            along.values,
            std,
            band=band,
            name=escape_mathtext(shorten(along.name)),
            note="other features at their medians" if inputs.shape[1] > 1 else None,
        ).plot(ax, coverage=coverage)

    def plot(self, ax: Any = None, *, coverage: float | None = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        coverage : float, optional
            Probability of the band, for the legend.

        Returns
        -------
        display : NoiseDisplay
        """
        self.figure_, (self.ax_, *_) = get_axes(ax, 1, "the noise level", figsize=(5.4, 3.6))
        axes, model = self.ax_, adapt_colour(self.ax_, MODEL)
        (self.points_,) = axes.plot(
            self.x,
            np.abs(self.residuals),
            "o",
            color=adapt_colour(axes, DATA),
            ms=3,
            alpha=0.5,
            mec="none",
            label="absolute residuals",
        )
        self.band_ = None
        if self.band is not None and self.is_line:
            share = "credible band" if coverage is None else f"{100 * coverage:g} % band"
            self.band_ = axes.fill_between(
                self.noise_x, *self.band.T, color=model, alpha=0.18, lw=0, label=share
            )
        style = {"ls": "-", "lw": 2.0} if self.is_line else {"ls": "", "marker": ".", "ms": 4}
        (self.level_,) = axes.plot(
            self.noise_x, self.noise_std, color=model, label="noise std", **style
        )
        self._draw_bins()
        # Far outside the data the band may be wide: the residuals set the scale.
        largest = max(float(np.abs(self.residuals).max()), float(np.median(self.noise_std)))
        axes.set_ylim(0.0, 1.08 * largest or 1.0)
        label = self.name if self.note is None else f"{self.name}\n({self.note})"
        axes.set(xlabel=label, ylabel="noise std, |residual|")
        finish_axes(axes, grid=True)
        place_legend_above(axes)
        return self

    def _draw_bins(self) -> None:
        """Draw root mean squares of residuals in bins of equally many rows."""
        # Enough rows for a standard error of about 15 %, and at most eight bins.
        n_bins = int(np.clip(len(self.x) // 20, 1, 8))
        bins = np.array_split(np.argsort(self.x, kind="stable"), n_bins)
        middle = [float(np.median(self.x[rows])) for rows in bins]
        level = [float(np.sqrt(np.mean(self.residuals[rows] ** 2))) for rows in bins]
        (self.binned_,) = self.ax_.plot(
            middle,
            level,
            "D",
            color=adapt_colour(self.ax_, INK),
            ms=5,
            mfc="none",
            mew=1.2,
            label="RMS residual of a bin",
        )
