"""Peak memory: of long signals in memory, and of longer ones on disk."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from bench.denoising.part import Case, Part, Record, Target, ok
from bench.measure import PeakMemory, cpu_clock
from bench.report import Table, number

__all__ = ["MAPPED_PART", "MEMORY_PART", "AnonymousPeak", "write_signal"]

BLOCK = 1 << 20
PERIOD = 0.02
"""Seconds between two looks at the memory that is not backed by a file."""


class AnonymousPeak:
    """Highest memory not backed by files while the block runs, above its start, in MB.

    Pages of a mapped file that have been touched count as resident until the system wants them
    back; they are not memory that the process needs.
    """

    def __enter__(self) -> AnonymousPeak:
        self._status = Path("/proc/self/status")
        self._base = self._peak = self._now()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()

    def _now(self) -> float:
        if self._status.exists():
            for line in self._status.read_text().splitlines():
                if line.startswith("RssAnon:"):
                    return float(line.split()[1]) / 1024
        return 0.0

    def _watch(self) -> None:
        while not self._done.wait(PERIOD):
            self._peak = max(self._peak, self._now())

    @property
    def megabytes(self) -> float:
        """The peak seen."""
        return self._peak - self._base


def write_signal(values: np.ndarray, seed: int) -> None:
    """Fill an array, block by block, with slow and fast waves, steps and unit noise."""
    rng = np.random.default_rng(seed)
    for start in range(0, len(values), BLOCK):
        at = np.arange(start, min(start + BLOCK, len(values)))
        clean = 5 * np.sin(at / 3000) + 3 * np.sin(at / 40) * ((at >> 16) % 3 == 0)
        clean += 4 * ((at >> 12) % 2)
        values[start : start + len(at)] = clean + rng.standard_normal(len(at))


def _error(found: np.ndarray) -> float:
    """Return the mean squared error, block by block."""
    total = 0.0
    for start in range(0, len(found), BLOCK):
        at = np.arange(start, min(start + BLOCK, len(found)))
        clean = 5 * np.sin(at / 3000) + 3 * np.sin(at / 40) * ((at >> 16) % 3 == 0)
        clean += 4 * ((at >> 12) % 2)
        total += float(np.sum((found[start : start + len(at)] - clean) ** 2))
    return total / len(found)


def _warm_up() -> None:
    from relvec import denoise

    few = np.random.default_rng(0).standard_normal(4096)
    denoise(few)
    denoise(few, mode="plain", noise_std="mad")


# ---------------------------------------------------------------- in memory


def _cases(quick: bool) -> list[Case]:
    powers = (16,) if quick else (20, 22, 24)
    return [{"power": power, "mode": mode} for power in powers for mode in ("plain", "quality")]


def _run(case: Case, seeds: Sequence[int]) -> Record:
    from relvec import denoise

    _warm_up()
    memory = PeakMemory()
    noisy = np.empty(1 << case["power"])
    write_signal(noisy, seeds[0])
    start = cpu_clock()
    found = denoise(noisy, mode=case["mode"])
    cpu = cpu_clock() - start
    return {"peak_mb": memory.above_start(), "cpu": cpu, "error": _error(found)}


def _tables(records: Sequence[Record]) -> list[Table]:
    rows = [
        [
            f"2^{r['case']['power']}, {r['case']['mode']}",
            number(8 * (1 << r["case"]["power"]) / 2**20),
            number(r["peak_mb"]),
            number(r["cpu"]),
            number(r["error"]),
        ]
        for r in ok(records)
    ]
    head = ("N, mode", "signal MB", "peak MB", "CPU s", "squared error / noise")
    return [Table("Peak above imports, the signal itself included", head, rows)]


def _targets(records: Sequence[Record]) -> list[Target]:
    return [
        Target(f"2^24, {r['case']['mode']}: peak", r["peak_mb"] / 1024, 2.0, unit=" GB")
        for r in ok(records)
        if r["case"]["power"] == 24
    ]


# ---------------------------------------------------------------- on disk


def _mapped_cases(quick: bool) -> list[Case]:
    return [{"power": 20 if quick else 27, "dtype": "float32"}]


def _run_mapped(case: Case, seeds: Sequence[int]) -> Record:
    from relvec import denoise

    n, dtype = 1 << case["power"], np.dtype(case["dtype"])
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "noisy"), Path(folder, "denoised")
        writer = np.memmap(source, dtype, "w+", shape=(n,))
        write_signal(writer, seeds[0])
        writer.flush()
        del writer
        _warm_up()
        noisy = np.memmap(source, dtype, "r", shape=(n,))
        out = np.memmap(target, dtype, "w+", shape=(n,))
        memory = PeakMemory()
        start = cpu_clock()
        with AnonymousPeak() as anonymous:
            denoise(noisy, out=out)
        cpu = cpu_clock() - start
        peak = memory.above_start()
        error = _error(out)
        del noisy, out
    return {
        "anonymous_mb": anonymous.megabytes,
        "peak_mb": peak,
        "cpu": cpu,
        "error": error,
        "file_mb": n * dtype.itemsize / 2**20,
    }


def _mapped_tables(records: Sequence[Record]) -> list[Table]:
    rows = [
        [
            f"2^{r['case']['power']}, {r['case']['dtype']}",
            number(r["file_mb"]),
            number(r["anonymous_mb"]),
            number(r["peak_mb"]),
            number(r["cpu"]),
            number(r["error"]),
        ]
        for r in ok(records)
    ]
    head = ("N", "file MB", "own peak MB", "with mapped pages MB", "CPU s", "squared error / noise")
    return [Table("From one memory-mapped file to another, quality mode", head, rows)]


def _mapped_targets(records: Sequence[Record]) -> list[Target]:
    result = []
    for record in ok(records):
        label = f"2^{record['case']['power']} on disk"
        own, whole = record["anonymous_mb"] / 1024, record["peak_mb"] / 1024
        result.append(Target(f"{label}: own peak", own, 1.0, unit=" GB"))
        result.append(Target(f"{label}: with mapped pages", whole, 1.0, unit=" GB"))
    return result


MEMORY_PART = Part(_cases, _run, _tables, _targets, repeats=1)
MAPPED_PART = Part(
    _mapped_cases, _run_mapped, _mapped_tables, _mapped_targets, repeats=1, is_default=False
)
