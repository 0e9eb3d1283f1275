"""From columns of a table to the numbers a model sees, learnt inside one pipeline.

Only parts of scikit-learn are used, so that a saved pipeline needs nothing of this package but
its estimators, and takes any data frame with the right column names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from relvec.cli.kinds import Column
from relvec.cli.limits import LIMITS

__all__ = [
    "build_encoder",
    "build_pipeline",
    "encoded_columns",
    "input_rules",
    "pooled_levels",
]


def build_encoder(columns: list[Column], n_rows: int) -> ColumnTransformer:
    """Medians for missing numbers, with a column that marks them; one column for each level.

    A level that was not seen in training has zeros in all columns of its variable. Medians,
    marks and levels are learnt in `fit`, so that cross-validation is honest.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"rooms": [3.0, None, 4.0], "town": ["A", "B", "A"]})
    >>> encoder = build_encoder([Column("rooms", "number"), Column("town", "level")], 3)
    >>> encoder.set_params(levels__min_frequency=1).fit_transform(table)
    array([[3. , 0. , 1. , 0. ],
           [3.5, 1. , 0. , 1. ],
           [4. , 0. , 1. , 0. ]])
    """
    numbers = [column.name for column in columns if column.kind != "level"]
    levels = [column.name for column in columns if column.kind == "level"]
    share, fewest = LIMITS.rare_share, LIMITS.rare_rows
    rare: float | int = share if n_rows * share >= fewest else fewest
    parts: list[tuple[str, Any, list[str]]] = []
    if numbers:
        imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        parts.append(("numbers", imputer, numbers))
    if levels:
        one_hot = OneHotEncoder(handle_unknown="ignore", min_frequency=rare, sparse_output=False)
        parts.append(("levels", one_hot, levels))
    return ColumnTransformer(parts, verbose_feature_names_out=False)


def build_pipeline(columns: list[Column], n_rows: int, *steps: Any) -> Pipeline:
    """Encoder and model (with what comes between) as one estimator of tables."""
    names = ["scale", "model"][-len(steps) :]
    encoder = ("encode", build_encoder(columns, n_rows))
    return Pipeline([encoder, *zip(names, steps, strict=True)])


def encoded_columns(encoder: ColumnTransformer) -> list[tuple[str, str]]:
    """Each column the model sees, as the name of its variable and its own.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"town": ["A", "B", "A", "A", "C"]})
    >>> encoder = build_encoder([Column("town", "level")], 5).fit(table)
    >>> encoded_columns(encoder)
    [('town', 'town = A'), ('town', 'town is rare')]
    """
    return [(each.variable, each.name) for each in _inputs(encoder)]


def input_rules(encoder: ColumnTransformer, columns: list[Column]) -> list[str]:
    """What to give for each column the model sees, for those who encode by themselves.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"rooms": [3.0, None, 4.0, 5.0], "town": ["A", "B", "A", "A"]})
    >>> columns = [Column("rooms", "number"), Column("town", "level")]
    >>> encoder = build_encoder(columns, 4)
    >>> for rule in input_rules(encoder.fit(table), columns):
    ...     print(rule)
    the number; 4.0 if it is missing
    1 if it is missing, else 0
    1 if it is 'A', else 0
    1 if it is one of 'B', else 0
    """
    made_as = {column.name: column.made_as for column in columns}
    return [
        f"{made_as.get(each.name) or 'the number'}; {each.fill!r} if it is missing"
        if each.fill is not None
        else f"1 if it is {each.marks}, else 0"
        for each in _inputs(encoder)
    ]


def pooled_levels(encoder: ColumnTransformer) -> dict[str, list[str]]:
    """Levels that share one column because they are rare, by variable."""
    return {
        name: ["(missing)" if each is None else str(each) for each in pooled]
        for kind, part, names in encoder.transformers_
        if kind == "levels"
        for name, _, pooled in _level_groups(part, names)
        if pooled is not None
    }


class _Input(NamedTuple):
    """A column that the model sees."""

    variable: str
    name: str
    marks: str = ""
    """What it says of the variable, if it is 1 or 0."""
    fill: float | None = None
    """What stands for a missing number, if it is one."""


def _inputs(encoder: ColumnTransformer) -> Iterator[_Input]:
    """What the model sees, in its order."""
    of = {"numbers": _number_inputs, "levels": _level_inputs}
    for kind, part, names in encoder.transformers_:
        if kind in of:
            yield from of[kind](part, names)


def _number_inputs(part: SimpleImputer, names: list[str]) -> Iterator[_Input]:
    for name, fill in zip(names, part.statistics_.tolist(), strict=True):
        yield _Input(name, name, fill=fill)
    marked = part.indicator_.features_ if part.indicator_ is not None else []
    for i in marked:
        yield _Input(names[i], f"{names[i]} is missing", "missing")


def _level_inputs(part: OneHotEncoder, names: list[str]) -> Iterator[_Input]:
    for name, levels, pooled in _level_groups(part, names):
        for level in _others(levels, pooled):
            yield _Input(name, _level_name(name, level), _level_text(level))
        if pooled is not None:
            texts = ", ".join(map(_level_text, pooled))
            yield _Input(name, f"{name} is rare", f"one of {texts}")


def _level_groups(part: OneHotEncoder, names: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Name, levels and those of them that are pooled, for each variable."""
    rare = getattr(part, "infrequent_categories_", None) or [None] * len(names)
    return zip(names, part.categories_, rare, strict=True)


def _others(levels: np.ndarray, pooled: np.ndarray | None) -> list[Any]:
    left = [] if pooled is None else list(pooled)
    return [level for level in levels if level not in left]


def _level_text(level: Any) -> str:
    return "missing" if level is None else repr(str(level))


def _level_name(name: str, level: Any) -> str:
    return f"{name} is missing" if level is None else f"{name} = {level}"
