"""Base class of sparse Bayesian regressors: validate data, fit, set attributes, warn."""

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
from relvec.estimators._basis_options import BasisMixin
from relvec.estimators._components import ComponentsMixin
from relvec.estimators._fitted_attributes import FittedAttributesMixin
from relvec.estimators._inputs import (
    check_range,
    read_noise_variance,
    read_weight,
    validate_inputs,
    warn_about_weights,
)
from relvec.estimators._leave_one_out import LeaveOneOutMixin
from relvec.estimators._length_scales import expose_length_scales
from relvec.estimators._noise_prediction import NoisePredictionMixin
from relvec.estimators._notebook import NotebookMixin
from relvec.estimators._output import FittedOutput, RegressionFit
from relvec.estimators._plan import Data, make_monitor, resolve_common_options
from relvec.estimators._regression_plan import RegressionPlan
from relvec.estimators._robust import ROBUST_KINDS
from relvec.estimators._sample_posterior import SamplePosteriorMixin
from relvec.estimators._solvers import read_precision, resolve_solver
from relvec.estimators._target_transform import NO_KNOWN_NOISE
from relvec.evidence import NOISE_FLOOR
from relvec.posterior import noise_floor
from relvec.solvers import Monitor, Problem, with_learnt_rate

PER_OUTPUT = {
    "intercept_": "posterior.intercept",
    "calibration_": "calibration",
    "noise_variance_": "posterior.noise_variance",
    "noise_gain_": "noise_gain",
    "log_evidence_": "posterior.log_evidence",
    "objective_": "objective",
    "effective_dof_": "posterior.effective_dof",
    "prior_rate_": "solution.laplace_rate",
    "reached_max_active_": "solution.reached_max_active",
    "converged_": "solution.converged",
}
"""Attributes of regressors with one value per output, and where `FittedOutput` has it."""

NOISE_ATTRIBUTES = ("outlier_probability_", "row_weight_", "df_", "contamination_")
"""Attributes of regressors that exist only with some values of the option `noise`."""


