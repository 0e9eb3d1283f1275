"""Tipping's (2001) table of regressions as it was printed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from reproduce.common.published import load

__all__ = ["MEAN", "MEAN_OVER", "SETS", "Printed", "Set", "read_printed"]

TABLE = ("tipping2001", "regression")
APART = ("tipping2001", "friedman1")
"""The one set with a table of its own."""
MEAN = "normalised_mean"
"""The last line."""


class Set(NamedTuple):
    """How the figures of a set are printed."""

    title: str
    is_root: bool = False
    """Whether the error is a root mean square."""
    correction: float = 1.0
    """What the printed error is multiplied by: those of sinc are ten times what they are called."""
    unit: float = 0.01
    """The last digit of the error, after that."""


SETS = {
    "sinc_gauss": Set("sinc, Gaussian noise", is_root=True, correction=0.1, unit=1e-4),
    "sinc_unif": Set("sinc, uniform noise", is_root=True, correction=0.1, unit=1e-4),
    "friedman2": Set("Friedman #2", unit=1.0),
    "friedman3": Set("Friedman #3", unit=1e-4),
    "boston": Set("Boston"),
    "friedman1": Set("Friedman #1"),
}
MEAN_OVER = tuple(name for name in SETS if name != "friedman1")


class Printed(NamedTuple):
    """A line of the table, by model."""

    errors: dict[str, float]
    vectors: dict[str, float]


def read_printed(folder: str | Path | None) -> dict[str, Printed]:
    """Return the printed lines by name, errors corrected.

    Parameters
    ----------
    folder : str, Path or None
        Where the published figures lie.
    """
    lines = {}
    for name, _, _, svm, rvm, svm_vectors, rvm_vectors in load(folder, *TABLE)["rows"]:
        by = SETS[name].correction if name in SETS else 1.0
        # a decimal again, without what multiplication leaves behind
        errors = {"SVM": round(by * svm, 9), "RVM": round(by * rvm, 9)}
        lines[name] = Printed(errors, {"SVM": svm_vectors, "RVM": rvm_vectors})
    for name, _, _, svm, rvm, _, svm_vectors, rvm_vectors, _ in load(folder, *APART)["rows"]:
        lines[name] = Printed({"SVM": svm, "RVM": rvm}, {"SVM": svm_vectors, "RVM": rvm_vectors})
    return lines
