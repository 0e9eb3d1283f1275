"""Options of a kernel search, resolved to the plan of a construction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from relvec._checks import check_choice, check_positive
from relvec.learning.structures.construct import KernelConstruction
from relvec.learning.structures.grammar import FACTORS
from relvec.learning.structures.transforms import TRANSFORMS
from relvec.learning.structures.tuning import SearchTuning
from relvec.learning.structures.watch import Watch

__all__ = [
    "EFFORTS",
    "MODES",
    "check_factors",
    "check_origins",
    "check_penalty",
    "check_periods",
    "check_transforms",
    "list_search_options",
    "make_construction",
]

EFFORTS = ("fast", "balanced", "thorough")
MODES = ("accuracy", "interpretable")
THOROUGH_BEAM = 5
FAST_COLUMNS = 310
"""Largest number of columns of a structure in a fast search: a fit costs the third power."""

SEARCH_OPTIONS = (
    "factors",
    "periods",
    "transforms",
    "effort",
    "max_components",
    "structure_penalty",
)
"""Options that determine a search; with others a warm start begins anew."""


def _check_names(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if isinstance(value, str) or not np.size(value) or np.ndim(value) != 1:
        raise ValueError(f"{name} must be a sequence of names out of {choices}; got {value!r}.")
    for each in value:
        check_choice(name, each, choices)


def check_factors(name: str, value: Any) -> None:
    """Raise unless `value` is a sequence of names of factors."""
    _check_names(name, value, tuple(FACTORS))


def check_transforms(name: str, value: Any) -> None:
    """Raise unless `value` is a sequence of names of transforms, the identity among them."""
    _check_names(name, value, tuple(TRANSFORMS))
    if "identity" not in value:
        raise ValueError(
            f'{name} must contain "identity", which suits targets that are not positive; got '
            f"{value!r}."
        )


def check_periods(name: str, value: Any) -> None:
    """Raise unless `value` is None or a sequence of positive numbers."""
    if value is None:
        return
    if isinstance(value, str) or np.ndim(value) != 1:
        raise ValueError(
            f"{name} must be None, to find them, or a sequence of positive numbers in units of the "
            f"input (days for dates); got {value!r}."
        )
    for each in value:
        check_positive(f"each of {name}", each)


def check_origins(name: str, value: Any) -> None:
    """Raise unless `value` is a sequence of fractions."""
    numbers = np.asarray(value)
    is_sequence = numbers.ndim == 1 and len(numbers) and numbers.dtype.kind in "fiu"
    if not is_sequence or not ((numbers > 0.0) & (numbers < 1.0)).all():
        raise ValueError(
            f"{name} must be a sequence of fractions of the record, strictly between 0 and 1; got "
            f"{value!r}."
        )


def check_penalty(name: str, value: Any) -> None:
    """Raise unless `value` is a pair of numbers that are not negative."""
    if isinstance(value, str) or np.shape(value) != (2,):
        raise ValueError(
            f"{name} must be two numbers, nats per component and per further factor; got {value!r}."
        )
    for each in value:
        check_positive(f"each of {name}", each, allow_zero=True)


def list_search_options(options: Any) -> list[Any]:
    """Return the values of the options that determine a search, to compare them."""
    return [np.asarray(getattr(options, name)).tolist() for name in SEARCH_OPTIONS]


def make_construction(options: Any, watch: Watch) -> KernelConstruction:
    """Resolve the options of `KernelSearchRegressor`."""
    per_component, per_factor = map(float, options.structure_penalty)
    tuning = SearchTuning(
        structure_penalty=(per_component, per_factor),
        max_components=int(options.max_components),
        is_fast=options.effort == "fast",
    )
    if options.effort == "fast":
        tuning = replace(tuning, max_columns=FAST_COLUMNS)
    if options.effort == "thorough":
        tuning = replace(tuning, beam=THOROUGH_BEAM)
    return KernelConstruction(
        allowed=frozenset(FACTORS[name] for name in options.factors),
        transforms=tuple(options.transforms),
        periods=options.periods,
        origins=tuple(sorted(map(float, options.origins))),
        horizon=float(options.horizon),
        is_averaged=options.mode == "accuracy",
        tuning=tuning,
        n_jobs=options.n_jobs,
        watch=watch,
    )
