"""What a fitted model shows of itself in a notebook."""

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from relvec._typing import ArrayLike

__all__ = ["NotebookMixin", "findings_of"]

MOST_INPUTS = 8
"""Inputs whose relevance has a bar; the others are counted."""
STYLE = (
    "font:13px/1.5 system-ui,sans-serif;border-collapse:collapse;margin:.5em 0 0;"
    "background:transparent;color:inherit"
)
CELL = "padding:0 .9em 0 0;border:0;background:transparent;text-align:left;vertical-align:top"
# a grey and a blue that can be read on white and on black
LABEL, BAR = "color:#7b8088", "background:#4a90d9"


class NotebookMixin(BaseEstimator):
    """A summary below scikit-learn's diagram, and a report on one page."""

    def report_(self, X: Any, y: ArrayLike, **options: Any) -> Any:
        """Make a report of the fitted model: one page with pictures, metrics and evidence.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Best the rows of the fit.
        y : array-like of shape (n_samples,)
            Their targets.
        **options : dict
            Those of `relvec.reporting.make_report`: among others ``held_out=(X, y)``,
            ``title="..."``, ``path="report.html"``, ``cv=5``.

        Returns
        -------
        report : relvec.reporting.Report
            Shows itself in a notebook; ``report.save("report.html")`` writes it.

        Examples
        --------
        >>> from relvec import RVMClassifier
        >>> from relvec.datasets import make_snake
        >>> X, y = make_snake(100, random_state=0)
        >>> report = RVMClassifier(gamma=1.0).fit(X, y).report_(X, y, title="Snake", cv=0)
        >>> report.title
        'Snake'
        """
        # by name, when it is asked for: reports are above estimators, and draw pictures
        return import_module("relvec.reporting").make_report(self, X, y, **options)

    def _html_repr(self) -> str:
        diagram: str = super()._html_repr()
        findings = findings_of(self)
        if not findings:
            return diagram
        rows = "".join(
            f'<tr style="background:transparent"><td style="{CELL};{LABEL}">{escape(label)}</td>'
            f'<td style="{CELL}">{escape(value)}</td></tr>'
            for label, value in findings
        )
        return f'{diagram}<table style="{STYLE}">{rows}{_relevance_rows(self)}</table>'


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
    if not hasattr(model, "relevance_"):
        return []
    word = "vectors kept" if hasattr(model, "relevance_vectors_") else "terms kept"
    findings = [(word, f"{len(model.relevance_)} of {model.n_atoms_}")]
    if hasattr(model, "classes_"):
        classes = [str(label) for label in model.classes_[:MOST_INPUTS]]
        more = "" if len(model.classes_) <= MOST_INPUTS else f", ... ({len(model.classes_)})"
        findings.append(("classes", ", ".join(classes) + more))
    if hasattr(model, "noise_variance_"):
        findings.append(("noise, standard deviation", _figures(np.sqrt(model.noise_variance_))))
        findings.append(("effective degrees of freedom", _figures(model.effective_dof_)))
    findings.append(("log evidence, nats", _figures(model.log_evidence_)))
    if not np.all(model.converged_):
        findings.append(("converged", "no: better models may exist"))
    if np.any(getattr(model, "saturated_", False)):
        findings.append(("saturated", "yes: the noise level is not identified"))
    relevance = getattr(model, "feature_relevance_", None)
    if relevance is not None and len(relevance) > 1:
        used = int(np.count_nonzero(relevance))
        findings.append(("inputs in use", f"{used} of {len(relevance)}"))
    return findings


def _relevance_rows(model: Any) -> str:
    """Bars of what the inputs explain, the most important first."""
    gain = getattr(model, "feature_gain_", None)
    if gain is None or len(gain) < 2 or not np.isfinite(gain).all() or not np.max(gain) > 0.0:
        return ""
    names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(len(gain))])
    order = [i for i in np.argsort(-gain, kind="stable") if gain[i] > 0.0]
    rows = [
        f'<tr style="background:transparent"><td style="{CELL}">{escape(str(names[i]))}</td>'
        f'<td style="{CELL}" title="{gain[i]:.3g} nats"><span style="display:inline-block;'
        f'height:.7em;width:{12.0 * gain[i] / gain[order[0]]:.2f}em;{BAR}"></span> '
        f"{gain[i]:.3g} nats</td></tr>"
        for i in order[:MOST_INPUTS]
    ]
    heading = f'<tr><td style="{CELL};{LABEL};padding-top:.5em">what inputs explain</td></tr>'
    left = len(order) - len(rows)
    if left > 0:
        rows.append(f'<tr><td style="{CELL};{LABEL}">and {left} more</td></tr>')
    return heading + "".join(rows)


def _figures(values: Any) -> str:
    """One number, or several with commas."""
    several = np.atleast_1d(values)
    shown = ", ".join(f"{value:.4g}" for value in several[:4])
    return shown if len(several) <= 4 else f"{shown}, ... ({len(several)} outputs)"
