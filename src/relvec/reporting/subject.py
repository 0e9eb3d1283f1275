"""The subject of a report: a fitted model, given rows, and names of features and target."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_choice
from relvec._typing import Matrix, Vector
from relvec.bases import ColumnAtoms
from relvec.describing import (
    check_labels,
    get_feature_names,
    get_final_estimator,
    is_kernel_search,
    is_sampled,
    lacks_exposure,
    lacks_noise,
    match_container,
    models_counts,
    transform_inputs,
)
from relvec.reporting.limits import ReportLimits
from relvec.reporting.provenance import Provenance, convert_to_finite_matrix, find_provenance

__all__ = ["ROWS", "FeatureSpace", "Subject"]

ROWS = ("auto", "training", "new")


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """Numeric features over which plots are drawn, and the estimator to evaluate there."""

    estimator: Any
    table: Any
    """Inputs in their original container, which new inputs must share."""
    inputs: Matrix
    names: list[str]

    def predict(self, rows: Matrix, **options: Any) -> Any:
        """Predict targets at new inputs."""
        return get_final_estimator(self.estimator).predict(self.transform(rows), **options)

    def predict_interval(self, rows: Matrix, **options: Any) -> Matrix:
        """Predict 95 % intervals at new inputs."""
        model = get_final_estimator(self.estimator)
        return np.asarray(model.predict_interval(self.transform(rows), 0.95, **options))

    def predict_log_rate(self, rows: Matrix) -> tuple[Vector, Vector]:
        """Predict the log rate of counts at new inputs, with its standard deviation."""
        model = get_final_estimator(self.estimator)
        mean, std = model.predict_log_rate(self.transform(rows), return_std=True)
        return mean, std

    def predict_proba(self, rows: Matrix) -> Matrix:
        """Predict class probabilities at new inputs."""
        return np.asarray(get_final_estimator(self.estimator).predict_proba(self.transform(rows)))

    def evaluate_basis(self, rows: Matrix) -> Matrix:
        """Evaluate the basis functions of the model at new inputs."""
        transformed = np.asarray(self.transform(rows), dtype=np.float64)
        return np.asarray(get_final_estimator(self.estimator).atoms_.evaluate(transformed))

    def transform(self, rows: Matrix) -> Any:
        """Return new inputs as the model takes them."""
        return transform_inputs(self.estimator, match_container(rows, self.table))


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model and the rows of the report.

    Use `build` to make one.
    """

    estimator: Any
    """The given model, or a pipeline that ends in one."""
    X: Any
    y: np.ndarray
    names: list[str]
    """Names of the features that reach the model, after the steps of a pipeline."""
    target: str
    provenance: Provenance
    """Whether the model was fitted to these rows."""
    row_values: Vector | None = None
    """Noise variances of the rows or, of counts, their exposures; None if not given."""
    limits: ReportLimits = field(default_factory=ReportLimits)
    """Limits on the amount of content."""
    input_unit: str | None = None
    """Unit of the input of a series."""

    @classmethod
    def build(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        names: Any,
        target: str,
        rows: str,
        row_values: Any = None,
    ) -> Subject:
        """Check the arguments and determine whether the rows are the training rows."""
        check_is_fitted(estimator)
        check_choice("rows", rows, ROWS)
        model = get_final_estimator(estimator)
        is_ours = hasattr(model, "relevance_") or is_sampled(model) or is_kernel_search(model)
        if not is_ours or not (is_classifier(model) or is_regressor(model)):
            raise TypeError(
                "A report needs a fitted regressor or classifier of relvec, or a pipeline that "
                f"ends in one; got {type(model).__name__}."
            )
        targets = _one_target(model, y)
        X = X if hasattr(X, "shape") else np.asarray(X)
        if is_kernel_search(model) and len(X.shape) == 1:  # an index of dates
            X = np.asarray(X).reshape(-1, 1)
        if X.shape[0] != len(targets) or len(targets) < 2:
            raise ValueError(
                f"X and y must have the same rows, at least 2; got {X.shape[0]} and {len(targets)}."
            )
        if is_classifier(model):
            check_labels(targets, estimator.classes_)
        else:
            targets = _as_numbers(targets)
        if names is None and model is estimator:
            names = getattr(X, "columns", None)
        found = get_feature_names(estimator, int(model.n_features_in_), names)
        provenance = find_provenance(estimator, X, targets, rows)
        known = _check_row_values(model, row_values, len(targets))
        return cls(estimator, X, targets, found, target, provenance, known)

    @property
    def are_training(self) -> bool:
        """Whether these are taken to be the training rows."""
        return self.provenance.are_training

    @property
    def model(self) -> Any:
        """The model itself: the last step of a pipeline."""
        return get_final_estimator(self.estimator)

    @property
    def is_pairwise(self) -> bool:
        """Whether the inputs are a precomputed kernel matrix."""
        return bool(self.model.__sklearn_tags__().input_tags.pairwise)

    @property
    def unit(self) -> str:
        """What a weight belongs to: a "relevance vector", a "feature" or a "basis function"."""
        model = self.model
        atoms = model.candidate_atoms_ if is_sampled(model) else model.atoms_
        if self.is_pairwise or hasattr(atoms, "centers"):
            return "relevance vector"
        return "feature" if isinstance(atoms, ColumnAtoms) else "basis function"

    @property
    def units(self) -> str:
        """Plural of `unit`."""
        return f"{self.unit}s"

    def count_units(self, count: int) -> str:
        """Return a count with its noun, such as "3 relevance vectors"."""
        return f"{count} {self.unit if count == 1 else self.units}"

    @property
    def is_series(self) -> bool:
        """Whether the model is a kernel search of one input, which is meant for forecasts."""
        return is_kernel_search(self.model) and int(self.model.n_features_in_) == 1

    @property
    def counts_events(self) -> bool:
        """Whether the targets are counts."""
        return models_counts(self.model)

    @property
    def response(self) -> str:
        """Name of what is predicted per unit of exposure: the target, or its rate."""
        has_exposure = self.counts_events and self.row_values is not None
        return f"{self.target} per unit of exposure" if has_exposure else self.target

    @property
    def rates(self) -> np.ndarray:
        """Targets per unit of exposure; the targets themselves without exposures."""
        is_rate = self.counts_events and self.row_values is not None
        return self.y / self.row_values if is_rate else self.y

    def select_row_values(self, rows: Any) -> Vector | None:
        """Return the noise variances or exposures of some rows; None if not given."""
        return None if self.row_values is None else self.row_values[rows]

    def fit_options(self, rows: Any = slice(None), *, is_pipeline: bool = True) -> dict[str, Any]:
        """Return the arguments of `fit` for some rows besides inputs and targets."""
        if self.row_values is None:
            return {}
        name = "exposure" if self.counts_events else "noise_variance"
        if is_pipeline and self.model is not self.estimator:
            name = f"{self.estimator.steps[-1][0]}__{name}"
        return {name: self.row_values[rows]}

    @property
    def is_classifier(self) -> bool:
        """Whether the model is a classifier."""
        return bool(is_classifier(self.model))

    @property
    def classes(self) -> np.ndarray:
        """Class labels, in the order of the probabilities."""
        return np.asarray(self.estimator.classes_)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def space(self) -> FeatureSpace | None:
        """Return the features to plot over; None if there are none.

        These are the given columns, in their original units, if all are numeric and the pipeline
        keeps them; otherwise the transformed features.
        """
        if self.is_pairwise:
            return None  # columns of a kernel matrix are rows of the training data
        transformed = transform_inputs(self.estimator, self.X)
        original, numbers = convert_to_finite_matrix(self.X), convert_to_finite_matrix(transformed)
        if numbers is None or len(self.names) != numbers.shape[1]:
            return None
        if original is not None and original.shape[1] == numbers.shape[1]:
            return FeatureSpace(self.estimator, self.X, original, self.names)
        return FeatureSpace(self.model, transformed, numbers, self.names)


