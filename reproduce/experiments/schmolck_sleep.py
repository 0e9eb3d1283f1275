"""Figures 2.16 to 2.18 of Schmolck (2008): spindles in a sleep recording, on other data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.fft import dct, idct
from scipy.signal import hilbert
from sklearn.exceptions import ConvergenceWarning

from bench.report import Table, number
from relvec import SparseBayesRegressor
from relvec.bases import CosineBasis
from reproduce.common.plots import COLOURS, GREY, make_figure
from reproduce.common.published import find
from reproduce.engine import Cell, Experiment, Results, Settings, Task

__all__ = ["EXPERIMENT", "bursts", "denoise", "in_band"]

PROTOCOL = """
Section 2.6.5: a sleep recording is denoised in its cosine transform with the "RIC" prior, and
reconstructed from the frequencies of sleep spindles.

- **The data are a substitute**: the recording of the thesis (4097 samples, annotated by an expert)
  is private. Ours has 15 s of sleep stage N2 at 200 Hz, of another person, without annotations. So
  plots can only be compared qualitatively, and there are no numbers to compare.
- The spindle band is 11 to 16 Hz, the definition of sleep medicine; the thesis chose its band, the
  "second blob", by eye. Its "first blob" is taken to be the frequencies below 4 Hz.
- A spindle is marked where the envelope of the band exceeds its mean by one standard deviation for
  at least half a second, the shortest duration of a spindle. This rule was fixed before any plot
  was drawn; it is a crude substitute for the expert.
- The thesis also tried no prior and gave up at about 2000 components of 4096. Our model stops at
  half the number of samples with a warning; the table has the number of components for all priors.
