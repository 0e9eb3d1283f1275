"""Table 2.1 of Schmolck (2008): smoothness priors on Bumps, Sinc and Doppler."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.report import Table, number
from relvec.datasets import NoisySignal, make_noisy_signal
from reproduce.models import Fit, fit_kernels, fit_wavelets
from reproduce.published import load

__all__ = ["Row", "compare", "read_rows", "tables"]

N_RUNS = 10
"""Runs behind a published figure."""
SHIFT_DRAWS = 10
"""Draws that are fitted at every circular shift."""
DOPPLER_SNR = 7.0
"""The thesis prints SNR 2 and variance 0.031, which are those of Sinc: see the README."""
QUANTITIES = ("S", "MSE", "σ²")
FEW = 0.05
"""Share of shifts below which agreement is no explanation: with many shifts a few always agree."""
ROUNDING = {"joint": (0.05, 0.0005, 0.0005), "given": (0.05, 0.000005, 0.0)}
"""Half of the last printed digit."""


class Row(NamedTuple):
    """A line of the table as it was printed."""

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
        """A readable name."""
        noise = ", σ² given" if self.is_noise_given else ""
        return f"{self.signal.capitalize()} SNR {self.snr:g}{noise}, {self.kernel}, {self.prior}"

    @property
    def is_wavelet(self) -> bool:
        """Whether the model is one of wavelets."""
        return self.kernel == "symmlet"


def read_rows(folder: str | Path | None) -> list[Row]:
    """Return the published lines."""
    table = load(folder, "schmolck", "table_2_1")
    rows = []
    for signal, n, snr, _, kernel, prior, *figures in table["rows"]:
        rows.append(
            Row(signal, n, snr, kernel, prior, False, tuple(figures[::2]), tuple(figures[1::2]))
        )
    for signal, n, _, _, kernel, prior, *figures in table["rows_sigma2_given"]:
        means, spreads = tuple(figures[::2]), tuple(figures[1::2])
        rows.append(Row(signal, n, DOPPLER_SNR, kernel, prior, True, means, spreads))
    return rows


def _draw(row: Row, seed: int) -> NoisySignal:
    return make_noisy_signal(row.signal, row.n, snr=row.snr, exact_noise=True, random_state=seed)


def _fit(row: Row, draw: NoisySignal, shift: int = 0) -> Fit:
    noisy, clean = np.roll(draw.noisy, shift), np.roll(draw.clean, shift)
    if not row.is_wavelet:
        return fit_kernels(noisy, clean, row.prior, float(row.kernel.split()[1]))
    given = draw.noise_std**2 if row.is_noise_given else None
    return fit_wavelets(noisy, clean, row.prior, given)


class Comparison(NamedTuple):
    """A published line next to ours."""

    row: Row
    means: np.ndarray
    errors: np.ndarray
    """Standard errors of our means."""
    within: np.ndarray
    """Which figures agree within two standard errors of the difference."""
    shifted: np.ndarray | None
    """Means at every circular shift."""
    matching: np.ndarray | None
    """At which shifts all figures agree."""

    @property
    def agrees(self) -> bool:
        """Whether all figures of the line agree."""
        return bool(self.within.all())

    @property
    def reason(self) -> str:
        """Why a figure does not agree, as far as we know."""
        if self.agrees:
            return ""
        if self.matching is None or not self.matching.any():
            return "not explained"
        if self.matching.mean() < FEW:
            return "not explained: hardly any shift agrees"
        return "agrees at some shifts; the thesis does not state its own"


def _difference_errors(row: Row, errors: np.ndarray) -> np.ndarray:
    """Return the standard error of ours minus published, with the rounding of the latter."""
    rounding = ROUNDING["given" if row.is_noise_given else "joint"][: len(row.means)]
    published = np.array(row.spreads) / math.sqrt(N_RUNS)
    return np.sqrt(errors**2 + published**2 + np.array(rounding) ** 2)


def _within(row: Row, means: np.ndarray, errors: np.ndarray) -> np.ndarray:
    return np.abs(means - row.means) <= 2.0 * _difference_errors(row, errors)


def compare(row: Row, n_draws: int, seed: int) -> Comparison:
    """Fit a line of the table to fresh draws; where it differs, at all circular shifts too."""
    draws = [_draw(row, seed + i) for i in range(n_draws)]
    means, errors = _average(row, draws)
    within = _within(row, means, errors)
    shifted = matching = None
    if row.is_wavelet and not within.all():
        averages = [_average(row, draws[:SHIFT_DRAWS], shift) for shift in range(row.n)]
        shifted = np.array([means for means, _ in averages])
        matching = np.array([_within(row, *average).all() for average in averages])
    return Comparison(row, means, errors, within, shifted, matching)


def _average(
    row: Row, draws: Sequence[NoisySignal], shift: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of the figures over draws, and their standard errors."""
    figures = np.array([_fit(row, draw, shift) for draw in draws])[:, : len(row.means)]
    return figures.mean(axis=0), figures.std(axis=0, ddof=1) / math.sqrt(len(draws))


