"""Plot of the shrinkage rules of priors, with soft and hard thresholding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from relvec._checks import check_integer, check_positive
from relvec._typing import ArrayLike, Vector
from relvec.denoising.plain import PlainModel
from relvec.describing import get_denoising_model
from relvec.estimators import SmoothDenoiser
from relvec.plotting._axes import adapt_colour, finish_axes, get_axes
from relvec.plotting._checks import check_vector
from relvec.plotting._style import DATA, INK, MODEL
from relvec.priors import Prior, resolve_prior
from relvec.solvers.gaussian.shrinkage import entry_threshold, shrinkage

__all__ = ["ShrinkageDisplay"]

COLOURS = ("#7fb1dd", "#3f86c4", MODEL, "#0b2a4d", "#5b3a8c", "#8c3a6b")
"""Colours of the rules, in the order of their penalties."""


class ShrinkageDisplay:
    """Plot of shrinkage rules: the estimate as a function of the observed coefficient.

    Below the threshold a coefficient is set to zero; above, it is shrunk, and larger coefficients
    are shrunk less. The penalty ``c`` per degree of freedom determines the threshold,
    ``sqrt(1 + 2 c)``. All values are in units of the noise standard deviation.

    Use `from_priors` or `from_estimator` to create one.

    Parameters
    ----------
    penalties : mapping of str to float
        Name and penalty `c` of each rule.
    threshold : float, optional
        Also draw soft and hard thresholding at this value.
    points : tuple of two array-like, optional
        Observed coefficients and their estimates.
    limit : float, optional
        Limit of the axes; by default twice the largest threshold.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : dict of str to matplotlib Line2D
        Curves by name of the rule, "soft" and "hard" included.
    points_ : matplotlib Line2D or None
        Observed coefficients.

    Examples
    --------
    >>> from relvec.plotting import ShrinkageDisplay
    >>> display = ShrinkageDisplay.from_priors(("flat", "bic"), n_samples=1024)
    >>> list(display.lines_)
    ['flat', 'bic', 'soft', 'hard']
    """

    def __init__(
        self,
        penalties: Mapping[str, float],
        *,
        threshold: float | None = None,
        points: tuple[ArrayLike, ArrayLike] | None = None,
        limit: float | None = None,
    ) -> None:
        if not penalties:
            raise ValueError("penalties must contain at least one rule; got none.")
        self.penalties = {
            name: check_positive(f"penalties[{name!r}]", c, allow_zero=True)
            for name, c in penalties.items()
        }
        self.threshold = None if threshold is None else check_positive("threshold", threshold)
        self.points: tuple[Vector, Vector] | None = None
        if points is not None:
            before = check_vector("points[0]", points[0])
            self.points = before, check_vector("points[1]", points[1], len(before))
        highest = max(math.sqrt(entry_threshold(c)) for c in self.penalties.values())
        self.limit = (
            2.0 * max(highest, self.threshold or 0.0)
            if limit is None
            else check_positive("limit", limit)
        )

    @classmethod
    def from_priors(
        cls,
        priors: Sequence[str | Prior] = ("flat", "aic", "bic", "ric"),
        *,
        n_samples: int = 1024,
        thresholds: bool = True,
        ax: Any = None,
    ) -> Self:
        """Plot the shrinkage rules of several priors.

        Parameters
        ----------
        priors : sequence of str or Prior, default=("flat", "aic", "bic", "ric")
            Priors with a penalty on degrees of freedom, or "flat".
        n_samples : int, default=1024
            Length of the signal: the penalty of "bic" and "ric" depends on it.
        thresholds : bool, default=True
            Also draw soft and hard thresholding at the universal threshold ``sqrt(2 log n)``.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ShrinkageDisplay
        """
        n_samples = check_integer("n_samples", n_samples, minimum=2)
        if isinstance(priors, (str, Prior)):
            priors = [priors]
        penalties = {
            prior if isinstance(prior, str) else repr(prior): _penalty(prior, n_samples)
            for prior in priors
        }
        universal = math.sqrt(2.0 * math.log(n_samples)) if thresholds else None
        return cls(penalties, threshold=universal).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        denoiser: SmoothDenoiser | PlainModel,
        *,
        channel: int | None = None,
        thresholds: bool = False,
        ax: Any = None,
    ) -> Self:
        """Plot the shrinkage rule of a fitted denoiser, with its coefficients.

        Parameters
        ----------
        denoiser : SmoothDenoiser or PlainModel
            Fitted; for a denoiser its `model_` is used.
        channel : int, optional
            Index of the channel, if the signal has several.
        thresholds : bool, default=False
            Also draw soft and hard thresholding at the universal threshold ``sqrt(2 log n)``.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ShrinkageDisplay
        """
        model = get_denoising_model(denoiser, channel)
        std = math.sqrt(model.noise_variance)
        universal = math.sqrt(2.0 * math.log(model.data.size)) if thresholds else None
        limit = 3.0 * max(math.sqrt(entry_threshold(model.c)), universal or 0.0)
        near = np.flatnonzero(np.abs(model.data) <= limit * std)
        near = near[:: -(-len(near) // 4000) or 1]  # more dots would overlap
        points = model.data[near] / std, model.coefficients[near] / std
        rule = {"rule": model.c}
        return cls(rule, threshold=universal, points=points, limit=limit).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ShrinkageDisplay
        """
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the rules", figsize=(5.4, 5.0))
        z = np.linspace(-self.limit, self.limit, 2001)
        self.ax_.plot(z, z, color=adapt_colour(self.ax_, "0.85"), lw=1.0, zorder=0)
        self.lines_ = {}
        for index, (name, c) in enumerate(self.penalties.items()):
            label = f"{name}, c = {c:.3g}"
            colour = MODEL if len(self.penalties) == 1 else COLOURS[index % len(COLOURS)]
            (self.lines_[name],) = self.ax_.plot(
                z,
                z * shrinkage(z * z, c),
                color=adapt_colour(self.ax_, colour),
                lw=1.8,
                label=label,
            )
        if self.threshold is not None:
            at = f"threshold {self.threshold:.3g}"
            soft = np.sign(z) * np.maximum(np.abs(z) - self.threshold, 0.0)
            # NaN interrupts the line at the jump
            hard = np.where(np.abs(z) > self.threshold, z, 0.0)
            hard[np.flatnonzero(np.diff(np.abs(z) > self.threshold))] = np.nan
            for name, values, style in (("soft", soft, "--"), ("hard", hard, ":")):
                (self.lines_[name],) = self.ax_.plot(
                    z,
                    values,
                    style,
                    color=adapt_colour(self.ax_, INK),
                    lw=1.2,
                    label=f"{name} {at}",
                )
        self.points_ = None
        if self.points is not None:
            (self.points_,) = self.ax_.plot(
                *self.points,
                "o",
                ms=4,
                mew=0,
                color=adapt_colour(self.ax_, DATA),
                alpha=0.6,
                label="coefficients",
            )
        self.ax_.set(
            xlabel="observed coefficient / noise std",
            ylabel="estimated coefficient / noise std",
            xlim=(-self.limit, self.limit),
            ylim=(-self.limit, self.limit),
            aspect="equal",
        )
        finish_axes(self.ax_, legend="upper left", grid=True)
        return self


def _penalty(prior: Any, n_samples: int) -> float:
    resolved = resolve_prior(prior)
    bound = resolved.bind(n_samples)
    if not bound.is_removable:
        raise ValueError(
            f"The shrinkage rule of {resolved} has no closed form. Use a prior with a penalty on "
            'degrees of freedom: "flat", "aic", "bic", "ric" or SmoothnessPrior(c).'
        )
    return float(bound.penalty)
