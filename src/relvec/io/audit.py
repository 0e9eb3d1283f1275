"""What a stored model may be made of, checked before any of it is imported or built.

A skops file is a zip archive of arrays and of a tree, `schema.json`, whose nodes say which type
to build and how. skops refuses types it is not told to trust. This check comes first and asks
more: each type may be built in one way only, arrays must be as large as they say, and no node may
stand for more than is written.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from relvec._compat import optional
from relvec.io.container import MAX_BYTES, ModelFileError
from relvec.io.trusted import CONTAINERS, OBJECTS, TRUSTED_TYPES, TUPLES

__all__ = ["audit"]

SCHEMA = "schema.json"
MAX_SCHEMA_BYTES = 1 << 26
_OURS = frozenset(TRUSTED_TYPES)

# In which nodes of skops a type may occur; what is not ours is left to the list of skops.
_MAY_BUILD: dict[str, Callable[[str], bool]] = {
    "JsonNode": lambda name: name == "builtins.str",
    "ObjectNode": lambda name: name in OBJECTS or name not in _OURS,
    "TupleNode": lambda name: name == "builtins.tuple" or name in TUPLES,
    "NdArrayNode": lambda name: name not in _OURS,
    "FunctionNode": lambda name: name not in _OURS,
    "TypeNode": lambda name: name not in _OURS,
    **{loader: names.__contains__ for loader, names in CONTAINERS.items()},
}


def audit(payload: bytes) -> list[str]:
    """Return the names of all types in a stored model that are not trusted; empty if it is safe.

    Parameters
    ----------
    payload : bytes
        A skops file.

    Raises
    ------
    ModelFileError
        If it is not well formed.
    """
    skops = optional("skops.io")
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            schema = _schema(archive)
            arrays = _arrays(archive)
        nodes = list(_nodes(schema))
        _check_repetition(schema, nodes)
        _check_reading(nodes, arrays)
        strange = {_name(node) for node in nodes if not _is_allowed(node)}
        if not strange:
            strange = set(skops.get_untrusted_types(data=payload)) - _OURS
    except ModelFileError:
        raise
    except Exception as error:  # whatever it is, it is not a model
        raise ModelFileError(f"the stored model is damaged ({error!r})") from error
    return sorted(strange)


def _schema(archive: zipfile.ZipFile) -> Any:
    info = archive.getinfo(SCHEMA)
    total = sum(member.file_size for member in archive.infolist())
    if info.file_size > MAX_SCHEMA_BYTES or total > MAX_BYTES:
        raise ModelFileError(
            f"the stored model claims {total} bytes unpacked, {info.file_size} of them in its "
            f"schema; at most {MAX_BYTES} and {MAX_SCHEMA_BYTES} are allowed"
        )
    return json.loads(archive.read(info))


def _arrays(archive: zipfile.ZipFile) -> dict[str, int]:
    """Size of each stored array, none of which claims to be larger than what is there."""
    sizes = {}
    for info in archive.infolist():
        if info.filename == SCHEMA:
            continue
        with archive.open(info) as file:
            version = np.lib.format.read_magic(file)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, _, dtype = read(file)
        if dtype.hasobject:
            raise ModelFileError(f"the stored array {info.filename} holds a pickle")
        if np.prod(shape, dtype=object) * max(dtype.itemsize, 1) > info.file_size:
            raise ModelFileError(
                f"the stored array {info.filename} claims the shape {shape}, which is more than "
                f"its {info.file_size} bytes"
            )
        sizes[info.filename] = info.file_size
    return sizes


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every node as it is written."""
    if isinstance(tree, dict):
        if "__loader__" in tree or "__id__" in tree:
            yield tree
        for value in tree.values():
            yield from _nodes(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _nodes(value)


def _check_repetition(schema: Any, nodes: list[dict[str, Any]]) -> None:
    """Refuse nodes that stand for larger ones.

    An object that occurs often is written as often, and read once: skops recognises it by its
    number. Were fewer words enough for a repetition, a short file could describe a tree that has
    no end or takes forever to walk.
    """
    sizes: dict[int, int] = {}

    def size(tree: Any) -> int:
        parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
        total = 1 + sum(size(part) for part in parts)
        sizes[id(tree)] = total
        return total

    size(schema)
    seen: dict[str, int] = {}
    for node in nodes:
        number = repr(node.get("__id__"))
        if "__id__" in node and seen.setdefault(number, sizes[id(node)]) != sizes[id(node)]:
            raise ModelFileError(f"the stored model holds two different objects numbered {number}")


def _check_reading(nodes: list[dict[str, Any]], arrays: dict[str, int]) -> None:
    """Refuse files that unpack the same array again and again."""
    read = {
        (repr(node.get("__id__", number)), str(node["file"]))
        for number, node in enumerate(nodes)
        if "file" in node
    }
    total = sum(arrays.get(file, 0) for _, file in read)
    if total > MAX_BYTES:
        raise ModelFileError(f"the stored model unpacks to {total} bytes; {MAX_BYTES} are allowed")


def _name(node: dict[str, Any]) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _is_allowed(node: dict[str, Any]) -> bool:
    may_build = _MAY_BUILD.get(str(node.get("__loader__")))
    return may_build is not None and may_build(_name(node))
