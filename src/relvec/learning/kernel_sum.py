"""Evidence of a Gaussian process whose covariance is a sum of kernels.

Each kernel has a variance of its own, ``g_b`` in units of the noise variance, and parameters of its
own, ``theta_b``. With explicit columns ``U`` and the weights ``W`` of the rows, in the notation of
`relvec.learning.process`::

    B = I + W^1/2 (sum_b g_b K_b(theta_b) + h U U') W^1/2

Kernels with parameters may explain each row by itself: a length-scale below the distance between
neighbouring inputs gives every row a variance of its own. Length-scales are therefore bounded below
by that distance, and periods by twice that distance (Nyquist).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import ExpSineSquared, Kernel

from relvec._linalg import cholesky
from relvec._typing import BoolArray, Matrix, Vector
from relvec.kernels import Periodic, Warped, kernel_block
from relvec.kernels.resolve import contains_kernel
from relvec.learning.ascent import ascend
from relvec.learning.kernel_parameters import PERIODS, is_one_of, name_parameters
from relvec.learning.process import Process
from relvec.learning.rows import measure_spacing
from relvec.learning.tuning import LengthScaleTuning

__all__ = ["KernelBlock", "KernelSum", "SumFit", "SumPoint", "find_parameter_bounds"]


class KernelBlock(NamedTuple):
    """One kernel of a sum."""

    kernel: Kernel
    name: str
    """Name of the basis it belongs to."""
    is_held: bool = False
    """Whether its parameters are held; its variance is estimated all the same."""

    @property
    def n_parameters(self) -> int:
        """Number of parameters that are learnt."""
        return 0 if self.is_held else len(self.kernel.theta)


class SumFit(NamedTuple):
    """Parameters of a sum of kernels, and its evidence."""

    log_signals: Vector
    """Log variance of each kernel in units of the noise variance; minus infinity if left out."""
    thetas: tuple[Vector, ...]
    """Log parameters of each kernel that are learnt."""
    log_explicit: float = 0.0
    log_evidence: float = -math.inf

    @property
    def active(self) -> list[int]:
        """Kernels that are in the model."""
        return np.flatnonzero(self.log_signals > -np.inf).tolist()

    def change(
        self, number: int, log_signal: float | None = None, theta: Vector | None = None
    ) -> SumFit:
        """Return a copy with other parameters of one kernel; its evidence is not known."""
        signals, thetas = self.log_signals.copy(), list(self.thetas)
        if log_signal is not None:
            signals[number] = log_signal
        if theta is not None:
            thetas[number] = theta
        return SumFit(signals, tuple(thetas), self.log_explicit)


class SumPoint(NamedTuple):
    """Log evidence of a sum of kernels at given parameters, and its derivatives."""

    log_evidence: float
    log_signals: Vector
    """Derivatives in the log variances; zero for kernels that are left out."""
    thetas: tuple[Vector, ...]
    log_explicit: float


class KernelSum:
    """A process whose covariance is a sum of kernels.

    Parameters
    ----------
    process : Process
        The data.
    blocks : sequence of KernelBlock
        The kernels.
    tuning : LengthScaleTuning, optional
        Constants of the search.
    """

    def __init__(
        self,
        process: Process,
        blocks: Sequence[KernelBlock],
        tuning: LengthScaleTuning | None = None,
    ) -> None:
        self.process, self.blocks = process, tuple(blocks)
        self.tuning = LengthScaleTuning() if tuning is None else tuning
        self.names = [[] if each.is_held else name_parameters(each.kernel) for each in self.blocks]
        """Names of the learnt parameters of each kernel."""
        self.bounds: list[Matrix] = []
        """Bounds of the log parameters of each kernel, shape (2, n_parameters)."""
        self.is_raised: list[BoolArray] = []
        """Whether the lower bound is due to the spacing of the inputs rather than given."""
        for block in self.blocks:
            bounds, raised = np.empty((2, 0)), np.empty(0, dtype=bool)
            if not block.is_held:
                bounds, raised = find_parameter_bounds(block.kernel, process.X)
            self.bounds.append(bounds)
            self.is_raised.append(raised)
        self._values: dict[int, tuple[bytes, Matrix]] = {}

    def start(self) -> SumFit:
        """Return the fit with the parameters as they were given."""
        signals = np.full(len(self.blocks), self.tuning.initial_log_signal)
        thetas = [
            np.clip(block.kernel.theta if block.n_parameters else np.empty(0), *bounds)
            for block, bounds in zip(self.blocks, self.bounds, strict=True)
        ]
        return self.score(SumFit(signals, tuple(thetas)))

    def score(self, fit: SumFit) -> SumFit:
        """Return the same parameters with their evidence; minus infinity if it is undefined."""
        covariance = self._sum_kernels(fit)
        found = self.process.compute_evidence(covariance, fit.log_explicit, slopes=False)
        return fit._replace(log_evidence=-math.inf if found is None else found[0])

    def evaluate(self, fit: SumFit) -> SumPoint | None:
        """Evaluate the log evidence and its derivatives; None if it is numerically undefined."""
        process, covariance = self.process, self._sum_kernels(fit)
        found = process.compute_evidence(covariance, fit.log_explicit, slopes=True)
        if found is None:
            return None
        value, E, log_explicit = found
        assert E is not None
        by_signal, by_theta = np.zeros(len(self.blocks)), [np.zeros_like(t) for t in fit.thetas]
        for number in fit.active:
            # Chain rule through B = I + W^1/2 g K W^1/2, as in `Process.evaluate`.
            slopes = E * process.weight_signal(fit.log_signals[number])
            by_signal[number] = np.einsum("ij,ij->", slopes, self._evaluate_kernel(fit, number))
            if len(by_theta[number]):
                kernel = self.build_kernel(fit, number)
                derivative = kernel(process.X, eval_gradient=True)[1]
                by_theta[number] = np.einsum("ij,ijp->p", slopes, derivative)
        return SumPoint(value, by_signal, tuple(by_theta), log_explicit)

    def maximise(self, fit: SumFit, max_iter: int) -> SumFit:
        """Maximise the evidence over all parameters of the kernels that are in the model."""
        active, sizes = fit.active, [len(fit.thetas[b]) for b in fit.active]
        ends = np.cumsum([len(active), *sizes])
        has_explicit = self.process.explicit is not None

        def unpack(vector: Vector) -> SumFit:
            signals, thetas = np.full(len(self.blocks), -np.inf), list(fit.thetas)
            signals[active] = vector[: len(active)]
            for number, start, end in zip(active, ends[:-1], ends[1:], strict=True):
                thetas[number] = vector[start:end]
            return SumFit(signals, tuple(thetas), vector[-1] if has_explicit else 0.0)

        def objective(vector: Vector) -> tuple[float, Vector] | None:
            point = self.evaluate(unpack(vector))
            if point is None:
                return None
            by_theta = [point.thetas[number] for number in active]
            last = [point.log_explicit] * has_explicit
            return point.log_evidence, np.concatenate([point.log_signals[active], *by_theta, last])

        ratios = np.tile(self.process.signal_bounds, (len(active) + has_explicit, 1)).T
        begin = [fit.log_signals[active], *(fit.thetas[b] for b in active)]
        bounds = [ratios[:, : len(active)], *(self.bounds[b] for b in active)]
        if has_explicit:
            begin, bounds = [*begin, np.array([fit.log_explicit])], [*bounds, ratios[:, -1:]]
        # L-BFGS-B compares a rise with max(|f|, 1): this makes it absolute.
        tolerance = self.tuning.ascent_tol / max(abs(fit.log_evidence), 1.0)
        end = ascend(
            objective, np.concatenate(begin), np.hstack(bounds), max_iter, tolerance=tolerance
        )
        if not end.value > fit.log_evidence:
            return fit
        return unpack(end.vector)._replace(log_evidence=end.value)

    def build_kernel(self, fit: SumFit, number: int) -> Kernel:
        """Return one kernel with the parameters of a fit."""
        kernel, theta = self.blocks[number].kernel, fit.thetas[number]
        return kernel.clone_with_theta(theta) if len(theta) else kernel

    def whiten(self, fit: SumFit) -> Matrix | None:
        """Return the Cholesky factor of the covariance of targets, in units of the noise."""
        covariance = self._sum_kernels(fit)
        covariance.flat[:: len(covariance) + 1] += 1.0
        if self.process.explicit is not None:
            covariance += math.exp(fit.log_explicit) * self.process.explicit
        return cholesky(covariance)

    def _evaluate_kernel(self, fit: SumFit, number: int) -> Matrix:
        """Evaluate one kernel between all rows; the last values of each are kept."""
        key = fit.thetas[number].tobytes()
        if self._values.get(number, (b"-",))[0] != key:
            kernel, X = self.build_kernel(fit, number), self.process.X
            self._values[number] = key, np.asfortranarray(kernel_block(kernel, X, X))
        return self._values[number][1]

    def _sum_kernels(self, fit: SumFit) -> Matrix:
        size = len(self.process.X)
        total = np.zeros((size, size), order="F")
        for number in fit.active:
            values = self._evaluate_kernel(fit, number)
            total += values * self.process.weight_signal(fit.log_signals[number])
        return total


def find_parameter_bounds(kernel: Kernel, X: Matrix) -> tuple[Matrix, BoolArray]:
    """Return bounds of the log parameters, and which lower bounds the inputs have raised.

    A length-scale is at least the distance between neighbouring inputs, a period at least twice
    that, and the length-scale of a periodic kernel, which is relative to the period, so long that
    neighbouring phases of as many rows are not separated.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray of shape (n_samples, n_features)
        Inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.learning.kernel_sum import find_parameter_bounds
    >>> bounds, is_raised = find_parameter_bounds(RBF(1.0), np.arange(10.0)[:, None])
    >>> np.exp(bounds[:, 0]).round(2), is_raised
    (array([1.e+00, 1.e+05]), array([ True]))
    """
    low, high = np.array(kernel.bounds, dtype=np.float64).reshape(-1, 2).T
    raised = low.copy()
    # Transformed inputs have units of their own: nothing is known about their spacing.
    if not contains_kernel(kernel, Warped):
        own, params = name_parameters(kernel), kernel.get_params()
        for place, name in enumerate(own):
            owner = params.get(name.rpartition("__")[0], kernel)
            floor = _find_floor(name, owner, own.count(name), own.index(name), place, X)
            # A given upper bound below the spacing remains in force.
            raised[place] = min(max(low[place], math.log(floor)), high[place])
    return np.array([raised, high]), raised > low


def _find_floor(
    name: str, owner: Kernel, n_elements: int, first: int, place: int, X: Matrix
) -> float:
    """Return the smallest sensible value of a parameter; a tiny number if nothing is known."""
    tiny = np.finfo(np.float64).tiny
    gaps = [measure_spacing(column[:, None]) for column in X.T]
    if is_one_of(name, PERIODS):
        return max(2.0 * min(gaps), tiny)
    if not is_one_of(name, ("length_scale",)):
        return float(tiny)
    if isinstance(owner, Periodic | ExpSineSquared):
        # exp(-2 sin^2(pi d / p) / l^2) falls as exp(-(d / p)^2 / (2 (l / 2 pi)^2)); n rows have
        # phases d / p that are 1 / n apart on average.
        return 2.0 * math.pi / len(np.unique(X, axis=0))
    if n_elements == X.shape[1]:  # one length-scale for each feature
        return float(max(gaps[place - first], tiny))
    return max(measure_spacing(X), float(tiny))
