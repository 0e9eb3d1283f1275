"""Seasons: periodic functions of one feature."""

from __future__ import annotations

from relvec._checks import check_integer, check_positive
from relvec.bases.series.base import FactorBasis
from relvec.bases.series.scaling import FeatureScale
from relvec.kernels.expansions import Expansion, Harmonics

__all__ = ["PeriodicBasis"]

MOST_HARMONICS, MOST_PRODUCT_HARMONICS = 6, 4
STEPS_PER_PERIOD = 2.05
"""Steps between inputs that a period must have to be told from a slower one: two (Nyquist), and a
margin, because at exactly two the sine vanishes at all inputs."""


class PeriodicBasis(FactorBasis):
    """Periodic functions of one feature, such as seasons: cosines and sines with a prior spectrum.

    The covariance is that of the periodic kernel, ``exp(cos(2 pi (x - z) / period) /
    length_scale^2)``, without its constant, scaled to variance one. The season repeats for ever;
    one that changes is a product, ``PeriodicBasis(12.0) * WalkBasis()``.

    Parameters
    ----------
    period : float
        Period, in units of the feature. It is not learnt. It must be longer than two steps between
        rows, unless `n_harmonics` is given.
    length_scale : float or None, default=None
        Length-scale within a period: the smaller, the more harmonics. It has no unit. Beyond 1,
        functions are nearly sinusoidal. None learns it by the evidence in the fit of a regressor,
        and is 1 otherwise.
    feature : int, default=0
        Column of the inputs.
    n_harmonics : int or None, default=None
        Number of harmonics. None takes those that the distance of the inputs can resolve, at most
        6, or 4 in a product with a basis that has several columns.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import PeriodicBasis, RampBasis
    >>> rng = np.random.default_rng(0)
    >>> X = np.arange(96.0)[:, np.newaxis]  # months
    >>> season = np.cos(2 * np.pi * X[:, 0] / 12)
    >>> y = 0.1 * X[:, 0] + season + 0.2 * rng.normal(size=96)
    >>> model = SparseBayesRegressor(RampBasis() + PeriodicBasis(12.0)).fit(X, y)
    >>> model.predict([[102.0], [108.0]]).round(0)
    array([ 9., 12.])
    """

    def __init__(
        self,
        period: float,
        *,
        length_scale: float | None = None,
        feature: int = 0,
        n_harmonics: int | None = None,
    ) -> None:
        self.period = period
        self.length_scale = length_scale
        self.feature = feature
        self.n_harmonics = n_harmonics

    def expand_factor(
        self, scale: FeatureScale, *, most: int | None = None, is_in_product: bool = False
    ) -> Expansion:
        """Return the harmonics."""
        period = check_positive("period", self.period) / scale.half_range
        length = self.length_scale
        length = 1.0 if length is None else check_positive("length_scale", length, also="or None")
        if self.n_harmonics is not None:
            n_harmonics = check_integer("n_harmonics", self.n_harmonics, minimum=1)
        else:
            resolved = int(period / (STEPS_PER_PERIOD * scale.spacing))
            if resolved < 1 and scale.n_distinct > 1:
                raise ValueError(
                    f"period must be longer than two steps between rows, "
                    f"{2.0 * scale.spacing * scale.half_range:.4g}; got {self.period!r}. A shorter "
                    "one cannot be told from slower changes. Check the unit of the period, or give "
                    "n_harmonics to use it regardless."
                )
            limit = MOST_PRODUCT_HARMONICS if is_in_product else MOST_HARMONICS
            n_harmonics = max(1, min(limit, resolved))
        return Harmonics(
            feature=self.feature, period=period, length_scale=length, n_harmonics=n_harmonics
        )

    def find_learnt(self, expansion: Expansion, scale: FeatureScale) -> dict[str, float]:
        """Return the length-scale of an expansion."""
        assert isinstance(expansion, Harmonics)
        return {"length_scale": expansion.length_scale}
