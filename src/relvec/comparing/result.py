"""The result of a comparison of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

from relvec.comparing.evidences import Evidences
from relvec.comparing.statistics import Estimate
from relvec.comparing.tables import render_html, render_text
from relvec.comparing.wording import Verdict

__all__ = ["ComparedModel", "ModelComparison"]

ERRORS = {"regression": "rmse", "classification": "error_rate"}
"""Name of the error by task."""


@dataclass(frozen=True)
class ComparedModel:
    """Results of one model of a comparison.

    Examples
    --------
    >>> from sklearn.linear_model import BayesianRidge, Ridge
    >>> from relvec import compare_models
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.1, 0.9, 2.1, 2.9, 4.1, 4.9]
    >>> compare_models([BayesianRidge(), Ridge()], X, y, cv=3)["Ridge"].mlpd is None
    True
    """

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
        >>> import numpy as np
        >>> from sklearn.linear_model import BayesianRidge
        >>> from relvec import SparseBayesRegressor, compare_models
        >>> from relvec.bases import LinearBasis
        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> y = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=40)
        >>> comparison = compare_models(
        ...     [SparseBayesRegressor(LinearBasis()), BayesianRidge()], X, y
        ... )
        >>> list(comparison.to_records()[0])[:4]
        ['name', 'mlpd', 'mlpd_se', 'mlpd_difference']
        """
        error, records = ERRORS[self.task], []
        for model in self.models:
            evidences = _name_evidences(model.evidences)
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
        >>> import numpy as np
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
        >>> import numpy as np
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


def _name_evidences(evidences: Evidences) -> dict[str, Any]:
    """Return the evidences by name, without whether there is an intercept."""
    found = evidences._asdict()
    del found["has_intercept"]
    return found
