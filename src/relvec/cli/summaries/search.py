"""The printed summary of a kernel search."""

from __future__ import annotations

from typing import Any

from relvec.cli.console import escape_controls
from relvec.cli.summaries.fit import cv_tables, headline, importance_parts
from relvec.cli.summaries.parts import format_number, format_size, key_values, legend, table

__all__ = ["held_out_parts", "search_parts", "search_summary", "structure_lines"]

MANY_RIVALS = 6
"""Structures in the table of rivals; the others are listed by --json."""
MODES = {
    "accuracy": "predictions average the structures by their weights",
    "interpretable": "predictions are those of the best structure alone",
}


def search_summary(facts: dict[str, Any]) -> list[Any]:
    """Return the structure, its components and rivals, held-out metrics, and what to do next."""
    search = facts["search"]
    lines = structure_lines(search)
    lines.append(("saved", f"{facts['output']} ({format_size(facts['bytes'])})"))
    parts: list[Any] = ["", headline(facts), "", key_values(lines), *search_parts(search)]
    if "cross_validation" in facts:
        parts += [*cv_tables(facts), *importance_parts(facts)]
    elif "held_out" in facts:
        parts += held_out_parts(facts)
    else:
        parts.append("Not tested on held-out rows: the accuracy of predictions is not known.")
    output = escape_controls(facts["output"])
    follow = (
        f"relvec forecast {output} --steps 24"
        if search["is_series"]
        else f"relvec predict {output} TABLE --interval 0.95"
    )
    return [*parts, "", f"Next: {follow}"]


def structure_lines(search: dict[str, Any]) -> list[tuple[str, str]]:
    """List the best structure with its transform, periods and size."""
    rivals = [each for each in search["structures"][1:] if each["is_undecided"]]
    lines = [("structure", search["expression"])]
    if search["transform"] != "identity":
        name = {"log": "logarithm", "sqrt": "square root"}[search["transform"]]
        lines.append(("transform", f"{name} of the target"))
    if search["period_texts"]:
        lines.append(("periods", ", ".join(search["period_texts"])))
    lines.append(("noise std", _format_noise(search)))
    lines.append(
        (
            "columns",
            f"{search['n_columns']}, of {format_number(search['effective_dof'])} effective degrees "
            f"of freedom; {search['n_fits']} structures were fitted",
        )
    )
    if rivals:
        noun = "structure is" if len(rivals) == 1 else "structures are"
        lines.append(("undecided", f"{len(rivals)} other {noun} within 5 nats of the best"))
    return lines


def _format_noise(search: dict[str, Any]) -> str:
    noise = format_number(search["noise_variance"] ** 0.5)
    return noise if search["transform"] == "identity" else f"{noise} of the transformed target"


def search_parts(search: dict[str, Any]) -> list[Any]:
    """Tabulate the components of the best structure, and the structures that were compared."""
    parts: list[Any] = []
    if search["components"]:
        rows = [
            [each["name"], f"{100 * each['share']:.1f} %", f"{each['score_loss']:.1f}"]
            for each in search["components"]
        ]
        parts.append(table(["component", "share of variance", "loss of score without it"], rows))
    return [*parts, *_tabulate_rivals(search)]


def _name_structure(structure: dict[str, Any]) -> str:
    """Return expression, transform and periods, which tell structures of one expression apart."""
    transform, periods = structure["transform"], ", ".join(structure["period_texts"])
    name = structure["name"] if transform == "identity" else f"{structure['name']} of {transform}"
    return f"{name} ({periods})" if periods else name


def _tabulate_rivals(search: dict[str, Any]) -> list[Any]:
    found = search["structures"]
    # the best by score, and those that matter for predictions
    shown = [
        each
        for number, each in enumerate(found)
        if number < MANY_RIVALS // 2 or each["weight"] >= 0.05
    ][:MANY_RIVALS]
    rows = [
        [
            _name_structure(each),
            f"{each['margin']:.1f}" + (" undecided" if each["margin"] and _is_near(each) else ""),
            format_number(each["held_out_rmse"]),
            f"{100 * each['weight']:.0f} %",
        ]
        for each in shown
    ]
    left = len(found) - len(shown)
    words = [
        "margin: penalised log evidence of the best structure less that of this one, in nats; "
        "below 5 it does not decide.",
        f"weight: {MODES[search['mode']]}.",
    ]
    if search["mode"] == "accuracy":
        words.append(
            "RMSE: on rows held out while the structures were compared, optimistic because "
            "structures were found on all rows."
        )
    if left:
        words.append(f"{left} more structures are listed by --json.")
    return [table(["structure", "margin", "RMSE", "weight"], rows), legend(*words)]


def _is_near(structure: dict[str, Any]) -> bool:
    return bool(structure["is_undecided"])


def held_out_parts(facts: dict[str, Any]) -> list[Any]:
    """Tabulate the errors of a forecast of the last rows, found without them."""
    held_out = facts["held_out"]
    rows = [
        [
            TITLES.get(name, name),
            format_number(metrics.get("rmse")),
            format_number(metrics.get("mae")),
            _format_coverage(metrics.get("coverage")),
        ]
        for name, metrics in held_out["models"].items()
    ]
    words = f"The last {held_out['rows']} rows, predicted by a search on the rows before them."
    headers = ["held-out end", "RMSE", "MAE", "95 % intervals cover"]
    return [table(headers, rows), legend(words)]


TITLES = {"search": "kernel search"}


def _format_coverage(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"
