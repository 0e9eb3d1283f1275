"""Automated construction of a kernel for a series or a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from functools import partial
from importlib import import_module
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from relvec._checks import (
    check_bool,
    check_choice,
    check_finite_input,
    check_integer,
    check_positive,
    check_probability,
)
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.estimators._inputs import (
    check_numbers,
    check_range,
    read_weight,
    warn_about_weights,
)
from relvec.estimators._notebook import NotebookMixin
from relvec.estimators._options import check_options, option, with_options
from relvec.estimators._plan import make_monitor
from relvec.estimators._search_inputs import merge_equal_rows, read_dates
from relvec.estimators._search_options import (
    EFFORTS,
    MODES,
    check_factors,
    check_origins,
    check_penalty,
    check_periods,
    check_transforms,
    list_search_options,
    make_construction,
)
from relvec.estimators._search_predict import SearchPredictionMixin
from relvec.estimators._search_results import (
    RankedStructure,
    StructureComponent,
    rank_structures,
    summarise_components,
)
from relvec.learning.structures.construct import Construction
from relvec.learning.structures.watch import Watch

__all__ = ["KernelSearchRegressor"]

NOT_STORED = (
    "_searches",
    "_rows",
    "_searched_by",
    "_forecaster",
    "_best_forecaster",
    "structures_",
)
"""Attributes that only a warm start needs, or that the construction determines."""


def _check_fraction(name: str, value: Any) -> None:
    check_positive(name, value)
    if value >= 1.0:
        raise ValueError(f"{name} must be a fraction of the record, below 1; got {value!r}.")


def _check_time_limit(name: str, value: Any) -> None:
    if value is not None:
        check_positive(name, value, also="or None")


@with_options
class KernelSearchRegressor(
    SearchPredictionMixin, CallbackSupportMixin, RegressorMixin, NotebookMixin
):
    """Regression with a kernel that is constructed automatically.

    The target is a sum of components plus noise. Each component is a product of factors: lines,
    smooth functions, levels and slopes that wander, periodic functions, steps. All columns of a
    component share one precision, so whole components are relevant or not (automatic relevance
    determination of groups). The search adds, multiplies, exchanges and removes components, and
    ranks structures by log evidence less a penalty for each parameter and each choice. For one
    input, such as time, it finds periods by itself and is meant for forecasts. For several inputs
    components are functions of one or two of them.

    Parameters
    ----------
    factors : sequence of str, default=("linear", "smooth", "walk", "slope_walk", "periodic", \
"step", "kink")
        Factors that may be used: LIN, SE (squared exponential), RW (Wiener process), IRW
        (integrated Wiener process), PER, STEP, KINK in expressions. With several inputs only
        "linear" and "smooth" are used.
    periods : sequence of float, optional
        Candidate periods, in units of the input; days for dates. They are held as given. By default
        they are found by periodograms and refined by the evidence.
    transforms : sequence of str, default=("identity", "log", "sqrt")
        Transforms of the target to compare, for positive targets whose largest value is 1.5 times
        the smallest one or more.
    mode : {"accuracy", "interpretable"}, default="accuracy"
        Predictions of the best structures averaged, with weights from held-out predictions
        (rolling origins for one input, folds for several), or those of the one of the best score.
        Explanations are always those of the best score.
    effort : {"fast", "balanced", "thorough"}, default="balanced"
        How many structures are tried. "fast" searches under one transform, the one under which a
        trend and a season score best; it fits all components at once and removes those that are not
        needed. The others do so under every transform, and then search among changes of the best
        structures, with a wider beam if "thorough".
    max_components : int, default=8
        Largest number of components of a series.
    structure_penalty : pair of float, default=(2.0, 3.0)
        Log prior odds against each component, and against each further factor of a product, in
        nats; the penalty of a line is zero, that of its square half of the first. They come on top
        of the penalties on parameters: half the logarithm of the number of rows for each variance
        and length-scale, the logarithm of that number for a location, of half of it for a period.
    origins : sequence of float, default=(0.55, 0.66, 0.78, 0.89)
        For one input: fractions of the record before which candidates are fitted again, to predict
        what follows.
    horizon : float, default=0.11
        How far they predict, as a fraction of the record.
    time_limit : float, optional
        Seconds after which the search ends with what it has found, with a warning. Then the result
        depends on the speed of the computer.
    n_jobs : int or None, default=None
        Number of parallel jobs: transforms are searched, and held-out parts predicted, in parallel.
    warm_start : bool, default=False
        Whether to go on with the search of the previous fit, if the data and the options of the
        search are the same.

    Attributes
    ----------
    structures_ : tuple of RankedStructure
        The candidates, best score first, with margins: below 5 nats (`is_undecided`) the score
        does not decide. `weight` is the weight in predictions.
    components_ : tuple of StructureComponent
        Components of the best structure, with the score that is lost without each, and its share
        of the variance.
    expression_ : str
        The best structure, such as ``"LIN + PER x RW"``.
    transform_ : str
        Transform of the target in the best structure.
    periods_ : ndarray of shape (n_periods,)
        Periods in the best structure, in units of the input.
    weights_ : ndarray of shape (n_structures,)
        Weights of the structures in predictions.
    log_evidence_ : float
        Maximised log evidence of the best structure, in nats.
    score_ : float
        Its log evidence less penalties, with the weak log prior density of its length-scales.
    noise_variance_ : float
        Noise variance of the best structure, in squared units of the transformed target.
    n_columns_ : int
        Number of columns of its components.
    effective_dof_ : float
        Effective degrees of freedom: how many of their weights the data determine.
    n_iter_ : int
        Number of structures that were fitted.
    has_dates_ : bool
        Whether inputs are dates.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has names that are all strings.

    See Also
    --------
    SparseBayesRegressor : One given sum of bases, such as `SmoothBasis` and `PeriodicBasis`.
    compare_models : Compare models on the same folds.

    Notes
    -----
    The search is deterministic, up to `time_limit`. Its result does not depend on the order of
    rows. `sample_weight` are frequency weights. Score differences of a few nats between trends are
    common, and decide forecasts; so predictions average over trends.

    References
    ----------
    D. Duvenaud, J. R. Lloyd, R. Grosse, J. B. Tenenbaum, Z. Ghahramani (2013), Structure discovery
    in nonparametric regression through compositional kernel search, ICML.

    J. R. Lloyd, D. Duvenaud, R. Grosse, J. B. Tenenbaum, Z. Ghahramani (2014), Automatic
    construction and natural-language description of nonparametric regression models, AAAI.

    A. Solin, S. Särkkä (2020), Hilbert space methods for reduced-rank Gaussian process regression,
    Statistics and Computing 30.

    Y. Yao, A. Vehtari, D. Simpson, A. Gelman (2018), Using stacking to average Bayesian predictive
    distributions, Bayesian Analysis 13.

    L. Breiman (1996), Stacked regressions, Machine Learning 24.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import KernelSearchRegressor
    >>> t = np.arange(96.0)[:, np.newaxis]
    >>> rng = np.random.default_rng(0)
    >>> y = 0.05 * t[:, 0] + np.sin(2 * np.pi * t[:, 0] / 12) + 0.2 * rng.normal(size=96)
    >>> model = KernelSearchRegressor(mode="interpretable").fit(t, y)
    >>> model.expression_, model.periods_.round(1)
    ('LIN + PER', array([12.]))
    """

    factors: Sequence[str] = option(
        default=("linear", "smooth", "walk", "slope_walk", "periodic", "step", "kink"),
        check=check_factors,
    )
    periods: Sequence[float] | None = option(default=None, check=check_periods)
    transforms: Sequence[str] = option(default=("identity", "log", "sqrt"), check=check_transforms)
    mode: str = option(default="accuracy", check=partial(check_choice, choices=MODES))
    effort: str = option(default="balanced", check=partial(check_choice, choices=EFFORTS))
    max_components: int = option(default=8, check=partial(check_integer, minimum=1))
    structure_penalty: tuple[float, float] = option(default=(2.0, 3.0), check=check_penalty)
    origins: Sequence[float] = option(default=(0.55, 0.66, 0.78, 0.89), check=check_origins)
    horizon: float = option(default=0.11, check=_check_fraction)
    time_limit: float | None = option(default=None, check=_check_time_limit)
    n_jobs: int | None = option(default=None)
    warm_start: bool = option(default=False, check=check_bool)

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Construct a kernel and fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs: numbers, or one column of dates (datetime64, which data frames and their
            indices of dates convert to).
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights: weight 2 is the same as the row given twice, weight 0 as the row left
            out.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        check_options(self)
        context = self._init_callback_context(max_subtasks=None)
        has_callbacks = hasattr(self, "_skl_callbacks")
        watch = Watch(self.time_limit, make_monitor(self, context) if has_callbacks else None)
        plan = make_construction(self, watch)
        inputs, target, weight = self._validate_training_data(X, y, sample_weight)
        context.call_on_fit_task_begin(estimator=self, X=inputs, y=target)
        rows = merge_equal_rows(inputs, target, weight)
        searches = self._find_searches(rows) if self.warm_start else ()
        found, self._searches = plan.run(*rows, searches)
        self._rows, self._searched_by = rows, list_search_options(self)
        context.call_on_fit_task_end(estimator=self, X=inputs, y=target)
        self._set_attributes(found)
        if not found.is_complete and not has_callbacks:
            warnings.warn(
                f"The search reached time_limit={self.time_limit:g} seconds after "
                f"{self.n_iter_} fits; better structures may exist. Allow more time, or go on with "
                "the search by warm_start=True.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _validate_training_data(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Matrix, Vector, Vector | None]:
        days = read_dates(X)
        check_numbers(y)
        check_finite_input(y, "y")
        options: dict[str, Any] = {
            "dtype": np.float64,
            "y_numeric": True,
            "ensure_min_samples": 2,
        }
        if days is None:
            check_finite_input(X, "X")
            inputs, target = validate_data(self, X, y, **options)
        else:
            self._check_columns(X, days, reset=True)
            inputs, target = check_X_y(days, y, estimator=self, **options)
        self.has_dates_ = days is not None
        check_range("X", inputs)
        target = np.asarray(target, dtype=np.float64)  # of truth values too
        check_range("y", target)
        weight = None if sample_weight is None else read_weight(sample_weight, inputs)
        warn_about_weights(weight, stacklevel=4)
        return inputs, target, weight

    def _find_searches(self, rows: Any) -> Any:
        """Return the searches of the previous fit, if data and options of the search are equal."""
        before = getattr(self, "_rows", None)
        is_same = before is not None and all(map(np.array_equal, before, rows))
        is_same = is_same and self._searched_by == list_search_options(self)
        return getattr(self, "_searches", ()) if is_same else ()

    def _read_inputs(self, X: Any) -> Matrix:
        days = read_dates(X)
        if (days is not None) != self.has_dates_:
            given, fitted = ("dates", "numbers") if days is not None else ("numbers", "dates")
            raise ValueError(f"X contains {given}, but the model was fitted to {fitted}.")
        with warnings.catch_warnings():
            if self.n_features_in_ == 1:  # without a name the only column is known all the same
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            if days is not None or hasattr(X, "columns"):
                self._check_columns(X, days, reset=False)
            if days is not None:
                return days
            check_finite_input(X, "X")
            inputs: Matrix = validate_data(self, X, dtype=np.float64, reset=False)
            return inputs

    def _check_columns(self, X: Any, days: Matrix | None, *, reset: bool) -> None:
        """Check the number of features, and their names if they are in a data frame."""
        named = X if hasattr(X, "columns") else days
        validate_data(self, named, skip_check_array=True, reset=reset)

    def _restore_members(self, found: Construction) -> None:
        """Set what a construction determines at once; posteriors are computed when needed."""
        self._construction = found
        min_gamma = getattr(self, "_min_gamma", None)  # of a sparse model
        if min_gamma is None:
            self._forecaster = found.make_forecaster()
            self._best_forecaster = found.make_best_forecaster()
        else:
            self._forecaster = self._best_forecaster = found.make_best_forecaster(min_gamma)
        self.structures_: tuple[RankedStructure, ...] = rank_structures(
            found, self._component_features
        )

    def _set_attributes(self, found: Construction) -> None:
        self._min_gamma: float | None = None
        self._restore_members(found)
        best, names = found.best, self._component_features
        structure, scale = best.structure, best.target.std**2
        fitted = self._best_forecaster.members[0]
        parts = fitted.predict_components(found.rows.U)
        total = max(float(np.average(best.target.values**2, weights=found.weight)), 1e-300)
        shares = np.array([np.cov(part.mean, aweights=found.weight) / total for part in parts])
        self._component_order = np.argsort(-shares, kind="stable")
        self.components_: tuple[StructureComponent, ...] = summarise_components(
            found, shares, names
        )
        self.expression_ = structure.name(names)
        self.transform_ = str(best.target.transform)
        self.periods_ = found.list_periods(structure)
        self.weights_ = found.mixture_weights
        self.log_evidence_ = self.structures_[0].log_evidence
        self.score_ = best.scored.score
        self.noise_variance_ = float(np.exp(structure.log_noise)) * scale
        self.n_columns_ = structure.n_columns
        self.effective_dof_ = found.effective_dof
        self.n_iter_ = sum(search.n_fits for search in self._searches)

    @property
    def _component_features(self) -> list[str] | None:
        """Names of the features, if there are several."""
        if self.n_features_in_ == 1:
            return None
        known = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if known is None else list(known)

    def explain(self, unit: str | None = None) -> str:
        """Describe the best structure in sentences.

        Parameters
        ----------
        unit : str, optional
            Unit of the input, such as "years", for periods and slopes; "days" for dates.

        Returns
        -------
        text : str
            One sentence for each component, with numbers from its posterior, then the noise, the
            rival structures and what the forecast assumes about the trend.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> t = np.arange(72.0)[:, np.newaxis]
        >>> rng = np.random.default_rng(0)
        >>> y = 0.1 * t[:, 0] + np.sin(2 * np.pi * t[:, 0] / 12) + 0.2 * rng.normal(size=72)
        >>> model = KernelSearchRegressor(effort="fast", mode="interpretable").fit(t, y)
        >>> print(model.explain("months").splitlines()[0])
        The series is the sum of 2 parts and noise: LIN + PER.
        """
        check_is_fitted(self)
        # imported on demand: describing depends on estimators
        text: str = import_module("relvec.describing.structures").explain(self, unit)
        return text

    def sparse_model(self, min_gamma: float = 0.2) -> Self:
        """Return a copy that predicts by the columns that the data determine.

        Each column of the best structure has ``gamma`` in [0, 1], how far the data determine its
        weight. Columns of small gamma are left out, and their prior variance stays in the bands.
        Those of smooth functions become 1.5 to 4 times as wide: columns that are not determined
        one by one cancel within the record.
        Precisions remain those of whole components: with one for each column the model would be
        sparser, but its forecasts would be worse and its bands too narrow. How sparse it gets
        depends on the structure. A line and a season need some ten columns, a level that wanders
        about one for each change that the data resolve.

        Parameters
        ----------
        min_gamma : float, default=0.2
            Columns of smaller gamma are left out.

        Returns
        -------
        model : KernelSearchRegressor
            A fitted copy with fewer `n_columns_`, which predicts by the best structure alone and
            without the training rows. It predicts within the reach of the columns, 15 % of the
            range of the inputs beyond its ends, and farther away as at the ends of that reach.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import KernelSearchRegressor
        >>> X = np.linspace(0, 10, 80)[:, np.newaxis]
        >>> y = np.sin(X[:, 0] ** 1.5) + 0.1 * np.random.default_rng(0).normal(size=80)
        >>> model = KernelSearchRegressor(mode="interpretable").fit(X, y)
        >>> sparse = model.sparse_model()
        >>> sparse.n_columns_ < model.n_columns_
        True
        >>> bool(np.abs(sparse.predict(X) - model.predict(X)).max() < 0.2)
        True
        """
        check_is_fitted(self)
        sparse = copy(self)
        sparse._min_gamma = check_probability("min_gamma", min_gamma)
        sparse._restore_members(self._construction)
        posterior: Any = sparse._forecaster.members[0].posterior
        sparse.n_columns_ = posterior.n_used
        sparse.effective_dof_ = float(posterior.well_determined.sum())
        return sparse

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in super().__getstate__().items() if name not in NOT_STORED
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_construction" in state:
            self._restore_members(state["_construction"])
