"""Cost of learning length-scales in regression, relative to a fit with a given gamma."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bench.classification.part import Case, Part, Plan, Record, Target, mean_and_error
from bench.measure import PeakMemory, cpu_clock, cpu_seconds, limit_cpu
from bench.report import Table, number, times

__all__ = ["COST_PART", "run"]

PLAIN, OURS = "RVM, gamma given", "DRVM"
SIZES = (240, 500, 1000, 2000, 5000)
FEATURES = (10, 50)
GP_SIZES = (240, 500)
N_TEST = 1000
WARM_UP = 60
ALL_AT_ONCE = 0.25
"""A fit that took so many CPU seconds is timed once."""
GAMMA = 0.5
LIMIT_AT = (1000, 10)
"""Rows and features of the case that has a target."""
MOST = 10.0


def _plain(n_features: int) -> Any:
    from relvec import RVMRegressor

    return RVMRegressor(length_scales=None, gamma=GAMMA)


def _drvm(n_features: int) -> Any:
    from relvec import DRVMRegressor

    return DRVMRegressor(select="always")


def _ard(n_features: int) -> Any:
    from relvec import RVMRegressor

    return RVMRegressor(length_scales="ard")


def _default(n_features: int) -> Any:
    from relvec import RVMRegressor

    return RVMRegressor()


def _gaussian_process(n_features: int) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    kernel = kernels.ConstantKernel() * kernels.RBF(np.ones(n_features)) + kernels.WhiteKernel()
    return GaussianProcessRegressor(kernel, normalize_y=True)


MAKERS: dict[str, Callable[[int], Any]] = {
    PLAIN: _plain,
    OURS: _drvm,
    "RVM, ARD": _ard,
    "RVM, default": _default,
    "GP, ARD": _gaussian_process,
}
NOTES = (
    f"{PLAIN}: `RVMRegressor(length_scales=None, gamma={GAMMA})`; {OURS}: "
    '`DRVMRegressor(select="always")`; RVM, ARD: `RVMRegressor(length_scales="ard")`; '
    "RVM, default: `RVMRegressor()`.",
    "GP, ARD: scikit-learn's, a length-scale for each feature and white noise; up to 500 rows.",
    "MSE: to the function without noise, on 1000 fresh rows. N²P MB: memory of the differences of "
    "all pairs of rows in all features.",
)


def cases(plan: Plan) -> Iterator[Case]:
    """Yield one case per size, draw and method; methods of one draw follow one another."""
    for n_features in FEATURES[:1] if plan.quick else FEATURES:
        for n_samples in (120,) if plan.quick else SIZES:
            for seed in plan.seeds:
                for method in MAKERS:
                    if method != "GP, ARD" or n_samples in GP_SIZES:
                        yield {"n": n_samples, "p": n_features, "method": method, "seed": seed}


def run(case: Case, limit: float) -> Record:
    """Return cost, size and error of one fit."""
    from relvec.datasets import make_friedman

    n, p, seed = case["n"], case["p"], case["seed"]
    X, y, truth = make_friedman(1, n, n_features=p, random_state=seed, return_truth=True)
    X_test, _ = truth.sample(N_TEST, random_state=seed + 10**6)
    make = MAKERS[case["method"]]
    make(p).fit(X[:WARM_UP], y[:WARM_UP])

    def fit() -> Any:
        return make(p).fit(X, y)

    limit_cpu(limit)
    memory, start = PeakMemory(), cpu_clock()
    model = fit()
    first = cpu_clock() - start
    peak = memory.above_start()
    cpu = first if first > ALL_AT_ONCE else cpu_seconds(fit, total=first)
    limit_cpu(None)
    scale = getattr(model, "length_scale_", None)
    return {
        "cpu": cpu,
        "peak_mb": peak,
        "mse": float(np.mean((model.predict(X_test) - truth(X_test)) ** 2)),
        "n_vectors": len(getattr(model, "relevance_", X)),
        "n_kept": p if scale is None else int(np.isfinite(scale).sum()),
    }


Draws = dict[int, Record]


def _by_case(records: Sequence[Record]) -> dict[tuple[int, int], dict[str, Draws]]:
    result: dict[tuple[int, int], dict[str, Draws]] = defaultdict(lambda: defaultdict(dict))
    for record in records:
        case = record["case"]
        result[case["p"], case["n"]][case["method"]][case["seed"]] = record
    return result


def ratio(draws: Draws, plain: Draws) -> float | None:
    """Return the median over draws of CPU seconds over those with gamma given."""
    both = [
        record["cpu"] / plain[seed]["cpu"]
        for seed, record in draws.items()
        if record["status"] == plain.get(seed, {}).get("status") == "ok"
    ]
    return statistics.median(both) if both else None


HEAD = ("N, method", "CPU s", "/ gamma given", "peak MB", "N²P MB", "vectors", "features", "MSE")


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one table per number of features."""
    known = _by_case(records)
    result = []
    for p in dict.fromkeys(p for p, _ in known):
        rows, n_draws = [], 0
        for (p_case, n), by_method in known.items():
            if p_case == p:
                n_draws = max(n_draws, *(len(draws) for draws in by_method.values()))
                for name, draws in by_method.items():
                    rows.append([f"{n}, {name}", *_cells(draws, by_method[PLAIN], n, p)])
        title = f"Friedman's first function, {p} features of which 5 are relevant, draws: {n_draws}"
        result.append(Table(title, HEAD, rows))
    return result


def _cells(draws: Draws, plain: Draws, n: int, p: int) -> list[str]:
    bad = [record for record in draws.values() if record["status"] != "ok"]
    if bad:
        over = bad[0]["status"] == "over limit"
        return [f"> {bad[0]['limit']:.0f}" if over else "failed", *["–"] * (len(HEAD) - 2)]
    values = list(draws.values())
    return [
        number(statistics.median(r["cpu"] for r in values)),
        times(ratio(draws, plain)),
        number(statistics.median(r["peak_mb"] for r in values)),
        number(8 * n * n * p / 2**20),
        number(statistics.fmean(r["n_vectors"] for r in values)),
        number(statistics.fmean(r["n_kept"] for r in values)),
        mean_and_error((r["mse"] for r in values), 3),
    ]


def targets(records: Sequence[Record]) -> list[Target]:
    """Return the cost of feature selection at a thousand rows and ten features."""
    n, p = LIMIT_AT
    by_method = _by_case(records).get((p, n), {})
    measured = ratio(by_method.get(OURS, {}), by_method.get(PLAIN, {}))
    if measured is None:
        return []
    return [Target(f"N = {n}, P = {p}: CPU of {OURS} / {PLAIN}", measured, MOST, unit="×")]


COST_PART = Part(__name__, cases, tables, targets, lambda records: list(NOTES), repeats=3)
