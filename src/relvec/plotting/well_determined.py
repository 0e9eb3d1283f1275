"""Plot of how well the data determine each weight (γ)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from relvec._typing import ArrayLike, Vector
from relvec.describing import collect_weights, name_estimators
from relvec.plotting._axes import (
    adapt_colour,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
)
from relvec.plotting._checks import check_vector
from relvec.plotting._style import line_style

__all__ = ["WellDeterminedDisplay"]


class WellDeterminedDisplay:
    """Plot of how well the data determine each weight: ``gamma`` in decreasing order.

    ``gamma = 1 - alpha Sigma_ii`` (MacKay 1992; Tipping 2001, eq. 17) is 1 for a weight determined
    by the data and 0 for one determined by the prior. The area below a line is the number of
    effective degrees of freedom of the weights, the effective size of the model.

    Use `from_estimator` to create one.

    Parameters
    ----------
    well_determined : mapping of str to array-like of shape (n_weights,)
        Name and ``gamma`` of each model, between 0 and 1.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : dict of str to matplotlib StepPatch
        The line of each model.

    See Also
    --------
    WeightDisplay : Weights with standard deviations.

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
    'well-determinedness γ'
    """

    def __init__(self, well_determined: Mapping[str, ArrayLike]) -> None:
        if not well_determined:
            raise ValueError("well_determined must contain at least one model; got none.")
        self.well_determined: dict[str, Vector] = {}
        for name, given in well_determined.items():
            values = check_vector(f"well_determined[{name!r}]", given)
            if not ((values >= -1e-6) & (values <= 1.0 + 1e-6)).all():  # up to rounding
                raise ValueError(
                    f"well_determined[{name!r}] must lie between 0 and 1; some values do not, or "
                    "are NaN."
                )
            self.well_determined[name] = -np.sort(-values)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot one or several fitted models.

        Parameters
        ----------
        estimator : estimator, sequence of them, or mapping of str to estimator
            Fitted regressors or classifiers of relvec, or pipelines that end in one; with one
            line per target or class.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : WellDeterminedDisplay
        """
        found: dict[str, ArrayLike] = {}
        for name, each in name_estimators(estimator).items():
            for weights in collect_weights(each):
                if weights.well_determined is None:
                    raise TypeError(
                        f"{name} has a joint posterior for the weights of all classes, which has "
                        'no gamma per weight. Fit it with multi_class="one_vs_rest".'
                    )
                label = f"{name}, {weights.name}" if weights.name else name
                found[label] = weights.well_determined
        return cls(found).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : WellDeterminedDisplay
        """
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the weights", figsize=(6.4, 3.6))
        self.lines_ = {}
        for index, (name, values) in enumerate(self.well_determined.items()):
            colour, dashes, _ = line_style(index)
            colour = adapt_colour(self.ax_, colour)
            edges = np.arange(len(values) + 1) + 0.5
            count = "1 weight" if len(values) == 1 else f"{len(values)} weights"
            self.lines_[name] = self.ax_.stairs(
                values,
                edges,
                color=colour,
                ls=dashes,
                lw=1.8,
                label=f"{escape_mathtext(name)}: {count}, Σγ = {values.sum():.3g}",
            )
            if len(self.well_determined) == 1:
                self.ax_.stairs(values, edges, fill=True, color=colour, alpha=0.12, lw=0)
        most = max(len(values) for values in self.well_determined.values())
        self.ax_.set_xlim(0.5, max(most, 1) + 0.5)
        self.ax_.set_ylim(0.0, 1.04)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.set_xlabel("weights, in decreasing order of γ")
        self.ax_.set_ylabel("well-determinedness γ")
        finish_axes(self.ax_, grid=True)
        place_legend_above(self.ax_, most_columns=1)  # the curves of sparse models fill the axes
        return self
