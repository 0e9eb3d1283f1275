"""Power and scale of transforms of targets, by the evidence of a Gaussian process."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize

from relvec._typing import IndexArray, Matrix, Vector
from relvec.estimators._output import RegressionFit
from relvec.likelihoods import LogTransform, TargetTransform, YeoJohnsonTransform

if TYPE_CHECKING:
    from relvec.estimators._plan import Data

__all__ = ["TransformProfile", "TransformTuning", "list_families"]


@dataclass(frozen=True)
class TransformTuning:
    """Constants of the choice of a transform."""

    min_gain: float = 3.0
    """Gain in log evidence, in nats, from which on targets are transformed."""
    parameter_penalty: float = 2.0
    """Nats that a Yeo-Johnson transform must gain in addition: its power and scale are fitted,
    which gains one nat on average if the targets need no transform."""
    n_rows: int = 400
    """Rows from which power and scale are estimated."""
    n_columns: int = 1000
    """Basis functions that are used for that."""
    min_rows: int = 10
    """With fewer rows "auto" does not transform: skewness cannot be estimated from them."""
    scales_at_zero: tuple[float, float] = (0.01, 10.0)
    """Bounds of the scale with origin zero, in robust standard deviations of the targets. At the
    lower one the transform is a power of the target, at the upper one it is nearly linear."""
    scales_at_median: tuple[float, float] = (0.5, 10.0)
    """The same with the median as origin. Smaller scales make a kink in the middle of the targets,
    which can fit accidents of the data."""
    largest_ratio: float = 3.0
    """Positive targets whose largest is at most this multiple of the smallest are far from zero:
    intervals of a Yeo-Johnson transform remain positive."""


class TransformFamily(NamedTuple):
    """Transforms with a power and a scale, and the bounds of these."""

    make: Callable[[float, float], TargetTransform]
    unit: float
    """Robust standard deviation of the targets: unit of the scale."""
    powers: tuple[float, float]
    """Bounds of the power; equal if there is nothing to estimate."""
    scales: tuple[float, float] = (1.0, 1.0)
    """Bounds of the scale, in units of `unit`."""
    penalty: float = 0.0
    """Nats that the family must gain for its parameters."""


def list_families(
    target: Vector, weight: Vector | None, tuning: TransformTuning, *, is_free: bool
) -> list[TransformFamily]:
    """Return the families of transforms to compare.

    Parameters
    ----------
    target, weight : ndarray of shape (n_samples,)
        Targets, and their frequency weights.
    tuning : TransformTuning
        Constants.
    is_free : bool
        Whether any transform may be chosen; otherwise a Yeo-Johnson transform of the targets.
    """
    low, high = float(target.min()), float(target.max())
    nearest, farthest = sorted([abs(low), abs(high)])
    is_far = low * high > 0.0 and farthest <= tuning.largest_ratio * nearest
    families = []
    if is_free and low > 0.0:
        middle, spread = _describe_spread(np.log(target), weight)
        families.append(TransformFamily(lambda *_: LogTransform(), 1.0, (1.0, 1.0)))
        families.append(
            TransformFamily(
                lambda power, scale: YeoJohnsonTransform(power, middle, scale, of_log=True),
                spread,
                (1.0, 2.0),
                tuning.scales_at_median,
                tuning.parameter_penalty,
            )
        )
    if not is_free or low <= 0.0 or is_far:
        median, spread = _describe_spread(target, weight)
        # Zero is a natural origin of targets of one sign that come close to it.
        origin = median if low * high < 0.0 or is_far else 0.0
        families.append(
            TransformFamily(
                lambda power, scale: YeoJohnsonTransform(power, origin, scale),
                spread,
                (0.0, 2.0),
                tuning.scales_at_zero if origin == 0.0 else tuning.scales_at_median,
                tuning.parameter_penalty,
            )
        )
    return families


def _describe_spread(values: Vector, weight: Vector | None) -> tuple[float, float]:
    """Return the median, and the interquartile range over that of a standard Gaussian.

    The standard deviation takes the place of an interquartile range of zero.
    """
    low, median, high = np.quantile(
        values, [0.25, 0.5, 0.75], weights=weight, method="inverted_cdf"
    ).tolist()
    return median, (high - low) / 1.349 or float(np.std(values))


@dataclass(frozen=True, eq=False)
class TransformProfile:
    """Evidence of transforms by a Gaussian process with the basis functions of a fit.

    All weights have the same precision. Noise variance, precision and intercept are profiled or
    integrated out, so the eigenvalues of the Gram matrix are computed once for all transforms
    (warped Gaussian processes with fixed length-scales: Snelson, Rasmussen & Ghahramani 2004).
    """

    target: Vector
    weight: Vector
    eigenvalues: Vector
    eigenvectors: Matrix
    n_factor: float
    """Number of observations over that of the rows in the profile."""
    has_intercept: bool

    @classmethod
    def make(cls, fit: RegressionFit, data: Data, tuning: TransformTuning) -> TransformProfile:
        """Make the profile from some rows of the data of a fit."""
        (output,) = fit.outputs
        target, weight = data.targets[:, 0], data.weight
        weight = np.ones(len(target)) if weight is None else weight
        # Evenly spaced ranks of the targets: their distribution is kept, and the choice does not
        # depend on the order of rows.
        order = np.argsort(target, kind="stable")
        rows = _thin(order[weight[order] > 0.0], tuning.n_rows)
        columns = np.union1d(
            _thin(np.arange(len(fit.bound.atoms)), tuning.n_columns), output.active
        )
        atoms = fit.bound.atoms.subset(columns.astype(np.intp)).evaluate(data.X[rows])
        target, total, weight = target[rows], float(weight.sum()), weight[rows]
        has_intercept = output.posterior.has_intercept
        if has_intercept:
            atoms = atoms - np.average(atoms, axis=0, weights=weight)
        atoms = atoms * np.sqrt(weight)[:, None]
        norm = np.sqrt(np.square(atoms).sum(axis=0))
        # Constant columns have no norm but rounding errors.
        atoms = atoms / np.where(norm > 1e-10 * norm.max(initial=0.0), norm, np.inf)
        values, vectors = np.linalg.eigh(atoms @ atoms.T)
        factor = total / float(weight.sum())
        return cls(target, weight, np.maximum(values, 0.0), vectors, factor, has_intercept)

    def maximise(self, family: TransformFamily) -> tuple[float, TargetTransform]:
        """Return the gain in log evidence by the best of a family, less its penalty, and it."""
        before = self._log_evidence(self.target, np.zeros(len(self.target)))
        least, most = family.powers

        def lose(values: Sequence[float]) -> float:
            transform = family.make(float(values[0]), family.unit * math.exp(values[1]))
            slope = transform.log_slope(self.target)
            return before - self._log_evidence(transform.forward(self.target), slope)

        if least == most:
            return -self.n_factor * lose((least, 0.0)), family.make(least, family.unit)
        bounds = [(least, most), (math.log(family.scales[0]), math.log(family.scales[1]))]
        # From both sides of the linear transform, and from two scales: there are local maxima.
        powers = [0.75 * least + 0.25 * most, 0.25 * least + 0.75 * most]
        starts = itertools.product(powers, [0.0, 0.5 * bounds[1][0]])
        found = [minimize(lose, start, method="L-BFGS-B", bounds=bounds) for start in starts]
        best = min(found, key=lambda each: float(each.fun))
        # Two digits are more than the data determine, and do not depend on rounding errors.
        power, log_scale = np.round(best.x, 2).tolist()
        transform = family.make(power, family.unit * math.exp(log_scale))
        return -self.n_factor * float(best.fun) - family.penalty, transform

    def _log_evidence(self, z: Vector, log_slope: Vector) -> float:
        """Return the log evidence of transformed targets, without constants."""
        n_rows = float(self.weight.sum())
        n_contrasts = n_rows - float(self.has_intercept)
        centre = np.average(z, weights=self.weight) if self.has_intercept else 0.0
        squared = (self.eigenvectors.T @ (np.sqrt(self.weight) * (z - centre))) ** 2
        # The ratio of signal to noise variance, from no signal to hardly any noise.
        ratio = np.concatenate([[0.0], np.geomspace(1e-4, 1e6, 24)])[:, None]
        spectrum = 1.0 + ratio * self.eigenvalues
        log_det, quadratic = np.log(spectrum).sum(axis=1), (squared / spectrum).sum(axis=1)
        best = np.max(-0.5 * (log_det + n_contrasts * np.log(np.maximum(quadratic, 1e-300))))
        return float(best) + n_contrasts / n_rows * float(self.weight @ log_slope)


def _thin(index: IndexArray, n_most: int) -> IndexArray:
    """Return evenly spaced entries."""
    if len(index) <= n_most:
        return index
    return index[np.linspace(0, len(index) - 1, n_most).round().astype(np.intp)]
