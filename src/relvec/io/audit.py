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

from relvec._compat import import_optional
from relvec.io.bounded import LIMITS, ModelFileError, parse_json, shown
from relvec.io.own import NOTHING, OwnTypes
from relvec.io.trusted import (
    CONTAINERS,
    KEYS,
    OBJECTS,
    SCALARS,
    TRUSTED_TYPES,
    TUPLES,
    is_estimator,
)

__all__ = ["SCHEMA", "audit", "read_schema"]

SCHEMA = "schema.json"
OLDEST_PROTOCOL = 2
"""Of skops, when the first model files were made. Older ones name functions in another way."""
_OURS = frozenset(TRUSTED_TYPES)

# In which nodes of skops a type may occur; what is not ours is left to the list of skops.
_MAY_BUILD: dict[str, Callable[[str], bool]] = {
    "JsonNode": lambda name: name == "builtins.str",
    "ObjectNode": lambda name: name in OBJECTS or (name not in _OURS and is_estimator(name)),
    "TupleNode": lambda name: name == "builtins.tuple" or name in TUPLES,
    "NdArrayNode": lambda name: name == "numpy.ndarray" or name in SCALARS,
    "FunctionNode": lambda name: name not in _OURS,
    "TypeNode": lambda name: name not in _OURS,
    **{loader: names.__contains__ for loader, names in CONTAINERS.items()},
}


def audit(payload: bytes, own: OwnTypes = NOTHING) -> list[str]:
    """Return the names of all types in a stored model that are not trusted; empty if it is safe.

    Parameters
    ----------
    payload : bytes
        A skops file.
    own : OwnTypes, optional
        What whoever loads it trusts besides.

    Raises
    ------
    ModelFileError
        If it is not well formed.
    """
    skops = import_optional("skops.io")
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            schema = read_schema(archive, len(payload))
            _check_arrays(archive)
        nodes = list(_nodes(schema))
        _check_repetition(schema, nodes)
        _check_reading(nodes)
        strange = {_name(node) for node in nodes if not _is_allowed(node, own)}
        strange |= {_name(key) for node in nodes for key in _strange_keys(node)}
        if not strange:
            _check_random_states(nodes)
            _check_caches(nodes)
            strange = set(skops.get_untrusted_types(data=payload)) - _OURS - own.names
    except ModelFileError:
        raise
    except Exception as error:  # whatever it is, it is not a model
        raise ModelFileError(f"the stored model is damaged ({shown(repr(error))})") from error
    return sorted(strange)


def read_schema(archive: zipfile.ZipFile, n_bytes: int) -> Any:
    """Return the tree of a skops file that is not larger than it is.

    Parameters
    ----------
    archive : ZipFile
        The file.
    n_bytes : int
        Its size.
    """
    members, info = archive.infolist(), archive.getinfo(SCHEMA)
    total = sum(member.file_size for member in members)
    if any(member.compress_type != zipfile.ZIP_STORED for member in members) or total > n_bytes:
        raise ModelFileError(
            f"the stored model has {n_bytes} bytes and claims {total}: it is packed twice, which "
            "model files are not"
        )
    if info.file_size > LIMITS.max_schema:
        raise ModelFileError(
            f"the schema of the stored model claims {info.file_size} bytes, of which at most "
            f"{LIMITS.max_schema} are allowed"
        )
    try:
        schema = parse_json(archive.read(info))
    except ModelFileError as error:
        raise ModelFileError(f"the schema of the stored model {error}") from error
    if type(schema.get("protocol")) is not int or schema["protocol"] < OLDEST_PROTOCOL:
        raise ModelFileError("the stored model is in a format of skops that model files never had")
    return schema


