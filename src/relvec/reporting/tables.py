"""HTML tables of a report."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from relvec._typing import Matrix
from relvec.assessing import BiasVariance
from relvec.describing import Weights, collect_weights, format_count, get_kernel_centers
from relvec.reporting.chart import format_number
from relvec.reporting.evidence import EvidenceSummary
from relvec.reporting.metrics import Metric
from relvec.reporting.null_model import HeldOutGain
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

__all__ = [
    "render_bias_variance",
    "render_evidence_table",
    "render_metric_table",
    "render_weight_table",
]


def render_metric_table(
    metrics: Sequence[Metric], samples: Sequence[PredictionSet], values: dict[str, dict[str, float]]
) -> str:
    """Return the table of metrics, one column per set of rows."""
    heads = "".join(
        f"<th>{escape(sample.name)}<br><span class='meaning'>{len(sample.y)} rows, "
        f"{'training' if sample.is_training else 'held out'}</span></th>"
        for sample in samples
    )
    lines = []
    for metric in metrics:
        cells = "".join(
            f"<td{' class=best' if index == len(samples) - 1 else ''}>"
            f"{_format_metric(metric, values[sample.name][metric.key])}</td>"
            for index, sample in enumerate(samples)
        )
        lines.append(
            f"<tr><td>{escape(metric.name)}</td>{cells}"
            f'<td class="words meaning">{escape(metric.meaning)}</td></tr>'
        )
    return (
        f'<table><thead><tr><th>metric</th>{heads}<th class="words meaning">meaning</th></tr>'
        f"</thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _format_metric(metric: Metric, value: float) -> str:
    if metric.is_percentage and np.isfinite(value):
        return f"{100.0 * value:.1f} %"
    return format_number(value, 4)


def render_evidence_table(
    facts: EvidenceSummary, gain: HeldOutGain | None, is_classifier: bool
) -> str:
    """Return the table of evidence, likelihood and information criteria."""
    null = "the class frequencies" if is_classifier else "the intercept alone"
    degrees = "effective degrees of freedom" if facts.is_effective else "number of weights"
    rows = [
        (
            "log evidence",
            facts.log_evidence,
            "log marginal likelihood at the optimal hyper-parameters, in nats",
        ),
        (
            "log evidence of the null model",
            facts.null_log_evidence,
            f"log marginal likelihood of {null}",
        ),
        (
            "gain over the null model",
            facts.log_evidence_gain,
            "difference of the two; hardly ever negative, even for pure noise, because the "
            "evidence was maximised: not a test",
        ),
        *_gain_row(gain),
        (
            "log likelihood",
            facts.log_likelihood,
            "of the training rows, at the posterior mean of the weights",
        ),
        (
            "number of parameters",
            facts.n_parameters,
            f"{degrees}, including intercept and noise variance where estimated",
        ),
        ("AIC", facts.aic, "2 × parameters − 2 × log likelihood; smaller is better"),
        ("BIC", facts.bic, "log(rows) × parameters − 2 × log likelihood; smaller is better"),
    ]
    lines = "".join(
        f'<tr><td>{name}</td><td class="best">{format_number(value, 5)}</td>'
        f'<td class="words meaning">{escape(text)}</td></tr>'
        for name, value, text in rows
        if np.isfinite(value)
    )
    return f"<table><tbody>{lines}</tbody></table>"


def _gain_row(gain: HeldOutGain | None) -> list[tuple[str, float, str]]:
    if gain is None:
        return []
    text = (
        f"± {format_number(gain.std)} (standard error), in nats: log predictive density of "
        "held-out rows minus that of the null model, summed; significant above two standard errors"
    )
    return [("held-out gain over the null model", gain.total, text)]


def render_bias_variance(split: BiasVariance) -> str:
    """Return the bias–variance decomposition as a bar."""
    remainder = max(split.bias_and_noise, 0.0)
    noise, text = split.noise, "noise variance estimated by the model"
    if remainder < noise:
        text = f"noise: all of the remainder; the model estimates {format_number(noise)}"
        noise = remainder
    parts = [
        ("variance", split.mse - remainder, "variance of the fits over bootstrap samples"),
        ("bias", split.squared_bias, "squared bias"),
        ("noise", noise, text),
    ]
    total = max(sum(value for _, value, _ in parts), np.finfo(np.float64).tiny)
    spans = "".join(
        f'<span class="{kind}" style="width:{100.0 * value / total:.2f}%" '
        f'data-tip="{escape(text)}: {format_number(value)}"></span>'
        for kind, value, text in parts
    )
    keys = "".join(
        f'<span><i class="{kind}"></i>{escape(text)}: <b>{format_number(value)}</b> '
        f"({100.0 * value / total:.0f} %)</span>"
        for kind, value, text in parts
    )
    note = ""
    if split.kernel_fixed:
        note = (
            " The kernel was fixed at the parameters learnt from all rows, which makes the "
            "estimate optimistic."
        )
    return (
        f'<p class="caption">Out-of-bag MSE of {split.n_fits} bootstrap fits: '
        f"<b>{format_number(split.mse, 4)}</b>, over {split.n_rows} rows. A bootstrap sample "
        "contains about two thirds of the rows, so this MSE is larger than that of the model. "
        "Squared bias and noise cannot be separated from data alone: the noise is the estimate of "
        f"the model.{note}</p>"
        f'<div class="split">{spans}</div><div class="key">{keys}</div>'
    )


def render_weight_table(subject: Subject) -> str:
    """Return the table of weights with posterior standard deviations, γ and relevance vectors."""
    groups = collect_weights(subject.model, subject.names)
    vectors = _locate_vectors(subject)
    names = [] if vectors is None else subject.names
    shown = names[: subject.limits.features]
    several, has_std = len(groups) > 1, any(group.std is not None for group in groups)
    heads = [subject.unit, *["output"] * several, "weight", *["± std", "γ"] * has_std]
    lines = []
    for group in groups:
        centers = np.empty((len(group.mean), 0)) if vectors is None else vectors[group.index]
        cells = np.hstack([_weight_cells(group, several, has_std), centers[:, : len(shown)]])
        lines += [f"<tr>{''.join(map(_cell, each))}</tr>" for each in cells]
    n_lines = min(len(lines), subject.limits.weights)
    notes = [
        (True, format_count(len(lines), "weight")),
        (has_std, "γ: how well the data determine a weight, from 0 (prior) to 1 (data)"),
        (n_lines < len(lines), f"shown: the first {n_lines}"),
        (
            len(shown) < len(names),
            f"features shown: the first {len(shown)} of {len(names)}",
        ),
        (True, "click a column heading to sort"),
    ]
    text = "; ".join(note for is_true, note in notes if is_true)
    head = "".join(f"<th>{escape(name)}</th>" for name in [*heads, *shown])
    return (
        f'<p class="caption">{escape(text)}.</p><div class="scroll">'
        f'<table class="sortable"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines[:n_lines])}</tbody></table></div>"
    )


def _locate_vectors(subject: Subject) -> Matrix | None:
    """Return the relevance vectors in the named features; None if not available."""
    vectors = get_kernel_centers(subject.estimator)
    if vectors is None:
        vectors = get_kernel_centers(subject.model)
    return None if vectors is None or vectors.shape[1] != len(subject.names) else vectors


def _weight_cells(group: Weights, several: bool, has_std: bool) -> np.ndarray:
    """Return the cells of the weights of one target or logit, a row for each."""
    unknown = np.full(len(group.mean), np.nan)
    columns: list[Any] = [group.atoms]
    if several:
        columns.append([group.name] * len(group.mean))
    columns.append(group.mean)
    if has_std:
        columns.append(unknown if group.std is None else group.std)
        columns.append(unknown if group.well_determined is None else group.well_determined)
    table = np.empty((len(group.mean), len(columns)), dtype=object)
    for index, column in enumerate(columns):
        table[:, index] = column
    return table


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    number = float(value)
    return f'<td data-value="{number!r}">{format_number(number, 4)}</td>'
