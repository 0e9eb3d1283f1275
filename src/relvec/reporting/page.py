"""The HTML page of a report, with style sheet and script included."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

import relvec
from relvec.describing import is_kernel_search, is_sampled
from relvec.reporting.chart import format_number
from relvec.reporting.figures import Figure
from relvec.reporting.findings import Finding
from relvec.reporting.subject import Subject

__all__ = ["Page", "Section", "render_figure", "render_model_facts"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""Content security policy: the page loads nothing from the network."""

LENGTH_SCALES = {
    "ard": "one per feature (automatic relevance determination)",
    "isotropic": "one for all features (isotropic)",
    "kernel": "parameters of the kernel, learnt",
    "linear": "none: the model is linear in the features",
    "null": "none: the model is constant",
    "none": "not learnt: no feature is relevant",
}
"""Descriptions of the learnt length-scales, by `model_kind_`."""


@dataclass(frozen=True)
class Section:
    """A section of the page."""

    key: str
    title: str
    content: str


@dataclass(frozen=True)
class Page:
    """Content of the page."""

    title: str
    sub: str
    lead: str
    tiles: Sequence[tuple[str, str]]
    findings: Sequence[Finding]
    sections: Sequence[Section]

    def html(self) -> str:
        """Return the whole page."""
        tiles = "".join(
            f'<div class="card tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>'
            for name, value in self.tiles
        )
        notes = "".join(
            f'<li class="{"good" if each.is_good else "warn"}">{escape(each.text)}</li>'
            for each in self.findings
        )
        links = "".join(f'<a href="#{each.key}">{escape(each.title)}</a>' for each in self.sections)
        body = "".join(
            f'<section id="{each.key}"><h2>{escape(each.title)}</h2>{each.content}</section>'
            for each in self.sections
        )
        style, script = _asset("report.css"), _asset("report.js")
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>{escape(self.title)}</title><link rel="icon" href="data:,">'
            f"<style>\n{style}</style></head>\n<body>"
            f"<header><div><h1>{escape(self.title)}</h1>"
            f'<p class="sub">{escape(self.sub)}</p></div>'
            '<button id="theme" type="button" hidden></button></header>\n'
            f'<main><p class="lead">{escape(self.lead)}</p><nav>{links}</nav>'
            f'<div class="tiles">{tiles}</div><ul class="notes">{notes}</ul>\n{body}</main>\n'
            f"<footer>Made by relvec {escape(relvec.__version__)} on "
            f"{datetime.date.today().isoformat()}. This file is self-contained.</footer>"
            f'<div id="tip" role="status"></div>\n<script>\n{script}</script></body></html>\n'
        )


def render_figure(figure: Figure) -> str:
    """Return a figure with title, caption and legend as HTML."""
    legend = "".join(
        f'<span><i class="{style}"></i>{escape(label)}</span>' for style, label in figure.legend
    )
    return (
        f'<figure class="card {figure.layout}"><h3>{escape(figure.title)}</h3>'
        f'<p class="caption">{escape(figure.caption)}</p>'
        f"{f'<div class=legend>{legend}</div>' if legend else ''}{figure.svg}</figure>"
    )


def render_model_facts(subject: Subject) -> str:
    """Return class, kernel, length-scales, parameters and size of the model as HTML."""
    model = subject.model
    changed = _list_changed_parameters(model)
    rows: list[tuple[str, str]] = [("class", type(model).__name__)]
    if model is not subject.estimator:
        steps = [type(step).__name__ for _, step in subject.estimator.steps]
        rows.append(("pipeline", " → ".join(steps)))
    kernel = getattr(model, "kernel_", None) or getattr(model, "kernel", None)
    if kernel is not None:
        rows.append(("kernel", str(kernel)))
    elif hasattr(model, "kernel_blocks_"):
        rows.append(("kernels", ", ".join(map(str, model.kernels_))))
    if hasattr(model, "model_kind_"):
        rows.append(("length-scales", LENGTH_SCALES.get(model.model_kind_, model.model_kind_)))
    rows.append(("parameters", ", ".join(changed) if changed else "all defaults"))
    if is_sampled(model):
        rows.append(("candidates", f"{model.n_atoms_} basis functions"))
        rows.append(("steps of each chain", str(model.n_iter_)))
        return _render_facts(rows)
    if is_kernel_search(model):
        rows.append(("structures fitted", str(model.n_iter_)))
        rows.append(("basis functions", str(model.n_columns_)))
        return _render_facts(rows)
    rows.append(("intercept", _join_numbers(model.intercept_)))
    kept = f"{len(model.relevance_)} of {model.n_atoms_} candidates"
    rows.append(("basis functions", kept))
    rows.append(("objective", f"{format_number(float(model.objective_), 6)} nats"))
    rows.append(("iterations", str(model.n_iter_)))
    return _render_facts(rows)


def _render_facts(rows: Sequence[tuple[str, str]]) -> str:
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows)
    return f'<div class="card"><dl>{items}</dl></div>'


def _list_changed_parameters(model: Any) -> list[str]:
    """List the parameters that differ from their defaults."""
    defaults = type(model)().get_params(deep=False)
    parameters = model.get_params(deep=False)
    return [
        f"{name}={str(value)[:60]}"
        for name, value in parameters.items()
        if repr(value) != repr(defaults.get(name))
    ]


def _join_numbers(values: Any) -> str:
    if hasattr(values, "tolist"):
        values = values.tolist()
    several = values if isinstance(values, list) else [values]
    return ", ".join(format_number(float(value), 4) for value in several)


def _asset(name: str) -> str:
    return files("relvec.reporting").joinpath("assets", name).read_text(encoding="utf-8")
