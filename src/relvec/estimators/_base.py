"""What every sparse Bayesian regressor shares: validate, wire, expose."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from relvec._checks import check_bool, check_choice, check_finite_input, check_positive
from relvec._linalg import fitting_threads
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.bases.base import Basis, BasisPart, BoundBasis
from relvec.estimators._components import ComponentsMixin
from relvec.estimators._notebook import NotebookMixin
from relvec.estimators._output import ERROR_BARS, FittedOutput, finish_output
from relvec.estimators._refine import RefineMixin, SparseFit
from relvec.estimators._scale_choice import Trials, decide
from relvec.estimators._scales import ScaledBasis
from relvec.estimators._solvers import resolve_solver
from relvec.moments import LazyMoments, Moments, moments_of
from relvec.priors import BoundPrior, resolve_prior
from relvec.solvers import (
    EFFORTS,
    Monitor,
    Problem,
    Progress,
    WarmStart,
    with_learnt_rate,
)
from relvec.solvers.gaussian.newton import Objective
from relvec.solvers.gaussian.state import objective_of

KERNEL_MIN_GAIN = 1e-3
"""Kernels overlap, so a useful one may gain next to nothing by itself: its entry is free but
for a tolerance."""


LARGEST = 1e140
"""Squares of larger numbers, or of their inverses, leave the range of floating point."""


class BaseSparseBayesRegressor(
    RefineMixin,
    ComponentsMixin,
    CallbackSupportMixin,
    MultiOutputMixin,
    RegressorMixin,
    NotebookMixin,
    ABC,
):
    """Fit, predict and explain; a subclass says which basis."""

    @abstractmethod
    def _resolve_basis(self) -> Basis:
        """Return the basis that the parameters describe."""

    @with_callbacks
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BaseSparseBayesRegressor:
        """Find the relevant atoms, their weights and the noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. Sparse matrices are accepted by `LinearBasis`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets. Several outputs are fitted one by one and share the dictionary.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: weight 2 is the row given twice, weight 0 the row left
            out.

        Returns
        -------
        self : object
        """
        basis = self._resolve_basis()
        self._check_options()
        previous = getattr(self, "outputs_", ()) if self.warm_start else ()
        n_features_before = getattr(self, "n_features_in_", None)
        check_finite_input(X, "X")
        check_finite_input(y, "y")
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=("csr", "csc"),
            dtype=np.float64,
            multi_output=True,
            y_numeric=True,
        )
        if self.__sklearn_tags__().input_tags.pairwise and X.shape[0] != X.shape[1]:
            raise ValueError(
                'kernel="precomputed" needs a square matrix between the training inputs in fit; '
                f"got shape {X.shape}. For other design matrices use "
                "SparseBayesRegressor(PrecomputedBasis())."
            )
        y = np.asarray(y, dtype=np.float64)
        _check_range("X", X.data if issparse(X) else X)
        _check_range("y", y)
        weight = self._checked_weight(sample_weight, X)
        targets = y.reshape(len(y), -1)
        if n_features_before != self.n_features_in_:
            previous = ()
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        fit = self._fit_basis(basis, X, targets, weight, previous, context)
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        self._expose(fit, single=y.ndim == 1)
        self._warn(fit.outputs)
        return self

    def _fit_basis(
        self,
        basis: Basis,
        X: Any,
        targets: Matrix,
        weight: Vector | None,
        previous: tuple[FittedOutput, ...],
        context: Any,
    ) -> SparseFit:
        """Fit the basis as it is, or with the scales that are learnt for it."""

        def at(rows: IndexArray | None) -> tuple[Any, Matrix, Vector | None]:
            some = slice(None) if rows is None else rows
            return X[some], targets[some], None if weight is None else weight[some]

        def learn(rows: IndexArray | None) -> list[ScaledBasis]:
            return self._learn_scales(basis, *at(rows))

        def fit(proposal: ScaledBasis, rows: IndexArray | None) -> SparseFit:
            inputs, wanted, part = at(rows)
            bound = self._bind(proposal.basis, inputs, part)
            return self._solve(bound, inputs, wanted, part, previous, context)

        def score(found: SparseFit, rows: IndexArray) -> float:
            inputs, wanted, part = at(rows)
            densities = [
                output.predict_target(inputs).log_density(target)
                for output, target in zip(found.outputs, wanted.T, strict=True)
            ]
            return float(np.average(sum(densities), weights=part))

        decided = decide(Trials(learn, fit, score), np.zeros(X.shape[0], dtype=np.intp))
        if decided is None:
            bound = self._bind(basis, X, weight)
            return self._solve(bound, X, targets, weight, previous, context)
        chosen, found = decided
        self._expose_scales(chosen.scales)
        return self._refine_scales(chosen, found, X, targets, weight, context)

    def _bind(self, basis: Basis, X: Any, weight: Vector | None) -> BoundBasis:
        return basis.bind(
            X, sample_weight=weight, random_state=check_random_state(self.random_state)
        )

    def _solve(
        self,
        bound: BoundBasis,
        X: Any,
        targets: Matrix,
        weight: Vector | None,
        previous: tuple[FittedOutput, ...],
        context: Any,
    ) -> SparseFit:
        """Fit every target on the shared dictionary."""
        n_samples, n_atoms = bound.dictionary.shape
        with fitting_threads(float(n_samples) * n_atoms):
            return self._solve_targets(bound, X, targets, weight, previous, context)

    def _solve_targets(
        self,
        bound: BoundBasis,
        X: Any,
        targets: Matrix,
        weight: Vector | None,
        previous: tuple[FittedOutput, ...],
        context: Any,
    ) -> SparseFit:
        all_moments = moments_of(
            bound.dictionary,
            targets,
            weight,
            centre=bool(self.fit_intercept),
            low_memory=None if isinstance(self.low_memory, str) else bool(self.low_memory),
        )
        outputs: list[FittedOutput] = []
        objectives: list[Objective] = []
        for number, (moments, target) in enumerate(zip(all_moments, targets.T, strict=True)):
            _forbid_weightless_centres(moments, bound, weight)
            problem, solver = self._problem(moments, bound)
            solution = solver.solve(
                problem,
                warm_start=_warm_start(previous, number, len(all_moments), bound, X),
                monitor=self._monitor(context),
            )
            objective = objective_of(problem, problem.noise_variance)
            objectives.append(
                objective._replace(prior=problem.prior.with_rate(solution.laplace_rate))
            )
            outputs.append(
                finish_output(
                    problem,
                    solution,
                    bound,
                    X,
                    target,
                    weight,
                    has_intercept=bool(self.fit_intercept),
                    error_bars=self.error_bars,
                )
            )
        first = all_moments[0]
        n_fetched = first.columns.n_fetched if isinstance(first, LazyMoments) else first.n_atoms
        return SparseFit(bound, outputs, objectives, n_fetched)

    def _check_options(self) -> None:
        """Find misspelt options before any work is done."""
        check_choice("effort", self.effort, EFFORTS)
        check_choice("error_bars", self.error_bars, ERROR_BARS)
        check_bool("fit_intercept", self.fit_intercept)
        check_bool("warm_start", self.warm_start)
        if self.low_memory != "auto":
            check_bool("low_memory", self.low_memory, also='or "auto"')
        if self.noise_variance is not None:
            check_positive("noise_variance", self.noise_variance, also="or None to estimate it")
        self._scale_learner(self._resolve_basis())
        resolve_prior(self.prior, takes_density=True)
        resolve_solver(self.solver, effort=self.effort, needs_dense=False)

    def _checked_weight(self, sample_weight: ArrayLike | None, X: Any) -> Vector | None:
        if sample_weight is None:
            return None
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weight.any():
            raise ValueError("sample_weight must have a positive entry; all are zero.")
        if weight.sum() < 2.0 <= np.count_nonzero(weight):
            warnings.warn(
                f"sample_weight sums to {weight.sum():g}, so the data count as that many samples: "
                "weights say how often each row was seen. Multiply them so that they sum to the "
                "number of samples.",
                UserWarning,
                stacklevel=4,
            )
        return None if (weight == 1.0).all() else weight

    def _problem(self, moments: Moments, bound: BoundBasis) -> tuple[Problem, Any]:
        prior = resolve_prior(self.prior, takes_density=True).bind(
            moments.n_effective + float(self.fit_intercept), moments.column_norm, bound.groups
        )
        solver = resolve_solver(self.solver, effort=self.effort, needs_dense=not prior.is_removable)
        problem = Problem(
            moments=moments,
            min_gain=self._entry_prices(bound, prior, solver, moments),
            prior=prior,
            noise_variance=None if self.noise_variance is None else float(self.noise_variance),
        )
        return problem, with_learnt_rate(solver, prior)

    def _entry_prices(
        self, bound: BoundBasis, prior: BoundPrior, solver: Any, moments: Moments
    ) -> Vector:
        """Log-evidence each atom must bring: ``min_gain``, or a default by kind of atom."""
        localised = bound.is_localised
        if not isinstance(self.min_gain, str):
            price = check_positive("min_gain", self.min_gain, allow_zero=True, also='or "auto"')
            return np.full(len(localised), price)
        if self.min_gain != "auto":
            raise ValueError(
                f'min_gain must be a non-negative number or "auto"; got {self.min_gain!r}.'
            )
        if not getattr(solver, "charges_min_gain", True):
            return np.zeros(len(localised))
        # A null column raises the evidence with probability 0.32. Prior odds of one to the
        # number of columns against each make the expected number of false ones small; a
        # smoothness prior charges for them already.
        if prior.is_penalised and moments.is_orthonormal:
            return np.zeros(len(localised))  # no tolerance needed: there is no search
        explicit = KERNEL_MIN_GAIN
        if not prior.is_penalised:
            n_explicit = max(int(np.count_nonzero(~localised)), 1)
            explicit = max(math.log(n_explicit), KERNEL_MIN_GAIN)
        prices = np.where(localised, KERNEL_MIN_GAIN, explicit)
        for part in moments.parts:
            if prior.is_penalised and part.is_orthonormal:
                prices[part.atoms] = 0.0  # as if it were alone
        return prices

    def _monitor(self, context: Any) -> Monitor | None:
        if not hasattr(self, "_skl_callbacks"):
            return None

        def tell(progress: Progress) -> bool:
            task = context.subcontext(task_name=progress.stage)
            task.call_on_fit_task_begin(estimator=self)
            return bool(task.call_on_fit_task_end(estimator=self))

        return tell

    def _expose(self, fit: SparseFit, *, single: bool) -> None:
        """Set the public attributes; those of several outputs refer to the union of atoms."""
        bound, outputs = fit.bound, fit.outputs
        self.outputs_ = tuple(outputs)
        self._single = single
        union = np.unique(np.concatenate([output.active for output in outputs]))
        self.n_atoms_ = bound.dictionary.shape[1]
        whole = BasisPart(type(self._resolve_basis()).__name__, self.n_atoms_)
        self._parts = bound.parts or (whole,)
        rows = bound.source_row
        self.relevance_ = rows[union] if (rows >= 0).all() else union
        coef = np.zeros((len(outputs), len(union)))
        precision = np.full((len(outputs), len(union)), np.inf)
        for number, output in enumerate(outputs):
            where = np.searchsorted(union, output.active)
            coef[number, where] = output.posterior.coef
            precision[number, where] = output.posterior.weight_precision
        per_output: dict[str, Any] = {
            "coef_": coef,
            "weight_precision_": precision,
            "intercept_": np.array([output.posterior.intercept for output in outputs]),
            "noise_variance_": np.array([output.posterior.noise_variance for output in outputs]),
            "log_evidence_": np.array([output.posterior.log_evidence for output in outputs]),
            "objective_": np.array([output.objective for output in outputs]),
            "effective_dof_": np.array([output.posterior.effective_dof for output in outputs]),
            "prior_rate_": np.array([output.solution.laplace_rate for output in outputs]),
            "saturated_": np.array([output.solution.saturated for output in outputs]),
            "converged_": np.array([output.solution.converged for output in outputs]),
        }
        for name, value in per_output.items():
            setattr(self, name, value if not single else _first(value))
        self.n_iter_ = max(1, max(output.solution.n_iter for output in outputs))
        self.atoms_ = outputs[0].atoms if single else bound.atoms.take(union)
        self.n_columns_fetched_ = fit.n_fetched

    def _warn(self, outputs: list[FittedOutput]) -> None:
        name = type(self).__name__
        if self.noise_variance is None and outputs[0].posterior.n_effective < 1.0:
            warnings.warn(
                f"{name} cannot estimate the noise from so few samples: the error bars say "
                "nothing. Give noise_variance, or more data.",
                UserWarning,
                stacklevel=4,
            )
        for output in outputs:
            solution = output.solution
            if self.noise_variance is None and output.is_beyond_rounding:
                reason = (
                    "works at the limit of floating-point numbers: the noise it found "
                    f"({solution.noise_variance:.2g}) is not that of the residuals "
                    f"({output.posterior.noise_variance:.2g}), because atoms are nearly collinear. "
                    "Use narrower kernels or fewer atoms, low_memory=False, or give noise_variance."
                )
            elif solution.saturated:
                reason = (
                    f"reached its cap on active atoms ({len(solution.active)}, half the effective "
                    "sample size): the atoms can explain the noise itself, so the noise level is "
                    'not identified. Use wider kernels or fewer atoms, prior="bic", or give '
                    "noise_variance."
                )
            elif not solution.converged and not hasattr(self, "_skl_callbacks"):
                reason = (
                    f"ended its search after {solution.n_iter} iterations before it had converged "
                    f"(gradient {solution.certificate.gradient:.1e}, gain of another atom "
                    f"{solution.certificate.best_gain:.1e} nats, {len(solution.active)} atoms "
                    "active): better models may exist. Give the solver a larger max_iter, or a "
                    "larger tol if these figures are small enough for you."
                )
            else:
                continue
            warnings.warn(f"{name} {reason}", ConvergenceWarning, stacklevel=4)

    def __sklearn_tags__(self) -> Any:
        """Declare what the estimator accepts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._resolve_basis().accepts_sparse
        return tags


