"""What every sparse Bayesian classifier shares: validate, wire, expose."""

from __future__ import annotations

import math
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from relvec._linalg import fitting_threads
from relvec._typing import ArrayLike, IndexArray, Matrix, Vector
from relvec.bases.base import Basis, BoundBasis
from relvec.dictionaries.base import Dictionary
from relvec.dictionaries.matrix import DenseDictionary, SparseDictionary
from relvec.estimators._decide import DecisionMixin
from relvec.estimators._fronts import Front
from relvec.estimators._inputs import validate_inputs
from relvec.estimators._locality import is_local, near_zero
from relvec.estimators._machine import finish_machine
from relvec.estimators._notebook import NotebookMixin
from relvec.estimators._options import check_options
from relvec.estimators._panels import OneVersusRest, Panel, Softmax, TwoClasses
from relvec.estimators._plan import Data, PlanTuning
from relvec.estimators._scale_choice import choose_scales
from relvec.estimators._scales import ScaledBasis, expose_scales, learn_scales
from relvec.estimators._solvers import resolve_latent_solver
from relvec.likelihoods import Bernoulli, BoundLikelihood, Likelihood
from relvec.likelihoods import Softmax as SoftmaxLikelihood
from relvec.moments import Storage
from relvec.priors import BoundPrior, resolve_prior
from relvec.solvers import LatentProblem, Monitor, Progress

__all__ = ["BaseSparseBayesClassifier"]

KERNEL_MIN_GAIN = 1e-3
FEW_INPUTS = 16
FEW_ROWS = 50


