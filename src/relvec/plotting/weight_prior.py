"""Plot of the marginal prior density of a weight, with its precision integrated out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy.special import gammaln

from relvec._checks import check_choice, check_integer, check_positive
from relvec._typing import Vector
from relvec.describing import shorten
from relvec.plotting._axes import (
    adapt_colour,
    escape_mathtext,
    finish_axes,
    get_axes,
    place_legend_above,
    set_title,
)
from relvec.plotting._style import line_style
from relvec.priors import GammaPrior, LaplacePrior, Prior, resolve_prior
from relvec.priors.gamma import BoundGamma

__all__ = ["WeightPriorDisplay"]

KINDS = ("density", "contours")
GAUSSIAN = "gaussian"
EXAMPLES: dict[str, str | Prior] = {
    "Gaussian": GAUSSIAN,
    "Laplace": LaplacePrior(2.0),
    "Student t": GammaPrior(0.5, 0.1),
    "flat": "flat",
}
LOG_2PI = math.log(2.0 * math.pi)


class WeightPriorDisplay:
    """Plot of the marginal prior density of the weights, with their precisions integrated out.

    Given its precision a weight is normal. The marginal density has a peak at zero and heavy tails:
    small weights are shrunk to zero and large ones are hardly shrunk. The flat prior gives
    ``1 / |w|``, a Gamma prior a Student t density, and an exponential density of the variance a
    Laplace density. The contours of two weights are star-shaped: the density is concentrated along
    the axes, where one weight is zero.

    Use `from_priors` to create one.

    Parameters
    ----------
    priors : mapping of str to Prior or str
        Names and priors; "gaussian" is a normal density of precision one. Laplace and smoothness
        priors are in units of the noise, for atoms of unit norm.
    n_samples : int, default=100
        Number of samples, on which the penalties of "bic" and "ric" depend.
    limit : float, default=4.0
        Limit of the axes.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        The only axes, or the first.
    axes_ : list of matplotlib Axes
    lines_ : dict of str to matplotlib Line2D
        Densities by name; empty for contours.

    See Also
    --------
    ShrinkageDisplay : Shrinkage rules of priors.

    Notes
    -----
    The densities of the flat and of the smoothness priors are improper: ``1 / |w|``, and
    ``exp(-c)`` times as much for weights far above the noise. They are scaled such that the density
    of the log precision is one, or tends to one for large precisions.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1; figure 6.

    Examples
    --------
    >>> from relvec.plotting import WeightPriorDisplay
    >>> from relvec.priors import GammaPrior
    >>> display = WeightPriorDisplay.from_priors(["gaussian", GammaPrior(1.0, 1.0), "flat"])
    >>> list(display.lines_)
    ['gaussian', 'GammaPrior(rate=1.0, shape=1.0)', 'flat']
    >>> display.density("flat", [0.5, 2.0]).tolist()
    [2.0, 0.5]
    """

    def __init__(
        self, priors: Mapping[str, str | Prior], *, n_samples: int = 100, limit: float = 4.0
    ) -> None:
        if not priors:
            raise ValueError("priors must contain at least one prior; got none.")
        self.n_samples = check_integer("n_samples", n_samples, minimum=2)
        self.limit = check_positive("limit", limit)
        self.priors: dict[str, Prior | None] = {}
        for name, prior in priors.items():
            is_gaussian = isinstance(prior, str) and prior == GAUSSIAN
            known = None if is_gaussian else resolve_prior(prior, allow_density=True)
            self.priors[name] = known
            self.log_density(name, [1.0])

    @classmethod
    def from_priors(
        cls,
        priors: Sequence[str | Prior] | Mapping[str, str | Prior] = EXAMPLES,
        *,
        n_samples: int = 100,
        limit: float = 4.0,
        kind: str = "density",
        ax: Any = None,
    ) -> Self:
        """Plot the densities of several priors.

        Parameters
        ----------
        priors : sequence of str or Prior, or mapping of names to them
            "gaussian", or priors of relvec; a Laplace prior needs a fixed rate. By default one
            example of each kind of density.
        n_samples, limit
            As in the class.
        kind : {"density", "contours"}, default="density"
            As in `plot`.
        ax : matplotlib Axes or sequence of them, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : WeightPriorDisplay
        """
        if isinstance(priors, (str, Prior)):
            priors = [priors]
        if not isinstance(priors, Mapping):
            priors = {each if isinstance(each, str) else repr(each): each for each in priors}
        return cls(priors, n_samples=n_samples, limit=limit).plot(ax, kind=kind)

    def density(self, name: str, weight: Any) -> Vector:
        """Return the density of a weight; not normalised if it is improper.

        Parameters
        ----------
        name : str
            Name of the prior.
        weight : array-like
            Weights at which the density is evaluated.
        """
        return np.exp(self.log_density(name, weight))

    def log_density(self, name: str, weight: Any) -> Vector:
        """Return the logarithm of the density; infinite at zero where it has a pole.

        Parameters
        ----------
        name : str
            Name of the prior.
        weight : array-like
            Weights at which the density is evaluated.
        """
        w = np.abs(np.asarray(weight, dtype=np.float64))
        prior = self.priors[name]
        if prior is None:
            return np.asarray(-0.5 * (w * w + LOG_2PI))
        bound = prior.bind(self.n_samples)
        if bound.rate_hyperprior is not None:
            raise ValueError(
                f"The rate of {prior} is learnt, so its density is not fixed. Give a number, such "
                "as LaplacePrior(2.0)."
            )
        if bound.rate:
            rate = bound.rate
            return np.asarray(0.5 * math.log(rate) - math.log(2.0) - math.sqrt(rate) * w)
        if isinstance(bound, BoundGamma):
            return _student(w, bound.exponent, bound.raw_rate)
        if bound.has_density:
            raise ValueError(
                f"{prior} cannot be plotted. Give a prior with a penalty on degrees of freedom, a "
                "Laplace prior or a Gamma prior."
            )
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(w) + np.log(_penalty_factor(w, float(bound.penalty))))

    def is_proper(self, name: str) -> bool:
        """Whether the density can be normalised.

        Parameters
        ----------
        name : str
            Name of the prior.
        """
        prior = self.priors[name]
        if prior is None:
            return True
        bound = prior.bind(self.n_samples)
        is_laplace = bool(bound.rate or bound.rate_hyperprior)
        return is_laplace or (isinstance(bound, BoundGamma) and bound.exponent > 0.0)

    def plot(self, ax: Any = None, *, kind: str = "density") -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            Axes to draw on, one per prior if `kind` is "contours"; a new figure by default.
        kind : {"density", "contours"}, default="density"
            Density of one weight, on a logarithmic axis, or contours for two weights.

        Returns
        -------
        display : WeightPriorDisplay
        """
        check_choice("kind", kind, KINDS)
        self.lines_: dict[str, Any] = {}
        if kind == "contours":
            return self._plot_contours(ax)
        self.figure_, self.axes_ = get_axes(ax, 1, "the densities", figsize=(6.4, 4.0))
        (self.ax_,) = self.axes_
        # an even number of points omits zero, where some densities are infinite
        weight = np.linspace(-self.limit, self.limit, 600)
        for index, name in enumerate(self.priors):
            colour, dashes, _ = line_style(index)
            improper = "" if self.is_proper(name) else " (improper)"
            (self.lines_[name],) = self.ax_.plot(
                weight,
                self.density(name, weight),
                color=adapt_colour(self.ax_, colour),
                ls=dashes,
                lw=1.8,
                label=f"{escape_mathtext(name)}{improper}",
            )
        ends, inside = np.transpose(
            [self.density(name, [self.limit, 0.2 * self.limit]) for name in self.priors]
        )
        self.ax_.set(
            xlabel="weight",
            ylabel="density",
            yscale="log",
            xlim=(-self.limit, self.limit),
            ylim=(max(0.5 * ends.min(), 1e-4 * ends.max()), 10.0 * inside.max()),
        )
        finish_axes(self.ax_, grid=True)
        place_legend_above(self.ax_)
        return self

    def _plot_contours(self, ax: Any) -> Self:
        count = len(self.priors)
        n_columns = min(count, 4)
        n_rows = -(-count // n_columns)
        size = (0.4 + 2.7 * n_columns, 2.9 * n_rows)
        self.figure_, axes = get_axes(
            ax, count, "the priors", nrows=n_rows, ncols=n_columns, figsize=size
        )
        for spare in axes[count:]:
            spare.remove()
        self.axes_ = axes[:count]
        self.ax_ = self.axes_[0]
        weight = np.linspace(-self.limit, self.limit, 160)
        for each, name in zip(self.axes_, self.priors, strict=True):
            one = self.log_density(name, weight)
            both = one[:, None] + one
            # quantiles, because some densities are infinite at zero
            lowest, highest = np.quantile(both, [0.0, 0.99])
            levels = np.linspace(lowest, highest, 12)
            each.contourf(weight, weight, both, levels=levels, cmap="Blues", extend="both")
            set_title(each, escape_mathtext(shorten(name)))
            each.set(aspect="equal", xlabel="first weight", ylabel="second weight")
            finish_axes(each)
        return self


def _student(w: Vector, shape: float, rate: float) -> Vector:
    """Log density of a weight whose precision has a Gamma density (Tipping 2001, eq. 32)."""
    value = -(shape + 0.5) * np.log(rate + 0.5 * w * w) - 0.5 * LOG_2PI
    value = value + gammaln(shape + 0.5)
    if shape:
        value = value + shape * math.log(rate) - gammaln(shape)
    return np.asarray(value)


def _penalty_factor(w: Vector, penalty: float) -> Vector:
    """Compute the factor by which a penalty ``c`` reduces ``1 / |w|``: between ``exp(-c)`` and one.

    Notes
    -----
    The log precision ``log(alpha)`` has density ``exp(-c / (1 + alpha))``. With ``u =
    log(alpha w^2)`` the factor is the mean of that over ``exp(u / 2 - exp(u) / 2) / sqrt(2 pi)``,
    a smooth function that vanishes at both ends, so the trapezoidal rule is accurate.
    """
    if not penalty:
        return np.ones_like(w)
    u = np.linspace(-60.0, 6.0, 1000)
    mass = np.exp(0.5 * (u - np.exp(u) - LOG_2PI)) * (u[1] - u[0])
    # 1 / (1 + alpha) = w^2 / (w^2 + exp(u)), which is zero at a weight of zero
    spent = np.square(w)[..., None] / (np.square(w)[..., None] + np.exp(u))
    return np.asarray(np.exp(-penalty * spent) @ mass)
