"""Findings of a report: problems of fit, data and calibration, with advice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from relvec.describing import is_kernel_search, is_sampled, summarise_sampling
from relvec.reporting.evidence import EvidenceSummary
from relvec.reporting.metrics import compute_coverage, compute_reliability
from relvec.reporting.noise import NoiseAssessment
from relvec.reporting.null_model import HeldOutGain
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

__all__ = [
    "Finding",
    "assess_dispersion",
    "assess_fit",
    "assess_gain",
    "assess_intervals",
    "assess_overfitting",
    "assess_probabilities",
    "assess_rows",
    "collect_findings",
]


class Finding(NamedTuple):
    """One finding: what happened, what it means and what to do."""

    is_good: bool
    """Whether it confirms the model; otherwise it is a warning."""
    text: str


def collect_findings(
    subject: Subject,
    samples: Sequence[PredictionSet],
    facts: EvidenceSummary,
    gain: HeldOutGain | None = None,
    problems: Sequence[str] = (),
    noise: NoiseAssessment | None = None,
) -> list[Finding]:
    """Collect the findings, warnings first.

    Parameters
    ----------
    subject : Subject
        Model and rows of the report.
    samples : sequence of PredictionSet
        Predictions; the last set is the one by which the model is evaluated.
    facts : EvidenceSummary
        Evidence of the fit.
    gain : HeldOutGain, optional
        Gain in log predictive density over the null model, on held-out rows.
    problems : sequence of str, default=()
        Warnings about computations that failed.
    noise : NoiseAssessment, optional
        Checks of the noise of a regression.
    """
    found = [
        *assess_fit(subject, facts),
        *assess_gain(subject, gain),
        *assess_rows(subject, samples[-1]),
    ]
    found += assess_overfitting(subject, samples)
    found += [Finding(False, text) for text in problems]
    evaluated = samples[-1]
    if subject.is_classifier:
        found += assess_probabilities(evaluated, subject.classes)
    elif subject.counts_events:
        found += assess_dispersion(subject, evaluated)
    else:
        found += assess_intervals(evaluated)
    if noise is not None and noise.advice:
        found.append(Finding(False, noise.advice))
    return sorted(found, key=lambda each: each.is_good)


def assess_fit(subject: Subject, facts: EvidenceSummary) -> list[Finding]:
    """Check convergence, the cap on the active set, the kind of model and the gain in evidence."""
    if is_sampled(subject.model):
        return _assess_sampling(subject)
    if is_kernel_search(subject.model):
        return _assess_structure(subject)
    model, found = subject.model, []
    if not model.converged_:
        text = (
            "The fit did not converge: a better optimum may exist. Give the solver a larger "
            "max_iter."
        )
        found.append(Finding(False, text))
    if getattr(model, "reached_max_active_", False):
        kernels = (
            "kernels with longer length-scales, or " if subject.unit == "relevance vector" else ""
        )
        text = (
            "The cap on the active set was reached: the noise variance is not identifiable. Use "
            f'{kernels}prior="bic".'
        )
        found.append(Finding(False, text))
    if getattr(model, "model_kind_", None) == "linear":
        text = (
            "A linear model of the features was selected, because kernels do not predict held-out "
            'rows better. Use length_scales="ard" or "isotropic" to force kernels.'
        )
        found.append(Finding(True, text))
    if not len(model.relevance_):
        text = (
            f"No {subject.unit} was selected: the prediction is constant. The features explain "
            "nothing of the target, or the prior is too strong."
        )
        found.append(Finding(False, text))
    elif facts.log_evidence_gain < 1.0:
        text = (
            f"The gain in log evidence over the null model is {facts.log_evidence_gain:.1f} nats "
            "only: the data hardly support this model."
        )
        found.append(Finding(False, text))
    return found


def _assess_structure(subject: Subject) -> list[Finding]:
    """Check whether a kernel search found a structure, and whether the score decides."""
    best, *others = subject.model.structures_
    if not len(subject.model.components_):
        return [Finding(False, "No structure was found: the prediction is nearly constant.")]
    n_near = len({each.name for each in others if each.is_undecided} - {best.name})
    if not n_near:
        return [Finding(True, "No other structure is within 5 nats of the best score.")]
    rivals = "structure is" if n_near == 1 else "structures are"
    text = f"{n_near} other {rivals} within 5 nats of the best score, which does not decide"
    is_averaged = sum(each.weight > 0.0 for each in subject.model.structures_) > 1
    if is_averaged:
        return [Finding(True, f"{text}; predictions average over structures.")]
    return [Finding(False, f'{text}. Predictions of mode="accuracy" average over structures.')]


def _assess_sampling(subject: Subject) -> list[Finding]:
    """Check the chains of a sampled model, and whether it depends on the features."""
    summary, found = summarise_sampling(subject.model), []
    if not summary.converged:
        text = (
            f"The chains have not converged (R-hat {summary.r_hat:.3f}, effective sample size "
            f"{summary.ess:.0f}): predictions are averages over too few independent models. Give a "
            "larger max_doublings or n_draws, or continue with warm_start=True."
        )
        found.append(Finding(False, text))
    elif summary.r_hat == summary.r_hat:
        text = (
            f"The chains have converged (R-hat {summary.r_hat:.3f}, effective sample size "
            f"{summary.ess:.0f})."
        )
        found.append(Finding(True, text))
    if summary.n_active.mean < 0.5:
        text = (
            f"Most draws have no {subject.unit}: the prediction is nearly constant. The features "
            "explain nothing of the target, or size_prior is too strong."
        )
        found.append(Finding(False, text))
    return found


def assess_gain(subject: Subject, gain: HeldOutGain | None) -> list[Finding]:
    """Check whether the model predicts held-out rows better than the null model."""
    if gain is None or gain.is_significant or _is_constant(subject.model):
        return []
    null = "the class frequencies" if subject.is_classifier else "the mean of the targets"
    null = "the mean rate" if subject.counts_events else null
    text = (
        f"On held-out rows the model is not significantly better than {null}: the difference in "
        f"log predictive density is {gain.total:+.1f} ± {gain.std:.1f} nats (standard error). Do "
        "not rely on it without more data or better features."
    )
    return [Finding(False, text)]


def _is_constant(model: Any) -> bool:
    """Whether a model has no basis functions."""
    if is_kernel_search(model):
        return not len(model.components_)
    return not is_sampled(model) and not len(model.relevance_)


def assess_rows(subject: Subject, evaluated: PredictionSet) -> list[Finding]:
    """Check the origin of the rows, extrapolation, and the number of rows."""
    found = []
    if subject.provenance.warning:
        found.append(Finding(False, subject.provenance.warning))
    n_rows = len(evaluated.y)
    if evaluated.n_shared and subject.are_training:
        text = (
            f"{evaluated.n_shared} of {n_rows} held-out rows are also training rows, with the same "
            "targets: their metrics are too optimistic. Remove them from held_out."
        )
        found.append(Finding(False, text))
    if evaluated.is_training and not evaluated.n_shared and not subject.provenance.warning:
        text = (
            "All metrics are computed on training rows, so they are too optimistic. Give held_out "
            "rows, or use cross-validation (cv)."
        )
        found.append(Finding(False, text))
    if evaluated.n_extrapolated:
        text = (
            f"{evaluated.n_extrapolated} of {n_rows} rows are extrapolations: they are far from "
            "the training rows, which carry little information about them. "
            "model.extrapolating(X) shows which rows these are."
        )
        found.append(Finding(False, text))
    if subject.n_rows < 40:  # a proportion of one half then has a standard error of 8 %
        text = f"There are only {subject.n_rows} rows: all metrics have large standard errors."
        found.append(Finding(False, text))
    return found


def assess_overfitting(subject: Subject, samples: Sequence[PredictionSet]) -> list[Finding]:
    """Check whether the RMSE of held-out rows is much larger than that of training rows."""
    evaluated = samples[-1]
    training = next((sample for sample in samples if sample.is_training), None)
    if training is None or evaluated.is_training or subject.is_classifier:
        return []
    # forecasts of a series are less certain than its record is smooth
    if subject.counts_events or subject.is_series:
        return []
    ratio = _rmse(evaluated) / max(_rmse(training), math.ulp(1.0))
    if ratio <= 1.3:  # a smaller ratio is expected from fitting a few weights
        return []
    prior = "a larger size_prior" if is_sampled(subject.model) else 'prior="bic"'
    prior = "a larger structure_penalty" if is_kernel_search(subject.model) else prior
    text = (
        f"The RMSE on held-out rows is {ratio:.1f} times the training RMSE: a sign of "
        f"overfitting. Use a stronger prior, such as {prior}, or more data."
    )
    return [Finding(False, text)]


def assess_intervals(evaluated: PredictionSet, slight: float = 0.015) -> list[Finding]:
    """Check the coverage of predictive intervals.

    Differences from the nominal coverage below `slight` are not reported, even if they are
    statistically significant.
    """
    coverage, count = compute_coverage(evaluated, 0.95), len(evaluated.y)
    low, high = binom.ppf([0.005, 0.995], count, 0.95) / count
    percent = f"{100.0 * coverage:.1f} %"
    if coverage < min(low, 0.95 - slight):
        text = (
            f"95 % intervals cover only {percent} of the targets: the predictive standard "
            "deviations are too small."
        )
        return [Finding(False, text)]
    if coverage > max(high, 0.95 + slight):
        text = (
            f"95 % intervals cover {percent} of the targets: the predictive standard deviations "
            "are too large."
        )
        return [Finding(False, text)]
    half = compute_coverage(evaluated, 0.5)
    low, high = binom.ppf([0.005, 0.995], count, 0.5) / count
    if not min(low, 0.5 - slight) <= half <= max(high, 0.5 + slight):
        tails = "heavier" if half > 0.5 else "lighter"
        text = (
            f"95 % intervals cover {percent} of the targets, but 50 % intervals cover "
            f"{100.0 * half:.1f} %: the residuals have {tails} tails than a normal distribution."
        )
        return [Finding(False, text)]
    rows = "training rows" if evaluated.is_training else "held-out rows"
    return [Finding(True, f"95 % intervals cover {percent} of the targets of {rows}.")]


def assess_dispersion(subject: Subject, evaluated: PredictionSet) -> list[Finding]:
    """Check whether counts vary as much as predicted."""
    assert evaluated.mean is not None
    assert evaluated.std is not None
    squares = ((evaluated.y - evaluated.mean) / evaluated.std) ** 2
    dispersion, error = float(squares.mean()), float(squares.std() / math.sqrt(len(squares)))
    text = (
        f"The dispersion of the counts is {dispersion:.2f} ± {error:.2f} of the predicted one "
        "(mean squared residual over predictive variance)"
    )
    if dispersion - 3.0 * error <= 1.15:  # a smaller excess changes intervals by less than 10 %
        return [Finding(True, f"{text}.")]
    advice = (
        'Use likelihood="auto" or "negative_binomial".'
        if subject.model.likelihood_ == "poisson"
        else "Other features, or one rate per group, may explain it."
    )
    return [Finding(False, f"{text}: the counts are overdispersed. {advice}")]


def assess_probabilities(evaluated: PredictionSet, classes: np.ndarray) -> list[Finding]:
    """Check the calibration of predicted probabilities, bin by bin."""
    curve = compute_reliability(evaluated, classes)
    low, high = curve.interval(0.99)
    is_off = ((curve.mean < low) | (curve.mean > high)) & (curve.count >= 5)
    if is_off.any():
        rows = int(curve.count[is_off].sum())
        text = (
            f"The predicted probabilities of {rows} of {len(evaluated.y)} rows are not calibrated: "
            "in their bins of the reliability diagram, the observed frequency differs "
            "significantly (99 %)."
        )
        return [Finding(False, text)]
    return [Finding(True, "The predicted probabilities agree with the observed frequencies.")]


def _rmse(sample: PredictionSet) -> float:
    assert sample.mean is not None
    return float(np.sqrt(np.mean((sample.y - sample.mean) ** 2)))
