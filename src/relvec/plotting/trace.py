"""Plot of the draws of Markov chains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from relvec._typing import ArrayLike, Matrix, Vector
from relvec.plotting._axes import adapt_colour, escape_mathtext, finish_axes, get_axes, set_title
from relvec.plotting._chains import check_draws, choose_draws, describe_draws, get_traces
from relvec.plotting._style import class_colour
from relvec.sampling import compute_ess_bulk, compute_r_hat

__all__ = ["TraceDisplay"]


class TraceDisplay:
    """Plot of the draws of each chain, with histograms, one row per quantity.

    Chains that have converged cover the same range, without a trend, and their histograms agree.
    Titles give the rank-normalised R-hat and the effective sample size of the bulk. Use
    `from_estimator` or `from_draws` to create one.

    Parameters
    ----------
    draws : mapping of str to array-like of shape (n_chains, n_draws)
        Name of each quantity, and its draws.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        Trace and histogram of the first quantity, of the second and so on.
    lines_ : dict of str to list of matplotlib Line2D
        Traces of the chains of each quantity.
    histograms_ : dict of str to list of matplotlib StepPatch
        Histograms of the chains of each quantity.

    See Also
    --------
    RankDisplay : Rank histograms, which also show differences that traces hide.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.plotting import TraceDisplay
    >>> draws = np.random.default_rng(0).normal(1.0, 0.1, size=(4, 200))
    >>> display = TraceDisplay.from_draws({"noise std": draws})
    >>> len(display.lines_["noise std"]), display.axes_[0].get_title(loc="left")
    (4, 'noise std: R-hat 1.00..., ESS ...')
    """

    def __init__(self, draws: Mapping[str, ArrayLike]) -> None:
        self.draws: dict[str, Matrix] = check_draws(draws)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, names: str | Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Plot the draws of a fitted model.

        Parameters
        ----------
        estimator : estimator
            Fitted estimator that samples its posterior, with `traces_`; or a pipeline that ends
            in one.
        names : str or sequence of str, optional
            Quantities to draw; by default at most six, of function values those of the largest
            R-hat.
        ax : sequence of matplotlib Axes, optional
            Two axes for each quantity; a new figure by default.

        Returns
        -------
        display : TraceDisplay
        """
        return cls.from_draws(get_traces(estimator, cls.__name__), names=names, ax=ax)

    @classmethod
    def from_draws(
        cls,
        draws: Mapping[str, ArrayLike],
        *,
        names: str | Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot draws.

        Parameters
        ----------
        draws : mapping of str to array-like of shape (n_chains, n_draws)
            Name of each quantity, and its draws.
        names : str or sequence of str, optional
            Quantities to draw; by default at most six, of function values those of the largest
            R-hat.
        ax : sequence of matplotlib Axes, optional
            Two axes for each quantity; a new figure by default.

        Returns
        -------
        display : TraceDisplay
        """
        return cls(choose_draws(draws, names)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, optional
            Two axes for each quantity, trace and histogram; a new figure by default.

        Returns
        -------
        display : TraceDisplay
        """
        n_rows = len(self.draws)
        self.figure_, self.axes_ = get_axes(
            ax,
            2 * n_rows,
            "a trace and a histogram of each quantity",
            nrows=n_rows,
            ncols=2,
            width_ratios=[3.0, 1.0],
            figsize=(8.4, 0.4 + 1.8 * n_rows),
        )
        self.lines_: dict[str, list[Any]] = {}
        self.histograms_: dict[str, list[Any]] = {}
        for row, (name, draws) in enumerate(self.draws.items()):
            self._draw_row(name, draws, *self.axes_[2 * row : 2 * row + 2])
        self.axes_[-2].set_xlabel("draw")
        self.axes_[-1].set_xlabel("relative frequency")
        for axes in self.axes_:
            finish_axes(axes)
        return self

    def _draw_row(self, name: str, draws: Matrix, left: Any, right: Any) -> None:
        edges = _choose_bins(draws)
        self.lines_[name], self.histograms_[name] = [], []
        for index, chain in enumerate(draws):
            colour = adapt_colour(left, class_colour(index))
            label = f"chain {index + 1}"
            self.lines_[name] += left.plot(chain, color=colour, lw=0.7, alpha=0.75, label=label)
            share = np.histogram(chain, edges)[0] / len(chain)
            self.histograms_[name].append(
                right.stairs(share, edges, orientation="horizontal", color=colour, lw=1.3)
            )
        left.set_xlim(0, draws.shape[1] - 1)
        text = describe_draws(float(compute_r_hat(draws)), float(compute_ess_bulk(draws)))
        set_title(left, f"{escape_mathtext(name)}: {text}")
        low, high = edges[0], edges[-1]
        margin = 0.05 * (high - low)
        for axes in (left, right):
            axes.set_ylim(low - margin, high + margin)
        right.tick_params(labelleft=False, labelbottom=False, bottom=False)
        right.set_xlim(left=0.0)


def _choose_bins(draws: Matrix, most: int = 30) -> Vector:
    """Return the edges of the bins: one for each whole number if draws are counts."""
    low, high = draws.min(), draws.max()
    if (draws == np.round(draws)).all() and high - low < 2 * most:
        return np.arange(low - 0.5, high + 1.0)
    if low == high:
        half = 0.5 * max(abs(low), 1e-300)
        return np.array([low - half, low + half])
    return np.linspace(low, high, most + 1)
