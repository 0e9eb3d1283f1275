"""How files of earlier releases are read: the one place that knows what has changed.

The rules, so that a model that was saved once can always be loaded:

- The number of the format (`relvec.io.container.FORMAT`) grows only when older releases could not
  read what is written; files of every smaller number are read.
- A class on the list of `relvec.io.trusted` that is moved or renamed gets a line in `MOVED`.
- An attribute that is added to such a class gets a default in the class, or, where that depends on
  nothing but the class, a line in `ADDED`. One that is no longer used is left alone.
- Every minor release keeps its files in ``tests/io/data``, made by
  ``python -m tests.io.make_release_files``; the tests load them all.

Changes are made to the names that a file holds, before it is checked: what they lead to must be on
the list like everything else.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from relvec.io.audit import SCHEMA, read_schema
from relvec.io.bounded import ModelFileError

__all__ = ["ADDED", "MOVED", "renewed"]

MOVED: dict[str, str] = {}
"""What types were called in earlier releases, and what they are called now."""

ADDED: dict[str, dict[str, Any]] = {}
"""Attributes that types, by their new names, did not have in earlier releases: what JSON knows."""


def renewed(payload: bytes) -> bytes:
    """Return a stored model with the names of this release.

    Parameters
    ----------
    payload : bytes
        A skops file of any release. What is not one is returned as it is, for the check to refuse.
    """
    if not MOVED and not ADDED:
        return payload
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as old:
            schema = read_schema(old, len(payload))
            if not _renew(schema):
                return payload
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as new:
                for info in old.infolist():
                    if info.filename != SCHEMA:
                        new.writestr(info.filename, old.read(info))
                new.writestr(SCHEMA, json.dumps(schema))
            return buffer.getvalue()
    except ModelFileError:
        raise
    except Exception:
        return payload


def _renew(tree: Any) -> bool:
    """Change a tree in place; say whether anything was changed."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    changed = [_renew(part) for part in list(parts)]
    if not isinstance(tree, dict) or "__loader__" not in tree:
        return any(changed)
    name = f"{tree.get('__module__')}.{tree.get('__class__')}"
    if name in MOVED:
        changed.append(True)
        name = MOVED[name]
        tree["__module__"], _, tree["__class__"] = name.rpartition(".")
    if tree["__loader__"] == "ObjectNode":
        state = tree["content"]
        for attribute, value in ADDED.get(name, {}).items():
            if attribute not in state["content"]:
                changed.append(True)
                state["content"][attribute] = _node("JsonNode", "str", content=json.dumps(value))
                state["key_types"]["content"].append(_node("TypeNode", "str"))
    return any(changed)


def _node(loader: str, name: str, **rest: Any) -> dict[str, Any]:
    return {"__loader__": loader, "__module__": "builtins", "__class__": name, **rest}
