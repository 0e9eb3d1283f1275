"""How far the data, not the prior, fix the weights of sparse models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from relvec._typing import ArrayLike, Vector
from relvec.describing import collect_weights, name_estimators
from relvec.plotting._axes import finish, legend_above, plain, take_axes, tone
from relvec.plotting._checks import check_line
from relvec.plotting._style import line_style

__all__ = ["WellDeterminedDisplay"]


class WellDeterminedDisplay:
    """Picture of how well each weight is determined by the data (gamma in Tipping's papers).

    Weights are in order, the best determined first. At 1 the data alone fix a weight, at 0 the
    prior does. The area below a line is the number of effective degrees of freedom that the
    weights take, so a line that drops from 1 to nothing is a model that is as sparse as it looks.

    Use `from_estimator` to make one.

    Parameters
    ----------
    well_determined : mapping of str to array-like of shape (n_weights,)
        Name and values of every model, between 0 and 1.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : dict of str to matplotlib StepPatch
        The line of every model.

    See Also
    --------
    WeightDisplay : The weights themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.plotting import WellDeterminedDisplay
    >>> X = np.linspace(-10, 10, 60)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> model = RVMRegressor(gamma=0.1).fit(X, y)
    >>> display = WellDeterminedDisplay.from_estimator(model)
    >>> display.ax_.get_ylabel()
    'γ: fixed by the data'
    """

    def __init__(self, well_determined: Mapping[str, ArrayLike]) -> None:
        if not well_determined:
            raise ValueError("well_determined must hold at least one model; got none.")
        self.well_determined: dict[str, Vector] = {}
        for name, given in well_determined.items():
            values = check_line(f"well_determined[{name!r}]", given)
            if not ((values >= -1e-6) & (values <= 1.0 + 1e-6)).all():  # but for rounding
                raise ValueError(
                    f"well_determined[{name!r}] must lie between 0 and 1; some values do not, or "
                    "are NaN."
                )
            self.well_determined[name] = -np.sort(-values)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw one or several models.

        Parameters
        ----------
        estimator : estimator, sequence of them, or mapping of str to estimator
            Fitted regressors or classifiers of relvec, or pipelines that end in one; of several
            targets or classes each has its line.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : WellDeterminedDisplay
        """
        found: dict[str, ArrayLike] = {}
        for name, each in name_estimators(estimator).items():
            for weights in collect_weights(each):
                if weights.well_determined is None:
                    raise TypeError(
                        f"{name} has one posterior for the weights of all its classes together, "
                        'which keeps no single gammas. Fit it with multi_class="one_vs_rest".'
                    )
                label = f"{name}, {weights.name}" if weights.name else name
                found[label] = weights.well_determined
        return cls(found).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : WellDeterminedDisplay
        """
        self.figure_, (self.ax_,) = take_axes(ax, 1, "the weights", figsize=(6.4, 3.6))
        self.lines_ = {}
        for place, (name, values) in enumerate(self.well_determined.items()):
            colour, dashes, _ = line_style(place)
            colour = tone(self.ax_, colour)
            edges = np.arange(len(values) + 1) + 0.5
            count = "1 weight" if len(values) == 1 else f"{len(values)} weights"
            self.lines_[name] = self.ax_.stairs(
                values,
                edges,
                color=colour,
                ls=dashes,
                lw=1.8,
                label=f"{plain(name)}: {count}, γ adds up to {values.sum():.3g}",
            )
            if len(self.well_determined) == 1:
                self.ax_.stairs(values, edges, fill=True, color=colour, alpha=0.12, lw=0)
        most = max(len(values) for values in self.well_determined.values())
        self.ax_.set_xlim(0.5, max(most, 1) + 0.5)
        self.ax_.set_ylim(0.0, 1.04)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.set_xlabel("weights, the best determined first")
        self.ax_.set_ylabel("γ: fixed by the data")
        finish(self.ax_, grid=True)
        legend_above(self.ax_, most_columns=1)  # a sparse model fills the axes
        return self
