"""Base class of sparse Bayesian classifiers: validate data, fit, set attributes, warn."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from relvec._typing import ArrayLike, Vector
from relvec.estimators._basis_options import BasisMixin
from relvec.estimators._class_model import ClassModelAverage
from relvec.estimators._classification_plan import ClassificationFit, ClassificationPlan
from relvec.estimators._decide import DecisionMixin
from relvec.estimators._inputs import read_weight, validate_inputs, warn_about_weights
from relvec.estimators._length_scales import expose_length_scales
from relvec.estimators._notebook import NotebookMixin
from relvec.estimators._plan import Data, make_monitor, resolve_common_options
from relvec.estimators._sample_posterior import SamplePosteriorMixin
from relvec.estimators._solvers import read_precision, resolve_latent_solver
from relvec.priors import InverseGamma
from relvec.solvers import Monitor, TiedLaplaceSolver

__all__ = ["BaseSparseBayesClassifier", "validate_class_data"]


class BaseSparseBayesClassifier(
    BasisMixin,
    DecisionMixin,
    SamplePosteriorMixin,
    CallbackSupportMixin,
    ClassifierMixin,
    NotebookMixin,
):
    """Base class of classifiers; subclasses add options and the basis they describe."""

    def _resolve(self, monitor: Monitor | None = None) -> ClassificationPlan:
        """Resolve the options to objects, and raise if one is not valid."""
        options: Any = self
        shared = resolve_common_options(options, monitor)
        noise = shared["prior"].noise
        if isinstance(noise, InverseGamma) and (noise.shape or noise.rate):
            raise ValueError(
                f"{type(self).__name__} has no noise variance, but {shared['prior']!r} gives it a "
                "prior. Leave out `noise`; it is for regressors."
            )
        is_auto, bound = isinstance(options.fit_intercept, str), options.largest_logit
        return ClassificationPlan(
            **shared,
            solver=resolve_latent_solver(
                options.solver,
                needs_dense=shared["prior"].keeps_all_atoms,
                precision=read_precision(options, shared["prior"], shared["basis"]),
            ),
            fit_intercept=None if is_auto else bool(options.fit_intercept),
            counts_at_bound=options.penalty_curvature == "bound",
            largest_latent=None if isinstance(bound, str) else float(bound),
            average=options.average,
        )

    @with_callbacks
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BaseSparseBayesClassifier:
        """Fit the model: select basis functions and estimate their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs. `LinearBasis` accepts sparse matrices; kernels of texts or objects
            accept lists and arrays of them.
        y : array-like of shape (n_samples,)
            Class labels of at least two classes: numbers, booleans or strings.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights: weight 2 is the same as the row given twice, weight 0 as the row left
            out. Default, 1 for each row.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        context = self._init_callback_context(max_subtasks=None)
        has_callbacks = hasattr(self, "_skl_callbacks")
        plan = self._resolve(make_monitor(self, context) if has_callbacks else None)
        options: Any = self
        data, self.classes_ = validate_class_data(self, X, y, sample_weight, options.class_weight)
        n_classes = len(self.classes_)
        if n_classes > 2 and plan.multi_class != "one_vs_rest":
            solver = resolve_latent_solver(
                options.solver,
                needs_dense=plan.prior.keeps_all_atoms,
                n_latent=n_classes,
                precision=read_precision(options, plan.prior, plan.basis),
            )
            plan = replace(plan, solver=solver)
        context.call_on_fit_task_begin(estimator=self, X=data.X, y=y)
        fit = plan.run(data)
        context.call_on_fit_task_end(estimator=self, X=data.X, y=y)
        self._set_attributes(fit)
        reason = _describe_problem(fit, plan, len(data.groups), has_callbacks=has_callbacks)
        if reason is not None:
            message = f"{type(self).__name__} {reason}"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        return self

    def _set_attributes(self, fit: ClassificationFit) -> None:
        """Set the fitted attributes."""
        class_model, rows = fit.class_model, fit.bound.source_row
        expose_length_scales(self, fit.scaled, fit.relevance_std)
        self.class_model_ = class_model
        self.average_ = fit.average or ClassModelAverage((class_model,), np.ones(1))
        self.intercept_is_fitted_ = class_model.intercept_is_fitted
        self.n_atoms_ = len(rows)
        self.relevance_ = rows[class_model.active] if (rows >= 0).all() else class_model.active
        self.atoms_ = class_model.atoms
        self.coef_ = class_model.coef
        self.intercept_ = class_model.intercept
        self.weight_precision_ = class_model.weight_precision
        self.log_evidence_ = class_model.log_evidence
        self.objective_ = class_model.objective
        self.n_iter_ = max(1, class_model.n_iter)
        self.converged_ = class_model.converged
        self.trace_ = class_model.trace


