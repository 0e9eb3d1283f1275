"""What a fitted model shows of itself in a notebook."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from relvec._typing import ArrayLike

__all__ = ["NotebookMixin"]


class NotebookMixin(BaseEstimator):
    """A summary below scikit-learn's diagram, and a report on one page."""

    def report(self, X: Any, y: ArrayLike, **options: Any) -> Any:
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
        >>> report = RVMClassifier(gamma=1.0).fit(X, y).report(X, y, title="Snake", cv=0)
        >>> report.title
        'Snake'
        """
        # by name, when it is asked for: reports are above estimators, and draw pictures
        return import_module("relvec.reporting").make_report(self, X, y, **options)

    def _html_repr(self) -> str:
        diagram: str = super()._html_repr()
        return diagram + str(import_module("relvec.reporting.notebook").render_summary(self))
