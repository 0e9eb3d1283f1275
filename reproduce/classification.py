"""Section 4.4.2 of Tipping (2001): errors and relevance vectors of classifiers on benchmarks."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.report import Table, number
from reproduce.label_sets import Printed, Split, read_ripley, read_set
from reproduce.published import load
from reproduce.widths import FACTORS, Curve, Outcome, cross_validate, judge, scale_of

__all__ = ["MAIN", "RULES", "Line", "Rule", "choose", "read_printed", "study", "tables"]

DIGITS = "usps"
"""Has a table of its own."""
SUMMARY = "normalised_mean"
RIPLEY_WIDTH = 0.5
"""Given in section 4.2, not searched for."""
N_CHOOSING = 5
"""Training parts on which a common width is chosen, as is usual for the IDA sets."""
MOST_VECTORS = 1.5
"""A number of vectors up to so many times the printed one agrees."""


class Rule(NamedTuple):
    """How a width is chosen from cross-validation."""

    criterion: str
    is_common: bool
    """One width for all splits, by the mean over the first of them; else each has its own."""

    @property
    def label(self) -> str:
        """A readable name."""
        what = self.criterion.replace("_", " ")
        return f"{what}, {'common' if self.is_common else 'each split'}"


MAIN = Rule("log_loss", is_common=True)
RULES = (MAIN, Rule("error", True), Rule("log_loss", False), Rule("error", False))


def choose(curves: Sequence[Curve], rule: Rule) -> list[int]:
    """Return which width each split gets.

    Parameters
    ----------
    curves : sequence of Curve
        Cross-validation on the training part of each split.
    rule : Rule
        What to minimise, and whether for all splits at once.
    """
    values = np.array([getattr(curve, rule.criterion) for curve in curves])
    if rule.is_common:
        return [int(values[:N_CHOOSING].mean(axis=0).argmin())] * len(values)
    return [int(best) for best in values.argmin(axis=1)]


class Line(NamedTuple):
    """A printed line next to ours."""

    printed: Printed
    outcomes: Sequence[Outcome]
    """On each of the splits."""
    spread: float
    """By how much errors may differ: one standard error, in percent."""
    widths: Sequence[float]
    """Tipping's r on each of the splits."""
    search: float = 0.0
    """CPU seconds of cross-validation on one training part."""

    def mean(self, what: str) -> float:
        """Mean over the splits of an attribute of the outcomes."""
        return float(np.mean([getattr(outcome, what) for outcome in self.outcomes]))

    @property
    def misses(self) -> list[str]:
        """Which figures do not agree."""
        found = []
        if self.mean("error") > self.printed.error + self.spread:
            found.append("error")
        if self.mean("n_vectors") > MOST_VECTORS * self.printed.vectors:
            found.append("vectors")
        return found

    @property
    def ours(self) -> str:
        """Error with its standard error."""
        return f"{self.mean('error'):.2f} ± {number(self.spread, 2)}"


def standard_error(outcomes: Sequence[Outcome], n_test: int) -> float:
    """Return that of the mean over splits; of one split, that of counting its test errors."""
    errors = np.array([outcome.error for outcome in outcomes])
    if len(errors) > 1:
        return float(errors.std(ddof=1)) / math.sqrt(len(errors))
    return math.sqrt(float(errors[0] * (100.0 - errors[0])) / n_test)


def study(
    printed: Printed, splits: Sequence[Split], seed: int, rules: Sequence[Rule] = RULES
) -> list[Line]:
    """Return a line for each rule by which the width may be chosen.

    Parameters
    ----------
    printed : Printed
        The published line.
    splits : sequence of Split
        Data; a width is chosen without the test rows.
    seed : int
        Of the folds of the first split.
    rules : sequence of Rule
        How to choose.
    """
    start = time.process_time()
    curves = [cross_validate(split.X, split.y, seed + i, FACTORS) for i, split in enumerate(splits)]
    search = (time.process_time() - start) / len(splits)
    known: dict[tuple[int, int], Outcome] = {}
    lines = []
    for rule in rules:
        chosen = list(enumerate(choose(curves, rule)))
        widths = [FACTORS[best] * scale_of(splits[i].X) for i, best in chosen]
        for (i, best), width in zip(chosen, widths, strict=True):
            if (i, best) not in known:
                known[i, best] = judge(splits[i], width)
        outcomes = [known[pair] for pair in chosen]
        spread = standard_error(outcomes, len(splits[0].y_test))
        lines.append(Line(printed, outcomes, spread, widths, search))
    return lines


