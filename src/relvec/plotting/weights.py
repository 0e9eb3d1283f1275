"""Plot of weights with their posterior standard deviations."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec._checks import check_bool, check_integer
from relvec._typing import ArrayLike, Vector
from relvec.describing import collect_weights, format_count
from relvec.plotting._axes import adapt_colour, draw_grid, finish_axes, get_axes
from relvec.plotting._checks import check_vector
from relvec.plotting._rows import compute_figure_size, compute_font_size, label_rows
from relvec.plotting._style import INK, MODEL

__all__ = ["WeightDisplay"]


class WeightDisplay:
    """Plot of the weights of a sparse model and of how well the data determine them.

    Points are posterior means, error bars one standard deviation. Numbers on the right are
    ``gamma`` (MacKay 1992; Tipping 2001, eq. 17), from 0 for a weight determined by the prior to 1
    for a weight determined by the data. Use `from_estimator` to create one.

    Parameters
    ----------
    mean : array-like of shape (n_weights,)
        Posterior means.
    std : array-like of shape (n_weights,), optional
        Posterior standard deviations.
    well_determined : array-like of shape (n_weights,), optional
        ``gamma`` of each weight, between 0 and 1.
    names : sequence of str, optional
        Names of the basis functions; numbered by default.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_ : matplotlib Line2D
    bars_ : matplotlib LineCollection or None
    shown_ : ndarray of int
        Indices of the weights that are drawn, from the top.
    note_ : matplotlib Text or None
        Note on the weights that are not drawn.

    See Also
    --------
    BasisFunctionsDisplay : Basis functions of a model.

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
        self.mean = check_vector("mean", mean)
        self.std = _check_length("std", std, self.mean)
        if self.std is not None and not (self.std >= 0.0).all():
            raise ValueError("std must be non-negative; it contains negative values or NaN.")
        self.well_determined = _check_length("well_determined", well_determined, self.mean)
        count = len(self.mean)
        self.names = [f"weight {i}" for i in range(count)] if names is None else list(names)
        if len(self.names) != count:
            raise ValueError(
                f"names must contain {count} names, one per weight; got {len(self.names)}."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        output: int = 0,
        max_weights: int = 20,
        sort: bool = True,
        ax: Any = None,
    ) -> Self:
        """Plot the weights of a fitted model.

        Parameters
        ----------
        estimator : estimator
            Fitted regressor or classifier of relvec, or a pipeline that ends in one.
        output : int, default=0
            Index of the target, or of the class if there are several.
        max_weights, sort
            As in `plot`.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : WeightDisplay
        """
        all_weights = collect_weights(estimator)
        if check_integer("output", output, minimum=0) >= len(all_weights):
            raise ValueError(f"output must be below {len(all_weights)}; got {output}.")
        one = all_weights[output]
        display = cls(one.mean, std=one.std, well_determined=one.well_determined, names=one.atoms)
        return display.plot(ax, max_weights=max_weights, sort=sort)

    def plot(self, ax: Any = None, *, max_weights: int = 20, sort: bool = True) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
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
            note = "no weights: the model is constant"
        self.figure_, (self.ax_,) = get_axes(
            ax, 1, "the weights", **compute_figure_size(len(chosen) + (note is not None), 5.2)
        )
        rows = np.arange(len(chosen))
        mean = self.mean[self.shown_]
        self.ax_.axvline(0.0, color=adapt_colour(self.ax_, "0.75"), lw=1.2, zorder=0)
        self.bars_ = None
        if self.std is not None:
            reach = self.std[self.shown_]
            self.bars_ = self.ax_.hlines(
                rows, mean - reach, mean + reach, color=adapt_colour(self.ax_, MODEL), lw=2.0
            )
        (self.points_,) = self.ax_.plot(
            mean, rows, "o", color=adapt_colour(self.ax_, MODEL), ms=6, zorder=3
        )
        faint = np.zeros(len(chosen), dtype=bool)
        self.note_ = label_rows(self.ax_, [self.names[i] for i in self.shown_], faint, note)
        self._write_gamma()
        self.ax_.ticklabel_format(axis="x", scilimits=(-3, 4))
        self.ax_.set_xlabel("weight (posterior mean ± 1 std)")
        finish_axes(self.ax_)
        draw_grid(self.ax_, "x")
        return self

    def _write_gamma(self) -> None:
        if self.well_determined is None or not len(self.shown_):
            return
        options = {
            "xycoords": ("axes fraction", "data"),
            "textcoords": "offset points",
            "ha": "right",
            "fontsize": compute_font_size(self.ax_, len(self.shown_)),
            "color": adapt_colour(self.ax_, INK),
        }
        self.ax_.annotate("γ", (1.0, -0.5), xytext=(30, 3), va="bottom", **options)
        for row, index in enumerate(self.shown_):
            value = f"{self.well_determined[index]:.2f}"
            self.ax_.annotate(value, (1.0, row), xytext=(34, 0), va="center", **options)


def _check_length(name: str, values: Any, mean: Vector) -> Vector | None:
    """Return a vector with one value per weight; None if not given."""
    if values is None:
        return None
    array = check_vector(name, values)
    if array.shape != mean.shape:
        raise ValueError(f"{name} must have {len(mean)} values, one per weight; got {len(array)}.")
    return array
