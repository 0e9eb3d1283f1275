"""Tables of a report as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from relvec._typing import Matrix
from relvec.describing import Weights, collect_weights, format_count, get_kernel_centers
from relvec.reporting.bias_variance import BiasVariance
from relvec.reporting.chart import number
from relvec.reporting.evidence import EvidenceFacts
from relvec.reporting.metrics import Metric
from relvec.reporting.null_model import HeldOutGain
from relvec.reporting.predictions import Sample
from relvec.reporting.subject import Subject

__all__ = ["evidence_table", "metric_table", "split_bar", "vector_table"]


def metric_table(
    metrics: Sequence[Metric], samples: Sequence[Sample], values: dict[str, dict[str, float]]
) -> str:
    """Figures by kind of rows."""
    heads = "".join(
        f"<th>{escape(sample.name)}<br><span class='meaning'>{len(sample.y)} rows, "
        f"{'seen in the fit' if sample.is_seen else 'not seen in the fit'}</span></th>"
        for sample in samples
    )
    lines = []
    for metric in metrics:
        cells = "".join(
            f"<td{' class=best' if place == len(samples) - 1 else ''}>"
            f"{_shown(metric, values[sample.name][metric.key])}</td>"
            for place, sample in enumerate(samples)
        )
        lines.append(
            f"<tr><td>{escape(metric.name)}</td>{cells}"
            f'<td class="words meaning">{escape(metric.meaning)}</td></tr>'
        )
    return (
        f'<table><thead><tr><th>figure</th>{heads}<th class="words meaning">meaning</th></tr>'
        f"</thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _shown(metric: Metric, value: float) -> str:
    if metric.is_share and np.isfinite(value):
        return f"{100.0 * value:.1f} %"
    return number(value, 4)


def evidence_table(facts: EvidenceFacts, gain: HeldOutGain | None, is_classifier: bool) -> str:
    """Figures of the fit itself."""
    null = "class shares alone" if is_classifier else "a constant"
    degrees = "effective degrees of freedom" if facts.is_effective else "number of weights"
    rows = [
        ("log evidence", facts.log_evidence, "of the model, its precisions at their maximum; nats"),
        ("log evidence of the null model", facts.null_log_evidence, f"of {null}"),
        (
            "log evidence above the null model",
            facts.log_evidence_gain,
            "maximised on these rows over models of which the null model is one: hardly ever "
            "negative, also of pure noise, and no test",
        ),
        *_gain_row(gain),
        ("log likelihood", facts.log_likelihood, "of the rows at the mean of the weights"),
        ("parameters", facts.n_parameters, f"{degrees}, with intercept and noise where estimated"),
        ("AIC", facts.aic, "2 × parameters − 2 × log likelihood; smaller is better"),
        ("BIC", facts.bic, "log(rows) × parameters − 2 × log likelihood; smaller is better"),
    ]
    lines = "".join(
        f'<tr><td>{name}</td><td class="best">{number(value, 5)}</td>'
        f'<td class="words meaning">{escape(words)}</td></tr>'
        for name, value, words in rows
        if np.isfinite(value)
    )
    return f"<table><tbody>{lines}</tbody></table>"


def _gain_row(gain: HeldOutGain | None) -> list[tuple[str, float, str]]:
    if gain is None:
        return []
    words = (
        f"± {number(gain.std)} (standard error), summed over rows not seen in the fit: what the "
        "model knows beyond the null model, in nats; negative if it knows less"
    )
    return [("held-out log density above the null model", gain.total, words)]


def split_bar(split: BiasVariance) -> str:
    """The squared error and its parts, as a bar."""
    left = max(split.bias_and_noise, 0.0)
    noise, words = split.noise, "noise, as the model estimates it"
    if left < noise:
        noise, words = left, f"noise: all that is left; the model takes it for {number(noise)}"
    parts = [
        ("variance", split.mse - left, "variance: fits to other rows would differ by this"),
        ("bias", split.bias, "squared bias: what no fit of this kind would explain"),
        ("noise", noise, words),
    ]
    total = max(sum(value for _, value, _ in parts), np.finfo(np.float64).tiny)
    spans = "".join(
        f'<span class="{kind}" style="width:{100.0 * value / total:.2f}%" '
        f'data-tip="{escape(words)}: {number(value)}"></span>'
        for kind, value, words in parts
    )
    keys = "".join(
        f'<span><i class="{kind}"></i>{escape(words)}: <b>{number(value)}</b> '
        f"({100.0 * value / total:.0f} %)</span>"
        for kind, value, words in parts
    )
    held = ""
    if split.scales_held:
        held = " Kernels were held at those of the model, which has seen all rows: that flatters."
    return (
        f'<p class="caption">MSE of rows left out of {split.n_fits} fits to rows drawn with '
        f"replacement: <b>{number(split.mse, 4)}</b>, over {split.n_rows} rows. Such a fit sees "
        "about two thirds of the rows, so it errs more than the model does. Bias and noise are not "
        f"seen apart without the truth; the noise is the model's own estimate.{held}</p>"
        f'<div class="split">{spans}</div><div class="key">{keys}</div>'
    )


def vector_table(subject: Subject) -> str:
    """Every vector, column or term with its weight, its error bar and where it is."""
    groups = collect_weights(subject.model, subject.names)
    vectors = _places(subject)
    inputs = [] if vectors is None else subject.names
    shown = inputs[: subject.limits.inputs]
    several, has_std = len(groups) > 1, any(group.std is not None for group in groups)
    heads = [subject.unit, *["of"] * several, "weight", *["± std", "γ"] * has_std]
    lines = []
    for group in groups:
        where = np.empty((len(group.mean), 0)) if vectors is None else vectors[group.index]
        cells = np.hstack([_weight_cells(group, several, has_std), where[:, : len(shown)]])
        lines += [f"<tr>{''.join(map(_cell, each))}</tr>" for each in cells]
    n_lines = min(len(lines), subject.limits.vectors)
    notes = [
        (True, format_count(len(lines), "weight")),
        (has_std, "γ says how far the data, not the prior, fix a weight (0 to 1)"),
        (n_lines < len(lines), f"the first {n_lines} are shown"),
        (
            len(shown) < len(inputs),
            f"the first {len(shown)} of {len(inputs)} inputs are shown",
        ),
        (True, "click a heading to sort"),
    ]
    words = "; ".join(note for is_true, note in notes if is_true)
    head = "".join(f"<th>{escape(name)}</th>" for name in [*heads, *shown])
    return (
        f'<p class="caption">{escape(words)}.</p><div class="scroll">'
        f'<table class="sortable"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines[:n_lines])}</tbody></table></div>"
    )


def _places(subject: Subject) -> Matrix | None:
    """Where the vectors are, in the columns that have names; None if they are nowhere there."""
    vectors = get_kernel_centers(subject.estimator)
    if vectors is None:
        vectors = get_kernel_centers(subject.model)
    return None if vectors is None or vectors.shape[1] != len(subject.names) else vectors


def _weight_cells(group: Weights, several: bool, has_std: bool) -> np.ndarray:
    """Names and numbers of the weights of one target or logit, a row for each."""
    unknown = np.full(len(group.mean), np.nan)
    columns: list[Any] = [group.atoms]
    if several:
        columns.append([group.name] * len(group.mean))
    columns.append(group.mean)
    if has_std:
        columns.append(unknown if group.std is None else group.std)
        columns.append(unknown if group.well_determined is None else group.well_determined)
    table = np.empty((len(group.mean), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        table[:, place] = column
    return table


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    given = float(value)
    return f'<td data-value="{given!r}">{number(given, 4)}</td>'
