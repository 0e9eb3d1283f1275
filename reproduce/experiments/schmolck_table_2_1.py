"""Table 2.1 of Schmolck (2008): smoothness priors on Bumps, Sinc and Doppler."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from bench.report import Table, number
from relvec.datasets import NoisySignal, make_noisy_signal
from reproduce.common.plots import COLOURS, make_figure
from reproduce.common.published import load
from reproduce.common.smooth_models import WAVELAB, fit_kernels, fit_wavelets
from reproduce.engine import Cell, Experiment, Kind, Results, Settings, Task

__all__ = ["EXPERIMENT", "Row", "fit_draw", "read_rows", "shift_line"]

PROTOCOL = """
The relevance vector machine ("None") and the smooth relevance vector machine with three penalties
per degree of freedom. S is the number of components, MSE the mean squared error with respect to the
clean signal, σ² the estimated noise variance. The thesis has means and standard deviations over 10
draws of the noise; ours are over 40 new draws.

- **Noise**: the SNR is the standard deviation of the clean signal over that of the noise. The noise
  is shifted and scaled to mean zero and exactly the specified variance, as the small standard
  deviations of the published errors of interpolating models imply.
- **Bumps** is on WaveLab's grid 1/N, ..., 1: only this grid gives the published σ² = 0.119.
  **Doppler**: the thesis gives SNR 2 and σ² = 0.031, the values of Sinc, which would imply errors
  ten times larger than those published; SNR 7, as in its Figure 2.12, gives them.
- **symmlet**: symmlet 8 with the largest number of levels. The circular shift of the wavelets is
  not given, and the results depend on it. The thesis names WaveLab as the source of its signals, so
  we use the shift of WaveLab's `FWT_PO`: that of PyWavelets moved by seven samples. This was
  decided after other shifts had been seen not to give the published values; the last table has
  more.
- **σ² of symmlets** is the largest mode of equation (2.84) with g = h = 1e-4: Algorithm 1 decreases
  towards it. (Run as published, on 20 draws of nine lines, it ended there each time.) Without a
  penalty the model interpolates: all noise levels up to the smallest squared coefficient have the
  same evidence (marginal likelihood). We take the largest, so one component is left out.
- **Chosen by comparison with the published values**, by the number of lines that agree: the shift
  of the wavelets; the largest number of levels (of six); the filter as it is (neither reversed nor
  symmlet 4); no mean removed beforehand; the mode of (2.84) instead of a flat prior or g + 1; the
  mode with the largest σ² instead of the highest mode. So the reading of the thesis was searched
  for, on other draws than those of the table.
- **gauss 3.0**: `RVMRegressor` with kernels exp(−(x − z)²/3²) on 128 points of [−10, 10], without
  an intercept. Our penalty uses the exact effective degrees of freedom, also for overlapping
  kernels; that of the thesis, equation (2.60), uses the sum that would hold if kernels did not
  overlap.
