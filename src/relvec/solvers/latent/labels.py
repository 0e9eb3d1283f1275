"""The problem a classification solver is given and the answer it returns.

The search works on blocks: a block is a copy of the dictionary whose atoms enter one logit. Two
classes have one logit and one block; the softmax has a block for every class. An atom of a
block has the number ``block * n_atoms + atom``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from relvec._typing import BoolArray, IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.laplace.binary import Labels, Mode, bound_degrees, bound_entry, find_mode
from relvec.likelihoods.bernoulli import WorkingResponse
from relvec.priors import BoundFlat, BoundPrior
from relvec.solvers.base import Certificate, Monitor, Progress
from relvec.solvers.latent.signs import check_signs, has_wrong_sign

__all__ = [
    "EvidenceProblem",
    "EvidenceState",
    "LabelProblem",
    "LabelSolution",
    "LabelSolver",
    "LabelState",
    "Stopped",
    "listening",
    "refuse_gamma",
]

LOG_RANGE = 30.0
"""Precisions may exceed the smallest allowed by a factor of e to this power."""


class _Labels(Protocol):
    """What the search asks of the data."""

    @property
    def weight(self) -> Vector | None: ...
    @property
    def has_intercept(self) -> bool: ...


class _Mode(Protocol):
    """What the search asks of a mode."""

    @property
    def weights(self) -> Vector: ...
    @property
    def precision(self) -> Vector: ...
    @property
    def n_atoms(self) -> int: ...
    @property
    def covariance(self) -> Matrix: ...
    @property
    def log_evidence(self) -> float: ...
    @property
    def degrees(self) -> float: ...
    def gradient(self, c: float, *, exact: bool) -> Vector: ...


AnyLabels = TypeVar("AnyLabels", bound=_Labels)
AnyMode = TypeVar("AnyMode", bound=_Mode)


@dataclass(frozen=True)
class EvidenceState(Generic[AnyMode]):
    """An active set with its log precisions, evaluated."""

    active: IndexArray
    """Ascending."""
    log_precision: Vector
    mode: AnyMode
    objective: float

    def removal_loss(self) -> Vector:
        """Twice the evidence lost at fixed curvature with each atom, prices left out."""
        k = len(self.active)
        variance = self.mode.covariance.diagonal()[:k]
        loss: Vector = self.mode.weights[:k] ** 2 / variance
        return loss + np.log(self.mode.precision[:k] * variance)

    def start_for(self, active: IndexArray) -> Vector:
        """Weights of this state for another active set; zero for atoms it does not have."""
        mine = len(self.active)
        start = np.zeros(len(active) + len(self.mode.weights) - mine)
        _, there, here = np.intersect1d(
            active, self.active, assume_unique=True, return_indices=True
        )
        start[there] = self.mode.weights[here]
        start[len(active) :] = self.mode.weights[mine:]
        return start


@dataclass(frozen=True)
class EvidenceProblem(ABC, Generic[AnyLabels, AnyMode]):
    """Maximise the (penalised) Laplace evidence of labels over the precisions."""

    dictionary: Dictionary
    labels: AnyLabels
    min_gain: Vector = 1e-3  # type: ignore[assignment]  # broadcast below
    """Per atom, or one number for all: log evidence an atom must bring to be in the model."""
    prior: BoundPrior = BoundFlat()  # noqa: RUF009  # immutable
    """What the prior adds to the log evidence: one penalty for all atoms, or Gamma densities."""
    is_prior: bool = True
    """Whether degrees of freedom are counted at the largest curvature, which makes the price a
    prior, or at the curvature of the model itself."""
    largest_logit: float = 100.0
    """Bound on the prior standard deviation of what one atom adds to a logit, over the
    training rows. Separable classes would ask for more and more."""

    def __post_init__(self) -> None:
        """Give every atom its price."""
        prices = np.broadcast_to(np.asarray(self.min_gain, float), (self.dictionary.shape[1],))
        object.__setattr__(self, "min_gain", prices)

    @property
    def smoothness(self) -> float:
        """Penalty ``c`` on one effective degree of freedom."""
        if np.ndim(self.prior.penalty):
            raise ValueError(
                "There is only one penalty on degrees of freedom here, for all atoms; penalties by "
                "group are for regressors. Use SmoothnessPrior without by."
            )
        return float(self.prior.penalty)

    n_blocks = 1
    """Number of logits that atoms may enter."""

    @property
    def required_signs(self) -> Vector | None:
        """Sign that the weight of each atom of the dictionary must have, or None if none must."""
        return None

    @abstractmethod
    def find_mode(
        self, active: IndexArray, log_precision: Vector, atoms: Matrix, start: Vector | None
    ) -> AnyMode:
        """Find the mode of the weights of a model whose active atoms are given."""

    @abstractmethod
    def bound_degrees(self, mode: AnyMode) -> tuple[float, Vector]:
        """Degrees of freedom at the largest curvature, and minus their gradient."""

    @abstractmethod
    def bound_entry(self, mode: AnyMode) -> list[tuple[Vector, Vector]]:
        """Return, for each block, what absent atoms would add to `bound_degrees`.

        An atom that enters with precision ``a`` adds ``r / (a + s)``; the result is s and r.
        """

    @abstractmethod
    def regressions(self, mode: AnyMode) -> list[WorkingResponse]:
        """Return the regression that each block looks like at the mode."""

    @abstractmethod
    def residuals(self, mode: AnyMode) -> list[Vector]:
        """Return the slope of the log likelihood in the logit of each block."""

    def price(self, active: IndexArray) -> float:
        """What atoms have to bring to be in the model, added up."""
        return float(self.min_gain[active % self.dictionary.shape[1]].sum())

    def evaluate(
        self,
        active: IndexArray,
        log_precision: Vector,
        atoms: Matrix,
        start: Vector | None = None,
    ) -> EvidenceState[AnyMode]:
        """Find the mode and the objective of a model whose active atoms are given.

        The objective of a model with a weight of the wrong sign, or at whose mode the
        approximation `is_vague`, is minus infinity.
        """
        mode = self.find_mode(active, log_precision, atoms, start)
        objective = mode.log_evidence - self.price(active)
        if self.smoothness:
            objective -= self.smoothness * self.degrees(mode)
        if self.prior.has_density:
            objective += float(self.prior.log_density(log_precision, 1.0).sum())
        if self.is_wrong(active, mode).any() or self.is_vague(mode):
            objective = -np.inf
        return EvidenceState(active, log_precision, mode, objective)

    def is_wrong(self, active: IndexArray, mode: AnyMode) -> BoolArray:
        """Tell which active atoms have a weight of the wrong sign."""
        signs = self.required_signs
        if signs is None:
            return np.zeros(len(active), dtype=bool)
        return has_wrong_sign(signs[active], mode.weights[: len(active)])

    def is_vague(self, mode: AnyMode) -> bool:
        """Tell whether the evidence is not to be believed; here, it always is believed.

        With one logit the excess that `SoftmaxProblem` looks for was found to be mild.
        """
        return False

    def evaluate_allowed(
        self,
        active: IndexArray,
        log_precision: Vector,
        atoms: Matrix,
        start: Vector | None = None,
    ) -> EvidenceState[AnyMode]:
        """Evaluate a model less the atoms whose weights have the wrong sign, until none has.

        The others keep their precisions. This ends: the model without atoms is allowed.
        """
        state = self.evaluate(active, log_precision, atoms, start)
        while (wrong := self.is_wrong(state.active, state.mode)).any():
            atoms, active = atoms[:, ~wrong], state.active[~wrong]
            state = self.evaluate(
                active, state.log_precision[~wrong], atoms, state.start_for(active)
            )
        return state

    def degrees(self, mode: AnyMode) -> float:
        """Degrees of freedom that have a price."""
        return self.bound_degrees(mode)[0] if self.is_prior else mode.degrees

    def gradient(self, mode: AnyMode, *, exact: bool) -> Vector:
        """Derivative of the objective in the log precisions."""
        c = self.smoothness
        result = mode.gradient(0.0 if self.is_prior else c, exact=exact)
        if c and self.is_prior:
            result = result + c * self.bound_degrees(mode)[1]
        if self.prior.has_density:
            result = result + self.prior.slopes(np.log(mode.precision[: mode.n_atoms]), 1.0)[0]
        return result

    def least_log_precision(self, atoms: Matrix) -> Vector:
        """Smallest log precisions allowed for some atoms: the bound on logits."""
        n_rows = len(atoms)
        share = np.full(n_rows, 1.0 / n_rows)
        if self.labels.weight is not None:
            share = self.labels.weight / self.labels.weight.sum()
        if self.labels.has_intercept:
            atoms = atoms - share @ atoms
        square = share @ np.square(atoms)
        return np.log(np.maximum(square, 1e-300)) - 2.0 * np.log(self.largest_logit)


@dataclass(frozen=True)
class LabelProblem(EvidenceProblem[Labels, Mode]):
    """Maximise the (penalised) Laplace evidence of two classes over the precisions.

    Notes
    -----
    With `signs` the models are those of the probabilistic classification vector machine (Chen,
    Tino and Yao, 2009), whose weights have half-normal priors: a model is allowed if all weights
    at its mode have their signs. A model that is not has, under half-normal priors, its mode
    where some weights are zero, and stands for the model without them.

    The evidence is that of the Gaussian around such a mode, its tails beyond zero included, and
    so that of a Gaussian prior, without the factors of the truncation: two for each atom, and
    the probability of all signs under the posterior. The latter has no closed form for
    several atoms, and with both a maximum would be hardly sparse: one atom of slope ``q`` and
    curvature ``s`` would gain by ``q (2 / (pi alpha))^(1/2)`` at large precision ``alpha``,
    whenever the slope has its sign, not only if ``q^2 > s``.

    No maximum is at the edge of what is allowed: where a weight is zero the model without it
    has the same mode and a higher evidence. So derivatives vanish at a maximum as they do
    without signs.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.laplace.binary import Labels
    >>> from relvec.solvers import LabelProblem, LaplaceSolver
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(80, 3))
    >>> labels = Labels((Phi[:, 2] + 0.5 * rng.normal(size=80) > 0).astype(float))
    >>> problem = LabelProblem(DenseDictionary(Phi), labels, min_gain=np.log(3))
    >>> LaplaceSolver().solve(problem).state.active
    array([2])
    """

    signs: Vector | None = None
    """One of -1, 0 and 1 for each atom of the dictionary: weights of sign 1 are positive, of sign
    -1 negative, of sign 0 free. None leaves all free. The intercept always is."""

    def __post_init__(self) -> None:
        """Check the signs, besides giving every atom its price."""
        super().__post_init__()
        if self.signs is not None:
            object.__setattr__(self, "signs", check_signs(self.signs, self.dictionary.shape[1]))

    @property
    def required_signs(self) -> Vector | None:
        """The signs, unless all weights are free."""
        return None if self.signs is None or not self.signs.any() else self.signs

    def find_mode(
        self, active: IndexArray, log_precision: Vector, atoms: Matrix, start: Vector | None
    ) -> Mode:
        """Find the mode of the weights of a model whose active atoms are given."""
        return find_mode(atoms, log_precision, self.labels, start)

    def bound_degrees(self, mode: Mode) -> tuple[float, Vector]:
        """Degrees of freedom at the largest curvature, and minus their gradient."""
        k, labels = mode.n_atoms, self.labels
        return bound_degrees(
            mode.atoms[:, :k], mode.precision[:k], labels.weight, labels.has_intercept
        )

    def bound_entry(self, mode: Mode) -> list[tuple[Vector, Vector]]:
        """Return what absent atoms would add to `bound_degrees`: s and r of ``r / (a + s)``."""
        k, labels = mode.n_atoms, self.labels
        atoms, precision = mode.atoms[:, :k], mode.precision[:k]
        return [bound_entry(self.dictionary, atoms, precision, labels.weight, labels.has_intercept)]

    def regressions(self, mode: Mode) -> list[WorkingResponse]:
        """Return the one regression that the model looks like at its mode."""
        return [WorkingResponse(mode.curvature, mode.response)]

    def residuals(self, mode: Mode) -> list[Vector]:
        """Return the slope of the log likelihood in the one logit."""
        given = 0.0 if self.labels.offset is None else self.labels.offset
        return [mode.curvature * (mode.response + given - mode.logit)]


LabelState: TypeAlias = EvidenceState[Mode]


@dataclass(frozen=True)
class LabelSolution:
    """The answer of a classification solver.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.laplace.binary import Labels
    >>> from relvec.solvers import LabelProblem, LaplaceSolver
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(80, 3))
    >>> labels = Labels((Phi[:, 2] + 0.5 * rng.normal(size=80) > 0).astype(float))
    >>> solution = LaplaceSolver().solve(LabelProblem(DenseDictionary(Phi), labels))
    >>> solution.converged, bool(np.all(np.diff(solution.trace) >= 0.0))
    (True, True)
    """

    state: LabelState
    n_iter: int
    converged: bool
    certificate: Certificate
    """Derivatives of the Laplace evidence at the end: exact ones if the solver is."""
    trace: tuple[float, ...] = ()
    """Objective after each accepted step; it never falls unless the solver says it may."""


class LabelSolver(Protocol):
    """Anything that turns a `LabelProblem` into a `LabelSolution`.

    Examples
    --------
    >>> from relvec import RVMClassifier
    >>> from relvec.solvers import LaplaceSolver
    >>> RVMClassifier(solver=LaplaceSolver(exact=True))
    RVMClassifier(solver=LaplaceSolver(exact=True))
    """

    def solve(
        self,
        problem: LabelProblem,
        *,
        warm_start: tuple[IndexArray, Vector] | None = None,
        monitor: Monitor | None = None,
    ) -> LabelSolution:
        """Maximise the objective of `problem`."""
        ...


def refuse_gamma(prior: BoundPrior) -> None:
    """Raise if a prior on precisions forbids to switch atoms off."""
    if not prior.is_removable:
        raise ValueError(
            "A Gamma prior with positive shape or rate gives an atom that is switched off "
            "(infinite precision) zero or infinite density, so atoms cannot be added or "
            'removed one by one. Use solver="mackay" or solver="em".'
        )


class Stopped(Exception):
    """A monitor has seen enough."""


def listening(monitor: Monitor | None) -> Monitor | None:
    """Return a monitor that, once it has asked to stop, asks again at every later step.

    A solver that searches in several stages then stops in all of them.
    """
    if monitor is None:
        return None
    stopped = False

    def told(progress: Progress) -> bool:
        nonlocal stopped
        stopped = stopped or bool(monitor(progress))
        return stopped

    return told
