"""The problem of several classes, and the answer to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from relvec._typing import IndexArray, Matrix, Vector
from relvec.laplace.softmax import ClassLabels, SoftmaxMode, bound_curvature, find_softmax_mode
from relvec.likelihoods.bernoulli import WorkingResponse
from relvec.likelihoods.softmax import class_responses, probabilities
from relvec.solvers.base import Certificate
from relvec.solvers.latent.labels import EvidenceProblem, EvidenceState

__all__ = ["SoftmaxProblem", "SoftmaxSolution", "SoftmaxState"]

SoftmaxState: TypeAlias = EvidenceState[SoftmaxMode]

INTERCEPT_EXCESS = 1.5
"""Nats per free intercept by which the evidence may exceed the averaged fit. Its prior is flat,
with density one, so that a posterior of variance ``v`` adds ``log(2 pi v) / 2``: 0.9 for a class
of a single row. Averaging takes something off the fit, too."""
FIT_EXCESS = 0.1
"""Further nats, as a share of those that the model without atoms leaves to be explained. Sound
models of separable classes were found to have up to 0.09, vague ones 0.11 to 0.8."""


@dataclass(frozen=True)
class SoftmaxProblem(EvidenceProblem[ClassLabels, SoftmaxMode]):
    """Maximise the (penalised) Laplace evidence of several classes over the precisions.

    Atom ``i`` in class ``k`` has the number ``k * n_atoms + i`` in an active set.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.laplace.softmax import ClassLabels
    >>> from relvec.solvers import SoftmaxProblem, SoftmaxSolver
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(90, 2))
    >>> noisy = Phi[:, 0] + 0.5 * rng.normal(size=90)
    >>> labels = ClassLabels(np.digitize(noisy, [-0.5, 0.5]), n_classes=3)
    >>> problem = SoftmaxProblem(DenseDictionary(Phi), labels, min_gain=np.log(2))
    >>> SoftmaxSolver().solve(problem).state.active % 2  # the atom, for each class that uses it
    array([0, 0])
    """

    shared: bool = False
    """Whether an atom is in the logits of all classes with one precision, and pays once, or has
    a precision and a price in each."""

    @property
    def n_blocks(self) -> int:  # type: ignore[override]  # one logit in general
        """Number of classes."""
        return self.labels.n_classes

    def atoms_by_class(self, active: IndexArray) -> list[IndexArray]:
        """Return the atoms of each class, numbered in the dictionary."""
        starts = np.arange(self.n_blocks + 1) * self.dictionary.shape[1]
        ends = np.searchsorted(active, starts)
        return [active[ends[k] : ends[k + 1]] - starts[k] for k in range(self.n_blocks)]

    def price(self, active: IndexArray) -> float:
        """What atoms have to bring to be in the model, added up."""
        total = super().price(active)
        return total / self.n_blocks if self.shared else total

    def find_mode(
        self, active: IndexArray, log_precision: Vector, atoms: Matrix, start: Vector | None
    ) -> SoftmaxMode:
        """Find the mode of the weights of a model whose active atoms are given."""
        sizes = tuple(len(index) for index in self.atoms_by_class(active))
        return find_softmax_mode(atoms, sizes, log_precision, self.labels, start)

    def is_vague(self, mode: SoftmaxMode) -> bool:
        """Tell whether the evidence claims more than the Gaussian around the mode explains.

        Notes
        -----
        Given all labels ``t``, each is at least as probable as given the others: by the inequality
        of Cauchy and Schwarz ``p(t_i | t) >= p(t_i | t without t_i)``. So log evidence should not
        exceed by much the sum of ``log p(t_i | t)``, the fit averaged over the posterior. Where a
        few atoms of huge prior variance separate the classes, it does: at the mode all rows are
        saturated and have no curvature, so that volume costs nothing, and that of the intercepts,
        whose prior is flat, even adds to the evidence; averaged over that volume, predictions are
        vague. Laplace's approximation does not hold there, and its evidence, which may be
        positive, is no reason to go there.

        The model without atoms is never vague.
        """
        if not mode.n_atoms:
            return False
        n_intercepts = len(mode.weights) - mode.n_atoms
        allowed = INTERCEPT_EXCESS * n_intercepts - FIT_EXCESS * self.labels.null_log_likelihood()
        return mode.log_evidence > mode.averaged_log_likelihood(self.labels) + allowed

    def bound_degrees(self, mode: SoftmaxMode) -> tuple[float, Vector]:
        """Degrees of freedom at the largest curvature, and minus their gradient."""
        curvature = bound_curvature(mode)
        return curvature.degrees, curvature.degrees_slope

    def bound_entry(self, mode: SoftmaxMode) -> list[tuple[Vector, Vector]]:
        """Return what absent pairs would add to `bound_degrees`: s and r of ``r / (a + s)``."""
        s, r = bound_curvature(mode).entry(self.dictionary, degrees=True)
        assert r is not None
        return list(zip(np.maximum(s, 0.0).T, r.T, strict=True))

    def regressions(self, mode: SoftmaxMode) -> list[WorkingResponse]:
        """Return the regression that each class looks like when the others are held."""
        result = class_responses(mode.logits, self.labels.target, self.labels.weight)
        offset = self.labels.offset
        if offset is None:
            return result
        return [
            WorkingResponse(curvature, response - offset[:, k])
            for k, (curvature, response) in enumerate(result)
        ]

    def residuals(self, mode: SoftmaxMode) -> list[Vector]:
        """Return the slope of the log likelihood in the logit of each class."""
        labels = self.labels
        residual = -probabilities(mode.logits)
        residual[np.arange(len(residual)), labels.target] += 1.0
        if labels.weight is not None:
            residual *= labels.weight[:, None]
        return list(residual.T)


@dataclass(frozen=True)
class SoftmaxSolution:
    """The answer of a solver for several classes.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.laplace.softmax import ClassLabels
    >>> from relvec.solvers import SoftmaxProblem, SoftmaxSolver
    >>> rng = np.random.default_rng(0)
    >>> Phi = rng.normal(size=(90, 2))
    >>> noisy = Phi[:, 0] + 0.5 * rng.normal(size=90)
    >>> labels = ClassLabels(np.digitize(noisy, [-0.5, 0.5]), n_classes=3)
    >>> solution = SoftmaxSolver().solve(SoftmaxProblem(DenseDictionary(Phi), labels))
    >>> solution.converged, bool(np.all(np.diff(solution.trace) >= 0.0))
    (True, True)
    """

    state: SoftmaxState
    n_iter: int
    converged: bool
    certificate: Certificate
    """Derivatives of the Laplace evidence at the end, at fixed curvature."""
    trace: tuple[float, ...] = ()
    """Objective after each accepted step; it never falls."""