"""
TABLE = ("schmolck", "table_2_1")
N_DRAWS = 40
FIRST_SEED = 1000
"""Draws below this number were used to choose the protocol."""
N_RUNS = 10
"""Repetitions of a published value."""
N_SHIFT_DRAWS = 10
N_SHIFTS = 128
"""Circular shifts of the wavelets that are tried."""
DOPPLER_SNR = 7.0
COLUMNS = ("S", "MSE", "σ²")
ENTRIES = ("n_components", "error", "noise_variance")
KINDS = (Kind.SIZE, Kind.ERROR, Kind.ESTIMATE)
UNITS = {"joint": (0.1, 1e-3, 1e-3), "given": (0.1, 1e-5)}
"""Units of the last published digits."""


class Row(NamedTuple):
    """A published line of the table."""

    signal: str
    n: int
    snr: float
    kernel: str
    prior: str
    is_noise_given: bool
    means: tuple[float, ...]
    """Number of components, mean squared error, and noise variance unless it is given."""
    spreads: tuple[float, ...]

    @property
    def label(self) -> str:
        """Name shown in tables."""
        noise = ", σ² given" if self.is_noise_given else ""
        return f"{self.signal.capitalize()} SNR {self.snr:g}{noise}, {self.kernel}, {self.prior}"

    @property
    def is_wavelet(self) -> bool:
        """Whether the model uses wavelets."""
        return self.kernel == "symmlet"

    @property
    def is_interpolating(self) -> bool:
        """Whether the model interpolates the data at every shift."""
        return self.is_wavelet and self.prior == "None" and not self.is_noise_given

    @property
    def model(self) -> str:
        """Name of the model: RVM without a penalty, otherwise sRVM."""
        return "RVM" if self.prior == "None" else "sRVM"


def read_rows(folder: Path | None) -> list[Row]:
    """Return the published lines."""
    table = load(folder, *TABLE)
    rows = []
    for name, is_given in (("rows", False), ("rows_sigma2_given", True)):
        for signal, n, snr, _, kernel, prior, *figures in table[name]:
            means, spreads = tuple(figures[::2]), tuple(figures[1::2])
            snr = DOPPLER_SNR if is_given else snr
            rows.append(Row(signal, n, snr, kernel, prior, is_given, means, spreads))
    return rows


def _draw(signal: str, n: int, snr: float, seed: int) -> NoisySignal:
    return make_noisy_signal(signal, n, snr=snr, exact_noise=True, random_state=seed)


def fit_draw(folder: Path | None, row: Sequence[Any], seed: int) -> dict[str, float]:
    """Fit a line (the first six fields of a `Row`) to one draw."""
    signal, n, snr, kernel, prior, is_noise_given = row
    draw = _draw(signal, n, snr, seed)
    truth = draw.noise_std**2
    if kernel == "symmlet":
        fit = fit_wavelets(draw.noisy, draw.clean, prior, truth if is_noise_given else None)
    else:
        fit = fit_kernels(draw.noisy, draw.clean, prior, float(kernel.split()[1]))
    return {**fit._asdict(), "truth": truth}


def shift_line(
    folder: Path | None, row: Sequence[Any], n_shifts: int, n_draws: int
) -> dict[str, Any]:
    """Fit a line at many shifts of the wavelets; values by shift, draw and column."""
    signal, n, snr, _, prior, is_noise_given = row
    draws = [_draw(signal, n, snr, seed) for seed in range(n_draws)]
    shifts = (WAVELAB + np.arange(n_shifts)) % n
    figures = [
        [
            fit_wavelets(
                draw.noisy,
                draw.clean,
                prior,
                draw.noise_std**2 if is_noise_given else None,
                int(shift),
            )
            for draw in draws
        ]
        for shift in shifts
    ]
    return {"figures": np.array(figures)}


def _tasks(settings: Settings, results: Results) -> list[Task]:
    rows = read_rows(settings.folder)
    fits = [
        Task(f"fit/{row.label}/{draw}", fit_draw, (tuple(row[:6]), FIRST_SEED + draw))
        for row in rows
        for draw in range(settings.draws(N_DRAWS))
    ]
    how_many = (4, 2) if settings.is_quick else (N_SHIFTS, N_SHIFT_DRAWS)
    shifts = [
        Task(f"shifts/{row.label}", shift_line, (tuple(row[:6]), *how_many))
        for row in rows
        if row.is_wavelet and not row.is_interpolating
    ]
    return fits + shifts


def _cell(row: Row, i: int, values: Sequence[float], truth: float) -> Cell:
    """Return the cell of column `i`."""
    return Cell.of(
        row.label,
        COLUMNS[i],
        row.model,
        row.means[i],
        values,
        kind=KINDS[i],
        runs=N_RUNS,
        spread=row.spreads[i],
        truth=truth if KINDS[i] is Kind.ESTIMATE else None,
        unit=UNITS["given" if row.is_noise_given else "joint"][i],
        # wavelets without a penalty interpolate; Doppler's noise was inferred from its lines
        is_test=not (row.is_interpolating or row.is_noise_given),
    )


def _cells(results: Results, settings: Settings) -> list[Cell]:
    return [
        _cell(row, i, results.column(f"fit/{row.label}", entry), _truth(results, row))
        for row in read_rows(settings.folder)
        for i, entry in enumerate(ENTRIES[: len(row.means)])
    ]


def _truth(results: Results, row: Row) -> float:
    truth: float = results.column(f"fit/{row.label}", "truth")[0]
    return truth


def _agreeing(results: Results, row: Row) -> np.ndarray:
    """Find the shifts at which all values of a line agree with the published ones."""
    truth = _truth(results, row)
    return np.array(
        [
            all(_cell(row, i, place[:, i], truth).agrees for i in range(len(row.means)))
            for place in _by_place(results, row)
        ]
    )


def _by_place(results: Results, row: Row) -> np.ndarray:
    return np.asarray(results[f"shifts/{row.label}"]["figures"])


def _tables(results: Results, settings: Settings) -> list[Table]:
    rows = [row for row in read_rows(settings.folder) if f"shifts/{row.label}" in results]
    lines = []
    for row in rows:
        means = _by_place(results, row).mean(axis=1)[:, : len(row.means)]
        ranges = [f"{number(low, 2)} – {number(high, 2)}" for low, high in _ends(means)]
        ranges += ["–"] * (len(COLUMNS) - len(ranges))
        agreeing = _agreeing(results, row)
        lines.append([row.label, *ranges, f"{agreeing.sum()} of {len(agreeing)}"])
    by_signal: dict[str, list[Row]] = {}
    for row in rows:
        by_signal.setdefault(row.label.split(",")[0], []).append(row)
    for name, group in by_signal.items():
        together = np.logical_and.reduce([_agreeing(results, row) for row in group])
        count = f"{together.sum()} of {len(together)}"
        lines.append([f"{name}, symmlet, all penalties at one shift", "–", "–", "–", count])
    head = ["", *(f"{name} over shifts" for name in COLUMNS), "shifts that agree"]
    title = "Symmlets at all circular shifts: means of few draws, and number of shifts that agree"
    return [Table(title, head, lines)]


def _ends(means: np.ndarray) -> list[tuple[float, float]]:
    return list(zip(means.min(axis=0), means.max(axis=0), strict=True))


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    """Draw the ratio of ours to the published value, with two standard errors."""
    figure, panels = make_figure(1, 1, width=8.5, height=6.5)
    axes = panels[0, 0]
    rows = read_rows(settings.folder)[::-1]
    for i, (column, colour, marker) in enumerate(zip(COLUMNS, COLOURS, "osD", strict=False)):
        cells = [
            (place, _cell(row, i, results.column(f"fit/{row.label}", ENTRIES[i]), 0.0))
            for place, row in enumerate(rows)
            if i < len(row.means) and row.means[i] > 0.0
        ]
        axes.errorbar(
            [cell.ratio for _, cell in cells],
            [place + 0.22 * (1 - i) for place, _ in cells],
            xerr=[cell.slack / cell.published for _, cell in cells],
            fmt=marker,
            color=colour,
            markersize=4.5,
            capsize=2.0,
            label=column,
        )
    axes.axvline(1.0, color="0.5", linewidth=1.0)
    axes.set_yticks(range(len(rows)), [row.label for row in rows], fontsize="small")
    axes.set_xlabel("ours over printed; bars: how far figures that agree may be apart")
    axes.legend(loc="upper right")
    return {"schmolck_table_2_1": figure}


EXPERIMENT = Experiment(
    source="Schmolck 2008, Table 2.1",
    title="smoothness priors on Bumps, Sinc and Doppler",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
