"""Section of a report on the sampled posterior: convergence, inclusion, rival models."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

from relvec.describing import (
    PosteriorRange,
    SamplingSummary,
    is_sampled,
    summarise_sampling,
    transform_inputs,
)
from relvec.reporting.chart import format_number
from relvec.reporting.page import render_figure
from relvec.reporting.sampling_figures import (
    TITLES,
    make_inclusion_figures,
    make_rank_figure,
    make_trace_figures,
)
from relvec.reporting.subject import Subject

__all__ = ["EVIDENCE_NOTE", "describe_range", "get_evidence_subject", "render_sampling_section"]

MAX_R_HAT, MIN_ESS = 1.01, 400.0
"""Bounds of the diagnostics of converged chains (Vehtari et al. 2021)."""
N_QUANTITIES, N_RIVALS = 10, 8
EVIDENCE_NOTE = (
    "These are values of the model of highest evidence (evidence_model_), from which the first "
    "chain starts. The sampled model is an average and has no evidence of its own."
)


def get_evidence_subject(subject: Subject) -> Subject:
    """Return the model of highest evidence with its inputs, in the place of a sampled model."""
    if not is_sampled(subject.model):
        return subject
    return replace(subject, estimator=subject.model.evidence_model_, X=_get_inputs(subject))


def _get_inputs(subject: Subject) -> Any:
    """Return the inputs of the model without names, which that of highest evidence lacks."""
    inputs = transform_inputs(subject.estimator, subject.X)
    return inputs.to_numpy() if hasattr(inputs, "to_numpy") else inputs


def describe_range(found: PosteriorRange) -> str:
    """Return posterior mean and 95 % interval as text."""
    mean, low, high = (format_number(each) for each in found)
    return f"{mean} ({low} to {high})"


def render_sampling_section(subject: Subject) -> str:
    """Return the content of the section."""
    summary, model = summarise_sampling(subject.model), subject.model
    known = [each for each in model.diagnostics_ if np.isfinite(each.ess_bulk)]
    figures = make_trace_figures(subject)
    for name in ("n_active", "log_posterior"):
        ess = next((each.ess_bulk for each in known if each.name == name), float("nan"))
        figure = make_rank_figure(subject, name, ess) if ess == ess else None
        figures += [] if figure is None else [figure]
    figures += make_inclusion_figures(subject)
    return (
        f"{_render_verdict(summary)}{_tabulate_diagnostics(model)}"
        f'<div class="grid2">{"".join(map(render_figure, figures))}</div>'
        f"{_tabulate_rivals(subject)}{_compare_with_evidence(subject)}"
    )


def _render_verdict(summary: SamplingSummary) -> str:
    rows = [("chains", f"{summary.n_chains} of {summary.n_steps} steps")]
    rows.append(("draws", f"{summary.n_draws} of each chain"))
    if summary.noise_std is not None:
        rows.append(("noise (standard deviation)", describe_range(summary.noise_std)))
    rows.append(("basis functions", describe_range(summary.n_active)))
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows)
    note = "Posterior means with 95 % intervals."
    return (
        f'<div class="card"><p><b>{escape(_describe_verdict(summary))}</b></p><dl>{items}</dl>'
        f'<p class="caption">{note}</p></div>'
    )


def _describe_verdict(summary: SamplingSummary) -> str:
    verdict = "The chains have converged" if summary.converged else "The chains have NOT converged"
    if summary.r_hat != summary.r_hat:
        return f"{verdict}: all monitored quantities are constant."
    remedy = "." if summary.converged else ": predictions are averages over too few models."
    return (
        f"{verdict}: of the quantities that count, largest R-hat {summary.r_hat:.3f} (at most "
        f"{MAX_R_HAT:g}), smallest effective sample size {summary.ess:.0f} (at least "
        f"{MIN_ESS:.0f}){remedy}"
    )


def _tabulate_diagnostics(model: Any) -> str:
    """Tabulate the named quantities, then those with the smallest effective sample sizes."""
    summaries = model.diagnostics_
    first = [each for each in summaries if "[" not in each.name]
    others = [each for each in summaries if "[" in each.name and np.isfinite(each.r_hat)]
    others.sort(key=lambda each: min(each.ess_bulk, each.ess_tail))
    shown = (first + others)[:N_QUANTITIES]
    lines = "".join(
        f"<tr><td>{escape(TITLES.get(each.name, each.name))}{_mark(each.name, model)}</td>"
        + "".join(
            f"<td>{format_number(value)}</td>"
            for value in (each.mean, each.std, each.quantile_5, each.quantile_95, each.mcse_mean)
        )
        + f"<td>{format_number(each.ess_bulk)}</td><td>{format_number(each.ess_tail)}</td>"
        + f"<td>{'–' if each.r_hat != each.r_hat else f'{each.r_hat:.3f}'}</td></tr>"
        for each in shown
    )
    heads = "".join(
        f"<th>{name}</th>"
        for name in ("mean", "std", "5 %", "95 %", "MCSE", "bulk ESS", "tail ESS", "R-hat")
    )
    hidden = len(summaries) - len(shown)
    more = f" {hidden} more quantities are monitored; they mix better." if hidden else ""
    return (
        f'<div class="card across"><table><thead><tr><th>quantity</th>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
        '<p class="caption">MCSE: Monte Carlo standard error of the mean. ESS: effective sample '
        "size. f[i], log_odds[i, k], log_probability[i, k]: predictions of training row i (class k)"
        ", f[new i] of new inputs; those with the smallest effective sample size. (*) does not "
        "count for convergence, which is that of predictions: basis functions, and with "
        f"them length-scales, can replace one another.{more}</p>"
    )


def _mark(name: str, model: Any) -> str:
    return "" if name in model.checked_quantities_ else " (*)"


def _tabulate_rivals(subject: Subject) -> str:
    """Tabulate the sets of basis functions of highest probability."""
    model = subject.model
    lines, total = "", 0.0
    for index, share in model.models_[:N_RIVALS]:
        names = list(model.candidate_atoms_.subset(index).names(subject.names))
        listed = ", ".join(map(str, names[:12])) or "none: the prediction is constant"
        listed += f" and {len(names) - 12} more" if len(names) > 12 else ""
        total += share
        lines += f'<tr><td>{share:.3f}</td><td class="words">{escape(listed)}</td></tr>'
    shown = min(len(model.models_), N_RIVALS)
    return (
        '<div class="card across"><p class="caption">Rival models: sets of basis functions with '
        f"the share of the draws that have exactly these. The {shown} listed have "
        f"{100.0 * total:.0f} % of the draws. Of overlapping kernels every set has a small "
        "share.</p><table><thead><tr><th>probability</th><th class='words'>basis functions</th>"
        f"</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _compare_with_evidence(subject: Subject) -> str:
    """Compare predictions of the given rows with those of the model of highest evidence."""
    model, other = subject.model, subject.model.evidence_model_
    inputs = {
        model: transform_inputs(subject.estimator, subject.X),
        other: _get_inputs(subject),
    }
    if subject.is_classifier:
        first, second = (each.predict_proba(X) for each, X in inputs.items())
        away = np.abs(first - second).max(axis=1)
        rows = [
            ("mean difference of probabilities", format_number(float(away.mean()))),
            ("largest difference of probabilities", format_number(float(away.max()))),
        ]
    else:
        rows = []
        for title, has_noise in (("regression function", False), ("new targets", True)):
            widths = [
                np.ptp(each.predict_interval(X, 0.95, include_noise=has_noise), axis=1)
                for each, X in inputs.items()
            ]
            ratio = widths[0] / np.maximum(widths[1], np.finfo(np.float64).tiny)
            low, middle, high = (format_number(q) for q in np.quantile(ratio, [0.05, 0.5, 0.95]))
            text = f"{middle} times as wide ({low} to {high} for 90 % of the rows)"
            rows.append((f"95 % intervals of the {title}", text))
        first, second = (each.predict(X) for each, X in inputs.items())
        shift = np.abs(first - second)
        rows.append(("mean difference of predictions", format_number(float(shift.mean()))))
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows)
    return (
        '<div class="card"><p class="caption">Comparison with the model of highest evidence '
        "(evidence_model_) at the given rows. Its intervals ignore that other models are plausible "
        f"too.</p><dl>{items}</dl></div>"
    )
