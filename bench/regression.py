"""All methods side by side on the same draws."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from bench.methods import METHODS, REFERENCE
from bench.problems import PROBLEMS, QUICK
from bench.report import Table, number, times
from bench.runner import Record
from bench.worker import Job

HEAD = (
    "method",
    "CPU s",
    "speed-up",
    "floor",
    "peak MB",
    "vectors",
    "RMSE",
    "log evidence",
    "gain",
)

Draws = dict[int, Record]


def jobs(
    problems: Sequence[str], methods: Sequence[str], seeds: Sequence[int], cpu_limit: float
) -> Iterator[Job]:
    """Yield one job per problem, draw and method; methods of one draw follow one another."""
    for name in problems:
        for seed in seeds:
            for method in methods:
                cap = METHODS[method].max_samples
                if cap is None or PROBLEMS[name].n_samples <= cap:
                    yield Job(name, method, seed, cpu_limit)


def default_problems(quick: bool) -> Sequence[str]:
    """Return the problems of a full or of a quick run."""
    return QUICK if quick else tuple(PROBLEMS)


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one table per problem."""
    by_problem: dict[str, dict[str, Draws]] = defaultdict(lambda: defaultdict(dict))
    for record in records:
        by_problem[record["problem"]][record["method"]][record["seed"]] = record
    result = []
    for name, by_method in by_problem.items():
        problem = PROBLEMS[name]
        n_draws = max(len(draws) for draws in by_method.values())
        title = f"{name}: N = {problem.n_samples}, gamma = {problem.gamma:.3g}, draws: {n_draws}"
        reference = by_method.get(REFERENCE, {})
        rows = [_row(method, draws, reference) for method, draws in by_method.items()]
        result.append(Table(title, HEAD, rows))
    return result


def _row(method: str, draws: Draws, reference: Draws) -> list[str]:
    bad = [record for record in draws.values() if record["status"] != "ok"]
    if bad:
        over = bad[0]["status"] == "over limit"
        cpu = f"> {bad[0]['cpu_limit']:.0f}" if over else "failed"
        return [method, cpu, *["–"] * (len(HEAD) - 2)]
    return [
        method,
        number(_median(draws, lambda r: r["cpu"])),
        times(_paired(draws, reference, lambda mine, other: other["cpu"] / mine["cpu"])),
        times(_floor_ratio(draws)),
        number(_median(draws, lambda r: r["peak_mb"])),
        number(statistics.mean(r["n_vectors"] for r in draws.values())),
        number(statistics.mean(r["rmse"] for r in draws.values())),
        _evidence(draws),
        _evidence_difference(draws, reference),
    ]


def _median(draws: Draws, value: Callable[[Record], float]) -> float:
    return statistics.median(value(record) for record in draws.values())


def _floor_ratio(draws: Draws) -> float | None:
    if any(record["kernel_cpu"] is None for record in draws.values()):
        return None
    return _median(draws, lambda r: r["cpu"] / (r["kernel_cpu"] + r["product_cpu"]))


def _paired(
    draws: Draws, reference: Draws, value: Callable[[Record, Record], float]
) -> float | None:
    pairs = [
        value(record, reference[seed])
        for seed, record in draws.items()
        if seed in reference and reference[seed]["status"] == "ok"
    ]
    return statistics.median(pairs) if pairs else None


def _evidence(draws: Draws) -> str:
    values = [r["evidence"] for r in draws.values()]
    return "–" if None in values else f"{statistics.mean(values):.1f}"


def _evidence_difference(draws: Draws, reference: Draws) -> str:
    """Return the mean paired difference with its standard error."""
    if draws is reference or any(r["evidence"] is None for r in draws.values()):
        return "–"
    gaps = [
        record["evidence"] - reference[seed]["evidence"]
        for seed, record in draws.items()
        if reference.get(seed, {}).get("evidence") is not None
    ]
    if not gaps:
        return "–"
    mean = f"{statistics.mean(gaps):+.1f}"
    if len(gaps) == 1:
        return mean
    return f"{mean} ± {statistics.stdev(gaps) / math.sqrt(len(gaps)):.1f}"


def notes(records: Sequence[Record]) -> list[str]:
    """Return what a reader must know of the methods and of the check of our own log evidence."""
    used = {record["method"] for record in records}
    lines = [f"{name}: {METHODS[name].note}." for name in METHODS if name in used & _noted()]
    for name in METHODS:
        mine = [r for r in records if r["method"] == name and r["status"] == "ok"]
        n_cut = sum(record.get("is_cut_short", False) for record in mine)
        if n_cut:
            lines.append(f"{name}: {n_cut} of {len(mine)} fits ended at its limit of iterations.")
    gaps = [
        abs(record["reported_evidence"] - record["evidence"])
        for record in records
        if record.get("reported_evidence") is not None and record.get("evidence") is not None
    ]
    if gaps:
        lines.append(
            "Largest difference between `log_evidence_` as relvec reports it and the independent "
            f"value in the table: {max(gaps):.2g} nats over {len(gaps)} fits."
        )
    return lines


def _noted() -> set[str]:
    return {name for name, method in METHODS.items() if method.note}
