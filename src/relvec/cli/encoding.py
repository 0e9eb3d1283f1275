"""From columns of a table to the numbers a model sees, learnt inside one pipeline.

Only parts of scikit-learn are used, so that a saved pipeline needs nothing of this package but
its estimators, and takes any data frame with the right column names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from relvec.cli.kinds import Column

__all__ = [
    "RARE_ROWS",
    "RARE_SHARE",
    "build_encoder",
    "build_pipeline",
    "encoded_columns",
    "input_rules",
    "pooled_levels",
]

RARE_SHARE = 0.01
RARE_ROWS = 3
"""Levels in fewer rows than these, whichever is more, are pooled."""


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
    rare: float | int = RARE_SHARE if n_rows * RARE_SHARE >= RARE_ROWS else RARE_ROWS
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
    seen: list[tuple[str, str]] = []
    for kind, part, names in encoder.transformers_:
        if kind == "numbers":
            seen += [(name, name) for name in names]
            marked = part.indicator_.features_ if part.indicator_ is not None else []
            seen += [(names[i], f"{names[i]} is missing") for i in marked]
        elif kind == "levels":
            rare = getattr(part, "infrequent_categories_", None) or [None] * len(names)
            for name, levels, pooled in zip(names, part.categories_, rare, strict=True):
                seen += [(name, _level_name(name, level)) for level in _others(levels, pooled)]
                seen += [(name, f"{name} is rare")] if pooled is not None else []
    return seen


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
    rules: list[str] = []
    made_as = {column.name: column.made_as for column in columns}
    for kind, part, names in encoder.transformers_:
        if kind == "numbers":
            fill = part.statistics_.tolist()
            rules += [
                f"{made_as.get(name) or 'the number'}; {value!r} if it is missing"
                for name, value in zip(names, fill, strict=True)
            ]
            marked = part.indicator_.features_ if part.indicator_ is not None else []
            rules += ["1 if it is missing, else 0"] * len(marked)
        elif kind == "levels":
            rare = getattr(part, "infrequent_categories_", None) or [None] * len(names)
            for levels, pooled in zip(part.categories_, rare, strict=True):
                rules += [f"1 if it is {_level_text(e)}, else 0" for e in _others(levels, pooled)]
                if pooled is not None:
                    texts = ", ".join(map(_level_text, pooled))
                    rules.append(f"1 if it is one of {texts}, else 0")
    return rules


def pooled_levels(encoder: ColumnTransformer) -> dict[str, list[str]]:
    """Levels that share one column because they are rare, by variable."""
    found: dict[str, list[str]] = {}
    for kind, part, names in encoder.transformers_:
        if kind == "levels":
            rare = getattr(part, "infrequent_categories_", None) or []
            for name, pooled in zip(names, rare, strict=False):
                if pooled is not None:
                    found[name] = ["(missing)" if each is None else str(each) for each in pooled]
    return found


def _others(levels: np.ndarray, pooled: np.ndarray | None) -> list[Any]:
    left = [] if pooled is None else list(pooled)
    return [level for level in levels if level not in left]


def _level_text(level: Any) -> str:
    return "missing" if level is None else repr(str(level))


def _level_name(name: str, level: Any) -> str:
    return f"{name} is missing" if level is None else f"{name} = {level}"
