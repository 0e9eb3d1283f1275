"""Sentences about a structure as a whole: unused features, noise, rivals, forecasts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from relvec.describing.amounts import Amounts
from relvec.describing.series_clauses import join_words
from relvec.describing.structure_parts import StructurePart
from relvec.kernels.expansions import Harmonics, Kink, Line, SlopeWalk, Smooth, Walk
from relvec.learning.structures.structure import Structure

__all__ = [
    "describe_forecast",
    "describe_noise",
    "describe_rivals",
    "describe_shares",
    "describe_trend",
    "describe_unused",
]

N_RIVALS = 4
"""Largest number of rivals that are named."""
SMALL_SURPLUS = 0.1
"""Shares of the variance that add up to one within this number need no comment."""
LEAST_WEIGHT = 0.005
"""Weights below half a percent are not mentioned."""
SCALES = {"identity": "none", "log": "logarithm", "sqrt": "square root"}
"""Names of the transforms of the target."""


def describe_noise(model: Any, amounts: Amounts) -> str:
    """Describe the noise of the best structure."""
    spread = amounts.format_spread(float(np.sqrt(model.noise_variance_)))
    if not model.components_:
        return f"The noise has standard deviation {spread}."
    share = _noise_share(model)
    percent = f"{100.0 * share:.0f} %" if share >= 0.005 else "less than 1 %"
    return (
        f"The rest is independent noise of standard deviation {spread} ({percent} of the variance)."
    )


def _noise_share(model: Any) -> float:
    """Return the noise variance relative to the variance of the transformed target."""
    return float(model.noise_variance_ / model.best_.target.std**2)


def describe_shares(model: Any, parts: Sequence[StructurePart]) -> str:
    """Say why shares do not add up to all of the variance; empty if they nearly do."""
    total = sum(part.share for part in parts) + _noise_share(model)
    if not parts or abs(total - 1.0) <= SMALL_SURPLUS:
        return ""
    return "Shares do not add up to 100 %, because parts are correlated."


def describe_unused(model: Any) -> str:
    """Name the features that the best structure does not use; empty if there are none."""
    if model.n_features_in_ == 1:
        return ""
    known = getattr(model, "feature_names_in_", None)
    n_features = model.n_features_in_
    names = [f"x{i}" for i in range(n_features)] if known is None else list(known)
    used = {factor.feature for each in model.components_ for factor in each.component.factors}
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
        name = _name_rival(rivals[0], best)
        return f"The next best structure, {name}, is {rivals[0].margin:.1f} nats behind in score."
    named = [
        # rounded down, as 4.97 nats are less than 5
        f"{_name_rival(each, best)} ({math.floor(10.0 * each.margin) / 10.0:.1f} nats)"
        for each in near[:N_RIVALS]
    ]
    if len(near) > N_RIVALS:
        named.append(f"{len(near) - N_RIVALS} more")
    verb = "is" if len(named) == 1 else "are"
    return f"The choice is undecided: less than 5 nats behind in score {verb} {join_words(named)}."


def _name_rival(rival: Any, best: Any) -> str:
    if rival.transform == best.transform:
        return str(rival.name)
    scale = "no transform" if rival.transform == "identity" else f"a {SCALES[rival.transform]}"
    return f"{rival.name} with {scale}"


def describe_forecast(model: Any) -> str:
    """Describe what averaged predictions assume beyond the data: trends, and transforms."""
    weights = [each.weight for each in model.structures_]
    used = [each for each in model.structures_ if each.weight > 0.0]
    number = sum(weight >= LEAST_WEIGHT for weight in weights)
    if model.n_features_in_ > 1:
        if number == 1:
            return ""
        return (
            f"Predictions average {number} structures; the largest weight is "
            f"{_percent(max(weights))}."
        )
    trends = _sum_weights((describe_trend(each.structure), each.weight) for each in used)
    transforms = _sum_weights((SCALES[each.transform], each.weight) for each in used)
    if number == 1 and weights[0] > 0.0:
        return f"Forecasts assume {trends[0][0]}."
    if len(trends) == 1:
        text = f"Forecasts average {number} structures, which assume {trends[0][0]}."
    else:
        listed = [f"{_percent(weight)} on {name}" for name, weight in trends]
        listed[0] = listed[0].replace("% on", "% of their weight is on")
        text = f"Forecasts average {number} structures: {join_words(listed)}."
    text += f" The structure described here has {_percent(weights[0])} of the weight."
    if len(transforms) > 1:
        listed = [f"{name} {_percent(weight)}" for name, weight in transforms]
        text += f" By transform of the target, the weights are: {', '.join(listed)}."
    return text


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


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
            return "a trend that goes on from the present level with the mean slope of the record"
        return "a straight line through all data"
    if (Walk,) in kinds:
        return "a level that stays where it is"
    if any(Smooth in kind and Harmonics not in kind for kind in kinds):
        return "a smooth trend that returns to the mean of the record"
    return "a constant level"
