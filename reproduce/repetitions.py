"""Regressions fitted again and again: what came out, and whether printed figures are reached."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.report import number
from reproduce.label_sets import Split, standardised

__all__ = ["MEASURES", "Line", "Method", "Outcome", "Target", "judge", "repeat", "share"]

N_PRINTED = 100
"""Repetitions behind a printed mean."""
MOST_VECTORS = 1.5
"""A number of vectors up to so many times the printed one agrees."""
MEASURES: dict[str, Callable[[np.ndarray], float]] = {
    "MSE": lambda difference: float(np.mean(difference**2)),
    "RMSE": lambda difference: math.sqrt(float(np.mean(difference**2))),
}


class Method(NamedTuple):
    """A way to fit, and the printed column it is held against."""

    label: str
    make: Callable[[], Any]
    against: str | None
    most_draws: int | None = None
    """Fit only the first so many draws."""
    is_standardised: bool = False
    """Whether inputs are brought to mean 0 and variance 1 first."""


class Target(NamedTuple):
    """A printed figure."""

    label: str
    error: float
    vectors: float
    inputs: float | None = None


class Outcome(NamedTuple):
    """What came of one fit."""

    error: float
    """On the test rows."""
    n_vectors: float
    """NaN if the model has none."""
    kept: np.ndarray
    """Which inputs the model depends on."""
    seconds: float
    converged: bool

    @property
    def n_inputs(self) -> int:
        """Number of inputs kept."""
        return int(np.count_nonzero(self.kept))


def _kept(model: Any, n_features: int) -> np.ndarray:
    """Return which inputs a fitted model depends on."""
    for name in ("feature_relevance_", "feature_weights_"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)) != 0.0
    return np.ones(n_features, dtype=bool)


def judge(method: Method, draw: Split, measure: str) -> Outcome:
    """Fit on the training rows and measure on the test rows.

    Parameters
    ----------
    method : Method
        What to fit.
    draw : Split
        Rows to learn from and rows to be judged on.
    measure : {"MSE", "RMSE"}
        What to take of the differences.
    """
    if method.is_standardised:
        draw = standardised(draw)
    start = time.process_time()
    model = method.make().fit(draw.X, draw.y)
    seconds = time.process_time() - start
    error = MEASURES[measure](model.predict(draw.X_test) - draw.y_test)
    n_vectors = float(len(model.relevance_)) if hasattr(model, "relevance_") else math.nan
    converged = bool(np.all(getattr(model, "converged_", True)))
    return Outcome(error, n_vectors, _kept(model, draw.X.shape[1]), seconds, converged)


class Line(NamedTuple):
    """Our figures over the draws, and the printed ones to hold them against."""

    label: str
    outcomes: Sequence[Outcome]
    target: Target | None

    def mean(self, what: str) -> float:
        """Mean over the draws of an attribute of the outcomes."""
        return float(np.mean([getattr(outcome, what) for outcome in self.outcomes]))

    def standard_error(self, what: str = "error") -> float:
        """Standard error of that mean."""
        values = [getattr(outcome, what) for outcome in self.outcomes]
        return float(np.std(values, ddof=1)) / math.sqrt(len(values))

    @property
    def misses(self) -> list[str]:
        """Which printed figures are not reached.

        The printed mean is one of 100 draws that we do not know, so it is as uncertain as ours
        would be of so many; the error may be two standard errors of the difference above it.
        """
        if self.target is None:
            return []
        n = len(self.outcomes)
        slack = 2.0 * self.standard_error() * math.sqrt(1.0 + n / N_PRINTED)
        found = []
        if not self.mean("error") <= self.target.error + slack:
            found.append("error")
        if not self.mean("n_vectors") <= MOST_VECTORS * self.target.vectors:
            found.append("vectors")
        return found

    @property
    def cells(self) -> list[str]:
        """Label, error, vectors, inputs, draws, seconds, share of fits that converged, verdict."""
        vectors = self.mean("n_vectors")
        verdict = "–"
        if self.target is not None:
            verdict = "no: " + ", ".join(self.misses) if self.misses else "yes"
        return [
            self.label,
            f"{number(self.mean('error'))} ± {number(self.standard_error(), 2)}",
            "–"
            if math.isnan(vectors)
            else f"{number(vectors)} ± {number(self.standard_error('n_vectors'), 2)}",
            number(self.mean("n_inputs")),
            str(len(self.outcomes)),
            number(self.mean("seconds"), 2),
            share(self.mean("converged")),
            verdict,
        ]

    @property
    def frequencies(self) -> np.ndarray:
        """Share of draws in which each input is kept."""
        shares: np.ndarray = np.mean([outcome.kept for outcome in self.outcomes], axis=0)
        return shares


HEAD = ("vectors", "inputs", "draws", "fit s", "conv. %", "reaches")
"""Names of the cells after the error."""


def printed_cells(target: Target) -> list[str]:
    """Return the cells of a printed line."""
    inputs = "–" if target.inputs is None else f"{target.inputs:g}"
    label = f"printed {target.label}"
    return [label, f"{target.error:g}", f"{target.vectors:g}", inputs, "–", "–", "–", "–"]


def repeat(
    name: str,
    methods: Sequence[Method],
    draws: Sequence[Split],
    targets: Sequence[Target],
    measure: str,
) -> list[Line]:
    """Fit every method to the draws, and say on stderr how far it has come.

    Parameters
    ----------
    name : str
        Of the problem.
    methods : sequence of Method
        What to fit.
    draws : sequence of Split
        What to fit it to.
    targets : sequence of Target
        Printed figures, by the names the methods are held against.
    measure : {"MSE", "RMSE"}
        The error.
    """
    by_label = {target.label: target for target in targets}
    lines = []
    for method in methods:
        chosen = draws[: method.most_draws]
        outcomes = [judge(method, draw, measure) for draw in chosen]
        target = None if method.against is None else by_label[method.against]
        line = Line(method.label, outcomes, target)
        print(f"{name}, {': '.join(line.cells[:2])}", file=sys.stderr, flush=True)
        lines.append(line)
    return lines


def share(value: float) -> str:
    """Return a share in percent."""
    return f"{100.0 * value:.0f}"
