"""What sampled estimators monitor: noise, size, and the function at rows and at new inputs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases.base import BoundBasis
from relvec.moments import Moments
from relvec.sampling import Draw, ScaledAtoms

__all__ = [
    "FunctionRecorder",
    "MonitoredInputs",
    "Recorder",
    "are_mostly_kernels",
    "choose_monitored_inputs",
    "name_factors",
]

N_ROWS = 25
"""Training rows, spread over all of them, at which the function is monitored."""
N_NEW = 10
"""New inputs at which it is monitored as well: between and beyond rows, predictions depend more on
the length-scales."""
LENGTH_SCALE_FACTOR = "log_length_scale_factor"
"""Name of the logarithms of length-scale factors among the monitored quantities."""


def are_mostly_kernels(bound: BoundBasis) -> bool:
    """Whether more than half of the basis functions are kernels."""
    return bool(np.mean(bound.is_localised) > 0.5) if len(bound.is_localised) else False


class MonitoredInputs(NamedTuple):
    """Inputs at which the convergence of the function is monitored."""

    X: Any
    labels: list[str]
    """Numbers of training rows, and of new inputs."""


def choose_monitored_inputs(X: Any, targets: Vector) -> MonitoredInputs:
    """Return rows of low to high targets, whatever their order, and new inputs of dense numbers.

    New inputs lie on lines through two of the rows, up to a quarter of their distance beyond.
    """
    ranked = np.argsort(targets, kind="stable")
    spread = np.linspace(0, len(ranked) - 1, min(len(ranked), N_ROWS)).astype(np.intp)
    rows = X[ranked[spread]]
    labels = [str(row) for row in ranked[spread]]
    if issparse(rows) or rows.dtype.kind not in "fiu":
        return MonitoredInputs(rows, labels)
    rng = np.random.default_rng(0)
    one = rng.integers(len(spread), size=N_NEW)
    other = one - 1 - rng.integers(max(len(spread) - 1, 1), size=N_NEW)  # another row
    new = rows[one] + rng.uniform(-0.25, 1.25, size=(N_NEW, 1)) * (rows[other] - rows[one])
    return MonitoredInputs(
        np.concatenate([rows, new]), labels + [f"new {i}" for i in range(len(new))]
    )


class Recorder(ABC):
    """Quantities of a draw whose convergence is monitored."""

    names: list[str]
    """Names of the quantities."""
    are_models_judged: bool
    """Whether the verdict on convergence depends on size and log posterior, not only on noise and
    predictions. With kernels, where many models make the same predictions, these two change slowly
    and do not matter."""

    @property
    def judged(self) -> IndexArray:
        """Quantities on which the verdict depends.

        Length-scale factors are judged by their predictions, at rows and at new inputs.
        """
        slow = (
            LENGTH_SCALE_FACTOR,
            *(() if self.are_models_judged else ("n_active", "log_posterior")),
        )
        return np.array([i for i, name in enumerate(self.names) if not name.startswith(slow)])

    @property
    def judged_names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.names[i] for i in self.judged)

    @abstractmethod
    def __call__(self, draw: Draw) -> Vector:
        """Return the quantities of a draw."""


class FunctionRecorder(Recorder):
    """Noise, size and function values of a regression."""

    def __init__(
        self,
        bound: BoundBasis,
        order: IndexArray,
        moments: Moments,
        inputs: MonitoredInputs,
        scaled: ScaledAtoms | None,
        n_parameters: int = 0,
    ) -> None:
        self.are_models_judged = not are_mostly_kernels(bound)
        self._norm = moments.column_norm[order]
        self._scaled, self._X = scaled, inputs.X
        self.n_features = inputs.X.shape[1]
        self._values: Matrix = bound.atoms.evaluate(inputs.X)[:, order]
        self.names = ["noise_std", "n_active", "log_posterior", *name_factors(scaled)]
        self.names += ["log_global_scale"] * n_parameters
        self.names += [f"f[{label}]" for label in inputs.labels]

    def __call__(self, draw: Draw) -> Vector:
        """Return noise standard deviation, size, log posterior, parameters and function values."""
        active = draw.active
        if self._scaled is None:
            columns = self._values[:, active]
        else:
            columns = self._scaled.subset(active).at(draw.parameters).evaluate(self._X)
        function = columns @ (draw.weights / self._norm[active]) + draw.intercept
        first = [math.sqrt(draw.noise_variance), float(len(active)), draw.log_posterior]
        return np.concatenate([first, draw.parameters, function])


def name_factors(scaled: ScaledAtoms | None) -> list[str]:
    """Return the names of length-scale factors that are sampled."""
    return (
        [] if scaled is None else [f"{LENGTH_SCALE_FACTOR}[{i}]" for i in range(len(scaled.groups))]
    )