def _cells(comparison: Comparison) -> list[str]:
    row = comparison.row
    cells = [row.label]
    for i, _ in enumerate(QUANTITIES):
        if i >= len(row.means):
            cells += ["–", "–"]
            continue
        mark = "" if comparison.within[i] else " *"
        ours = f"{number(comparison.means[i])} ± {number(comparison.errors[i], 2)}{mark}"
        cells += [f"{row.means[i]:g} ± {row.spreads[i]:g}", ours]
    return [*cells, "yes" if comparison.agrees else "no"]


def tables(folder: str | Path | None, n_draws: int, seed: int) -> list[Table]:
    """Return the table with both sets of figures, and what is known of the differences."""
    comparisons = [compare(row, n_draws, seed) for row in read_rows(folder)]
    head: list[str] = [""]
    for name in QUANTITIES:
        head += [f"{name} printed", f"{name} ours"]
    title = (
        f"Table 2.1: printed mean ± standard deviation of {N_RUNS} runs, ours ± standard error of "
        f"{n_draws} draws; * more than two standard errors apart"
    )
    result = [Table(title, [*head, "agrees"], [_cells(each) for each in comparisons])]
    rows = [_shift_cells(each) for each in comparisons if not each.agrees]
    if rows:
        names = [f"{name} over shifts" for name in QUANTITIES]
        head = ["line that differs", *names, "shifts that agree", "reason"]
        rows += _common_shifts(comparisons)
        result.append(Table("Differences", head, rows))
    return result


def _common_shifts(comparisons: Sequence[Comparison]) -> list[list[str]]:
    """Return at how many shifts several lines agree at once: the thesis used one basis."""
    by_length: dict[int, dict[str, list[np.ndarray]]] = {}
    for each in comparisons:
        if each.matching is not None:
            by_signal = by_length.setdefault(each.row.n, {})
            by_signal.setdefault(each.row.signal.capitalize(), []).append(each.matching)
    groups = []
    for n, by_signal in by_length.items():
        groups += [(signal, n, masks) for signal, masks in by_signal.items() if len(masks) > 1]
        if len(by_signal) > 1:
            everything = [mask for masks in by_signal.values() for mask in masks]
            groups.append((" and ".join(by_signal), n, everything))
    result = []
    for signals, n, masks in groups:
        agreeing = int(np.logical_and.reduce(masks).sum())
        reason = "" if agreeing else "the place of wavelets alone does not explain them together"
        label = f"all {len(masks)} symmlet lines of {signals} above, at one shift"
        result.append([label, "–", "–", "–", f"{agreeing} of {n}", reason])
    return result


def _shift_cells(comparison: Comparison) -> list[str]:
    shifted, matching = comparison.shifted, comparison.matching
    if shifted is None or matching is None:
        ranges, count = ["–"] * 3, "–"
    else:
        ends = zip(shifted.min(axis=0), shifted.max(axis=0), strict=True)
        ranges = [f"{number(low, 2)} – {number(high, 2)}" for low, high in ends]
        ranges += ["–"] * (3 - len(ranges))
        count = f"{matching.sum()} of {len(matching)}"
    return [comparison.row.label, *ranges, count, comparison.reason]
