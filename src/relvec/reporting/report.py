"""HTML reports of fitted models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from relvec._checks import check_integer
from relvec.assessing import BiasVariance, CoverageOutside, RefitError
from relvec.describing import is_kernel_search, is_sampled, models_counts
from relvec.io.container import write_atomically
from relvec.reporting.bias_variance import compute_bias_variance
from relvec.reporting.classification_figures import make_classification_figures
from relvec.reporting.evidence import (
    EvidenceSummary,
    compute_evidence_summary,
)
from relvec.reporting.figures import (
    Figure,
    make_relevance_figure,
    make_trace_figure,
    make_weight_figure,
)
from relvec.reporting.findings import collect_findings
from relvec.reporting.metrics import (
    COUNT_METRICS,
    REGRESSION_METRICS,
    Metric,
    make_classification_metrics,
)
from relvec.reporting.noise import assess_noise
from relvec.reporting.noise_section import render_noise_section
from relvec.reporting.null_model import HeldOutGain, compute_held_out_gain
from relvec.reporting.outside import compute_coverage_outside, render_coverage_outside
from relvec.reporting.page import Page, Section, render_figure, render_model_facts
from relvec.reporting.predictions import PredictionSet, cross_validate, predict_rows
from relvec.reporting.provenance import count_shared_rows
from relvec.reporting.regression_figures import make_regression_figures
from relvec.reporting.sampling import (
    EVIDENCE_NOTE,
    get_evidence_subject,
    render_sampling_section,
)
from relvec.reporting.structure_section import render_structure_section
from relvec.reporting.subject import Subject
from relvec.reporting.summary import make_lead, make_subtitle, make_tiles
from relvec.reporting.tables import (
    render_bias_variance,
    render_evidence_table,
    render_metric_table,
    render_weight_table,
)

__all__ = ["Report", "make_report"]


@dataclass(frozen=True, eq=False)
class Report:
    """An HTML report with its metrics.

    It is displayed in a notebook. Use `make_report` to make one.
    """

    title: str
    html: str
    metrics: dict[str, dict[str, float]]
    """Metrics by set of rows and by name."""
    evidence: EvidenceSummary
    held_out_gain: HeldOutGain | None
    """Gain over the null model on held-out rows; None if there are none."""
    bias_variance: BiasVariance | None
    coverage_outside: CoverageOutside | None = None
    """Error bars outside the range of the training rows; None if not computed."""
    path: Path | None = None
    """File that the report was written to, if any."""

    def save(self, path: str | Path) -> Path:
        """Write the page to a file and return its path.

        Parameters
        ----------
        path : str or Path
            Path of an HTML file; an existing file is replaced atomically.
        """
        target = Path(path)
        write_atomically(target, self.html.encode("utf-8"))
        return target

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html) // 1024} kB)"

    def _repr_html_(self) -> str:
        # A frame isolates the styles of the report and of the notebook from each other.
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.title)}" '
            'style="width:100%;height:85vh;border:1px solid #8884;border-radius:8px"></iframe>'
        )


def make_report(
    model: Any,
    X: Any,
    y: Any,
    *,
    held_out: tuple[Any, ...] | None = None,
    noise_variance: Any = None,
    exposure: Any = None,
    title: str | None = None,
    path: str | Path | None = None,
    names: Any = None,
    target: str = "y",
    rows: str = "auto",
    cv: int = 5,
    n_bootstrap: int = 30,
    random_state: int = 0,
    unit: str | None = None,
) -> Report:
    """Make an HTML report of a fitted model: one self-contained page with interactive plots.

    It contains findings, performance metrics, plots, weights, and the evidence (marginal
    likelihood). Metrics are labelled as training or held-out. A regression with cross-validation is
    also refitted without the outermost fifth of its rows, to test its error bars there.

    Parameters
    ----------
    model : regressor or classifier of relvec, or a pipeline that ends in one
        Fitted to one target.
    X : array-like or data frame of shape (n_samples, n_features)
        Preferably the training rows, which cross-validation and bootstrap need.
    y : array-like of shape (n_samples,)
        Their targets.
    held_out : tuple of X and y, optional
        Held-out rows, on which the model is evaluated; with their noise variances or exposures as
        third entry, if those of `X` are given.
    noise_variance : array-like of shape (n_samples,), optional
        Noise variance of each row, if the model was fitted with known noise.
    exposure : array-like of shape (n_samples,), optional
        Exposure of each row, if the model was fitted to counts with exposures.
    title : str, optional
        Title of the page.
    path : str or Path, optional
        Write the page to this file.
    names : sequence of str, optional
        Names of the features that reach the model; by default those of the fit.
    target : str, default="y"
        Name of the target.
    rows : {"auto", "training", "new"}, default="auto"
        Whether `X` contains the training rows. "auto" compares them with the relevance vectors,
        which are training rows, and with the training targets of a regressor. Without evidence
        to the contrary it assumes training rows; a mismatch is reported as a finding.
    cv : int, default=5
        Number of cross-validation folds, each with a refit from scratch; 0 for none. It takes
        about `cv` times as long as the fit. For a series, the number of rolling origins.
    n_bootstrap : int, default=30
        Number of bootstrap fits for the bias–variance decomposition of a regression; 0 for none.
        Learnt kernels are kept fixed, so each fit is fast.
    random_state : int, default=0
        Seed of folds and bootstrap samples.
    unit : str, optional
        Unit of the input of a series, such as "years", for `KernelSearchRegressor`.

    Returns
    -------
    report : Report
        Displayed in a notebook; ``report.save("report.html")`` writes it.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.reporting import make_report
    >>> X = np.linspace(-10, 10, 60)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> model = RVMRegressor(gamma=0.1).fit(X, y)
    >>> report = make_report(model, X, y, title="Sinc")
    >>> report.metrics["5-fold cross-validation"]["r2"] > 0.8
    True
    >>> report.held_out_gain.total > 20
    True
    """
    if path is not None:
        _check_path(Path(path))
    n_folds = check_integer("cv", cv, minimum=0)
    n_fits = check_integer("n_bootstrap", n_bootstrap, minimum=0)
    if n_folds == 1:
        raise ValueError("cv must be 0 for no cross-validation, or at least 2 folds; got 1.")
    subject = Subject.build(
        model,
        X,
        y,
        names=names,
        target=target,
        rows=rows,
        row_values=_choose_known(model, noise_variance, exposure),
    )
    subject = replace(subject, input_unit=unit)
    problems: list[str] = []
    samples = _make_predictions(subject, held_out, n_folds, random_state, problems)
    metrics = (
        make_classification_metrics(subject.classes)
        if subject.is_classifier
        else COUNT_METRICS
        if subject.counts_events
        else REGRESSION_METRICS
    )
    values = {
        sample.name: {metric.key: metric.compute(sample) for metric in metrics}
        for sample in samples
    }
    facts = compute_evidence_summary(get_evidence_subject(subject))
    # the mean of a series is not what its forecasts are compared with
    gain = None if subject.is_series else compute_held_out_gain(subject, samples[-1])
    split = _decompose_error(subject, n_fits, random_state, problems)
    own = samples[-1 if held_out is None else -2]
    noise = None if is_kernel_search(subject.model) else assess_noise(subject, own)
    outside = None
    with _record_failure(problems, "No test outside the range of the training data"):
        outside = compute_coverage_outside(subject, own)
    heading = title or f"{type(subject.model).__name__}: {target}"
    sections = _sections(subject, samples, metrics, values, _evidence(subject, facts, gain), split)
    if is_sampled(subject.model):
        content = render_sampling_section(subject)
        position = [each.key for each in sections].index("evidence")
        sections.insert(position, Section("sampling", "Sampling", content))
    elif noise is not None:
        # after the plots, before evidence, weights and model
        position = [each.key for each in sections].index("evidence")
        title_and_content = render_noise_section(subject, own, noise)
        sections.insert(position, Section("noise", *title_and_content))
    if outside is not None:
        position = [each.key for each in sections].index("evidence")
        title_outside = "Outside the range of the training data"
        section = Section("outside", title_outside, render_coverage_outside(outside))
        sections.insert(position, section)
    page = Page(
        title=heading,
        sub=make_subtitle(subject),
        lead=make_lead(subject, samples, values),
        tiles=make_tiles(subject, facts),
        findings=collect_findings(subject, samples, facts, gain, problems, noise),
        sections=sections,
    )
    report = Report(heading, page.html(), values, facts, gain, split, outside)
    return report if path is None else replace(report, path=report.save(path))


def _choose_known(model: Any, noise_variance: Any, exposure: Any) -> Any:
    """Return the values of the rows that the model takes; raise if it does not take them."""
    wrong, needed = (noise_variance, "exposure") if models_counts(model) else (exposure, "noise")
    if wrong is not None:
        given = "noise_variance" if needed == "exposure" else "exposure"
        kind = "counts" if needed == "exposure" else "other targets than counts"
        raise ValueError(f"{given} does not apply to a model of {kind}. Omit it.")
    return exposure if models_counts(model) else noise_variance


def _check_path(path: Path) -> None:
    """Raise early if the file cannot be written."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist; create it first.")


