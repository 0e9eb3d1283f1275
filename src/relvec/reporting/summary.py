"""Summary at the top of a report: subtitle, main metrics and tiles."""

from __future__ import annotations

from typing import Any

from relvec.describing import (
    find_transform,
    has_simple_noise,
    is_kernel_search,
    is_sampled,
    summarise_fit,
    summarise_sampling,
)
from relvec.reporting.chart import format_number
from relvec.reporting.evidence import EvidenceSummary
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

__all__ = ["make_lead", "make_subtitle", "make_tiles"]


def make_subtitle(subject: Subject) -> str:
    """Return task, target, and the numbers of rows and features."""
    task = "Classification" if subject.is_classifier else "Regression"
    task = "Regression of counts" if subject.counts_events else task
    n_features = subject.model.n_features_in_
    parts = [task, f"target {subject.target}", f"{subject.n_rows} rows"]
    parts.append("1 feature" if n_features == 1 else f"{n_features} features")
    return " · ".join([*parts, type(subject.model).__name__])


def make_lead(
    subject: Subject, samples: list[PredictionSet], values: dict[str, dict[str, float]]
) -> str:
    """Return the main metrics on the rows by which the model is evaluated, and its size."""
    evaluated = samples[-1]
    metrics, size = values[evaluated.name], _describe_size(subject)
    rows = "training rows" if evaluated.is_training else "held-out rows"
    if evaluated.is_cross_validated:
        rows = f"{rows} ({evaluated.name})"
    if subject.is_classifier:
        return (
            f"Error rate on {rows}: {100 * metrics['error_rate']:.1f} %; log loss "
            f"{format_number(metrics['log_loss'])} nats; {len(subject.classes)} classes. {size}"
        )
    if subject.counts_events:
        return (
            f"Poisson deviance of {subject.target} on {rows}: "
            f"{format_number(metrics['deviance'])} (D² {format_number(metrics['d2'], 2)}). 95 % "
            f"intervals cover {100 * metrics['coverage_95']:.1f} % of the counts. {size}"
        )
    return (
        f"RMSE of {subject.target} on {rows}: {format_number(metrics['rmse'])}"
        f"{_describe_r_squared(metrics['r2'])}. 95 % intervals cover "
        f"{100 * metrics['coverage_95']:.1f} % of the targets. {size}"
    )


def _describe_size(subject: Subject) -> str:
    if is_kernel_search(subject.model):
        return f"The best structure is {subject.model.expression_}."
    if is_sampled(subject.model):
        size = format_number(summarise_sampling(subject.model).n_active.mean)
        return f"The model is an average over sampled models of {size} {subject.units} on average."
    kept = len(subject.model.relevance_)
    return f"The model has {subject.count_units(kept) if kept else f'no {subject.units}'}."


def _describe_r_squared(r_squared: float) -> str:
    if r_squared != r_squared:
        return " (R² is not defined: the target is constant)"
    if r_squared < 0.0:
        return f" (R² {format_number(r_squared, 2)}: worse than predicting the mean)"
    return f" (R² {format_number(r_squared, 2)})"


def _describe_counts(model: Any) -> str:
    """Return the likelihood of a model of counts."""
    if model.likelihood_ == "poisson":
        return "Poisson"
    return f"negative binomial, shape {format_number(float(model.shape_))}"


def _noise_tiles(subject: Subject, noise_std: float) -> list[tuple[str, str]]:
    """Return transform of the target and noise, if it is the same everywhere."""
    transform, output = find_transform(subject.model), subject.model.outputs_[0]
    of = "" if transform is None else " of the transformed target"
    tiles = [] if transform is None else [("transform of the target", str(transform))]
    if has_simple_noise(output):
        tiles.append((f"noise{of} (standard deviation)", format_number(noise_std)))
    return tiles


def _make_sampling_tiles(subject: Subject) -> list[tuple[str, str]]:
    """Return the main numbers of a sampled model: posterior means, and its convergence."""
    summary = summarise_sampling(subject.model)
    units = f"{subject.units} (mean), of {summary.n_candidates} candidates"
    tiles = [("rows", str(subject.n_rows)), (units, format_number(summary.n_active.mean))]
    if subject.is_classifier:
        tiles.append(("classes", str(len(subject.classes))))
    if summary.noise_std is not None:
        tiles.append(("noise (standard deviation)", format_number(summary.noise_std.mean)))
    tiles.append(("draws", str(summary.n_chains * summary.n_draws)))
    if summary.r_hat == summary.r_hat:
        tiles.append(("largest R-hat", f"{summary.r_hat:.3f}"))
        tiles.append(("smallest effective sample size", f"{summary.ess:.0f}"))
    tiles.append(("converged", "yes" if summary.converged else "no"))
    return tiles


def _make_search_tiles(subject: Subject) -> list[tuple[str, str]]:
    """Return the main numbers of a kernel search."""
    model = subject.model
    of = "" if model.transform_ == "identity" else " of the transformed target"
    tiles = [("rows", str(subject.n_rows)), ("components", str(len(model.components_)))]
    if of:
        tiles.append(("transform of the target", str(model.transform_)))
    if len(model.periods_) and not model.has_dates_:
        tiles.append(("periods", ", ".join(format_number(each) for each in model.periods_)))
    tiles += [
        (f"noise{of} (standard deviation)", format_number(float(model.noise_variance_) ** 0.5)),
        ("effective degrees of freedom", format_number(float(model.effective_dof_))),
        ("log evidence (nats)", format_number(float(model.log_evidence_), 5)),
        ("score (nats)", format_number(float(model.score_), 5)),
    ]
    return tiles


def make_tiles(subject: Subject, facts: EvidenceSummary) -> list[tuple[str, str]]:
    """Return the main numbers of the fit with their names."""
    if is_sampled(subject.model):
        return _make_sampling_tiles(subject)
    if is_kernel_search(subject.model):
        return _make_search_tiles(subject)
    summary = summarise_fit(subject.model)
    assert summary is not None
    tiles = [
        ("rows", str(subject.n_rows)),
        (f"{subject.units}, of {summary.n_candidates} candidates", str(summary.n_kept)),
    ]
    if summary.classes is not None:
        tiles.append(("classes", str(len(summary.classes))))
    if subject.counts_events:
        tiles.append(("distribution of counts", _describe_counts(subject.model)))
    if summary.noise_std is not None and summary.effective_dof is not None:
        tiles += _noise_tiles(subject, float(summary.noise_std[0]))
        tiles.append(
            ("effective degrees of freedom", format_number(float(summary.effective_dof[0])))
        )
    tiles.append(("log evidence (nats)", format_number(facts.log_evidence, 5)))
    if facts.null_log_evidence == facts.null_log_evidence:
        tiles.append(("gain over the null model (nats)", format_number(facts.log_evidence_gain, 4)))
    if summary.features_used is not None:
        tiles.append(("relevant features", summary.features_used))
    tiles.append(("converged", "yes" if summary.converged else "no"))
    return tiles
