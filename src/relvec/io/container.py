"""The outside of a model file: one zip archive with a header and a payload.

Nothing in here knows what a model is. Files may come from strangers, so every size is bounded
before anything is read, and whatever is wrong with a file ends in one `ModelFileError`.
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
    read_regular,
    shown,
    unpacked,
)

__all__ = [
    "FORMAT",
    "ModelFile",
    "read_header",
    "read_payload",
    "write_file",
]

FORMAT = 1
"""Number of the format that is written, and the newest that is read."""
HEADER, PAYLOAD = "relvec.json", "model.skops"


@dataclass(frozen=True)
class ModelFile:
    """What a model file says of itself; see `relvec.io.inspect`.

    Attributes
    ----------
    path : Path
        Where it is.
    class_name : str
        Class of the model, for example ``"relvec.RVMRegressor"``.
    about : dict
        What was given to `relvec.io.save` as ``about``.
    made : str
        When, in coordinated universal time (ISO 8601).
    format : int
        Number of the format.
    versions : dict
        Versions of Python, relvec, numpy, scipy, scikit-learn and skops it was made with.
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
        """Version of relvec it was made with."""
        return self.versions["relvec"]


def write_file(
    path: Path, header: Mapping[str, Any], payload: bytes, limits: FileLimits = LIMITS
) -> None:
    """Write header and payload, or nothing: a file that was there is replaced in one step.

    Parameters
    ----------
    path : Path
        Where to. Its folder must exist.
    header : mapping
        What can be written as JSON; format and checksum are added.
    payload : bytes
        The stored model.
    limits : FileLimits, optional
        How large both may be.
    """
    full = {"format": FORMAT, **header, "sha256": hashlib.sha256(payload).hexdigest()}
    text = json.dumps(full, indent=2, allow_nan=False) + "\n"
    if len(text) > limits.max_header or len(payload) > limits.max_bytes:
        raise ModelFileError(
            f"a model file has at most {limits.max_header} bytes of header and {limits.max_bytes} "
            f"of model; these are {len(text)} and {len(payload)}. Give less to about, or fit a "
            "smaller model."
        )
    try:
        check_values(text.encode(), limits.max_values)
    except ModelFileError as error:
        raise ModelFileError(f"the header {error}. Give less to about.") from error
    packing = zipfile.ZIP_DEFLATED if len(payload) <= limits.max_packed else zipfile.ZIP_STORED
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr(HEADER, text)
        archive.writestr(PAYLOAD, payload, compress_type=packing)
    write_atomically(path, buffer.getvalue())


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file beside `path` and give it that name when it is complete.

    It has the permissions of the file that it replaces, if there is one.
    """
    path = Path(os.path.realpath(path))  # a link stays a link
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist; make it first.")
    if path.exists() and not path.is_file():
        # it would be replaced by a file, for everyone
        raise OSError(f"{path} is a device or a pipe; give the name of a file.")
    unfinished = path.with_name(f".{secrets.token_hex(6)}.part")
    try:
        with open(unfinished, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, unfinished)  # what was private stays so
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def read_header(path: Path) -> ModelFile:
    """Return what the file says of itself, without looking at the model."""
    header, _ = _read(path, LIMITS, payload=False)
    return header


def read_payload(path: Path, limits: FileLimits = LIMITS) -> tuple[ModelFile, bytes]:
    """Return the header and the stored model, whose checksum is right."""
    header, payload = _read(path, limits, payload=True)
    if hashlib.sha256(payload).hexdigest() != header.sha256:
        raise ModelFileError(
            f"{path} is damaged: the checksum of the stored model is not the one in its header. "
            "Copy or make the file again."
        )
    return header, payload


def _read(path: Path, limits: FileLimits, *, payload: bool) -> tuple[ModelFile, bytes]:
    data = read_regular(path, limits.max_bytes)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception:
        if data.startswith(b"PK"):
            raise ModelFileError(
                f"{path} is damaged or cut short: it begins like a model file, but its end is "
                "missing. Copy or make the file again."
            ) from None
        raise ModelFileError(
            f"{path} is not a model file of relvec: those are zip archives, made by relvec.io.save."
        ) from None
    with archive:
        raw = _part(path, archive, HEADER, limits.max_header, limits)
        header = _header(path, raw, len(data))
        if not payload:
            return header, b""
        return header, _part(path, archive, PAYLOAD, limits.max_bytes, limits)


def _part(path: Path, archive: zipfile.ZipFile, name: str, limit: int, limits: FileLimits) -> bytes:
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise ModelFileError(
            f"{path} is a zip archive without {name}, so it is not a model file of relvec."
        ) from None
    if info.file_size > limit:
        raise ModelFileError(
            f"{path} was not opened: its part {name} claims {info.file_size} bytes, of which at "
            f"most {limit} are allowed."
        )
    try:
        return unpacked(archive, info, limits.max_packed)
    except ModelFileError as error:
        raise ModelFileError(f"{path} was not opened: its part {name} {error}.") from None
    except Exception as error:
        raise ModelFileError(
            f"{path} is damaged: its part {name} cannot be unpacked ({shown(error)}). Copy or make "
            "the file again."
        ) from error


def _header(path: Path, raw: bytes, n_bytes: int) -> ModelFile:
    header, maker = _readable(path, raw)
    kinds = {"class_name": str, "made": str, "versions": dict, "sha256": str, "about": dict}
    wrong = [name for name, kind in kinds.items() if not isinstance(header.get(name), kind)]
    if wrong or maker == "?" or header["format"] < 1:
        raise ModelFileError(
            f"{path} is damaged: its header lacks {', '.join(wrong) or 'what it was made with'}."
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


def _readable(path: Path, raw: bytes) -> tuple[dict[str, Any], str]:
    """The header of a file in a format that is known, and the version of relvec that made it."""
    try:
        header = parse_json(raw)
    except ModelFileError as error:
        raise ModelFileError(f"{path} is damaged: its header {error}.") from error
    if not isinstance(header, dict) or type(header.get("format")) is not int:
        raise ModelFileError(f"{path} is damaged: its header has no format number.")
    versions = header.get("versions")
    maker = str(versions.get("relvec", "?")) if isinstance(versions, dict) else "?"
    if header["format"] > FORMAT:
        raise ModelFileError(
            f"{path} was made by relvec {shown(maker, 20)} in file format "
            f"{shown(header['format'], 20)}; this is relvec {relvec.__version__}, which reads "
            f"formats up to {FORMAT}. Upgrade relvec."
        )
    return header, maker
