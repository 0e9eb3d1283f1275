"""Which inputs a Gaussian process needs, and on which scales.

The evidence is climbed in the logarithms of the scales; inputs whose scale may as well be zero are
taken out, and come back if they turn out to bring something. All inputs are in units of their
standard deviation here.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.learning.process import Process, ProcessPoint

__all__ = ["ProcessFit", "ProcessSearch", "largest_scales"]

START_SIGNAL = math.log(10.0)
SMALLEST_SCALE = 1e-6
"""Over the spread of the data such an input is a constant."""
SETTLING, TRYING = 12, 10
"""Steps of a climb after inputs were taken out, and to see what a change is worth."""
LOOKED_AT = 12
"""Inputs of least relevance that are tried without, one by one."""
CANDIDATES = 4
"""Inputs that were left out and are tried again."""
ENTRY_SHARES = (0.3, 1.0)
"""Scales at which an input enters, relative to the median of those in the model."""
PROMISE = 0.3
"""Share of its price that an input must bring at a scale at which it is tried."""
NEGLIGIBLE = 1e-3
"""Log evidence, in nats, that no change is made for."""
TOLERANCE = 1e-3
"""Rise of the log evidence in one step at which a climb ends."""
IDLE = 0.05
"""Log evidence lost with an input that the others need not adapt to."""
TIE = 0.1
"""Precision of the normal prior of log scales around their mean: they may well differ by a factor
of e^3, but those that the data say little of stay near the others."""


class ProcessFit(NamedTuple):
    """Parameters of a Gaussian process, and what they are worth."""

    scale: Vector
    """Of every input; zero if it is left out."""
    log_signal: float
    log_explicit: float
    theta: Vector
    """Log parameters of the kernel."""
    log_evidence: float
    objective: float = -math.inf
    """Log evidence less what unequal scales cost."""

    @property
    def inputs(self) -> IndexArray:
        """The inputs that are in the model."""
        return np.flatnonzero(self.scale)


class ProcessSearch:
    """Climbs, deletions and entries of one process.

    Parameters
    ----------
    process : Process
        The data, inputs in units of their standard deviation.
    kernel : Kernel or callable
        Kernel of the scaled inputs.
    largest : ndarray of shape (n_features,)
        Upper bounds of the scales; see `largest_scales`.
    learns_kernel : bool, default=False
        Whether the parameters of the kernel are learnt as well.
    """

    def __init__(
        self,
        process: Process,
        kernel: Any,
        largest: Vector,
        *,
        learns_kernel: bool = False,
    ) -> None:
        self.process = process
        self.kernel: Any = kernel
        self.largest = largest
        self.learns_kernel = learns_kernel and bool(getattr(kernel, "n_dims", 0))
        self.theta = np.empty(0)
        if self.learns_kernel:
            self.theta = np.asarray(self.kernel.theta)
        self.path: list[Vector] = []
        """Scales after every step of every climb."""
        self.values: list[float] = []
        """Log evidence there."""

    # ------------------------------------------------------------------ values

    def at(
        self, fit: ProcessFit, *, slopes: bool = True, everywhere: bool = False
    ) -> ProcessPoint | None:
        """Evaluate the evidence at some parameters; see `Process.at`."""
        kernel = self.kernel
        if self.learns_kernel:
            kernel = kernel.clone_with_theta(fit.theta)
        return self.process.at(
            kernel,
            fit.scale,
            fit.log_signal,
            fit.log_explicit,
            slopes=slopes,
            parameters=slopes and self.learns_kernel,
            everywhere=everywhere,
        )

    def valued(self, fit: ProcessFit) -> ProcessFit:
        """Return the same parameters with their evidence; minus infinity where it fails."""
        point = self.at(fit, slopes=False)
        value = -math.inf if point is None else point.log_evidence
        return fit._replace(log_evidence=value, objective=value - _penalty(fit)[0])

    def start(self, scale: Vector) -> ProcessFit:
        """Return a place to start from."""
        scale = np.minimum(scale, self.largest)
        return self.valued(ProcessFit(scale, START_SIGNAL, 0.0, self.theta, -math.inf))

    # ------------------------------------------------------------------ climbs

    def climb(self, fit: ProcessFit, max_iter: int, move: str = "each") -> ProcessFit:
        """Climb the evidence, the inputs in the model held.

        Parameters
        ----------
        fit : ProcessFit
            Where to start.
        max_iter : int
            Steps to take at most.
        move : {"each", "common", "none"}, default="each"
            Change every scale by itself, multiply all of them by one number, or leave them.
        """
        inputs = fit.inputs
        low, high = self._scale_bounds(fit, move)
        has_explicit = self.process.explicit is not None
        n_scales = len(low)

        def unpack(vector: Vector) -> ProcessFit:
            scale = np.zeros_like(fit.scale)
            moved = np.exp(vector[:n_scales])
            scale[inputs] = moved if move == "each" else fit.scale[inputs] * moved.prod()
            log_explicit = float(vector[n_scales + 1]) if has_explicit else 0.0
            theta = vector[n_scales + 1 + has_explicit :]
            return ProcessFit(scale, float(vector[n_scales]), log_explicit, theta, -math.inf)

        def cost(vector: Vector) -> tuple[float, Vector]:
            trial = unpack(vector)
            point = self.at(trial)
            if point is None:
                return 1e300, np.zeros_like(vector)
            by_scale = (trial.scale * point.scale)[inputs]
            if move != "each":
                by_scale = np.full(n_scales, by_scale.sum())
            explicit = [point.log_explicit] if has_explicit else []
            slopes = np.concatenate([by_scale, [point.log_signal], explicit, point.theta])
            penalty, by_log_scale = _penalty(trial)
            if move == "each":  # else no difference changes
                slopes[:n_scales] -= by_log_scale
            return penalty - point.log_evidence, -slopes

        scales = np.log(fit.scale[inputs]) if move == "each" else np.zeros(n_scales)
        begin = np.concatenate(
            [scales, [fit.log_signal], [fit.log_explicit] if has_explicit else [], fit.theta]
        )
        bounds = [*zip(low, high, strict=True), self.process.signal_bounds]
        if has_explicit:
            bounds.append(self.process.signal_bounds)
        if self.learns_kernel:
            bounds.extend(map(tuple, np.asarray(self.kernel.bounds)))
        begin = np.clip(begin, [b[0] for b in bounds], [b[1] for b in bounds])

        def record(intermediate_result: object) -> None:
            self.path.append(unpack(intermediate_result.x).scale)  # type: ignore[attr-defined]
            self.values.append(-float(intermediate_result.fun))  # type: ignore[attr-defined]

        end = minimize(
            cost,
            begin,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=record,
            options={"maxiter": max_iter, "ftol": TOLERANCE / max(abs(fit.objective), 1.0)},
        )
        found = unpack(end.x)
        found = found._replace(
            objective=-float(end.fun), log_evidence=_penalty(found)[0] - float(end.fun)
        )
        return found if found.objective > fit.objective else fit

    def _scale_bounds(self, fit: ProcessFit, move: str) -> tuple[Vector, Vector]:
        """Bounds of what is added to log scales, or of those themselves if each moves."""
        scale, largest = fit.scale[fit.inputs], self.largest[fit.inputs]
        if move == "each":
            return np.full(len(scale), math.log(SMALLEST_SCALE)), np.log(largest)
        if move == "none" or not len(scale):
            return np.empty(0), np.empty(0)
        return (
            np.array([math.log(SMALLEST_SCALE) - math.log(scale.max())]),
            np.array([float(np.log(largest / scale).min())]),
        )

    # ------------------------------------------------------------------ inputs in and out

    def losses(self, fit: ProcessFit, inputs: IndexArray) -> Vector:
        """Objective lost with each of some inputs, all else held."""
        result = np.empty(len(inputs))
        for place, k in enumerate(inputs):
            scale = fit.scale.copy()
            scale[k] = 0.0
            without = self.valued(fit._replace(scale=scale))
            result[place] = fit.objective - without.objective
        return result

    def prune(self, fit: ProcessFit, price: float) -> ProcessFit:
        """Take out inputs that bring less than their price, the weakest first.

        The last one always stays. Where no input is cheap with all else held, the cheapest one is
        tried without it, the others adapting.
        """
        while len(fit.inputs) > 1:
            inputs = fit.inputs[np.argsort(fit.scale[fit.inputs])[:LOOKED_AT]]
            losses = self.losses(fit, inputs)
            idle = inputs[losses < min(IDLE, price)]
            if 0 < len(idle) < len(fit.inputs):
                without = _without(self, fit, idle)
                if without.objective > fit.objective - price * len(idle):
                    fit = without
                    continue
            order = np.argsort(losses)
            cheap = inputs[order[losses[order] < price]]
            sure = bool(len(cheap))
            out = cheap[: max(1, len(cheap) // 2)] if sure else inputs[order[:1]]
            if len(out) == len(fit.inputs):
                out = out[:-1]
            trial = self.climb(_without(self, fit, out), SETTLING)
            if fit.objective - trial.objective > price * len(out) + NEGLIGIBLE:
                if len(out) == 1:
                    return fit
                trial = self.climb(_without(self, fit, out[:1]), SETTLING)
                if fit.objective - trial.objective > price + NEGLIGIBLE:
                    return fit
            fit = trial
        return fit

    def entries(self, fit: ProcessFit, allowed: BoolArray) -> list[tuple[int, ProcessFit]]:
        """Return the inputs outside that promise most, each with the best model that has it."""
        point = self.at(fit, everywhere=True)
        if point is None:
            return []
        slope = np.where(allowed & (fit.scale == 0.0), point.scale, -math.inf)
        order = np.argsort(-slope, kind="stable")[:CANDIDATES]
        typical = float(np.median(fit.scale[fit.inputs])) if len(fit.inputs) else 0.5
        found = []
        for k in order[slope[order] > 0.0]:
            trials = []
            # inputs that explain nothing leave no signal that another could be part of
            signals = {fit.log_signal, START_SIGNAL if fit.log_signal < 0.0 else fit.log_signal}
            for share, signal in itertools.product(ENTRY_SHARES, sorted(signals)):
                scale = fit.scale.copy()
                scale[k] = min(share * typical, self.largest[k])
                trials.append(self.valued(fit._replace(scale=scale, log_signal=signal)))
            found.append((int(k), max(trials, key=lambda trial: trial.objective)))
        return sorted(found, key=lambda entry: -entry[1].objective)

    def enter(self, fit: ProcessFit, price: float, allowed: BoolArray) -> ProcessFit:
        """Take in inputs as long as one of those that promise most brings more than its price."""
        while True:
            for _, trial in self.entries(fit, allowed):
                if trial.objective - fit.objective < PROMISE * price:
                    continue
                grown = self.climb(trial, TRYING)
                if grown.objective - fit.objective > price + NEGLIGIBLE:
                    fit = grown
                    break
            else:
                return fit


def _penalty(fit: ProcessFit) -> tuple[float, Vector]:
    """What unequal scales cost, and the derivative in their logarithms."""
    inputs = fit.inputs
    if not len(inputs):
        return 0.0, np.empty(0)
    log_scale = np.log(fit.scale[inputs])
    apart = log_scale - log_scale.mean()
    return 0.5 * TIE * float(apart @ apart), TIE * apart


def _without(search: ProcessSearch, fit: ProcessFit, out: IndexArray) -> ProcessFit:
    scale = fit.scale.copy()
    scale[out] = 0.0
    return search.valued(fit._replace(scale=scale))


def largest_scales(X: Matrix) -> Vector:
    """Scales beyond which a kernel only sees single values of an input.

    Over the median gap between neighbouring values of an input a Gaussian kernel falls by a factor
    of e to the fourth power there. `X` is in units of standard deviations.
    """
    largest = np.empty(X.shape[1])
    for k, column in enumerate(X.T):
        gaps = np.diff(np.unique(column))
        gap = float(np.median(gaps)) if len(gaps) else 1.0
        largest[k] = 4.0 / max(gap, 1e-3) ** 2
    return largest
