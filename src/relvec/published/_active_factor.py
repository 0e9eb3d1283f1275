"""State of the reversible-jump sampler, and what single atoms add to its likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relvec._linalg import log_det_cholesky, solve_lower
from relvec._typing import IndexArray, Matrix, Vector
from relvec.evidence import factorise, gaussian_objective
from relvec.moments.base import Moments

__all__ = ["MOVES", "Atom", "Likelihood", "ReversibleJumpState"]

MOVES = ("birth", "death", "replacement", "update", "noise")
"""Names of the moves, in the order of the counts of a state."""


@dataclass(frozen=True, eq=False)
class ReversibleJumpState:
    """State of the chain: atoms, precisions and noise, with the factor of the active block."""

    active: IndexArray
    inactive: IndexArray
    alpha: Vector
    """Precisions of the active atoms, in the units of the sampler."""
    noise_variance: float
    lam: Vector
    """Scaled precisions ``alpha sigma^2`` of the unit-norm atoms."""
    lower: Matrix
    """Cholesky factor ``L`` of ``G + Lam``."""
    half: Vector
    """``L^-1 Phi't``."""
    n_steps: int = 0
    proposed: tuple[int, ...] = (0,) * len(MOVES)
    """Number of proposals of each of `MOVES` since the start."""
    accepted: tuple[int, ...] = (0,) * len(MOVES)


class Atom(NamedTuple):
    """Sparsity and quality factor of one atom in the model without it (see `relvec.evidence`)."""

    s: float
    q: float

    def log_gain(self, lam: float, noise_variance: float) -> float:
        """Return ``l(alpha)``: what the atom adds to the log evidence (Tipping & Faul, 2003)."""
        total = lam + self.s
        return 0.5 * (math.log(lam / total) + self.q * self.q / (total * noise_variance))


class Likelihood:
    """Marginal likelihood of atoms, precisions and noise, from moments.

    Parameters
    ----------
    moments : Moments
        Moments of dictionary and target.
    raw_units : bool
        Whether precisions are those of raw weights, and not of the weights of unit-norm atoms.
    """

    def __init__(self, moments: Moments, raw_units: bool) -> None:
        self.moments = moments
        # A chain visits all atoms sooner or later, so all Gram rows are fetched at once.
        self._gram = moments.gram_rows(np.arange(moments.n_atoms))
        self._correlation: list[float] = moments.correlation.tolist()
        # Below its resolution s is rounding error.
        self._resolution: list[float] = moments.resolution.tolist()
        # w = v / norm for the weight v of the unit-norm atom: alpha w^2 = (alpha / norm^2) v^2.
        self.scale = 1.0 / moments.column_norm**2 if raw_units else np.ones(moments.n_atoms)

    def condition(
        self, active: IndexArray, inactive: IndexArray, alpha: Vector, noise_variance: float
    ) -> ReversibleJumpState:
        """Return the state with given atoms, precisions and noise."""
        # Factorised anew at each accepted move, not updated: at usual sizes LAPACK needs less time
        # than the overhead of an update in NumPy. Ill-conditioned kernels accumulate no errors.
        lam = alpha * self.scale[active] * noise_variance
        factor = factorise(self._gram[active[:, np.newaxis], active], lam)
        half = solve_lower(factor.lower, self.moments.correlation[active])
        return ReversibleJumpState(
            active, inactive, alpha, noise_variance, factor.lam, factor.lower, half
        )

    def absent(self, state: ReversibleJumpState, atom: int) -> Atom:
        """Return the factors of an atom that is not in the model."""
        # s = phi' K^-1 phi = 1 - g' (G + Lam)^-1 g with the Gram row g = L v, and q likewise.
        v = solve_lower(state.lower, self._gram[atom].take(state.active))
        s = max(1.0 - float(v @ v), self._resolution[atom])
        return Atom(s, self._correlation[atom] - float(v @ state.half))

    def present(self, state: ReversibleJumpState, position: int) -> Atom:
        """Return the factors of an active atom, in the model without it."""
        return self._leave_out(state, _unit_solve(state.lower, position), position)

    def exchanged(self, state: ReversibleJumpState, position: int, atom: int) -> tuple[Atom, Atom]:
        """Return the factors of an active and of an absent atom, in the model without both."""
        x = _unit_solve(state.lower, position)
        v = solve_lower(state.lower, self._gram[atom].take(state.active))
        variance = float(x @ x)
        # Without atom i, (G + Lam)^-1 loses S_i S_i' / S_ii, and S_i' g = x'v.
        shared = float(v @ x)
        s = 1.0 - float(v @ v) + shared * shared / variance
        q = self._correlation[atom] - float(v @ state.half)
        q += shared * float(x @ state.half) / variance
        return self._leave_out(state, x, position), Atom(max(s, self._resolution[atom]), q)

    def _leave_out(self, state: ReversibleJumpState, x: Vector, position: int) -> Atom:
        # x = L^-1 e_i gives S_ii = x'x and mu_i = x' L^-1 Phi't; then s = 1 / S_ii - lam_i and
        # q = mu_i / S_ii (see `relvec.evidence.compute_leave_one_out`).
        variance = float(x @ x)
        s = 1.0 / variance - float(state.lam[position])
        s = max(s, self._resolution[state.active[position]])
        return Atom(s, float(x @ state.half) / variance)

    def scaled(self, atom: int, alpha: float, noise_variance: float) -> float:
        """Return ``lam`` of an atom with precision `alpha`."""
        return alpha * float(self.scale[atom]) * noise_variance

    def draw_weights(self, state: ReversibleJumpState, rng: np.random.Generator) -> Vector:
        """Draw weights of the unit-norm atoms given precisions and noise."""
        # mean L^-T half and covariance sigma^2 (L L')^-1 (Tipping 2001, eqs. 12 and 13)
        noise = rng.standard_normal(len(state.half)) * math.sqrt(state.noise_variance)
        return solve_lower(state.lower, state.half + noise, transposed=True)

    def squared_error(self, state: ReversibleJumpState, weights: Vector) -> float:
        """Return ``|t - Phi w|^2`` for weights of the unit-norm atoms."""
        # G w = L L' w - Lam w
        fitted = state.lower @ (weights @ state.lower) - state.lam * weights
        right = self.moments.correlation[state.active]
        value = self.moments.target_ss + float(weights @ (fitted - 2.0 * right))
        return max(value, 0.0)

    def log_evidence(self, state: ReversibleJumpState) -> float:
        """Return the log evidence of atoms, precisions and noise."""
        quadratic = max(self.moments.target_ss - float(state.half @ state.half), 0.0)
        log_det = log_det_cholesky(state.lower) - float(np.log(state.lam).sum())
        n = self.moments.n_effective
        return gaussian_objective(n, quadratic, log_det, state.noise_variance)


def _unit_solve(lower: Matrix, position: int) -> Vector:
    """Return ``L^-1 e_i``."""
    unit = np.zeros(len(lower))
    unit[position] = 1.0
    return solve_lower(lower, unit)
