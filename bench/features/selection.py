"""Whether relevant features are found, and whether none is lost where all are relevant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.classification.part import Case, Part, Plan, Record, Target
from bench.features.outcomes import (
    CELLS,
    all_found_rate,
    cases_of,
    method_notes,
    rows_of,
    spurious,
)
from bench.features.problems import SYNTHETIC
from bench.report import Table, number

__all__ = ["SELECTION_PART"]

CANDIDATES = (
    "PFCVM",
    "PFCVM always",
    "PFCVM never",
    "RVM",
    "SVC",
    "L1 logistic",
    "GP, ARD",
)
QUICK = CANDIDATES[:-1]


def cases(plan: Plan) -> Iterator[Case]:
    """Yield one case per problem and method; of a quick run those of the smallest problem."""
    problems = list(SYNTHETIC.values())
    if plan.quick:
        return cases_of(problems[:1], QUICK, plan)
    return cases_of(problems, CANDIDATES, plan)


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one table per problem."""
    result = []
    for name in dict.fromkeys(r["case"]["problem"] for r in records):
        problem = SYNTHETIC[name]
        cells = dict(CELLS)
        relevant = problem.relevant
        if relevant is not None:
            cells["all found %"] = lambda d, r=relevant: number(100 * all_found_rate(d, r))
            cells["irrelevant"] = lambda d, r=relevant: number(spurious(d, r))
        mine = [r for r in records if r["case"]["problem"] == name]
        result.append(Table(problem.title, ("method", *cells), rows_of(mine, cells)))
    return result


def targets(records: Sequence[Record]) -> list[Target]:
    """Return nothing: no target was set beforehand."""
    return []


SELECTION_PART = Part("bench.features.fits", cases, tables, targets, method_notes, repeats=30)
