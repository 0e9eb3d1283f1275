"""Trends: smooth functions, levels that wander and slopes that wander."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relvec._checks import check_positive
from relvec._typing import Vector
from relvec.bases.base import BoundBasis
from relvec.bases.series.atoms import SeriesAtoms
from relvec.bases.series.base import FactorBasis, bind_atoms, find_n_terms
from relvec.bases.series.scaling import FeatureScale, SeriesScaling
from relvec.bases.union import UnionAtoms
from relvec.dictionaries import UnionDictionary
from relvec.kernels.expansions import Expansion, Line, Product, SlopeWalk, Smooth, Walk

__all__ = ["SlopeWalkBasis", "SmoothBasis", "WalkBasis"]

DEFAULT_LENGTH_SCALE = 0.3
"""Length-scale, in units of half the range, where it is neither given nor learnt."""
FORGETTING_DISTANCE = 3.0
"""Length-scales from the training inputs to the end of the reach of smooth functions. There the
correlation with the nearest input is ``exp(-4.5) = 0.011``: predictions are those of the prior."""
HIGHEST_FREQUENCY = 6.0
"""Largest frequency, in inverse length-scales, of the columns of smooth functions; the spectral
density there is ``exp(-18)`` of the largest, and higher frequencies have 2e-9 of the variance."""
NEEDED_FREQUENCY = 3.0
"""The same where the number of columns is limited; 0.3 % of the variance is left out."""
MOST_SMOOTH_TERMS = 200
MOST_WALK_TERMS = 160
DEFAULT_SPAN = 4.0
"""Length of the interval of a walk by default, in units of half the range. A longer one has more
columns in proportion, at the same resolution."""


class SmoothBasis(FactorBasis):
    """Smooth functions of one feature: a Gaussian process of squared exponential covariance.

    The covariance is ``exp(-(x - z)^2 / (2 length_scale^2))``, written as sines with a prior
    spectrum (Solin and Särkkä 2020). Away from the training inputs functions return to the
    intercept, with the error bars of the prior.

    Parameters
    ----------
    length_scale : float or None, default=None
        Length-scale, in units of the feature. None learns it by the evidence in the fit of a
        regressor, and is 0.3 times half the range of the feature otherwise.
    feature : int, default=0
        Column of the inputs.
    n_terms : int or None, default=None
        Number of columns. None takes as many as the length-scale needs, at most 200, or 40 in a
        product.
    extension : float, default=0.5
        How far on either side of the training inputs the expansion is valid, in units of their
        range; at least three length-scales. Farther away functions keep the values at its end.

    References
    ----------
    A. Solin, S. Särkkä (2020), Hilbert space methods for reduced-rank Gaussian process regression,
    Statistics and Computing 30.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import SmoothBasis
    >>> X = np.linspace(0, 10, 80)[:, np.newaxis]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=80)
    >>> model = SparseBayesRegressor(SmoothBasis()).fit(X, y)
    >>> round(model.basis_.length_scale)
    2
    """

    is_trend = True

    def __init__(
        self,
        length_scale: float | None = None,
        *,
        feature: int = 0,
        n_terms: int | None = None,
        extension: float = 0.5,
    ) -> None:
        self.length_scale = length_scale
        self.feature = feature
        self.n_terms = n_terms
        self.extension = extension

    def expand_factor(
        self, scale: FeatureScale, *, most: int | None = None, is_in_product: bool = False
    ) -> Expansion:
        """Return the expansion on an interval that the length-scale determines."""
        beyond = 2.0 * check_positive("extension", self.extension, allow_zero=True)
        length = DEFAULT_LENGTH_SCALE
        if self.length_scale is not None:
            given = check_positive("length_scale", self.length_scale, also="or None")
            length = given / scale.half_range
        half_width = 1.0 + max(beyond, FORGETTING_DISTANCE * length) + Smooth.end_distance * length
        # Column k has the frequency k pi / (2 half_width).
        per_frequency = 2.0 * half_width / (math.pi * length)
        enough, least = (
            # A number above every limit stands for those that are not finite.
            math.ceil(min(per_frequency * each, 1e15))
            for each in (HIGHEST_FREQUENCY, NEEDED_FREQUENCY)
        )
        n_terms = find_n_terms(self.n_terms, enough, most or MOST_SMOOTH_TERMS, least)
        return Smooth(
            feature=self.feature, length_scale=length, n_terms=n_terms, half_width=half_width
        )

    def find_learnt(self, expansion: Expansion, scale: FeatureScale) -> dict[str, float]:
        """Return the length-scale of an expansion, in units of the feature."""
        assert isinstance(expansion, Smooth)
        return {"length_scale": expansion.length_scale * scale.half_range}


class WalkBasis(FactorBasis):
    """Levels that wander without returning: a Wiener process of one feature.

    Beyond the training inputs it predicts that the last level stays, with a variance that grows
    linearly. It has no length-scale.

    Parameters
    ----------
    feature : int, default=0
        Column of the inputs.
    n_terms : int or None, default=None
        Number of columns. None takes twice the number of different inputs, at most 160, or 40 in a
        product; in proportion more if `extension` is above 0.5.
    extension : float, default=0.5
        How far on either side of the training inputs the level wanders, in units of their range.
        Farther away it keeps its value at the end, with the error bar there: enlarge it for
        forecasts beyond.

    Notes
    -----
    The process begins at zero at the left end of the interval, ahead of the training inputs. With
    an intercept this is the same model as one that begins at the first input, but it predicts
    backwards as well. In a product, variances are relative to that end.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import WalkBasis
    >>> rng = np.random.default_rng(0)
    >>> X = np.arange(100.0)[:, np.newaxis]
    >>> y = np.cumsum(rng.normal(size=100)) + rng.normal(size=100)
    >>> model = SparseBayesRegressor(WalkBasis()).fit(X, y)
    >>> mean, std = model.predict([[99.0], [119.0], [139.0]], return_std=True)
    >>> bool(std[0] < std[1] < std[2])
    True
    """

    is_trend = True

    def __init__(
        self, *, feature: int = 0, n_terms: int | None = None, extension: float = 0.5
    ) -> None:
        self.feature = feature
        self.n_terms = n_terms
        self.extension = extension

    def expand_factor(
        self, scale: FeatureScale, *, most: int | None = None, is_in_product: bool = False
    ) -> Expansion:
        """Return the expansion on the interval."""
        return Walk(**self._interval(scale, most))

    def _interval(self, scale: FeatureScale, most: int | None) -> dict[str, Any]:
        """Return feature, number of terms, begin and length of the interval."""
        beyond = 2.0 * check_positive("extension", self.extension, allow_zero=True)
        span = 2.0 + 2.0 * beyond
        # The shortest wave has a length of four steps, at equal distances of inputs.
        enough = math.ceil(0.5 * span * scale.n_distinct)
        limit = math.ceil((most or MOST_WALK_TERMS) * max(span / DEFAULT_SPAN, 1.0))
        n_terms = find_n_terms(self.n_terms, enough, limit)
        return {
            "feature": self.feature,
            "n_terms": n_terms,
            "span": span,
            "start": -1.0 - beyond,
        }


class SlopeWalkBasis(WalkBasis):
    """Slopes that wander: an integrated Wiener process of one feature.

    Beyond the training inputs it predicts that the last slope stays, with a variance that grows as
    the third power of the distance. With a column for every observation it is a cubic smoothing
    spline (Wahba 1978).

    Parameters
    ----------
    feature : int, default=0
        Column of the inputs.
    n_terms : int or None, default=None
        Number of columns. None takes twice the number of different inputs, at most 160, or 40 in a
        product; in proportion more if `extension` is above 0.5.
    extension : float, default=0.5
        How far on either side of the training inputs the slope wanders, in units of their range.
        Farther away only the line continues, and what wanders keeps its value at the end: enlarge
        it for forecasts beyond.

    Notes
    -----
    The process begins with slope zero, so a further column, the line, gives it any slope. The
    weight of the line has a nearly flat prior, like the intercept, and the line is not removed if
    the slope is found not to wander. A product does not have this column.

    References
    ----------
    G. Wahba (1978), Improper priors, spline smoothing and the problem of guarding against model
    errors in regression, Journal of the Royal Statistical Society B 40.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import SlopeWalkBasis
    >>> rng = np.random.default_rng(0)
    >>> X = np.arange(100.0)[:, np.newaxis]
    >>> y = 0.5 * X[:, 0] + rng.normal(size=100)
    >>> model = SparseBayesRegressor(SlopeWalkBasis()).fit(X, y)
    >>> model.predict([[120.0]]).round(0)
    array([60.])
    """

    def expand_factor(
        self, scale: FeatureScale, *, most: int | None = None, is_in_product: bool = False
    ) -> Expansion:
        """Return the expansion on the interval."""
        return SlopeWalk(**self._interval(scale, most))

    def bind(
        self,
        X: Any,
        *,
        sample_weight: Vector | None = None,
        random_state: np.random.RandomState | None = None,
    ) -> BoundBasis:
        """Scale the feature by its range, and return the columns and the line.

        Rows of zero weight and the random state have no influence.
        """
        wander = super().bind(X, sample_weight=sample_weight)
        scales = SeriesScaling.of(self.measure(X, sample_weight))
        line = SeriesAtoms(Product((Line(feature=self.feature),)), scales, np.zeros(1, np.intp))
        bound = bind_atoms(line, X, has_spectrum=True)
        n_atoms = len(wander.atoms) + 1
        flags = np.zeros(n_atoms, dtype=bool)
        return BoundBasis(
            dictionary=UnionDictionary([wander.dictionary, bound.dictionary]),
            atoms=UnionAtoms((wander.atoms, line), np.arange(n_atoms)),
            is_localised=flags,
            source_row=np.full(n_atoms, -1, dtype=np.intp),
            has_spectrum=~flags,
            is_flat=np.arange(n_atoms) == n_atoms - 1,
        )
