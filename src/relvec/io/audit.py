"""Check the types and arrays of a stored model before any of it is imported or built.

A skops file is a zip archive of arrays and of a tree, `schema.json`, whose nodes name the type to
build and how to build it. skops refuses types that are not on its list of trusted types. This check
runs first and is stricter: each type may be built in one way only, arrays must have the size that
their header states, and a node may not refer to another node that is written differently.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from relvec._compat import import_optional
from relvec.io.bounded import LIMITS, ModelFileError, parse_json, printable
from relvec.io.own import NO_OWN_TYPES, OwnTypes
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
"""Protocol of skops when the first model files were made. Older protocols name functions
differently."""
_OURS = frozenset(TRUSTED_TYPES)

# The types that each kind of node of skops may build. Types that are not in TRUSTED_TYPES must also
# be on skops' own list, which is checked last.
_MAY_BUILD: dict[str, Callable[[str], bool]] = {
    "JsonNode": lambda name: name == "builtins.str",
    "ObjectNode": lambda name: name in OBJECTS or (name not in _OURS and is_estimator(name)),
    "TupleNode": lambda name: name == "builtins.tuple" or name in TUPLES,
    "NdArrayNode": lambda name: name == "numpy.ndarray" or name in SCALARS,
    "FunctionNode": lambda name: name not in _OURS,
    "TypeNode": lambda name: name not in _OURS,
    **{loader: names.__contains__ for loader, names in CONTAINERS.items()},
}


def audit(payload: bytes, own: OwnTypes = NO_OWN_TYPES) -> list[str]:
    """Return the names of all types in a stored model that are not trusted; empty if all are.

    Parameters
    ----------
    payload : bytes
        A skops file.
    own : OwnTypes, optional
        Further types that the caller trusts.

    Raises
    ------
    ModelFileError
        If the file is not well formed.
    """
    skops = import_optional("skops.io")
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            schema = read_schema(archive, len(payload))
            _check_arrays(archive)
        nodes = list(_iterate_nodes(schema))
        _check_repetition(schema, nodes)
        _check_shared_arrays(nodes)
        untrusted = {_type_name(node) for node in nodes if not _is_allowed(node, own)}
        untrusted |= {_type_name(key) for node in nodes for key in _find_untrusted_keys(node)}
        if not untrusted:
            _check_random_states(nodes)
            _check_caches(nodes)
            untrusted = set(skops.get_untrusted_types(data=payload)) - _OURS - own.names
    except ModelFileError:
        raise
    except Exception as error:  # any failure means that the file is not a valid model
        raise ModelFileError(f"the stored model is damaged ({printable(repr(error))})") from error
    return sorted(untrusted)


def read_schema(archive: zipfile.ZipFile, n_bytes: int) -> Any:
    """Return the tree of a skops file after a check of its size.

    Parameters
    ----------
    archive : ZipFile
        The open skops file.
    n_bytes : int
        Size of the file.
    """
    members, info = archive.infolist(), archive.getinfo(SCHEMA)
    total = sum(member.file_size for member in members)
    if any(member.compress_type != zipfile.ZIP_STORED for member in members) or total > n_bytes:
        raise ModelFileError(
            f"the stored model has {n_bytes} bytes and claims {total}: it is compressed twice, "
            "which relvec.io.save never does"
        )
    if info.file_size > LIMITS.max_schema:
        raise ModelFileError(
            f"the schema of the stored model claims {info.file_size} bytes; at most "
            f"{LIMITS.max_schema} are allowed"
        )
    try:
        schema = parse_json(archive.read(info))
    except ModelFileError as error:
        raise ModelFileError(f"the schema of the stored model {error}") from error
    if type(schema.get("protocol")) is not int or schema["protocol"] < OLDEST_PROTOCOL:
        raise ModelFileError(
            "the stored model is in a format of skops that relvec.io.save never wrote"
        )
    return schema


def _check_arrays(archive: zipfile.ZipFile) -> None:
    """Refuse arrays whose header states more data than the file has, and arrays of objects."""
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
            raise ModelFileError(
                f"the stored array {printable(info.filename, 80)} contains a pickle"
            )
        if np.prod(shape, dtype=object) * max(dtype.itemsize, 1) > info.file_size:
            raise ModelFileError(
                f"the stored array {printable(info.filename, 80)} claims the shape "
                f"{printable(shape, 80)}, which is more than its {info.file_size} bytes"
            )


def _iterate_nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Iterate over all nodes of the tree."""
    if isinstance(tree, dict):
        if "__loader__" in tree or "__id__" in tree:
            yield tree
        for value in tree.values():
            yield from _iterate_nodes(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _iterate_nodes(value)


def _check_repetition(schema: Any, nodes: list[dict[str, Any]]) -> None:
    """Refuse nodes with the same number that are written differently.

    skops writes an object once for each place where it occurs, and builds it once: it recognises
    the object by its number. If a repetition could be written shorter, a small file could describe
    a tree without end, or one that takes forever to walk. If a repetition could be written
    differently, the node that is checked here would not be the one that is built. Numbers and names
    of arrays may differ inside a repetition: they do for objects that skops makes while it writes.
    """
    forms: dict[Any, int] = {}
    form_of: dict[int, int] = {}

    def form(tree: Any) -> int:
        """Return a number that is equal for equal trees."""
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
        if type(number) is not int:  # skops would take 1, 1.0 and true for the same number
            raise ModelFileError(
                "the stored model has an object number that is not an integer: "
                f"{printable(repr(number), 40)}"
            )
        if seen.setdefault(number, form_of[id(node)]) != form_of[id(node)]:
            raise ModelFileError(
                f"the stored model has two different objects with number {printable(number, 40)}"
            )


def _check_shared_arrays(nodes: list[dict[str, Any]]) -> None:
    """Refuse files in which several objects read the same array: memory would not be bounded."""
    reader: dict[str, int] = {}
    for place, node in enumerate(nodes):
        if "file" in node:
            number = node.get("__id__") or -1 - place
            if reader.setdefault(str(node["file"]), number) != number:
                raise ModelFileError(
                    f"the stored array {printable(node['file'], 80)} is read by several objects"
                )


def _check_random_states(nodes: list[dict[str, Any]]) -> None:
    """Refuse random states whose position lies outside of their array of 624 words."""
    for node in nodes:
        if node.get("__loader__") == "RandomStateNode":
            position = node["content"]["content"]["state"]["content"]["pos"]
            value = json.loads(position["content"])
            is_number = position["__loader__"] == "JsonNode" and type(value) is int
            if not is_number or not 0 <= value <= 624:  # words of the Mersenne twister
                raise ModelFileError("the stored model has a random state with an invalid position")


def _check_caches(nodes: list[dict[str, Any]]) -> None:
    """Refuse pipelines with a cache folder: the next fit would load the pickles in it."""
    for node in nodes:
        if _type_name(node) == "sklearn.pipeline.Pipeline" and "content" in node:
            memory = node["content"]["content"].get("memory")
            if memory is not None and memory.get("content") != "null":
                raise ModelFileError(
                    "it has a pipeline with a cache folder, from which the next fit would load "
                    "pickles; call set_params(memory=None) before saving"
                )


def _type_name(node: Any) -> str:
    if not isinstance(node, dict):
        return printable(repr(node), 80)
    return printable(f"{node.get('__module__')}.{node.get('__class__')}", 120)


def _is_allowed(node: dict[str, Any], own: OwnTypes) -> bool:
    loader, name = str(node.get("__loader__")), f"{node.get('__module__')}.{node.get('__class__')}"
    if name in own.names:
        return own.may_build(loader, name)
    may_build = _MAY_BUILD.get(loader)
    return may_build is not None and may_build(name)


def _find_untrusted_keys(node: dict[str, Any]) -> list[Any]:
    """Return the types of dict keys that are not plain types: building a key calls its type."""
    if node.get("__loader__") != "DictNode":
        return []
    types = node["key_types"]
    if types["__loader__"] != "ListNode":
        return [types]
    return [
        each
        for each in types["content"]
        if each["__loader__"] != "TypeNode" or _type_name(each) not in KEYS
    ]
