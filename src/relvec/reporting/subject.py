"""What a report is about: a fitted model, the rows that are shown to it, and their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from relvec._checks import check_choice
from relvec._typing import Matrix
from relvec.bases import ColumnAtoms
from relvec.describing import (
    check_labels,
    get_feature_names,
    get_final_estimator,
    match_container,
    transform_inputs,
)
from relvec.reporting.limits import ReportLimits
from relvec.reporting.provenance import Provenance, as_numbers, provenance_of

__all__ = ["ROWS", "Space", "Subject"]

ROWS = ("auto", "training", "new")


@dataclass(frozen=True, eq=False)
class Space:
    """Inputs that can be drawn over, and whom to ask about them."""

    estimator: Any
    table: Any
    """Inputs in their container, which new ones must be in too."""
    inputs: Matrix
    names: list[str]

    def predict(self, rows: Matrix, **options: Any) -> Any:
        """Ask for numbers at new inputs."""
        return get_final_estimator(self.estimator).predict(self._seen(rows), **options)

    def predict_proba(self, rows: Matrix) -> Matrix:
        """Ask for probabilities at new inputs."""
        return np.asarray(get_final_estimator(self.estimator).predict_proba(self._seen(rows)))

    def functions(self, rows: Matrix) -> Matrix:
        """Functions in use at new inputs, without their weights."""
        seen = np.asarray(self._seen(rows), dtype=np.float64)
        return np.asarray(get_final_estimator(self.estimator).atoms_.evaluate(seen))

    def _seen(self, rows: Matrix) -> Any:
        return transform_inputs(self.estimator, match_container(rows, self.table))


@dataclass(frozen=True, eq=False)
class Subject:
    """A model and the rows it is shown.

    Use `of` to make one.
    """

    estimator: Any
    """As it was given: a model, or a pipeline that ends in one."""
    X: Any
    y: np.ndarray
    names: list[str]
    """Of the columns that the model itself sees."""
    target: str
    provenance: Provenance
    """Whether the model was fitted to these rows."""
    limits: ReportLimits = field(default_factory=ReportLimits)
    """How much of everything is shown."""

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, *, names: Any, target: str, rows: str) -> Subject:
        """Check what is given, and find out whether the rows are those of the fit."""
        check_is_fitted(estimator)
        check_choice("rows", rows, ROWS)
        model = get_final_estimator(estimator)
        if not hasattr(model, "relevance_") or not (is_classifier(model) or is_regressor(model)):
            raise TypeError(
                "A report needs a fitted regressor or classifier of relvec, or a pipeline that "
                f"ends in one; got {type(model).__name__}."
            )
        targets = _one_target(model, y)
        X = X if hasattr(X, "shape") else np.asarray(X)
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
        provenance = provenance_of(estimator, X, targets, rows)
        return cls(estimator, X, targets, found, target, provenance)

    @property
    def are_training(self) -> bool:
        """Whether these are taken for the rows of the fit."""
        return self.provenance.are_training

    @property
    def model(self) -> Any:
        """The last step."""
        return get_final_estimator(self.estimator)

    @property
    def is_pairwise(self) -> bool:
        """Whether inputs are rows of a kernel matrix."""
        return bool(self.model.__sklearn_tags__().input_tags.pairwise)

    @property
    def unit(self) -> str:
        """What a weight belongs to: a "vector" of kernels, a "column", or else a "term"."""
        atoms = self.model.atoms_
        if self.is_pairwise or hasattr(atoms, "centers"):
            return "vector"
        return "column" if isinstance(atoms, ColumnAtoms) else "term"

    @property
    def units(self) -> str:
        """Several of them."""
        return f"{self.unit}s"

    def counted(self, count: int) -> str:
        """So many of them, in words."""
        return f"{count} {self.unit if count == 1 else self.units}"

    @property
    def is_classifier(self) -> bool:
        """Whether classes are predicted, and not numbers."""
        return bool(is_classifier(self.model))

    @property
    def classes(self) -> np.ndarray:
        """Labels, in the order of the probabilities."""
        return np.asarray(self.estimator.classes_)

    @property
    def n_rows(self) -> int:
        """Rows shown."""
        return len(self.y)

    def space(self) -> Space | None:
        """Inputs to draw over: the columns given, or else those that the model sees.

        Columns given are in units that people know; but they may hold text.
        """
        if self.is_pairwise:
            return None  # columns are other rows
        seen = transform_inputs(self.estimator, self.X)
        given, numbers = as_numbers(self.X), as_numbers(seen)
        if numbers is None or len(self.names) != numbers.shape[1]:
            return None
        if given is not None and given.shape[1] == numbers.shape[1]:
            return Space(self.estimator, self.X, given, self.names)
        return Space(self.model, seen, numbers, self.names)


def _one_target(model: Any, y: Any) -> np.ndarray:
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    n_targets = len(getattr(model, "outputs_", ()))
    if targets.ndim != 1 or n_targets > 1:
        fitted = f" and the model has {n_targets} targets" if n_targets > 1 else ""
        raise ValueError(
            f"A report is about one target; y has shape {targets.shape}{fitted}. Fit a model "
            "and make a report for each."
        )
    return targets


def _as_numbers(targets: np.ndarray) -> np.ndarray:
    try:
        numbers = targets.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must be numbers, for a model that predicts numbers; {error}."
        ) from error
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise ValueError(
            f"y must be finite; the value at position {bad[0]} is {numbers[bad[0]]} ({len(bad)} of "
            f"{len(numbers)} are not finite). Remove these rows."
        )
    return numbers