def _one_target(model: Any, y: Any) -> np.ndarray:
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    n_targets = len(getattr(model, "outputs_", ()))
    if targets.ndim != 1 or n_targets > 1:
        fitted = f" and the model has {n_targets} targets" if n_targets > 1 else ""
        raise ValueError(
            f"A report covers one target; y has shape {targets.shape}{fitted}. Fit a model and "
            "make a report for each target."
        )
    return targets


def _check_row_values(model: Any, values: Any, n_rows: int) -> Vector | None:
    """Check noise variances or exposures of the rows."""
    if values is None:
        if lacks_noise(model):
            raise ValueError(
                f"{type(model).__name__} was fitted with noise_variance for each row; give the "
                "noise_variance of the rows of the report, and of held_out=(X, y, noise_variance)."
            )
        if lacks_exposure(model):
            raise ValueError(
                f"{type(model).__name__} was fitted with exposure; give the exposure of the "
                "rows of the report, and of held_out=(X, y, exposure)."
            )
        return None
    known = np.asarray(values, dtype=np.float64)
    if known.shape != (n_rows,) or not (np.isfinite(known).all() and (known >= 0.0).all()):
        raise ValueError(
            "noise_variance or exposure must be one finite, non-negative number per row, "
            f"{n_rows} in total; got an array of shape {known.shape}."
        )
    return known


def _as_numbers(targets: np.ndarray) -> np.ndarray:
    try:
        numbers = targets.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numeric for a report of a regressor; {error}.") from error
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise ValueError(
            f"y must be finite; the value at position {bad[0]} is {numbers[bad[0]]} ({len(bad)} of "
            f"{len(numbers)} are not finite). Remove these rows."
        )
    return numbers
