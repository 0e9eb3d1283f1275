"""Metadata that `relvec fit` stores in a model file, and their validation.

A model file may come from anyone, and summaries and predictions rely on its metadata. So they are
checked when the file is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from itertools import chain
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from relvec.cli.kinds import Column
from relvec.cli.row_columns import ROLES, RowColumn

__all__ = [
    "find_defect",
    "find_task",
    "is_from_fit",
    "read_columns",
    "read_row_column",
    "renew_metadata",
]

TASKS = ("regression", "counts", "classification")

RENAMED_ENTRIES = {
    "relevance": "permutation_importance",
    "scale_kind": "model_kind",
    "vector_rows": "relevance_vector_rows",
    "vectors": "n_basis_functions",
}
RENAMED_MODELS = {"class shares": "class_prior"}
RENAMED_METRICS = {"error": "error_rate", "log_density": "mlpd"}
"""Names in files of early versions, and the names that replaced them."""


def is_from_fit(about: dict[str, Any]) -> bool:
    """Whether metadata were written by `relvec fit`; other metadata are not interpreted."""
    return "columns" in about and "relvec" in about


def renew_metadata(about: dict[str, Any]) -> dict[str, Any]:
    """Rename the entries of metadata written by early versions.

    Examples
    --------
    >>> column = {"name": "town", "kind": "level", "levels": ["A", "B"]}
    >>> renew_metadata({"relvec": "0.1.0", "columns": [column], "vectors": 3})
    {'relvec': '0.1.0', 'columns': [{'name': 'town', 'kind': 'category', 'categories': ['A', 'B']}],
    'n_basis_functions': 3}
    """
    if not is_from_fit(about):
        return about
    renewed = _rename_keys(about, RENAMED_ENTRIES)
    if isinstance(renewed["columns"], list):
        renewed["columns"] = [_renew_column(each) for each in renewed["columns"]]
    if isinstance(renewed.get("dropped"), list):
        renewed["dropped"] = [_rename_keys(each, {"why": "reason"}) for each in renewed["dropped"]]
    results = renewed.get("cross_validation")
    if isinstance(results, dict) and isinstance(results.get("models"), dict):
        models = _rename_keys(results["models"], RENAMED_MODELS)
        models = {name: _rename_keys(each, RENAMED_METRICS) for name, each in models.items()}
        renewed["cross_validation"] = results | {"models": models}
    return renewed


def _rename_keys(entry: Any, names: dict[str, str]) -> Any:
    """Rename the keys of a dict; anything else is left for the validation to reject."""
    if not isinstance(entry, dict):
        return entry
    return {names.get(key, key): value for key, value in entry.items()}


def _renew_column(entry: Any) -> Any:
    entry = _rename_keys(entry, {"levels": "categories"})
    if isinstance(entry, dict) and entry.get("kind") == "level":
        entry["kind"] = "category"
    return entry


def read_columns(about: dict[str, Any]) -> list[Column]:
    """Return the columns described by valid metadata."""
    return [
        Column(
            each["name"],
            each["kind"],
            each.get("categories", []),
            each.get("missing", 0),
            each.get("origin", ""),
        )
        for each in about["columns"]
    ]


def read_row_column(about: dict[str, Any]) -> RowColumn | None:
    """Return the column with the noise or the exposure of each row, if there is one."""
    found = about.get("row_column")
    return None if found is None else RowColumn(found["name"], found["role"])


def find_task(pipeline: Any) -> str:
    """Return the task of a fitted model, or of a pipeline that ends in one."""
    if hasattr(pipeline, "classes_"):
        return "classification"
    model = pipeline[-1] if hasattr(pipeline, "steps") else pipeline
    return "counts" if hasattr(model, "predict_log_rate") else "regression"


def find_defect(about: dict[str, Any], pipeline: Any) -> str:
    """Return the first invalid entry of the metadata, or an empty string.

    Examples
    --------
    >>> find_defect({"columns": 3, "relvec": "0.1.0", "target": "y"}, None)
    'columns'
    """
    return next(chain(_invalid_entries(about), _inconsistencies(about, pipeline)), "")


def _invalid_entries(about: dict[str, Any]) -> Iterator[str]:
    """Yield entries that are missing or have an invalid value."""
    for name, is_valid in REQUIRED.items():
        if not is_valid(about.get(name)):
            yield name
    for name, is_valid in OPTIONAL.items():
        if name in about and not is_valid(about[name]):
            yield name


def _inconsistencies(about: dict[str, Any], pipeline: Any) -> Iterator[str]:
    """Yield entries that do not match the model."""
    is_classifier = hasattr(pipeline, "classes_")
    if about.get("task") != find_task(pipeline):
        yield "task"
    if is_classifier and not _is_list(about.get("classes"), _is_text):
        yield "classes"
    if not isinstance(pipeline, Pipeline) or not isinstance(pipeline[0], ColumnTransformer):
        yield "columns, but the model does not take tables"
    elif {each.name for each in read_columns(about)} != {*pipeline.feature_names_in_}:
        yield "columns differ from those of the model"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1e300


def _is_number(value: Any) -> bool:
    """Whether a value is a number, or the null that replaces NaN and infinity."""
    return value is None or (type(value) in (int, float) and abs(value) < 1e300)


def _is_list(value: Any, is_valid: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(is_valid, value))


def _is_dict(value: Any, is_valid: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(map(is_valid, value.values()))


def _is_column(value: Any) -> bool:
    if not isinstance(value, dict) or not _is_text(value.get("name")):
        return False
    if not _is_count(value.get("missing", 0)) or not _is_list(
        value.get("categories", []), _is_text
    ):
        return False
    return value.get("kind") in ("number", "time", "category") or (
        value.get("kind") == "date" and _is_day(value.get("origin"))
    )


def _is_day(value: Any) -> bool:
    try:
        return bool(date.fromisoformat(value))
    except (TypeError, ValueError):
        return False


def _is_description(value: Any) -> bool:
    """Whether a value is a dict of texts, numbers and truth values that has a kind."""
    return _is_dict(value, lambda each: _is_text(each) or _is_number(each)) and _is_text(
        value.get("kind")
    )


def _is_cross_validation(value: Any) -> bool:
    def is_summary(each: Any) -> bool:
        return _is_dict(each, _is_number) and {"mean", "se"} <= {*each}

    return (
        isinstance(value, dict)
        and _is_count(value.get("folds"))
        and _is_dict(value.get("models"), lambda model: _is_dict(model, is_summary))
    )


def _is_held_out(value: Any) -> bool:
    """Whether a value describes how forecasts compare with the last rows of a series."""
    return (
        isinstance(value, dict)
        and _is_count(value.get("rows"))
        and _is_dict(value.get("models"), lambda model: _is_dict(model, _is_number))
    )


def _is_sampling(value: Any) -> bool:
    """Whether a value describes the chains of a sampled model."""

    def is_range(each: Any) -> bool:
        numbers = ("mean", "low", "high")
        return isinstance(each, dict) and all(
            each.get(name) is not None and _is_number(each[name]) for name in numbers
        )

    return (
        isinstance(value, dict)
        and all(
            _is_count(value.get(name))
            for name in ("n_chains", "n_draws", "n_steps", "n_candidates")
        )
        and type(value.get("converged")) is bool
        and all(name in value and _is_number(value[name]) for name in ("r_hat", "ess"))
        and (value["r_hat"] is None) == (value["ess"] is None)
        and is_range(value.get("n_active"))
        and ("noise_std" not in value or is_range(value["noise_std"]))
        and isinstance(value.get("inclusion"), dict)
        and all(
            type(each) in (int, float) and 0 <= each <= 1 for each in value["inclusion"].values()
        )
    )


REQUIRED: dict[str, Callable[[Any], bool]] = {
    "target": _is_text,
    "columns": lambda value: _is_list(value, _is_column),
    "task": lambda value: value in TASKS,
    "model": _is_text,
    "n_basis_functions": _is_count,
    "rows": lambda value: isinstance(value, dict) and _is_count(value.get("used")),
}
"""Required entries with the check of their value."""

OPTIONAL: dict[str, Callable[[Any], bool]] = {
    "noise_std": _is_number,
    "held_out": _is_held_out,
    "permutation_importance": lambda value: _is_dict(value, _is_number),
    "cross_validation": _is_cross_validation,
    "notes": lambda value: _is_list(value, _is_text),
    "row_column": lambda value: (
        _is_dict(value, _is_text) and {*value} == {"name", "role"} and value["role"] in ROLES
    ),
    "noise": _is_description,
    "target_transform": _is_text,
    "target_transform_gain": _is_number,
    "sampling": _is_sampling,
    "relevance_vector_rows": lambda value: _is_list(value, _is_count),
}
"""Optional entries with the check of their value."""
