"""Plots of chains: precisions over steps, and the mean functions of chains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from reproduce.common.plots import COLOURS, GREY, make_figure

__all__ = ["ABSENT", "draw_rejection_sampling", "draw_schemes"]

ABSENT = 99.0
"""Stands for the log precision of an atom that is not in the model."""
RANGE = Normalize(-10.0, 10.0)
"""Decimal logarithms of the bounds of a precision."""


def draw_schemes(
    labels: Sequence[str],
    found: Sequence[dict[str, Any]],
    data: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> Figure:
    """Draw one column for each scheme: precisions of chains side by side, above mean functions.

    Parameters
    ----------
    labels : sequence of str
        Names of the schemes.
    found : sequence of dict
        Precisions, mean functions and diagnostics of each.
    data : tuple of ndarray
        Inputs, clean signal and noisy samples.
    """
    x, truth, y = data
    figure, panels = make_figure(2, len(labels), width=4.2, height=3.1)
    for column, (label, each) in enumerate(zip(labels, found, strict=True)):
        _draw_precisions(panels[0, column], each, label)
        _draw_means(panels[1, column], each, x, truth, y)
    panels[0, 0].set_ylabel("atom")
    panels[1, 0].set_ylabel("mean of draws")
    panels[1, 0].legend(fontsize="small", loc="upper right")
    for axes in panels[1, 1:]:
        axes.sharey(panels[1, 0])
    colours = ScalarMappable(RANGE, "viridis")
    figure.colorbar(colours, ax=panels[0, :].tolist(), label="log₁₀ α (white: not in the model)")
    return figure


def _draw_precisions(axes: Axes, found: dict[str, Any], label: str) -> None:
    alpha = np.asarray(found["log_alpha"], dtype=float)
    n_chains, _, n_atoms = alpha.shape
    image = np.where(alpha == ABSENT, np.nan, alpha).reshape(-1, n_atoms).T
    extent = (0.0, float(n_chains), n_atoms - 0.5, -0.5)
    axes.imshow(
        image, aspect="auto", interpolation="nearest", extent=extent, norm=RANGE, cmap="viridis"
    )
    for chain in range(1, n_chains):
        axes.axvline(chain, color="black", linewidth=1.2)
    names = [f"chain {chain + 1}" for chain in range(n_chains)]
    axes.set_xticks(np.arange(n_chains) + 0.5, names)
    axes.tick_params(axis="x", length=0.0)
    axes.set_xlabel("steps of each chain, from left to right")
    axes.set_title(label, fontsize="medium")


def _draw_means(
    axes: Axes, found: dict[str, Any], x: np.ndarray, truth: np.ndarray, y: np.ndarray
) -> None:
    axes.plot(x, truth, color=GREY, linewidth=3.0, label="truth")
    axes.plot(x, y, ".", color="0.35", markersize=3.0, label="data")
    for chain, (curve, colour) in enumerate(zip(found["curves"], COLOURS, strict=False)):
        axes.plot(x, curve, color=colour, linewidth=1.1, label=f"chain {chain + 1}")
    axes.set_xlabel("x")
    rhat = [found["rhat_noise"], found["rhat_curve"]]
    words = ["> 100" if value > 100.0 else f"{value:.2f}" for value in rhat]
    axes.set_title(f"R-hat: log σ² {words[0]}, functions {words[1]}", fontsize="medium")


def draw_rejection_sampling(rng: np.random.Generator, n: int = 400) -> Figure:
    """Draw rejection sampling from a mixture of two normal densities.

    Parameters
    ----------
    rng : Generator
        Draws the proposals.
    n : int
        Number of proposals.
    """

    def target(x: np.ndarray) -> np.ndarray:
        parts = np.exp(-0.5 * ((x + 1.5) / 0.7) ** 2) + 0.7 * np.exp(-0.5 * ((x - 1.4) / 0.9) ** 2)
        return np.asarray(parts)

    def bound(x: np.ndarray) -> np.ndarray:
        return np.asarray(1.45 * np.exp(-0.5 * (x / 2.2) ** 2))

    x = np.linspace(-8.0, 8.0, 400)
    proposal = 2.2 * rng.standard_normal(n)
    height = rng.random(n) * bound(proposal)
    is_accepted = height <= target(proposal)
    figure, panels = make_figure(1, 1, width=7.0, height=3.4)
    axes = panels[0, 0]
    axes.fill_between(x, target(x), color=COLOURS[5], alpha=0.4, label="p*, the target")
    axes.plot(x, bound(x), color="black", label="q, the bound")
    for chosen, colour, word in (
        (is_accepted, COLOURS[0], "accepted"),
        (~is_accepted, COLOURS[1], "rejected"),
    ):
        axes.plot(proposal[chosen], height[chosen], ".", color=colour, markersize=3.0, label=word)
    rate = float(np.trapezoid(target(x), x) / np.trapezoid(bound(x), x))
    axes.set_title(
        f"rejection sampling: {100 * is_accepted.mean():.0f} % of {n} proposals accepted, "
        f"area of p* over that of q {100 * rate:.0f} %",
        fontsize="medium",
    )
    axes.set_xlabel("x")
    axes.set_ylabel("density, not normalised")
    axes.legend(fontsize="small")
    return figure
