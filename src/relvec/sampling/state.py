"""State of a sampled model, with updates of rank one when an atom enters or leaves.

For the atoms ``a`` in the model, ``Sigma = H^-1`` and ``mu = Sigma b`` are kept, and of every atom
``j`` the factors ``s_j = G_jj - G_ja Sigma G_aj`` and ``q_j = b_j - G_ja mu`` (Tipping & Faul
2003). An update costs one product with the Gram rows of the model. It is followed by a new
factorisation if rounding errors show, and after a number of updates in any case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from relvec._linalg import inverse_from_cholesky, shifted_cholesky, solve_lower, solve_lower_rows
from relvec._typing import IndexArray, Matrix, Vector
from relvec.sampling.target import Target

__all__ = ["ModelState", "draw_index", "make_state"]

MAX_UPDATES = 64
"""Largest number of updates of rank one between two factorisations. A factorisation costs as much
as a few updates."""

MAX_ROUNDING_ERROR = 1e-3
"""`ModelState.rounding_error` above which a state is factorised anew. On wavelets with splines the
probabilities of all changes are then wrong by about a tenth of it."""

SMALLEST_ERROR = 1e-300


@dataclass(frozen=True, eq=False)
class ModelState:
    """Atoms in the model with their precisions, and all that moves need to know of them."""

    target: Target
    active: IndexArray
    """Atoms in the model, those of `Target.fixed` first, the others in any order."""
    level: IndexArray
    """Position of their precisions in the grid; -1 for those that are fixed."""
    precision: Vector
    """Their precisions."""
    inverse: Matrix
    """``Sigma``."""
    mean: Vector
    """``mu``."""
    sparsity: Vector
    """``s`` of every atom given the model, also of those in it."""
    quality: Vector
    """``q`` of every atom given the model."""
    error: float
    """``E``."""
    log_det: float
    """``sum_i log(d_i) / 2 - log|H| / 2``."""
    n_updates: int = 0
    """Updates since the last factorisation."""

    @property
    def n_fixed(self) -> int:
        """Number of atoms that cannot leave the model."""
        return len(self.target.fixed)

    @property
    def size(self) -> int:
        """Number of other atoms in the model."""
        return len(self.active) - self.n_fixed

    @property
    def log_likelihood(self) -> float:
        """Log likelihood of the model, up to a constant."""
        return self.log_det + self.target.noise.log_likelihood(self.error)

    @property
    def log_posterior(self) -> float:
        """Log probability of the model and its precisions, up to a constant."""
        target = self.target
        prior = target.size_prior.log_probability(self.size, target.n_movable)
        prior -= self.size * math.log(len(target.precision))
        return prior + target.power * self.log_likelihood

    @property
    def rounding_error(self) -> float:
        """How far ``q`` of atoms in the model is from ``d mu``, in units of its standard deviation.

        The two are equal, but updated separately. Errors of ``q`` are as large of atoms that are
        similar to those in the model.
        """
        diagonal = self.inverse.diagonal()
        if not (self.error > SMALLEST_ERROR and diagonal.min(initial=1.0) > 0.0):
            return math.inf
        # q has variance sigma^2 s in a model without the atom, at least sigma^2 d of those that
        # are worth adding
        distance = self.quality[self.active] - self.precision * self.mean
        squares = distance * distance / self.precision
        return math.sqrt(squares.max(initial=0.0) / self.target.noise.estimate(self.error))

    @cached_property
    def _presence(self) -> tuple[Vector, Matrix]:
        """Log odds that each atom is in the model, and shares of its precisions if it is."""
        target, fixed = self.target, self.n_fixed
        place = self.active[fixed:]
        n, n_movable, prior = len(place), target.n_movable, target.size_prior
        sparsity, quality = self.sparsity, self.quality
        error: float | Vector = self.error
        if n:
            # atoms in the model without themselves: s = 1 / Sigma_ii - d, q = mu_i / Sigma_ii
            own, mean = self.inverse.diagonal()[fixed:], self.mean[fixed:]
            ratio = mean / own
            sparsity, quality = sparsity.copy(), quality.copy()
            sparsity[place] = np.maximum(1.0 / own - self.precision[fixed:], 0.0)
            quality[place] = ratio
            # the residual sum of squares is larger without them
            error = np.full(len(sparsity), self.error)
            error[place] += 0.5 * mean * ratio
        odds, shares = target.weigh(sparsity, quality, error)
        present = odds[place]
        if n < n_movable:  # otherwise there is no atom that could enter
            odds += prior.log_odds(n, n_movable)
        if n:
            odds[place] = present + prior.log_odds(n - 1, n_movable)
        return odds, shares

    @cached_property
    def log_odds(self) -> Vector:
        """Log odds that each atom is in the model, given all others; minus infinity if it cannot.

        They are summed over the precisions of the atom.
        """
        odds, _ = self._presence
        odds[self.target.immovable] = -np.inf
        return odds

    @cached_property
    def flip_rates(self) -> Vector:
        """Probability that each atom enters or leaves if its presence were drawn anew."""
        odds = self.log_odds.copy()
        odds[self.active[self.n_fixed :]] *= -1.0
        return np.asarray(expit(odds))

    def find_slot(self, atom: int) -> int | None:
        """Return the position of an atom in `active`, or None."""
        found = (self.active == atom).nonzero()[0]
        return int(found[0]) if len(found) else None

    def draw_level(self, atom: int, rng: np.random.Generator) -> int:
        """Draw the precision of an atom from its distribution given all others."""
        return draw_index(self._presence[1][:, atom], rng)

    def log_level_probability(self, atoms: IndexArray, level: IndexArray) -> float:
        """Return the log probability that `draw_level` gives these precisions, of all atoms."""
        shares = self._presence[1][:, atoms]
        return float(np.log(shares[level, np.arange(len(atoms))] / shares.sum(axis=0)).sum())

    def add(self, atom: int, level: int) -> ModelState:
        """Return the state with one more atom."""
        target, d = self.target, float(self.target.precision[level])
        s, q = float(self.sparsity[atom]), float(self.quality[atom])
        own = 1.0 / (d + s)
        n = len(self.active)
        active = _appended(self.active, atom)
        rows = target.moments.gram_rows(active)
        direction = self.inverse @ rows[:n, atom]
        # c_j = G_ji - G_ja Sigma G_ai, the Gram entries that the model leaves unexplained
        left = rows[n]
        left -= direction @ rows[:n]
        inverse = np.empty((n + 1, n + 1))
        scaled = own * direction
        block = inverse[:n, :n]
        np.multiply(scaled[:, np.newaxis], direction, out=block)
        block += self.inverse
        inverse[n, :n] = inverse[:n, n] = -scaled
        inverse[n, n] = own
        return self._moved(
            active,
            _appended(self.level, level),
            _appended(self.precision, d),
            inverse,
            _appended(self.mean - q * scaled, own * q),
            self.sparsity - own * (left * left),
            self.quality - (own * q) * left,
            self.error - 0.5 * own * q * q,
            self.log_det + 0.5 * math.log(d * own),
        )

    def remove(self, slot: int) -> ModelState:
        """Return the state without the atom at one position of `active`."""
        own, mean = float(self.inverse[slot, slot]), float(self.mean[slot])
        row = self.inverse[slot]
        # c_j of the model without the atom, times Sigma_ii
        left = row @ self.target.moments.gram_rows(self.active)
        others = _without(row, slot)
        ratio = others / own
        inverse = _without_both(self.inverse, slot)
        inverse -= ratio[:, np.newaxis] * others
        d = float(self.precision[slot])
        return self._moved(
            _without(self.active, slot),
            _without(self.level, slot),
            _without(self.precision, slot),
            inverse,
            _without(self.mean, slot) - mean * ratio,
            self.sparsity + left * left / own,
            self.quality + left * (mean / own),
            self.error + 0.5 * mean * mean / own,
            self.log_det - 0.5 * math.log(d * own),
        )

    def _moved(
        self,
        active: IndexArray,
        level: IndexArray,
        precision: Vector,
        inverse: Matrix,
        mean: Vector,
        sparsity: Vector,
        quality: Vector,
        error: float,
        log_det: float,
    ) -> ModelState:
        """Return an updated state; if rounding errors may have grown, factorised anew."""
        np.maximum(sparsity, 0.0, out=sparsity)
        moved = ModelState(
            self.target,
            active,
            level,
            precision,
            inverse,
            mean,
            sparsity,
            quality,
            error,
            log_det,
            self.n_updates + 1,
        )
        # not greater, for NaN
        is_exact = moved.n_updates < MAX_UPDATES and moved.rounding_error <= MAX_ROUNDING_ERROR
        return moved if is_exact else moved.moved_to(self.target)

    def moved_to(self, target: Target) -> ModelState:
        """Return the state with the same atoms and precisions under another target."""
        return make_state(target, self.active[self.n_fixed :], self.level[self.n_fixed :])


def make_state(target: Target, active: IndexArray, level: IndexArray) -> ModelState:
    """Return the state with given atoms and positions of their precisions in the grid.

    Atoms that are fixed are added.
    """
    moments = target.moments
    active = np.concatenate([target.fixed_atoms, active]).astype(np.intp)
    level = np.concatenate([np.full(len(target.fixed), -1), level]).astype(np.intp)
    if not len(active):
        error = max(target.rate + 0.5 * moments.target_ss, SMALLEST_ERROR)
        none, shape = np.empty(0), (0, 0)
        s, q = target.diagonal, moments.correlation
        return ModelState(target, active, level, none, np.empty(shape), none, s, q, error, 0.0)
    precision = np.concatenate([target.fixed, target.precision[level[len(target.fixed) :]]])
    rows = moments.gram_rows(active)
    factor = shifted_cholesky(rows[:, active], precision)
    if factor is None:  # the precisions are far above rounding errors of a unit diagonal
        raise FloatingPointError("the posterior precision of the weights is not finite")
    white = solve_lower_rows(factor, rows)
    projected = solve_lower(factor, moments.correlation[active])
    mean = solve_lower(factor, projected, transposed=True)
    error = target.rate + 0.5 * (moments.target_ss - float(projected @ projected))
    return ModelState(
        target,
        active,
        level,
        precision,
        inverse_from_cholesky(factor),
        mean,
        np.maximum(target.diagonal - np.einsum("ij,ij->j", white, white), 0.0),
        moments.correlation - mean @ rows,
        max(error, SMALLEST_ERROR),
        0.5 * float(np.log(precision).sum()) - float(np.log(factor.diagonal()).sum()),
    )


def draw_index(weights: Vector, rng: np.random.Generator) -> int:
    """Draw a position with probability proportional to its weight."""
    bounds = weights.cumsum()
    found = bounds.searchsorted(rng.random() * bounds[-1], side="right")
    return min(int(found), len(weights) - 1)


def _appended(values: np.ndarray, value: float) -> np.ndarray:
    """Return an array with one more entry: `numpy.append`, without its overhead."""
    longer = np.empty(len(values) + 1, dtype=values.dtype)
    longer[:-1], longer[-1] = values, value
    return longer


def _without(values: np.ndarray, slot: int) -> np.ndarray:
    """Return a vector without one entry."""
    shorter = np.empty(len(values) - 1, dtype=values.dtype)
    shorter[:slot], shorter[slot:] = values[:slot], values[slot + 1 :]
    return shorter


def _without_both(matrix: Matrix, slot: int) -> Matrix:
    """Return a matrix without one row and the column of the same number."""
    n = len(matrix) - 1
    smaller = np.empty((n, n))
    smaller[:slot, :slot], smaller[:slot, slot:] = matrix[:slot, :slot], matrix[:slot, slot + 1 :]
    smaller[slot:, :slot], smaller[slot:, slot:] = (
        matrix[slot + 1 :, :slot],
        matrix[slot + 1 :, slot + 1 :],
    )
    return smaller
