"""The augmented sampler: classes, counts and robust regression, by sweeps of conditional draws.

A sweep draws, in this order,

1. the parameters of the likelihood given the latent functions, auxiliary variables integrated out;
2. for every latent function: its auxiliary variables; its set of atoms and their precisions, by
   moves that leave their conditional distribution invariant, weights and noise integrated out; the
   noise variance; and the weights, which give new values of the latent function.

Each line is conditional on the newest values of everything that is not integrated out in it, and
what is integrated out is drawn afterwards, before it is used: the posterior is invariant.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._checks import check_integer, check_positive
from relvec._typing import IndexArray, Matrix, Vector
from relvec.sampling.augmentation import Augmentation
from relvec.sampling.base import Draw, Sampler
from relvec.sampling.collapsed import draw_state, draw_weights, read_moves
from relvec.sampling.priors import BetaBinomialSize, PrecisionGrid, SizePrior
from relvec.sampling.state import ModelState, make_state
from relvec.sampling.target import Target
from relvec.sampling.working import PreparedAtoms, RawWeights, WorkingMoments

__all__ = ["AugmentedSampler", "AugmentedState"]


@dataclass(frozen=True, eq=False)
class AugmentedState:
    """Models and weights of all latent functions, and the parameters of the likelihood."""

    models: tuple[ModelState, ...]
    """Atoms and precisions of each latent function, under the last auxiliary variables."""
    weights: tuple[Vector, ...]
    """Weights of the atoms of each model, the constant first."""
    latent: Matrix
    """Values of the latent functions, shape (n_rows, n_latent), without offsets."""
    parameters: Vector
    """Own parameters of the likelihood."""
    noise_variance: float


class AugmentedSampler(Sampler[AugmentedState]):
    """Samples latent functions of a likelihood that is Gaussian given auxiliary variables.

    Parameters
    ----------
    atoms : PreparedAtoms
        Prepared atoms; see `prepare_atoms`.
    augmentation : Augmentation
        Targets and their likelihood.
    grid : PrecisionGrid, optional
        Prior of the precisions of the weights of prepared atoms; default, that of the
        augmentation. If atoms are not scaled to unit norm, a precision ``d`` is a prior standard
        deviation ``1 / sqrt(d)`` of the weight.
    size_prior : SizePrior, optional
        Prior of the number of atoms of each latent function; default `BetaBinomialSize()`.
    n_moves : int, default=5
        Moves of the model of each latent function in a sweep.
    moves : dict of str to float, optional
        Probabilities of the moves, as in `CollapsedSampler`.
    intercept_precision : float, optional
        Prior precision of the constants; default, that of the augmentation.

    Notes
    -----
    Atoms of draws are numbered ``k * (n_atoms + 1) + atom`` for latent function ``k``; the number
    ``n_atoms`` is the constant. `to_raw` turns a draw into weights of raw atoms.

    Examples
    --------
    Labels depend on the first of three columns:

    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.sampling import AugmentedSampler, BernoulliAugmentation, prepare_atoms
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(80, 3))
    >>> labels = rng.uniform(size=80) < 1 / (1 + np.exp(-3 * Phi[:, 0]))
    >>> atoms = prepare_atoms(DenseDictionary(Phi), scaling="deviation")
    >>> sampler = AugmentedSampler(atoms, BernoulliAugmentation(labels))
    >>> state, present = sampler.init(rng), np.zeros(4)
    >>> for _ in range(100):
    ...     state = sampler.step(state, rng)
    ...     present[sampler.draw(state, rng).active] += 1 / 100
    >>> bool(present[0] > 0.95 > present[1:3].max()), round(present[3])  # the constant is always in
    (True, 1)
    """

    def __init__(
        self,
        atoms: PreparedAtoms,
        augmentation: Augmentation,
        *,
        grid: PrecisionGrid | None = None,
        size_prior: SizePrior | None = None,
        n_moves: int = 5,
        moves: dict[str, float] | None = None,
        intercept_precision: float | None = None,
    ) -> None:
        if atoms.values.shape[1] != augmentation.n_rows:
            raise ValueError(
                f"atoms have {atoms.values.shape[1]} rows, the targets {augmentation.n_rows}."
            )
        self.atoms, self.augmentation = atoms, augmentation
        self.precision = (augmentation.grid if grid is None else grid).values
        self.size_prior = BetaBinomialSize() if size_prior is None else size_prior.checked()
        self.n_moves = check_integer("n_moves", n_moves, minimum=1)
        self._moves, self._bounds = read_moves(moves)
        self.fixed = np.array(
            [
                augmentation.intercept_precision
                if intercept_precision is None
                else check_positive("intercept_precision", intercept_precision)
            ]
        )
        self.movable = atoms.usable.copy()
        self.movable[-1] = False

    def with_atoms(self, atoms: PreparedAtoms) -> AugmentedSampler:
        """Return the sampler with other values of as many atoms."""
        other = copy(self)
        other.atoms = atoms
        return other

    def init(self, rng: np.random.Generator, active: IndexArray | None = None) -> AugmentedState:
        """Return a state with given atoms, numbered as in draws, or a few drawn at random."""
        augmentation, n = self.augmentation, self.atoms.n_atoms + 1
        parameters, noise = augmentation.init_parameters(rng), augmentation.first_noise
        latent = np.zeros((augmentation.n_rows, augmentation.n_latent))
        models, weights = [], []
        for k in range(augmentation.n_latent):
            given: Any = None
            if active is not None:
                given = active[(active // n == k) & (active % n != n - 1)] % n
            target = self._make_target(k, latent, noise, parameters, rng)
            model = draw_state(target, rng, given)
            noise, drawn = self._draw_weights(model, rng)
            latent = self._replace(latent, k, model, drawn)
            models.append(model)
            weights.append(drawn)
        return AugmentedState(tuple(models), tuple(weights), latent, parameters, noise)

    def step(self, state: AugmentedState, rng: np.random.Generator) -> AugmentedState:
        """Return the state after one sweep."""
        latent, noise = state.latent, state.noise_variance
        parameters = self.augmentation.update_parameters(latent, noise, state.parameters, rng)
        models, weights = [], []
        for k, old in enumerate(state.models):
            model = old.moved_to(self._make_target(k, latent, noise, parameters, rng))
            for _ in range(self.n_moves):
                choice = np.searchsorted(self._bounds, rng.random(), side="right")
                model = self._moves[int(choice)](model, rng)
            noise, drawn = self._draw_weights(model, rng)
            latent = self._replace(latent, k, model, drawn)
            models.append(model)
            weights.append(drawn)
        return AugmentedState(tuple(models), tuple(weights), latent, parameters, noise)

    def draw(self, state: AugmentedState, rng: np.random.Generator) -> Draw:
        """Return the weights, the noise variance and the parameters of the state."""
        n = self.atoms.n_atoms + 1
        return Draw(
            np.concatenate([k * n + model.active for k, model in enumerate(state.models)]),
            np.concatenate(state.weights),
            np.log(np.concatenate([model.precision for model in state.models])),
            state.noise_variance,
            self.log_posterior(state),
            parameters=state.parameters,
        )

    def pack(self, state: AugmentedState) -> dict[str, Any]:
        """Return atoms, precisions and weights of all latent functions, and the parameters."""
        n = self.atoms.n_atoms + 1
        return {
            "active": np.concatenate(
                [k * n + model.active for k, model in enumerate(state.models)]
            ),
            "level": np.concatenate([model.level for model in state.models]),
            "weights": np.concatenate(state.weights),
            "parameters": state.parameters,
            "noise_variance": state.noise_variance,
        }

    def unpack(self, packed: dict[str, Any], like: AugmentedState) -> AugmentedState:
        """Return the state with these values."""
        function, atom = np.divmod(packed["active"], self.atoms.n_atoms + 1)
        latent, models, weights = np.zeros_like(like.latent), [], []
        for k, old in enumerate(like.models):
            own = function == k
            free = own & (atom < self.atoms.n_atoms)
            # auxiliary variables are drawn anew before the target is used
            models.append(make_state(old.target, atom[free], packed["level"][free]))
            weights.append(packed["weights"][own])
            latent = self._replace(latent, k, models[-1], weights[-1])
        return AugmentedState(
            tuple(models), tuple(weights), latent, packed["parameters"], packed["noise_variance"]
        )

    def to_raw(self, draw: Draw) -> list[RawWeights]:
        """Return weights of raw atoms and the intercept of each latent function of a draw."""
        return self.atoms.split_draw(draw)

    def log_posterior(self, state: AugmentedState) -> float:
        """Return the log density of a state, auxiliary variables integrated out, up to a constant.

        A density of models, precisions, weights, parameters and the logarithm of the noise
        variance.
        """
        noise = state.noise_variance
        total = self.augmentation.log_density(state.latent, noise, state.parameters)
        for model, weights in zip(state.models, state.weights, strict=True):
            total += self.size_prior.log_probability(model.size, model.target.n_movable)
            total -= model.size * math.log(len(self.precision))
            # N(w_i | 0, sigma^2 / d_i); the number of weights differs between models
            scaled = model.precision / (2.0 * math.pi * noise)
            total += 0.5 * float(np.log(scaled).sum()) - math.pi * float(scaled @ weights**2)
        return total

    def _make_target(
        self, k: int, latent: Matrix, noise: float, parameters: Vector, rng: np.random.Generator
    ) -> Target:
        """Draw auxiliary variables; return the posterior over models given them."""
        rows = self.augmentation.augment(k, latent, noise, parameters, rng)
        moments = WorkingMoments(self.atoms, rows.precision, rows.linear, rows.target_ss)
        return Target(
            moments,
            self.precision,
            self.size_prior,
            self.augmentation.noise,
            self.augmentation.rate,
            diagonal=moments.sq_norms,
            movable=self.movable,
            fixed=self.fixed,
        )

    def _draw_weights(self, model: ModelState, rng: np.random.Generator) -> tuple[float, Vector]:
        """Draw noise variance and weights given the model."""
        noise = model.target.noise.draw(model.error, rng)
        return noise, draw_weights(model, noise, rng)

    def _replace(self, latent: Matrix, k: int, model: ModelState, weights: Vector) -> Matrix:
        """Return the latent functions with new values of function `k`."""
        replaced = latent.copy()
        replaced[:, k] = weights @ self.atoms.values[model.active]
        return replaced
