"""Error bars of sampled models and of the model of highest evidence: coverage of the truth."""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.denoising.part import Record, Target, ok, target_table
from bench.report import Table, number

__all__ = [
    "BLOCKS",
    "METHODS",
    "QUICK",
    "REPEATS",
    "SINC",
    "SINC_LEARNT",
    "Bands",
    "draw_bands",
    "list_models",
    "run",
    "tables",
]

N_FRESH = 50
"""New targets at each input, for the log predictive density."""
LEVEL = 0.95


class Bands(NamedTuple):
    """Inputs, the function there, noisy targets, and the standard deviation of the noise."""

    x: np.ndarray
    truth: np.ndarray
    y: np.ndarray
    noise_std: float


SINC, SINC_LEARNT, BLOCKS = "sinc, kernel of width 3", "sinc, learnt length-scale", "BlocksSinc"
QUICK = "quick"
REPEATS = {SINC: 120, SINC_LEARNT: 10, BLOCKS: 5}
PLAIN, DEFAULT, CHEAP, SAMPLED = (
    "evidence, plain",
    "evidence, default",
    "sampled, cheap",
    "sampled",
)
METHODS = (PLAIN, DEFAULT, CHEAP, SAMPLED)


def draw_bands(name: str, seed: int) -> Bands:
    """Draw the targets of a problem: signal-to-noise ratio 5 for sinc, 7 for BlocksSinc."""
    if name == BLOCKS:
        x = np.linspace(-10.0, 10.0, 256)
        truth, snr = _blocks_sinc(len(x)), 7.0
    else:
        x = np.linspace(-10.0, 10.0, 24 if name == QUICK else 64)
        truth, snr = np.sinc(x / np.pi), 5.0
    noise_std = float(truth.std()) / snr
    noise = np.random.default_rng(seed).normal(size=len(x))
    return Bands(x, truth, truth + noise_std * noise, noise_std)