def _check_arrays(archive: zipfile.ZipFile) -> None:
    """Refuse arrays that claim to be larger than what is there, or hold more than numbers."""
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
            raise ModelFileError(f"the stored array {shown(info.filename, 80)} holds a pickle")
        if np.prod(shape, dtype=object) * max(dtype.itemsize, 1) > info.file_size:
            raise ModelFileError(
                f"the stored array {shown(info.filename, 80)} claims the shape "
                f"{shown(shape, 80)}, which is more than its {info.file_size} bytes"
            )


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
    """Refuse nodes that stand for others.

    An object that occurs often is written as often, and read once: skops recognises it by its
    number. Were fewer words enough for a repetition, a short file could describe a tree that has
    no end or takes forever to walk; were other words allowed, what is checked here would not be
    what is built. Numbers and names of arrays may differ, since they do for objects that are made
    while a model is written.
    """
    forms: dict[Any, int] = {}
    form_of: dict[int, int] = {}

    def form(tree: Any) -> int:
        """Return a number that is the same for equal trees."""
        key: Any
        if isinstance(tree, dict):
            key = tuple(
                (name, form(part)) for name, part in tree.items() if name not in ("__id__", "file")
            )
        elif isinstance(tree, list):
            key = ("list", *(form(part) for part in tree))
        else:
            key = (type(tree), tree)
        form_of[id(tree)] = number = forms.setdefault(key, len(forms))
        return number

    form(schema)
    seen: dict[int, int] = {}
    for node in nodes:
        if "__id__" not in node:
            continue
        number = node["__id__"]
        if type(number) is not int:  # 1 and 1.0 and true would be one number for skops
            raise ModelFileError(f"the stored model numbers an object {shown(repr(number), 40)}")
        if seen.setdefault(number, form_of[id(node)]) != form_of[id(node)]:
            raise ModelFileError(
                f"the stored model holds two different objects numbered {shown(number, 40)}"
            )


def _check_reading(nodes: list[dict[str, Any]]) -> None:
    """Refuse files that unpack the same array again and again."""
    reader: dict[str, int] = {}
    for place, node in enumerate(nodes):
        if "file" in node:
            number = node.get("__id__") or -1 - place
            if reader.setdefault(str(node["file"]), number) != number:
                raise ModelFileError(
                    f"the stored array {shown(node['file'], 80)} is read by several objects"
                )


def _check_random_states(nodes: list[dict[str, Any]]) -> None:
    """Refuse random states that draw from memory beyond their own."""
    for node in nodes:
        if node.get("__loader__") == "RandomStateNode":
            position = node["content"]["content"]["state"]["content"]["pos"]
            value = json.loads(position["content"])
            is_number = position["__loader__"] == "JsonNode" and type(value) is int
            if not is_number or not 0 <= value <= 624:  # words of the Mersenne twister
                raise ModelFileError("the stored model holds a random state with a wrong position")


def _check_caches(nodes: list[dict[str, Any]]) -> None:
    """Refuse folders of caches: they hold pickles, which would be opened by the next fit."""
    for node in nodes:
        if _name(node) == "sklearn.pipeline.Pipeline" and "content" in node:
            memory = node["content"]["content"].get("memory")
            if memory is not None and memory.get("content") != "null":
                raise ModelFileError(
                    "it holds a pipeline with a folder for its cache, which would be read by the "
                    "next fit, wherever that is; call set_params(memory=None) before it is saved"
                )


def _name(node: Any) -> str:
    if not isinstance(node, dict):
        return shown(repr(node), 80)
    return shown(f"{node.get('__module__')}.{node.get('__class__')}", 120)


def _is_allowed(node: dict[str, Any], own: OwnTypes) -> bool:
    loader, name = str(node.get("__loader__")), f"{node.get('__module__')}.{node.get('__class__')}"
    if name in own.names:
        return own.may_build(loader, name)
    may_build = _MAY_BUILD.get(loader)
    return may_build is not None and may_build(name)


def _strange_keys(node: dict[str, Any]) -> list[Any]:
    """Return what would be called to make a key, and is not a plain type."""
    if node.get("__loader__") != "DictNode":
        return []
    types = node["key_types"]
    if types["__loader__"] != "ListNode":
        return [types]
    return [
        each
        for each in types["content"]
        if each["__loader__"] != "TypeNode" or _name(each) not in KEYS
    ]
