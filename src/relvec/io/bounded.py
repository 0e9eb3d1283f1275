"""Read untrusted files with limits on size, whatever the file claims.

Every failure raises `ModelFileError`. The messages of `unpack_part` and `parse_json` have no
subject: the caller puts the name of the part in front.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "LIMITS",
    "FileLimits",
    "ModelFileError",
    "check_values",
    "parse_json",
    "printable",
    "read_regular_file",
    "unpack_part",
]


@dataclass(frozen=True)
class FileLimits:
    """Limits on the size of files and their parts."""

    max_bytes: int = 1 << 31
    """Maximum size of a file and of each of its parts in bytes: two gigabytes."""
    max_packed: int = 1 << 28
    """Maximum size of a compressed part in bytes, when unpacked. Larger parts are stored without
    compression, so that reading a file needs at most a few times the larger of its size and this
    limit."""
    max_header: int = 1 << 24
    """Maximum size in bytes of the header, which contains ``about``."""
    max_schema: int = 1 << 26
    """Maximum size in bytes of the tree of a stored model (its arrays are separate parts)."""
    max_values: int = 1 << 20
    """Maximum number of values in a JSON text: each takes a few hundred bytes of memory when it is
    parsed."""


LIMITS = FileLimits()
"""Limits of `relvec.io.save` and `relvec.io.load`."""


class ModelFileError(ValueError):
    """A model file that cannot be read, or a model that cannot be written to one."""


def printable(text: object, max_length: int = 300) -> str:
    """Return text from a file for a message: shortened, without control characters.

    Examples
    --------
    >>> printable("relvec" + chr(27) + "[2J" + "." * 20, max_length=15)
    'relvec?[2J.....'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in str(text)[:max_length])


def read_regular_file(path: Path, max_bytes: int = LIMITS.max_bytes) -> bytes:
    """Return the content of a regular file; refuse devices and pipes, which may have no end."""
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder; give the name of a model file in it.")
    # without O_NONBLOCK opening a pipe waits until some process writes to it
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(
                f"{path} is a device or a pipe; copy its content to a file and load that file."
            )
        if status.st_size > max_bytes:
            raise ModelFileError(
                f"{path} has {status.st_size} bytes; a model file has at most {max_bytes}. Check "
                "that it is the right file."
            )
        return file.read(status.st_size)


def unpack_part(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, max_packed: int = LIMITS.max_packed
) -> bytes:
    """Return a part of an archive; read no more bytes than its entry states.

    Raises
    ------
    ModelFileError
        If the compression would allow a few bytes to expand to gigabytes.
    """
    if info.compress_type == zipfile.ZIP_DEFLATED:
        limit = max_packed
    elif info.compress_type == zipfile.ZIP_STORED:
        limit = info.compress_size
    else:
        raise ModelFileError("has a compression that model files do not use")
    if info.file_size > limit:
        raise ModelFileError(f"claims {info.file_size} bytes; at most {limit} are allowed")
    parts, left = [], info.file_size
    with archive.open(info) as file:
        # a megabyte at a time: a single read would unpack everything before its size is known
        while chunk := file.read(min(1 << 20, left + 1)):
            parts.append(chunk)
            left -= len(chunk)
    return b"".join(parts)


def check_values(raw: bytes, max_values: int = LIMITS.max_values) -> None:
    """Refuse a JSON text that would take too much memory when it is parsed."""
    count = sum(raw.count(sign) for sign in (b"[", b"{", b","))
    if count > max_values:
        raise ModelFileError(f"has {count} values; at most {max_values} are allowed")


def parse_json(raw: bytes) -> Any:
    """Parse a JSON text; NaN and Infinity, which are not JSON, are refused."""
    check_values(raw)
    try:
        return json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"is not JSON ({printable(error)})") from error


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")
