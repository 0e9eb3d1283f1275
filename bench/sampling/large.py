"""The collapsed sampler on many rows, which it sees as sufficient statistics only."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.denoising.part import Record, Target, ok, target_table
from bench.report import Table, number

__all__ = ["SIZES", "run", "tables"]

SIZES = {"large": (100_000, 500), "quick large": (2000, 20)}
"""Rows and columns."""
N_RELEVANT = 20
BLOCK = 10_000
CORRELATION = 0.5
N_PREDICTIONS = 25
MIN_ESS = 1000.0
LIMIT = 120.0
"""CPU seconds."""


def _draw_columns(n_rows: int, n_columns: int, rng: np.random.Generator) -> np.ndarray:
    noise = rng.normal(size=(n_rows, n_columns + 1))
    # neighbours share a variate
    return (noise[:, 1:] + noise[:, :-1]) * np.sqrt(CORRELATION)


def run(job: Record) -> Record:
    """Accumulate statistics, and run chains until they have enough effective draws."""
    from relvec.moments import SufficientStatistics
    from relvec.sampling import (
        BetaBinomialSize,
        ChainTuning,
        CollapsedSampler,
        PrecisionGrid,
        compute_ess_bulk,
        compute_r_hat,
        run_chains,
        start_chains,
    )

    n_rows, n_columns = SIZES[job["problem"]]
    rng = np.random.default_rng(job["seed"])
    n_relevant = min(N_RELEVANT, n_columns // 2)
    weights = np.zeros(n_columns)
    chosen = rng.choice(n_columns, n_relevant, replace=False)
    # from one standard error, which is hardly seen, to half the noise
    weights[chosen] = np.geomspace(1.0 / np.sqrt(n_rows), 0.5, n_relevant)
    weights[chosen] *= rng.choice([-1.0, 1.0], n_relevant)
    collected, statistics_cpu = SufficientStatistics(n_columns), 0.0
    for first in range(0, n_rows, BLOCK):
        X = _draw_columns(min(BLOCK, n_rows - first), n_columns, rng)
        y = X @ weights + rng.normal(size=len(X))
        began = time.process_time()
        collected = collected.update(X, y)
        statistics_cpu += time.process_time() - began
    fresh = _draw_columns(N_PREDICTIONS, n_columns, rng)

    began, began_wall = time.process_time(), time.perf_counter()
    moments = collected.moments()
    sampler = CollapsedSampler(
        moments, grid=PrecisionGrid(1e-8, 0.1, n_levels=8), size_prior=BetaBinomialSize()
    )

    def record(draw: Any) -> np.ndarray:
        coef = draw.weights / moments.column_norm[draw.active]
        predictions = draw.intercept + fresh[:, draw.active] @ coef
        return np.append(predictions, 0.5 * np.log(draw.noise_variance))

    is_quick = job["problem"] != "large"
    tuning = ChainTuning(
        n_draws=100 if is_quick else 500,
        thin=4,
        max_doublings=1 if is_quick else 6,
        min_ess=MIN_ESS,
    )
    starts = [np.empty(0, dtype=np.intp), None, None, None]
    chains = start_chains(sampler, job["seed"], starts)
    chains = run_chains(sampler, chains, record, tuning=tuning)
    cpu, wall = time.process_time() - began, time.perf_counter() - began_wall
    records = np.array([chain.records for chain in chains])
    ess, r_hat = compute_ess_bulk(records), compute_r_hat(records)
    mean = records[:, :, :-1].mean(axis=(0, 1))
    return {
        **job,
        "status": "ok",
        "statistics_cpu": statistics_cpu,
        "cpu": cpu,
        "wall": wall,
        "n_steps": chains[0].n_steps,
        "ess_predictor": float(ess[:-1].min()),
        "ess_noise": float(ess[-1]),
        "rhat": float(r_hat.max()),
        "size": float(np.mean([len(draw.active) for chain in chains for draw in chain.draws])),
        "rmse": float(np.sqrt(np.mean((mean - fresh @ weights) ** 2))),
    }


HEAD = (
    "data set",
    "statistics, CPU s",
    "chains, CPU s",
    "wall s",
    "steps of a chain",
    "bulk ESS, predictions",
    "noise",
    "largest R-hat",
    "columns in the model",
    "RMSE of the function",
)


def tables(records: Sequence[Record]) -> list[Table]:
    """Return the table of all data sets, and the target."""
    done = ok(records)
    if not done:
        return []
    rows = [
        [
            str(record["seed"]),
            number(record["statistics_cpu"]),
            number(record["cpu"]),
            number(record["wall"]),
            str(record["n_steps"]),
            number(record["ess_predictor"]),
            number(record["ess_noise"]),
            f"{record['rhat']:.3f}",
            number(record["size"]),
            f"{record['rmse']:.4f}",
        ]
        for record in done
    ]
    n_rows, n_columns = SIZES[done[0]["problem"]]
    found = [Table(f"CollapsedSampler: N = {n_rows}, M = {n_columns}", HEAD, rows)]
    if done[0]["problem"] == "large":
        reached = [min(record["ess_predictor"], record["ess_noise"]) for record in done]
        slowest = max(record["cpu"] for record in done)
        targets = [
            Target("fewest effective draws", min(reached), MIN_ESS, at_least=True),
            Target("longest time of all chains, CPU", slowest, LIMIT, unit=" s"),
        ]
        found.append(target_table(targets))
    return found
