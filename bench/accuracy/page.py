"""The page: how accuracy is measured, wins and losses, and all metrics."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.accuracy.fits import MOST_ROWS
from bench.accuracy.plots import draw_scores, draw_sets
from bench.accuracy.problems import PROBLEMS
from bench.accuracy.suite import PARTS
from bench.accuracy.tables import losses_table, ordered, problem_tables, score_tables
from bench.report import Table, number

__all__ = ["PAGE", "PLOT", "SCORES", "notes", "page", "shown_tables", "write_page"]

Record = dict[str, Any]

PAGE, PLOT, SCORES = "ACCURACY.md", "accuracy.png", "accuracy-scores.png"

PUBLISHED = {
    "uci_boston": -2.55,
    "uci_energy": -0.62,
    "uci_wine_red": -0.93,
    "uci_yacht": -0.75,
}
"""MLPD of NGBoost in the documentation of the package xgboost-distribution, on sets whose training
rows are all used here."""

REMARKS = {
    "uci_wine_red": "more than a quarter of the test rows are exact copies of training rows, and "
    "targets are integers. The density of a model without noise has no upper bound there, and the "
    "highest evidence of GPR is such a model: its MLPD does not reflect its RMSE and CRPS.",
    "uci_power": f"{MOST_ROWS} of 8611 training rows, for all methods.",
}
"""Notes on the metrics of single sets."""

OPENING = """# Accuracy

relvec with default settings, compared with peers that are scaled and tuned as is customary, on the
same splits of the same data sets. Made by `python -m bench accuracy --write-readme`
([how to run it](README.md#accuracy)).
"""

MEASURES = f"""## How it is measured

- A **draw** is one split of a set, or one fresh sample of a simulated one. All methods get the
  same rows: those of the split, or {MOST_ROWS} of its training rows at random if it has more.
- Within a fit every choice is made on its training rows. How GPR chooses among its
  initialisations was revised twice after its test metrics on uci_wine_red and uci_yacht were
  known: evidence of all training rows instead of the few it learns on, four random initialisations
  instead of two. Both raise its training evidence; the metrics are those after the revision.
- Every fit runs in its own process with one BLAS thread. **CPU s** includes everything that a user
  waits for: standardisation, cross-validation, restarts, and the residuals for an error bar.
  Imports do not count. Median over draws. **> N** instead of metrics: a fit was stopped after N
  CPU seconds and the method not run on further draws; it is not compared on that set.
- **RMSE**: root mean square error on test rows. **MLPD**: mean log predictive density of test
  targets in nats, in units of the target; more is better. **CRPS**: continuous ranked probability
  score, in units of the target; of Gaussian distributions in closed form, else from quantiles.
- **50 %, 90 %, 95 %**: percentage of test targets that the central intervals of that probability
  cover. In the comparison, **coverage** is the absolute difference between coverage and nominal
  probability in each draw, averaged over the three. Small test sets increase it for all methods.
- RidgeCV, LassoCV, SVR and HistGradientBoosting have no predictive distribution. For MLPD, CRPS
  and coverage they get a Gaussian one with constant standard deviation: the root mean square of
  their cross-validated residuals.
- **error rate, error %**: percentage of test rows classified wrongly. **log loss**: mean negative
log   probability of the true class in nats, probabilities clipped at 1e-12. **Brier**: squared
  differences between probabilities and outcomes, summed over all classes (for two classes twice
  the score of one class). **calibration**: expected calibration error: test rows in ten equal
  bins of their highest probability; distance between mean probability and accuracy in a bin,
  weighted by its rows.
- **vectors**: training rows in the kernels that a prediction evaluates; methods without kernels
  have none.
- Means over draws, **±** their plain standard error.

**Wins, ties and losses.** relvec is compared with each peer separately, set by set. The difference
between the two is taken draw by draw (of CPU seconds and vectors the logarithm of the ratio); a
win or a loss is a mean difference of more than two standard errors, all else is a tie. Splits of
one set have rows in common, so that the plain standard error over n draws, s / √n, is too small.
The correction of Nadeau and Bengio (Machine Learning 52, 2003) is used: s √(1/n + r) with r the
ratio of test to training rows of the split. Where the test set is the larger (ida_banana, titanic
and waveform, pima, ripley) this is strict: few differences are shown. Fresh samples have r = 0.
The second table of each kind has the plain standard errors. Where relvec did not finish and the
peer did, relvec has lost. Of comparisons between equally good methods, about one in twenty is a win
or a loss at random.
"""


def page(records: Sequence[Record], facts: str) -> str:
    """Return the page in Markdown.

    Parameters
    ----------
    records : sequence of dict
        Of all problems and methods.
    facts : str
        Computer, versions, date and command.
    """
    parts = [part for part in PARTS if ordered(part, records)]
    blocks = [OPENING, facts, f"![relvec against each peer on each set]({PLOT})"]
    blocks += ["## Wins, ties and losses", f"![By peer and metric]({SCORES})"]
    for part in parts:
        blocks += [table.markdown() for table in score_tables(part, records) if table.rows]
    blocks += [
        "Every loss in a metric of prediction quality, largest number of standard errors first:"
    ]
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
    used, present = ({record[key] for record in mine} for key in ("method", "problem"))
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
            lines.append(f"{name}: {n_cut} of {len(draws)} fits ended before convergence.")
    lines += [f"{name}: {remark}" for name, remark in REMARKS.items() if name in present]
    lines += _incomplete(mine)
    without = [p.name for p in PROBLEMS.values() if p.part == part and p.name not in present]
    if without:
        lines.append(f"Not run: {', '.join(without)}.")
    return lines


def _incomplete(records: Sequence[Record]) -> list[str]:
    """Return who has fewer draws than others of the set, and who did not finish."""
    most: dict[str, int] = {}
    for record in records:
        most[record["problem"]] = max(most.get(record["problem"], 0), len(record["draws"]))
    fewer, lines = [], []
    for record in records:
        where, n_draws = f"{record['problem']} {record['method']}", len(record["draws"])
        if record["status"] != "ok":
            reason = record.get("error", f"over {record['limit']:.0f} CPU seconds")
            lines.append(f"{where}: {reason} after {n_draws} finished draws; not compared.")
        elif n_draws < most[record["problem"]]:
            fewer.append(f"{where} {n_draws}")
    if fewer:
        lines.append(f"Fewer draws than others, compared on these: {', '.join(fewer)}.")
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
    """Return the tables of a part for the terminal."""
    everything = [
        *problem_tables(part, records),
        *score_tables(part, records),
        losses_table(part, records),
    ]
    return [table for table in everything if table.rows]


def write_page(folder: Path, records: Sequence[Record], facts: str) -> None:
    """Write page and plots into a folder."""
    draw_sets(records, folder / PLOT)
    draw_scores(records, folder / SCORES)
    (folder / PAGE).write_text(page(records, facts), encoding="utf-8")
