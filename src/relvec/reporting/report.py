"""Reports: everything about a fitted model on one page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from relvec._checks import check_integer
from relvec.describing import summarise_fit
from relvec.io.container import write_atomically
from relvec.reporting.bias_variance import BiasVariance, bias_variance
from relvec.reporting.chart import number
from relvec.reporting.class_figures import class_figures
from relvec.reporting.evidence import EvidenceFacts, evidence_facts
from relvec.reporting.figures import relevance_figure, trace_figure, weight_figure
from relvec.reporting.findings import find
from relvec.reporting.metrics import OF_NUMBERS, Metric, class_measures
from relvec.reporting.null_model import HeldOutGain, held_out_gain
from relvec.reporting.number_figures import number_figures
from relvec.reporting.page import Page, Section, figure_html, model_facts
from relvec.reporting.predictions import RefitError, Sample, cross_validated, predict_rows
from relvec.reporting.provenance import rows_shared
from relvec.reporting.subject import Subject
from relvec.reporting.tables import evidence_table, metric_table, split_bar, vector_table

__all__ = ["Report", "make_report"]


@dataclass(frozen=True, eq=False)
class Report:
    """A report that was made: a page, and the figures on it.

    In a notebook it shows itself. Use `make_report` to make one.
    """

    title: str
    html: str
    metrics: dict[str, dict[str, float]]
    """Figures by kind of rows and by name."""
    evidence: EvidenceFacts
    held_out_gain: HeldOutGain | None
    """Against the null model, on rows not seen in the fit; None if there are none."""
    bias_variance: BiasVariance | None
    path: Path | None = None
    """Where it was written, if it was."""

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, and return where.

        Parameters
        ----------
        path : str or Path
            Of an HTML file; one that is there is replaced, in one step.
        """
        where = Path(path)
        write_atomically(where, self.html.encode("utf-8"))
        return where

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html) // 1024} kB)"

    def _repr_html_(self) -> str:
        # in a frame, so that neither its styles nor those of the notebook reach the other
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.title)}" '
            'style="width:100%;height:85vh;border:1px solid #8884;border-radius:8px"></iframe>'
        )


def make_report(
    model: Any,
    X: Any,
    y: Any,
    *,
    held_out: tuple[Any, Any] | None = None,
    title: str | None = None,
    path: str | Path | None = None,
    names: Any = None,
    target: str = "y",
    rows: str = "auto",
    cv: int = 5,
    n_bootstrap: int = 30,
    random_state: int = 0,
) -> Report:
    """Make a report of a fitted model: one page, in one file, with pictures that answer.

    Summary, figures of merit, pictures, the vectors with their weights, and the evidence. Every
    figure says whether it is of rows that were seen in the fit or of rows that were not.

    Parameters
    ----------
    model : regressor or classifier of relvec, or a pipeline that ends in one
        Fitted, to one target.
    X : array-like or data frame of shape (n_samples, n_features)
        Best the rows it was fitted to, which cross-validation and bootstrap need.
    y : array-like of shape (n_samples,)
        Their targets.
    held_out : tuple of X and y, optional
        Rows that were kept aside, to judge the model by.
    title : str, optional
        Heading of the page.
    path : str or Path, optional
        Write the page to this file.
    names : sequence of str, optional
        Names of the inputs of the model; by default those it was fitted with.
    target : str, default="y"
        What to call the target.
    rows : {"auto", "training", "new"}, default="auto"
        Whether `X` holds the rows of the fit. "auto" finds out by the vectors, which are training
        rows, and by the targets of a regression; it takes the rows for those of the fit if
        nothing speaks against it, and says so if something does.
    cv : int, default=5
        Folds of a cross-validation in which the model is fitted again from the start; 0 for none.
        It takes about `cv` times as long as the fit.
    n_bootstrap : int, default=30
        Fits to resampled rows that split the squared error of a regression into bias and
        variance; 0 for none. Kernels that were learnt are held, so each is fast.
    random_state : int, default=0
        Seed of folds and resampling.

    Returns
    -------
    report : Report
        Shows itself in a notebook; ``report.save("report.html")`` writes it.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.reporting import make_report
    >>> X = np.linspace(-10, 10, 60)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> model = RVMRegressor(gamma=0.1).fit(X, y)
    >>> report = make_report(model, X, y, title="A bump")
    >>> report.metrics["5-fold cross-validation"]["r2"] > 0.8
    True
    >>> report.held_out_gain.total > 20
    True
    """
    if path is not None:
        _check_place(Path(path))
    n_folds = check_integer("cv", cv, minimum=0)
    n_fits = check_integer("n_bootstrap", n_bootstrap, minimum=0)
    if n_folds == 1:
        raise ValueError("cv must be 0 for no cross-validation, or at least 2 folds; got 1.")
    subject = Subject.of(model, X, y, names=names, target=target, rows=rows)
    doubts: list[str] = []
    samples = _samples(subject, held_out, n_folds, random_state, doubts)
    metrics = class_measures(subject.classes) if subject.is_classifier else OF_NUMBERS
    values = {
        sample.name: {metric.key: metric.of(sample) for metric in metrics} for sample in samples
    }
    facts, gain = evidence_facts(subject), held_out_gain(subject, samples[-1])
    split = _split(subject, n_fits, random_state, doubts)
    heading = title or f"{type(subject.model).__name__}: {target}"
    page = Page(
        title=heading,
        sub=_sub(subject),
        lead=_lead(subject, samples, values),
        tiles=_tiles(subject, facts),
        findings=find(subject, samples, facts, gain, doubts),
        sections=_sections(
            subject, samples, metrics, values, _evidence(subject, facts, gain), split
        ),
    )
    report = Report(heading, page.html(), values, facts, gain, split)
    return report if path is None else replace(report, path=report.save(path))


