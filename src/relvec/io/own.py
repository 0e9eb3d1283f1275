"""Classes and functions of the user that a model file may name (argument ``trusted``).

The code that saves or loads passes them as objects. A file contains only their names, and names
that were not passed are never looked up.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

__all__ = ["NO_OWN_TYPES", "OwnTypes", "collect_own_types"]


@dataclass(frozen=True)
class OwnTypes:
    """Names of the types that the user trusts, grouped by how they are rebuilt."""

    objects: frozenset[str] = frozenset()
    tuples: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """All names."""
        return self.objects | self.tuples | self.functions

    def may_build(self, loader: str, name: str) -> bool:
        """Whether a node of skops may build a type that the user trusts."""
        kinds = {
            "ObjectNode": self.objects,
            "TupleNode": self.tuples,
            "FunctionNode": self.functions,
        }
        return name in kinds.get(loader, ())


NO_OWN_TYPES = OwnTypes()


def collect_own_types(trusted: Iterable[Any]) -> OwnTypes:
    """Return the names of classes and functions, after a check that each name leads to its object.

    Parameters
    ----------
    trusted : iterable of classes and functions
        Defined at the top level of a module.

    Examples
    --------
    >>> from fractions import Fraction
    >>> collect_own_types([Fraction]).objects
    frozenset({'fractions.Fraction'})
    """
    if isinstance(trusted, str | type) or not isinstance(trusted, Iterable):
        raise TypeError(
            f"trusted must be a list of classes and functions, for example [MyKernel]; got "
            f"{trusted!r}."
        )
    kinds: dict[str, set[str]] = {"objects": set(), "tuples": set(), "functions": set()}
    for each in trusted:
        if not isinstance(each, (type, FunctionType)):
            raise TypeError(
                "trusted takes classes and functions themselves, not names, instances or built-in "
                f"functions; got {each!r}."
            )
        home: Any = sys.modules.get(each.__module__)
        if not hasattr(home, each.__name__) or getattr(home, each.__name__) is not each:
            raise ValueError(
                f"{each.__qualname__} cannot be found as {each.__name__} in the module "
                f"{each.__module__}, and a model file contains only these names; define it at the "
                "top level of a module."
            )
        kinds[_kind(each)].add(f"{each.__module__}.{each.__name__}")
    return OwnTypes(**{kind: frozenset(names) for kind, names in kinds.items()})


def _kind(given: type | FunctionType) -> str:
    if isinstance(given, FunctionType):
        return "functions"
    return "tuples" if issubclass(given, tuple) else "objects"
