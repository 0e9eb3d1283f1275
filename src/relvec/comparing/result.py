"""The result of a comparison of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.comparing.evidences import Evidences
from relvec.comparing.statistics import Estimate, FoldScores, HeldOutRows, estimate_mean
from relvec.comparing.tables import render_html, render_text
from relvec.comparing.verdict import Criteria, Verdict, reach_verdict

__all__ = ["ComparedModel", "ModelComparison", "build_comparison"]

ERRORS = {"regression": "rmse", "classification": "error_rate"}
"""Name of the error by task."""


@dataclass(frozen=True)
class ComparedModel:
    """Results of one model of a comparison."""

    name: str
    mlpd: Estimate | None
    """Mean log predictive density of held-out rows in nats, of classes the mean log probability of
    the true class (minus the log loss); None without predictive distributions."""
    difference: Estimate | None
    """By how much the log predictive density of the best predictor is higher, paired by rows."""
    error: Estimate
    """RMSE, or error rate, of held-out rows."""
    evidences: Evidences
    """Evidences, size and effective degrees of freedom of the model fitted to all rows."""
    prior: float
    """Prior probability."""
    probability: float | None
    """Posterior probability, from the penalised tied evidence; None without it."""


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """Comparison of models by held-out rows and by evidence, with a verdict.

    Returned by `relvec.compare_models`. Printed, or shown in a notebook, it is a table with the
    verdict below.

    Parameters
    ----------
    task : {"regression", "classification"}
        What the models predict.
    models : tuple of ComparedModel
        Results, the best predictor of held-out rows first.
    verdict : Verdict
        The best model, if any, in plain words.
    n_rows : int
        Number of rows.
    folds : str
        Which rows were held out, such as "5 shuffled folds".
    notes : tuple of str
        Why some quantities are missing.
    estimators : mapping of str to estimator
        The models, fitted to all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, SparseBayesRegressor, compare_models
    >>> from relvec.bases import LinearBasis
    >>> X = np.linspace(-5, 5, 60)[:, np.newaxis]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> models = {"line": SparseBayesRegressor(LinearBasis()), "kernels": RVMRegressor(gamma=0.5)}
    >>> comparison = compare_models(models, X, y)
    >>> comparison.best_, comparison.decided
    ('kernels', True)
    """

    task: str
    models: tuple[ComparedModel, ...]
    verdict: Verdict
    n_rows: int
    folds: str
    notes: tuple[str, ...] = ()
    estimators: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def best_(self) -> str | None:
        """Name of the best model; None if the comparison is undecided."""
        return self.verdict.best

    @property
    def decided(self) -> bool:
        """Whether one model was found to be the best."""
        return self.verdict.best is not None

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Where the evidence prefers a model that predicts held-out rows worse."""
        return self.verdict.disagreements

    def __getitem__(self, name: str) -> ComparedModel:
        """Return the results of one model."""
        for model in self.models:
            if model.name == name:
                return model
        raise KeyError(f"{name!r} is not among the models: {[each.name for each in self.models]}")

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dict per model, with a number or None for every quantity.

        Examples
        --------
        >>> from sklearn.linear_model import BayesianRidge
        >>> from relvec import SparseBayesRegressor, compare_models
        >>> from relvec.bases import LinearBasis
        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> y = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=40)
        >>> comparison = compare_models([SparseBayesRegressor(LinearBasis()), BayesianRidge()], X, y)
        >>> list(comparison.to_records()[0])[:4]
        ['name', 'mlpd', 'mlpd_se', 'mlpd_difference']
        """
        error, records = ERRORS[self.task], []
        for model in self.models:
            evidences = asdict_evidences(model.evidences)
            records.append(
                {
                    "name": model.name,
                    **_name_parts("mlpd", model.mlpd),
                    **_name_parts("mlpd_difference", model.difference),
                    **_name_parts(error, model.error),
                    **evidences,
                    "prior": model.prior,
                    "posterior_probability": model.probability,
                }
            )
        return records

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame with one row per model; needs pandas.

        Examples
        --------
        >>> from sklearn.linear_model import BayesianRidge, Ridge
        >>> from relvec import compare_models
        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> y = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=40)
        >>> frame = compare_models([BayesianRidge(), Ridge()], X, y).to_frame()  # doctest: +SKIP
        """
        try:
            pandas = import_module("pandas")
        except ModuleNotFoundError as error:
            raise ImportError(
                "to_frame() needs pandas, which is not installed. Use to_records(), a list of "
                "dicts, or install it with: pip install pandas"
            ) from error
        return pandas.DataFrame(self.to_records()).set_index("name")

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the fitted models as dicts, lists, numbers and texts.

        Examples
        --------
        >>> from sklearn.linear_model import BayesianRidge, Ridge
        >>> from relvec import compare_models
        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> y = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=40)
        >>> comparison = compare_models([BayesianRidge(), Ridge()], X, y)
        >>> list(comparison.to_dict())
        ['task', 'n_rows', 'folds', 'models', 'verdict', 'notes']
        """
        verdict = asdict(self.verdict)
        return {
            "task": self.task,
            "n_rows": self.n_rows,
            "folds": self.folds,
            "models": self.to_records(),
            "verdict": {key: _as_list(value) for key, value in verdict.items()},
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Return the table and the verdict as text."""
        return render_text(self)

    def _repr_html_(self) -> str:
        return render_html(self)


