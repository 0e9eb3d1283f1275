"""What a reader should know first, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from relvec.reporting.evidence import EvidenceFacts
from relvec.reporting.metrics import coverage_at, reliability
from relvec.reporting.null_model import HeldOutGain
from relvec.reporting.predictions import Sample
from relvec.reporting.subject import Subject

__all__ = [
    "Finding",
    "about_fit",
    "about_gain",
    "about_intervals",
    "about_overfitting",
    "about_probabilities",
    "about_rows",
    "find",
]


class Finding(NamedTuple):
    """A sentence, and whether it is good news."""

    is_good: bool
    words: str


def find(
    subject: Subject,
    samples: Sequence[Sample],
    facts: EvidenceFacts,
    gain: HeldOutGain | None = None,
    doubts: Sequence[str] = (),
) -> list[Finding]:
    """Look for what went wrong, and for what went right.

    Parameters
    ----------
    subject : Subject
        The model.
    samples : sequence of Sample
        Predictions; the last ones are those to judge it by.
    facts : EvidenceFacts
        Of the fit.
    gain : HeldOutGain, optional
        On held-out rows, against the null model.
    doubts : sequence of str, default=()
        What could not be found out.
    """
    found = [
        *about_fit(subject, facts),
        *about_gain(subject, gain),
        *about_rows(subject, samples[-1]),
    ]
    found += about_overfitting(subject, samples)
    found += [Finding(False, words) for words in doubts]
    judged = samples[-1]
    if subject.is_classifier:
        found += about_probabilities(judged, subject.classes)
    else:
        found += about_intervals(judged)
    return sorted(found, key=lambda each: each.is_good)


def about_fit(subject: Subject, facts: EvidenceFacts) -> list[Finding]:
    """Whether the search went well, and what it found is worth anything."""
    model, found = subject.model, []
    if not model.converged_:
        found.append(Finding(False, "The search ended before it had converged."))
    if getattr(model, "reached_max_active_", False):
        words = (
            f"The cap on {subject.units} was reached: the noise level is not identified. Use "
            f'{"wider kernels, or " if subject.unit == "vector" else ""}prior="bic".'
        )
        found.append(Finding(False, words))
    if getattr(model, "model_kind_", None) == "linear":
        words = (
            "Kernels predict held-out rows no better than a linear model of the inputs does, so "
            'the model is linear. Use length_scales="ard" or "isotropic" for kernels.'
        )
        found.append(Finding(True, words))
    if not len(model.relevance_):
        words = f"No {subject.unit} was kept: the model says the same everywhere."
        found.append(Finding(False, words))
    elif facts.log_evidence_gain < 1.0:
        words = f"The evidence hardly speaks for this model against one without {subject.units}."
        found.append(Finding(False, words))
    return found


def about_gain(subject: Subject, gain: HeldOutGain | None) -> list[Finding]:
    """Whether rows that were not seen show that the model knows anything."""
    if gain is None or gain.is_shown or not len(subject.model.relevance_):
        return []
    null = "the class shares" if subject.is_classifier else "the mean of the targets"
    words = (
        f"Rows it has not seen do not show that it predicts better than {null}: their log density "
        f"is {gain.total:+.1f} ± {gain.std:.1f} nats from that of the null model."
    )
    return [Finding(False, words)]


def about_rows(subject: Subject, judged: Sample) -> list[Finding]:
    """Whether the rows are those they are taken for, and enough."""
    found = []
    if subject.provenance.doubt:
        found.append(Finding(False, subject.provenance.doubt))
    if judged.n_shared and subject.are_training:
        words = (
            f"{judged.n_shared} of {len(judged.y)} held-out rows are among the training rows too, "
            "with the same targets: what they say is too good."
        )
        found.append(Finding(False, words))
    if judged.is_seen and not judged.n_shared and not subject.provenance.doubt:
        words = (
            "All figures are of rows the model was fitted to: of new rows it knows less than "
            "they say. Give held_out rows, or cv folds."
        )
        found.append(Finding(False, words))
    if judged.n_beyond:
        words = (
            f"{judged.n_beyond} of {len(judged.y)} rows are beyond the training rows, which say "
            "little of what is predicted there. model.extrapolating(X) says which ones."
        )
        found.append(Finding(False, words))
    if subject.n_rows < 40:  # a share of one half then has a standard error of 8 %
        words = f"There are {subject.n_rows} rows only: all figures are rough."
        found.append(Finding(False, words))
    return found


def about_overfitting(subject: Subject, samples: Sequence[Sample]) -> list[Finding]:
    """Whether errors of new rows are much larger than those of rows of the fit."""
    judged = samples[-1]
    seen = next((sample for sample in samples if sample.is_seen), None)
    if seen is None or judged.is_seen or subject.is_classifier:
        return []
    ratio = _rms(judged) / max(_rms(seen), math.ulp(1.0))
    if ratio <= 1.3:  # less is what the fit of a few weights explains
        return []
    words = (
        f"Errors of rows it has not seen are {ratio:.1f} times those of rows it was "
        "fitted to: part of what it learnt does not carry over."
    )
    return [Finding(False, words)]


def about_intervals(judged: Sample, slight: float = 0.015) -> list[Finding]:
    """Whether intervals hold what they should.

    A distance of `slight` from that is no news, however many rows show it.
    """
    inside, count = coverage_at(judged, 0.95), len(judged.y)
    low, high = binom.ppf([0.005, 0.995], count, 0.95) / count
    share = f"{100.0 * inside:.1f} %"
    if inside < min(low, 0.95 - slight):
        words = f"95 % intervals hold only {share} of the targets: error bars are too short."
        return [Finding(False, words)]
    if inside > max(high, 0.95 + slight):
        words = f"95 % intervals hold {share} of the targets: error bars are too long."
        return [Finding(False, words)]
    half = coverage_at(judged, 0.5)
    low, high = binom.ppf([0.005, 0.995], count, 0.5) / count
    if not min(low, 0.5 - slight) <= half <= max(high, 0.5 + slight):
        often = "smaller" if half > 0.5 else "larger"
        words = (
            f"95 % intervals hold {share} of the targets, but 50 % intervals {100.0 * half:.1f} %: "
            f"most errors are {often} than a normal distribution of this width says."
        )
        return [Finding(False, words)]
    whose = "rows it was fitted to" if judged.is_seen else "rows it has not seen"
    return [Finding(True, f"95 % intervals hold {share} of the targets of {whose}.")]


def about_probabilities(judged: Sample, classes: np.ndarray) -> list[Finding]:
    """Whether what is said to be probable happens as often as that."""
    curve = reliability(judged, classes)
    low, high = curve.interval(0.99)
    is_off = ((curve.mean < low) | (curve.mean > high)) & (curve.count >= 5)
    if is_off.any():
        rows = int(curve.count[is_off].sum())
        words = (
            f"Probabilities do not match frequencies for {rows} of {len(judged.y)} rows, beyond "
            "what chance explains."
        )
        return [Finding(False, words)]
    return [Finding(True, "Probabilities match frequencies, as far as the rows can tell.")]


def _rms(sample: Sample) -> float:
    assert sample.mean is not None
    return float(np.sqrt(np.mean((sample.y - sample.mean) ** 2)))
