"""Sentences about a structure as a whole: unused features, noise, rivals, forecasts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from relvec.describing.amounts import Amounts
from relvec.describing.series_clauses import join_words
from relvec.kernels.expansions import Kink, Line, SlopeWalk, Smooth, Walk
from relvec.learning.structures.structure import Structure

__all__ = [
    "describe_forecast",
    "describe_noise",
    "describe_rivals",
    "describe_trend",
    "describe_unused",
]

N_RIVALS = 4
"""Largest number of rivals that are named."""
LEAST_WEIGHT = 0.005
"""Weights below half a percent are not mentioned."""
SCALES = {
    "identity": "without a transform",
    "log": "after a logarithm",
    "sqrt": "after a square root",
}


def describe_noise(model: Any, amounts: Amounts) -> str:
    """Describe the noise of the best structure."""
    std = float(np.sqrt(model.noise_variance_))
    rows, target = model.training_rows_, model.best_.member.target
    mean = np.average(target.transform.forward(rows.target), weights=rows.weight)
    share = std**2 / max(
        float(np.average((target.transform.forward(rows.target) - mean) ** 2, weights=rows.weight)),
        1e-300,
    )
    percent = f"{100.0 * share:.0f} %" if share >= 0.005 else "less than 1 %"
    return (
        f"The rest is independent noise of standard deviation {amounts.format_spread(std)} "
        f"({percent} of the variance)."
    )


def describe_unused(model: Any) -> str:
    """Name the features that the best structure does not use; empty if there are none."""
    if model.n_features_in_ == 1:
        return ""
    known = getattr(model, "feature_names_in_", None)
    n_features = model.n_features_in_
    names = [f"x{i}" for i in range(n_features)] if known is None else list(known)
    used = {
        factor.feature for each in model.components_ for factor in each.component.factors
    }
    unused = [names[i] for i in range(n_features) if i not in used]
    if not unused:
        return ""
    listed = join_words(unused[:12] + ([f"{len(unused) - 12} more"] if len(unused) > 12 else []))
    return f"Not used: {listed}."


def describe_rivals(model: Any) -> str:
    """Name the structures between which the score does not decide, with their margins."""
    best, *others = model.structures_
    seen, rivals = {(best.name, best.transform)}, []
    for each in others:
        if (each.name, each.transform) not in seen:
            seen.add((each.name, each.transform))
            rivals.append(each)
    if not rivals:
        return ""
    near = [each for each in rivals if each.is_undecided]
    if not near:
        return (
            f"The next best structure, {_name_rival(rivals[0], best)}, has a score that is "
            f"{rivals[0].margin:.1f} nats lower."
        )
    named = [f"{_name_rival(each, best)} ({each.margin:.1f})" for each in near[:N_RIVALS]]
    if len(near) > N_RIVALS:
        named.append(f"{len(near) - N_RIVALS} more")
    return (
        f"The score is undecided between {best.name} and {join_words(named)}; in brackets, how "
        "much lower their scores are, in nats. Less than 5 nats do not decide."
    )


def _name_rival(rival: Any, best: Any) -> str:
    is_same = rival.transform == best.transform
    return str(rival.name) if is_same else f"{rival.name} {SCALES[rival.transform]}"


def describe_forecast(model: Any) -> str:
    """Describe what averaged predictions assume beyond the data: trends, and transforms."""
    weights = [each.weight for each in model.structures_]
    used = [each for each in model.structures_ if each.weight > 0.0]
    if model.n_features_in_ > 1:
        if len(used) == 1:
            return ""
        return (
            f"Predictions are averages over {len(used)} structures; the largest weight is "
            f"{100.0 * max(weights):.0f} %."
        )
    trends = _sum_weights((describe_trend(each.structure), each.weight) for each in used)
    transforms = _sum_weights((SCALES[each.transform], each.weight) for each in used)
    if len(trends) == 1:
        text = f"Forecasts assume {trends[0][0]}"
    else:
        listed = [f"{100.0 * weight:.0f} % is on {name}" for name, weight in trends]
        listed[0] = listed[0].replace("% is on", "% of the weight is on")
        text = f"For forecasts, {join_words(listed)}"
    if len(transforms) > 1:
        listed = [f"{100.0 * weight:.0f} % {name}" for name, weight in transforms]
        text += f". By transform of the target it is {join_words(listed)}"
    return f"{text}."


def _sum_weights(pairs: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """Add the weights of equal names, the largest first."""
    total: dict[str, float] = {}
    for name, weight in pairs:
        total[name] = total.get(name, 0.0) + weight
    found = [(name, weight) for name, weight in total.items() if weight >= LEAST_WEIGHT]
    return sorted(found, key=lambda each: -each[1])


def describe_trend(structure: Structure) -> str:
    """Return what a structure assumes about the trend after the record.

    Examples
    --------
    >>> from relvec.learning.structures.structure import Component
    >>> describe_trend(Structure((Component.of(SlopeWalk()),)))
    'a trend that keeps its present slope'
    """
    kinds = {component.kinds for component in structure.components}
    if (SlopeWalk,) in kinds:
        return "a trend that keeps its present slope"
    if (Line, Line) in kinds:
        return "a trend that keeps its curvature"
    if (Kink,) in kinds:
        return "a trend that keeps its slope since the last change of slope"
    if (Line,) in kinds:
        if (Walk,) in kinds:
            return "the present level, moving on with the mean slope of the record"
        return "a straight line through the whole record"
    if (Walk,) in kinds:
        return "a level that stays where it is"
    if (Smooth,) in kinds:
        return "a smooth trend that returns to the mean of the record"
    return "a constant level"
