"""Explanation of the structure that a kernel search found, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec.describing.amounts import Amounts
from relvec.describing.input_units import InputUnit, format_number, plural
from relvec.describing.series_clauses import SeriesClauses
from relvec.describing.structure_notes import (
    describe_forecast,
    describe_noise,
    describe_rivals,
    describe_shares,
    describe_unused,
)
from relvec.describing.structure_parts import StructurePart, list_parts
from relvec.describing.table_clauses import TableClauses
from relvec.kernels.expansions import Harmonics
from relvec.learning.structures.score import UNDECIDED_MARGIN

__all__ = [
    "DescribedPart",
    "StructureDescription",
    "describe_structure",
    "explain",
    "make_clauses",
]

HEADS = {
    "identity": "{What} is {parts} and noise: {expression}.",
    "log": (
        "The logarithm of {target} is {parts} and noise: {expression}. So effects "
        "multiply, and amounts are factors or percentages."
    ),
    "sqrt": (
        "The square root of {target} is {parts} and noise: {expression}. Amounts are in "
        "units of {target}, at {which} level of {level}."
    ),
}


@dataclass(frozen=True)
class DescribedPart:
    """A part of a structure and what is said about it."""

    part: StructurePart
    name: str
    """Short name, such as "yearly season"."""
    text: str
    """A sentence without its full stop."""
    score_loss: float
    """Penalised log evidence that is lost without the part, in nats."""

    @property
    def sentence(self) -> str:
        """The sentence, with share of the variance and loss of score."""
        loss = self.score_loss
        size = f"{abs(loss):.0f}"
        by = f"by {size} {plural('nat', float(size))}"
        lost = f"falls {by}" if loss >= 0.5 else f"rises {by}" if loss <= -0.5 else "hardly changes"
        if loss < UNDECIDED_MARGIN:
            lost += ", so that it is undecided whether it is needed"
        share = f"{100.0 * self.part.share:.0f} %" if self.part.share >= 0.005 else "below 1 %"
        return f"{self.text}. Its share of the variance is {share}; without it the score {lost}."


@dataclass(frozen=True)
class StructureDescription:
    """Sentences about a structure."""

    head: str
    parts: tuple[DescribedPart, ...]
    notes: tuple[str, ...]
    """Unused features, noise, rivals, and what predictions assume."""

    def __str__(self) -> str:
        items = [f"- {each.sentence}" for each in self.parts]
        return "\n".join([self.head, *items, *self.notes])


def explain(model: Any, unit: str | None = None) -> str:
    """Describe the best structure of a kernel search in sentences.

    Parameters
    ----------
    model : KernelSearchRegressor
        Fitted.
    unit : str, optional
        Unit of the input, such as "years". Inputs that are dates have units of their own.

    Returns
    -------
    text : str
        A line for each part of the structure, then lines on the noise, rivals and forecasts.

    Examples
    --------
    >>> from relvec import KernelSearchRegressor
    >>> t = np.arange(72.0)[:, np.newaxis]
    >>> rng = np.random.default_rng(0)
    >>> y = 0.1 * t[:, 0] + np.sin(2 * np.pi * t[:, 0] / 12) + 0.2 * rng.normal(size=72)
    >>> model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(t, y)
    >>> print(explain(model, "months").splitlines()[0])
    The series is the sum of 2 parts and noise: LIN + PER.
    """
    return str(describe_structure(model, unit))


def describe_structure(model: Any, unit: str | None = None) -> StructureDescription:
    """Describe the best structure of a kernel search; see `explain`."""
    parts = list_parts(model)
    amounts = Amounts(model.transform_, _find_last_level(model, parts))
    clauses = make_clauses(model, unit, amounts)
    described = tuple(
        DescribedPart(
            part, clauses.name(part), clauses.describe(part), model.compute_score_loss(part.places)
        )
        for part in parts
    )
    notes = [
        describe_shares(model, parts),
        describe_unused(model),
        describe_noise(model, amounts),
        describe_rivals(model),
        describe_forecast(model),
    ]
    return StructureDescription(
        _describe_head(model, amounts, len(parts)), described, tuple(filter(None, notes))
    )


def make_clauses(
    model: Any, unit: str | None = None, amounts: Amounts | None = None
) -> SeriesClauses | TableClauses:
    """Return what writes sentences about the parts of a model."""
    amounts = Amounts(model.transform_) if amounts is None else amounts
    known = getattr(model, "feature_names_in_", None)
    if model.n_features_in_ > 1:
        n_features = model.n_features_in_
        names = [f"x{i}" for i in range(n_features)] if known is None else list(known)
        return TableClauses(model, names, amounts)
    if not (unit is None or isinstance(unit, str)):
        raise TypeError(f'unit must be the name of a unit, such as "years", or None; got {unit!r}.')
    inputs = np.sort(model.training_rows_.inputs[:, 0])
    feature = None if known is None else str(known[0])
    return SeriesClauses(
        model, InputUnit.of(inputs, unit, is_date=model.has_dates_, feature=feature), amounts
    )


def _describe_head(model: Any, amounts: Amounts, n_parts: int) -> str:
    is_series = model.n_features_in_ == 1
    target = "the series" if is_series else "the target"
    if not n_parts:
        return f"No structure was found: {target} is constant plus noise."
    level = float(model.best_.target.transform.inverse(np.array([amounts.level]))[0])
    return HEADS[model.transform_].format(
        What=target.capitalize(),
        target=target,
        parts="the sum of one part" if n_parts == 1 else f"the sum of {n_parts} parts",
        expression=model.expression_,
        level=format_number(level),
        which="its last" if is_series else "its mean",
    )


def _find_last_level(model: Any, parts: list[StructurePart]) -> float:
    """Return the transformed target at the last row, without seasons; the mean of a table."""
    target = model.best_.target
    if model.n_features_in_ > 1:
        return float(target.mean)
    last = model.training_rows_.inputs[-1:]
    level = float(model.predict_latent(last)[0])
    for part in parts:
        if part.list_factors(Harmonics):
            mean, _ = model.predict_part(last, part.places)
            level -= float(mean[0])
    return level
