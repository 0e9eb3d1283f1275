"""Encoding of table columns as numeric features, as the first step of a scikit-learn pipeline.

Only transformers of scikit-learn are used, so that a saved pipeline does not depend on
`relvec.cli` and accepts any data frame with the right column names.
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
    "encoding_rules",
    "pooled_categories",
]

CATEGORY_STEPS = ("categories", "levels")
"""Names of the one-hot encoder in a pipeline: now, and in files of early versions."""


def build_encoder(columns: list[Column], n_rows: int) -> ColumnTransformer:
    """Build the encoder: median imputation with missing-value indicators, and one-hot encoding.

    A category that is absent from the training rows is encoded as zeros. Medians, indicators and
    categories are learnt in `fit`, so that cross-validation does not leak held-out rows.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"rooms": [3.0, None, 4.0], "town": ["A", "B", "A"]})
    >>> encoder = build_encoder([Column("rooms", "number"), Column("town", "category")], 3)
    >>> encoder.set_params(categories__min_frequency=1).fit_transform(table)
    array([[3. , 0. , 1. , 0. ],
           [3.5, 1. , 0. , 1. ],
           [4. , 0. , 1. , 0. ]])
    """
    numbers = [column.name for column in columns if column.kind in ("number", "date")]
    times = [column.name for column in columns if column.kind == "time"]
    categories = [column.name for column in columns if column.kind == "category"]
    fraction, min_rows = LIMITS.rare_fraction, LIMITS.rare_rows
    # categories below this frequency (a fraction, or a number of rows) share one column
    min_frequency: float | int = fraction if n_rows * fraction >= min_rows else min_rows
    parts: list[tuple[str, Any, list[str]]] = []
    if numbers:
        imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        parts.append(("numbers", imputer, numbers))
    if times:
        parts.append(("times", "passthrough", times))
    if categories:
        one_hot = OneHotEncoder(
            handle_unknown="ignore", min_frequency=min_frequency, sparse_output=False
        )
        parts.append(("categories", one_hot, categories))
    return ColumnTransformer(parts, verbose_feature_names_out=False)


def build_pipeline(columns: list[Column], n_rows: int, *steps: Any) -> Pipeline:
    """Build a pipeline of the encoder and `steps`: the model, optionally after a scaler."""
    names = ["scale", "model"][-len(steps) :]
    encoder = ("encode", build_encoder(columns, n_rows))
    return Pipeline([encoder, *zip(names, steps, strict=True)])


def encoded_columns(encoder: ColumnTransformer) -> list[tuple[str, str]]:
    """List the encoded features as pairs (column of the table, name of the feature).

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"town": ["A", "B", "A", "A", "C"]})
    >>> encoder = build_encoder([Column("town", "category")], 5).fit(table)
    >>> encoded_columns(encoder)
    [('town', 'town = A'), ('town', 'town is rare')]
    """
    return [(each.variable, each.name) for each in _encoded_features(encoder)]


def encoding_rules(encoder: ColumnTransformer, columns: list[Column]) -> list[str]:
    """Describe how each encoded feature is computed, for callers of exported code.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"rooms": [3.0, None, 4.0, 5.0], "town": ["A", "B", "A", "A"]})
    >>> columns = [Column("rooms", "number"), Column("town", "category")]
    >>> encoder = build_encoder(columns, 4)
    >>> for rule in encoding_rules(encoder.fit(table), columns):
    ...     print(rule)
    the number; 4.0 if missing
    1 if missing, else 0
    1 if 'A', else 0
    1 if one of 'B', else 0
    """
    units = {column.name: column.unit for column in columns}
    return [
        f"{units.get(each.name) or 'the number'}; {each.fill!r} if missing"
        if each.fill is not None
        else f"1 if {each.condition}, else 0"
        for each in _encoded_features(encoder)
    ]


def pooled_categories(encoder: ColumnTransformer) -> dict[str, list[str]]:
    """Return the rare categories that share one feature, by column of the table."""
    return {
        name: ["(missing)" if each is None else str(each) for each in pooled]
        for kind, part, names in encoder.transformers_
        if kind in CATEGORY_STEPS
        for name, _, pooled in _category_groups(part, names)
        if pooled is not None
    }


class _EncodedFeature(NamedTuple):
    """A numeric feature of the model."""

    variable: str
    name: str
    condition: str = ""
    """For a 0/1 feature: the condition on the column under which it is 1."""
    fill: float | None = None
    """For a numeric feature: the value imputed for missing numbers."""


def _encoded_features(encoder: ColumnTransformer) -> Iterator[_EncodedFeature]:
    """Yield the features in the order of the encoded matrix."""
    for kind, part, names in encoder.transformers_:
        if kind == "numbers":
            yield from _numeric_features(part, names)
        elif kind == "times":
            yield from (_EncodedFeature(name, name) for name in names)
        elif kind in CATEGORY_STEPS:
            yield from _category_features(part, names)


def _numeric_features(part: SimpleImputer, names: list[str]) -> Iterator[_EncodedFeature]:
    for name, fill in zip(names, part.statistics_.tolist(), strict=True):
        yield _EncodedFeature(name, name, fill=fill)
    with_indicator = part.indicator_.features_ if part.indicator_ is not None else []
    for i in with_indicator:
        yield _EncodedFeature(names[i], f"{names[i]} is missing", "missing")


def _category_features(part: OneHotEncoder, names: list[str]) -> Iterator[_EncodedFeature]:
    for name, categories, pooled in _category_groups(part, names):
        for category in _not_pooled(categories, pooled):
            yield _EncodedFeature(name, _category_name(name, category), _category_text(category))
        if pooled is not None:
            texts = ", ".join(map(_category_text, pooled))
            yield _EncodedFeature(name, f"{name} is rare", f"one of {texts}")


def _category_groups(part: OneHotEncoder, names: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, categories and pooled categories (or None) of each column."""
    rare = getattr(part, "infrequent_categories_", None) or [None] * len(names)
    return zip(names, part.categories_, rare, strict=True)


def _not_pooled(categories: np.ndarray, pooled: np.ndarray | None) -> list[Any]:
    rare = [] if pooled is None else list(pooled)
    return [category for category in categories if category not in rare]


def _category_text(category: Any) -> str:
    return "missing" if category is None else repr(str(category))


def _category_name(name: str, category: Any) -> str:
    return f"{name} is missing" if category is None else f"{name} = {category}"