class BaseSparseBayesClassifier(
    Front, DecisionMixin, CallbackSupportMixin, ClassifierMixin, NotebookMixin
):
    """Fit and expose; a subclass says which basis."""

    @with_callbacks
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BaseSparseBayesClassifier:
        """Find the relevant atoms and their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. Sparse matrices are accepted by `LinearBasis`.
        y : array-like of shape (n_samples,)
            Class labels, two or more different ones: numbers, booleans or strings.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: weight 2 is the row given twice, weight 0 the row left
            out.

        Returns
        -------
        self : object
        """
        basis = self._resolve_basis()
        self._check_options()
        X, y = validate_inputs(self, X, y)
        if self.__sklearn_tags__().input_tags.pairwise and X.shape[0] != X.shape[1]:
            raise ValueError(
                'kernel="precomputed" needs a square matrix between the training inputs in fit; '
                f"got shape {X.shape}. For other design matrices use "
                "SparseBayesClassifier(PrecomputedBasis())."
            )
        check_classification_targets(y)
        weight = self._weights(y, X, sample_weight)
        y = np.asarray(y)
        counted = y if weight is None else y[weight > 0.0]
        self.classes_ = np.unique(counted)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes; the data contain "
                f"only one class: {self.classes_.tolist()[0]!r}."
            )
        index = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        indicators = (index[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        if len(self.classes_) == 2:  # which say the same
            indicators = indicators[:, 1:]
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        bound, scaled = self._fit_basis(basis, X, index, indicators, weight, context)
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        self._expose(bound)
        if scaled is not None:
            self._weigh_scales(scaled, X, weight)
        self._warn()
        self._warn_of_memory(bound, len(index))
        return self

    def _fit_basis(
        self,
        basis: Basis,
        X: Any,
        index: IndexArray,
        indicators: Matrix,
        weight: Vector | None,
        context: Any,
    ) -> tuple[BoundBasis, ScaledBasis | None]:
        """Fit the basis as it is, or with the scales that are learnt for it."""
        monitor = self._monitor(context)
        learner = self._resolve_learner(basis)
        data = Data(X, indicators, weight, index)

        def fit(basis: Basis, data: Data) -> Panel:
            bound = self._bind(basis, data.X, data.weight)
            return self._fit_panel(bound, data.X, data.groups, data.weight, monitor)

        if learner is None:
            expose_scales(self, None)
            self.panel_ = fit(basis, data)
            self.intercept_is_fitted_ = self.panel_.intercept_is_fitted
            return self._bind(basis, X, weight), None

        def learn(data: Data) -> list[ScaledBasis]:
            return learn_scales(learner, basis, data.X, data.targets, data.weight, are_labels=True)

        def score(panel: Panel, data: Data) -> float:
            chances = panel.log_probability(data.X, moderated=True)
            rows = np.arange(len(data.groups))
            return float(np.average(chances[rows, data.groups], weights=data.weight))

        trials = SimpleNamespace(learn=learn, fit=fit, score=score, tuning=PlanTuning())
        chosen, self.panel_ = choose_scales(trials, learn(data), data)
        expose_scales(self, chosen.scales)
        self.intercept_is_fitted_ = self.panel_.intercept_is_fitted
        return self._bind(chosen.basis, X, weight), chosen

    def _bind(self, basis: Basis, X: Any, weight: Vector | None) -> BoundBasis:
        return basis.bind(
            X, sample_weight=weight, random_state=check_random_state(self.random_state)
        )

    def _fit_panel(
        self,
        bound: BoundBasis,
        X: Any,
        index: IndexArray,
        weight: Vector | None,
        monitor: Monitor | None,
    ) -> Panel:
        """Fit one machine for two classes, or one for each of several against the rest."""
        n_samples, n_atoms = bound.dictionary.shape
        with fitting_threads(float(n_samples) * n_atoms):
            return self._solve(bound, X, index, weight, monitor)

    def _solve(
        self,
        bound: BoundBasis,
        X: Any,
        index: IndexArray,
        weight: Vector | None,
        monitor: Monitor | None,
    ) -> Panel:
        dictionary = self._stored(bound.dictionary, X)
        n_classes = len(self.classes_)
        is_given = self.fit_intercept == "auto" and is_local(bound, dictionary, weight)
        is_fitted = bool(self.fit_intercept) and not is_given
        shift = np.zeros(dictionary.shape[1])
        if is_fitted:  # which takes up the shift
            dictionary, shift = near_zero(dictionary, weight)
        jointly = n_classes > 2 and self.multi_class != "one_vs_rest"
        needs_dense = resolve_prior(self.prior).keeps_all
        solver = resolve_latent_solver(
            self.solver, needs_dense=needs_dense, n_latent=n_classes if jointly else 1
        )
        kind: type[Panel] = TwoClasses if n_classes == 2 else OneVersusRest
        recipe: Likelihood = Bernoulli()
        targets = [index == positive for positive in range(int(n_classes == 2), n_classes)]
        if jointly:
            kind, recipe, targets = Softmax, SoftmaxLikelihood(n_classes), [index]
        machines = []
        for target in targets:
            likelihood, given = recipe.bind(target, weight), None
            if is_given:
                given = np.atleast_1d(likelihood.null_latent())
                rows = np.tile(given, (len(index), 1)) if jointly else np.full(len(index), given)
                likelihood = recipe.bind(target, weight, rows)
            problem = LatentProblem(
                dictionary,
                likelihood,
                is_fitted,
                signs=None if jointly else self._signs(bound, likelihood.target),
                shared=jointly and self.multi_class == "shared",
                **self._terms(bound, likelihood),
            )
            solution = solver.solve(problem, monitor=monitor)
            machines.append(
                finish_machine(
                    problem,
                    solution,
                    bound,
                    X,
                    shift=shift if jointly else np.zeros_like(shift),
                    given=given,
                    error_bars=self.error_bars,
                )
            )
        return kind(machines, bound, intercept_is_fitted=is_fitted)

    def _signs(self, bound: BoundBasis, target: Vector) -> Vector | None:
        """Return the signs that weights must have; None if they are free."""
        return None

    def _stored(self, dictionary: Dictionary, X: Any) -> Dictionary:
        """Keep the atoms at the training inputs in memory if they fit."""
        n_samples, n_atoms = dictionary.shape
        low_memory = self.low_memory
        if isinstance(low_memory, str):
            # kernels of few inputs are computed as fast as they are read
            limit = Storage().store_bytes // (1 if X.shape[1] > FEW_INPUTS else 16)
            low_memory = 8 * n_samples * n_atoms > limit
        if low_memory or isinstance(dictionary, DenseDictionary | SparseDictionary):
            return dictionary
        return DenseDictionary(dictionary.columns(np.arange(n_atoms)))

    def _terms(self, bound: BoundBasis, likelihood: BoundLikelihood) -> dict[str, Any]:
        """What the prior adds to the evidence."""
        prior = resolve_prior(self.prior).bind(likelihood.total_weight, groups=bound.groups)
        return {
            "min_gain": self._entry_prices(bound, prior, likelihood.weight),
            "prior": prior,
            "is_prior": self.price_curvature == "bound",
            "largest_latent": float(self.largest_logit),
        }

    def _entry_prices(self, bound: BoundBasis, prior: BoundPrior, weight: Vector | None) -> Vector:
        """Log-evidence each atom must bring: ``min_gain``, or a default by kind of atom."""
        localised = bound.is_localised
        rows = bound.source_row
        if isinstance(self.min_gain, str):
            explicit = KERNEL_MIN_GAIN
            if not prior.is_penalised:
                n_explicit = max(int(np.count_nonzero(~localised)), 1)
                explicit = max(math.log(n_explicit), KERNEL_MIN_GAIN)
            prices = np.where(localised, KERNEL_MIN_GAIN, explicit)
        else:
            prices = np.full(len(localised), float(self.min_gain))
        if weight is not None:  # a row that does not count must not lend its atom either
            prices[(rows >= 0) & (weight[rows] == 0.0)] = np.inf
        return prices

    def _weights(self, y: Any, X: Any, sample_weight: Any) -> Vector | None:
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            if not weight.any():
                raise ValueError("sample_weight must have a positive entry; all are zero.")
        if self.class_weight is not None:
            by_class = self._class_weights(np.asarray(y), weight)
            weight = by_class if weight is None else weight * by_class
            if not weight.any():
                raise ValueError("class_weight and sample_weight leave no row with any weight.")
        return None if weight is None or (weight == 1.0).all() else weight

    def _class_weights(self, y: np.ndarray, sample_weight: Vector | None) -> Vector:
        """Weight of each row that its class gives it; rows of no weight count for none."""
        counted = y if sample_weight is None else y[sample_weight > 0.0]
        seen = None if sample_weight is None else sample_weight[sample_weight > 0.0]
        classes = np.unique(counted)
        values = compute_class_weight(
            self.class_weight, classes=classes, y=counted, sample_weight=seen
        )
        if not np.isfinite(values).all() or (values < 0.0).any():
            raise ValueError(
                f"class_weight must hold finite numbers that are not negative; got "
                f"{self.class_weight!r}."
            )
        place = np.searchsorted(classes, y).clip(max=len(classes) - 1)
        weights: Vector = np.asarray(values, dtype=np.float64)[place]
        return weights

    def _check_options(self) -> None:
        """Find misspelt options before any work is done."""
        check_options(self)
        self._resolve_learner(self._resolve_basis())
        resolve_prior(self.prior)
        resolve_latent_solver(self.solver, needs_dense=False)

    def _monitor(self, context: Any) -> Monitor | None:
        if not hasattr(self, "_skl_callbacks"):
            return None

        def tell(progress: Progress) -> bool:
            task = context.subcontext(task_name=progress.stage)
            task.call_on_fit_task_begin(estimator=self)
            return bool(task.call_on_fit_task_end(estimator=self))

        return tell

    def _weigh_scales(self, scaled: ScaledBasis, X: Any, weight: Vector | None) -> None:
        """Say more of the scales that were learnt, where there is more to say."""

    def _expose(self, bound: BoundBasis) -> None:
        """Set the public attributes."""
        panel = self.panel_
        rows = bound.source_row
        self.n_atoms_ = len(rows)
        self.relevance_ = rows[panel.active] if (rows >= 0).all() else panel.active
        self.atoms_ = panel.atoms
        self.coef_ = panel.coef
        self.intercept_ = panel.intercept
        self.weight_precision_ = panel.weight_precision
        self.log_evidence_ = panel.log_evidence
        self.objective_ = panel.objective
        self.n_iter_ = max(1, panel.n_iter)
        self.converged_ = panel.converged
        self.trace_ = np.array(panel.trace)

    def _warn_of_memory(self, bound: BoundBasis, n_rows: int) -> None:
        """Say so if kernels are so narrow that most training inputs need one of their own."""
        n_kept = len(self.relevance_)
        if not self.converged_ or resolve_prior(self.prior).keeps_all:
            return
        if n_rows > FEW_ROWS and n_kept > n_rows / 2 and bound.is_localised.all():
            warnings.warn(
                f"{type(self).__name__} kept {n_kept} of {n_rows} rows: its kernels are so narrow "
                "that it learns rows by heart. Use wider ones (a smaller gamma), and scale the "
                "columns, for example by StandardScaler.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _warn(self) -> None:
        if self.converged_ or hasattr(self, "_skl_callbacks"):
            return
        gradient, gain = self.panel_.certificate
        warnings.warn(
            f"{type(self).__name__} ended its search before it had converged (gradient "
            f"{gradient:.1e}, gain of another atom {gain:.1e} nats, {len(self.relevance_)} atoms "
            "active): better models may exist.",
            ConvergenceWarning,
            stacklevel=4,
        )
