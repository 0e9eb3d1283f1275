"""`relvec inspect`: show the contents of a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

import relvec.io
from relvec.cli.console import CommandConsole, terminal_width
from relvec.cli.encoding import encoded_columns
from relvec.cli.errors import UsageError
from relvec.cli.limits import LIMITS
from relvec.cli.model_file import StoredModel, load_model
from relvec.cli.sampling import list_diagnostics
from relvec.cli.search_facts import describe_search, is_search
from relvec.cli.summaries.fit import cv_tables, headline, importance_parts, model_lines
from relvec.cli.summaries.parts import format_number, format_size, key_values, legend, table
from relvec.cli.summaries.sampling import diagnostics_parts, inclusion_chart
from relvec.cli.summaries.search import held_out_parts, search_parts, structure_lines
from relvec.describing import (
    is_sampled,
    list_basis_inclusion,
    models_counts,
    summarise_sampling,
)

__all__ = ["feature_names", "inspect_command", "vector_table"]


def inspect_command(console: CommandConsole, path: str, *, with_vectors: bool) -> None:
    """Show the metadata of a model file and the model in it."""
    stored = load_model(path)
    header = relvec.io.inspect(path)
    facts: dict[str, Any] = {
        "file": path,
        "bytes": header.n_bytes,
        "created": header.made,
        "class": type(stored.model).__name__,
        "versions": header.versions,
        "metadata": stored.about,
        "fitted": fitted_attributes(stored.model),
        "notes": console.notes,
    }
    if is_sampled(stored.model):
        facts["diagnostics"] = list_diagnostics(stored.model)
    if is_search(stored.model):
        facts["search"] = describe_search(stored.model, feature_names(stored))
    if with_vectors and is_search(stored.model):
        raise UsageError("--vectors lists kernels and terms; this model has components, as shown.")
    if with_vectors:
        facts["vectors"] = vector_table(stored)
    console.report(facts, lambda: _summarise(stored, facts))


def fitted_attributes(model: Any) -> dict[str, Any]:
    """Return the scalar attributes of a fitted model."""
    facts: dict[str, Any] = {}
    for name in ("intercept_", "noise_variance_", "log_evidence_", "effective_dof_", "converged_"):
        if hasattr(model, name):
            facts[name.rstrip("_")] = getattr(model, name)
    if is_sampled(model):
        summary = summarise_sampling(model)
        facts["r_hat"], facts["ess"] = summary.r_hat, summary.ess
        facts["n_basis_functions"] = summary.n_active.mean
    if hasattr(model, "relevance_"):
        facts["n_basis_functions"] = len(model.relevance_)
    if hasattr(model, "kernel_"):
        facts["kernel"] = str(model.kernel_)
    return facts


def feature_names(stored: StoredModel) -> list[str]:
    """Names of the encoded features of the model."""
    if stored.takes_tables:
        dates = {each.name: each.unit for each in stored.columns if each.unit}
        encoded = [name for _, name in encoded_columns(stored.pipeline[0])]
        return [f"{name} ({dates[name]})" if name in dates else name for name in encoded]
    names = getattr(stored.pipeline, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(stored.model.n_features_in_)]
    return [str(name) for name in names]


def vector_table(stored: StoredModel) -> dict[str, Any]:
    """Tabulate the weights with the relevance vectors and their rows, or with linear terms."""
    model = stored.model
    if is_sampled(model):
        listed = list_basis_inclusion(model, feature_names(stored), LIMITS.shown_vectors)
        return {
            "basis function": [each.name for each in listed],
            "inclusion probability": np.array([each.probability for each in listed]),
        }
    weights = np.atleast_2d(model.coef_)
    names = feature_names(stored)
    logits = ["weight"] if len(weights) == 1 else [f"weight of {c}" for c in model.classes_]
    rows: dict[str, Any] = {name: weights[i] for i, name in enumerate(logits)}
    centres = getattr(model, "relevance_vectors_", None)
    if centres is None:
        return {"term": list(model.atoms_.names(names))} | rows
    row_numbers = (
        stored.about.get("relevance_vector_rows") if stored.takes_tables else model.relevance_ + 1
    )
    if row_numbers is not None and len(row_numbers) == len(centres):
        rows = {"row": [str(number) for number in row_numbers]} | rows
    return rows | {name: centres[:, i] for i, name in enumerate(names)}


def _summarise(stored: StoredModel, facts: dict[str, Any]) -> list[Any]:
    about = stored.about
    lines = [
        ("file", f"{facts['file']} ({format_size(facts['bytes'])}, created {facts['created']})"),
        ("class", f"{facts['class']}, relvec {facts['versions'].get('relvec', '?')}"),
    ]
    parts: list[Any] = []
    if stored.takes_tables:
        lines.append(("problem", headline(about)))
        lines += structure_lines(facts["search"]) if "search" in facts else model_lines(about)
        parts.append(_tabulate_columns(stored))
        parts += held_out_parts(about) if "held_out" in about else []
        if "sampling" in about:
            parts += inclusion_chart(about)
        if about.get("cross_validation"):
            parts += cv_tables(about)
        parts += importance_parts(about)
    else:
        lines += [(name, _format_attribute(value)) for name, value in facts["fitted"].items()]
        lines.append(("features", ", ".join(feature_names(stored)[:20])))
    if "search" in facts:
        parts += search_parts(facts["search"])
    if "diagnostics" in facts:
        parts += diagnostics_parts(facts["diagnostics"])
    if "vectors" in facts:
        parts += _tabulate_vectors(stored, facts["vectors"])
    return [key_values(lines), *parts]


def _format_attribute(value: Any) -> str:
    return format_number(float(value)) if isinstance(value, float) else str(value)


def _tabulate_columns(stored: StoredModel) -> Any:
    rows = []
    for column in stored.columns:
        categories = column.categories
        shown = ", ".join(categories[:6]) + (
            f", ... ({len(categories)})" if len(categories) > 6 else ""
        )
        rows.append([column.name, column.kind, str(column.n_missing), shown or column.unit])
    result = table(["column", "kind", "missing", "categories or unit"], rows)
    result.columns[3].justify = "left"
    result.columns[3].no_wrap = False
    return result


def _tabulate_vectors(stored: StoredModel, columns: dict[str, Any]) -> list[Any]:
    """Tabulate as many columns as fit the terminal, with an explanation of the weights."""
    cells = {
        name: [each if isinstance(each, str) else format_number(float(each), 4) for each in values]
        for name, values in columns.items()
    }
    # rich puts three spaces between columns
    widths = [max(map(len, [name, *values])) + 3 for name, values in cells.items()]
    n_shown = max(2, int(np.searchsorted(np.cumsum(widths), terminal_width(), side="right")))
    names = list(cells)[:n_shown]
    words = [_explain_weights(stored)]
    if len(names) < len(cells):
        words.append(f"--json lists {len(cells) - len(names)} more columns.")
    result = table(names, list(zip(*(cells[name] for name in names), strict=True)))
    result.columns[0].no_wrap = "row" in cells
    return [result, legend(*words)]


def _explain_weights(stored: StoredModel) -> str:
    """Explain the sign and the unit of the weights, or inclusion probabilities."""
    if is_sampled(stored.model):
        return (
            "Share of the draws with the basis function; weights differ from draw to draw. "
            "Kernels that overlap take each other's place."
        )
    is_kernel_model = hasattr(stored.model, "relevance_vectors_")
    where = "near the vector" if is_kernel_model else "as the term increases"
    cancel = (
        " Large weights of opposite signs are normal: overlapping kernels cancel between vectors."
        if is_kernel_model
        else ""
    )
    classes = stored.classes
    if len(classes) > 2:
        return (
            f"A positive weight raises the probability of the class {where}, a negative weight "
            f"lowers it.{cancel}"
        )
    if classes:
        return (
            f"A positive weight raises the probability of {str(classes[1])!r} {where}, a negative "
            f"weight that of {str(classes[0])!r}.{cancel}"
        )
    target = f"the log rate of {stored.target}" if models_counts(stored.model) else stored.target
    if not is_kernel_model:
        return f"weight: change of {target} per unit of the term."
    return (
        f"weight: coefficient of the kernel centred on the relevance vector, in units of "
        f"{target}.{cancel}"
    )
