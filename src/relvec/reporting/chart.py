"""Charts as inline SVG.

Colours are CSS classes of the style sheet of the page, so that a chart works in light and dark
mode. The text of a `data-tip` attribute is shown as a tooltip.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.describing import shorten

__all__ = ["Axis", "Chart", "format_number", "pad_range", "shorten_label"]


def format_number(value: float, digits: int = 3) -> str:
    """Format a number for display with a few significant digits.

    Examples
    --------
    >>> (
    ...     format_number(1234.5),
    ...     format_number(0.000123),
    ...     format_number(-2.0),
    ...     format_number(float("nan")),
    ... )
    ('1234', '1.23e-04', '−2', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    size = abs(value)
    if size != 0.0 and (size < 1e-3 or size >= 1e6):
        text = f"{value:.{digits - 1}e}"
    elif size >= 10 ** (digits - 1):
        text = f"{value:.0f}"
    else:
        text = f"{value:.{digits}g}"
    return text.replace("-", "−", 1) if value < 0 else text


def shorten_label(name: str) -> str:
    """Shorten a name that is too long for a tick label."""
    return shorten(name, 22)


def pad_range(values: Any, share: float = 0.05) -> tuple[float, float]:
    """Compute axis limits around all finite values, with some padding.

    Examples
    --------
    >>> pad_range([0.0, 1.0], 0.1)
    (-0.1, 1.1)
    """
    array = np.asarray(values, dtype=np.float64).ravel()
    array = array[np.isfinite(array)]
    if not len(array):
        return 0.0, 1.0
    low, high = float(array.min()), float(array.max())
    padding = share * (high - low) or 0.5 * abs(low) or 0.5
    return low - padding, high + padding


class Axis:
    """Axis of a chart.

    Parameters
    ----------
    low, high : float
        Limits.
    label : str, default=""
        Axis label.
    is_log : bool, default=False
        Whether the scale is logarithmic.
    ticks : sequence of (float, str), optional
        Positions and labels of ticks; round numbers by default.
    """

    def __init__(
        self,
        low: float,
        high: float,
        label: str = "",
        *,
        is_log: bool = False,
        ticks: Sequence[tuple[float, str]] | None = None,
    ) -> None:
        self.low, self.high, self.label, self.is_log = low, high, label, is_log
        if ticks is None:
            ticks = make_log_ticks(low, high) if is_log else make_linear_ticks(low, high)
        self.ticks = list(ticks)
        self.start, self.end = 0.0, 1.0

    def set_position(self, start: float, end: float) -> None:
        """Set the pixel coordinates of the two limits."""
        self.start, self.end = start, end

    def to_pixels(self, values: Any) -> Vector:
        """Convert values to pixel coordinates."""
        array = np.asarray(values, dtype=np.float64)
        low, high = self.low, self.high
        if self.is_log:
            array, low, high = np.log(array), math.log(low), math.log(high)
        share = (array - low) / (high - low)
        return np.asarray(self.start + share * (self.end - self.start))


def make_log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Make ticks of a logarithmic axis at powers of ten, or at multiples if there are fewer than 2.

    Examples
    --------
    >>> [text for _, text in make_log_ticks(0.5, 200.0)]
    ['1', '10', '100']
    """
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    every = max(1, (last - first) // 5)
    powers = [10.0**power for power in range(first, last + 1, every)]
    if len(powers) < 2:
        powers = [10.0 ** math.floor(math.log10(low)) * k for k in range(1, 100)]
        powers = [p for p in powers if low <= p <= high][:6]
    return [(value, format_number(value)) for value in powers]


def make_linear_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Make about five ticks at round numbers.

    Examples
    --------
    >>> [text for _, text in make_linear_ticks(-0.1, 1.1)]
    ['0.00', '0.25', '0.50', '0.75', '1.00']
    """
    raw = (high - low) / 5.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s * power for s in (1.0, 2.0, 2.5, 5.0, 10.0) if s * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    is_quarter = step / power == 2.5
    decimals = max(0, is_quarter - math.floor(math.log10(step)))
    values = [(first + i) * step for i in range(count)]
    if max(abs(low), abs(high)) >= 1e5 or step < 1e-3:
        return [(value, format_number(value)) for value in values]
    return [(v, f"{v + 0.0:.{decimals}f}".replace("-", "−")) for v in values]


class Chart:
    """One chart.

    Parameters
    ----------
    title : str
        Description of the content, also for screen readers.
    x, y : Axis
    width, height : int
        In SVG user units; the chart scales with the page.
    has_grid : bool, default=True
        Draw a faint line at every tick.

    Examples
    --------
    >>> chart = Chart("a line", Axis(0, 1, "x"), Axis(0, 1, "y"))
    >>> chart.line([0, 1], [0, 1], "model")
    >>> chart.svg().startswith("<svg")
    True
    """

    digit_width = 6.6
    """Width of a digit in the font of the tick labels, in SVG user units."""

    def __init__(
        self,
        title: str,
        x: Axis,
        y: Axis,
        *,
        width: int = 460,
        height: int = 300,
        has_grid: bool = True,
    ) -> None:
        self.has_grid = has_grid
        self.title, self.x, self.y = title, x, y
        self.width, self.height = width, height
        longest = max((len(text) for _, text in y.ticks), default=0)
        self.left = min(round(14 + self.digit_width * longest), width // 2) + (20 if y.label else 4)
        self.right, self.top, self.bottom = width - 20, 12, height - (42 if x.label else 24)
        x.set_position(self.left, self.right)
        y.set_position(self.bottom, self.top)
        self.parts: list[str] = []

    def line(self, xs: Any, ys: Any, style: str) -> None:
        """Join points by a line."""
        path = _path(self.x.to_pixels(xs), self.y.to_pixels(ys))
        self.parts.append(f'<path class="line {style}" d="{path}"/>')

    def segments(self, ends: Any, style: str) -> None:
        """Draw many short lines, each from (x0, y0) to (x1, y1)."""
        array = np.asarray(ends, dtype=np.float64).reshape(-1, 4)
        xs, ys = self.x.to_pixels(array[:, ::2]), self.y.to_pixels(array[:, 1::2])
        path = "".join(
            f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}"
            for (a, c), (b, d) in zip(xs.tolist(), ys.tolist(), strict=True)
        )
        self.parts.append(f'<path class="line {style}" d="{path}"/>')

    def band(self, xs: Any, low: Any, high: Any, style: str) -> None:
        """Fill between two lines."""
        x = self.x.to_pixels(xs)
        path = _path(np.r_[x, x[::-1]], np.r_[self.y.to_pixels(low), self.y.to_pixels(high)[::-1]])
        self.parts.append(f'<path class="area {style}" d="{path}Z"/>')

    def dots(
        self, xs: Any, ys: Any, style: str, tips: Iterable[str] | None = None, radius: float = 3.0
    ) -> None:
        """Draw points."""
        x, y = self.x.to_pixels(xs).tolist(), self.y.to_pixels(ys).tolist()
        attributes = (
            [""] * len(x) if tips is None else [f' data-tip="{escape(tip)}"' for tip in tips]
        )
        self.parts.append(f'<g class="dot {style}">')
        self.parts += [
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius:g}"{tip}/>'
            for a, b, tip in zip(x, y, attributes, strict=True)
        ]
        self.parts.append("</g>")

    def hover_points(self, xs: Any, ys: Any, tips: Iterable[str]) -> None:
        """Draw invisible points with tooltips along a line."""
        self.dots(xs, ys, "spot", tips, 6.0)

    def whiskers(self, xs: Any, low: Any, high: Any, style: str) -> None:
        """Draw an upright line through each point."""
        self.segments(np.column_stack([xs, low, xs, high]), style)

    def bar(self, x0: float, x1: float, y0: float, y1: float, style: str, tip: str = "") -> None:
        """Fill a rectangle."""
        (a, b), (c, d) = self.x.to_pixels([x0, x1]).tolist(), self.y.to_pixels([y0, y1]).tolist()
        tooltip = f' data-tip="{escape(tip)}"' if tip else ""
        self.parts.append(
            f'<rect class="area {style}" x="{min(a, b):.1f}" y="{min(c, d):.1f}" '
            f'width="{abs(b - a):.1f}" height="{abs(d - c):.1f}"{tooltip}/>'
        )

    def text(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> None:
        """Write text at a position in data coordinates."""
        a, b = float(self.x.to_pixels(x)), float(self.y.to_pixels(y))
        self.parts.append(
            f'<text class="{style}" x="{a:.1f}" y="{b:.1f}" text-anchor="{anchor}" '
            f'dominant-baseline="central">{escape(text)}</text>'
        )

    def image(self, data: str) -> None:
        """Fill the axes with an image, given as a data URL."""
        self.parts.append(
            f'<image x="{self.left}" y="{self.top}" width="{self.right - self.left}" '
            f'height="{self.bottom - self.top}" preserveAspectRatio="none" href="{data}"/>'
        )

    def svg(self) -> str:
        """Return the markup."""
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(self.title)}">{self._frame()}{"".join(self.parts)}</svg>'
        )

    def _label(self, axis: Axis, length: float) -> str:
        """Return the axis label, shortened to fit."""
        return escape(shorten(axis.label, int(length / self.digit_width)))

    def _tick(self, across: str, where: str, label: str) -> list[str]:
        """Return a grid line, if there is a grid, and its tick label."""
        grid = [f'<path class="grid" d="{across}"/>'] if self.has_grid else []
        return [*grid, f'<text class="tick" {where}>{escape(label)}</text>']

    def _frame(self) -> str:
        parts = []
        for value, label in self.y.ticks:
            at = f"{float(self.y.to_pixels(value)):.1f}"
            where = f'x="{self.left - 8}" y="{at}" text-anchor="end" dominant-baseline="central"'
            parts += self._tick(f"M{self.left} {at}H{self.right}", where, label)
        for value, label in self.x.ticks:
            at = f"{float(self.x.to_pixels(value)):.1f}"
            where = f'x="{at}" y="{self.bottom + 17}" text-anchor="middle"'
            parts += self._tick(f"M{at} {self.top}V{self.bottom}", where, label)
        middle = 0.5 * (self.top + self.bottom)
        if self.y.label:
            parts.append(
                f'<text class="label" transform="translate(13 {middle:.1f}) rotate(-90)" '
                f'text-anchor="middle">{self._label(self.y, self.height)}</text>'
            )
        if self.x.label:
            center = 0.5 * (self.left + self.right)
            parts.append(
                f'<text class="label" x="{center:.1f}" y="{self.height - 6}" '
                f'text-anchor="middle">{self._label(self.x, self.width)}</text>'
            )
        return "".join(parts)


def _path(xs: Vector, ys: Vector) -> str:
    """Return the path of straight lines through points; values that are not finite leave gaps."""
    steps, pen_down = [], False
    for a, b in zip(xs.tolist(), ys.tolist(), strict=True):
        is_finite = math.isfinite(a) and math.isfinite(b)
        if is_finite:
            steps.append(f"{'L' if pen_down else 'M'}{a:.1f} {b:.1f}")
        pen_down = is_finite
    return "".join(steps)