class BaseSparseBayesRegressor(
    BasisMixin,
    ComponentsMixin,
    FittedAttributesMixin,
    NoisePredictionMixin,
    LeaveOneOutMixin,
    SamplePosteriorMixin,
    CallbackSupportMixin,
    MultiOutputMixin,
    RegressorMixin,
    NotebookMixin,
):
    """Base class of regressors; subclasses add options and the basis they describe."""

    def _resolve(self, monitor: Monitor | None = None) -> RegressionPlan:
        """Resolve the options to objects, and raise if one is not valid."""
        options: Any = self
        shared = resolve_common_options(options, monitor, allow_density=True)
        prior, noise = shared["prior"], options.noise_variance
        if noise is not None and options.noise != "constant":
            raise ValueError(
                f"noise={options.noise!r} estimates the noise, but noise_variance={noise!r} gives "
                'it. Use noise="constant" with noise_variance, or omit noise_variance.'
            )
        if options.target_transform is not None and options.noise in ROBUST_KINDS:
            raise ValueError(
                f"noise={options.noise!r} has heavy tails, with which a transformed target has no "
                'mean. Use target_transform=None with it, or noise="constant" or '
                '"heteroscedastic" with target_transform.'
            )
        if options.target_transform is not None and noise is not None:
            raise ValueError(f"noise_variance={noise!r} {NO_KNOWN_NOISE}")
        default = {each.name: each.default for each in fields(options)}
        learner, moves = shared["learner"], getattr(options, "tune_atoms", None)
        if moves is not None and learner is not None and learner.n_refinements:
            raise ValueError(
                f"tune_atoms={moves!r} moves single kernels, and n_refinements="
                f"{learner.n_refinements} the length-scales of all. Use one of them."
            )
        precision = read_precision(options, prior, shared["basis"])
        if moves is not None and precision == "tied":
            if shared["basis"].has_prior_spectrum:
                raise ValueError(
                    f"tune_atoms={moves!r} moves single kernels, but the basis has a prior "
                    "spectrum, whose columns belong together. Use tune_atoms=None."
                )
            raise ValueError(
                f'precision="tied" keeps all kernels of a basis equal, but tune_atoms={moves!r} '
                'moves single ones. Use precision="atom" or tune_atoms=None.'
            )
        resolve = partial(
            resolve_solver,
            options.solver,
            needs_dense=prior.keeps_all_atoms,
            precision=precision,
        )
        return RegressionPlan(
            **shared,
            solver=with_learnt_rate(resolve(effort=options.effort), prior),
            fold_solver=with_learnt_rate(resolve(effort="fast"), prior),
            calibrate=bool(options.calibrate),
            has_default_algorithm=precision == "atom"
            and all(
                isinstance(getattr(self, name), str) and getattr(self, name) == default[name]
                for name in ("prior", "solver")
            ),
            noise=options.noise,
            target_transform=options.target_transform,
            tune_atoms=moves,
            noise_variance=None if noise is None else float(noise),
            fit_intercept=bool(options.fit_intercept),
            previous=getattr(self, "outputs_", ()) if options.warm_start else (),
        )

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        noise_variance: ArrayLike | None = None,
    ) -> BaseSparseBayesRegressor:
        """Fit the model: select basis functions, estimate their weights and the noise variance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. `LinearBasis` accepts sparse matrices; kernels of texts or objects
            accept lists and arrays of them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets. Several outputs are fitted one by one, with the same candidate basis functions.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights: weight 2 is the same as the row given twice, weight 0 as the row left
            out. Default, 1 for each row.
        noise_variance : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Known noise variance of each row, in squared units of the target, such as squared
            measurement errors; with ``scale_noise=True``, up to a common factor. A row of weight 2
            is two observations, each of this variance. By default all rows have the same noise
            variance, which is estimated or the option `noise_variance`.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        context = self._init_callback_context(max_subtasks=None)
        has_callbacks = hasattr(self, "_skl_callbacks")
        plan = self._resolve(make_monitor(self, context) if has_callbacks else None)
        n_features = getattr(self, "n_features_in_", None)
        data, is_single = self._validate_training_data(X, y, sample_weight)
        if noise_variance is not None:
            data, plan = self._use_noise_variance(noise_variance, data, plan)
        if n_features != self.n_features_in_:  # warm starts need the same features
            plan = replace(plan, previous=())
        if data.weight is not None and data.weight.sum() < 2.0 <= np.count_nonzero(data.weight):
            warnings.warn(
                f"sample_weight sums to {data.weight.sum():g}, so the data count as that many "
                "samples: sample weights are frequency weights. Multiply them so that they sum to "
                "the number of samples.",
                UserWarning,
                stacklevel=3,
            )
        warn_about_weights(
            data.weight,
            "If the weights are inverse noise variances, give these variances as fit(X, y, "
            "noise_variance=...), with scale_noise=True if they are known up to a factor.",
            stacklevel=4,
        )
        context.call_on_fit_task_begin(estimator=self, X=data.X, y=y)
        fit = plan.run(data)
        context.call_on_fit_task_end(estimator=self, X=data.X, y=y)
        self._set_attributes(fit, plan, is_single=is_single)
        if fit.n_copies >= plan.tuning.max_mean_copies and _are_coincidental_copies(
            data, fit.n_copies
        ):
            fit = replace(fit, n_copies=1.0)
        self._warn(fit, plan, stacklevel=4)
        return self

    def _use_noise_variance(
        self, noise_variance: Any, data: Data, plan: RegressionPlan
    ) -> tuple[Data, RegressionPlan]:
        """Return data and plan of a fit with known noise variances."""
        options: Any = self
        if plan.noise_variance is not None:
            raise ValueError(
                f"noise_variance is given both in fit and as an option ({plan.noise_variance:g}). "
                "Give one of them."
            )
        if plan.noise != "constant":
            raise ValueError(
                f"noise={plan.noise!r} estimates the noise, but noise_variance gives it. Use "
                'noise="constant" with noise_variance, or omit noise_variance.'
            )
        if plan.target_transform is not None:
            raise ValueError(f"noise_variance {NO_KNOWN_NOISE}")
        if not callable(noise_variance) and np.ndim(noise_variance) == 0:
            raise ValueError(
                f"noise_variance of fit needs one entry per row; got {noise_variance!r}. For noise "
                f"of one known variance use {type(self).__name__}(noise_variance=...)."
            )
        variances = read_noise_variance(noise_variance, data.X, data.targets.shape[1])
        # Rows without noise would have infinite weight.
        if options.scale_noise:  # in any unit, so the largest variance sets the scale
            if not variances.any(axis=0).all():
                raise ValueError(
                    "noise_variance is zero for all rows, so that no factor of it can be "
                    "estimated. Give at least one positive variance, or omit noise_variance."
                )
            floors = NOISE_FLOOR * variances.max(axis=0)
        else:
            floors = [noise_floor(np.var(each), np.mean(each)) for each in data.targets.T]
        data = data._replace(row_variance=np.maximum(variances, floors))
        return data, replace(plan, is_row_variance_absolute=not options.scale_noise)

    def _warn(self, fit: RegressionFit, plan: RegressionPlan, *, stacklevel: int) -> None:
        """Warn about problems of a fit."""
        name = type(self).__name__
        if not plan.is_noise_given and fit.outputs[0].posterior.n_effective < 1.0:
            warnings.warn(
                f"{name} cannot estimate the noise variance from so few samples, so the error bars "
                "are meaningless. Give noise_variance, or more data.",
                UserWarning,
                stacklevel=stacklevel,
            )
        if fit.n_copies >= plan.tuning.max_mean_copies:
            warnings.warn(
                f"Rows are repeated: each occurs {fit.n_copies:.3g} times in X and y on average. "
                f"{name} treats all of them as independent observations, so it keeps too many "
                "basis functions and its error bars are too narrow. Remove the copies; if rows "
                "were observed that often, give their counts as sample_weight.",
                UserWarning,
                stacklevel=stacklevel,
            )
        if any(map(_is_laplace_rejected, fit.problems, fit.outputs)) and plan.monitor is None:
            warnings.warn(
                f"{name} replaced the Laplace prior by the flat prior (prior_rate_ is 0), because "
                "with the Laplace prior held-out rows are predicted worse. It suits many weak "
                'effects of explicit columns, not kernels. Use prior="flat", "bic" or "ric"; or '
                "give the rate, LaplacePrior(rate), which is then used in any case.",
                UserWarning,
                stacklevel=stacklevel,
            )
        for output in fit.outputs:
            reason = _describe_problem(output, plan, has_callbacks=plan.monitor is not None)
            if reason is not None:
                warnings.warn(f"{name} {reason}", ConvergenceWarning, stacklevel=stacklevel)

    def _validate_training_data(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[Data, bool]:
        """Validate the training data; return them, and whether y has one dimension."""
        check_finite_input(y, "y")
        X, y = validate_inputs(self, X, y, multi_output=True, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        check_range("y", y)
        weight = None if sample_weight is None else read_weight(sample_weight, X)
        groups = np.zeros(len(y), dtype=np.intp)
        return Data(X, y.reshape(len(y), -1), weight, groups), y.ndim == 1

    def _set_attributes(self, fit: RegressionFit, plan: RegressionPlan, *, is_single: bool) -> None:
        """Set the fitted attributes; those of several outputs refer to the union of their atoms."""
        bound, outputs = fit.bound, fit.outputs
        expose_length_scales(self, fit.scaled, fit.relevance_std)
        self.outputs_ = outputs
        self._single = is_single
        self.n_atoms_ = bound.dictionary.shape[1]
        basis = plan.basis if fit.basis is None else fit.basis
        # Only where the fit may have learnt parameters of the basis itself.
        self.__dict__.pop("basis_", None)
        if basis.has_prior_spectrum:
            self.basis_ = basis
        self._parts = bound.parts or (BasisPart(basis.part_name, self.n_atoms_),)
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
        self._set_noise_attributes(fit)
        self.n_iter_ = max(1, *map(attrgetter("solution.n_iter"), outputs))
        self.atoms_ = outputs[0].atoms if is_single else bound.atoms.subset(union)
        self.n_columns_fetched_ = fit.n_fetched

    def _set_noise_attributes(self, fit: RegressionFit) -> None:
        """Set the attributes that describe the noise, and delete those of earlier fits."""
        for name in NOISE_ATTRIBUTES:
            self.__dict__.pop(name, None)
        for name, values in fit.noise_attributes.items():
            several = values[0] if self._single else np.stack(values, axis=-1)
            setattr(self, name, several)


def _are_coincidental_copies(data: Data, n_copies: float) -> bool:
    """Whether equal rows are repeated observations of discrete values rather than copies.

    They are if inputs occur with several targets and there are few distinct targets.
    """
    if issparse(data.X) or data.X.dtype == object:
        return False
    n_different = len(data.targets) / n_copies
    n_inputs, n_targets = (len(np.unique(each, axis=0)) for each in (data.X, data.targets))
    return n_inputs < n_different and n_targets <= 0.5 * n_different


def _is_laplace_rejected(problem: Problem, output: FittedOutput) -> bool:
    """Whether a Laplace prior with learnt rate was replaced by the flat prior."""
    is_flat = output.solution.laplace_rate == 0.0 and len(output.active) > 0
    return is_flat and problem.prior.rate_hyperprior is not None


def _describe_problem(
    output: FittedOutput, plan: RegressionPlan, *, has_callbacks: bool
) -> str | None:
    """Return the text of a convergence warning about an output; None if there is no problem."""
    solution = output.solution
    if not plan.is_noise_given and output.is_noise_rounding_error:
        return (
            "reached the limit of floating-point precision: the noise variance of the solver "
            f"({solution.noise_variance:.2g}) is not that of the residuals "
            f"({output.posterior.noise_variance:.2g}), because basis functions are nearly "
            "collinear. Use shorter length-scales or fewer basis functions, low_memory=False, or "
            "give noise_variance."
        )
    if solution.reached_max_active:
        return (
            f"reached the cap on the number of active basis functions ({len(solution.active)}, "
            "half the effective sample size): they can fit the noise, so the noise variance is not "
            'identifiable. Use longer length-scales, fewer basis functions or prior="bic", or give '
            "noise_variance."
        )
    if not solution.converged and not has_callbacks:  # callbacks may have stopped it
        return (
            f"did not converge in {solution.n_iter} iterations "
            f"(gradient {solution.certificate.gradient:.1e}, gain of another basis function "
            f"{solution.certificate.best_gain:.1e} nats, {len(solution.active)} active): better "
            "models may exist. Give the solver a larger max_iter, or a larger tol if these values "
            "are small enough."
        )
    return None
