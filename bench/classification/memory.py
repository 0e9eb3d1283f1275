"""Peak memory of one fit of many rows."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from bench.classification.methods import METHODS
from bench.classification.part import Case, Part, Plan, Record, Target, ok
from bench.classification.speed import notes
from bench.report import Table, number

__all__ = ["MEMORY_PART"]

CANDIDATES = ("relvec low-memory", "relvec", "fastrvm", "fastrvm, no intercept")
DLIB_MB = 30.0
"""Resident memory of dlib 19.24 (C++ program without an interpreter) on such a problem of 5000
rows, measured once on 2026-11-15; quoted, not measured here."""
DLIB_SECONDS = 11.5
FULL, QUICK = "crescents5000", "crescents400"


def cases(plan: Plan) -> Iterator[Case]:
    """Yield one case per draw and candidate."""
    for seed in plan.seeds:
        for name in CANDIDATES:
            if METHODS[name].is_installed:
                problem = QUICK if plan.quick else FULL
                yield {"problem": problem, "method": name, "seed": seed}


def tables(records: Sequence[Record]) -> list[Table]:
    """Return one table, the quoted result last."""
    rows = []
    for name in CANDIDATES:
        mine = [r for r in ok(records) if r["case"]["method"] == name]
        if mine:
            rows.append([name, *(number(_median(mine, key)) for key in KEYS)])
    rows.append(["dlib (quoted)", "–", number(DLIB_MB), number(DLIB_SECONDS), "–"])
    problem = records[0]["case"]["problem"] if records else FULL
    head = ("method", "peak above imports MB", "RSS MB", "CPU s", "vectors")
    return [Table(f"{problem}: medians over draws", head, rows)]


KEYS = ("peak_mb", "resident_mb", "cpu", "n_vectors")


def _median(records: Sequence[Record], key: str) -> float:
    return statistics.median(record[key] for record in records)


def targets(records: Sequence[Record]) -> list[Target]:
    """Return memory and time against the quoted results."""
    mine = [r for r in ok(records) if r["case"]["method"] == CANDIDATES[0]]
    if not mine or mine[0]["case"]["problem"] != FULL:
        return []
    limit = 4 * DLIB_MB
    return [
        Target("low-memory: peak above imports", _median(mine, "peak_mb"), limit, unit=" MB"),
        Target("low-memory: RSS", _median(mine, "resident_mb"), limit, unit=" MB"),
        Target("low-memory: CPU", _median(mine, "cpu"), DLIB_SECONDS, unit=" s"),
    ]


def _notes(records: Sequence[Record]) -> list[str]:
    quoted = (
        "dlib: a C++ program without an interpreter, measured once on 2026-11-15 on another "
        "draw of the same problem; not measured in this run."
    )
    return [*notes(records), quoted]


MEMORY_PART = Part("bench.classification.fits", cases, tables, targets, _notes, repeats=1)
