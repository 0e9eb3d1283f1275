"""Numbers, tables and kernels as program text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from relvec.io.formula import Formula
from relvec.io.profiles import ExportError
from relvec.kernels import KernelProfile

__all__ = ["Functions", "Text", "double", "kernel_text", "row_text", "single", "table", "triangle"]


def double(number: float) -> str:
    """Shortest text of a number in double precision."""
    return repr(float(number))


def single(number: float) -> str:
    """Shortest text of a number in single precision, for C."""
    with np.errstate(over="ignore"):
        value = np.float32(number)
    if not np.isfinite(value):
        raise ExportError(
            f"the formula holds {number:g}, which single precision does not know; use float64."
        )
    return f"{value!s}f"


def table(values: Iterable[float], write: Callable[[float], str], indent: int = 4) -> str:
    """Return numbers separated by commas, in lines of moderate length."""
    text = ", ".join(write(value) for value in np.ravel(np.asarray(values)))
    space = " " * indent
    return textwrap.fill(
        text, 96, initial_indent=space, subsequent_indent=space, break_long_words=False
    )


def triangle(factor: np.ndarray) -> np.ndarray:
    """Return the rows of a lower triangle, one after the other."""
    return factor[np.tril_indices(len(factor))]


class Text:
    """A number that writes down what is done with it."""

    def __init__(self, text: str, write: Callable[[float], str]) -> None:
        self.text, self.write = text, write

    def _with(self, sign: str, other: Any, *, reflected: bool = False) -> Text:
        written = other.text if isinstance(other, Text) else self.write(other)
        left, right = (written, self.text) if reflected else (self.text, written)
        return Text(f"({left} {sign} {right})", self.write)

    def __add__(self, other: Any) -> Text:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Text:
        return self._with("+", other, reflected=True)

    def __mul__(self, other: Any) -> Text:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Text:
        return self._with("*", other, reflected=True)

    def __truediv__(self, other: Any) -> Text:
        return self._with("/", other)

    def __neg__(self) -> Text:
        return Text(f"-{self.text}", self.write)


class Functions:
    """Names of functions in a language.

    Parameters
    ----------
    names : dict
        What `exp`, `log`, `sqrt`, `tanh`, `power` and `maximum` are called.
    """

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def __getattr__(self, kind: str) -> Callable[..., Text]:
        name = self.names[kind]

        def call(x: Text, *more: float) -> Text:
            arguments = ", ".join([x.text, *(x.write(number) for number in more)])
            return Text(f"{name}({arguments})", x.write)

        return call


def kernel_text(
    profile: KernelProfile, names: dict[str, str], write: Callable[[float], str]
) -> str:
    """Return a kernel as an expression of ``t``."""
    result: Text = profile.value(Text("t", write), Functions(names))
    return result.text


def row_text(formula: Formula) -> str:
    """Say how many numbers a row has."""
    return "1 number" if formula.n_features == 1 else f"{formula.n_features} numbers"