@contextmanager
def _record_failure(problems: list[str], missing: str) -> Iterator[None]:
    """Continue without a computation that needs refits if they fail, and record the failure."""
    try:
        yield
    except RefitError as error:
        problems.append(
            f"{missing}: the model could not be refitted to a subset of the rows. {error}"
        )


def _make_predictions(
    subject: Subject, held_out: Any, n_folds: int, seed: int, problems: list[str]
) -> list[PredictionSet]:
    """Make the sets of predictions; the last is the one by which the model is evaluated."""
    name = "training rows" if subject.are_training else "given rows"
    is_training = subject.provenance.include_training
    samples = [
        predict_rows(
            subject.estimator,
            subject.X,
            subject.y,
            name,
            is_training=is_training,
            row_values=subject.row_values,
        )
    ]
    if subject.are_training and n_folds:
        with _record_failure(problems, "No cross-validation"):
            out_of_fold = cross_validate(subject, n_folds, seed)
            samples += [] if out_of_fold is None else [out_of_fold]
    if held_out is not None:
        n_needed = 2 if subject.row_values is None else 3
        if not isinstance(held_out, tuple | list) or len(held_out) != n_needed:
            if n_needed == 2:
                raise ValueError("held_out must be a pair (X, y) of held-out rows.")
            raise ValueError(
                "held_out must be a triple of held-out rows: X, y, and their noise variances or "
                "exposures."
            )
        other = Subject.build(
            subject.estimator,
            *held_out[:2],
            names=subject.names,
            target=subject.target,
            rows="new",
            row_values=held_out[2] if n_needed == 3 else None,
        )
        shared = count_shared_rows(subject.estimator, subject.X, subject.y, other.X, other.y)
        is_training = subject.are_training and shared == other.n_rows
        held = predict_rows(
            other.estimator,
            other.X,
            other.y,
            "held-out rows",
            is_training=is_training,
            row_values=other.row_values,
        )
        samples.append(replace(held, n_shared=shared or 0))
    return samples


