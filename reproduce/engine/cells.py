"""A published figure next to ours, and the one rule by which all of them are judged."""

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
"""How many standard errors of their difference two figures may be apart."""
REFERENCES = ("SVM",)
"""Models that are shown for comparison; all others count as ours to reproduce."""
RULE = f"""\
- Two figures **agree** if they are at most {N_ERRORS:g} standard errors of their difference apart,
  plus half a unit of the last printed digit. Ours has the standard error of a mean over
  repetitions. A printed figure has the one printed with it, or else that of our own repetitions
  scaled to the number behind the print, which is one where the paper shows a single draw. Where
  the paper's own splits are used, the print has none, and a single split has that of counting
  its test rows. The column **±** says how far apart figures may be to agree: where it is
  large, as for many single draws, agreement says little.
- **reproduced**: they agree. **better**: they do not, and ours is an error that is smaller; a size
  of a model that is smaller, where the line has an error and none of its errors is missed; or an
  estimate that is nearer to a known truth. **not reproduced**: all else.
- Support vector machines are judged but not counted. Figures that follow from the set-up whatever
  the model does, or from which something about the data had to be inferred, are marked "no test":
  the first total counts them, because they are published, the second does not.
"""


class Kind(StrEnum):
    """What a figure says, and so what is better."""

    ERROR = "error"
    """Smaller is better."""
    SIZE = "size"
    """Smaller is better unless it costs accuracy."""
    ESTIMATE = "estimate"
    """Nearer to the truth is better."""
    PLAIN = "plain"
    """There is no better, only the same."""


class Verdict(StrEnum):
    """What the rule says of a figure."""

    REPRODUCED = "reproduced"
    BETTER = "better"
    MISSED = "not reproduced"


def last_digit(published: float) -> float:
    """Return one unit of the last digit of a number, as few digits as possible being written."""
    exponent = Decimal(repr(published)).normalize().as_tuple().exponent
    return 10.0 ** min(int(exponent), 0)


@dataclass(frozen=True)
class Cell:
    """A published figure next to ours.

    Parameters
    ----------
    line, column : str
        Where the figure stands.
    model : str
        What it is of, like "RVM"; lines of one model are judged together.
    published, ours : float
        The figures.
    standard_error, published_error : float
        Of both.
    n : int
        Repetitions behind ours.
    kind : Kind
        What is better.
    truth : float, optional
        What an estimate should be.
    unit : float, optional
        The last printed digit; read off the number if not given, which loses zeros at the end.
    is_test : bool
        False if the figure follows from the set-up, or if something was inferred from it.
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
        """Return the cell of the mean of some repetitions.

        Parameters
        ----------
        line, column, model, published, kind, truth, unit, is_test
            As for the class.
        values : sequence of float
            Ours, one for each repetition.
        runs : int
            Repetitions behind the published figure.
        spread : float, optional
            Standard deviation printed with it; that of ours if not given.
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
        """How far the figures may be apart."""
        unit = last_digit(self.published) if self.unit is None else self.unit
        sampling = N_ERRORS * math.hypot(self.standard_error, self.published_error)
        # figures as printed are decimal; a difference of exactly half a unit counts as none
        return (sampling + unit / 2.0) * (1.0 + 1e-9)

    @property
    def agrees(self) -> bool:
        """Whether the figures are the same but for sampling and rounding."""
        return abs(self.ours - self.published) <= self.slack

    @property
    def is_counted(self) -> bool:
        """Whether the figure is of a model that is ours to reproduce."""
        return self.model not in REFERENCES

    @property
    def printed(self) -> str:
        """The published figure with the digits it was printed with."""
        if self.unit is None or self.unit >= 1.0:
            return f"{self.published:g}"
        return f"{self.published:.{-round(math.log10(self.unit))}f}"

    @property
    def ratio(self) -> float:
        """Ours over the published figure."""
        return self.ours / self.published if self.published else math.nan


@dataclass(frozen=True)
class Judged:
    """A cell and what the rule says of it."""

    cell: Cell
    verdict: Verdict


def _alone(cell: Cell) -> Verdict:
    """Return the verdict by the figure itself."""
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
        All of them: whether a smaller model is better depends on the errors of its line.
    """
    alone = [_alone(cell) for cell in cells]
    errors: dict[tuple[str, str], list[Verdict]] = {}
    for cell, verdict in zip(cells, alone, strict=True):
        if cell.kind is Kind.ERROR:
            errors.setdefault((cell.line, cell.model), []).append(verdict)
    judged = []
    for cell, verdict in zip(cells, alone, strict=True):
        found = errors.get((cell.line, cell.model), [])
        is_paid_for = not found or Verdict.MISSED in found
        if cell.kind is Kind.SIZE and verdict is Verdict.BETTER and is_paid_for:
            verdict = Verdict.MISSED
        judged.append(Judged(cell, verdict))
    return judged
