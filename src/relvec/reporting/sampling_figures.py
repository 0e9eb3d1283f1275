"""Report figures of models that sampled their posterior: traces, ranks, inclusion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relvec._typing import Matrix
from relvec.describing import (
    Inclusion,
    compute_critical_value,
    list_basis_inclusion,
    list_feature_inclusion,
)
from relvec.reporting.chart import Axis, Chart, format_number, pad_range, shorten_label
from relvec.reporting.figures import Figure, thin_indices
from relvec.reporting.subject import Subject

__all__ = ["TITLES", "make_inclusion_figures", "make_rank_figure", "make_trace_figures"]

TITLES = {
    "noise_std": "noise (standard deviation)",
    "n_active": "number of basis functions",
    "log_posterior": "log posterior density (nats)",
}
"""Titles of the quantities whose draws are plotted, by name."""
N_BINS = 20


def make_trace_figures(subject: Subject) -> list[Figure]:
    """Make the figures of the draws of noise, size and posterior density, one line per chain."""
    traces = subject.model.traces_
    names = [name for name in TITLES if name in traces]
    return [_make_trace(subject, name, np.asarray(traces[name], float)) for name in names]


def _make_trace(subject: Subject, name: str, draws: Matrix) -> Figure:
    n_chains, n_draws = draws.shape
    shown = thin_indices(n_draws, subject.limits.steps)
    title = TITLES[name]
    chart = Chart(
        f"draws of the {title}",
        Axis(0.0, float(max(n_draws - 1, 1)), "draw"),
        Axis(*pad_range(draws), title),
        height=230,
    )
    for number, chain in enumerate(draws):
        chart.line(shown, chain[shown], f"stroke k{number % 6}")
    caption = (
        f"Draws of {n_chains} chains. Chains that have converged cover the same range without a "
        "trend."
    )
    return Figure(f"Trace: {title}", caption, chart.svg(), _legend(n_chains))


def _legend(n_chains: int) -> tuple[tuple[str, str], ...]:
    return tuple((f"k{number % 6}", f"chain {number + 1}") for number in range(n_chains))


def make_rank_figure(subject: Subject, name: str, ess: float) -> Figure | None:
    """Make the figure of the ranks of the draws of each chain among those of all chains.

    Parameters
    ----------
    subject : Subject
        A sampled model.
    name : str
        Quantity whose draws are ranked.
    ess : float
        Its effective sample size, which widens the band.
    """
    draws = np.asarray(subject.model.traces_[name], dtype=np.float64)
    n_chains, n_draws = draws.shape
    if n_chains < 2 or n_draws < 2 * N_BINS or not np.ptp(draws) > 0.0:
        return None
    noise = np.random.default_rng(0).random(draws.size)  # breaks ties, as of whole numbers
    rank = np.empty(draws.size)
    rank[np.lexsort((noise, draws.ravel()))] = np.arange(draws.size)
    bins = (rank * N_BINS // draws.size).astype(np.intp).reshape(draws.shape)
    counts = np.stack([np.bincount(row, minlength=N_BINS) for row in bins])
    expected = n_draws / N_BINS
    spread = draws.size / float(np.clip(ess, n_chains, draws.size))
    variance = expected * (1.0 - 1.0 / N_BINS) * (1.0 - 1.0 / n_chains) * spread
    half = compute_critical_value(0.95) * float(np.sqrt(variance))
    x = np.arange(N_BINS) + 0.5
    highest = max(float(counts.max()), expected + half)
    ticks = [(0.0, "smallest"), (float(N_BINS), "largest")]
    chart = Chart(
        f"ranks of the {TITLES.get(name, name)}",
        Axis(0.0, float(N_BINS), "rank among the draws of all chains", ticks=ticks),
        Axis(0.0, 1.08 * highest, "draws"),
        height=230,
    )
    low = max(expected - half, 0.0)
    chart.band([0.0, float(N_BINS)], [low] * 2, [expected + half] * 2, "grey")
    chart.segments([[0.0, expected, float(N_BINS), expected]], "axis")
    for number, row in enumerate(counts):
        chart.line(x, row, f"stroke k{number % 6}")
    caption = (
        "Ranks of the draws of each chain among those of all chains, in 20 bins. Chains that have "
        "converged have the same distribution; grey: 95 % band for autocorrelated draws."
    )
    legend = (*_legend(n_chains), ("grey", "95 % band"))
    return Figure(f"Ranks: {TITLES.get(name, name)}", caption, chart.svg(), legend)


def make_inclusion_figures(subject: Subject) -> list[Figure]:
    """Make the figures of the inclusion probabilities of features and of basis functions."""
    n_most = subject.limits.bars
    features = list_feature_inclusion(subject.model, subject.names)
    atoms = list_basis_inclusion(subject.model, subject.names, n_most)
    total = int(np.size(subject.model.inclusion_probability_))
    figures = []
    if len(features) > 1 and subject.unit != "feature":  # else they are the basis functions
        caption = "Share of the draws in which the prediction depends on the feature."
        figures.append(_make_bars("Features", caption, features[:n_most], len(features)))
    caption = (
        "Share of the draws with the basis function in the model; those above one half form the "
        "median probability model. Kernels that overlap take each other's place, so that none of "
        "them may be probable."
        if subject.unit != "feature"
        else "Share of the draws with the feature in the model; those above one half form the "
        "median probability model."
    )
    figures.append(_make_bars(subject.units.capitalize(), caption, atoms, total))
    return figures


def _make_bars(noun: str, caption: str, rows: Sequence[Inclusion], total: int) -> Figure:
    ticks = [(float(i), shorten_label(each.name)) for i, each in enumerate(rows)]
    chart = Chart(
        f"inclusion probabilities: {noun.lower()}",
        Axis(0.0, 1.08, "inclusion probability", ticks=[(t, f"{t:g}") for t in (0.0, 0.5, 1.0)]),
        Axis(len(rows) - 0.4, -0.6, ticks=ticks),
        height=64 + 22 * max(len(rows), 3),
    )
    chart.segments([[0.5, -0.6, 0.5, len(rows) - 0.4]], "axis")
    for i, each in enumerate(rows):
        tip = f"{each.name}: {format_number(each.probability)}"
        chart.bar(0.0, each.probability, i - 0.34, i + 0.34, "model", tip)
    if total > len(rows):
        caption += f" Shown: the {len(rows)} most probable of {total}."
    return Figure(f"Inclusion: {noun.lower()}", caption, chart.svg(), layout="rows")
