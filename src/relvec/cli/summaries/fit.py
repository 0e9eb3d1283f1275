"""The printed summary of `relvec fit`, parts of which `relvec inspect` prints too."""

from __future__ import annotations

from typing import Any

from relvec.cli.console import escape_controls
from relvec.cli.errors import format_names
from relvec.cli.limits import LIMITS
from relvec.cli.models import MODELS, SAMPLED, model_title
from relvec.cli.noise_options import noise_lines
from relvec.cli.summaries.parts import (
    bar_chart,
    format_mean,
    format_number,
    format_percent,
    format_size,
    key_values,
    legend,
    table,
)
from relvec.cli.summaries.sampling import inclusion_chart, sampling_lines

__all__ = ["CV_COLUMNS", "DEFINITIONS", "cv_tables", "fit_summary", "importance_parts"]

CV_COLUMNS = {
    "regression": (("rmse", "RMSE", ""), ("r2", "R²", "decimals"), ("mlpd", "MLPD", "")),
    "counts": (("deviance", "deviance", ""), ("d2", "D²", "decimals"), ("mlpd", "MLPD", "")),
    "classification": (("error_rate", "error rate", "percent"), ("log_loss", "log loss", "")),
}
"""Metric, heading and number format of each column of the cross-validation table."""
DEFINITIONS = {
    "mae": "MAE: mean absolute error.",
    "r2": "R²: fraction of the variance explained.",
    "deviance": "deviance: mean Poisson deviance; lower is better.",
    "d2": "D²: fraction of the deviance explained.",
    "mlpd": "MLPD: mean log predictive density; higher is better.",
    "log_loss": "log loss: mean of -log(probability of the true class); lower is better.",
    "confidence": "mean confidence: mean probability of the predicted class.",
}
"""Definitions of metrics, printed below tables."""
CRITERION = {
    "regression": "highest MLPD",
    "counts": "highest MLPD",
    "classification": "lowest log loss",
}
PROBLEMS = {"regression": "Regression of", "counts": "Regression of counts of"}
IMPORTANCE = {"regression": "RMSE", "counts": "deviance", "classification": "log loss"}
"""Metric whose increase is the permutation importance."""
KIND_NAMES = {"number": "numeric", "date": "date", "time": "date", "category": "categorical"}


def fit_summary(facts: dict[str, Any]) -> list[Any]:
    """Return the problem, the cross-validation table, the model and its importances."""
    parts: list[Any] = ["", headline(facts)]
    if "cross_validation" in facts:
        parts += [_main_result(facts), *cv_tables(facts)]
    else:
        parts.append("Not cross-validated: the accuracy on new rows is not known.")
    parts += ["", key_values(model_lines(facts))]
    if "sampling" in facts:
        parts += inclusion_chart(facts)
    return parts + importance_parts(facts)


def headline(facts: dict[str, Any]) -> str:
    """Return the task, the target, and the numbers of columns and rows."""
    kinds = [column["kind"] for column in facts["columns"]]
    target = escape_controls(facts["target"])
    task = (
        f"{PROBLEMS[facts['task']]} {target} on"
        if facts["task"] in PROBLEMS
        else f"Classification of {target} ({len(facts['classes'])} classes) from"
    )
    counts = ", ".join(f"{kinds.count(k)} {name}" for k, name in KIND_NAMES.items() if k in kinds)
    columns = "column" if len(kinds) == 1 else "columns"
    return f"{task} {len(kinds)} {columns} ({counts}), {facts['rows']['used']} rows"


def _main_result(facts: dict[str, Any]) -> str:
    """Return one sentence with the RMSE or the error rate of the selected model."""
    metrics = facts["cross_validation"]["models"][facts["model"]]
    if facts["task"] == "regression":
        result = f"RMSE on held-out rows: {format_number(metrics['rmse']['mean'])}"
    elif facts["task"] == "counts":
        result = f"Deviance on held-out rows: {format_number(metrics['deviance']['mean'])}"
    else:
        result = f"Error rate on held-out rows: {format_percent(metrics['error_rate'])}"
    if "sampling" in facts:
        size = format_number(facts["sampling"]["n_active"]["mean"])
        return f"{result} (average over models of {size} basis functions)"
    n, noun = facts["n_basis_functions"], _basis_noun(facts)
    return f"{result} ({n} {noun.removesuffix('s') if n == 1 else noun})"


