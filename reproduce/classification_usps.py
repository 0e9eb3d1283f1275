"""The digits of section 4.4.2 of Tipping (2001): ten machines, and one model of all classes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.report import Table, number
from reproduce.classification import DIGITS, Line, read_printed, standard_error
from reproduce.label_sets import read_digits
from reproduce.widths import FACTORS, cross_validate, judge, scale_of

__all__ = ["METHODS", "Method", "tables"]

N_SEARCHED = 1500
"""Training rows, drawn at random, on which the width is chosen."""
SEARCHED = tuple(factor for factor in FACTORS if 0.5 <= factor <= 3.0)
"""Candidates; narrower kernels see no digit but their own."""


class Method(NamedTuple):
    """A way to tell ten classes apart."""

    label: str
    options: dict[str, Any]
    searched_with: dict[str, Any]
    """Options with which the width is chosen."""


ONE_VERSUS_REST = {"multi_class": "one_vs_rest"}
CAUTIOUS = ONE_VERSUS_REST | {"largest_logit": 10.0}
METHODS = (
    Method("one vs rest", ONE_VERSUS_REST, ONE_VERSUS_REST),
    Method("one vs rest, logit ≤ 10", CAUTIOUS, CAUTIOUS),
    # the width is that of ten machines: to search with the joint model takes ten times as long
    Method("softmax", {"multi_class": "softmax"}, ONE_VERSUS_REST),
)


def tables(
    folder: str | Path | None, n_draws: int, seed: int, methods: tuple[Method, ...] = METHODS
) -> list[Table]:
    """Return the printed figures of the digits next to ours.

    Parameters
    ----------
    folder : str, Path or None
        Where the data lie.
    n_draws : int
        Not used: there is one split.
    seed : int
        Of the rows on which the width is chosen, and of their folds.
    methods : tuple of Method
        Lines of the table.
    """
    printed = read_printed(folder)[DIGITS]
    split = read_digits(folder)
    rows = np.random.default_rng(seed).permutation(len(split.y))[:N_SEARCHED]
    cells = []
    for method in methods:
        start = time.process_time()
        curve = cross_validate(split.X[rows], split.y[rows], seed, SEARCHED, **method.searched_with)
        search = time.process_time() - start
        width = SEARCHED[int(curve.log_loss.argmin())] * scale_of(split.X)
        outcome = judge(split, width, **method.options)
        spread = standard_error([outcome], len(split.y_test))
        line = Line(printed, [outcome], spread, [width], search)
        cells.append(
            [
                method.label,
                number(width),
                line.ours,
                number(outcome.n_vectors),
                number(outcome.log_loss),
                number(outcome.seconds),
                number(search),
                "yes" if outcome.converged else "no",
                "no: " + ", ".join(line.misses) if line.misses else "yes",
            ]
        )
    head = ["", "r", "error %", "vectors", "log loss", "fit s", "search s"]
    title = (
        f"U.S.P.S. digits: printed error {printed.svm_error:g} % with {printed.svm_vectors:g} "
        f"vectors (SVM) and {printed.error:g} % with {printed.vectors:g} (RVM, ten machines); "
        "ours ± standard error; CPU seconds"
    )
    return [Table(title, [*head, "converged", "agrees"], cells)]
