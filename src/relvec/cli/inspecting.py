"""`relvec inspect`: what is in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

import relvec.io
from relvec.cli.encoding import encoded_columns
from relvec.cli.model_file import StoredModel, load_model
from relvec.cli.screens.fit import cv_table, headline, learnt, relevance_bars
from relvec.cli.screens.parts import figure, pairs, size, table
from relvec.cli.talk import Talk

__all__ = ["inspect_command", "vector_table"]

MANY_COLUMNS = 8
"""Inputs of a vector that fit on a screen."""


def inspect_command(talk: Talk, path: str, *, with_vectors: bool) -> None:
    """Show what a file says of itself, and the model in it."""
    stored = load_model(path)
    header = relvec.io.inspect(path)
    facts: dict[str, Any] = {
        "file": path,
        "bytes": header.n_bytes,
        "made": header.made,
        "class": type(stored.model).__name__,
        "versions": header.versions,
        "about": stored.about,
        "fitted": fitted_facts(stored.model),
    }
    if with_vectors:
        facts["vectors"] = vector_table(stored)
    talk.answer(facts, lambda: _screen(stored, facts))


def fitted_facts(model: Any) -> dict[str, Any]:
    """The single numbers of a fitted model."""
    facts: dict[str, Any] = {}
    for name in ("intercept_", "noise_variance_", "log_evidence_", "effective_dof_", "converged_"):
        if hasattr(model, name):
            facts[name.rstrip("_")] = getattr(model, name)
    if hasattr(model, "relevance_"):
        facts["vectors"] = len(model.relevance_)
    if hasattr(model, "kernel_"):
        facts["kernel"] = str(model.kernel_)
    return facts


def input_names(stored: StoredModel) -> list[str]:
    """What the model itself sees, in words."""
    if stored.takes_tables:
        return [name for _, name in encoded_columns(stored.pipeline[0])]
    names = getattr(stored.pipeline, "feature_names_in_", None)
    count = stored.model.n_features_in_
    return [f"x{i}" for i in range(count)] if names is None else [str(name) for name in names]


def vector_table(stored: StoredModel) -> dict[str, Any]:
    """Weights of the model, with the vectors or the terms they belong to."""
    model = stored.model
    weights = np.atleast_2d(model.coef_)
    names = input_names(stored)
    logits = ["weight"] if len(weights) == 1 else [f"weight of {c}" for c in model.classes_]
    rows: dict[str, Any] = {name: weights[i] for i, name in enumerate(logits)}
    centres = getattr(model, "relevance_vectors_", None)
    if centres is None:
        return {"term": list(model.atoms_.names(names))} | rows
    return rows | {name: centres[:, i] for i, name in enumerate(names)}


def _screen(stored: StoredModel, facts: dict[str, Any]) -> list[Any]:
    about = stored.about
    lines = [
        ("file", f"{facts['file']} ({size(facts['bytes'])}, made {facts['made']})"),
        ("class", f"{facts['class']}, relvec {facts['versions'].get('relvec', '?')}"),
    ]
    parts: list[Any] = []
    if stored.takes_tables:
        lines.append(("predicts", headline(about)))
        lines += learnt(about)
        parts.append(_columns(about))
        if about.get("cross_validation"):
            parts.append(cv_table(about))
        if any(value and value > 0 for value in about.get("relevance", {}).values()):
            parts.append(relevance_bars(about))
    else:
        lines += [(name, _short(value)) for name, value in facts["fitted"].items()]
        lines.append(("inputs", ", ".join(input_names(stored)[:20])))
    if "vectors" in facts:
        parts.append(_vectors(facts["vectors"]))
    return [pairs(lines), *parts]


def _short(value: Any) -> str:
    return figure(float(value)) if isinstance(value, float) else str(value)


def _columns(about: dict[str, Any]) -> Any:
    rows = []
    for column in about["columns"]:
        levels = column.get("levels", [])
        shown = ", ".join(levels[:6]) + (f", ... ({len(levels)})" if len(levels) > 6 else "")
        rows.append([column["name"], column["kind"], str(column["missing"]), shown])
    made = table(["column", "kind", "missing", "levels"], rows)
    made.columns[3].justify = "left"
    return made


def _vectors(columns: dict[str, Any]) -> Any:
    names = list(columns)[: MANY_COLUMNS + 1]
    left = len(columns) - len(names)
    rows = [
        [value if isinstance(value, str) else figure(float(value), 4) for value in row]
        for row in zip(*(columns[name] for name in names), strict=True)
    ]
    title = f"{left} more columns are in the answer of --json" if left else ""
    return table(names, rows, title)
