"""What a file of `relvec fit` says of its model, looked at before it is believed.

Notes are part of a file that may come from anyone; screens and predictions are made from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from itertools import chain
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from relvec.cli.kinds import Column

__all__ = ["are_of_fit", "columns_of", "what_is_wrong"]

TASKS = ("regression", "classification")


def are_of_fit(about: dict[str, Any]) -> bool:
    """Whether notes are those of `relvec fit`; others are the business of who wrote them."""
    return "columns" in about and "relvec" in about


def columns_of(about: dict[str, Any]) -> list[Column]:
    """The inputs that good notes speak of."""
    return [
        Column(
            each["name"],
            each["kind"],
            each.get("levels", []),
            each.get("missing", 0),
            each.get("origin", ""),
        )
        for each in about["columns"]
    ]


def what_is_wrong(about: dict[str, Any], pipeline: Any) -> str:
    """The first thing in the notes that cannot be, or nothing.

    Examples
    --------
    >>> what_is_wrong({"columns": 3, "relvec": "0.1.0", "target": "y"}, None)
    'columns'
    """
    return next(chain(_impossible(about), _contradictions(about, pipeline)), "")


def _impossible(about: dict[str, Any]) -> Iterator[str]:
    """What nobody could have meant."""
    for name, is_right in REQUIRED.items():
        if not is_right(about.get(name)):
            yield name
    for name, is_right in OPTIONAL.items():
        if name in about and not is_right(about[name]):
            yield name


def _contradictions(about: dict[str, Any], pipeline: Any) -> Iterator[str]:
    """What is not so of this model."""
    is_classifier = hasattr(pipeline, "classes_")
    if (about.get("task") == "classification") != is_classifier:
        yield "task"
    if is_classifier and not _is_list(about.get("classes"), _is_text):
        yield "classes"
    if not isinstance(pipeline, Pipeline) or not isinstance(pipeline[0], ColumnTransformer):
        yield "they speak of columns, the model does not"
    elif {each.name for each in columns_of(about)} != {*pipeline.feature_names_in_}:
        yield "their columns are not those of the model"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1e300


def _is_number(value: Any) -> bool:
    """Numbers, and the null that stands for what is none."""
    return value is None or (type(value) in (int, float) and abs(value) < 1e300)


def _is_list(value: Any, is_right: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(is_right, value))


def _is_dict(value: Any, is_right: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(map(is_right, value.values()))


def _is_column(value: Any) -> bool:
    if not isinstance(value, dict) or not _is_text(value.get("name")):
        return False
    if not _is_count(value.get("missing", 0)) or not _is_list(value.get("levels", []), _is_text):
        return False
    return value.get("kind") in ("number", "level") or (
        value.get("kind") == "date" and _is_day(value.get("origin"))
    )


def _is_day(value: Any) -> bool:
    try:
        return bool(date.fromisoformat(value))
    except (TypeError, ValueError):
        return False


def _are_results(value: Any) -> bool:
    def is_summary(each: Any) -> bool:
        return _is_dict(each, _is_number) and {"mean", "se"} <= {*each}

    return (
        isinstance(value, dict)
        and _is_count(value.get("folds"))
        and _is_dict(value.get("models"), lambda model: _is_dict(model, is_summary))
    )


REQUIRED: dict[str, Callable[[Any], bool]] = {
    "target": _is_text,
    "columns": lambda value: _is_list(value, _is_column),
    "task": lambda value: value in TASKS,
    "model": _is_text,
    "vectors": _is_count,
    "rows": lambda value: isinstance(value, dict) and _is_count(value.get("used")),
}
"""What the notes must say, and whether it can be."""

OPTIONAL: dict[str, Callable[[Any], bool]] = {
    "noise_std": _is_number,
    "relevance": lambda value: _is_dict(value, _is_number),
    "cross_validation": _are_results,
    "notes": lambda value: _is_list(value, _is_text),
    "vector_rows": lambda value: _is_list(value, _is_count),
}
"""What they may say."""
