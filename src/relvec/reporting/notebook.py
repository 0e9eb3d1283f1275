"""What a fitted model shows of itself in a notebook, below scikit-learn's diagram."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.describing import FitSummary, check_feature_names, get_feature_gain, summarise_fit

__all__ = ["findings_of", "summary_html"]

TABLE = (
    "font:13px/1.5 system-ui,sans-serif;border-collapse:collapse;margin:.5em 0 0;"
    "background:transparent;color:inherit"
)
CELL = "padding:0 .9em 0 0;border:0;background:transparent;text-align:left;vertical-align:top"
# a grey and a blue that can be read on white and on black
LABEL, BAR = "color:#7b8088", "background:#4a90d9"
FORMS = {
    "linear": "linear in all inputs, which predicts held-out rows better than kernels",
    "null": "a constant: no input says anything of the target",
}
"""Models that took the place of kernels, by `model_kind_`."""


def summary_html(model: Any) -> str:
    """Return a table of what a fitted model found; nothing before the fit."""
    findings = findings_of(model)
    if not findings:
        return ""
    rows = "".join(
        f'<tr style="background:transparent"><td style="{CELL};{LABEL}">{escape(label)}</td>'
        f'<td style="{CELL}">{escape(value)}</td></tr>'
        for label, value in findings
    )
    return f'<table style="{TABLE}">{rows}{_relevance_rows(model)}</table>'


def findings_of(model: Any) -> list[tuple[str, str]]:
    """What a fitted model found, as labels and values; nothing before the fit.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> findings_of(RVMRegressor())
    []
    >>> X = np.linspace(-3, 3, 31)[:, None]
    >>> model = RVMRegressor(gamma=1.0, noise_variance=0.01).fit(X, np.exp(-(X[:, 0] ** 2)))
    >>> findings_of(model)[:2]
    [('vectors kept', '1 of 31'), ('noise, standard deviation', '0.1')]
    """
    summary = summarise_fit(model)
    if summary is None:
        return []
    word = "vectors kept" if hasattr(model, "relevance_vectors_") else "terms kept"
    findings = [(word, f"{summary.n_kept} of {summary.n_candidates}")]
    form = FORMS.get(getattr(model, "model_kind_", ""))
    if form is not None:
        findings.append(("form", form))
    if summary.classes is not None:
        findings.append(("classes", _listed(summary.classes)))
    if summary.noise_std is not None and summary.effective_dof is not None:
        findings.append(("noise, standard deviation", _figures(summary.noise_std)))
        findings.append(("effective degrees of freedom", _figures(summary.effective_dof)))
    findings.append(("log evidence, nats", _figures(summary.log_evidence)))
    return [*findings, *_remarks(summary)]


def _remarks(summary: FitSummary) -> list[tuple[str, str]]:
    """What is said only where there is something to say."""
    remarks = []
    if not summary.converged:
        remarks.append(("converged", "no: better models may exist"))
    if summary.reached_max_active:
        remarks.append(("reached_max_active", "yes: the noise level is not identified"))
    if summary.features_used is not None:
        remarks.append(("inputs in use", summary.features_used))
    return remarks


def _listed(classes: tuple[str, ...], most: int = 8) -> str:
    more = "" if len(classes) <= most else f", ... ({len(classes)})"
    return ", ".join(classes[:most]) + more


def _relevance_rows(model: Any, most: int = 8) -> str:
    """Bars of what inputs explain, the most important first; the others are counted."""
    gain = get_feature_gain(model)
    if gain is None or len(gain) < 2:
        return ""
    names = check_feature_names(getattr(model, "feature_names_in_", None), len(gain))
    order = [i for i in np.argsort(-gain, kind="stable") if gain[i] > 0.0]
    rows = [
        f'<tr style="background:transparent"><td style="{CELL}">{escape(names[i])}</td>'
        f'<td style="{CELL}" title="{gain[i]:.3g} nats"><span style="display:inline-block;'
        f'height:.7em;width:{12.0 * gain[i] / gain[order[0]]:.2f}em;{BAR}"></span> '
        f"{gain[i]:.3g} nats</td></tr>"
        for i in order[:most]
    ]
    heading = f'<tr><td style="{CELL};{LABEL};padding-top:.5em">what inputs explain</td></tr>'
    left = len(order) - len(rows)
    if left > 0:
        rows.append(f'<tr><td style="{CELL};{LABEL}">and {left} more</td></tr>')
    return heading + "".join(rows)


def _figures(values: Vector, most: int = 4) -> str:
    """One number, or several with commas."""
    shown = ", ".join(f"{value:.4g}" for value in values[:most])
    return shown if len(values) <= most else f"{shown}, ... ({len(values)} outputs)"
