"""Thousands of features and tens of rows."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence

from bench.classification.part import Case, Part, Plan, Record, Target
from bench.features.outcomes import (
    CELLS,
    all_found_rate,
    cases_of,
    jaccard,
    method_notes,
    rows_of,
    spurious,
)
from bench.features.problems import GENES, WIDE
from bench.report import Table, number

__all__ = ["GENES_PART"]

CANDIDATES = (
    "PFCVM",
    "PFCVM always",
    "RVM",
    "L1 logistic",
    "linear SVC",
    "SVC",
    "majority",
)
ON_WIDE = ("PFCVM", "PFCVM always", "RVM", "L1 logistic")
WIDE_DRAWS = 3
QUICK = ("PFCVM always", "majority")


def cases(plan: Plan) -> Iterator[Case]:
    """Yield one case per set and method; then the widest problem, on few draws."""
    few = Plan(plan.seeds[:WIDE_DRAWS], plan.quick)
    if plan.quick:
        yield from cases_of([GENES["Colon"]], QUICK, plan)
        yield from cases_of([WIDE["wide1000"]], ON_WIDE[1:2], few)
        return
    yield from cases_of(GENES.values(), CANDIDATES, plan)
    yield from cases_of([WIDE["wide50000"]], ON_WIDE, few)


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one table per set."""
    result = []
    for name in dict.fromkeys(r["case"]["problem"] for r in records):
        problem = {**GENES, **WIDE}[name]
        cells = dict(CELLS)
        if problem.relevant is None:
            cells["Jaccard"] = lambda draws: number(jaccard(draws))
        else:
            relevant = problem.relevant
            cells["all found %"] = lambda d, r=relevant: number(100 * all_found_rate(d, r))
            cells["irrelevant"] = lambda d, r=relevant: number(spurious(d, r))
            cells["peak MB"] = lambda draws: _median(draws, "peak_mb")
            cells["predict s"] = lambda draws: _median(draws, "predict_cpu")
            cells["predict MB"] = lambda draws: _median(draws, "predict_mb")
        mine = [r for r in records if r["case"]["problem"] == name]
        result.append(Table(problem.title, ("method", *cells), rows_of(mine, cells)))
    return result


def _median(draws: Sequence[Record], key: str) -> str:
    return number(statistics.median(draw[key] for draw in draws))


def targets(records: Sequence[Record]) -> list[Target]:
    """Return nothing: no target was set beforehand."""
    return []


def notes(records: Sequence[Record]) -> list[str]:
    """Return how the splits were made, and those of the methods."""
    shown = set(itertools.chain(GENES)) & {r["case"]["problem"] for r in records}
    splits = "Random splits of the rows, 80 % for training, stratified by class; the same "
    lines = [splits + "splits for all methods. Test sets overlap: ± is too small."] if shown else []
    return [*lines, *method_notes(records)]


GENES_PART = Part("bench.features.fits", cases, tables, targets, notes, repeats=20, needs_data=True)
