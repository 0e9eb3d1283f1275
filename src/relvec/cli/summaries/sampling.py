"""Printed summary of a model that was sampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relvec.cli.limits import LIMITS
from relvec.cli.summaries.parts import bar_chart, format_number, legend, table

__all__ = ["diagnostics_parts", "inclusion_chart", "sampling_lines"]

MAX_R_HAT, MIN_ESS = 1.01, 400
"""Bounds of the diagnostics of converged chains (Vehtari et al. 2021)."""


def sampling_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """List size and noise with their intervals, and the convergence of the chains."""
    found = facts["sampling"]
    size = f"{_format_range(found['n_active'])}, of {found['n_candidates']} candidates"
    lines = [("basis functions", size)]
    if found.get("noise_std") is not None:
        lines.append(("noise std", _format_range(found["noise_std"])))
    chains = f"{found['n_chains']} of {found['n_steps']} steps, {found['n_draws']} draws of each"
    return [*lines, ("chains", chains), ("convergence", describe_convergence(found))]


def describe_convergence(found: dict[str, Any]) -> str:
    """Return the verdict on the chains with the diagnostics on which it rests."""
    verdict = "converged" if found["converged"] else "NOT converged"
    if found["r_hat"] is None:
        return f"{verdict}: all monitored quantities are constant"
    return (
        f"{verdict}: R-hat {found['r_hat']:.3f} (at most {MAX_R_HAT}), effective sample size "
        f"{format_number(found['ess'])} (at least {MIN_ESS})"
    )


def _format_range(found: dict[str, float]) -> str:
    mean, low, high = (format_number(found[each]) for each in ("mean", "low", "high"))
    return f"{mean} (95 % interval {low} to {high})"


def inclusion_chart(facts: dict[str, Any]) -> list[Any]:
    """Chart the posterior inclusion probabilities of the features, the largest first."""
    inclusion = facts["sampling"]["inclusion"]
    if len(inclusion) < 2:
        return []
    n_shown = LIMITS.shown_importances
    shown = {name: value for name, value in list(inclusion.items())[:n_shown] if value > 0.0}
    sentences = [
        "Inclusion probability: share of the draws in which the prediction depends on the feature."
    ]
    hidden = len(inclusion) - len(shown)
    if hidden:
        sentences.append(f"Smaller for {hidden} more." if hidden > 1 else "Smaller for one more.")
    if not shown:
        return [legend("No draw depends on any feature.")]
    return [bar_chart(shown, "feature", "inclusion probability"), legend(*sentences)]


def diagnostics_parts(diagnostics: Sequence[dict[str, Any]]) -> list[Any]:
    """Tabulate the diagnostics of the chains, with definitions."""
    headers = ["quantity", "mean", "std", "MCSE", "ESS bulk", "ESS tail", "R-hat"]
    rows = []
    for each in diagnostics:
        numbers = [format_number(each[name]) for name in ("mean", "std", "mcse_mean")]
        numbers += [format_number(each[name]) for name in ("ess_bulk", "ess_tail")]
        r_hat = each["r_hat"]
        rows.append([each["name"], *numbers, "–" if r_hat != r_hat else f"{r_hat:.3f}"])
    words = (
        "MCSE: Monte Carlo standard error of the mean. ESS: effective sample size. f[i], "
        "log_odds[i, k]: predictions of training row i, f[new i] of new inputs; those with the "
        "smallest ESS. Convergence is that of predictions."
    )
    return [table(headers, rows), legend(words)]