def _decompose_error(
    subject: Subject, n_fits: int, seed: int, problems: list[str]
) -> BiasVariance | None:
    """Compute the bias–variance decomposition of a regression; None if it cannot be refitted."""
    split = None
    is_gaussian = not subject.is_classifier and not subject.counts_events
    # for a sampled model, variance over bootstrap samples would take as many runs of the chains,
    # for a kernel search as many searches
    is_gaussian = is_gaussian and not (is_sampled(subject.model) or is_kernel_search(subject.model))
    if subject.are_training and is_gaussian and n_fits > 1:
        with _record_failure(problems, "No bias–variance decomposition"):
            split = compute_bias_variance(subject, n_fits, seed)
    return split


def _sections(
    subject: Subject,
    samples: list[PredictionSet],
    metrics: tuple[Metric, ...],
    values: dict[str, dict[str, float]],
    evidence: str,
    split: BiasVariance | None,
) -> list[Section]:
    evaluated = samples[-1]
    draw = make_classification_figures if subject.is_classifier else make_regression_figures
    is_average = is_sampled(subject.model)
    shared: list[Figure | None] = []
    if not (is_average or is_kernel_search(subject.model)):
        shared.append(make_relevance_figure(subject))
        shared += [make_weight_figure(subject), make_trace_figure(subject)]
    figures = [*draw(subject, evaluated), *(each for each in shared if each is not None)]
    quality = f'<div class="card across">{render_metric_table(metrics, samples, values)}</div>'
    notes = _describe_metrics(samples, has_short_chains=is_average, is_series=subject.is_series)
    plots = f'<div class="grid2">{"".join(map(render_figure, figures))}</div>'
    sections = [
        Section("performance", "Predictive performance", f"{quality}{notes}"),
        Section("plots", "Plots", plots),
        Section("evidence", "Evidence (marginal likelihood)", evidence),
    ]
    if is_kernel_search(subject.model):
        sections.insert(0, Section("structure", "Structure", render_structure_section(subject)))
        return [*sections, Section("model", "Model", render_model_facts(subject))]
    if split is not None:
        content = f'<div class="card">{render_bias_variance(split)}</div>'
        sections.insert(1, Section("bias-variance", "Bias–variance decomposition", content))
    if is_average:  # whose weights differ from draw to draw
        return [*sections, Section("model", "Model", render_model_facts(subject))]
    weights = f'<div class="card">{render_weight_table(subject)}</div>'
    title = f"{subject.units.capitalize()} and weights"
    sections.append(Section("weights", title, weights))
    sections.append(Section("model", "Model", render_model_facts(subject)))
    return sections


