"""Classes and functions of the user's own that a model file may name.

They are given as objects, by the code that saves or loads. A file only says which of them to use:
nothing is looked up that was not given.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

__all__ = ["NOTHING", "OwnTypes", "own_types"]


@dataclass(frozen=True)
class OwnTypes:
    """Names of what was given, by how it is rebuilt."""

    objects: frozenset[str] = frozenset()
    tuples: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """All names."""
        return self.objects | self.tuples | self.functions

    def may_build(self, loader: str, name: str) -> bool:
        """Whether a node of skops may stand for a type that was given."""
        kinds = {
            "ObjectNode": self.objects,
            "TupleNode": self.tuples,
            "FunctionNode": self.functions,
        }
        return name in kinds.get(loader, ())


NOTHING = OwnTypes()


def own_types(trusted: Iterable[Any]) -> OwnTypes:
    """Return the names of classes and functions, each of which leads back to what was given.

    Parameters
    ----------
    trusted : iterable of classes and functions
        Defined at the top level of a module.

    Examples
    --------
    >>> from fractions import Fraction
    >>> own_types([Fraction]).objects
    frozenset({'fractions.Fraction'})
    """
    if isinstance(trusted, str | type) or not isinstance(trusted, Iterable):
        raise TypeError(
            f"trusted must be a list of classes and functions, as in [MyKernel]; got {trusted!r}."
        )
    kinds: dict[str, set[str]] = {"objects": set(), "tuples": set(), "functions": set()}
    for each in trusted:
        if not isinstance(each, (type, FunctionType)):
            raise TypeError(
                "trusted takes classes and functions themselves, not their names, objects or "
                f"built-in functions; got {each!r}."
            )
        home: Any = sys.modules.get(each.__module__)
        if not hasattr(home, each.__name__) or getattr(home, each.__name__) is not each:
            raise ValueError(
                f"{each.__qualname__} cannot be found as {each.__name__} in the module "
                f"{each.__module__}, and a file keeps only these names: define it at the top level "
                "of a module."
            )
        kinds[_kind(each)].add(f"{each.__module__}.{each.__name__}")
    return OwnTypes(**{kind: frozenset(names) for kind, names in kinds.items()})


def _kind(given: type | FunctionType) -> str:
    if isinstance(given, FunctionType):
        return "functions"
    return "tuples" if issubclass(given, tuple) else "objects"
