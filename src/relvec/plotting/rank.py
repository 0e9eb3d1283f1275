"""Rank histograms of Markov chains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy.special import ndtri

from relvec._checks import check_integer
from relvec._typing import ArrayLike, IndexArray, Matrix
from relvec.plotting._axes import adapt_colour, escape_mathtext, finish_axes, get_axes, set_title
from relvec.plotting._chains import check_draws, choose_draws, describe_draws, get_traces
from relvec.plotting._style import INK, class_colour
from relvec.sampling import compute_ess_bulk, compute_r_hat

__all__ = ["RankDisplay"]

COVERAGE = 0.95


class RankDisplay:
    """Rank histograms of each chain among the draws of all chains (Vehtari et al. 2021).

    If all chains have the same distribution, the histograms are flat: about 95 % of the bars end
    within the band, which takes account of the autocorrelation within the chains. That is
    estimated from the draws, and 92 % end within it at an effective sample size of 200, 89 % at 65.
    Ties are broken at random, always in the same way. Use `from_estimator` or `from_draws` to
    create one.

    Parameters
    ----------
    draws : mapping of str to array-like of shape (n_chains, n_draws)
        Name of each quantity, and its draws, of two or more chains.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        One for each quantity.
    counts_ : dict of str to ndarray of shape (n_chains, n_bins)
        Heights of the bars.
    band_ : dict of str to ndarray of shape (2, n_bins)
        Lower and upper end of the band of each bar.

    See Also
    --------
    TraceDisplay : The draws themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.plotting import RankDisplay
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> display = RankDisplay.from_draws({"noise std": draws})
    >>> display.counts_["noise std"].sum(axis=1)
    array([500, 500, 500, 500])
    """

    def __init__(self, draws: Mapping[str, ArrayLike]) -> None:
        self.draws: dict[str, Matrix] = check_draws(draws, least_chains=2)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: str | Sequence[str] | None = None,
        n_bins: int = 20,
        ax: Any = None,
    ) -> Self:
        """Plot the ranks of the draws of a fitted model.

        Parameters
        ----------
        estimator : estimator
            Fitted estimator that samples its posterior, with `traces_`; or a pipeline that ends
            in one.
        names : str or sequence of str, optional
            Quantities to draw; by default at most six, of function values those of the largest
            R-hat.
        n_bins : int, default=20
            As in `plot`.
        ax : matplotlib Axes or sequence of them, optional
            One for each quantity; a new figure by default.

        Returns
        -------
        display : RankDisplay
        """
        traces = get_traces(estimator, cls.__name__)
        return cls.from_draws(traces, names=names, n_bins=n_bins, ax=ax)

    @classmethod
    def from_draws(
        cls,
        draws: Mapping[str, ArrayLike],
        *,
        names: str | Sequence[str] | None = None,
        n_bins: int = 20,
        ax: Any = None,
    ) -> Self:
        """Plot the ranks of draws.

        Parameters
        ----------
        draws : mapping of str to array-like of shape (n_chains, n_draws)
            Name of each quantity, and its draws, of two or more chains.
        names : str or sequence of str, optional
            Quantities to draw; by default at most six, of function values those of the largest
            R-hat.
        n_bins : int, default=20
            As in `plot`.
        ax : matplotlib Axes or sequence of them, optional
            One for each quantity; a new figure by default.

        Returns
        -------
        display : RankDisplay
        """
        return cls(choose_draws(draws, names)).plot(ax, n_bins=n_bins)

    def plot(self, ax: Any = None, *, n_bins: int = 20) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One for each quantity; a new figure by default.
        n_bins : int, default=20
            Number of bars of each chain.

        Returns
        -------
        display : RankDisplay
        """
        n_bins = check_integer("n_bins", n_bins, minimum=2)
        n_axes = len(self.draws)
        n_columns = min(n_axes, 3)
        n_rows = -(-n_axes // n_columns)
        most_chains = max(len(draws) for draws in self.draws.values())
        self.figure_, axes = get_axes(
            ax,
            n_axes,
            "the ranks of each quantity",
            nrows=n_rows,
            ncols=n_columns,
            figsize=(3.6 * n_columns + 0.6, (0.8 + 0.5 * most_chains) * n_rows),
        )
        for spare in axes[n_axes:]:
            spare.remove()
        self.axes_ = axes[:n_axes]
        self.counts_: dict[str, IndexArray] = {}
        self.band_: dict[str, Matrix] = {}
        for each, (name, draws) in zip(self.axes_, self.draws.items(), strict=True):
            indicators = _assign_bins(draws, n_bins)[:, :, None] == np.arange(n_bins)
            self.counts_[name] = indicators.sum(axis=1)
            self.band_[name] = _compute_band(indicators)
            self._draw_rows(each, name, draws)
            finish_axes(each)
        return self

    def _draw_rows(self, axes: Any, name: str, draws: Matrix) -> None:
        counts, band = self.counts_[name], self.band_[name]
        n_chains, n_bins = counts.shape
        edges = np.linspace(0.0, draws.size, n_bins + 1)
        # One unit of the vertical axis for each chain, the first on top.
        ink = adapt_colour(axes, INK)
        unit = 1.15 * max(counts.max(), band.max())
        expected = draws.shape[1] / n_bins / unit
        for chain, row in enumerate(counts):
            base = n_chains - 1 - chain
            colour = adapt_colour(axes, class_colour(chain))
            axes.stairs(base + row / unit, edges, baseline=base, fill=True, color=colour, alpha=0.6)
            low, high = base + band / unit
            axes.stairs(high, edges, baseline=low, fill=True, color=ink, alpha=0.22, lw=0)
            axes.plot(edges[[0, -1]], [base + expected] * 2, color=ink, lw=0.8)
        labels = [f"chain {chain + 1}" for chain in range(n_chains)]
        axes.set_yticks(n_chains - 1 - np.arange(n_chains) + expected, labels)
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(0, draws.size), ylim=(0, n_chains))
        axes.set_xlabel(f"rank of {escape_mathtext(name)}")
        text = describe_draws(float(compute_r_hat(draws)), float(compute_ess_bulk(draws)))
        set_title(axes, text)