"""
PRIORS = {"flat": "None", "aic": "AIC", "bic": "BIC", "ric": "RIC"}
SPINDLES = (11.0, 16.0)
SLOW = (0.0, 4.0)
SHORTEST = 0.5
SHOWN_TO = 30.0
"""Highest frequency drawn, in hertz."""


def _read(folder: Path | None) -> tuple[np.ndarray, float]:
    with np.load(find(folder, "sleep_eeg_spindles.npz"), allow_pickle=False) as file:
        return file["y"], float(file["fs"])


def _frequencies(n: int, rate: float) -> np.ndarray:
    """Return the frequency of each cosine in hertz."""
    return np.arange(n) * rate / (2.0 * n)


def in_band(weights: np.ndarray, rate: float, band: tuple[float, float]) -> np.ndarray:
    """Return the weights with those outside of a band of frequencies set to zero."""
    frequencies = _frequencies(len(weights), rate)
    return np.where((frequencies >= band[0]) & (frequencies < band[1]), weights, 0.0)


def denoise(folder: Path | None, prior: str) -> dict[str, Any]:
    """Find the weights of all cosines under a prior."""
    y, rate = _read(folder)
    time = np.arange(len(y))[:, np.newaxis] / rate
    model = SparseBayesRegressor(
        CosineBasis(),
        prior=prior,
        fit_intercept=False,
        min_gain=0.0,
        error_bars="plain",
        calibrate=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says so
        model.fit(time, y)
    return {
        "atoms": model.relevance_,
        "weights": model.coef_,
        "noise": float(np.sqrt(model.noise_variance_)),
        "converged": bool(model.converged_),
    }


def bursts(signal: np.ndarray, rate: float) -> list[tuple[float, float]]:
    """Return start and end, in seconds, of intervals in which the envelope is large."""
    envelope = np.abs(hilbert(signal))
    high = envelope > envelope.mean() + envelope.std()
    edges = np.flatnonzero(np.diff(np.r_[False, high, False].astype(int)))
    spans = edges.reshape(-1, 2) / rate
    return [(float(start), float(end)) for start, end in spans if end - start >= SHORTEST]


def _tasks(settings: Settings, results: Results) -> list[Task]:
    return [Task(f"denoise/{prior}", denoise, (prior,)) for prior in PRIORS]


def _no_cells(results: Results, settings: Settings) -> list[Cell]:
    return []


def _weights(result: dict[str, Any], n: int) -> np.ndarray:
    weights = np.zeros(n)
    weights[np.asarray(result["atoms"], dtype=int)] = result["weights"]
    return weights


def _signal(weights: np.ndarray) -> np.ndarray:
    signal: np.ndarray = idct(weights, norm="ortho")
    return signal


def _tables(results: Results, settings: Settings) -> list[Table]:
    y, rate = _read(settings.folder)
    rows = []
    for prior, name in PRIORS.items():
        found = results[f"denoise/{prior}"]
        weights = _weights(found, len(y))
        spindles = in_band(weights, rate, SPINDLES)
        rows.append(
            [
                name,
                str(len(found["atoms"])),
                str(np.count_nonzero(spindles)),
                number(found["noise"]),
                number(float(_signal(spindles).std())),
                str(len(bursts(_signal(spindles), rate))),
                "yes" if found["converged"] else "no",
            ]
        )
    head = ["prior", "cosines", "in the band", "noise sd µV", "band sd µV", "marks", "converged"]
    return [Table(f"{len(y)} samples of a sleep recording with each prior", head, rows)]


def _mark(axes: Axes, spans: list[tuple[float, float]]) -> None:
    for place, (start, end) in enumerate(spans):
        label = "large envelope in the band" if place == 0 else None
        axes.axvspan(start, end, color=COLOURS[4], alpha=0.3, linewidth=0.0, label=label)


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    y, rate = _read(settings.folder)
    weights = _weights(results["denoise/ric"], len(y))
    band = _signal(in_band(weights, rate, SPINDLES))
    rest = _signal(weights - in_band(weights, rate, SLOW))
    whole = _signal(weights)
    name = "schmolck_sleep"
    return {
        f"{name}_2_16": _draw_recording(y, whole, band, rate),
        f"{name}_2_17": _draw_weights(np.asarray(dct(y, norm="ortho")), weights, rate),
        f"{name}_2_18": _draw_parts(band, rest, whole - band, rate),
    }


def _rows(n: int, spans: list[tuple[float, float]]) -> tuple[Figure, list[Axes]]:
    figure, panels = make_figure(n, 1, width=10.0, height=2.2, sharex=True)
    rows = list(panels[:, 0])
    for axes in rows:
        _mark(axes, spans)
        axes.set_ylabel("µV")
    rows[-1].set_xlabel("time in s")
    return figure, rows


def _draw_recording(y: np.ndarray, whole: np.ndarray, band: np.ndarray, rate: float) -> Figure:
    time = np.arange(len(y)) / rate
    figure, (raw, clean, absolute) = _rows(3, bursts(band, rate))
    raw.plot(time, y, color="0.3", linewidth=0.6)
    raw.set_title("recording as it is (a substitute: stage N2, not the thesis' data)")
    raw.legend(loc="lower left", fontsize="small")
    clean.plot(time, whole, color=COLOURS[0], linewidth=0.8)
    clean.set_title("denoised, RIC")
    absolute.plot(time, np.abs(band), color=COLOURS[0], linewidth=0.8)
    absolute.plot(time, np.abs(hilbert(band)), color=COLOURS[1], linewidth=1.0)
    low, high = SPINDLES
    absolute.set_title(f"absolute value of its part from {low:g} to {high:g} Hz, and envelope")
    return figure


def _draw_weights(raw: np.ndarray, weights: np.ndarray, rate: float) -> Figure:
    frequencies = _frequencies(len(raw), rate)
    figure, panels = make_figure(2, 1, width=10.0, height=2.6, sharex=True, sharey=True)
    kept = int(np.count_nonzero(weights))
    for axes, values, title in (
        (panels[0, 0], raw, f"cosine transform of the recording, {len(raw)} weights"),
        (panels[1, 0], weights, f"posterior means under RIC, {kept} weights"),
    ):
        axes.axvspan(*SPINDLES, color=COLOURS[4], alpha=0.3, linewidth=0.0, label="spindles")
        axes.axvspan(*SLOW, color=GREY, alpha=0.3, linewidth=0.0, label="slow waves")
        axes.vlines(
            frequencies[values != 0.0], 0.0, values[values != 0.0], colors=COLOURS[0], lw=0.7
        )
        axes.set_yscale("symlog", linthresh=20.0)
        axes.set_title(title, fontsize="medium")
        axes.set_ylabel("weight in µV")
    panels[0, 0].legend(loc="upper right", fontsize="small")
    panels[1, 0].set_xlim(0.0, SHOWN_TO)
    panels[1, 0].set_xlabel(f"frequency in Hz (up to {rate / 2:g} in the data)")
    return figure


def _draw_parts(band: np.ndarray, rest: np.ndarray, other: np.ndarray, rate: float) -> Figure:
    time = np.arange(len(band)) / rate
    figure, rows = _rows(3, bursts(band, rate))
    for axes, signal, title in (
        (rows[0], np.abs(rest), f"absolute value without what is below {SLOW[1]:g} Hz"),
        (rows[1], np.abs(band), "absolute value of the band of spindles only"),
        (rows[2], other, "all but the band of spindles"),
    ):
        axes.plot(time, signal, color=COLOURS[0], linewidth=0.8)
        axes.set_title(title, fontsize="medium")
    rows[0].legend(loc="upper left", fontsize="small")
    return figure


EXPERIMENT = Experiment(
    source="Schmolck 2008, Figures 2.16 to 2.18",
    title="spindles in a sleep recording, on other data",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_no_cells,
    figures=_figures,
    tables=_tables,
)
