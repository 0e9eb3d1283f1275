"""Summary of a fitted model in a notebook, below scikit-learn's diagram."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.describing import (
    FitSummary,
    PosteriorRange,
    check_feature_names,
    get_feature_gain,
    is_kernel_search,
    is_sampled,
    list_feature_inclusion,
    summarise_fit,
    summarise_sampling,
)

__all__ = ["list_findings", "render_summary"]

TABLE = (
    "font:13px/1.5 system-ui,sans-serif;border-collapse:collapse;margin:.5em 0 0;"
    "background:transparent;color:inherit"
)
CELL = "padding:0 .9em 0 0;border:0;background:transparent;text-align:left;vertical-align:top"
# a grey and a blue that are legible on white and on black
LABEL, BAR = "color:#7b8088", "background:#4a90d9"
MODEL_KINDS = {
    "linear": "linear in the features: kernels do not predict held-out rows better",
    "null": "constant: no feature is relevant",
}
"""Descriptions of models selected instead of kernels, by `model_kind_`."""


def render_summary(model: Any) -> str:
    """Return the summary of a fitted model as an HTML table; empty before the fit."""
    findings = list_findings(model)
    if not findings:
        return ""
    rows = "".join(
        f'<tr style="background:transparent"><td style="{CELL};{LABEL}">{escape(label)}</td>'
        f'<td style="{CELL}">{escape(value)}</td></tr>'
        for label, value in findings
    )
    return f'<table style="{TABLE}">{rows}{_relevance_rows(model)}</table>'


def list_findings(model: Any) -> list[tuple[str, str]]:
    """List the summary of a fitted model as labels and values; empty before the fit.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> list_findings(RVMRegressor())
    []
    >>> X = np.linspace(-3, 3, 31)[:, None]
    >>> model = RVMRegressor(gamma=1.0, noise_variance=0.01).fit(X, np.exp(-(X[:, 0] ** 2)))
    >>> list_findings(model)[:2]
    [('relevance vectors', '1 of 31'), ('noise (standard deviation)', '0.1')]
    """
    if is_sampled(model):
        return _list_sampling(model)
    if is_kernel_search(model):
        return _list_structure(model)
    summary = summarise_fit(model)
    if summary is None:
        return []
    noun = "relevance vectors" if hasattr(model, "relevance_vectors_") else "basis functions"
    findings = [(noun, f"{summary.n_kept} of {summary.n_candidates}")]
    kind = MODEL_KINDS.get(getattr(model, "model_kind_", ""))
    if kind is not None:
        findings.append(("model", kind))
    if summary.classes is not None:
        findings.append(("classes", _join_names(summary.classes)))
    if summary.noise_std is not None and summary.effective_dof is not None:
        transforms = [str(each) for each in _list_transforms(model)]
        if set(transforms) - {"identity"}:
            findings.append(("transform of the target", _join_names(tuple(transforms))))
        findings.append(("noise (standard deviation)", _format_values(summary.noise_std)))
        findings.append(("effective degrees of freedom", _format_values(summary.effective_dof)))
    findings.append(("log evidence (nats)", _format_values(summary.log_evidence)))
    return [*findings, *_list_remarks(summary)]


def _list_sampling(model: Any) -> list[tuple[str, str]]:
    """List size, noise and convergence of a sampled model."""
    summary = summarise_sampling(model)
    size = f"{_format_range(summary.n_active)}, of {summary.n_candidates}"
    findings = [("basis functions", size)]
    classes = getattr(model, "classes_", None)
    if classes is not None:
        findings.append(("classes", _join_names(tuple(map(str, classes)))))
    if summary.noise_std is not None:
        findings.append(("noise (standard deviation)", _format_range(summary.noise_std)))
    findings.append(("draws", f"{summary.n_chains} chains of {summary.n_draws}"))
    diagnostics = f" (R-hat {summary.r_hat:.3f}, effective sample size {summary.ess:.0f})"
    is_known = summary.r_hat == summary.r_hat
    findings.append(("chains", summary.verdict + (diagnostics if is_known else "")))
    names = list_feature_inclusion(model)
    if len(names) > 1:
        listed = [f"{each.name} {each.probability:.2f}" for each in names]
        findings.append(("feature inclusion probability", _join_names(tuple(listed))))
    return findings


def _list_structure(model: Any) -> list[tuple[str, str]]:
    """List what a kernel search found."""
    findings = [("structure", model.expression_)]
    if model.transform_ != "identity":
        findings.append(("transform of the target", model.transform_))
    if len(model.periods_):
        unit = " days" if model.has_dates_ else ""
        findings.append(("periods", _format_values(model.periods_) + unit))
    findings.append(("noise (standard deviation)", f"{np.sqrt(model.noise_variance_):.4g}"))
    findings.append(("log evidence (nats)", f"{model.log_evidence_:.4g}"))
    near = [
        f"{each.name} ({each.margin:.1f} nats behind)"
        for each in model.structures_[1:]
        if each.is_undecided
    ]
    if near:
        findings.append(("undecided", _join_names(tuple(near), 3)))
    return findings


def _format_range(found: PosteriorRange) -> str:
    return f"{found.mean:.4g} (95 % interval {found.low:.4g} to {found.high:.4g})"


def _list_transforms(model: Any) -> list[Any]:
    transforms = getattr(model, "target_transform_", [])
    return transforms if isinstance(transforms, list) else [transforms]


def _list_remarks(summary: FitSummary) -> list[tuple[str, str]]:
    """List warnings and the number of relevant features, where they apply."""
    remarks = []
    if not summary.converged:
        remarks.append(("converged", "no: a better optimum may exist"))
    if summary.reached_max_active:
        remarks.append(("active-set cap", "reached: the noise is not identifiable"))
    if summary.features_used is not None:
        remarks.append(("relevant features", summary.features_used))
    return remarks


def _join_names(classes: tuple[str, ...], most: int = 8) -> str:
    more = "" if len(classes) <= most else f", ... ({len(classes)})"
    return ", ".join(classes[:most]) + more


def _relevance_rows(model: Any, most: int = 8) -> str:
    """Return bars of the gain in log evidence of each feature, the largest first."""
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
    heading = f'<tr><td style="{CELL};{LABEL};padding-top:.5em">gain in log evidence</td></tr>'
    left = len(order) - len(rows)
    if left > 0:
        rows.append(f'<tr><td style="{CELL};{LABEL}">and {left} more</td></tr>')
    return heading + "".join(rows)


def _format_values(values: Vector, most: int = 4) -> str:
    """Return one number, or several separated by commas."""
    shown = ", ".join(f"{value:.4g}" for value in values[:most])
    return shown if len(values) <= most else f"{shown}, ... ({len(values)} outputs)"
