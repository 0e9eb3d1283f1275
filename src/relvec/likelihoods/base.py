"""What every likelihood provides: the protocols of `Likelihood`, `BoundLikelihood`, `Prediction`.

The latent function is ``f = Phi w + intercept + offset``. A likelihood gives ``log p(t | f)`` of
each row and its derivatives in ``f``; the Laplace approximation needs nothing else (Tipping 2001,
section 3; Rasmussen & Williams 2006, section 3.4). No other part of the library depends on the kind
of targets.

A new likelihood is a subclass of `Likelihood`, which holds parameters only, and one of
`BoundLikelihood`, which holds the targets. Run `relvec.testing.check_likelihood` on it.
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
    """Predictive distributions of new targets, one per row: what `predict` returns.

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
        """Return the quantile: the smallest ``t`` with ``P(target <= t) >= level``."""

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals of probability `coverage`, shape (n_rows, 2)."""

    def log_density(self, target: ArrayLike) -> Vector:
        """Return the log density, or log probability, of observed targets."""

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw targets, shape (n_rows, n_samples)."""


class Likelihood(BaseEstimator, ABC):
    """Base class of likelihoods: parameters only, cloneable, without data.

    Subclasses implement `bind`, and either `distribution` or `predict`.

    Examples
    --------
    >>> from relvec.likelihoods import Bernoulli
    >>> bound = Bernoulli().bind([0, 1, 1, 1])
    >>> round(bound.null_latent(), 3)  # log odds of the second class
    1.099
    """

    n_latent: int = 1
    """Number of latent functions per row: one, or one per class."""
    is_conjugate: bool = False
    """Whether ``log p(t | f)`` is quadratic in ``f``: one Newton step finds the mode, and the
    Laplace approximation is exact."""

    @abstractmethod
    def bind(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> BoundLikelihood:
        """Check the targets and return their likelihood as a function of ``f``.

        Use `check_rows` for the checks that all likelihoods share.

        Parameters
        ----------
        target : array-like of shape (n_samples,)
            Observed targets.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights.
        offset : array-like of shape (n_samples,) or (n_samples, n_latent), optional
            Known part of the latent function, such as the log exposure of counts.

        Returns
        -------
        bound : BoundLikelihood
        """

    def distribution(self, f: Matrix) -> Any:
        """Return ``p(t | f)`` as a frozen distribution of `scipy.stats`, with the shape of `f`."""
        raise NotImplementedError(
            f"{type(self).__name__} must implement distribution(f) or predict(mean, variance)."
        )

    def predict(self, mean: Vector, variance: Vector) -> Prediction:
        """Return the predictive distribution ``p(t*) = int p(t* | f) N(f | mean, variance) df``.

        By default, `distribution` is integrated over the latent value by quadrature.

        Parameters
        ----------
        mean, variance : ndarray of shape (n_rows,)
            Posterior mean and variance of the latent function at new inputs. With several latent
            functions, shapes (n_rows, n_latent) and (n_rows, n_latent, n_latent).
        """
        return MixturePrediction.from_moments(self.distribution, mean, variance)


class WorkingResponse(NamedTuple):
    """Quadratic approximation of the log likelihood: a weighted least-squares problem.

    The working response of iteratively reweighted least squares, ``z = f + slope / curvature``
    (Tipping 2001, section 3; Rasmussen & Williams 2006, eq. 3.18).
    """

    curvature: Vector
    """Negative second derivative of each row, times its weight: the precision of the response."""
    target: Vector
    """Latent value that maximises the approximation, minus the offset."""


@dataclass(frozen=True)
class BoundLikelihood(ABC):
    """Base class of likelihoods bound to targets: functions of the latent value of each row.

    Subclasses implement `log_density`, `slope`, `curvature` and `curvature_slope`. Their argument
    ``f`` includes the offset. They return one value per row, *not* multiplied by the sample weight;
    callers apply weights.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import Poisson
    >>> bound = Poisson().bind([0, 2])
    >>> bound.slope(np.zeros(2)), bound.curvature(np.zeros(2))
    (array([-1.,  1.]), array([1., 1.]))
    """

    recipe: Likelihood
    """The likelihood that was bound, with its parameters."""
    target: Vector
    weight: Vector | None = None
    """Frequency weights of the rows; None if all are one."""
    offset: Vector | None = None
    """Known part of the latent function; None if there is none."""

    min_curvature: ClassVar[float] = 1e-10
    """Smallest value of `curvature`. Rows of vanishing curvature carry no information, but their
    working response would overflow."""
    max_curvature: ClassVar[float] = math.inf
    """Largest curvature at any latent value; infinite if there is no bound."""
    has_observed_curvature: ClassVar[bool] = True
    """True if `curvature` is the observed information ``-d2 log p / df2``; False if it is the
    expected (Fisher) information."""
    largest_latent: ClassVar[float] = 100.0
    """Default bound on the prior standard deviation of one atom's contribution to ``f``. With this
    link, larger latent values do not change the predictions any more."""

    @abstractmethod
    def log_density(self, f: Vector) -> Vector:
        """Return ``log p(t | f)`` of each row, including constants.

        Constants make the evidence of different likelihoods comparable.
        """

    @abstractmethod
    def slope(self, f: Vector) -> Vector:
        """Return the first derivative ``d log p / df`` of each row."""

    @abstractmethod
    def curvature(self, f: Vector) -> Vector:
        """Return ``-d2 log p / df2``, or its expectation, at least `min_curvature`.

        With several latent functions, a matrix per row: shape (n_rows, n_latent, n_latent).
        """

    @abstractmethod
    def curvature_slope(self, f: Vector) -> Vector:
        """Return the derivative of `curvature` in ``f``, for the gradient of the evidence.

        With several latent functions, the derivative in each of them is along the last axis.
        """

    def slope_and_curvature(self, f: Vector) -> tuple[Vector, Vector]:
        """Return slope and curvature; override it if computing them together is cheaper.

        With several latent functions, the second result is not the curvature matrix but the
        probabilities ``y`` of which it is made, ``diag(y) - y y'`` (Rasmussen & Williams 2006,
        eq. 3.38).
        """
        return self.slope(f), self.curvature(f)

    def working_responses(self, f: Matrix) -> list[WorkingResponse]:
        """Return the quadratic approximation in each latent function, the others held fixed.

        The working response is the maximiser ``f + slope / curvature`` minus the offset.
        """
        slope, curvature = self.slope_and_curvature(f)
        return [
            WorkingResponse(
                self.apply_weights(curvature), f + slope / curvature - self.offset_or_zero
            )
        ]

    def reference_curvature(self) -> Vector:
        """Return the curvature used for effective degrees of freedom in a smoothness prior.

        It must not depend on the fitted model, otherwise the penalty would not be a prior. Return
        an upper bound of the curvature where one exists (1/4 for a Bernoulli likelihood). By
        default, the curvature of the null model.
        """
        # The null model has the intercept as its only parameter, so this depends on the targets
        # through one number only.
        return self.curvature(self.null_latent() + np.zeros(len(self.target)) + self.offset_or_zero)

    def null_latent(self) -> Any:
        """Return the maximum-likelihood constant latent value: the null model.

        It must be finite, also where the maximum is at infinity, as with a single class. By default
        it is found by Newton's method, started where the mean latent value is zero, and bounded
        to a distance of 12 from there.
        """
        rows = np.ones(len(self.target)) if self.weight is None else self.weight
        offset = self.offset_or_zero + np.zeros(len(rows))
        # Newton's method for sum_n v_n slope_n(offset_n + value) = 0 in one variable.
        centre = value = -float(np.average(offset, weights=rows))
        for _ in range(50):
            slope, curvature = self.slope_and_curvature(offset + value)
            step = float(rows @ slope) / max(float(rows @ curvature), 1e-300)
            # Far from the maximum the curvature is small and a full step overshoots: at most two
            # units of the latent function per step.
            value += float(np.clip(step, -2.0, 2.0))
            value = float(np.clip(value, centre - 12.0, centre + 12.0))
            if abs(step) < 1e-10:
                break
        return value

    def averaged_over(self, variance: Vector) -> BoundLikelihood:
        """Return the log likelihood averaged over Gaussian errors of the latent values.

        Its `log_density` is ``E log p(t | f + e)`` with ``e ~ N(0, variance)`` in each row, and so
        are its derivatives. Variational approximations need it (Opper & Archambeau 2009). For one
        latent function; by quadrature, unless a likelihood has a closed form.
        """
        from relvec.likelihoods.averaged import AveragedLikelihood

        return AveragedLikelihood(
            self.recipe, self.target, self.weight, self.offset, self, np.sqrt(variance)
        )

    def credible_log_evidence(self, f: Matrix, variance: Matrix, n_intercepts: int) -> float:
        """Return the largest log evidence at which the Laplace approximation is trusted.

        By default there is no limit.

        Parameters
        ----------
        f : ndarray of shape (n_rows,) or (n_rows, n_latent)
            Latent functions at the mode.
        variance : ndarray of the same shape
            Posterior variances of ``f_k - f_c``, with ``c`` the class of the row.
        n_intercepts : int
            Number of intercepts in the model.
        """
        return math.inf

    def predict(self, mean: Vector, variance: Vector) -> Prediction:
        """Return the predictive distribution of Gaussian latent values; see `Likelihood`."""
        return self.recipe.predict(mean, variance)

    @property
    def n_latent(self) -> int:
        """Number of latent functions."""
        return self.recipe.n_latent

    @property
    def offset_or_zero(self) -> Any:
        """The offset, or zero if there is none."""
        return 0.0 if self.offset is None else self.offset

    @property
    def total_weight(self) -> float:
        """Sum of the frequency weights: the number of observations."""
        return float(len(self.target)) if self.weight is None else float(self.weight.sum())

    def total_log_density(self, f: Vector) -> float:
        """Return the log likelihood of all targets, rows weighted."""
        each = self.log_density(f)
        return float(each.sum() if self.weight is None else self.weight @ each)

    def apply_weights(self, each: Vector) -> Vector:
        """Multiply values of rows by the sample weights."""
        if self.weight is None:
            return each
        return self.weight * each if each.ndim == 1 else self.weight[:, None] * each


def check_rows(
    target: ArrayLike,
    sample_weight: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    n_latent: int = 1,
) -> tuple[Vector, Vector | None, Vector | None]:
    """Check targets, sample weights and offsets, and return them as float arrays.

    Raises `ValueError` if values are not finite, weights are negative or all zero, or shapes
    differ. Meant for `Likelihood.bind`.

    Examples
    --------
    >>> from relvec.likelihoods import check_rows
    >>> check_rows([1, 2], offset=0.5)
    (array([1., 2.]), None, array([0.5, 0.5]))
    """
    target = _check_finite("target", target)
    if target.ndim != 1 or not len(target):
        raise ValueError(
            f"target must be one-dimensional and not empty; got an array of shape {target.shape}."
        )
    weight = offsets = None
    if sample_weight is not None:
        weight = _check_finite("sample_weight", sample_weight)
        if weight.shape != target.shape or (weight < 0.0).any():
            raise ValueError(
                f"sample_weight must hold {len(target)} non-negative numbers, one per target; got "
                f"shape {weight.shape} and minimum {weight.min(initial=0.0):g}."
            )
        if not weight.any():
            raise ValueError("sample_weight must have a positive entry; all entries are zero.")
    if offset is not None:
        offsets = _check_finite("offset", offset)
        shape = target.shape if n_latent == 1 else (len(target), n_latent)
        if offsets.ndim and offsets.shape != shape:
            raise ValueError(
                f"offset must be a number or an array of shape {shape}; got shape {offsets.shape}."
            )
        offsets = np.array(np.broadcast_to(offsets, shape))
    return target, weight, offsets


def check_classes(target: ArrayLike, n_classes: int) -> IndexArray:
    """Return class labels ``0, ..., n_classes - 1`` as integers; raise if there are others."""
    values = np.asarray(target)
    wrong = ~np.isin(values, np.arange(n_classes))
    if wrong.any():
        codes = "0 or 1" if n_classes == 2 else f"0 to {n_classes - 1}"
        raise ValueError(
            f"class labels must be coded {codes}; got values such as "
            f"{np.unique(values[wrong])[:5].tolist()}."
        )
    return values.astype(np.intp)


def _check_finite(name: str, values: ArrayLike) -> Vector:
    try:
        array: Vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers; got {values!r}.") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; it holds NaN or infinity.")
    return array