def _check_place(path: Path) -> None:
    """Raise before the work, and not after it, if no file can be there."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist; make it first.")


@contextmanager
def _noting(doubts: list[str], what_is_missing: str) -> Iterator[None]:
    """Go on without what needs the model to be fitted again, and say so."""
    try:
        yield
    except RefitError as error:
        doubts.append(f"{what_is_missing}: it could not be fitted to other rows. {error}")


def _samples(
    subject: Subject, held_out: Any, n_folds: int, seed: int, doubts: list[str]
) -> list[Sample]:
    """Predictions, in the order in which they are more and more to be believed."""
    name = "training rows" if subject.are_training else "rows given"
    is_seen = subject.provenance.are_seen
    samples = [predict_rows(subject.estimator, subject.X, subject.y, name, is_seen=is_seen)]
    if subject.are_training and n_folds:
        with _noting(doubts, "There is no cross-validation"):
            folded = cross_validated(subject, n_folds, seed)
            samples += [] if folded is None else [folded]
    if held_out is not None:
        if not isinstance(held_out, tuple | list) or len(held_out) != 2:
            raise ValueError("held_out must be a pair of X and y of rows that were kept aside.")
        more = Subject.of(
            subject.estimator, *held_out, names=subject.names, target=subject.target, rows="new"
        )
        shared = rows_shared(subject.estimator, subject.X, subject.y, more.X, more.y)
        is_seen = subject.are_training and shared == more.n_rows
        kept = predict_rows(more.estimator, more.X, more.y, "held-out rows", is_seen=is_seen)
        samples.append(replace(kept, n_shared=shared or 0))
    return samples


def _split(subject: Subject, n_fits: int, seed: int, doubts: list[str]) -> BiasVariance | None:
    """Bias and variance of a regression, where it can be fitted again."""
    split = None
    if subject.are_training and not subject.is_classifier and n_fits > 1:
        with _noting(doubts, "There is no split into bias and variance"):
            split = bias_variance(subject, n_fits, seed)
    return split


def _sections(
    subject: Subject,
    samples: list[Sample],
    metrics: tuple[Metric, ...],
    values: dict[str, dict[str, float]],
    evidence: str,
    split: BiasVariance | None,
) -> list[Section]:
    judged = samples[-1]
    draw = class_figures if subject.is_classifier else number_figures
    shared = [relevance_figure(subject), weight_figure(subject), trace_figure(subject)]
    figures = [*draw(subject, judged), *(each for each in shared if each is not None)]
    quality = f'<div class="card across">{metric_table(metrics, samples, values)}</div>'
    sections = [
        Section("quality", "How well it predicts", f"{quality}{_measured(samples)}"),
        Section(
            "pictures",
            "Pictures",
            f'<div class="grid2">{"".join(map(figure_html, figures))}</div>',
        ),
        Section("evidence", "Evidence", evidence),
    ]
    if split is not None:
        content = f'<div class="card">{split_bar(split)}</div>'
        sections.insert(1, Section("split", "Bias and variance", content))
    weights = f'<div class="card">{vector_table(subject)}</div>'
    title = f"{subject.units.capitalize()} and weights"
    sections.append(Section("vectors", title, weights))
    sections.append(Section("model", "The model", model_facts(subject)))
    return sections


def _evidence(subject: Subject, facts: EvidenceFacts, gain: HeldOutGain | None) -> str:
    rows = "All of this is about the rows of the fit"
    rows += "." if gain is None else ", but for the line on held-out rows."
    if not subject.are_training:
        rows += " The rows given are not those, so the likelihood is not known."
    table = evidence_table(facts, gain, subject.is_classifier)
    return f'<div class="card across">{table}</div><p class="caption">{rows}</p>'


def _measured(samples: list[Sample]) -> str:
    """Say which column is to be believed."""
    words = []
    if any(sample.is_seen for sample in samples):
        words.append("Figures of rows seen in the fit are too good.")
    if any(sample.is_cross_validated for sample in samples):
        words.append(
            "In the cross-validation every row is predicted by a model that was fitted again from "
            "the start without it, scales included; rows are taken to be independent. A figure is "
            "of all these predictions at once: the mean of figures of single folds, which relvec "
            "fit shows, differs a little."
        )
    if len(samples) > 1:
        words.append("The last column is the one to judge by, and the pictures are of its rows.")
    return f'<p class="caption">{escape(" ".join(words))}</p>' if words else ""


def _sub(subject: Subject) -> str:
    task = "Classification" if subject.is_classifier else "Regression"
    n_inputs = subject.model.n_features_in_
    parts = [task, f"target {subject.target}", f"{subject.n_rows} rows"]
    parts.append("1 input" if n_inputs == 1 else f"{n_inputs} inputs")
    return " · ".join([*parts, type(subject.model).__name__])


def _lead(subject: Subject, samples: list[Sample], values: dict[str, dict[str, float]]) -> str:
    judged = samples[-1]
    said, kept = values[judged.name], len(subject.model.relevance_)
    means = f"With {subject.counted(kept)}" if kept else f"Without {subject.units}"
    whose = "rows it was fitted to" if judged.is_seen else "rows it has not seen"
    if subject.is_classifier:
        return (
            f"{means} it puts {100 * (1 - said['error']):.1f} % of {whose} in the right one of "
            f"{len(subject.classes)} classes; its log loss is {number(said['log_loss'])} nats."
        )
    return (
        f"{means} its predictions of {subject.target}, of {whose}, are off by "
        f"{number(said['rmse'])} (root mean square){_explained(said['r2'])}; 95 % intervals hold "
        f"{100 * said['coverage_95']:.1f} % of the targets."
    )


def _explained(r_squared: float) -> str:
    """What the share of the variance that is explained comes to, in words."""
    if r_squared != r_squared:
        return ", and the target does not vary"
    if r_squared < 0.0:
        return ", which is worse than their mean would be"
    return f", which explains {100.0 * r_squared:.0f} % of the variance"


def _tiles(subject: Subject, facts: EvidenceFacts) -> list[tuple[str, str]]:
    summary = summarise_fit(subject.model)
    assert summary is not None
    tiles = [
        ("rows", str(subject.n_rows)),
        (f"{subject.units}, of {summary.n_candidates} candidates", str(summary.n_kept)),
    ]
    if summary.classes is not None:
        tiles.append(("classes", str(len(summary.classes))))
    if summary.noise_std is not None and summary.effective_dof is not None:
        tiles.append(("noise (standard deviation)", number(float(summary.noise_std[0]))))
        tiles.append(("effective degrees of freedom", number(float(summary.effective_dof[0]))))
    tiles.append(("log evidence (nats)", number(facts.log_evidence, 5)))
    if facts.null_log_evidence == facts.null_log_evidence:
        tiles.append(("above the null model (nats)", number(facts.log_evidence_gain, 4)))
    if summary.features_used is not None:
        tiles.append(("inputs in use", summary.features_used))
    tiles.append(("converged", "yes" if summary.converged else "no"))
    return tiles
