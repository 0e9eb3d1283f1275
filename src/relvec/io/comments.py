"""Comments at the top of exported programs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relvec.io.formula import Formula
from relvec.io.text import format_row_size

__all__ = ["describe_formula", "describe_output", "describe_row"]

Clean = Callable[[str], str]
"""Function that replaces characters which could end a comment."""


def describe_row(formula: Formula, clean: Clean) -> list[str]:
    """Lines that describe the argument ``x``, with the names of the features if known."""
    names = formula.feature_names
    row = f"x is one row with the features of the training data, {format_row_size(formula)}"
    if names is None:
        return [f"{row}. Its values are not checked."]
    width = len(f"x[{len(names) - 1}]")
    lines = [f"    {f'x[{i}]':<{width}}  {clean(name)}" for i, name in enumerate(names)]
    return [f"{row}. Its values are not checked.", *lines]


def describe_output(formula: Formula, clean: Clean) -> list[str]:
    """Lines that describe what the program prints for each row."""
    if formula.classes is not None:
        classes = [f"    {clean(str(each))}" for each in formula.classes]
        return ["the probability of each class, in this order:", *classes]
    many = "" if len(formula.blocks) == 1 else " of each output"
    means = f"the prediction{many}"
    return [f"{means}, then its standard deviation{many}." if formula.has_std else f"{means}."]


def describe_formula(formula: Formula, precision: str, pivot_sets: str, points: str) -> list[str]:
    """Lines that describe the computation.

    Parameters
    ----------
    formula : Formula
        The exported model.
    precision, pivot_sets, points : str
        Names of the tables in the program.
    """
    if _is_linear_in_features(formula):
        first = "phi are the features that have a weight."
    elif formula.profile.measure == "product":
        first = "phi are kernels at the relevance vectors, functions of inner products."
    else:
        first = "phi are kernels at the relevance vectors, functions of distances."
    lines = [
        first,
        f"A {'logit' if formula.is_classifier else 'prediction'} is offset + sum of "
        "(phi - centre) * scale * weights.",
    ]
    has_variance = formula.is_classifier or formula.has_std
    if has_variance:
        lines.append(
            f"Its variance follows from {precision}, the Cholesky factor of the precision matrix."
        )
    if formula.pivot_sets:
        lines.append(
            f"{pivot_sets} represent the training data. Where the input is far from all of them,"
        )
        lines += _about_extrapolation(formula, has_variance)
    if len(formula.members) > 1:
        lines.append("Probabilities are weighted averages over several models.")
    if formula.points is not None:
        lines.append(
            f"Probabilities are averages over the posterior of the logits, by the table {points}."
        )
    return lines


def _about_extrapolation(formula: Formula, has_variance: bool) -> list[str]:
    if not formula.is_extrapolated:
        return ["probabilities approach the class prior."]
    if not formula.has_mean_fallback:
        return ["the variance grows."]
    if not has_variance:
        return ["a prediction far from all training targets moves towards their mean."]
    return [
        "a prediction far from all training targets moves towards their mean, and the variance",
        "grows to deviation * deviation or more.",
    ]


def _is_linear_in_features(formula: Formula) -> bool:
    vectors = formula.kernel_tables[0].vectors
    is_one_feature = (np.count_nonzero(vectors, axis=1) == 1) & (vectors.sum(axis=1) == 1.0)
    return formula.profile.name == "linear" and bool(np.all(is_one_feature))
