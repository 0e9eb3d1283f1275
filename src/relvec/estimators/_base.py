"""What every sparse Bayesian regressor shares: validate, resolve once, expose."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning

from relvec._checks import check_finite_input
from relvec._typing import ArrayLike
from relvec.bases.base import BasisPart
from relvec.estimators._components import ComponentsMixin
from relvec.estimators._fronts import Front
from relvec.estimators._inputs import check_range, read_weight, validate_inputs, warn_of_weights
from relvec.estimators._length_scales import expose_scales
from relvec.estimators._notebook import NotebookMixin
from relvec.estimators._output import FittedOutput, RegressionFit
from relvec.estimators._plan import Data, RegressionPlan, monitor_of, resolve_shared
from relvec.estimators._solvers import resolve_solver
from relvec.solvers import Monitor, Problem, with_learnt_rate

PER_OUTPUT = {
    "intercept_": "posterior.intercept",
    "calibration_": "calibration",
    "noise_variance_": "posterior.noise_variance",
    "log_evidence_": "posterior.log_evidence",
    "objective_": "objective",
    "effective_dof_": "posterior.effective_dof",
    "prior_rate_": "solution.laplace_rate",
    "reached_max_active_": "solution.reached_max_active",
    "converged_": "solution.converged",
}
"""Attributes of estimators that are one number for each output, and where it is."""


class BaseSparseBayesRegressor(
    Front, ComponentsMixin, CallbackSupportMixin, MultiOutputMixin, RegressorMixin, NotebookMixin
):
    """Fit, predict and explain; a front says which basis, a table which options."""

    def _resolve(self, monitor: Monitor | None = None) -> RegressionPlan:
        """Turn options into objects, once for a fit; say which are wrong."""
        options: Any = self
        shared = resolve_shared(options, monitor, allow_density=True)
        prior, noise = shared["prior"], options.noise_variance
        default = {each.name: each.default for each in fields(options)}
        resolve = partial(resolve_solver, options.solver, needs_dense=prior.keeps_all_atoms)
        return RegressionPlan(
            **shared,
            solver=with_learnt_rate(resolve(effort=options.effort), prior),
            fold_solver=with_learnt_rate(resolve(effort="fast"), prior),
            calibrate=bool(options.calibrate),
            is_open=all(
                isinstance(getattr(self, name), str) and getattr(self, name) == default[name]
                for name in ("prior", "solver")
            ),
            noise_variance=None if noise is None else float(noise),
            fit_intercept=bool(options.fit_intercept),
            previous=getattr(self, "outputs_", ()) if options.warm_start else (),
        )

    @with_callbacks
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BaseSparseBayesRegressor:
        """Find the relevant atoms, their weights and the noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. Sparse matrices are accepted by `LinearBasis`; texts and other objects, also
            as a list, by kernels and functions of such.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets. Several outputs are fitted one by one and share the dictionary.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: weight 2 is the row given twice, weight 0 the row left
            out.

        Returns
        -------
        self : object
        """
        context = self._init_callback_context(max_subtasks=None)
        has_callbacks = hasattr(self, "_skl_callbacks")
        plan = self._resolve(monitor_of(self, context) if has_callbacks else None)
        n_features = getattr(self, "n_features_in_", None)
        data, is_single = self._read(X, y, sample_weight)
        if n_features != self.n_features_in_:  # what was found there is of no use here
            plan = replace(plan, previous=())
        if data.weight is not None and data.weight.sum() < 2.0 <= np.count_nonzero(data.weight):
            warnings.warn(
                f"sample_weight sums to {data.weight.sum():g}, so the data count as that many "
                "samples: weights say how often each row was seen. Multiply them so that they sum "
                "to the number of samples.",
                UserWarning,
                stacklevel=3,
            )
        warn_of_weights(data.weight, stacklevel=4)
        context.call_on_fit_task_begin(estimator=self, X=data.X, y=y)
        fit = plan.run(data)
        context.call_on_fit_task_end(estimator=self, X=data.X, y=y)
        self._expose(fit, plan, is_single=is_single)
        if fit.n_copies >= plan.tuning.many_copies and _are_chance(data, fit.n_copies):
            fit = replace(fit, n_copies=1.0)
        self._warn(fit, plan, stacklevel=4)
        return self

    def _warn(self, fit: RegressionFit, plan: RegressionPlan, *, stacklevel: int) -> None:
        """Say what is wrong with a fit, and what to do."""
        name = type(self).__name__
        if plan.noise_variance is None and fit.outputs[0].posterior.n_effective < 1.0:
            warnings.warn(
                f"{name} cannot estimate the noise from so few samples: the error bars say "
                "nothing. Give noise_variance, or more data.",
                UserWarning,
                stacklevel=stacklevel,
            )
        if fit.n_copies >= plan.tuning.many_copies:
            warnings.warn(
                f"Rows are repeated: each stands {fit.n_copies:.3g} times in X and y on average, "
                f"and {name} takes all of them for independent observations, so that it keeps too "
                "many atoms and its weights look too certain. Drop the copies; or, if rows were "
                "observed that often, say so by sample_weight.",
                UserWarning,
                stacklevel=stacklevel,
            )
        if any(map(_is_refused, fit.problems, fit.outputs)) and plan.monitor is None:
            warnings.warn(
                f"{name} refused the Laplace prior, under which left-out rows are predicted worse "
                "than under the flat prior, and used that (prior_rate_ is 0). It suits many weak "
                'effects in columns, not kernels: use prior="flat", "bic" or "ric", or give a rate '
                "of your own, LaplacePrior(rate), which is not questioned.",
                UserWarning,
                stacklevel=stacklevel,
            )
        for output in fit.outputs:
            reason = _weakness(output, plan, is_watched=plan.monitor is not None)
            if reason is not None:
                warnings.warn(f"{name} {reason}", ConvergenceWarning, stacklevel=stacklevel)

    def _read(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Data, bool]:
        """Validate rows to fit; return them, and whether they have a single target."""
        check_finite_input(y, "y")
        X, y = validate_inputs(self, X, y, multi_output=True, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        check_range("y", y)
        weight = None if sample_weight is None else read_weight(sample_weight, X)
        groups = np.zeros(len(y), dtype=np.intp)
        return Data(X, y.reshape(len(y), -1), weight, groups), y.ndim == 1

    def _expose(self, fit: RegressionFit, plan: RegressionPlan, *, is_single: bool) -> None:
        """Set the public attributes; those of several outputs refer to the union of atoms."""
        bound, outputs = fit.bound, fit.outputs
        expose_scales(self, fit.scaled, fit.relevance_std)
        self.outputs_ = outputs
        self._single = is_single
        self.n_atoms_ = bound.dictionary.shape[1]
        basis = plan.basis if fit.scaled is None else fit.scaled.basis
        self._parts = bound.parts or (BasisPart(type(basis).__name__, self.n_atoms_),)
        union = np.unique(np.concatenate([*map(attrgetter("active"), outputs)]))
        rows = bound.source_row
        self.relevance_ = rows[union] if (rows >= 0).all() else union
        coef = np.zeros((len(outputs), len(union)))
        precision = np.full((len(outputs), len(union)), np.inf)
        for number, output in enumerate(outputs):
            where = np.searchsorted(union, output.active)
            coef[number, where] = output.posterior.coef
            precision[number, where] = output.posterior.weight_precision
        self.coef_ = coef[0] if is_single else coef
        self.weight_precision_ = precision[0] if is_single else precision
        for name, place in PER_OUTPUT.items():
            values = np.array(list(map(attrgetter(place), outputs)))
            setattr(self, name, values[0].item() if is_single else values)
        self.n_iter_ = max(1, *map(attrgetter("solution.n_iter"), outputs))
        self.atoms_ = outputs[0].atoms if is_single else bound.atoms.subset(union)
        self.n_columns_fetched_ = fit.n_fetched


def _are_chance(data: Data, n_copies: float) -> bool:
    """Whether equal rows are no copies: few values of inputs and targets meet again and again.

    Inputs were then observed with several targets, and targets are fewer than rows that differ.
    """
    if issparse(data.X) or data.X.dtype == object:
        return False
    n_different = len(data.targets) / n_copies
    n_inputs, n_targets = (len(np.unique(each, axis=0)) for each in (data.X, data.targets))
    return n_inputs < n_different and n_targets <= 0.5 * n_different


def _is_refused(problem: Problem, output: FittedOutput) -> bool:
    """Whether the rate of a Laplace prior was to be learnt, and the flat prior is better."""
    is_flat = output.solution.laplace_rate == 0.0 and len(output.active) > 0
    return is_flat and problem.prior.rate_hyperprior is not None


def _weakness(output: FittedOutput, plan: RegressionPlan, *, is_watched: bool) -> str | None:
    """Say what is wrong with the fit of an output, and what to do; None if nothing is."""
    solution = output.solution
    if plan.noise_variance is None and output.is_beyond_rounding:
        return (
            "works at the limit of floating-point numbers: the noise it found "
            f"({solution.noise_variance:.2g}) is not that of the residuals "
            f"({output.posterior.noise_variance:.2g}), because atoms are nearly collinear. "
            "Use narrower kernels or fewer atoms, low_memory=False, or give noise_variance."
        )
    if solution.reached_max_active:
        return (
            f"reached its cap on active atoms ({len(solution.active)}, half the effective "
            "sample size): the atoms can explain the noise itself, so the noise level is "
            'not identified. Use wider kernels or fewer atoms, prior="bic", or give '
            "noise_variance."
        )
    if not solution.converged and not is_watched:  # callbacks may have ended it
        return (
            f"ended its search after {solution.n_iter} iterations before it had converged "
            f"(gradient {solution.certificate.gradient:.1e}, gain of another atom "
            f"{solution.certificate.best_gain:.1e} nats, {len(solution.active)} atoms "
            "active): better models may exist. Give the solver a larger max_iter, or a "
            "larger tol if these figures are small enough for you."
        )
    return None