def validate_class_data(
    estimator: Any, X: Any, y: Any, sample_weight: Any, class_weight: Any
) -> tuple[Data, np.ndarray]:
    """Validate the training data of a classifier; return them and the classes.

    Called by `fit` itself, so that warnings point at its caller.
    """
    X, y = validate_inputs(estimator, X, y)
    check_classification_targets(y)
    y = np.asarray(y)
    weight = None if sample_weight is None else read_weight(sample_weight, X)
    warn_about_weights(weight, stacklevel=5)
    if class_weight is not None:
        weight = _with_class_weights(class_weight, y, weight)
    classes = np.unique(y if weight is None else y[weight > 0.0])
    n_classes = len(classes)
    if n_classes < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes; the data contain "
            f"only one class: {classes.tolist()[0]!r}."
        )
    index = np.searchsorted(classes, y).clip(max=n_classes - 1)
    indicators = (index[:, None] == np.arange(n_classes)).astype(np.float64)
    if n_classes == 2:  # the two columns are complementary
        indicators = indicators[:, 1:]
    return Data(X, indicators, weight, index), classes


def _with_class_weights(class_weight: Any, y: np.ndarray, weight: Vector | None) -> Vector | None:
    """Multiply sample weights by class weights; rows of weight zero do not define classes."""
    is_counted = np.ones(len(y), dtype=bool) if weight is None else weight > 0.0
    classes = np.unique(y[is_counted])
    values = compute_class_weight(
        class_weight,
        classes=classes,
        y=y[is_counted],
        sample_weight=None if weight is None else weight[is_counted],
    )
    if not np.isfinite(values).all() or (values < 0.0).any():
        raise ValueError(
            f"class_weight must contain finite, non-negative numbers; got {class_weight!r}."
        )
    place = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    weights: Vector = np.asarray(values, dtype=np.float64)[place]
    if weight is not None:
        weights = weight * weights
    if not weights.any():
        raise ValueError(
            "the products of class_weight and sample_weight are all zero. Give at least one row a "
            "positive weight."
        )
    return None if (weights == 1.0).all() else weights


def _describe_problem(
    fit: ClassificationFit, plan: ClassificationPlan, n_rows: int, *, has_callbacks: bool
) -> str | None:
    """Return the text of a convergence warning; None if there is no problem."""
    class_model = fit.class_model
    n_kept = len(class_model.active)
    if not class_model.converged:
        gradient, gain = class_model.certificate
        return (
            None
            if has_callbacks  # which may have stopped it
            else f"did not converge (gradient {gradient:.1e}, gain of another basis function "
            f"{gain:.1e} nats, {n_kept} active): better models may exist. "
            'Use solver="exact", or give the solver a larger max_iter.'
        )
    is_linear = fit.scaled is not None and fit.scaled.learnt.kind == "linear"
    is_narrow = n_rows > 50 and n_kept > n_rows / 2  # with few rows a large share may be needed
    if (
        is_narrow
        and not is_linear
        and fit.bound.is_localised.all()
        and not plan.prior.keeps_all_atoms
        and not isinstance(plan.solver, TiedLaplaceSolver)
    ):
        return (
            f"kept {n_kept} of {n_rows} kernels: their length-scale is so short that the model "
            "overfits. Use a longer length-scale (a smaller gamma), and standardise the features, "
            "for example by StandardScaler."
        )
    return None
