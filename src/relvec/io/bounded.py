"""Reading what strangers wrote: never more than is allowed, whatever a file claims.

Whatever is wrong ends in a `ModelFileError`. Those of `unpacked` and `parse_json` go on a sentence
whose subject is the part that was read.
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
    "read_regular",
    "shown",
    "unpacked",
]


@dataclass(frozen=True)
class FileLimits:
    """How much of a file that anyone may have written is read."""

    max_bytes: int = 1 << 31
    """Most bytes of a file and of each of its parts: two gigabytes."""
    max_packed: int = 1 << 28
    """Most bytes of a part that is compressed. What is larger is stored as it is, so that nobody
    needs more memory for a file than a few times its size or this."""
    max_header: int = 1 << 24
    """Most bytes of the header, which holds what was given to ``about``."""
    max_schema: int = 1 << 26
    """Most bytes of the tree of a stored model, whose arrays are kept apart."""
    max_values: int = 1 << 20
    """Most values in a text of JSON: each takes a few hundred bytes, and time, when it is checked
    and built."""


LIMITS = FileLimits()
"""Those of `relvec.io.save` and `relvec.io.load`."""


class ModelFileError(ValueError):
    """A model file that cannot be read, or a model that cannot be written to one."""


def shown(text: object, most: int = 300) -> str:
    """Return text from a file for a message: short, and without letters that move a cursor.

    Examples
    --------
    >>> shown("relvec" + chr(27) + "[2J" + "." * 20, most=15)
    'relvec?[2J.....'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in str(text)[:most])


def read_regular(path: Path, max_bytes: int = LIMITS.max_bytes) -> bytes:
    """Return the content of a file, if it is one: devices and pipes may have no end."""
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder; give the name of a model file in it.")
    # without O_NONBLOCK a pipe that nobody writes to is waited for
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(
                f"{path} is a device or a pipe; copy what it gives to a file and load that."
            )
        if status.st_size > max_bytes:
            raise ModelFileError(
                f"{path} has {status.st_size} bytes; a model file has at most {max_bytes}."
            )
        return file.read(status.st_size)


def unpacked(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, max_packed: int = LIMITS.max_packed
) -> bytes:
    """Return a part of an archive, reading no more than it claims.

    Raises
    ------
    ModelFileError
        If it is packed in a way that a few bytes could stand for gigabytes.
    """
    if info.compress_type == zipfile.ZIP_DEFLATED:
        limit = max_packed
    elif info.compress_type == zipfile.ZIP_STORED:
        limit = info.compress_size
    else:
        raise ModelFileError("is packed in a way that model files are not")
    if info.file_size > limit:
        raise ModelFileError(f"claims {info.file_size} bytes, of which at most {limit} are allowed")
    parts, left = [], info.file_size
    with archive.open(info) as file:
        # a megabyte at a time, since a single step would unpack everything before counting
        while chunk := file.read(min(1 << 20, left + 1)):
            parts.append(chunk)
            left -= len(chunk)
    return b"".join(parts)


def check_values(raw: bytes, max_values: int = LIMITS.max_values) -> None:
    """Refuse a text of JSON that takes too much memory when it is read."""
    count = sum(raw.count(sign) for sign in (b"[", b"{", b","))
    if count > max_values:
        raise ModelFileError(f"holds {count} values, of which at most {max_values} are allowed")


def parse_json(raw: bytes) -> Any:
    """Return what a text of JSON says; NaN and Infinity are none of it."""
    check_values(raw)
    try:
        return json.loads(raw, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"is not JSON ({shown(error)})") from error


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number of JSON")
