"""Sparsity factor, quality factor and optimal precision of single atoms of a fitted regression."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_positive
from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases import BoundBasis
from relvec.describing.models import get_final_estimator, transform_inputs
from relvec.describing.names import get_feature_names
from relvec.estimators.fitted import fitted_problem
from relvec.evidence import removal_loss
from relvec.priors import BoundPrior, BoundSmoothness, Statistics
from relvec.priors.laplace import BoundLaplace
from relvec.solvers import Problem
from relvec.solvers.gaussian import reference

__all__ = ["AtomEvidence", "compute_atom_evidence"]


@dataclass(frozen=True)
class AtomEvidence:
    """Contribution of one atom (basis function) to the log evidence as a function of its precision.

    The evidence is the marginal likelihood. All other atoms and the noise variance are held fixed;
    the notation is that of Tipping and Faul (2003), eqs. 18 to 21.

    Parameters
    ----------
    name : str
        Name of the atom.
    sparsity : float
        Sparsity factor ``s = phi' C^-1 phi``, with ``C`` the marginal covariance of the target
        without the atom: what remains of the atom after the other atoms.
    quality : float
        Quality factor ``q = phi' C^-1 t``: the alignment of the atom with the residual of the
        model without it.
    dof_factor : float, default=0.0
        ``sigma^2 phi' C^-2 phi``: the atom adds ``dof_factor / (alpha + s)`` effective degrees
        of freedom. Used only if `penalty` is positive.
    penalty : float, default=0.0
        Penalty per effective degree of freedom: ``c`` of a smoothness prior (Schmolck 2008).
    rate : float, default=0.0
        Rate of a Laplace prior, under which the prior variance ``1 / alpha`` of the weight has an
        exponential density with mean ``2 / rate``. Not together with `penalty`.
    entry_penalty : float, default=0.0
        Minimum gain in log evidence, in nats, for which the atom is kept.
    precision : float, default=inf
        Precision ``alpha`` of the weight in the fitted model; infinite if the atom was pruned.
    orthogonal_deviation : float, default=1.0
        Root mean square of the target in the directions orthogonal to the atom, in standard
        deviations of ``C``. Close to one if the noise variance is right.

    Examples
    --------
    >>> from relvec.plotting import AtomEvidence
    >>> atom = AtomEvidence("a", sparsity=2.0, quality=3.0)
    >>> atom.best_precision == 2.0**2 / (3.0**2 - 2.0)
    True
    >>> AtomEvidence("b", sparsity=2.0, quality=1.0).best_precision
    inf
    """

    name: str
    sparsity: float
    quality: float
    dof_factor: float = 0.0
    penalty: float = 0.0
    rate: float = 0.0
    entry_penalty: float = 0.0
    precision: float = math.inf
    orthogonal_deviation: float = 1.0

    def __post_init__(self) -> None:
        """Check that all values are in their ranges."""
        check_positive("sparsity", self.sparsity)
        if not math.isfinite(self.quality):
            raise ValueError(f"quality must be a finite number; got {self.quality!r}.")
        for name in ("dof_factor", "penalty", "rate", "entry_penalty", "orthogonal_deviation"):
            check_positive(name, getattr(self, name), allow_zero=True)
        if self.penalty and self.rate:
            raise ValueError("penalty and rate belong to different priors; give only one of them.")
        if not self.precision > 0.0:
            raise ValueError(f"precision must be positive or infinite; got {self.precision!r}.")

    @property
    def is_kept(self) -> bool:
        """Whether the atom is in the fitted model, that is, has a finite precision."""
        return math.isfinite(self.precision)

    @property
    def ratio(self) -> float:
        """``q^2 / s``; without penalties the optimal precision is finite if it exceeds one."""
        return self.quality**2 / self.sparsity

    @property
    def parallel_deviation(self) -> float:
        """Target along the atom, in standard deviations of ``C``: ``|q| / sqrt(s)``."""
        return math.sqrt(self.ratio)

    @property
    def best_precision(self) -> float:
        """Precision that maximises the objective, all else held fixed; it may be infinite."""
        return self._best()[1]

    @property
    def best_gain(self) -> float:
        """Gain in the objective at the optimal precision, without the entry penalty."""
        return self._best()[0]

    def gain(self, precision: Any, *, penalised: bool = True) -> Vector:
        """Compute the gain in the objective over a model without the atom.

        Without prior terms it is ``(log(alpha / (alpha + s)) + q^2 / (alpha + s)) / 2`` (Tipping
        and Faul 2003, eq. 18).

        Parameters
        ----------
        precision : array-like
            Precisions ``alpha`` of the weight.
        penalised : bool, default=True
            Include the prior terms; otherwise the log evidence alone.
        """
        lam = np.asarray(precision, dtype=np.float64)
        explained = self.quality**2 / (lam + self.sparsity)
        known = Statistics(
            np.asarray(self.sparsity),
            np.asarray(self.quality),
            np.asarray(self.penalty * self.dof_factor) if penalised else None,
            explained,
        )
        return removal_loss(
            known,
            lam,
            0.0,
            1.0,
            1.0,
            -0.5 * self.rate / lam if penalised else None,
        )

    def _best(self) -> tuple[float, float]:
        s, q, w = np.array([[self.sparsity], [self.quality], [self.penalty * self.dof_factor]])
        prior: BoundPrior = BoundLaplace(self.rate)
        if self.penalty:
            prior = BoundSmoothness(self.penalty)
        (gain,), (best,) = prior.best_precision(Statistics(s, q, w), 1.0, 1.0)
        return (float(gain), float(best)) if math.isfinite(gain) else (0.0, math.inf)


def compute_atom_evidence(
    estimator: Any, X: Any, y: Any, atoms: Any, sample_weight: Any
) -> list[AtomEvidence]:
    """Compute sparsity and quality factors of atoms of a fitted regression.

    The noise variance is held at its fitted value.

    Parameters
    ----------
    estimator : regressor of relvec, or a pipeline that ends in one
        Fitted to one target.
    X, y, sample_weight
        Training data.
    atoms : sequence of int or None
        Indices of candidates. By default the kept atoms with the largest and the smallest gain,
        and the pruned atom closest to entering the model.
    """
    check_is_fitted(estimator)
    model = get_final_estimator(estimator)
    if not hasattr(model, "outputs_"):
        raise TypeError(
            "AtomEvidenceDisplay needs a fitted regressor of relvec, or a pipeline that ends in "
            f"one; got {type(model).__name__}."
        )
    if len(model.outputs_) > 1:
        raise ValueError(
            f"AtomEvidenceDisplay plots one target; the model has {len(model.outputs_)}. Fit a "
            "model for each."
        )
    inputs = np.asarray(transform_inputs(estimator, X), dtype=np.float64)
    if np.shape(y) not in ((len(inputs),), (len(inputs), 1)):
        raise ValueError(
            f"X and y must have the same rows; got {len(inputs)} and shape {np.shape(y)}."
        )
    problem, bound = fitted_problem(model, inputs, y, sample_weight)
    problem, fit = _condition_problem(model, problem, bound, inputs)
    known = reference.compute_statistics(problem, fit)
    noise = problem.noise_variance
    assert noise is not None
    scale = problem.moments.column_norm**2 / noise
    # Squared Mahalanobis norm t' C^-1 t of the target, split into the part in the direction of each
    # atom, q^2 / s, and the part orthogonal to it.
    others = np.maximum(known.quadratic - known.q**2 / known.s, 0.0) / noise
    orthogonal_deviation = np.sqrt(others / max(problem.moments.n_effective - 1.0, 1.0))
    lam = np.full(len(scale), np.inf)
    lam[fit.active] = fit.lam
    chosen = (
        _choose_atoms(problem, fit, known) if atoms is None else _check_indices(atoms, len(scale))
    )
    unusable = chosen[~problem.moments.usable[chosen]]
    if len(unusable):
        raise ValueError(
            f"candidate {unusable[0]} is constant over the rows, so its factors are not defined. "
            "Choose other atoms."
        )
    penalty = np.broadcast_to(problem.prior.penalty, scale.shape)
    dof_factor = np.ones(len(scale))
    if known.w is not None:
        dof_factor = known.w / np.where(penalty > 0.0, penalty, 1.0)
    names = bound.atoms.subset(chosen).names(
        get_feature_names(estimator, int(model.n_features_in_))
    )
    return [
        AtomEvidence(
            name,
            sparsity=float(known.s[i] * scale[i]),
            quality=float(known.q[i] * math.sqrt(scale[i] / noise)),
            dof_factor=float(dof_factor[i] * scale[i]),
            penalty=float(penalty[i]),
            rate=float(problem.prior.rate * scale[i]),
            entry_penalty=float(problem.min_gain[i]),
            precision=float(lam[i] * scale[i]),
            orthogonal_deviation=float(orthogonal_deviation[i]),
        )
        for i, name in zip(chosen.tolist(), names, strict=True)
    ]


def _condition_problem(
    model: Any, problem: Problem, bound: BoundBasis, X: Matrix
) -> tuple[Problem, reference.Fit]:
    """Return the problem that the fit solved, with its noise variance fixed, and its solution."""
    (output,) = model.outputs_
    if not problem.prior.is_removable:
        raise ValueError(
            "Under a Gamma prior on precisions every atom is kept, so the sparsity and quality "
            'factors of single atoms do not apply. Fit with prior="flat", "laplace" or "bic".'
        )
    solution, some = output.solution, X[:50]
    problem = replace(
        problem,
        noise_variance=solution.noise_variance,
        prior=problem.prior.with_rate(solution.laplace_rate),
    )
    is_same = len(bound.atoms) == model.n_atoms_ and np.array_equal(
        bound.atoms.subset(output.active).evaluate(some), output.atoms.evaluate(some)
    )
    if is_same:
        fit = reference.condition(problem, output.active, np.exp(solution.log_lam))
        expected = output.posterior.quadratic
        # The tolerance allows for rounding errors only.
        is_same = abs(fit.quadratic - expected) <= 1e-4 * abs(expected)
    if not is_same:
        raise ValueError(
            "X and y must be the rows that the model was fitted to, with their sample weights: "
            "these give other atoms or another noise variance. If the kernel centers are drawn at "
            "random, fit the model with random_state."
        )
    return problem, fit


def _choose_atoms(problem: Problem, fit: reference.Fit, known: Statistics) -> IndexArray:
    """Return the kept atoms of largest and smallest gain, and the pruned atom next to enter."""
    gain = reference.compute_contributions(problem, fit, known)
    kept = fit.active[[int(gain.argmax()), int(gain.argmin())]] if len(gain) else fit.active
    is_out = problem.moments.usable & (known.s > problem.moments.resolution)
    is_out[fit.active] = False
    assert problem.noise_variance is not None
    ratio = problem.prior.entry_ratio(known, problem.noise_variance)
    nearest = np.where(is_out, ratio, -np.inf).argmax()
    found = [*kept, nearest] if is_out.any() else [*kept]
    if not found:
        raise ValueError(
            "The model has no atom that varies over the rows: there is nothing to plot."
        )
    return np.array(list(dict.fromkeys(int(i) for i in found)), dtype=np.intp)


def _check_indices(atoms: Any, n_atoms: int) -> IndexArray:
    chosen = np.atleast_1d(np.asarray(atoms))
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not len(chosen):
        raise ValueError(f"atoms must be indices of candidates, such as [0, 3]; got {atoms!r}.")
    if chosen.min() < 0 or chosen.max() >= n_atoms:
        raise ValueError(
            f"atoms must be between 0 and {n_atoms - 1}, as there are {n_atoms} candidates; got "
            f"{atoms!r}."
        )
    return chosen.astype(np.intp)
