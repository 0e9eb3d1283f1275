"""What a fitted regression says of single atoms: their sparsity, their quality, their best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_positive
from relvec._typing import IndexArray, Matrix, Vector
from relvec.bases import BoundBasis
from relvec.describing.models import predictor, seen_by
from relvec.describing.names import names_of
from relvec.estimators.fitted import fitted_problem
from relvec.evidence import removal_loss
from relvec.priors import BoundPrior, BoundSmoothness, Statistics
from relvec.priors.laplace import BoundLaplace
from relvec.solvers import Problem
from relvec.solvers.gaussian import reference

__all__ = ["AtomEvidence", "atoms_of"]


@dataclass(frozen=True)
class AtomEvidence:
    """What the rest of a model says of one atom, as Tipping and Faul (2003) write it.

    Parameters
    ----------
    name : str
        Of the atom.
    sparsity : float
        ``s = phi' C^-1 phi``, with ``C`` the covariance of the target without the atom: how far
        the rest, and the noise, already explain what it could.
    quality : float
        ``q = phi' C^-1 t``: how well it points to what they do not explain.
    spent : float, default=0.0
        ``sigma^2 phi' C^-2 phi``, of which the effective degrees of freedom that the atom would
        take are made. It matters under a penalty.
    penalty : float, default=0.0
        Of one effective degree of freedom: ``c`` of a smoothness prior.
    rate : float, default=0.0
        Of a Laplace prior, under which the prior variance ``1 / alpha`` of the weight has an
        exponential density with mean ``2 / rate``; not together with a penalty.
    entry_penalty : float, default=0.0
        Nats that it must bring to be kept.
    precision : float, default=inf
        In the model; infinite if it is left out.
    across : float, default=1.0
        Root mean square of the target in all directions but that of the atom, in standard
        deviations of ``C``. It is near one if the noise is right.

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
    spent: float = 0.0
    penalty: float = 0.0
    rate: float = 0.0
    entry_penalty: float = 0.0
    precision: float = math.inf
    across: float = 1.0

    def __post_init__(self) -> None:
        """Check what would give no curve."""
        check_positive("sparsity", self.sparsity)
        if not math.isfinite(self.quality):
            raise ValueError(f"quality must be a finite number; got {self.quality!r}.")
        for name in ("spent", "penalty", "rate", "entry_penalty", "across"):
            check_positive(name, getattr(self, name), allow_zero=True)
        if self.penalty and self.rate:
            raise ValueError("penalty and rate are of two priors; choose one of them.")
        if not self.precision > 0.0:
            raise ValueError(f"precision must be positive or infinite; got {self.precision!r}.")

    @property
    def is_kept(self) -> bool:
        """Whether it is in the model."""
        return math.isfinite(self.precision)

    @property
    def ratio(self) -> float:
        """``q^2 / s``; without penalties it is above one if the best precision is finite."""
        return self.quality**2 / self.sparsity

    @property
    def along(self) -> float:
        """Target along the atom, in standard deviations of ``C``: the root of ``q^2 / s``."""
        return math.sqrt(self.ratio)

    @property
    def best_precision(self) -> float:
        """Where the objective is highest, the rest of the model held; may be infinite."""
        return self._best()[1]

    @property
    def best_gain(self) -> float:
        """What it brings there, its entry penalty not counted; zero at infinity."""
        return self._best()[0]

    def gain(self, precision: Any, *, penalised: bool = True) -> Vector:
        """Return what the atom adds to the objective at some precisions.

        Parameters
        ----------
        precision : array-like
            Of its weight.
        penalised : bool, default=True
            Whether the prior counts, or the log evidence alone.
        """
        lam = np.asarray(precision, dtype=np.float64)
        explained = self.quality**2 / (lam + self.sparsity)
        known = Statistics(
            np.asarray(self.sparsity),
            np.asarray(self.quality),
            np.asarray(self.penalty * self.spent) if penalised else None,
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
        s, q, w = np.array([[self.sparsity], [self.quality], [self.penalty * self.spent]])
        prior: BoundPrior = BoundLaplace(self.rate)
        if self.penalty:
            prior = BoundSmoothness(self.penalty)
        (gain,), (best,) = prior.best(Statistics(s, q, w), 1.0, 1.0)
        return (float(gain), float(best)) if math.isfinite(gain) else (0.0, math.inf)


def atoms_of(estimator: Any, X: Any, y: Any, atoms: Any, sample_weight: Any) -> list[AtomEvidence]:
    """Return what a fitted regression says of some atoms, the noise held at its own.

    Parameters
    ----------
    estimator : regressor of relvec, or a pipeline that ends in one
        Fitted, to one target.
    X, y, sample_weight
        Rows of the fit.
    atoms : sequence of int or None
        Numbers of the candidates; by default the best and the weakest that were kept, and the
        nearest of those that were left out.
    """
    check_is_fitted(estimator)
    model = predictor(estimator)
    if not hasattr(model, "outputs_"):
        raise TypeError(
            "AtomEvidenceDisplay needs a fitted regressor of relvec, or a pipeline that ends in "
            f"one; got {type(model).__name__}."
        )
    if len(model.outputs_) > 1:
        raise ValueError(
            f"AtomEvidenceDisplay draws one target; the model has {len(model.outputs_)}. Fit a "
            "model for each."
        )
    inputs = np.asarray(seen_by(estimator, X), dtype=np.float64)
    if np.shape(y) not in ((len(inputs),), (len(inputs), 1)):
        raise ValueError(
            f"X and y must have the same rows; got {len(inputs)} and shape {np.shape(y)}."
        )
    problem, bound = fitted_problem(model, inputs, y, sample_weight)
    problem, fit = _conditioned(model, problem, bound, inputs)
    known = reference.compute_statistics(problem, fit)
    noise = problem.noise_variance
    assert noise is not None
    scale = problem.moments.column_norm**2 / noise
    # the squared length of the target in units of what the rest expects, and its parts
    others = np.maximum(known.quadratic - known.q**2 / known.s, 0.0) / noise
    across = np.sqrt(others / max(problem.moments.n_effective - 1.0, 1.0))
    lam = np.full(len(scale), np.inf)
    lam[fit.active] = fit.lam
    chosen = _chosen(problem, fit, known) if atoms is None else _checked(atoms, len(scale))
    unusable = chosen[~problem.moments.usable[chosen]]
    if len(unusable):
        raise ValueError(
            f"candidate {unusable[0]} is constant over the rows, so nothing can be said of it."
        )
    penalty = np.broadcast_to(problem.prior.penalty, scale.shape)
    spent = np.ones(len(scale))
    if known.w is not None:
        spent = known.w / np.where(penalty > 0.0, penalty, 1.0)
    names = bound.atoms.subset(chosen).names(names_of(estimator, int(model.n_features_in_)))
    return [
        AtomEvidence(
            name,
            sparsity=float(known.s[i] * scale[i]),
            quality=float(known.q[i] * math.sqrt(scale[i] / noise)),
            spent=float(spent[i] * scale[i]),
            penalty=float(penalty[i]),
            rate=float(problem.prior.rate * scale[i]),
            entry_penalty=float(problem.min_gain[i]),
            precision=float(lam[i] * scale[i]),
            across=float(across[i]),
        )
        for i, name in zip(chosen.tolist(), names, strict=True)
    ]


def _conditioned(
    model: Any, problem: Problem, bound: BoundBasis, X: Matrix
) -> tuple[Problem, reference.Fit]:
    """The problem that the model solved, its noise held, and its solution."""
    (output,) = model.outputs_
    if not problem.prior.is_removable:
        raise ValueError(
            "Under a Gamma prior on precisions every atom is kept, and none is judged by itself. "
            'Use prior="flat", "laplace", or one that penalties degrees of freedom.'
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
        # up to what rounding explains
        is_same = abs(fit.quadratic - expected) <= 1e-4 * abs(expected)
    if not is_same:
        raise ValueError(
            "X and y must be the rows that the model was fitted to, with their weights: these "
            "give other atoms, or another noise. If its centres are drawn by chance, fit it with "
            "random_state."
        )
    return problem, fit


def _chosen(problem: Problem, fit: reference.Fit, known: Statistics) -> IndexArray:
    """The best and the weakest of those kept, and the nearest of those left out."""
    worth = reference.compute_contributions(problem, fit, known)
    kept = fit.active[[int(worth.argmax()), int(worth.argmin())]] if len(worth) else fit.active
    is_out = problem.moments.usable & (known.s > problem.moments.resolution)
    is_out[fit.active] = False
    assert problem.noise_variance is not None
    ratio = problem.prior.entry_ratio(known, problem.noise_variance)
    nearest = np.where(is_out, ratio, -np.inf).argmax()
    found = [*kept, nearest] if is_out.any() else [*kept]
    if not found:
        raise ValueError("The model has no atom that varies: there is nothing to draw.")
    return np.array(list(dict.fromkeys(int(i) for i in found)), dtype=np.intp)


def _checked(atoms: Any, n_atoms: int) -> IndexArray:
    chosen = np.atleast_1d(np.asarray(atoms))
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not len(chosen):
        raise ValueError(f"atoms must be numbers of candidates, such as [0, 3]; got {atoms!r}.")
    if chosen.min() < 0 or chosen.max() >= n_atoms:
        raise ValueError(
            f"atoms must be between 0 and {n_atoms - 1}, as there are {n_atoms} candidates; got "
            f"{atoms!r}."
        )
    return chosen.astype(np.intp)
