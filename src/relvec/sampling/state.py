"""State of a sampled model, with updates of rank one when an atom enters or leaves.

For the atoms ``a`` in the model, ``Sigma = H^-1`` and ``mu = Sigma b`` are kept, and of every atom
``j`` the factors ``s_j = G_jj - G_ja Sigma G_aj`` and ``q_j = b_j - G_ja mu`` (Tipping & Faul 2003).
An update costs one product with the Gram rows of the model; rounding errors are removed by a new
factorisation after a number of updates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
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

MAX_DRIFT = 1e-3
"""Rounding errors of the log likelihood, in nats, above which factorisations become more
frequent."""

SMALLEST_ERROR = 1e-300


@dataclass(frozen=True, eq=False)
class ModelState:
    """Atoms in the model with their precisions, and all that moves need to know of them."""

    target: Target
    active: IndexArray
    """Atoms in the model, those of `Target.fixed` first, the others in any order."""
    level: IndexArray
    """Position of their precisions in the grid; -1 for those that are fixed."""
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
    n_allowed: int = MAX_UPDATES
    """Updates after which to factorise."""
    drift: float = 0.0
    """Rounding error of the log likelihood, in nats, that the last factorisation removed."""

    @property
    def n_fixed(self) -> int:
        """Number of atoms that cannot leave the model."""
        return len(self.target.fixed)

    @property
    def size(self) -> int:
        """Number of other atoms in the model."""
        return len(self.active) - self.n_fixed

    @property
    def precision(self) -> Vector:
        """Precisions of the atoms in the model."""
        return find_precisions(self.target, self.level)

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

    @cached_property
    def log_odds(self) -> Vector:
        """Log odds that each atom is in the model, given all others; minus infinity if it cannot.

        They are summed over the precisions of the atom.
        """
        target, place, fixed = self.target, self.active[self.n_fixed :], self.n_fixed
        sparsity, quality = self.sparsity, self.quality
        error: float | Vector = self.error
        if len(place):
            # atoms in the model without themselves: s = 1 / Sigma_ii - d, q = mu_i / Sigma_ii
            own, mean = self.inverse.diagonal()[fixed:], self.mean[fixed:]
            sparsity, quality = sparsity.copy(), quality.copy()
            sparsity[place] = np.maximum(1.0 / own - self.precision[fixed:], 0.0)
            quality[place] = mean / own
            error = np.full(len(sparsity), self.error)
            error[place] += 0.5 * mean**2 / own
        odds, _ = target.weigh(sparsity, quality, error)
        n, prior = target.n_movable, target.size_prior
        # with all atoms in the model there is no larger one
        enters = prior.log_odds(self.size, n) if self.size < n else 0.0
        odds += enters
        if len(place):
            odds[place] += prior.log_odds(self.size - 1, n) - enters
        odds[target.immovable] = -np.inf
        return odds

    @cached_property
    def flip_rates(self) -> Vector:
        """Probability that each atom enters or leaves if its presence were drawn anew."""
        odds = self.log_odds.copy()
        odds[self.active] *= -1.0
        odds[self.target.immovable] = -np.inf
        return np.asarray(expit(odds))

    def find_slot(self, atom: int) -> int | None:
        """Return the position of an atom in `active`, or None."""
        found = np.flatnonzero(self.active == atom)
        return int(found[0]) if len(found) else None

    def draw_level(self, atom: int, rng: np.random.Generator) -> int:
        """Draw the precision of an atom that enters, from its conditional distribution."""
        one = np.array([atom])
        _, shares = self.target.weigh(self.sparsity[one], self.quality[one], self.error)
        return draw_index(shares[:, 0], rng)

    def add(self, atom: int, level: int) -> ModelState:
        """Return the state with one more atom."""
        target, d = self.target, float(self.target.precision[level])
        s, q = float(self.sparsity[atom]), float(self.quality[atom])
        own = 1.0 / (d + s)
        n = len(self.active)
        active = np.empty(n + 1, dtype=np.intp)
        active[:n], active[n] = self.active, atom
        rows = target.moments.gram_rows(active)
        direction = self.inverse @ rows[:n, atom]
        # c_j = G_ji - G_ja Sigma G_ai, the Gram entries that the model leaves unexplained
        left = rows[n] - direction @ rows[:n]
        inverse = np.empty((n + 1, n + 1))
        inverse[:n, :n] = self.inverse + own * np.multiply.outer(direction, direction)
        inverse[n, :n] = inverse[:n, n] = -own * direction
        inverse[n, n] = own
        return self._moved(
            active=active,
            level=np.append(self.level, level),
            inverse=inverse,
            mean=np.append(self.mean - own * q * direction, own * q),
            sparsity=self.sparsity - own * left**2,
            quality=self.quality - own * q * left,
            error=self.error - 0.5 * own * q * q,
            log_det=self.log_det + 0.5 * math.log(d * own),
        )

    def remove(self, slot: int) -> ModelState:
        """Return the state without the atom at one position of `active`."""
        own, mean = float(self.inverse[slot, slot]), float(self.mean[slot])
        row = self.inverse[slot]
        # c_j of the model without the atom, times Sigma_ii
        left = row @ self.target.moments.gram_rows(self.active)
        keep = np.delete(np.arange(len(self.active)), slot)
        ratio = row[keep] / own
        d = float(self.target.precision[self.level[slot]])
        return self._moved(
            active=self.active[keep],
            level=self.level[keep],
            inverse=self.inverse[np.ix_(keep, keep)] - np.multiply.outer(ratio, row[keep]),
            mean=self.mean[keep] - mean * ratio,
            sparsity=self.sparsity + left**2 / own,
            quality=self.quality + left * (mean / own),
            error=self.error + 0.5 * mean * mean / own,
            log_det=self.log_det - 0.5 * math.log(d * own),
        )

    def _moved(
        self,
        active: IndexArray,
        level: IndexArray,
        inverse: Matrix,
        mean: Vector,
        sparsity: Vector,
        quality: Vector,
        error: float,
        log_det: float,
    ) -> ModelState:
        """Return an updated state; if rounding errors may have grown, factorised anew."""
        np.maximum(sparsity, 0.0, out=sparsity)
        moved = replace(
            self,
            active=active,
            level=level,
            inverse=inverse,
            mean=mean,
            sparsity=sparsity,
            quality=quality,
            error=error,
            log_det=log_det,
            n_updates=self.n_updates + 1,
        )
        is_valid = error > SMALLEST_ERROR and bool((inverse.diagonal() > 0.0).all())
        return moved if is_valid and moved.n_updates < self.n_allowed else moved._factorised()

    def _factorised(self) -> ModelState:
        """Return the state without rounding errors; adapt how often this is done to their size."""
        fresh = self.moved_to(self.target)
        is_valid = self.error > SMALLEST_ERROR
        drift = abs(self.log_likelihood - fresh.log_likelihood) if is_valid else math.inf
        n_allowed = self.n_allowed // 2 if drift > MAX_DRIFT else self.n_allowed + 1
        return replace(fresh, drift=drift, n_allowed=min(max(n_allowed, 1), MAX_UPDATES))

    def moved_to(self, target: Target) -> ModelState:
        """Return the state with the same atoms and precisions under another target."""
        return make_state(target, self.active[self.n_fixed :], self.level[self.n_fixed :])


def make_state(target: Target, active: IndexArray, level: IndexArray) -> ModelState:
    """Return the state with given atoms and positions of their precisions in the grid.

    Atoms that are fixed are added.
    """
    moments, n_atoms = target.moments, len(target.movable)
    active = np.concatenate([target.fixed_atoms, active]).astype(np.intp)
    level = np.concatenate([np.full(len(target.fixed), -1), level]).astype(np.intp)
    if not len(active):
        error = max(target.rate + 0.5 * moments.target_ss, SMALLEST_ERROR)
        none = np.empty(0)
        return ModelState(
            target, active, level, np.empty((0, 0)), none, target.diagonal, moments.correlation, error, 0.0
        )
    precision = find_precisions(target, level)
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
        inverse_from_cholesky(factor),
        mean,
        np.maximum(target.diagonal - np.einsum("ij,ij->j", white, white), 0.0),
        moments.correlation - mean @ rows,
        max(error, SMALLEST_ERROR),
        0.5 * float(np.log(precision).sum()) - float(np.log(factor.diagonal()).sum()),
    )


def find_precisions(target: Target, level: IndexArray) -> Vector:
    """Return the precisions of atoms at positions of the grid, of fixed atoms first."""
    n_fixed = len(target.fixed)
    return np.concatenate([target.fixed, target.precision[level[n_fixed:]]])


def draw_index(weights: Vector, rng: np.random.Generator) -> int:
    """Draw a position with probability proportional to its weight."""
    bounds = np.cumsum(weights)
    found = np.searchsorted(bounds, rng.random() * bounds[-1], side="right")
    return int(min(found, len(weights) - 1))
