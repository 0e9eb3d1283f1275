"""Length-scales of kernels as further parameters of models with auxiliary variables."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.dictionaries import DenseDictionary
from relvec.sampling.augmented import AugmentedSampler, AugmentedState
from relvec.sampling.base import Draw, Sampler
from relvec.sampling.length_scales import ScaledAtoms, ScaleTuning
from relvec.sampling.working import PreparedAtoms, prepare_atoms

__all__ = ["AugmentedScaleSampler", "AugmentedScaleState"]


@dataclass(frozen=True, eq=False)
class AugmentedScaleState:
    """State of an `AugmentedSampler`, and the length-scale factors of its atoms."""

    inner: AugmentedState
    atoms: PreparedAtoms
    """Atoms at these factors."""
    parameters: Vector
    """Logarithms of the factors."""
    log_step: Vector
    """Logarithms of the standard deviations of the proposals."""
    n_proposals: int = 0


class AugmentedScaleSampler(Sampler[AugmentedScaleState]):
    """Samples the length-scales of kernels together with the latent functions.

    After every sweep of the sampler, factors are changed by random-walk Metropolis steps given
    the atoms, their weights and the parameters of the likelihood, with the auxiliary variables
    integrated out.

    Parameters
    ----------
    sampler : AugmentedSampler
        Sampler of the latent functions, set up with the atoms at factors of one.
    atoms : ScaledAtoms
        The atoms as functions of the factors.
    X, sample_weight
        Training inputs and frequency weights.
    scaling : ndarray of shape (n_atoms,)
        Atoms that are divided by their standard deviation; see `prepare_atoms`.
    prior_std : float
        Standard deviation of the logarithm of a factor under its normal prior.
    """

    def __init__(
        self,
        sampler: AugmentedSampler,
        atoms: ScaledAtoms,
        X: Any,
        sample_weight: Vector | None,
        *,
        scaling: BoolArray,
        prior_std: float = 0.5,
        tuning: ScaleTuning | None = None,
    ) -> None:
        self.sampler, self.atoms, self.X = sampler, atoms, X
        self.sample_weight, self.scaling, self.prior_std = sample_weight, scaling, prior_std
        self.tuning = ScaleTuning() if tuning is None else tuning

    def init(
        self, rng: np.random.Generator, active: IndexArray | None = None
    ) -> AugmentedScaleState:
        """Return a state with factors of one."""
        n = len(self.atoms.groups)
        inner = self.sampler.init(rng, active)
        log_step = np.full(n, math.log(self.prior_std / 2.0))
        return AugmentedScaleState(inner, self.sampler.atoms, np.zeros(n), log_step)

    def step(self, state: AugmentedScaleState, rng: np.random.Generator) -> AugmentedScaleState:
        """Return the state after a sweep, and steps of the factors."""
        inner = self.sampler.with_atoms(state.atoms).step(state.inner, rng)
        current, latent = state.parameters, inner.latent
        density = self._log_density(inner, latent, current)
        log_step, n_proposals = state.log_step.copy(), state.n_proposals
        for number in range(len(current)):
            proposal = current.copy()
            proposal[number] += math.exp(log_step[number]) * rng.standard_normal()
            proposed = self._evaluate(inner, proposal)
            proposed_density = self._log_density(inner, proposed, proposal)
            log_ratio = proposed_density - density
            accepted = -rng.standard_exponential() < log_ratio  # never for NaN
            n_proposals += 1
            # as in `LengthScaleSampler`
            log_step[number] += (accepted - self.tuning.acceptance) / n_proposals**0.6
            if accepted:
                current, latent, density = proposal, proposed, proposed_density
        atoms = state.atoms
        if current is not state.parameters:
            inner, atoms = replace(inner, latent=latent), self._prepare(current)
        return AugmentedScaleState(inner, atoms, current, log_step, n_proposals)

    def draw(self, state: AugmentedScaleState, rng: np.random.Generator) -> Draw:
        """Return weights in units of the atoms at factors of one."""
        draw = self.sampler.with_atoms(state.atoms).draw(state.inner, rng)
        before, now = self.sampler.atoms, state.atoms
        function, atom = np.divmod(draw.active, before.n_atoms + 1)
        ratio = before.column_norm[atom] / now.column_norm[atom]
        weights = draw.weights * ratio
        # Atoms are centred: the constant takes up the change of their means.
        shift = (
            weights / before.column_norm[atom] * (before.column_mean[atom] - now.column_mean[atom])
        )
        shifts = np.bincount(function, shift, minlength=int(function.max()) + 1)
        is_constant = atom == before.n_atoms
        weights[is_constant] += shifts[function[is_constant]]
        return draw._replace(
            weights=weights,
            log_posterior=draw.log_posterior + self._log_prior(state.parameters),
            parameters=np.concatenate([draw.parameters, state.parameters]),
        )

    def pack(self, state: AugmentedScaleState) -> dict[str, Any]:
        """Return the packed inner state, the factors and the size of their proposals."""
        own = {
            "factors": state.parameters,
            "log_step": state.log_step,
            "n_proposals": state.n_proposals,
        }
        return self.sampler.pack(state.inner) | own

    def unpack(self, packed: dict[str, Any], like: AugmentedScaleState) -> AugmentedScaleState:
        """Return the state with these values."""
        atoms = self._prepare(packed["factors"])
        inner = self.sampler.with_atoms(atoms).unpack(packed, like.inner)
        return AugmentedScaleState(
            inner, atoms, packed["factors"], packed["log_step"], packed["n_proposals"]
        )

    def _prepare(self, parameters: Vector, index: IndexArray | None = None) -> PreparedAtoms:
        """Return all atoms, or some of them, at length-scale factors."""
        atoms, scaling = self.atoms, self.scaling
        if index is not None:
            atoms, scaling = atoms.subset(index), scaling[index]
        values = DenseDictionary(atoms.at(parameters).evaluate(self.X))
        return prepare_atoms(values, self.sample_weight, scaling=scaling)

    def _evaluate(self, inner: AugmentedState, parameters: Vector) -> Matrix:
        """Return the latent functions at other factors, atoms and weights unchanged."""
        n_atoms = self.sampler.atoms.n_atoms
        used = np.unique(np.concatenate([model.active for model in inner.models]))
        used = used[used < n_atoms]
        prepared = self._prepare(parameters, used)
        if not prepared.usable.all():  # atoms that vanish at these length-scales
            return np.full(inner.latent.shape, np.nan)
        values = prepared.values
        place = np.full(n_atoms + 1, len(used))  # the constant is the last row of any values
        place[used] = np.arange(len(used))
        each = [
            weights @ values[place[model.active]]
            for weights, model in zip(inner.weights, inner.models, strict=True)
        ]
        return np.stack(each, axis=1)

    def _log_density(self, inner: AugmentedState, latent: Matrix, parameters: Vector) -> float:
        likelihood = self.sampler.augmentation.log_density(
            latent, inner.noise_variance, inner.parameters
        )
        return likelihood + self._log_prior(parameters)

    def _log_prior(self, parameters: Vector) -> float:
        return -0.5 * float(np.sum((parameters / self.prior_std) ** 2))
