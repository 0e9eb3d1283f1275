"""The container of a model file: one zip archive with a header and a payload.

This module does not depend on what is stored. Files are untrusted, so every size is checked before
anything is read, and every failure raises `ModelFileError`.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import relvec
from relvec.io.bounded import (
    LIMITS,
    FileLimits,
    ModelFileError,
    check_values,
    parse_json,
    printable,
    read_regular_file,
    unpack_part,
)

__all__ = [
    "FORMAT",
    "ModelFile",
    "read_header",
    "read_payload",
    "write_file",
]

FORMAT = 1
"""Number of the file format that is written, and the newest that can be read."""
HEADER, PAYLOAD = "relvec.json", "model.skops"


@dataclass(frozen=True)
class ModelFile:
    """Header of a model file, as returned by `relvec.io.inspect`.

    Attributes
    ----------
    path : Path
        Path of the file.
    class_name : str
        Class of the model, for example ``"relvec.RVMRegressor"``.
    about : dict
        The notes given to `relvec.io.save` as ``about``.
    made : str
        Time of saving, in coordinated universal time (ISO 8601).
    format : int
        Number of the file format.
    versions : dict
        Versions of Python, relvec, numpy, scipy, scikit-learn and skops at the time of saving.
    sha256 : str
        Checksum of the stored model.
    n_bytes : int
        Size of the file.
    """

    path: Path
    class_name: str
    made: str
    format: int
    versions: dict[str, str]
    sha256: str
    n_bytes: int
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def relvec_version(self) -> str:
        """Version of relvec that saved the file."""
        return self.versions["relvec"]


def write_file(
    path: Path, header: Mapping[str, Any], payload: bytes, limits: FileLimits = LIMITS
) -> None:
    """Write header and payload; an existing file is replaced in one step.

    Parameters
    ----------
    path : Path
        Name of the file. Its folder must exist.
    header : mapping
        Content that can be written as JSON; format and checksum are added.
    payload : bytes
        The stored model.
    limits : FileLimits, optional
        Maximum sizes of both.
    """
    full = {"format": FORMAT, **header, "sha256": hashlib.sha256(payload).hexdigest()}
    text = json.dumps(full, indent=2, allow_nan=False) + "\n"
    if len(text) > limits.max_header or len(payload) > limits.max_bytes:
        raise ModelFileError(
            f"the header has {len(text)} bytes and the model {len(payload)}; a model file has at "
            f"most {limits.max_header} and {limits.max_bytes}. Shorten about, or fit a smaller "
            "model."
        )
    try:
        check_values(text.encode(), limits.max_values)
    except ModelFileError as error:
        raise ModelFileError(f"the header {error}. Shorten about.") from error
    packing = zipfile.ZIP_DEFLATED if len(payload) <= limits.max_packed else zipfile.ZIP_STORED
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr(HEADER, text)
        archive.writestr(PAYLOAD, payload, compress_type=packing)
    write_atomically(path, buffer.getvalue())


def write_atomically(path: Path, data: bytes) -> None:
    """Write a temporary file in the same folder and rename it when it is complete.

    The new file has the permissions of the one that it replaces, if there is one.
    """
    path = Path(os.path.realpath(path))  # replace the file that a link points to, not the link
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist; create it first.")
    if path.exists() and not path.is_file():
        # a rename would replace the device itself by a file, for all users
        raise OSError(f"{path} is a device or a pipe; give the name of a file.")
    unfinished = path.with_name(f".{secrets.token_hex(6)}.part")
    try:
        with open(unfinished, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, unfinished)  # a private file stays private
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def read_header(path: Path) -> ModelFile:
    """Return the header of a model file without reading the model."""
    header, _ = _read_file(path, LIMITS, payload=False)
    return header


def read_payload(path: Path, limits: FileLimits = LIMITS) -> tuple[ModelFile, bytes]:
    """Return the header and the stored model after a check of its checksum."""
    header, payload = _read_file(path, limits, payload=True)
    if hashlib.sha256(payload).hexdigest() != header.sha256:
        raise ModelFileError(
            f"{path} is damaged: the checksum of the stored model differs from the one in its "
            "header. Copy the file again, or save the model again."
        )
    return header, payload


def _read_file(path: Path, limits: FileLimits, *, payload: bool) -> tuple[ModelFile, bytes]:
    data = read_regular_file(path, limits.max_bytes)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception:
        if data.startswith(b"PK"):
            raise ModelFileError(
                f"{path} is damaged or truncated: it begins like a model file, but its end is "
                "missing. Copy the file again, or save the model again."
            ) from None
        raise ModelFileError(
            f"{path} is not a model file of relvec. Give a file that relvec.io.save or `relvec "
            "fit` has written."
        ) from None
    with archive:
        raw = _read_part(path, archive, HEADER, limits.max_header, limits)
        header = _make_header(path, raw, len(data))
        if not payload:
            return header, b""
        return header, _read_part(path, archive, PAYLOAD, limits.max_bytes, limits)


def _read_part(
    path: Path, archive: zipfile.ZipFile, name: str, limit: int, limits: FileLimits
) -> bytes:
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise ModelFileError(
            f"{path} is a zip archive without {name}, so it is not a model file of relvec. Give a "
            "file that relvec.io.save or `relvec fit` has written."
        ) from None
    if info.file_size > limit:
        raise ModelFileError(
            f"{path} was not opened: its part {name} claims {info.file_size} bytes; at "
            f"most {limit} are allowed."
        )
    try:
        return unpack_part(archive, info, limits.max_packed)
    except ModelFileError as error:
        raise ModelFileError(f"{path} was not opened: its part {name} {error}.") from None
    except Exception as error:
        raise ModelFileError(
            f"{path} is damaged: its part {name} cannot be unpacked ({printable(error)}). Copy "
            "the file again, or save the model again."
        ) from error


def _make_header(path: Path, raw: bytes, n_bytes: int) -> ModelFile:
    header, relvec_version = _parse_header(path, raw)
    kinds = {"class_name": str, "made": str, "versions": dict, "sha256": str, "about": dict}
    wrong = [name for name, kind in kinds.items() if not isinstance(header.get(name), kind)]
    if wrong or relvec_version == "?" or header["format"] < 1:
        raise ModelFileError(
            f"{path} is damaged: its header has no {', no '.join(wrong) or 'version of relvec'}. "
            "Copy the file again, or save the model again."
        )
    return ModelFile(
        path=Path(path),
        class_name=header["class_name"],
        made=header["made"],
        format=header["format"],
        versions={str(name): str(version) for name, version in header["versions"].items()},
        sha256=header["sha256"],
        n_bytes=n_bytes,
        about=header["about"],
    )


def _parse_header(path: Path, raw: bytes) -> tuple[dict[str, Any], str]:
    """Return the header of a file in a known format, and the version of relvec that saved it."""
    try:
        header = parse_json(raw)
    except ModelFileError as error:
        raise ModelFileError(f"{path} is damaged: its header {error}.") from error
    if not isinstance(header, dict) or type(header.get("format")) is not int:
        raise ModelFileError(
            f"{path} is damaged: its header has no format number. Copy the file again."
        )
    versions = header.get("versions")
    relvec_version = str(versions.get("relvec", "?")) if isinstance(versions, dict) else "?"
    if header["format"] > FORMAT:
        raise ModelFileError(
            f"{path} was saved by relvec {printable(relvec_version, 20)} in file format "
            f"{printable(header['format'], 20)}; this is relvec {relvec.__version__}, which reads "
            f"formats up to {FORMAT}. Upgrade relvec."
        )
    return header, relvec_version
