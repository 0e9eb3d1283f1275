"""Columns that the tables of classifiers share."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bench.classification.part import Case, Plan, Record, mean_and_error
from bench.features.methods import METHODS
from bench.features.problems import Problem
from bench.report import number

__all__ = [
    "CELLS",
    "all_found_rate",
    "cases_of",
    "jaccard",
    "method_notes",
    "rows_of",
    "spurious",
    "standard_error",
    "unfinished",
]

Draws = Sequence[Mapping[str, Any]]


def cases_of(
    problems: Iterable[Problem], methods: Sequence[str], plan: Plan, first_seed: int | None = None
) -> Iterator[Case]:
    """Yield one case per problem and method: all draws, one process each.

    Splits of published sets are counted from `first_seed`, other draws from the seed of the plan.
    """
    for problem in problems:
        if not problem.is_there:
            continue
        for name in methods:
            seeds = list(plan.seeds)
            if first_seed is not None:
                seeds = list(range(first_seed, first_seed + len(seeds)))
            most = [len(seeds), problem.n_draws, METHODS[name].max_draws]
            seeds = seeds[: min(m for m in most if m is not None)]
            yield {"problem": problem.name, "method": name, "seeds": seeds}


def unfinished(record: Record) -> str | None:
    """Return why there are no metrics, or None if there are."""
    if record["status"] == "ok":
        return None
    return f"> {record['limit']:.0f}" if record["status"] == "over limit" else "failed"


def jaccard(draws: Draws) -> float | None:
    """Return the Jaccard index of the selected features, mean over pairs of draws.

    None if every feature was kept each time, or if there is one draw only.
    """
    if len(draws) < 2 or all(draw["kept"] is None for draw in draws):
        return None
    sets = [set(range(d["n_kept"])) if d["kept"] is None else set(d["kept"]) for d in draws]
    alike = [
        len(one & other) / len(one | other) if one | other else 1.0
        for one, other in itertools.combinations(sets, 2)
    ]
    return statistics.fmean(alike)


def all_found_rate(draws: Draws, relevant: Sequence[int]) -> float:
    """Return the fraction of draws in which all relevant features were kept."""
    wanted = set(relevant)
    return statistics.fmean(d["kept"] is None or wanted <= set(d["kept"]) for d in draws)


def spurious(draws: Draws, relevant: Sequence[int]) -> float:
    """Return the mean number of irrelevant features that were kept."""
    wanted = set(relevant)
    return statistics.fmean(
        d["n_kept"] - (len(wanted) if d["kept"] is None else len(wanted & set(d["kept"])))
        for d in draws
    )


def _vectors(draws: Draws) -> str:
    known = [draw["n_vectors"] for draw in draws]
    return "–" if None in known else number(statistics.fmean(known))


CELLS = {
    "draws": lambda draws: str(len(draws)),
    "error %": lambda draws: mean_and_error((100 * d["error"] for d in draws), 2),
    "log loss": lambda draws: mean_and_error((d["log_loss"] for d in draws), 3),
    "vectors": _vectors,
    "features": lambda draws: number(statistics.fmean(d["n_kept"] for d in draws)),
    "CPU s": lambda draws: number(statistics.median(d["cpu"] for d in draws)),
    "slowest": lambda draws: number(max(d["cpu"] for d in draws)),
}
"""Cells of a line by their names: means over draws, of CPU seconds the median."""


def rows_of(records: Sequence[Record], cells: Mapping[str, Any]) -> list[list[str]]:
    """Return one line per record of one problem; methods that did not finish have no metrics."""
    rows = []
    for record in records:
        reason = unfinished(record)
        if reason is None:
            line = [cell(record["draws"]) for cell in cells.values()]
        else:
            line = [reason if name == "CPU s" else "–" for name in cells]
        rows.append([record["case"]["method"], *line])
    return rows


def method_notes(records: Sequence[Record]) -> list[str]:
    """Return what a reader must know of the methods, and who did not converge or finish."""
    used = {record["case"]["method"] for record in records}
    lines = [f"{m.name}: {m.note}." for m in METHODS.values() if m.name in used and m.note]
    for name in METHODS:
        draws = [d for r in records if r["case"]["method"] == name for d in r["draws"]]
        n_cut = sum(draw["is_cut_short"] for draw in draws)
        if n_cut:
            lines.append(f"{name}: {n_cut} of {len(draws)} fits ended before they had converged.")
    for record in records:
        if record["status"] != "ok":
            case = record["case"]
            reason = record.get("error", f"over {record['limit']:.0f} CPU seconds")
            n_done = len(record["draws"])
            lines.append(
                f"{case['problem']}, {case['method']}: {reason}, after {n_done} finished draws."
            )
    return lines


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of a mean."""
    return statistics.stdev(values) / math.sqrt(len(values))
