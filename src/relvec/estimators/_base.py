"""What every sparse Bayesian regressor shares: validate, wire, expose."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from relvec._checks import check_positive
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.bases.base import Basis, BoundBasis
from relvec.estimators._output import FittedOutput, finish_output
from relvec.moments import LazyMoments, Moments, moments_of
from relvec.priors import resolve_prior
from relvec.solvers import (
    Monitor,
    Problem,
    Progress,
    SequentialSolver,
    WarmStart,
    resolve_solver,
)

KERNEL_MIN_GAIN = 1e-3
"""Kernels overlap, so a useful one may gain next to nothing by itself: its entry is free but
for a tolerance."""


class BaseSparseBayesRegressor(
    CallbackSupportMixin, MultiOutputMixin, RegressorMixin, BaseEstimator
):
    """Fit, predict and explain; a subclass says which basis."""

    def _resolve_basis(self) -> Basis:
        raise NotImplementedError

    # ------------------------------------------------------------------ fit

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
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
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=("csr", "csc"),
            dtype=np.float64,
            multi_output=True,
            y_numeric=True,
        )
        y = np.asarray(y, dtype=np.float64)
        weight = self._checked_weight(sample_weight, X)
        bound = basis.bind(
            X, sample_weight=weight, random_state=check_random_state(self.random_state)
        )
        targets = y.reshape(len(y), -1)
        all_moments = moments_of(
            bound.dictionary,
            targets,
            weight,
            centre=bool(self.fit_intercept),
            low_memory=None if self.low_memory == "auto" else bool(self.low_memory),
        )
        previous = getattr(self, "outputs_", None) if self.warm_start else None
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        outputs: list[FittedOutput] = []
        for number, (moments, target) in enumerate(zip(all_moments, targets.T, strict=True)):
            _forbid_weightless_centres(moments, bound, weight)
            problem, solver = self._problem(moments, bound)
            solution = solver.solve(
                problem,
                warm_start=_warm_start(previous, number, len(all_moments), moments.n_atoms),
                monitor=self._monitor(context),
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
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        self._expose(outputs, bound, all_moments, single=y.ndim == 1)
        self._warn(outputs)
        return self

    def _checked_weight(self, sample_weight: ArrayLike | None, X: Any) -> Vector | None:
        if sample_weight is None:
            return None
        weight = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        if not weight.any():
            raise ValueError("sample_weight must have a positive entry; all are zero.")
        return None if (weight == 1.0).all() else weight

    def _problem(self, moments: Moments, bound: BoundBasis) -> tuple[Problem, Any]:
        prior = resolve_prior(self.prior)
        smoothness = prior.smoothness(moments.n_effective + float(self.fit_intercept))
        hyperprior = prior.hyperprior()
        solver = resolve_solver(
            self.solver,
            effort=self.effort,
            needs_dense=bool(hyperprior.shape or hyperprior.rate),
        )
        noise = self.noise_variance
        problem = Problem(
            moments=moments,
            min_gain=self._entry_prices(bound, smoothness, solver),
            smoothness=smoothness,
            hyperprior=hyperprior,
            noise_variance=None if noise is None else check_positive("noise_variance", noise),
        )
        return problem, solver

    def _entry_prices(self, bound: BoundBasis, smoothness: float, solver: Any) -> Vector:
        """Log-evidence each atom must bring: ``min_gain``, or a default by kind of atom."""
        localised = bound.is_localised
        if not isinstance(self.min_gain, str):
            price = check_positive("min_gain", self.min_gain, allow_zero=True, also='or "auto"')
            return np.full(len(localised), price)
        if self.min_gain != "auto":
            raise ValueError(
                f'min_gain must be a non-negative number or "auto"; got {self.min_gain!r}.'
            )
        if not isinstance(solver, SequentialSolver):
            return np.zeros(len(localised))  # the reference algorithms know no prices
        # A null column raises the evidence with probability 0.32. Prior odds of one to the
        # number of columns against each make the expected number of false ones small; a
        # smoothness prior charges for them already.
        explicit = KERNEL_MIN_GAIN
        if not smoothness:
            explicit = max(math.log(max(np.count_nonzero(~localised), 1)), KERNEL_MIN_GAIN)
        return np.where(localised, KERNEL_MIN_GAIN, explicit)

    def _monitor(self, context: Any) -> Monitor | None:
        if not hasattr(self, "_skl_callbacks"):
            return None

        def tell(progress: Progress) -> bool:
            task = context.subcontext(task_name=progress.stage)
            task.call_on_fit_task_begin(estimator=self)
            return bool(task.call_on_fit_task_end(estimator=self))

        return tell

    def _expose(
        self,
        outputs: list[FittedOutput],
        bound: BoundBasis,
        all_moments: list[Moments],
        *,
        single: bool,
    ) -> None:
        """Set the public attributes; those of several outputs refer to the union of atoms."""
        self.outputs_ = tuple(outputs)
        self._single = single
        union = np.unique(np.concatenate([output.active for output in outputs]))
        self.n_atoms_ = bound.dictionary.shape[1]
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
            "objective_": np.array([output.solution.objective for output in outputs]),
            "effective_dof_": np.array([output.posterior.effective_dof for output in outputs]),
            "saturated_": np.array([output.solution.saturated for output in outputs]),
            "converged_": np.array([output.solution.converged for output in outputs]),
        }
        for name, value in per_output.items():
            setattr(self, name, value if not single else _first(value))
        self.n_iter_ = max(1, max(output.solution.n_iter for output in outputs))
        self.atoms_ = outputs[0].atoms if single else bound.atoms.take(union)
        first = all_moments[0]
        self.n_columns_fetched_ = (
            first.columns.n_fetched if isinstance(first, LazyMoments) else first.n_atoms
        )

    def _warn(self, outputs: list[FittedOutput]) -> None:
        for output in outputs:
            solution = output.solution
            if solution.saturated:
                warnings.warn(
                    f"{type(self).__name__} reached its cap of {len(solution.active)} active atoms "
                    "(half the effective sample size): the atoms can explain the noise itself, so "
                    "the noise level is not identified. Use wider kernels or fewer atoms, "
                    'prior="bic", or give noise_variance.',
                    ConvergenceWarning,
                    stacklevel=3,
                )
            elif not solution.converged and not hasattr(self, "_skl_callbacks"):
                warnings.warn(
                    f"{type(self).__name__} stopped after {solution.n_iter} iterations with a "
                    f"gradient of {solution.certificate.gradient:.1e} and a best remaining gain of "
                    f"{solution.certificate.best_gain:.1e}; {len(solution.active)} atoms are "
                    "active. Increase max_iter or tol of the solver.",
                    ConvergenceWarning,
                    stacklevel=3,
                )

    # ------------------------------------------------------------------ predict

    def _validated(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        return validate_data(
            self, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=False
        )

    def _per_output(self, ask: Callable[[FittedOutput], Any]) -> Any:
        answers = [ask(output) for output in self.outputs_]
        return answers[0] if self._single else np.stack(answers, axis=-1)

    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> Vector | tuple[Vector, Vector] | tuple[Vector, Matrix]:
        """Predict the target, with its uncertainty on request.

        Only the relevant atoms are evaluated, so the cost does not depend on the number of
        training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Also return the standard deviation of a new target, noise included.
        return_cov : bool, default=False
            Also return the covariance of new targets between all rows of `X`.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        std : ndarray of the same shape
            Only if `return_std` is True.
        cov : ndarray of shape (n_samples, n_samples) or (n_samples, n_samples, n_outputs)
            Only if `return_cov` is True.

        See Also
        --------
        predict_interval : Intervals of given coverage.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov exclude each other; ask for one of them.")
        X = self._validated(X)
        if return_std:
            predictions = [output.predict_target(X) for output in self.outputs_]
            mean, std = ([getattr(p, name) for p in predictions] for name in ("mean", "std"))
            if self._single:
                return mean[0], std[0]
            return np.stack(mean, axis=-1), np.stack(std, axis=-1)
        mean = self._per_output(lambda output: output.predict_mean(X))
        if not return_cov:
            return mean
        return mean, self._per_output(
            lambda output: output.function_covariance(X)
            + output.posterior.noise_variance * np.eye(X.shape[0])
        )

    def predict_interval(self, X: ArrayLike, coverage: float = 0.95) -> Matrix:
        """Predict intervals that hold a new target with probability `coverage`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.95
            Probability, strictly between 0 and 1.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2) or (n_samples, 2, n_outputs)
            Lower and upper ends.
        """
        if not isinstance(coverage, numbers.Real) or not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must be strictly between 0 and 1; got {coverage!r}.")
        X = self._validated(X)
        return self._per_output(lambda output: output.predict_target(X).interval(float(coverage)))

    def sample_y(
        self,
        X: ArrayLike,
        n_samples: int = 1,
        random_state: Any = 0,
        *,
        include_noise: bool = True,
    ) -> Matrix:
        """Draw from the posterior at the given inputs.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Inputs.
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState instance or None, default=0
            Seed, as in scikit-learn's Gaussian processes.
        include_noise : bool, default=True
            Draw targets; with False, draw functions.

        Returns
        -------
        draws : ndarray of shape (n_rows, n_samples) or (n_rows, n_outputs, n_samples)
        """
        X = self._validated(X)
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        draws = []
        for output in self.outputs_:
            functions = output.sample_functions(X, n_samples, rng)
            if include_noise:
                scale = math.sqrt(output.posterior.noise_variance)
                functions = functions + scale * rng.standard_normal(functions.shape)
            draws.append(functions)
        return draws[0] if self._single else np.stack(draws, axis=1)

    def log_predictive_density(self, X: ArrayLike, y: ArrayLike) -> Vector:
        """Log density of observed targets under the predictive distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        density : ndarray of the shape of `y`
        """
        check_is_fitted(self)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=("csr", "csc"),
            dtype=np.float64,
            multi_output=True,
            reset=False,
        )
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self._check_n_outputs(targets)
        densities = [
            output.predict_target(X).log_density(target)
            for output, target in zip(self.outputs_, targets.T, strict=True)
        ]
        return densities[0] if self._single else np.stack(densities, axis=-1)

    def leave_one_out(self, X: ArrayLike, y: ArrayLike) -> tuple[Vector, Vector]:
        """Predict each training row from all others, precisions and noise held fixed.

        Closed form, no refit. The atoms stay those chosen with the row included, so the
        errors are somewhat optimistic: use cross-validation to compare models.

        Parameters
        ----------
        X, y : array-like
            The training data; a fitted model does not keep them.

        Returns
        -------
        mean, std : ndarray of the shape of `y`
            Of the predictive distribution of the left-out target.
        """
        check_is_fitted(self)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=("csr", "csc"),
            dtype=np.float64,
            multi_output=True,
            reset=False,
        )
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self._check_n_outputs(targets)
        means, stds = [], []
        for output, target in zip(self.outputs_, targets.T, strict=True):
            mean, variance = output.posterior.leave_one_out(output.atoms.at(X), target)
            means.append(mean)
            stds.append(np.sqrt(variance))
        if self._single:
            return means[0], stds[0]
        return np.stack(means, axis=-1), np.stack(stds, axis=-1)

    def _check_n_outputs(self, targets: Matrix) -> None:
        if targets.shape[1] != len(self.outputs_):
            raise ValueError(
                f"y has {targets.shape[1]} outputs, but the model was fitted with "
                f"{len(self.outputs_)}."
            )

    # ------------------------------------------------------------------ explain

    @property
    def weight_covariance_(self) -> Matrix | list[Matrix]:
        """Posterior covariance of the weights of the active atoms (a list for several outputs)."""
        check_is_fitted(self)
        covariances = [output.posterior.covariance for output in self.outputs_]
        return covariances[0] if self._single else covariances

    @property
    def well_determined_(self) -> Vector | list[Vector]:
        """How far the data fix each active weight, ``gamma`` in [0, 1]."""
        check_is_fitted(self)
        gammas = [output.posterior.well_determined for output in self.outputs_]
        return gammas[0] if self._single else gammas

    @property
    def candidates_(self) -> tuple[Any, ...]:
        """End states the solver compared (start, objective, n_active), best first."""
        check_is_fitted(self)
        if self._single:
            return self.outputs_[0].solution.candidates
        return tuple(output.solution.candidates for output in self.outputs_)

    def atom_names(self) -> list[str]:
        """Names of the relevant atoms, in the order of `coef_`."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{i}" for i in range(self.n_features_in_)]
        return self.atoms_.names(list(names))

    def __sklearn_tags__(self) -> Any:
        """Declare what the estimator accepts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._resolve_basis().accepts_sparse
        return tags


def _first(value: np.ndarray) -> Any:
    item = value[0]
    return item if isinstance(item, np.ndarray) else item.item()


def _warm_start(
    previous: tuple[FittedOutput, ...] | None, number: int, n_outputs: int, n_atoms: int
) -> WarmStart | None:
    """Continue from the previous fit where it spoke of the same number of atoms."""
    if previous is None or len(previous) != n_outputs:
        return None
    solution = previous[number].solution
    if len(solution.active) == 0 or solution.active[-1] >= n_atoms:
        return None
    return WarmStart(solution.active, solution.log_lam)


def _forbid_weightless_centres(
    moments: Moments, bound: BoundBasis, weight: Vector | None
) -> None:
    """A row that does not count must not lend its atom either (precomputed kernels)."""
    if weight is not None:
        rows = bound.source_row
        moments.usable = moments.usable & ~((rows >= 0) & (weight[rows] == 0.0))
