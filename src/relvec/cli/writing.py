"""Results to files and to the standard output; a file appears whole or not at all."""

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

from relvec.cli.errors import CommandError, UsageError, listed
from relvec.cli.reading import join_blocks
from relvec.cli.sources import TABLES, format_of

__all__ = ["STREAMED", "TableWriter", "check_target", "replacing"]

STREAMED = ("csv", "tsv", "jsonl")
"""Formats that are written block by block; of others the results wait in memory."""


def check_target(path: str | None, *inputs: str) -> None:
    """Find out before the work whether a file can be written there, and is none of the inputs."""
    if path is None or path == "-":
        return
    file = Path(path)
    if any(file.is_file() and Path(each).exists() and file.samefile(each) for each in inputs):
        raise UsageError(
            f"'{path}' is also what is read, and writing it would destroy that. Give another name "
            "with -o."
        )
    if file.is_dir():
        raise CommandError(f"'{path}' is a folder; give the name of a file to write.")
    folder = file.parent
    if not folder.is_dir():
        raise CommandError(
            f"The folder '{folder}' does not exist. Make it first, for instance: mkdir -p {folder}"
        )
    if not os.access(folder, os.W_OK):
        raise CommandError(f"There is no permission to write in the folder '{folder}'.")


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yield the name of a temporary file that takes the place of `path` if all goes well.

    A link stays one, to a new file. What is no file, as a pipe or a device, stays too: all is
    copied to it at the end.
    """
    check_target(path)
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
            os.chmod(temporary, _mode(final))
            os.replace(temporary, final)
        else:
            with open(temporary, "rb") as made, open(final, "wb", buffering=0) as sink:
                shutil.copyfileobj(made, sink)
    except OSError as error:
        raise CommandError(
            f"'{path}' could not be written: {error.strerror or error}. Nothing was changed."
        ) from error
    finally:
        Path(temporary).unlink(missing_ok=True)


def _mode(file: Path) -> int:
    """Permissions the file has, or a new file would get."""
    if file.exists():
        return file.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


class TableWriter:
    """Writes blocks of a table to a file, or to the standard output as they come.

    Parameters
    ----------
    path : str or None
        Where to; None and "-" are the standard output.
    format : str, optional
        One of "csv", "tsv", "jsonl", "parquet", "npy", "npz"; by default that of the suffix,
        and csv on the standard output.
    inputs : sequence of str
        Files that are read and must not be written.
    """

    def __init__(
        self, path: str | None, format: str | None = None, inputs: Sequence[str] = ()
    ) -> None:
        self.path = None if path == "-" else path
        check_target(self.path, *inputs)
        self.format = format or ("csv" if self.path is None else format_of(self.path))
        if self.format not in TABLES:
            raise UsageError(f"--output-format must be one of {', '.join(TABLES)}.")
        if self.path is None and self.format not in STREAMED:
            raise UsageError(
                f"{self.format} cannot go to the standard output; name a file with -o, or use "
                f"one of {', '.join(STREAMED)}."
            )
        self._waiting: list[pl.DataFrame] = []
        self._begun = False

    def __enter__(self) -> Self:
        if self.path is None:
            if sys.stdout is None:
                raise CommandError("There is no standard output to write to; name a file with -o.")
            self._file: Any = sys.stdout.buffer  # data are UTF-8, whatever the terminal is
            return self
        self._place = replacing(self.path)
        self._temporary = self._place.__enter__()
        self._file = open(self._temporary, "wb") if self.format in STREAMED else None
        return self

    def write(self, block: pl.DataFrame) -> None:
        """Add rows; all blocks have the same columns."""
        nested = [each.name for each in block if each.dtype.is_nested()]
        if nested and self.format not in ("jsonl", "parquet"):
            raise CommandError(
                f"{self.format} cannot hold the lists or objects of {listed(nested)}; write jsonl "
                "or parquet."
            )
        if self.format not in STREAMED:
            self._waiting.append(block)
            return
        if self.format == "jsonl":
            text = block.write_ndjson()
        else:
            text = block.write_csv(
                separator="\t" if self.format == "tsv" else ",", include_header=not self._begun
            )
        self._begun = True
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
                self._write_all(join_blocks(self._waiting))
        except BaseException as problem:
            if kind is None:
                self._place.__exit__(type(problem), problem, problem.__traceback__)
                raise
        self._place.__exit__(kind, error, trace)

    def _write_all(self, table: pl.DataFrame) -> None:
        if self.format == "parquet":
            table.write_parquet(self._temporary)
        elif self.format == "npz":
            arrays: dict[str, Any] = {each.name: each.to_numpy() for each in table}
            is_text = {name: values.dtype.kind == "O" for name, values in arrays.items()}
            # text as fixed-width strings: readers need not trust pickles
            np.savez(
                self._temporary,
                **{n: v.astype(str) if is_text[n] else v for n, v in arrays.items()},
            )
        elif all(each.dtype.is_numeric() for each in table):
            np.save(self._temporary, table.to_numpy())
        else:
            raise CommandError(
                f"'{self.path}' can hold numbers only, but there is text to write; use .csv."
            )
