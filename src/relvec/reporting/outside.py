"""Error bars outside the range of the training rows: one refit without the ends of the data."""

from __future__ import annotations

from html import escape

import numpy as np

from relvec.assessing import CoverageOutside
from relvec.assessing.coverage import assess_rows_outside
from relvec.assessing.held_out_range import select_outside
from relvec.describing import is_kernel_search, is_sampled
from relvec.reporting.chart import format_number
from relvec.reporting.predictions import PredictionSet
from relvec.reporting.subject import Subject

__all__ = ["compute_coverage_outside", "render_coverage_outside"]

SHARE = 0.2
"""Share of the rows that is held out: as many as in a fold of 5-fold cross-validation."""
MIN_ROWS = 40
"""With fewer rows less than 8 are held out, too few to tell a coverage of 95 % from one of 60 %."""


def compute_coverage_outside(subject: Subject, own: PredictionSet) -> CoverageOutside | None:
    """Refit the model without the outermost rows and predict these.

    The rows inside have their out-of-fold predictions `own`. None without those, for other models
    than regressions of numeric features, and for models that take long to fit.

    Raises
    ------
    RefitError
        If the model cannot be fitted to a subset of the rows.
    """
    is_regression = not subject.is_classifier and not subject.counts_events
    is_slow = is_sampled(subject.model) or is_kernel_search(subject.model)
    has_folds = subject.are_training and own.is_cross_validated
    if not (is_regression and has_folds) or is_slow or subject.is_pairwise:
        return None
    if subject.n_rows < MIN_ROWS:
        return None
    try:
        is_outside, held_out = select_outside(subject.X, "auto", None, SHARE)
    except (TypeError, ValueError):  # features that are not numbers have no range
        return None
    if not is_outside.any():
        return None
    return assess_rows_outside(
        subject.estimator,
        subject.X,
        np.asarray(subject.y, dtype=np.float64),
        is_outside,
        held_out,
        error=np.asarray(own.y - own.mean),
        quantile=own.standardised_residuals,
        log_density=own.log_predictive_density,
        fit_params=subject.fit_options(),
    )


def render_coverage_outside(result: CoverageOutside) -> str:
    """Return the metrics inside and outside as a table with its explanation."""
    lines = []
    for label, *cells in zip(*result.to_dict().values(), strict=True):
        texts = [_format(label, *cells[i : i + 2]) for i in (0, 2)]
        lines.append(
            f"<tr><td>{escape(label)}</td><td>{texts[0]}</td><td class='best'>{texts[1]}</td></tr>"
        )
    inside, outside = result.inside.n_rows, result.outside.n_rows
    return (
        '<div class="card across"><table><thead><tr><th>metric</th>'
        f"<th>inside<br><span class='meaning'>{inside} rows, out of fold</span></th>"
        f"<th>outside<br><span class='meaning'>{outside} rows, held out</span></th></tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
        f'<p class="caption">Outside: {escape(result.held_out)}, predicted by a refit without '
        "them. Error bars should cover there too. ± is one standard error for independent rows; "
        "the errors of one extrapolation are not independent, so this is one test, not many.</p>"
    )


def _format(label: str, value: float, error: float) -> str:
    if label.startswith("coverage"):
        return f"{100.0 * value:.0f} % ± {100.0 * error:.0f} %"
    return f"{format_number(value)} ± {format_number(error, 2)}"
