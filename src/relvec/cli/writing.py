"""Writing of results; a file is written completely or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import polars as pl

from relvec.cli.errors import CommandError, UsageError, format_names
from relvec.cli.reading import join_blocks
from relvec.cli.sources import TABLES, format_of

__all__ = ["STREAMED", "TableWriter", "atomic_output", "check_output"]

STREAMED = ("csv", "tsv", "jsonl")
"""Formats that are written block by block; others are collected in memory first."""


def check_output(path: str | None, *inputs: str) -> None:
    """Check that a file can be written and is none of the inputs."""
    if path is None or path == "-":
        return
    file = Path(path)
    if any(file.is_file() and Path(each).exists() and file.samefile(each) for each in inputs):
        raise UsageError(
            f"'{path}' is also an input and would be overwritten. Choose another file with -o."
        )
    if file.is_dir():
        raise CommandError(f"'{path}' is a folder; name a file to write.")
    folder = file.parent
    if not folder.is_dir():
        raise CommandError(
            f"The folder '{folder}' does not exist. Create it first, for example: mkdir -p {folder}"
        )
    if not os.access(folder, os.W_OK):
        raise CommandError(f"No permission to write to the folder '{folder}'.")


@contextmanager
def atomic_output(path: str) -> Iterator[str]:
    """Yield the name of a temporary file that replaces `path` if no exception is raised.

    A symbolic link is kept; the file it points to is replaced. To a pipe or a device the temporary
    file is copied at the end.
    """
    check_output(path)
    is_file = not Path(path).exists() or Path(path).is_file()
    final = Path(os.path.realpath(path)) if is_file else Path(path)
    try:
        handle, temporary = tempfile.mkstemp(
            prefix=f".{final.stem}"[:100] + "-",
            suffix=final.suffix,
            dir=final.parent if is_file else None,
        )
    except OSError as error:
        raise CommandError(f"'{path}' cannot be written: {error.strerror or error}.") from error
    os.close(handle)
    try:
        yield temporary
        if is_file:
            os.chmod(temporary, _file_mode(final))
            os.replace(temporary, final)
        else:
            with open(temporary, "rb") as source, open(final, "wb", buffering=0) as sink:
                shutil.copyfileobj(source, sink)
    except OSError as error:
        raise CommandError(
            f"'{path}' could not be written: {error.strerror or error}. Nothing was changed."
        ) from error
    finally:
        Path(temporary).unlink(missing_ok=True)


def _file_mode(file: Path) -> int:
    """Permissions of the file, or those that a new file would get."""
    if file.exists():
        return file.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


class TableWriter:
    """Writer of a table, block by block, to a file or the standard output.

    Parameters
    ----------
    path : str or None
        Output file; None and "-" are the standard output.
    format : str, optional
        One of "csv", "tsv", "jsonl", "parquet", "npy", "npz"; by default that of the suffix,
        and csv on the standard output.
    inputs : sequence of str
        Input files, which must not be overwritten.
    """

    def __init__(
        self, path: str | None, format: str | None = None, inputs: Sequence[str] = ()
    ) -> None:
        self.path = None if path == "-" else path
        check_output(self.path, *inputs)
        self.format = format or ("csv" if self.path is None else format_of(self.path))
        if self.format not in TABLES:
            raise UsageError(
                f"--output-format must be one of {', '.join(TABLES)}; got {self.format!r}."
            )
        if self.path is None and self.format not in STREAMED:
            raise UsageError(
                f"{self.format} cannot be written to the standard output; name a file with -o, or "
                f"use one of {', '.join(STREAMED)}."
            )
        self._blocks: list[pl.DataFrame] = []
        self._has_header = False

    def __enter__(self) -> Self:
        if self.path is None:
            if sys.stdout is None:
                raise CommandError("The standard output is closed; name a file with -o.")
            self._file: Any = (
                sys.stdout.buffer
            )  # data are UTF-8, whatever the encoding of the terminal
            return self
        self._atomic = atomic_output(self.path)
        self._temporary = self._atomic.__enter__()
        self._file = open(self._temporary, "wb") if self.format in STREAMED else None
        return self

    def write(self, block: pl.DataFrame) -> None:
        """Add rows; all blocks have the same columns."""
        nested = [each.name for each in block if each.dtype.is_nested()]
        if nested and self.format not in ("jsonl", "parquet"):
            raise CommandError(
                f"{self.format} cannot store the lists or objects of {format_names(nested)}; write "
                "jsonl or parquet."
            )
        if self.format not in STREAMED:
            self._blocks.append(block)
            return
        if self.format == "jsonl":
            text = block.write_ndjson()
        else:
            text = block.write_csv(
                separator="\t" if self.format == "tsv" else ",", include_header=not self._has_header
            )
        self._has_header = True
        self._file.write(text.encode())
        if self.path is None:
            self._file.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.path is None:
            return
        try:
            if self._file is not None:
                self._file.close()
            elif kind is None:
                self._write_all(join_blocks(self._blocks))
        except BaseException as problem:
            if kind is None:
                self._atomic.__exit__(type(problem), problem, problem.__traceback__)
                raise
        self._atomic.__exit__(kind, error, trace)

    def _write_all(self, table: pl.DataFrame) -> None:
        if self.format == "parquet":
            table.write_parquet(self._temporary)
        elif self.format == "npz":
            arrays: dict[str, Any] = {each.name: each.to_numpy() for each in table}
            is_text = {name: values.dtype.kind == "O" for name, values in arrays.items()}
            # text as fixed-width strings, which np.load reads without allow_pickle
            np.savez(
                self._temporary,
                **{n: v.astype(str) if is_text[n] else v for n, v in arrays.items()},
            )
        elif all(each.dtype.is_numeric() for each in table):
            np.save(self._temporary, table.to_numpy())
        else:
            raise CommandError(
                f"'{self.path}' can store numbers only, but the results contain text; use .csv."
            )