def ripley(folder: str | Path | None, n_draws: int) -> Line:
    """Return the line of section 4.2: draws of 100 rows at the given width.

    The printed figures are those of one draw that is not known, so the error may differ from
    our mean by as much as draws do among themselves.
    """
    figures = load(folder, "tipping2001", "examples")["ripley_100"]
    printed = Printed(
        "ripley",
        figures["N"],
        figures["svm_error_pct"],
        figures["rvm_error_pct"],
        figures["svm_vectors"],
        figures["rvm_vectors"],
    )
    outcomes = [judge(split, RIPLEY_WIDTH) for split in read_ripley(folder, n_draws)]
    spread = float(np.std([outcome.error for outcome in outcomes], ddof=1))
    return Line(printed, outcomes, spread, [RIPLEY_WIDTH])


def read_printed(folder: str | Path | None) -> dict[str, Printed]:
    """Return the published lines by the name of their set."""
    rows = load(folder, "tipping2001", "classification")["rows"]
    lines = [
        Printed(name, n, svm_error, error, svm_vectors, vectors)
        for name, n, _, svm_error, error, svm_vectors, vectors in rows
    ]
    return {line.name: line for line in lines if line.name != SUMMARY}


def _label(name: str) -> str:
    return name.removeprefix("ida_").replace("_", " ").capitalize()


def _cells(line: Line) -> list[str]:
    printed = line.printed
    low, high = (number(end, 2) for end in (min(line.widths), max(line.widths)))
    return [
        _label(printed.name),
        low if low == high else f"{low} – {high}",
        f"{printed.svm_error:g}, {printed.error:g}",
        line.ours,
        f"{printed.svm_vectors:g}, {printed.vectors:g}",
        number(line.mean("n_vectors")),
        number(line.mean("log_loss")),
        number(line.mean("seconds"), 2),
        "no: " + ", ".join(line.misses) if line.misses else "yes",
    ]


def _relative(lines: Sequence[Line]) -> list[str]:
    """Return means of ratios to the printed figures of support vector machines."""
    pairs = [(line, line.printed) for line in lines]
    means = [
        np.mean([printed.error / printed.svm_error for _, printed in pairs]),
        np.mean([line.mean("error") / printed.svm_error for line, printed in pairs]),
        np.mean([printed.vectors / printed.svm_vectors for _, printed in pairs]),
        np.mean([line.mean("n_vectors") / printed.svm_vectors for line, printed in pairs]),
    ]
    error, ours, vectors, our_vectors = (f"{mean:.2f}" for mean in means)
    return ["Mean over SVM", "", f"1, {error}", ours, f"1, {vectors}", our_vectors, "", "", ""]


def tables(folder: str | Path | None, n_draws: int, seed: int) -> list[Table]:
    """Return the table with both sets of figures, and what other choices of a width give."""
    first = ripley(folder, n_draws)
    lines = {
        name: study(printed, read_set(folder, name), seed)
        for name, printed in read_printed(folder).items()
        if name != DIGITS
    }
    main = [by_rule[RULES.index(MAIN)] for by_rule in lines.values()]
    fits = [outcome for line in [first, *main] for outcome in line.outcomes]
    searches = [line.search * len(line.outcomes) for line in main]
    n_failed = sum(not outcome.converged for outcome in fits)
    # short, so that the table fits on a screen
    head = ["", "r", "err % SVM, RVM", "ours", "vectors", "ours", "log loss", "fit s", "agrees"]
    title = (
        "Classification: printed figures of support (SVM) and relevance vector machines (RVM), "
        f"ours ± standard error (Ripley: ± standard deviation of {len(first.outcomes)} draws), "
        f"CPU seconds of a fit; {n_failed} of {len(fits)} fits did not converge. Mean of ratios to "
        f"the SVM without Ripley. Choosing widths took {sum(searches):.0f} CPU s"
    )
    rows = [_cells(line) for line in [first, *main]]
    result = [Table(title, head, [*rows, _relative(main)])]
    others = []
    for by_rule in lines.values():
        cells = [f"{line.ours}; {number(line.mean('n_vectors'))}" for line in by_rule]
        marked = zip(cells, by_rule, strict=True)
        name = _label(by_rule[0].printed.name)
        others.append([name, *(cell + (" *" if line.misses else "") for cell, line in marked)])
    result.append(
        Table(
            "Error % and vectors by what cross-validation minimises, in common over the first "
            f"{N_CHOOSING} training parts or on each; * does not agree",
            ["", *(rule.label for rule in RULES)],
            others,
        )
    )
    return result
