"""Rootogram: observed and expected frequencies of counts on a square-root scale."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from relvec._checks import check_choice
from relvec._typing import ArrayLike
from relvec.describing import Rootogram, compute_rootogram
from relvec.plotting._axes import adapt_colour, finish_axes, get_axes
from relvec.plotting._style import DATA, INK, MODEL, OTHER

__all__ = ["RootogramDisplay"]

KINDS = ("hanging", "standing")


class RootogramDisplay:
    """Plot of observed and expected frequencies of counts on a square-root scale.

    Bars are the observed frequencies of each count, the line the frequencies that the model
    expects. Roots make differences comparable: the root of a frequency has a standard deviation of
    about one half (Tukey 1977). Hanging bars begin at the line, so a bar that ends above zero is a
    count that occurs less often than expected, one that ends below zero a count that occurs more
    often. Ends beyond the dashed lines, at plus and minus one, are rarely due to chance. Too many
    zeros and large counts, with too few in between, are a sign of overdispersion.

    Use `from_estimator` to create one.

    Parameters
    ----------
    rootogram : Rootogram
        Frequencies, of `relvec.describing.compute_rootogram`.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    bars_ : matplotlib BarContainer
    line_ : matplotlib Line2D
    limits_ : list of matplotlib Line2D
        Dashed lines of a hanging rootogram, at plus and minus one: two standard deviations. Empty
        for a standing one.

    References
    ----------
    C. Kleiber, A. Zeileis (2016), Visualizing count data regressions using rootograms, The American
    Statistician 70.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesCountRegressor
    >>> from relvec.plotting import RootogramDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = rng.poisson(np.exp(X[:, 0]))
    >>> display = RootogramDisplay.from_estimator(SparseBayesCountRegressor().fit(X, y), X, y)
    >>> display.ax_.get_ylabel()
    'root of frequency'
    """

    def __init__(self, rootogram: Rootogram) -> None:
        if not isinstance(rootogram, Rootogram):
            raise TypeError(
                "rootogram must be that of relvec.describing.compute_rootogram; got "
                f"{type(rootogram).__name__}. Use RootogramDisplay.from_estimator."
            )
        self.rootogram = rootogram

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        exposure: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        max_bins: int = 30,
        kind: str = "hanging",
        ax: Any = None,
    ) -> Self:
        """Plot the frequencies of counts under a fitted model.

        Parameters
        ----------
        estimator : SparseBayesCountRegressor, or a pipeline that ends in one
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Observed counts.
        exposure : float or array-like of shape (n_samples,), optional
            Exposure of each row; default, one unit.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights; default, 1 for each row.
        max_bins : int, default=30
            Largest number of bars. With more different counts, neighbours share a bar.
        kind : {"hanging", "standing"}, default="hanging"
            As in `plot`.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : RootogramDisplay
        """
        found = compute_rootogram(
            estimator,
            X,
            y,
            exposure=exposure,
            sample_weight=sample_weight,
            max_bins=max_bins,
        )
        return cls(found).plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "hanging") -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        kind : {"hanging", "standing"}, default="hanging"
            Whether bars hang from the line of the expected frequencies or stand on zero.

        Returns
        -------
        display : RootogramDisplay
        """
        check_choice("kind", kind, KINDS)
        self.figure_, [axes] = get_axes(ax, 1, "the frequencies", figsize=(5.4, 3.7))
        self.ax_ = axes
        found, size = self.rootogram, float(np.diff(self.rootogram.edges)[0])
        expected, observed = np.sqrt(found.expected), np.sqrt(found.observed)
        bottom = expected - observed if kind == "hanging" else np.zeros(len(observed))
        self.bars_ = axes.bar(
            found.centres,
            observed,
            width=0.8 * size,
            bottom=bottom,
            color=adapt_colour(axes, DATA),
            alpha=0.55,
            label="observed",
        )
        (self.line_,) = axes.plot(
            found.centres,
            expected,
            "o-",
            color=adapt_colour(axes, MODEL),
            ms=3.5,
            lw=1.5,
            label="expected",
        )
        self.limits_ = []
        axes.axhline(0.0, color=adapt_colour(axes, INK), lw=1.0)
        if kind == "hanging":
            self.limits_ = [
                axes.axhline(level, color=adapt_colour(axes, OTHER), lw=1.0, ls="--")
                for level in (-1.0, 1.0)
            ]
            self.limits_[0].set_label("±2 standard deviations")
            # Space below the bars, whose ends the limits would otherwise touch.
            axes.update_datalim([(found.centres[0], min(float(bottom.min()), -1.0) - 0.4)])
            axes.autoscale_view(scalex=False)
        axes.set(xlabel="count", ylabel="root of frequency")
        finish_axes(axes, legend="upper right")
        return self
