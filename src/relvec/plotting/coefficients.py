"""Plot of the wavelet or cosine coefficients of a signal, level by level."""

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
from relvec.plotting._axes import adapt_colour, finish_axes, get_axes, place_legend_above
from relvec.plotting._style import DATA, MODEL, STYLE
from relvec.solvers.gaussian.shrinkage import entry_threshold

__all__ = ["CoefficientDisplay", "CoefficientRow"]

KINDS = ("auto", "position", "magnitude")


@dataclass(frozen=True)
class CoefficientRow:
    """Coefficients of one row of the plot, such as a wavelet level."""

    name: str
    """Name of the row."""
    position: Vector
    """Position in the signal, or frequency, of each coefficient; between 0 and 1."""
    value: Vector
    """Observed coefficients, in units of the noise standard deviation."""
    kept: BoolArray
    """Which of them were kept."""


class CoefficientDisplay:
    """Plot of the coefficients of a signal, with those that were kept highlighted.

    For one-dimensional signals each coefficient is a stem at its position, one row per level, on
    a signed square-root scale. For images and volumes each coefficient is a dot at its magnitude.

    Use `from_estimator` to create one.

    Parameters
    ----------
    rows : sequence of CoefficientRow
        From the coarsest level to the finest.
    threshold : float
        Magnitude, in units of the noise, above which a coefficient is kept.
    kind : {"position", "magnitude"}, default="position"
        Horizontal axis.
    xlabel : str, default="position in the signal"
        Label of the positions.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    kept_, dropped_ : matplotlib artists
        Kept and dropped coefficients.

    Examples
    --------
    >>> from relvec import SmoothDenoiser
    >>> from relvec.datasets import make_noisy_signal
    >>> from relvec.plotting import CoefficientDisplay
    >>> data = make_noisy_signal("Bumps", 512, snr=5, random_state=0)
    >>> denoiser = SmoothDenoiser("plain").fit(data.noisy)
    >>> display = CoefficientDisplay.from_estimator(denoiser)
    >>> [row.name for row in display.rows]
    ['approximation', 'level 5', 'level 4', 'level 3', 'level 2', 'level 1']
    """

    def __init__(
        self,
        rows: Sequence[CoefficientRow],
        *,
        threshold: float,
        kind: str = "position",
        xlabel: str = "position in the signal",
    ) -> None:
        if not rows:
            raise ValueError("rows must contain at least one level of coefficients; got none.")
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
        """Plot the coefficients of a fitted denoiser.

        Parameters
        ----------
        denoiser : SmoothDenoiser or PlainModel
            Fitted; for a denoiser its `model_` is used.
        channel : int, optional
            Index of the channel, if the signal has several.
        kind : {"auto", "position", "magnitude"}, default="auto"
            Stems at the positions of the coefficients, for one-dimensional signals only, or dots
            at their magnitudes. "auto" is "position" for one-dimensional signals.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : CoefficientDisplay
        """
        check_choice("kind", kind, KINDS)
        model = get_denoising_model(denoiser, channel)
        is_line = len(model.dictionary.grid_shape) == 1
        if kind == "position" and not is_line:
            raise ValueError(
                'kind="position" needs a one-dimensional signal; the signal has the shape '
                f'{model.dictionary.grid_shape}. Use kind="magnitude".'
            )
        is_wavelet = isinstance(model.dictionary, WaveletDictionary)
        display = cls(
            _rows(model),
            threshold=math.sqrt(entry_threshold(model.c)),
            kind="position" if kind != "magnitude" and is_line else "magnitude",
            xlabel="position in the signal" if is_wavelet else "frequency / maximum frequency",
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : CoefficientDisplay
        """
        height = 1.2 + 0.55 * len(self.rows)
        self.figure_, (self.ax_,) = get_axes(ax, 1, "the rows", figsize=(8.0, max(height, 2.6)))
        if self.kind == "position":
            self._draw_stems()
        else:
            self._draw_magnitudes()
        inches = self.ax_.get_window_extent().height / self.figure_.dpi
        # a label of two lines needs a row of a third of an inch
        form = "{}\n{} of {} kept" if inches / len(self.rows) > 0.33 else "{}: {} of {}"
        names = [
            form.format(row.name, np.count_nonzero(row.kept), len(row.value)) for row in self.rows
        ]
        baselines = -np.arange(len(names))
        self.ax_.set_yticks(baselines, names, fontsize=STYLE.font_size)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(baselines[-1] - 0.6, 0.6)
        finish_axes(self.ax_)
        self.ax_.spines["left"].set_visible(False)
        place_legend_above(self.ax_)
        return self

    def _draw_stems(self) -> None:
        """Draw stems on a square-root scale, which shows small and large coefficients."""
        largest = max(float(np.abs(row.value).max(initial=0.0)) for row in self.rows)
        unit = 0.46 / math.sqrt(max(largest, self.threshold))
        zone = unit * math.sqrt(self.threshold)
        stems: dict[bool, list[Any]] = {False: [], True: []}
        for number, row in enumerate(self.rows):
            top = unit * np.sign(row.value) * np.sqrt(np.abs(row.value)) - number
            label = "below the threshold" if number == 0 else None
            self.ax_.axhspan(
                -number - zone,
                -number + zone,
                color=adapt_colour(self.ax_, "0.94"),
                lw=0,
                label=label,
            )
            for is_kept in (False, True):
                which = row.kept == is_kept
                ends = np.empty((np.count_nonzero(which), 2, 2))
                ends[:, :, 0] = row.position[which, None]
                ends[:, 0, 1], ends[:, 1, 1] = -number, top[which]
                stems[is_kept].append(ends)
        self.dropped_ = self._lines(
            stems[False], "dropped", color=adapt_colour(self.ax_, DATA), lw=0.6
        )
        self.kept_ = self._lines(stems[True], "kept", color=adapt_colour(self.ax_, MODEL), lw=1.6)
        self.ax_.set(xlim=(-0.01, 1.01), xlabel=self.xlabel)

    def _lines(self, ends: list[Any], label: str, **style: Any) -> Any:
        lines = self.ax_.vlines([], [], [], label=label, **style)
        lines.set_segments(np.concatenate(ends))
        return lines

    def _draw_magnitudes(self) -> None:
        """Draw dots at their magnitudes, spread over the height of the row."""
        dots: dict[bool, list[Any]] = {False: [], True: []}
        for number, row in enumerate(self.rows):
            for is_kept in (False, True):
                which = np.flatnonzero(row.kept == is_kept)
                if not is_kept:  # at most 2000 dropped coefficients: more would only overlap
                    which = which[:: -(-len(which) // 2000) or 1]
                # Multiples of the golden ratio are evenly distributed, without a random seed.
                height = (np.arange(len(which)) * 0.618034) % 1.0 - 0.5
                dots[is_kept].append(np.stack([np.abs(row.value[which]), 0.7 * height - number]))
        for is_kept, colour, label in ((False, DATA, "dropped"), (True, MODEL, "kept")):
            across, upwards = np.concatenate(dots[is_kept], axis=1)
            (drawn,) = self.ax_.plot(
                across,
                upwards,
                "o",
                color=adapt_colour(self.ax_, colour),
                ms=2.2,
                mew=0,
                alpha=0.6,
                label=label,
            )
            drawn.set_rasterized(True)
            if is_kept:
                self.kept_ = drawn
            else:
                self.dropped_ = drawn
        self.ax_.axvline(
            self.threshold, color=adapt_colour(self.ax_, "0.15"), lw=1.0, ls="--", label="threshold"
        )
        self.ax_.set(xscale="log", xlabel="|coefficient| / noise std")
        self.ax_.set_xlim(left=max(0.1, self.ax_.get_xlim()[0]))


def _rows(model: PlainModel) -> list[CoefficientRow]:
    values = model.data / math.sqrt(model.noise_variance)
    kept = model.coefficients != 0.0
    dictionary = model.dictionary
    if not isinstance(dictionary, WaveletDictionary):
        position = np.linspace(0.0, 1.0, len(values))
        return [CoefficientRow("cosine coefficients", position, values, kept)]
    rows: dict[int, list[slice]] = {}
    for band in dictionary.subbands:
        rows.setdefault(band.level, []).append(band.slice)
    result = []
    for level, slices in rows.items():
        value = np.concatenate([values[part] for part in slices])
        result.append(
            CoefficientRow(
                name=f"level {level}" if level else "approximation",
                position=(np.arange(len(value)) + 0.5) / len(value),
                value=value,
                kept=np.concatenate([kept[part] for part in slices]),
            )
        )
    return result