def _basis_noun(facts: dict[str, Any]) -> str:
    """Name of the basis functions: a kernel model may have been reduced to a linear one."""
    return "relevance vectors" if "relevance_vector_rows" in facts else "linear terms"


def cv_tables(facts: dict[str, Any]) -> list[Any]:
    """Tabulate the metrics of all models on the same folds, with their definitions."""
    results = facts["cross_validation"]
    columns = CV_COLUMNS[facts["task"]]
    rows = []
    for name, summary in results["models"].items():
        mark = " ←" if name == facts["model"] else ""
        cells = [format_mean(summary.get(key), form) for key, _, form in columns]
        rows.append([model_title(name) + mark, *cells])
    headers = ["cross-validation", *(heading for _, heading, _ in columns)]
    folds = (
        f"Mean over the held-out rows of {results['folds']} folds ± standard error; ← marks the "
        "fitted model."
    )
    if facts["model"] in SAMPLED.values():
        folds += " Folds of the sampled model have at most 2 chains of 200 draws."
    definitions = [DEFINITIONS[key] for key, _, _ in columns if key in DEFINITIONS]
    return [table(headers, rows), legend(folds, *definitions)]


def model_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """List the properties of the fitted model."""
    noun = _basis_noun(facts)
    of_rows = f" of {facts['rows']['used']} rows" if noun == "relevance vectors" else ""
    lines = [("model", _describe_choice(facts))]
    if "sampling" in facts:
        lines += sampling_lines(facts)
    else:
        lines += [(noun, f"{facts['n_basis_functions']}{of_rows}"), *noise_lines(facts)]
    ours = facts.get("cross_validation", {}).get("models", {}).get(facts["model"], {})
    if "coverage" in ours:
        lines.append(
            ("95 % intervals", f"cover {format_percent(ours['coverage'])} of the held-out rows")
        )
    if "confidence" in ours and "accuracy" in ours:
        lines.append(
            (
                "calibration",
                f"mean confidence {format_percent(ours['confidence'])}, "
                f"accuracy {format_percent(ours['accuracy'])} on held-out rows",
            )
        )
    if "output" in facts:
        lines.append(("saved", f"{facts['output']} ({format_size(facts['bytes'])})"))
    return lines


def _describe_choice(facts: dict[str, Any]) -> str:
    """Return the title of the model, and how it was selected."""
    ours = [name for name in facts.get("cross_validation", {}).get("models", ()) if name in MODELS]
    how = f", {CRITERION[facts['task']]} of {len(ours)} models" if len(ours) > 1 else ""
    form = " reduced to a linear model" if facts.get("model_kind") == "linear" else ""
    return model_title(facts["model"]) + form + how


def importance_parts(facts: dict[str, Any]) -> list[Any]:
    """Chart the permutation importance of the columns, with its definition."""
    importance = facts.get("permutation_importance", {})
    positive = [name for name, increase in importance.items() if increase and increase > 0]
    if not positive:
        return []
    others = [name for name in importance if name not in positive]
    n_shown = LIMITS.shown_importances
    metric = IMPORTANCE[facts["task"]]
    rows = "held-out" if "cross_validation" in facts else "training"
    sentences = [
        f"Permutation importance: increase in {metric} when the values of a column are permuted "
        f"among {rows} rows."
    ]
    sentences += _list_names("Smaller increases", positive[n_shown:])
    sentences += _list_names("No increase", others)
    shown = {name: importance[name] for name in positive[:n_shown]}
    return [bar_chart(shown, "column", f"increase in {metric}"), legend(*sentences)]


def _list_names(label: str, names: list[str]) -> list[str]:
    return [f"{label}: {format_names(names)}."] if names else []
