"""The suite of length-scales and feature selection: run its parts, make tables, check targets."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Sequence

from bench.classification.part import Part, Plan, Record, target_table
from bench.classification.problems import VARIABLE, folder
from bench.classification.suite import run_job
from bench.features.benchmarks import BENCHMARKS_PART
from bench.features.cost import COST_PART
from bench.features.genes import GENES_PART
from bench.features.selection import SELECTION_PART
from bench.report import Table

__all__ = ["DEFAULT_PARTS", "PARTS", "notes", "run_part", "tables"]

PARTS: dict[str, Part] = {
    "cost": COST_PART,
    "selection": SELECTION_PART,
    "benchmarks": BENCHMARKS_PART,
    "genes": GENES_PART,
}

DEFAULT_PARTS = tuple(name for name, part in PARTS.items() if part.is_default)


def run_part(
    name: str, seed: int, repeats: int | None, quick: bool, limit: float
) -> Iterator[Record]:
    """Yield the records of a part as they come; who is over the limit is not tried again."""
    part = PARTS[name]
    if part.needs_data and folder() is None:
        print(f"{name} left out: it needs --data FOLDER or {VARIABLE}", file=sys.stderr)
        return
    n_draws = repeats or (1 if quick else part.repeats)
    given_up: set[str] = set()
    for case in part.cases(Plan(range(seed, seed + n_draws), quick)):
        label = " ".join(str(v) for key, v in case.items() if key not in ("seed", "seeds"))
        if label in given_up:
            continue
        job = {"part": name, "module": part.module, "case": case, "limit": limit}
        record = run_job(job)
        if record["status"] != "ok":
            given_up.add(label)
            record.setdefault("draws", [])
        print(f"{name} {label}: {_format_metrics(record)}", file=sys.stderr, flush=True)
        yield record


def _format_metrics(record: Record) -> str:
    if record["status"] != "ok":
        return str(record.get("error", record["status"]))
    if "mse" in record:
        return f"{record['cpu']:.3g} CPU s, MSE {record['mse']:.3g}"
    draws = record["draws"]
    cpu, error, loss, kept = (
        statistics.fmean(draw[key] for draw in draws)
        for key in ("cpu", "error", "log_loss", "n_kept")
    )
    return (
        f"{cpu:.3g} CPU s, error {100 * error:.2f} %, log loss {loss:.3f}, features {kept:.1f}, "
        f"draws {len(draws)}"
    )


def tables(name: str, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a part, its targets last."""
    part = PARTS[name]
    targets = part.targets(records)
    return part.tables(records) + ([target_table(targets)] if targets else [])


def notes(name: str, records: Sequence[Record]) -> list[str]:
    """Return what a reader of the tables must know."""
    return PARTS[name].notes(records)
