"""Tables of the suite of kernel search, and its targets."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from bench.denoising.part import Record, Target, geometric_mean, ok, target_table
from bench.kernels import published
from bench.kernels.methods import FAST, INTERPRETABLE, NAMES, OURS, SEARCHES
from bench.kernels.problems import PARTS, STRUCTURES
from bench.report import Table, number

__all__ = ["tables"]

Known = dict[tuple[str, str], list[dict[str, Any]]]
"""Draws of a problem and a method."""
ROUNDING = 0.005
"""Of published ratios."""
EXACT = {
    "growsine": 0.9,
    "trendseason": 0.8,
    "report": 0.6,
    "smooth": 0.9,
    "noise": 0.95,
    "friedman1": 0.9,
}
"""Least shares of exact structures."""


def tables(name: str, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a part, its targets last."""
    done = ok(records)
    if not done:
        return []
    known: Known = {(each["problem"], each["method"]): each["draws"] for each in done}
    problems = [each for each in PARTS[name] if any(each == p for p, _ in known)]
    methods = [each for each in NAMES if any(each == m for _, m in known)]
    if name == "series":
        found, targets = _series_tables(known, problems, methods, done[0]["is_development"])
    elif name == "structure":
        found, targets = _structure_tables(known, problems, methods)
    else:
        found, targets = _regression_tables(known, problems, methods), []
    found += [target_table(targets)] if targets else []
    return found + _date_table(done)


def _date_table(records: Sequence[Record]) -> list[Table]:
    """Return when methods were measured, if that was not on one day."""
    dates: dict[str, set[str]] = {}
    for record in records:
        dates.setdefault(record["method"], set()).add(record["date"])
    if len(set().union(*dates.values())) < 2:
        return []
    rows = [[name, ", ".join(sorted(dates[name]))] for name in NAMES if name in dates]
    return [Table("Runs", ("method", "measured"), rows)]


def _tabulate(
    title: str,
    known: Known,
    problems: Sequence[str],
    methods: Sequence[str],
    show: Callable[[list[dict[str, Any]]], str],
) -> Table:
    rows = [
        [p, *(show(known[p, m]) if (p, m) in known else "–" for m in methods)] for p in problems
    ]
    return Table(title, ("", *methods), rows)


def _column(known: Known, problems: Sequence[str], method: str, what: str) -> list[float]:
    """Return the means over the draws of each problem that has the method."""
    return [
        statistics.fmean(draw[what] for draw in known[problem, method])
        for problem in problems
        if (problem, method) in known and what in known[problem, method][0]
    ]


def _with_means(table: Table, values: Sequence[Sequence[float]], digits: int) -> Table:
    means = [f"{statistics.fmean(each):.{digits}f}" if each else "–" for each in values]
    return Table(table.title, table.head, [*table.rows, ["mean", *means]])


# ---------------------------------------------------------------- series


def _series_tables(
    known: Known, problems: Sequence[str], methods: Sequence[str], is_development: bool
) -> tuple[list[Table], list[Target]]:
    best = {p: _find_reference(known, p, is_development) for p in problems}
    relative = {
        m: {p: known[p, m][0]["rmse"] / best[p] for p in problems if (p, m) in known}
        for m in methods
    }
    others = {
        m: {p: published.RELATIVE[p][i] for p in problems} for i, m in enumerate(published.METHODS)
    }
    shown = {m: relative[m] for m in methods}
    if not is_development:
        shown |= {m: others[m] for m in published.ABCD}
    found = [_relative_table(shown, problems, is_development)]
    for what, title, digits in (
        ("coverage", "Coverage of 95 % intervals", 2),
        ("mlpd", "MLPD", 2),
        ("cpu", "CPU seconds of a fit", 1),
    ):

        def show(draws: list[dict[str, Any]], what: str = what, digits: int = digits) -> str:
            return f"{draws[0][what]:.{digits}f}"

        table = _tabulate(title, known, problems, methods, show)
        values = [_column(known, problems, m, what) for m in methods]
        found.append(_with_means(table, values, digits))
    found += _name_tables(known, problems, methods)
    if not is_development:
        rows = [
            [m, number(statistics.median(each), 3), number(geometric_mean(each), 3)]
            for m in published.METHODS
            for each in [list(others[m].values())]
        ]
        title = "Relative RMSE of the published methods on these series"
        found.append(Table(title, ("method", "median", "geometric mean"), rows))
    return found, _series_targets(known, problems, relative, is_development)


def _find_reference(known: Known, problem: str, is_development: bool) -> float:
    """Return the RMSE that others are divided by."""
    if not is_development:
        return published.BEST_RMSE[problem]
    peers = [
        draws[0]["rmse"]
        for (p, method), draws in known.items()
        if p == problem and method not in SEARCHES
    ]
    return min(peers) if peers else math.nan


def _relative_table(
    shown: dict[str, dict[str, float]], problems: Sequence[str], is_development: bool
) -> Table:
    rows = [[p, *(f"{m[p]:.2f}" if p in m else "–" for m in shown.values())] for p in problems]
    each = [list(m.values()) for m in shown.values()]
    rows.append(["median", *(f"{statistics.median(values):.2f}" for values in each)])
    rows.append(["geometric mean", *(f"{geometric_mean(values):.2f}" for values in each)])
    if not is_development:
        counts = [f"{_count_wins(m)} of {len(m)}" for m in shown.values()]
        rows.append(["at or below ABCD-accuracy", *counts])
    split = "80 to 90 % of the series" if is_development else "the last 10 %"
    return Table(f"Relative RMSE, {split}", ("series", *shown), rows)


