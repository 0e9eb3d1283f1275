"""What a kernel search found, as the commands print it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["describe_search", "format_period", "is_search"]

UNITS = {
    "year": 365.2425,
    "quarter": 365.2425 / 4.0,
    "month": 365.2425 / 12.0,
    "week": 7.0,
    "day": 1.0,
    "hour": 1.0 / 24.0,
}
"""Units of periods in days."""
TOLERANCE = 0.01
"""Periods within this share of a unit are named by it: seasons are resolved about so well."""


def is_search(model: Any) -> bool:
    """Whether a fitted model is a kernel search."""
    return hasattr(model, "structures_")


def describe_search(model: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the structure, its components and its rivals; `names` are those of the features."""
    features = list(names) if model.n_features_in_ > 1 else None
    periods = model.periods_.tolist()
    return {
        "expression": model.structures_[0].structure.name(features),
        "transform": model.transform_,
        "mode": model.mode,
        "effort": model.effort,
        "is_series": model.n_features_in_ == 1,
        "periods": periods,
        "period_texts": [format_period(each, is_date=model.has_dates_) for each in periods],
        "score": model.score_,
        "log_evidence": model.log_evidence_,
        "noise_variance": model.noise_variance_,
        "n_columns": model.n_columns_,
        "effective_dof": model.effective_dof_,
        "n_fits": model.n_iter_,
        "components": [
            {
                "name": each.component.name(features),
                "share": each.share,
                "score_loss": each.score_loss,
            }
            for each in model.components_
        ],
        "structures": [
            {
                "name": each.structure.name(features),
                "transform": each.transform,
                "period_texts": [
                    format_period(period, is_date=model.has_dates_) for period in each.periods
                ],
                "score": each.score,
                "margin": each.margin,
                "is_undecided": each.is_undecided,
                "held_out_rmse": each.held_out_rmse,
                "held_out_mlpd": each.held_out_mlpd,
                "weight": each.weight,
            }
            for each in model.structures_
        ],
    }


def format_period(period: float, *, is_date: bool) -> str:
    """Format a period; of dates, whose periods are in days, in a unit of the calendar.

    Examples
    --------
    >>> format_period(365.0, is_date=True), format_period(11.0 * 365.2, is_date=True)
    ('1 year', '11 years')
    >>> format_period(3.5, is_date=True), format_period(3.5, is_date=False)
    ('3.5 days', '3.5')
    """
    if not is_date:
        return f"{period:.4g}"
    for unit, days in UNITS.items():
        number = period / days
        if abs(number - 1.0) < TOLERANCE:
            return f"1 {unit}"
    unit = next((unit for unit in ("year", "day") if period > 1.5 * UNITS[unit]), "hour")
    return f"{period / UNITS[unit]:.3g} {unit}s"
