"""Statistics of many runs on the same data: errors, failures, unique solutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["OVERSMOOTHED", "Runs", "join", "n_unique", "scaled_unique", "summarise"]

Runs = dict[str, list[Any]]
"""By quantity, an entry for each run."""
OVERSMOOTHED = 0.05
"""Runs with a larger error count as oversmoothed."""
PER = 1000
"""Oversmoothed runs are counted per so many."""


def join(chunks: Sequence[Runs]) -> Runs:
    """Return the runs of several chunks as one."""
    return {name: [each for chunk in chunks for each in chunk[name]] for name in chunks[0]}


def n_unique(atoms: Sequence[Sequence[int]]) -> int:
    """Return the number of different sets of atoms."""
    return len({tuple(each) for each in atoms})


def scaled_unique(draws: Sequence[Runs]) -> np.ndarray:
    """Return the number of different solutions of the first draw, scaled to the others.

    Draws with fewer runs than the first are compared with as many of its runs.
    """
    n = min(len(runs["atoms"]) for runs in draws)
    shares = np.array([n_unique(runs["atoms"][:n]) for runs in draws])
    scaled: np.ndarray = n_unique(draws[0]["atoms"]) * shares / shares[0]
    return scaled


def summarise(runs: Runs) -> dict[str, float]:
    """Return the statistics of the thesis for the runs on one draw.

    The mean without oversmoothed runs is not a number if there are no others.
    """
    errors, data = np.array(runs["mse"]), np.array(runs["data_mse"])
    bad = errors > OVERSMOOTHED
    least, most = int(np.argmin(errors)), int(np.argmax(errors))
    return {
        "min_MSE": float(errors[least]),
        "min_data_MSE": float(data[least]),
        "mean_MSE": float(errors.mean()),
        "max_MSE": float(errors[most]),
        "max_data_MSE": float(data[most]),
        "oversmoothed_runs": PER * float(bad.mean()),
        "mean_MSE_without": float(errors[~bad].mean()) if not bad.all() else np.nan,
    }
