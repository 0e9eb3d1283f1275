"""The functions a model may use, and those that it does."""

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
    grid_over,
    like_table,
    numbers_of,
    predictor,
    seen_by,
    shorten,
    table_names,
)
from relvec.estimators.fitted import fitted_basis
from relvec.plotting._axes import (
    add_colorbar,
    draw_rings,
    finish,
    legend_above,
    plain,
    take_axes,
    tone,
)
from relvec.plotting._style import INK, MODEL, OTHER

__all__ = ["BasisFunctionsDisplay"]


class BasisFunctionsDisplay:
    """Picture of the candidate functions of a model space, over one input or two.

    Over one input every candidate is a thin line and those a model keeps are bold. Over two the
    colours are the largest of the candidates, or of those that are kept (or the weighted sum of the
    latter), and dots and rings are where each has its largest value.

    Use `from_basis` for a model space by itself, `from_estimator` for what became of it.

    Parameters
    ----------
    x0 : array-like of shape (n_columns,)
        Values of the first input.
    values : array-like of shape (n_columns, n_atoms) or (n_rows, n_columns, n_atoms)
        Candidates over one input, or over a grid of two.
    x1 : array-like of shape (n_rows,), optional
        Values of the second input.
    kept : array-like of shape (n_columns, n_kept) or (n_rows, n_columns, n_kept), optional
        Functions in use, multiplied by their weights if these are to be seen.
    names : sequence of str, default=("x0", "x1")
        Of the inputs.
    is_weighted : bool, default=False
        Whether those in use are multiplied by their weights.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    candidates_, kept_ : matplotlib LineCollection, Line2D or None
        Lines over one input, marks at the largest values over two.
    surface_ : matplotlib QuadContourSet or None
        Over two inputs.

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
                    f"{name} must have shape {(*shape, 'n_atoms')}, as the inputs say; got "
                    f"{each.shape}."
                )
        self.names = list(names)
        self.is_weighted = is_weighted

    @classmethod
    def from_basis(
        cls, basis: Basis, X: Any, *, grid_resolution: int | None = None, ax: Any = None
    ) -> Self:
        """Draw all functions that a basis offers at given inputs.

        Parameters
        ----------
        basis : Basis
            Such as `KernelBasis` or `PolynomialBasis`, or a sum of bases.
        X : array-like of shape (n_samples, 1) or (n_samples, 2)
            Inputs it would be fitted to.
        grid_resolution : int, optional
            Points along each input: 400 for one, 80 for two.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : BasisFunctionsDisplay
        """
        if not isinstance(basis, Basis):
            raise TypeError(
                "BasisFunctionsDisplay.from_basis needs a Basis such as KernelBasis(); got "
                f"{type(basis).__name__}. For a fitted model use from_estimator."
            )
        inputs = _one_or_two(numbers_of(X))
        grid = _grid(inputs, grid_resolution)
        values = _at(basis.bind(inputs).atoms, grid.points, grid)
        names = [plain(shorten(name)) for name in table_names(X)]
        return cls(x0=grid.axes[0], x1=_second(grid), values=values, names=names).plot(ax)

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
        """Draw the candidates of a fitted model, and the functions it kept.

        Parameters
        ----------
        estimator : estimator
            Fitted regressor or classifier of relvec of one or two inputs, or a pipeline that
            ends in one.
        X : array-like of shape (n_samples, n_features)
            Inputs it was fitted to, on which its candidates depend.
        weighted : bool, default=False
            Multiply the functions that are kept by their weights (of the first target or logit):
            their sum, with the intercept, is the prediction among the data.
        grid_resolution, ax
            As in `from_basis`.

        Returns
        -------
        display : BasisFunctionsDisplay
        """
        check_is_fitted(estimator)
        check_bool("weighted", weighted)
        model = predictor(estimator)
        if not hasattr(model, "atoms_"):
            raise TypeError(
                "BasisFunctionsDisplay needs a regressor or classifier of relvec; "
                f"{type(model).__name__} has no basis functions."
            )
        inputs = _one_or_two(numbers_of(X))
        grid = _grid(inputs, grid_resolution)
        points = seen_by(estimator, like_table(grid.points, X))
        candidates = fitted_basis(model).bind(numbers_of(seen_by(estimator, X))).atoms
        points = numbers_of(points)
        kept = _at(model.atoms_, points, grid)
        if weighted:
            kept = kept * np.atleast_2d(model.coef_)[0]
        display = cls(
            x0=grid.axes[0],
            x1=_second(grid),
            values=_at(candidates, points, grid),
            kept=kept,
            names=[plain(shorten(name)) for name in table_names(X)],
            is_weighted=weighted,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None, *, legend: bool = True, colorbar: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        legend : bool, default=True
            Say above the axes how many functions there are.
        colorbar : bool, default=True
            Explain the colours over two inputs.

        Returns
        -------
        display : BasisFunctionsDisplay
        """
        size = (6.8, 3.9) if self.x1 is None else (6.2, 5.0)
        self.figure_, (self.ax_,) = take_axes(ax, 1, "the functions", figsize=size)
        self.kept_ = self.surface_ = None
        if self.x1 is None:
            self._draw_lines()
        else:
            self._draw_surface(colorbar)
        finish(self.ax_)
        if legend:
            box = legend_above(self.ax_, 2)
            for handle in box.legend_handles:
                handle.set_alpha(1.0)  # thin lines are pale because there are many
        return self

    def _draw_lines(self) -> None:
        n_atoms = self.values.shape[1]
        shown = _evenly(n_atoms)
        collection = import_optional("matplotlib.collections").LineCollection
        self.candidates_ = collection(
            [np.column_stack([self.x0, self.values[:, i]]) for i in shown],
            colors=tone(self.ax_, "0.55"),
            linewidths=0.6,
            alpha=float(np.clip(20.0 / max(len(shown), 1), 0.15, 0.8)),
            label=f"{n_atoms} candidates",
        )
        self.ax_.add_collection(self.candidates_)
        if self.kept is not None:
            n_kept = self.kept.shape[1]
            self.kept_ = collection(
                [np.column_stack([self.x0, column]) for column in self.kept.T],
                colors=tone(self.ax_, MODEL),
                linewidths=1.9,
                label=f"{n_kept} kept" + (", times weight" if self.is_weighted else ""),
            )
            self.ax_.add_collection(self.kept_)
        self.ax_.autoscale_view()
        self.ax_.set_xlim(self.x0[0], self.x0[-1])
        self.ax_.set(xlabel=self.names[0], ylabel="basis function")

    def _draw_surface(self, colorbar: bool) -> None:
        drawn = self.values if self.kept is None else self.kept
        # the largest shows bumps where a sum of wide functions would be one hill
        total = drawn.sum(axis=-1) if self.is_weighted else drawn.max(axis=-1, initial=0.0)
        n_atoms = self.values.shape[-1]
        assert self.x1 is not None
        self.surface_ = self.ax_.contourf(self.x0, self.x1, total, levels=12, cmap="cividis")
        peaks = self._peaks(self.values[..., _evenly(n_atoms)])
        (self.candidates_,) = self.ax_.plot(
            *peaks, "o", mfc="white", mec=INK, mew=0.6, ms=3.5, label=f"{n_atoms} candidates"
        )
        if self.kept is not None:
            label = f"{self.kept.shape[-1]} kept"
            peaks = self._peaks(np.abs(self.kept))
            self.kept_ = draw_rings(self.ax_, peaks, OTHER, size=9, width=1.8, label=label)
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        if colorbar:
            what = "candidates" if self.kept is None else "functions kept"
            label = f"sum of {what} times weight" if self.is_weighted else f"largest of {what}"
            add_colorbar(self.ax_, self.surface_, label)

    def _peaks(self, functions: Matrix) -> tuple[Vector, Vector]:
        """Where each function is largest."""
        assert self.x1 is not None
        flat = functions.reshape(-1, functions.shape[-1])
        is_flat: BoolArray = np.ptp(flat, axis=0) == 0.0
        place = flat.argmax(axis=0)[~is_flat]
        row, column = np.divmod(place, len(self.x0))
        return self.x0[column], self.x1[row]


def _one_or_two(inputs: Matrix) -> Matrix:
    if inputs.shape[1] > 2:
        raise ValueError(
            "BasisFunctionsDisplay draws functions of one input or two; X has "
            f"{inputs.shape[1]} columns."
        )
    if not np.isfinite(inputs).all():
        raise ValueError(
            "BasisFunctionsDisplay needs finite inputs, at which functions have their places; X "
            "holds NaN or infinity. Remove these rows."
        )
    return inputs


def _grid(inputs: Matrix, resolution: int | None) -> InputGrid:
    default = 400 if inputs.shape[1] == 1 else 80
    return grid_over(inputs, check_integer("grid_resolution", resolution or default, minimum=2))


def _second(grid: InputGrid) -> Vector | None:
    return grid.axes[1] if len(grid.axes) == 2 else None


def _at(atoms: Any, points: Matrix, grid: InputGrid) -> Matrix:
    return np.asarray(atoms.evaluate(points)).reshape(*grid.shape, -1)


def _evenly(count: int, most: int = 400) -> IndexArray:
    """Which candidates are drawn: all, or so many, evenly chosen, that lines are told apart."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).astype(np.intp))
