"""Notebook display and report of a fitted model."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from relvec._typing import ArrayLike

__all__ = ["NotebookMixin"]


class NotebookMixin(BaseEstimator):
    """Adds a summary to scikit-learn's notebook diagram, and the method `report`."""

    def report(self, X: Any, y: ArrayLike, **options: Any) -> Any:
        """Make a report of the fitted model: one page with plots, metrics and evidence.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs, preferably those of the fit.
        y : array-like of shape (n_samples,)
            Targets or class labels.
        **options : dict
            Options of `relvec.reporting.make_report`, such as ``held_out=(X, y)``,
            ``title="..."``, ``path="report.html"``, ``cv=5``.

        Returns
        -------
        report : relvec.reporting.Report
            Displayed in a notebook; ``report.save("report.html")`` writes a file.

        Examples
        --------
        >>> from relvec import RVMClassifier
        >>> from relvec.datasets import make_snake
        >>> X, y = make_snake(100, random_state=0)
        >>> report = RVMClassifier(gamma=1.0).fit(X, y).report(X, y, title="Snake", cv=0)
        >>> report.title
        'Snake'
        """
        # imported on demand: reporting depends on estimators, and needs a plotting library
        return import_module("relvec.reporting").make_report(self, X, y, **options)

    def _html_repr(self) -> str:
        diagram: str = super()._html_repr()
        return diagram + str(import_module("relvec.reporting.notebook").render_summary(self))
