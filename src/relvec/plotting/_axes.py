"""Helpers shared by all displays: axes, text sizes, legends, grids and colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relvec._compat import import_optional
from relvec.plotting._style import INK, STYLE

__all__ = [
    "adapt_colour",
    "add_colorbar",
    "compute_text_scale",
    "draw_circles",
    "draw_grid",
    "escape_mathtext",
    "finish_axes",
    "get_axes",
    "is_dark",
    "label_features",
    "place_legend_above",
    "set_title",
]


def get_axes(ax: Any, n_axes: int, what: str, **layout: Any) -> tuple[Any, list[Any]]:
    """Return the given axes or those of a new figure, with their figure.

    Parameters
    ----------
    ax : matplotlib Axes, sequence of them, or None
        Axes to draw on; None for a new figure.
    n_axes : int
        Number of axes that are needed.
    what : str
        Content of the plot, for the error.
    **layout : dict
        Arguments of ``pyplot.subplots`` for a new figure.
    """
    if ax is None:
        pyplot = import_optional("matplotlib.pyplot")
        figure, axes = pyplot.subplots(**{"layout": "constrained", **layout}, squeeze=False)
        return figure, list(axes.ravel())
    axes = [ax] if hasattr(ax, "plot") else list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != n_axes or not all(hasattr(each, "plot") for each in axes):
        raise ValueError(
            f"ax must be {n_axes} matplotlib axes, for {what}; got {len(axes)} of type "
            f"{type(axes[0]).__name__ if axes else 'nothing'}. Leave ax out for a new figure."
        )
    return axes[0].figure, axes


def adapt_colour(axes: Any, colour: Any) -> Any:
    """Return a colour, adapted to dark axes if necessary.

    Parameters
    ----------
    axes : matplotlib Axes
        Axes with the background.
    colour : colour of matplotlib
        Colour for a light background. On a dark one greys are inverted, others made lighter.
    """
    if not is_dark(axes):
        return colour
    red, green, blue = import_optional("matplotlib.colors").to_rgb(colour)
    if red == green == blue:
        return str(round(1.0 - 0.9 * red, 3))
    return tuple(round(0.4 + 0.6 * part, 3) for part in (red, green, blue))


def is_dark(axes: Any) -> bool:
    """Whether the background is nearer to black than to white."""
    to_rgba = import_optional("matplotlib.colors").to_rgba
    *background, alpha = to_rgba(axes.get_facecolor())
    if alpha < 0.5:
        background = to_rgba(axes.figure.get_facecolor())[:3]
    # relative luminance (ITU-R BT.709)
    return bool(np.dot(background, (0.2126, 0.7152, 0.0722)) < 0.5)


def escape_mathtext(name: Any) -> str:
    """Escape dollar signs, so that matplotlib does not interpret a name as mathematics."""
    return str(name).replace("$", r"\$")


def compute_text_scale(axes: Any) -> float:
    """Compute the factor by which text must shrink to fit narrow axes; at most 1."""
    spec = axes.get_subplotspec()
    position = axes.get_position() if spec is None else spec.get_position(axes.figure)
    width = position.width * axes.figure.bbox.width / axes.figure.dpi
    return float(np.clip(width / STYLE.ordinary_width, STYLE.least_size, 1.0))


def finish_axes(axes: Any, *, legend: str | None = None, grid: bool = False) -> None:
    """Hide top and right spines, scale text to the axes, and add grid and legend if requested."""
    axes.spines[["top", "right"]].set_visible(False)
    if grid:
        draw_grid(axes)
    size = compute_text_scale(axes)
    if size < 1.0:
        for each in (axes, *axes.child_axes):
            _shrink(each, size)
    if legend is None:
        return
    if size < 1.0:
        place_legend_above(axes)
    else:
        axes.legend(frameon=False, fontsize=STYLE.font_size, loc=legend)


def draw_grid(axes: Any, axis: str = "both") -> None:
    """Draw a faint grid below all other artists."""
    axes.grid(axis=axis, color=adapt_colour(axes, "0.92"), lw=0.8)
    axes.set_axisbelow(True)


def set_title(axes: Any, title: str, colour: Any = INK) -> None:
    """Set a left-aligned title."""
    axes.set_title(title, fontsize=STYLE.title_size, loc="left", color=adapt_colour(axes, colour))


def label_features(axes: Any, x0: Any, x1: Any, names: Sequence[str]) -> None:
    """Set limits and labels of axes over two features."""
    axes.set(xlim=(x0[0], x0[-1]), ylim=(x1[0], x1[-1]), xlabel=names[0], ylabel=names[1])


def draw_circles(
    axes: Any, points: Any, colour: Any, *, size: float, width: float, label: str
) -> Any:
    """Mark points, of shape (2, n_points), by open circles."""
    (circles,) = axes.plot(*points, "o", mfc="none", mec=colour, mew=width, ms=size, label=label)
    return circles


def add_colorbar(axes: Any, drawn: Any, label: str = "", **options: Any) -> Any:
    """Add a colour bar to the right of the axes."""
    size = compute_text_scale(axes)
    bar = axes.figure.colorbar(drawn, ax=axes, pad=0.02, **options)
    bar.outline.set_visible(False)
    bar.set_label(label)
    if size < 1.0:
        _shrink(bar.ax, size)
    return bar


def place_legend_above(axes: Any, most_columns: int = 4) -> Any:
    """Place a legend above the axes, in as many columns as fit."""
    count = len(axes.get_legend_handles_labels()[1])
    if not count:
        return None
    # the original width, as an equal aspect ratio may shrink the axes
    width = axes.get_position(original=True).width * axes.figure.bbox.width
    left = axes.get_window_extent().x0 - axes.get_tightbbox().x0  # width of the tick labels
    available = min(STYLE.legend_width * width, STYLE.total_width * width - left)
    size = compute_text_scale(axes)
    for columns in range(min(count, most_columns), 0, -1):
        n_rows = -(-count // columns)
        legend = axes.legend(
            frameon=False,
            fontsize=STYLE.font_size * size,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=-(-count // n_rows),
            columnspacing=1.4 * size,
            handlelength=2.0 * size**2,
            handletextpad=0.7 * size,
            borderaxespad=0.2,
        )
        if legend.get_window_extent().width <= available:
            break
    for handle in legend.legend_handles:
        if hasattr(handle, "set_markersize"):
            handle.set_markersize(min(handle.get_markersize(), 6) or 5)
            if is_dark(axes):
                _lighten(handle)
    return legend


def _lighten(handle: Any) -> None:
    """Lighten black markers, which are drawn on a light surface, in a dark legend."""
    to_rgb = import_optional("matplotlib.colors").to_rgb
    for read, write in (
        (handle.get_color, handle.set_color),
        (handle.get_markeredgecolor, handle.set_markeredgecolor),
    ):
        colour = read()
        is_drawn = not isinstance(colour, str) or colour.lower() not in ("none", "auto")
        if is_drawn and max(to_rgb(colour)) < 0.3:
            write("0.9")


def _shrink(axes: Any, size: float) -> None:
    """Reduce font sizes by a factor; never increase them."""
    for axis in (axes.xaxis, axes.yaxis):
        now = min((each.get_fontsize() for each in axis.get_ticklabels()), default=10.0)
        axis.set_tick_params(labelsize=min(now, 9.5 * size))
    for text in (
        axes.xaxis.label,
        axes.yaxis.label,
        axes.xaxis.get_offset_text(),
        axes.yaxis.get_offset_text(),
        *axes.texts,
    ):
        text.set_fontsize(min(text.get_fontsize(), 10.0 * size))
    for side in ("left", "center") if hasattr(axes, "get_title") else ():
        if axes.get_title(loc=side):
            axes.set_title(axes.get_title(loc=side), loc=side, fontsize=10.0 * size)
