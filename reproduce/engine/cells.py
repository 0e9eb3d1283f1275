"""Published values and ours, and the rule that compares them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Self

import numpy as np

__all__ = [
    "REFERENCES",
    "RULE",
    "Cell",
    "Judged",
    "Kind",
    "Verdict",
    "judge",
    "last_digit",
]

N_ERRORS = 2.0
"""Standard errors of their difference by which two values that agree may differ."""
REFERENCES = ("SVM",)
"""Models shown for comparison; all others are counted."""
RULE = f"""\
- Two values **agree** if they differ by at most {N_ERRORS:g} standard errors of their difference,
  plus half a unit of the last published digit. Ours has the standard error of a mean over
  repetitions. A published value has the standard error published with it. If there is none, it has
  that of our repetitions, scaled to the number of repetitions in the paper (one if the paper shows
  a single draw). If the splits of the paper are used, published values have no standard error, and
  a single split has the binomial standard error of its test error rate. The column **±** is the
  largest difference at which values agree: if it is large, as for many single draws, agreement
  means little.
- **reproduced**: the values agree. **better**: they do not agree, and ours is a smaller error; a
  smaller model size, if the line has an error and none of its errors is "not reproduced"; or an
  estimate nearer to a known truth. **not reproduced**: all other cases.
- Support vector machines are judged but not counted. Values that follow from the set-up for any
  model, or from which something about the data was inferred, are marked "no test": the first total
  includes them, because they are published, the second does not.
"""


class Kind(StrEnum):
    """Kind of a value, which determines what is better."""

    ERROR = "error"
    """Smaller is better."""
    SIZE = "size"
    """Smaller is better unless an error is larger."""
    ESTIMATE = "estimate"
    """Nearer to the truth is better."""
    PLAIN = "plain"
    """No value is better than another."""


class Verdict(StrEnum):
    """Result of the comparison."""

    REPRODUCED = "reproduced"
    BETTER = "better"
    MISSED = "not reproduced"


def last_digit(published: float) -> float:
    """Return one unit of the last digit of a number in its shortest decimal notation."""
    exponent = Decimal(repr(published)).normalize().as_tuple().exponent
    return 10.0 ** min(int(exponent), 0)


@dataclass(frozen=True)
class Cell:
    """A published value and ours.

    Parameters
    ----------
    line, column : str
        Line and column of the table.
    model : str
        Name of the model, like "RVM"; lines of one model are judged together.
    published, ours : float
        The two values.
    standard_error, published_error : float
        Standard errors of our and of the published value.
    n : int
        Number of our repetitions.
    kind : Kind
        Determines what is better.
    truth : float, optional
        True value of an estimate.
    unit : float, optional
        Unit of the last published digit; by default that of the shortest decimal notation,
        without trailing zeros.
    is_test : bool
        False if the value follows from the set-up, or if something was inferred from it.
    """

    line: str
    column: str
    model: str
    published: float
    ours: float
    standard_error: float
    published_error: float
    n: int
    kind: Kind
    truth: float | None = None
    unit: float | None = None
    is_test: bool = True

    def __post_init__(self) -> None:
        if self.kind is Kind.ESTIMATE and self.truth is None:
            raise ValueError(f"{self.line}, {self.column}: an estimate needs its truth.")

    @classmethod
    def of(
        cls,
        line: str,
        column: str,
        model: str,
        published: float,
        values: Sequence[float] | np.ndarray,
        *,
        kind: Kind,
        runs: int,
        spread: float | None = None,
        truth: float | None = None,
        unit: float | None = None,
        is_test: bool = True,
    ) -> Self:
        """Make a cell from our repetitions.

        Parameters
        ----------
        line, column, model, published, kind, truth, unit, is_test
            As for the class.
        values : sequence of float
            Our values, one for each repetition.
        runs : int
            Number of repetitions of the published value.
        spread : float, optional
            Published standard deviation; by default ours.
        """
        array = np.asarray(values, dtype=float)
        deviation = float(array.std(ddof=1)) if len(array) > 1 else 0.0
        return cls(
            line=line,
            column=column,
            model=model,
            published=published,
            ours=float(array.mean()),
            standard_error=deviation / math.sqrt(len(array)),
            published_error=(deviation if spread is None else spread) / math.sqrt(runs),
            n=len(array),
            kind=kind,
            truth=truth,
            unit=unit,
            is_test=is_test,
        )

    @property
    def slack(self) -> float:
        """Largest difference at which the values agree."""
        unit = last_digit(self.published) if self.unit is None else self.unit
        sampling = N_ERRORS * math.hypot(self.standard_error, self.published_error)
        # published values are decimal; a difference of exactly half a unit is rounding
        return (sampling + unit / 2.0) * (1.0 + 1e-9)

    @property
    def agrees(self) -> bool:
        """Whether the values agree up to sampling error and rounding."""
        return abs(self.ours - self.published) <= self.slack

    @property
    def is_counted(self) -> bool:
        """Whether the model is counted, and not shown for comparison only."""
        return self.model not in REFERENCES

    @property
    def printed(self) -> str:
        """The published value with its published digits."""
        if self.unit is None or self.unit >= 1.0:
            return f"{self.published:g}"
        return f"{self.published:.{-round(math.log10(self.unit))}f}"

    @property
    def ratio(self) -> float:
        """Ratio of our value to the published one."""
        return self.ours / self.published if self.published else math.nan


@dataclass(frozen=True)
class Judged:
    """A cell and its verdict."""

    cell: Cell
    verdict: Verdict


def _judge_cell(cell: Cell) -> Verdict:
    """Return the verdict of one cell, without the errors of its line."""
    if cell.agrees:
        return Verdict.REPRODUCED
    if cell.kind is Kind.ESTIMATE:
        truth = float(cell.truth or 0.0)
        nearer = abs(cell.ours - truth) < abs(cell.published - truth)
    else:
        nearer = cell.kind is not Kind.PLAIN and cell.ours < cell.published
    return Verdict.BETTER if nearer else Verdict.MISSED


def judge(cells: Sequence[Cell]) -> list[Judged]:
    """Return the verdict on every cell of an experiment.

    Parameters
    ----------
    cells : sequence of Cell
        All cells: whether a smaller model is better depends on the errors of its line.
    """
    alone = [_judge_cell(cell) for cell in cells]
    errors: dict[tuple[str, str], list[Verdict]] = {}
    for cell, verdict in zip(cells, alone, strict=True):
        if cell.kind is Kind.ERROR:
            errors.setdefault((cell.line, cell.model), []).append(verdict)
    judged = []
    for cell, verdict in zip(cells, alone, strict=True):
        found = errors.get((cell.line, cell.model), [])
        costs_accuracy = not found or Verdict.MISSED in found
        if cell.kind is Kind.SIZE and verdict is Verdict.BETTER and costs_accuracy:
            verdict = Verdict.MISSED
        judged.append(Judged(cell, verdict))
    return judged
