"""Chains on unions of wavelets and splines: single moves, moves of several atoms, and tempering."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.denoising.part import Record, Target, ok, target_table
from bench.report import Table, number
from bench.sampling.bands import BLOCKS, draw_bands
from bench.sampling.bands import QUICK as QUICK_DATA

__all__ = ["METHODS", "PROBLEMS", "QUICK", "list_jobs", "run", "tables"]

LINEAR, THIN_PLATE = "haar and linear splines", "haar and thin-plate splines"
QUICK = "quick ladder"
PROBLEMS = (LINEAR, THIN_PLATE, QUICK)
SINGLE, SEVERAL, TEMPERED = "informed, slot", "several, slot", "tempered"
MOVES = {
    SINGLE: {"informed": 0.5, "slot": 0.5},
    SEVERAL: {"several": 0.5, "slot": 0.5},
    TEMPERED: {"several": 0.5, "slot": 0.5},
}
METHODS = (SINGLE, SEVERAL, TEMPERED)
LOWEST, ACCEPTANCE = 0.3, 0.3
"""Lowest power of the likelihood, and acceptance rate of exchanges for which powers are chosen."""
N_MONITORED = 25
LEVEL = 0.95
MAX_R_HAT, MAX_R_HAT_THIN_PLATE, MIN_ESS, LIMIT = 1.05, 1.01, 400.0, 30.0
"""Targets; the last is in CPU seconds."""


class Length(NamedTuple):
    """Draws of each chain and steps between them; half as many steps come before the first."""

    n_draws: int
    thin: int
    n_tuning: int = 0
    """Steps of the first of the runs that choose the powers."""


LENGTHS = {
    SINGLE: Length(500, 32),
    SEVERAL: Length(500, 32),
    TEMPERED: Length(500, 8, n_tuning=100),
}
SHORT = Length(20, 2, n_tuning=5)


def list_jobs(name: str, seeds: Sequence[int], quick: bool) -> list[Record]:
    """Return the jobs of the part; chains are tempered on linear splines only."""
    if quick:
        cases = [(QUICK, method) for method in METHODS]
    else:
        cases = [(LINEAR, method) for method in METHODS]
        cases += [(THIN_PLATE, method) for method in (SINGLE, SEVERAL)]
    return [
        {"part": name, "problem": problem, "method": method, "seed": seed}
        for problem, method in cases
        for seed in seeds
    ]


def run(job: Record) -> Record:
    """Run four chains from dispersed starts: the model of highest evidence, none, two random."""
    from relvec import SparseBayesRegressor
    from relvec.bases import KernelBasis, WaveletBasis
    from relvec.kernels import LinearSpline, ThinPlateSpline
    from relvec.moments import compute_moments
    from relvec.sampling import (
        BetaBinomialSize,
        ChainTuning,
        CollapsedSampler,
        PrecisionGrid,
        TemperedSampler,
        compute_ess_bulk,
        compute_ess_tail,
        compute_r_hat,
        run_chains,
        start_chains,
        tune_powers,
    )

    is_quick, method = job["problem"] == QUICK, job["method"]
    data = draw_bands(QUICK_DATA if is_quick else BLOCKS, job["seed"])
    kernel = ThinPlateSpline(3.0) if job["problem"] == THIN_PLATE else LinearSpline(3.0)
    basis = WaveletBasis("haar", level=3 if is_quick else 8) + KernelBasis(kernel)
    X = data.x[:, np.newaxis]
    start = SparseBayesRegressor(basis).fit(X, data.y).relevance_
    bound = basis.bind(X)
    atoms = bound.dictionary.columns(np.arange(bound.dictionary.shape[1]))
    [moments] = compute_moments(bound.dictionary, data.y[:, np.newaxis], None, centre=True)

    def record(draw: Any) -> np.ndarray:
        coef = draw.weights / moments.column_norm[draw.active]
        function = draw.intercept + atoms[:, draw.active] @ coef
        others = [0.5 * np.log(draw.noise_variance), float(len(draw.active))]
        return np.concatenate([function, others])

    # priors of SampledSparseBayesRegressor for a union of columns and kernels
    plain = CollapsedSampler(
        moments,
        grid=PrecisionGrid(1e-8, 0.1, n_levels=8),
        size_prior=BetaBinomialSize(),
        moves=MOVES[method],
    )
    length = SHORT if is_quick else LENGTHS[method]
    began = time.process_time()
    sampler: Any = plain
    if method == TEMPERED:
        powers = tune_powers(
            plain,
            np.random.default_rng([job["seed"], 1]),
            lowest=LOWEST,
            acceptance=ACCEPTANCE,
            n_steps=length.n_tuning,
        )
        sampler = TemperedSampler(plain, powers)
    tuning_cpu, began = time.process_time() - began, time.process_time()
    starts = [start, np.empty(0, dtype=np.intp), None, None]
    chains = run_chains(
        sampler,
        start_chains(sampler, job["seed"], starts),
        record,
        tuning=ChainTuning(n_draws=length.n_draws, thin=length.thin, max_doublings=0),
        n_jobs=1,
    )
    cpu = time.process_time() - began
    records = np.array([chain.records for chain in chains])
    n = len(data.x)
    function = records[:, :, :n].reshape(-1, n)
    rows = np.argsort(data.y, kind="stable")[np.linspace(0, n - 1, min(n, N_MONITORED)).astype(int)]
    monitored = records[:, :, [*rows, n, n + 1]]
    r_hat = compute_r_hat(monitored)
    ess = np.minimum(compute_ess_bulk(monitored), compute_ess_tail(monitored))
    low, high = np.quantile(function, [0.5 - LEVEL / 2.0, 0.5 + LEVEL / 2.0], axis=0)
    found: dict[str, Any] = {
        "n_steps": chains[0].n_steps,
        "tuning_cpu": tuning_cpu,
        "cpu": cpu,
        "rhat_function": float(r_hat[:-2].max()),
        "rhat_noise": float(r_hat[-2]),
        "rhat_size": float(r_hat[-1]),
        "ess_function": float(ess[:-2].min()),
        "ess_noise": float(ess[-2]),
        "ess_size": float(ess[-1]),
        "size": float(records[:, :, n + 1].mean()),
        "noise": float(np.exp(records[:, :, n]).mean()),
        "mse": float(np.mean((function.mean(axis=0) - data.truth) ** 2)),
        "cover_f": float(np.mean((data.truth >= low) & (data.truth <= high))),
    }
    if method == TEMPERED:
        found["powers"] = powers.tolist()
        found["n_round_trips"] = sum(chain.state.n_round_trips for chain in chains)
        found["acceptance"] = _measure_acceptance(sampler, chains[0], 10 if is_quick else 200)
    return {**job, "status": "ok", **found}


def _measure_acceptance(sampler: Any, chain: Any, n_steps: int) -> list[float]:
    """Return the mean acceptance of the exchange of each pair of powers after the last draw."""
    state, rates = chain.state, []
    for _ in range(n_steps):
        state = sampler.step(state, chain.rng)
        rates.append(state.acceptance)
    means: list[float] = np.nanmean(rates, axis=0).tolist()
    return means


HEAD = (
    "chains",
    "data set",
    "R-hat, noise",
    "function",
    "size",
    "ESS, noise",
    "function",
    "size",
    "CPU s",
    "choice of powers",
    "steps of a chain",
    "powers",
    "round trips",
    "least acceptance",
    "MSE of f",
    "coverage of f",
    "mean size",
    "mean noise sd",
)


def tables(records: Sequence[Record]) -> list[Table]:
    """Return a table for each problem, and the targets."""
    done = ok(records)
    found = [
        Table(
            f"{problem}: BlocksSinc, four chains",
            HEAD,
            [_row(record) for record in done if record["problem"] == problem],
        )
        for problem in dict.fromkeys(record["problem"] for record in done)
    ]
    targets = _find_targets(done)
    return found + ([target_table(targets)] if targets else [])


def _row(record: Record) -> list[str]:
    ladder = ["–", str(record["n_steps"]), "–", "–", "–"]
    if "powers" in record:
        ladder = [
            number(record["tuning_cpu"], 2),
            str(record["n_steps"]),
            str(len(record["powers"])),
            str(record["n_round_trips"]),
            f"{min(record['acceptance']):.2f}",
        ]
    return [
        record["method"],
        str(record["seed"]),
        *(f"{record[f'rhat_{what}']:.3f}" for what in ("noise", "function", "size")),
        *(number(record[f"ess_{what}"]) for what in ("noise", "function", "size")),
        number(record["cpu"], 3),
        *ladder,
        f"{record['mse']:.5f}",
        f"{record['cover_f']:.3f}",
        f"{record['size']:.1f}",
        f"{record['noise']:.4f}",
    ]


def _find_targets(records: Sequence[Record]) -> list[Target]:
    targets = []
    for method in METHODS:
        same = [record for record in records if record["method"] == method]
        linear = [record for record in same if record["problem"] == LINEAR]
        thin = [record for record in same if record["problem"] == THIN_PLATE]
        if linear:
            worst = max(max(each["rhat_noise"], each["rhat_function"]) for each in linear)
            what = f"{LINEAR}, {method}: largest R-hat of noise and function"
            targets.append(Target(what, worst, MAX_R_HAT))
        if thin:
            kinds = ("noise", "function", "size")
            worst = max(max(each[f"rhat_{kind}"] for kind in kinds) for each in thin)
            least = min(min(each[f"ess_{kind}"] for kind in kinds) for each in thin)
            cpu = statistics.fmean(each["cpu"] for each in thin)
            what = f"{THIN_PLATE}, {method}"
            targets.append(Target(f"{what}: largest R-hat", worst, MAX_R_HAT_THIN_PLATE))
            targets.append(Target(f"{what}: smallest ESS", least, MIN_ESS, at_least=True))
            targets.append(Target(f"{what}: mean CPU", cpu, LIMIT, unit=" s"))
    return targets