def _count_wins(relative: dict[str, float]) -> int:
    """Count the series on which a method is at or below ABCD-accuracy."""
    return sum(value <= published.RELATIVE[p][0] + ROUNDING for p, value in relative.items())


def _name_tables(known: Known, problems: Sequence[str], methods: Sequence[str]) -> list[Table]:
    searches = [each for each in methods if each in SEARCHES]
    if not searches:
        return []

    def show(draws: list[dict[str, Any]]) -> str:
        return f"{draws[0]['warp']}: {draws[0]['structure'] or 'none'}"

    return [_tabulate("Warp and best structure", known, problems, searches, show)]


def _series_targets(
    known: Known,
    problems: Sequence[str],
    relative: dict[str, dict[str, float]],
    is_development: bool,
) -> list[Target]:
    found = []
    if not is_development:
        for method, limit in ((OURS, 1.0), (INTERPRETABLE, 1.15)):
            if len(relative.get(method, ())) == len(PARTS["series"]):
                median = statistics.median(relative[method].values())
                found.append(Target(f"median relative RMSE, {method}", median, limit))
        if len(relative.get(OURS, ())) == len(PARTS["series"]):
            wins = _count_wins(relative[OURS])
            found.append(Target("series at or below ABCD-accuracy", wins, 6, at_least=True))
    if coverage := _column(known, problems, OURS, "coverage"):
        mean = statistics.fmean(coverage)
        found.append(Target("mean coverage", mean, 0.90, at_least=True))
        found.append(Target("mean coverage", mean, 0.99))
    for method, limit in ((OURS, 60.0), (FAST, 3.0)):
        if cpu := _column(known, problems, method, "cpu"):
            found.append(Target(f"largest CPU time, {method}", max(cpu), limit, unit=" s"))
    return found


# ---------------------------------------------------------------- structure


def _structure_tables(
    known: Known, problems: Sequence[str], methods: Sequence[str]
) -> tuple[list[Table], list[Target]]:
    def scaled(what: str) -> Callable[[list[dict[str, Any]]], str]:
        def show(draws: list[dict[str, Any]]) -> str:
            if what not in draws[0]:
                return "–"
            return f"{statistics.median(d[what] / d['scale'] for d in draws):.3f}"

        return show

    def mean(what: str) -> Callable[[list[dict[str, Any]]], str]:
        def show(draws: list[dict[str, Any]]) -> str:
            return f"{statistics.fmean(d[what] for d in draws):.2f}" if what in draws[0] else "–"

        return show

    found = _exact_tables(known, problems, methods)
    for title, show in (
        ("RMSE in the range of the data", scaled("rmse")),
        ("RMSE over the next 40 %", scaled("rmse_after")),
        ("Coverage of the function by 95 % bands", mean("coverage")),
        ("CPU seconds of a fit", mean("cpu")),
    ):
        found.append(_tabulate(title, known, problems, methods, show))
    return found, _structure_targets(known, problems)


def _exact_tables(known: Known, problems: Sequence[str], methods: Sequence[str]) -> list[Table]:
    searches = [each for each in methods if each in SEARCHES]
    if not searches:
        return []
    rows, others = [], []
    for p in problems:
        truth = STRUCTURES[p]
        counts = []
        for m in searches:
            draws = known.get((p, m), [])
            counts.append(f"{sum(d['is_exact'] for d in draws)} of {len(draws)}")
            wrong = Counter(d["structure"] for d in draws if not d["is_exact"])
            if wrong:
                names = ", ".join(f"{name} ({n})" for name, n in wrong.most_common())
                others.append([p, m, names])
        rows.append([p, truth, *counts])
    found = [Table("Exact structures", ("", "truth", *searches), rows)]
    if others:
        found.append(Table("Other structures found", ("", "method", "structure (seeds)"), others))
    return found


def _structure_targets(known: Known, problems: Sequence[str]) -> list[Target]:
    found = []
    for p in problems:
        if (p, OURS) not in known:
            continue
        draws = known[p, OURS]
        share = statistics.fmean(d["is_exact"] for d in draws)
        found.append(Target(f"share of exact structures, {p}", share, EXACT[p], at_least=True))
        cpu, limit = statistics.fmean(d["cpu"] for d in draws), 3.0
        if p == "friedman1":
            limit = 5.0
            squared = statistics.fmean(d["rmse"] ** 2 for d in draws)
            found.append(Target("mean squared error, friedman1", squared, 0.20))
        found.append(Target(f"mean CPU time, {p}", cpu, limit, unit=" s"))
    return found


# ---------------------------------------------------------------- regression


def _regression_tables(
    known: Known, problems: Sequence[str], methods: Sequence[str]
) -> list[Table]:
    found = []
    for what, title, digits in (
        ("rmse", "RMSE", 3),
        ("mlpd", "MLPD", 3),
        ("coverage", "Coverage of 95 % intervals", 3),
        ("cpu", "CPU seconds of a fit", 1),
    ):

        def show(draws: list[dict[str, Any]], what: str = what, digits: int = digits) -> str:
            values = [draw[what] for draw in draws]
            text = f"{statistics.fmean(values):.{digits}f}"
            if len(values) < 2 or what == "cpu":
                return text
            error = statistics.stdev(values) / math.sqrt(len(values))
            return f"{text} ({error:.{digits}f})"

        found.append(_tabulate(title, known, problems, methods, show))
    return found
