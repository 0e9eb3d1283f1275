"""How well the noise level is estimated, and what its error costs the denoiser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bench.denoising.draws import noisy_signal
from bench.denoising.part import Case, Part, Record, Target, geometric_mean, ok
from bench.report import Table

__all__ = ["NOISE_PART"]

SETS = {
    "jumps and peaks": (
        "Blocks",
        "Bumps",
        "HeaviSine",
        "Doppler",
        "Piece-Regular",
        "Piece-Polynomial",
        "HypChirps",
        "Ramp",
        "Square",
        "Spikes",
        "Telegraph",
        "ecg",
    ),
    "oscillations": (
        "LinChirp",
        "TwoChirp",
        "QuadChirp",
        "LinChirps",
        "Riemann",
        "LoSine",
        "HiSine",
        "MishMash",
        "WernerSorrows",
        "AmFm",
        "Harmonics",
    ),
    "random families": ("chirps", "cubics", "sines", "sawtooth", "gabor", "voice"),
}
SIZES = (256, 1024, 4096)
SNRS = (1, 3, 5, 7, 20)
N_DENOISED = 2
"""Draws of each case that are also denoised, with the estimated and with the true level."""


def cases(quick: bool) -> list[Case]:
    """Return every signal at every length."""
    return [
        {"set": name, "signal": signal, "n": n}
        for n in (SIZES[:1] if quick else SIZES)
        for name, signals in SETS.items()
        for signal in (signals[:1] if quick else signals)
    ]


def run(case: Case, seeds: Sequence[int]) -> Record:
    """Return logarithms of estimate over truth, and the ratios of mean squared errors."""
    from skimage.restoration import estimate_sigma

    from relvec import denoise, estimate_noise

    logs: dict[str, list[float]] = {"relvec": [], "skimage": []}
    ratios = []
    for seed in seeds:
        for snr in SNRS:
            noisy, clean, true = noisy_signal(case["signal"], case["n"], snr, seed)
            logs["relvec"].append(float(np.log(estimate_noise(noisy) / true)))
            logs["skimage"].append(float(np.log(estimate_sigma(noisy) / true)))
            if seed - seeds[0] < N_DENOISED:
                found = [denoise(noisy, noise_std=std) for std in ("auto", true)]
                estimated, given = (float(np.mean((each - clean) ** 2)) for each in found)
                ratios.append(estimated / given)
    return {"logs": logs, "ratios": ratios}


def _percent(records: Iterable[Record], method: str) -> np.ndarray:
    return 100.0 * np.abs([v for record in records for v in record["logs"][method]])


def _ratios(records: Iterable[Record]) -> list[float]:
    return [value for record in records for value in record["ratios"]]


def _groups(records: Sequence[Record]) -> dict[tuple[int, str], list[Record]]:
    result: dict[tuple[int, str], list[Record]] = {}
    for record in ok(records):
        result.setdefault((record["case"]["n"], record["case"]["set"]), []).append(record)
    return result


def tables(records: Sequence[Record]) -> list[Table]:
    """Return median and ninth decile of the error, and its cost."""
    rows = []
    for (n, name), mine in _groups(records).items():
        cells = []
        for method in ("skimage", "relvec"):
            error = _percent(mine, method)
            cells += [f"{np.median(error):.1f}", f"{np.quantile(error, 0.9):.1f}"]
        ratios = _ratios(mine)
        cells += [f"{geometric_mean(ratios):.3f}", f"{np.quantile(ratios, 0.95):.2f}"]
        rows.append([f"{n}, {name}", *cells, str(len(mine[0]["logs"]["relvec"]) * len(mine))])
    head = ("N, signals", "MAD: median", "p90", "relvec: median", "p90", "cost", "p95", "fits")
    title = f"100 |log(estimate / truth)|, SNR {', '.join(map(str, SNRS))}"
    return [Table(title, head, rows)]


def targets(records: Sequence[Record]) -> list[Target]:
    """Return the cost of not knowing the noise, by length and over all."""
    mine = ok(records)
    result = []
    for n in dict.fromkeys(record["case"]["n"] for record in mine):
        here = [record for record in mine if record["case"]["n"] == n]
        cost = geometric_mean(_ratios(here))
        result.append(Target(f"N = {n}: error with estimated / with true noise", cost, 1.03))
        ratio = float(np.median(_percent(here, "relvec")) / np.median(_percent(here, "skimage")))
        result.append(Target(f"N = {n}: median error, relvec / MAD", ratio, 1.0))
    return result


NOISE_PART = Part(cases, run, tables, targets, repeats=5)
