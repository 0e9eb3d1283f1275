"""HTML reports of fitted models, each a single self-contained file.

Examples
--------
>>> from relvec import RVMClassifier
>>> from relvec.datasets import make_snake
>>> from relvec.reporting import make_report
>>> X, y = make_snake(100, random_state=0)
>>> report = make_report(RVMClassifier(gamma=1.0).fit(X, y), X, y, cv=2)
>>> sorted(report.metrics)
['2-fold cross-validation', 'training rows']
"""

from relvec.reporting.report import Report, make_report

__all__ = ["Report", "make_report"]