def _first(value: np.ndarray) -> Any:
    item = value[0]
    return item if isinstance(item, np.ndarray) else item.item()


def _check_range(name: str, values: np.ndarray) -> None:
    """Refuse numbers whose squares are not floating-point numbers."""
    largest = float(np.abs(values).max(initial=0.0))
    spread = float(np.ptp(values, axis=0).max(initial=0.0)) if len(values) else 0.0
    if largest > LARGEST or 0.0 < spread < 1.0 / LARGEST:
        raise ValueError(
            f"{name} has values up to {largest:.3g} that differ by up to {spread:.3g}; their "
            f"squares leave the range of floating-point numbers. Rescale {name}, for instance to "
            "unit variance."
        )


def _warm_start(
    previous: tuple[FittedOutput, ...], number: int, n_outputs: int, bound: BoundBasis, X: Any
) -> WarmStart | None:
    """Continue from the previous fit where it spoke of the same atoms."""
    if len(previous) != n_outputs:
        return None
    output = previous[number]
    active = output.active
    if not len(active) or active[-1] >= bound.dictionary.shape[1]:
        return None
    rows = slice(0, min(X.shape[0], 50))
    before, now = output.atoms.at(X[rows]), bound.atoms.take(active).at(X[rows])
    return WarmStart(active, output.solution.log_lam) if np.array_equal(before, now) else None


def _forbid_weightless_centres(moments: Moments, bound: BoundBasis, weight: Vector | None) -> None:
    """A row that does not count must not lend its atom either (precomputed kernels)."""
    if weight is not None:
        rows = bound.source_row
        moments.usable = moments.usable & ~((rows >= 0) & (weight[rows] == 0.0))
