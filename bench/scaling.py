"""How the cost grows: with the number of rows, and with the number of candidate columns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from bench.report import Table, number, times
from bench.runner import Record
from bench.worker import Job

PROBLEM = "reg5000"
METHODS = ("relvec fast", "relvec low-memory")
N_CENTERS = 1000
ROWS = (5_000, 20_000, 50_000, 100_000, 200_000)
COLUMNS = (2_000, 4_000, 8_000)
HEAD = ("N", "CPU s", "power of N", "floor", "peak MB", "matrix MB", "vectors", "RMSE")


def jobs(
    methods: Sequence[str], seeds: Sequence[int], cpu_limit: float, quick: bool
) -> Iterator[Job]:
    """Yield the jobs of both tables, smallest first."""
    rows = ROWS[:2] if quick else ROWS
    columns = COLUMNS[:1] if quick else COLUMNS
    for method, seed in itertools.product(methods, seeds):
        for n_samples in rows:
            yield Job(PROBLEM, method, seed, cpu_limit, n_samples, N_CENTERS)
        for n_samples in columns:
            yield Job(PROBLEM, method, seed, cpu_limit, n_samples)


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one table per method and kind of growth; numbers are means over draws."""
    result = []
    for method in dict.fromkeys(record["method"] for record in records):
        for n_centers, what in ((N_CENTERS, f"{N_CENTERS} centres"), (None, "a centre per row")):
            mine = [r for r in records if r["method"] == method and r["n_centers"] == n_centers]
            by_size: dict[int, list[Record]] = {}
            for record in mine:
                by_size.setdefault(record["n_samples"], []).append(record)
            if by_size:
                result.append(Table(f"{method}, {what}", HEAD, _rows(by_size)))
    return result


def _rows(by_size: dict[int, list[Record]]) -> list[list[str]]:
    rows = []
    before: tuple[int, float] | None = None
    for size, draws in sorted(by_size.items()):
        good = [record for record in draws if record["status"] == "ok"]
        if len(good) < len(draws):
            reason = next(r for r in draws if r["status"] != "ok")
            over = reason["status"] == "over limit"
            cell = f"> {reason['cpu_limit']:.0f}" if over else "failed"
            rows.append([str(size), cell, *["–"] * (len(HEAD) - 2)])
            continue
        cpu = _mean(good, "cpu")
        power = math.log(cpu / before[1]) / math.log(size / before[0]) if before else None
        before = (size, cpu)
        floor = _mean(good, "kernel_cpu") + _mean(good, "product_cpu")
        n_columns = good[0]["n_centers"] or size
        rows.append(
            [
                str(size),
                number(cpu),
                number(power, 2),
                times(cpu / floor),
                number(_mean(good, "peak_mb")),
                number(size * n_columns * 8 / 2**20),
                number(_mean(good, "n_vectors")),
                number(_mean(good, "rmse")),
            ]
        )
    return rows


def _mean(records: Sequence[Record], key: str) -> float:
    return sum(record[key] for record in records) / len(records)
