"""Sums of products of expansions: what a kernel search combines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.kernels.expansions import Expansion, Product, SlopeWalk

__all__ = ["DIFFUSE_VARIANCE", "Component", "Structure"]

DIFFUSE_VARIANCE = 10.0
"""Prior variance of the intercept and, with a wandering slope, of the first slope. Targets have
variance one, so it says next to nothing."""

SYMBOL_ORDER = ("PER", "SE", "RW", "IRW", "LIN", "STEP", "KINK")
"""Order of the factors of a product in its name."""


@dataclass(frozen=True)
class Component:
    """A product of expansions with a variance: one term of a sum."""

    product: Product
    log_variance: float = 0.0
    """Log of the factor ``s`` that all prior variances of the component share."""

    @classmethod
    def of(cls, *factors: Expansion, log_variance: float = 0.0) -> Component:
        """Make a component, with its factors in the order of names."""
        ordered = sorted(factors, key=lambda each: SYMBOL_ORDER.index(each.symbol))
        return cls(Product(tuple(ordered)), log_variance)

    @property
    def factors(self) -> tuple[Expansion, ...]:
        """The factors."""
        return self.product.factors

    @property
    def kinds(self) -> tuple[type[Expansion], ...]:
        """Kind of each factor."""
        return tuple(map(type, self.factors))

    @property
    def symbols(self) -> tuple[str, ...]:
        """Symbol of each factor, such as ``("PER", "LIN")``."""
        return tuple(factor.symbol for factor in self.factors)

    def find(self, kind: type[Expansion]) -> Expansion | None:
        """Return the first factor of a kind, or None."""
        found = (factor for factor in self.factors if type(factor) is kind)
        return next(found, None)

    @property
    def n_parameters(self) -> int:
        """Number of parameters: the variance, and those of the factors."""
        return 1 + sum(len(each.learnt) + each.n_searched for each in self.factors)

    def count_log_choices(self, n_samples: float) -> float:
        """Return the log of the number of values among which parameters were searched."""
        return sum(each.count_log_choices(n_samples) for each in self.factors)

    @property
    def vector(self) -> Vector:
        """Log variance and log parameters."""
        return np.concatenate([[self.log_variance], self.product.log_parameters])

    def with_vector(self, values: Vector) -> Component:
        """Return the component with other parameters."""
        return Component(self.product.with_log_parameters(values[1:]), float(values[0]))

    def log_variances(self) -> Vector:
        """Return the log prior variance of the weight of each column."""
        return self.log_variance + self.product.log_spectrum()

    def name(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the name, such as ``PER x LIN``; with names of features ``SE(a, b)``."""
        if feature_names is None:
            return " x ".join(self.symbols)
        of_kind: dict[str, list[str]] = {}
        for factor in self.factors:
            of_kind.setdefault(factor.symbol, []).append(feature_names[factor.feature])
        return " x ".join(f"{kind}({', '.join(names)})" for kind, names in of_kind.items())


@dataclass(frozen=True)
class Structure:
    """A sum of components and noise, with its evidence once it was fitted.

    Targets are standardised. The intercept is always in the model.
    """

    components: tuple[Component, ...] = ()
    log_noise: float = -1.0
    """Log of the noise variance."""
    log_evidence: float = math.nan
    """Log evidence of the standardised targets."""
    objective: float = math.nan
    """Log evidence plus the log prior density of the parameters, up to a constant."""

    @property
    def has_slope(self) -> bool:
        """Whether a diffuse linear column is in the model in addition to the intercept."""
        return any(component.kinds == (SlopeWalk,) for component in self.components)

    @property
    def n_parameters(self) -> int:
        """Number of parameters: the noise variance, and those of the components."""
        return 1 + sum(component.n_parameters for component in self.components)

    @property
    def n_columns(self) -> int:
        """Number of columns of all components."""
        return sum(component.product.n_columns for component in self.components)

    @property
    def vector(self) -> Vector:
        """Log noise variance, then the parameters of each component."""
        return np.concatenate([[self.log_noise], *(each.vector for each in self.components)])

    def with_vector(self, values: Vector) -> Structure:
        """Return the structure with other parameters, not yet evaluated."""
        parts, start = [], 1
        for component in self.components:
            end = start + len(component.vector)
            parts.append(component.with_vector(values[start:end]))
            start = end
        return Structure(tuple(parts), float(values[0]))

    def with_components(self, components: Sequence[Component]) -> Structure:
        """Return a structure with other components and the same noise, not yet evaluated."""
        return Structure(tuple(components), self.log_noise)

    def without(self, place: int) -> Structure:
        """Return the structure without one of its components."""
        return self.with_components(self.components[:place] + self.components[place + 1 :])

    def with_added(self, component: Component) -> Structure:
        """Return the structure with one more component."""
        return self.with_components((*self.components, component))

    def with_replaced(self, place: int, component: Component) -> Structure:
        """Return the structure with another component in place of one of its own."""
        rest = self.components[:place] + self.components[place + 1 :]
        return self.with_components((*rest, component))

    def diffuse_columns(self, U: Matrix) -> Matrix:
        """Evaluate the columns of the diffuse prior: the intercept, and a slope if needed."""
        ones = np.ones((len(U), 1))
        return np.hstack([ones, U[:, :1]]) if self.has_slope else ones

    def covariance(self, U: Matrix, V: Matrix) -> Matrix:
        """Evaluate the covariance function of the sum, intercept included."""
        total = DIFFUSE_VARIANCE * self.diffuse_columns(U) @ self.diffuse_columns(V).T
        for component in self.components:
            total += np.exp(component.log_variance) * component.product.covariance(U, V)
        return total

    def variance(self, U: Matrix) -> Vector:
        """Evaluate the prior variance at each row, intercept included."""
        total = DIFFUSE_VARIANCE * np.sum(self.diffuse_columns(U) ** 2, axis=1)
        for component in self.components:
            total = total + np.exp(component.log_variance) * component.product.variance(U)
        return np.asarray(total)

    def name(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the expression, such as ``LIN + PER x RW``; ``none`` without components."""
        names = sorted(component.name(feature_names) for component in self.components)
        return " + ".join(names) or "none"

    def evaluated(self, log_evidence: float, objective: float) -> Structure:
        """Return the structure with its evidence."""
        return replace(self, log_evidence=log_evidence, objective=objective)
