"""The collapsed sampler: sets of atoms and their precisions, weights and noise integrated out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relvec._checks import check_choice, check_positive
from relvec._linalg import cholesky
from relvec._typing import IndexArray, Vector
from relvec.moments import Moments, subset_moments
from relvec.posterior import noise_floor
from relvec.priors import InverseGamma
from relvec.sampling.base import Draw, Sampler
from relvec.sampling.moves import Move, flip_informed, flip_several, redraw_presence, redraw_slot
from relvec.sampling.priors import BetaBinomialSize, PrecisionGrid, SizePrior
from relvec.sampling.state import ModelState, make_state
from relvec.sampling.target import KnownNoise, NoiseDensity, Target, UnknownNoise

__all__ = ["CollapsedSampler", "draw_weights", "make_target"]

MOVES: dict[str, Move] = {
    "informed": flip_informed,
    "several": flip_several,
    "slot": redraw_slot,
    "gibbs": redraw_presence,
}
"""Moves by name."""


MAX_STORED = 1500
"""Largest number of atoms whose Gram matrix is made as a whole: rows of it are
then at hand without further work."""


class CollapsedSampler(Sampler[ModelState]):
    """Samples which atoms are in the model, and their precisions.

    Weights, intercept and noise variance are integrated out and drawn only when asked for. A step
    either adds or removes an atom chosen by its posterior odds, or replaces one by any other
    (`relvec.sampling.moves`). Both see moments only, and nothing has to be tuned.

    Parameters
    ----------
    moments : Moments
        Moments of the dictionary and the target.
    grid : PrecisionGrid, optional
        Prior of the precisions of the weights; default `PrecisionGrid()`.
    size_prior : SizePrior, optional
        Prior of the number of atoms; default `BetaBinomialSize()`.
    noise_prior : InverseGamma, optional
        Prior of the noise variance; default, uniform over its logarithm.
    noise_variance : float, optional
        Known noise variance; None to sample it.
    moves : dict of str to float, optional
        Probability of each of the moves "informed", "several", "slot" and "gibbs" in a step.
        Default, one half each for "informed" and "slot". With one half each for "several" and
        "slot" the size of a model of many overlapping kernels mixes faster.

    Examples
    --------
    Two of five columns matter:

    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import compute_moments
    >>> from relvec.sampling import CollapsedSampler
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(60, 5))
    >>> target = Phi[:, :1] - Phi[:, 3:4] + 0.3 * rng.normal(size=(60, 1))
    >>> [moments] = compute_moments(DenseDictionary(Phi), target, None, centre=True)
    >>> sampler = CollapsedSampler(moments)
    >>> state, present = sampler.init(rng), np.zeros(5)
    >>> for _ in range(400):
    ...     state = sampler.step(state, rng)
    ...     present[state.active] += 1 / 400
    >>> present.round(0)
    array([1., 0., 0., 1., 0.])
    """

    def __init__(
        self,
        moments: Moments,
        *,
        grid: PrecisionGrid | None = None,
        size_prior: SizePrior | None = None,
        noise_prior: InverseGamma | None = None,
        noise_variance: float | None = None,
        moves: dict[str, float] | None = None,
    ) -> None:
        self.target = make_target(
            moments,
            grid=grid,
            size_prior=size_prior,
            noise_prior=noise_prior,
            noise_variance=noise_variance,
        )
        self._moves, self._bounds = read_moves(moves)

    def init(self, rng: np.random.Generator, active: IndexArray | None = None) -> ModelState:
        """Return a state with given atoms, or a few drawn at random, and precisions at random."""
        return draw_state(self.target, rng, active)

    def step(self, state: ModelState, rng: np.random.Generator) -> ModelState:
        """Return the state after one move, chosen at random."""
        move = self._moves[int(np.searchsorted(self._bounds, rng.random(), side="right"))]
        return move(state, rng)

    def draw(self, state: ModelState, rng: np.random.Generator) -> Draw:
        """Draw noise variance and weights given the model."""
        moments, noise = state.target.moments, state.target.noise.draw(state.error, rng)
        weights = draw_weights(state, noise, rng)
        return Draw(
            state.active,
            weights,
            np.log(state.precision),
            noise,
            state.log_posterior,
            find_intercept(moments, state.active, weights),
        )

    def pack(self, state: ModelState) -> dict[str, Any]:
        """Return atoms and levels, from which everything else is computed."""
        n_fixed = state.n_fixed
        return {"active": state.active[n_fixed:], "level": state.level[n_fixed:]}

    def unpack(self, packed: dict[str, Any], like: ModelState) -> ModelState:
        """Return the state with these atoms and levels."""
        return make_state(like.target, packed["active"], packed["level"])


def find_intercept(moments: Moments, active: IndexArray, weights: Vector) -> float:
    """Return the intercept of raw atoms that belongs to weights of prepared, centred ones."""
    coef = weights / moments.column_norm[active]
    return moments.target_mean - float(coef @ moments.column_mean[active])


def read_moves(moves: dict[str, float] | None) -> tuple[list[Move], Vector]:
    """Return the moves, and the bounds of their cumulative probabilities."""
    given = {"informed": 0.5, "slot": 0.5} if moves is None else moves
    for name, probability in given.items():
        check_choice("moves", name, tuple(MOVES))
        check_positive(f"moves[{name!r}]", probability, allow_zero=True)
    bounds = np.cumsum(list(given.values()))
    if not len(bounds) or not bounds[-1] > 0.0:
        raise ValueError(f"moves needs a move of positive probability; got {moves!r}.")
    return [MOVES[name] for name in given], bounds[:-1] / bounds[-1]


def make_target(
    moments: Moments,
    *,
    grid: PrecisionGrid | None = None,
    size_prior: SizePrior | None = None,
    noise_prior: InverseGamma | None = None,
    noise_variance: float | None = None,
) -> Target:
    """Return the posterior over models, with defaults for what is not given."""
    if moments.n_atoms <= MAX_STORED:
        moments = subset_moments(moments, np.arange(moments.n_atoms))
    n = max(moments.n_effective, 1.0)
    prior = (InverseGamma() if noise_prior is None else noise_prior).checked()
    # the least noise that numbers of this size can have, in place of none at all
    floor = noise_floor(moments.target_ss / n, moments.target_mean)
    noise: NoiseDensity
    if noise_variance is None:
        noise, rate = UnknownNoise(prior.shape + 0.5 * n), prior.rate + 0.5 * n * floor
    else:
        noise, rate = KnownNoise(max(check_positive("noise_variance", noise_variance), floor)), 0.0
    return Target(
        moments,
        (PrecisionGrid() if grid is None else grid).values,
        BetaBinomialSize() if size_prior is None else size_prior.checked(),
        noise,
        rate,
        diagonal=moments.usable.astype(np.float64),
        movable=moments.usable,
        fixed=np.empty(0),
    )


def draw_state(
    target: Target, rng: np.random.Generator, active: IndexArray | None = None
) -> ModelState:
    """Return a state with given atoms, or up to ten at random, and precisions that suit them.

    Precisions begin in the middle of the grid and are drawn anew once, each given all others: with
    precisions at random most of the given atoms would soon leave the model again.
    """
    if active is None:
        candidates = np.flatnonzero(target.movable)
        most = min(len(candidates), 10)
        active = rng.choice(candidates, size=rng.integers(most + 1), replace=False)
    active = np.asarray(active, dtype=np.intp)
    state = make_state(target, active, np.full(len(active), len(target.precision) // 2))
    for atom in active:
        slot = state.find_slot(int(atom))
        assert slot is not None
        state = state.remove(slot)
        state = state.add(int(atom), state.draw_level(int(atom), rng))
    return state


def draw_weights(state: ModelState, noise_variance: float, rng: np.random.Generator) -> Vector:
    """Draw the weights given the model and the noise variance: ``N(mu, sigma^2 Sigma)``."""
    n = len(state.active)
    factor = cholesky(state.inverse)
    if factor is None:  # rounding errors of many updates; a new factorisation has none
        state = state.moved_to(state.target)
        factor = cholesky(state.inverse)
    deviation = np.zeros(n) if factor is None else factor @ rng.standard_normal(n)
    return state.mean + math.sqrt(noise_variance) * deviation