def _evidence(subject: Subject, facts: EvidenceSummary, gain: HeldOutGain | None) -> str:
    note = f"{EVIDENCE_NOTE} " if is_sampled(subject.model) else ""
    note += "All values refer to the training rows"
    note += "." if gain is None else ", except the held-out gain."
    if not subject.are_training:
        note += " The given rows are not the training rows, so the likelihood is not available."
    table = render_evidence_table(facts, gain, subject.is_classifier)
    return f'<div class="card across">{table}</div><p class="caption">{note}</p>'


def _describe_metrics(
    samples: list[PredictionSet], *, has_short_chains: bool, is_series: bool
) -> str:
    """Explain which metrics are optimistic and which evaluate the model."""
    notes = []
    if any(sample.is_training for sample in samples):
        notes.append("Training metrics are optimistic.")
    if is_series and any(sample.is_cross_validated for sample in samples):
        notes.append(
            "Rolling origins: the second half of the series is predicted in parts, each by a model "
            "constructed from all rows before it."
        )
    elif any(sample.is_cross_validated for sample in samples):
        notes.append(
            "Cross-validation refits the model from scratch in each fold, length-scales included, "
            "and assumes independent rows. Its metrics pool the out-of-fold predictions of all "
            "rows; the mean over folds, which relvec fit shows, differs slightly."
        )
    if has_short_chains and any(sample.is_cross_validated for sample in samples):
        notes.append(
            "Its chains are short, at most 2 of 200 draws, which adds a few percent to the "
            "variance of the predicted function."
        )
    if len(samples) > 1:
        notes.append("Evaluate the model by the last column; the plots show its rows.")
    return f'<p class="caption">{escape(" ".join(notes))}</p>' if notes else ""
