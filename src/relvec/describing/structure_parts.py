"""Parts of the best structure of a kernel search: components that are described together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.kernels.expansions import Harmonics, Kink, Line, Step
from relvec.learning.structures.structure import Component

__all__ = ["PartPosterior", "StructurePart", "evaluate_centred", "list_parts"]

SAME_PERIOD = 0.01
"""Periods that differ by at most this share are the same."""
N_NODES = 200
"""Largest number of training rows over which parts are centred."""
NEAR_STEPS = 0.05
"""Steps at most this share of the record apart are described together."""


@dataclass(frozen=True)
class StructurePart:
    """Components that are described and drawn together: a season, a trend, steps at one time."""

    components: tuple[Component, ...]
    places: tuple[int, ...]
    """Their places in `KernelSearchRegressor.components_`."""
    expression: str
    """Such as ``PER + PER x LIN``."""
    share: float
    """Variance of the posterior mean over the training rows, relative to that of the target."""

    @property
    def kinds(self) -> set[tuple[type[Any], ...]]:
        """Factors of the components."""
        return {each.kinds for each in self.components}

    @property
    def features(self) -> list[int]:
        """Columns of the inputs that the part depends on."""
        return sorted({factor.feature for each in self.components for factor in each.factors})

    def list_factors(self, kind: type[Any]) -> list[Any]:
        """Return the factors of a kind, in the order of the components."""
        return [
            factor for each in self.components for factor in each.factors if type(factor) is kind
        ]


class PartPosterior:
    """Posterior of a part along the input of a series, in units of the transformed target."""

    def __init__(self, model: Any, part: StructurePart) -> None:
        self.model, self.part = model, part
        self.x: Vector = np.unique(model.training_rows_.inputs[:, 0])

    @property
    def half_range(self) -> float:
        """Half the length of the record: the unit of scaled inputs."""
        return float(0.5 * (self.x[-1] - self.x[0])) or 1.0

    def unscale(self, u: float) -> float:
        """Return the input of a scaled one."""
        return float(self.x[0] + (u + 1.0) * self.half_range)

    def evaluate(self, x: Vector) -> Vector:
        """Return the posterior mean."""
        mean, _ = self.model.predict_part(x[:, np.newaxis], self.part.places)
        return np.asarray(mean)

    def compute_change(self, start: float, end: float) -> tuple[float, float]:
        """Return the change between two inputs, and its standard deviation."""
        mean, std = self.compute_changes(np.array([[start, end]]))
        return float(mean[0]), float(std[0])

    def compute_changes(self, pairs: Matrix) -> tuple[Vector, Vector]:
        """Return the changes between pairs of inputs, and their standard deviations."""
        n = len(pairs)
        contrasts = np.hstack([-np.eye(n), np.eye(n)])
        mean, std = self.model.predict_part(
            pairs.T.reshape(-1, 1), self.part.places, contrasts=contrasts
        )
        return np.asarray(mean), np.asarray(std)


def evaluate_centred(model: Any, part: StructurePart, X: Matrix) -> tuple[Vector, Vector]:
    """Evaluate a part less its mean over the training rows, with its standard deviation.

    A part and the intercept can shift against each other; what the data determine is how a part
    varies. Seasons have mean zero by definition and are left as they are.
    """
    if part.list_factors(Harmonics):
        mean, std = model.predict_part(X, part.places)
        return np.asarray(mean), np.asarray(std)
    inputs = model.training_rows_.inputs
    nodes = inputs[np.unique(np.linspace(0, len(inputs) - 1, N_NODES).astype(np.intp))]
    found = []
    for start in range(0, len(X), N_NODES):
        block = X[start : start + N_NODES]
        average = np.full((len(block), len(nodes)), -1.0 / len(nodes))
        contrasts = np.hstack([np.eye(len(block)), average])
        both = np.vstack([block, nodes])
        found.append(model.predict_part(both, part.places, contrasts=contrasts))
    mean, std = (np.concatenate(each) for each in zip(*found, strict=True))
    return mean, std


def list_parts(model: Any) -> list[StructurePart]:
    """List the parts of the best structure, the largest share of the variance first.

    Components of one period are a part; so are lines, their squares and changes of slope, and steps
    at nearly the same time.

    Examples
    --------
    >>> from relvec import KernelSearchRegressor
    >>> t = np.arange(72.0)[:, np.newaxis]
    >>> rng = np.random.default_rng(0)
    >>> y = 0.1 * t[:, 0] + np.sin(2 * np.pi * t[:, 0] / 12) + 0.2 * rng.normal(size=72)
    >>> model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(t, y)
    >>> [part.expression for part in list_parts(model)]
    ['LIN', 'PER']
    """
    components = [each.component for each in model.components_]
    is_series = model.n_features_in_ == 1
    groups = _group(components) if is_series else [[i] for i in range(len(components))]
    rows = model.training_rows_
    target = model.best_.target.transform.forward(rows.target)
    total = max(_variance(target, rows.weight), 1e-300)
    parts = []
    for places in groups:
        mean, _ = model.predict_part(rows.inputs, places)
        names = sorted(model.components_[i].name for i in places)
        chosen = tuple(components[i] for i in places)
        share = _variance(mean, rows.weight) / total
        parts.append(StructurePart(chosen, tuple(places), " + ".join(names), share))
    return sorted(parts, key=lambda part: -part.share)


def _variance(values: Vector, weight: Vector) -> float:
    mean = np.average(values, weights=weight)
    return float(np.average((values - mean) ** 2, weights=weight))


def _group(components: Sequence[Component]) -> list[list[int]]:
    """Return the places of components that belong together."""
    groups: list[list[int]] = []
    by_period: dict[float, list[int]] = {}
    for place, component in enumerate(components):
        periods = [each.period for each in component.factors if isinstance(each, Harmonics)]
        if periods:
            shortest = min(periods)
            key = next(
                (each for each in by_period if abs(each / shortest - 1.0) <= SAME_PERIOD), shortest
            )
            by_period.setdefault(key, []).append(place)
    groups += by_period.values()
    lines = _find(components, [(Line,), (Line, Line), (Kink,)])
    # A line is a part of its own unless it is bent.
    groups += [lines] if {(Line,)} & {components[i].kinds for i in lines} else [[i] for i in lines]
    groups += _group_steps(components, _find(components, [(Step,)]))
    known = {place for group in groups for place in group}
    groups += [[place] for place in range(len(components)) if place not in known]
    return [group for group in groups if group]


def _find(components: Sequence[Component], kinds: Iterable[tuple[type[Any], ...]]) -> list[int]:
    return [place for place, each in enumerate(components) if each.kinds in set(kinds)]


def _get_origin(component: Component) -> float:
    (step,) = (factor for factor in component.factors if isinstance(factor, Step))
    return step.origin


def _group_steps(components: Sequence[Component], steps: list[int]) -> list[list[int]]:
    """Group steps whose neighbours are near."""
    groups: list[list[int]] = []
    last = -np.inf
    origins = {i: _get_origin(components[i]) for i in steps}
    for place, origin in sorted(origins.items(), key=lambda each: each[1]):
        # scaled inputs have range two
        if origin - last <= 2.0 * NEAR_STEPS:
            groups[-1].append(place)
        else:
            groups.append([place])
        last = origin
    return groups
