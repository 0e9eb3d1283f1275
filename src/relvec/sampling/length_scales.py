"""Length-scales of kernels as further parameters of a sampled model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.bases import KernelAtoms, UnionAtoms
from relvec.bases.base import Atoms
from relvec.dictionaries import DenseDictionary
from relvec.kernels import ScaledInputs
from relvec.moments import Moments, compute_moments
from relvec.sampling.base import Draw, Sampler
from relvec.sampling.collapsed import CollapsedSampler
from relvec.sampling.state import ModelState, make_state
from relvec.sampling.target import Target

__all__ = ["LengthScaleSampler", "ScaleTuning", "ScaledAtoms", "group_features", "scale_atoms"]


def scale_atoms(atoms: Atoms, factors: Vector) -> Atoms:
    """Return the same atoms with the length-scales of kernels multiplied by a factor per feature.

    Atoms that are not kernels remain as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.bases import KernelAtoms
    >>> from relvec.sampling.length_scales import scale_atoms
    >>> atoms = KernelAtoms(RBF(1.0), np.array([[0.0]]))
    >>> wide = scale_atoms(atoms, np.array([2.0]))
    >>> wide.evaluate(np.array([[2.0]])) == atoms.evaluate(np.array([[1.0]]))
    array([[ True]])
    """
    if isinstance(atoms, UnionAtoms):
        return replace(atoms, parts=tuple(scale_atoms(part, factors) for part in atoms.parts))
    if not isinstance(atoms, KernelAtoms) or not isinstance(atoms.kernel, Kernel):
        return atoms
    kernel, scale = atoms.kernel, factors**-2.0
    if isinstance(kernel, ScaledInputs):
        kernel, scale = kernel.kernel, scale * np.asarray(kernel.scale, dtype=np.float64)
    return replace(atoms, kernel=ScaledInputs(kernel, scale))


@dataclass(frozen=True, eq=False)
class ScaledAtoms:
    """Atoms as a function of the logarithms of length-scale factors."""

    atoms: Atoms
    """Atoms with all factors one."""
    groups: tuple[IndexArray, ...]
    """Features that share each of the factors."""
    n_features: int

    def at(self, parameters: Vector) -> Atoms:
        """Return the atoms with the given logarithms of factors."""
        factors = np.ones(self.n_features)
        for group, value in zip(self.groups, parameters, strict=True):
            factors[group] = math.exp(value)
        return scale_atoms(self.atoms, factors)

    def subset(self, index: IndexArray) -> ScaledAtoms:
        """Return some of the atoms."""
        return replace(self, atoms=self.atoms.subset(index))


@dataclass(frozen=True, eq=False)
class ScaleState:
    """State of a model, and the length-scale factors that its moments are made with."""

    model: ModelState
    parameters: Vector
    """Logarithms of the factors."""
    log_step: Vector
    """Logarithms of the standard deviations of the proposals."""
    n_proposals: int = 0

    @property
    def log_posterior(self) -> float:
        """Log posterior of the model, without the prior of the factors."""
        return self.model.log_posterior


@dataclass(frozen=True)
class ScaleTuning:
    """Constants of the moves of length-scales."""

    period: int = 10
    """Steps of the model to one of a length-scale, which is dearer: an accepted one needs the
    moments of all atoms."""
    acceptance: float = 0.3
    """Acceptance rate to which the size of proposals is adapted, less and less."""


class LengthScaleSampler(Sampler[ScaleState]):
    """Samples the length-scales of kernels together with the model.

    The logarithm of each factor has a normal prior around zero, the length-scales that were given
    or learnt. A factor is changed by a random-walk Metropolis step with weights and noise
    integrated out, at the same atoms and precisions.

    Parameters
    ----------
    sampler : CollapsedSampler
        Sampler of the model, set up with the moments of `atoms` at factors of one.
    atoms : ScaledAtoms
        The atoms.
    X, target, sample_weight
        Training data from which the moments were made.
    centre : bool
        Whether the model has an intercept.
    prior_std : float
        Standard deviation of the logarithm of a factor under its prior.
    """

    def __init__(
        self,
        sampler: CollapsedSampler,
        atoms: ScaledAtoms,
        X: Any,
        target: Vector,
        sample_weight: Vector | None,
        *,
        centre: bool,
        prior_std: float = 0.5,
        tuning: ScaleTuning | None = None,
    ) -> None:
        self.sampler, self.atoms, self.X = sampler, atoms, X
        self.target, self.sample_weight = target[:, None], sample_weight
        self.centre, self.prior_std = centre, prior_std
        self.tuning = ScaleTuning() if tuning is None else tuning
        self._norm = sampler.target.moments.column_norm

    def init(self, rng: np.random.Generator, active: IndexArray | None = None) -> ScaleState:
        """Return a state with factors near one."""
        n = len(self.atoms.groups)
        parameters = 0.5 * self.prior_std * rng.standard_normal(n)
        model, target = self.sampler.init(rng, active), self._find_target(parameters)
        if target.n_movable != self.sampler.target.n_movable:
            parameters = np.zeros(n)
            target = self._find_target(parameters)
        model = model.moved_to(target)
        return ScaleState(model, parameters, np.full(n, math.log(self.prior_std / 2.0)))

    def step(self, state: ScaleState, rng: np.random.Generator) -> ScaleState:
        """Return the state after a move of the model or, less often, of a length-scale."""
        if rng.random() * self.tuning.period >= 1.0:
            return replace(state, model=self.sampler.step(state.model, rng))
        number = int(rng.integers(len(state.parameters)))
        proposal = state.parameters.copy()
        proposal[number] += math.exp(state.log_step[number]) * rng.standard_normal()
        log_ratio = self._log_density(state.model, proposal) - (
            state.model.log_likelihood + self._log_prior(state.parameters)
        )
        log_step, n_proposals = state.log_step.copy(), state.n_proposals + 1
        # Robbins-Monro with steps that vanish, so that the limit of the chain is not changed. They
        # depend on the decision alone, so that rounding errors do not change later proposals.
        accepted = -rng.standard_exponential() < log_ratio  # never for NaN
        log_step[number] += (accepted - self.tuning.acceptance) / n_proposals**0.6
        state = replace(state, log_step=log_step, n_proposals=n_proposals)
        if not accepted:
            return state
        target = self._find_target(proposal)
        if target.n_movable != self.sampler.target.n_movable:
            # Atoms that vanish at these length-scales: the prior of the size would be another one.
            # Such factors have no prior probability.
            return state
        return replace(state, model=state.model.moved_to(target), parameters=proposal)

    def draw(self, state: ScaleState, rng: np.random.Generator) -> Draw:
        """Draw noise variance and weights, in units of the atoms at factors of one."""
        draw = self.sampler.draw(state.model, rng)
        active = draw.active
        ratio = self._norm[active] / state.model.target.moments.column_norm[active]
        return draw._replace(
            weights=draw.weights * ratio,
            log_lam=draw.log_lam - 2.0 * np.log(ratio),
            log_posterior=draw.log_posterior + self._log_prior(state.parameters),
            parameters=state.parameters,
        )

    def pack(self, state: ScaleState) -> dict[str, Any]:
        """Return the model, the factors and the size of their proposals."""
        packed = self.sampler.pack(state.model)
        own = ("parameters", "log_step", "n_proposals")
        return packed | {name: getattr(state, name) for name in own}

    def unpack(self, packed: dict[str, Any], like: ScaleState) -> ScaleState:
        """Return the state with these values."""
        own = {name: packed[name] for name in ("parameters", "log_step", "n_proposals")}
        model = self.sampler.unpack(packed, like.model)
        return ScaleState(model.moved_to(self._find_target(own["parameters"])), **own)

    def _log_prior(self, parameters: Vector) -> float:
        return -0.5 * float(np.sum((parameters / self.prior_std) ** 2))

    def _find_moments(self, atoms: Atoms) -> Moments:
        values: Matrix = atoms.evaluate(self.X)
        [moments] = compute_moments(
            DenseDictionary(values), self.target, self.sample_weight, centre=self.centre
        )
        return moments

    def _find_target(self, parameters: Vector) -> Target:
        """Return the posterior of the model at other length-scales."""
        moments = self._find_moments(self.atoms.at(parameters))
        return _with_moments(self.sampler.target, moments, self.sampler.target.movable)

    def _log_density(self, model: ModelState, parameters: Vector) -> float:
        """Return log likelihood plus log prior at other length-scales, same atoms and precisions.

        Only the atoms in the model are evaluated.
        """
        moments = self._find_moments(self.atoms.subset(model.active).at(parameters))
        if not moments.usable.all():
            return -math.inf
        target = _with_moments(self.sampler.target, moments, moments.usable)
        own = make_state(target, np.arange(len(model.active)), model.level)
        return own.log_likelihood + self._log_prior(parameters)


def _with_moments(target: Target, moments: Moments, movable: BoolArray) -> Target:
    """Return the posterior with other moments of as many atoms as `movable` has entries."""
    return replace(
        target,
        moments=moments,
        diagonal=moments.usable.astype(np.float64),
        movable=moments.usable & movable,
    )


def group_features(kind: str, features: Sequence[int]) -> tuple[IndexArray, ...]:
    """Return the features that share each factor: all of them, or one for each factor."""
    index = np.asarray(features, dtype=np.intp)
    return (index,) if kind == "shared" else tuple(index[:, None])
