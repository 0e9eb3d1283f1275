"""How much is read, kept and said, and where each number comes from."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["GIVEN", "LIMITS", "Limits"]


@dataclass(frozen=True)
class Limits:
    """Numbers of the commands. A test gives others: ``runner.invoke(app, ..., obj=Limits(...))``.

    Examples
    --------
    >>> Limits(block_rows=7).block_rows, LIMITS.block_rows
    (7, 20000)
    """

    # files
    block_rows: int = 20_000
    """Rows that are in memory at a time where a file is read in blocks."""
    block_cells: int = 2_000_000
    """Fields of text that are in memory at a time: fewer rows of wide tables."""
    max_rows: int = 50_000
    """Rows a model is fitted to, if not told otherwise; of more, so many are drawn by chance."""
    min_rows: int = 5
    """Rows needed to learn from: one for each of the usual folds."""

    # columns
    max_levels: int = 30
    """Different texts beyond which a column is left out."""
    few_texts: float = 0.1
    """Share of texts among numbers up to which they are taken for mistakes, not for levels."""
    largest: float = 1e100
    """Numbers beyond stand for missing values too, as infinity does."""
    rare_share: float = 0.01
    """Levels in a smaller share of rows are pooled."""
    rare_rows: int = 3
    """Levels in fewer rows are pooled, whatever their share."""

    # targets
    codes: int = 10
    """Whole numbers of at most so many different values are taken for classes."""
    max_classes: int = 100
    """Different values beyond which a target is not one of classes."""
    copies: float = 0.02
    """Share of rows that are copies of others from which on the screen says so."""
    few_rows: int = 5
    """Of a class with fewer rows than usual folds the screen says so."""

    # models
    many_rows: int = 5_000
    """Rows beyond which kernels are centred on some of them only."""
    n_centres: int = 500
    """How many these are."""
    gp_rows: int = 500
    """Rows that a Gaussian process is fitted to at most: its cost is their cube."""
    gp_scales: int = 20
    """Inputs up to which a Gaussian process learns a length scale for each."""
    search_rows: int = 1_000
    """Rows on which parameters of other models are searched; they are fitted to all."""
    search_folds: int = 5
    """Folds of that search."""

    # figures
    relevance_rows: int = 500
    """Held-out rows of a fold on which the relevance of columns is measured."""
    shuffled_rows: int = 6_000
    """Predictions of shuffled rows in a fold; the fewer its rows and columns, the more shuffles."""
    rounding: float = 1e-9
    """A smaller change of an error, relative to it, comes from the arithmetic alone."""

    # what is said
    many_fits: int = 100
    """Fits of a cross-validation from which on the screen says how many there are."""
    many_folds: int = 50
    """Folds of a report from which on the screen says what they mean."""
    many_notes: int = 5
    """Sentences of one sort that are said one by one; of more, the first few and their number."""
    shown_columns: int = 10
    """Columns of a table that a sentence names."""
    shown_relevance: int = 8
    """Columns of a table whose relevance is drawn."""


LIMITS = Limits()
"""Those that commands have if they are not told others."""

GIVEN: ContextVar[Limits] = ContextVar("limits", default=LIMITS)
"""Those of the command that runs."""