def _blocks_sinc(n: int) -> np.ndarray:
    from relvec.datasets import jumps_and_peaks as signals

    t = np.linspace(0.0, 1.0, n // 2)
    halves = [signals.blocks(t), signals.sinc(t)]
    return np.concatenate([half / half.std() for half in halves])


def list_models(name: str) -> dict[str, Callable[[], Any]]:
    """Return the models of a problem by name."""
    import relvec
    from relvec.bases import KernelBasis, WaveletBasis
    from relvec.kernels import ThinPlateSpline

    if name == SINC_LEARNT:
        evidence: Any = relvec.RVMRegressor
        sampled: Any = relvec.SampledRVMRegressor
        arguments: tuple[Any, ...] = ()
    else:
        evidence, sampled = relvec.SparseBayesRegressor, relvec.SampledSparseBayesRegressor
        basis: Any = KernelBasis(gamma=1.0 / 9.0)
        if name == BLOCKS:
            basis = WaveletBasis("haar", level=8) + KernelBasis(ThinPlateSpline(3.0))
        arguments = (basis,)
    short = {"n_draws": 250, "max_doublings": 0, "random_state": 0}
    long: dict[str, Any] = {"random_state": 0}
    if name == QUICK:
        short, long = ({**each, "n_draws": 20, "max_doublings": 0} for each in (short, long))
    return {
        PLAIN: lambda: evidence(*arguments, error_bars="plain", calibrate=False),
        DEFAULT: lambda: evidence(*arguments),
        CHEAP: lambda: sampled(*arguments, **short),
        SAMPLED: lambda: sampled(*arguments, **long),
    }


def run(job: Record) -> Record:
    """Fit one model to all data sets of a job."""
    make = list_models(job["problem"])[job["method"]]
    draws = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of chains that have not converged: R-hat is reported
        data = draw_bands(QUICK, 0)  # imports are not part of a fit
        list_models(QUICK)[job["method"]]().fit(data.x[:, np.newaxis], data.y)
        for seed in job["seeds"]:
            draws.append({"seed": seed, **_measure(make(), draw_bands(job["problem"], seed), seed)})
    return {**job, "status": "ok", "draws": draws}


def _measure(model: Any, data: Bands, seed: int) -> dict[str, Any]:
    X = data.x[:, np.newaxis]
    began = time.process_time()
    model.fit(X, data.y)
    cpu = time.process_time() - began
    low, high = model.predict_interval(X, LEVEL, include_noise=False).T
    below, above = model.predict_interval(X, LEVEL).T
    fresh = np.random.default_rng([seed, 1]).normal(size=(N_FRESH, len(X)))
    densities = [
        model.log_predictive_density(X, data.truth + data.noise_std * each) for each in fresh
    ]
    found = {
        "cpu": cpu,
        "mse": float(np.mean((model.predict(X) - data.truth) ** 2)),
        "cover_f": float(np.mean((data.truth >= low) & (data.truth <= high))),
        # the probability of new targets, not a share of draws
        "cover_y": float(np.mean(_cdf(above, data) - _cdf(below, data))),
        "mlpd": float(np.mean(densities)),
    }
    if hasattr(model, "r_hat_"):
        found.update(r_hat=model.r_hat_, ess=model.ess_, converged=bool(model.converged_))
    return found


def _cdf(limit: np.ndarray, data: Bands) -> np.ndarray:
    from scipy.stats import norm

    found: np.ndarray = norm.cdf(limit, data.truth, data.noise_std)
    return found


HEAD = (
    "model",
    "coverage of f",
    "coverage of y",
    "MSE of f",
    "median",
    "MLPD",
    "CPU s",
    "median R-hat",
    "smallest ESS",
    "converged",
)


def tables(records: Sequence[Record]) -> list[Table]:
    """Return a table for each problem, and the targets."""
    done, found = ok(records), []
    for problem in dict.fromkeys(record["problem"] for record in done):
        same = [record for record in done if record["problem"] == problem]
        n_draws = max(len(record["draws"]) for record in same)
        n_rows = len(draw_bands(problem, 0).x)
        rows = [_row(record) for record in same]
        found.append(Table(f"{problem}: N = {n_rows}, {n_draws} data sets", HEAD, rows))
    targets = find_targets(done)
    return found + ([target_table(targets)] if targets else [])


def _row(record: Record) -> list[str]:
    def mean(what: str, digits: int) -> str:
        values = [draw[what] for draw in record["draws"]]
        text = f"{statistics.fmean(values):.{digits}f}"
        if len(values) < 2:
            return text
        return f"{text} ({statistics.stdev(values) / math.sqrt(len(values)):.{digits}f})"

    draws = record["draws"]
    chains = ["–"] * 3
    if "r_hat" in draws[0]:
        chains = [
            f"{statistics.median(draw['r_hat'] for draw in draws):.3f}",
            number(min(draw["ess"] for draw in draws)),
            f"{sum(draw['converged'] for draw in draws)} of {len(draws)}",
        ]
    return [
        record["method"],
        mean("cover_f", 3),
        mean("cover_y", 3),
        mean("mse", 5),
        f"{statistics.median(draw['mse'] for draw in draws):.5f}",
        mean("mlpd", 3),
        number(statistics.fmean(draw["cpu"] for draw in draws), 2),
        *chains,
    ]


def find_targets(records: Sequence[Record]) -> list[Target]:
    """Return the targets of the sampled models."""
    targets = []
    for record in records:
        if record["method"] != SAMPLED or record["problem"] == QUICK:
            continue

        def mean(what: str, record: Record = record) -> float:
            return statistics.fmean(draw[what] for draw in record["draws"])

        what = f"{record['problem']}, {SAMPLED}"
        targets.append(Target(f"{what}: coverage of f", mean("cover_f"), 0.92, at_least=True))
        targets.append(Target(f"{what}: coverage of y", mean("cover_y"), 0.93, at_least=True))
        targets.append(Target(f"{what}: coverage of y", mean("cover_y"), 0.97))
        if record["problem"] == BLOCKS:
            targets.append(Target(f"{what}: MSE of f", mean("mse"), 0.0085))
    return targets
