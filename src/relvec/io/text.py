"""Write numbers, tables and kernels as program text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from relvec.io.formula import Formula
from relvec.io.profiles import ExportError
from relvec.kernels import KernelProfile

__all__ = [
    "Expression",
    "FunctionNames",
    "double",
    "flatten_triangle",
    "format_row_size",
    "kernel_text",
    "single",
    "table",
]


def double(number: float) -> str:
    """Shortest decimal text that reads back as the same double-precision number."""
    return repr(float(number))


def single(number: float) -> str:
    """Shortest C literal that reads back as the same single-precision number."""
    with np.errstate(over="ignore"):
        value = np.float32(number)
    if not np.isfinite(value):
        raise ExportError(
            f"the model has the number {number:g}, which is outside the range of single precision; "
            "use float64."
        )
    return f"{value!s}f"


def table(values: Iterable[float], write: Callable[[float], str], indent: int = 4) -> str:
    """Return numbers separated by commas, in lines of at most 96 characters."""
    text = ", ".join(write(value) for value in np.ravel(np.asarray(values)))
    space = " " * indent
    return textwrap.fill(
        text, 96, initial_indent=space, subsequent_indent=space, break_long_words=False
    )


def flatten_triangle(factor: np.ndarray) -> np.ndarray:
    """Return the entries of the lower triangle of a matrix, row by row."""
    return factor[np.tril_indices(len(factor))]


class Expression:
    """An arithmetic expression as program text: operators return longer expressions."""

    def __init__(self, text: str, write: Callable[[float], str]) -> None:
        self.text, self.write = text, write

    def _with(self, sign: str, other: Any, *, reflected: bool = False) -> Expression:
        written = other.text if isinstance(other, Expression) else self.write(other)
        left, right = (written, self.text) if reflected else (self.text, written)
        return Expression(f"({left} {sign} {right})", self.write)

    def __add__(self, other: Any) -> Expression:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Expression:
        return self._with("+", other, reflected=True)

    def __mul__(self, other: Any) -> Expression:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Expression:
        return self._with("*", other, reflected=True)

    def __truediv__(self, other: Any) -> Expression:
        return self._with("/", other)

    def __neg__(self) -> Expression:
        return Expression(f"-{self.text}", self.write)


class FunctionNames:
    """Mathematical functions by their names in a programming language.

    Parameters
    ----------
    names : dict
        Names of `exp`, `log`, `sqrt`, `tanh`, `power` and `maximum` in the language.
    """

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def __getattr__(self, kind: str) -> Callable[..., Expression]:
        name = self.names[kind]

        def call(x: Expression, *more: float) -> Expression:
            arguments = ", ".join([x.text, *(x.write(number) for number in more)])
            return Expression(f"{name}({arguments})", x.write)

        return call


def kernel_text(
    profile: KernelProfile, names: dict[str, str], write: Callable[[float], str]
) -> str:
    """Return the value of a kernel as an expression of ``t``, its distance or product."""
    result: Expression = profile.value(Expression("t", write), FunctionNames(names))
    return result.text


def format_row_size(formula: Formula) -> str:
    """Return the number of features as text for messages."""
    return "1 number" if formula.n_features == 1 else f"{formula.n_features} numbers"
