"""What all displays share: taking axes, words that fit, legends and grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relvec._compat import import_optional
from relvec.plotting._style import INK, STYLE

__all__ = [
    "add_colorbar",
    "draw_grid",
    "draw_rings",
    "finish",
    "is_dark",
    "legend_above",
    "name_inputs",
    "plain",
    "set_title",
    "smallness",
    "take_axes",
    "tone",
]


def take_axes(ax: Any, n_axes: int, what: str, **layout: Any) -> tuple[Any, list[Any]]:
    """Return a figure and `n_axes` of its axes: those given, or new ones.

    Parameters
    ----------
    ax : matplotlib Axes, sequence of them, or None
        Where to draw; None makes a new figure.
    n_axes : int
        How many are needed.
    what : str
        What the picture consists of, for the error.
    **layout : dict
        Of a new figure: arguments of ``pyplot.subplots``.
    """
    if ax is None:
        pyplot = import_optional("matplotlib.pyplot")
        figure, axes = pyplot.subplots(**{"layout": "constrained", **layout}, squeeze=False)
        return figure, list(axes.ravel())
    axes = [ax] if hasattr(ax, "plot") else list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != n_axes or not all(hasattr(each, "plot") for each in axes):
        raise ValueError(
            f"ax must hold {n_axes} matplotlib axes, for {what}; got {len(axes)} of type "
            f"{type(axes[0]).__name__ if axes else 'nothing'}. Leave ax out for a new figure."
        )
    return axes[0].figure, axes


def tone(axes: Any, colour: Any) -> Any:
    """Return a colour as it is, or so that it can be seen if the axes are dark.

    Parameters
    ----------
    axes : matplotlib Axes
        Whose background counts.
    colour : colour of matplotlib
        Chosen for white paper: greys are turned round, others made lighter.
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
    *paper, alpha = to_rgba(axes.get_facecolor())
    if alpha < 0.5:
        paper = to_rgba(axes.figure.get_facecolor())[:3]
    # how light the eye takes red, green and blue to be (ITU-R BT.709)
    return bool(np.dot(paper, (0.2126, 0.7152, 0.0722)) < 0.5)


def plain(name: Any) -> str:
    """Return a name from data so that matplotlib writes it as it is, and not as mathematics."""
    return str(name).replace("$", r"\$")


def smallness(axes: Any) -> float:
    """How much smaller than usual words must be to fit: 1 unless the axes are narrow."""
    spec = axes.get_subplotspec()
    place = axes.get_position() if spec is None else spec.get_position(axes.figure)
    width = place.width * axes.figure.bbox.width / axes.figure.dpi
    return float(np.clip(width / STYLE.ordinary_width, STYLE.least_size, 1.0))


def finish(axes: Any, *, legend: str | None = None, grid: bool = False) -> None:
    """Take away what says nothing, make words fit, and add a legend at a place unless None."""
    axes.spines[["top", "right"]].set_visible(False)
    if grid:
        draw_grid(axes)
    size = smallness(axes)
    if size < 1.0:
        for each in (axes, *axes.child_axes):
            _shrink(each, size)
    if legend is None:
        return
    if size < 1.0:
        legend_above(axes)
    else:
        axes.legend(frameon=False, fontsize=STYLE.font_size, loc=legend)


def draw_grid(axes: Any, axis: str = "both") -> None:
    """Draw faint lines below everything else."""
    axes.grid(axis=axis, color=tone(axes, "0.92"), lw=0.8)
    axes.set_axisbelow(True)


def set_title(axes: Any, words: str, colour: Any = INK) -> None:
    """Say above the left end of axes what they show."""
    axes.set_title(words, fontsize=STYLE.title_size, loc="left", color=tone(axes, colour))


def name_inputs(axes: Any, x0: Any, x1: Any, names: Sequence[str]) -> None:
    """Let axes end where a grid over two inputs does, and name the inputs."""
    axes.set(xlim=(x0[0], x0[-1]), ylim=(x1[0], x1[-1]), xlabel=names[0], ylabel=names[1])


def draw_rings(
    axes: Any, points: Any, colour: Any, *, size: float, width: float, label: str
) -> Any:
    """Mark points, of shape (2, n_points), by rings, which let what is below be seen."""
    (rings,) = axes.plot(*points, "o", mfc="none", mec=colour, mew=width, ms=size, label=label)
    return rings


def add_colorbar(axes: Any, drawn: Any, label: str = "", **options: Any) -> Any:
    """Explain colours at the right of axes."""
    size = smallness(axes)
    bar = axes.figure.colorbar(drawn, ax=axes, pad=0.02, **options)
    bar.outline.set_visible(False)
    bar.set_label(label)
    if size < 1.0:
        _shrink(bar.ax, size)
    return bar


def legend_above(axes: Any, most_columns: int = 4) -> Any:
    """Put a legend above the axes, where it hides nothing, in as many columns as there is room."""
    count = len(axes.get_legend_handles_labels()[1])
    if not count:
        return None
    # the place the axes have, of which equal units may take a part only
    width = axes.get_position(original=True).width * axes.figure.bbox.width
    left = axes.get_window_extent().x0 - axes.get_tightbbox().x0  # long names of rows
    room = min(STYLE.room_above * width, STYLE.room_in_all * width - left)
    size = smallness(axes)
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
        if legend.get_window_extent().width <= room:
            break
    for handle in legend.legend_handles:
        if hasattr(handle, "set_markersize"):
            handle.set_markersize(min(handle.get_markersize(), 6) or 5)
            if is_dark(axes):
                _lighten(handle)
    return legend


def _lighten(handle: Any) -> None:
    """Make a mark that is black, because it is drawn on a light surface, seen in a dark legend."""
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
    """Make words as small as the axes need, but none larger than it was."""
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
