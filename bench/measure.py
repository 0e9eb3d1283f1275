"""CPU seconds, peak memory, and the cost no method can avoid. Runs inside a worker process."""

from __future__ import annotations

import contextlib
import resource
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk

from bench.evidence import rbf

MIN_TOTAL = 0.5
"""Short calls are repeated until they took this many CPU seconds; the median counts."""

MAX_CALLS = 15


def cpu_clock() -> float:
    """Return the CPU seconds of this process, all threads, user and system.

    Not `time.process_time`: under a CPU limit Linux advances that clock only at scheduler ticks.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def cpu_seconds(call: Callable[[], Any], total: float = 0.0) -> float:
    """Return the median CPU seconds of `call`, given `total` seconds already spent on it."""
    times: list[float] = []
    while not times or (total + sum(times) < MIN_TOTAL and len(times) < MAX_CALLS):
        start = cpu_clock()
        call()
        times.append(cpu_clock() - start)
    return statistics.median(times)


class PeakMemory:
    """Memory of this process above what it held when the object was made, in MB.

    Linux keeps the high-water mark per address space and lets it be reset; elsewhere the mark
    is that of the whole life of the process, which hides a peak below an earlier one.
    """

    def __init__(self) -> None:
        self._status = Path("/proc/self/status")
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        self._base = self._high_water()

    def _high_water(self) -> float:
        if self._status.exists():
            for line in self._status.read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return float(line.split()[1]) / 1024
        unit = 1024**2 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

    def above_start(self) -> float:
        """Return the peak since the object was made."""
        return self._high_water() - self._base


def limit_cpu(seconds: float | None) -> None:
    """Have the system end this process after so many more CPU seconds; None lifts the limit."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = hard if seconds is None else int(cpu_clock() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def unavoidable(X: np.ndarray, gamma: float, n_columns: int) -> dict[str, float]:
    """Return the CPU seconds of the kernel matrix and of `n_columns` Gram rows in one product.

    Every method that considers all N columns must evaluate them, and one that has ever had
    c columns in its model must know their products with all N.
    """
    kernel_cpu = cpu_seconds(lambda: rbf(X, X, gamma))
    kernel = rbf(X, X, gamma)
    some = np.ascontiguousarray(kernel[:n_columns])
    product_cpu = cpu_seconds(lambda: some @ kernel) if n_columns else 0.0
    return {"kernel_cpu": kernel_cpu, "product_cpu": product_cpu}


def unavoidable_by_rows(
    X: np.ndarray, y: np.ndarray, centers: np.ndarray, gamma: float, block: int = 4096
) -> dict[str, float]:
    """Return the CPU seconds of the sufficient statistics, block of rows by block of rows."""

    def pass_over_data() -> None:
        gram = np.zeros((len(centers), len(centers)), order="F")
        correlation = np.zeros(len(centers))
        for start in range(0, len(X), block):
            rows = rbf(X[start : start + block], centers, gamma)
            gram = dsyrk(1.0, rows.T, beta=1.0, c=gram, overwrite_c=True)
            correlation += rows.T @ y[start : start + block]

    return {"kernel_cpu": 0.0, "product_cpu": cpu_seconds(pass_over_data)}
