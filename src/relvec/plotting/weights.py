"""Weights of the vectors in use, with their error bars."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec._checks import check_bool, check_integer
from relvec._typing import ArrayLike, Vector
from relvec.describing import collect_weights, format_count
from relvec.plotting._axes import draw_grid, finish, take_axes, tone
from relvec.plotting._checks import check_line
from relvec.plotting._rows import label_rows, row_figure, row_font
from relvec.plotting._style import INK, MODEL

__all__ = ["WeightDisplay"]


class WeightDisplay:
    """Picture of the weights of a sparse model and of how well the data determine them.

    Points are posterior means, bars reach one standard deviation either way. Numbers on the
    right say how far the data, not the prior, fix each weight (gamma in Tipping's papers): from
    0, nothing but the prior, to 1. Use `from_estimator` to make one.

    Parameters
    ----------
    mean : array-like of shape (n_weights,)
        Posterior means.
    std : array-like of shape (n_weights,), optional
        Posterior standard deviations.
    well_determined : array-like of shape (n_weights,), optional
        Between 0 and 1.
    names : sequence of str, optional
        Of the atoms; numbered by default.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_ : matplotlib Line2D
    bars_ : matplotlib LineCollection or None
    shown_ : ndarray of int
        Which weights are drawn, from the top.
    note_ : matplotlib Text or None
        What is said of those that are not.

    See Also
    --------
    BasisFunctionsDisplay : The functions that are weighted.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.plotting import WeightDisplay
    >>> X = np.linspace(-10, 10, 60)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> model = RVMRegressor(gamma=0.1).fit(X, y)
    >>> display = WeightDisplay.from_estimator(model)
    >>> len(display.points_.get_xdata()) == len(model.coef_)
    True
    """

    def __init__(
        self,
        mean: ArrayLike,
        *,
        std: ArrayLike | None = None,
        well_determined: ArrayLike | None = None,
        names: Any = None,
    ) -> None:
        self.mean = check_line("mean", mean)
        self.std = _like("std", std, self.mean)
        if self.std is not None and not (self.std >= 0.0).all():
            raise ValueError("std must not be negative; some of the values are, or are NaN.")
        self.well_determined = _like("well_determined", well_determined, self.mean)
        count = len(self.mean)
        self.names = [f"weight {i}" for i in range(count)] if names is None else list(names)
        if len(self.names) != count:
            raise ValueError(f"names must hold {count} names, one a weight; got {len(self.names)}.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        logit: int = 0,
        max_weights: int = 20,
        sort: bool = True,
        ax: Any = None,
    ) -> Self:
        """Draw the weights of a fitted model.

        Parameters
        ----------
        estimator : estimator
            Fitted regressor or classifier of relvec, or a pipeline that ends in one.
        logit : int, default=0
            Which target, or which class of several.
        max_weights, sort
            As in `plot`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : WeightDisplay
        """
        all_weights = collect_weights(estimator)
        if check_integer("logit", logit, minimum=0) >= len(all_weights):
            raise ValueError(f"logit must be below {len(all_weights)}; got {logit}.")
        one = all_weights[logit]
        display = cls(one.mean, std=one.std, well_determined=one.well_determined, names=one.atoms)
        return display.plot(ax, max_weights=max_weights, sort=sort)

    def plot(self, ax: Any = None, *, max_weights: int = 20, sort: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        max_weights : int, default=20
            How many are drawn at most: the largest.
        sort : bool, default=True
            The largest on top, or in the order of the model.

        Returns
        -------
        display : WeightDisplay
        """
        max_weights = check_integer("max_weights", max_weights, minimum=1)
        check_bool("sort", sort)
        chosen = np.argsort(-np.abs(self.mean), kind="stable")[:max_weights]
        self.shown_ = chosen if sort else np.sort(chosen)
        left = len(self.mean) - len(chosen)
        note = f"and {format_count(left, 'smaller weight')}" if left else None
        if not len(self.mean):
            note = "no weights: the model is its intercept"
        self.figure_, (self.ax_,) = take_axes(
            ax, 1, "the weights", **row_figure(len(chosen) + (note is not None), 5.2)
        )
        rows = np.arange(len(chosen))
        mean = self.mean[self.shown_]
        self.ax_.axvline(0.0, color=tone(self.ax_, "0.75"), lw=1.2, zorder=0)
        self.bars_ = None
        if self.std is not None:
            reach = self.std[self.shown_]
            self.bars_ = self.ax_.hlines(
                rows, mean - reach, mean + reach, color=tone(self.ax_, MODEL), lw=2.0
            )
        (self.points_,) = self.ax_.plot(
            mean, rows, "o", color=tone(self.ax_, MODEL), ms=6, zorder=3
        )
        faint = np.zeros(len(chosen), dtype=bool)
        self.note_ = label_rows(self.ax_, [self.names[i] for i in self.shown_], faint, note)
        self._write_gamma()
        self.ax_.ticklabel_format(axis="x", scilimits=(-3, 4))
        self.ax_.set_xlabel("weight (mean ± one standard deviation)")
        finish(self.ax_)
        draw_grid(self.ax_, "x")
        return self

    def _write_gamma(self) -> None:
        if self.well_determined is None or not len(self.shown_):
            return
        options = {
            "xycoords": ("axes fraction", "data"),
            "textcoords": "offset points",
            "ha": "right",
            "fontsize": row_font(self.ax_, len(self.shown_)),
            "color": tone(self.ax_, INK),
        }
        self.ax_.annotate("γ", (1.0, -0.5), xytext=(30, 3), va="bottom", **options)
        for row, place in enumerate(self.shown_):
            value = f"{self.well_determined[place]:.2f}"
            self.ax_.annotate(value, (1.0, row), xytext=(34, 0), va="center", **options)


def _like(name: str, values: Any, mean: Vector) -> Vector | None:
    """Numbers, as many as weights."""
    if values is None:
        return None
    array = check_line(name, values)
    if array.shape != mean.shape:
        raise ValueError(f"{name} must hold {len(mean)} values, one a weight; got {len(array)}.")
    return array
