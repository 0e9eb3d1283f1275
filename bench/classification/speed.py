"""All methods side by side on the same draws, with the same gamma."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from bench.classification.methods import METHODS, PEERS
from bench.classification.part import Case, Part, Plan, Record, Target, ok
from bench.classification.problems import PROBLEMS
from bench.report import Table, number, times

__all__ = ["SPEED_PART", "by_case", "notes", "paired_ratio"]

OURS = "relvec"
QUICK = ("mixture250", "crescents400")
HEAD = (
    "method",
    "CPU s",
    "/ relvec",
    "floor",
    "error %",
    "log loss",
    "ECE",
    "vectors",
    "peak MB",
    "RSS MB",
    "predict ms",
)
SMALL, LARGE = 400, 2000
"""Up to so many rows overhead counts; from so many on the algorithm does."""

EQUAL = 0.2
"""Percentage points that count as equal: the standard error on 5000 test rows is 0.5."""

Draws = dict[int, Record]


def cases(plan: Plan) -> Iterator[Case]:
    """Yield one case per problem, draw and method; methods of one draw follow one another."""
    for name, problem in PROBLEMS.items():
        if not problem.is_there or (plan.quick and name not in QUICK):
            continue
        for seed in plan.seeds[: problem.n_draws]:
            for method in METHODS.values():
                cap = method.max_samples
                if method.is_installed and (cap is None or problem.n_samples <= cap):
                    yield {"problem": name, "method": method.name, "seed": seed}


def by_case(records: Sequence[Record]) -> dict[str, dict[str, Draws]]:
    """Return the records by problem, method and seed."""
    result: dict[str, dict[str, Draws]] = defaultdict(lambda: defaultdict(dict))
    for record in records:
        case = record["case"]
        result[case["problem"]][case["method"]][case["seed"]] = record
    return result


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one table per problem."""
    result = []
    for name, by_method in by_case(records).items():
        problem = PROBLEMS[name]
        n_draws = max(len(draws) for draws in by_method.values())
        title = f"{name}: N = {problem.n_samples}, gamma = {problem.gamma:.3g}, draws: {n_draws}"
        rows = [_row(method, draws, by_method[OURS]) for method, draws in by_method.items()]
        result.append(Table(title, HEAD, rows))
    return result


def _row(method: str, draws: Draws, ours: Draws) -> list[str]:
    bad = [record for record in draws.values() if record["status"] != "ok"]
    if bad:
        over = bad[0]["status"] == "over limit"
        cpu = f"> {bad[0]['limit']:.0f}" if over else "failed"
        return [method, cpu, *["–"] * (len(HEAD) - 2)]

    def mean(key: str) -> float | None:
        values = [record[key] for record in draws.values()]
        return None if None in values else statistics.fmean(values)

    error, loss, ece = mean("error"), mean("log_loss"), mean("ece")
    return [
        method,
        number(_median(draws, lambda r: r["cpu"])),
        times(paired_ratio(draws, ours)),
        times(_floor_ratio(draws)),
        "–" if error is None else f"{100 * error:.2f}",
        "–" if loss is None else f"{loss:.4f}",
        "–" if ece is None else f"{ece:.3f}",
        number(mean("n_vectors")),
        number(_median(draws, lambda r: r["peak_mb"])),
        number(_median(draws, lambda r: r["resident_mb"])),
        number(_median(draws, lambda r: 1000 * r["predict_cpu"])),
    ]


def _median(draws: Draws, value: Callable[[Record], float]) -> float:
    return statistics.median(value(record) for record in draws.values())


def _floor_ratio(draws: Draws) -> float | None:
    if any(record["kernel_cpu"] is None for record in draws.values()):
        return None
    return _median(draws, lambda r: r["cpu"] / (r["kernel_cpu"] + r["product_cpu"]))


def paired_ratio(draws: Draws, other: Draws) -> float | None:
    """Return the median over draws of the ratio of CPU seconds on the same draw."""
    pairs = [
        record["cpu"] / other[seed]["cpu"]
        for seed, record in draws.items()
        if record["status"] == "ok" and other.get(seed, {}).get("status") == "ok"
    ]
    return statistics.median(pairs) if pairs else None


def targets(records: Sequence[Record]) -> list[Target]:
    """Return what is asked of our CPU seconds and errors, against the better fastrvm."""
    result = []
    for name, by_method in by_case(records).items():
        size, ours = PROBLEMS[name].n_samples, by_method[OURS]
        peers = [by_method[peer] for peer in PEERS if peer in by_method]
        ratios = [r for draws in peers if (r := paired_ratio(draws, ours)) is not None]
        if not ratios:
            continue
        fastest = min(ratios)
        if size <= SMALL:
            result.append(Target(f"{name}: CPU / fastrvm", 1 / fastest, 1.5, unit="×"))
        if size >= LARGE:
            result.append(Target(f"{name}: fastrvm / CPU", fastest, 10, at_least=True, unit="×"))
            gap = max(gap for draws in peers if (gap := _error_gap(ours, draws)) is not None)
            result.append(Target(f"{name}: error above fastrvm", gap, EQUAL, unit=" points"))
    return result


def _error_gap(ours: Draws, other: Draws) -> float | None:
    """Return our mean error above that of another method on the same draws, in points."""
    gaps = [
        100 * (record["error"] - other[seed]["error"])
        for seed, record in ours.items()
        if record["status"] == "ok" and other.get(seed, {}).get("status") == "ok"
    ]
    return statistics.fmean(gaps) if gaps else None


def notes(records: Sequence[Record]) -> list[str]:
    """Return what a reader must know of the methods, and who did not converge."""
    used = {record["case"]["method"] for record in records}
    lines = [f"{m.name}: {m.note}." for m in METHODS.values() if m.name in used and m.note]
    for name in METHODS:
        mine = [r for r in ok(records) if r["case"]["method"] == name]
        n_cut = sum(record.get("is_cut_short", False) for record in mine)
        if n_cut:
            lines.append(f"{name}: {n_cut} of {len(mine)} fits ended before they had converged.")
    return lines


SPEED_PART = Part("bench.classification.fits", cases, tables, targets, notes, repeats=3)
