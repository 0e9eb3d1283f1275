"""Several classes: the softmax likelihood of one logit per class."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri, xlogy
from scipy.stats import qmc
from sklearn.utils import check_random_state

from relvec._checks import check_integer, check_probability, check_targets
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.likelihoods.base import (
    BoundLikelihood,
    Likelihood,
    WorkingResponse,
    check_classes,
    check_rows,
)
from relvec.likelihoods.bernoulli import marginalise_log_odds

__all__ = [
    "BoundSoftmax",
    "Softmax",
    "SoftmaxPrediction",
    "average_softmax",
    "log_sum_exp",
    "softmax_probabilities",
]


def log_sum_exp(logits: Matrix) -> Vector:
    """Logarithm of the sum of the exponentials over the last axis.

    SciPy's function spends several times longer on cases that do not occur here.
    """
    largest = logits.max(axis=-1)
    sums = np.exp(logits - largest[..., None]) @ np.ones(logits.shape[-1])
    result: Vector = largest + np.log(sums)
    return result


def softmax_probabilities(logits: Matrix) -> Matrix:
    """Probability of every class, in the last axis."""
    result: Matrix = np.exp(logits - log_sum_exp(logits)[..., None])
    return result


class SoftmaxPrediction(NamedTuple):
    """Probabilities of all classes, one row each.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import Softmax
    >>> logits = np.array([[2.0, 0.0, 0.0]])
    >>> Softmax(3).predict(logits, np.eye(3)[None]).mean.round(2)
    array([[0.7 , 0.15, 0.15]])
    """

    mean: Matrix
    """Probability of each class, shape (n_rows, n_classes)."""

    @property
    def variance(self) -> Matrix:
        """Variance of the indicator of each class."""
        return self.mean * (1.0 - self.mean)

    def quantile(self, level: float) -> Vector:
        """Return the first class, as coded, up to which the probability is at least `level`."""
        level, below = check_probability("level", level), self.mean.cumsum(axis=1)
        return np.argmax(below >= level - 1e-12, axis=1).astype(np.float64)

    def interval(self, coverage: float) -> Matrix:
        """Return central intervals of a new class, as coded, (n_rows, 2)."""
        coverage = check_probability("coverage", coverage)
        ends = [self.quantile(0.5 - 0.5 * coverage), self.quantile(0.5 + 0.5 * coverage)]
        return np.stack(ends, axis=-1)

    def log_density(self, target: ArrayLike) -> Vector:
        """Log probability of classes."""
        target = check_targets(target, (len(self.mean),))
        labels = check_classes(target, self.mean.shape[1])
        own = self.mean[np.arange(len(self.mean)), labels]
        return np.log(np.maximum(own, np.finfo(np.float64).tiny))

    def sample(self, n_samples: int, random_state: Any = None) -> Matrix:
        """Draw classes, shape (n_rows, n_samples)."""
        draws = check_random_state(random_state).uniform(size=(len(self.mean), n_samples))
        below = self.mean.cumsum(axis=1)[:, None, :-1]
        classes: Matrix = (draws[:, :, None] > below).sum(axis=2).astype(np.float64)
        return classes


class BoundSoftmax(BoundLikelihood):
    """Classes, coded from zero, and one logit for each."""

    max_curvature = 0.5

    @cached_property
    def classes(self) -> IndexArray:
        """Class of each row."""
        return self.target.astype(np.intp)

    def log_density(self, f: Matrix) -> Vector:
        """Log probability of each class."""
        each: Vector = f[np.arange(len(f)), self.classes] - log_sum_exp(f)
        return each

    def slope(self, f: Matrix) -> Matrix:
        """Indicators less probabilities."""
        residual = -softmax_probabilities(f)
        residual[np.arange(len(f)), self.classes] += 1.0
        return residual

    def averaged_derivatives(
        self, mean: Matrix, covariance: np.ndarray, rows: slice, n_points: int
    ) -> tuple[Matrix, np.ndarray]:
        """Slope and curvature of the weighted log density of rows, averaged over normal logits."""
        y, products = average_softmax(mean, covariance, n_points, squares=True)
        assert products is not None
        slope, curvature, each = -y, -products, np.arange(y.shape[1])
        slope[np.arange(len(y)), self.classes[rows]] += 1.0
        curvature[:, each, each] += y
        if self.weight is not None:
            slope *= self.weight[rows, None]
            curvature *= self.weight[rows, None, None]
        return slope, curvature

    def floored_probabilities(self, f: Matrix) -> Matrix:
        """Probabilities to compute curvatures with: none is so small that its class has none.

        The curvature of a class that no row belongs to would vanish with its probability, and
        leave its intercept without a finite variance.
        """
        floored = np.maximum(softmax_probabilities(f), self.min_curvature)
        floored /= floored.sum(axis=1, keepdims=True)
        return floored

    def slope_and_curvature(self, f: Matrix) -> tuple[Matrix, Matrix]:
        """Slope, and the shares that make the curvature."""
        return self.slope(f), self.floored_probabilities(f)

    def curvature(self, f: Matrix) -> np.ndarray:
        """Covariance of the indicators, shape (n_rows, n_classes, n_classes)."""
        y = self.floored_probabilities(f)
        return y[:, :, None] * np.eye(y.shape[1]) - y[:, :, None] * y[:, None, :]

    def curvature_slope(self, f: Matrix) -> np.ndarray:
        """Derivative of the curvature in each logit, which are in the last axis."""
        y, slopes = self.floored_probabilities(f), self.curvature(f)
        along = slopes[:, :, None, :] * np.eye(y.shape[1])[None, :, :, None]
        first = slopes[:, :, None, :] * y[:, None, :, None]
        return along - first - first.swapaxes(1, 2)

    def working_responses(self, f: Matrix) -> list[WorkingResponse]:
        """Quadratic approximation in the logit of each class, those of the others held.

        Given the other logits, one class against the rest is a logistic model.
        """
        probability, slope = softmax_probabilities(f), self.slope(f)
        curvature = np.maximum(probability * (1.0 - probability), self.min_curvature)
        response = f + slope / curvature - self.offset_or_zero
        rows = self.apply_weights(curvature)
        return [WorkingResponse(rows[:, k], response[:, k]) for k in range(f.shape[1])]

    def reference_curvature(self) -> np.ndarray:
        """Return Böhning's bound ``(I - 11'/K) / 2``, which depends on no labels."""
        bound = 0.5 * (np.eye(self.n_latent) - 1.0 / self.n_latent)
        return np.broadcast_to(bound, (len(self.target), *bound.shape))

    @cached_property
    def counts(self) -> Vector:
        """Weight of each class."""
        rows = np.ones(len(self.classes)) if self.weight is None else self.weight
        count: Vector = np.bincount(self.classes, rows, self.n_latent).astype(np.float64)
        return count

    def null_latent(self) -> Vector:
        """Log share of each class less the mean of all, finite also for classes without rows."""
        if self.offset is not None:
            return np.zeros(self.n_latent)
        count = self.counts
        share = np.log(np.maximum(count / count.sum(), 1e-6))
        centred: Vector = share - share.mean()
        return centred

    @cached_property
    def null_log_density(self) -> float:
        """Log probability of the classes given their shares alone."""
        count = self.counts
        return float(xlogy(count, count / count.sum()).sum())

    def credible_log_evidence(
        self,
        f: Matrix,
        variance: Matrix,
        n_intercepts: int,
        *,
        intercept_excess: float = 1.5,
        fit_excess: float = 0.1,
    ) -> float:
        """Largest log evidence that the Gaussian around a mode explains.

        Parameters
        ----------
        f : ndarray of shape (n_rows, n_classes)
            Logits at the mode.
        variance : ndarray of shape (n_rows, n_classes)
            Variances of all logits less that of the row's class.
        n_intercepts : int
            Number of intercepts that were fitted.
        intercept_excess : float, default=1.5
            Nats per free intercept by which the evidence may exceed the averaged fit. Its prior is
            flat, with density one, so that a posterior of variance ``v`` adds ``log(2 pi v) / 2``:
            0.9 for a class of a single row. Averaging takes something off the fit, too.
        fit_excess : float, default=0.1
            Further nats, as a share of those that the model without atoms leaves to be explained.
            Sound models of separable classes were found to have up to 0.09, vague ones 0.11 to
            0.8.

        Notes
        -----
        Given all labels ``t``, each is at least as probable as given the others: by the inequality
        of Cauchy and Schwarz ``p(t_i | t) >= p(t_i | t without t_i)``. So log evidence should not
        exceed by much the sum of ``log p(t_i | t)``, the fit averaged over the posterior. Where a
        few atoms of huge prior variance separate the classes, it does: at the mode all rows are
        saturated and have no curvature, so that volume costs nothing, and that of the intercepts,
        whose prior is flat, even adds to the evidence; averaged over that volume, predictions are
        vague. Laplace's approximation does not hold there, and its evidence, which may be
        positive, is no reason to go there. With two classes and one latent function the excess
        was found to be mild.
        """
        averaged = self.averaged_log_density(f, variance)
        return averaged + intercept_excess * n_intercepts - fit_excess * self.null_log_density

    def averaged_log_density(self, f: Matrix, variance: Matrix) -> float:
        """Log probability of each row's class, averaged over the weights, added up.

        By pairs of a row's own class with another, as if each were a logistic model whose logit
        is normal (MacKay, 1992), with the mean and the `variance` of the difference of theirs.
        """
        rows = np.arange(len(f))
        marginalise = marginalise_log_odds(f - f[rows, self.classes, None], variance)
        marginalise[rows, self.classes] = 0.0
        return self.total_log_density(marginalise)


class Softmax(Likelihood):
    """Labels of several classes, with one latent function, its logit, for each class.

    Parameters
    ----------
    n_classes : int
        Number of classes, at least two.
    n_points : int, default=128
        Values of the logits over which predicted probabilities are averaged: with 128 they are off
        by .01 at most, on average by .0005.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.likelihoods import Softmax
    >>> bound = Softmax(3).bind([0, 1, 2, 2])
    >>> np.exp(bound.log_density(np.zeros((4, 3)))).round(3)
    array([0.333, 0.333, 0.333, 0.333])
    """

    def __init__(self, n_classes: int, *, n_points: int = 128) -> None:
        self.n_classes = n_classes
        self.n_points = n_points

    @property
    def n_latent(self) -> int:  # type: ignore[override]  # one in general
        """Number of classes."""
        return int(self.n_classes)

    def bind(
        self,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> BoundSoftmax:
        """Check classes and return the likelihood of their logits."""
        n_classes = check_integer("n_classes", self.n_classes, minimum=2)
        rows = check_rows(target, sample_weight, offset, n_classes)
        check_classes(rows[0], n_classes)
        return BoundSoftmax(self, *rows)

    def predict(self, mean: Matrix, variance: np.ndarray) -> SoftmaxPrediction:
        """Average probabilities over jointly normal logits.

        Shrinking the logit of each class by its own variance instead, as is done for two classes,
        can change which class is the most probable.

        Parameters
        ----------
        mean : ndarray of shape (n_rows, n_classes)
            Of the logits.
        variance : ndarray of shape (n_rows, n_classes, n_classes)
            Their covariance.
        """
        return SoftmaxPrediction(average_softmax(mean, variance, self.n_points)[0])


def average_softmax(
    mean: Matrix, covariance: np.ndarray, n_points: int, *, squares: bool = False
) -> tuple[Matrix, np.ndarray | None]:
    """Average probabilities over jointly normal logits, and if asked their products.

    Parameters
    ----------
    mean : ndarray of shape (n_rows, n_classes)
        Of the logits.
    covariance : ndarray of shape (n_rows, n_classes, n_classes)
        Of the logits.
    n_points : int
        Evenly spread points of that distribution. They are the same for every row, whose classes
        are ordered by their mean, so that no order matters.
    squares : bool, default=False
        Whether to return products.

    Returns
    -------
    probability : ndarray of shape (n_rows, n_classes)
    product : ndarray of shape (n_rows, n_classes, n_classes), or None
        Averages of the products of the probabilities of two classes.
    """
    points = quasi_random_normal(mean.shape[1], n_points)
    order = np.argsort(mean, axis=1)
    back = np.argsort(order, axis=1)
    mean = np.take_along_axis(mean, order, axis=1)
    covariance = np.take_along_axis(covariance, order[:, :, None], axis=1)
    covariance = np.take_along_axis(covariance, order[:, None, :], axis=2)
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ vectors.swapaxes(1, 2)
    # classes before points: sums over few classes are then sums of long rows
    share = mean[:, :, None] + root @ points
    share -= share.max(axis=1, keepdims=True)
    np.exp(share, out=share)
    share /= share.sum(axis=1, keepdims=True)
    average = np.take_along_axis(share.mean(axis=2), back, axis=1)
    if not squares:
        return average, None
    product = (share @ share.swapaxes(1, 2)) / share.shape[2]
    product = np.take_along_axis(product, back[:, :, None], axis=1)
    return average, np.take_along_axis(product, back[:, None, :], axis=2)


@lru_cache(maxsize=16)
def quasi_random_normal(n_dimensions: int, n_points: int) -> Matrix:
    """Points spread like a standard normal distribution, one per column, in pairs of signs."""
    half = qmc.Sobol(n_dimensions, scramble=True, rng=np.random.default_rng(0)).random(
        max(1, n_points // 2)
    )
    points = ndtri(np.clip(half, 1e-6, 1.0 - 1e-6)).T
    return np.concatenate([points, -points], axis=1)
