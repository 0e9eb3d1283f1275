"""Columns with a known property of each row that is not a feature: noise or exposure."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.utils.validation import has_fit_parameter

from relvec.cli.columns import check_column
from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, UsageError
from relvec.cli.kinds import as_numbers
from relvec.cli.sources import Source

__all__ = [
    "ROLES",
    "RowColumn",
    "RowValues",
    "choose_row_column",
    "note_absent_column",
    "read_row_values",
]


class Role(NamedTuple):
    """What a column says about the rows, and the option that names it."""

    option: str
    noun: str
    parameter: str
    """Parameter of `fit` and `predict` that takes the values."""
    power: float = 1.0
    """Power of the values that the parameter takes."""


ROLES = {
    "noise_variance": Role("--noise-variance", "noise variance", "noise_variance"),
    "noise_std": Role("--noise-std", "noise standard deviation", "noise_variance", 2.0),
    "exposure": Role("--exposure", "exposure", "exposure"),
}
"""Roles of columns, by the name that is stored in a model file."""


@dataclass(frozen=True)
class RowColumn:
    """A column with a known property of each row.

    Examples
    --------
    >>> column = RowColumn("sigma", "noise_std")
    >>> column.read(pl.Series("sigma", [1.0, 2.0]), np.array([1, 2]))
    array([1., 4.])
    """

    name: str
    role: str

    @property
    def parameter(self) -> str:
        """Parameter of `fit` and `predict` that takes the values."""
        return ROLES[self.role].parameter

    @property
    def noun(self) -> str:
        """What the column contains."""
        return ROLES[self.role].noun

    def read(self, series: pl.Series, row_numbers: np.ndarray) -> np.ndarray:
        """Return the values for `parameter`; raise unless all are positive numbers."""
        numbers, bad = as_numbers(series)
        is_wrong = numbers.is_null() | ~(numbers > 0.0).fill_null(value=False)
        if bad is not None or is_wrong.any():
            row = bad if bad is not None else int(is_wrong.arg_max() or 0)
            value = series.item(row)
            found = "is missing" if value is None else f"is {str(value)!r}"
            raise CommandError(
                f"The {self.noun} '{self.name}' must be a positive number in every row, but in row "
                f"{row_numbers[row]} it {found}. Correct or remove such rows."
            )
        return np.asarray(numbers.to_numpy(), dtype=np.float64) ** ROLES[self.role].power


@dataclass(frozen=True)
class RowValues:
    """Values of a `RowColumn` for the rows of a table."""

    column: RowColumn
    values: np.ndarray

    def select(self, rows: Any) -> RowValues:
        """Return the values of some rows."""
        return replace(self, values=self.values[rows])

    def fit_options(self, pipeline: Any) -> dict[str, Any]:
        """Return the arguments of ``pipeline.fit`` that pass the values to its last step.

        A least-squares baseline gets the inverse noise variances as weights, of mean one.
        """
        name, model = pipeline.steps[-1]
        parameter, values = self.column.parameter, self.values
        if parameter == "noise_variance" and not has_fit_parameter(model, parameter):
            parameter, values = "sample_weight", np.mean(self.values) / self.values
            values = values / values.mean()
        return {f"{name}__{parameter}": values}

    def predict_options(self, method: Any) -> dict[str, Any]:
        """Return the argument with the values for a prediction method, if it takes them."""
        is_taken = self.column.parameter in inspect.signature(method).parameters
        return {self.column.parameter: self.values} if is_taken else {}


def choose_row_column(
    named: dict[str, str | None], target: str, features: Sequence[str]
) -> RowColumn | None:
    """Return the column that an option names; raise if several do, or if it has another role."""
    given = [(role, name) for role, name in named.items() if name is not None]
    if not given:
        return None
    if len(given) > 1:
        options = [ROLES[role].option for role, _ in given]
        raise UsageError(f"{' and '.join(options)} exclude each other; give one of them.")
    role, name = given[0]
    if name == target:
        raise UsageError(f"'{name}' is the target and cannot be given with {ROLES[role].option}.")
    if name in features:
        raise UsageError(
            f"'{name}' is given with both --features and {ROLES[role].option}. Its values describe "
            "the rows and are not used as a feature."
        )
    return RowColumn(name, role)


def read_row_values(
    column: RowColumn | None, frame: pl.DataFrame, source: Source, row_numbers: np.ndarray
) -> RowValues | None:
    """Read the values of a column that must be in the table."""
    if column is None:
        return None
    check_column(column.name, frame.columns, source, role=column.noun)
    return RowValues(column, column.read(frame[column.name], row_numbers))


def note_absent_column(column: RowColumn, console: CommandConsole) -> None:
    """Note that predictions are made without a column that the training table had."""
    if column.parameter == "exposure":
        consequence = "counts are predicted for one unit of exposure"
    else:
        consequence = "intervals and standard deviations are those of the function, without noise"
    console.note(
        f"The table has no column '{column.name}' ({column.noun} in training): {consequence}."
    )
