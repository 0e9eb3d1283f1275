"""The page: what was measured, who won, who lost, and all figures."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.accuracy.picture import draw_scores
from bench.accuracy.problems import PROBLEMS
from bench.accuracy.suite import PARTS
from bench.accuracy.tables import losses_table, ordered, problem_tables, score_tables
from bench.report import Table, number

__all__ = ["PAGE", "PICTURE", "notes", "page", "shown_tables", "write_page"]

Record = dict[str, Any]

PAGE, PICTURE = "ACCURACY.md", "accuracy.png"

PUBLISHED = {
    "uci_boston": -2.55,
    "uci_energy": -0.62,
    "uci_power": -2.77,
    "uci_wine_red": -0.93,
    "uci_yacht": -0.75,
}
"""MLPD of NGBoost in the documentation of the package xgboost-distribution."""

OPENING = """# Accuracy

Models of relvec with all their defaults, beside peers that are tuned by cross-validation, on the
same splits of the same sets. Made by `python -m bench accuracy --write-readme`; how to run it is
in [README.md](README.md#accuracy).
"""

MEASURES = """## How it is measured

- Every fit runs in a process of its own with one BLAS thread. **CPU s** contains all that a user
  waits for: standardisation, cross-validation and what the density of a peer needs. Imports do
  not count. Median over draws. **> 300**: a fit was stopped after so many CPU seconds and the
  method not tried on further draws.
- **RMSE**: root mean square error on test rows. **MLPD**: mean log predictive density of test
  targets in nats, in units of the target; higher is better. **CRPS**: continuous ranked
  probability score, in units of the target; of Gaussian densities in closed form, else from
  quantiles.
- **50 %, 90 %, 95 %**: share of test targets inside the central intervals of that probability. In
  the comparison, **coverage** is the distance of the share from the probability in each draw,
  mean over the three. Small test sets make it larger, for everybody alike.
- **error**: share of test rows put into a wrong class. **log loss**: mean negative log
  probability of the true class, in nats, probabilities cut off at 1e-12. **Brier**: squared
  distances of the probabilities from the truth, summed over all classes (for two classes twice
  the score of one class). **calibration**: expected calibration error, that is rows in ten equal
  bins of their highest probability; distance between mean probability and share of hits in a bin,
  weighted by its rows.
- **vectors**: training rows in the kernels that a prediction evaluates; methods without kernels
  have none.
- Means over draws, **±** their standard error.

**Wins, ties and losses.** relvec is compared with each peer singly, set by set. The difference
between the two is taken draw by draw (of CPU and vectors the logarithm of the ratio); a win or a
loss is a mean difference of more than two standard errors, else it is a tie. The standard error
is over draws; where there is one split, over its test rows. A peer that did not finish is not
compared on that set; where relvec did not finish and the peer did, relvec has lost. Random splits
of one set have rows in common, which makes standard errors too small and wins and losses too
many: the second table uses the correction of Nadeau and Bengio (Machine Learning 52, 2003). Of
comparisons between equals one in twenty is a win or a loss by chance.
"""


def page(records: Sequence[Record], facts: str) -> str:
    """Return the page in Markdown.

    Parameters
    ----------
    records : sequence of dict
        Of all problems and methods.
    facts : str
        Machine, versions, date and command.
    """
    parts = [part for part in PARTS if ordered(part, records)]
    blocks = [OPENING, facts, f"![Wins, ties and losses of relvec by peer and metric]({PICTURE})"]
    blocks += ["## Wins and losses"]
    for part in parts:
        blocks += [table.markdown() for table in score_tables(part, records) if table.rows]
    blocks += ["Every loss in a metric of quality, most certain first:"]
    for part in parts:
        losses = losses_table(part, records)
        blocks.append(losses.markdown() if losses.rows else f"{losses.title}: nowhere.")
    blocks.append(MEASURES)
    for part in parts:
        blocks.append(f"## {part.capitalize()}")
        blocks += [table.markdown() for table in problem_tables(part, records)]
        blocks.append("\n".join(f"- {note}" for note in notes(part, records)))
    check = _published(records)
    if check.rows:
        blocks += [
            "## Check of a peer",
            "NGBoost here and as published, on sets of the same names; splits may differ.",
            check.markdown(),
        ]
    return "\n\n".join(block.strip() for block in blocks) + "\n"


def notes(part: str, records: Sequence[Record]) -> list[str]:
    """Return how the methods were used, and what did not converge, finish or run."""
    mine = ordered(part, records)
    used = {record["method"] for record in mine}
    lines = [f"{m.name}: {m.note}." for m in PARTS[part].values() if m.name in used]
    absent = [m.name for m in PARTS[part].values() if m.name not in used]
    if absent:
        lines.append(f"Left out, not installed or not asked for: {', '.join(absent)}.")
    dates = sorted({record["date"] for record in mine if "date" in record})
    if dates:
        versions = ", ".join(dict.fromkeys(r["version"] for r in mine if r.get("version")))
        period = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        lines.append(f"Fits of {period}, with {versions}.")
    for name in PARTS[part]:
        draws = [draw for r in mine if r["method"] == name for draw in r["draws"]]
        n_cut = sum(draw["is_cut_short"] for draw in draws)
        if n_cut:
            lines.append(f"{name}: {n_cut} of {len(draws)} fits ended before they had converged.")
    for record in mine:
        if record["status"] != "ok":
            reason = record.get("error", f"over {record.get('limit', 0):.0f} CPU seconds")
            done = f"after {len(record['draws'])} finished draws"
            lines.append(f"{record['problem']}, {record['method']}: {reason}, {done}.")
    present = {record["problem"] for record in mine}
    without = [p.name for p in PROBLEMS.values() if p.part == part and p.name not in present]
    if without:
        lines.append(f"Not run: {', '.join(without)}.")
    return lines


def _published(records: Sequence[Record]) -> Table:
    rows = []
    for record in ordered("regression", records):
        name = record["problem"]
        if record["method"] == "NGBoost" and name in PUBLISHED and record["draws"]:
            mean = statistics.fmean(draw["mlpd"] for draw in record["draws"])
            rows.append([name, number(mean), number(PUBLISHED[name])])
    return Table("MLPD of NGBoost", ("set", "here", "published"), rows)


def shown_tables(part: str, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a part for the screen."""
    everything = [
        *problem_tables(part, records),
        *score_tables(part, records),
        losses_table(part, records),
    ]
    return [table for table in everything if table.rows]


def write_page(folder: Path, records: Sequence[Record], facts: str) -> None:
    """Write page and picture into a folder."""
    draw_scores(records, folder / PICTURE)
    (folder / PAGE).write_text(page(records, facts), encoding="utf-8")
