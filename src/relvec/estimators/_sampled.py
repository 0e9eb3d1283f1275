"""What all sampled estimators show: inclusion probabilities, rival models, convergence."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import hash as joblib_hash
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_integer
from relvec._compat import to_arviz
from relvec._typing import IndexArray, Vector
from relvec.bases import LinearBasis
from relvec.bases.base import Atoms, Basis
from relvec.estimators._drawn_functions import DrawnFunctions
from relvec.estimators._length_scales import with_learnt_kernels
from relvec.estimators._monitored import LENGTH_SCALE_FACTOR
from relvec.estimators._sampling_plan import SampledFit
from relvec.estimators.fitted import fitted_basis
from relvec.sampling import ChainTuning
from relvec.sampling.diagnostics import ChainSummary, summarise_chains

__all__ = [
    "ChosenBasis",
    "RivalModel",
    "SampledKernelMixin",
    "SampledMixin",
    "check_single_precision",
]

LONGER_CHAINS = "Run them longer: fit again with warm_start=True, or a larger max_doublings or thin"
MORE_DRAWS = "Increase n_draws, and run them longer: a larger max_doublings or thin"


class RivalModel(NamedTuple):
    """A set of basis functions that explains the targets, with its posterior probability."""

    names: tuple[str, ...]
    """Names of its basis functions."""
    probability: float
    """Share of the draws with exactly these basis functions."""
    atoms: IndexArray
    """Columns of the basis functions in the basis matrix."""


class ChosenBasis(NamedTuple):
    """Basis of a sampled model, and the atoms from which its first chain starts."""

    basis: Basis
    start: IndexArray


def add_linear_terms(model: Any, active: IndexArray) -> ChosenBasis:
    """Return the learnt kernels of a fitted model together with its features.

    The search for the model of highest evidence compares kernels with linear models and keeps one
    of them. A sampled model contains both, and the posterior says how much of either is needed.

    Parameters
    ----------
    model : regressor or classifier of relvec
        Model with learnt length-scales and numeric features.
    active : ndarray
        Atoms in the fitted model.
    """
    learnt = model.learnt_length_scales_
    kernels = learnt if learnt.replaced is None else learnt.replaced
    basis = LinearBasis() + with_learnt_kernels(model._resolve_basis(), kernels)
    # features come first in the sum
    is_linear = learnt.kind == "linear"
    return ChosenBasis(basis, active if is_linear else active + model.n_features_in_)


def check_single_precision(estimator: Any) -> None:
    """Raise if precisions are to be tied, which samplers cannot do."""
    precision = getattr(estimator, "precision", "auto")
    name, basis = type(estimator).__name__, estimator._resolve_basis()
    if precision == "tied":
        raise ValueError(
            f"{name} samples a precision for each basis function; got "
            f'precision={precision!r}. Use precision="atom".'
        )
    if basis.has_prior_spectrum:
        raise ValueError(
            f"{name} samples a precision for each basis function; those of {basis!r} share one. "
            f"Use {name.removeprefix('Sampled')}."
        )


class SampledMixin:
    """Attributes and methods of estimators fitted by sampling."""

    inclusion_probability_: Vector
    traces_: dict[str, np.ndarray]
    models_: tuple[tuple[IndexArray, float], ...]
    candidate_atoms_: Atoms
    n_features_in_: int
    checked_quantities_: tuple[str, ...]

    def _choose_basis(self, evidence_model: Any, active: IndexArray) -> ChosenBasis:
        """Return the basis that is sampled, given the model of highest evidence."""
        return ChosenBasis(fitted_basis(evidence_model), active)

    def _list_functions(self) -> Sequence[DrawnFunctions]:
        """Return the drawn function, or the logit of each class."""
        raise NotImplementedError

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if names is None else list(names)

    @property
    def diagnostics_(self) -> list[ChainSummary]:
        """Mean, standard deviation, Monte Carlo error, effective sample size and R-hat.

        One entry for each of the quantities in `traces_`.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec.bases import LinearBasis
        >>> from relvec import SampledSparseBayesRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(60, 4))
        >>> y = X[:, 0] - X[:, 2] + 0.3 * rng.normal(size=60)
        >>> model = SampledSparseBayesRegressor(LinearBasis(), random_state=0).fit(X, y)
        >>> noise, size = model.diagnostics_[:2]
        >>> noise.name, round(noise.mean, 1), noise.has_converged()
        ('noise_std', 0.3, True)
        >>> size.name, round(size.mean)
        ('n_active', 2)
        """
        check_is_fitted(self)
        return summarise_chains(self.traces_)

    def to_arviz(self) -> Any:
        """Return the monitored quantities in the data structure of ArviZ.

        Returns
        -------
        data : arviz.InferenceData or xarray.DataTree
            Inference data up to ArviZ 0.23, a data tree from ArviZ 1 on. Needs the extra ``mcmc``.

        Examples
        --------
        >>> import warnings
        >>> import numpy as np
        >>> from relvec.bases import LinearBasis
        >>> from relvec import SampledSparseBayesRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(60, 4))
        >>> y = X[:, 0] - X[:, 2] + 0.3 * rng.normal(size=60)
        >>> model = SampledSparseBayesRegressor(
        ...     LinearBasis(), n_draws=100, n_chains=2, max_doublings=0, random_state=0
        ... )
        >>> with warnings.catch_warnings():  # of short chains, which have not converged
        ...     warnings.simplefilter("ignore")
        ...     model = model.fit(X, y)
        >>> data = model.to_arviz()  # doctest: +SKIP
        >>> data["posterior"]["noise_std"].shape  # doctest: +SKIP
        (2, 100)
        """
        check_is_fitted(self)
        traces = dict(self.traces_)
        return to_arviz(traces, sample_stats={"lp": traces.pop("log_posterior")})

    def _check_selection(self) -> None:
        """Raise unless the model selects basis functions."""
        check_is_fitted(self)
        if not hasattr(self, "inclusion_probability_"):
            raise AttributeError(
                'with weight_prior="horseshoe" all basis functions are in the model, so that there '
                "are no inclusion probabilities; see kept_share_, the share of its weight that "
                "each keeps."
            )

    def weight_draws(self) -> Any:
        """Return the weights of all candidate basis functions in every draw.

        Returns
        -------
        weights : sparse array of shape (n_draws, n_atoms), or a list of one for each logit
            Zero where a basis function is not in the model; draws of one chain after those of
            another. With sampled length-scales the basis functions change from draw to draw.

        Examples
        --------
        >>> import warnings
        >>> import numpy as np
        >>> from relvec import SampledSparseBayesRegressor
        >>> from relvec.bases import LinearBasis
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(60, 3))
        >>> y = 2.0 * X[:, 1] + 0.1 * rng.normal(size=60)
        >>> model = SampledSparseBayesRegressor(
        ...     LinearBasis(), n_draws=50, n_chains=2, max_doublings=0, random_state=0
        ... )
        >>> with warnings.catch_warnings():  # short chains have not converged
        ...     warnings.simplefilter("ignore")
        ...     weights = model.fit(X, y).weight_draws()
        >>> weights.shape, weights.mean(axis=0).round(1)[1]
        ((100, 3), np.float64(2.0))
        """
        check_is_fitted(self)
        functions = self._list_functions()
        each = [function.expand_weights(self.n_atoms_) for function in functions]
        return each[0] if len(each) == 1 else each

    def inclusion_table(self, n_most: int | None = None) -> list[tuple[str, float]]:
        """List basis functions with the probability that they are in the model, highest first.

        Parameters
        ----------
        n_most : int, optional
            Number of entries; default, all basis functions.

        Returns
        -------
        table : list of (str, float)
            Names and probabilities.

        Examples
        --------
        >>> import warnings
        >>> import numpy as np
        >>> from relvec.bases import LinearBasis
        >>> from relvec import SampledSparseBayesRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(60, 4))
        >>> y = X[:, 0] - X[:, 2] + 0.3 * rng.normal(size=60)
        >>> model = SampledSparseBayesRegressor(
        ...     LinearBasis(), n_draws=100, n_chains=2, max_doublings=0, random_state=0
        ... )
        >>> with warnings.catch_warnings():  # of short chains, which have not converged
        ...     warnings.simplefilter("ignore")
        ...     model = model.fit(X, y)
        >>> [(name, round(probability, 1)) for name, probability in model.inclusion_table(2)]
        [('x0', 1.0), ('x2', 1.0)]
        """
        self._check_selection()
        probability = np.atleast_2d(self.inclusion_probability_)
        order = np.argsort(-probability, axis=None, kind="stable")
        if n_most is not None:
            order = order[: check_integer("n_most", n_most, minimum=1)]
        logits, members = np.unravel_index(order, probability.shape)
        names = list(map(str, self.candidate_atoms_.subset(members).names(self._feature_names())))
        if len(probability) > 1:  # each class has basis functions of its own
            classes = self.__dict__["classes_"][logits]
            names = [f"{name} · {label}" for name, label in zip(names, classes, strict=True)]
        return list(zip(names, probability.ravel()[order].tolist(), strict=True))

    def rival_models(self, n_most: int = 10) -> list[RivalModel]:
        """List the sets of basis functions of highest posterior probability.

        With overlapping kernels many sets explain the targets equally well, and each has a small
        probability. For columns the list says which explanations compete.

        Parameters
        ----------
        n_most : int, default=10
            Number of entries.

        Returns
        -------
        models : list of RivalModel
            Most probable first.

        Examples
        --------
        >>> import warnings
        >>> import numpy as np
        >>> from relvec.bases import LinearBasis
        >>> from relvec import SampledSparseBayesRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(60, 4))
        >>> y = X[:, 0] - X[:, 2] + 0.3 * rng.normal(size=60)
        >>> model = SampledSparseBayesRegressor(
        ...     LinearBasis(), n_draws=100, n_chains=2, max_doublings=0, random_state=0
        ... )
        >>> with warnings.catch_warnings():  # of short chains, which have not converged
        ...     warnings.simplefilter("ignore")
        ...     model = model.fit(X, y)
        >>> best, second = model.rival_models(2)
        >>> best.names, round(best.probability, 1)
        (('x0', 'x2'), 0.9)
        >>> len(second.names)
        3
        """
        self._check_selection()
        n_most = check_integer("n_most", n_most, minimum=1)
        names = self._feature_names()
        return [
            RivalModel(tuple(self.candidate_atoms_.subset(index).names(names)), share, index)
            for index, share in self.models_[:n_most]
        ]

    def _find_previous_chains(self, *data: Any) -> tuple[dict[str, Any], ...]:
        """Return the chains to continue, of an earlier fit of the same model, if asked for."""
        options = self.__dict__
        # options that neither the posterior nor the form of a state depends on
        free = (
            "n_draws",
            "thin",
            "max_doublings",
            "n_jobs",
            "draw_dtype",
            "n_chains",
            "warm_start",
        )
        params: Any = self
        given = {k: v for k, v in params.get_params(deep=False).items() if k not in free}
        key = f"{joblib_hash(data)} {given}"
        found: tuple[dict[str, Any], ...] = options.get("chains_", ())
        is_same = options.get("_data_key") == key
        self._data_key = key
        if not options["warm_start"] or not found:
            return ()
        if not is_same:
            warnings.warn(
                f"{type(self).__name__} starts new chains: warm_start=True continues those of an "
                "earlier fit only if the data and all options are the same, but for the number "
                "and storage of draws.",
                UserWarning,
                stacklevel=5,
            )
        return found if is_same else ()

    def _make_monitor(self, context: Any) -> Callable[[int, float, float], bool] | None:
        """Return a function that calls scikit-learn's callbacks after every round of chains.

        None if there are none.
        """
        if not hasattr(self, "_skl_callbacks"):
            return None

        def call_callbacks(number: int, r_hat: float, ess: float) -> bool:
            task = context.subcontext(task_name=f"round {number + 1} of chains")
            task.call_on_fit_task_begin(estimator=self)
            return bool(task.call_on_fit_task_end(estimator=self))

        return call_callbacks

    def _fit_evidence_model(self, model: Any, *data: Any) -> Any:
        """Fit the model of highest evidence, whose warnings become those of this estimator.

        That its search has not converged does not matter: it is where chains start.
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(*data)
        for each in caught:
            if not issubclass(each.category, ConvergenceWarning):
                text = str(each.message).replace(type(model).__name__, type(self).__name__)
                warnings.warn(text, each.category, stacklevel=5)
        return model

    def _set_sampled_attributes(self, fit: SampledFit) -> None:
        """Set the attributes that all sampled estimators have."""
        self.chains_, self.traces_, self.models_ = fit.chains, fit.traces, fit.models
        self.checked_quantities_ = fit.judged
        selects = getattr(self, "weight_prior", "inclusion") == "inclusion"
        for name in ("inclusion_probability_", "feature_inclusion_probability_", "kept_share_"):
            self.__dict__.pop(name, None)
        if selects:
            self.inclusion_probability_ = fit.inclusion
            self.feature_inclusion_probability_ = fit.feature_inclusion
        else:
            self.kept_share_ = fit.inclusion
        self.n_atoms_ = fit.inclusion.shape[-1]
        self.n_iter_ = int(fit.chains[0]["n_steps"])

    def _judge_convergence(self, tuning: ChainTuning, *, is_quiet: bool = False) -> None:
        """Set `r_hat_`, `ess_` and `converged_`; warn if chains have not converged."""
        summaries = [each for each in self.diagnostics_ if each.name in self.checked_quantities_]
        # NaN: all draws equal, which is no disagreement, or too few of them
        known = [each for each in summaries if not np.isnan(each.r_hat)]
        self.r_hat_ = float(max((each.r_hat for each in known), default=np.nan))
        ess = [min(each.ess_bulk, each.ess_tail) for each in known]
        self.ess_ = float(min(ess, default=np.nan))
        n_chains, n_draws = next(iter(self.traces_.values())).shape
        disagree, are_few = self.r_hat_ > tuning.max_r_hat, self.ess_ < tuning.min_ess
        self.converged_ = not (disagree or are_few or n_draws < 4)
        if self.converged_ or is_quiet:
            return
        findings = [f"fewer than four draws of each chain ({n_draws})"] * (n_draws < 4)
        if disagree:
            worst = max(known, key=lambda each: each.r_hat)
            parts = "chains" if n_chains > 1 else "the halves of the chain"
            findings.append(
                f"R-hat {worst.r_hat:.3f} of {worst.name} (at most {tuning.max_r_hat:g}): {parts} "
                "disagree"
            )
        if are_few:
            rare = known[int(np.argmin(ess))]
            findings.append(
                f"effective sample size {self.ess_:.0f} of {rare.name} (at least "
                f"{tuning.min_ess:.0f})"
            )
        is_short = n_draws * n_chains < 2.0 * tuning.min_ess
        advice = (MORE_DRAWS if is_short else LONGER_CHAINS) + "."
        if any(name.startswith(LENGTH_SCALE_FACTOR) for name in self.traces_):
            advice += ' Length-scales change slowly; sample_length_scales="fixed" holds them.'
        warnings.warn(
            f"The chains of {type(self).__name__} have not converged: {'; '.join(findings)}. "
            f"{advice}",
            ConvergenceWarning,
            stacklevel=5,
        )


class SampledKernelMixin(SampledMixin):
    """Sampled relevance vector machines, which combine kernels with linear terms by default."""

    length_scales: Any

    def _choose_basis(self, evidence_model: Any, active: IndexArray) -> ChosenBasis:
        """Return kernels and features if length-scales are learnt by default, else kernels."""
        is_auto = isinstance(self.length_scales, str) and self.length_scales == "auto"
        if is_auto and hasattr(evidence_model, "learnt_length_scales_"):
            return add_linear_terms(evidence_model, active)
        return super()._choose_basis(evidence_model, active)
