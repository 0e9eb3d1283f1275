"""`relvec inspect`: what is in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

import relvec.io
from relvec.cli.console import CommandConsole, screen_width
from relvec.cli.encoding import encoded_columns
from relvec.cli.model_file import StoredModel, load_model
from relvec.cli.summaries.fit import cv_tables, headline, learnt, relevance_parts
from relvec.cli.summaries.parts import figure, legend, pairs, size, table

__all__ = ["input_names", "inspect_command", "vector_table"]


def inspect_command(console: CommandConsole, path: str, *, with_vectors: bool) -> None:
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
        "notes": console.notes,
    }
    if with_vectors:
        facts["vectors"] = vector_table(stored)
    console.answer(facts, lambda: _screen(stored, facts))


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
        dates = {each.name: each.made_as for each in stored.columns if each.made_as}
        seen = [name for _, name in encoded_columns(stored.pipeline[0])]
        return [f"{name} ({dates[name]})" if name in dates else name for name in seen]
    names = getattr(stored.pipeline, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(stored.model.n_features_in_)]
    return [str(name) for name in names]


def vector_table(stored: StoredModel) -> dict[str, Any]:
    """Weights of the model, with the vectors and their rows, or the terms they belong to."""
    model = stored.model
    weights = np.atleast_2d(model.coef_)
    names = input_names(stored)
    logits = ["weight"] if len(weights) == 1 else [f"weight of {c}" for c in model.classes_]
    rows: dict[str, Any] = {name: weights[i] for i, name in enumerate(logits)}
    centres = getattr(model, "relevance_vectors_", None)
    if centres is None:
        return {"term": list(model.atoms_.names(names))} | rows
    places = stored.about.get("vector_rows") if stored.takes_tables else model.relevance_ + 1
    if places is not None and len(places) == len(centres):
        rows = {"row": [str(place) for place in places]} | rows
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
        parts.append(_columns(stored))
        if about.get("cross_validation"):
            parts += cv_tables(about)
        parts += relevance_parts(about)
    else:
        lines += [(name, _short(value)) for name, value in facts["fitted"].items()]
        lines.append(("inputs", ", ".join(input_names(stored)[:20])))
    if "vectors" in facts:
        parts += _vectors(stored, facts["vectors"])
    return [pairs(lines), *parts]


def _short(value: Any) -> str:
    return figure(float(value)) if isinstance(value, float) else str(value)


def _columns(stored: StoredModel) -> Any:
    rows = []
    for column in stored.columns:
        levels = column.levels
        shown = ", ".join(levels[:6]) + (f", ... ({len(levels)})" if len(levels) > 6 else "")
        rows.append([column.name, column.kind, str(column.n_missing), shown or column.made_as])
    made = table(["column", "kind", "missing", "levels or meaning"], rows)
    made.columns[3].justify = "left"
    made.columns[3].no_wrap = False
    return made


def _vectors(stored: StoredModel, columns: dict[str, Any]) -> list[Any]:
    """As many columns as fit on the screen, and what a weight means."""
    cells = {
        name: [each if isinstance(each, str) else figure(float(each), 4) for each in values]
        for name, values in columns.items()
    }
    # three blanks between columns of a table
    widths = [max(map(len, [name, *values])) + 3 for name, values in cells.items()]
    n_shown = max(2, int(np.searchsorted(np.cumsum(widths), screen_width(), side="right")))
    names = list(cells)[:n_shown]
    words = [_meaning_of_weights(stored)]
    if len(names) < len(cells):
        words.append(f"{len(cells) - len(names)} more columns are in the answer of --json.")
    made = table(names, list(zip(*(cells[name] for name in names), strict=True)))
    made.columns[0].no_wrap = "row" in cells
    return [made, legend(*words)]


def _meaning_of_weights(stored: StoredModel) -> str:
    model = stored.model
    is_sum = hasattr(model, "relevance_vectors_")
    large = " Large ones of opposite signs are normal: they cancel between vectors." * is_sum
    of_what = "vectors that a row resembles" if is_sum else "terms"
    classes = stored.classes
    if len(classes) > 2:
        return (
            f"Positive weights of {of_what} speak for the class, negative ones against it.{large}"
        )
    if classes:
        return (
            f"Positive weights of {of_what} speak for {str(classes[1])!r}, negative ones for "
            f"{str(classes[0])!r}.{large}"
        )
    if not is_sum:
        return f"{stored.target} rises by the weight where the term rises by 1."
    return f"A weight is what {stored.target} gains from full resemblance to its vector.{large}"
