"""Bases that consist of other bases: their nested parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from relvec.bases.base import Basis

__all__ = ["NestedBasis"]


class NestedBasis(Basis):
    """A basis whose one parameter is a list of bases.

    Parameters of the bases are named by their position, as in ``basis0__gamma``.
    """

    list_name: ClassVar[str]
    """Name of the parameter that holds the list."""
    item_name: ClassVar[str]
    """What a name of a nested parameter begins with, followed by the position."""

    def _list_items(self) -> Sequence[Basis]:
        items: Sequence[Basis] = getattr(self, self.list_name)
        return items

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with those of the bases if `deep`."""
        params: dict[str, Any] = {self.list_name: self._list_items()}
        if deep:
            for number, basis in enumerate(self._list_items()):
                item = f"{self.item_name}{number}"
                params[item] = basis
                for name, value in basis.get_params(deep=True).items():
                    params[f"{item}__{name}"] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set the list, one basis (``basis0``) or its parameters (``basis0__gamma``)."""
        if self.list_name in params:
            setattr(self, self.list_name, params.pop(self.list_name))
        parts = list(self._list_items())
        replaced = False
        for number in range(len(parts)):
            if f"{self.item_name}{number}" in params:
                parts[number] = params.pop(f"{self.item_name}{number}")
                replaced = True
        if replaced:
            setattr(self, self.list_name, parts)
        super().set_params(**params)
        return self
