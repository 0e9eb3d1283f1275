"""Section of a report on the structure that a kernel search found."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from relvec.describing import StructureDescription, describe_structure
from relvec.reporting.chart import format_number
from relvec.reporting.page import render_figure
from relvec.reporting.structure_figures import make_forecast_figure, make_part_figures
from relvec.reporting.subject import Subject

__all__ = ["render_structure_section"]

N_RANKED = 12
"""Number of structures in the table."""


def render_structure_section(subject: Subject) -> str:
    """Return the content of the section."""
    model = subject.model
    description = describe_structure(model, subject.input_unit)
    figures = make_part_figures(subject, description)
    if subject.is_series:
        figures.insert(0, make_forecast_figure(subject))
    return (
        f"{_render_sentences(description)}"
        f'<div class="grid2">{"".join(map(render_figure, figures))}</div>'
        f"{_tabulate_structures(model)}"
    )


def _render_sentences(description: StructureDescription) -> str:
    items = "".join(f"<li>{escape(each.sentence)}</li>" for each in description.parts)
    notes = "".join(f"<p>{escape(note)}</p>" for note in description.notes)
    listed = f"<ul>{items}</ul>" if items else ""
    return f'<div class="card"><p>{escape(description.head)}</p>{listed}{notes}</div>'


def _tabulate_structures(model: Any) -> str:
    """Tabulate the best structures, and those that predictions use."""
    ranked = model.structures_
    shown = ranked[:N_RANKED]
    heads = ("transform", "score", "margin", "parameters", "held-out MLPD", "held-out RMSE")
    lines = "".join(
        f'<tr><td class="words">{escape(_name_structure(each))}</td>'
        f"<td>{escape(each.transform)}</td>"
        f"<td>{format_number(each.score, 5)}</td><td>{each.margin:.1f}</td>"
        f"<td>{each.n_parameters}</td><td>{_format_optional(each.held_out_mlpd)}</td>"
        f"<td>{_format_optional(each.held_out_rmse)}</td><td>{100.0 * each.weight:.0f} %</td></tr>"
        for each in shown
    )
    cells = "".join(f"<th>{name}</th>" for name in (*heads, "weight"))
    left = float(sum(each.weight for each in ranked[N_RANKED:]))
    more = ""
    if len(ranked) > len(shown):
        more = (
            f" {len(ranked) - len(shown)} more structures have {100.0 * left:.0f} % of the weight."
        )
    return (
        '<div class="card across"><p class="caption">Structures by score: log evidence '
        "less penalties for parameters and for the choice of the structure, in nats. Margin: "
        "distance from the best one; less than 5 nats do not decide. "
        "Held-out values are of structures that were chosen on all rows, so they compare "
        "structures and are too optimistic for new data. Weight: in averaged predictions."
        f"{more}</p><table><thead><tr><th>structure</th>{cells}</tr></thead>"
        f"<tbody>{lines}</tbody></table></div>"
    )


def _name_structure(structure: Any) -> str:
    """Return expression and periods, which tell structures of one expression apart."""
    periods = ", ".join(format_number(period, 4) for period in structure.periods)
    return f"{structure.name} ({periods})" if periods else str(structure.name)


def _format_optional(value: float | None) -> str:
    return "–" if value is None else format_number(float(np.asarray(value)), 4)
