"""Limits of the commands: sizes of blocks, thresholds, lengths of messages."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["CURRENT_LIMITS", "LIMITS", "Limits"]


@dataclass(frozen=True)
class Limits:
    """Limits of one run of a command.

    Tests set other values with ``runner.invoke(app, ..., obj=Limits(...))``.

    Examples
    --------
    >>> Limits(block_rows=7).block_rows, LIMITS.block_rows
    (7, 20000)
    """

    # files
    block_rows: int = 20_000
    """Rows per block when a file is read in blocks."""
    block_cells: int = 2_000_000
    """Maximum number of text fields per block; wide tables have fewer rows per block."""
    max_rows: int = 50_000
    """Default maximum number of training rows; a larger table is subsampled at random."""
    min_rows: int = 5
    """Minimum number of training rows: one for each of the default 5 folds."""

    # columns
    max_categories: int = 30
    """Default maximum number of categories; columns with more are left out."""
    max_typo_fraction: float = 0.1
    """Largest fraction of texts in a column of numbers that is regarded as typing errors."""
    largest_number: float = 1e100
    """Numbers of larger magnitude are read as missing, as infinity is."""
    rare_fraction: float = 0.01
    """Categories with a smaller fraction of the rows are pooled."""
    rare_rows: int = 3
    """Categories with fewer rows are pooled in any case."""

    # targets
    max_class_codes: int = 10
    """Whole numbers with at most this many different values are treated as classes."""
    max_classes: int = 100
    """Maximum number of classes."""
    skewness: float = 0.5
    """Skewness of positive targets above which a transform is considered."""
    duplicate_fraction: float = 0.02
    """Fraction of duplicate rows from which on a note is printed."""
    small_class_rows: int = 5
    """A note names classes with fewer rows: less than one per default fold."""

    # models
    many_rows: int = 5_000
    """Number of rows above which kernels are centred on a subset of the rows."""
    n_centers: int = 500
    """Size of that subset."""
    gp_rows: int = 500
    """Maximum number of training rows of a Gaussian process; its cost is cubic in them."""
    gp_ard_features: int = 20
    """Maximum number of features for which a GP also tries one length-scale per feature (ARD)."""
    search_rows: int = 1_000
    """Rows used by the grid search of scikit-learn models; the best is fitted to all rows."""
    search_folds: int = 5
    """Folds of that grid search."""

    # metrics
    importance_rows: int = 500
    """Maximum number of held-out rows per fold for permutation importance."""
    permuted_rows: int = 6_000
    """Predictions per fold for permutation importance: sets the number of permutations."""
    rounding: float = 1e-9
    """Relative changes of a metric below this are rounding errors and set to zero."""

    # messages
    many_fits: int = 100
    """Number of fits above which a note states it."""
    many_folds: int = 50
    """Number of folds of a report above which a note states the number of fits."""
    many_notes: int = 5
    """Maximum number of notes of one kind; of more, the first few and their number are shown."""
    shown_columns: int = 10
    """Maximum number of columns named in an error message."""
    shown_vectors: int = 50
    """Maximum number of basis functions of a sampled model in a table."""
    shown_importances: int = 8
    """Maximum number of columns in the chart of permutation importances."""


LIMITS = Limits()
"""Default limits."""

CURRENT_LIMITS: ContextVar[Limits] = ContextVar("limits", default=LIMITS)
"""Limits of the running command."""
