"""Which components carry a signal: coefficients level by level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from relvec._checks import check_choice, check_positive
from relvec._typing import BoolArray, Vector
from relvec.denoising.plain import PlainModel
from relvec.describing import get_denoising_model
from relvec.dictionaries import WaveletDictionary
from relvec.estimators import SmoothDenoiser
from relvec.plotting._axes import finish, legend_above, take_axes, tone
from relvec.plotting._style import DATA, MODEL, STYLE
from relvec.solvers.gaussian.shrinkage import entry_threshold

__all__ = ["CoefficientDisplay", "CoefficientRow"]

KINDS = ("auto", "place", "size")


@dataclass(frozen=True)
class CoefficientRow:
    """Coefficients that are drawn side by side."""

    name: str
    """What they are: a level, say."""
    place: Vector
    """Where along the signal each has its centre, or its frequency; between 0 and 1."""
    size: Vector
    """Coefficients of the data, in units of the noise."""
    kept: BoolArray
    """Which of them carry the signal."""


class CoefficientDisplay:
    """Picture of the coefficients of a signal, those that were kept standing out.

    Of a line every coefficient is a stem at its place, one row for each level, upwards and
    downwards on a square root scale. Of images and volumes every coefficient is a dot at its
    size.

    Use `from_estimator` to make one.

    Parameters
    ----------
    rows : sequence of CoefficientRow
        From the coarsest level to the finest.
    threshold : float
        Size, in units of the noise, above which a coefficient is kept.
    kind : {"place", "size"}, default="place"
        What is drawn across.
    xlabel : str, default="place in the signal"
        What the places are.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    kept_, dropped_ : matplotlib artists
        All coefficients of either fate.

    Examples
    --------
    >>> from relvec import SmoothDenoiser
    >>> from relvec.datasets import make_noisy_signal
    >>> from relvec.plotting import CoefficientDisplay
    >>> data = make_noisy_signal("Bumps", 512, snr=5, random_state=0)
    >>> denoiser = SmoothDenoiser("plain").fit(data.noisy)
    >>> display = CoefficientDisplay.from_estimator(denoiser)
    >>> [row.name for row in display.rows]
    ['coarsest', 'level 5', 'level 4', 'level 3', 'level 2', 'level 1']
    """

    def __init__(
        self,
        rows: Sequence[CoefficientRow],
        *,
        threshold: float,
        kind: str = "place",
        xlabel: str = "place in the signal",
    ) -> None:
        if not rows:
            raise ValueError("rows must hold at least one level of coefficients; got none.")
        self.rows = list(rows)
        self.threshold = check_positive("threshold", threshold)
        self.kind = check_choice("kind", kind, KINDS[1:])
        self.xlabel = xlabel

    @classmethod
    def from_estimator(
        cls,
        denoiser: SmoothDenoiser | PlainModel,
        *,
        channel: int | None = None,
        kind: str = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw the coefficients of a plain model.

        Parameters
        ----------
        denoiser : SmoothDenoiser or PlainModel
            Fitted; of a denoiser its `model_` is drawn.
        channel : int, optional
            Which part, if the signal has several.
        kind : {"auto", "place", "size"}, default="auto"
            Stems at the places of the coefficients, for lines only, or dots at their sizes.
            "auto" is "place" for lines.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : CoefficientDisplay
        """
        check_choice("kind", kind, KINDS)
        model = get_denoising_model(denoiser, channel)
        is_line = len(model.dictionary.grid_shape) == 1
        if kind == "place" and not is_line:
            raise ValueError(
                'kind="place" draws the coefficients of a line; the signal has the shape '
                f'{model.dictionary.grid_shape}. Use kind="size".'
            )
        is_wavelet = isinstance(model.dictionary, WaveletDictionary)
        display = cls(
            _rows(model),
            threshold=math.sqrt(entry_threshold(model.c)),
            kind="place" if kind != "size" and is_line else "size",
            xlabel="place in the signal" if is_wavelet else "frequency / largest frequency",
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : CoefficientDisplay
        """
        height = 1.2 + 0.55 * len(self.rows)
        self.figure_, (self.ax_,) = take_axes(ax, 1, "the rows", figsize=(8.0, max(height, 2.6)))
        if self.kind == "place":
            self._draw_places()
        else:
            self._draw_sizes()
        inches = self.ax_.get_window_extent().height / self.figure_.dpi
        # a row of a third of an inch has room for a name of two lines
        form = "{}\n{} of {} kept" if inches / len(self.rows) > 0.33 else "{}: {} of {}"
        names = [
            form.format(row.name, np.count_nonzero(row.kept), len(row.size)) for row in self.rows
        ]
        baselines = -np.arange(len(names))
        self.ax_.set_yticks(baselines, names, fontsize=STYLE.font_size)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(baselines[-1] - 0.6, 0.6)
        finish(self.ax_)
        self.ax_.spines["left"].set_visible(False)
        legend_above(self.ax_)
        return self

    def _draw_places(self) -> None:
        """Stems, with square roots of their sizes: noise and peaks are both to be seen."""
        largest = max(float(np.abs(row.size).max(initial=0.0)) for row in self.rows)
        unit = 0.46 / math.sqrt(max(largest, self.threshold))
        zone = unit * math.sqrt(self.threshold)
        stems: dict[bool, list[Any]] = {False: [], True: []}
        for number, row in enumerate(self.rows):
            top = unit * np.sign(row.size) * np.sqrt(np.abs(row.size)) - number
            label = "below the threshold" if number == 0 else None
            self.ax_.axhspan(
                -number - zone, -number + zone, color=tone(self.ax_, "0.94"), lw=0, label=label
            )
            for fate in (False, True):
                which = row.kept == fate
                ends = np.empty((np.count_nonzero(which), 2, 2))
                ends[:, :, 0] = row.place[which, None]
                ends[:, 0, 1], ends[:, 1, 1] = -number, top[which]
                stems[fate].append(ends)
        self.dropped_ = self._lines(stems[False], "dropped", color=tone(self.ax_, DATA), lw=0.6)
        self.kept_ = self._lines(stems[True], "kept", color=tone(self.ax_, MODEL), lw=1.6)
        self.ax_.set(xlim=(-0.01, 1.01), xlabel=self.xlabel)

    def _lines(self, ends: list[Any], label: str, **style: Any) -> Any:
        lines = self.ax_.vlines([], [], [], label=label, **style)
        lines.set_segments(np.concatenate(ends))
        return lines

    def _draw_sizes(self) -> None:
        """Dots at their sizes, spread over the height of the row for legibility."""
        dots: dict[bool, list[Any]] = {False: [], True: []}
        for number, row in enumerate(self.rows):
            for fate in (False, True):
                which = np.flatnonzero(row.kept == fate)
                if not fate:  # of dropped ones at most 2000: more only blacken the row
                    which = which[:: -(-len(which) // 2000) or 1]
                # multiples of the golden ratio fill the height evenly, without a seed
                height = (np.arange(len(which)) * 0.618034) % 1.0 - 0.5
                dots[fate].append(np.stack([np.abs(row.size[which]), 0.7 * height - number]))
        for fate, colour, label in ((False, DATA, "dropped"), (True, MODEL, "kept")):
            across, upwards = np.concatenate(dots[fate], axis=1)
            (drawn,) = self.ax_.plot(
                across,
                upwards,
                "o",
                color=tone(self.ax_, colour),
                ms=2.2,
                mew=0,
                alpha=0.6,
                label=label,
            )
            drawn.set_rasterized(True)
            if fate:
                self.kept_ = drawn
            else:
                self.dropped_ = drawn
        self.ax_.axvline(
            self.threshold, color=tone(self.ax_, "0.15"), lw=1.0, ls="--", label="threshold"
        )
        self.ax_.set(xscale="log", xlabel="size / noise")
        self.ax_.set_xlim(left=max(0.1, self.ax_.get_xlim()[0]))


def _rows(model: PlainModel) -> list[CoefficientRow]:
    sizes = model.data / math.sqrt(model.noise_variance)
    kept = model.coefficients != 0.0
    dictionary = model.dictionary
    if not isinstance(dictionary, WaveletDictionary):
        place = np.linspace(0.0, 1.0, len(sizes))
        return [CoefficientRow("cosines", place, sizes, kept)]
    rows: dict[int, list[slice]] = {}
    for band in dictionary.subbands:
        rows.setdefault(band.level, []).append(band.slice)
    result = []
    for level, slices in rows.items():
        size = np.concatenate([sizes[part] for part in slices])
        result.append(
            CoefficientRow(
                name=f"level {level}" if level else "coarsest",
                place=(np.arange(len(size)) + 0.5) / len(size),
                size=size,
                kept=np.concatenate([kept[part] for part in slices]),
            )
        )
    return result
