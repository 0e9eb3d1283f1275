"""Tables of a comparison of models, as text and as HTML."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from relvec.comparing.statistics import Estimate

if TYPE_CHECKING:
    from relvec.comparing.result import ModelComparison

__all__ = ["render_html", "render_text", "tabulate"]

HEADERS = {
    "regression": ("MLPD", "difference", "RMSE"),
    "classification": ("log loss", "difference", "error rate"),
}


def tabulate(comparison: ModelComparison) -> tuple[list[str], list[list[str]]]:
    """Return the headers and the rows of the table as texts."""
    sign = -1.0 if comparison.task == "classification" else 1.0
    headers = [
        "model",
        *HEADERS[comparison.task],
        "log evidence",
        "penalised",
        "tied",
        "probability",
        "size",
        "dof",
    ]
    rows = []
    for model in comparison.models:
        found = model.evidences
        rows.append(
            [
                model.name,
                _format_estimate(model.mlpd, sign),
                _format_estimate(model.difference),
                _format_estimate(model.error),
                _format(found.log_evidence, ".1f"),
                _format(found.penalised_evidence, ".1f"),
                _format(found.tied_evidence, ".1f"),
                _format(model.probability, ".3f"),
                _format(found.size, ".0f"),
                _format(found.effective_dof, ".1f"),
            ]
        )
    return headers, rows


def render_text(comparison: ModelComparison) -> str:
    """Render the table and the verdict as plain text."""
    headers, rows = tabulate(comparison)
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    lines = [_align(row, widths) for row in [headers, *rows]]
    return "\n".join(
        [
            f"{len(rows)} models, {comparison.n_rows} rows, {comparison.folds}",
            "",
            lines[0],
            "-" * len(lines[0]),
            *lines[1:],
            "",
            comparison.verdict.text,
            *comparison.disagreements,
            *comparison.notes,
        ]
    )


def render_html(comparison: ModelComparison) -> str:
    """Render the table and the verdict as HTML."""
    headers, rows = tabulate(comparison)
    head = "".join(f"<th>{html.escape(each)}</th>" for each in headers)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(each)}</td>" for each in row) + "</tr>" for row in rows
    )
    texts = (comparison.verdict.text, *comparison.disagreements, *comparison.notes)
    below = "".join(f"<p>{html.escape(each)}</p>" for each in texts)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def _align(row: list[str], widths: list[int]) -> str:
    first, *others = zip(row, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)])


def _format(value: Any, form: str) -> str:
    return "-" if value is None else format(value, form)


def _format_estimate(estimate: Estimate | None, sign: float = 1.0) -> str:
    return "-" if estimate is None else str(Estimate(sign * estimate.mean, estimate.se))
