"""What bases of series have in common: factors, scaling, and columns with a prior spectrum."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from relvec._checks import check_integer
from relvec._typing import Vector
from relvec.bases.base import Basis, BoundBasis
from relvec.bases.series.atoms import SeriesAtoms
from relvec.bases.series.scaling import FeatureScale, SeriesScaling, measure_features
from relvec.dictionaries import DenseDictionary
from relvec.kernels.expansions import Expansion, Product

__all__ = ["FactorBasis", "SeriesBasis", "find_n_terms"]

NEGLIGIBLE_LOG_RATIO = float(np.log(1e-16))
"""Columns of a smaller prior variance, relative to the largest one, are rounding errors."""

PRODUCT_COLUMNS = 190
"""Number of columns of a product above which trends in it have fewer: they are smoother then. It
was found to be enough for a season that changes over some hundred rows."""
FEWEST_TERMS, MOST_TERMS = 12, 40
"""Number of columns of a trend in a product."""
MOST_COLUMNS = 4000
"""Number of columns that a fit can have: its cost grows with the third power, and at 4000 it takes
minutes and some hundred megabytes."""


class SeriesBasis(Basis):
    """Base class of bases whose prior is a Gaussian process of one or more features.

    The process is a covariance function, or a product of them, written as columns with a prior
    spectrum. Columns are multiplied by the root of the spectrum, so that all weights share one
    precision.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import PeriodicBasis, RampBasis, SeriesBasis
    >>> basis = PeriodicBasis(12.0) * RampBasis()
    >>> isinstance(basis, SeriesBasis), basis.has_prior_spectrum, basis.has_unset_parameters
    (True, True, True)
    >>> product = basis.expand(basis.measure(np.arange(120.0)[:, np.newaxis], None))
    >>> product.n_columns
    10
    """

    @property
    @abstractmethod
    def factor_bases(self) -> Sequence[FactorBasis]:
        """The factors of the product, or the basis itself."""

    @property
    def has_prior_spectrum(self) -> bool:
        """Whether there are several columns, whose prior variances are known up to a factor."""
        return any(factor.is_spectrum for factor in self.factor_bases)

    @property
    def has_unset_parameters(self) -> bool:
        """Whether a hyper-parameter is None, to be learnt by the evidence."""
        return any(factor.is_unset for factor in self.factor_bases)

    @abstractmethod
    def with_expansions(
        self, expansions: Sequence[Expansion], scales: dict[int, FeatureScale]
    ) -> Self:
        """Return a copy in which hyper-parameters that were not set are those of expansions."""

    def measure(self, X: Any, sample_weight: Vector | None) -> dict[int, FeatureScale]:
        """Measure the range of the features that the basis uses."""
        features = {check_integer("feature", each.feature, minimum=0) for each in self.factor_bases}
        return measure_features(X, features, sample_weight, type(self).__name__)

    def expand(self, scales: dict[int, FeatureScale]) -> Product:
        """Return the expansions of the factors, with some hundred columns where that is enough."""
        product = self._expand(scales)
        if product.n_columns > MOST_COLUMNS:
            sizes = " x ".join(f"{factor.n_columns:.4g}" for factor in product.factors)
            raise ValueError(
                f"{self!r} needs {sizes} columns; at most {MOST_COLUMNS} are possible. Give a "
                "longer length_scale, a smaller extension, fewer n_terms, or fewer factors."
            )
        return product

    def _expand(self, scales: dict[int, FeatureScale]) -> Product:
        factors = self.factor_bases
        spectra = [each for each in factors if each.is_spectrum]
        if len(spectra) < 2:
            return Product(tuple(each.expand_factor(scales[each.feature]) for each in factors))
        # Seasons first: their number of harmonics decides how many terms of trends there may be.
        found: dict[int, Expansion] = {}
        trends = [i for i, each in enumerate(factors) if each.is_trend]
        n_columns = 1
        for i, each in enumerate(factors):
            if not each.is_trend:
                found[i] = each.expand_factor(scales[each.feature], is_in_product=True)
                n_columns *= found[i].n_columns
        share = int((PRODUCT_COLUMNS / n_columns) ** (1.0 / max(len(trends), 1)))
        most = min(max(share, FEWEST_TERMS), MOST_TERMS)
        for i in trends:
            scale = scales[factors[i].feature]
            found[i] = factors[i].expand_factor(scale, most=most, is_in_product=True)
        return Product(tuple(found[i] for i in range(len(factors))))

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Scale the features by their range, and return the columns.

        Hyper-parameters that are None have their default. Rows of zero weight and the random state
        have no influence.
        """
        scales = self.measure(X, sample_weight)
        product = self.expand(scales)
        variance = product.log_spectrum()
        index = np.flatnonzero(variance > variance.max() + NEGLIGIBLE_LOG_RATIO)
        return bind_atoms(
            SeriesAtoms(product, SeriesScaling.of(scales), index), X, self.has_prior_spectrum
        )


class FactorBasis(SeriesBasis):
    """Base class of bases of one covariance function, which may be a factor of a product.

    A new one implements `expand_factor`, and `find_learnt` if it has a length-scale.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.bases import FactorBasis, WalkBasis
    >>> basis = WalkBasis(n_terms=20)
    >>> scales = basis.measure(np.array([[0.0], [4.0]]), None)
    >>> isinstance(basis, FactorBasis), basis.expand_factor(scales[0]).reach
    (True, (-2.0, 2.0))
    """

    is_trend: ClassVar[bool] = False
    """Whether the number of columns is a matter of resolution."""
    is_spectrum: ClassVar[bool] = True
    """Whether there are several columns."""
    feature: int

    @property
    def factor_bases(self) -> Sequence[FactorBasis]:
        """The basis itself."""
        return (self,)

    @property
    def is_unset(self) -> bool:
        """Whether the length-scale is to be learnt."""
        return "length_scale" in self.get_params() and self.get_params()["length_scale"] is None

    @abstractmethod
    def expand_factor(
        self, scale: FeatureScale, *, most: int | None = None, is_in_product: bool = False
    ) -> Expansion:
        """Return the expansion in units of the scaled feature."""

    def find_learnt(self, expansion: Expansion, scale: FeatureScale) -> dict[str, float]:
        """Return the hyper-parameters of an expansion, in units of the feature."""
        return {}

    def with_expansions(
        self, expansions: Sequence[Expansion], scales: dict[int, FeatureScale]
    ) -> Self:
        """Return a copy in which hyper-parameters that were not set are those of an expansion."""
        (expansion,) = expansions
        copy: Self = clone(self)
        if self.is_unset:
            copy.set_params(**self.find_learnt(expansion, scales[self.feature]))
        return copy


def bind_atoms(atoms: SeriesAtoms, X: Any, has_spectrum: bool) -> BoundBasis:
    """Return the bound basis of some atoms; the columns are stored."""
    n_atoms = len(atoms)
    return BoundBasis(
        dictionary=DenseDictionary(atoms.evaluate(X)),
        atoms=atoms,
        is_localised=np.zeros(n_atoms, dtype=bool),
        source_row=np.full(n_atoms, -1, dtype=np.intp),
        has_spectrum=np.ones(n_atoms, dtype=bool) if has_spectrum else None,
    )


def find_n_terms(given: int | None, enough: int, most: int, least: int = 1) -> int:
    """Return the number of terms: as given, or as many as are enough, up to a limit."""
    if given is not None:
        return check_integer("n_terms", given, minimum=1)
    return max(min(enough, most), least)
