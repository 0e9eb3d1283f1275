"""Plot of posterior inclusion probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_integer
from relvec._typing import ArrayLike
from relvec.describing import format_count, get_final_estimator
from relvec.plotting._axes import adapt_colour, draw_grid, finish_axes, get_axes
from relvec.plotting._checks import check_finite, check_vector
from relvec.plotting._rows import (
    compute_figure_size,
    compute_font_size,
    format_percent,
    label_rows,
)
from relvec.plotting._style import FAINT, INK, MODEL

__all__ = ["InclusionDisplay"]


class InclusionDisplay:
    """Plot of the posterior inclusion probability of each basis function, the largest on top.

    The vertical line is at one half: basis functions beyond it form the median probability model
    (Barbieri & Berger 2004); the others are grey.

    Use `from_estimator` to create one.

    Parameters
    ----------
    probability : array-like of shape (n_atoms,)
        Inclusion probabilities.
    names : sequence of str, optional
        Names of the basis functions; their indices by default.
    n_others : int, default=0
        Number of basis functions that are not listed, each with a smaller probability.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    shown_ : ndarray of shape (n_rows,)
        Indices of the basis functions that are drawn, from the top.
    bars_ : matplotlib BarContainer
    note_ : matplotlib Text or None
        Note on the basis functions that are not drawn.

    See Also
    --------
    SelectionFrequencyDisplay : Stability of a selection under resampling.

    Examples
    --------
    >>> from relvec.plotting import InclusionDisplay
    >>> display = InclusionDisplay([0.2, 0.98, 0.6], names=["age", "bmi", "sex"]).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['bmi', 'sex', 'age']
    """

    def __init__(
        self,
        probability: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        n_others: int = 0,
    ) -> None:
        self.probability = check_vector("probability", probability)
        check_finite("probability", self.probability)
        if ((self.probability < 0.0) | (self.probability > 1.0)).any():
            raise ValueError(
                f"probability must be between 0 and 1; got {self.probability.min()} to "
                f"{self.probability.max()}."
            )
        n_atoms = len(self.probability)
        self.names = [str(each) for each in (range(n_atoms) if names is None else names)]
        if len(self.names) != n_atoms:
            raise ValueError(
                f"names must have {n_atoms} entries, one per probability; got {len(self.names)}."
            )
        self.n_others = check_integer("n_others", n_others, minimum=0)

    @classmethod
    def from_estimator(cls, estimator: Any, *, n_most: int = 20, ax: Any = None) -> Self:
        """Plot the inclusion probabilities of a fitted model.

        Parameters
        ----------
        estimator : estimator
            Fitted estimator that samples its basis functions, with `inclusion_table`; or a
            pipeline that ends in one.
        n_most : int, default=20
            As in `plot`.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : InclusionDisplay
        """
        n_most = check_integer("n_most", n_most, minimum=1)
        model = get_final_estimator(estimator)
        if not hasattr(model, "inclusion_table"):
            check_is_fitted(estimator)
            raise TypeError(
                f"{cls.__name__} needs an estimator that samples its basis functions, with the "
                f"method inclusion_table; {type(model).__name__} does not have it."
            )
        check_is_fitted(estimator)
        table = list(model.inclusion_table(n_most))
        n_atoms = np.size(getattr(model, "inclusion_probability_", table)) if table else 0
        display = cls(
            np.array([probability for _, probability in table], dtype=np.float64),
            names=[name for name, _ in table],
            n_others=max(n_atoms - len(table), 0),
        )
        return display.plot(ax, n_most=n_most)

    def plot(self, ax: Any = None, *, n_most: int = 20) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        n_most : int, default=20
            Maximum number of basis functions, the most probable first; the others are counted.

        Returns
        -------
        display : InclusionDisplay
        """
        n_most = check_integer("n_most", n_most, minimum=1)
        self.shown_ = np.argsort(-self.probability, kind="stable")[:n_most]
        n_hidden = self.n_others + len(self.probability) - len(self.shown_)
        note = f"and {format_count(n_hidden, 'less probable one')}" if n_hidden else None
        if not len(self.probability):
            note = "no basis functions: the model is constant"
        self.figure_, (self.ax_,) = get_axes(
            ax,
            1,
            "the probabilities",
            **compute_figure_size(len(self.shown_) + (note is not None), 5.2),
        )
        axes, shown = self.ax_, self.probability[self.shown_]
        is_faint = shown <= 0.5
        colours = [adapt_colour(axes, FAINT if faint else MODEL) for faint in is_faint]
        self.bars_ = axes.barh(np.arange(len(shown)), shown, height=0.62, color=colours, zorder=2)
        axes.axvline(0.5, color=adapt_colour(axes, "0.5"), lw=1.0, ls="--", zorder=1)
        axes.set_xlim(0.0, 1.0)
        self.note_ = label_rows(axes, [self.names[each] for each in self.shown_], is_faint, note)
        self._write_percentages(is_faint)
        axes.set_xlabel("posterior inclusion probability")
        finish_axes(axes)
        draw_grid(axes, "x")
        return self

    def _write_percentages(self, is_faint: Any) -> None:
        axes = self.ax_
        for row, (each, faint) in enumerate(zip(self.shown_, is_faint, strict=True)):
            axes.annotate(
                format_percent(self.probability[each]),
                (1.0, row),
                xycoords=("axes fraction", "data"),
                xytext=(36, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=compute_font_size(axes, len(self.shown_)),
                color=adapt_colour(axes, FAINT if faint else INK),
            )
