"""CPU seconds of one call, against one wavelet transform and its inverse in the same round."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.denoising.draws import noisy_signal
from bench.denoising.part import Case, Part, Record, Target, ok
from bench.denoising.peers import SHIFTS, skimage_bayes, skimage_spun
from bench.measure import cpu_clock
from bench.report import Table, number, times

__all__ = ["COST_PART", "interleave"]

POWERS = (10, 14, 18, 20, 22, 24)
WAVELET = "sym8"
SLOW = 18
"""Beyond two to this power `cycle_spin` is not timed, and slow calls are timed once."""
MIN_BLOCK = 0.05
"""A short call is repeated until a block of calls takes so many CPU seconds."""
TRANSFORM = "transform"
LIMITS = {14: 2.5, 20: 1.6}
"""Targets for the plain mode over the transform, by power of two."""


def cases(quick: bool) -> list[Case]:
    """Return one case for each length."""
    return [{"power": power} for power in (POWERS[:2] if quick else POWERS)]


def interleave(
    calls: dict[str, Callable[[], Any]], n_rounds: int, once: Sequence[str] = ()
) -> dict[str, list[float]]:
    """Return CPU seconds of each call in rounds that have every call once, in turn.

    Parameters
    ----------
    calls : dict
        What to time.
    n_rounds : int
        Number of rounds.
    once : sequence of str
        Slow calls that take part in the first round only.
    """
    n_calls = {}
    for name, call in calls.items():
        if name in once:
            n_calls[name] = 1
            continue
        call()
        start = cpu_clock()
        call()
        n_calls[name] = max(1, int(MIN_BLOCK / max(cpu_clock() - start, 1e-6)))
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for number_of_round in range(n_rounds):
        for name, call in calls.items():
            if name in once and number_of_round:
                continue
            start = cpu_clock()
            for _ in range(n_calls[name]):
                call()
            seconds[name].append((cpu_clock() - start) / n_calls[name])
    return seconds


def run(case: Case, seeds: Sequence[int]) -> Record:
    """Return CPU seconds by method and round; every seed is a round on the same signal."""
    import pywt

    from relvec import denoise
    from relvec.dictionaries import WaveletDictionary

    n = 1 << case["power"]
    draw = noisy_signal("Doppler", n, 7, seeds[0])
    noisy, std = draw.noisy, draw.noise_std
    level = WaveletDictionary(n, WAVELET).level

    def there_and_back() -> np.ndarray:
        coefficients = pywt.wavedec(noisy, WAVELET, mode="periodization", level=level)
        return pywt.waverec(coefficients, WAVELET, mode="periodization")

    calls: dict[str, Callable[[], Any]] = {
        TRANSFORM: there_and_back,
        "plain, noise given": lambda: denoise(noisy, mode="plain", noise_std=std),
        "plain, MAD": lambda: denoise(noisy, mode="plain", noise_std="mad"),
        "plain": lambda: denoise(noisy, mode="plain"),
        "skimage BayesShrink": lambda: skimage_bayes(noisy, wavelet=WAVELET),
        "quality": lambda: denoise(noisy),
    }
    if case["power"] <= SLOW:
        calls[f"skimage, {SHIFTS + 1} shifts"] = lambda: skimage_spun(
            noisy, SHIFTS, wavelet=WAVELET
        )
    once = () if case["power"] <= SLOW else ("quality",)
    return {"seconds": interleave(calls, len(seeds), once), "level": level}


def _ratio(record: Record, name: str) -> float:
    """Return the median over rounds of the ratio to the transform in the same round."""
    pairs = zip(record["seconds"][name], record["seconds"][TRANSFORM], strict=False)
    return statistics.median(mine / floor for mine, floor in pairs)


def tables(records: Sequence[Record]) -> list[Table]:
    """Return CPU seconds and ratios by length."""
    seconds, ratios = [], []
    names = list(dict.fromkeys(name for r in ok(records) for name in r["seconds"]))
    for record in ok(records):
        label = f"2^{record['case']['power']}"
        known = record["seconds"]
        seconds.append([label, *(number(_ms(known[n]) if n in known else None) for n in names)])
        ratios.append(
            [label, *(times(_ratio(record, n) if n in known else None) for n in names[1:])]
        )
    return [
        Table("CPU milliseconds, median over rounds", ("N", *names), seconds),
        Table("Over one sym8 transform and its inverse", ("N", *names[1:]), ratios),
    ]


def _ms(values: Sequence[float]) -> float:
    return 1000.0 * statistics.median(values)


def targets(records: Sequence[Record]) -> list[Target]:
    """Return the ratios of the plain mode that have a limit."""
    return [
        Target(f"{name}, 2^{record['case']['power']}", _ratio(record, name), limit, unit="×")
        for record in ok(records)
        for name in ("plain, noise given", "plain, MAD")
        if (limit := LIMITS.get(record["case"]["power"])) is not None
    ]


COST_PART = Part(cases, run, tables, targets, repeats=9)
