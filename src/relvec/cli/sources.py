"""What a path on the command line means: which file, in which format."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from relvec.cli.errors import CommandError, UsageError, listed, suggestion

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
SHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
"""Files of spreadsheets, which are not read."""
TABLES = ("csv", "tsv", "parquet", "jsonl", "npy", "npz")
SIGNALS = ("wav", "image")


@dataclass(frozen=True)
class Source:
    """A file that is there, or the standard input, with its format.

    Parameters
    ----------
    path : str
        Of a file; "-" for the standard input.
    format : str
        One of the values of `SUFFIXES`.
    delimiter : str
        What separates fields of csv and tsv.
    decimal_comma : bool
        Whether numbers in text are written as 1,5.
    """

    path: str
    format: str
    delimiter: str = ","
    decimal_comma: bool = False

    @property
    def is_stream(self) -> bool:
        """Whether it can be read once only, from its beginning to its end."""
        return self.path == "-" or not Path(self.path).is_file()

    @property
    def name(self) -> str:
        """How sentences call it."""
        return "the standard input" if self.path == "-" else f"'{self.path}'"


def format_of(path: str, formats: tuple[str, ...] = TABLES, *, hint: str = "") -> str:
    """Format that the suffix of a path stands for.

    Examples
    --------
    >>> format_of("houses.csv")
    'csv'
    """
    suffix = Path(path).suffix.lower()
    found = SUFFIXES.get(suffix)
    if found in formats:
        return str(found)
    if suffix in SHEETS:
        raise UsageError(
            f"'{path}' is a spreadsheet, which is not read or written; save its sheet as csv first."
        )
    known = [each for each, format in SUFFIXES.items() if format in formats]
    raise UsageError(
        f"The format of '{path}' is not known from its suffix {suffix!r}; it can be one of "
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
    """Check that there is something to read, before any work is done."""
    if format is not None and format not in formats:
        raise UsageError(
            f"--format {format} is not known; it can be {', '.join(formats)}."
            + suggestion(format, formats)
        )
    found = format or "csv"
    if path != "-":
        _check_file(path)
        found = format or format_of(path, formats, hint=" Or name the format with --format.")
        _check_size(path)
    separator = delimiter or ("\t" if found == "tsv" else ",")
    separator = {"\\t": "\t", "tab": "\t"}.get(separator, separator)
    if len(separator) != 1:
        raise UsageError(f"--delimiter must be one character; got {delimiter!r}.")
    return Source(path, found, separator, decimal_comma)


def _check_file(path: str) -> None:
    file = Path(path)
    if not file.exists():
        raise CommandError(f"There is no file '{path}'." + _near(file))
    if file.is_dir():
        raise CommandError(f"'{path}' is a folder; a file is needed.")


def _check_size(path: str) -> None:
    file = Path(path)
    if file.is_file() and file.stat().st_size == 0:
        raise CommandError(f"'{path}' is empty (0 bytes).")


def delimiter_hint(header: str, source: Source) -> str:
    """Ask for another delimiter if a header of one name seems to be of several."""
    found = next((each for each in ";\t|," if each in header and each != source.delimiter), None)
    if found is None:
        return ""
    shown = {"\t": "tab"}.get(found, found)
    return f" Is the delimiter '{shown}'? Try --delimiter '{shown}'" + (
        ", with --decimal-comma if numbers are written as 1,5." if found == ";" else "."
    )


def _near(file: Path) -> str:
    """Point to a file of similar name, or to the folder that is missing."""
    folder = file.parent
    if not folder.is_dir():
        return f" The folder '{folder}' does not exist either."
    names = [each.name for each in folder.iterdir() if each.is_file()]
    # a table is not what was meant by the name of a sound
    alike = [name for name in names if _kind(name) == _kind(file.name)]
    hint = suggestion(file.name, alike, by=lambda name: Path(name).stem)
    if hint:
        return hint
    names = alike or names
    return f" In that folder there are {listed(sorted(names), 5)}." if names else ""


def _kind(name: str) -> str:
    """Tables, sounds, images, or whatever else a suffix stands for."""
    suffix = Path(name).suffix.lower()
    found = SUFFIXES.get(suffix, suffix)
    return "table" if found in TABLES else found


def open_text(source: Source) -> IO[str]:
    """Open text for reading; a byte order mark is skipped."""
    if source.path != "-":
        raw: Any = open(source.path, "rb")  # noqa: SIM115  (closed with the text around it)
    else:
        raw = getattr(sys.stdin, "buffer", None)
        if raw is None:
            raise CommandError("There is no standard input to read from.")
    if not hasattr(raw, "peek"):
        raw = io.BufferedReader(raw)
    begin = raw.peek(4)[:4]
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in begin:
        raw.close()
        raise CommandError(
            f"{source.name} is not UTF-8 text: it looks like UTF-16. Convert it first, for "
            "instance: iconv -f utf-16 -t utf-8 old.csv > new.csv"
        )
    return io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")


def read_bytes(source: Source) -> bytes:
    """All of a binary file or of the standard input."""
    if source.path == "-":
        return sys.stdin.buffer.read()
    return Path(source.path).read_bytes()
