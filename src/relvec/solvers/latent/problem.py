"""Interface of the solvers for latent functions: problem, state and solution.

A block is a copy of the dictionary whose atoms enter one latent function. Two classes have one
block, the softmax has one for every class. An atom of a block has the number ``block * n_atoms +
atom``. A unit is a set of weights that share a precision: one atom in one block or, if the blocks
share precisions, one atom in all blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from relvec._checks import check_positive
from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.laplace.hessian import Hessian, Penalty
from relvec.laplace.mode import Mode, find_mode
from relvec.likelihoods.base import BoundLikelihood
from relvec.priors import BoundFlat, BoundPrior, BoundSmoothness
from relvec.solvers.base import Certificate, Monitor, check_penalties
from relvec.solvers.latent.signs import check_signs, has_wrong_sign

__all__ = ["LatentProblem", "LatentSolution", "LatentSolver", "LatentState"]


@dataclass(frozen=True)
class LatentState:
    """Active set with its log precisions, the mode of the weights and the objective."""

    active: IndexArray
    """Ascending."""
    log_precision: Vector
    mode: Mode
    objective: float

    def get_initial_weights(self, active: IndexArray) -> Vector:
        """Return the weights of this state for another active set; zero for new atoms."""
        mine = len(self.active)
        start = np.zeros(len(active) + len(self.mode.weights) - mine)
        _, new_places, old_places = np.intersect1d(
            active, self.active, assume_unique=True, return_indices=True
        )
        start[new_places] = self.mode.weights[old_places]
        start[len(active) :] = self.mode.weights[mine:]
        return start


@dataclass(frozen=True)
class LatentProblem:
    """An optimisation problem: maximise the penalised Laplace evidence over the precisions.

    Notes
    -----
    With `signs` the models are those of the probabilistic classification vector machine (Chen,
    Tino and Yao, 2009), whose weights have half-normal priors: a model is allowed if all weights
    at its mode have their signs. Under half-normal priors, the mode of any other model has some
    weights at zero; it is equivalent to the model without them.

    The evidence is that of the Gaussian around such a mode, its tails beyond zero included, and
    so that of a Gaussian prior, without the factors of the truncation: two for each atom, and
    the probability of all signs under the posterior. The latter has no closed form for
    several atoms, and with both a maximum would be hardly sparse: one atom of slope ``q`` and
    curvature ``s`` would gain by ``q (2 / (pi alpha))^(1/2)`` at large precision ``alpha``,
    whenever the slope has its sign, not only if ``q^2 > s``.

    No maximum is at the boundary of the allowed set: where a weight is zero, the model without it
    has the same mode and a higher evidence. So derivatives vanish at a maximum as they do without
    signs.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.likelihoods import Bernoulli, Poisson
    >>> from relvec.solvers import LaplaceSolver, LatentProblem
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(80, 3))
    >>> labels = Bernoulli().bind(Phi[:, 2] + 0.5 * rng.normal(size=80) > 0)
    >>> problem = LatentProblem(DenseDictionary(Phi), labels, min_gain=np.log(3))
    >>> LaplaceSolver().solve(problem).state.active
    array([2])
    >>> counts = Poisson().bind(rng.poisson(np.exp(Phi[:, 1])))
    >>> problem = LatentProblem(DenseDictionary(Phi), counts, min_gain=np.log(3))
    >>> LaplaceSolver().solve(problem).state.active
    array([1])
    """

    dictionary: Dictionary
    likelihood: BoundLikelihood
    has_intercept: bool = True
    """Whether each latent function has an intercept, with a flat prior."""
    min_gain: Vector = 1e-3  # type: ignore[assignment]  # broadcast below
    """Minimum gain in log evidence for an atom to be in the model, one number or one per atom."""
    prior: BoundPrior = BoundFlat()  # noqa: RUF009  # immutable
    """Prior of the precisions: flat, a penalty on effective degrees of freedom, or (for
    `LaplaceFixedPointSolver` only) a Gamma density. Other densities raise an error. A prior of the
    noise variance has no effect: there is no noise to estimate."""
    is_penalty_prior: bool = True
    """Whether degrees of freedom are computed at the reference curvature of the likelihood, which
    does not depend on the targets and so makes the penalty a prior, or at the curvature of the
    mode."""
    largest_latent: float | None = None
    """Bound on the prior standard deviation of the contribution of one atom to a latent function,
    over the training rows; None for that of the likelihood. Without it the variances would grow
    without limit for separable classes."""
    signs: Vector | None = None
    """One of -1, 0 and 1 for each atom of the dictionary: weights of sign 1 are positive, of sign
    -1 negative, of sign 0 free. None (or all zeros) leaves all weights free. The intercept is
    always free."""
    shared: bool = False
    """Whether an atom is in all latent functions with one precision and one penalty, or has a
    precision and a penalty in each."""

    n_blocks: int = field(init=False)
    """Number of latent functions that atoms may enter."""
    is_penalty_at_reference: bool = field(init=False)
    """Whether there is a penalty on degrees of freedom at the reference curvature."""
    n_tied: int = field(init=False)
    """Number of weights of a unit, which share a precision and enter and leave together."""
    regression_prior: BoundSmoothness = field(init=False)
    """Prior of the regressions at fixed curvature: the penalty on degrees of freedom alone."""

    def __post_init__(self) -> None:
        """Check that the parts are bound and fit each other; compute derived fields."""
        if not isinstance(self.dictionary, Dictionary):
            raise TypeError(
                f"dictionary must be a Dictionary; got {type(self.dictionary).__name__}. Of an "
                "array, wrap it: DenseDictionary(array)."
            )
        n_rows, n_atoms = self.dictionary.shape
        if not isinstance(self.likelihood, BoundLikelihood):
            raise TypeError(f"likelihood must be bound to targets; got {self.likelihood!r}.")
        if len(self.likelihood.target) != n_rows:
            raise ValueError(
                f"the dictionary has {n_rows} rows, the likelihood {len(self.likelihood.target)} "
                "targets; both need the same number."
            )
        penalties = check_penalties(self.min_gain, self.prior, n_atoms)
        if self.prior.rate_hyperprior or (self.prior.has_density and self.prior.is_removable):
            raise ValueError(
                f"a {type(self.prior).__name__}, a prior with a density of its own, is for "
                "regression only: latent functions need FlatPrior or SmoothnessPrior, or a "
                "GammaPrior with LaplaceFixedPointSolver."
            )
        if self.largest_latent is not None:
            check_positive("largest_latent", self.largest_latent, also="or None")
        n_blocks = self.likelihood.recipe.n_latent
        completed = {
            "min_gain": penalties,
            "signs": None if self.signs is None else check_signs(self.signs, n_atoms, n_blocks),
            "n_blocks": n_blocks,
            "is_penalty_at_reference": self.prior.is_penalised and self.is_penalty_prior,
            "n_tied": n_blocks if self.shared else 1,
            "regression_prior": BoundSmoothness(self.prior.penalty),
        }
        for name, known in completed.items():
            object.__setattr__(self, name, known)

    # ------------------------------------------------------------------ units

    def expand_units(self, units: IndexArray) -> IndexArray:
        """Return the numbers of all weights of some units, block by block."""
        starts = np.arange(self.n_tied)[:, None] * self.dictionary.shape[1]
        return (starts + units).ravel()

    def arrange_by_unit(self, values: np.ndarray) -> np.ndarray:
        """Arrange values of shape (n_atoms, n_blocks) by unit, its weights in the second axis."""
        return values if self.n_tied > 1 else values.T.reshape(-1, 1)

    # ------------------------------------------------------------------ the objective

    def evaluate(
        self,
        active: IndexArray,
        log_precision: Vector,
        columns: Matrix,
        start: Vector | None = None,
        *,
        is_checked: bool = True,
    ) -> LatentState:
        """Compute the mode and the objective of a model with given active atoms.

        The objective is minus infinity if a weight has the wrong sign or the Laplace approximation
        is not credible (see `Mode.is_credible`), unless `is_checked` is False.
        """
        sizes = None
        if self.n_blocks > 1:
            blocks = active // self.dictionary.shape[1]
            sizes = tuple(np.bincount(blocks, minlength=self.n_blocks).tolist())
        mode = find_mode(
            columns,
            log_precision,
            self.likelihood,
            start,
            has_intercept=self.has_intercept,
            sizes=sizes,
        )
        # min_gain is per unit, and a unit has n_tied entries in the active set.
        penalties = float(self.min_gain[active % self.dictionary.shape[1]].sum())
        objective = mode.log_evidence - penalties / self.n_tied
        if self.prior.is_penalised:
            degrees = self.get_penalty_hessian(mode).degrees_of_freedom
            objective -= float((self.penalty_of(active) * degrees).sum())
        if self.prior.has_density:
            # There is no noise variance: precisions are those of the density with sigma^2 = 1.
            objective += float(self.prior.log_density(log_precision, 1.0).sum()) / self.n_tied
        if is_checked and self.signs is not None and self.find_wrong_signs(active, mode).any():
            objective = -np.inf
        if is_checked and self.n_blocks > 1 and not mode.is_credible(self.likelihood):
            objective = -np.inf
        return LatentState(active, log_precision, mode, objective)

    def remove_wrong_signs(self, state: LatentState, columns: Matrix) -> LatentState:
        """Remove atoms whose weights have the wrong sign until there are none.

        The others keep their precisions. The loop ends, because the model without atoms is allowed.
        """
        while (wrong := self.find_wrong_signs(state.active, state.mode)).any():
            columns, active = columns[:, ~wrong], state.active[~wrong]
            state = self.evaluate(
                active, state.log_precision[~wrong], columns, state.get_initial_weights(active)
            )
        return state

    def find_wrong_signs(self, active: IndexArray, mode: Mode) -> BoolArray:
        """Return which active atoms have a weight of the wrong sign."""
        if self.signs is None:
            return np.zeros(len(active), dtype=bool)
        return has_wrong_sign(self.signs[active], mode.weights[: len(active)])

    def get_penalty_hessian(self, mode: Mode) -> Hessian:
        """Return the Hessian at which the degrees of freedom of the penalty are computed."""
        if not self.is_penalty_at_reference:
            return mode.hessian
        # Same design and precisions, B replaced by its bound: gamma then depends on the precisions
        # only, not on the mode, which makes exp(-c D) a prior.
        return mode.design.hessian(
            mode.design.compute_reference_curvature(self.likelihood), mode.hessian.precision
        )

    def compute_entry_statistics(
        self, state: LatentState
    ) -> tuple[BoolArray, Matrix, tuple[Matrix, Matrix] | None]:
        """Return for every atom in every block whether it may enter, its ``s``, and its penalty.

        The last are ``t`` and ``r``, as of `compute_entry_penalty`, or None.
        """
        penalty = None
        if self.prior.is_penalised and not self.is_penalty_at_reference:
            penalty = self.prior.penalty, self.penalty_of(state.active)
        raw, s, r = state.mode.hessian.compute_entry_statistics(self.dictionary, penalty)
        admissible: BoolArray = (
            s > 1e-9 * raw
        )  # else a linear combination of active atoms, to rounding
        # Rounding may leave zero or less of phi'B phi - phi'BX S X'B phi; bounded below, since
        # theta / s and logarithms of s are needed.
        s = np.maximum(s, 1e-9 * np.maximum(raw, 1e-290))
        if self.is_penalty_at_reference:
            return admissible, s, self.compute_entry_penalty(state)
        # At the curvature of the mode t of the penalty is s of the evidence.
        return admissible, s, None if r is None else (s, r)

    def compute_entry_penalty(self, state: LatentState) -> tuple[Matrix, Matrix]:
        """Return ``s`` and ``r`` of inactive atoms; the penalty is ``r / (precision + s)``."""
        penalty = self.prior.penalty, self.penalty_of(state.active)
        _, s, r = self.get_penalty_hessian(state.mode).compute_entry_statistics(
            self.dictionary, penalty
        )
        assert r is not None
        return np.maximum(s, 0.0), r

    def penalty_of(self, active: IndexArray) -> Penalty:
        """Penalty per degree of freedom of active atoms: one number for all, or one for each."""
        penalty = self.prior.penalty
        if isinstance(penalty, np.ndarray):
            return penalty[active % self.dictionary.shape[1]]
        return penalty

    def gradient(self, state: LatentState, *, exact: bool) -> Vector:
        """Compute the derivative of the objective in the log precision of every weight."""
        mode = state.mode
        c = self.penalty_of(state.active) if self.prior.is_penalised else 0.0
        # At the reference curvature the degrees of freedom do not depend on the mode: their
        # derivative is added below and has no part from the change of B.
        own = 0.0 if self.is_penalty_at_reference else c
        result = mode.gradient(self.likelihood, own, exact=exact)
        if self.is_penalty_at_reference:
            result = result + self.get_penalty_hessian(mode).degrees_of_freedom_slope(c)
        if self.prior.has_density:
            result = result + self.prior.derivatives(state.log_precision, 1.0)[0] / self.n_tied
        return result

    def removal_loss(self, state: LatentState) -> Vector:
        """Compute twice the evidence lost with each unit at fixed curvature, without penalties.

        For a single weight ``w`` with posterior variance ``S`` and precision ``alpha`` this is
        ``w^2 / S + log(alpha S)``, twice the contribution of an atom to the log evidence (Tipping
        and Faul, 2003). For a unit of several weights ``S`` is a matrix block.
        """
        mode, k = state.mode, len(state.active) // self.n_tied
        if self.n_tied == 1:
            # In terms of s and q: S = 1 / (alpha + s) and w = q S, so w^2 / S = q^2 / (alpha + s)
            # and log(alpha S) = log(alpha / (alpha + s)).
            variance = mode.hessian.covariance.diagonal()[:k]
            loss: Vector = mode.weights[:k] ** 2 / variance
            return loss + np.log(mode.hessian.precision[:k] * variance)
        # Positions of the n_tied weights of each unit: block by block, k apart.
        pairs = np.arange(k)[:, None] + k * np.arange(self.n_tied)
        blocks = mode.hessian.covariance[pairs[:, :, None], pairs[:, None, :]]
        weights = mode.weights[pairs]
        fit = np.einsum("ij,ij->i", weights, np.linalg.solve(blocks, weights[:, :, None])[:, :, 0])
        # log|alpha S_block|: the same determinant ratio for several weights.
        volume: Vector = np.linalg.slogdet(blocks * mode.hessian.precision[pairs[:, :1], None])[1]
        return fit + volume

    def bounds(self, columns: Matrix) -> tuple[Vector, Vector]:
        """Compute the smallest and largest log precisions of some atoms.

        The smallest follow from the bound `largest_latent`: ``mean square of the atom / alpha <=
        largest_latent^2``. At precisions larger by a factor of e^30 an atom has no influence.
        """
        largest = self.largest_latent or self.likelihood.largest_latent
        # Log mean square of the atoms over the rows, centred if there is an intercept.
        share = np.full(len(columns), 1.0 / len(columns))
        if self.likelihood.weight is not None:
            share = self.likelihood.weight / self.likelihood.weight.sum()
        if self.has_intercept:
            # A constant shift of an atom is absorbed by the intercept and does not count.
            columns = columns - share @ columns
        log_spread: Vector = np.log(np.maximum(share @ np.square(columns), 1e-300))
        least = log_spread - 2.0 * float(np.log(largest))
        return least, least + 30.0


@dataclass(frozen=True)
class LatentSolution:
    """The answer of a solver for latent functions.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.likelihoods import Softmax
    >>> from relvec.solvers import LaplaceSolver, LatentProblem
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(90, 2))
    >>> noisy = Phi[:, 0] + 0.5 * rng.normal(size=90)
    >>> classes = Softmax(3).bind(np.digitize(noisy, [-0.5, 0.5]))
    >>> problem = LatentProblem(DenseDictionary(Phi), classes, min_gain=np.log(2))
    >>> solution = LaplaceSolver().solve(problem)
    >>> solution.state.active % 2  # the atom, for each class that uses it
    array([0, 0])
    >>> solution.converged, bool(np.all(np.diff(solution.trace) >= 0.0))
    (True, True)
    """

    state: LatentState
    n_iter: int
    converged: bool
    certificate: Certificate
    """Derivatives of the Laplace evidence at the end: exact ones if the solver is."""
    trace: tuple[float, ...] = ()
    """Objective after each accepted step; it never falls, unless documented by the solver."""


class LatentSolver(Protocol):
    """Protocol of solvers for latent functions: turn a `LatentProblem` into a `LatentSolution`.

    Examples
    --------
    >>> from relvec import RVMClassifier
    >>> from relvec.solvers import LaplaceSolver
    >>> RVMClassifier(solver=LaplaceSolver(exact=True))
    RVMClassifier(solver=LaplaceSolver(exact=True))
    """

    def solve(
        self,
        problem: LatentProblem,
        *,
        warm_start: tuple[IndexArray, Vector] | None = None,
        monitor: Monitor | None = None,
    ) -> LatentSolution:
        """Maximise the objective of `problem`."""
        ...
