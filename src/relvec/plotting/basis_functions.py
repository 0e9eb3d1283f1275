"""Plot of candidate and relevant basis functions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_bool, check_integer
from relvec._compat import import_optional
from relvec._typing import ArrayLike, BoolArray, IndexArray, Matrix, Vector
from relvec.bases.base import Basis
from relvec.describing import (
    InputGrid,
    convert_to_matrix,
    get_column_names,
    get_final_estimator,
    make_grid,
    match_container,
    shorten,
    transform_inputs,
)
from relvec.estimators.fitted import fitted_basis
from relvec.plotting._axes import (
    adapt_colour,
    add_colorbar,
    draw_circles,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
)
from relvec.plotting._style import INK, MODEL, OTHER

__all__ = ["BasisFunctionsDisplay"]


class BasisFunctionsDisplay:
    """Plot of candidate and kept basis functions over one feature or two.

    Over one feature candidates are thin lines and kept functions are bold. Over two features the
    colours are the maximum over the candidates, or over the kept functions, or the weighted sum of
    these; dots and circles mark the maximum of each function.

    Use `from_basis` for a basis, `from_estimator` for a fitted model.

    Parameters
    ----------
    x0 : array-like of shape (n_columns,)
        Values of the first feature.
    values : array-like of shape (n_columns, n_atoms) or (n_rows, n_columns, n_atoms)
        Candidate functions over one feature, or on a grid over two.
    x1 : array-like of shape (n_rows,), optional
        Values of the second feature.
    kept : array-like of shape (n_columns, n_kept) or (n_rows, n_columns, n_kept), optional
        Kept functions, multiplied by their weights if `is_weighted`.
    names : sequence of str, default=("x0", "x1")
        Names of the features.
    is_weighted : bool, default=False
        Whether the kept functions are multiplied by their weights.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    candidates_, kept_ : matplotlib LineCollection, Line2D or None
        Lines over one feature, markers at the maxima over two.
    surface_ : matplotlib QuadContourSet or None
        Only over two features.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import KernelBasis
    >>> from relvec.plotting import BasisFunctionsDisplay
    >>> X = np.linspace(-10, 10, 25)[:, None]
    >>> display = BasisFunctionsDisplay.from_basis(KernelBasis(gamma=0.5), X)
    >>> display.values.shape
    (400, 25)
    """

    def __init__(
        self,
        *,
        x0: ArrayLike,
        values: ArrayLike,
        x1: ArrayLike | None = None,
        kept: ArrayLike | None = None,
        names: Any = ("x0", "x1"),
        is_weighted: bool = False,
    ) -> None:
        self.x0 = np.asarray(x0, dtype=np.float64)
        self.x1 = None if x1 is None else np.asarray(x1, dtype=np.float64)
        self.values = np.asarray(values, dtype=np.float64)
        self.kept = None if kept is None else np.asarray(kept, dtype=np.float64)
        shape = self.x0.shape if self.x1 is None else (*self.x1.shape, *self.x0.shape)
        for name, each in (("values", self.values), ("kept", self.kept)):
            if each is not None and (each.shape[:-1] != shape or each.ndim != len(shape) + 1):
                raise ValueError(
                    f"{name} must have shape {(*shape, 'n_atoms')}, as x0 and x1 imply; got "
                    f"{each.shape}."
                )
        self.names = list(names)
        self.is_weighted = is_weighted

    @classmethod
    def from_basis(
        cls, basis: Basis, X: Any, *, grid_resolution: int | None = None, ax: Any = None
    ) -> Self:
        """Plot all candidate functions of a basis.

        Parameters
        ----------
        basis : Basis
            Such as `KernelBasis` or `PolynomialBasis`, or a sum of bases.
        X : array-like of shape (n_samples, 1) or (n_samples, 2)
            Training inputs, which determine the candidates.
        grid_resolution : int, optional
            Points along each feature: 400 for one, 80 for two.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : BasisFunctionsDisplay
        """
        if not isinstance(basis, Basis):
            raise TypeError(
                "BasisFunctionsDisplay.from_basis needs a Basis such as KernelBasis(); got "
                f"{type(basis).__name__}. For a fitted model use from_estimator."
            )
        inputs = _check_inputs(convert_to_matrix(X))
        grid = _make_plot_grid(inputs, grid_resolution)
        values = _evaluate_on_grid(basis.bind(inputs).atoms, grid.points, grid)
        names = [escape_mathtext(shorten(name)) for name in get_column_names(X)]
        return cls(x0=grid.axes[0], x1=_get_second_axis(grid), values=values, names=names).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        weighted: bool = False,
        grid_resolution: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the candidate functions of a fitted model, and those it kept.

        Parameters
        ----------
        estimator : estimator
            Fitted regressor or classifier of relvec with one or two features, or a pipeline that
            ends in one.
        X : array-like of shape (n_samples, n_features)
            Training inputs, which determine the candidates.
        weighted : bool, default=False
            Multiply the kept functions by their weights (of the first target or logit). Within
            the data, the prediction is their sum plus the intercept.
        grid_resolution, ax
            As in `from_basis`.

        Returns
        -------
        display : BasisFunctionsDisplay
        """
        check_is_fitted(estimator)
        check_bool("weighted", weighted)
        model = get_final_estimator(estimator)
        if not hasattr(model, "atoms_"):
            raise TypeError(
                "BasisFunctionsDisplay needs a regressor or classifier of relvec; "
                f"{type(model).__name__} has no basis functions."
            )
        inputs = _check_inputs(convert_to_matrix(X))
        grid = _make_plot_grid(inputs, grid_resolution)
        points = transform_inputs(estimator, match_container(grid.points, X))
        candidates = (
            fitted_basis(model).bind(convert_to_matrix(transform_inputs(estimator, X))).atoms
        )
        points = convert_to_matrix(points)
        kept = _evaluate_on_grid(model.atoms_, points, grid)
        if weighted:
            kept = kept * np.atleast_2d(model.coef_)[0]
        display = cls(
            x0=grid.axes[0],
            x1=_get_second_axis(grid),
            values=_evaluate_on_grid(candidates, points, grid),
            kept=kept,
            names=[escape_mathtext(shorten(name)) for name in get_column_names(X)],
            is_weighted=weighted,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None, *, legend: bool = True, colorbar: bool = True) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        legend : bool, default=True
            Draw a legend with the numbers of functions above the axes.
        colorbar : bool, default=True
            Draw a colour bar over two features.

        Returns
        -------
        display : BasisFunctionsDisplay
        """
        size = (6.8, 3.9) if self.x1 is None else (6.2, 5.0)
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the functions", figsize=size)
        self.kept_ = self.surface_ = None
        if self.x1 is None:
            self._draw_lines()
        else:
            self._draw_surface(colorbar)
        finish_axes(self.ax_)
        if legend:
            box = place_legend_above(self.ax_, 2)
            for handle in box.legend_handles:
                handle.set_alpha(1.0)  # candidate lines are transparent because there are many
        return self

    def _draw_lines(self) -> None:
        n_atoms = self.values.shape[1]
        shown = _thin_candidates(n_atoms)
        collection = import_optional("matplotlib.collections").LineCollection
        self.candidates_ = collection(
            [np.column_stack([self.x0, self.values[:, i]]) for i in shown],
            colors=adapt_colour(self.ax_, "0.55"),
            linewidths=0.6,
            alpha=float(np.clip(20.0 / max(len(shown), 1), 0.15, 0.8)),
            label=f"{n_atoms} candidates",
        )
        self.ax_.add_collection(self.candidates_)
        if self.kept is not None:
            n_kept = self.kept.shape[1]
            self.kept_ = collection(
                [np.column_stack([self.x0, column]) for column in self.kept.T],
                colors=adapt_colour(self.ax_, MODEL),
                linewidths=1.9,
                label=f"{n_kept} kept" + (", weighted" if self.is_weighted else ""),
            )
            self.ax_.add_collection(self.kept_)
        self.ax_.autoscale_view()
        self.ax_.set_xlim(self.x0[0], self.x0[-1])
        self.ax_.set(xlabel=self.names[0], ylabel="basis function")

    def _draw_surface(self, colorbar: bool) -> None:
        drawn = self.values if self.kept is None else self.kept
        # The maximum shows single peaks, where a sum of broad functions would show one.
        total = drawn.sum(axis=-1) if self.is_weighted else drawn.max(axis=-1, initial=0.0)
        n_atoms = self.values.shape[-1]
        assert self.x1 is not None
        self.surface_ = self.ax_.contourf(self.x0, self.x1, total, levels=12, cmap="cividis")
        peaks = self._find_peaks(self.values[..., _thin_candidates(n_atoms)])
        (self.candidates_,) = self.ax_.plot(
            *peaks, "o", mfc="white", mec=INK, mew=0.6, ms=3.5, label=f"{n_atoms} candidates"
        )
        if self.kept is not None:
            label = f"{self.kept.shape[-1]} kept"
            peaks = self._find_peaks(np.abs(self.kept))
            self.kept_ = draw_circles(self.ax_, peaks, OTHER, size=9, width=1.8, label=label)
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        if colorbar:
            what = "candidates" if self.kept is None else "kept functions"
            label = f"weighted sum of {what}" if self.is_weighted else f"maximum over {what}"
            add_colorbar(self.ax_, self.surface_, label)

    def _find_peaks(self, functions: Matrix) -> tuple[Vector, Vector]:
        """Return the position of the maximum of each function."""
        assert self.x1 is not None
        flat = functions.reshape(-1, functions.shape[-1])
        is_flat: BoolArray = np.ptp(flat, axis=0) == 0.0
        index = flat.argmax(axis=0)[~is_flat]
        row, column = np.divmod(index, len(self.x0))
        return self.x0[column], self.x1[row]


def _check_inputs(inputs: Matrix) -> Matrix:
    if inputs.shape[1] > 2:
        raise ValueError(
            f"BasisFunctionsDisplay needs one or two features; X has {inputs.shape[1]} columns."
        )
    if not np.isfinite(inputs).all():
        raise ValueError(
            "BasisFunctionsDisplay needs finite inputs; X contains NaN or infinity. Remove these "
            "rows."
        )
    return inputs


def _make_plot_grid(inputs: Matrix, resolution: int | None) -> InputGrid:
    default = 400 if inputs.shape[1] == 1 else 80
    return make_grid(inputs, check_integer("grid_resolution", resolution or default, minimum=2))


def _get_second_axis(grid: InputGrid) -> Vector | None:
    return grid.axes[1] if len(grid.axes) == 2 else None


def _evaluate_on_grid(atoms: Any, points: Matrix, grid: InputGrid) -> Matrix:
    return np.asarray(atoms.evaluate(points)).reshape(*grid.shape, -1)


def _thin_candidates(count: int, most: int = 400) -> IndexArray:
    """Return the candidates to draw: all, or at most `most` evenly spaced ones."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).astype(np.intp))
