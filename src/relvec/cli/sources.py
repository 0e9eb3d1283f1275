"""Input files named on the command line, and their formats."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from relvec.cli.errors import CommandError, UsageError, format_names, suggest_name

__all__ = ["TABLES", "Source", "delimiter_hint", "find_source", "format_of", "open_text"]

SUFFIXES = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npy": "npy",
    ".npz": "npz",
    ".wav": "wav",
    ".png": "image",
    ".jpg": "image",
    ".jpeg": "image",
    ".tif": "image",
    ".tiff": "image",
    ".bmp": "image",
}
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
"""Suffixes of spreadsheets, which are not supported."""
TABLES = ("csv", "tsv", "parquet", "jsonl", "npy", "npz")
SIGNALS = ("wav", "image")


@dataclass(frozen=True)
class Source:
    """An existing file, or the standard input, with its format.

    Parameters
    ----------
    path : str
        Path of a file; "-" for the standard input.
    format : str
        One of the values of `SUFFIXES`.
    delimiter : str
        Field delimiter of csv and tsv.
    decimal_comma : bool
        Whether numbers have a decimal comma, as in 1,5.
    """

    path: str
    format: str
    delimiter: str = ","
    decimal_comma: bool = False

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream, which can be read only once."""
        return self.path == "-" or not Path(self.path).is_file()

    @property
    def name(self) -> str:
        """Name in messages."""
        return "the standard input" if self.path == "-" else f"'{self.path}'"


def format_of(path: str, formats: tuple[str, ...] = TABLES, *, hint: str = "") -> str:
    """Return the format given by the suffix of a path.

    Examples
    --------
    >>> format_of("houses.csv")
    'csv'
    """
    suffix = Path(path).suffix.lower()
    found = SUFFIXES.get(suffix)
    if found in formats:
        return str(found)
    if suffix in SPREADSHEETS:
        raise UsageError(
            f"'{path}' is a spreadsheet, which is not supported; save its sheet as csv first."
        )
    known = [each for each, format in SUFFIXES.items() if format in formats]
    raise UsageError(
        f"'{path}' has the unknown suffix {suffix!r}; supported suffixes are "
        f"{', '.join(known)}.{hint}"
    )


def find_source(
    path: str,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    decimal_comma: bool = False,
    formats: tuple[str, ...] = TABLES,
) -> Source:
    """Check that an input exists and determine its format."""
    if format is not None and format not in formats:
        raise UsageError(
            f"--format must be one of {', '.join(formats)}; got {format!r}."
            + suggest_name(format, formats)
        )
    found = format or "csv"
    if path != "-":
        _check_file(path)
        found = format or format_of(path, formats, hint=" Or give the format with --format.")
        _check_size(path)
    separator = delimiter or ("\t" if found == "tsv" else ",")
    separator = {"\\t": "\t", "tab": "\t"}.get(separator, separator)
    if len(separator) != 1:
        raise UsageError(f"--delimiter must be one character; got {delimiter!r}.")
    return Source(path, found, separator, decimal_comma)


def _check_file(path: str) -> None:
    file = Path(path)
    if not file.exists():
        raise CommandError(f"There is no file '{path}'." + _suggest_file(file))
    if file.is_dir():
        raise CommandError(f"'{path}' is a folder; name a file.")


def _check_size(path: str) -> None:
    file = Path(path)
    if file.is_file() and file.stat().st_size == 0:
        raise CommandError(f"'{path}' is empty (0 bytes).")


def delimiter_hint(header: str, source: Source) -> str:
    """Suggest another delimiter if a header of one name contains one."""
    found = next((each for each in ";\t|," if each in header and each != source.delimiter), None)
    if found is None:
        return ""
    shown = {"\t": "tab"}.get(found, found)
    return f" Is the delimiter '{shown}'? Try --delimiter '{shown}'" + (
        ", with --decimal-comma if numbers have a decimal comma." if found == ";" else "."
    )


def _suggest_file(file: Path) -> str:
    """Suggest a file with a similar name, or report that the folder does not exist."""
    folder = file.parent
    if not folder.is_dir():
        return f" The folder '{folder}' does not exist either."
    names = [each.name for each in folder.iterdir() if each.is_file()]
    # suggest only files of the same kind: no table for a misspelt sound
    alike = [name for name in names if _file_kind(name) == _file_kind(file.name)]
    hint = suggest_name(file.name, alike, key=lambda name: Path(name).stem)
    if hint:
        return hint
    names = alike or names
    return f" The folder contains {format_names(sorted(names), 5)}." if names else ""


def _file_kind(name: str) -> str:
    """Kind of file by its suffix: table, wav, image, or the suffix itself."""
    suffix = Path(name).suffix.lower()
    found = SUFFIXES.get(suffix, suffix)
    return "table" if found in TABLES else found


def open_text(source: Source) -> IO[str]:
    """Open a UTF-8 text file for reading; a byte order mark is skipped."""
    if source.path != "-":
        raw: Any = open(source.path, "rb")  # noqa: SIM115  (closed with the text around it)
    else:
        raw = getattr(sys.stdin, "buffer", None)
        if raw is None:
            raise CommandError("The standard input is closed.")
    if not hasattr(raw, "peek"):
        raw = io.BufferedReader(raw)
    begin = raw.peek(4)[:4]
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in begin:
        raw.close()
        raise CommandError(
            f"{source.name} is not UTF-8 text: it looks like UTF-16. Convert it first, for "
            "example: iconv -f utf-16 -t utf-8 old.csv > new.csv"
        )
    return io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")


def read_bytes(source: Source) -> bytes:
    """Read a whole binary file, or the standard input."""
    if source.path == "-":
        return sys.stdin.buffer.read()
    return Path(source.path).read_bytes()
