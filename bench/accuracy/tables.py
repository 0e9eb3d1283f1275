"""Tables of the page."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from bench.accuracy.methods import OURS
from bench.accuracy.metrics import COVERAGES, METRICS
from bench.accuracy.problems import PROBLEMS
from bench.accuracy.suite import PARTS
from bench.accuracy.tally import Comparison, comparisons, is_finished, scores
from bench.report import Table, number

__all__ = ["losses_table", "ordered", "problem_tables", "score_tables"]

Record = dict[str, Any]

COLUMNS: dict[str, tuple[tuple[str, str, float, int], ...]] = {
    "regression": (
        ("RMSE", "rmse", 1.0, 4),
        ("MLPD", "mlpd", 1.0, 3),
        ("CRPS", "crps", 1.0, 4),
        *((f"{p} %", f"coverage_{p}", 100.0, 1) for p in COVERAGES),
    ),
    "classification": (
        ("error %", "error", 100.0, 2),
        ("log loss", "log_loss", 1.0, 4),
        ("Brier", "brier", 1.0, 4),
        ("calibration", "ece", 1.0, 3),
    ),
}
"""Head, key, factor and digits."""
PLAIN = {f"coverage_{p}" for p in COVERAGES}
"""Shown without a standard error."""


def ordered(part: str, records: Sequence[Record]) -> list[Record]:
    """Return the records of a part in the order of problems and methods."""
    problems, methods = list(PROBLEMS), list(PARTS[part])
    known = [r for r in records if r["part"] == part and r["problem"] in problems]
    return sorted(
        (r for r in known if r["method"] in methods),
        key=lambda r: (problems.index(r["problem"]), methods.index(r["method"])),
    )


def problem_tables(part: str, records: Sequence[Record]) -> list[Table]:
    """Return one table per problem: means over draws."""
    mine = ordered(part, records)
    head = ("method", *(name for name, *_ in COLUMNS[part]), "vectors", "CPU s")
    result = []
    for name in dict.fromkeys(record["problem"] for record in mine):
        here = [record for record in mine if record["problem"] == name]
        rows = [[record["method"], *_cells(part, record)] for record in here]
        result.append(Table(_title(name, here), head, rows))
    return result


def _title(name: str, records: Sequence[Record]) -> str:
    draws = [draw for record in records for draw in record["draws"]]
    if not draws:
        return name
    n_draws = max(len(record["draws"]) for record in records)
    one = draws[0]
    sizes = (
        f"{one['n_train']} training rows, {one['n_test']} test rows, {one['n_features']} features"
    )
    return f"{name}: {sizes}; {PROBLEMS[name].what}; draws: {n_draws}"


def _cells(part: str, record: Record) -> list[str]:
    draws = record["draws"]
    if not is_finished(record):
        is_over = record["status"] == "over limit"
        reason = f"> {record['limit']:.0f}" if is_over else "failed"
        return [*["–"] * (len(COLUMNS[part]) + 1), reason]
    cells = []
    for _, key, factor, digits in COLUMNS[part]:
        values = [factor * draw[key] for draw in draws]
        cells.append(_mean(values, digits, with_error=key not in PLAIN))
    vectors = [draw["n_vectors"] for draw in draws]
    cells.append("–" if None in vectors else number(statistics.fmean(vectors)))
    return [*cells, number(statistics.median(draw["cpu"] for draw in draws))]


def _mean(values: Sequence[float], digits: int, *, with_error: bool) -> str:
    mean = statistics.fmean(values)
    if abs(mean) >= 100 and digits > 2:
        digits = 2
    text = f"{mean:.{digits}f}"
    if not with_error or len(values) < 2:
        return text
    return f"{text} ± {statistics.stdev(values) / math.sqrt(len(values)):.{digits}f}"


def score_tables(part: str, records: Sequence[Record]) -> list[Table]:
    """Return wins / ties / losses by peer and metric, at both standard errors."""
    found = comparisons(part, ordered(part, records))
    metrics = METRICS[part]
    result = []
    for is_corrected in (True, False):
        score = scores(found, is_corrected=is_corrected)
        rows = []
        for peer in PARTS[part]:
            line = [str(score.get((peer, metric.key), "–")) for metric in metrics]
            n_sets = len({one.problem for one in found if one.peer == peer})
            if peer != OURS and n_sets:
                rows.append([peer, str(n_sets), *line])
        kind = "" if is_corrected else ", standard errors not corrected for rows in common"
        title = f"{part.capitalize()}: wins / ties / losses of relvec{kind}"
        result.append(Table(title, ("against", "sets", *(m.name for m in metrics)), rows))
    return result


def losses_table(part: str, records: Sequence[Record]) -> Table:
    """Return every loss in a metric of quality, the most standard errors first."""
    found = [
        one
        for one in comparisons(part, ordered(part, records))
        if one.metric.is_quality and one.verdict() == "loss"
    ]
    found.sort(key=_size)
    rows = [
        [
            f"{one.problem}, {one.metric.name}",
            one.peer,
            "not finished" if math.isnan(one.ours) else number(one.metric.factor * one.ours, 4),
            number(one.metric.factor * one.theirs, 4),
            _errors(one),
        ]
        for one in found
    ]
    title = f"{part.capitalize()}: where relvec loses"
    return Table(title, ("set, metric", "to", "relvec", "peer", "standard errors"), rows)


def _size(one: Comparison) -> float:
    return -math.inf if one.error == 0.0 else one.gap / one.error


def _errors(one: Comparison) -> str:
    return "–" if one.error == 0.0 else number(-one.gap / one.error, 2)
