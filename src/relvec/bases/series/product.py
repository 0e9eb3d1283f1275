"""Products of bases of series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from sklearn.base import clone

from relvec.bases.base import Basis
from relvec.bases.nested import NestedBasis
from relvec.bases.series.base import FactorBasis, SeriesBasis
from relvec.bases.series.scaling import FeatureScale
from relvec.bases.union import UnionBasis
from relvec.kernels.expansions import Expansion

__all__ = ["ProductBasis", "multiply_bases"]

FACTOR_NAMES = "SmoothBasis, WalkBasis, SlopeWalkBasis, PeriodicBasis, RampBasis, StepBasis and \
KinkBasis"


class ProductBasis(NestedBasis, SeriesBasis):
    """Product of bases of series: all products of their columns; ``a * b`` makes one.

    The covariance function is the product of those of the factors, and prior variances are
    multiplied. A season whose amplitude grows is ``PeriodicBasis(12.0) * RampBasis()``, one whose
    pattern wanders ``PeriodicBasis(12.0) * WalkBasis()``, a smooth function of two features
    ``SmoothBasis(feature=0) * SmoothBasis(feature=1)``.

    Parameters of the factors are named ``factor0__period``, ``factor1__extension`` and so on.

    Parameters
    ----------
    factors : list of SeriesBasis
        Bases of one feature each, at least one.

    Examples
    --------
    >>> from relvec.bases import PeriodicBasis, RampBasis
    >>> basis = PeriodicBasis(12.0) * RampBasis()
    >>> basis.set_params(factor0__period=7.0)
    ProductBasis(factors=[PeriodicBasis(period=7.0), RampBasis()])
    """

    list_name = "factors"
    item_name = "factor"

    def __init__(self, factors: Sequence[SeriesBasis]) -> None:
        self.factors = factors

    @property
    def factor_bases(self) -> Sequence[FactorBasis]:
        """The factors, those of nested products included."""
        if len(self.factors) == 0:
            raise ValueError("ProductBasis needs at least one factor; got an empty list.")
        for number, basis in enumerate(self.factors):
            if not isinstance(basis, SeriesBasis):
                raise TypeError(
                    f"ProductBasis multiplies {FACTOR_NAMES}; factors[{number}] is {basis!r} of "
                    f"type {type(basis).__name__}."
                )
        return [each for basis in self.factors for each in basis.factor_bases]

    @property
    def part_name(self) -> str:
        """Name as a part of a sum of bases: the classes of the factors."""
        return " * ".join(basis.part_name for basis in self.factor_bases)

    def with_expansions(
        self, expansions: Sequence[Expansion], scales: dict[int, FeatureScale]
    ) -> Self:
        """Return a copy in which hyper-parameters that were not set are those of expansions."""
        copy: Self = clone(self)
        rest, factors = list(expansions), []
        for basis in self.factors:
            n_own = len(basis.factor_bases)
            factors.append(basis.with_expansions(rest[:n_own], scales))
            rest = rest[n_own:]
        copy.factors = factors
        return copy


def multiply_bases(left: Basis, right: Basis) -> Basis:
    """Return the product of two bases, or of each part of the one with each part of the other."""
    products: list[Basis] = []
    for first in left.bases if isinstance(left, UnionBasis) else [left]:
        for second in right.bases if isinstance(right, UnionBasis) else [right]:
            factors: list[SeriesBasis] = []
            for basis in (first, second):
                if not isinstance(basis, SeriesBasis):
                    raise TypeError(
                        f"only {FACTOR_NAMES} can be multiplied; got {basis!r} of type "
                        f"{type(basis).__name__}. For kernels, multiply the kernels: "
                        "KernelBasis(RBF(1.0) * Periodic(1.0, 12.0))."
                    )
                factors += basis.factors if isinstance(basis, ProductBasis) else [basis]
            products.append(ProductBasis(factors))
    return products[0] if len(products) == 1 else UnionBasis(products)
