"""What the head of an exported program says about the model in it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relvec.io.formula import Formula
from relvec.io.text import row_text

__all__ = ["about_answers", "about_formula", "about_inputs"]

Clean = Callable[[str], str]
"""Makes of any text one that cannot end a comment."""


def about_inputs(formula: Formula, clean: Clean) -> list[str]:
    """Lines that say what a row is: one for each input whose name is known."""
    names = formula.feature_names
    row = f"x is a row like those of the training data, {row_text(formula)}"
    if names is None:
        return [f"{row}. It is not checked."]
    width = len(f"x[{len(names) - 1}]")
    inputs = [f"    {f'x[{i}]':<{width}}  {clean(name)}" for i, name in enumerate(names)]
    return [f"{row}, which is not checked:", *inputs]


def about_answers(formula: Formula, clean: Clean) -> list[str]:
    """Lines that say what the program prints for a row."""
    if formula.classes is not None:
        classes = [f"    {clean(str(each))}" for each in formula.classes]
        return ["the probability of each class, in this order:", *classes]
    many = "" if len(formula.blocks) == 1 else " of each output"
    means = f"the prediction{many}"
    return [f"{means}, then its standard deviation{many}." if formula.has_std else f"{means}."]


def about_formula(formula: Formula, precision: str, covers: str, points: str) -> list[str]:
    """Lines that say what is computed, for those who read on; tables are called so."""
    if _takes_single_inputs(formula):
        first = "phi are the inputs that have a weight."
    elif formula.profile.measure == "product":
        first = "phi compare the input with a few vectors by their inner products."
    else:
        first = "phi compare the input with a few vectors by their distances."
    lines = [
        first,
        f"A {'logit' if formula.is_classifier else 'prediction'} is offset + sum of "
        "(phi - centre) * scale * weights.",
    ]
    has_variance = formula.is_classifier or formula.has_std
    if has_variance:
        lines.append(f"Its variance comes from {precision}.")
    if formula.covers:
        lines.append(
            f"{covers} stand for the training data. Where the input is unlike all of them,"
        )
        lines += _about_extrapolation(formula, has_variance)
    if len(formula.members) > 1:
        lines.append("Probabilities are averages over several models, by their weights.")
    if formula.points is not None:
        lines.append(f"Probabilities are averages over logits that may be, by the table {points}.")
    return lines


def _about_extrapolation(formula: Formula, has_variance: bool) -> list[str]:
    if not formula.is_extrapolated:
        return ["probabilities go over to the shares of the classes."]
    if not formula.falls_back:
        return ["the variance grows."]
    if not has_variance:
        return ["a prediction far from all training targets moves towards their mean."]
    return [
        "a prediction far from all training targets moves towards their mean, and the variance",
        "grows to deviation * deviation or more.",
    ]


def _takes_single_inputs(formula: Formula) -> bool:
    vectors = formula.kernel_tables[0].vectors
    is_one_input = (np.count_nonzero(vectors, axis=1) == 1) & (vectors.sum(axis=1) == 1.0)
    return formula.profile.name == "linear" and bool(np.all(is_one_input))