def _assign_bins(draws: Matrix, n_bins: int) -> IndexArray:
    """Return the bin of each draw, of equal width in the ranks among the draws of all chains."""
    flat = draws.ravel()
    tie_breaker = np.random.default_rng(0).random(flat.size)
    rank = np.empty(flat.size, dtype=np.intp)
    rank[np.lexsort((tie_breaker, flat))] = np.arange(flat.size)
    return (rank * n_bins // flat.size).reshape(draws.shape)


def _compute_band(indicators: np.ndarray) -> Matrix:
    """Return the band of the counts of chains with the same distribution, shape (2, n_bins).

    A count is hypergeometric if draws are independent: draws of one chain among all those of a
    bin. Autocorrelation increases its variance by the ratio of draws to effective draws of the
    indicator of the bin. Each chain has a ratio of its own, and the median is used: in the
    effective sample size of all chains together, a chain that differs from the others would
    widen the band that is to detect it.
    """
    n_chains, n_draws, n_bins = indicators.shape
    # Normal scores of two values are a linear function of them: this is the ESS of the indicator.
    ess = np.array([compute_ess_bulk(chain[None]) for chain in indicators])
    inflation = np.maximum(np.median(n_draws / ess, axis=0), 1.0)
    expected = n_draws / n_bins
    variance = expected * (1.0 - 1.0 / n_bins) * (1.0 - 1.0 / n_chains) * inflation
    half = ndtri(0.5 + 0.5 * COVERAGE) * np.sqrt(variance)
    return np.stack([np.maximum(expected - half, 0.0), expected + half])
