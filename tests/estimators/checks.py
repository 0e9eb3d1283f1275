"""scikit-learn's checks for further configurations of an estimator that has passed all of them.

Only those whose outcome may depend on the configuration: the rest look at what every estimator of
the class inherits.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import clone, is_classifier
from sklearn.utils import estimator_checks, get_tags

_OF_EVERY = (
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_readonly_memmap_input",
)
_OF_INPUTS = ("check_sample_weight_equivalence_on_dense_data",)  # gives no kernel matrix
_OF_REGRESSORS = ("check_regressors_int", "check_regressors_train")
_OF_CLASSIFIERS = (
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_classifiers_train",
)


def _checks_of(estimator: Any) -> tuple[str, ...]:
    of_inputs = () if get_tags(estimator).input_tags.pairwise else _OF_INPUTS
    of_targets = _OF_CLASSIFIERS if is_classifier(estimator) else _OF_REGRESSORS
    return (*_OF_EVERY, *of_inputs, *of_targets)


def parametrize_with_checks_of_the_configuration(estimators: list[Any]) -> pytest.MarkDecorator:
    """Like scikit-learn's ``parametrize_with_checks``; the test calls ``run(estimator, check)``."""
    cases = [(estimator, check) for estimator in estimators for check in _checks_of(estimator)]
    return pytest.mark.parametrize(
        ("estimator", "check"), cases, ids=[f"{estimator!r}-{check}" for estimator, check in cases]
    )


def run(estimator: Any, check: str) -> None:
    """Run a check by its name."""
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))