def _as_list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _name_parts(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    mean, se = (None, None) if estimate is None else estimate
    return {name: mean, f"{name}_se": se}


def asdict_evidences(evidences: Evidences) -> dict[str, Any]:
    """Return the evidences by name, without whether there is an intercept."""
    found = evidences._asdict()
    del found["has_intercept"]
    return found


def build_comparison(
    task: str,
    scores: Mapping[str, Sequence[FoldScores]],
    rows: HeldOutRows,
    evidences: Mapping[str, Evidences],
    *,
    prior: Mapping[str, float],
    n_rows: int,
    folds: str,
    estimators: Mapping[str, Any] | None = None,
) -> ModelComparison:
    """Compare models by their scores of held-out rows and their evidences.

    Parameters
    ----------
    task : {"regression", "classification"}
        What the models predict.
    scores : mapping of str to sequence of FoldScores
        Scores of the same held-out rows by each model.
    rows : HeldOutRows
        Weights of these rows.
    evidences : mapping of str to Evidences
        Evidences of the models fitted to all rows.
    prior : mapping of str to float
        Prior probabilities of the models.
    n_rows : int
        Number of rows.
    folds : str
        Which rows were held out.
    estimators : mapping of str to estimator, optional
        The models, fitted to all rows.
    """
    densities = {name: _collect_densities(each) for name, each in scores.items()}
    mlpd = {
        name: None if each is None else estimate_mean(each, rows) for name, each in densities.items()
    }
    ranked = sorted(
        (name for name in scores if mlpd[name] is not None), key=lambda name: -_mean(mlpd[name])
    )
    leader = ranked[0] if ranked else None
    behind = {name: _subtract(densities, leader, name, rows) for name in scores}
    error = {
        name: _estimate_error([fold.error for fold in each], rows, task)
        for name, each in scores.items()
    }
    order = ranked + sorted(set(scores) - set(ranked), key=lambda name: error[name].mean)
    probabilities, notes = compute_probabilities(evidences, prior)
    criteria = {
        name: Criteria(
            None if mlpd[name] is None else _mean(mlpd[name]),
            behind[name],
            probabilities[name],
            evidences[name].log_evidence,
            None if leader is None or name in ranked else _exceed(scores, leader, name, rows),
        )
        for name in order
    }
    verdict = reach_verdict(criteria, "MLPD" if task == "regression" else "log loss")
    models = tuple(
        ComparedModel(
            name,
            mlpd[name],
            behind[name],
            error[name],
            evidences[name],
            prior[name],
            probabilities[name],
        )
        for name in order
    )
    return ModelComparison(task, models, verdict, n_rows, folds, notes, dict(estimators or {}))


def compute_probabilities(
    evidences: Mapping[str, Evidences], prior: Mapping[str, float]
) -> tuple[dict[str, float | None], tuple[str, ...]]:
    """Compute posterior probabilities of models from their penalised tied evidences.

    A maximised evidence is no marginal likelihood: it contains no cost for the hyper-parameters
    that were fitted. With ``0.5 log N`` for each of a number that does not grow with `N` it is the
    approximation of Schwarz (1978), which needs few hyper-parameters: one precision for each basis.

    Returns
    -------
    probabilities : dict of str to float or None
        None for models without a tied evidence.
    notes : tuple of str
        Why there are none.
    """
    known = {
        name: each.tied_evidence for name, each in evidences.items() if each.tied_evidence is not None
    }
    missing: dict[str, float | None] = dict.fromkeys(evidences)
    if len({evidences[name].has_intercept for name in known}) > 1:
        return missing, (
            "There are no posterior probabilities, because some models have an intercept and others "
            "have none: their evidences are densities of different data. Use the same "
            "fit_intercept for all.",
        )
    if len(known) < 2:
        return missing, ()
    log_odds = np.array([value + np.log(prior[name]) for name, value in known.items()])
    odds = np.exp(log_odds - log_odds.max())
    found = zip(known, (odds / odds.sum()).tolist(), strict=True)
    return missing | dict(found), ()


def _collect_densities(folds: Sequence[FoldScores]) -> list[Vector] | None:
    found = [fold.log_density for fold in folds if fold.log_density is not None]
    return found if len(found) == len(folds) else None


def _subtract(
    densities: Mapping[str, list[Vector] | None], leader: str | None, name: str, rows: HeldOutRows
) -> Estimate | None:
    """Estimate by how much the log density of the leader is higher, row by row."""
    first, second = None if leader is None else densities[leader], densities[name]
    if first is None or second is None:
        return None
    return estimate_mean([a - b for a, b in zip(first, second, strict=True)], rows)


def _exceed(
    scores: Mapping[str, Sequence[FoldScores]], leader: str, name: str, rows: HeldOutRows
) -> Estimate:
    """Estimate by how much the error of a model exceeds that of the leader, row by row."""
    pairs = zip(scores[name], scores[leader], strict=True)
    return estimate_mean([one.error - other.error for one, other in pairs], rows)


def _estimate_error(errors: Sequence[Vector], rows: HeldOutRows, task: str) -> Estimate:
    found = estimate_mean(errors, rows)
    if task == "classification":
        return found
    root = float(np.sqrt(found.mean))
    return Estimate(root, found.se / (2.0 * root) if root > 0.0 else 0.0)  # d sqrt(m) = dm / 2 sqrt(m)


def _mean(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.mean
