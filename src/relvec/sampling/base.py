"""What every sampler provides: the protocol of `Sampler`, and the draws that it returns.

A sampler moves a small immutable state by `init` and `step`. Samplers of Gaussian models see
moments only, so that the cost of a step does not depend on the number of rows; those that sample
length-scales or auxiliary variables see the data as well. All random numbers come from the
generator that they are given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from relvec._typing import IndexArray, Vector

__all__ = ["Draw", "Sampler"]

AnyState = TypeVar("AnyState")


class Draw(NamedTuple):
    """One draw from the posterior, in units of the prepared atoms (see `relvec.moments`)."""

    active: IndexArray
    """Atoms in the model."""
    weights: Vector
    """Their weights; prepared atoms have unit norm."""
    log_lam: Vector
    """Logarithm of their prior precisions ``lam = alpha sigma^2 / norm^2``."""
    noise_variance: float
    log_posterior: float
    """Logarithm of the density of the state that the sampler moves, up to a constant."""
    intercept: float = 0.0
    """Value of the function where all raw atoms are zero, before the uncertainty of the mean."""
    parameters: Vector = np.empty(0)
    """Further parameters, such as logarithms of length-scale factors."""


class Sampler(ABC, Generic[AnyState]):
    """A Markov chain whose stationary distribution is a posterior.

    A new sampler sets up its target in ``__init__`` and implements the three methods below.
    `relvec.testing.check_sampler` tests it on problems that can be enumerated.
    """

    @abstractmethod
    def init(self, rng: np.random.Generator, active: IndexArray | None = None) -> AnyState:
        """Return a state from which a chain starts: with given atoms, or drawn at random."""

    @abstractmethod
    def step(self, state: AnyState, rng: np.random.Generator) -> AnyState:
        """Return the next state of the chain; `state` is not changed."""

    def pack(self, state: AnyState) -> dict[str, Any]:
        """Return what a chain needs to continue from a state, as numbers and arrays.

        `unpack` restores it. By default these are all fields of the state, a dataclass.
        """
        return dict(vars(state))

    def unpack(self, packed: dict[str, Any], like: AnyState) -> AnyState:
        """Return the state that `pack` was given; `like` is any state of this sampler."""
        return type(like)(**packed)

    @abstractmethod
    def draw(self, state: AnyState, rng: np.random.Generator) -> Draw:
        """Return weights and noise variance given the state: exact conditional draws."""
