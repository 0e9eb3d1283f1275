"""What a likelihood is asked: a recipe that binds to targets, and what it says once bound.

A latent function ``f`` is a weighted sum of atoms plus what is given as offset. A likelihood says
how probable the target of a row is at a value of ``f``; nothing else in the library knows what kind
of targets there are. A new one is a subclass of each class here, and `relvec.testing`'s
`check_likelihood` says whether its derivatives and predictions hold.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.likelihoods.mixture import MixturePrediction

__all__ = [
    "BoundLikelihood",
    "Likelihood",
    "Prediction",
    "WorkingResponse",
    "check_classes",
    "check_rows",
]


class Prediction(Protocol):
    """Predictive distributions of new targets, one per row.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import Poisson
    >>> prediction = Poisson().predict(mean=np.array([0.0]), variance=np.array([0.1]))
    >>> prediction.interval(0.9)
    array([[0., 3.]])
    """

    @property
    def mean(self) -> Vector:
        """Expected target."""

    @property
    def variance(self) -> Vector:
        """Variance of a new target."""

    def quantile(self, level: float) -> Vector:
        """Return the smallest targets below which a new one is with probability `level`."""

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals that hold a new target with this probability, (n_rows, 2)."""

    def log_density(self, target: ArrayLike) -> Vector:
        """Log density, or log probability, of targets."""

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw targets, shape (n_rows, n_samples)."""


class Likelihood(BaseEstimator, ABC):
    """A kind of targets and its parameters: a recipe, without data.

    Examples
    --------
    >>> from relvec.likelihoods import Bernoulli
    >>> bound = Bernoulli().bind([0, 1, 1, 1])
    >>> round(bound.null_latent(), 3)  # log odds of the second class
    1.099
    """

    n_latent: int = 1
    """Number of latent functions of a row: one, or one for each class."""
    is_conjugate: bool = False
    """Whether the log density is quadratic in the latent function: one Newton step is exact."""

    @abstractmethod
    def bind(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> BoundLikelihood:
        """Check targets and return the likelihood of their latent function.

        Parameters
        ----------
        target : array-like of shape (n_samples,)
            What was observed.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        offset : array-like of shape (n_samples,), optional
            Part of the latent function that is given; with several of them, a column for each.
        """

    def distribution(self, f: Matrix) -> Any:
        """Return the distribution of targets at latent values, a frozen one of `scipy.stats`."""
        raise NotImplementedError(f"{type(self).__name__} has neither distribution nor predict")

    def predict(self, mean: Vector, variance: Vector) -> Prediction:
        """Return what a Gaussian latent value says of new targets.

        By default, `distribution` is averaged over the latent value by quadrature.
        """
        return MixturePrediction.over(self.distribution, mean, variance)


class WorkingResponse(NamedTuple):
    """A quadratic approximation of the log likelihood: a regression with known noise."""

    curvature: Vector
    """Negative second derivative, times the weight of the row."""
    target: Vector
    """Where the approximation has its maximum, the offset taken off."""


@dataclass(frozen=True)
class BoundLikelihood(ABC):
    """The likelihood of some targets: functions of the latent value of each row.

    Values ``f`` contain the offset. Results are per row, and not multiplied by the row's weight.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import Poisson
    >>> bound = Poisson().bind([0, 2])
    >>> bound.slope(np.zeros(2)), bound.curvature(np.zeros(2))
    (array([-1.,  1.]), array([1., 1.]))
    """

    recipe: Likelihood
    target: Vector
    weight: Vector | None = None
    """How often each row counts; None for once."""
    offset: Vector | None = None
    """Part of the latent function that is given."""

    min_curvature: ClassVar[float] = 1e-10
    """Least curvature. The working response of rows without any would leave the range of
    floating-point numbers, and they carry no information anyway."""
    max_curvature: ClassVar[float] = math.inf
    """Largest curvature at any latent value."""
    has_observed_curvature: ClassVar[bool] = True
    """Whether the curvature is minus the second derivative itself, and not its expectation."""
    largest_latent: ClassVar[float] = 100.0
    """Bound on the prior standard deviation of what one atom adds to the latent function, if no
    other is given: what is more says nothing more with this link."""

    @abstractmethod
    def log_density(self, f: Vector) -> Vector:
        """Log density of each target, constants included."""

    @abstractmethod
    def slope(self, f: Vector) -> Vector:
        """Derivative of `log_density`."""

    @abstractmethod
    def curvature(self, f: Vector) -> Vector:
        """Minus the second derivative, or its expectation, and no less than `min_curvature`."""

    @abstractmethod
    def curvature_slope(self, f: Vector) -> Vector:
        """Derivative of `curvature`."""

    def slope_and_curvature(self, f: Vector) -> tuple[Vector, Vector]:
        """Slope and curvature, for likelihoods that compute them together.

        With several latent functions the second are the shares ``y`` of a curvature that is
        ``diag(y) - y y'``.
        """
        return self.slope(f), self.curvature(f)

    def working_responses(self, f: Matrix) -> list[WorkingResponse]:
        """Quadratic approximation in each latent function, the others held.

        Its maximum, where the curvature and the slope say it is, has the offset taken off.
        """
        slope, curvature = self.slope_and_curvature(f)
        return [
            WorkingResponse(
                self.apply_weights(curvature), f + slope / curvature - self.offset_or_zero
            )
        ]

    def reference_curvature(self) -> Vector:
        """Curvature that a penalty on degrees of freedom counts with, a bound if there is one.

        It must not depend on the fitted model, which makes the penalty a prior. By default, the
        curvature of the model without atoms.
        """
        return self.curvature(self.null_latent() + np.zeros(len(self.target)) + self.offset_or_zero)

    def null_latent(self) -> Any:
        """Best constant latent value, or one that is finite where there is no best.

        By default found by Newton's method, from where the latent function is zero on average,
        to at most 12 from there: with one class only, the best is infinite.
        """
        rows = np.ones(len(self.target)) if self.weight is None else self.weight
        offset = self.offset_or_zero + np.zeros(len(rows))
        centre = value = -float(np.average(offset, weights=rows))
        for _ in range(50):
            slope, curvature = self.slope_and_curvature(offset + value)
            step = float(rows @ slope) / max(float(rows @ curvature), 1e-300)
            value += float(np.clip(step, -2.0, 2.0))
            value = float(np.clip(value, centre - 12.0, centre + 12.0))
            if abs(step) < 1e-10:
                break
        return value

    def credible_log_evidence(self, f: Matrix, variance: Matrix, n_intercepts: int) -> float:
        """Largest log evidence of a model that is to be believed: by default, any.

        Parameters
        ----------
        f : ndarray
            Latent functions at the mode.
        variance : ndarray of the same shape
            Posterior variances of all latent functions of a row less that of its class.
        n_intercepts : int
            Number of intercepts that were fitted.
        """
        return math.inf

    def predict(self, mean: Vector, variance: Vector) -> Prediction:
        """Return what a Gaussian latent value says of new targets."""
        return self.recipe.predict(mean, variance)

    @property
    def n_latent(self) -> int:
        """Number of latent functions."""
        return self.recipe.n_latent

    @property
    def offset_or_zero(self) -> Any:
        """The offset, or zero."""
        return 0.0 if self.offset is None else self.offset

    @property
    def total_weight(self) -> float:
        """Number of rows, counted as often as they weigh."""
        return float(len(self.target)) if self.weight is None else float(self.weight.sum())

    def total_log_density(self, f: Vector) -> float:
        """Log density of all targets."""
        each = self.log_density(f)
        return float(each.sum() if self.weight is None else self.weight @ each)

    def apply_weights(self, each: Vector) -> Vector:
        """Count rows as often as they weigh."""
        if self.weight is None:
            return each
        return self.weight * each if each.ndim == 1 else self.weight[:, None] * each


def check_rows(
    target: ArrayLike,
    sample_weight: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    n_latent: int = 1,
) -> tuple[Vector, Vector | None, Vector | None]:
    """Return targets, weights and offsets as finite floats of shapes that fit, or raise.

    Examples
    --------
    >>> from relvec.likelihoods import check_rows
    >>> check_rows([1, 2], offset=0.5)
    (array([1., 2.]), None, array([0.5, 0.5]))
    """
    target = _finite("target", target)
    if target.ndim != 1 or not len(target):
        raise ValueError(f"target must be a list of at least one; got shape {target.shape}.")
    weight = given = None
    if sample_weight is not None:
        weight = _finite("sample_weight", sample_weight)
        if weight.shape != target.shape or (weight < 0.0).any():
            raise ValueError(
                f"sample_weight must hold {len(target)} numbers that are not negative, one for "
                f"each target; got shape {weight.shape}, smallest {weight.min(initial=0.0):g}."
            )
        if not weight.any():
            raise ValueError("sample_weight must have a positive entry; all are zero.")
    if offset is not None:
        given = _finite("offset", offset)
        shape = target.shape if n_latent == 1 else (len(target), n_latent)
        if given.ndim and given.shape != shape:
            raise ValueError(
                f"offset must be a number or of shape {shape}; got shape {given.shape}."
            )
        given = np.array(np.broadcast_to(given, shape))
    return target, weight, given


def check_classes(target: ArrayLike, n_classes: int) -> IndexArray:
    """Return classes coded from zero as indices, or raise if there are others."""
    values = np.asarray(target)
    wrong = ~np.isin(values, np.arange(n_classes))
    if wrong.any():
        codes = "0 or 1" if n_classes == 2 else f"0 to {n_classes - 1}"
        raise ValueError(
            f"classes must be coded {codes}; got values such as "
            f"{np.unique(values[wrong])[:5].tolist()}."
        )
    return values.astype(np.intp)


def _finite(name: str, values: ArrayLike) -> Vector:
    try:
        array: Vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers; got {values!r}.") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; it holds NaN or infinity.")
    return array
